"""The commands' words and exit codes; how installers that fail or hang are reported."""

from __future__ import annotations

import json
import os
import select
import sys

import pytest
from typer.testing import CliRunner

from toolgate.local import cloud, install, run, setup_venv
from toolgate.local.cli import app
from toolgate.local.errors import InstallError
from toolgate.local.layout import Layout


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Run `toolgate local …` for an empty project."""
    monkeypatch.setattr(cloud, "Layout", lambda: Layout(tmp_path))
    return lambda *words: CliRunner().invoke(app, words)


def logged(tmp_path, code, seconds=30, log="log"):
    run.logged(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ,
        log=tmp_path / log,
        seconds=seconds,
        failure=InstallError,
        advice="It could not be installed.",
    )


def ends_within_seconds(pid, seconds):
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    with os.fdopen(watched, "rb", buffering=0):
        readable, _, _ = select.select([watched], [], [], seconds)
    return bool(readable)


def test_status_of_a_cloud_that_is_not_up_exits_with_1(command):
    result = command("status", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["running"] is False


def test_down_of_nothing_succeeds_and_says_so(command):
    result = command("down")
    assert result.exit_code == 0
    assert "was not up" in result.stderr


@pytest.mark.parametrize("words", [["up"], ["install"], ["logs"]])
def test_a_failure_is_one_sentence_without_a_traceback(command, words):
    result = command(*words)
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert "Traceback" not in result.output


def test_a_port_that_only_root_may_take_is_a_usage_error(command):
    assert command("up", "--port", "80").exit_code == 2


def test_a_failing_command_is_reported_with_its_own_last_lines(tmp_path):
    logged(tmp_path, "print('an earlier success')")
    with pytest.raises(InstallError) as failure:
        logged(tmp_path, "print('no route to host'); raise SystemExit(3)")
    assert str(failure.value).startswith("It could not be installed. ")
    assert "no route to host" in str(failure.value)
    assert "an earlier success" not in str(failure.value)


def test_a_command_that_hangs_is_ended_with_everything_it_started(tmp_path):
    starts_another = (
        "import subprocess, sys, signal\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'])\n"
        "print(child.pid, flush=True)\n"
        "signal.pause()"
    )
    with pytest.raises(InstallError, match="stopped after 1 s"):
        logged(tmp_path, starts_another, seconds=1)
    grandchild = int((tmp_path / "log").read_text().split()[-1])
    assert ends_within_seconds(grandchild, 10)


def test_an_unreachable_registry_is_reported_with_what_uv_said(tmp_path, monkeypatch):
    for name in ("UV_OFFLINE", "UV_NO_CACHE"):
        monkeypatch.setenv(name, "1")
    with pytest.raises(InstallError, match=r"(?s)check the network.*ministack"):
        install.install_emulator(Layout(tmp_path))
    assert not install.emulator_is_installed(Layout(tmp_path))


def test_another_python_version_is_refused_with_what_to_do(monkeypatch, capsys):
    monkeypatch.setattr(setup_venv, "OLDEST_PYTHON", (4, 0))
    assert setup_venv.main() == 1
    assert "needs Python 3.11" in capsys.readouterr().err


def test_setup_installs_the_uv_that_the_requirements_pin():
    text = "boto3==1.44.8\nuv==0.13.9  # builds the layer\nuvloop==1\n"
    assert setup_venv.uv_requirement(text) == "uv==0.13.9"


def test_requirements_without_uv_are_refused():
    with pytest.raises(setup_venv.SetupError, match="uv"):
        setup_venv.uv_requirement("uvloop==1\n")
