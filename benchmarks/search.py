"""Search beside ripgrep: the same files, the same patterns, all matches; ratios from one run.

`python -m benchmarks.search [--write]`. Ours reads objects from a store that answers at once, so
what is timed is decoding, matching and paging; on S3 each file is a GET besides, eight at a time.
"""

from __future__ import annotations

import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from benchmarks.report import tell
from benchmarks.stores import Memory
from contracts.search.v1 import SPEC
from functions._runtime.workspace import ObjectCache, Snapshot
from functions.search.matching import matcher
from functions.search.paging import fill
from functions.search.question import Place
from functions.search.reading import BytesSpentError, steps

SIZES = (3_000, 80_000)
LARGE = 10_000
"""From here on one round must do."""
ROUNDS = 3
PAGE = 50
WORDS = [
    "value",
    "result",
    "index",
    "buffer",
    "parse",
    "error",
    "state",
    "count",
    "handle",
    "request",
    "config",
    "token",
]


class Query(NamedTuple):
    """What to look for, and how."""

    name: str
    pattern: str
    regex: bool = False


QUERIES = (
    Query("rare text", "needle_in_a_haystack"),
    Query("common text", "buffer"),
    Query("pattern", r"def parse_\w+\(.*token", regex=True),
    Query("nested repetition", "(a+)+$", regex=True),
)


def files(count: int) -> Iterator[tuple[str, bytes]]:
    """Files that look like source, 2 kB each, 20 to a directory; a few hold a rare word."""
    chance = random.Random(7)
    for number in range(count):
        lines = [
            f"def {chance.choice(WORDS)}_{chance.randrange(999)}({chance.choice(WORDS)}): "
            f"return {chance.choice(WORDS)} + {chance.randrange(10**6)}"
            for _ in range(36)
        ]
        if number % 997 == 0:
            lines[20] = "needle_in_a_haystack = True"
        yield f"src/{number // 400:03}/{number // 20:05}/{number}.py", "\n".join(lines).encode()


def snapshot_of(count: int) -> Snapshot:
    """A workspace of that many files, cold."""
    memory = Memory()
    memory.fill(dict(files(count)))
    return memory.workspace(SPEC.key, ObjectCache(max_bytes=1)).snapshot()


def found_by_us(
    snapshot: Snapshot, query: Query, *, limit: int = PAGE
) -> Iterator[tuple[str, int]]:
    """Path and line of every match, page after page."""
    wanted = matcher(query.pattern, regex=query.regex, case_sensitive=True)
    place: Place | None = Place()
    while place is not None:
        with closing(steps(snapshot, "**", place.after)) as found:
            page = fill(found, wanted, place, limit=limit, check=lambda: None)
        yield from ((match.path, match.line) for match in page.matches)
        place = page.place


def first_page(snapshot: Snapshot, query: Query) -> int:
    """How many matches the first page has; as a call would, it stops at its limit."""
    wanted = matcher(query.pattern, regex=query.regex, case_sensitive=True)
    with closing(steps(snapshot, "**", b"")) as found:
        try:
            return len(fill(found, wanted, Place(), limit=PAGE, check=lambda: None).matches)
        except BytesSpentError:
            return 0


def ripgrep() -> str | None:
    """The `rg` on the path or beside this Python, if any."""
    return shutil.which("rg") or shutil.which("rg", path=str(Path(sys.executable).parent))


def found_by_ripgrep(program: str, top: Path, query: Query) -> set[tuple[str, int]]:
    """The same by ripgrep: every file, hidden or ignored, CR before LF no part of a line."""
    command = [program, "--no-config", "--crlf", "--no-ignore", "--hidden", "--null", "-n", "-H"]
    command += ["--no-heading", "--color=never", "--encoding=none", "-a", "-o", "-m", "1000000"]
    command += [] if query.regex else ["-F"]
    done = subprocess.run(
        [*command, "-e", query.pattern, "."], cwd=top, capture_output=True, check=False
    )
    if done.returncode > 1:
        raise RuntimeError(done.stderr.decode())
    found = set()
    for line in done.stdout.split(b"\n"):
        path, separator, rest = line.partition(b"\0")
        if separator:
            number = int(rest.partition(b":")[0])
            found.add((path.decode().removeprefix("./"), number))
    return found


def spent_on_children() -> float:
    """Processor seconds of ended child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def table() -> list[str]:
    """The result as a Markdown table. Raises RuntimeError if the two disagree."""
    program = ripgrep()
    heads = ["files", "query", "matches", "first page, ms", "all, ms", "ripgrep, ms", "ratio"]
    rows = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for size in SIZES:
        snapshot = snapshot_of(size)
        with tempfile.TemporaryDirectory(prefix="toolgate-search-") as place:
            top = Path(place)
            for path, data in files(size) if program else ():
                (top / path).parent.mkdir(parents=True, exist_ok=True)
                (top / path).write_bytes(data)
            rows += [_row(size, query, snapshot, program, top) for query in QUERIES]
    if not program:
        rows.append("\nripgrep is not installed here: pip install -r benchmarks/requirements.txt")
    return rows


def _row(size: int, query: Query, snapshot: Snapshot, program: str | None, top: Path) -> str:
    first = ours = theirs = float("inf")
    mine: list[tuple[str, int]] = []
    other: set[tuple[str, int]] = set()
    for _ in range(ROUNDS if size < LARGE else 1):
        started = time.process_time()
        first_page(snapshot, query)
        first = min(first, time.process_time() - started)
        started = time.process_time()
        mine = list(found_by_us(snapshot, query, limit=10**9))
        ours = min(ours, time.process_time() - started)
        if program:
            before = spent_on_children()
            other = found_by_ripgrep(program, top, query)
            theirs = min(theirs, spent_on_children() - before)
    if program and set(mine) != other:
        raise RuntimeError(f"{query.name}: {len(mine)} matches, ripgrep has {len(other)}")
    beside = f"{theirs * 1e3:.0f} | {ours / theirs:.0f}" if program else "missing | "
    return (
        f"| {size:,} | {query.name} | {len(mine):,} | {first * 1e3:.0f} | {ours * 1e3:.0f} "
        f"| {beside} |"
    )


if __name__ == "__main__":
    tell("search", table())
