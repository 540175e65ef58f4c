"""A scripted model: given its failed request and the error's `details`, it sends another one.

Pure, and blind: it never sees a file. It does what the report says, with the reading skills of any
model: it copies suggested hunks and shown lines, and puts its own added lines right by the same
measure as the lines it is told it got wrong. It never tries a place it was not told of.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any

from benchmarks.patch_stories import Line, diff_text, indent_of
from functions.apply_patch.engine import FileChange

_NUMBER = re.compile(r"^\s*\d+(?:\t| ?[|:] ?)")
_SHOWN = re.compile(r"^(\d+)\| ?(.*)$")
_PLAIN = str.maketrans(
    {
        "\u2018": "'",
        "\u2019": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u2013": "-",
        "\u2014": "-",
        "\u2026": "...",
    }
)
_ALIKE = 0.5


@dataclass
class Hunk:
    """A hunk of the model's own diff."""

    header: str
    line: int
    """1-based line of the diff."""
    body: list[Line]

    @property
    def old(self) -> list[str]:
        return [text for tag, text in self.body if tag != "+"]

    @property
    def stated(self) -> int | None:
        found = re.match(r"@@ -(\d+)", self.header)
        return int(found[1]) if found else None

    @property
    def heading(self) -> str:
        return re.sub(r"^@@( -\S+ \+\S+ @@| \.\.\. @@)?", "", self.header).strip()


def repair(entries: Sequence[FileChange], details: dict[str, Any]) -> list[FileChange]:
    """The next request: every entry again, those with conflicts as the report says."""
    out = []
    for entry in entries:
        own = [one for one in details["conflicts"] if one["path"] == entry.path]
        fixed = _fix(entry, own) if own else entry
        if fixed is not None:
            out.append(fixed)
    return out


def _fix(entry: FileChange, conflicts: list[dict[str, Any]]) -> FileChange | None:
    """The entry put right; None when there is nothing left to send."""
    code = conflicts[0]["code"]
    if code == "FILE_NOT_FOUND":
        similar = conflicts[0].get("similarPaths", [entry.path])[0]
        content = entry.content.replace(entry.path, similar)
        return replace(entry, path=similar, content=content)
    if code == "ALREADY_EXISTS":
        if "drop this entry" in conflicts[0]["hint"]:
            return None
        added = [text for hunk in _hunks(entry.content) for tag, text in hunk.body if tag == "+"]
        return FileChange(entry.path, "replace_full", "".join(line + "\n" for line in added))
    if code == "DELETE_LEAVES_CONTENT":
        return FileChange(entry.path, "delete")
    hunks = dict(enumerate(_hunks(entry.content), 1))
    for conflict in conflicts:
        _fix_hunk(hunks, conflict)
    if not hunks:
        return None
    return replace(entry, content=diff_text(entry.path, list(hunks.values())))  # type: ignore[arg-type]


def _hunks(diff: str) -> list[Hunk]:
    out: list[Hunk] = []
    for number, line in enumerate(diff.removesuffix("\n").split("\n"), 1):
        if line.startswith("@@"):
            out.append(Hunk(line, number, []))
        elif out:
            out[-1].body.append((line[:1] or " ", line[1:]))
    return out


def _fix_hunk(hunks: dict[int, Hunk], conflict: dict[str, Any]) -> None:
    number, code = conflict["hunk"], conflict["code"]
    hunk = hunks.get(number)
    if hunk is None:  # joined with another one already
        return
    if code == "ALREADY_APPLIED":
        del hunks[number]
    elif code == "SCOPE_MISMATCH":
        hunk.header = "@@"
    elif code == "CONTEXT_MISMATCH":
        if suggestion := conflict.get("suggestedHunk"):
            _take_suggestion(hunk, suggestion)
        elif "closest" in conflict and "actual" in conflict:
            _align(hunk, conflict)
    elif code == "AMBIGUOUS":
        _choose(hunk, conflict)
    elif code == "UNANCHORED_INSERT":
        _anchor(hunk, conflict)
    elif code == "OVERLAP":
        _join(hunks, conflict)
    if not any(tag in "+-" for tag, _ in hunk.body):
        hunks.pop(number, None)  # what it removes is gone already


