"""Whether everything that fits one schema fits another; if not, every gap there is.

The answer is sound, not complete: no gap means that surely everything fits, and a gap may be one
that nobody falls into. A value that shows a gap is only ever given after it was tried.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from contracts.compatibility import patterns, samples, validation
from contracts.compatibility.schemas import (
    KINDS,
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

Kind = Literal[
    "absent", "bound", "branch", "enum", "keyword", "null", "open", "type", "undecided", "unknown",
    "value",
]  # fmt: skip
ANY = "any"
Place = tuple[str, str]
"""The pointers of one thing in both schemas."""


@dataclass(frozen=True)
class Gap:
    """What fits the inner schema and perhaps not the outer one.

    kind        meaning; `topic` and what `inner` and `outer` hold
    absent      the property `topic` may be left out and must not be; inner and outer hold what
                it is there: required, optional or None
    unknown     the property `topic` is not known, or not with such values; as with absent
    open        any property fits, and must be a known one
    type        the types; inner and outer hold their names
    null        null fits and must not
    value       one listed value; topic is the value as text
    enum        any value of a type, and must be a listed one; inner and outer hold texts
    branch      one branch of a union; topic names it
    bound       a bound; topic is the keyword, inner and outer hold both bounds or None
    keyword     pattern, format and the like; as with bound
    undecided   not understood; topic is the keyword
    """

    place: Place
    kind: Kind
    topic: str
    inner: Any = None
    outer: Any = None
    witness: Value | None = None


def gaps(inner: Node, outer: Node, place: Place = ("", "")) -> list[Gap]:
    """Why not everything that fits `inner` fits `outer`; empty if it surely does."""
    if validation.same(inner, outer):
        return []
    try:
        ours, theirs = alternatives(inner, place[0]), alternatives(outer, place[1])
    except UndecidedError as error:
        return [Gap(place, "undecided", str(error), witness=_example(inner, outer))]
    found: list[Gap] = []
    for one in ours:
        found += _uncovered(one, ours, theirs, place)
    return found


def _is_required(name: str, node: Node) -> bool:
    return name in node.get("required", ())


def _state(name: str, node: Node) -> str | None:
    """What a property is to an object: required, optional, or (None) nothing."""
    if _is_required(name, node):
        return "required"
    return "optional" if name in node.get("properties", {}) else None


def _uncovered(
    one: Alternative, ours: list[Alternative], theirs: list[Alternative], place: Place
) -> list[Gap]:
    """Why one alternative is not covered by any of the others."""
    if one.fixed:
        value = one.fixed.value
        if any(validation.accepts(other.node, value) for other in theirs):
            return []
        return [replace(_refused(one, ours, theirs, place), witness=one.fixed)]
    same = [other for other in theirs if _comparable(one, other)]
    alike = [other for other in same if not _other_tag(one, other)]
    tried = [_inside(one, other, (one.pointer, other.pointer)) for other in alike]
    if [] in tried:
        return []
    if tried:
        return min(tried, key=len)
    if len(same) == 1 and sum(_comparable(mine, one) for mine in ours) == 1:
        return _inside(one, same[0], (one.pointer, same[0].pointer))
    shown = _escaping(one, {"anyOf": [other.node for other in theirs]})
    return [replace(_refused(one, ours, theirs, place), witness=shown)]


def _refused(
    one: Alternative, ours: list[Alternative], theirs: list[Alternative], place: Place
) -> Gap:
    """The name for what no alternative on the other side takes."""
    their_kinds = {other.kind for other in theirs}
    listed = any(other.fixed and other.kind == one.kind for other in theirs)
    if theirs and ANY in {names(ours), names(theirs)}:
        return Gap(place, "type", "", inner=names(ours), outer=names(theirs))
    if one.kind == "null" and theirs:
        return Gap(place, "null", "")
    if one.fixed and (one.kind in their_kinds or not theirs):
        return Gap(place, "value", validation.text(one.fixed.value))
    if listed:
        return Gap(place, "enum", "", inner=names(ours), outer=names(theirs))
    same = one.kind in their_kinds
    if same or len(_kinds(ours)) > 1 or len(_kinds(theirs)) > 1:
        return Gap((one.pointer, place[1]), "branch", branch_name(one))
    return Gap(place, "type", "", inner=names(ours), outer=names(theirs))


def names(found: list[Alternative]) -> str:
    """Types, or the values if all are listed, as text."""
    if found and all(one.fixed for one in found) and _kinds(found) != {"boolean"}:
        values = [validation.text(one.fixed.value) for one in found if one.fixed]
        return f"one of {', '.join(values)}"
    kinds = list(dict.fromkeys(one.kind for one in found))
    return " or ".join(kinds) if len(kinds) < len(KINDS) else ANY


def branch_name(one: Alternative) -> str:
    """A branch by its tags (`kind = "move"`), or by its type."""
    tags = [f"{name} = {' or '.join(sorted(values))}" for name, values in one.tags().items()]
    return ", ".join(tags) or one.kind


def _kinds(found: list[Alternative]) -> set[str]:
    return {one.kind for one in found} - {"null"}


def _comparable(one: Alternative, other: Alternative) -> bool:
    if one.fixed or other.fixed:
        return False
    return one.kind == other.kind or {one.kind, other.kind} == {"integer", "number"}


def _other_tag(one: Alternative, other: Alternative) -> bool:
    theirs = other.tags()
    return any(not values & theirs[name] for name, values in one.tags().items() if name in theirs)


def _inside(one: Alternative, other: Alternative, place: Place) -> list[Gap]:
    """Why not everything of one alternative fits another of the same type."""
    checks = {"string": _text, "array": _list, "object": _object}.get(one.kind, _number)
    return list(checks(one, other, place))


def _number(one: Alternative, other: Alternative, place: Place) -> Iterator[Gap]:
    if one.kind == "number" and other.kind == "integer":
        yield Gap(place, "type", "", one.kind, other.kind, _escaping(one, other.node))
    for side, names_ in (
        (lower, ("minimum", "exclusiveMinimum")),
        (upper, ("maximum", "exclusiveMaximum")),
    ):
        (mine, not_mine), (their, not_their) = side(one.node), side(other.node)
        wider = mine < their if side is lower else mine > their
        if wider or (mine == their and not_their and not not_mine):
            keyword = next(n for n in (*names_[::-1], names_[0]) if n in other.node)
            yield _bound(one, other, keyword, place)
    yield from _keywords(one, other, ("multipleOf", "format"), place)


def _text(one: Alternative, other: Alternative, place: Place) -> Iterator[Gap]:
    yield from _sizes(one, other, ("minLength", "maxLength"), place)
    yield from _keywords(one, other, ("pattern", "format"), place)


def _list(one: Alternative, other: Alternative, place: Place) -> Iterator[Gap]:
    yield from _sizes(one, other, ("minItems", "maxItems"), place)
    if other.node.get("uniqueItems") and not one.node.get("uniqueItems"):
        twice = next(samples.several(one, least=2), None)
        yield Gap(place, "keyword", "uniqueItems", False, True, twice)
    if one.node.get("maxItems", 1) > 0:
        below = (f"{place[0]}/items", f"{place[1]}/items")
        for gap in gaps(one.node.get("items", {}), other.node.get("items", {}), below):
            yield replace(gap, witness=_listed(gap.witness, one.node))


def _object(one: Alternative, other: Alternative, place: Place) -> Iterator[Gap]:
    ours, theirs = one.node, other.node
    known, wanted = ours.get("properties", {}), theirs.get("properties", {})
    rest, taken = ours.get("additionalProperties", {}), theirs.get("additionalProperties", {})
    yield from _sizes(one, other, ("minProperties", "maxProperties"), place)
    for name in [*known, *(name for name in wanted if name not in known)]:
        below = _below(place, name)
        if _is_required(name, theirs) and not _is_required(name, ours):
            yield Gap(below, "absent", name, _state(name, ours), "required", samples.of(one))
        found = gaps(known.get(name, rest), wanted.get(name, taken), below)
        if found and (name in known) is not (name in wanted):
            states = _state(name, ours), _state(name, theirs)
            found = [Gap(below, "unknown", name, *states, found[0].witness)]
        for gap in found:
            yield replace(gap, witness=_held(gap.witness, name, one))
    for name in theirs.get("required", ()):
        if name not in known and name not in wanted and not _is_required(name, ours):
            yield Gap(_below(place, name), "absent", name, None, "required", samples.of(one))
    more = (f"{place[0]}/additionalProperties", f"{place[1]}/additionalProperties")
    closing = samples.is_closed(theirs) and not samples.is_closed(ours)
    name = samples.beyond(samples.beyond("more", ours), theirs)
    for gap in gaps(rest, taken, more):
        shown = _held(gap.witness, name, one)
        yield Gap(place, "open", "", witness=shown) if closing else replace(gap, witness=shown)
        if closing:
            return


def _sizes(
    one: Alternative, other: Alternative, keywords: tuple[str, str], place: Place
) -> Iterator[Gap]:
    least, most = keywords
    if one.node.get(least, 0) < other.node.get(least, 0):
        yield _bound(one, other, least, place)
    if most in other.node and (most not in one.node or one.node[most] > other.node[most]):
        yield _bound(one, other, most, place)


def _bound(one: Alternative, other: Alternative, keyword: str, place: Place) -> Gap:
    twin = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}
    twin |= {value: key for key, value in twin.items()}
    outer = other.node[keyword]
    inner = one.node.get(keyword)
    if inner is None and twin.get(keyword) in one.node:
        inner, outer = (
            f"{k} {n[k]}" for k, n in ((twin[keyword], one.node), (keyword, other.node))
        )
    return Gap(place, "bound", keyword, inner, outer, _escaping(one, other.node, keyword))


def _keywords(
    one: Alternative, other: Alternative, keywords: tuple[str, ...], place: Place
) -> Iterator[Gap]:
    for keyword in keywords:
        mine, their = one.node.get(keyword), other.node.get(keyword)
        known = 1 if mine is None and one.kind == "integer" else mine
        if their is None or known == their or _proven(keyword, known, their):
            continue
        yield Gap(place, "keyword", keyword, mine, their, _escaping(one, other.node))


def _proven(keyword: str, inner: Any, outer: Any) -> bool:
    if keyword == "multipleOf" and inner is not None:
        return bool(inner % outer == 0)
    return keyword == "pattern" and inner is not None and patterns.within(inner, outer)


def _example(inner: Node, outer: Node) -> Value | None:
    """A value that fits the one node and not the other, if a plain one does."""
    try:
        found = [_escaping(one, outer) for one in alternatives(inner)]
    except UndecidedError:
        return None
    return next((value for value in found if value), None)


def _escaping(one: Alternative, outer: Node, keyword: str = "") -> Value | None:
    """A value that fits the alternative and not the other node."""
    bound = outer.get(keyword, 0)
    if keyword in {"maxLength", "maxItems"}:
        found = samples.several(one, bound + 1)
    elif keyword in {"minLength", "minItems"}:
        found = samples.several(one, 0, bound - 1)
    elif one.kind in {"number", "integer"}:
        near = [
            value for value in samples.numbers(outer) for value in (value - 1, value, value + 1)
        ]
        near += list(samples.numbers(one.node))
        found = (Value(value) for value in near if validation.accepts(one.node, value))
    else:
        found = samples.several(one)
    return next((v for v in found if validation.accepts(outer, v.value) is False), None)


def _listed(item: Value | None, node: Node) -> Value | None:
    """A list that holds the item as often as must be."""
    return None if item is None else Value([item.value] * max(1, node.get("minItems", 1)))


def _held(value: Value | None, name: str, one: Alternative) -> Value | None:
    """An object that fits but for this property."""
    around = samples.of(one)
    if value is None or around is None:
        return None
    return Value({**around.value, name: value.value})


def _below(place: Place, name: str) -> Place:
    step = name.replace("~", "~0").replace("/", "~1")
    return f"{place[0]}/properties/{step}", f"{place[1]}/properties/{step}"
