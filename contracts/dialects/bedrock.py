"""OpenAPI 3.0.0 for a Bedrock action group: one tool, one operation, inline and flat.

Bedrock takes a small part of OpenAPI: no `enum`, no `$ref`, and whatever else a schema says is
at best ignored. Only `type`, `description`, `properties`, `items` and `required` are emitted and
the rest is said in words. Arrays and objects in arguments would reach the Lambda as lossy text,
so each is one `string` property that holds JSON text. `schemaVersion` is left out: the tool's
name carries it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.dialects.arguments import arguments, description
from contracts.dialects.inline import inline
from contracts.dialects.narrow import narrow
from contracts.dialects.targets import TARGETS
from contracts.dialects.words import described, shape
from contracts.results import failure_model, success_model
from contracts.schema_nodes import present
from contracts.spec import Approval, Effect

if TYPE_CHECKING:
    from contracts.dialects.targets import Target
    from contracts.spec import ToolSpec

OPENAPI = "3.0.0"
TARGET = TARGETS["bedrock"]
TOOL_NAME_MAX = 64


def emit(spec: ToolSpec) -> dict[str, Any]:
    """The whole document of one tool's action group."""
    operation: dict[str, Any] = {
        "operationId": spec.model_name,
        "summary": spec.summary,
        "description": description(spec, TARGET),
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": request_schema(spec)}},
        },
        "responses": {
            "200": {
                "description": "Success or a typed failure, told apart by ok.",
                "content": {"application/json": {"schema": response_schema(spec)}},
            }
        },
    }
    if must_confirm(spec):
        operation["x-requireConfirmation"] = "ENABLED"
    return {
        "openapi": OPENAPI,
        "info": {"title": spec.model_name, "version": spec.version},
        "paths": {api_path(spec): {"post": operation}},
    }


def schemas(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The schemas in a document: `input`, the arguments, and `result`, the answer."""
    ((_, methods),) = document["paths"].items()
    media = "application/json"
    return {
        "input": methods["post"]["requestBody"]["content"][media]["schema"],
        "result": methods["post"]["responses"]["200"]["content"][media]["schema"],
    }


def api_path(spec: ToolSpec) -> str:
    """The path of the tool's operation; events carry it back."""
    return f"/{spec.model_name}"


def tool_name(spec: ToolSpec) -> str:
    """The name that Bedrock composes for the model: verb, action group and operation."""
    return f"POST__{spec.model_name}__{spec.model_name}"


def must_confirm(spec: ToolSpec) -> bool:
    """Whether Bedrock asks the user first: a courtesy where no other people have to agree."""
    return spec.effect is Effect.DESTRUCTIVE and spec.approval is not Approval.DUAL


def request_schema(spec: ToolSpec) -> dict[str, Any]:
    """The arguments: scalars as they are, nested values as JSON text."""
    schema = arguments(spec, TARGET)
    properties = {}
    for name, declared in schema["properties"].items():
        field, _ = present(declared)
        if is_nested(field):
            said = str(field.get("description", "")).strip()
            text = f"{said} Send JSON text: {shape(field)}"
            properties[name] = {"type": "string", "description": text.strip()}
        else:
            properties[name] = {"type": field["type"], "description": described(field)}
    return {"type": "object", "properties": properties, "required": schema["required"]}


def is_nested(field: dict[str, Any]) -> bool:
    """Whether a declared value is an array, an object or a union of objects."""
    return field.get("type") in {"array", "object"} or "oneOf" in field


def response_schema(spec: ToolSpec) -> dict[str, Any]:
    """Success and failure in one object: the target has no unions, so `ok` says which it is."""
    return result_schema(spec, TARGET)


def result_schema(spec: ToolSpec, target: Target, *, open_nulls: bool = False) -> dict[str, Any]:
    """Success and failure in one object for any target without unions."""
    good = inline(success_model(spec).model_json_schema(by_alias=True, mode="serialization"))
    bad = inline(failure_model(spec).model_json_schema(by_alias=True, mode="serialization"))
    properties = {
        **good["properties"],
        "error": bad["properties"]["error"],
        "ok": {"type": "boolean", "description": "True for a success, false for a failure."},
    }
    names = ("ok", *(name for name in properties if name != "ok"))
    whole = {
        "type": "object",
        "properties": {name: properties[name] for name in names},
        "required": ["ok", "schemaVersion"],
    }
    return narrow(whole, target, open_nulls=open_nulls)
