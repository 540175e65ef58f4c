"""A whole request: every entry planned against the files as they are, all of it or none.

Pure: `read` supplies the pre-image, the plan says what to write. Entries do not see each other's
results. One conflict anywhere means no writes at all, and every conflict is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from .budget import REQUEST_STEPS, Budget
from .hunk import Patch, Unusable
from .parse import parse_patch
from .paths import normal_path
from .report import MAX_CONFLICTS, Conflict, Fit, Invalid
from .report import conflict_details as bounded_details
from .single import Change, HunkPlace, patch_file, replace_file

MAX_FILES = 40
MAX_DIFF_LINES = 250_000

BeforeKind = Literal["file", "large", "directory", "symlink", "missing", "not_a_directory"]


class FileChange(Protocol):
    """One entry of the request; any object with these attributes."""

    @property
    def path(self) -> str:
        """The file, relative to the repository, with `/` between components."""

    @property
    def mode(self) -> str:
        """`unified_diff` or `replace_full`."""

    @property
    def content(self) -> str:
        """The diff, or the whole new text."""


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
    action: Literal["create", "modify", "delete", "unchanged"]
    data: bytes | None
    """The new bytes; None = delete."""
    executable: bool | None
    """The bit to set; None = keep (a new file has it off)."""
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


def check_request(files: Sequence[FileChange], *, root: str | None = None) -> list[Invalid]:
    """What the arguments alone rule out; empty when there is nothing to object to.

    `root` is the repository's absolute path as the caller names it: headers may use it.
    """
    return _read_request(files, root)[1]


def plan_request(
    read: Callable[[str], Before],
    files: Sequence[FileChange],
    *,
    root: str | None = None,
    similar: Callable[[str], Sequence[str]] = lambda _path: (),
    steps: int = REQUEST_STEPS,
) -> Plan:
    """Plan every entry of `files`.

    `read` is called once for each distinct path, normalised. `similar` may list paths beside one
    that is missing. `steps` bounds what the plan and its report cost: see `Budget`.
    """
    patches, invalid = _read_request(files, root)
    if invalid:
        return Plan(invalid=invalid)
    plan = Plan(budget=Budget(steps))
    writes = []
    for entry, patch in zip(files, patches, strict=True):
        path = normal_path(entry.path) or entry.path
        before = read(path)
        # Only conflicts that can be shown are worth listing directories.
        beside = similar if len(plan.conflicts) < MAX_CONFLICTS else _nothing
        if before.kind == "symlink":
            plan.forbidden.append(entry.path)
            continue
        if before.kind == "large" and not _blind(patch):
            plan.too_large.append(path)
            continue
        found = _plan_entry(before, entry, patch, plan.budget, beside)
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


def _read_request(
    files: Sequence[FileChange], root: str | None
) -> tuple[list[Patch | None], list[Invalid]]:
    if not files:
        return [], [Invalid("", "NO_FILES", "Send at least one file.")]
    if len(files) > MAX_FILES:
        hint = f"Send at most {MAX_FILES} files a request; this one has {len(files)}."
        return [], [Invalid("", "TOO_MANY_FILES", hint)]
    lines = sum(entry.content.count("\n") for entry in files if entry.mode == "unified_diff")
    if lines > MAX_DIFF_LINES:
        hint = f"Send at most {MAX_DIFF_LINES} lines of diffs a request, or use replace_full."
        return [], [Invalid("", "TOO_MANY_LINES", hint)]
    invalid = _check_paths(files)
    patches: list[Patch | None] = []
    for entry in files:
        patches.append(None)
        try:
            _check_text(entry.content)
            if entry.mode == "unified_diff":
                patches[-1] = parse_patch(
                    entry.content, normal_path(entry.path) or entry.path, root
                )
        except Unusable as error:
            invalid.append(Invalid(entry.path, error.code, error.hint, error.line))
    return patches, invalid


def _check_paths(files: Sequence[FileChange]) -> list[Invalid]:
    invalid = []
    seen: set[str] = set()
    for entry in files:
        path = normal_path(entry.path)
        if path is None:
            hint = "Give a path inside the repository, relative, without '..' and outside '.git'."
            invalid.append(Invalid(entry.path, "UNSAFE_PATH", hint))
        elif path in seen:
            hint = "This path occurs twice. Put all its hunks into one entry."
            invalid.append(Invalid(entry.path, "DUPLICATE_PATH", hint))
        else:
            seen.add(path)
    for path in sorted(seen):
        parts = path.split("/")
        above = next((p for n in range(1, len(parts)) if (p := "/".join(parts[:n])) in seen), None)
        if above is not None:
            hint = f"Another entry uses {above} as a file, so it cannot be a directory here."
            invalid.append(Invalid(path, "PATH_CLASH", hint))
    return invalid


def _check_text(content: str) -> None:
    if "\0" in content:
        line = content.count("\n", 0, content.index("\0")) + 1
        raise Unusable(
            "BAD_TEXT", "The content holds a NUL character; only text can be sent.", line
        )
    try:
        content.encode()
    except UnicodeEncodeError as error:
        line = content.count("\n", 0, error.start) + 1
        hint = "The content holds half of a surrogate pair, which is not text."
        raise Unusable("BAD_TEXT", hint, line) from None


def _plan_entry(
    before: Before,
    entry: FileChange,
    patch: Patch | None,
    budget: Budget,
    similar: Callable[[str], Sequence[str]],
) -> Write | list[Conflict]:
    path = normal_path(entry.path) or entry.path
    if before.kind == "directory":
        return [Conflict(entry.path, "IS_A_DIRECTORY", "There is a directory at this path.")]
    if before.kind == "not_a_directory":
        hint = "A component of this path is a file, so nothing can be put below it."
        return [Conflict(entry.path, "NOT_A_DIRECTORY", hint)]
    if patch is None:
        found: Change | list[Conflict] = replace_file(entry.content)
    elif before.kind == "large":
        found = Change(None, notes=patch.notes)
    else:
        found = patch_file(entry.path, before.data, patch, budget, similar)
    if not isinstance(found, Change):
        return found
    action: Literal["create", "modify", "delete", "unchanged"] = "modify"
    if found.data is None:
        action = "delete"
    elif before.kind == "missing":
        action = "create"
    elif found.data == before.data and found.executable in (None, before.executable):
        action = "unchanged"
    return Write(path, action, found.data, found.executable, found.hunks, found.notes)
