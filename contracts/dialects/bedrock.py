"""OpenAPI 3.0.0 for a Bedrock action group: one tool, one operation, inline and flat.

Bedrock takes a small part of OpenAPI: no `enum`, no `$ref`, and whatever else a schema says is
at best ignored. Only `type`, `description`, `properties`, `items` and `required` are emitted and
the rest is said in words. Arrays and objects in arguments would reach the Lambda as lossy text,
so each is one `string` property that holds JSON text. `schemaVersion` is left out: the tool's
name carries it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.dialects.inline import inline
from contracts.dialects.words import described, shape
from contracts.results import failure_model, success_model
from contracts.schema_nodes import present
from contracts.spec import Approval, Effect

if TYPE_CHECKING:
    from contracts.spec import ToolSpec

OPENAPI = "3.0.0"
WHITELIST = frozenset({"type", "description", "properties", "items", "required"})
"""The only schema keywords that are emitted."""
FROM_NAME = "schemaVersion"
"""An argument that the model does not send: it is filled from the tool's name."""
TOOL_NAME_MAX = 64


def emit(spec: ToolSpec) -> dict[str, Any]:
    """The whole document of one tool's action group."""
    operation: dict[str, Any] = {
        "operationId": spec.model_name,
        "summary": spec.summary,
        "description": description(spec),
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
    if spec.effect is Effect.DESTRUCTIVE and spec.approval is not Approval.DUAL:
        operation["x-requireConfirmation"] = "ENABLED"
    return {
        "openapi": OPENAPI,
        "info": {"title": spec.model_name, "version": spec.version},
        "paths": {api_path(spec): {"post": operation}},
    }


def api_path(spec: ToolSpec) -> str:
    """The path of the tool's operation; events carry it back."""
    return f"/{spec.model_name}"


def tool_name(spec: ToolSpec) -> str:
    """The name that Bedrock composes for the model: verb, action group and operation."""
    return f"POST__{spec.model_name}__{spec.model_name}"


def description(spec: ToolSpec) -> str:
    """What the operation does, for the model."""
    if not spec.mutates:
        return spec.summary
    return f"{spec.summary} Send the same idempotencyKey to repeat a call: it never happens twice."


def request_schema(spec: ToolSpec) -> dict[str, Any]:
    """The arguments: scalars as they are, nested values as JSON text."""
    schema = inline(spec.input_schema)
    properties = {}
    required = set(schema.get("required", []))
    for name, declared in schema["properties"].items():
        if name == FROM_NAME:
            required.discard(name)
            continue
        field, _ = present(declared)
        if is_nested(field):
            said = str(field.get("description", "")).strip()
            text = f"{said} Send JSON text: {shape(field)}"
            properties[name] = {"type": "string", "description": text.strip()}
        else:
            properties[name] = {"type": field["type"], "description": described(field)}
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name in required],
    }


def is_nested(field: dict[str, Any]) -> bool:
    """Whether a declared value is an array, an object or a union of objects."""
    return field.get("type") in {"array", "object"} or "oneOf" in field


def response_schema(spec: ToolSpec) -> dict[str, Any]:
    """Success and failure in one object: the target has no unions, so `ok` says which it is."""
    good = inline(success_model(spec).model_json_schema(by_alias=True, mode="serialization"))
    bad = inline(failure_model(spec).model_json_schema(by_alias=True, mode="serialization"))
    properties = {
        **good["properties"],
        "error": bad["properties"]["error"],
        "ok": {"type": "boolean", "description": "True for a success, false for a failure."},
    }
    properties = {name: properties[name] for name in ("ok", *(n for n in properties if n != "ok"))}
    return {
        "type": "object",
        "properties": {name: _narrow(child) for name, child in properties.items()},
        "required": ["ok", "schemaVersion"],
    }


def _narrow(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema in the whitelist's keywords; everything else goes into the description."""
    schema, _ = present(schema)
    out: dict[str, Any] = {"type": schema.get("type", "object")}
    if said := described({k: v for k, v in schema.items() if k not in {"properties", "items"}}):
        out["description"] = said
    if schema.get("properties"):
        out["properties"] = {name: _narrow(child) for name, child in schema["properties"].items()}
        out["required"] = schema.get("required", [])
        if not out["required"]:
            del out["required"]
    if "items" in schema:
        out["items"] = _narrow(schema["items"])
    return out
