"""People on the humans' side of approvals, and agents that call tools on somebody's behalf.

Both go through the real handlers; only AWS's word on who calls is put into the event, as API
Gateway puts it, and a token is signed with the stage's key, as the caller's side signs it.
"""

from __future__ import annotations

import importlib
import json
import uuid
from dataclasses import dataclass, field
from types import SimpleNamespace

from agents import events
from agents.session import issue
from contracts.spec import Scope
from functions._approvals import handler as desk
from functions._runtime import aws, tool
from tests.conftest import APPROVALS_BUCKET, APPROVALS_TABLE, APPROVER_ROLE

SIGNING_KEY = "k" * 40


def session_arn(name, role=APPROVER_ROLE):
    """The ARN of a session of the role."""
    return role.replace(":iam:", ":sts:").replace(":role/", ":assumed-role/") + f"/{name}"


def visit(arn, route, approval_id=None, *, query=None, body=None, text=None):
    """(status, body) of one HTTP request by the principal of that ARN."""
    event = {
        "version": "2.0",
        "routeKey": route,
        "pathParameters": {"id": approval_id} if approval_id else None,
        "queryStringParameters": query,
        "body": text if text is not None else json.dumps(body) if body is not None else None,
        "requestContext": {"authorizer": {"iam": {"userArn": arn}}},
    }
    answer = desk.handler({name: value for name, value in event.items() if value is not None}, None)
    return answer["statusCode"], json.loads(answer["body"])


@dataclass
class Person:
    """One person, in a session of the approver role."""

    name: str

    @property
    def arn(self):
        return session_arn(self.name)

    def get(self, approval_id=None, part="", **query):
        route = "GET /approvals" + ("/{id}" if approval_id else "") + (f"/{part}" if part else "")
        return visit(self.arn, route, approval_id, query=query or None)

    def show(self, approval_id):
        status, body = self.get(approval_id)
        assert status == 200, body
        return body["approval"]

    def vote(self, approval_id, decision, reason="", **changes):
        """(status, body) of a vote on what this person has looked at."""
        seen = changes.pop("fingerprint", None) or self.show(approval_id)["fingerprint"]
        body = {"decision": decision, "fingerprint": seen, "reason": reason, **changes}
        return visit(self.arn, "POST /approvals/{id}/votes", approval_id, body=body)

    def approve(self, approval_id):
        status, body = self.vote(approval_id, "approve")
        assert status == 200, body
        return body["approval"]

    def deny(self, approval_id, reason="not today"):
        status, body = self.vote(approval_id, "deny", reason)
        assert status == 200, body
        return body["approval"]


ALICE, BOB, CAROL = Person("alice"), Person("bob"), Person("carol")


def keys_secret():
    """The ARN of a new secret that holds the key that tokens are signed with."""
    return aws.secrets().create_secret(
        Name=f"keys-{uuid.uuid4().hex}", SecretString=json.dumps({"current": SIGNING_KEY})
    )["ARN"]


def make_keys(monkeypatch):
    """Give the stage a key that tokens are verified with."""
    from functions._runtime import settings

    monkeypatch.setenv("CALLER_KEYS_SECRET", keys_secret())
    settings.forget()


@dataclass
class Agent:
    """Calls tools for `subject`, with a token that says so."""

    subject: str = "dana"
    name: str | None = None
    tenant: str = "default"
    scopes: list[str] = field(default_factory=lambda: [str(scope) for scope in Scope])

    def token(self, session=None):
        return issue(
            tenant=self.tenant,
            subject=self.subject,
            scopes=self.scopes,
            stage="test",
            keys=[SIGNING_KEY],
            now_s=tool.now_ms() // 1000,
            session_id=session,
            agent=self.name,
        )

    def call(self, spec, arguments, handler=None, surface="direct", context=None):
        """The tool's answer; `handler` is its own unless another one is given."""
        session = events.Session(id="s-1") if surface == "bedrock" else events.Session()
        token = self.token("s-1" if surface == "bedrock" else None)
        event = events.build(spec, arguments, surface, session, token=token)
        run = handler or importlib.import_module(spec.handler_module).handler
        custom = (event.client_context or {}).get("custom")
        if custom:
            context = SimpleNamespace(client_context=SimpleNamespace(custom=custom))
        return events.unwrap(run(event.payload, context))


def pending(answer):
    """The id of the approval that an answer waits for."""
    assert answer["ok"] is False, answer
    assert answer["error"]["code"] == "APPROVAL_PENDING", answer
    return answer["error"]["details"]["approvalId"]


def code(answer):
    return "OK" if answer["ok"] else answer["error"]["code"]


def pages():
    """What people were told, newest last."""
    from moto.sns.models import sns_backends

    topics = sns_backends["123456789012"]["us-east-1"].topics.values()
    return [json.loads(sent[1]) for topic in topics for sent in topic.sent_notifications]


def rows(partition, approval_id):
    """The rows of a partition: REQ, DEC or AUD."""
    return aws.dynamodb().query(
        TableName=APPROVALS_TABLE,
        KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues={":pk": {"S": f"{partition}#{approval_id}"}},
        ConsistentRead=True,
    )["Items"]


def edit_row(key, **attributes):
    """Change a stored row behind everybody's back."""
    row = aws.dynamodb().get_item(TableName=APPROVALS_TABLE, Key=key, ConsistentRead=True)["Item"]
    aws.dynamodb().put_item(TableName=APPROVALS_TABLE, Item={**row, **attributes})


def delete_row(row):
    aws.dynamodb().delete_item(TableName=APPROVALS_TABLE, Key={"pk": row["pk"], "sk": row["sk"]})


def edit_arguments(approval_id, change):
    """Change the stored text of what is asked."""
    request = rows("REQ", approval_id)[0]
    digest = request["fingerprint"]["S"].rpartition(":")[2]
    key = f"arguments/{request['tenant']['S']}/{digest}.json"
    text = aws.s3().get_object(Bucket=APPROVALS_BUCKET, Key=key)["Body"].read().decode()
    aws.s3().put_object(Bucket=APPROVALS_BUCKET, Key=key, Body=change(text).encode())


def clear_pages():
    """Forget what people were told so far."""
    from moto.sns.models import sns_backends

    for topic in sns_backends["123456789012"]["us-east-1"].topics.values():
        topic.sent_notifications.clear()


def clear_bucket():
    """Forget what was stored and published of approvals: buckets outlive a test's tables."""
    found = aws.s3().list_objects_v2(Bucket=APPROVALS_BUCKET).get("Contents", [])
    for one in found:
        aws.s3().delete_object(Bucket=APPROVALS_BUCKET, Key=one["Key"])
