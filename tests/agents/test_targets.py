"""What cannot be sent is answered on the caller's side as the tool would, and nothing is sent."""

from __future__ import annotations

import asyncio
import io
import json

import boto3
import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError, EndpointConnectionError
from botocore.response import StreamingBody
from botocore.stub import Stubber
from jsonschema import Draft202012Validator

from agents import events
from agents.targets import (
    CONFIG,
    REQUEST_MAX_BYTES,
    InProcessTarget,
    InvocationError,
    LambdaTarget,
    acall,
    call,
    encoded,
)
from contracts import registry
from contracts.dialects import emitted

PATCH = registry.find("apply_patch_v1")
READ = registry.find("read_file_v1")
NAMES = {spec.model_name: spec.model_name for spec in registry.specs()}
FOUND = {"ok": True, "schemaVersion": 1}
each_surface = pytest.mark.parametrize("surface", events.SURFACES)
each_tool = pytest.mark.parametrize("spec", [PATCH, READ], ids=lambda spec: spec.model_name)


@pytest.fixture
def service():
    """A client of Lambda whose answers are stubbed; one that is not expected is an error."""
    client = boto3.client("lambda", region_name="us-east-1", config=CONFIG)
    with Stubber(client) as stubber:
        stubber.client = client
        yield stubber


def send(service, spec, event):
    return events.unwrap(LambdaTarget(NAMES, client=service.client).send(spec, event))


def of_size(spec, surface, size):
    """An event whose JSON is exactly so many bytes long."""
    small = len(encoded(events.build(spec, {"path": "x"}, surface)))
    event = events.build(spec, {"path": "x" * (size - small + 1)}, surface)
    assert len(encoded(event)) == size
    return event


def refused(spec, result, code):
    """The details of a failure that fits the tool's error schema and spends no key."""
    Draft202012Validator(emitted(spec, "json-schema")["error"]).validate(result)
    error = result["error"]
    assert (error["code"], error["retryable"]) == (code, False)
    assert error["details"].pop("keySpent", None) == (False if spec.mutates else None)
    return error["details"]


@each_surface
@each_tool
def test_a_call_over_the_limit_of_lambda_is_too_large_and_is_not_sent(service, spec, surface):
    event = of_size(spec, surface, REQUEST_MAX_BYTES + 1)
    details = refused(spec, send(service, spec, event), "TOO_LARGE")
    assert details == {"limit": REQUEST_MAX_BYTES, "actual": REQUEST_MAX_BYTES + 1}


def test_a_call_at_the_limit_is_sent(service):
    event = of_size(READ, "direct", REQUEST_MAX_BYTES)
    body = json.dumps(FOUND).encode()
    answer = {"StatusCode": 200, "Payload": StreamingBody(io.BytesIO(body), len(body))}
    sent = {"FunctionName": "read_file_v1", "Payload": encoded(event)}
    service.add_response("invoke", answer, sent)
    assert send(service, READ, event) == FOUND


@each_tool
@pytest.mark.parametrize("code", ["RequestTooLargeException", "RequestEntityTooLargeException"])
def test_a_call_that_lambda_itself_finds_too_large_is_answered_the_same(service, spec, code):
    event = of_size(spec, "direct", 1_000)
    service.add_client_error("invoke", code, "payload is too large", http_status_code=413)
    details = refused(spec, send(service, spec, event), "TOO_LARGE")
    assert details == {"limit": REQUEST_MAX_BYTES, "actual": 1_000}


def test_other_errors_of_the_service_are_not_taken_for_that(service):
    service.add_client_error("invoke", "TooManyRequestsException", http_status_code=429)
    with pytest.raises(service.client.exceptions.TooManyRequestsException):
        send(service, READ, events.build(READ, {}, "direct"))


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("-inf"), 10**5_000, nested(100_000)],
    ids=["nan", "infinite", "digits", "deep"],
)
@each_tool
def test_what_json_cannot_hold_is_no_valid_call(service, spec, value):
    event = events.build(spec, {"path": value}, "direct")
    for result in (send(service, spec, event), InProcessTarget().send(spec, event)):
        issue = {
            "path": "",
            "problem": "cannot be written as JSON",
            "expected": {"type": "object"},
        }
        assert refused(spec, result, "VALIDATION") == {"issues": [issue]}


def test_text_is_sent_as_it_is_and_a_lone_surrogate_escaped():
    assert encoded(events.Event({"a": "é😀\n"})) == '{"a": "é😀\\n"}'.encode()
    assert encoded(events.Event({"a": "\ud800"})) == b'{"a": "\\ud800"}'


class Answering:
    """A target that answers the same, or raises it, and keeps what it was sent."""

    def __init__(self, answer):
        self.answer, self.sent = answer, []

    def send(self, spec, event):
        self.sent.append((spec, event))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def called(target, way, **more):
    if way == "sync":
        return call(target, READ, {"path": "x"}, **more)
    return asyncio.run(acall(target, READ, {"path": "x"}, **more))


each_way = pytest.mark.parametrize("way", ["sync", "async"])


@each_way
def test_a_call_is_sent_once_with_its_token_and_gives_the_result(way):
    target = Answering(FOUND)
    assert called(target, way, token="signed") == FOUND
    ((spec, event),) = target.sent
    assert (spec, event.payload) == (READ, {"path": "x", "_caller": "signed"})


@each_way
def test_a_deployed_tool_and_one_in_this_process_answer_with_the_same_type(way, service):
    body = json.dumps({**FOUND, "n": 1}).encode()
    answer = {"StatusCode": 200, "Payload": StreamingBody(io.BytesIO(body), len(body))}
    service.add_response("invoke", answer, None)
    assert called(LambdaTarget(NAMES, client=service.client), way)["ok"] is True
    result = called(InProcessTarget(), way)
    assert result["error"]["code"] == "VALIDATION"


@each_way
@pytest.mark.parametrize(
    "nothing",
    [
        {"nonsense": 1},
        None,
        InvocationError("died"),
        EndpointConnectionError(endpoint_url="x"),
        ConnectTimeoutError(endpoint_url="x"),
        ClientError({"ResponseMetadata": {"HTTPStatusCode": 429}}, "Invoke"),
        ClientError({"ResponseMetadata": {"HTTPStatusCode": 502}}, "Invoke"),
    ],
    ids=repr,
)
def test_a_call_without_a_result_is_one_that_died(way, nothing):
    with pytest.raises(InvocationError):
        called(Answering(nothing), way)


@each_way
def test_a_refusal_of_the_service_is_not_taken_for_a_death(way):
    refusal = ClientError({"ResponseMetadata": {"HTTPStatusCode": 403}}, "Invoke")
    with pytest.raises(ClientError):
        called(Answering(refusal), way)
