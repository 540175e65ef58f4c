"""The tools by MCP: what is sent for a call, what comes back, and the SDK's own client on it.

Handlers run in process on moto. What needs the SDK (`requirements-extras.txt`) is long.
"""

from __future__ import annotations

import json
import threading
from types import SimpleNamespace

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from jsonschema import Draft202012Validator

from agents.attempts import TokenError
from agents.events import AnswerError
from agents.mcp_calls import NoSuchToolError, Tools
from agents.targets import InProcessTarget, InvocationError
from contracts import registry
from contracts.dialects import mcp

NEWEST = {spec.name: spec for spec in registry.newest(registry.specs())}
PATCH, READ, LIST = (NEWEST[name] for name in ("apply_patch", "read_file", "list_files"))
ROOT = "/workspace/mcp"
KEY = "mcp-test-7f3a9c2e41d0"
OTHER_KEY = "mcp-test-other-key-11"
MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])


@pytest.fixture
def workspace(workspaces):
    workspaces.create(ROOT, {"a.txt": b"one\n"})
    return workspaces


def patch(**more):
    """Arguments as a model sends them: the tool's name carries the version."""
    file = {"path": "a.txt", "mode": "replace_full", "content": "two\n"}
    return {"idempotencyKey": KEY, "repoRoot": ROOT, "files": [file], **more}


def without_key(**more):
    return {name: value for name, value in patch(**more).items() if name != "idempotencyKey"}


def tools(target=None, **more):
    return Tools(NEWEST.values(), target or InProcessTarget(), **more)


def failed(outcome):
    """The error of a failure, which is told as text and nowhere else."""
    assert (outcome.is_error, outcome.structured) == (True, None)
    error = json.loads(outcome.text)
    assert set(error) == {"code", "message", "detail", "retryable"}
    return error


def succeeded(outcome):
    """The result of a success, which the text repeats."""
    assert not outcome.is_error, outcome.text
    assert json.loads(outcome.text) == outcome.structured
    return outcome.structured


class Recorder:
    """A target that keeps what is sent, and answers or raises what it is told to."""

    def __init__(self, answer):
        self.sent = []
        self._answer = answer

    def send(self, spec, event):
        self.sent.append(event)
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


def test_a_call_is_answered_once_wherever_its_key_comes_from(workspace):
    served = tools()
    first = succeeded(served.call(PATCH.model_name, patch(), {}))
    assert first["skippedAsDuplicate"] is False
    again = succeeded(served.call(PATCH.model_name, without_key(), {mcp.META_KEY: KEY}))
    assert again == {**first, "skippedAsDuplicate": True}
    both = succeeded(served.call(PATCH.model_name, patch(), {mcp.META_KEY: KEY}))
    assert both == again
    assert workspace.commits(ROOT) == 2
    Draft202012Validator(mcp.emit(PATCH)["outputSchema"]).validate(first)


def test_two_keys_that_differ_are_refused_and_nothing_is_sent():
    target = Recorder(None)
    served = tools(target)
    for meta in (OTHER_KEY, 7, None):
        error = failed(served.call(PATCH.model_name, patch(), {mcp.META_KEY: meta}))
        assert (error["code"], error["retryable"]) == ("VALIDATION", False)
        assert error["detail"]["keySpent"] is False
        assert [one["path"] for one in error["detail"]["issues"]] == ["/idempotencyKey"]
        assert KEY not in json.dumps(error)
    assert target.sent == []


def test_a_change_without_any_key_is_the_tools_own_refusal(workspace):
    error = failed(tools().call(PATCH.model_name, without_key(), {}))
    assert error["code"] == "VALIDATION"
    assert error["detail"]["issues"][0]["path"] == "/idempotencyKey"
    assert workspace.commits(ROOT) == 1


def test_a_tool_that_reads_takes_no_key_out_of_the_request(workspace):
    arguments = {"repoRoot": ROOT, "path": "a.txt"}
    read = succeeded(tools().call(READ.model_name, arguments, {mcp.META_KEY: KEY}))
    assert read["text"] == "one\n"


def test_another_version_than_the_tools_is_refused(workspace):
    error = failed(tools().call(PATCH.model_name, patch(schemaVersion=1), {}))
    assert error["code"] == "VALIDATION"
    assert error["detail"]["issues"][0]["path"] == "/schemaVersion"


@pytest.mark.parametrize(
    "smuggled",
    [
        {"_caller": "a-token"},
        {"messageVersion": "1.0", "apiPath": "/x", "sessionAttributes": {"_caller": "a-token"}},
        {"messageVersion": "1.0", "function": "apply_patch_v2"},
        {"arguments": "{}"},
    ],
)
@pytest.mark.parametrize("spec", [PATCH, READ], ids=lambda spec: spec.model_name)
def test_arguments_cannot_name_a_caller_or_make_another_surfaces_event(spec, smuggled):
    target = Recorder(None)
    served = tools(target, token=lambda: "the-servers-token")
    error = failed(served.call(spec.model_name, {"repoRoot": ROOT, **smuggled}, {}))
    assert error["code"] == "VALIDATION"
    assert error["detail"]["issues"][0]["problem"] == "reserved"
    assert target.sent == []


def test_every_call_is_made_with_a_token_of_its_own():
    target = Recorder({"ok": True, "schemaVersion": 1})
    made = iter(["token-1", "token-2"])
    served = tools(target, token=lambda: next(made))
    for _ in range(2):
        served.call(LIST.model_name, {"repoRoot": ROOT}, {})
    assert [event.payload["_caller"] for event in target.sent] == ["token-1", "token-2"]


