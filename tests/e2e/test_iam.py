"""Who may do what about approvals, asked of a cloud that enforces IAM, with real credentials.

Every list of refusals stands beside calls that are allowed, so that a principal who may do nothing
at all does not pass. What the emulator's IAM lacks for this, `enforcing_emulator.py` adds as we
understand AWS: an account of AWS's own has not been asked.
"""

from __future__ import annotations

import uuid

import pytest

from contracts import registry
from functions._runtime.approvals import rows
from functions._runtime.workspace import Stores
from tests.e2e.enforcing_calls import (
    ARGUMENTS,
    DECISION,
    DENIED,
    EVENT,
    HEAD,
    PUTS,
    REQUEST,
    VOTE,
    WORKSPACE,
    as_alice,
    assumed,
    by,
    failed,
    invoked,
    refused,
    row,
    s3,
    tools_for,
    voted,
    writes,
)
from tests.e2e.enforcing_cloud import enforcing
from tests.workspaces import StoredWorkspaces
from toolgate.deployed import output_key

pytestmark = [pytest.mark.local, pytest.mark.long]

ASSUME = ["sts:AssumeRole", "sts:SetSourceIdentity"]
FLOW = ".github/workflows/ci.yml"
FILES = {"app.py": b"print(1)\n", FLOW: b"on: push\n"}


@pytest.fixture(scope="module")
def cloud(tmp_path_factory):
    with enforcing(tmp_path_factory.mktemp("cloud")) as made:
        yield made


@pytest.fixture(scope="module")
def names(cloud):
    return cloud.outputs()


@pytest.fixture(scope="module")
def tools(names):
    return {spec.model_name: names[output_key(spec)] for spec in registry.specs()}


@pytest.fixture(scope="module")
def desk(cloud):
    """The function behind the approvals API."""
    pages = cloud.client("lambda").get_paginator("list_functions").paginate()
    listed = [one for page in pages for one in page["Functions"]]
    (found,) = (one["FunctionName"] for one in listed if "_approvals" in one["Handler"])
    return found


@pytest.fixture(scope="module")
def people(cloud, names):
    """Users whose own policy lets them assume the approver role in any way."""
    may = {"Effect": "Allow", "Action": ASSUME, "Resource": names["ApproverRoleArn"]}
    return {name: cloud.user(name, may) for name in ("alice", "bob", "dana")}


@pytest.fixture(scope="module")
def approvers(cloud, names, people):
    """Their sessions of the approver role."""
    role = names["ApproverRoleArn"]
    return {
        name: cloud.session(user, role, name, SourceIdentity=name) for name, user in people.items()
    }


@pytest.mark.parametrize("tool", ["release_publish_v1", "apply_patch_v2"])
def test_code_under_a_tools_role_asks_people_and_cannot_decide_for_them(
    cloud, names, tools, desk, tool
):
    probe = cloud.probe(tools[tool])
    table, bucket = names["ApprovalsTable"], names["ApprovalsBucket"]
    check = {"TableName": table, "Key": DECISION, "ConditionExpression": "attribute_not_exists(x)"}
    both = [{"Put": {"TableName": table, "Item": EVENT}}, {"ConditionCheck": check}]
    assert not failed(
        probe,
        {
            "ask": row("put_item", table, REQUEST),
            "read what is asked": row("get_item", table, REQUEST),
            "read a decision": row("get_item", table, DECISION),
            "act on a decision": ("dynamodb", "transact_write_items", {"TransactItems": both}),
            "read the audit": row("query", table, EVENT),
            "keep arguments": s3("put_object", bucket, ARGUMENTS),
            "publish a hash": s3("put_object", bucket, HEAD),
        },
    )
    others = tools["apply_patch_v2" if tool == "release_publish_v1" else "release_publish_v1"]
    assert not refused(
        probe,
        {
            **writes(names, DECISION, beside=REQUEST),
            **writes(names, VOTE, beside=REQUEST),
            **writes(names, EVENT, beside=REQUEST, left_out=PUTS),
            "withdraw a request": row("delete_item", table, REQUEST),
            "scan": ("dynamodb", "scan", {"TableName": table}),
            "delete a hash": s3("delete_object", bucket, HEAD),
            "delete arguments": s3("delete_object", bucket, ARGUMENTS),
            "write elsewhere": s3("put_object", bucket, "other"),
            "speak as a person": invoked(desk, as_alice(names["ApproverRoleArn"])),
            "call another tool": invoked(others),
            "assume": (
                "sts",
                "assume_role",
                {
                    "RoleArn": names["ApproverRoleArn"],
                    "RoleSessionName": "alice",
                    "SourceIdentity": "alice",
                },
            ),
        },
    )
    status, _ = cloud.http(probe.credentials(), "GET", names["ApprovalsApiId"], "/approvals")
    assert status == 403


