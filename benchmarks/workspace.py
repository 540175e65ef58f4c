"""What a change costs in small and in large workspaces: AWS calls, and processor time of our own.

`python -m benchmarks.workspace [--write]`. apply_patch v2's own plan and commit, without the key's
record, on stores that answer at once. The changed paths are the same at every size, each reached
through four directories. Ratios are of the least times of one run, to that of the smallest tree.
"""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

from benchmarks.report import tell
from benchmarks.stores import ROOT, Memory
from contracts.apply_patch.v2 import SPEC, Input, Output
from functions._runtime.workspace import Edit, ObjectCache
from functions.apply_patch.editing import file_writes, planned

SIZES = (100, 10_000, 80_000)
CHANGED = (1, 5, 40)
ROUNDS = 15
TEXT = "".join(f"line {number}\n" for number in range(200))


class Direct:
    """An effect that is only its own items."""

    operation = "apply_patch@2#0"

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def commit(self, items: list[Any], output: Output) -> None:  # noqa: ARG002
        self._memory.transact_write_items(TransactItems=items)


def paths(count: int) -> list[str]:
    """The first `count` paths of a tree of four levels, 20 files to a directory.

    The first 40 come in the same eight directories whatever the count.
    """
    found = [f"a/b/c{n % 8}/f{n:02}.txt" for n in range(100)]
    number = 0
    while len(found) < count:
        low = number // 20
        found.append(f"t{low // 400:02}/m{low // 20 % 20:02}/d{low % 20:02}/f{number % 20:02}.txt")
        number += 1
    return found[:count]


def request(changed: int, number: int) -> Input:
    """A diff of one line in each of some files."""
    diff = f"@@ -100,3 +100,3 @@\n line 99\n-{{old}}\n+line 100, {number}\n line 101\n"
    old = "line 100" if number == 0 else f"line 100, {number - 1}"
    return Input.model_validate(
        {
            "schemaVersion": 2,
            "idempotencyKey": "benchmark",
            "repoRoot": ROOT,
            "files": [
                {"path": path, "mode": "unified_diff", "content": diff.format(old=old)}
                for path in paths(100)[:changed]
            ],
        }
    )


def change(memory: Memory, asked: Input, cache: ObjectCache) -> None:
    """One call's work on the workspace; with an empty cache, as a cold worker does it."""

    def edit(snapshot: Any) -> Edit[Output]:
        plan = planned(asked, snapshot)
        return Edit(
            file_writes(plan, snapshot),
            lambda revision: Output(files=[], revision=revision),
            "benchmark",
        )

    workspace = memory.workspace(SPEC.key, cache, Direct(memory))
    workspace.change(edit)


def measure(changed: int) -> dict[int, tuple[float, Counter[str]]]:
    """By size of the tree: the least processor time in ms, and the calls, of one change.

    The sizes take turns, so that what else the machine does is shared by all.
    """
    trees = {size: Memory() for size in SIZES}
    for size, memory in trees.items():
        files = {path: f"{path}\n{TEXT}".encode() for path in paths(size)}
        memory.fill(files)
    best = dict.fromkeys(SIZES, float("inf"))
    for number in range(ROUNDS):
        asked = request(changed, number)
        for size, memory in trees.items():
            memory.calls.clear()
            started = time.process_time()
            change(memory, asked, ObjectCache())
            best[size] = min(best[size], (time.process_time() - started) * 1_000)
    return {size: (best[size], memory.calls) for size, memory in trees.items()}


def table() -> list[str]:
    """The result as a Markdown table."""
    heads = ["changed", "in the tree", "GetObject", "PutObject", "DynamoDB calls", "ms", "ratio"]
    rows = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for changed in CHANGED:
        found = measure(changed)
        least = found[SIZES[0]][0]
        for size, (best, calls) in found.items():
            tables = calls["BatchGetItem"] + calls["TransactWriteItems"]
            cells = [changed, f"{size:,}", calls["GetObject"], calls["PutObject"], tables]
            rows.append(f"| {' | '.join(map(str, cells))} | {best:.1f} | {best / least:.2f} |")
    return rows


if __name__ == "__main__":
    tell("workspace", table())
