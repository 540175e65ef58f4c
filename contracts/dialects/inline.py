"""A schema as one piece: every `$ref` resolved, Pydantic's titles gone. Models stumble on both."""

from __future__ import annotations

from typing import Any


def inline(schema: dict[str, Any]) -> dict[str, Any]:
    """The same schema without `$ref`, `$defs`, `title` and `discriminator`.

    Raises ValueError for a schema that refers to itself: no target could carry it.
    """
    resolved: dict[str, Any] = _resolve(schema, schema, ())
    return resolved


def _resolve(node: Any, root: dict[str, Any], open_refs: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_resolve(item, root, open_refs) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        ref = node["$ref"]
        if ref in open_refs:
            raise ValueError(f"{ref} refers to itself")
        target: Any = root
        for step in ref.removeprefix("#/").split("/"):
            target = target[step]
        beside = {key: value for key, value in node.items() if key != "$ref"}
        return _resolve({**target, **beside}, root, (*open_refs, ref))
    out = {}
    for key, value in node.items():
        if key == "properties":
            out[key] = {name: _resolve(child, root, open_refs) for name, child in value.items()}
        elif key in {"const", "enum", "default", "required"}:
            out[key] = value
        elif key not in {"$defs", "title", "discriminator"}:
            out[key] = _resolve(value, root, open_refs)
    return out
