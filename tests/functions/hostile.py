"""Whatever is sent to a tool, by each surface's form of event, and what must be true of any answer.

The stores cannot be reached: a call that is not refused ends at its first request, so `requests`
tells the two apart.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

import boto3
from botocore.exceptions import EndpointConnectionError
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from contracts import registry
from contracts.dialects import emitted
from contracts.errors import DETAILS_MAX_BYTES, MESSAGE_MAX
from contracts.issues import ISSUES_MAX, select
from functions._runtime import aws
from functions._runtime.workspace import protected
from tests.contracts.schema_values import values

SPECS = registry.specs()
FORMS = ("direct", "gateway", "bedrock", "bedrock-function", "arguments")
"""Each surface's; `arguments` is that of a function with one parameter of that name."""


def few(count):
    """Settings for that many examples, the same each time; a failing one is shown as it was."""
    return settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


class Unreachable:
    """AWS clients whose requests are counted and never sent."""

    def __init__(self):
        self.requests: list[str] = []
        self.dynamodb, self.s3 = self._client("dynamodb"), self._client("s3")

    def _client(self, service):
        client = boto3.client(
            service,
            region_name="us-east-1",
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
        )
        client.meta.events.register("before-call", self._fail)
        return client

    def _fail(self, model, **_):
        self.requests.append(model.name)
        raise EndpointConnectionError(endpoint_url="none")


@cache
def unreachable() -> Unreachable:
    """One pair of clients for all tests; making them is what costs."""
    return Unreachable()


@dataclass(frozen=True)
class Answer:
    """One answer: the result in it, what was asked of the stores, what was logged meanwhile."""

    raw: dict[str, Any]
    result: dict[str, Any]
    requests: list[str]
    log: str

    @property
    def code(self) -> str:
        return "OK" if self.result["ok"] else self.result["error"]["code"]

    @property
    def places(self) -> list[str]:
        """The pointers that a refusal names."""
        details = self.result["error"]["details"]
        if self.code == "FORBIDDEN_PATH":
            return [details["path"]]
        return [one["path"] for one in details["issues"]]

    @property
    def is_refused(self) -> bool:
        """Whether the arguments alone decided it."""
        return self.code in {"VALIDATION", "FORBIDDEN_PATH"}


def context(spec, form):
    """The Lambda context that goes with a form."""
    if form != "gateway":
        return None
    custom = {"bedrockAgentCoreToolName": f"target___{spec.model_name}"}
    return SimpleNamespace(client_context=SimpleNamespace(custom=custom))


def event(spec, form, arguments):
    """The event of a form, its values not turned into text."""
    if form in {"direct", "gateway"}:
        return arguments
    given = {"arguments": arguments} if form == "arguments" else arguments
    entries = [{"name": n, "type": "string", "value": value} for n, value in given.items()]
    envelope = {
        "messageVersion": "1.0",
        "agent": {"name": "a", "id": "A", "alias": "T", "version": "1"},
        "inputText": "text",
        "sessionId": "session",
        "actionGroup": spec.model_name,
        "sessionAttributes": {"user": "u"},
        "promptSessionAttributes": {},
    }
    if form == "bedrock":
        path = {"apiPath": f"/{spec.model_name}", "httpMethod": "POST", "parameters": []}
        body = {"content": {"application/json": {"properties": entries}}}
        return {**envelope, **path, "requestBody": body}
    return {**envelope, "function": spec.model_name, "parameters": entries}


def call(spec, form, arguments) -> Answer:
    """Send arguments in one form."""
    return send(spec, event(spec, form, arguments), context(spec, form))


def send(spec, sent, lambda_context=None) -> Answer:
    """Send any event, and assert what is true of every answer."""
    clients, printed = unreachable(), io.StringIO()
    clients.requests.clear()
    handler = importlib.import_module(spec.handler_module).handler
    with contextlib.redirect_stdout(printed):
        raw = handler(sent, lambda_context)
    json.dumps(raw, ensure_ascii=False, allow_nan=False).encode("utf-8")
    answer = Answer(raw, _result(raw), list(clients.requests), printed.getvalue())
    _error_schema(spec).validate(answer.result)  # nothing succeeds without stores
    error = answer.result["error"]
    details = error.get("details", {})
    assert answer.code != "INTERNAL", answer.log
    assert 0 < len(error["message"]) <= MESSAGE_MAX
    assert len(json.dumps(details).encode()) <= DETAILS_MAX_BYTES
    assert "omitted" not in details
    assert details.get("keySpent") is (False if spec.mutates else None)
    if answer.is_refused:
        assert answer.requests == []
        assert 0 < len(answer.places) <= ISSUES_MAX
    return answer


def patched(monkeypatch):
    """Let the runtime have the clients that reach nothing."""
    monkeypatch.setattr(aws, "dynamodb", lambda: unreachable().dynamodb)
    monkeypatch.setattr(aws, "s3", lambda: unreachable().s3)


@cache
def _error_schema(spec):
    return Draft202012Validator(emitted(spec, "json-schema")["error"])


def _result(raw):
    assert isinstance(raw, dict)
    if "response" not in raw:
        return raw
    assert raw["messageVersion"] == "1.0"
    response = raw["response"]
    if "httpStatusCode" in response:
        assert response["httpStatusCode"] == 200
        return json.loads(response["responseBody"]["application/json"]["body"])
    return json.loads(response["functionResponse"]["responseBody"]["TEXT"]["body"])


@cache
def schema_of(spec):
    """The emitted JSON Schema of a tool's arguments."""
    return emitted(spec, "json-schema")["input"]


SAFE_PATHS = st.uuids().map(lambda one: f"src/{one}.txt")
PLACES = {"/repoRoot": st.just("/workspace/app")}


def plain(spec, *, whole=False):
    """Arguments that fit the contract, with paths that nobody minds."""
    safe = {pointer: SAFE_PATHS for pointer, _ in spec.path_rules} | PLACES
    places = {pointer: safe[pointer] for pointer, _ in spec.path_rules}
    return values(schema_of(spec), places=places, whole=whole)


@cache
def sample(spec):
    """One such call with all that is optional."""
    found = []

    @few(1)
    @given(arguments=plain(spec, whole=True))
    def keep(arguments):
        found.append(arguments)

    keep()
    return found[0]


def unsafe_paths(spec, arguments):
    """The pointers of arguments that the path rules refuse, and of protected paths."""
    return [
        place
        for pointer, rule in spec.path_rules
        for place, path in select(arguments, pointer)
        if rule.problem(path) or protected(path)
    ]
