"""A tool of a Lambda target of AgentCore Gateway: its ToolDefinition.

Arguments arrive as JSON values, so nesting stays; schemas have five keywords, so the rest is said
in words and a union becomes one object. `schemaVersion` is left out: the tool's name carries it.
The answer is the whole result, because the Gateway passes failures on as answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.dialects.arguments import arguments, description
from contracts.dialects.bedrock import result_schema
from contracts.dialects.narrow import narrow
from contracts.dialects.targets import TARGETS

if TYPE_CHECKING:
    from contracts.spec import ToolSpec

TARGET = TARGETS["gateway"]


def emit(spec: ToolSpec) -> dict[str, Any]:
    """`{name, description, inputSchema, outputSchema}`.

    Raises UnportableError for a union whose variants give one name two meanings.
    """
    return {
        "name": spec.model_name,
        "description": description(spec, TARGET),
        "inputSchema": narrow(arguments(spec, TARGET), TARGET),
        "outputSchema": result_schema(spec, TARGET, open_nulls=True),
    }


def schemas(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The schemas in a document: `input`, the arguments, and `result`, the answer."""
    return {"input": document["inputSchema"], "result": document["outputSchema"]}


def target_name(spec: ToolSpec) -> str:
    """The name of the tool's own target; targets take no underscore."""
    return spec.model_name.replace("_", "-")


def tool_name(spec: ToolSpec) -> str:
    """The name that the Gateway composes for the model: target and tool."""
    return f"{target_name(spec)}___{spec.model_name}"
