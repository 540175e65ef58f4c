"""What a surface's event carries reaches the tool as it was meant, and its answer comes back."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from agents import events
from agents.events import AnswerError, Session, build, unwrap
from contracts import registry
from contracts.dialects.inline import inline
from contracts.errors import InvalidArgumentsError
from contracts.schema_nodes import present
from contracts.spec import RESERVED_ARGUMENTS, Effect, Scope, ToolSpec
from contracts.types import Answer, Contract
from functions._runtime import events as runtime

SPECS = registry.specs()
PATCH = registry.find("apply_patch_v1")
READ = registry.find("read_file_v1")
LIST = registry.find("list_files_v1")
each_surface = pytest.mark.parametrize("surface", events.SURFACES)
each_tool = pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.model_name)

# Whatever a file may hold: line endings, quotes, text that looks like a value of another type.
TEXT = st.text(max_size=40) | st.sampled_from(
    [
        "null",
        "None",
        "true",
        "20",
        "[]",
        '{"a": 1}',
        "<item>x</item>",
        "[{a=b}]",
        " x\r\n",
        "\\n",
        "",
    ]
)
NUMBER = st.integers(min_value=-(10**17), max_value=10**17)


def chosen(schema):
    """Arguments of the schema's shape; what its texts and numbers are does not matter here."""
    node, _ = present(schema)
    if "const" in node:
        return st.just(node["const"])
    if "enum" in node:
        return st.sampled_from(node["enum"])
    if "oneOf" in node:
        return st.one_of(chosen(branch) for branch in node["oneOf"])
    if node["type"] == "array":
        return st.lists(chosen(node["items"]), max_size=3)
    if node["type"] == "object":
        fields = {name: chosen(child) for name, child in node["properties"].items()}
        needed = {name: fields.pop(name) for name in node.get("required", [])}
        return st.fixed_dictionaries(needed, optional=fields)
    return {"string": TEXT, "integer": NUMBER, "boolean": st.booleans()}[node["type"]]


ARGUMENTS = {spec.model_name: chosen(inline(spec.input_schema)) for spec in SPECS}


def received(spec, event):
    """What the tool gets: the arguments and the token, after the way over the wire."""
    custom = (event.client_context or {}).get("custom")
    context = SimpleNamespace(client_context=SimpleNamespace(custom=custom) if custom else None)
    payload = json.loads(json.dumps(event.payload))
    envelope = runtime.recognise(payload, context)
    arguments, token = runtime.arguments(envelope, spec)
    return envelope, arguments, token


@each_tool
@each_surface
@given(data=st.data())
def test_arguments_arrive_as_they_were_meant(spec, surface, data):
    arguments = data.draw(ARGUMENTS[spec.model_name])
    _, found, token = received(spec, build(spec, arguments, surface))
    assert found == arguments
    assert {name: type(value) for name, value in found.items()} == {
        name: type(value) for name, value in arguments.items()
    }
    assert token is None


@each_tool
@each_surface
def test_the_tool_knows_which_surface_called_it(spec, surface):
    arguments = {"repoRoot": "/workspace/app"}
    envelope, _, _ = received(spec, build(spec, arguments, surface))
    assert envelope.surface == surface.removesuffix("-function")
    if surface != "direct":
        assert envelope.tool == spec.model_name


@pytest.mark.parametrize("surface", ["bedrock", "bedrock-function", "gateway"])
def test_only_a_direct_event_carries_the_version(surface):
    arguments = {"schemaVersion": 1, "idempotencyKey": "key-12345678"}
    assert "schemaVersion" not in json.dumps(build(PATCH, arguments, surface).payload)
    assert build(PATCH, arguments, "direct").payload == arguments


@pytest.mark.parametrize("surface", ["bedrock", "bedrock-function"])
def test_bedrock_carries_text_only(surface):
    arguments = {"repoRoot": "/w", "files": [{"path": "é"}], "dryRun": True}
    payload = build(PATCH, arguments, surface).payload
    if surface == "bedrock":
        entries = payload["requestBody"]["content"]["application/json"]["properties"]
    else:
        entries = payload["parameters"]
    assert entries == [
        {"name": "repoRoot", "type": "string", "value": "/w"},
        {"name": "files", "type": "string", "value": '[{"path": "é"}]'},
        {"name": "dryRun", "type": "boolean", "value": "true"},
    ]


@pytest.mark.parametrize("surface", ["bedrock", "bedrock-function"])
def test_null_is_left_out_where_text_has_no_word_for_it(surface):
    """As text, the `null` of an optional string would be that string."""
    _, found, _ = received(LIST, build(LIST, {"repoRoot": "/w", "cursor": None}, surface))
    assert found == {"repoRoot": "/w"}


@pytest.mark.parametrize("surface", ["direct", "gateway"])
def test_null_stays_where_json_is_sent(surface):
    _, found, _ = received(LIST, build(LIST, {"repoRoot": "/w", "cursor": None}, surface))
    assert found == {"repoRoot": "/w", "cursor": None}


