"""A query as a matcher of lines, by RE2 alone: time is linear in the text whatever the pattern.

Linear is not yet short: where a pattern makes RE2's automaton too large to keep, a byte costs up to
10 ns for each instruction of the program. So programs are bounded, text is searched in parts after
each of which a caller may stop, and no line is searched that would take seconds by itself.

Pure: text in, matches out.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import re2

from functions.search.text import preview

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM_MAX = 2_000
"""Instructions of a compiled query. `\\w+` has 8, `\\pL` 1200, 200 three-byte characters 604."""

MEMORY_MAX = 4 * 1024 * 1024
"""Bytes that RE2 keeps for a query: its program and the automaton made of it so far."""

PART_COST = 50_000_000
LINE_COST = 200_000_000
"""Bytes times instructions: of a part of a text (below a second), of a line (about 2 s)."""

PART_MAX_BYTES = 256 * 1024

_LINE_ONLY = re.compile(r"\\[AzC]|\(\?[a-zA-Z]*-")
"""What may mean something else in a whole text than in a line by itself: \\A, \\z, \\C, (?-m)."""

_PROBLEMS = {
    "invalid perl operator": "look-around and other (? groups are not in RE2's syntax",
    "invalid escape sequence": "an escape is not in RE2's syntax; back-references do not exist",
    "missing )": "a parenthesis is not closed",
    "unexpected )": "a parenthesis closes what was never opened",
    "missing ]": "a bracket is not closed",
    "invalid character class range": "a character class names no characters",
    "invalid character class": "a character class is not in RE2's syntax",
    "no argument for repetition operator": "a repetition has nothing to repeat",
    "bad repetition operator": "a repetition stands behind another one",
    "invalid repetition size": "a repetition is over 1000, nested ones multiplied, or backwards",
    "trailing \\": "a backslash ends it",
    "invalid named capture group": "a group's name is not in RE2's syntax",
    "pattern too large - compile failed": "the pattern is too large",
    "expression nests too deeply": "the pattern nests too deeply",
}
"""RE2's words for what is wrong, without the part of the pattern that it repeats, and ours."""


class PatternError(ValueError):
    """The query cannot be searched for; `problem` says why in words of ours."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


class Hit(NamedTuple):
    """Where in a line a match begins, and what is shown of the line from where on.

    Columns count characters from 1.
    """

    column: int
    preview: str
    preview_column: int


@lru_cache(maxsize=2)
def matcher(query: str, *, regex: bool, case_sensitive: bool) -> Matcher:
    """The matcher of a query. Raises PatternError."""
    if "\n" in query:
        raise PatternError("a line break: a match lies within one line")
    options = re2.Options()
    options.log_errors = False  # RE2 would write the pattern to stderr
    options.max_mem = MEMORY_MAX
    options.literal = not regex
    options.never_nl = True
    options.never_capture = True
    options.case_sensitive = case_sensitive
    try:
        compiled = re2.compile(f"(?m){query}" if regex else query, options)
    except re2.error as error:
        said = error.args[0].decode("utf-8", "replace").split(":", 1)[0]
        raise PatternError(_PROBLEMS.get(said, "the pattern is not in RE2's syntax")) from None
    finally:
        # Its own cache would keep 128 programs, each with all the memory that it may have.
        re2.purge()
    if compiled.programsize > PROGRAM_MAX:
        raise PatternError(_PROBLEMS["pattern too large - compile failed"])
    # The automaton of a plain text has a state a character: it never becomes too large to keep.
    cost = compiled.programsize if regex else 1
    return Matcher(compiled, cost, line_by_line=regex and bool(_LINE_ONLY.search(query)))


class Matcher:
    """Finds the lines of a text that a query fits. `cost`: instructions that a byte may take."""

    def __init__(self, compiled: Any, cost: int, *, line_by_line: bool) -> None:
        self._compiled = compiled
        self._find = self._in_lines if line_by_line else self._in_part
        self._part_bytes = min(PART_COST // cost, PART_MAX_BYTES)
        self._line_bytes = LINE_COST // cost

    def too_long(self, text: bytes) -> bool:
        """Whether a line of the text is longer than this query can be looked for in time."""
        if len(text) <= self._line_bytes:
            return False
        return max(map(len, text.split(b"\n"))) > self._line_bytes

    def search(self, text: bytes, after: int = 0) -> Iterator[tuple[int, Hit | None]]:
        """`(line, hit)` for each line behind line `after` that matches, in order.

        In between `(line, None)`: up to that line there are no more. `text` is UTF-8 with LF.
        """
        position = _end_of_line(text, after)
        line = after + 1
        while position < len(text):
            end = _end_of_part(text, position, self._part_bytes)
            stop = end - 1 if text[end - 1] == _LF else end
            for number, begin, start, finish in self._find(text, position, stop):
                yield line + number, _hit(text, begin, start, finish, stop)
            line += text.count(b"\n", position, end)
            position = end
            if position < len(text):
                yield line - 1, None

    def _in_part(self, text: bytes, position: int, stop: int) -> Iterator[_Span]:
        """Search many lines at once: with `(?m)` and without LF a match stays within its line."""
        number, counted = 0, position
        while found := self._first(text, position, stop):
            start, finish = found
            begin = text.rfind(b"\n", position, start) + 1 or position
            number += text.count(b"\n", counted, begin)
            yield _Span(number, begin, start, finish)
            counted, position = begin, (text.find(b"\n", start, stop) + 1 or stop + 1)

    def _in_lines(self, text: bytes, position: int, stop: int) -> Iterator[_Span]:
        for number, line in enumerate(text[position:stop].split(b"\n")):
            if found := self._first(line, 0, len(line)):
                start, finish = found
                yield _Span(number, position, position + start, position + finish)
            position += len(line) + 1

    def _first(self, text: bytes, position: int, stop: int) -> tuple[int, int] | None:
        """Where the first match begins and ends that begins where a character does."""
        while position <= stop and (match := self._compiled.search(text, position, stop)):
            span: tuple[int, int] = match.span()
            if span[0] == len(text) or text[span[0]] & 0xC0 != 0x80:
                return span
            position = span[0] + 1  # to RE2 a character has insides, and is no word there
        return None


class _Span(NamedTuple):
    """A match in a text: how many lines on, where its line begins, where it does, where it ends."""

    number: int
    begin: int
    start: int
    finish: int


_LF = ord("\n")


def _hit(text: bytes, begin: int, start: int, finish: int, stop: int) -> Hit:
    end = text.find(b"\n", start, stop)
    before, matched = _characters(text[begin:start]), _characters(text[start:finish])
    line = text[begin : end if end >= 0 else stop].decode("utf-8")
    first, shown = preview(line, before, before + matched)
    return Hit(before + 1, shown, first + 1)


def _characters(part: bytes) -> int:
    # \C may have cut a character in two.
    return len(part.decode("utf-8", "ignore"))


def _end_of_line(text: bytes, line: int) -> int:
    """Where line `line`, counted from 1, ends, with its LF; 0 for line 0."""
    position = 0
    while line > 0 and position < len(text):
        position = text.find(b"\n", position) + 1 or len(text)
        line -= 1
    return position


def _end_of_part(text: bytes, position: int, size: int) -> int:
    """Where a part of whole lines ends that begins at `position`: about `size` bytes on."""
    if len(text) - position <= size:
        return len(text)
    return text.rfind(b"\n", position, position + size) + 1 or (
        text.find(b"\n", position + size) + 1 or len(text)
    )
