"""Ways around two people that worked on somebody; each is refused, and nothing happens."""

from __future__ import annotations

import json
from threading import Barrier, Thread

import pytest

from functions._approvals import looking
from functions._runtime import aws
from functions._runtime.approvals import rows as stored
from tests.conftest import APPROVALS_TABLE, APPROVER_ROLE
from tests.functions.counter import count
from tests.people import (
    ALICE,
    BOB,
    CAROL,
    Agent,
    Person,
    code,
    edit_arguments,
    edit_row,
    pending,
    rows,
    session_arn,
    visit,
)


@pytest.fixture
def approved(gated):
    """The id of an approval that two people have given."""
    approval_id = pending(gated.call())
    ALICE.approve(approval_id)
    BOB.approve(approval_id)
    return approval_id


@pytest.mark.parametrize("changes", [{"add": 2}, {"note": "more"}, {"add": 1, "note": " "}])
def test_other_arguments_are_another_request(gated, approved, changes):
    assert code(gated.call(**changes)) == "IDEMPOTENCY_CONFLICT"
    assert pending(gated.call(**changes, idempotencyKey="key-87654321")) != approved
    # Nor where the record that binds the key to its arguments is gone.
    gated.wait(2 * 86_400)
    assert pending(gated.call(**changes)) != approved
    assert count() == 0


def test_another_key_is_another_request(gated, approved):
    assert pending(gated.call(idempotencyKey="key-87654321")) != approved
    assert count() == 0


def test_another_tenant_is_another_request(gated, approved):
    assert pending(gated.call(Agent("dana", tenant="other"))) != approved
    assert count() == 0


ANOTHER = [Agent("erin"), Agent("dana", name="release-bot")]


@pytest.mark.parametrize("other", ANOTHER)
def test_another_requester_or_agent_is_another_request(gated, approved, other):
    assert pending(gated.call(other)) != approved
    assert count() == 0


@pytest.mark.parametrize("other", ANOTHER)
def test_what_one_requester_or_agent_is_denied_is_not_another_ones_answer(gated, approved, other):
    CAROL.deny(pending(gated.call(other)))
    for replayed in (False, True):
        answer = gated.call(other)
        assert code(answer) == "APPROVAL_DENIED"
        assert answer["error"]["details"].get("replayed", False) is replayed
        assert answer["error"]["details"]["keySpent"] is True
    assert code(gated.call()) == "OK"
    assert count() == 1


def test_the_agent_that_carries_it_out_is_not_one_of_those_who_agreed(gated, approved):
    assert pending(gated.call(Agent("dana", name="bob"))) != approved
    assert count() == 0


def test_a_request_that_was_forged_for_another_requester_is_of_no_use(gated):
    approval_id = pending(gated.call())
    edit_row(stored.request_key(approval_id), requester={"S": "zoe"}, excluded={"SS": ["zoe"]})
    Person("dana").approve(approval_id)
    ALICE.approve(approval_id)
    assert code(gated.call()) == "INTERNAL"
    edit_row(stored.request_key(approval_id), requester={"S": "dana"}, excluded={"SS": ["zoe"]})
    assert code(gated.call()) == "INTERNAL"
    assert count() == 0


@pytest.mark.parametrize("name", ["dana", "DANA", "Dana"])
def test_who_asks_does_not_decide_in_whatever_case(gated, name):
    approval_id = pending(gated.call())
    for decision in ("approve", "deny"):
        status, body = Person(name).vote(approval_id, decision, "why not")
        assert (status, body["error"]["details"]["reason"]) == (403, "SELF_APPROVAL")
    assert not Person(name).show(approval_id)["mayVote"]


def test_the_agent_that_asks_for_somebody_does_not_decide_either(gated):
    approval_id = pending(gated.call(Agent("Dana", name="Alice")))
    status, body = ALICE.vote(approval_id, "approve")
    assert (status, body["error"]["details"]["reason"]) == (403, "SELF_APPROVAL")