def test_a_call_without_arguments_has_no_body():
    assert "requestBody" not in build(READ, {}, "bedrock").payload


class Wide(Contract):
    """More arguments than function details take."""

    a: str = Field(max_length=9, description="One.")
    b: int = Field(ge=0, le=9, description="Two.")
    c: bool = Field(description="Three.")
    d: list[str] = Field(max_length=9, description="Four.")
    e: str = Field(max_length=9, description="Five.")
    f: str | None = Field(default=None, max_length=9, description="Six.")


class Nothing(Answer):
    """No answer."""


WIDE = ToolSpec(
    name="demo.wide",
    version="1.0.0",
    summary="Take many arguments.",
    owner="tests",
    input=Wide,
    output=Nothing,
    effect=Effect.READ,
    scopes=frozenset({Scope.WORKSPACE_READ}),
    timeout_s=10,
)


@each_surface
def test_many_arguments_arrive_on_every_surface(surface):
    arguments = {"a": "null", "b": 2, "c": False, "d": ["x", "y"], "e": '{"a": 1}', "f": "z"}
    assert received(WIDE, build(WIDE, arguments, surface))[1] == arguments


def test_more_than_five_parameters_travel_as_one_json_text():
    event = build(WIDE, {"a": "é", "b": 2}, "bedrock-function")
    (entry,) = event.payload["parameters"]
    assert entry == {"name": "arguments", "type": "string", "value": '{"a": "é", "b": 2}'}


def test_a_gateway_event_names_the_tool_in_the_client_context():
    event = build(PATCH, {"repoRoot": "/w"}, "gateway")
    assert event.payload == {"repoRoot": "/w"}
    custom = event.client_context["custom"]
    assert custom["bedrockAgentCoreToolName"] == "apply-patch-v1___apply_patch_v1"


def test_a_session_travels_in_the_envelope_and_its_token_reaches_the_tool():
    session = Session("s-1", "fix it", {"_caller": "token", "user": "u"})
    for surface in ("bedrock", "bedrock-function"):
        event = build(READ, {"path": "a"}, surface, session)
        assert event.payload["sessionId"] == "s-1"
        assert event.payload["inputText"] == "fix it"
        assert event.payload["sessionAttributes"] == {"_caller": "token", "user": "u"}
        _, found, token = received(READ, event)
        assert (found, token) == ({"path": "a"}, "token")


@pytest.mark.parametrize("surface", ["direct", "gateway"])
def test_a_token_beside_flat_arguments_is_no_argument(surface):
    _, found, token = received(READ, build(READ, {"path": "a"}, surface, token="token"))
    assert (found, token) == ({"path": "a"}, "token")


@pytest.mark.parametrize("name", sorted(RESERVED_ARGUMENTS))
def test_no_direct_event_is_made_of_arguments_that_have_a_reserved_name(name):
    with pytest.raises(InvalidArgumentsError) as refused:
        build(READ, {"path": "a", name: "hunter2"}, "direct", token="token")
    (issue,) = refused.value.details["issues"]
    assert (issue["path"], issue["problem"]) == (f"/{name}", "reserved")
    assert "hunter2" not in f"{refused.value} {refused.value.details}"


@each_tool
@each_surface
@given(text=TEXT)
def test_an_answer_comes_back_as_it_was_given(spec, surface, text):
    result = {"ok": False, "error": {"code": "CONFLICT", "message": text, "details": {"a": [text]}}}
    envelope, _, _ = received(spec, build(spec, {"repoRoot": "/w"}, surface))
    answer = json.loads(json.dumps(runtime.render(envelope, result)))
    assert unwrap(answer) == result


@pytest.mark.parametrize(
    "answer",
    [
        None,
        [],
        "text",
        {},
        {"ok": "true"},
        {"ok": 1},
        {"errorMessage": "Task timed out", "errorType": "Sandbox.Timedout"},
        {"response": None},
        {"response": "text"},
        {"response": {}},
        {"response": {"responseBody": None}},
        {"response": {"responseBody": []}},
        {"response": {"responseBody": {}}},
        {"response": {"responseBody": {"a": {"body": "{}"}, "b": {"body": "{}"}}}},
        {"response": {"responseBody": {"application/json": {}}}},
        {"response": {"responseBody": {"application/json": {"body": None}}}},
        {"response": {"responseBody": {"application/json": {"body": "{"}}}},
        {"response": {"responseBody": {"application/json": {"body": "[]"}}}},
        {"response": {"responseBody": {"application/json": {"body": '{"ok": null}'}}}},
        {"response": {"functionResponse": {"responseBody": {"TEXT": "text"}}}},
        {"response": {"functionResponse": None}},
    ],
)
def test_what_is_no_answer_of_a_tool_is_refused(answer):
    with pytest.raises(AnswerError):
        unwrap(answer)


def test_a_refused_answer_is_not_quoted():
    with pytest.raises(AnswerError) as caught:
        unwrap({"response": {"responseBody": {"TEXT": {"body": "{secret"}}}})
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
