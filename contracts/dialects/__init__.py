"""One emitter a target: pure functions from a ToolSpec to that target's document.

    json-schema   JSON Schema 2020-12 of the input, the output and the error
    bedrock       OpenAPI 3.0.0 for a Bedrock action group, one operation a tool

What a target cannot express is said in the descriptions; the server always checks all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.dialects import bedrock, json_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from contracts.spec import ToolSpec

DIALECTS: Mapping[str, Callable[[ToolSpec], dict[str, Any]]] = {
    "json-schema": json_schema.emit,
    "bedrock": bedrock.emit,
}
"""Emitters by the name that `--dialect` takes."""
