"""What a caller is told when a request cannot be planned: enough to fix it in one turn.

`Invalid` says what is wrong with the arguments, `Conflict` how a file differs from what they
expect. `conflict_details` bounds the whole: at most ten conflicts, at most 7,500 bytes of JSON,
texts cut at 300 characters. Texts are addressed to the model; file content in them is data.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .budget import Budget, OutOfBudgetError
from .describe import (
    CANDIDATE_STEPS,
    MAX_TEXT,
    cut,
    describe_candidates,
    describe_insertion,
    describe_mismatch,
    describe_named,
    ranges,
)
from .hunk import Hunk
from .lines import FileText

MAX_CONFLICTS = 10
MAX_DETAIL_BYTES = 7_500
_FITS_BYTES = 1_500

ConflictCode = Literal[
    "CONTEXT_MISMATCH",
    "AMBIGUOUS",
    "SCOPE_MISMATCH",
    "TOO_COMPLEX",
    "ALREADY_APPLIED",
    "UNANCHORED_INSERT",
    "OVERLAP",
    "BINARY",
    "FILE_NOT_FOUND",
    "ALREADY_EXISTS",
    "DELETE_LEAVES_CONTENT",
    "NOT_A_DIRECTORY",
    "IS_A_DIRECTORY",
]


@dataclass(frozen=True)
class Invalid:
    """An entry that is unusable whatever the files hold."""

    path: str
    code: str
    hint: str
    patch_line: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """`{"path", "code", "patchLine"?, "hint"}`."""
        line = {} if self.patch_line is None else {"patchLine": self.patch_line}
        return {"path": cut(self.path), "code": self.code, **line, "hint": cut(self.hint)}


@dataclass(frozen=True, eq=False)
class Conflict:
    """One reason why an entry does not fit its file. Details are worked out on demand."""

    path: str
    code: ConflictCode
    hint: str
    file: FileText | None = None
    """What the file holds, when it is there and is text."""
    hunk: Hunk | None = None
    matches: tuple[int, ...] = ()
    """0-based starts of equal places."""
    named: int | None = None
    """The one of `matches` that the hunk names, if others fit better."""
    applied_at: int | None = None
    """0-based line where the change already stands."""
    start: int | None = None
    """0-based line where the hunk goes, if it is not its place that is wrong."""
    beside: tuple[int, int] | None = None
    """The hunk that it has to be joined with: its number and the 0-based line where it goes."""
    similar: tuple[str, ...] = ()
    """Paths that may have been meant."""
    fitting: tuple[int, ...] = ()
    """Numbers of the hunks of the same entry that fit."""

    def to_dict(self, budget: Budget) -> dict[str, Any]:
        """The conflict as JSON data, each text bounded, the whole not.

        What `budget` does not allow is left out: the file's digest, comparison and candidates.
        """
        out: dict[str, Any] = {"path": self.path}
        file, hunk, hints = self.file, self.hunk, [self.hint]
        if file and not _affords(budget, len(file.lines) // 4):
            file = None
        if file:
            out |= _describe_file(file)
        out["code"] = self.code
        if hunk:
            out |= _describe_header(hunk)
        if self.start is not None:
            out["startLine"] = self.start + 1
        if self.beside:
            number, start = self.beside
            out["joinWith"] = {"hunk": number, "startLine": start + 1}
        elif file and hunk and self.code in _COMPARED:
            comparison, sentence = _COMPARED[self.code](file, hunk, budget)
            out |= comparison
            if sentence:
                hints.insert(0, sentence)
        if file and hunk and self.matches:
            out |= self._describe_matches(file, hunk, hints, budget)
        if self.applied_at is not None:
            out["appliedAt"] = self.applied_at + 1
        if self.similar:
            out["similarPaths"] = [cut(path) for path in self.similar]
        if self.fitting:
            hints.append(f"Hunks of this file that fit: {ranges(self.fitting)}.")
        return out | {"hint": cut(" ".join(hints), 2 * MAX_TEXT)}

    def _describe_matches(
        self, file: FileText, hunk: Hunk, hints: list[str], budget: Budget
    ) -> dict[str, Any]:
        out: dict[str, Any] = {}
        if _affords(budget, CANDIDATE_STEPS):
            out = describe_candidates(file, hunk, self.matches)
        if self.named is not None:
            suggestion, sentence = describe_named(file, hunk, self.named, budget)
            out |= suggestion
            hints.append(sentence)
        return out


def _describe_file(file: FileText) -> dict[str, Any]:
    return {
        "fileSha256": file.sha256,
        "lineCount": len(file.lines),
        "eol": file.eol,
        "finalNewline": file.terminated and bool(file.lines),
    }


def _describe_header(hunk: Hunk) -> dict[str, Any]:
    stated = {} if hunk.start is None else {"expectedAt": hunk.start}
    shown = {"hunk": hunk.number, "header": cut(hunk.header), "patchLine": hunk.header_line}
    return shown | stated


_COMPARED = {"CONTEXT_MISMATCH": describe_mismatch, "UNANCHORED_INSERT": describe_insertion}


@dataclass(frozen=True)
class Fit:
    """An entry without conflicts in a request that has some: nothing of it was written."""

    path: str
    hunks: int

    def to_dict(self) -> dict[str, Any]:
        """`{"path", "hunks"}`."""
        return {"path": self.path, "hunks": self.hunks}


def _affords(budget: Budget, steps: int) -> bool:
    try:
        budget.spend(steps)
    except OutOfBudgetError:
        return False
    return True


def conflict_details(
    conflicts: Sequence[Conflict], fits: Sequence[Fit], budget: Budget
) -> dict[str, Any]:
    """`{"conflicts": [...], "fits": [...], "omitted": n}` within the bounds.

    What does not fit is dropped from the end: first the lines beside candidates, then suggestions,
    shown lines and candidates' scopes, then whole conflicts, which `omitted` counts. `fitsOmitted`
    counts entries left out of `fits`.
    """
    shown = [conflict.to_dict(budget) for conflict in conflicts[:MAX_CONFLICTS]]
    fitting = [fit.to_dict() for fit in fits]
    while fitting and _size(fitting) > _FITS_BYTES:
        fitting.pop()
    out: dict[str, Any] = {
        "conflicts": shown,
        "fits": fitting,
        "omitted": len(conflicts) - len(shown),
    }
    if len(fitting) < len(fits):
        out["fitsOmitted"] = len(fits) - len(fitting)
    for field in ("candidateLines", "suggestedHunk", "actual", "candidateScopes", "header"):
        for conflict in reversed(shown):
            if _size(out) <= MAX_DETAIL_BYTES:
                return out
            conflict.pop(field, None)
    while len(shown) > 1 and _size(out) > MAX_DETAIL_BYTES:
        shown.pop()
        out["omitted"] += 1
    if _size(out) > MAX_DETAIL_BYTES:
        shown[0] = {key: shown[0][key] for key in ("code", "hint")} | {
            "path": cut(shown[0]["path"])
        }
    return out


def _size(value: object) -> int:
    return len(json.dumps(value))  # ASCII with escapes and blanks: no encoding of it is longer
