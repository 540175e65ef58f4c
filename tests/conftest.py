"""AWS in process: moto behind one lock, fresh tables for each test, no real credentials."""

from __future__ import annotations

import json
import threading

import boto3
import pytest
from moto import mock_aws
from moto.dynamodb.responses import DynamoHandler

IDEMPOTENCY_TABLE = "idempotency"
WORKSPACE_TABLE = "workspace"
WORKSPACE_BUCKET = "workspace-objects"
ALL_SCOPES = ["workspace:read", "workspace:write"]
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


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """A stage's environment, with credentials that open nothing."""
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "POWERTOOLS_IDEMPOTENCY_DISABLED"):
        monkeypatch.delenv(name, raising=False)
    values = {
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_SESSION_TOKEN": "testing",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "TOOLGATE_STAGE": "test",
        "IDEMPOTENCY_TABLE": IDEMPOTENCY_TABLE,
        "WORKSPACE_TABLE": WORKSPACE_TABLE,
        "WORKSPACE_BUCKET": WORKSPACE_BUCKET,
        "TOOLGATE_BINDINGS": json.dumps(BINDINGS),
        "POWERTOOLS_SERVICE_NAME": "toolgate",
        "POWERTOOLS_METRICS_NAMESPACE": "Toolgate",
        "POWERTOOLS_LOG_LEVEL": "INFO",
    }
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    from functions._runtime import aws, settings

    aws.forget()
    settings.settings.cache_clear()
    yield
    aws.forget()
    settings.settings.cache_clear()


@pytest.fixture
def aws_cloud(environment):
    """moto with the stage's tables and bucket; yields nothing: use functions._runtime.aws."""
    with mock_aws():
        dynamodb = boto3.client("dynamodb")
        dynamodb.create_table(
            TableName=IDEMPOTENCY_TABLE,
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        dynamodb.create_table(
            TableName=WORKSPACE_TABLE,
            KeySchema=[
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            AttributeDefinitions=[
                {"AttributeName": "pk", "AttributeType": "S"},
                {"AttributeName": "sk", "AttributeType": "S"},
            ],
            BillingMode="PAY_PER_REQUEST",
        )
        boto3.client("s3").create_bucket(Bucket=WORKSPACE_BUCKET)
        yield


@pytest.fixture
def aws_calls(aws_cloud):
    """The names of the AWS operations that the runtime's clients send, in order."""
    from functions._runtime import aws

    calls: list[str] = []

    def record(model, **_):
        calls.append(model.name)

    aws.dynamodb().meta.events.register("before-call.dynamodb", record)
    aws.s3().meta.events.register("before-call.s3", record)
    return calls
