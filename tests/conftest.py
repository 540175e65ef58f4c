"""AWS in process: moto behind one lock, fresh tables for each test, no real credentials."""

from __future__ import annotations

import json
import os
import threading
import uuid

import pytest
from hypothesis import settings
from moto import mock_aws
from moto.dynamodb.responses import DynamoHandler

# The same examples in every run: what fails, fails for whoever looks at it next.
settings.register_profile("seeded", derandomize=True, deadline=None)
settings.load_profile("seeded")

IDEMPOTENCY_TABLE = "idempotency"
WORKSPACE_TABLE = "workspace"
WORKSPACE_BUCKET = "workspace-objects"
ORDERS_TABLE = "orders"
RELEASES_BUCKET = "releases"
APPROVALS_TABLE = "approvals"
APPROVALS_BUCKET = "approvals-objects"
APPROVALS_TOPIC = "arn:aws:sns:us-east-1:123456789012:approvals"
APPROVER_ROLE = "arn:aws:iam::123456789012:role/Approver"
APPROVALS = {
    "table": APPROVALS_TABLE,
    "bucket": APPROVALS_BUCKET,
    "topic": APPROVALS_TOPIC,
    "need": 2,
    "approveWithinS": 86_400,
    "executeWithinS": 14_400,
}
ALL_SCOPES = ["orders:read", "release:publish", "workspace:read", "workspace:write"]
BINDINGS = {
    surface: {"tenant": "default", "scopes": ALL_SCOPES}
    for surface in ("bedrock", "gateway", "direct")
}

# moto copies whole tables around a transaction and is not thread-safe: without this lock a losing
# thread erases a winner's commit.
_moto_lock = threading.RLock()
_call_action = DynamoHandler.call_action


def _locked_call_action(self):
    with _moto_lock:
        return _call_action(self)


DynamoHandler.call_action = _locked_call_action


STAGE = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_SESSION_TOKEN": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "TOOLGATE_STAGE": "test",
    "IDEMPOTENCY_TABLE": IDEMPOTENCY_TABLE,
    "WORKSPACE_TABLE": WORKSPACE_TABLE,
    "WORKSPACE_BUCKET": WORKSPACE_BUCKET,
    "ORDERS_TABLE": ORDERS_TABLE,
    "RELEASES_BUCKET": RELEASES_BUCKET,
    "TOOLGATE_BINDINGS": json.dumps(BINDINGS),
    "TOOLGATE_APPROVALS": json.dumps(APPROVALS),
    "APPROVALS_TABLE": APPROVALS_TABLE,
    "APPROVALS_BUCKET": APPROVALS_BUCKET,
    "APPROVALS_NEED": "2",
    "APPROVER_ROLE": APPROVER_ROLE,
    "POWERTOOLS_SERVICE_NAME": "toolgate",
    "POWERTOOLS_METRICS_NAMESPACE": "Toolgate",
    "POWERTOOLS_LOG_LEVEL": "INFO",
}
TABLES = {
    IDEMPOTENCY_TABLE: ("id",),
    WORKSPACE_TABLE: ("pk", "sk"),
    ORDERS_TABLE: ("pk",),
    APPROVALS_TABLE: ("pk", "sk"),
}
OPEN_INDEX = {
    "IndexName": "open",
    "KeySchema": [
        {"AttributeName": "kind", "KeyType": "HASH"},
        {"AttributeName": "approveByMs", "KeyType": "RANGE"},
    ],
    "Projection": {"ProjectionType": "ALL"},
}
BUCKETS = (WORKSPACE_BUCKET, RELEASES_BUCKET, APPROVALS_BUCKET)
FOREIGN = (
    "AWS_PROFILE",
    "AWS_ENDPOINT_URL",
    "CALLER_KEYS_SECRET",
    "POWERTOOLS_IDEMPOTENCY_DISABLED",
)


def create_tables():
    """Make the stage's tables with the runtime's client."""
    from functions._runtime import aws

    for table, keys in TABLES.items():
        attributes = [{"AttributeName": key, "AttributeType": "S"} for key in keys]
        more = {}
        if table == APPROVALS_TABLE:
            attributes.append({"AttributeName": "kind", "AttributeType": "S"})
            attributes.append({"AttributeName": "approveByMs", "AttributeType": "N"})
            more["GlobalSecondaryIndexes"] = [OPEN_INDEX]
        aws.dynamodb().create_table(
            TableName=table,
            KeySchema=[
                {"AttributeName": key, "KeyType": kind}
                for key, kind in zip(keys, ("HASH", "RANGE"), strict=False)
            ],
            AttributeDefinitions=attributes,
            BillingMode="PAY_PER_REQUEST",
            **more,
        )


def create_buckets():
    """Make the stage's buckets and its topic; they outlive the tables."""
    from functions._runtime import aws

    for bucket in BUCKETS:
        aws.s3().create_bucket(Bucket=bucket)
    aws.sns().create_topic(Name=APPROVALS_TOPIC.rpartition(":")[2])


def become_stage():
    """Make this process a stage of its own, outside of pytest."""
    for name in FOREIGN:
        os.environ.pop(name, None)
    os.environ.update(STAGE)


def delete_tables():
    """Drop them with all they hold."""
    from functions._runtime import aws

    for table in TABLES:
        aws.dynamodb().delete_table(TableName=table)


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """A stage's environment, with credentials that open nothing."""
    from functions._runtime import call, keys, settings

    for name in FOREIGN:
        monkeypatch.delenv(name, raising=False)
    for name, value in STAGE.items():
        monkeypatch.setenv(name, value)
    settings.forget()
    call.forget()
    keys.forget()
    yield
    settings.forget()


@pytest.fixture(scope="session")
def moto_session():
    """moto for the whole session: making clients is what costs, not making tables."""
    from functions._runtime import aws

    with pytest.MonkeyPatch.context() as monkeypatch:
        for name in FOREIGN:
            monkeypatch.delenv(name, raising=False)
        for name, value in STAGE.items():
            monkeypatch.setenv(name, value)
        with mock_aws():
            create_buckets()
            yield
        aws.forget()


@pytest.fixture
def aws_cloud(moto_session, environment):
    """The stage's tables, fresh, and its bucket; use the clients of functions._runtime.aws."""
    create_tables()
    yield
    delete_tables()


@pytest.fixture
def aws_calls(aws_cloud):
    """The names of the AWS operations that the runtime's clients send, in order."""
    from functions._runtime import aws

    calls: list[str] = []

    def record(model, **_):
        calls.append(model.name)

    watched = [(aws.dynamodb(), "before-call.dynamodb"), (aws.s3(), "before-call.s3")]
    for client, event in watched:
        client.meta.events.register(event, record)
    yield calls
    for client, event in watched:
        client.meta.events.unregister(event, record)


@pytest.fixture
def workspaces(aws_cloud):
    """Workspaces on moto."""
    from functions._runtime import aws
    from functions._runtime.workspace import Stores
    from tests.workspaces import StoredWorkspaces

    return StoredWorkspaces(Stores(aws.dynamodb(), aws.s3(), WORKSPACE_TABLE, WORKSPACE_BUCKET))


@pytest.fixture
def stores(aws_cloud):
    """Empty stores on moto; `stores.s3` and `stores.dynamodb` keep count of their calls."""
    from functions._runtime import aws
    from functions._runtime.workspace import Stores
    from tests.functions.workspace.cloud import Recorder

    bucket = f"workspaces-{uuid.uuid4().hex}"
    aws.s3().create_bucket(Bucket=bucket)
    return Stores(Recorder(aws.dynamodb()), Recorder(aws.s3()), WORKSPACE_TABLE, bucket)
