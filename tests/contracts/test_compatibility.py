"""A change breaks whoever depends on the old schema, or surely does not; both are shown by values.

The judge is jsonschema: on a table of cases, and on schemas by chance with every value of a world.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from contracts.compatibility import SchemaError, compare, compare_promises
from tests.contracts.schema_chance import WORLD, changed, schema

CASES = json.loads(Path(__file__).with_name("compatibility_cases.json").read_text("utf-8"))
DIRECTIONS = ("input", "output")
TEXT = {"type": "string"}
NO_WITNESS = {"format added"}
"""A format is an annotation to some and a rule to others, so no value can show the change."""


def closed(properties, required=(), **more):
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
        **more,
    }


def only(old, new, direction="input"):
    """The one reason there is, as (pointer, change, why, verdict)."""
    (reason,) = compare(old, new, direction).reasons
    return reason.pointer, reason.change, reason.why, reason.verdict


def valid(node, value):
    return Draft202012Validator(node).is_valid(value)


def shows_a_break(case, direction, value):
    """Input: was valid and is refused. Output: is possible and was not."""
    before, after = (
        (case["old"], case["new"]) if direction == "input" else (case["new"], case["old"])
    )
    return valid(before, value) and not valid(after, value)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_change_is_breaking_if_and_only_if_the_table_says_so(case, direction):
    report = compare(case["old"], case["new"], direction)
    assert (report.verdict != "breaking") is case[direction]
    breaking = [reason for reason in report.reasons if reason.verdict == "breaking"]
    assert bool(breaking) is not case[direction]
    if case["name"] not in NO_WITNESS:
        assert all(reason.witness for reason in breaking)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_witness_of_the_table_shows_the_break(case):
    for direction in DIRECTIONS:
        for reason in compare(case["old"], case["new"], direction).reasons:
            if reason.witness:
                assert shows_a_break(case, direction, reason.witness.value)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_pointer_leads_to_something_in_one_of_the_schemas(case):
    def leads(node, root, pointer):
        for step in pointer.split("/")[1:]:
            while isinstance(node, dict) and "$ref" in node:
                node = root["$defs"][node["$ref"].rsplit("/", 1)[1]]
            key = int(step) if isinstance(node, list) else step
            if key not in (range(len(node)) if isinstance(node, list) else node):
                return False
            node = node[key]
        return True

    for direction in DIRECTIONS:
        for reason in compare(case["old"], case["new"], direction).reasons:
            assert any(leads(case[side], case[side], reason.pointer) for side in ("old", "new"))


def test_the_table_is_whole():
    assert len(CASES) == 39
    assert {case["name"] for case in CASES if case["input"] and case["output"]} == {
        "identical",
        "const == enum1",
        "exclMin 0 == min 1 (int)",
        "union reordered",
        "description only",
        "default changed",
        "$ref vs inline same",
    }


def test_chance_finds_no_value_that_speaks_against_a_verdict():
    chance = random.Random(20)
    seen = Counter()
    for _ in range(150):
        old = schema(chance)
        new = changed(chance, old)
        old, new = (node if isinstance(node, dict) else {"not": {}} for node in (old, new))
        case = {"old": old, "new": new}
        judges = Draft202012Validator(old), Draft202012Validator(new)
        before, after = ([judge.is_valid(value) for value in WORLD] for judge in judges)
        for direction, fits, wanted in (("input", before, after), ("output", after, before)):
            report = compare(old, new, direction)
            broken = [v for v, was, now in zip(WORLD, fits, wanted, strict=True) if was and not now]
            assert report.verdict == "breaking" or not broken, (case, direction, broken[:1])
            assert report.verdict != "identical" or before == after, case
            shown = [reason.witness for reason in report.reasons if reason.witness]
            for witness in shown:
                assert shows_a_break(case, direction, witness.value), (case, direction, witness)
            seen[report.verdict, bool(broken), bool(shown)] += 1
    # Chance met every kind of verdict, and of what is broken nearly everything was shown.
    assert min(seen["breaking", True, True], seen["compatible", False, False]) > 50
    assert seen["identical", False, False] > 20
    assert seen["breaking", True, False] < seen["breaking", True, True] / 5


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            closed({}),
            closed({"a": {**TEXT, "default": "x"}}),
            (
                "/properties/a",
                "property-added",
                "optional property 'a' is new, default \"x\"",
                "additive",
            ),
        ),
        (
            closed({}),
            closed({"a": TEXT}),
            ("/properties/a", "property-added", "optional property 'a' is new", "compatible"),
        ),
        (
            closed({"a/b~": TEXT}, ["a/b~"]),
            closed({}),
            (
                "/properties/a~1b~0",
                "property-removed",
                "required property 'a/b~' is gone",
                "breaking",
            ),
        ),
        (
            closed({"a": {**TEXT, "default": "x"}}),
            closed({"a": TEXT}),
            ("/properties/a", "default-removed", 'default "x" -> none', "compatible"),
        ),
        (
            closed({"a": {"type": "boolean"}}),
            closed({"a": {"type": "boolean", "default": False}}),
            ("/properties/a", "default-added", "default none -> false", "compatible"),
        ),
        (
            {"type": "array", "items": closed({"a": {"type": "integer", "default": 0}})},
            {"type": "array", "items": closed({"a": {"type": "integer", "default": 1}})},
            ("/items/properties/a", "default-changed", "default 0 -> 1", "compatible"),
        ),
        (
            {"type": "integer", "exclusiveMinimum": 0},
            {"type": "integer", "minimum": 5},
            ("", "bound-changed", "exclusiveMinimum 0 -> minimum 5", "breaking"),
        ),
        (
            {"anyOf": [{"type": "string"}, {"type": "array", "items": TEXT}]},
            {"type": "string"},
            ("/anyOf/1", "branch-removed", "branch array is gone", "breaking"),
        ),
        (
            {"type": "object", "propertyNames": {"maxLength": 9}},
            {"type": "object", "propertyNames": {"maxLength": 10}},
            (
                "",
                "undecided",
                "propertyNames changed, or something beside it: not comparable",
                "breaking",
            ),
        ),
        (
            {"type": "boolean"},
            {"type": "string"},
            ("", "type-changed", "type boolean -> string", "breaking"),
        ),
        (
            {"type": "array", "items": TEXT},
            {"type": "array", "items": TEXT, "uniqueItems": True},
            ("", "uniqueItems-changed", "uniqueItems false -> true", "breaking"),
        ),
        (
            {"type": "string", "pattern": "^(a|b)$"},
            {"type": "string", "pattern": "^(a|b|c)$"},
            ("", "pattern-changed", "pattern ^(a|b)$ -> ^(a|b|c)$", "breaking"),
        ),
    ],
    ids=lambda value: value[1] if isinstance(value, tuple) else "",
)
def test_a_change_is_named_by_place_word_and_class(old, new, said):
    assert only(old, new) == said


def test_a_keyword_that_is_not_understood_does_no_harm_where_it_stays():
    old = closed({"a": {"not": TEXT}, "b": {"type": "string", "maxLength": 5}})
    new = closed({"a": {"not": TEXT}, "b": {"type": "string", "maxLength": 4}})
    assert only(old, new)[0] == "/properties/b"


def test_a_new_bound_of_an_answer_in_a_list_is_shown_by_a_whole_answer():
    def answer(longest):
        item = closed({"path": {"type": "string", "maxLength": longest}}, ["path"])
        return closed({"files": {"type": "array", "items": item, "minItems": 1}}, ["files"])

    (reason,) = compare(answer(3), answer(4), "output").reasons
    assert reason.as_dict() == {
        "pointer": "/properties/files/items/properties/path",
        "change": "bound-changed",
        "why": "maxLength 3 -> 4",
        "witness": {"files": [{"path": "aaaa"}]},
        "verdict": "breaking",
    }


def test_a_null_that_shows_a_break_is_told_from_no_witness():
    (reason,) = compare({"type": ["string", "null"]}, {"type": "string"}, "input").reasons
    assert reason.as_dict()["witness"] is None
    (reason,) = compare({"type": "string"}, {"type": "string", "format": "date"}, "input").reasons
    assert "witness" not in reason.as_dict()


@pytest.mark.parametrize(
    ("node", "says"),
    [
        ([], "a schema is a JSON object"),
        ({"properties": {"a": 1}}, "this is no schema"),
        ({"$ref": "#/$defs/A"}, "this is no schema"),
        ({"$ref": "other.json"}, "leads out of the document"),
        ({"$defs": {"A": {"items": {"$ref": "#/$defs/A"}}}, "$ref": "#/$defs/A"}, "has no end"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_sentence(node, says):
    with pytest.raises(SchemaError, match=says):
        compare({}, node, "input")


PROMISE = {
    "input": closed({"a": TEXT}),
    "output": closed({"b": TEXT}),
    "codes": {"CONFLICT": False, "TIMEOUT": True},
    "effect": "write",
    "approval": "when_protected",
}


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("codes", {**PROMISE["codes"], "lost": False}, ("/lost", "code-added", "breaking")),
        ("codes", {"TIMEOUT": True}, ("/CONFLICT", "code-removed", "compatible")),
        (
            "codes",
            {"CONFLICT": True, "TIMEOUT": True},
            ("/CONFLICT", "retryable-changed", "breaking"),
        ),
        ("effect", "destructive", ("", "effect-changed", "breaking")),
        ("effect", "read", ("", "effect-changed", "compatible")),
        ("approval", "dual", ("", "approval-changed", "breaking")),
        ("approval", "none", ("", "approval-changed", "compatible")),
        ("input", closed({}), ("/properties/a", "property-removed", "breaking")),
        ("output", closed({}), ("/properties/b", "property-removed", "compatible")),
    ],
)
def test_each_part_of_a_promise_is_judged_for_who_depends_on_it(part, value, said):
    reports = compare_promises(PROMISE, {**PROMISE, part: value})
    assert list(reports) == list(PROMISE)
    assert [name for name, report in reports.items() if report.verdict != "identical"] == [part]
    (reason,) = reports[part].reasons
    assert (reason.pointer, reason.change, reason.verdict) == said
