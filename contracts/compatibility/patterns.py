"""Regular expressions of the simple kind: what they match, and whether one matches all of another.

Simple: anchored at both ends, a sequence of characters and classes, each with a count. Everything
else is left undecided; no answer here is a guess.
"""

from __future__ import annotations

import re
import string
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

FIRST_TRIED = "a0A-"
ALPHABET = tuple(dict.fromkeys(FIRST_TRIED + string.printable[:95] + "é文"))
"""What examples are made of: printable ASCII and a little beyond; the plainest come first."""

CLASS_MAX = 5_000
LENGTHS_TRIED = 80

_TOKEN = re.compile(
    r"(?:\[(?P<negated>\^?)(?P<members>(?:\\.|[^\]\\\[])+)\]"
    r"|\\(?P<escaped>[^A-Za-z0-9])"
    r"|(?P<any>\.)"
    r"|(?P<literal>[^\\\[\](){}.*+?^$|]))"
    r"(?P<count>[*+?]|\{\d+(?:,\d*)?\})?"
)
_COUNTS = {None: (1, 1), "?": (0, 1), "*": (0, None), "+": (1, None)}


@dataclass(frozen=True)
class Atom:
    """`least` to `most` (None: any number) characters in `chars`, or outside of it if negated."""

    chars: frozenset[str]
    negated: bool
    least: int
    most: int | None

    def members(self) -> list[str]:
        """Characters of the alphabet that fit."""
        return [char for char in ALPHABET if (char in self.chars) is not self.negated]

    def within(self, other: Atom) -> bool:
        """Whether everything that fits here fits there."""
        if self.negated:
            chars = other.negated and self.chars >= other.chars
        else:
            chars = not self.chars & other.chars if other.negated else self.chars <= other.chars
        enough = self.least >= other.least
        return (
            chars and enough and (other.most is None or (self.most or other.most + 1) <= other.most)
        )


def matches(pattern: str, text: str) -> bool | None:
    """Whether a text matches, as JSON Schema has it: anywhere. None: not an expression of ours."""
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return None


def within(old: str, new: str) -> bool:
    """Whether everything that matches `old` surely matches `new`."""
    ours, theirs = _atoms(old), _atoms(new)
    if ours is None or theirs is None or len(ours) != len(theirs):
        return old == new
    return all(one.within(other) for one, other in zip(ours, theirs, strict=True))


def examples(pattern: str, least: int, most: int) -> Iterator[str]:
    """Texts of `least` to `most` characters that match, plain and short ones first."""
    lengths = range(least, min(most, least + LENGTHS_TRIED) + 1)
    for text in _candidates(pattern, lengths):
        if least <= len(text) <= most and matches(pattern, text):
            yield text


def _candidates(pattern: str, lengths: range) -> Iterator[str]:
    atoms = _atoms(pattern)
    if atoms is None:
        yield from (char * length for length in lengths for char in ALPHABET)
        return
    members = [atom.members() for atom in atoms]
    if not all(members):
        return
    for length in lengths:
        counts = _spread(atoms, length)
        if counts is None:
            continue
        plain = [fit[0] * count for fit, count in zip(members, counts, strict=True)]
        yield "".join(plain)
        for index, fit in enumerate(members):
            for char in fit[1:] if counts[index] else ():
                yield "".join([*plain[:index], char * counts[index], *plain[index + 1 :]])


def _spread(atoms: tuple[Atom, ...], length: int) -> list[int] | None:
    """How often each atom occurs in a text of that length: the first that may be longer are."""
    counts = [atom.least for atom in atoms]
    missing = length - sum(counts)
    for index, atom in enumerate(atoms):
        more = missing if atom.most is None else min(missing, atom.most - atom.least)
        counts[index] += max(more, 0)
        missing -= max(more, 0)
    return None if missing else counts


def _atoms(pattern: str) -> tuple[Atom, ...] | None:
    """The expression as a sequence of atoms; None if it is not of the simple kind."""
    if len(pattern) < 2 or pattern[0] != "^" or pattern[-1] != "$":
        return None
    found, place, end = [], 1, len(pattern) - 1
    while place < end:
        token = _TOKEN.match(pattern, place, end)
        chars = _chars(token) if token else None
        if token is None or chars is None:
            return None
        least, most = _count(token["count"])
        found.append(Atom(chars, bool(token["negated"] or token["any"]), least, most))
        place = token.end()
    return tuple(found)


def _chars(token: re.Match[str]) -> frozenset[str] | None:
    if token["any"]:
        return frozenset("\n")
    if token["members"] is None:
        return frozenset(token["escaped"] or token["literal"])
    found: set[str] = set()
    members = re.findall(r"\\?.", token["members"], re.DOTALL)
    if any(re.fullmatch(r"\\[A-Za-z0-9]", member) for member in members):
        return None
    while members:
        first = members.pop(0)[-1]
        last = first
        if len(members) > 1 and members[0] == "-":
            last = members[1][-1]
            del members[:2]
        if not 0 <= ord(last) - ord(first) <= CLASS_MAX:
            return None
        found |= {chr(code) for code in range(ord(first), ord(last) + 1)}
    return frozenset(found)


def _count(count: str | None) -> tuple[int, int | None]:
    if count in _COUNTS:
        return _COUNTS[count]
    least, comma, most = str(count).strip("{}").partition(",")
    return int(least), int(most) if most else None if comma else int(least)
