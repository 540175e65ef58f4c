"""One emitter a target: pure functions from a ToolSpec to that target's document.

    json-schema        JSON Schema 2020-12 of the input, the output and the error
    bedrock            OpenAPI 3.0.0 for a Bedrock action group, one operation a tool
    bedrock-function   a function of a Bedrock action group, for agents without OpenAPI
    gateway            ToolDefinition of a Lambda target of AgentCore Gateway
    mcp                Tool of a Model Context Protocol server
    converse           toolSpec of Bedrock's Converse API
    langchain          name, description and args_schema of a LangChain tool

What a target cannot express is said in the descriptions and listed by `lost`; `targets` says what
each can. A contract that a target cannot be told of raises UnportableError. The server always
checks all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from contracts.dialects import (
    bedrock,
    bedrock_function,
    converse,
    gateway,
    json_schema,
    langchain,
    mcp,
)
from contracts.dialects.targets import UnportableError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from contracts.spec import ToolSpec


class Emitter(Protocol):
    """What each of the modules gives."""

    def emit(self, spec: ToolSpec) -> dict[str, Any]:
        """The target's document. Raises UnportableError."""

    def schemas(self, document: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """The schemas in such a document; `input` is that of the arguments."""

    def tool_name(self, spec: ToolSpec) -> str:
        """The name by which the target's model sees the tool."""


EMITTERS: Mapping[str, Emitter] = {
    "json-schema": json_schema,
    "bedrock": bedrock,
    "bedrock-function": bedrock_function,
    "gateway": gateway,
    "mcp": mcp,
    "converse": converse,
    "langchain": langchain,
}
DIALECTS: Mapping[str, Callable[[ToolSpec], dict[str, Any]]] = {
    name: emitter.emit for name, emitter in EMITTERS.items()
}
"""Emitters by the name that `--dialect` takes."""

REFUSED = "refused"
"""The one field of what stands for a document that cannot be emitted; it says why."""


def emitted(spec: ToolSpec, dialect: str) -> dict[str, Any]:
    """The target's document, or `{"refused": reason}`."""
    try:
        return EMITTERS[dialect].emit(spec)
    except UnportableError as error:
        return {REFUSED: str(error)}


def schemas(document: dict[str, Any], dialect: str) -> dict[str, dict[str, Any]]:
    """The schemas in what `emitted` gave; none in a refusal."""
    return {} if REFUSED in document else EMITTERS[dialect].schemas(document)
