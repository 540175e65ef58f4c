"""What was emitted for a tool, judged target by target: what one of them would refuse or ignore.

It reads the documents, never the contract, so a mistake of an emitter is found as well as one of a
contract. Each problem names the targets that have it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from contracts.dialects import DIALECTS, EMITTERS, REFUSED, emitted, schemas
from contracts.dialects.targets import TARGETS, TOOL_NAME
from contracts.schema_nodes import nodes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from contracts.dialects.targets import Target
    from contracts.spec import ToolSpec

BESIDE_A_LENGTH: Mapping[str, str] = {
    "apply_patch_v1": "published with a length beside its patterns, and the server checks both",
    "orders_lookup_v1": "its domain gives the number of an order both a form and a length",
}
"""Tools whose patterns may stand beside a length, and why."""

_LENGTHS = frozenset({"minLength", "maxLength"})
_UNIONS = frozenset({"oneOf", "anyOf", "allOf"})
_CLASS = re.compile(r"\[(?:\\.|[^\]\\])*\]")
_ESCAPED = re.compile(r"\\[^A-Za-z0-9]")
_PATTERN_RULES = (
    (re.compile(r"\(\?<?[=!]"), "looks around"),
    (re.compile(r"\\[AzZbBdDwWsSpPGkK]"), "uses a class that engines read differently"),
    (re.compile(r"\\[1-9]"), "refers back to a group"),
    (re.compile(r"\(\?(?![=!:]|<[=!])"), "uses flags or a named group"),
)
_UNBOUNDED = re.compile(r"[*+]|\{[0-9]+,\}")


def problems(spec: ToolSpec) -> Iterator[str]:
    """What is wrong with the tool's documents, and for which targets."""
    found: dict[str, list[str]] = {}
    for dialect in DIALECTS:
        for problem in _document(spec, dialect):
            found.setdefault(problem, []).append(dialect)
    for problem, dialects in found.items():
        yield f"{problem} ({', '.join(dialects)})"


def _document(spec: ToolSpec, dialect: str) -> Iterator[str]:
    document = emitted(spec, dialect)
    if REFUSED in document:
        yield document[REFUSED]
    if not TOOL_NAME.match(name := EMITTERS[dialect].tool_name(spec)):
        yield f"{name} is not 1-64 letters, digits, _ and -"
    for part, schema in schemas(document, dialect).items():
        if schema.get("type") != "object" or _UNIONS & set(schema):
            yield f"{part} is not one object"
        for pointer, node in nodes(schema):
            where = f"{part} {pointer or '/'}"
            yield from _node(node, where, TARGETS[dialect])
            if part == "input" and "pattern" in node:
                yield from _pattern(spec, node, where)
        if part == "input":
            for name in sorted(TARGETS[dialect].reserved & set(schema.get("properties", {}))):
                yield f"{part} /{name} has a name that is reserved"


def _node(node: dict[str, Any], where: str, target: Target) -> Iterator[str]:
    for keyword in sorted(set(node) - target.keywords):
        yield f"{where} uses {keyword}"
    kind = node.get("type")
    if not isinstance(kind, str | None):
        yield f"{where} has several types"
    elif kind is None and not _UNIONS & set(node):
        yield f"{where} has no type"
    elif kind is not None and kind not in target.types and where != "input /":
        # Parameters of a function are no object of their own; they only look like one here.
        yield f"{where} has type {kind}"


def _pattern(spec: ToolSpec, node: dict[str, Any], where: str) -> Iterator[str]:
    """What a decoder that follows the schema, or another regex engine, would get wrong."""
    pattern = node["pattern"]
    beside = bool(_LENGTHS & set(node))
    if beside and spec.model_name not in BESIDE_A_LENGTH:
        yield f"{where} has a pattern beside a length: bound the pattern itself"
    if not (pattern.startswith("^") and pattern.endswith("$")):
        yield f"{where} has a pattern that is not anchored by ^ and $"
    plain = _CLASS.sub("C", _ESCAPED.sub("E", pattern))
    for rule, what in _PATTERN_RULES:
        if rule.search(_ESCAPED.sub("E", pattern)):
            yield f"{where} has a pattern that {what}"
    if _UNBOUNDED.search(plain) and "maxLength" not in node:
        yield f"{where} has a pattern without an end: use {{m,n}}"
