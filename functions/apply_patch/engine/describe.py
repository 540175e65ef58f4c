"""Parts of a conflict report that compare a hunk with the file, each bounded, all JSON data."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .budget import Budget, OutOfBudgetError
from .hunk import Hunk, Unusable
from .lines import FileText
from .locate import Locator, Placed
from .nearest import Closest, LineDifference, find_closest
from .parse import parse_patch

MAX_TEXT = 300
_MAX_SUGGESTION = 2_000
_MAX_CANDIDATES = 12
_SHOWN_LINES = 12
_SHOWN_ABOVE = 5
_SCOPE_SEARCH = 400  # lines looked at above a candidate
_SUGGESTED_SHARE = 0.8
CANDIDATE_STEPS = 1_000
"""What `describe_candidates` costs at worst."""
_UNENCODABLE = re.compile("[\ud800-\udfff]")


def cut(text: str, limit: int = MAX_TEXT) -> str:
    """`text` fit for JSON: at most `limit` characters and a count; bytes not UTF-8 as U+FFFD."""
    shown = _UNENCODABLE.sub("\ufffd", text[:limit])
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
    if suggestion := _suggest(file, hunk, closest, budget):
        out["suggestedHunk"] = suggestion
        sentence += " suggestedHunk has the file's lines; check its '+' lines before you send it."
    return out, sentence


def describe_candidates(file: FileText, matches: Sequence[int]) -> dict[str, Any]:
    """`{"candidates", "candidateScopes"?}`: 1-based starts, and for each what it stands in.

    A scope is the nearest line above that is indented less; empty if there is none.
    """
    shown = matches[:_MAX_CANDIDATES]
    scopes = [_scope_above(file, at) for at in shown]
    out: dict[str, Any] = {"candidates": [at + 1 for at in shown]}
    return out | ({"candidateScopes": scopes} if any(scopes) else {})


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
    lines = file.lines[first : first + _SHOWN_LINES]
    shown = (cut(line.removesuffix("\r")) for line in lines)
    return "\n".join(f"{number}| {text}" for number, text in enumerate(shown, first + 1))


def _scope_above(file: FileText, at: int) -> str:
    indent = len(_indent(file.lines[at]))
    for line in reversed(file.lines[max(0, at - _SCOPE_SEARCH) : at]):
        if line.strip() and len(_indent(line)) < indent:
            return cut(line.strip())
    return ""


def _suggest(file: FileText, hunk: Hunk, closest: Closest, budget: Budget) -> str | None:
    """The hunk with the file's own lines as context and removed lines, if it is nearly right.

    Only what would be placed right there is offered.
    """
    start, count = closest.start, len(hunk.old)
    aligned = start >= 0 and start + count <= len(file.lines)
    if not aligned or closest.alike < _SUGGESTED_SHARE * count:
        return None
    theirs = iter(file.lines[start : start + count])
    body = [
        line.tag + (line.text if line.tag == "+" else next(theirs)).removesuffix("\r")
        for line in hunk.lines
    ]
    header = f"@@ -{start + 1},{count} +{start + 1},{len(hunk.new)} @@"
    text = "\n".join([header, *body]) + "\n"
    if len(text) > _MAX_SUGGESTION or _UNENCODABLE.search(text):
        return None
    return text if _applies(text, file, budget) else None


def _applies(text: str, file: FileText, budget: Budget) -> bool:
    """Whether the diff `text` is one hunk that the file takes where it says."""
    try:
        hunks = parse_patch(text, "f").hunks
    except Unusable:
        return False
    if len(hunks) != 1 or not hunks[0].old:
        return False
    place = Locator(file, hunks, budget).place(hunks[0])
    return isinstance(place, Placed) and place.offset == 0


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
