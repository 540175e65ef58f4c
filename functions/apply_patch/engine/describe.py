"""Parts of a conflict report that show a hunk beside the file, each bounded, all JSON data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .budget import Budget, OutOfBudgetError
from .hunk import Hunk
from .lines import FileText
from .nearest import LineDifference, find_closest
from .suggest import UNENCODABLE, suggest_exact, suggest_nearest

MAX_TEXT = 300
_MAX_CANDIDATES = 12
_SHOWN_LINES = 12
_SHOWN_ABOVE = 5
_SHOWN_BESIDE = 2
_SCOPE_SEARCH = 400  # lines looked at above a candidate
_MAX_SCOPES = 4
CANDIDATE_STEPS = 1_000
"""What `describe_candidates` costs at worst."""


def cut(text: str, limit: int = MAX_TEXT) -> str:
    """`text` fit for JSON: at most `limit` characters and a count; bytes not UTF-8 as U+FFFD."""
    shown = UNENCODABLE.sub("\ufffd", text[:limit])
    return shown if len(text) <= limit else f"{shown}…(+{len(text) - limit} characters)"


def describe_mismatch(file: FileText, hunk: Hunk, budget: Budget) -> tuple[dict[str, Any], str]:
    """`{"closest"?, "actual"?, "suggestedHunk"?}` and a sentence that says what differs.

    `actual` has at most 12 numbered lines round the first difference. Both are empty when `budget`
    does not allow the comparison.
    """
    try:
        closest = find_closest(file, hunk, budget)
    except OutOfBudgetError:
        return {}, ""
    if closest is None:
        shown = _numbered(file, min(hunk.start or 1, len(file.lines)) - 1)
        return ({"actual": shown} if shown else {}), "Nothing in the file is like this hunk."
    first = closest.first_difference
    out: dict[str, Any] = {
        "closest": {
            "startLine": max(1, closest.start + 1),
            "endLine": min(len(file.lines), closest.start + len(hunk.old)),
            "matchedLines": closest.matched,
            "ofLines": len(hunk.old),
            "firstDiff": {
                "patchLine": first.patch_line,
                "fileLine": first.file_line,
                "expected": cut(first.expected),
                "actual": None if first.actual is None else cut(first.actual),
                "kind": first.kind,
            },
        },
        "actual": _numbered(file, first.file_line - 1),
    }
    sentence = _explain(first)
    if suggestion := suggest_nearest(file, hunk, closest, budget):
        out["suggestedHunk"] = suggestion
        sentence += " suggestedHunk has the file's lines; check its '+' lines before you send it."
    return out, sentence


def describe_candidates(file: FileText, hunk: Hunk, matches: Sequence[int]) -> dict[str, Any]:
    """`{"candidates", "candidateLines", "candidateScopes"?}`, each with an item for each place.

    The places are 1-based, at most 12, those next to the stated line if there is one. Lines are the
    numbered ones above and below; a scope is the lines above that are indented ever less, outermost
    first, joined by ` > `; empty if there are none.
    """
    stated = 0 if hunk.start is None else hunk.start - 1
    shown = sorted(sorted(matches, key=lambda at: abs(at - stated))[:_MAX_CANDIDATES])
    scopes = [_scopes_above(file, at) for at in shown]
    out: dict[str, Any] = {"candidates": [at + 1 for at in shown]}
    out["candidateLines"] = [
        "\n".join(
            _numbers(file, max(0, at - _SHOWN_BESIDE), at)
            + _numbers(file, at + len(hunk.old), at + len(hunk.old) + _SHOWN_BESIDE)
        )
        for at in shown
    ]
    return out | ({"candidateScopes": scopes} if any(scopes) else {})


def describe_named(
    file: FileText, hunk: Hunk, named: int, budget: Budget
) -> tuple[dict[str, Any], str]:
    """`{"suggestedHunk"?}` and a sentence, for a hunk that fits better than at the place it names.

    The suggestion fits at `named`, a 0-based line, exactly.
    """
    sentence = f"It names line {named + 1}, where it fits only but for line ends or final newline."
    suggestion = suggest_exact(file, hunk, named, budget)
    if suggestion is None:
        return {}, sentence
    return {"suggestedHunk": suggestion}, f"{sentence} If that is meant, send suggestedHunk."


def describe_insertion(file: FileText, hunk: Hunk, budget: Budget) -> tuple[dict[str, Any], str]:
    """`{"actual"?}` and a sentence, for added lines without context.

    `actual` is round the line that the header states, or that it names if no other line is equal;
    the head of the file if it does neither. Empty when `budget` does not allow the search.
    """
    middle, what = (hunk.start or 1) - 1, "The header's number points"
    if hunk.start is None and hunk.scopes:
        try:
            budget.spend(len(file.lines))
        except OutOfBudgetError:
            return {}, ""
        named = [i for i, line in enumerate(file.lines) if line.strip() == hunk.scopes[-1]]
        if len(named) != 1:
            return {}, ""
        middle, what = named[0], "The line that the header names is"
    elif hunk.start is None:
        what = "Without a number it would be"
    if middle >= len(file.lines):
        return {"actual": _numbered(file, middle)}, "The file ends before the header's line."
    return {"actual": _numbered(file, middle)}, f"{what} at line {middle + 1}: copy lines from it."


def ranges(numbers: Sequence[int]) -> str:
    """`1-3, 7` for 1, 2, 3, 7."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def _numbered(file: FileText, middle: int) -> str:
    first = max(0, min(middle - _SHOWN_ABOVE, len(file.lines) - _SHOWN_LINES))
    return "\n".join(_numbers(file, first, first + _SHOWN_LINES))


