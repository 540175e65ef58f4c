"""Four event dialects in, one set of arguments out, and the answer back in the same envelope.

    bedrock-api        messageVersion and apiPath; body properties and parameters
    bedrock-function   messageVersion and function; parameters
    gateway            flat arguments; the tool's name is in the client context
    direct             flat arguments

Only the arguments are needed; every other field of an envelope may be missing. On Bedrock all
values are text, so scalars are read by the type that the contract declares and nested values are
JSON text. What cannot be read without guessing is refused, naming the property. Strings are taken
verbatim, always.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from contracts import caller, strict_json
from contracts.errors import InvalidArgumentsError
from contracts.issues import ISSUES_MAX, escape, issue
from functions._runtime import bedrock_values

if TYPE_CHECKING:
    from contracts.results import Result
    from contracts.spec import ToolSpec

Dialect = Literal["bedrock-api", "bedrock-function", "gateway", "direct"]

GATEWAY_TOOL_NAME = "bedrockAgentCoreToolName"
GATEWAY_SEPARATOR = "___"
MEDIA_TYPE = "application/json"
SHIM_PROPERTY = "contentType"
"""AWS's import proxy adds it to every body; it is no argument of any tool."""

_JSON_BODY = re.compile(rf"{MEDIA_TYPE}\s*(;|\Z)")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True)
class Envelope:
    """An event without its arguments: which dialect, which tool, what to echo."""

    dialect: Dialect
    event: dict[str, Any]
    tool: str | None = None
    echo: dict[str, str] = field(default_factory=dict)

    @property
    def surface(self) -> str:
        """The surface that the stage binds callers by: bedrock, gateway or direct."""
        return "bedrock" if self.dialect.startswith("bedrock") else self.dialect

    @property
    def session_id(self) -> str | None:
        """The session that Bedrock says the call is of; no other surface has one."""
        return _text(self.event.get("sessionId")) or None if self.surface == "bedrock" else None


def recognise(event: Any, context: Any) -> Envelope:
    """The envelope of any event; never raises. What is no object is an empty direct call.

    The Gateway is looked for first: its arguments are the model's, and must not be able to pass
    for another surface's envelope.
    """
    if not isinstance(event, dict):
        return Envelope("direct", {})
    custom = getattr(getattr(context, "client_context", None), "custom", None)
    if isinstance(custom, dict) and GATEWAY_TOOL_NAME in custom:
        name = _text(custom[GATEWAY_TOOL_NAME]).rsplit(GATEWAY_SEPARATOR, 1)[-1]
        return Envelope("gateway", event, tool=name)
    if "messageVersion" in event and "apiPath" in event:
        echo = _texts(event, "actionGroup", "apiPath", "httpMethod")
        return Envelope("bedrock-api", event, _text(event["apiPath"]).removeprefix("/"), echo)
    if "messageVersion" in event and "function" in event:
        echo = _texts(event, "actionGroup", "function")
        return Envelope("bedrock-function", event, _text(event["function"]), echo)
    return Envelope("direct", event)


def _text(value: Any) -> str:
    """A name, or nothing where something else stands: that is never turned into text."""
    return value if isinstance(value, str) else ""


def _texts(event: dict[str, Any], *names: str) -> dict[str, str]:
    """What the answer must echo; Bedrock takes nothing but text there."""
    return {name: event[name] for name in names if _is_sendable(event.get(name))}


def _is_sendable(value: Any) -> bool:
    """Whether a value is text that an answer can hold; a lone surrogate fits into no answer."""
    return isinstance(value, str) and not _SURROGATE.search(value)


def arguments(envelope: Envelope, spec: ToolSpec) -> tuple[dict[str, Any], str | None]:
    """The arguments as JSON values, and the caller token if one was presented.

    Raises InvalidArgumentsError for an empty event, another tool's event, or text that cannot be
    read as the declared type.
    """
    if not envelope.event:
        raise InvalidArgumentsError(
            "the event is empty", issues=[issue("", "empty event", {"type": "object"})]
        )
    if envelope.tool is not None and envelope.tool not in {spec.model_name, spec.folder}:
        raise InvalidArgumentsError(
            f"this function is {spec.model_name}",
            issues=[issue("", "wrong tool", {"const": spec.model_name})],
        )
    if envelope.surface == "bedrock":
        found = _from_bedrock(envelope, spec)
        token = _session_attribute(envelope)
    else:
        found = dict(envelope.event)
        token = found.pop(caller.ARGUMENT, None)
    if spec.mutates and envelope.surface != "direct":
        found.setdefault("schemaVersion", spec.major)
    # Whatever was presented was presented: it is for authorise to refuse.
    return found, token if token is None else _text(token)


