"""Every fault at every call of every scenario, until the call is done, and what came of it."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from agents import events
from agents.targets import InProcessTarget
from contracts import registry
from functions._approvals import handler as desk
from functions._runtime import aws, call, settings, tool
from functions._runtime.approvals.chain import problems
from functions._runtime.workspace import FileWrite
from functions._runtime.workspace.edits import change_tree
from functions._runtime.workspace.heads import Commit, WorkspaceName, commit_items
from tests import conftest
from tests.faults.injector import Crash, Fault, Injector
from tests.faults.scenarios import BEFORE, Scenario
from tests.people import ALICE, BOB, Agent, keys_secret, pages
from tests.workspaces import StoredWorkspaces

ATTEMPTS_MAX = 6
LEASE_MS = 20_000
"""Longer than any lease of a tool with a timeout of 15 s."""


@dataclass(frozen=True)
class Row:
    """One injected fault and its end; `problems` is empty if the promise was kept."""

    scenario: str
    tool: str
    number: int
    operation: str
    fault: Fault
    attempts: int
    effects: int
    problems: tuple[str, ...]


def discover(scenario: Scenario, workspaces: StoredWorkspaces) -> list[str]:
    """The AWS calls of a clean run: a call that is new to a tool is found here by itself."""
    injector = Injector()
    _play(scenario, workspaces, injector)
    return injector.calls


def run(
    scenario: Scenario, workspaces: StoredWorkspaces, faults: tuple[Fault, ...] = tuple(Fault)
) -> Iterator[Row]:
    """Inject each fault at each call of the scenario."""
    for number, operation in enumerate(discover(scenario, workspaces)):
        for fault in faults:
            # moto copies whole tables for every transaction: they are kept small.
            conftest.delete_tables()
            conftest.create_tables()
            yield inject(scenario, workspaces, number, operation, fault)


def inject(
    scenario: Scenario, workspaces: StoredWorkspaces, number: int, operation: str, fault: Fault
) -> Row:
    """One fault at one call; then the identical call again until it is done."""
    attempts, root, answers = _play(scenario, workspaces, Injector(number, fault))
    commits = workspaces.commits(root) - 1
    rivals = 1 if scenario.rival else 0
    problems = list(_problems(scenario, workspaces, root, answers))
    return Row(
        scenario.name,
        scenario.tool,
        number,
        operation,
        fault,
        attempts,
        commits - rivals,
        tuple(problems),
    )


def _play(
    scenario: Scenario, workspaces: StoredWorkspaces, injector: Injector
) -> tuple[int, str, list[dict[str, Any]]]:
    """(attempts until done, the workspace, every answer in order: the replay's is the last)."""
    root = f"/faults/{uuid.uuid4().hex}"
    workspaces.create(root, BEFORE)
    arguments = scenario.arguments(root, workspaces.snapshot(root).revision)
    clock = _Clock()
    people = _People(scenario, injector)
    injector.before_call = _rival(scenario, workspaces, root, people)
    with faulty(injector), people.clocked(clock):
        attempts, first = _until_done(scenario, arguments, clock, people)
        _, replays = _until_done(scenario, arguments, clock, people)
    return attempts, root, [*first, *replays]


def _until_done(
    scenario: Scenario, arguments: dict[str, Any], clock: _Clock, people: _People
) -> tuple[int, list[dict[str, Any]]]:
    """Make the identical call until its answer is final: (attempts, the answers given)."""
    answers = []
    attempts = 0
    while attempts < ATTEMPTS_MAX:
        attempts += 1
        answer = _attempt(scenario, arguments, people.token())
        if answer is not None:
            answers.append(answer)
            if not _is_retryable(answer):
                break
            people.decide(answer)
        clock.forward_ms += LEASE_MS
    return attempts, answers


def _attempt(
    scenario: Scenario, arguments: dict[str, Any], token: str | None
) -> dict[str, Any] | None:
    """The answer of one call, or None if its process died."""
    spec = registry.find(scenario.tool)
    call.forget()
    try:
        sent = events.build(spec, arguments, "direct", token=token)
        return events.unwrap(InProcessTarget().send(spec, sent))
    except Crash:
        return None


def _problems(
    scenario: Scenario, workspaces: StoredWorkspaces, root: str, answers: list[dict[str, Any]]
) -> Iterator[str]:
    final = [answer for answer in answers if not _is_retryable(answer)]
    if not final:
        yield "the call was never done"
        return
    if workspaces.files(root) != scenario.after:
        yield "the workspace is not what the call asked for"
    rows = workspaces.log(root)
    if len(rows) - 1 != scenario.commits or workspaces.commits(root) != len(rows):
        yield f"{len(rows) - 1} rows of history, not {scenario.commits}"
    codes = {None if a["ok"] else a["error"]["code"] for a in final}
    if codes != {scenario.code}:
        yield f"answered {codes}"
    if len({_essence(answer) for answer in final}) != 1:
        yield "the replay's answer is not the first one's"
    if not _says_replayed(final[-1]):
        yield "the replay does not say that it is one"
    manifests = aws.s3().list_objects_v2(Bucket=conftest.RELEASES_BUCKET, Prefix="releases/")
    mine = [one for one in manifests.get("Contents", []) if _of(root, one["Key"])]
    if len(mine) != scenario.releases:
        yield f"{len(mine)} manifests, not {scenario.releases}"
    if scenario.gated:
        yield from _audit_problems(scenario)


def _of(root: str, key: str) -> bool:
    body = aws.s3().get_object(Bucket=conftest.RELEASES_BUCKET, Key=key)["Body"]
    return bool(json.loads(body.read())["repoRoot"] == root)


def _audit_problems(scenario: Scenario) -> Iterator[str]:
    """One request, told of, with an audit that is whole and says what happened."""
    _, listed = ALICE.get()
    if len(listed["approvals"]) != 1:
        yield f"{len(listed['approvals'])} requests, not 1"
        return
    (approval,) = listed["approvals"]
    _, audit = ALICE.get(approval["approvalId"], "audit")
    yield from problems(audit["approvalId"], audit["events"], audit["heads"])
    used = [event["kind"] for event in audit["events"]].count("consumed")
    if used != int(scenario.code is None):
        yield f"the approval was used {used} times"
    told = sum(page["approvalId"] == approval["approvalId"] for page in pages())
    if not 1 <= told <= 2:
        yield f"people were told {told} times"


def _is_retryable(answer: dict[str, Any]) -> bool:
    return not answer["ok"] and bool(answer["error"]["retryable"])


def _says_replayed(answer: dict[str, Any]) -> bool:
    if answer["ok"]:
        return bool(answer["skippedAsDuplicate"])
    return answer["error"]["details"].get("replayed") is True


def _essence(answer: dict[str, Any]) -> str:
    """An answer without the words that tell a replay."""
    if answer["ok"]:
        return repr(sorted((k, v) for k, v in answer.items() if k != "skippedAsDuplicate"))
    error = answer["error"]
    details = {k: v for k, v in error["details"].items() if k != "replayed"}
    return repr((error["code"], error["message"], sorted(details)))


def _rival(scenario: Scenario, workspaces: StoredWorkspaces, root: str, people: _People) -> Any:
    """Moves the head once, right before the first transaction that is to move it."""
    moved: list[int] = []

    def act(number: int, operation: str) -> None:
        if scenario.gated and not people.asked:
            return
        if scenario.rival and operation == "TransactWriteItems" and not moved:
            moved.append(number)
            _commit_directly(workspaces, root, scenario.rival)

    return act


def _commit_directly(workspaces: StoredWorkspaces, root: str, files: dict[str, bytes]) -> None:
    snapshot = workspaces.snapshot(root)
    writes = [FileWrite(path, data) for path, data in files.items()]
    change = change_tree(snapshot.read_tree, snapshot.tree, writes)
    name = WorkspaceName("default", root)
    store = workspaces.objects(root)
    store.write(change.blobs)
    store.write(change.trees)
    commit = Commit(change.root, snapshot.head, "rival", "rival", "rival", 0, "rival", [])
    items = commit_items(workspaces.stores, name, commit)
    workspaces.stores.dynamodb.transact_write_items(TransactItems=items)


class _Clock:
    """The real time, and what was waited: leases run out without anybody waiting."""

    def __init__(self) -> None:
        self.forward_ms = 0
        self._real = tool.now_ms

    def __call__(self) -> int:
        return self._real() + self.forward_ms


@dataclass
class _People:
    """Whom a gated call waits for; their own calls of AWS never fail."""

    scenario: Scenario
    injector: Injector
    asked: set[str] = field(default_factory=set)

    def token(self) -> str | None:
        """Says for whom the call is made."""
        return Agent().token() if self.scenario.gated else None

    def decide(self, answer: dict[str, Any]) -> None:
        """Say what the scenario has people say, once."""
        approval_id = answer["error"].get("details", {}).get("approvalId")
        if answer["error"]["code"] != "APPROVAL_PENDING" or approval_id in self.asked:
            return
        if not any(page["approvalId"] == approval_id for page in pages()):
            # Who was not told decides nothing; the next attempt tells them.
            return
        self.asked.add(approval_id)
        self.injector.paused = True
        if self.scenario.code == "APPROVAL_DENIED":
            ALICE.deny(approval_id)
        else:
            ALICE.approve(approval_id)
            BOB.approve(approval_id)
        self.injector.paused = False

    @contextmanager
    def clocked(self, clock: _Clock) -> Iterator[None]:
        """Everybody by one clock, in a stage that takes tokens if one is needed."""
        named = {"CALLER_KEYS_SECRET": keys_secret()} if self.scenario.gated else {}
        with (
            mock.patch.object(tool, "now_ms", clock),
            mock.patch.object(desk, "now", clock),
            mock.patch.dict(os.environ, named),
        ):
            settings.forget()
            yield
        settings.forget()


@contextmanager
def faulty(injector: Injector) -> Iterator[None]:
    """The runtime's clients under the injector."""
    dynamodb, s3 = injector.wrap(aws.dynamodb()), injector.wrap(aws.s3())
    sns = injector.wrap(aws.sns())
    with (
        mock.patch.object(aws, "dynamodb", return_value=dynamodb),
        mock.patch.object(aws, "s3", return_value=s3),
        mock.patch.object(aws, "sns", return_value=sns),
    ):
        yield
