"""One value as Bedrock delivers it, read by the type that the contract declares.

Bedrock renders what is not a string as text, and arrays and objects as text that cannot be read
back (`[{a=b, c=d}]`, `<item>x</item>`). Scalars are read; nested values are taken as JSON text, as
native values, or in AWS's own nested form `[{name, value, type}]`; everything else is refused.
"""

from __future__ import annotations

import re
from typing import Any, Final

from contracts import strict_json
from contracts.schema_nodes import follow, present, variant

ABSENT: Final = object()
"""What an optional value reads as if it says that it is not there."""

_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})\Z")
_BOOLEANS = {"true": True, "True": True, "false": False, "False": False}
_NOTHING = ("None", "null")
_JSON_TEXT = "JSON text"


class UnreadableError(Exception):
    """A value that only a guess could read; `problem` and `expected` are for the caller."""

    def __init__(self, problem: str, expected: dict[str, Any]) -> None:
        super().__init__(problem)
        self.problem = problem
        self.expected = expected


def read(value: Any, declared: dict[str, Any], root: dict[str, Any]) -> Any:
    """The value as JSON, or ABSENT. Raises UnreadableError.

    A value that is of a wrong type, but plainly so, is returned as it is: validation has better
    words for it. `root` is the schema that `$ref`s of `declared` point into.
    """
    node = follow(declared, root)
    optional = "default" in node
    node, nullable = present(node, root)
    kind = node.get("type")
    # A string may say None and mean it; what is no string and says so, or is null, is not there.
    nothing = value is None or (kind != "string" and value in _NOTHING)
    if nothing and (optional or nullable):
        return ABSENT
    if kind in {"array", "object"} or "oneOf" in node:
        return _nested(value, node, root)
    if isinstance(value, str) and kind == "integer" and _INTEGER.match(value):
        return int(value)
    if isinstance(value, str) and kind == "boolean":
        return _BOOLEANS.get(value, value)
    return value


def _nested(value: Any, node: dict[str, Any], root: dict[str, Any]) -> Any:
    form = f"{_JSON_TEXT} of an {node.get('type', 'object')}"
    if isinstance(value, str):
        try:
            found = strict_json.parse(value)
        except strict_json.StrictJsonError as error:
            expected = {"type": "string", "form": form}
            raise UnreadableError(f"not {_JSON_TEXT}: {error}", expected) from None
        if not isinstance(found, list | dict):
            raise UnreadableError(f"not {form}", {"type": "string", "form": form})
        return found
    return _rebuilt(value, node, root)


def _rebuilt(value: Any, node: dict[str, Any], root: dict[str, Any]) -> Any:
    """Native values, with AWS's `[{name, value, type}]` turned back into objects."""
    node, _ = present(follow(node, root), root)
    if node.get("type") == "array" and isinstance(value, list):
        if len(value) > node.get("maxItems", len(value)):
            return value
        return [_rebuilt(item, node.get("items", {}), root) for item in value]
    if (node.get("type") == "object" or "oneOf" in node) and _is_named_list(value):
        given = {entry["name"]: entry["value"] for entry in value}
        properties = variant(node, given, root).get("properties", {})
        members = {name: read(one, properties.get(name, {}), root) for name, one in given.items()}
        return {name: one for name, one in members.items() if one is not ABSENT}
    return value


def _is_named_list(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(entry, dict)
            and isinstance(entry.get("name"), str)
            and "value" in entry
            and entry.keys() <= {"name", "value", "type"}
            for entry in value
        )
        and len({entry["name"] for entry in value}) == len(value)
    )
