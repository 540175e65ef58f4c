"""One entry of a request: the new bytes of its file, or every reason why it does not fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from .budget import Budget, OutOfBudgetError
from .hunk import Patch
from .lines import FileText, Tier, is_binary
from .locate import Locator, Placed, Unplaced
from .names import similar_paths
from .report import Conflict, ConflictCode
from .write import added_text, find_overlaps, in_file_order, rewrite

_TIER_NOTES = {
    Tier.LINE_ENDINGS: "matched ignoring line endings, byte-order mark or final newline",
    Tier.TRAILING_BLANKS: "matched ignoring blanks at line ends",
}
_ELISIONS = (
    "rest of the code",
    "rest of code",
    "rest of the file",
    "rest of file",
    "existing code",
    "remaining code",
    "code unchanged",
)
_TOO_COMPLEX = (
    "Placing the diffs of this request takes too long. Send fewer or smaller diffs, or this file "
    "with replace_full."
)
_DIFF = re.compile(r"^(?:@@ -\d|diff --git |\*\*\* Begin Patch|--- a/)")


@dataclass(frozen=True)
class HunkPlace:
    """Where a hunk went."""

    hunk: int
    """1-based number in the patch."""
    line: int
    """1-based line of the old file where its first old line stands."""
    offset: int | None
    """Lines away from where the header said; None if it did not say."""
    tier: int
    """How it matched: see `Tier`."""


@dataclass(frozen=True)
class Change:
    """What one entry makes of its file."""

    data: bytes | None
    """None = delete."""
    executable: bool | None = None
    hunks: tuple[HunkPlace, ...] = ()
    notes: tuple[str, ...] = ()


def replace_file(content: str) -> Change:
    """The whole new text, byte for byte; notes say what looks like a mistake."""
    notes = []
    if content.lstrip().startswith("```"):
        notes.append("the new text starts with a Markdown fence; it was taken literally")
    if _DIFF.match(content.lstrip()):
        notes.append("the new text looks like a diff; it was taken literally")
    if any(_leaves_out(line.lower()) for line in content.split("\n")):
        notes.append("the new text seems to leave code out; it was taken literally")
    return Change(content.encode(), notes=tuple(notes))


def _leaves_out(line: str) -> bool:
    return ("..." in line or "…" in line) and any(words in line for words in _ELISIONS)


def patch_file(
    path: str,
    data: bytes | None,
    patch: Patch,
    budget: Budget,
    similar: Callable[[str], Sequence[str]] = lambda _path: (),
) -> Change | list[Conflict]:
    """Apply `patch` to the bytes of its file (None = there is none).

    `similar` may list paths beside one that is missing; the likest are reported.
    """
    try:
        budget.spend(_steps_to_read(data, patch))
    except OutOfBudgetError:
        return [Conflict(path, "TOO_COMPLEX", _TOO_COMPLEX)]
    if patch.intent == "create" and data is not None:
        return [_already_exists(path, data, patch)]
    if data is None:
        if patch.intent == "create" or (patch.hunks and not any(h.old for h in patch.hunks)):
            return _fill(path, None, patch)
        hint = "There is no such file. To create it, send a diff from /dev/null or replace_full."
        if patch.intent == "delete":
            hint = "There is no such file: it may be deleted already."
        paths = similar_paths(path, similar(path), budget)
        return [Conflict(path, "FILE_NOT_FOUND", hint, similar=paths)]
    if patch.unconditional and not patch.hunks:
        return Change(None, notes=patch.notes)
    if is_binary(data):
        hint = "The file is binary: a diff cannot change it."
        return [Conflict(path, "BINARY", hint)]
    file = FileText.decode(data)
    if not file.lines and patch.hunks and not any(hunk.old for hunk in patch.hunks):
        return _fill(path, file, patch)
    return _edit(path, file, patch, budget)


def _steps_to_read(data: bytes | None, patch: Patch) -> int:
    """What it costs to split the file into lines, put it together again, and list the hunks."""
    size = data or b""
    return 1 + size.count(b"\n") + len(size) // 500 + sum(len(h.lines) for h in patch.hunks)


def _fill(path: str, file: FileText | None, patch: Patch) -> Change | list[Conflict]:
    """The added lines as the content of a new or an empty file."""
    if len(patch.hunks) > 1:
        hint = "Several hunks would fill the same empty file in no given order. Send one hunk."
        return [Conflict(path, "OVERLAP", hint, file=file, hunk=patch.hunks[1])]
    places = tuple(HunkPlace(hunk.number, 1, None, 0) for hunk in patch.hunks)
    return Change(added_text(patch.hunks).encode(), patch.executable, places, patch.notes)


def _already_exists(path: str, data: bytes, patch: Patch) -> Conflict:
    file = None if is_binary(data) else FileText.decode(data)
    if added_text(patch.hunks).encode() == data:
        hint = "The file exists and already has exactly this content: drop this entry."
    else:
        hint = "The file exists. Send a diff against its content, or replace_full to overwrite it."
    return Conflict(path, "ALREADY_EXISTS", hint, file=file)


def _edit(path: str, file: FileText, patch: Patch, budget: Budget) -> Change | list[Conflict]:
    locator = Locator(file, patch.hunks, budget)
    placed: list[Placed] = []
    failed: list[Conflict] = []
    for hunk in patch.hunks:
        if not hunk.old:
            hint = (
                "A hunk of only '+' lines has no place. Add a context line before and after them."
            )
            failed.append(Conflict(path, "UNANCHORED_INSERT", hint, file=file, hunk=hunk))
            continue
        found = locator.place(hunk)
        if isinstance(found, Placed):
            placed.append(found)
        else:
            failed.append(_unplaced(path, file, found))
    works = in_file_order(placed)
    for later, earlier in find_overlaps(works):
        hint = (
            f"This hunk and hunk {earlier.hunk.number} change the same lines, from line "
            f"{later.start + 1} on. All hunks refer to the file as it is now: join the two."
        )
        beside = (earlier.hunk.number, earlier.start)
        failed.append(
            Conflict(
                path,
                "OVERLAP",
                hint,
                file=file,
                hunk=later.hunk,
                start=later.start,
                beside=beside,
            )
        )
    if failed:
        unfit = {conflict.hunk.number for conflict in failed if conflict.hunk}
        fitting = tuple(h.number for h in patch.hunks if h.number not in unfit)
        failed.sort(key=lambda conflict: conflict.hunk.number if conflict.hunk else 0)
        return [replace(conflict, fitting=fitting) for conflict in failed]
    after = rewrite(file, works, patch_has_cr=patch.has_cr)
    places = tuple(HunkPlace(p.hunk.number, p.start + 1, p.offset, int(p.tier)) for p in placed)
    tiers = sorted({p.tier for p in placed if p.tier in _TIER_NOTES})
    notes = (*patch.notes, *(_TIER_NOTES[tier] for tier in tiers))
    if patch.intent != "delete":
        return Change(after.encode(), patch.executable, places, notes)
    if after.lines:
        hint = (
            "The diff deletes the file but does not remove all its lines. Remove all, or edit it."
        )
        return [Conflict(path, "DELETE_LEAVES_CONTENT", hint, file=file)]
    return Change(None, None, places, notes)


def _unplaced(path: str, file: FileText, found: Unplaced) -> Conflict:
    code: ConflictCode
    if found.gave_up:
        code, hint = "TOO_COMPLEX", _TOO_COMPLEX
    elif found.out_of_scope:
        code = "SCOPE_MISMATCH"
        hint = (
            "The old lines of this hunk stand at one place, but the line named after its '@@' is "
            "not above it. Copy that line whole from the file, or leave it out."
        )
    elif found.matches:
        code = "AMBIGUOUS"
        hint = (
            "The old lines of this hunk stand at several places. Choose one of candidates, add the "
            "lines that candidateLines shows beside it as context, and state its line."
        )
    elif found.applied_at is not None:
        code = "ALREADY_APPLIED"
        hint = "The file already has what this hunk would make of it: drop this hunk."
    else:
        code = "CONTEXT_MISMATCH"
        hint = "Nothing was written. Copy the file's lines exactly and send the request again."
    return Conflict(
        path,
        code,
        hint,
        file=file,
        hunk=found.hunk,
        matches=found.matches,
        named=found.named,
        applied_at=found.applied_at,
    )
