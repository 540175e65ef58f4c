"""Golden cases in every shape of event that Bedrock, the Gateway and AWS's migration tools send.

One case of each kind of each tool, in each shape: the answer is the case's, in the envelope that
the shape asks for.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from agents.events import Event
from agents.targets import InProcessTarget
from contracts.spec import ToolSpec
from functions._runtime.events import GATEWAY_TOOL_NAME
from tests.golden.cases import Case, all_cases

Arguments = dict[str, Any]
KINDS = {"valid", "replay", "key conflict", "state conflict", "declared code", "gated"}
FULL = {
    "messageVersion": "1.0",
    "agent": {"name": "a", "id": "AGENT", "alias": "TSTALIASID", "version": "DRAFT"},
    "inputText": "do it",
    "sessionId": "s-1",
    "sessionAttributes": {"user": "u"},
    "promptSessionAttributes": {"hint": "h"},
}
BARE = {"messageVersion": "1.0"}


def text(value: Any) -> str:
    """A value as Bedrock's service model has it: always a string."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def kind(value: Any) -> str:
    names = {str: "string", bool: "boolean", int: "integer", list: "array", dict: "object"}
    return names.get(type(value), "string")


def typed(arguments: Arguments) -> list[dict[str, str]]:
    return [{"name": n, "type": kind(v), "value": text(v)} for n, v in arguments.items()]


def nested(value: Any) -> Any:
    """Objects as the import proxy writes them: lists of name, value and type."""
    if isinstance(value, dict):
        return [{"name": n, "value": nested(v), "type": kind(v)} for n, v in value.items()]
    return [nested(item) for item in value] if isinstance(value, list) else value


def api(spec: ToolSpec, envelope: Arguments, **more: Any) -> Event:
    route = {"apiPath": f"/{spec.model_name}", "httpMethod": "POST"}
    return Event({**envelope, "actionGroup": spec.model_name, **route, **more})


def body(properties: Any, media: str = "application/json") -> Arguments:
    return {"content": {media: {"properties": properties}}}


def in_the_body(spec: ToolSpec, given: Arguments) -> Event:
    return api(spec, FULL, parameters=[], requestBody=body(typed(given)))


def in_the_parameters(spec: ToolSpec, given: Arguments) -> Event:
    return api(spec, FULL, parameters=typed(given))


def in_both_and_the_body_wins(spec: ToolSpec, given: Arguments) -> Event:
    wrong = [{"name": name, "type": "string", "value": "wrong"} for name in given]
    return api(spec, BARE, parameters=wrong, requestBody=body(typed(given)))


def with_a_charset(spec: ToolSpec, given: Arguments) -> Event:
    return api(spec, BARE, requestBody=body(typed(given), "application/json; charset=utf-8"))


def from_the_import_proxy(spec: ToolSpec, given: Arguments) -> Event:
    properties = [{"name": n, "type": kind(v), "value": nested(v)} for n, v in given.items()]
    properties.append({"name": "contentType", "type": "string", "value": "application/json"})
    envelope = {**FULL, "inputText": "", "sessionAttributes": {}}
    return api(spec, envelope, parameters=[], requestBody=body(properties))


def from_the_lambda_shim(spec: ToolSpec, given: Arguments) -> Event:
    """No agent, no session, no types; native values."""
    properties = [{"name": name, "value": value} for name, value in given.items()]
    event = api(spec, BARE, parameters=[], requestBody=body(properties))
    return Event({**event.payload, "actionGroup": "migrated"})


def function_details(spec: ToolSpec, given: Arguments) -> Event:
    more = {"actionGroup": spec.model_name, "function": spec.model_name}
    return Event({**FULL, **more, "parameters": typed(given)})


def function_with_one_text(spec: ToolSpec, given: Arguments) -> Event:
    more = {"actionGroup": spec.model_name, "function": spec.model_name}
    whole = {"name": "arguments", "type": "string", "value": json.dumps(given)}
    return Event({**BARE, **more, "parameters": [whole]})


def gateway(spec: ToolSpec, given: Arguments) -> Event:
    custom = {
        GATEWAY_TOOL_NAME: f"{spec.model_name.replace('_', '-')}___{spec.model_name}",
        "bedrockAgentCoreMessageVersion": "1.0",
        "bedrockAgentCoreMcpMessageId": "1",
        "bedrockAgentCoreGatewayId": "g",
        "bedrockAgentCoreTargetId": "t",
        "bedrockAgentCoreAwsRequestId": "r",
    }
    return Event(dict(given), {"custom": custom})


SHAPES: dict[str, Callable[[ToolSpec, Arguments], Event]] = {
    shape.__name__: shape
    for shape in (
        in_the_body,
        in_the_parameters,
        in_both_and_the_body_wins,
        with_a_charset,
        from_the_import_proxy,
        from_the_lambda_shim,
        function_details,
        function_with_one_text,
        gateway,
    )
}


def cases() -> list[Case]:
    """The first case of each kind of each tool."""
    found: dict[tuple[str, str], Case] = {}
    for case in all_cases():
        if case.surface == "direct" and case.data["kind"] in KINDS:
            found.setdefault((case.tool, case.data["kind"]), case)
    return list(found.values())


class Watched(InProcessTarget):
    """Checks the envelope of each answer against its event."""

    def send(self, spec: ToolSpec, event: Event) -> Any:
        answer, sent = super().send(spec, event), event.payload
        if event.client_context:
            assert set(answer) >= {"ok", "schemaVersion"}
            return answer
        response = answer["response"]
        for name in ("actionGroup", "apiPath", "httpMethod", "function"):
            assert response.get(name) == sent.get(name)
        assert answer["messageVersion"] == "1.0"
        if "apiPath" in sent:
            assert response["httpStatusCode"] == 200
            assert set(response["responseBody"]) == {"application/json"}
        else:
            assert set(response["functionResponse"]) == {"responseBody"}
        for name in ("sessionAttributes", "promptSessionAttributes"):
            assert answer.get(name) == sent.get(name)
        return answer


@pytest.mark.usefixtures("aws_cloud")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_a_case_is_answered_the_same_in_every_shape(case, shape, workspaces):
    def build(spec: ToolSpec, arguments: Arguments, _surface: Any) -> Event:
        # On these surfaces the tool's name says the version.
        given = {name: value for name, value in arguments.items() if name != "schemaVersion"}
        return SHAPES[shape](spec, given)

    case.play(Watched(), workspaces, build)


CODE = "a = '\\n'\r\n\tprint(\"{a=b}\", [x], '&amp;', '\U0001f600', \u2028)\r\n\\"


@pytest.mark.usefixtures("aws_cloud")
@pytest.mark.parametrize("shape", SHAPES)
def test_code_arrives_byte_for_byte(shape, workspaces):
    from contracts import registry

    spec = registry.find("write_file_v1")
    workspaces.create("/shapes/code", {})
    given = {"repoRoot": "/shapes/code", "idempotencyKey": "k" * 9, "path": "a", "content": CODE}
    Watched().send(spec, SHAPES[shape](spec, given))
    assert workspaces.files("/shapes/code") == {"a": CODE.encode()}
