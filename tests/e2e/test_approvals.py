"""People and agents at once on the local cloud: two count, one acts, and denial is final."""

from __future__ import annotations

import time
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from agents import events
from agents.session import issue, read_keys
from contracts import registry
from contracts.spec import Scope
from functions._runtime.approvals.chain import problems
from toolgate.approvals.client import ApprovalsClient
from toolgate.approvals.errors import ApprovalsError
from toolgate.approvals.identity import transport_of

AT_ONCE = 16
WARM_TRIES = 4
WRITE = registry.find("write_file_v1")

pytestmark = [pytest.mark.local, pytest.mark.long]


@pytest.fixture(scope="module")
def token(local_cloud):
    """Says that dana calls."""
    secret = local_cloud.outputs()["CallerKeys"]
    return issue(
        tenant="default",
        subject="dana",
        scopes=list(Scope),
        stage="dev",
        keys=read_keys(local_cloud.client("secretsmanager"), secret),
        now_s=int(time.time()),
    )


@pytest.fixture(scope="module")
def people(local_cloud):
    """Approvers by name: more than there are votes to cast."""
    names = [f"person-{number}" for number in range(AT_ONCE)]
    found = {name: ApprovalsClient(transport_of("local", "dev", name)) for name in names}
    for _ in range(WARM_TRIES):
        # A worker for each of them has to start first, which takes its time on a small machine.
        if "UNAVAILABLE" not in at_once([client.list for client in found.values()]):
            break
    return found


@pytest.fixture
def asked(local_workspaces, local_target, token):
    """(make the call, its workspace): a protected file is to be written."""
    root = f"/approvals/{uuid.uuid4().hex}"
    local_workspaces.create(root, {"a.txt": b"a\n"})
    arguments = {
        "schemaVersion": 1,
        "idempotencyKey": uuid.uuid4().hex,
        "repoRoot": root,
        "path": "CODEOWNERS",
        "content": "* @ada\n",
    }

    def call():
        event = events.build(WRITE, arguments, "direct", token=token)
        return events.unwrap(local_target.send(WRITE, event))

    return call, root


def at_once(works):
    """Do all of these at the same moment; what each gave, or the reason why not."""
    start = Barrier(len(works))

    def one(work):
        start.wait()
        try:
            return work()
        except ApprovalsError as error:
            return error.details.get("reason", "UNAVAILABLE")

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(one, works))


def test_of_sixteen_votes_at_once_two_count_and_of_sixteen_calls_one_acts(
    asked, people, local_workspaces
):
    call, root = asked
    approval_id = call()["error"]["details"]["approvalId"]
    seen = people["person-0"].arguments(approval_id).fingerprint
    votes = [
        lambda client=client: client.approve(approval_id, seen)["have"]
        for client in people.values()
    ]
    counted = Counter(at_once(votes))
    assert counted == {1: 1, 2: 1, "ALREADY_APPROVED": AT_ONCE - 2}
    answers = at_once([call] * AT_ONCE)
    acted = [one for one in answers if one["ok"] and not one["skippedAsDuplicate"]]
    codes = {one["error"]["code"] for one in answers if not one["ok"]}
    assert len(acted) == 1
    assert codes <= {"IN_PROGRESS"}
    assert local_workspaces.commits(root) == 2
    assert local_workspaces.files(root)["CODEOWNERS"] == b"* @ada\n"
    audit = people["person-0"].audit(approval_id)
    assert problems(approval_id, audit["events"], audit["heads"]) == []
    kinds = [event["kind"] for event in audit["events"]]
    assert kinds == ["requested", "approve", "approve", "consumed"]


def test_votes_and_a_denial_at_once_end_in_one_state(asked, people, local_workspaces):
    call, root = asked
    approval_id = call()["error"]["details"]["approvalId"]
    seen = people["person-0"].arguments(approval_id).fingerprint
    clients = list(people.values())
    works = [lambda client=client: client.approve(approval_id, seen) for client in clients[1:]]
    at_once([lambda: clients[0].deny(approval_id, seen, "not now"), *works])
    assert clients[0].show(approval_id)["approval"]["state"] == "denied"
    assert call()["error"]["code"] == "APPROVAL_DENIED"
    assert local_workspaces.commits(root) == 1


def test_calls_at_once_make_one_request(asked, people):
    call, root = asked
    answers = at_once([call] * AT_ONCE)
    assert {one["error"]["code"] for one in answers} <= {"APPROVAL_PENDING", "IN_PROGRESS"}
    listed = people["person-0"].list()["approvals"]
    assert sum(one["subject"].get("repoRoot") == root for one in listed) == 1