def test_a_session_of_an_approver_decides_and_cannot_act(cloud, names, tools, desk, approvers):
    alice = approvers["alice"]
    status, body = cloud.http(alice, "GET", names["ApprovalsApiId"], "/approvals")
    assert (status, body["me"]) == (200, "alice")
    table, bucket = names["ApprovalsTable"], names["ApprovalsBucket"]
    assert not refused(
        by(cloud, alice),
        {
            **{f"invoke {tool}": invoked(function) for tool, function in tools.items()},
            **writes(names, DECISION, beside=DECISION),
            **writes(names, REQUEST, beside=REQUEST),
            "speak as somebody": invoked(desk, as_alice(names["ApproverRoleArn"])),
            "read the table": row("get_item", table, DECISION),
            "release": s3("put_object", names["ReleasesBucket"], "releases/x/manifest.json"),
            "stage": s3("put_object", names["ReleasesBucket"], "staging/x.zip"),
            "write a workspace": row("put_item", names["WorkspaceTable"], WORKSPACE),
            "write an object": s3("put_object", names["WorkspaceBucket"], "t/default/x"),
            "keep arguments": s3("put_object", bucket, ARGUMENTS),
            "publish a hash": s3("put_object", bucket, HEAD),
            "delete a hash": s3("delete_object", bucket, HEAD),
            "sign for a caller": (
                "secretsmanager", "get_secret_value", {"SecretId": names["CallerKeys"]},
            ),
        },
    )  # fmt: skip


def test_code_under_the_humans_side_decides_and_uses_nothing_up(cloud, names, tools, desk):
    probe = cloud.probe(desk)
    table, bucket = names["ApprovalsTable"], names["ApprovalsBucket"]
    check = {"TableName": table, "Key": REQUEST, "ConditionExpression": "attribute_not_exists(x)"}
    vote = [{"ConditionCheck": check}] + [
        {"Put": {"TableName": table, "Item": key}} for key in (DECISION, VOTE, EVENT)
    ]
    opened = {
        "TableName": table,
        "IndexName": "open",
        "KeyConditionExpression": "kind = :kind",
        "ExpressionAttributeValues": {":kind": {"S": rows.KIND}},
    }
    assert not failed(
        probe,
        {
            "list": ("dynamodb", "query", opened),
            "read what is asked": row("get_item", table, REQUEST),
            "decide": row("put_item", table, DECISION),
            "vote": ("dynamodb", "transact_write_items", {"TransactItems": vote}),
            "read votes": row("query", table, DECISION),
            "publish a hash": s3("put_object", bucket, HEAD),
        },
    )
    assert not refused(
        probe,
        {
            **writes(names, REQUEST, beside=DECISION),
            **writes(names, DECISION, beside=VOTE, left_out=PUTS),
            **writes(names, EVENT, beside=DECISION, left_out=PUTS),
            "scan": ("dynamodb", "scan", {"TableName": table}),
            "release": s3("put_object", names["ReleasesBucket"], "releases/x/manifest.json"),
            "stage": s3("put_object", names["ReleasesBucket"], "staging/x.zip"),
            "write a workspace": row("put_item", names["WorkspaceTable"], WORKSPACE),
            "write an object": s3("put_object", names["WorkspaceBucket"], "t/default/x"),
            "forge arguments": s3("put_object", bucket, ARGUMENTS),
            "delete a hash": s3("delete_object", bucket, HEAD),
            "act": invoked(tools["release_publish_v1"]),
            "sign for a caller": (
                "secretsmanager", "get_secret_value", {"SecretId": names["CallerKeys"]},
            ),
        },
    )  # fmt: skip


def test_a_user_is_an_approver_by_their_own_name_only(cloud, names, people, approvers):
    role = names["ApproverRoleArn"]
    told = cloud.client("sts", approvers["alice"]).get_caller_identity()["Arn"]
    assert told.endswith("/alice")
    for name, more in (
        ("bob", {"SourceIdentity": "bob"}),
        ("bob", {"SourceIdentity": "alice"}),
        ("alice", {"SourceIdentity": "bob"}),
        ("ALICE", {"SourceIdentity": "ALICE"}),
        ("alice", {}),
    ):
        assert assumed(cloud, people["alice"], role, name, **more) in DENIED, (name, more)
    assert (
        assumed(cloud, cloud.user("mallory"), role, "mallory", SourceIdentity="mallory") in DENIED
    )


