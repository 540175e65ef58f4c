"""What a target's schema of the arguments does not express: said in words, checked by the server.

Judged by comparing the contract with what was emitted, keyword by keyword; arguments that the
surface fills in are not lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.dialects import emitted, schemas
from contracts.dialects.inline import inline
from contracts.dialects.targets import TARGETS
from contracts.schema_nodes import present

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contracts.spec import ToolSpec

Node = dict[str, Any]
_DEEPER = ("properties", "items", "oneOf", "anyOf", "required", "description")


def lost(spec: ToolSpec, dialect: str) -> list[dict[str, str]]:
    """`{pointer, keyword}` of every keyword of the contract's input that the target does not get.

    `*` in a pointer stands for any item. A description is lost if its text is nowhere in the
    document, `required` (at a property) if the property is not required there.
    """
    document = emitted(spec, dialect)
    contract = inline(spec.input_schema)
    supplied = TARGETS[dialect].supplied
    kept = {name: v for name, v in contract["properties"].items() if name not in supplied}
    required = [name for name in contract.get("required", []) if name not in supplied]
    contract = {**contract, "properties": kept, "required": required}
    schema = schemas(document, dialect).get("input", {})
    found = _walk(contract, schema, "", "\n".join(_texts(document)))
    return [{"pointer": pointer, "keyword": key} for pointer, key in dict.fromkeys(found)]


def _walk(wanted: Node, got: Node, pointer: str, said: str) -> Iterator[tuple[str, str]]:
    if "anyOf" in wanted and "anyOf" not in got:
        yield pointer, "anyOf"
        wanted, _ = present(wanted)
    if str(wanted.get("description", "")).strip() not in said:
        yield pointer, "description"
    for key, value in wanted.items():
        if key not in _DEEPER and (key not in got or got[key] != value):
            yield pointer, key
    for key in ("properties", "items", "oneOf"):
        if key in wanted and key not in got:
            yield pointer, key
    yield from _required(wanted, got, pointer)
    for name, child in wanted.get("properties", {}).items():
        other = got.get("properties", {}).get(name, {})
        yield from _walk(child, other, f"{pointer}/{name}", said)
    if "items" in wanted:
        yield from _walk(wanted["items"], got.get("items", {}), f"{pointer}/*", said)
    for key in ("oneOf", "anyOf"):
        # Where the union is gone, one object stands for every branch.
        others = got.get(key) or [got] * len(wanted.get(key, []))
        for branch, other in zip(wanted.get(key, []), others, strict=True):
            yield from _walk(branch, other, pointer, said)


def _required(wanted: Node, got: Node, pointer: str) -> Iterator[tuple[str, str]]:
    for name in wanted.get("required", []):
        if name not in got.get("required", []):
            yield f"{pointer}/{name}", "required"


def _texts(node: Any) -> Iterator[str]:
    """Every text in a document."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, dict | list):
        for child in node.values() if isinstance(node, dict) else node:
            yield from _texts(child)
