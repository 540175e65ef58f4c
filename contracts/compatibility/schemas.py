"""A JSON Schema made comparable: annotations gone, and every node as a list of alternatives.

An alternative has one type and no union in it, or is one single value. What cannot be brought into
that form raises UndecidedError, and whoever compares must then expect the worst.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from contracts.compatibility import validation

Node = dict[str, Any]

NEVER: Node = {"enum": []}
"""No value fits."""

ANNOTATIONS = frozenset(
    {
        "$schema", "$id", "$comment", "$defs", "definitions", "title", "description", "examples",
        "deprecated", "readOnly", "writeOnly", "discriminator",
    }
)  # fmt: skip
"""Keywords that make no value valid or invalid. `x-…` are such, too."""

LOWER = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"})
UPPER = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})
OF_KIND = {
    "string": frozenset({"minLength", "maxLength", "pattern", "format"}),
    "integer": frozenset(
        {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format"}
    ),
    "array": frozenset({"items", "minItems", "maxItems", "uniqueItems", "format"}),
    "object": frozenset(
        {"properties", "required", "additionalProperties", "minProperties", "maxProperties"}
    ),
    "boolean": frozenset(),
    "null": frozenset(),
}
OF_KIND["number"] = OF_KIND["integer"]
KNOWN = frozenset().union(*OF_KIND.values()) | {
    "type", "const", "enum", "anyOf", "oneOf", "allOf", "default",
}  # fmt: skip
KINDS = ("string", "number", "boolean", "object", "array", "null")


class SchemaError(ValueError):
    """Not a schema that can be compared; says why in one sentence."""


class UndecidedError(Exception):
    """A node says something that is not understood here; the message is what."""


@dataclass(frozen=True)
class Value:
    """A JSON value, where None would leave open whether there is one."""

    value: Any


@dataclass(frozen=True)
class Alternative:
    """One type with its own keywords, or one value; `pointer` is where it stands in its node."""

    pointer: str
    kind: str
    node: Node
    fixed: Value | None = None

    def tags(self) -> dict[str, set[str]]:
        """Required properties with a fixed set of values, and those values as text."""
        found = {}
        for name in self.node.get("required", ()) if self.kind == "object" else ():
            try:
                values = alternatives(self.node.get("properties", {}).get(name, {}))
            except UndecidedError:
                continue
            if values and all(one.fixed for one in values):
                found[name] = {validation.text(one.fixed.value) for one in values if one.fixed}
        return found


def read(schema: Any) -> Node:
    """A schema without `$ref` and annotations; defaults stay. Raises SchemaError."""
    if not isinstance(schema, dict):
        raise SchemaError("a schema is a JSON object")
    try:
        return _bare(schema, schema, ())
    except (KeyError, TypeError, AttributeError) as error:
        raise SchemaError(f"this is no schema: {type(error).__name__} {error}") from None


def _bare(node: Any, root: Node, open_refs: tuple[str, ...]) -> Node:
    if isinstance(node, bool):
        return {} if node else NEVER
    if node in ({"not": {}}, {"not": True}):
        return NEVER
    if "$ref" in node:
        ref = node["$ref"]
        if ref in open_refs:
            raise SchemaError(f"{ref} refers to itself, so the schema has no end")
        beside = {key: value for key, value in node.items() if key != "$ref"}
        target = _target(ref, root)
        both = target.keys() & beside.keys() - ANNOTATIONS - {"default"}
        whole = {"allOf": [target, beside]} if both else {**target, **beside}
        return _bare(whole, root, (*open_refs, ref))
    out: Node = {}
    for key, value in node.items():
        if key in ANNOTATIONS or key.startswith("x-"):
            continue
        if key == "properties":
            out[key] = {name: _bare(child, root, open_refs) for name, child in value.items()}
        elif key in {"items", "additionalProperties", "not"}:
            out[key] = _bare(value, root, open_refs)
        elif key in {"anyOf", "oneOf", "allOf"}:
            out[key] = [_bare(child, root, open_refs) for child in value]
        else:
            out[key] = value
    return out


def _target(ref: str, root: Node) -> Node:
    """What a `$ref` within the same document leads to."""
    target: Any = root
    for step in ref.split("/")[1:]:
        target = target[step.replace("~1", "/").replace("~0", "~")]
    if not ref.startswith("#") or not isinstance(target, dict):
        raise SchemaError(f"{ref} leads out of the document")
    return target


def alternatives(node: Node, pointer: str = "") -> list[Alternative]:
    """A value fits the node if and only if it fits one of these. Raises UndecidedError."""
    if unknown := sorted(node.keys() - KNOWN):
        raise UndecidedError(unknown[0])
    if "allOf" in node:
        first, *others = node["allOf"]
        beside = {key: value for key, value in node.items() if key != "allOf"}
        rest = {"allOf": others} if others else {}
        inner = {"allOf": [*first.get("allOf", []), *others]} if "allOf" in first else rest
        first = {key: value for key, value in first.items() if key != "allOf"}
        return alternatives({**merge(beside, first), **inner}, pointer)
    for union in ("anyOf", "oneOf"):
        if union in node:
            beside = {key: value for key, value in node.items() if key != union}
            branches = [
                alternatives(merge(beside, branch), f"{pointer}/{union}/{index}")
                for index, branch in enumerate(node[union])
            ]
            if union == "oneOf" and not _exclusive(branches):
                raise UndecidedError("oneOf")
            return [one for branch in branches for one in branch]
    if "enum" in node or "const" in node:
        return _listed(node, pointer)
    return _typed(node, pointer)


def merge(one: Node, other: Node) -> Node:
    """What fits both. Raises UndecidedError where that takes more than the tighter bound."""
    out = dict(one)
    for key, value in other.items():
        if key not in out or key == "default" or validation.same(out[key], value):
            out[key] = value
        elif key in LOWER:
            out[key] = max(out[key], value)
        elif key in UPPER:
            out[key] = min(out[key], value)
        elif key == "required":
            out[key] = sorted({*out[key], *value})
        elif key == "type":
            out[key] = _shared(_kinds(out), _kinds(other))
        elif key == "enum":
            out[key] = [one for one in out[key] if validation.accepts({"enum": value}, one)]
        elif key == "const":
            return NEVER
        else:
            raise UndecidedError(key)
    return out


def disjoint(one: Alternative, other: Alternative) -> bool:
    """Whether surely no value fits both."""
    if one.fixed and other.fixed:
        return not validation.same(one.fixed.value, other.fixed.value)
    if one.fixed or other.fixed:
        fixed, node = (one.fixed, other.node) if one.fixed else (other.fixed, one.node)
        return fixed is not None and validation.accepts(node, fixed.value) is False
    if one.kind != other.kind:
        return {one.kind, other.kind} != {"integer", "number"}
    theirs = other.tags()
    return any(not values & theirs[name] for name, values in one.tags().items() if name in theirs)


def lower(node: Node) -> tuple[float, bool]:
    """The least number that fits, and whether it is itself excluded."""
    given = [
        (node.get("minimum", -math.inf), False),
        (node.get("exclusiveMinimum", -math.inf), True),
    ]
    bound, excluded = max(given)
    if node.get("type") != "integer" or not math.isfinite(bound):
        return bound, excluded
    return (math.floor(bound) + 1 if excluded else math.ceil(bound)), False


def upper(node: Node) -> tuple[float, bool]:
    """The greatest number that fits, and whether it is itself excluded."""
    mirrored = {
        "type": node.get("type"),
        "minimum": -node.get("maximum", math.inf),
        "exclusiveMinimum": -node.get("exclusiveMaximum", math.inf),
    }
    bound, excluded = lower(mirrored)
    return -bound, excluded


def _exclusive(branches: list[list[Alternative]]) -> bool:
    return all(
        disjoint(one, other)
        for index, branch in enumerate(branches)
        for later in branches[index + 1 :]
        for one in branch
        for other in later
    )


def _listed(node: Node, pointer: str) -> list[Alternative]:
    beside = {key: value for key, value in node.items() if key != "enum"}
    values = node["enum"] if "enum" in node else [node["const"]]
    found: dict[str, Alternative] = {}
    for value in values:
        fits = validation.accepts(beside, value)
        if fits is None:
            raise UndecidedError("enum")
        if fits:
            one = Alternative(pointer, validation.kind(value), {"const": value}, Value(value))
            found.setdefault(validation.text(value), one)
    return list(found.values())


def _kinds(node: Node) -> list[str]:
    given = node.get("type", KINDS)
    kinds = [given] if isinstance(given, str) else list(given)
    if unknown := [kind for kind in kinds if kind not in OF_KIND]:
        raise UndecidedError(f"type {unknown[0]}")
    return kinds


def _shared(ours: list[str], theirs: list[str]) -> list[str]:
    """Types that are in both, an integer being a number."""
    shared = [kind for kind in ours if kind in theirs]
    wide, narrow = (ours, theirs) if "number" in ours else (theirs, ours)
    if "number" in wide and "integer" in narrow and "integer" not in shared:
        shared.append("integer")
    return shared


def _typed(node: Node, pointer: str) -> list[Alternative]:
    found = []
    kinds = _kinds(node)
    for kind in kinds:
        if kind == "null":
            found.append(Alternative(pointer, kind, {"const": None}, Value(None)))
        elif kind == "boolean":
            found += [Alternative(pointer, kind, {"const": v}, Value(v)) for v in (True, False)]
        elif kind != "integer" or "number" not in kinds:
            own = {key: value for key, value in node.items() if key in OF_KIND[kind]}
            found.append(Alternative(pointer, kind, {"type": kind, **own}))
    return found
