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
from functions._runtime.workspace import FileWrite
from functions.apply_patch.engine import (
    OF_PATHS,
    Before,
    FileChange,
    check_request,
    conflict_details,
    paths_of,
    plan_request,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from functions._runtime.call import Call
    from functions._runtime.workspace import PathKind, Snapshot
    from functions.apply_patch.engine import Invalid, Write

PATCHED_MAX_BYTES = 2_000_000
"""A larger file is no text that a model should patch; it answers TOO_LARGE."""
SIBLINGS_MAX = 500
LINK_MAX_BYTES = 4096
"""No symbolic link names a longer target."""


class Entry(Protocol):
    """What every entry of a request has, whatever its version; a mode may bring more fields."""

    @property
    def path(self) -> str:
        """The file."""

    @property
    def mode(self) -> str:
        """What to do with it."""


class Request(Protocol):
    """What the engine needs of a request, whatever its version."""

    @property
    def repo_root(self) -> str:
        """The workspace; diff headers may carry it."""

    @property
    def files(self) -> Sequence[Entry]:
        """The entries."""


def refuse_unusable(request: Request, call: Call) -> None:
    """Refuse what no state of the files could make right.

    Raises what a path that is protected everywhere comes to, InvalidArgumentsError for diffs that
    cannot be read and entries that contradict each other.
    """
    changes = _changes(request)
    call.protection.concerns(
        (path for change in changes for path in paths_of(change)),
        settled=getattr(request, "expected_revision", None) is not None,
    )
    unusable = check_request(changes, root=request.repo_root)
    if not unusable:
        return
    found = []
    for one in unusable[:ISSUES_MAX]:
        expected = {"code": one.code}
        if one.patch_line is not None:
            expected["patchLine"] = str(one.patch_line)
        found.append(issue(_place(changes, one), one.hint, expected))
    raise InvalidArgumentsError(f"{found[0]['path']}: {found[0]['problem']}", issues=found)


def planned(request: Request, snapshot: Snapshot, *, count_steps: int = 0) -> list[Write]:
    """What the request comes to on this snapshot: one write for each entry, in its order.

    `count_steps` is what counting the lines of rewritten files may cost. Raises ForbiddenPathError
    at a symlink, ConflictError with the engine's report where anything does not fit, TooLargeError
    for a file over 2 MB whose content matters.
    """
    changes = _changes(request)
    # A file longer than the new text cannot be the same: only to count its lines is it fetched.
    reader = _Reader(snapshot, changes, PATCHED_MAX_BYTES if count_steps else LINK_MAX_BYTES)
    plan = plan_request(
        reader.read,
        changes,
        root=request.repo_root,
        similar=_siblings(snapshot),
        count_steps=count_steps,
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
    return plan.writes


def file_writes(writes: Sequence[Write], snapshot: Snapshot) -> list[FileWrite]:
    """The writes as the workspace takes them, without those that change nothing.

    A moved file keeps its object: it is neither read nor stored again.
    """
    found = []
    for write in writes:
        if write.source is not None:
            found.append(FileWrite(write.source, None))
            entry = snapshot.find(write.source).entry
            oid = entry.oid if entry else None
            found.append(FileWrite(write.path, None, write.executable, oid))
        elif write.action != "unchanged":
            found.append(FileWrite(write.path, write.data, write.executable))
    return found


def _changes(request: Request) -> list[FileChange]:
    """The entries as the engine takes them: all fields of all modes, those of others empty."""
    return [
        FileChange(
            entry.path,
            entry.mode,
            getattr(entry, "content", ""),
            getattr(entry, "new_path", ""),
        )
        for entry in request.files
    ]


def _place(changes: Sequence[FileChange], objection: Invalid) -> str:
    """JSON pointer of what is objected to."""
    for index, change in reversed(list(enumerate(changes))):
        if objection.path == change.path:
            return f"/files/{index}/{'path' if objection.code in OF_PATHS else 'content'}"
        if objection.path in paths_of(change):
            return f"/files/{index}/newPath"
    return "/files"


class _Reader:
    """Pre-images, each read only as far as its entry depends on it."""

    def __init__(self, snapshot: Snapshot, changes: Sequence[FileChange], least: int) -> None:
        self._snapshot = snapshot
        self._limits = {
            change.path: max(len(change.content.encode(errors="replace")), least)
            for change in changes
            if change.mode == "replace_full"
        }
        self._unread = {path for one in changes if one.mode == "move" for path in paths_of(one)}
        self.too_large: dict[str, TooLargeError] = {}

    def read(self, path: str) -> Before:
        """What stands at `path`; `large` if it is longer than anyone needs to know."""
        if path in self._unread:
            return _before(self._snapshot.kind(path))
        try:
            entry = self._snapshot.read(path, max_bytes=self._limits.get(path, PATCHED_MAX_BYTES))
        except TooLargeError as error:
            self.too_large[path] = error
            return Before(None, kind="large")
        return _before(entry.kind, entry.data)


def _before(kind: PathKind, data: bytes | None = None) -> Before:
    """What the engine calls it. Without `data` a file counts as one that was not read."""
    if kind in {"file", "executable"}:
        return Before(data, kind == "executable", "large" if data is None else "file")
    if kind in {"symlink", "symlink_parent"}:
        return Before(None, kind="symlink")
    if kind in {"directory", "submodule"}:
        return Before(None, kind="directory")
    return Before(None, kind="not_a_directory" if kind == "not_a_directory" else "missing")


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