def test_without_a_token_that_should_be_there_nothing_is_sent():
    def no_token():
        raise TokenError("the file is gone")

    target = Recorder(None)
    error = failed(tools(target, token=no_token).call(PATCH.model_name, patch(), {}))
    assert (error["code"], error["detail"]) == ("UNAVAILABLE", {"keySpent": False})
    assert target.sent == []


def refusal(status, code):
    answer = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(answer, "Invoke")


@pytest.mark.parametrize(
    "fault",
    [
        InvocationError("apply-patch failed: Unhandled"),
        EndpointConnectionError(endpoint_url="http://secret.example"),
        AnswerError("not a result"),
        json.JSONDecodeError("no JSON", "secret", 0),
        refusal(500, "ServiceException"),
    ],
    ids=lambda fault: type(fault).__name__,
)
def test_no_answer_asks_for_the_identical_call_and_claims_nothing_of_the_key(fault):
    error = failed(tools(Recorder(fault)).call(PATCH.model_name, patch(), {}))
    assert (error["code"], error["retryable"]) == ("UNAVAILABLE", True)
    assert "identical call, with the same idempotencyKey" in error["message"]
    assert "keySpent" not in error["detail"]
    assert "secret" not in json.dumps(error)


@pytest.mark.parametrize(
    ("status", "code", "told"),
    [
        (403, "AccessDeniedException", ("FORBIDDEN", False)),
        (429, "TooManyRequestsException", ("UNAVAILABLE", True)),
        (404, "ResourceNotFoundException", ("UNAVAILABLE", True)),
    ],
)
def test_what_lambda_does_not_let_in_spends_no_key(status, code, told):
    error = failed(tools(Recorder(refusal(status, code))).call(PATCH.model_name, patch(), {}))
    assert (error["code"], error["retryable"]) == told
    assert error["detail"]["keySpent"] is False


def test_a_tool_that_is_not_served_is_no_failure_of_a_tool():
    with pytest.raises(NoSuchToolError):
        tools().call("apply_patch_v1", patch(), {})


def with_client(served, mode, story):
    """Runs `story(client)` with the SDK's client on a server of these tools."""
    import anyio
    from mcp import Client

    from agents.mcp_server import make_server

    async def run():
        async with Client(make_server(served, version="1"), mode=mode) as client:
            return await story(client)

    return anyio.run(run)


@pytest.mark.long
@MODES
def test_a_client_is_listed_the_newest_tools_as_they_were_emitted(mode):
    async def story(client):
        return client.instructions, (await client.list_tools()).tools

    instructions, listed = with_client(tools(), mode, story)
    assert "idempotencyKey" in instructions
    shown = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed]
    emitted = {spec.model_name: mcp.emit(spec) for spec in NEWEST.values()}
    assert shown == [emitted[name] for name in sorted(emitted)]


@pytest.mark.long
@MODES
def test_a_client_is_told_success_as_structure_and_failure_as_text(workspace, mode):
    async def story(client):
        arguments = {"repoRoot": ROOT, "path": "a.txt"}
        read = await client.call_tool(READ.model_name, arguments)
        changed = await client.call_tool(PATCH.model_name, without_key(), meta={mcp.META_KEY: KEY})
        absent = await client.call_tool(READ.model_name, {**arguments, "path": "no.txt"})
        invalid = await client.call_tool(READ.model_name, {})
        return read, changed, absent, invalid

    read, changed, absent, invalid = with_client(tools(), mode, story)
    for answer in (read, changed):
        (content,) = answer.content
        assert not answer.is_error
        assert json.loads(content.text) == answer.structured_content
    assert read.structured_content["text"] == "one\n"
    assert workspace.files(ROOT) == {"a.txt": b"two\n"}
    for answer, code in ((absent, "NOT_FOUND"), (invalid, "VALIDATION")):
        (content,) = answer.content
        assert answer.is_error
        assert answer.structured_content is None
        assert json.loads(content.text)["code"] == code


@pytest.mark.long
@MODES
def test_an_unknown_tool_is_an_error_of_the_protocol(mode):
    from mcp.shared.exceptions import MCPError
    from mcp_types import INVALID_PARAMS

    async def story(client):
        with pytest.raises(MCPError) as caught:
            await client.call_tool("apply_patch_v1", patch())
        return caught.value.code

    assert with_client(tools(), mode, story) == INVALID_PARAMS


@pytest.mark.long
@MODES
def test_a_cancelled_call_is_known_by_its_key_when_it_is_sent_again(workspace, mode):
    import anyio

    seen = SimpleNamespace(arrived=threading.Event(), go=threading.Event(), done=threading.Event())

    class Slow(InProcessTarget):
        def send(self, spec, event):
            if seen.done.is_set():
                return super().send(spec, event)
            seen.arrived.set()
            assert seen.go.wait(30)
            answer = super().send(spec, event)
            seen.done.set()
            return answer

    async def story(client):
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, PATCH.model_name, patch())
                assert await anyio.to_thread.run_sync(seen.arrived.wait, 30)
                scope.cancel()
        assert not seen.done.is_set()
        seen.go.set()
        assert await anyio.to_thread.run_sync(seen.done.wait, 30)
        return await client.call_tool(PATCH.model_name, patch())

    again = with_client(tools(Slow()), mode, story)
    assert again.structured_content["skippedAsDuplicate"] is True
    assert workspace.commits(ROOT) == 2
