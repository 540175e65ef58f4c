"""write_file v1: write one file of a workspace, whole."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from contracts.spec import Approval, Effect, Scope, Status, ToolSpec
from contracts.types import (
    WHOLE,
    Answer,
    Contract,
    IdempotencyKey,
    RepoPath,
    RepoRoot,
    RevisionShown,
)


class Input(Contract):
    """One file and its text."""

    schema_version: Annotated[Literal[1], WHOLE] = Field(description="Version of this contract: 1.")
    idempotency_key: IdempotencyKey
    repo_root: RepoRoot
    path: RepoPath
    content: Annotated[
        str,
        Field(
            max_length=100_000,
            description="The whole text of the file, byte for byte; at most 100000 characters.",
        ),
    ]
    overwrite: bool = Field(
        default=False,
        description="True: replace a file that exists; false: that is a CONFLICT.",
    )


class Output(Answer):
    """What was written."""

    path: Annotated[str, Field(max_length=1024, description="The file that was written.")]
    created: bool = Field(description="True if the file was not there before.")
    byte_count: Annotated[int, Field(ge=0, description="How many bytes the file has now.")]
    revision: Annotated[
        RevisionShown, Field(description="Revision of the workspace after the write; opaque.")
    ]


SPEC = ToolSpec(
    name="write_file",
    version="1.0.0",
    summary="Write one file of a workspace, whole.",
    owner="agent-platform",
    input=Input,
    output=Output,
    effect=Effect.WRITE,
    approval=Approval.WHEN_PROTECTED,
    scopes=frozenset({Scope.WORKSPACE_WRITE}),
    timeout_s=15,
    status=Status.DRAFT,
)
