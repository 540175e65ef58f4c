"""The emulator is recognised by more than its process id."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from toolgate.local import process
from toolgate.local.process import Process, Record

PROGRAM = Path("/project/.local/ministack/bin/python")
RECORD = Record(port=4566, python="3.11", pid=4242, started=991)


def stat_line(pid=4242, state="S", started=991, name="python"):
    fields = [state, "77", "4242", *["0"] * 16, str(started), *["0"] * 30]
    return f"{pid} ({name}) {' '.join(fields)}\n"


@pytest.fixture
def proc(tmp_path):
    """A process table with the recorded emulator in it."""
    home = tmp_path / "4242"
    home.mkdir()
    (home / "stat").write_text(stat_line())
    (home / "cmdline").write_bytes(f"{PROGRAM}\0-m\0ministack\0".encode())
    (home / "environ").write_bytes(b"AWS_LAMBDA_FUNCTION_NAME=tool\0EMPTY=\0EQUALS=a=b\0")
    (tmp_path / "self").mkdir()
    return tmp_path


def test_a_program_name_with_spaces_and_brackets_does_not_shift_the_fields():
    found = process.parse_stat(stat_line(name="a) S (b"))
    assert found == Process(pid=4242, parent=77, group=4242, state="S", started=991)


def test_the_recorded_emulator_is_running(proc):
    assert process.is_running(RECORD, PROGRAM, proc)


def test_a_dead_process_is_not_running(proc):
    gone = Record(port=4566, python="3.11", pid=1, started=991)
    assert not process.is_running(gone, PROGRAM, proc)


def test_a_reused_process_id_is_not_running(proc):
    (proc / "4242" / "stat").write_text(stat_line(started=992))
    assert not process.is_running(RECORD, PROGRAM, proc)


def test_another_program_under_the_same_id_and_start_is_not_running(proc):
    (proc / "4242" / "cmdline").write_bytes(b"/usr/bin/python3\0-m\0ministack\0")
    assert not process.is_running(RECORD, PROGRAM, proc)


def test_a_zombie_is_not_running(proc):
    (proc / "4242" / "stat").write_text(stat_line(state="Z"))
    assert not process.is_running(RECORD, PROGRAM, proc)


def test_a_record_of_a_clean_stop_is_not_running(proc):
    assert not process.is_running(Record(port=4566, python="3.11"), PROGRAM, proc)


def test_environment_keeps_what_follows_the_first_equals_sign(proc):
    assert process.environment(4242, proc) == {
        "AWS_LAMBDA_FUNCTION_NAME": "tool",
        "EMPTY": "",
        "EQUALS": "a=b",
    }


def test_what_cannot_be_read_is_empty(proc):
    assert process.command_line(1, proc) == []
    assert process.environment(1, proc) == {}


def test_everyone_leaves_out_zombies_and_what_is_no_process(proc):
    (proc / "5").mkdir()
    (proc / "5" / "stat").write_text(stat_line(pid=5, state="Z"))
    assert [found.pid for found in process.everyone(proc)] == [4242]


def test_a_record_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "state.json"
    process.write_record(path, RECORD)
    assert process.read_record(path) == RECORD
    assert [each.name for each in tmp_path.iterdir()] == ["state.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"port": 1}', '{"port": 1, "who": 2}'])
def test_a_record_that_makes_no_sense_counts_as_none(tmp_path, text):
    path = tmp_path / "state.json"
    path.write_text(text)
    assert process.read_record(path) is None


def test_a_live_child_is_found_and_gone_after_it_was_reaped():
    waits = [sys.executable, "-c", "print(1, flush=True); import signal; signal.pause()"]
    with subprocess.Popen(waits, stdout=subprocess.PIPE) as child:
        child.stdout.readline()  # its command line is readable only a moment after it started
        found = process.find(child.pid)
        assert found is not None
        assert found.alive
        record = Record(port=1, python="3", pid=child.pid, started=found.started)
        assert process.is_running(record, Path(sys.executable))
        child.kill()
        child.wait()
        assert process.find(child.pid) is None
        assert not process.is_running(record, Path(sys.executable))
