"""The API's client, against the real handler: what is checked before anybody sees it."""

from __future__ import annotations

import json
import socket

import pytest
from botocore.credentials import Credentials

from contracts.fingerprint import fingerprint_of
from tests.people import Person, edit_arguments
from tests.toolgate.approvals.scene import BEFORE, WORKFLOW, client_of
from toolgate.approvals import client as module
from toolgate.approvals.client import ApprovalsClient, checked_reason
from toolgate.approvals.errors import (
    ApprovalConflictError,
    ApprovalDamagedError,
    ApprovalForbiddenError,
    ApprovalInvalidError,
    ApprovalNotFoundError,
    ApprovalsError,
    ApprovalsUnavailableError,
)
from toolgate.approvals.review import review
from toolgate.approvals.transport import SignedTransport
from toolgate.errors import CommandError

NOBODY = "apr_" + "0" * 32


class Canned:
    """A transport that gives the same answer to everything."""

    def __init__(self, status, body):
        self.answer = status, body if isinstance(body, bytes) else json.dumps(body).encode()

    def send(self, *_):
        return self.answer


def test_two_people_approve_what_they_were_shown(scene):
    approval_id = scene.replace("step 1: run\n")
    alice, alices = client_of("Alice")
    assert [one["approvalId"] for one in alice.list()["approvals"]] == [approval_id]
    seen = alice.arguments(approval_id)
    assert seen.args["files"][0]["content"] == "step 1: run\n"
    assert alice.before(approval_id, WORKFLOW)["text"] == BEFORE
    assert alice.approve(approval_id, seen.fingerprint)["have"] == 1
    bob, _ = client_of("bob")
    assert bob.approve(approval_id, seen.fingerprint, "looks right")["state"] == "approved"
    (vote,) = alices.votes
    assert vote == {"decision": "approve", "fingerprint": fingerprint_of(seen.text)}
    votes = alice.show(approval_id)["approval"]["votes"]
    assert [(one["by"], one["reason"]) for one in votes] == [("alice", ""), ("bob", "looks right")]


def test_arguments_in_many_parts_are_joined(scene, monkeypatch):
    from functions._approvals import looking

    monkeypatch.setattr(looking, "PART_CHARACTERS", 37)
    alice, desk = client_of("alice")
    seen = alice.arguments(scene.replace("größer\n" * 20))
    assert seen.args["files"][0]["content"] == "größer\n" * 20
    assert len([path for _, path, _, _ in desk.sent if path.endswith("/arguments")]) > 5


def test_arguments_that_the_store_has_changed_are_shown_to_nobody(scene):
    approval_id = scene.replace("good\n")
    edit_arguments(approval_id, lambda text: text.replace("good", "evil"))
    alice, desk = client_of("alice")
    with pytest.raises(ApprovalDamagedError):
        review(alice, approval_id)
    assert desk.votes == []


LIES = (
    lambda text: text.replace("good", "evil"),
    lambda text: text + " ",
    lambda text: text[:-1] + ',"x":1}',
    lambda text: text.replace('"major":2', '"major":3'),
    lambda text: text.replace("good", "\ud800"),
    lambda text: "[" * 100_000,
    lambda text: "",
)


def test_an_api_that_lies_about_the_arguments_is_not_believed(scene):
    """The client computes the fingerprint itself, whatever the API has checked."""
    approval_id = scene.replace("good\n")
    alice, desk = client_of("alice")
    honest = desk.send
    for change in LIES:

        def lying(method, path, query, body, change=change):
            status, answer = honest(method, path, query, body)
            if path.endswith("/arguments"):
                part = json.loads(answer)
                answer = json.dumps({**part, "text": change(part["text"])}).encode()
            return status, answer

        desk.send = lying
        with pytest.raises(ApprovalDamagedError):
            alice.arguments(approval_id)
    desk.send = honest
    assert alice.arguments(approval_id)


def test_the_same_text_under_another_tools_name_is_not_believed(scene):
    approval_id = scene.replace("good\n")
    alice, _ = client_of("alice")
    approval = alice.show(approval_id)["approval"]
    with pytest.raises(ApprovalDamagedError, match="another tool"):
        alice.statement({**approval, "tool": "release.publish@1.0.0"})
    with pytest.raises(ApprovalDamagedError, match="another tool"):
        alice.statement({**approval, "tool": "apply_patch@20.0.0"})


def test_parts_without_end_are_given_up(scene):
    alice, desk = client_of("alice")
    approval = alice.show(scene.replace("good\n"))["approval"]
    endless = iter(range(1, 10_000))
    desk.send = lambda *_: (200, json.dumps({"text": "x", "next": next(endless)}).encode())
    with pytest.raises(ApprovalDamagedError):
        alice.statement(approval)
    assert next(endless) <= module.PARTS_MAX + 1


def refused(error, code, reason, action):
    with pytest.raises(error) as caught:
        action()
    assert (caught.value.code, caught.value.reason) == (code, reason)


