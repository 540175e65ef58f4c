"""Schemas by chance, and every value of a small world to try them on.

The world is small enough to try all of it, and holds what the schemas below can tell apart.
"""

from __future__ import annotations

from itertools import chain, product

SCALARS = [
    None,
    True,
    False,
    -1,
    0,
    1,
    2,
    3,
    7,
    0.5,
    1.0,
    2.5,
    "",
    "a",
    "b",
    "ab",
    "aab",
    "0",
    "a0",
]
LISTS = [
    [],
    *([one] for one in (None, True, 0, 1, 2, 0.5, "", "a", "ab", [], {})),
    *([one, other] for one, other in product((0, 1, "a", "ab"), repeat=2)),
    [0, 1, 2],
    ["a", "a", "a"],
]
INNER = [None, True, 0, 1, 7, 0.5, "", "a", "b", "ab", [], ["a"], {}, {"a": 1}]
OBJECTS = [
    {},
    *({"a": one} for one in INNER),
    *({"b": one} for one in (0, 1, "a", "ab", None)),
    *({"kind": kind} for kind in ("a", "b", 1)),
    *({"kind": kind, "a": one} for kind in ("a", "b") for one in (0, 1, "a", "ab", None)),
    *({"a": one, "b": other} for one in (0, 1, "a", "ab") for other in (1, "a", None)),
    {"kind": "a", "a": 1, "b": 1},
    {"c": "a"},
    {"a": 1, "c": 1},
]
WORLD = [*SCALARS, *LISTS, *OBJECTS]

PATTERNS = ["^a", "^[ab]+$", "^[a-b]{1,2}$", "^[ab]{1,3}$", "b$", "^a*$", "^[^0]*$", "^.[a-z]?$"]
STRING = {"minLength": [0, 1, 2], "maxLength": [0, 1, 2, 3], "pattern": PATTERNS}
NUMBER = {
    "minimum": [-1, 0, 0.5, 1, 2],
    "maximum": [0, 1, 2.5, 3],
    "exclusiveMinimum": [-1, 0, 0.5, 1],
    "exclusiveMaximum": [1, 2, 2.5, 7],
    "multipleOf": [0.5, 1, 2],
}
ARRAY = {"minItems": [0, 1, 2], "maxItems": [0, 1, 2], "uniqueItems": [True, False]}
KEYWORDS = {"string": STRING, "number": NUMBER, "integer": NUMBER, "array": ARRAY}
KINDS = ("string", "number", "integer", "boolean", "null", "array", "object")
LISTED = [[0], [1, True], ["a", "b"], [None, "a"], ["a", "ab", 1, 1.0], [{"a": 1}, []], [False]]


def schema(chance, depth=2):
    """A schema of at most `depth` levels below it."""
    shape = chance.choice(("typed", "typed", "typed", "typed", "listed", "union", "both", "odd"))
    if shape == "listed":
        return {"enum": chance.choice(LISTED)} if chance.random() < 0.7 else {"const": "a"}
    if shape == "odd":
        odd = ({}, True, False, {"not": {"type": "string"}}, {"type": ["string", "null"]})
        return chance.choice(odd)
    if shape == "union" and depth:
        return _union(chance, depth - 1)
    if shape == "both" and depth:
        return {"allOf": [schema(chance, 0), schema(chance, depth - 1)]}
    return _typed(chance, chance.choice(KINDS), depth)


def changed(chance, node):
    """A schema like this one, but for one place."""
    if not isinstance(node, dict) or not node or chance.random() < 0.1:
        return schema(chance, 1)
    key = chance.choice(sorted(node))
    value = node[key]
    if key in {"items", "additionalProperties"}:
        return {**node, key: changed(chance, value)}
    if key == "properties" and value:
        name = chance.choice(sorted(value))
        if chance.random() < 0.2:
            return {**node, key: {n: child for n, child in value.items() if n != name}}
        return {**node, key: {**value, name: changed(chance, value[name])}}
    if key in {"anyOf", "oneOf", "allOf"} and chance.random() < 0.7:
        place = chance.randrange(len(value))
        return {**node, key: [*value[:place], changed(chance, value[place]), *value[place + 1 :]]}
    if key == "required" and value:
        return {**node, key: value[1:]}
    choices = dict(chain.from_iterable(each.items() for each in KEYWORDS.values())).get(key)
    if choices and chance.random() < 0.7:
        return {**node, key: chance.choice(choices)}
    if chance.random() < 0.5 and key != "type":
        return {name: other for name, other in node.items() if name != key}
    kind = node.get("type", "object")
    return _typed(chance, kind, 1) if isinstance(kind, str) else schema(chance, 1)


def _typed(chance, kind, depth):
    made = {"type": kind}
    for keyword, choices in KEYWORDS.get(kind, {}).items():
        if chance.random() < 0.3:
            made[keyword] = chance.choice(choices)
    if kind == "array" and depth and chance.random() < 0.7:
        made["items"] = schema(chance, depth - 1)
    if kind == "object" and depth:
        made |= _members(chance, depth - 1)
    return made


def _members(chance, depth):
    names = [name for name in ("a", "b") if chance.random() < 0.6]
    made = {"properties": {name: schema(chance, depth) for name in names}}
    if chance.random() < 0.4:
        made["properties"]["kind"] = {"const": chance.choice("ab")}
    known = sorted(made["properties"])
    made["required"] = [name for name in known if chance.random() < 0.5]
    if chance.random() < 0.7:
        made["additionalProperties"] = False
    elif chance.random() < 0.5:
        made["additionalProperties"] = schema(chance, 0)
    if chance.random() < 0.2:
        made[chance.choice(("minProperties", "maxProperties"))] = chance.choice((0, 1, 2))
    return made


def _union(chance, depth):
    union = chance.choice(("anyOf", "oneOf", "tagged"))
    if union != "tagged":
        beside = {"maxLength": 2} if chance.random() < 0.2 else {}
        return {
            **beside,
            union: [schema(chance, depth) for _ in range(chance.choice((1, 2, 2, 3)))],
        }
    branches = []
    for tag in chance.choice(("a", "ab", "ba")):
        members = _members(chance, depth)
        members["properties"]["kind"] = {"const": tag}
        members["required"] = sorted({*members["required"], "kind"})
        branches.append({"type": "object", **members})
    return {"oneOf": branches}