# A hunk that fits nowhere.


def _take_suggestion(hunk: Hunk, suggestion: str) -> None:
    header, *lines = suggestion.removesuffix("\n").split("\n")
    body = [(line[:1] or " ", line[1:]) for line in lines]
    theirs = [text for tag, text in body if tag != "+"]
    pairs = list(zip(hunk.old, theirs, strict=False))
    added = (_as_they_write(text, pairs) for tag, text in hunk.body if tag == "+")
    hunk.header = header
    hunk.body = [(tag, next(added, text) if tag == "+" else text) for tag, text in body]


def _align(hunk: Hunk, conflict: dict[str, Any]) -> None:
    """Lay the hunk over the shown lines; keep its changes, take context from the file."""
    shown = _shown(conflict["actual"])
    numbers, texts = list(shown), list(shown.values())
    old = [i for i, (tag, _) in enumerate(hunk.body) if tag != "+"]
    start = conflict["closest"]["startLine"]
    unseen = max(0, numbers[0] - start)  # these agree: the first difference is below them
    ours = [_loosely(hunk.body[i][1]) for i in old[unseen:]]
    first = max(0, start - numbers[0])
    lead = max(0, first - 3)
    matcher = SequenceMatcher(None, ours, [_loosely(text) for text in texts[lead:]], autojunk=False)
    instead: dict[int, list[Line]] = {}
    pairs: list[tuple[str, str]] = []
    top: int | None = None
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        rows, there = old[unseen + i : unseen + i_end], texts[lead + j : lead + j_end]
        if tag == "insert":
            if i not in (0, len(ours)):
                instead.setdefault(rows[0] if rows else old[unseen + i], [])
                instead[old[unseen + i]] = [(" ", text) for text in there] + [
                    hunk.body[old[unseen + i]]
                ]
            continue
        if tag == "delete":
            if lead + j < len(texts):  # else it is below what is shown
                instead |= {row: [] for row in rows}
            continue
        if top is None:
            top = numbers[lead + j]
        for row, text in zip(rows, there, strict=False):
            before = instead.get(row, [])[:-1]
            instead[row] = [*before, (hunk.body[row][0], text)]
            pairs.append((hunk.body[row][1], text))
        if len(rows) > len(there) and lead + j_end < len(texts):
            instead |= {row: [] for row in rows[len(there) :]}
        elif len(there) > len(rows) and rows:
            instead[rows[-1]] += [(" ", text) for text in there[len(rows) :]]
    body: list[Line] = []
    for i, (tag, text) in enumerate(hunk.body):
        if tag == "+":
            body.append((tag, _as_they_write(text, pairs)))
        else:
            body += instead.get(i, [(tag, text)])
    begin = start if unseen or top is None else top
    hunk.header, hunk.body = _header(begin, body), body


def _as_they_write(line: str, pairs: Sequence[tuple[str, str]]) -> str:
    """An added line with the mistakes undone that `pairs` (mine, theirs) show in other lines."""
    wrong = [(mine, theirs) for mine, theirs in pairs if mine != theirs]
    if any(_NUMBER.sub("", mine) == theirs for mine, theirs in wrong):
        line = _NUMBER.sub("", line)
    if any(html.unescape(mine) == theirs for mine, theirs in wrong):
        line = html.unescape(line)
    if any(re.sub(r"\\(['\"])", r"\1", mine) == theirs for mine, theirs in wrong):
        line = re.sub(r"\\(['\"])", r"\1", line)
    if any(mine.translate(_PLAIN) == theirs for mine, theirs in wrong):
        line = line.translate(_PLAIN)
    for mine, theirs in wrong:
        if mine == theirs.translate(_PLAIN):
            line = _with_their_characters(line, theirs)
    indents = {indent_of(m): indent_of(t) for m, t in wrong if m.strip() and m.strip() == t.strip()}
    kept = {indent_of(m) for m, t in pairs if m == t and m.strip()}
    return _reindented(line, indents, kept)