def render(envelope: Envelope, result: Result) -> dict[str, Any]:
    """The Lambda's return value: the bare result, or Bedrock's envelope with it as JSON text."""
    if envelope.surface != "bedrock":
        return result
    body = {"body": json.dumps(result, ensure_ascii=False, separators=(",", ":"))}
    response: dict[str, Any] = dict(envelope.echo)
    if envelope.dialect == "bedrock-api":
        # A typed failure is an ordinary answer: anything but 200 may end the agent's turn.
        response |= {"httpStatusCode": 200, "responseBody": {MEDIA_TYPE: body}}
    else:
        response["functionResponse"] = {"responseBody": {"TEXT": body}}
    answer: dict[str, Any] = {"messageVersion": "1.0", "response": response}
    for attributes in ("sessionAttributes", "promptSessionAttributes"):
        if isinstance(given := envelope.event.get(attributes), dict):
            answer[attributes] = {
                name: value
                for name, value in given.items()
                if _is_sendable(name) and _is_sendable(value)
            }
    return answer


def _session_attribute(envelope: Envelope) -> Any:
    attributes = envelope.event.get("sessionAttributes")
    return attributes.get(caller.ARGUMENT) if isinstance(attributes, dict) else None


def _from_bedrock(envelope: Envelope, spec: ToolSpec) -> dict[str, Any]:
    given = _named(envelope.event.get("parameters"))
    body = _body(envelope.event.get("requestBody"))
    properties = spec.input_schema["properties"]
    if SHIM_PROPERTY not in properties:
        body.pop(SHIM_PROPERTY, None)
    given |= body
    if envelope.dialect == "bedrock-function" and set(given) == {"arguments"}:
        return _unwrapped(given["arguments"])
    found, problems = {}, []
    for name, value in given.items():
        try:
            read = bedrock_values.read(value, properties.get(name, {}), spec.input_schema)
        except bedrock_values.UnreadableError as error:
            problems.append(issue(f"/{escape(name)}", error.problem, error.expected))
            continue
        if read is not bedrock_values.ABSENT:
            found[name] = read
    if problems:
        names = ", ".join(sorted(one["path"] for one in problems)[:5])
        raise InvalidArgumentsError(f"{names}: send JSON text", issues=problems[:ISSUES_MAX])
    return found


def _named(entries: Any) -> dict[str, Any]:
    """Bedrock's list of {name, type, value} as a mapping. Raises InvalidArgumentsError."""
    found: dict[str, Any] = {}
    for entry in entries if isinstance(entries, list) else []:
        name = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(name, str) or name in found:
            problem = "a property twice" if isinstance(name, str) else "a property without a name"
            raise InvalidArgumentsError(
                "the properties cannot be told apart",
                issues=[issue("", problem, {"fields": ["name", "type", "value"]})],
            )
        found[name] = entry.get("value")
    return found


def _body(request_body: Any) -> dict[str, Any]:
    content = request_body.get("content") if isinstance(request_body, dict) else None
    for media_type, part in content.items() if isinstance(content, dict) else ():
        if _JSON_BODY.match(_text(media_type)) and isinstance(part, dict):
            return _named(part.get("properties"))
    return {}


def _unwrapped(text: Any) -> dict[str, Any]:
    """The arguments from the one `arguments` string of a tool with many parameters."""
    try:
        found = strict_json.parse(text) if isinstance(text, str) else text
        if isinstance(found, dict):
            return found
        problem = "not an object"
    except strict_json.StrictJsonError as error:
        problem = str(error)
    raise InvalidArgumentsError(
        "/arguments: send JSON text of one object",
        issues=[issue("/arguments", problem, {"type": "string", "form": "JSON text of an object"})],
    )
