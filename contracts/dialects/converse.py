"""A tool of Bedrock's Converse API: its toolSpec.

The schema is passed on to the model as it is, in one piece. `schemaVersion` is left out: the
tool's name carries it. `idempotencyKey` stays; a loop that makes the keys itself hides it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.dialects.arguments import arguments, description
from contracts.dialects.narrow import narrow
from contracts.dialects.targets import TARGETS

if TYPE_CHECKING:
    from contracts.spec import ToolSpec

TARGET = TARGETS["converse"]


def emit(spec: ToolSpec) -> dict[str, Any]:
    """`{"toolSpec": {name, description, inputSchema: {"json": schema}}}`: one of the tools."""
    return {
        "toolSpec": {
            "name": spec.model_name,
            "description": description(spec, TARGET),
            "inputSchema": {"json": narrow(arguments(spec, TARGET), TARGET)},
        }
    }


def schemas(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The schema in a document: `input`, the arguments."""
    return {"input": document["toolSpec"]["inputSchema"]["json"]}


def tool_name(spec: ToolSpec) -> str:
    """The tool's own name; nothing is composed."""
    return spec.model_name
