"""A protected path is written once people have agreed to exactly what is written."""

from __future__ import annotations

import uuid

import pytest

from contracts.apply_patch.v1 import SPEC as PATCH_V1
from contracts.apply_patch.v2 import SPEC as PATCH
from contracts.write_file.v1 import SPEC as WRITE
from functions._runtime import aws
from tests.conftest import APPROVALS_TABLE, IDEMPOTENCY_TABLE
from tests.people import ALICE, BOB, Agent, clear_bucket, clear_pages, code, make_keys, pending

FLOW = ".github/workflows/ci.yml"
BEFORE = {FLOW: b"on: push\n", "app.py": b"1\n"}


class Project:
    """One workspace, and calls on it for a person."""

    def __init__(self, workspaces):
        self.workspaces, self.root = workspaces, f"/protected/{uuid.uuid4().hex}"
        workspaces.create(self.root, BEFORE)

    @property
    def revision(self):
        return self.workspaces.snapshot(self.root).revision

    def arguments(self, spec, **changes):
        found = {
            "schemaVersion": spec.major,
            "idempotencyKey": uuid.uuid4().hex,
            "repoRoot": self.root,
        }
        return found | changes

    def files(self):
        return self.workspaces.files(self.root)


@pytest.fixture
def project(workspaces, monkeypatch):
    make_keys(monkeypatch)
    clear_bucket()
    clear_pages()
    return Project(workspaces)


def replace_flow(path=FLOW):
    return [{"path": path, "mode": "replace_full", "content": "on: release\n"}]


def agree(approval_id):
    ALICE.approve(approval_id)
    BOB.approve(approval_id)


def test_a_patch_of_a_protected_file_waits_and_is_then_made_once(project):
    asked = project.arguments(PATCH, files=replace_flow(), expectedRevision=project.revision)
    approval_id = pending(Agent().call(PATCH, asked))
    assert project.files() == BEFORE
    agree(approval_id)
    answer = Agent().call(PATCH, asked)
    assert code(answer) == "OK"
    assert project.files()[FLOW] == b"on: release\n"
    assert Agent().call(PATCH, asked) == {**answer, "skippedAsDuplicate": True}
    assert project.workspaces.commits(project.root) == 2
    assert ALICE.show(approval_id)["state"] == "consumed"


def test_a_file_that_is_written_whole_waits_without_an_expected_revision(project):
    asked = project.arguments(WRITE, path="CODEOWNERS", content="* @ada\n")
    agree(pending(Agent().call(WRITE, asked)))
    assert code(Agent().call(WRITE, asked)) == "OK"
    assert project.files()["CODEOWNERS"] == b"* @ada\n"


@pytest.mark.parametrize(
    "files",
    [
        replace_flow(),
        [{"path": FLOW, "mode": "delete"}],
        [{"path": "app.py", "mode": "move", "newPath": ".github/workflows/x.yml"}],
        [{"path": FLOW, "mode": "move", "newPath": "x.yml"}],
        [*replace_flow("CODEOWNERS"), {"path": "app.py", "mode": "delete"}],
    ],
)
def test_every_way_to_change_a_protected_file_waits(project, files):
    asked = project.arguments(PATCH, files=files, expectedRevision=project.revision)
    approval_id = pending(Agent().call(PATCH, asked))
    assert ALICE.show(approval_id)["subject"]["repoRoot"] == project.root
    assert project.files() == BEFORE


def test_without_an_expected_revision_a_patch_of_a_protected_file_is_refused(project):
    answer = Agent().call(PATCH, project.arguments(PATCH, files=replace_flow()))
    assert code(answer) == "VALIDATION"
    assert answer["error"]["details"]["issues"][0]["path"] == "/expectedRevision"
    assert answer["error"]["details"]["keySpent"] is False
    assert aws.dynamodb().scan(TableName=IDEMPOTENCY_TABLE)["Count"] == 0


def test_nobody_agrees_to_a_patch_that_then_lands_on_something_else(project):
    asked = project.arguments(PATCH, files=replace_flow(), expectedRevision=project.revision)
    approval_id = pending(Agent().call(PATCH, asked))
    agree(approval_id)
    other = project.arguments(WRITE, path="app.py", content="2\n", overwrite=True)
    assert code(Agent().call(WRITE, other)) == "OK"
    answer = Agent().call(PATCH, asked)
    assert code(answer) == "CONFLICT"
    assert answer["error"]["details"]["code"] == "REVISION_MOVED"
    assert project.files()[FLOW] == BEFORE[FLOW]
    assert ALICE.show(approval_id)["state"] == "approved"


def test_what_another_person_is_denied_does_not_end_an_approved_call(project):
    asked = project.arguments(WRITE, path="CODEOWNERS", content="* @ada\n")
    agree(pending(Agent().call(WRITE, asked)))
    ALICE.deny(pending(Agent("eve").call(WRITE, asked)))
    assert code(Agent("eve").call(WRITE, asked)) == "APPROVAL_DENIED"
    assert code(Agent().call(WRITE, asked)) == "OK"
    assert project.files()["CODEOWNERS"] == b"* @ada\n"


def test_a_dry_run_asks_nobody_and_changes_nothing(project):
    asked = project.arguments(
        PATCH, files=replace_flow(), expectedRevision=project.revision, dryRun=True
    )
    assert code(Agent().call(PATCH, asked)) == "OK"
    assert project.files() == BEFORE
    assert aws.dynamodb().scan(TableName=APPROVALS_TABLE)["Count"] == 0


def test_a_path_that_the_workspace_itself_protects_waits_too(project):
    stores, name = project.workspaces.stores, project.workspaces
    from functions._runtime.workspace.heads import WorkspaceName

    stores.dynamodb.update_item(
        TableName=stores.table,
        Key=WorkspaceName("default", project.root).key("META"),
        UpdateExpression="SET protected = :globs",
        ExpressionAttributeValues={":globs": {"L": [{"S": "app.*"}]}},
    )
    asked = project.arguments(WRITE, path="app.py", content="2\n", overwrite=True)
    agree(pending(Agent().call(WRITE, asked)))
    assert code(Agent().call(WRITE, asked)) == "OK"
    assert name.files(project.root)["app.py"] == b"2\n"


def test_what_is_not_protected_asks_nobody(project):
    asked = project.arguments(WRITE, path="app.py", content="2\n", overwrite=True)
    assert code(Agent().call(WRITE, asked)) == "OK"
    assert aws.dynamodb().scan(TableName=APPROVALS_TABLE)["Count"] == 0


@pytest.mark.parametrize(
    ("spec", "subject"),
    [(PATCH_V1, "dana"), *((spec, "Nobody In Particular") for spec in (PATCH_V1, PATCH, WRITE))],
)
def test_a_version_that_asks_nobody_and_who_has_no_name_change_no_protected_file(
    project, spec, subject
):
    body = {"path": FLOW, "content": "x\n", "overwrite": True}
    if spec.name == "apply_patch":
        body = {"files": replace_flow()}
    answer = Agent(subject=subject).call(spec, project.arguments(spec, **body))
    assert code(answer) == "FORBIDDEN_PATH"
    assert answer["error"]["details"]["reason"] == "PROTECTED"
    assert project.files() == BEFORE
