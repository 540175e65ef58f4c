"""What a gated tool answers while people have not agreed, once they have, and if they do not."""

from __future__ import annotations

from threading import Barrier, Thread

import pytest

from functions._runtime import aws
from tests.conftest import APPROVALS_TABLE
from tests.functions.counter import args, count
from tests.people import ALICE, BOB, CAROL, Agent, code, pages, pending, rows


def test_nothing_happens_until_two_people_have_agreed(gated):
    answer = gated.call()
    details = answer["error"]["details"]
    approval_id = pending(answer)
    assert answer["error"]["retryable"] is True
    assert (details["have"], details["need"], details["keySpent"]) == (0, 2, False)
    assert details["retryAfterMs"] == 30_000
    assert details["expiresAt"].endswith("Z")
    ALICE.approve(approval_id)
    assert gated.call()["error"]["details"]["have"] == 1
    assert count() == 0
    BOB.approve(approval_id)
    assert gated.call()["count"] == 1
    assert count() == 1


def test_a_replay_gives_the_first_answer_and_asks_nobody_again(gated):
    approval_id = pending(gated.call())
    ALICE.approve(approval_id)
    BOB.approve(approval_id)
    first, again = gated.call(), gated.call()
    assert again == {**first, "skippedAsDuplicate": True}
    assert count() == 1
    assert len(pages()) == 1
    assert ALICE.show(approval_id)["state"] == "consumed"


def test_repeating_a_call_makes_one_request_and_pages_once(gated):
    ids = {pending(gated.call()) for _ in range(5)}
    assert len(ids) == 1
    (page,) = pages()
    assert page["approvalId"] == ids.pop()
    assert page["requester"] == "dana"
    assert "args" not in str(page)


def test_people_who_could_not_be_told_are_told_when_the_call_is_repeated(gated, monkeypatch):
    def silent(**_):
        raise aws.sns().exceptions.InternalErrorException({"Error": {}}, "Publish")

    with monkeypatch.context() as patch:
        patch.setattr(aws.sns(), "publish", silent)
        pending(gated.call())
    assert pages() == []
    pending(gated.call())
    pending(gated.call())
    assert len(pages()) == 1


def test_nobody_is_told_of_what_is_decided_already(gated, monkeypatch):
    def silent(**_):
        raise aws.sns().exceptions.InternalErrorException({"Error": {}}, "Publish")

    with monkeypatch.context() as patch:
        patch.setattr(aws.sns(), "publish", silent)
        approval_id = pending(gated.call())
    CAROL.deny(approval_id)
    assert gated.code() == "APPROVAL_DENIED"
    assert pages() == []


def test_one_denial_is_final_and_its_reason_arrives_as_data(gated):
    approval_id = pending(gated.call())
    ALICE.approve(approval_id)
    BOB.deny(approval_id, "freeze until monday")
    answer = gated.call()
    assert code(answer) == "APPROVAL_DENIED"
    assert answer["error"]["retryable"] is False
    assert answer["error"]["details"]["reason"] == "freeze until monday"
    assert answer["error"]["details"]["keySpent"] is True
    status, body = CAROL.vote(approval_id, "approve")
    assert (status, body["error"]["details"]["reason"]) == (409, "DENIED")
    again = gated.call()
    assert again["error"]["details"] == {**answer["error"]["details"], "replayed": True}
    # What a person has said outlasts the record of the call.
    gated.wait(2 * 86_400)
    assert gated.code() == "APPROVAL_DENIED"
    assert count() == 0


def test_who_agreed_may_still_stop_it_until_it_is_used(gated):
    approval_id = pending(gated.call())
    ALICE.approve(approval_id)
    BOB.approve(approval_id)
    ALICE.deny(approval_id, "wrong one")
    assert gated.code() == "APPROVAL_DENIED"
    assert count() == 0


def test_what_is_not_decided_in_time_expires(gated):
    approval_id = pending(gated.call())
    ALICE.approve(approval_id)
    gated.wait(86_400)
    status, body = BOB.vote(approval_id, "approve")
    assert (status, body["error"]["details"]["reason"]) == (409, "EXPIRED")
    answer = gated.call()
    assert code(answer) == "APPROVAL_EXPIRED"
    assert answer["error"]["details"]["reason"] == "NOT_DECIDED"


def test_what_is_not_acted_on_in_time_expires(gated):
    approval_id = pending(gated.call())
    ALICE.approve(approval_id)
    BOB.approve(approval_id)
    gated.wait(14_400)
    answer = gated.call()
    assert code(answer) == "APPROVAL_EXPIRED"
    assert answer["error"]["details"]["reason"] == "NOT_EXECUTED"
    assert count() == 0


def test_an_approval_is_used_once_even_when_the_record_of_the_call_is_long_gone(gated):
    approval_id = pending(gated.call())
    ALICE.approve(approval_id)
    BOB.approve(approval_id)
    assert gated.code() == "OK"
    # A day later the record has expired, so the key is free again; the approval is not.
    gated.wait(2 * 86_400)
    answer = gated.call()
    assert code(answer) == "APPROVAL_EXPIRED"
    assert answer["error"]["details"]["reason"] == "USED"
    assert count() == 1


def test_an_approval_that_goes_while_the_tool_works_stops_it(gated):
    approval_id = pending(gated.call())
    ALICE.approve(approval_id)
    BOB.approve(approval_id)
    late = gated.made(before_commit=lambda: CAROL.deny(approval_id, "stop"))
    assert gated.code(handler=late) == "APPROVAL_DENIED"
    assert count() == 0


def test_a_caller_without_a_name_cannot_ask_anybody(gated):
    for subject in ("Dana Scully", "d", "дана", "dana\u00a0"):
        answer = gated.call(Agent(subject=subject))
        assert answer["error"]["details"] == {"reason": "SUBJECT_REQUIRED", "keySpent": False}
    assert aws.dynamodb().scan(TableName=APPROVALS_TABLE)["Items"] == []


def test_an_approved_call_makes_one_transaction_more_than_none(gated, aws_calls):
    approval_id = pending(gated.call())
    ALICE.approve(approval_id)
    BOB.approve(approval_id)
    aws_calls.clear()
    gated.call()
    assert aws_calls.count("TransactWriteItems") == 1


def test_of_sixteen_executions_at_once_one_has_the_effect(gated):
    approval_id = pending(gated.call())
    ALICE.approve(approval_id)
    BOB.approve(approval_id)
    start, answers = Barrier(16), []

    def run():
        start.wait()
        answers.append(gated.call())

    threads = [Thread(target=run) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count() == 1
    assert sum(answer["ok"] and not answer["skippedAsDuplicate"] for answer in answers) == 1
    assert {code(answer) for answer in answers} <= {"OK", "IN_PROGRESS"}
    assert [row["sk"]["S"] for row in rows("AUD", approval_id)][-1] == "EVENT#000004"


@pytest.mark.parametrize("surface", ["direct", "gateway", "bedrock"])
def test_the_identical_call_resumes_on_every_surface(gated, surface):
    from tests.functions.approvals.conftest import GATED

    approval_id = pending(gated.call())
    ALICE.approve(approval_id)
    BOB.approve(approval_id)
    answer = Agent().call(GATED, args(), gated.made(), surface)
    assert code(answer) == "OK"