def test_a_session_of_another_role_is_no_approver_whatever_it_is_called(cloud, names):
    role = names["ApproverRoleArn"]
    call = {"Effect": "Allow", "Action": "execute-api:Invoke", "Resource": "*"}
    assume = {"Effect": "Allow", "Action": ASSUME, "Resource": "*"}
    other = cloud.role("deployer", assume, call)
    eve = cloud.user("eve", assume, call)
    alice = cloud.session(eve, other, "alice")
    assert assumed(cloud, alice, role, "alice", SourceIdentity="alice") in DENIED
    for who in (eve, alice):
        # IAM lets them call the API; the API knows that they are no approvers.
        status, body = cloud.http(who, "GET", names["ApprovalsApiId"], "/approvals")
        assert (status, body["error"]["details"]["reason"]) == (403, "NOT_AN_APPROVER")
    assert cloud.http(None, "GET", names["ApprovalsApiId"], "/approvals")[0] == 403


@pytest.fixture(scope="module")
def workspaces(cloud, names):
    stores = Stores(
        cloud.client("dynamodb"),
        cloud.client("s3"),
        names["WorkspaceTable"],
        names["WorkspaceBucket"],
    )
    return StoredWorkspaces(stores)


@pytest.fixture(scope="module")
def dana(cloud, names, tools):
    """Calls of tools on dana's behalf, by a service that may sign tokens and invoke tools."""
    service = cloud.user(
        "service",
        {"Effect": "Allow", "Action": "lambda:InvokeFunction", "Resource": "*"},
        {
            "Effect": "Allow",
            "Action": "secretsmanager:GetSecretValue",
            "Resource": names["CallerKeys"],
        },
    )
    return tools_for("dana", cloud, names, tools, service)


@pytest.fixture
def agreed(cloud, names, approvers):
    """Have alice and bob agree to a request, once each, and not dana, who asked."""

    def agree(approval_id):
        told = voted(cloud, names["ApprovalsApiId"], approvers, approval_id, "dana alice alice bob")
        assert [status for status, _ in told] == [403, 200, 409, 200]
        assert told[-1][1]["approval"]["state"] == "approved"

    return agree


def test_a_release_is_published_once_when_two_others_agree(cloud, names, dana, agreed, workspaces):
    root = f"/iam/{uuid.uuid4().hex}"
    workspaces.create(root, FILES)
    written = dana(
        "write_file_v1", root, idempotencyKey=uuid.uuid4().hex, path="new.txt", content="new\n"
    )
    read = dana("read_file_v1", root, path="new.txt")
    assert read.get("revision") == written["revision"], read
    asked = {
        "idempotencyKey": uuid.uuid4().hex,
        "revision": written["revision"],
        "name": "app",
        "version": "1.0.0",
    }
    waiting = dana("release_publish_v1", root, **asked)["error"]
    assert waiting["code"] == "APPROVAL_PENDING"
    agreed(waiting["details"]["approvalId"])
    published = dana("release_publish_v1", root, **asked)
    assert not published["skippedAsDuplicate"]
    replayed = dana("release_publish_v1", root, **asked)
    assert replayed == {**published, "skippedAsDuplicate": True}
    listed = cloud.client("s3").list_objects_v2(Bucket=names["ReleasesBucket"], Prefix="releases/")
    assert [each["Key"] for each in listed["Contents"]] == [published["manifestKey"]]


def test_a_patch_of_a_protected_file_is_made_once_when_two_others_agree(dana, agreed, workspaces):
    root = f"/iam/{uuid.uuid4().hex}"
    workspaces.create(root, FILES)
    asked = {
        "idempotencyKey": uuid.uuid4().hex,
        "expectedRevision": workspaces.snapshot(root).revision,
        "files": [{"path": FLOW, "mode": "replace_full", "content": "on: release\n"}],
    }
    waiting = dana("apply_patch_v2", root, **asked)["error"]
    assert waiting["code"] == "APPROVAL_PENDING"
    assert workspaces.files(root) == FILES
    agreed(waiting["details"]["approvalId"])
    made = dana("apply_patch_v2", root, **asked)
    assert not made["skippedAsDuplicate"]
    assert dana("apply_patch_v2", root, **asked) == {**made, "skippedAsDuplicate": True}
    assert workspaces.files(root) == {**FILES, FLOW: b"on: release\n"}
    assert workspaces.commits(root) == 2
