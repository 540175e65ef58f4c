"""Ways to apply a diff to the files of a directory, each as a function of one signature."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from functions.apply_patch.engine import Before, FileChange, plan_request

Apply = Callable[[Path, dict[str, str]], None]
"""Patch the files below a directory: `{path: diff}`. What it leaves there is checked."""

QUIET = {
    **os.environ,
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
}


def ours(home: Path, diffs: dict[str, str]) -> None:
    entries = [FileChange(path, "unified_diff", diff) for path, diff in diffs.items()]
    plan = plan_request(lambda path: Before((home / path).read_bytes()), entries)
    for write in plan.writes:
        (home / write.path).write_bytes(write.data or b"")


def git_apply(home: Path, diffs: dict[str, str]) -> None:
    _run(["git", "apply", "--whitespace=nowarn"], home, diffs)


def gnu_patch(home: Path, diffs: dict[str, str]) -> None:
    _run(["patch", "-p1", "-f", "-s", "--no-backup-if-mismatch"], home, diffs)


def _run(command: list[str], home: Path, diffs: dict[str, str]) -> None:
    text = "".join(diffs.values()).encode()
    subprocess.run(command, cwd=home, env=QUIET, input=text, capture_output=True, check=False)


def with_whatthepatch(home: Path, diffs: dict[str, str]) -> None:
    import whatthepatch  # noqa: PLC0415  (optional)

    for path, diff in diffs.items():
        for part in whatthepatch.parse_patch(diff):
            text = (home / path).read_text(encoding="utf-8")
            lines = whatthepatch.apply_diff(part, text)
            (home / path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def with_unidiff(home: Path, diffs: dict[str, str]) -> None:
    """Its parser, and the least that applies what it parsed where it says."""
    from unidiff import PatchSet  # noqa: PLC0415  (optional)

    for path, diff in diffs.items():
        lines = (home / path).read_text(encoding="utf-8").splitlines(keepends=True)
        out: list[str] = []
        at = 0
        for hunk in PatchSet(diff)[0]:
            start = hunk.source_start - 1
            old = [line.value for line in hunk if not line.is_added]
            if lines[start : start + len(old)] != old:
                return
            out += lines[at:start]
            out += [line.value for line in hunk if not line.is_removed]
            at = start + len(old)
        (home / path).write_text("".join(out + lines[at:]), encoding="utf-8")


def with_pygit2(home: Path, diffs: dict[str, str]) -> None:
    """On a repository, as it demands; making that is not part of what is timed."""
    import pygit2  # noqa: PLC0415  (optional)

    diff = pygit2.Diff.parse_diff("".join(diffs.values()).encode())
    pygit2.Repository(home).apply(diff, pygit2.enums.ApplyLocation.WORKDIR)


def prepare_pygit2(home: Path) -> None:
    import pygit2  # noqa: PLC0415  (optional)

    repository = pygit2.init_repository(home)
    repository.index.add_all()
    repository.index.write()


PEERS: dict[str, Apply] = {
    "ours": ours,
    "git apply": git_apply,
    "GNU patch": gnu_patch,
    "whatthepatch": with_whatthepatch,
    "unidiff": with_unidiff,
    "pygit2": with_pygit2,
}


def installed(name: str) -> str | None:
    """The peer's version; None if it is not here."""
    if name == "ours":
        return ""
    if program := {"git apply": "git", "GNU patch": "patch"}.get(name):
        if shutil.which(program) is None:
            return None
        told = subprocess.run([program, "--version"], capture_output=True, check=False).stdout
        first = told.decode().split("\n")[0]
        return first.split()[-1] if program == "git" or "GNU" in first else None  # macOS has BSD's
    try:
        return version(name) if find_spec(name) else None
    except PackageNotFoundError:
        return None
