"""Starting and stopping a detached process: real ones, that behave badly on purpose."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from pathlib import Path

import pytest

from toolgate.local import cloud, emulator, process
from toolgate.local.errors import EmulatorError, NotRunningError, PortTakenError
from toolgate.local.layout import Layout

SERVES = """
import http.server, os, signal
{before}
class Ready(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/_ministack/ready" else 404)
        self.end_headers()
http.server.HTTPServer(("127.0.0.1", int(os.environ["GATEWAY_PORT"])), Ready).serve_forever()
"""
DEAF = SERVES.format(before="signal.signal(signal.SIGTERM, signal.SIG_IGN)")
OBEDIENT = SERVES.format(before="")
WORKER = """
import os, pathlib, subprocess, sys
home = pathlib.Path(os.environ["TMPDIR"]) / "ministack-lambda-x"
home.mkdir()
script = home / "_worker.py"
script.write_text("import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=1);"
                  " signal.pause()")
for name in ("one", "two"):
    child = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE,
                             env=os.environ | {"AWS_LAMBDA_FUNCTION_NAME": name})
    child.stdout.readline()
"""
WITH_WORKERS = SERVES.format(before=WORKER)


@pytest.fixture
def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def install_emulator(tmp_path, monkeypatch):
    """Put a program in the emulator's place; whatever it started is ended afterwards."""
    layout = Layout(tmp_path)

    def install(program):
        layout.emulator_python.parent.mkdir(parents=True)
        layout.emulator_python.symlink_to(sys.executable)
        (tmp_path / "program.py").write_text(program)
        monkeypatch.setattr(emulator, "PROGRAM", tmp_path / "program.py")
        return layout

    yield install
    record = process.read_record(layout.process_file)
    if record and process.is_running(record, layout.emulator_python):
        os.killpg(record.pid, signal.SIGKILL)
        os.waitpid(record.pid, 0)


def test_nothing_of_the_developers_environment_reaches_the_tools_but_path(tmp_path):
    theirs = {
        "PATH": "/bin",
        "AWS_ENDPOINT_URL": "http://elsewhere",
        "AWS_CA_BUNDLE": "/ca.pem",
        "SSL_CERT_FILE": "/ca.pem",
        "PYTHONPATH": "/src",
        "HOME": "/home/me",
    }
    ours = emulator.settings(Layout(tmp_path), 4570, theirs)
    assert {name for name in theirs if ours.get(name) == theirs[name]} == {"PATH"}
    assert ours["GATEWAY_PORT"] == "4570"
    assert ours["BIND_HOST"] == "127.0.0.1"
    inside = {name for name, value in ours.items() if value.startswith(str(tmp_path / ".local"))}
    assert inside == {"HOME", "TMPDIR", "STATE_DIR", "S3_DATA_DIR"}


def test_a_taken_port_is_refused_and_the_option_named(tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(PortTakenError, match=rf"Port {port} is taken .*--port {port + 1}"):
            emulator.start(Layout(tmp_path), port, "3.11")


def test_an_emulator_that_gives_up_is_reported_with_its_last_words(install_emulator, free_port):
    layout = install_emulator("raise SystemExit('no room on this device')")
    with pytest.raises(EmulatorError, match="no room on this device"):
        emulator.start(layout, free_port, "3.11")
    assert emulator.running(layout) is None
    assert not emulator.ended_uncleanly(layout)


def test_an_emulator_that_is_not_ready_in_time_is_ended(install_emulator, free_port, monkeypatch):
    monkeypatch.setattr(emulator, "START_DEADLINE_S", 0.3)
    layout = install_emulator("import signal; signal.pause()")
    with pytest.raises(EmulatorError, match=r"not ready after 0\.3 s"):
        emulator.start(layout, free_port, "3.11")
    assert emulator.running(layout) is None


def test_a_started_emulator_is_a_group_of_its_own_and_recognised(install_emulator, free_port):
    layout = install_emulator(OBEDIENT)
    record = emulator.start(layout, free_port, "3.11")
    assert emulator.running(layout) == record
    found = process.find(record.pid)
    assert found.group == record.pid
    assert found.group != os.getpgrp()


def test_a_clean_stop_leaves_the_port_remembered_and_nothing_running(install_emulator, free_port):
    layout = install_emulator(OBEDIENT)
    record = emulator.start(layout, free_port, "3.11")
    assert emulator.stop(layout, record) is True
    assert process.find(record.pid) is None
    assert process.read_record(layout.process_file) == process.Record(free_port, "3.11")
    assert not emulator.ended_uncleanly(layout)


def test_an_emulator_deaf_to_sigterm_is_killed_and_that_counts_as_unclean(
    install_emulator, free_port, monkeypatch
):
    layout = install_emulator(DEAF)
    record = emulator.start(layout, free_port, "3.11")
    monkeypatch.setattr(emulator, "STOP_DEADLINE_S", 0.3)
    assert emulator.stop(layout, record) is False
    assert process.find(record.pid) is None
    assert emulator.ended_uncleanly(layout)


def test_workers_are_told_apart_by_function_and_gone_after_down(install_emulator, free_port):
    layout = install_emulator(WITH_WORKERS)
    record = emulator.start(layout, free_port, "3.11")
    here = cloud.LocalCloud(free_port, layout)
    (one,), (two,) = here.workers("one"), here.workers("two")
    assert one != two
    assert here.workers("three") == []
    assert sorted(emulator.orphans(layout)) == sorted([one, two])
    assert cloud.down(layout=layout) is True
    assert emulator.orphans(layout) == []
    assert process.find(record.pid) is None
    assert not layout.scratch.exists()


def test_workers_that_outlived_a_killed_emulator_are_ended_by_down(install_emulator, free_port):
    layout = install_emulator(WITH_WORKERS)
    record = emulator.start(layout, free_port, "3.11")
    os.kill(record.pid, signal.SIGKILL)
    os.waitpid(record.pid, 0)
    assert len(emulator.orphans(layout)) == 2
    assert cloud.down(layout=layout) is False
    assert emulator.orphans(layout) == []
    assert emulator.ended_uncleanly(layout)


def test_a_process_that_reused_the_id_is_left_alone(tmp_path):
    layout = Layout(tmp_path)
    layout.home.mkdir()
    record = process.Record(port=1, python="3.11", pid=os.getpid(), started=1)
    process.write_record(layout.process_file, record)
    assert emulator.running(layout) is None
    assert emulator.stop(layout, record) is True
    assert cloud.down(layout=layout) is False


def test_reset_removes_data_and_keeps_what_is_installed(tmp_path):
    layout = Layout(tmp_path)
    for folder in (layout.tables, layout.objects, layout.emulator_venv, layout.cdk):
        folder.mkdir(parents=True)
        (folder / "file").write_text("data")
    layout.deployed_file.write_text(json.dumps({"digest": "x"}))
    assert cloud.data_bytes(layout) == 8
    cloud.reset(layout=layout)
    assert cloud.data_bytes(layout) == 0
    assert not layout.deployed_file.exists()
    assert (layout.emulator_venv / "file").exists()
    assert (layout.cdk / "file").exists()


def test_status_of_nothing_is_not_running(tmp_path):
    found = cloud.status(layout=Layout(tmp_path))
    assert (found.running, found.port, found.pid) == (False, 4566, None)
    assert not Path(tmp_path / ".local").exists()


def test_asking_a_stopped_cloud_for_workers_says_how_to_start_it(tmp_path):
    with pytest.raises(NotRunningError, match="toolgate local up"):
        cloud.LocalCloud(4566, Layout(tmp_path)).workers("any")
