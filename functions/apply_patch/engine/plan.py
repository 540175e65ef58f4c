"""A whole request: every entry planned against the files as they are, all of it or none.

Pure: `read` supplies the pre-image, the plan says what to write. Entries do not see each other's
results. One conflict anywhere means no writes at all, and every conflict is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from .budget import REQUEST_STEPS, Budget
from .counts import NO_LINES, LineCounts, count_patch, count_texts
from .hunk import Patch
from .names import similar_paths
from .paths import normal_path
from .report import MAX_CONFLICTS, Conflict, Fit, Invalid
from .report import conflict_details as bounded_details
from .request import WITHOUT_TEXT, FileChange, read_request
from .single import Change, HunkPlace, patch_file, replace_file

Action = Literal["create", "modify", "delete", "move", "unchanged"]
BeforeKind = Literal["file", "large", "directory", "symlink", "missing", "not_a_directory"]


@dataclass(frozen=True)
class Before:
    """What stands at a path before the request."""

    data: bytes | None
    """The bytes of a file; None for everything else."""
    executable: bool = False
    kind: BeforeKind = "file"
    """`symlink` also when a directory of the path is one; `not_a_directory` when one is a file.

    `large` is a file that was not read.
    """


@dataclass(frozen=True)
class Write:
    """What to do at one path."""

    path: str
    action: Action
    data: bytes | None
    """The new bytes; None for a deletion, and for a move: its bytes are those of `source`."""
    executable: bool | None
    """The bit to set; None = keep (a new file has it off)."""
    source: str | None = None
    """Where a moved file was."""
    lines: LineCounts = NO_LINES
    """How many lines are added and removed."""
    hunks: tuple[HunkPlace, ...] = ()
    notes: tuple[str, ...] = ()
    """What was tolerated or looks odd, for the answer."""


@dataclass(frozen=True)
class Plan:
    """Either `writes`, one per entry in request order, or the reasons why there are none."""

    writes: list[Write] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    """Every reason why a file does not fit, in request order."""
    invalid: list[Invalid] = field(default_factory=list)
    """What `check_request` says; nothing was read then."""
    forbidden: list[str] = field(default_factory=list)
    """Paths that are or lead through symbolic links."""
    too_large: list[str] = field(default_factory=list)
    """Paths of `large` files whose content the request depends on."""
    fits: list[Fit] = field(default_factory=list)
    """Beside conflicts: the entries that have none."""
    budget: Budget = field(default_factory=Budget)
    """What is left for the report."""
    counting: Budget = field(default_factory=lambda: Budget(0))
    """What is left for counting lines."""


def check_request(files: Sequence[FileChange], *, root: str | None = None) -> list[Invalid]:
    """What the arguments alone rule out; empty when there is nothing to object to.

    `root` is the repository's absolute path as the caller names it: headers may use it.
    """
    return read_request(files, root)[1]


def plan_request(
    read: Callable[[str], Before],
    files: Sequence[FileChange],
    *,
    root: str | None = None,
    similar: Callable[[str], Sequence[str]] = lambda _path: (),
    steps: int = REQUEST_STEPS,
    count_steps: int = 0,
) -> Plan:
    """Plan every entry of `files`.

    `read` is called once for each distinct path, normalised. `similar` may list paths beside one
    that is missing. `steps` bounds what the plan and its report cost: see `Budget`;
    `count_steps` what comparing rewritten texts to count their lines may cost beside that.
    """
    patches, invalid = read_request(files, root)
    if invalid:
        return Plan(invalid=invalid)
    plan = Plan(budget=Budget(steps), counting=Budget(count_steps))
    writes = []
    for entry, patch in zip(files, patches, strict=True):
        path = normal_path(entry.path) or entry.path
        before = read(path)
        # Only conflicts that can be shown are worth listing directories.
        beside = similar if len(plan.conflicts) < MAX_CONFLICTS else _nothing
        after = read(normal_path(entry.new_path) or "") if entry.mode == "move" else None
        if links := _links(entry, before, after):
            plan.forbidden.extend(links)
            continue
        if before.kind == "large" and not _blind(patch):
            plan.too_large.append(path)
            continue
        if entry.mode in WITHOUT_TEXT:
            found = _plan_whole(before, after, entry, plan, beside)
        else:
            found = _plan_text(before, entry, patch, plan, beside)
        if isinstance(found, Write):
            writes.append(found)
            plan.fits.append(Fit(entry.path, len(found.hunks)))
        else:
            plan.conflicts.extend(found)
    if plan.conflicts or plan.forbidden or plan.too_large:
        return plan
    return Plan(writes=writes)


def conflict_details(plan: Plan) -> dict[str, Any]:
    """The bounded report of a plan with conflicts: see `report.conflict_details`."""
    return bounded_details(plan.conflicts, plan.fits, plan.budget)


def _nothing(_path: str) -> Sequence[str]:
    return ()


def _blind(patch: Patch | None) -> bool:
    """Whether the entry does the same whatever its file holds: overwrites or deletes it."""
    return patch is None or (patch.unconditional and not patch.hunks)


def _links(entry: FileChange, before: Before, after: Before | None) -> list[str]:
    """The entry's paths that are, or lead through, symbolic links."""
    found = [entry.path] if before.kind == "symlink" else []
    return [*found, entry.new_path] if after and after.kind == "symlink" else found


