"""A target may take more than the contract, never less; and what it takes besides is listed."""

from __future__ import annotations

import json
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from agents import events
from contracts import registry
from contracts.dialects import DIALECTS, emitted, schemas
from contracts.dialects.lost import lost
from contracts.dialects.targets import TARGETS
from contracts.schema_nodes import present
from tests.contracts.examples import CHANGES, EXAMPLES
from tests.contracts.schema_values import values

SPECS = (*registry.specs(), *EXAMPLES)
PATCH = registry.find("apply_patch_v1")
NATIVE = ("json-schema", "gateway", "mcp", "converse", "langchain")
TEXT = ("bedrock", "bedrock-function")


@cache
def arguments_of(spec, dialect):
    """The schema of the arguments that a target is sent."""
    return schemas(emitted(spec, dialect), dialect)["input"]


def without_null(value):
    """A call without what is null: a target without null says so by saying nothing."""
    if isinstance(value, dict):
        return {name: without_null(child) for name, child in value.items() if child is not None}
    return [without_null(item) for item in value] if isinstance(value, list) else value


def as_sent(spec, arguments, dialect):
    if dialect == "gateway":
        return without_null(events.build(spec, arguments, "gateway").payload)
    supplied = TARGETS[dialect].supplied
    return {name: value for name, value in arguments.items() if name not in supplied}


def as_entries(spec, arguments, dialect):
    """What Bedrock passes on of the call: name, type and text of each property."""
    event = events.build(spec, arguments, dialect).payload
    if dialect == "bedrock-function":
        return event["parameters"]
    return event["requestBody"]["content"]["application/json"]["properties"]


bounded = settings(
    max_examples=30,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.model_name)
@bounded
@given(data=st.data())
def test_what_the_contract_allows_each_target_allows(spec, data):
    contract = arguments_of(spec, "json-schema")
    arguments = data.draw(values(contract))
    Draft202012Validator(contract).validate(arguments)
    for dialect in NATIVE:
        schema = arguments_of(spec, dialect)
        Draft202012Validator(schema).validate(as_sent(spec, arguments, dialect))
    for dialect in TEXT:
        schema = arguments_of(spec, dialect)
        entries = as_entries(spec, arguments, dialect)
        assert set(schema["required"]) <= {entry["name"] for entry in entries}
        for entry in entries:
            assert schema["properties"][entry["name"]]["type"] == entry["type"]


@bounded
@given(data=st.data())
def test_a_nested_argument_is_declared_as_the_text_that_holds_it(data):
    contract = arguments_of(CHANGES, "json-schema")
    arguments = data.draw(values(contract))
    for entry in as_entries(CHANGES, arguments, "bedrock"):
        node, _ = present(contract["properties"][entry["name"]])
        if node.get("type") == "array" or "oneOf" in node:
            assert json.loads(entry["value"]) == arguments[entry["name"]]


FILE = {"path": "a.txt", "mode": "replace_full", "content": ""}
CALL = {"idempotencyKey": "k" * 8, "repoRoot": "/w", "files": [FILE]}
BROKEN = {
    ("", "additionalProperties"): {**CALL, "more": 1},
    ("/idempotencyKey", "required"): {k: v for k, v in CALL.items() if k != "idempotencyKey"},
    ("/idempotencyKey", "type"): {**CALL, "idempotencyKey": 1},
    ("/idempotencyKey", "minLength"): {**CALL, "idempotencyKey": "k" * 7},
    ("/idempotencyKey", "maxLength"): {**CALL, "idempotencyKey": "k" * 129},
    ("/repoRoot", "required"): {k: v for k, v in CALL.items() if k != "repoRoot"},
    ("/repoRoot", "pattern"): {**CALL, "repoRoot": "/a b"},
    ("/repoRoot", "maxLength"): {**CALL, "repoRoot": "/" + "w" * 256},
    ("/files", "type"): {**CALL, "files": "[]"},
    ("/files", "minItems"): {**CALL, "files": []},
    ("/files", "maxItems"): {**CALL, "files": [FILE] * 41},
    ("/files/*", "type"): {**CALL, "files": ["a.txt"]},
    ("/files/*", "additionalProperties"): {**CALL, "files": [{**FILE, "more": 1}]},
    ("/files/*/mode", "required"): {**CALL, "files": [{"path": "a.txt", "content": ""}]},
    ("/files/*/mode", "enum"): {**CALL, "files": [{**FILE, "mode": "patch"}]},
    ("/files/*/path", "pattern"): {**CALL, "files": [{**FILE, "path": "a b"}]},
    ("/files/*/path", "minLength"): {**CALL, "files": [{**FILE, "path": ""}]},
    ("/files/*/path", "maxLength"): {**CALL, "files": [{**FILE, "path": "a" * 1_025}]},
    ("/files/*/content", "maxLength"): {**CALL, "files": [{**FILE, "content": "c" * 500_001}]},
    ("/dryRun", "type"): {**CALL, "dryRun": "yes"},
}
"""A call that breaks one rule of the contract, by that rule."""


@pytest.mark.parametrize("dialect", NATIVE[1:])
@pytest.mark.parametrize("rule", BROKEN, ids="-".join)
def test_a_rule_is_listed_as_lost_exactly_where_breaking_it_passes(rule, dialect):
    pointer, keyword = rule
    arguments = as_sent(PATCH, BROKEN[rule], dialect)
    passes = Draft202012Validator(arguments_of(PATCH, dialect)).is_valid(arguments)
    # The model cannot break a rule of an argument that the surface fills in.
    filled_in = pointer.removeprefix("/") in TARGETS[dialect].supplied
    listed = {"pointer": pointer, "keyword": keyword} in lost(PATCH, dialect)
    assert passes is (listed or filled_in)


def test_nothing_is_lost_where_the_whole_schema_fits():
    for spec in SPECS:
        for dialect in ("json-schema", "converse", "langchain"):
            assert lost(spec, dialect) == []


def test_what_the_gateway_loses_of_a_union_is_listed_at_its_place():
    found = lost(CHANGES, "gateway")
    for pointer in ("/first", "/more/*"):
        assert {"pointer": pointer, "keyword": "oneOf"} in found
        assert {"pointer": f"{pointer}/kind", "keyword": "const"} in found
        assert {"pointer": f"{pointer}/text", "keyword": "required"} in found
        assert {"pointer": f"{pointer}/kind", "keyword": "required"} not in found
        assert {"pointer": f"{pointer}/size", "keyword": "anyOf"} in found
    assert not [one for one in found if one["pointer"].startswith("/schemaVersion")]


@pytest.mark.parametrize("dialect", TEXT)
def test_all_that_is_inside_of_a_text_is_lost(dialect):
    found = {(one["pointer"], one["keyword"]) for one in lost(PATCH, dialect)}
    assert {("/files", "type"), ("/files", "items"), ("/files/*/mode", "enum")} <= found
    assert ("/files/*/content", "type") in found
    assert ("/dryRun", "type") not in found


@pytest.mark.parametrize("dialect", DIALECTS)
def test_descriptions_reach_the_model_unless_they_are_listed(dialect):
    for spec in registry.specs():
        missing = {one["pointer"] for one in lost(spec, dialect) if one["keyword"] == "description"}
        # Of these, the fields' own descriptions are the explanation that a model works from.
        assert not [pointer for pointer in missing if pointer not in {"", "/files/*"}]
