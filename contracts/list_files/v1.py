"""list_files v1: the paths of a workspace that fit a glob, a page at a time."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from contracts.spec import Effect, Scope, Status, ToolSpec
from contracts.types import (
    Answer,
    Contract,
    Cursor,
    PathGlob,
    PathShown,
    RepoRoot,
    RevisionAsked,
    RevisionShown,
)


class Input(Contract):
    """Which paths, and from where on."""

    repo_root: RepoRoot
    glob: PathGlob
    cursor: Annotated[
        Cursor | None,
        Field(
            default=None,
            description="nextCursor of the page before, for the same glob; keeps its revision.",
        ),
    ]
    limit: int = Field(
        default=100, ge=1, le=200, description="How many paths a page holds at the most, 1-200."
    )
    revision: RevisionAsked


class Entry(Answer):
    """One path."""

    path: PathShown
    kind: Literal["file", "executable", "symlink", "submodule"] = Field(
        description="What stands there: file, executable, symlink or submodule."
    )


class Output(Answer):
    """A page of paths in byte order, all of one revision."""

    files: Annotated[
        list[Entry],
        Field(max_length=200, description="The paths of this page, in byte order."),
    ]
    revision: Annotated[
        RevisionShown, Field(description="Revision of the workspace that was listed; opaque.")
    ]
    next_cursor: Annotated[
        Cursor | None,
        Field(default=None, description="For the next page; null on the last."),
    ]


SPEC = ToolSpec(
    name="list_files",
    version="1.0.0",
    summary="List the paths of a workspace that fit a glob, a page at a time.",
    owner="agent-platform",
    input=Input,
    output=Output,
    effect=Effect.READ,
    scopes=frozenset({Scope.WORKSPACE_READ}),
    timeout_s=10,
    status=Status.DRAFT,
)
