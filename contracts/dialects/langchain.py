"""What a LangChain tool is made of: name, description and the schema of its arguments.

The harness makes `idempotencyKey` and knows `schemaVersion`, so the model is told of neither. The
schema is data, not a Pydantic model: LangChain would show the model Python's names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.dialects.arguments import arguments, description
from contracts.dialects.narrow import narrow
from contracts.dialects.targets import TARGETS

if TYPE_CHECKING:
    from contracts.spec import ToolSpec

TARGET = TARGETS["langchain"]


def emit(spec: ToolSpec) -> dict[str, Any]:
    """`{name, description, args_schema}`, the keywords of a BaseTool."""
    return {
        "name": spec.model_name,
        "description": description(spec, TARGET),
        "args_schema": narrow(arguments(spec, TARGET), TARGET),
    }


def schemas(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The schema in a document: `input`, the arguments."""
    return {"input": document["args_schema"]}


def tool_name(spec: ToolSpec) -> str:
    """The tool's own name; nothing is composed."""
    return spec.model_name
