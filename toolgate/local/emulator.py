"""Starts and stops the emulator: a detached process of its own group, which keeps its data."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

from toolgate.local import process
from toolgate.local.errors import EmulatorError, PortTakenError
from toolgate.local.run import tail

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from toolgate.local.layout import Layout

HOST = "127.0.0.1"
REGION = "us-east-1"
START_DEADLINE_S = 60
STOP_DEADLINE_S = 30
_POLL_S = 0.05
PROGRAM = Path(__file__).with_name("emulator_main.py")

_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""Loopback is never behind a proxy."""


def settings(layout: Layout, port: int, environ: Mapping[str, str]) -> dict[str, str]:
    """The emulator's whole environment, which its Lambda workers inherit.

    Nothing of the developer's passes but PATH: a certificate bundle, an endpoint, a profile or a
    Python switch of theirs would reach the tools.
    """
    return {
        "PATH": environ.get("PATH", os.defpath),
        "HOME": str(layout.scratch),
        "TMPDIR": str(layout.scratch),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "AWS_EC2_METADATA_DISABLED": "true",
        "GATEWAY_PORT": str(port),
        "BIND_HOST": HOST,
        "MINISTACK_REGION": REGION,
        "PERSIST_STATE": "1",
        "STATE_DIR": str(layout.tables),
        "S3_PERSIST": "1",
        "S3_DATA_DIR": str(layout.objects),
    }


def running(layout: Layout) -> process.Record | None:
    """The emulator that this project started, if it runs."""
    record = process.read_record(layout.process_file)
    if record is None or not process.is_running(record, layout.emulator_python):
        return None
    return record


def ended_uncleanly(layout: Layout) -> bool:
    """Whether the last emulator went away without saving what it held."""
    record = process.read_record(layout.process_file)
    return record is not None and record.pid is not None and running(layout) is None


def start(layout: Layout, port: int, python: str) -> process.Record:
    """Start the emulator on `port` and return once it is ready.

    Raises PortTakenError, and EmulatorError with the end of its log if it gives up or is not ready
    in START_DEADLINE_S.
    """
    if port_is_taken(port):
        raise PortTakenError(
            f"Port {port} is taken by another program, which this project did not start. Name a "
            f"free one, for instance: toolgate local up --port {port + 1} (it is remembered)."
        )
    for folder in (layout.scratch, layout.tables, layout.objects):
        folder.mkdir(parents=True, exist_ok=True)
    record = _spawn(layout, port, python)
    process.write_record(layout.process_file, record)
    if not wait_ready(port, START_DEADLINE_S, lambda: _is_alive(record)):
        stop(layout, record)
        process.write_record(layout.process_file, process.Record(port=port, python=python))
        raise EmulatorError(
            f"The emulator was not ready after {START_DEADLINE_S} s or gave up. "
            f"The end of {layout.emulator_log}:\n{tail(layout.emulator_log)}"
        )
    return record


def stop(layout: Layout, record: process.Record) -> bool:
    """End the emulator and its workers. True if it saved its data, False if it had to be killed."""
    pid = record.pid
    if pid is None or not process.is_running(record, layout.emulator_python):
        return True
    _signal_group(pid, signal.SIGTERM)
    clean = _wait_for(lambda: not _is_alive(record), STOP_DEADLINE_S)
    if not clean:
        _signal_group(pid, signal.SIGKILL)
        _wait_for(lambda: not _is_alive(record), STOP_DEADLINE_S)
    sweep(layout)
    if clean:
        process.write_record(
            layout.process_file, process.Record(port=record.port, python=record.python)
        )
    return clean


def sweep(layout: Layout) -> None:
    """End workers that outlived their emulator, and remove their unpacked code."""
    left = orphans(layout)
    for pid in left:
        _kill(pid)
    if not _wait_for(lambda: not orphans(layout), STOP_DEADLINE_S):
        raise EmulatorError(f"Lambda workers {orphans(layout)} do not end; end them by hand.")
    shutil.rmtree(layout.scratch, ignore_errors=True)


def orphans(layout: Layout) -> list[int]:
    """Workers of this project's emulators, past or present."""
    return [found.pid for found in process.everyone() if _is_worker(layout, found.pid)]


def workers(layout: Layout, emulator: int, function_name: str) -> list[int]:
    """The live workers of the emulator that serve one function, oldest first."""
    ours = [
        found
        for found in process.everyone()
        if found.parent == emulator
        and _is_worker(layout, found.pid)
        and process.environment(found.pid).get("AWS_LAMBDA_FUNCTION_NAME") == function_name
    ]
    return [found.pid for found in sorted(ours, key=lambda found: (found.started, found.pid))]


def port_is_taken(port: int) -> bool:
    """Whether anything listens on the loopback port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        return probe.connect_ex((HOST, port)) == 0


def is_ready(port: int) -> bool:
    """Whether an emulator answers on the port that it is ready."""
    try:
        with _OPENER.open(f"http://{HOST}:{port}/_ministack/ready", timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def wait_ready(port: int, seconds: float, worth_waiting: Callable[[], bool]) -> bool:
    """Poll until the emulator is ready; False when time is up or there is nothing to wait for."""
    _wait_for(lambda: is_ready(port) or not worth_waiting(), seconds)
    return worth_waiting() and is_ready(port)


def _spawn(layout: Layout, port: int, python: str) -> process.Record:
    # posix_spawn rather than Popen: the child outlives us, and nobody here will wait for it.
    # -P keeps the script's folder, with our modules, off the emulator's path.
    argv = [str(layout.emulator_python), "-P", str(PROGRAM)]
    appending = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    pid = os.posix_spawn(
        argv[0],
        argv,
        settings(layout, port, os.environ),
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(layout.emulator_log), appending, 0o644),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
    )
    found = process.find(pid)
    return process.Record(
        port=port, python=python, pid=pid, started=found.started if found else None
    )


def _is_alive(record: process.Record) -> bool:
    found = process.find(record.pid) if record.pid is not None else None
    if found is None or found.started != record.started:
        return False
    if not found.alive:
        process.reap(found.pid)
    return found.alive


def _is_worker(layout: Layout, pid: int) -> bool:
    words = process.command_line(pid)
    return (
        words[:1] == [str(layout.emulator_python)]
        and len(words) > 1
        and words[1].startswith(f"{layout.scratch}{os.sep}")
    )


def _signal_group(pid: int, number: int) -> None:
    try:
        os.killpg(pid, number)
    except ProcessLookupError:
        return


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _wait_for(happened: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
    return True


def saved_anything(tables: Path) -> bool:
    """Whether an emulator ever stopped cleanly here: then its stacks are on disk."""
    return (tables / "cloudformation.json").is_file()
