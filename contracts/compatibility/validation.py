"""Whether a value fits a schema, in the portable keywords; what is not known stays undecided."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from contracts.compatibility import patterns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Node = dict[str, Any]
    Check = Callable[[Node, Any], bool | None]


def kind(value: Any) -> str:
    """The JSON type of a value; `integer` for a number without a fraction, even 1.0."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "integer" if isinstance(value, int) or value.is_integer() else "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"


def text(value: Any) -> str:
    """The same text for the same JSON value: 1 and 1.0 are one value, 1 and true are two."""
    return json.dumps(_plain(value), sort_keys=True, ensure_ascii=False)


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same; for Python, 0 and False are, too."""
    return text(one) == text(other)


def accepts(node: Node, value: Any) -> bool | None:
    """Whether the value fits; None if the node says something that is not understood here."""
    kinds = node.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    own = kind(value)
    if "type" in node and own not in kinds and not (own == "integer" and "number" in kinds):
        return False
    return _all(_CHECKS.get(keyword, _unknown)(node, value) for keyword in node)


def _all(verdicts: Iterable[bool | None]) -> bool | None:
    """False as soon as one is False; else None if one is None."""
    unsure = False
    for verdict in verdicts:
        if verdict is False:
            return False
        unsure = unsure or verdict is None
    return None if unsure else True


def _unknown(_node: Node, _value: Any) -> bool | None:
    return None


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _of(*kinds: str) -> Callable[[Check], Check]:
    """A check that concerns values of these types and passes all others."""

    def only(check: Check) -> Check:
        return lambda node, value: check(node, value) if kind(value) in kinds else True

    return only


def _number(compare: Callable[[float, Any], bool], keyword: str) -> Check:
    return _of("integer", "number")(lambda node, value: compare(value, node[keyword]))


def _size(kind_of: str, keyword: str) -> Check:
    if keyword.startswith("min"):
        return _of(kind_of)(lambda node, value: len(value) >= node[keyword])
    return _of(kind_of)(lambda node, value: len(value) <= node[keyword])


@_of("integer", "number")
def _multiple(node: Node, value: Any) -> bool | None:
    return math.isfinite(value) and Fraction(value) % Fraction(str(node["multipleOf"])) == 0


@_of("object")
def _properties(node: Node, value: Any) -> bool | None:
    given = node["properties"]
    return _all(accepts(child, value[name]) for name, child in given.items() if name in value)


@_of("object")
def _additional(node: Node, value: Any) -> bool | None:
    others = [name for name in value if name not in node.get("properties", {})]
    return _all(accepts(node["additionalProperties"], value[name]) for name in others)


@_of("array")
def _items(node: Node, value: Any) -> bool | None:
    return _all(accepts(node["items"], item) for item in value)


@_of("array")
def _unique(node: Node, value: Any) -> bool | None:
    return not node["uniqueItems"] or len({text(item) for item in value}) == len(value)


def _not(node: Node, value: Any) -> bool | None:
    verdict = accepts(node["not"], value)
    return None if verdict is None else not verdict


def _any(node: Node, value: Any) -> bool | None:
    verdicts = [accepts(branch, value) for branch in node["anyOf"]]
    return True if True in verdicts else None if None in verdicts else False


def _one(node: Node, value: Any) -> bool | None:
    verdicts = [accepts(branch, value) for branch in node["oneOf"]]
    if verdicts.count(True) > 1:
        return False
    return None if None in verdicts else True in verdicts


_CHECKS: dict[str, Check] = {
    "type": lambda _node, _value: True,
    "default": lambda _node, _value: True,
    "const": lambda node, value: same(value, node["const"]),
    "enum": lambda node, value: text(value) in {text(one) for one in node["enum"]},
    "minimum": _number(lambda value, bound: value >= bound, "minimum"),
    "maximum": _number(lambda value, bound: value <= bound, "maximum"),
    "exclusiveMinimum": _number(lambda value, bound: value > bound, "exclusiveMinimum"),
    "exclusiveMaximum": _number(lambda value, bound: value < bound, "exclusiveMaximum"),
    "multipleOf": _multiple,
    "minLength": _size("string", "minLength"),
    "maxLength": _size("string", "maxLength"),
    "pattern": _of("string")(lambda node, value: patterns.matches(node["pattern"], value)),
    "minItems": _size("array", "minItems"),
    "maxItems": _size("array", "maxItems"),
    "uniqueItems": _unique,
    "items": _items,
    "minProperties": _size("object", "minProperties"),
    "maxProperties": _size("object", "maxProperties"),
    "required": _of("object")(lambda node, value: set(node["required"]) <= set(value)),
    "properties": _properties,
    "additionalProperties": _additional,
    "anyOf": _any,
    "oneOf": _one,
    "not": _not,
    "allOf": lambda node, value: _all(accepts(part, value) for part in node["allOf"]),
}
