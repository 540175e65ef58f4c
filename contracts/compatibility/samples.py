"""Small values that fit a schema, to show what a change does; each was checked to fit."""

from __future__ import annotations

import math
from itertools import islice
from typing import TYPE_CHECKING, Any

from contracts.compatibility import patterns, validation
from contracts.compatibility.schemas import (
    NEVER,
    Alternative,
    Node,
    UndecidedError,
    Value,
    alternatives,
    lower,
    upper,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

LARGEST = 1_000_000
"""Characters or items of a sample, at most."""
TRIED = 400


def sample(node: Node) -> Value | None:
    """The first plain value that fits; None if none was found."""
    try:
        found = alternatives(node)
    except UndecidedError:
        return None
    return next((value for one in found if (value := of(one)) is not None), None)


def of(one: Alternative) -> Value | None:
    """A value that fits one alternative."""
    return next(iter(several(one)), None)


def several(one: Alternative, least: int = 0, most: int = LARGEST) -> Iterator[Value]:
    """Values that fit an alternative; of text and lists, those of `least` to `most` in length."""
    if one.fixed:
        values: Iterator[Any] = iter([one.fixed.value])
    elif one.kind == "string":
        values = _texts(one.node, least, most)
    elif one.kind == "array":
        values = _lists(one.node, least, most)
    elif one.kind == "object":
        values = _objects(one.node)
    else:
        values = numbers(one.node)
    for value in islice(values, TRIED):
        if validation.accepts(one.node, value):
            yield Value(value)


def numbers(node: Node) -> Iterator[Any]:
    """Numbers at, between and next to the bounds of a node, which may or may not fit it."""
    low, high = lower(node)[0], upper(node)[0]
    step = node.get("multipleOf", 1)
    if math.isfinite(low):
        yield low
        yield step * math.ceil(low / step)
        yield low + 1
        yield low + 0.5
    if math.isfinite(high):
        yield high
        yield step * math.floor(high / step)
        yield high - 1
        yield high - 0.5
    if math.isfinite(low) and math.isfinite(high):
        yield (low + high) / 2
    yield from (0, 0.5, 0.125)


def _texts(node: Node, least: int, most: int) -> Iterator[str]:
    least = max(least, node.get("minLength", 0))
    most = min(most, node.get("maxLength", most))
    if least > most:
        return
    if "pattern" in node:
        yield from patterns.examples(node["pattern"], least, most)
        return
    yield from (char * max(least, min(1, most)) for char in patterns.ALPHABET)


def _lists(node: Node, least: int, most: int) -> Iterator[list[Any]]:
    count = max(least, node.get("minItems", 0))
    items = node.get("items", {})
    if not count:
        yield []
    elif count <= most:
        try:
            found = [one for each in alternatives(items) for one in islice(several(each), count)]
        except UndecidedError:
            return
        if found and not node.get("uniqueItems"):
            yield [found[0].value] * count
        elif len(found) >= count:
            yield [one.value for one in found[:count]]


def _objects(node: Node) -> Iterator[dict[str, Any]]:
    found: dict[str, Any] = {}
    given = node.get("properties", {})
    more = node.get("additionalProperties", {})
    optional = [name for name in given if name not in node.get("required", ())]
    lacking = node.get("minProperties", 0) - len(node.get("required", ()))
    spare = [f"more{number}" for number in range(1, lacking + 1 if lacking < TRIED else 1)]
    for name in [*node.get("required", ()), *(optional + spare)[: max(lacking, 0)]]:
        value = sample(given.get(name, more))
        if value is None:
            return
        found[name] = value.value
    yield found


def beyond(name: str, node: Node) -> str:
    """A property name that the node does not know, for instance `more1`."""
    while name in node.get("properties", {}):
        name = f"{name}1"
    return name


def is_closed(node: Node) -> bool:
    """Whether only known properties fit."""
    return bool(node.get("additionalProperties", {}) == NEVER)
