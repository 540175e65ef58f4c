"""Changes that an author means to make to real code, and diffs of them.

The files are the standard library's modules of the Python that runs this; an author changes one to
three places of one.
"""

from __future__ import annotations

import difflib
import random
import re
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from functions.apply_patch.engine import FileChange

Line = tuple[str, str]
"""A hunk's line: its tag and its text."""


@dataclass(frozen=True)
class Edit:
    """Lines `start` up to `end` give way to `new`; 0-based."""

    start: int
    end: int
    new: tuple[str, ...] = ()


@dataclass(frozen=True)
class HunkText:
    """One hunk as it is sent."""

    header: str
    body: list[Line]


@dataclass(frozen=True)
class Case:
    """A request, what stands there when it comes, and what should stand there after it."""

    kind: str
    entries: list[FileChange]
    files: dict[str, bytes]
    meant: dict[str, bytes | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Story:
    """A file as its author saw it, and the changes meant."""

    rng: random.Random
    path: str
    seen: list[str]
    edits: list[Edit]

    def hunks(self, context: int | None = None) -> list[HunkText]:
        """The diff of the edits against what was seen."""
        about = self.rng.choice([2, 3, 3, 3]) if context is None else context
        diff = difflib.unified_diff(self.seen, applied(self.seen, self.edits), n=about, lineterm="")
        out: list[HunkText] = []
        for line in list(diff)[2:]:
            if line.startswith("@@"):
                out.append(HunkText(line, []))
            else:
                out[-1].body.append((line[0], line[1:]))
        return out

    def send(self, hunks: Sequence[HunkText], current: list[str] | None = None) -> Case:
        """The case in which `hunks` are sent on a file of `current` lines (else as seen)."""
        now = self.seen if current is None else current
        return Case(
            "",
            [FileChange(self.path, "unified_diff", diff_text(self.path, hunks))],
            {self.path: joined(now)},
            {self.path: joined(applied(self.seen, self.edits))},
        )


def applied(lines: list[str], edits: Sequence[Edit]) -> list[str]:
    """`lines` after edits that do not overlap."""
    out = list(lines)
    for edit in sorted(edits, key=lambda e: (e.start, e.end), reverse=True):
        out[edit.start : edit.end] = edit.new
    return out


def joined(lines: Sequence[str]) -> bytes:
    """A file of these lines."""
    return "".join(line + "\n" for line in lines).encode()


def diff_text(path: str, hunks: Sequence[HunkText]) -> str:
    """The diff that a model would send."""
    out = [f"--- a/{path}", f"+++ b/{path}"]
    for hunk in hunks:
        out += [hunk.header, *(tag + text for tag, text in hunk.body)]
    return "\n".join(out) + "\n"


def sources() -> list[tuple[str, list[str]]]:
    """The corpus: `(path, lines)` of modules with 100 to 900 lines."""
    home = Path(sysconfig.get_paths()["stdlib"])
    found = []
    for file in sorted([*home.glob("*.py"), *home.glob("json/*.py"), *home.glob("email/*.py")]):
        text = file.read_text(encoding="utf-8", errors="replace")
        if 100 <= text.count("\n") <= 900 and "\f" not in text and text.endswith("\n"):
            found.append((f"lib/{file.relative_to(home).as_posix()}", text.split("\n")[:-1]))
    return found


def indent_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def changed(line: str, rng: random.Random) -> str:
    """A line as an edit may leave it: one word another, or something behind it."""
    words = re.findall(r"[A-Za-z_]{3,}", line)
    if words and rng.random() < 0.7:
        word = rng.choice(words)
        return line.replace(word, f"{word}_{rng.choice(['new', 'x', 'v2', 'raw'])}", 1)
    return f"{line}  # {rng.choice(['checked', 'see above', 'TODO', 'was wrong'])}"


def _edit_at(lines: list[str], at: int, rng: random.Random) -> Edit:
    style, indent = rng.random(), indent_of(lines[at])
    if style < 0.55:
        end = at + rng.choice([1, 1, 1, 2])
        new = [changed(line, rng) for line in lines[at:end]]
        return Edit(at, end, (*new, *[f"{indent}extra = {rng.random():.4f}"] * rng.randint(0, 1)))
    if style < 0.85:
        added = [
            f"{indent}step_{n} = prepare({rng.random():.4f})" for n in range(rng.randint(1, 3))
        ]
        return Edit(at, at, tuple(added))
    return Edit(at, at + 1)


def story(rng: random.Random, corpus: Sequence[tuple[str, list[str]]]) -> Story:
    """One to three edits, far enough apart for hunks of their own."""
    path, lines = rng.choice(corpus)
    spots = [i for i in range(6, len(lines) - 8) if lines[i].strip()]
    chosen: list[int] = []
    for _ in range(rng.choice([1, 1, 2, 3])):
        far = [i for i in spots if all(abs(i - other) > 12 for other in chosen)]
        chosen.append(rng.choice(far))
    return Story(rng, path, list(lines), [_edit_at(lines, at, rng) for at in sorted(chosen)])
