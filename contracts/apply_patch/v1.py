"""apply_patch v1: change files of a workspace, all of them or none."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import Field

from contracts.spec import Effect, Scope, Status, ToolSpec
from contracts.types import WHOLE, Answer, Contract, IdempotencyKey, SafePath


class FilePatch(Contract):
    """One file's change."""

    path: Annotated[
        str,
        Field(
            min_length=1,
            max_length=1024,
            pattern=r"^[a-zA-Z0-9._/-]+$",
            description="File to change, relative to repoRoot; letters, digits and . _ / - only.",
        ),
        SafePath(),
    ]
    mode: Literal["unified_diff", "replace_full"] = Field(
        description=(
            "unified_diff: content is a unified diff of this one file (create from /dev/null, "
            "delete to /dev/null). replace_full: content is the whole new file, byte for byte."
        )
    )
    content: Annotated[
        str,
        Field(
            max_length=500_000,
            description=(
                "The diff or the whole text; at most 500000 characters. In a diff, copy at least "
                "one non-blank context line around each change exactly as the file has it; "
                "line numbers and counts may be wrong."
            ),
        ),
    ]


class Input(Contract):
    """A change of 1-40 files."""

    schema_version: Annotated[Literal[1], WHOLE] = Field(description="Version of this contract: 1.")
    idempotency_key: IdempotencyKey
    repo_root: Annotated[
        str,
        Field(
            min_length=2,
            max_length=256,
            pattern=r"^/[A-Za-z0-9._/-]+$",
            description="Name of the workspace, such as /workspace/app; 2-256 characters.",
        ),
        SafePath(absolute=True),
    ]
    files: Annotated[
        list[FilePatch],
        Field(
            min_length=1,
            max_length=40,
            description="The files to change, one entry a path, 1-40 entries.",
        ),
    ]
    dry_run: bool = Field(
        default=False,
        description="True: say what would happen and change nothing; the key is not used up.",
    )


class Output(Answer):
    """What was changed."""

    applied: Annotated[
        list[str],
        Field(
            max_length=40,
            description="Paths written or deleted; in a dry run, those that would be.",
        ),
    ]


SPEC = ToolSpec(
    name="apply_patch",
    version="1.0.1",
    summary=(
        "Change files of a workspace by unified diff or full text: all of them or none. "
        "Deprecated: use apply_patch_v2, whose files say delete and move as well and have any path."
    ),
    owner="agent-platform",
    input=Input,
    output=Output,
    effect=Effect.WRITE,
    scopes=frozenset({Scope.WORKSPACE_WRITE}),
    timeout_s=15,
    status=Status.DEPRECATED,
    sunset=date(2027, 5, 31),
)
