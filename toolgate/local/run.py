"""Runs an installer or the CDK CLI: output to a log, bounded time, failures with its last lines."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from toolgate.local.errors import LocalCloudError

_TAIL_LINES = 20
_END_S = 10


def logged(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    log: Path,
    seconds: float,
    failure: type[LocalCloudError],
    advice: str,
) -> None:
    """Run `argv` to its end, its output appended to `log`.

    Raises `failure` with `advice` and the end of the log if it fails or takes over `seconds`. An
    interruption ends the whole process group, so that nothing goes on in the background.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        begins = output.tell()
        output.write(f"$ {' '.join(argv)}\n".encode())
        output.flush()
        with subprocess.Popen(
            argv,
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as child:
            try:
                code = child.wait(seconds)
            except subprocess.TimeoutExpired:
                _end_group(child)
                raise failure(
                    f"{advice} It was stopped after {seconds:.0f} s. {_ending(log, begins)}"
                ) from None
            except BaseException:
                _end_group(child)
                raise
    if code != 0:
        raise failure(f"{advice} {_ending(log, begins)}")


def tail(log: Path, begins: int = 0) -> str:
    """The last lines of a log after its first `begins` bytes, or a word that there is none."""
    try:
        text = log.read_bytes()[begins:].decode("utf-8", "replace")
    except FileNotFoundError:
        return "(no log was written)"
    return "\n".join(text.splitlines()[-_TAIL_LINES:])


def _ending(log: Path, begins: int) -> str:
    return f"The end of {log}:\n{tail(log, begins)}"


def _end_group(child: subprocess.Popen[bytes]) -> None:
    # Asked first, so that installers remove their half-done work; then whoever is left is killed.
    with suppress(ProcessLookupError, subprocess.TimeoutExpired):
        os.killpg(child.pid, signal.SIGTERM)
        child.wait(_END_S)
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
