"""The arguments as a target's model has to send them, and what the model is told of the call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.dialects.flatten import tag_of
from contracts.dialects.inline import inline
from contracts.dialects.targets import KEY, Target, UnportableError
from contracts.schema_nodes import nodes, present

if TYPE_CHECKING:
    from contracts.spec import ToolSpec


def arguments(spec: ToolSpec, target: Target) -> dict[str, Any]:
    """The contract's input in one piece, without the arguments that the surface fills in.

    Raises UnportableError for a union that no property tells apart, and for an argument that must
    be given and may be null where a target has no null.
    """
    schema = inline(spec.input_schema)
    for pointer, node in nodes(schema):
        _, nullable = present(node)
        if "anyOf" in node and not nullable:
            raise UnportableError(f"{pointer} is a union without a discriminator")
        if "oneOf" in node:
            tag_of(node["oneOf"], pointer)
        if "anyOf" not in target.keywords:
            _refuse_required_null(node, pointer)
    names = [name for name in schema["properties"] if name not in target.supplied]
    return {
        **schema,
        "properties": {name: schema["properties"][name] for name in names},
        "required": [name for name in schema.get("required", []) if name in names],
    }


def _refuse_required_null(node: dict[str, Any], pointer: str) -> None:
    for name in node.get("required", []):
        if present(node["properties"][name])[1]:
            raise UnportableError(f"{pointer}/{name} must be given and may be null: default it")


def description(spec: ToolSpec, target: Target) -> str:
    """What the tool does, for the model; about keys only where the model makes them."""
    if not spec.mutates or KEY in target.supplied:
        return spec.description
    return f"{spec.description} Send the same {KEY} to repeat a call: it never happens twice."
