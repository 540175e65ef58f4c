"""Globs over paths, in time linear in the path: a model's text never becomes a regular expression
that could run away.

`*`, `?` and `[abc]` match within one component; `**`, as a whole component, matches any number of
them, and at the end at least one. A glob is walked component by component as a set of states, so
that a directory that cannot hold a match is never read.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from functions._runtime.workspace.names import decode

State = frozenset[int]
"""Positions in a glob that the path so far may have reached; empty: nothing below can match."""

_ANY_DEPTH = "**"


@dataclass(frozen=True)
class Glob:
    """A glob, split into its components."""

    parts: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Glob:
        """The glob that `text` spells; every text spells one."""
        parts: list[str] = []
        for part in text.split("/"):
            if part != _ANY_DEPTH or parts[-1:] != [_ANY_DEPTH]:
                parts.append(part)
        return cls(tuple(parts))

    @property
    def start(self) -> State:
        """The state before the first component."""
        return self._settle({0})

    def step(self, state: State, name: bytes | str) -> State:
        """The state after one more component."""
        text = decode(name) if isinstance(name, bytes) else name
        reached: set[int] = set()
        for position in state:
            if position == len(self.parts):
                continue
            part = self.parts[position]
            if part == _ANY_DEPTH:
                reached.add(position)
                if position + 1 == len(self.parts):
                    reached.add(position + 1)
            elif fnmatchcase(text, part):
                reached.add(position + 1)
        return self._settle(reached)

    def accepts(self, state: State) -> bool:
        """Whether a path that ends in this state matches."""
        return len(self.parts) in state

    def may_hold(self, state: State) -> bool:
        """Whether some path below a directory in this state may match."""
        return any(position < len(self.parts) for position in state)

    def matches(self, path: bytes | str) -> bool:
        """Whether the whole path matches."""
        state = self.start
        for name in (decode(path) if isinstance(path, bytes) else path).split("/"):
            state = self.step(state, name)
        return self.accepts(state)

    def _settle(self, reached: set[int]) -> State:
        """Add what `**` reaches by matching no component; one at the end must match one."""
        last = len(self.parts) - 1
        passed = {p + 1 for p in reached if p < last and self.parts[p] == _ANY_DEPTH}
        return frozenset(reached | passed)
