"""Values that a contract's schema allows, by chance, and each way to break one rule of it."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

from hypothesis import strategies as st

from contracts.schema_nodes import present

LENGTH_MAX = 60
"""The longest text that is made, unless a bound asks for more."""

OTHER_TYPES = {
    "string": [7, True, 1.5, ["a"], {"a": "b"}],
    # A JSON Schema takes 1.0 for 1; the contracts do not.
    "integer": [True, False, 1.0, 1.5, "x", [1], {}, math.inf, math.nan],
    "boolean": [0, 1, 1.0, "yes", "TRUE", [], {}],
    "array": [7, True, "x", {}, {"0": "a"}],
    "object": [7, True, "x", [], ["a"]],
}
"""Values of other types that no dialect reads as the type, not even where all values are text."""


def values(schema, *, places=None, whole=False, pointer=""):
    """Any value that a schema allows, small ones and those at a bound alike.

    `places`: by pointer (`*` for any item), strategies to use instead. `whole`: with all that is
    optional, and every variant of a union in each list of them.
    """
    if pointer in (places or {}):
        return places[pointer]
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "oneOf" in schema or "anyOf" in schema:
        branches = schema.get("oneOf") or schema["anyOf"]
        if whole:
            branches = [branch for branch in branches if branch["type"] != "null"]
        return st.one_of(*_branches(branches, places, whole, pointer))
    if schema["type"] == "object":
        return _objects(schema, places, whole, pointer)
    if schema["type"] == "array":
        return _arrays(schema, places, whole, f"{pointer}/*")
    return {
        "string": _texts,
        "integer": lambda s: st.integers(s.get("minimum"), s.get("maximum")),
        "boolean": lambda _: st.booleans(),
        "null": lambda _: st.none(),
    }[schema["type"]](schema)


def _branches(branches, places, whole, pointer):
    return [values(one, places=places, whole=whole, pointer=pointer) for one in branches]


def _objects(schema, places, whole, pointer):
    fields = {
        name: values(child, places=places, whole=whole, pointer=f"{pointer}/{name}")
        for name, child in schema["properties"].items()
    }
    needed = fields if whole else {name: fields[name] for name in schema.get("required", [])}
    others = {name: field for name, field in fields.items() if name not in needed}
    return st.fixed_dictionaries(needed, optional=others)


def _arrays(schema, places, whole, pointer):
    items = schema["items"]
    if whole and "oneOf" in items:
        return st.tuples(*_branches(items["oneOf"], places, whole, pointer)).map(list)
    low, high = max(schema.get("minItems", 0), int(whole)), schema["maxItems"]
    made = values(items, places=places, whole=whole, pointer=pointer)
    return st.lists(made, min_size=low, max_size=min(high, low + 2))


def _texts(schema):
    low, high = schema.get("minLength", 0), schema.get("maxLength", LENGTH_MAX)
    if "pattern" in schema:
        made = st.from_regex(re.compile(schema["pattern"]), fullmatch=True)
        # A pattern bounds itself; only a length beside it bounds it further.
        high = schema.get("maxLength", math.inf)
        return made.filter(lambda text: low <= len(text) <= high and not text.endswith("\n"))
    small = st.text(min_size=low, max_size=min(high, max(low, LENGTH_MAX)))
    edges = st.sampled_from(sorted({low, min(high, 10_000)})).map(lambda n: "x" * n)
    return st.one_of(small, edges)


class Broken(NamedTuple):
    """A value that breaks one rule: where the fault is, which keyword's, the value."""

    pointer: str
    keyword: str
    value: Any


def broken(schema, value, pointer=""):
    """Every way to break one rule of the schema in a value that fits it."""
    schema, _ = present(schema)
    if "oneOf" in schema:
        schema = next(one for one in schema["oneOf"] if _is_of(one, value))
    for other in OTHER_TYPES[schema["type"]]:
        yield Broken(pointer, "type", other)
    for keyword, other in _out_of_bounds(schema, value):
        yield Broken(pointer, keyword, other)
    if schema["type"] == "array":
        for index, item in enumerate(value):
            for one in broken(schema["items"], item, f"{pointer}/{index}"):
                yield one._replace(value=[*value[:index], one.value, *value[index + 1 :]])
    if schema["type"] == "object":
        for name, child in schema["properties"].items():
            for one in broken(child, value[name], f"{pointer}/{name}"):
                yield one._replace(value={**value, name: one.value})
        for name in schema.get("required", []):
            rest = {key: child for key, child in value.items() if key != name}
            yield Broken(f"{pointer}/{name}", "required", rest)
        if schema.get("additionalProperties") is False:
            surplus = {**value, "surplus": 1}
            yield Broken(f"{pointer}/surplus", "additionalProperties", surplus)


def _is_of(branch, value):
    fixed = {n: f["const"] for n, f in branch["properties"].items() if "const" in f}
    return all(value[name] == only for name, only in fixed.items())


def _out_of_bounds(schema, value):
    if "const" in schema or "enum" in schema:
        other = "no such value" if isinstance(value, str) else value + 1
        yield ("const" if "const" in schema else "enum"), other
    for keyword, step in (("minimum", -1), ("maximum", 1)):
        if keyword in schema:
            yield keyword, schema[keyword] + step
            yield keyword, step * 10**5_000
    if schema.get("minLength"):
        yield "minLength", "x" * (schema["minLength"] - 1)
    if "maxLength" in schema:
        yield "maxLength", "x" * (schema["maxLength"] + 1)
    if "pattern" in schema:
        for other in (f"{value}\n", f"\n{value}", f"{value}\n{value}", f"{value}\0", "é"):
            yield "pattern", other
    if schema.get("minItems"):
        yield "minItems", value[: schema["minItems"] - 1]
    if "maxItems" in schema:
        yield "maxItems", (value * (schema["maxItems"] + 1))[: schema["maxItems"] + 1]
