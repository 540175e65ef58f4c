"""What is wrong with arguments, as data: at most 20 of {path, problem, expected}.

`path` is a JSON pointer into what was sent. No value that was sent is ever repeated, so feedback
stays small however large the mistake, and nothing secret comes back through an error.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from contracts.schema_nodes import follow, present

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import ValidationError

Issue = dict[str, Any]

ISSUES_MAX = 20
_PLAIN = re.compile(r"[A-Za-z0-9_.\-]{1,64}\Z")
_PROBLEMS = {
    "missing": "required",
    "extra_forbidden": "unknown field",
    "union_tag_invalid": "unknown variant",
    "union_tag_not_found": "required",
    "literal_error": "not one of the allowed values",
    "string_type": "not a string",
    "string_unicode": "not valid text: it holds a lone surrogate",
    "string_too_short": "too short",
    "string_too_long": "too long",
    "string_pattern_mismatch": "does not match the pattern",
    "int_type": "not an integer",
    "int_from_float": "not an integer",
    "int_parsing_size": "out of range",
    "float_type": "not a number",
    "greater_than_equal": "too small",
    "less_than_equal": "too large",
    "bool_type": "not a boolean",
    "list_type": "not an array",
    "too_short": "too few items",
    "too_long": "too many items",
    "model_type": "not an object",
    "model_attributes_type": "not an object",
    "unsafe_path": "unsafe path",
}
_EXPECTED = (
    "type", "const", "enum", "minimum", "maximum", "minLength", "maxLength", "pattern",
    "minItems", "maxItems",
)  # fmt: skip


def issue(path: str, problem: str, expected: Any) -> Issue:
    """One thing that is wrong; `expected` is what would be right."""
    return {"path": path, "problem": problem, "expected": expected}


def issues(error: ValidationError, schema: dict[str, Any]) -> list[Issue]:
    """The issues of a validation error, located by the JSON Schema that was violated."""
    found = []
    for one in error.errors(include_input=False, include_url=False, include_context=False):
        kind, loc = one["type"], one["loc"]
        pointer, node = locate(schema, loc)
        if kind == "extra_forbidden":
            _, parent = locate(schema, loc[:-1])
            expected: Any = {"fields": sorted(parent.get("properties", {}))}
        elif kind.startswith("union_tag"):
            tag = node.get("discriminator", {})
            pointer = f"{pointer}/{escape(tag.get('propertyName', ''))}"
            expected = {"enum": sorted(tag.get("mapping", {}))}
        else:
            expected = {key: node[key] for key in _EXPECTED if key in node} or {"type": "object"}
        found.append(issue(pointer, _PROBLEMS.get(kind, kind.replace("_", " ")), expected))
        if len(found) == ISSUES_MAX:
            break
    return found


def escape(name: object) -> str:
    """One step of a JSON pointer."""
    return str(name).replace("~", "~0").replace("/", "~1")


def select(value: Any, pointer: str, *, most: int | None = None) -> Iterator[tuple[str, Any]]:
    """What stands at a pointer in which `*` is any item of a list: (exact pointer, value).

    `most` is how many items of each list are looked at; by default all.
    """
    yield from _select(value, pointer.split("/")[1:], "", most)


def _select(
    value: Any, steps: list[str], prefix: str, most: int | None
) -> Iterator[tuple[str, Any]]:
    if not steps:
        yield prefix, value
    elif steps[0] == "*" and isinstance(value, list):
        for index, item in enumerate(value[:most]):
            yield from _select(item, steps[1:], f"{prefix}/{index}", most)
    elif isinstance(value, dict) and steps[0] in value:
        yield from _select(value[steps[0]], steps[1:], f"{prefix}/{steps[0]}", most)


def locate(schema: dict[str, Any], loc: tuple[int | str, ...]) -> tuple[str, dict[str, Any]]:
    """The JSON pointer of a Pydantic location, and the schema that holds there.

    Pydantic puts the tag of a union's branch into the location; the document has no such step. A
    name that no schema declares is the caller's own text: it is a step only if it is a plain one,
    else the pointer is that of the object around it.
    """
    node, steps = follow(schema, schema), []
    for step in loc:
        node, _ = present(node, schema)
        mapping = node.get("discriminator", {}).get("mapping", {})
        if step in mapping:
            node = follow({"$ref": mapping[step]}, schema)
            continue
        if isinstance(step, int):
            child = node.get("items", {})
        elif step in node.get("properties", {}):
            child = node["properties"][step]
        elif _PLAIN.match(step):
            further = node.get("additionalProperties")
            child = further if isinstance(further, dict) else {}
        else:
            break
        steps.append(escape(step))
        node = follow(child, schema)
    return "".join(f"/{step}" for step in steps), present(node, schema)[0]
