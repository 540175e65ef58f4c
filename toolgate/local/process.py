"""Who runs: processes as the kernel tells them, and the record by which ours is recognised.

A process id alone proves nothing, since ids are used again: a record holds the start time as well,
and a process counts as ours only if its program is the emulator's own interpreter.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PROC = Path("/proc")
_DEAD_STATES = frozenset("ZXx")


@dataclass(frozen=True)
class Process:
    """One process: its ids, its kernel state letter, and its start in clock ticks since boot."""

    pid: int
    parent: int
    group: int
    state: str
    started: int

    @property
    def alive(self) -> bool:
        """Whether it still runs; a zombie does not."""
        return self.state not in _DEAD_STATES


@dataclass(frozen=True)
class Record:
    """The emulator that was started last. After a clean stop it has no `pid`."""

    port: int
    python: str
    pid: int | None = None
    started: int | None = None


def parse_stat(text: str) -> Process:
    """Read one line of `/proc/<pid>/stat`; the program's name may hold spaces and brackets."""
    pid, _, rest = text.partition(" (")
    fields = rest.rpartition(")")[2].split()
    return Process(
        pid=int(pid),
        state=fields[0],
        parent=int(fields[1]),
        group=int(fields[2]),
        started=int(fields[19]),
    )


def find(pid: int, proc: Path = PROC) -> Process | None:
    """The process of that id, or None if there is none."""
    try:
        return parse_stat((proc / str(pid) / "stat").read_text(encoding="utf-8", errors="replace"))
    except (FileNotFoundError, ProcessLookupError):
        return None


def everyone(proc: Path = PROC) -> Iterator[Process]:
    """Every process that is alive."""
    for folder in proc.iterdir():
        if folder.name.isdecimal() and (found := find(int(folder.name), proc)) and found.alive:
            yield found


def command_line(pid: int, proc: Path = PROC) -> list[str]:
    """The program and its arguments; empty if the process has ended or is not ours to read."""
    return _strings(proc / str(pid) / "cmdline")


def environment(pid: int, proc: Path = PROC) -> dict[str, str]:
    """The environment that the process was started with; empty as for `command_line`."""
    pairs = (text.partition("=") for text in _strings(proc / str(pid) / "environ"))
    return {name: value for name, _, value in pairs}


def is_running(record: Record, program: Path, proc: Path = PROC) -> bool:
    """Whether the recorded emulator still runs: same id, same start time, and our own program."""
    if record.pid is None:
        return False
    found = find(record.pid, proc)
    return (
        found is not None
        and found.alive
        and found.started == record.started
        and command_line(record.pid, proc)[:1] == [str(program)]
    )


def read_record(path: Path) -> Record | None:
    """The record at `path`; None if there is none, or none that can be read."""
    try:
        return Record(**json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, TypeError, ValueError):
        return None


def write_record(path: Path, record: Record) -> None:
    """Replace the record at `path` in one step."""
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(asdict(record)) + "\n", encoding="utf-8")
    fresh.replace(path)


def reap(pid: int) -> None:
    """Collect an ended child, so that it does not stay as a zombie. Others' children: nothing."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return


def _strings(path: Path) -> list[str]:
    try:
        raw = path.read_bytes()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return []
    return [part.decode("utf-8", "surrogateescape") for part in raw.split(b"\0") if part]
