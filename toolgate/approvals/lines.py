"""Texts as lines with a kind each: diffs as sent, differences, whole texts. Pure and bounded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from toolgate.approvals.difference import hunks
from toolgate.approvals.visible import Shown, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

Kind = Literal["context", "added", "removed", "hunk", "about", "on"]
"""`about` says something of the text; `on` goes on with the line before it."""
SIGNS: dict[Kind, str] = {"added": "+", "removed": "-", "context": " ", "on": "\u21b3"}
NO_NEWLINE = "\\ No newline at end of file"


class Line(NamedTuple):
    """One line, without its sign; `text` is harmless."""

    kind: Kind
    text: Shown

    @property
    def sign(self) -> str:
        """What stands before it: `+`, `-`, a blank, an arrow, or nothing."""
        return SIGNS.get(self.kind, "")


def sent_diff(text: str) -> list[Line]:
    """A diff as it was sent, every line of it; what comes before its first hunk is its header."""
    found, inside = [], False
    for line in _shown(text):
        inside = inside or line.startswith("@@")
        found.append(_diff_line(line, inside=inside))
    return found


def whole(text: str) -> list[Line]:
    """A text of which every line is new."""
    return [Line("added", line) for line in _shown(text)] + _end(text)


def of_json(value: Any) -> list[Line]:
    """A value as indented JSON, with letters as people read them."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return [Line("context", line) for line in _shown(text)]


def changed(before: str, after: str) -> list[Line]:
    """What makes `after` of `before`, with a few equal lines around; none if they are equal."""
    old, new = _split(before), _split(after)
    found: list[Line] = []
    for hunk in hunks(old, new):
        first, last = hunk[0], hunk[-1]
        removed = _span("-", first.old_start, last.old_end)
        added = _span("+", first.new_start, last.new_end)
        found.append(Line("hunk", Shown(f"@@ {removed} {added} @@")))
        for step in hunk:
            gone = old[step.old_start : step.old_end]
            if step.equal:
                found += _lines("context", gone)
            else:
                found += _lines("removed", gone)
                found += _lines("added", new[step.new_start : step.new_end])
    return found


def _span(sign: str, first: int, last: int) -> str:
    count = last - first
    return f"{sign}{first + 1 if count else first},{count}"


def _diff_line(line: Shown, *, inside: bool) -> Line:
    if line.startswith("@@"):
        return Line("hunk", line)
    if not inside and line.startswith(("+++ ", "--- ")):
        return Line("about", line)
    kinds: dict[str, Kind] = {"+": "added", "-": "removed"}
    if inside:
        kinds |= {" ": "context", "": "context"}
    kind = kinds.get(line[:1], "about")
    return Line(kind, line if kind == "about" else Shown(line[1:]))


def _lines(kind: Kind, texts: Sequence[str]) -> list[Line]:
    text = "".join(texts)
    return [Line(kind, line) for line in _shown(text)] + _end(text)


def _shown(text: str) -> list[Shown]:
    """The lines of a text, harmless, without their ends."""
    found = visible(text, keep="\t\n").split("\n")
    return [Shown(line) for line in (found if found[-1] else found[:-1])]


def _split(text: str) -> list[str]:
    """Lines with their ends, at line feeds and nothing else."""
    *found, last = text.split("\n")
    return [f"{line}\n" for line in found] + ([last] if last else [])


def _end(text: str) -> list[Line]:
    return [] if not text or text.endswith("\n") else [Line("about", Shown(NO_NEWLINE))]
