"""Every event shape that Bedrock, the Gateway and AWS's own migration tools are known to send."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from contracts import registry
from contracts.errors import InvalidArgumentsError
from functions._runtime import events

SPEC = registry.find("apply_patch_v1")
READ = registry.find("read_file_v1")
LIST = registry.find("list_files_v1")
FILES = [{"path": "a.txt", "mode": "replace_full", "content": 'x = {"a": [1]}\n\\n &amp; é 😀\r\n'}]
KEY = "key-12345678"
GIVEN = {"idempotencyKey": KEY, "repoRoot": "/workspace/app", "files": FILES}
READ_GIVEN = {"repoRoot": "/workspace/app", "path": "a.txt"}


def api(properties, *, parameters=None, tool="apply_patch_v1", media="application/json"):
    event = {"messageVersion": "1.0", "apiPath": f"/{tool}", "httpMethod": "POST"}
    if parameters is not None:
        event["parameters"] = parameters
    if properties is not None:
        event["requestBody"] = {"content": {media: {"properties": properties}}}
    return event


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


BODY = [entry("idempotencyKey", KEY), entry("repoRoot", "/workspace/app")]


def test_code_arrives_byte_for_byte_in_json_text():
    event = api([*BODY, entry("files", json.dumps(FILES, ensure_ascii=False))])
    assert decoded(event) == {**GIVEN, "schemaVersion": 1}


def test_parameters_and_body_are_merged_and_the_body_wins():
    event = api(
        [entry("repoRoot", "/workspace/app")],
        parameters=[entry("repoRoot", "/elsewhere"), entry("path", "a.txt")],
        tool="read_file_v1",
    )
    assert decoded(event, READ) == READ_GIVEN


def test_a_body_may_be_missing_and_arguments_come_as_parameters():
    event = api(None, parameters=[entry(n, v) for n, v in READ_GIVEN.items()], tool="read_file_v1")
    assert decoded(event, READ) == READ_GIVEN


def test_a_media_type_may_carry_a_charset():
    media = "application/json; charset=utf-8"
    properties = [entry(name, value) for name, value in READ_GIVEN.items()]
    assert decoded(api(properties, tool="read_file_v1", media=media), READ) == READ_GIVEN


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


def test_a_string_that_says_none_is_that_string():
    assert decoded(api([entry("glob", "None")], tool="list_files_v1"), LIST)["glob"] == "None"


@pytest.mark.parametrize(
    "text",
    [
        "[FHIR, HL7 CDA]",
        "[{path=a.txt, mode=replace_full}]",
        "<item>a.txt</item>",
        "[{'path': 'a.txt'}]",
        "a.txt,b.txt",
        '[{"path": "a.txt", "path": "b.txt"}]',
        "[NaN]",
        "[1e400]",
        '["' + "\\ud800" * 2,
        "[" * 100_000,
        '"just text"',
        "",
    ],
)
def test_text_that_only_a_guess_could_read_is_refused_with_the_form_to_send(text):
    (problem,) = refused(api([*BODY, entry("files", text, "array")]))
    assert problem["path"] == "/files"
    assert problem["expected"] == {"type": "string", "form": "JSON text of an array"}
    assert "a.txt" not in json.dumps(problem)


def test_native_values_of_the_import_proxy_are_taken():
    nested = [[entry(name, value) for name, value in FILES[0].items()]]
    event = api([*BODY, entry("files", nested, "array"), entry("contentType", "application/json")])
    assert decoded(event) == {**GIVEN, "schemaVersion": 1}


def test_native_lists_are_taken_as_they_are():
    assert decoded(api([*BODY, entry("files", FILES)]))["files"] == FILES


def test_the_gateway_shim_sends_no_types_and_no_session():
    properties = [{"name": name, "value": value} for name, value in READ_GIVEN.items()]
    event = {**api(properties, tool="read_file_v1"), "actionGroup": "migrated"}
    assert decoded(event, READ) == READ_GIVEN


def test_function_details_carry_parameters():
    parameters = [entry(name, value) for name, value in READ_GIVEN.items()]
    event = {"messageVersion": "1.0", "function": "read_file_v1", "parameters": parameters}
    assert decoded(event, READ) == READ_GIVEN


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


@pytest.mark.parametrize("entries", [[{"wrong": "x"}], ["x"], [entry("a", "1"), entry("a", "2")]])
def test_properties_that_cannot_be_told_apart_are_refused(entries):
    assert refused(api(entries))[0]["expected"] == {"fields": ["name", "type", "value"]}


def test_the_answer_goes_back_in_the_same_envelope():
    event = {
        **api(None, parameters=[]),
        "actionGroup": "apply_patch_v1",
        "sessionAttributes": {"k": "v"},
        "promptSessionAttributes": {},
    }
    answer = events.render(events.recognise(event, None), {"ok": True, "text": "é"})
    assert answer == {
        "messageVersion": "1.0",
        "response": {
            "actionGroup": "apply_patch_v1",
            "apiPath": "/apply_patch_v1",
            "httpMethod": "POST",
            "httpStatusCode": 200,
            "responseBody": {"application/json": {"body": '{"ok":true,"text":"é"}'}},
        },
        "sessionAttributes": {"k": "v"},
        "promptSessionAttributes": {},
    }


def test_function_answers_are_text_and_have_no_state():
    event = {"messageVersion": "1.0", "function": "read_file_v1", "actionGroup": "g"}
    answer = events.render(events.recognise(event, None), {"ok": False})
    assert answer["response"] == {
        "actionGroup": "g",
        "function": "read_file_v1",
        "functionResponse": {"responseBody": {"TEXT": {"body": '{"ok":false}'}}},
    }


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
