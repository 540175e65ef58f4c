"""`git apply` and GNU patch as judges: one process for many clean diffs, one each for others."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tests.functions.patch.samples import Sample

Verdict = Literal["right", "refused", "wrong"]

QUIET = {
    **os.environ,
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
}
GIT = ["git", "apply", "--whitespace=nowarn", "-p1"]
GNU = ["patch", "-p1", "-f", "-s", "-E", "-r", "-", "--no-backup-if-mismatch", "--binary"]


def has_gnu_patch() -> bool:
    """Whether `patch` is there and is GNU's; macOS has another."""
    if shutil.which("patch") is None:
        return False
    run = subprocess.run(["patch", "--version"], capture_output=True, check=False)
    return b"GNU patch" in run.stdout


def apply_all(command: Sequence[str], samples: Sequence[Sample], work: Path) -> None:
    """Apply all diffs in `work` by one process. Fails unless each goes where it says it does."""
    for sample in samples:
        _put(work / sample.path, sample.before)
    text = "".join(sample.patch for sample in samples).encode()
    given = [*command, *(["-v"] if command is GIT else ["--verbose"])]
    given = [part for part in given if part != "-s"]
    run = subprocess.run(given, cwd=work, env=QUIET, input=text, capture_output=True, check=False)
    told = run.stdout + run.stderr
    assert run.returncode == 0, told[-2000:]
    assert b"offset" not in told
    assert b"fuzz" not in told


def verdict(command: Sequence[str], sample: Sample, work: Path) -> Verdict:
    """What the program makes of one diff."""
    target = work / sample.path
    _put(target, sample.before)
    run = subprocess.run(
        command,
        cwd=work,
        env=QUIET,
        input=sample.patch.encode(),
        capture_output=True,
        check=False,
    )
    if run.returncode:
        return "refused"
    return "right" if found(work, sample) == sample.after else "wrong"


def found(work: Path, sample: Sample) -> bytes | None:
    """What stands at the sample's path."""
    target = work / sample.path
    return target.read_bytes() if target.exists() else None


def _put(target: Path, data: bytes | None) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if data is None:
        target.unlink(missing_ok=True)
    else:
        target.write_bytes(data)
