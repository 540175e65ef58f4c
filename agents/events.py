"""The events that each surface sends to a tool's Lambda, and the result inside its answer.

Pure: a spec and arguments in, an event out. `direct` and `gateway` carry JSON values; `bedrock` and
`bedrock-function` carry text only, as Bedrock does, and never `schemaVersion`.

The arguments may be a model's. In a direct event, which nobody but the caller's side makes, a name
that would make another surface's or another caller's event of it is refused. The other surfaces
are AWS's, and their events are as AWS makes them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from contracts import caller
from contracts.dialects import bedrock, bedrock_function, gateway
from contracts.errors import InvalidArgumentsError
from contracts.issues import issue
from contracts.spec import RESERVED_ARGUMENTS

if TYPE_CHECKING:
    from contracts.results import Result
    from contracts.spec import ToolSpec

Surface = Literal["direct", "bedrock", "bedrock-function", "gateway"]
SURFACES: tuple[Surface, ...] = get_args(Surface)

FROM_NAME = "schemaVersion"


class AnswerError(ValueError):
    """A Lambda answered something that is not a result of a tool."""


@dataclass(frozen=True)
class Event:
    """What is sent: the payload, and the client context where the surface sets one."""

    payload: dict[str, Any]
    client_context: dict[str, Any] | None = None


@dataclass(frozen=True)
class Session:
    """A Bedrock session: its id, what the user said, the attributes that its caller has set."""

    id: str = "local-session"
    input_text: str = ""
    attributes: dict[str, str] = field(default_factory=dict)
    agent: dict[str, str] = field(
        default_factory=lambda: {
            "name": "local", "id": "LOCALAGENT", "alias": "TSTALIASID", "version": "DRAFT",
        }
    )  # fmt: skip


@dataclass(frozen=True)
class ApiPlace:
    """One operation of one action group, as its document places it."""

    action_group: str
    api_path: str
    http_method: str


def build(
    spec: ToolSpec,
    arguments: dict[str, Any],
    surface: Surface,
    session: Session | None = None,
    *,
    token: str | None = None,
) -> Event:
    """The event by which `surface` calls the tool with these arguments, as the token's caller.

    Raises InvalidArgumentsError for an argument of a reserved name in a direct call.
    """
    carried = {} if token is None else {caller.ARGUMENT: token}
    if surface == "direct":
        _refuse_reserved(spec, arguments)
        return Event({**arguments, **carried})
    if surface == "gateway":
        custom = {
            "bedrockAgentCoreMessageVersion": "1.0",
            "bedrockAgentCoreToolName": gateway.tool_name(spec),
        }
        return Event({**_without_version(arguments), **carried}, {"custom": custom})
    session = session or Session()
    session = replace(session, attributes={**session.attributes, **carried})
    if surface == "bedrock":
        place = ApiPlace(spec.model_name, bedrock.api_path(spec), "POST")
        return bedrock_api(place, _without_version(arguments), session)
    properties = _entries(_without_version(arguments))
    declared = set(spec.input_schema["properties"]) - {FROM_NAME}
    if len(declared) > bedrock_function.PARAMETERS_MAX:
        properties = [_entry("arguments", _without_version(arguments))]
    envelope = _envelope(spec.model_name, session)
    return Event({**envelope, "function": spec.model_name, "parameters": properties})


def bedrock_api(place: ApiPlace, arguments: dict[str, Any], session: Session) -> Event:
    """The event of an action group that is described by an OpenAPI document."""
    properties = _entries(arguments)
    content = {"application/json": {"properties": properties}}
    body = {"requestBody": {"content": content}} if properties else {}
    path = {"apiPath": place.api_path, "httpMethod": place.http_method, "parameters": []}
    return Event({**_envelope(place.action_group, session), **path, **body})


def unwrap(answer: Any) -> Result:
    """The tool's result inside what the Lambda returned. Raises AnswerError."""
    result = answer
    if isinstance(answer, dict) and "response" in answer:
        try:
            response = answer["response"]
            bodies = response.get("functionResponse", response).get("responseBody", {})
            (part,) = bodies.values()
            result = json.loads(part["body"])
        except (AttributeError, KeyError, TypeError, ValueError):
            raise AnswerError("the answer's body is not JSON text") from None
    if not isinstance(result, dict) or not isinstance(result.get("ok"), bool):
        raise AnswerError("the answer is not a result: it has no boolean ok")
    return result


def _refuse_reserved(spec: ToolSpec, arguments: dict[str, Any]) -> None:
    """Beside flat arguments stand the token and what tells surfaces apart: no argument may."""
    if reserved := sorted(RESERVED_ARGUMENTS & set(arguments)):
        declared = sorted(set(spec.input_schema["properties"]) - {FROM_NAME})
        raise InvalidArgumentsError(
            f"/{reserved[0]}: a name that arguments cannot have",
            issues=[issue(f"/{name}", "reserved", {"fields": declared}) for name in reserved],
        )


def _envelope(action_group: str, session: Session) -> dict[str, Any]:
    return {
        "messageVersion": "1.0",
        "agent": session.agent,
        "inputText": session.input_text,
        "sessionId": session.id,
        "actionGroup": action_group,
        "sessionAttributes": session.attributes,
        "promptSessionAttributes": {},
    }


def _without_version(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name != FROM_NAME}


def _entries(arguments: dict[str, Any]) -> list[dict[str, str]]:
    """The properties of a call. Text has no null, so what is null is left out."""
    return [_entry(name, value) for name, value in arguments.items() if value is not None]


def _entry(name: str, value: Any) -> dict[str, str]:
    """One property as Bedrock sends it: everything is text."""
    if isinstance(value, bool):
        return {"name": name, "type": "boolean", "value": str(value).lower()}
    if isinstance(value, int):
        return {"name": name, "type": "integer", "value": str(value)}
    if isinstance(value, str):
        return {"name": name, "type": "string", "value": value}
    return {"name": name, "type": "string", "value": json.dumps(value, ensure_ascii=False)}
