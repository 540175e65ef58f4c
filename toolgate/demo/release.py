"""The part of the story where people decide: a release is asked for, denied, agreed to and made."""

from __future__ import annotations

import secrets
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.events import Session
from agents.session import issue, read_keys
from contracts.caller import ARGUMENT
from contracts.spec import Scope
from toolgate import workspace
from toolgate.approvals.client import ApprovalsClient
from toolgate.approvals.identity import transport_of
from toolgate.demo.stage import fresh_key
from toolgate.demo.steps import Step
from toolgate.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agents.bedrock_local import Turn
    from toolgate.demo.stage import Stage

RELEASE, WRITE = "release_publish_v1", "write_file_v1"
REQUESTER = "dana"
APPROVERS = ("alice", "bob")
REASON = "not without release notes"
NOTES = "# Release notes\n\nThe pages of the project, as an agent has put them together.\n"


def told(stage: Stage, repository: Path) -> Iterator[Step]:
    """An agent acts for dana, in a session whose token says so: on a workspace of the docs."""
    session, root = _session(stage), f"{stage.repo_root}-docs"
    pushed = _pushed(stage, repository / "docs", root)

    def asked(
        id_: str, title: str, arguments: dict[str, Any], tool: str = RELEASE
    ) -> tuple[Step, Turn]:
        turn = stage.choose_in(session, tool, repoRoot=root, **arguments)
        return Step(id_, title, tool, _shown(turn.event), turn.result, stage.commits()), turn

    first = _arguments(pushed, "1.0.0")
    step, turn = asked(
        "release-asked", f"For {REQUESTER}, it asks for a release of the docs", first
    )
    yield step
    yield _decided(stage, turn, "carol", REASON)
    step, _ = asked("release-denied", "It repeats the call, and is told why not", first)
    yield step

    notes = {"path": "NOTES.md", "content": NOTES, "idempotencyKey": fresh_key()}
    step, turn = asked("release-notes", "It writes what was missing", notes, WRITE)
    yield step
    second = _arguments(turn.result["revision"], "1.0.1")
    step, turn = asked("release-asked-again", "It asks for the revision that has it", second)
    yield step
    for person in APPROVERS:
        yield _decided(stage, turn, person)
    step, _ = asked("release-published", "It repeats the identical call", second)
    yield step
    step, _ = asked("release-replay", "And once more", second)
    yield step


def _pushed(stage: Stage, folder: Path, root: str) -> str:
    """Push a folder as a workspace of its own; gives its revision."""
    with tempfile.TemporaryDirectory(prefix="toolgate-demo-") as place:
        copy = Path(place) / "docs"
        shutil.copytree(folder, copy)
        pushed = workspace.push(
            stage.stores,
            copy,
            root,
            by=REQUESTER,
            now_ms=time.time_ns() // 1_000_000,
            message="The docs as they are",
        )
    return pushed.revision


def _session(stage: Stage) -> Session:
    """A Bedrock session with dana's token, as a service of yours that knows her would sign it."""
    id_ = secrets.token_hex(8)
    token = issue(
        tenant="default",
        subject=REQUESTER,
        scopes=[Scope.WORKSPACE_READ, Scope.WORKSPACE_WRITE, Scope.RELEASE_PUBLISH],
        stage="dev",
        keys=read_keys(stage.cloud.client("secretsmanager"), stage.outputs["CallerKeys"]),
        now_s=int(time.time()),
        session_id=id_,
    )
    return Session(id=id_, attributes={ARGUMENT: token})


def _arguments(revision: str, version: str) -> dict[str, Any]:
    return {
        "revision": revision,
        "name": "toolgate-docs",
        "version": version,
        "idempotencyKey": fresh_key(),
    }


def _decided(stage: Stage, turn: Turn, person: str, reason: str | None = None) -> Step:
    """One person looks at what the call asks for and says yes, or why not."""
    approval_id = turn.result["error"].get("details", {}).get("approvalId")
    if approval_id is None:
        raise CommandError(f"{RELEASE} did not wait for people: {turn.result['error']['message']}")
    client = ApprovalsClient(transport_of("local", "dev", person))
    statement = client.arguments(approval_id)
    if reason is None:
        summary = client.approve(approval_id, statement.fingerprint)
        title = f"{person.capitalize()} reads what is asked for, and agrees"
    else:
        summary = client.deny(approval_id, statement.fingerprint, reason)
        title = f"{person.capitalize()} reads what is asked for, and denies it"
    result = {"ok": True, "approvalId": approval_id, "state": summary["state"]}
    more = {"by": person, "have": summary["have"], "need": summary["need"], "reason": reason}
    id_ = f"decided-by-{person}"
    return Step(id_, title, "toolgate approvals", None, result, stage.commits(), more)


def _shown(event: dict[str, Any]) -> dict[str, Any]:
    """The event without its token, which is good for a quarter of an hour."""
    attributes = {**event.get("sessionAttributes", {}), ARGUMENT: "left out here"}
    return {**event, "sessionAttributes": attributes}