def _no_place(path: str, before: Before) -> Conflict | None:
    """Why no file can be at `path`, if so."""
    if before.kind == "directory":
        return Conflict(path, "IS_A_DIRECTORY", "There is a directory at this path.")
    if before.kind == "not_a_directory":
        hint = "A component of this path is a file, so nothing can be put below it."
        return Conflict(path, "NOT_A_DIRECTORY", hint)
    return None


def _plan_whole(
    before: Before,
    after: Before | None,
    entry: FileChange,
    plan: Plan,
    similar: Callable[[str], Sequence[str]],
) -> Write | list[Conflict]:
    """A file that goes, or goes elsewhere (`after` is what stands there), whatever it holds."""
    path = normal_path(entry.path) or entry.path
    if problem := _no_place(entry.path, before):
        return [problem]
    if before.kind == "missing":
        hint = f"There is no such file to {entry.mode}: it may be gone already."
        paths = similar_paths(path, similar(path), plan.budget)
        return [Conflict(entry.path, "FILE_NOT_FOUND", hint, similar=paths)]
    if after is None:
        return Write(path, "delete", None, None, lines=_counts(before, None, plan))
    if problem := _no_place(entry.new_path, after):
        return [problem]
    if after.kind != "missing":
        hint = "There is a file at newPath. Take another newPath, or delete that file first."
        return [Conflict(entry.new_path, "ALREADY_EXISTS", hint)]
    target = normal_path(entry.new_path) or entry.new_path
    return Write(target, "move", None, before.executable, source=path)


def _plan_text(
    before: Before,
    entry: FileChange,
    patch: Patch | None,
    plan: Plan,
    similar: Callable[[str], Sequence[str]],
) -> Write | list[Conflict]:
    path = normal_path(entry.path) or entry.path
    if problem := _no_place(entry.path, before):
        return [problem]
    if patch is None:
        found: Change | list[Conflict] = replace_file(entry.content)
    elif before.kind == "large":
        found = Change(None, notes=patch.notes)
    else:
        found = patch_file(entry.path, before.data, patch, plan.budget, similar)
    if not isinstance(found, Change):
        return found
    action: Action = "modify"
    if found.data is None:
        action = "delete"
    elif before.kind == "missing":
        action = "create"
    elif found.data == before.data and found.executable in (None, before.executable):
        action = "unchanged"
    if action == "unchanged":
        lines = NO_LINES
    elif patch is not None and patch.hunks:
        lines = count_patch(patch)
    else:
        lines = _counts(before, found.data, plan)
    return Write(
        path,
        action,
        found.data,
        found.executable,
        lines=lines,
        hunks=found.hunks,
        notes=found.notes,
    )


def _counts(before: Before, after: bytes | None, plan: Plan) -> LineCounts:
    """The lines that a file gains and loses; unknown if it was not read."""
    if before.kind == "large":
        return LineCounts()
    return count_texts(before.data, after, plan.counting)
