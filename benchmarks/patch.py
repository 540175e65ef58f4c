"""The patch engine beside `git apply` and libraries: the same diffs, ratios from one run.

`python -m benchmarks.patch [--write]`. Everyone reads files and writes them; programs are timed as
whole processes, as whoever calls them pays for them, libraries and ours as calls in a warm one.
The time of each is the least of rounds that take turns. A result that is not right has no time.
Libraries of benchmarks/requirements.txt that are not installed are said to be missing.
"""

from __future__ import annotations

import gc
import platform
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from benchmarks.patch_peers import PEERS, QUIET, installed, prepare_pygit2
from benchmarks.report import tell

WORKS = (
    ("1 MB, 1,000 hunks", 1, 25_000, 1_000, 25),
    ("10,000 hunks", 1, 100_000, 10_000, 4),
    ("40 files, 3 hunks each", 40, 400, 3, 25),
)
"""Name, files, lines of each, hunks in each, rounds."""
TOOL = "functions.apply_patch.v2"


@dataclass(frozen=True)
class Work:
    """Files, what they should become, and git's diffs from one to the other."""

    name: str
    before: dict[str, str]
    after: dict[str, str]
    diffs: dict[str, str]


def source_lines(count: int, rng: random.Random) -> list[str]:
    """Lines as long as those of source code, about 40 characters, nearly all distinct."""
    names = ["value", "result", "request", "handler", "total", "index"]
    return [
        f"{' ' * rng.choice([4, 4, 8, 12])}{rng.choice(names)}_{n} = "
        f"{rng.choice(['compute', 'lookup', 'x'])}({rng.randint(0, 10**6)})"
        f"{rng.choice(['', '', '', '  # as agreed with the other side'])}"
        for n in range(count)
    ]


def make_work(name: str, files: int, lines: int, hunks: int, home: Path) -> Work:
    """`hunks` changes in each of `files` files of `lines` lines, and their diffs by git."""
    rng = random.Random(name)
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    gap = lines // hunks
    for number in range(files):
        old = source_lines(lines, rng)
        new = list(old)
        for at in range(gap // 2, gap * hunks, gap):
            new[at] = f"    changed_{at} = {rng.random()}"
        before[f"f{number}.py"] = "".join(line + "\n" for line in old)
        after[f"f{number}.py"] = "".join(line + "\n" for line in new)
    return Work(name, before, after, {p: _diff(home, p, before[p], after[p]) for p in before})


def _diff(home: Path, path: str, before: str, after: str) -> str:
    for side, text in (("a", before), ("b", after)):
        (home / side).mkdir(exist_ok=True)
        (home / side / path).write_text(text, encoding="utf-8")
    command = ["git", "diff", "--no-index", "--no-prefix", f"a/{path}", f"b/{path}"]
    run = subprocess.run(command, cwd=home, env=QUIET, capture_output=True, check=False)
    return run.stdout.decode()


def measure(
    work: Work, peers: dict[str, Callable[..., None]], home: Path, rounds: int
) -> dict[str, float]:
    """Seconds of each peer; infinite where it fails or does something else."""
    best: dict[str, float] = {}
    for name in peers:
        folder = home / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        _lay_out(folder, work.before)
        if name == "pygit2":
            prepare_pygit2(folder)
    for _ in range(rounds):
        for name, apply in peers.items():
            folder = home / name
            _lay_out(folder, work.before)
            gc.collect()
            started = time.perf_counter()
            apply(folder, work.diffs)
            taken = time.perf_counter() - started
            if any((folder / p).read_text(encoding="utf-8") != t for p, t in work.after.items()):
                taken = float("inf")
            best[name] = min(best.get(name, taken), taken)
    return best


def _lay_out(folder: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (folder / path).write_text(text, encoding="utf-8")


def main() -> None:
    """Print the table; with `--write`, put it into docs/benchmarks.md as well."""
    import_module(TOOL)  # ours runs where the tool is loaded, as in Lambda
    versions = {name: installed(name) for name in PEERS}
    here = {name: apply for name, apply in PEERS.items() if versions[name] is not None}
    lines = [
        "| work | size, MB | " + " | ".join(PEERS) + " |",
        "|---|---|" + "---|" * len(PEERS),
    ]
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        for name, files, count, hunks, rounds in WORKS:
            work = make_work(name, files, count, hunks, home)
            times = measure(work, here, home, rounds)
            git = times["git apply"]
            cells = [_cell(times.get(peer), git) for peer in PEERS]
            size = sum(map(len, work.before.values())) / 1e6
            lines.append(f"| {name} | {size:.1f} | " + " | ".join(cells) + " |")
    told = [f"{name} {found}" for name, found in versions.items() if found]
    absent = [name for name, found in versions.items() if found is None]
    system = f"Python {platform.python_version()}, {datetime.now(tz=UTC):%Y-%m-%d}"
    lines += [
        "",
        "; ".join([*told, system]) + "." + (f" Missing: {', '.join(absent)}." * bool(absent)),
    ]
    tell("patch", lines)


def _cell(taken: float | None, git: float) -> str:
    if taken is None:
        return "missing"
    return "not right" if taken == float("inf") else f"{taken / git:.2f}"


if __name__ == "__main__":
    main()
