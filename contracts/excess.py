"""More items or fields than a contract ever takes, found before validation looks at each of them.

A call of a few megabytes may hold a million wrong items. Validation would collect a million errors
of which twenty are told; what is found here is told in one, and costs nothing however much it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.issues import ISSUES_MAX, Issue, escape, issue
from contracts.schema_nodes import follow, present, variant

if TYPE_CHECKING:
    from collections.abc import Iterator

Node = dict[str, Any]


def excess(arguments: Any, schema: Node) -> list[Issue]:
    """The arrays over their `maxItems`, and the objects with very many unknown fields.

    At most 20. What is merely wrong is left to validation: up to 20 unknown fields of an object
    are, and so is all that stands inside of what is listed here.
    """
    found: list[Issue] = []
    for one in _excess(arguments, schema, schema, ""):
        found.append(one)
        if len(found) == ISSUES_MAX:
            break
    return found


def _excess(value: Any, declared: Node, root: Node, pointer: str) -> Iterator[Issue]:
    node, _ = present(follow(declared, root), root)
    if isinstance(value, list):
        high = node.get("maxItems")
        if high is not None and len(value) > high:
            bounds = {key: node[key] for key in ("type", "minItems", "maxItems") if key in node}
            yield issue(pointer, "too many items", bounds)
            return
        if "items" in node:
            for index, item in enumerate(value):
                yield from _excess(item, node["items"], root, f"{pointer}/{index}")
    elif isinstance(value, dict):
        node = variant(node, value, root)
        fields = node.get("properties", {})
        if node.get("additionalProperties") is False and len(value) > len(fields) + ISSUES_MAX:
            yield issue(pointer, "too many unknown fields", {"fields": sorted(fields)})
            return
        for name, child in fields.items():
            if name in value:
                yield from _excess(value[name], child, root, f"{pointer}/{escape(name)}")
