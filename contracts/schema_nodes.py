"""Steps through a JSON Schema: to what a `$ref` means, through `X | null` to X, to every node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

Node = dict[str, Any]


def follow(node: Node, root: Node) -> Node:
    """The node that a `$ref` stands for, with what stands beside the `$ref` on top of it."""
    while "$ref" in node:
        target = root
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    return node


def present(node: Node, root: Node | None = None) -> tuple[Node, bool]:
    """`X | null` as (X, True), with what stands beside the union on top; else the node, False."""
    branches = node.get("anyOf", [])
    given = [branch for branch in branches if branch.get("type") != "null"]
    if len(given) != 1 or len(given) == len(branches):
        return node, False
    beside = {key: value for key, value in node.items() if key != "anyOf"}
    return {**follow(given[0], root or {}), **beside}, True


def variant(node: Node, value: Node, root: Node) -> Node:
    """Of a discriminated union, the variant that an object says it is, or {} if it is none of them.

    Any other node is itself.
    """
    if "discriminator" not in node:
        return node
    told = value.get(node["discriminator"]["propertyName"])
    ref = node["discriminator"]["mapping"].get(told) if isinstance(told, str) else None
    return follow({"$ref": ref}, root) if ref else {}


def nodes(schema: Node, pointer: str = "") -> Iterator[tuple[str, Node]]:
    """Every schema in a schema without `$ref`, with the JSON pointer of the values it is for.

    `*` stands for any item of a list and any further property; branches have their union's pointer.
    """
    yield pointer, schema
    for name, child in schema.get("properties", {}).items():
        yield from nodes(child, f"{pointer}/{name}")
    if isinstance(schema.get("items"), dict):
        yield from nodes(schema["items"], f"{pointer}/*")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from nodes(schema["additionalProperties"], f"{pointer}/*")
    for key in ("anyOf", "oneOf", "allOf"):
        for branch in schema.get(key, ()):
            yield from nodes(branch, pointer)


def bare(node: Any, *, names: bool = False) -> Any:
    """A schema without its descriptions; `names` says that the keys are property names."""
    if isinstance(node, list):
        return [bare(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: bare(value, names=key == "properties" and not names)
        for key, value in node.items()
        if names or key != "description"
    }
