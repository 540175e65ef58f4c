"""How events are told apart, and their values read; whole events are among the golden ones."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from contracts import registry
from contracts.errors import InvalidArgumentsError
from functions._runtime import events
from tests.contracts.examples import CHANGES

SPEC = registry.find("apply_patch_v1")
READ = registry.find("read_file_v1")
LIST = registry.find("list_files_v1")
FILES = [{"path": "a.txt", "mode": "replace_full", "content": 'x = {"a": [1]}\n\\n &amp; é 😀\r\n'}]
KEY = "key-12345678"
GIVEN = {"idempotencyKey": KEY, "repoRoot": "/workspace/app", "files": FILES}


def api(properties, tool="apply_patch_v1"):
    body = {"content": {"application/json": {"properties": properties}}}
    path = {"apiPath": f"/{tool}", "httpMethod": "POST"}
    return {"messageVersion": "1.0", **path, "requestBody": body}


def entry(name, value, kind="string"):
    return {"name": name, "type": kind, "value": value}


def decoded(event, spec=SPEC, context=None):
    return events.arguments(events.recognise(event, context), spec)[0]


def refused(event, spec=SPEC, context=None):
    with pytest.raises(InvalidArgumentsError) as caught:
        decoded(event, spec, context)
    return caught.value.details["issues"]


def gateway(name):
    return SimpleNamespace(client_context=SimpleNamespace(custom={events.GATEWAY_TOOL_NAME: name}))


@pytest.mark.parametrize(
    ("text", "value"), [("20", 20), ("-1", -1), ("020", "020"), ("2.0", "2.0"), ("٢", "٢")]
)
def test_integers_are_read_from_plain_digits_only(text, value):
    event = api([entry("limit", text, "integer")], tool="list_files_v1")
    assert decoded(event, LIST)["limit"] == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("true", True), ("True", True), ("false", False), ("False", False), ("yes", "yes")],
)
def test_booleans_are_read_from_their_names_only(text, value):
    assert decoded(api([entry("dryRun", text, "boolean")]))["dryRun"] == value


@pytest.mark.parametrize("nothing", ["None", "null", None])
def test_an_optional_value_that_says_none_is_absent(nothing):
    assert "limit" not in decoded(api([entry("limit", nothing)], tool="list_files_v1"), LIST)


def test_of_an_optional_string_only_null_is_absent():
    given = [entry("glob", None), entry("cursor", "None")]
    assert decoded(api(given, tool="list_files_v1"), LIST) == {"cursor": "None"}


def test_a_member_of_a_nested_object_that_is_null_is_absent():
    """As the import proxy writes objects; the variant of a union is told by its own entry."""
    move = [
        entry("kind", "move"),
        entry("path", "None"),
        entry("to", "b"),
        entry("size", None, "integer"),
    ]
    sized = [entry("size", "3", "integer"), entry("kind", "move")]
    found = decoded(api([entry("first", move), entry("more", [sized])], "demo_changes_v1"), CHANGES)
    assert found["first"] == {"kind": "move", "path": "None", "to": "b"}
    assert found["more"] == [{"size": 3, "kind": "move"}]


def test_a_sole_parameter_named_arguments_is_unwrapped():
    event = {
        "messageVersion": "1.0",
        "function": "apply_patch_v1",
        "parameters": [entry("arguments", json.dumps(GIVEN))],
    }
    assert decoded(event) == {**GIVEN, "schemaVersion": 1}
    event["parameters"] = [entry("arguments", "[1]")]
    assert refused(event)[0]["path"] == "/arguments"


def test_gateway_arguments_are_flat_and_strict():
    context = gateway("apply-patch-v1___apply_patch_v1")
    assert decoded(dict(GIVEN), context=context) == {**GIVEN, "schemaVersion": 1}
    given = {**GIVEN, "dryRun": "true"}
    assert decoded(given, context=context)["dryRun"] == "true"


def test_gateway_arguments_cannot_pass_for_another_surface():
    context = gateway("apply-patch-v1___apply_patch_v1")
    event = {**GIVEN, "messageVersion": "1.0", "apiPath": "/apply_patch_v1"}
    assert events.recognise(event, context).surface == "gateway"


def test_direct_arguments_must_carry_the_version_themselves():
    assert "schemaVersion" not in decoded(dict(GIVEN))


@pytest.mark.parametrize("event", [{}, None, [], "text", 7])
def test_an_empty_or_odd_event_is_refused_in_decoding(event):
    assert refused(event)[0]["problem"] == "empty event"


def test_another_tools_event_is_refused_by_name():
    assert refused(api([], tool="delete_everything"))[0]["expected"] == {"const": "apply_patch_v1"}
    assert refused(dict(GIVEN), context=gateway("x___other"))[0]["problem"] == "wrong tool"


def test_flat_dialects_get_the_bare_result():
    assert events.render(events.recognise({"a": 1}, None), {"ok": True}) == {"ok": True}


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "odd",
    [7, None, ["a"], {"a": 1}, 10**5000, nested(3_000)],
    ids=["int", "null", "list", "object", "huge", "deep"],
)
def test_what_is_no_text_names_no_tool_and_is_not_echoed(odd):
    for event, context in (
        ({"messageVersion": "1.0", "apiPath": odd, "actionGroup": odd, "httpMethod": odd}, None),
        ({"messageVersion": "1.0", "function": odd, "actionGroup": odd}, None),
        ({"repoRoot": "/w"}, gateway(odd)),
    ):
        envelope = events.recognise(event, context)
        assert refused(event, context=context)[0]["problem"] == "wrong tool"
        assert envelope.echo == {}


@pytest.mark.parametrize(
    "odd", [7, ["a"], {"a": 1}, nested(3_000), ""], ids=["int", "list", "object", "deep", "empty"]
)
def test_a_token_that_is_no_text_is_a_presented_token_all_the_same(odd):
    event = {"repoRoot": "/w", "_caller": odd}
    assert events.arguments(events.recognise(event, None), READ)[1] == ""
