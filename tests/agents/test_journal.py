"""A crash of the harness loses no call and repeats none by another key or version."""

from __future__ import annotations

import json
import os

import pytest

from agents.journal import KEPT_MS, Journal, JournalError
from agents.loop import Choice, LoopError
from tests.agents.loops import DIED, OK, PATCH, Clock, Played, Scripted, failed

FULL = 100
"""Bytes of a line that still fit on the disk, more or less."""


class Crash(BaseException):
    """The harness dies."""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "session.jsonl"


def crashed(path, *results, clock=None, **more):
    """A run that ends by a crash while it waits for an answer; what it had sent."""
    with Journal(path) as journal:
        played = Played(*results, Crash(), journal=journal, clock=clock, **more)
        with pytest.raises(Crash):
            played.call()
    return played.sent


def test_a_call_is_on_the_disk_before_it_is_sent(path, monkeypatch):
    synced, seen = [], []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (fsync(file), synced.append(file)))

    class Watching(Scripted):
        def send(self, spec, event):
            seen.append((json.loads(path.read_text().splitlines()[-1]), len(synced)))
            return super().send(spec, event)

    with Journal(path) as journal:
        before = len(synced)
        played = Played(OK, journal=journal)
        played.loop._target = Watching(OK)
        played.call()
    ((line, count),) = seen
    assert count == before + 1
    assert (line["is"], line["tool"], line["arguments"]) == ("sent", "apply_patch_v2", PATCH)
    assert path.stat().st_mode & 0o077 == 0


def test_after_a_crash_the_call_is_resumed_as_it_was(path):
    sent = crashed(path, failed("UNAVAILABLE"))
    with Journal(path) as journal:
        again = Played(OK, journal=journal, pins={"apply_patch": 1}, secret=b"t" * 32)
        (call,) = again.loop.unfinished()
        assert again.resume(call).result == OK
        assert again.loop.unfinished() == ()
    assert sent[0] == sent[1] == again.sent[0]


def test_the_same_turn_goes_to_the_version_that_had_it(path):
    sent = crashed(path)
    with Journal(path) as journal:
        again = Played(OK, journal=journal, pins={"apply_patch": 1})
        with pytest.raises(LoopError, match="another call"):
            again.call("apply_patch_v1")
        again.call("apply_patch")
    assert again.sent == sent


def test_a_call_that_was_answered_is_not_sent_again(path):
    for final in (OK, failed("CONFLICT")):
        with Journal(path) as journal:
            Played(final, journal=journal).call(turn=final["ok"])
        with Journal(path) as journal:
            again = Played(DIED, journal=journal)
            assert again.call(turn=final["ok"]).result == final
            assert again.sent == []


def test_a_call_that_differs_from_the_journals_is_refused(path):
    crashed(path)
    with Journal(path) as journal:
        again = Played(OK, journal=journal)
        with pytest.raises(LoopError, match="resume that"):
            again.call(arguments={**PATCH, "dryRun": True})
        assert again.sent == []
        assert journal.next_turn == 1


def test_a_call_that_may_have_happened_is_not_repeated_when_its_key_may_be_forgotten(path):
    clock = Clock()
    crashed(path, clock=clock)
    clock.now += KEPT_MS // 2
    crashed(path, DIED, clock=clock)
    clock.now += KEPT_MS // 2 + 1
    with Journal(path) as journal:
        again = Played(OK, journal=journal, clock=clock)
        stop = again.call().escalation
        assert (stop.reason, stop.resumable, again.sent) == ("too old", False, [])


def test_a_pending_approval_can_be_resumed_days_later(path):
    clock = Clock()
    pending = failed("APPROVAL_PENDING", approvalId="a")
    with Journal(path) as journal:
        first = Played(pending, journal=journal, clock=clock)
        first.call()
    clock.now += 3 * KEPT_MS
    sent = crashed(path, clock=clock)
    with Journal(path) as journal:
        again = Played(OK, journal=journal, clock=clock)
        (call,) = again.loop.unfinished()
        assert again.resume(call).result == OK
    assert first.sent == sent == again.sent


def test_a_session_that_is_run_again_repeats_its_answers_and_goes_on(path):
    made = [Choice("apply_patch", PATCH), Choice("read_file", {"repoRoot": "/a", "path": "b"})]

    def model(steps):
        return made[len(steps)] if len(steps) < len(made) else None

    with Journal(path) as journal, pytest.raises(Crash):
        Played(OK, Crash(), journal=journal).run(model)
    with Journal(path) as journal:
        again = Played(OK, journal=journal)
        report = again.run(model)
    assert [step.attempts for step in report.steps] == [0, 1]
    assert [tool for tool, _ in again.sent] == ["read_file_v1"]


def test_a_last_line_cut_short_at_any_byte_is_as_if_never_written(path):
    crashed(path)
    whole = path.read_bytes()
    for length in range(0, len(whole), 37):
        path.write_bytes(whole[:length])
        with Journal(path) as journal:
            assert journal.entries == {}
    path.write_bytes(whole + whole[:-1])
    with Journal(path) as journal:
        assert len(journal.entries) == 1
    assert path.read_bytes() == whole


@pytest.mark.parametrize("line", ["{", "[]", "{}", '{"is": "x", "turn": 0, "action": 0}'])
def test_a_damaged_line_is_named_and_nothing_is_guessed(path, line):
    crashed(path)
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(JournalError, match="damaged at line 2"):
        Journal(path)


def test_two_loops_cannot_share_a_journal(path):
    with Journal(path), pytest.raises(JournalError, match="in use"):
        Journal(path)
    Journal(path).close()


def test_neither_secret_nor_token_is_written_down(path):
    with Journal(path) as journal:
        Played(OK, journal=journal, secret=b"very-secret-bytes", token=lambda: "signed").call()
    assert "signed" not in path.read_text()
    assert "very-secret" not in path.read_text()


def test_a_line_that_a_full_disk_cut_short_is_taken_away_and_its_call_is_not_sent(
    path, monkeypatch
):
    write = os.write

    def full(file, data):
        if len(data) < FULL:
            raise OSError(28, "No space left on device")
        return write(file, data[: len(data) // 2])

    with Journal(path) as journal:
        played = Played(OK, OK, journal=journal)
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", full)
            with pytest.raises(JournalError, match="cannot be written: No space left"):
                played.call()
        assert played.sent == []
        assert path.read_bytes() == b""
        assert played.call().result == OK
    with Journal(path) as journal:
        assert len(journal.entries) == 1
