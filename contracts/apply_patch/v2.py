"""apply_patch v2: change, create, delete and move files of a workspace, all of them or none."""

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
    Revision,
    RevisionShown,
)

CONTENT_MAX = 500_000

Action = Literal["created", "modified", "deleted", "moved", "unchanged"]


class UnifiedDiff(Contract):
    """A file changed by a diff; created from /dev/null, deleted to /dev/null."""

    mode: Literal["unified_diff"] = Field(
        description="unified_diff: content is a diff; from /dev/null creates, to it deletes."
    )
    path: RepoPath
    content: Annotated[
        str,
        Field(
            max_length=CONTENT_MAX,
            description=(
                "A unified diff of this one file; at most 500000 characters. Copy at least one "
                "non-blank context line around each change exactly as the file has it; line "
                "numbers and counts may be wrong."
            ),
        ),
    ]


class ReplaceFull(Contract):
    """A file written whole, whether it exists or not."""

    mode: Literal["replace_full"] = Field(
        description="replace_full: content is the whole file, whether it is there or not."
    )
    path: RepoPath
    content: Annotated[
        str,
        Field(
            max_length=CONTENT_MAX,
            description="The whole new text, byte for byte; at most 500000 characters.",
        ),
    ]


class Delete(Contract):
    """A file deleted."""

    mode: Literal["delete"] = Field(description="delete: the file goes.")
    path: RepoPath


class Move(Contract):
    """A file moved; its bytes and its executable bit stay."""

    mode: Literal["move"] = Field(description="move: the file goes from path to newPath, as it is.")
    path: RepoPath
    new_path: RepoPath


FileChange = Annotated[
    UnifiedDiff | ReplaceFull | Delete | Move,
    Field(discriminator="mode", description="One file's change."),
]


class Input(Contract):
    """A change of 1-40 files."""

    schema_version: Annotated[Literal[2], WHOLE] = Field(description="Version of this contract: 2.")
    idempotency_key: IdempotencyKey
    repo_root: RepoRoot
    files: Annotated[
        list[FileChange],
        Field(
            min_length=1,
            max_length=40,
            description="The files to change, each path named once, 1-40 entries.",
        ),
    ]
    expected_revision: Annotated[
        Revision | None,
        Field(
            default=None,
            description=(
                "Revision that the change was made for. If the workspace has moved on, the call "
                "is a CONFLICT; without it the change is made on what is there now."
            ),
        ),
    ]
    dry_run: bool = Field(
        default=False,
        description="True: say what would happen and change nothing; the key is not used up.",
    )


class FileStat(Answer):
    """What became of one file."""

    path: Annotated[
        str, Field(max_length=1024, description="The file; after a move, the new path.")
    ]
    action: Action = Field(
        description="What was done to it: created, modified, deleted, moved or unchanged."
    )
    lines_added: Annotated[
        int | None,
        Field(
            ge=0,
            description="Lines added, as a diff counts them; null: binary, or over 2 MB before.",
        ),
    ]
    lines_removed: Annotated[
        int | None,
        Field(
            ge=0,
            description="Lines removed, as a diff counts them; null: binary, or over 2 MB before.",
        ),
    ]


class Output(Answer):
    """What was changed."""

    files: Annotated[
        list[FileStat],
        Field(max_length=40, description="What became of each file, in the order of the call."),
    ]
    revision: Annotated[
        RevisionShown,
        Field(
            description="Revision after the change; in a dry run, the one it was tried on; opaque.",
        ),
    ]


SPEC = ToolSpec(
    name="apply_patch",
    version="2.0.0",
    summary="Change, create, delete and move files of a workspace: all of them or none.",
    owner="agent-platform",
    input=Input,
    output=Output,
    effect=Effect.WRITE,
    approval=Approval.WHEN_PROTECTED,
    scopes=frozenset({Scope.WORKSPACE_WRITE}),
    timeout_s=15,
    status=Status.ACTIVE,
)
