"""Whether an attempt may be told what it was told, given all that happened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.exactly_once.model import LEASE_MS, TIMEOUT_AFTER_MS, Answer, Call, Model

if TYPE_CHECKING:
    from tests.exactly_once.attempts import Attempt

READS = {"BatchGetItem", "GetItem", "GetObject"}


def judge(model: Model, call: Call, attempt: Attempt, now_ms: int) -> None:
    """Raise AssertionError if the attempt's answer is not one that the model allows."""
    answer = attempt.answer
    if answer is None:
        return
    moved = len(model.log[call.tenant]) - model.began_at[id(attempt)]
    assert attempt.done.count("TransactWriteItems") <= moved + 1, "planned again for nothing"
    code = None if answer["ok"] else answer["error"]["code"]
    if call.dry_run:
        _dry_run(model, attempt, answer, code)
    elif code == "IDEMPOTENCY_CONFLICT":
        assert model.holders[call.name] != call.operation, "refused its own key"
        assert answer["error"]["details"] == {"keySpent": True}
    elif code is None or not answer["error"]["retryable"]:
        _final(model, call, attempt, answer)
    else:
        assert answer["error"]["details"]["keySpent"] is False
        _retryable(model, call, attempt, code, now_ms)


def _dry_run(model: Model, attempt: Attempt, answer: dict[str, Any], code: str | None) -> None:
    assert set(attempt.done) <= READS, "a dry run wrote"
    if code == "UNAVAILABLE":
        assert attempt.faults
    elif code != "TIMEOUT":
        assert _essence(answer) in model.seen[id(attempt)], "a dry run foresaw what never was"
        assert answer.get("skippedAsDuplicate", False) is False


def _final(model: Model, call: Call, attempt: Attempt, answer: dict[str, Any]) -> None:
    assert model.holders[call.name] == call.operation, "the key was another call's"
    told = _essence(answer)
    first = model.answers.get(call.name)
    if first is None:
        first = _first(model, call, attempt, answer)
    assert told == first.essence, "a replay differs from the first answer"
    assert _is_replay(answer) == (first.by is not attempt), "replay or not is told wrongly"
    if not answer["ok"]:
        assert answer["error"]["details"]["keySpent"] is True


def _first(model: Model, call: Call, attempt: Attempt, answer: dict[str, Any]) -> Answer:
    """An answer without an effect, seen for the first time."""
    told = _essence(answer)
    assert len(told) == 1, "says that it changed something, and did not"
    replay = _is_replay(answer)
    same = [other for theirs, other in model.others(call, attempt) if theirs == call]
    # One that stored its answer and could not tell it has crashed, or was in doubt about it.
    untold = [other for other in same if other.faults]
    assert untold or not replay, "the replay of an answer that nobody can have stored"
    seen = set().union(*(model.seen[id(one)] for one in [attempt, *(untold if replay else [])]))
    assert told in seen, f"told {told}, which was never true"
    if not replay:
        model.earned(call, attempt)
    model.answers[call.name] = Answer(call.operation, told, None if replay else attempt)
    return model.answers[call.name]


def _retryable(model: Model, call: Call, attempt: Attempt, code: str, now_ms: int) -> None:
    ends_ms = attempt.started_ms + LEASE_MS
    if code == "IN_PROGRESS":
        low, asked, high = 250, attempt.answer["error"]["details"]["retryAfterMs"], 5_000
        assert low <= asked <= high
        assert any(
            other.started_ms + LEASE_MS >= attempt.started_ms
            # It runs, or died, or could not tell that its claim was granted, or release the key.
            and (not other.over or other.answer is None or "UpdateItem" in other.faults)
            for _, other in model.others(call, attempt)
        ), "IN_PROGRESS, but nobody is at it"
    elif code == "TIMEOUT":
        assert now_ms - attempt.started_ms > TIMEOUT_AFTER_MS, "gave up too early"
    elif code == "UNAVAILABLE":
        overtaken = any(other.started_ms > ends_ms for _, other in model.others(call, attempt))
        assert attempt.faults or overtaken, "lost a key that was its own"
    else:
        raise AssertionError(f"answered {code}")


def _essence(answer: dict[str, Any]) -> tuple[Any, ...]:
    if answer["ok"]:
        return ("ok", *answer["applied"])
    return (answer["error"]["code"],)


def _is_replay(answer: dict[str, Any]) -> bool:
    if answer["ok"]:
        return answer["skippedAsDuplicate"]
    return answer["error"]["details"].get("replayed", False)
