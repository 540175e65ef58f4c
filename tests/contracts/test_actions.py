"""AgentAction takes what its tools take, says so in every form, and becomes their calls."""

from __future__ import annotations

import json

import jsonschema
import pytest
from pydantic import ValidationError

from agents import events
from agents.targets import InProcessTarget
from contracts import actions, registry
from contracts.dialects.inline import inline
from contracts.schema_nodes import nodes

KEY = "turn-7f3a9c2e"
SUPPLIED = {"repoRoot", "idempotencyKey", "schemaVersion"}
READ = {"action": "read_file", "path": "src/a b.py", "firstLine": 3}
WRITE = {"action": "write_file", "path": "a.txt", "content": "é\r\n", "overwrite": True}
SEARCH = {"action": "search", "query": "a+", "mode": "regex", "limit": 5}
VALID = [READ, WRITE, SEARCH, {"action": "search", "query": "x", "revision": None}]
INVALID = [
    {},
    {"action": "rm", "path": "a"},
    {"path": "a"},
    {"action": "read_file"},
    {**READ, "firstLine": True},
    {**READ, "firstLine": 1.0},
    {**READ, "firstLine": 0},
    {**READ, "query": "x"},
    {**READ, "repoRoot": "/w/a"},
    {**WRITE, "idempotencyKey": KEY},
    {**WRITE, "content": "x" * 100_001},
    {**SEARCH, "limit": 51},
    {**SEARCH, "mode": "glob"},
    {**SEARCH, "revision": "latest"},
    [READ],
    "read_file",
]
STRICTER = [{**READ, "firstLine": 1.0}]
"""What JSON Schema takes and a strict model does not."""
each_action = pytest.mark.parametrize("name", actions.TOOLS)


@each_action
def test_an_actions_fields_are_the_tools_own_but_for_what_the_harness_knows(name):
    tool = inline(actions.TOOLS[name].input_schema)
    schema = actions.document()["tools"][name]
    kept = {field: value for field, value in tool["properties"].items() if field not in SUPPLIED}
    if "path" in kept:
        kept["path"] = {**kept["path"], "description": actions.PATH}
    assert schema["properties"] == kept
    assert set(schema["required"]) == set(tool["required"]) - SUPPLIED


@each_action
def test_an_action_is_of_the_version_that_agents_are_given(name):
    (newest,) = (s for s in registry.newest(registry.specs()) if s.name == name)
    assert actions.TOOLS[name] is newest


@pytest.mark.parametrize("value", VALID)
def test_every_form_takes_an_action(value):
    document = actions.document()
    jsonschema.validate(value, document["union"])
    jsonschema.validate({"action": value}, document["object"])
    jsonschema.validate(value, document["flat"])
    bare = {field: one for field, one in value.items() if field != "action"}
    jsonschema.validate(bare, document["tools"][value["action"]])
    assert actions.parse(value) == actions.parse({"action": value})


@pytest.mark.parametrize("value", INVALID)
def test_what_is_no_action_is_refused_by_the_model_and_by_the_schema(value):
    with pytest.raises(ValidationError):
        actions.parse(value)
    if value not in STRICTER:
        for form, sent in (("union", value), ("object", {"action": value})):
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(sent, actions.document()[form])


def test_an_unsafe_path_is_refused_and_not_quoted():
    with pytest.raises(ValidationError) as refused:
        actions.parse({**WRITE, "path": "../secret"})
    assert "secret" not in str(refused.value)


def test_every_form_is_a_valid_schema_and_all_but_the_union_are_objects():
    document = actions.document()
    forms = {name: form for name, form in document.items() if name != "tools"} | document["tools"]
    for name, form in forms.items():
        jsonschema.Draft202012Validator.check_schema(form)
        assert (form.get("type") == "object") is (name != "union")
    plain = {"type", "description", "properties", "items", "required"}
    assert {key for _, node in nodes(document["plain"]) for key in node} <= plain


def test_no_form_speaks_of_what_the_model_is_not_told():
    assert not [name for name in SUPPLIED if name in json.dumps(actions.document())]


def test_an_action_becomes_the_call_of_its_tool():
    assert actions.to_call(actions.parse(READ), "/w/a", KEY) == actions.ToolCall(
        "read_file_v1", {"repoRoot": "/w/a", "path": "src/a b.py", "firstLine": 3}
    )
    assert actions.to_call(actions.parse(WRITE), "/w/a", KEY) == actions.ToolCall(
        "write_file_v1",
        {
            "schemaVersion": 1,
            "idempotencyKey": KEY,
            "repoRoot": "/w/a",
            "path": "a.txt",
            "content": "é\r\n",
            "overwrite": True,
        },
    )


def test_the_calls_are_answered_by_the_tools(workspaces):
    root = "/workspace/actions"
    workspaces.create(root, {"a.txt": b"one\n"})
    answers = []
    for value in (WRITE, WRITE, {"action": "read_file", "path": "a.txt"}, SEARCH | {"query": "é"}):
        call = actions.to_call(actions.parse(value), root, KEY)
        spec = registry.find(call.tool)
        event = events.build(spec, call.arguments, "direct")
        answers.append(events.unwrap(InProcessTarget().send(spec, event)))
    written, again, read, found = answers
    assert (written["skippedAsDuplicate"], again["skippedAsDuplicate"]) == (False, True)
    assert read["text"] == "é\r\n"
    assert [match["path"] for match in found["matches"]] == ["a.txt"]


def test_the_committed_schema_is_what_the_module_emits():
    path = registry.HOME / "schemas" / "agent_action.json"
    assert json.loads(path.read_text("utf-8")) == actions.document()
