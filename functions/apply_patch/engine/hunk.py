"""What a patch says about one file, after parsing: plain frozen data.

`Patch` has hunks, a `Hunk` has lines, a `HunkLine` knows where in the patch text it stands. Nothing
here depends on what the file holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

Intent = Literal["modify", "create", "delete"]


class Unusable(Exception):  # noqa: N818 - a verdict about the patch, not a fault of the program
    """The patch text cannot be used whatever the file holds."""

    def __init__(self, code: str, hint: str, line: int | None = None) -> None:
        """Carry a reason, a text for the model and the 1-based patch line to blame, if any."""
        super().__init__(hint)
        self.code = code
        self.hint = hint
        self.line = line


class HunkLine(NamedTuple):
    """One body line of a hunk."""

    tag: Literal[" ", "-", "+"]
    text: str
    number: int
    """1-based line of the patch text."""
    newline: bool = True
    """False: followed by `\\ No newline at end of file`."""
    bare: bool = False
    """True: context that arrived without its leading blank."""
    stripped: bool = False
    """True: arrived as an empty line, so it is blank context or no content at all."""


@dataclass(frozen=True, eq=False)
class Hunk:
    """One hunk. `lines` is its real body; the header's counts are not kept."""

    number: int
    """1-based place in the patch."""
    header: str
    header_line: int
    """1-based line of the patch text."""
    start: int | None
    """1-based line the header states for the first old line; None when it states none."""
    lines: tuple[HunkLine, ...]
    scopes: tuple[str, ...] = ()
    """Lines named after `@@`, outermost first, that the place comes after."""
    at_end: bool = False
    """`*** End of File` stands behind the hunk."""

    @cached_property
    def old(self) -> tuple[HunkLine, ...]:
        """Context and removed lines: what the file must hold."""
        return tuple([line for line in self.lines if line.tag != "+"])

    @cached_property
    def new(self) -> tuple[HunkLine, ...]:
        """Context and added lines: what the file holds afterwards."""
        return tuple([line for line in self.lines if line.tag != "-"])

    @cached_property
    def loose(self) -> bool:
        """Whether some context lost its leading blank, so that any context line may have."""
        return True in [line.bare for line in self.lines]

    @cached_property
    def adds(self) -> bool:
        """Whether the hunk has an added line."""
        return "+" in [line.tag for line in self.lines]

    @cached_property
    def changes(self) -> bool:
        """Whether the two sides differ at all."""
        old, new = self.old, self.new
        return [x.text for x in old] != [x.text for x in new] or (
            [x.newline for x in old] != [x.newline for x in new]
        )

    @cached_property
    def has_telling_context(self) -> bool:
        """Whether some context is not blank; without it a stated line proves nothing."""
        return any(line.tag == " " and line.text.strip() for line in self.lines)

    @cached_property
    def leading_context(self) -> int:
        """Context lines before the first change."""
        return next((i for i, x in enumerate(self.lines) if x.tag != " "), len(self.lines))

    @cached_property
    def trailing_context(self) -> int:
        """Context lines after the last change."""
        lines = reversed(self.lines)
        return next((i for i, x in enumerate(lines) if x.tag != " "), len(self.lines))

    def readings(self, line: HunkLine) -> tuple[str, ...]:
        """The texts a context or removed line may stand for: two when its blank may be content."""
        if self.loose and line.tag == " " and not (line.bare or line.stripped):
            return (line.text, " " + line.text)
        return (line.text,)


@dataclass(frozen=True, eq=False)
class Patch:
    """Everything one patch text asks for."""

    intent: Intent
    hunks: tuple[Hunk, ...]
    executable: bool | None
    """The executable bit the patch sets; None = not mentioned."""
    unconditional: bool
    """A deletion that shows no content to check against (`*** Delete File`)."""
    has_cr: bool
    """Whether any line of the patch text ends in CR."""
    notes: tuple[str, ...]
    """What was tolerated while reading, for the caller to pass on."""
