"""What `@tool` guarantees, whatever the handler below it does."""

from __future__ import annotations

import json
import threading

import pytest

from functions._runtime import aws
from tests.functions.counter import SPEC, args, count, make

pytestmark = pytest.mark.usefixtures("aws_cloud")


class Context:
    """A Lambda context with a chosen time left; never a mock, which Powertools takes for more."""

    aws_request_id = "request-1"
    client_context = None

    def __init__(self, left_ms=10_000):
        self.left_ms = left_ms

    def get_remaining_time_in_millis(self):
        return self.left_ms


class Crash(BaseException):
    """What a killed process looks like from inside: nothing catches it."""


def call(handler=None, left_ms=10_000, **changes):
    return (handler or make())(args(**changes), Context(left_ms))


def record():
    items = aws.dynamodb().scan(TableName="idempotency")["Items"]
    assert len(items) <= 1
    return items[0] if items else None


def later(monkeypatch, by_ms):
    from functions._runtime import tool

    real = tool.now_ms
    monkeypatch.setattr(tool, "now_ms", lambda: real() + by_ms)


def test_a_first_call_writes_twice_and_a_replay_once(aws_calls):
    first = call()
    assert first == {"ok": True, "schemaVersion": 1, "count": 1, "skippedAsDuplicate": False}
    assert aws_calls == ["UpdateItem", "GetItem", "TransactWriteItems"]
    aws_calls.clear()
    assert call() == {**first, "skippedAsDuplicate": True}
    assert aws_calls == ["UpdateItem"]


def test_the_record_is_the_pinned_one():
    call(idempotencyKey="agent-turn-9f3c")
    item = record()
    digest = "0fffc9eddebb764c583638f84c8010114a7db57e6904e4d10a6a36d788a13248"
    assert item["id"]["S"] == f"demo.count@1#{digest}"
    assert set(item) == {
        "id",
        "status",
        "expiration",
        "in_progress_expiration",
        "validation",
        "data",
        "owner",
        "attempt",
    }
    assert json.loads(item["data"]["S"])["skippedAsDuplicate"] is False


@pytest.mark.parametrize(
    "change", [{"dryRun": True}, {"add": "1"}, {"add": 1.0}, {"add": True}, {"surplus": 1}]
)
def test_dry_runs_and_refusals_leave_the_table_alone(change):
    call(**change)
    assert record() is None
    assert count() == 0


def test_a_dry_run_does_not_spend_the_key():
    assert call(dryRun=True)["count"] == 1
    assert call()["ok"] is True
    assert count() == 1


def test_other_arguments_under_a_used_key_conflict_and_reveal_nothing(aws_calls):
    call()
    aws_calls.clear()
    answer = call(add=2)
    assert answer["error"]["code"] == "IDEMPOTENCY_CONFLICT"
    assert answer["error"]["retryable"] is False
    assert answer["error"]["details"] == {"keySpent": True}
    assert aws_calls == ["UpdateItem"]
    assert count() == 1


def test_a_call_that_still_runs_answers_when_to_come_back():
    seen = {}

    def rival():
        seen["same"] = call()
        seen["other"] = call(add=2)

    def meanwhile():
        thread = threading.Thread(target=rival)
        thread.start()
        thread.join()

    assert call(make(before_commit=meanwhile))["ok"] is True
    same, other = seen["same"]["error"], seen["other"]["error"]
    assert (same["code"], same["retryable"]) == ("IN_PROGRESS", True)
    assert 250 <= same["details"]["retryAfterMs"] <= 5000
    assert same["details"]["keySpent"] is False
    assert other["code"] == "IDEMPOTENCY_CONFLICT"
    assert count() == 1


@pytest.mark.parametrize(("note", "code"), [("odd", "odd_counter"), ("conflict", "CONFLICT")])
def test_a_failure_that_is_final_is_kept_and_replayed(note, code):
    ran = []
    handler = make(start=lambda: ran.append(1))
    first, second = call(handler, note=note), call(handler, note=note)
    assert first["error"]["code"] == second["error"]["code"] == code
    assert first["error"]["details"] == {"keySpent": True}
    assert second["error"]["details"] == {"keySpent": True, "replayed": True}
    assert len(ran) == 1


def test_a_retryable_failure_releases_the_key_for_the_same_arguments_only():
    handler = make(start=lambda: fail.pop()() if fail else None)

    def busy():
        from contracts.errors import UnavailableError

        raise UnavailableError("busy")

    fail = [busy]
    failed = call(handler)
    assert failed["error"]["code"] == "UNAVAILABLE"
    assert failed["error"]["details"] == {"keySpent": False}
    assert call(handler, add=2)["error"]["code"] == "IDEMPOTENCY_CONFLICT"
    assert call(handler)["skippedAsDuplicate"] is False
    assert count() == 1
    assert record()["attempt"] == {"N": "2"}


def test_a_bug_answers_internal_and_leaks_nothing(capsys):
    answer = call(note="bug")
    assert answer["error"]["code"] == "INTERNAL"
    assert "secret" not in json.dumps(answer)
    printed = capsys.readouterr().out
    assert "secret" not in printed
    assert "RuntimeError" in printed
    assert count() == 0


def test_a_bug_after_the_commit_does_not_hide_what_happened():
    def bug():
        raise RuntimeError

    first = call(make(after_commit=bug))
    assert first["ok"] is True
    assert call()["skippedAsDuplicate"] is True
    assert count() == 1


