"""Any JSON, in any place of any event, gets a typed answer that repeats nothing of it."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.functions import hostile
from tests.functions.hostile import FORMS, SPECS, few, sample, schema_of

each_tool = pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.model_name)

SURROGATES = st.characters(categories=["Cs"])
TEXT = st.text(max_size=12) | st.text(st.characters() | SURROGATES, max_size=6)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | TEXT
    | st.sampled_from([10**4_000, "None", "true", "[]", "[{a=b}]", '{"a":1,"a":2}', "a\0\n"])
)
ANY = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(TEXT, inner, max_size=3)
        | st.lists(st.fixed_dictionaries({"name": TEXT, "value": inner}), max_size=2)
    ),
    max_leaves=8,
)


@pytest.fixture(autouse=True)
def _unreachable(monkeypatch):
    hostile.patched(monkeypatch)


def places(value, pointer=()):
    """The steps to everything in a JSON value, itself first."""
    yield pointer
    items = value.items() if isinstance(value, dict) else ()
    for key, child in enumerate(value) if isinstance(value, list) else items:
        yield from places(child, (*pointer, key))


def replaced(value, steps, other):
    """The value with something else in one place."""
    if not steps:
        return other
    copy = value.copy()
    copy[steps[0]] = replaced(value[steps[0]], steps[1:], other)
    return copy


@each_tool
@few(60)
@given(data=st.data())
def test_any_json_in_any_place_of_an_event_is_answered(spec, data):
    form = data.draw(st.sampled_from(FORMS))
    sent = hostile.event(spec, form, sample(spec))
    for _ in range(data.draw(st.integers(1, 2))):
        steps = data.draw(st.sampled_from(list(places(sent))))
        sent = replaced(sent, steps, data.draw(ANY))
    hostile.send(spec, sent, hostile.context(spec, form))


@each_tool
@few(15)
@given(custom=ANY, known=ANY)
def test_any_client_context_is_answered(spec, custom, known):
    for odd in (custom, {"bedrockAgentCoreToolName": known}):
        for context in (odd, SimpleNamespace(client_context=odd)):
            hostile.send(spec, {"repoRoot": "/w"}, context)
        client_context = SimpleNamespace(custom=odd)
        hostile.send(spec, {"repoRoot": "/w"}, SimpleNamespace(client_context=client_context))


def nested(depth, wrap):
    value = wrap("x")
    for _ in range(depth):
        value = wrap(value)
    return value


DEEP = 100_000
REFUSED = {
    "a list 100 000 deep": nested(DEEP, lambda inner: [inner]),
    "an object 100 000 deep": nested(DEEP, lambda inner: {"a": inner}),
    "5000 digits": 10**5_000 - 1,
    "5000 digits below zero": 1 - 10**5_000,
    "a float for an integer": 1.0,
    "1e400": float("1e400"),
    "NaN": math.nan,
    "a lone surrogate": "src/a\ud800.txt",
    "a lone surrogate in a key": {"\udfff": 1},
    "a name and value with lone surrogates": [{"name": "\ud800", "value": "\ud800"}],
    "names that are no text": {1: 1, None: 2},
    "100 000 wrong items": [{"bad": 1}] * DEEP,
    "100 000 unknown fields": {f"unknown {n}": n for n in range(DEEP)},
}
TEXTS = {
    "JSON text 100 000 deep": "[" * DEEP,
    "JSON text of 100 000 objects in each other": '{"a":' * DEEP,
    "a key twice": '[{"path": "a", "path": "b", "mode": "delete"}]',
    "a key twice, escaped once": '{"a": 1, "\\u0061": 1}',
    "1e400 as text": "[1e400]",
    "5000 digits as text": f"[{10**4_000}{10**999}]",
    "NaN as text": "[NaN, -Infinity]",
    "lone surrogates as text": '["\\ud800", {"\\udfff": 1}]',
    "NUL": "a\0b",
    "a trailing newline": "a\n",
    "as Java prints it": "[{path=a, mode=delete}]",
}
"""Fine where any text is; nowhere does it stand for something else."""


def in_turn(cases, names):
    """Each case at each name, by one form after the other: all forms for each of both."""
    for number, case in enumerate(cases):
        for place, name in enumerate(names):
            yield FORMS[(number + place) % len(FORMS)], case, name


@each_tool
def test_an_extreme_value_is_refused_in_every_argument(spec):
    arguments = sample(spec)
    for form, value, name in in_turn(REFUSED.values(), [*arguments, "surplus"]):
        answer = hostile.call(spec, form, {**arguments, name: value})
        assert answer.is_refused
        assert all(place.startswith(f"/{name}") for place in answer.places)


@each_tool
def test_an_extreme_text_is_only_ever_text(spec):
    arguments = sample(spec)
    for form, text, name in in_turn(TEXTS.values(), [*arguments, "surplus"]):
        answer = hostile.call(spec, form, {**arguments, name: text})
        assert answer.is_refused or isinstance(arguments[name], str)
        assert hostile.call(spec, form, {**arguments, text: 1}).code == "VALIDATION"


@pytest.mark.parametrize("form", ["bedrock", "bedrock-function"])
def test_an_extreme_value_in_any_field_of_an_envelope_is_answered(form):
    spec = SPECS[0]
    sent = hostile.event(spec, form, sample(spec))
    for field in sent:
        for value in [*REFUSED.values(), *TEXTS.values()]:
            for odd in (value, {"k": value, "user": "u"}, [value]):
                answer = hostile.send(spec, {**sent, field: odd})
                assert answer.raw["response"].keys() >= {"actionGroup"} - {field}


@pytest.mark.parametrize("form", ["direct", "gateway", "bedrock"])
def test_an_extreme_token_is_refused_and_not_repeated(form):
    spec = SPECS[0]
    for value in [*REFUSED.values(), *TEXTS.values(), *CARRIERS, "a.b", f"{CANARY}.{CANARY}"]:
        sent = hostile.event(spec, form, sample(spec))
        if form == "bedrock":
            sent["sessionAttributes"] = {"_caller": value}
        else:
            sent = {**sent, "_caller": value}
        answer = hostile.send(spec, sent, hostile.context(spec, form))
        assert (answer.code, answer.requests) == ("FORBIDDEN", [])
        assert CANARY not in json.dumps(answer.result) + answer.log


@each_tool
def test_names_that_only_look_like_arguments_are_unknown(spec):
    arguments, needed = sample(spec), set(schema_of(spec)["required"]) - {"schemaVersion"}
    tricks = [str.upper, " {}".format, "{}\0".format, "{}\u200b".format, "{}\u0301".format]
    known = ["__proto__", "constructor", "__class__", "model_config", ""]
    others = [*tricks, *(lambda _, other=other: other for other in known)]
    for form, trick, name in in_turn(others, arguments):
        rest = {key: value for key, value in arguments.items() if key != name}
        answer = hostile.call(spec, form, {**rest, trick(name): arguments[name]})
        assert answer.code == "VALIDATION"
        assert f"/{name}" in answer.places or name not in needed
    for form in FORMS:
        assert hostile.call(spec, form, {**arguments, "\ud800": 1}).places == [""]


CANARY = "canary-5f1c9e"
CARRIERS = [
    CANARY,
    f"{CANARY}\n",
    f"/{CANARY}/../x",
    f" {CANARY}" * 60_000,
    f"--- a/{CANARY}\n+++ b/{CANARY}-2\n@@ {CANARY} @@\n-{CANARY}\n+{CANARY}-3\n",
    f"({CANARY}",
    f"[{{{CANARY}={CANARY}}}]",
    f'[{{"path": "{CANARY}", "path": 1}}]',
    [CANARY],
    {CANARY: CANARY},
    [{"name": CANARY, "value": CANARY}],
    [{f"{CANARY} ": 1, "path": CANARY, "mode": CANARY, "content": {CANARY: 1}}],
    [{"path": CANARY, "mode": "replace_full", "content": ""}] * 2,
    [{"path": p, "mode": "replace_full", "content": ""} for p in (CANARY, f"{CANARY}/x")],
    [{"path": "a.txt", "mode": "unified_diff", "content": f"--- a/{CANARY}\n@@ {CANARY}\n"}],
]


@each_tool
def test_no_answer_and_no_log_repeats_what_was_sent(spec):
    arguments = sample(spec)
    changes = [lambda one, name=name: {**arguments, name: one} for name in arguments]
    changes += [
        lambda one: dict.fromkeys(arguments, one),
        lambda one: {**arguments, f"{CANARY} surplus": one},
        lambda one: {**arguments, CANARY * 20: one},
    ]
    for form, carrier, changed in in_turn(CARRIERS, changes):
        answer = hostile.call(spec, form, changed(carrier))
        assert CANARY not in json.dumps(answer.result)
        assert CANARY not in answer.log


@pytest.mark.parametrize(
    ("name", "place"),
    [(CANARY, f"/{CANARY}"), (f"{CANARY} ", ""), ("x" * 65, "")],
    ids=["plain", "space", "long"],
)
def test_of_unknown_fields_only_plain_names_are_told(name, place):
    """What to take out must be said; what is no plain name may be anything, and long."""
    for spec in SPECS:
        issues = hostile.call(spec, "direct", {name: 1}).result["error"]["details"]["issues"]
        assert [one["path"] for one in issues if one["problem"] == "unknown field"] == [place]