def _with_their_characters(line: str, theirs: str) -> str:
    """`line` with the typographic characters of `theirs`, if it ends the same but for them."""
    for size in range(len(theirs), 0, -1):
        tail = theirs[-size:]
        plain = tail.translate(_PLAIN)
        if plain != tail and line.endswith(plain):
            return line[: len(line) - len(plain)] + tail
    return line


def _reindented(line: str, indents: dict[str, str], kept: set[str]) -> str:
    mine = indent_of(line)
    if not indents or mine in kept or not line.strip():
        return line
    if mine in indents:
        return indents[mine] + line[len(mine) :]
    near = min(indents, key=lambda other: abs(len(other) - len(mine)))
    grown = len(indents[near]) - len(near)
    return " " * max(0, len(mine) + grown) + line[len(mine) :]


# A hunk that fits at several places, or has none.


def _choose(hunk: Hunk, conflict: dict[str, Any]) -> None:
    """Say which place is meant: by the hunk's heading, else the nearest to its number."""
    places = conflict["candidates"]
    scopes = conflict.get("candidateScopes", [""] * len(places))
    heading = hunk.heading
    named = [i for i, scope in enumerate(scopes) if heading and heading in scope]
    if len(named) == 1:
        at = named[0]
    elif hunk.stated is not None and not heading:
        near = sorted(range(len(places)), key=lambda i: abs(places[i] - (hunk.stated or 0)))
        at = near[0]
    else:
        return
    start, body = places[at], hunk.body
    lines = conflict.get("candidateLines", [])
    if at < len(lines):
        shown = _shown(lines[at])
        above = [(" ", shown[n]) for n in sorted(shown) if n < start]
        below = [(" ", shown[n]) for n in sorted(shown) if n >= start + len(hunk.old)]
        body, start = [*above, *body, *below], start - len(above)
    hunk.header, hunk.body = _header(start, body), body


def _anchor(hunk: Hunk, conflict: dict[str, Any]) -> None:
    """Put added lines below the shown line that the header numbers or names."""
    shown = _shown(conflict.get("actual", ""))
    at = hunk.stated
    if at is None:
        at = next((n for n, text in shown.items() if text.strip() == hunk.heading), None)
    if at is None or at not in shown:
        return
    above = [(" ", shown[n]) for n in range(at - 2, at + 1) if n in shown]
    below = [(" ", shown[n]) for n in range(at + 1, at + 4) if n in shown]
    body = [*above, *hunk.body, *below]
    hunk.header, hunk.body = _header(at + 1 - len(above), body), body


def _join(hunks: dict[int, Hunk], conflict: dict[str, Any]) -> None:
    """Merge two hunks whose places are told into one."""
    other = conflict.get("joinWith", {})
    if other.get("hunk") not in hunks or "startLine" not in conflict:
        return
    later, earlier = hunks[conflict["hunk"]], hunks[other["hunk"]]
    texts: dict[int, str] = {}
    removed: set[int] = set()
    added: dict[int, list[str]] = {}
    for hunk, start in ((earlier, other["startLine"]), (later, conflict["startLine"])):
        at = start
        for tag, text in hunk.body:
            if tag == "+":
                added.setdefault(at, []).append(text)
                continue
            texts[at] = text
            if tag == "-":
                removed.add(at)
            at += 1
    body: list[Line] = []
    for at in sorted(set(texts) | set(added)):
        body += [("+", text) for text in added.get(at, [])]
        if at in texts:
            body.append(("-" if at in removed else " ", texts[at]))
    earlier.header, earlier.body = _header(min(texts), body), body
    del hunks[conflict["hunk"]]


def _shown(numbered: str) -> dict[int, str]:
    """The lines of a numbered excerpt by their numbers."""
    rows = (_SHOWN.match(row) for row in numbered.split("\n"))
    return {int(row[1]): row[2] for row in rows if row}


def _header(start: int, body: Iterable[Line]) -> str:
    lines = list(body)
    old, new = (sum(tag != other for tag, _ in lines) for other in "+-")
    return f"@@ -{start},{old} +{start},{new} @@"


def _loosely(line: str) -> str:
    line = html.unescape(_NUMBER.sub("", line)).translate(_PLAIN).replace("\\", "")
    return "".join(line.split()).casefold()