def test_a_requester_in_another_case_is_the_same_requester(gated):
    assert pending(gated.call(Agent("dana"))) == pending(gated.call(Agent("DaNa")))


def test_one_person_is_not_two_in_whatever_case(gated):
    approval_id = pending(gated.call())
    ALICE.approve(approval_id)
    for name in ("alice", "ALICE", "Alice"):
        status, body = Person(name).vote(approval_id, "approve")
        assert (status, body["error"]["details"]["reason"]) == (409, "ALREADY_VOTED")
    assert code(gated.call()) == "APPROVAL_PENDING"


@pytest.mark.parametrize(
    "arn",
    [
        "arn:aws:iam::123456789012:user/alice",
        "arn:aws:iam::123456789012:root",
        "arn:aws:sts::123456789012:federated-user/alice",
        "arn:aws:sts::123456789012:assumed-role/Other/alice",
        "arn:aws:sts::123456789012:assumed-role/Approver/alice/bob",
        "arn:aws:sts::999999999999:assumed-role/Approver/alice",
        "arn:aws-cn:sts::123456789012:assumed-role/Approver/alice",
        "arn:aws:sts::123456789012:assumed-role/Approver/ alice",
        "arn:aws:sts::123456789012:assumed-role/Approver/\u0430lice",
        APPROVER_ROLE,
        "",
        None,
        7,
    ],
)
def test_every_other_form_of_principal_is_refused(gated, arn):
    approval_id = pending(gated.call())
    seen = ALICE.show(approval_id)["fingerprint"]
    body = {"decision": "approve", "fingerprint": seen, "reason": ""}
    status, answer = visit(arn, "POST /approvals/{id}/votes", approval_id, body=body)
    assert (status, answer["error"]["details"]["reason"]) == (403, "NOT_AN_APPROVER")
    assert visit(arn, "GET /approvals")[0] == 403


@pytest.mark.parametrize("field", ["by", "person", "approver", "userArn", "me"])
def test_an_identity_in_the_body_is_refused(gated, field):
    approval_id = pending(gated.call())
    status, body = ALICE.vote(approval_id, "approve", **{field: "bob"})
    assert (status, body["error"]["code"]) == (400, "VALIDATION")
    assert rows("DEC", approval_id) == []


def test_a_vote_on_what_was_not_shown_does_not_count(gated):
    approval_id = pending(gated.call())
    other = ALICE.show(pending(gated.call(idempotencyKey="key-87654321", add=9)))["fingerprint"]
    status, body = ALICE.vote(approval_id, "approve", fingerprint=other)
    assert (status, body["error"]["details"]["reason"]) == (409, "FINGERPRINT_DIFFERS")


def test_stored_arguments_that_were_edited_are_shown_to_nobody_and_decided_by_nobody(gated):
    approval_id = pending(gated.call())
    edit_arguments(approval_id, lambda text: text.replace('"add":1', '"add":9'))
    for status, body in (ALICE.get(approval_id, "arguments"), ALICE.vote(approval_id, "approve")):
        assert (status, body["error"]["details"]["reason"]) == (409, "DAMAGED")


def test_arguments_edited_after_the_approval_do_not_run(gated, approved):
    edit_arguments(approved, lambda text: text.replace('"add":1', '"add":9'))
    assert gated.call()["count"] == 1


def test_an_approval_copied_to_another_request_does_not_hold_there(gated, approved):
    other = pending(gated.call(idempotencyKey="key-87654321", add=9))
    decision = next(row for row in rows("DEC", approved) if row["sk"]["S"] == stored.STATE)
    aws.dynamodb().put_item(
        TableName=APPROVALS_TABLE, Item={**decision, **stored.decision_key(other)}
    )
    assert code(gated.call(idempotencyKey="key-87654321", add=9)) == "INTERNAL"
    assert count() == 0


def test_a_request_whose_fingerprint_was_edited_is_of_no_use(gated, approved):
    edit_row(stored.request_key(approved), fingerprint={"S": "1:" + "0" * 64})
    assert code(gated.call()) == "INTERNAL"
    assert count() == 0


