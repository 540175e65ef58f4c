"""Between the patch engine and a workspace: pre-images in, writes out, refusals as typed errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from contracts.errors import (
    ConflictError,
    ForbiddenPathError,
    InvalidArgumentsError,
    TooLargeError,
)
from contracts.issues import ISSUES_MAX, issue
from functions._runtime.workspace import FileWrite, protected
from functions.apply_patch.engine import Before, check_request, conflict_details, plan_request

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from functions._runtime.workspace import Snapshot
    from functions.apply_patch.engine import FileChange

PATCHED_MAX_BYTES = 2_000_000
"""A larger file is no text that a model should patch; it answers TOO_LARGE."""
SIBLINGS_MAX = 500
LINK_MAX_BYTES = 4096
"""No symbolic link names a longer target."""


class Request(Protocol):
    """What the engine needs of a request, whatever its version."""

    @property
    def repo_root(self) -> str:
        """The workspace; diff headers may carry it."""

    @property
    def files(self) -> Sequence[FileChange]:
        """The entries."""


def refuse_unusable(request: Request) -> None:
    """Refuse what no state of the files could make right.

    Raises ForbiddenPathError for a protected path, InvalidArgumentsError for diffs that cannot be
    read and entries that contradict each other.
    """
    for entry in request.files:
        if protected(entry.path):
            raise ForbiddenPathError(
                "the path is protected: changing it would deploy",
                path=entry.path,
                reason="PROTECTED",
            )
    unusable = check_request(request.files, root=request.repo_root)
    if not unusable:
        return
    places = {entry.path: index for index, entry in enumerate(request.files)}
    found = []
    for one in unusable[:ISSUES_MAX]:
        expected = {"code": one.code}
        if one.patch_line is not None:
            expected["patchLine"] = str(one.patch_line)
        place = f"/files/{places[one.path]}/content" if one.path in places else "/files"
        found.append(issue(place, one.hint, expected))
    raise InvalidArgumentsError(f"{found[0]['path']}: {found[0]['problem']}", issues=found)


def planned(request: Request, snapshot: Snapshot) -> list[FileWrite]:
    """The writes that the request comes to on this snapshot, without those that change nothing.

    Raises ForbiddenPathError at a symlink, ConflictError with the engine's report where anything
    does not fit, TooLargeError for a file over 2 MB whose content matters.
    """
    reader = _Reader(snapshot, request.files)
    plan = plan_request(
        reader.read, request.files, root=request.repo_root, similar=_siblings(snapshot)
    )
    if plan.forbidden:
        raise ForbiddenPathError(
            "the path is, or passes through, a symbolic link; links are never followed",
            path=plan.forbidden[0],
            reason="SYMLINK",
        )
    if plan.too_large:
        raise reader.too_large[plan.too_large[0]]
    if plan.conflicts:
        details = conflict_details(plan)
        first = details["conflicts"][0]
        raise ConflictError(
            f"{first['path']}: {first['hint']}", code=plan.conflicts[0].code, **details
        )
    return [
        FileWrite(write.path, write.data, write.executable)
        for write in plan.writes
        if write.action != "unchanged"
    ]


class _Reader:
    """Pre-images, each read only as far as its entry depends on it."""

    def __init__(self, snapshot: Snapshot, files: Sequence[FileChange]) -> None:
        self._snapshot = snapshot
        # A file longer than the new text cannot be the same: there is no need to fetch it.
        self._limits = {
            entry.path: max(len(entry.content.encode(errors="replace")), LINK_MAX_BYTES)
            for entry in files
            if entry.mode == "replace_full"
        }
        self.too_large: dict[str, TooLargeError] = {}

    def read(self, path: str) -> Before:
        """What stands at `path`; `large` if it is longer than anyone needs to know."""
        try:
            entry = self._snapshot.read(path, max_bytes=self._limits.get(path, PATCHED_MAX_BYTES))
        except TooLargeError as error:
            self.too_large[path] = error
            return Before(None, kind="large")
        if entry.is_file:
            return Before(entry.data, executable=entry.kind == "executable")
        if entry.kind in {"symlink", "symlink_parent"}:
            return Before(None, kind="symlink")
        if entry.kind in {"directory", "submodule"}:
            return Before(None, kind="directory")
        return Before(
            None, kind="not_a_directory" if entry.kind == "not_a_directory" else "missing"
        )


def _siblings(snapshot: Snapshot) -> Callable[[str], Sequence[str]]:
    """The first files of the directory that a missing one would be in."""

    def siblings(path: str) -> Sequence[str]:
        folder, _, _ = path.rpartition("/")
        beside: list[str] = []
        for found, _kind in snapshot.walk(f"{_literal(folder)}/*" if folder else "*"):
            beside.append(found.decode("utf-8", "backslashreplace"))
            if len(beside) == SIBLINGS_MAX:
                break
        return beside

    return siblings


def _literal(path: str) -> str:
    """A path as a glob that fits only itself."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in path)