def test_every_refusal_of_the_api_has_its_type_code_and_reason(scene):
    approval_id = scene.replace("x\n")
    alice, _ = client_of("alice")
    dana, _ = client_of("dana")
    seen = alice.arguments(approval_id).fingerprint
    refused(ApprovalNotFoundError, "NOT_FOUND", None, lambda: alice.show(NOBODY))
    refused(ApprovalNotFoundError, "NOT_FOUND", None, lambda: alice.show("../../votes"))
    itself = "SELF_APPROVAL"
    refused(ApprovalForbiddenError, "FORBIDDEN", itself, lambda: dana.approve(approval_id, seen))
    other = f"1:{'0' * 64}"
    differs = "FINGERPRINT_DIFFERS"
    refused(ApprovalConflictError, "CONFLICT", differs, lambda: alice.approve(approval_id, other))
    refused(ApprovalInvalidError, "VALIDATION", None, lambda: alice.approve(approval_id, "moon"))
    alice.approve(approval_id, seen)
    voted = "ALREADY_VOTED"
    refused(ApprovalConflictError, "CONFLICT", voted, lambda: alice.approve(approval_id, seen))
    alice.deny(approval_id, seen, "after all")
    refused(ApprovalConflictError, "CONFLICT", "DENIED", lambda: alice.approve(approval_id, seen))


@pytest.mark.parametrize(
    ("status", "body", "error", "code"),
    [
        (403, {"message": "Forbidden"}, ApprovalForbiddenError, "FORBIDDEN"),
        (404, {"message": "Not Found"}, ApprovalNotFoundError, "NOT_FOUND"),
        (429, b"slow down", ApprovalsUnavailableError, "UNAVAILABLE"),
        (500, b"<html>", ApprovalsUnavailableError, "UNAVAILABLE"),
        (503, {"error": {"code": "UNAVAILABLE"}}, ApprovalsUnavailableError, "UNAVAILABLE"),
        (500, {"error": {"code": "INTERNAL"}}, ApprovalsUnavailableError, "INTERNAL"),
        (413, {"error": {"code": "TOO_LARGE"}}, ApprovalsError, "TOO_LARGE"),
        (200, b"[" * 100_000, ApprovalsUnavailableError, "INTERNAL"),
        (200, [], ApprovalsUnavailableError, "INTERNAL"),
    ],
)
def test_whatever_stands_before_the_api_is_understood(status, body, error, code):
    with pytest.raises(error) as caught:
        ApprovalsClient(Canned(status, body)).list()
    assert caught.value.code == code


def test_what_an_error_says_is_safe_to_print():
    body = {"error": {"code": "CONFLICT", "message": "\x1b[2Jgone\u202e", "details": {}}}
    with pytest.raises(ApprovalConflictError) as caught:
        ApprovalsClient(Canned(409, body)).list()
    assert str(caught.value) == "CONFLICT: ⟨ESC⟩[2Jgone⟨U+202E⟩"


def test_a_reason_is_asked_for_and_bounded_before_it_is_sent():
    with pytest.raises(CommandError, match="needs a reason"):
        checked_reason("  ", required=True)
    with pytest.raises(CommandError, match="at most 500 characters; this has 501"):
        checked_reason("x" * 501, required=True)
    assert checked_reason(" no ", required=True) == "no"
    assert checked_reason(None, required=False) is None


def test_a_release_is_reviewed_with_its_history(scene):
    approval_id = scene.release()
    Person("alice").approve(approval_id)
    seen = review(client_of("alice")[0], approval_id)
    assert seen.me == "alice"
    assert [block.title for block in seen.blocks] == ["The release", "What is released"]
    assert seen.blocks[1].said[0] == "The revision holds 3 files."


class Server:
    """A listener on loopback that accepts, reads one request, and does as it is told."""

    def __init__(self, *answers):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.answers, self.requests = list(answers), []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.socket.getsockname()[1]}/base"

    def run(self):
        for answer in self.answers:
            connection, _ = self.socket.accept()
            with connection:
                self.requests.append(connection.recv(65_536).decode())
                connection.sendall(answer)
        self.socket.close()


@pytest.fixture
def serving():
    from threading import Thread

    running = []

    def start(*answers):
        server = Server(*answers)
        running.append(Thread(target=server.run, daemon=True))
        running[-1].start()
        return server

    yield start
    for thread in running:
        thread.join(timeout=5)
        assert not thread.is_alive()


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"


def signed(server):
    return SignedTransport(server.url, Credentials("AKID", "secret", "token"), "eu-west-1")


def test_a_question_is_signed_for_the_api_and_asked_again_when_the_line_breaks(serving):
    server = serving(b"", OK)
    path = "/approvals/apr_1/before"
    assert signed(server).send("GET", path, {"path": "a b/ü&c"}, None) == (200, b"{}")
    first, again = server.requests
    assert first.startswith("GET /base/approvals/apr_1/before?path=a%20b%2F%C3%BC%26c HTTP/1.1")
    for request in (first, again):
        assert "/eu-west-1/execute-api/aws4_request" in request
        assert "X-Amz-Security-Token: token" in request


def test_a_vote_is_sent_once_and_its_loss_is_said_to_be_uncertain(serving):
    server = serving(b"")
    with pytest.raises(ApprovalsUnavailableError, match="your vote may count all the same"):
        signed(server).send("POST", "/approvals/apr_1/votes", {}, b"{}")
    assert len(server.requests) == 1
