"""A tool of a Model Context Protocol server, as `tools/list` shows it.

Schemas are JSON Schema 2020-12 in one piece. The output is the success alone: a failure is told by
`isError`. `schemaVersion` is left out: the tool's name carries it. The idempotency key comes as an
argument or in the request's `_meta`, so the schema cannot require it; the server does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.dialects import json_schema
from contracts.dialects.arguments import arguments, description
from contracts.dialects.narrow import narrow
from contracts.dialects.targets import KEY, TARGETS
from contracts.spec import Effect

if TYPE_CHECKING:
    from contracts.spec import ToolSpec

TARGET = TARGETS["mcp"]
META_VERSION = "toolgate/version"
"""In a tool's `_meta`: which version of which contract it is."""
META_KEY = "toolgate/idempotency-key"
"""In a request's `_meta`: the idempotency key, for clients that keep it from the model."""


def emit(spec: ToolSpec) -> dict[str, Any]:
    """The Tool: its two schemas, the four hints and the contract's version."""
    schema = narrow(arguments(spec, TARGET), TARGET)
    if KEY in schema["properties"]:
        schema = _with_free_key(schema)
    output = json_schema.emit(spec)["output"]
    return {
        "name": spec.model_name,
        "title": spec.name.replace(".", " ").replace("_", " ").capitalize(),
        "description": description(spec, TARGET),
        "inputSchema": schema,
        "outputSchema": {key: value for key, value in output.items() if key != "$schema"},
        "annotations": hints(spec),
        "_meta": {META_VERSION: spec.key},
    }


def hints(spec: ToolSpec) -> dict[str, bool]:
    """All four hints: what is not said would be taken for the worst.

    Only a DESTRUCTIVE effect destroys: what a WRITE replaces stays in the history. A repeated call
    has no further effect, since its key is one of its arguments. No tool reaches beyond its tenant.
    """
    return {
        "readOnlyHint": not spec.mutates,
        "destructiveHint": spec.effect is Effect.DESTRUCTIVE,
        "idempotentHint": True,
        "openWorldHint": False,
    }


def schemas(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The schemas in a document: `input`, the arguments, and `output`, the success."""
    return {"input": document["inputSchema"], "output": document["outputSchema"]}


def tool_name(spec: ToolSpec) -> str:
    """The tool's own name; nothing is composed."""
    return spec.model_name


def _with_free_key(schema: dict[str, Any]) -> dict[str, Any]:
    key = schema["properties"][KEY]
    said = (
        f"{key['description']} Needed: here or in the request's _meta as {META_KEY}; two that "
        "differ are VALIDATION."
    )
    return {
        **schema,
        "properties": {**schema["properties"], KEY: {**key, "description": said}},
        "required": [name for name in schema["required"] if name != KEY],
    }