def test_a_crash_before_the_commit_is_taken_over_after_the_lease(monkeypatch):
    def crash():
        raise Crash

    with pytest.raises(Crash):
        call(make(before_commit=crash))
    assert call()["error"]["code"] == "IN_PROGRESS"
    later(monkeypatch, 12_001)
    assert call(add=2)["error"]["code"] == "IDEMPOTENCY_CONFLICT"
    assert call()["skippedAsDuplicate"] is False
    assert count() == 1


def test_a_crash_after_the_commit_is_replayed():
    def crash():
        raise Crash

    with pytest.raises(Crash):
        call(make(after_commit=crash))
    assert call() == {"ok": True, "schemaVersion": 1, "count": 1, "skippedAsDuplicate": True}
    assert count() == 1


@pytest.mark.parametrize("note", ["", "unavailable", "odd"])
def test_a_late_attempt_neither_acts_nor_touches_the_newer_answer(monkeypatch, note):
    """The first attempt stalls past its lease; a second one completes; then the first goes on."""
    answers = {}

    def overtaken():
        later(monkeypatch, 12_001)
        thread = threading.Thread(target=lambda: answers.update(second=call(note=note)))
        if note:
            thread = threading.Thread(target=lambda: answers.update(second=call(note=note)))
        thread.start()
        thread.join()

    hook = "start" if note else "before_commit"
    first = call(make(**{hook: overtaken}), note=note)
    after = record()
    second = answers["second"]
    if not note:
        assert second["ok"] is True
        assert first == {**second, "skippedAsDuplicate": True}
        assert count() == 1
    else:
        assert count() == 0
    assert call(note=note)["ok"] is second["ok"]
    if note == "odd":
        assert json.loads(after["data"]["S"]) == second
        assert first["error"]["code"] == "UNAVAILABLE"


def test_sixteen_callers_of_one_key_get_one_effect():
    answers, barrier = [], threading.Barrier(16)

    def caller():
        handler = make()
        barrier.wait()
        for _ in range(400):
            answer = call(handler)
            if answer["ok"]:
                answers.append(answer)
                return
            assert answer["error"]["retryable"], answer

    threads = [threading.Thread(target=caller) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 16
    assert sum(not answer["skippedAsDuplicate"] for answer in answers) == 1
    assert count() == 1


def test_too_little_time_is_answered_before_anything_happens():
    from contracts.errors import DeadlineError
    from functions._runtime.deadline import Deadline

    Deadline(lambda: 3_000, 15).check()
    with pytest.raises(DeadlineError):
        Deadline(lambda: 2_999, 15).check()
    Deadline(lambda: 1_000, 3).check()
    with pytest.raises(DeadlineError):
        Deadline(lambda: 999, 3).check()


def test_disabled_idempotency_refuses_to_work(monkeypatch):
    from functions._runtime import settings

    monkeypatch.setenv("POWERTOOLS_IDEMPOTENCY_DISABLED", "true")
    settings.settings.cache_clear()
    assert call()["error"]["code"] == "INTERNAL"
    monkeypatch.delenv("POWERTOOLS_IDEMPOTENCY_DISABLED")
    settings.settings.cache_clear()
    assert count() == 0


def test_a_presented_token_is_refused_and_not_ignored():
    answer = make()({**args(), "_caller": "anything"}, Context())
    assert answer["error"]["code"] == "FORBIDDEN"
    assert answer["error"]["details"] == {"reason": "TOKEN_REFUSED", "keySpent": False}


def test_a_missing_scope_is_named(monkeypatch):
    from functions._runtime import settings

    bindings = {"direct": {"tenant": "default", "scopes": ["workspace:read"]}}
    monkeypatch.setenv("TOOLGATE_BINDINGS", json.dumps(bindings))
    settings.settings.cache_clear()
    details = call()["error"]["details"]
    assert (details["reason"], details["scope"]) == ("SCOPE_MISSING", "workspace:write")


def test_one_line_and_one_metrics_blob_a_call_hold_ids_but_no_bodies(capsys):
    call(note="do not log me", idempotencyKey="do-not-log-this-key")
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (log,) = [line for line in lines if line.get("message") == "call"]
    (metrics,) = [line for line in lines if "_aws" in line]
    assert log["tool"] == "demo.count"
    assert log["outcome"] == "OK"
    assert log["attempt"] == 1
    assert metrics["_aws"]["CloudWatchMetrics"][0]["Dimensions"] == [["tool", "stage", "service"]]
    assert metrics["Calls"] == [1.0]
    assert "do not log" not in json.dumps(lines)
    assert "do-not-log" not in json.dumps(lines)


def test_an_output_that_breaks_its_contract_is_found_before_the_effect():
    from functions._runtime.tool import tool
    from tests.functions.counter import Output

    @tool(SPEC)
    def handler(request, call):
        output = Output.model_construct(count=-1)
        call.effect.commit([], output)
        return output

    answer = handler(args(), Context())
    assert answer["error"]["code"] == "INTERNAL"
    assert record()["status"] == {"S": "INPROGRESS"}
    assert record()["in_progress_expiration"] == {"N": "0"}


def test_a_tool_that_always_needs_approval_is_refused_while_nobody_can_approve():
    from dataclasses import replace

    from contracts.spec import Approval
    from functions._runtime.tool import tool

    @tool(replace(SPEC, approval=Approval.DUAL))
    def handler(request, call):
        raise AssertionError

    answer = handler(args(), Context())
    assert answer["error"]["code"] == "FORBIDDEN"
    assert record() is None
