"""A schema in the keywords of a target; every other constraint goes into the description."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.dialects.flatten import flatten
from contracts.dialects.words import described
from contracts.schema_nodes import present

if TYPE_CHECKING:
    from contracts.dialects.targets import Target

Node = dict[str, Any]


def narrow(schema: Node, target: Target, *, open_nulls: bool = False) -> Node:
    """The schema for this target: it takes all that the contract's schema takes, and maybe more.

    `open_nulls` is for answers. A target without null cannot declare a property that holds a value
    or null, so such properties are left undeclared and told in the object's description.
    Raises UnportableError for a union that cannot be one object.
    """
    keywords = target.keywords
    if "anyOf" not in keywords:
        schema, _ = present(schema)
    if "oneOf" in schema and "oneOf" not in keywords:
        schema = flatten(schema)
    out: Node = {}
    if "type" in schema or not {"oneOf", "anyOf"} & set(schema):
        out["type"] = schema.get("type", "object")
    said = described({key: v for key, v in schema.items() if key not in keywords - {"description"}})
    if said:
        out["description"] = said
    if "properties" in schema:
        out |= _properties(schema, target, open_nulls, out.get("description", ""))
    if "items" in schema:
        out["items"] = narrow(schema["items"], target, open_nulls=open_nulls)
    for key in ("oneOf", "anyOf"):
        if key in schema and key in keywords:
            out[key] = [narrow(branch, target, open_nulls=open_nulls) for branch in schema[key]]
    rest = {key: v for key, v in schema.items() if key in keywords and key not in out}
    rest.pop("required", None)
    return out | rest


def _properties(schema: Node, target: Target, open_nulls: bool, said: str) -> Node:
    properties, told = {}, []
    for name, child in schema["properties"].items():
        field, nullable = present(child)
        if nullable and open_nulls and "anyOf" not in target.keywords:
            kind = field.get("type", "object")
            told.append(f"{name} ({kind} or null): {described(field)}")
            continue
        properties[name] = narrow(child, target, open_nulls=open_nulls)
    out: Node = {}
    if told:
        out["description"] = f"{said} Also holds {'; '.join(told)}".strip()
    out["properties"] = properties
    if required := [name for name in schema.get("required", []) if name in properties]:
        out["required"] = required
    return out
