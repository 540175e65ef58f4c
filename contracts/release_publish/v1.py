"""release.publish v1: one revision of a workspace becomes a release that nobody can change.

Two people other than the caller must agree first. The release's manifest starts the pipeline.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from contracts.spec import Approval, Effect, Scope, Status, ToolSpec
from contracts.types import (
    WHOLE,
    Answer,
    Contract,
    IdempotencyKey,
    RepoRoot,
    Revision,
    RevisionShown,
)


class Input(Contract):
    """What is released, and as what."""

    schema_version: Annotated[Literal[1], WHOLE] = Field(description="Version of this contract: 1.")
    idempotency_key: IdempotencyKey
    repo_root: RepoRoot
    revision: Annotated[
        Revision,
        Field(
            description=(
                "The revision to release, as an earlier answer gave it; opaque. There is no "
                "latest: people approve this one and no other."
            )
        ),
    ]
    name: Annotated[
        str,
        Field(
            pattern=r"^[a-z][a-z0-9-]{0,62}$",
            description=(
                "What is released, such as checkout-api: a-z, 0-9 and -, a letter first; "
                "1-63 characters."
            ),
        ),
    ]
    version: Annotated[
        str,
        Field(
            pattern=(
                r"^(0|[1-9][0-9]{0,8})[.](0|[1-9][0-9]{0,8})[.](0|[1-9][0-9]{0,8})"
                r"(-[0-9A-Za-z-]{1,20}([.][0-9A-Za-z-]{1,20}){0,3})?$"
            ),
            description="Its version: MAJOR.MINOR.PATCH, or 2.0.0-rc.1; at most 113 characters.",
        ),
    ]


class Output(Answer):
    """The release, as its manifest says it."""

    release_id: Annotated[str, Field(max_length=80, description="The release's own id; opaque.")]
    manifest_key: Annotated[
        str,
        Field(max_length=256, description="Key of its manifest in the stage's bucket of releases."),
    ]
    artifact_key: Annotated[
        str, Field(max_length=256, description="Key of its zip in the same bucket.")
    ]
    sha256: Annotated[
        str,
        Field(
            pattern=r"^[0-9a-f]{64}$",
            description="SHA-256 of the zip: 64 hexadecimal digits.",
        ),
    ]
    byte_count: Annotated[int, Field(ge=0, description="How many bytes the zip has.")]
    revision: Annotated[RevisionShown, Field(description="The revision that was released.")]


SPEC = ToolSpec(
    name="release.publish",
    version="1.0.0",
    summary="Release one revision of a workspace as an unchangeable zip, once people have agreed.",
    owner="release-engineering",
    input=Input,
    output=Output,
    effect=Effect.DESTRUCTIVE,
    approval=Approval.DUAL,
    scopes=frozenset({Scope.WORKSPACE_READ, Scope.RELEASE_PUBLISH}),
    timeout_s=15,
    status=Status.DRAFT,
)