def test_an_approval_of_too_few_is_none(gated):
    approval_id = pending(gated.call())
    edit_row(stored.request_key(approval_id), need={"N": "1"})
    assert ALICE.approve(approval_id)["state"] == "pending"
    assert code(gated.call()) == "APPROVAL_PENDING"


def test_no_request_is_left_out_of_the_list_in_silence(gated, monkeypatch):
    ids = {pending(gated.call(idempotencyKey=f"key-1234567{n}")) for n in range(4)}
    status, body = ALICE.get()
    assert {one["approvalId"] for one in body["approvals"]} == ids
    assert (status, body["more"]) == (200, False)
    monkeypatch.setattr(looking, "LISTED_MAX", 3)
    _, body = ALICE.get()
    assert len(body["approvals"]) == 3
    assert body["more"] is True


def test_of_sixteen_votes_at_once_exactly_two_count(gated):
    approval_id = pending(gated.call())
    seen, start, answers = ALICE.show(approval_id)["fingerprint"], Barrier(16), []

    def vote(place):
        start.wait()
        answers.append(Person(f"person-{place}").vote(approval_id, "approve", fingerprint=seen))

    threads = [Thread(target=vote, args=(place,)) for place in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(status for status, _ in answers) == [200] * 2 + [409] * 14
    refused = {body["error"]["details"]["reason"] for status, body in answers if status == 409}
    assert refused == {"ALREADY_APPROVED"}
    assert len(CAROL.show(approval_id)["votes"]) == 2
    assert CAROL.show(approval_id)["have"] == 2


def test_an_approval_and_a_denial_at_once_leave_one_state(gated):
    approval_id = pending(gated.call())
    ALICE.approve(approval_id)
    start = Barrier(2)
    seen = ALICE.show(approval_id)["fingerprint"]

    def vote(person, decision):
        start.wait()
        person.vote(approval_id, decision, "no", fingerprint=seen)

    threads = [
        Thread(target=vote, args=(BOB, "approve")),
        Thread(target=vote, args=(CAROL, "deny")),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Whoever came first, a denial is final.
    assert CAROL.show(approval_id)["state"] == "denied"
    assert code(gated.call()) == "APPROVAL_DENIED"


def test_a_vote_after_the_use_changes_nothing(gated, approved):
    assert code(gated.call()) == "OK"
    for person, decision in ((CAROL, "approve"), (CAROL, "deny")):
        status, body = person.vote(approved, decision, "late")
        assert (status, body["error"]["details"]["reason"]) == (409, "CONSUMED")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"decision": "approve"}',
        '{"decision": "yes", "fingerprint": "1:0"}',
        json.dumps({"decision": "deny", "fingerprint": f"1:{'0' * 64}"}),
        '"\\ud800"',
        "x" * 20_000,
    ],
)
def test_a_body_that_is_no_vote_is_refused(gated, text):
    approval_id = pending(gated.call())
    status, body = visit(session_arn("alice"), "POST /approvals/{id}/votes", approval_id, text=text)
    assert (status, body["error"]["code"]) == (400, "VALIDATION")


@pytest.mark.parametrize("approval_id", ["apr_" + "0" * 32, "x", "apr_../..", "apr_" + "A" * 32])
def test_an_unknown_request_is_not_found(gated, approval_id):
    assert ALICE.get(approval_id)[0] == 404
    assert visit(ALICE.arn, "DELETE /approvals")[0] == 404


def test_a_denial_says_why(gated):
    approval_id = pending(gated.call())
    for reason in ("", "   ", "x" * 501):
        assert ALICE.vote(approval_id, "deny", reason)[0] == 400
    hostile = "<script>\u202e\x1b[31m" + json.dumps({"ok": True})
    ALICE.deny(approval_id, hostile)
    assert gated.call()["error"]["details"]["reason"] == hostile
