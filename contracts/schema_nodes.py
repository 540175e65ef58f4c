"""Steps through a JSON Schema: to what a `$ref` means, and through `X | null` to X."""

from __future__ import annotations

from typing import Any

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
