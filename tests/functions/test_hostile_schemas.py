"""What a tool's emitted schema allows is accepted, and what it forbids is refused at its place."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from agents import events
from contracts.schema_nodes import nodes, present
from tests.contracts.schema_values import broken, values
from tests.functions import hostile
from tests.functions.hostile import FORMS, SPECS, few, plain, sample, schema_of, unsafe_paths

each_tool = pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.model_name)


@pytest.fixture(autouse=True)
def _unreachable(monkeypatch):
    hostile.patched(monkeypatch)


def _paths(arguments):
    return [
        path for one in arguments["files"] for path in (one["path"], one.get("newPath")) if path
    ]


def _clash(arguments):
    paths = _paths(arguments)
    above = any(other.startswith(f"{path}/") for path in paths for other in paths)
    return above or len(paths) != len(set(paths))


def _nul(arguments):
    return any("\0" in one.get("content", "") for one in arguments["files"])


def _diff(arguments):
    return any(one["mode"] == "unified_diff" for one in arguments["files"])


PATCHES = {
    "a diff is read before anything is claimed": _diff,
    "only text can be sent": _nul,
    "each path is named once, and none is both file and directory": _clash,
}
PAGES = {"a cursor is one that an answer gave": lambda a: a.get("cursor") is not None}
LISTED = {
    "apply_patch_v1": PATCHES,
    "apply_patch_v2": PATCHES,
    "list_files_v1": PAGES,
    "search_v1": {
        **PAGES,
        "a match lies within one line": lambda a: "\n" in a["query"],
        "a pattern is RE2's": lambda a: a.get("mode") == "regex",
    },
    "write_file_v1": {"only text can be sent": lambda a: "\0" in a["content"]},
}
"""By tool: why arguments may be refused that fit the schema, besides the rules for paths."""


@each_tool
def test_what_the_schema_allows_is_accepted_on_every_surface(spec):
    accepted = []

    @few(25)
    @given(arguments=plain(spec) | values(schema_of(spec)))
    def check(arguments):
        answers = [_sent(spec, arguments, surface) for surface in events.SURFACES]
        (code,) = {answer.code for answer in answers}
        if unsafe := unsafe_paths(spec, arguments):
            assert code == "FORBIDDEN_PATH"
            details = answers[0].result["error"]["details"]
            assert details["path"] in unsafe or details["reason"] == "PROTECTED"
        elif answers[0].is_refused:
            reasons = LISTED.get(spec.model_name, {})
            assert any(holds(arguments) for holds in reasons.values()), answers[0].result
        else:
            accepted.append(arguments)

    check()
    assert accepted


def _sent(spec, arguments, surface):
    event = events.build(spec, arguments, surface)
    return hostile.send(spec, event.payload, hostile.context(spec, surface))


@each_tool
def test_what_breaks_one_rule_is_refused_where_it_stands(spec):
    arguments = sample(spec)
    Draft202012Validator(schema_of(spec)).validate(arguments)
    ruled = [re.compile(rule.replace("*", "[0-9]+") + r"\Z") for rule, _ in spec.path_rules]
    for pointer, keyword, value in broken(schema_of(spec), arguments):
        for form in FORMS if pointer else ("direct", "gateway", "arguments"):
            if (pointer, keyword) == ("/schemaVersion", "required") and form != "direct":
                continue  # the tool's name carries it
            answer = hostile.call(spec, form, value)
            assert answer.is_refused, (pointer, keyword, answer.result)
            # What is no object at all has no place but the argument that holds it.
            assert pointer in answer.places or not isinstance(value, dict) or value == {}
            if answer.code == "FORBIDDEN_PATH":
                assert any(rule.match(pointer) for rule in ruled)


@each_tool
def test_no_pattern_takes_a_trailing_newline(spec):
    """Nor does it leave that to the rules for paths: the models alone are asked here."""
    arguments = sample(spec)
    patterns = [p for p, node in nodes(schema_of(spec)) if "pattern" in present(node)[0]]
    refused = set()
    for pointer, keyword, value in broken(schema_of(spec), arguments):
        if keyword == "pattern":
            with pytest.raises(ValidationError) as caught:
                spec.input.model_validate(value)
            kinds = {one["type"] for one in caught.value.errors(include_url=False)}
            assert kinds & {"string_pattern_mismatch", "string_too_long", "string_too_short"}
            refused.add(re.sub(r"/[0-9]+", "/*", pointer))
    assert refused == set(patterns)
