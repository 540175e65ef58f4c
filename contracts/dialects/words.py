"""Constraints as words, for targets whose schemas have no keyword for them."""

from __future__ import annotations

import json
import re
from typing import Any

from contracts.schema_nodes import present


def bounds(schema: dict[str, Any]) -> str:
    """The constraints of one schema in words, such as `8 to 128 characters`; empty if none."""
    said: list[str] = []
    if "const" in schema:
        said.append(f"always {json.dumps(schema['const'])}")
    if "enum" in schema:
        said.append("one of " + ", ".join(str(value) for value in schema["enum"]))
    said += _range(schema, "minLength", "maxLength", " characters")
    said += _range(schema, "minItems", "maxItems", " items")
    said += _range(schema, "minimum", "maximum", "")
    if "exclusiveMinimum" in schema:
        said.append(f"more than {schema['exclusiveMinimum']}")
    if "exclusiveMaximum" in schema:
        said.append(f"less than {schema['exclusiveMaximum']}")
    if "multipleOf" in schema:
        said.append(f"a multiple of {schema['multipleOf']}")
    if schema.get("uniqueItems"):
        said.append("no item twice")
    if "pattern" in schema:
        said.append(f"must match {schema['pattern']}")
    if schema.get("default") is not None:
        said.append(f"default {json.dumps(schema['default'])}")
    return "; ".join(said)


def _range(schema: dict[str, Any], low: str, high: str, unit: str) -> list[str]:
    if low in schema and high in schema:
        return [f"{schema[low]} to {schema[high]}{unit}"]
    if high in schema:
        return [f"at most {schema[high]}{unit}"]
    if low in schema:
        return [f"at least {schema[low]}{unit}"]
    return []


def described(schema: dict[str, Any]) -> str:
    """A field's description, then in brackets the constraints that it does not name itself."""
    description = str(schema.get("description", "")).strip()
    known = set()
    for low, high in (("minLength", "maxLength"), ("minItems", "maxItems"), ("minimum", "maximum")):
        if _names(description, schema.get(high)):
            known |= {key for key in (low, high) if _names(description, schema.get(key))}
    said = bounds({key: value for key, value in schema.items() if key not in known})
    return f"{description} ({said})".strip() if said else description


def _names(description: str, limit: int | None) -> bool:
    return limit is not None and re.search(rf"\b{limit}\b", description) is not None


def shape(schema: dict[str, Any]) -> str:
    """A nested value in words: what its JSON text holds, property by property."""
    schema, _ = present(schema)
    if schema.get("type") == "array":
        return f"an array of {_counted(schema)}, each {shape(schema['items'])}"
    if "oneOf" in schema:
        return "one of: " + "; or ".join(shape(branch) for branch in schema["oneOf"])
    if schema.get("type") == "object":
        required = set(schema.get("required", []))
        parts = []
        for name, declared in schema.get("properties", {}).items():
            child, _ = present(declared)
            nested = child.get("type") in {"array", "object"} or "oneOf" in child
            what = shape(child) if nested else described(child)
            optional = "" if name in required else ", optional"
            parts.append(f'"{name}" ({_kind(child)}{optional})' + (f": {what}" if what else ""))
        return "an object with " + "; ".join(parts)
    return f"{_kind(schema)} {described(schema)}".strip()


def form(schema: dict[str, Any]) -> str:
    """The bare form of a value, such as `[{"path": string, "mode": "a" | "b", "size"?: integer}]`.

    Names, types and fixed values only; `?` marks what may be left out.
    """
    schema, _ = present(schema)
    if "oneOf" in schema:
        return " | ".join(form(branch) for branch in schema["oneOf"])
    if "const" in schema or "enum" in schema:
        values = [schema["const"]] if "const" in schema else schema["enum"]
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in values)
    if schema.get("type") == "array":
        return f"[{form(schema['items'])}]"
    if schema.get("type") == "object":
        required = set(schema.get("required", []))
        fields = schema.get("properties", {}).items()
        parts = [f'"{n}"{"" if n in required else "?"}: {form(child)}' for n, child in fields]
        return "{" + ", ".join(parts) + "}"
    return _kind(schema)


def _kind(schema: dict[str, Any]) -> str:
    return str(schema.get("type", "object"))


def _counted(schema: dict[str, Any]) -> str:
    said = _range(schema, "minItems", "maxItems", " items")
    return said[0] if said else "items"
