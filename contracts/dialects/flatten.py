"""A discriminated union as one object, for targets that have no unions.

The object takes every field of every branch; what holds for some branches only is said in words.
"""

from __future__ import annotations

from typing import Any

from contracts.dialects.targets import UnportableError
from contracts.schema_nodes import bare

Node = dict[str, Any]


def tag_of(branches: list[Node], pointer: str = "") -> str:
    """The property whose value tells the branches apart. Raises UnportableError if none does."""
    first = branches[0]
    for name in first.get("properties", {}):
        values = [value for branch in branches for value in _values(branch, name)]
        given = all(_values(branch, name) for branch in branches)
        if given and len({repr(value) for value in values}) == len(values):
            return str(name)
    raise UnportableError(f"{pointer} is a union without a discriminator")


def flatten(union: Node) -> Node:
    """The union as one object. Raises UnportableError if branches give one name two meanings."""
    branches = union["oneOf"]
    tag = tag_of(branches)
    all_values = [value for branch in branches for value in _values(branch, tag)]
    properties: Node = {tag: _discriminator(branches, tag, all_values)}
    required = [tag]
    for name in dict.fromkeys(name for branch in branches for name in branch["properties"]):
        if name == tag:
            continue
        holding = [branch for branch in branches if name in branch["properties"]]
        forms = [bare(branch["properties"][name]) for branch in holding]
        if any(form != forms[0] for form in forms):
            raise UnportableError(f"{name} differs between the variants of {tag}")
        needing = [branch for branch in holding if name in branch.get("required", [])]
        if len(needing) == len(branches):
            required.append(name)
        said = [_text(holding, name, tag), _when(branches, holding, needing, tag)]
        text = " ".join(part for part in said if part)
        properties[name] = {**holding[0]["properties"][name], "description": text}
    beside = {key: value for key, value in union.items() if key != "oneOf"}
    return {**beside, "type": "object", "properties": properties, "required": required}


def flattened(schema: Node) -> Node:
    """The schema with every union in it as one object. Raises UnportableError as `flatten` does."""
    schema = flatten(schema) if "oneOf" in schema else schema
    out = dict(schema)
    if "properties" in schema:
        fields = schema["properties"].items()
        out["properties"] = {name: flattened(child) for name, child in fields}
    if "items" in schema:
        out["items"] = flattened(schema["items"])
    return out


def _values(branch: Node, name: str) -> list[Any]:
    """The values of a property that always has one of a few, and must be given."""
    field = branch.get("properties", {}).get(name, {})
    if name not in branch.get("required", []):
        return []
    return [field["const"]] if "const" in field else list(field.get("enum", []))


def _discriminator(branches: list[Node], tag: str, values: list[Any]) -> Node:
    fields = [branch["properties"][tag] for branch in branches]
    said = dict.fromkeys(str(field.get("description", "")).strip() for field in fields)
    kind = fields[0].get("type", "string")
    return {"type": kind, "enum": values, "description": " ".join(said).strip()}


def _text(holding: list[Node], name: str, tag: str) -> str:
    """A field's description; where branches describe it differently, each branch's own."""
    texts = [str(branch["properties"][name].get("description", "")).strip() for branch in holding]
    if len(set(texts)) == 1:
        return texts[0]
    told = zip(holding, texts, strict=True)
    return " ".join(f"{_either([branch], tag)}: {text}" for branch, text in told if text)


def _when(branches: list[Node], holding: list[Node], needing: list[Node], tag: str) -> str:
    if len(holding) < len(branches):
        only = f"Only when {tag} is {_either(holding, tag)}"
        if len(needing) == len(holding):
            return f"{only}, and needed then."
        return f"{only}; needed when it is {_either(needing, tag)}." if needing else f"{only}."
    if needing and len(needing) < len(branches):
        return f"Needed when {tag} is {_either(needing, tag)}."
    return ""


def _either(branches: list[Node], tag: str) -> str:
    return " or ".join(str(value) for branch in branches for value in _values(branch, tag))