def _numbers(file: FileText, first: int, stop: int) -> list[str]:
    shown = (cut(line.removesuffix("\r")) for line in file.lines[first:stop])
    return [f"{number}| {text}" for number, text in enumerate(shown, first + 1)]


def _scopes_above(file: FileText, at: int) -> str:
    indent, scopes = len(_indent(file.lines[at])), list[str]()
    for line in reversed(file.lines[max(0, at - _SCOPE_SEARCH) : at]):
        if line.strip() and len(_indent(line)) < indent:
            indent = len(_indent(line))
            scopes.append(line.strip())
            if not indent or len(scopes) == _MAX_SCOPES:
                break
    return cut(" > ".join(reversed(scopes)))


def _explain(first: LineDifference) -> str:
    where = f"line {first.patch_line} of your patch"
    if first.kind == "past-end":
        return f"The file ends before {where}."
    if first.kind == "missing-in-file":
        return f"The file does not have {where}; its line {first.file_line} stands there instead."
    if first.kind == "extra-in-file":
        return f"The file has line {first.file_line} before what {where} expects next."
    sentence = f"Line {first.file_line} of the file differs from {where}"
    if first.kind == "indentation":
        yours, theirs = _indentation(first.expected), _indentation(first.actual or "")
        return f"{sentence} in indentation: you wrote {yours}, the file has {theirs}."
    return f"{sentence}{_IN_WHAT.get(first.kind, '')}."


_IN_WHAT = {
    "trailing-whitespace": " in white space at its end",
    "inner-whitespace": " in white space",
    "typographic-characters": " in typographic characters (quotes, dashes, special blanks)",
    "html-escaping": " in HTML escaping: send the text unescaped",
    "line-number-prefix": " by a line-number prefix: leave line numbers out",
    "letter-case": " in letter case",
}


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _indentation(line: str) -> str:
    indent = _indent(line)
    tabs, blanks = indent.count("\t"), indent.count(" ")
    parts = [f"{tabs} tabs"] * bool(tabs) + [f"{blanks} blanks"] * bool(blanks)
    return " and ".join(parts) or "none"
