"""What each target is sent: valid for the target, complete for the reader, true to the contract."""

from __future__ import annotations

import json
import re
from typing import Annotated, Literal

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError as SchemaViolation
from openapi_spec_validator import OpenAPIV30SpecValidator
from pydantic import BaseModel, Field

from agents.targets import InProcessTarget
from contracts import registry
from contracts.dialects import DIALECTS, bedrock, json_schema
from contracts.dialects.inline import inline
from contracts.dialects.words import described
from contracts.errors import CODES
from contracts.instruction import LENGTH_MAX, LENGTH_MIN, agent_instruction
from contracts.spec import Approval, Effect, SpecError
from contracts.types import Contract
from tests.golden.cases import Case, all_cases

SPECS = registry.specs()
each_tool = pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.model_name)
DIRECT = [case for case in all_cases() if case.surface == "direct"]


def parts_of(document):
    return {part: document[part] for part in ("input", "output", "error")}


def nodes(schema):
    """Every schema in a schema; names of properties are no keywords."""
    yield schema
    for child in schema.get("properties", {}).values():
        yield from nodes(child)
    for key in ("items", "not"):
        if isinstance(schema.get(key), dict):
            yield from nodes(schema[key])
    for key in ("anyOf", "oneOf", "allOf"):
        for child in schema.get(key, ()):
            yield from nodes(child)


def leaves(value):
    if isinstance(value, dict):
        for key, child in value.items():
            yield key
            yield from leaves(child)
    elif isinstance(value, list):
        for child in value:
            yield from leaves(child)


@each_tool
def test_a_bedrock_document_is_valid_openapi_3_0_0(spec):
    document = bedrock.emit(spec)
    OpenAPIV30SpecValidator(document).validate()
    assert document["openapi"] == "3.0.0"
    assert document["info"] == {"title": spec.model_name, "version": spec.version}


@each_tool
def test_a_bedrock_document_has_one_operation_of_the_tools_name(spec):
    ((path, methods),) = bedrock.emit(spec)["paths"].items()
    ((method, operation),) = methods.items()
    assert (path, method, operation["operationId"]) == (f"/{spec.model_name}", "post", path[1:])
    assert operation["description"].startswith(spec.summary)
    assert set(operation["responses"]) == {"200"}


@each_tool
def test_a_bedrock_document_uses_only_the_keywords_that_bedrock_reads(spec):
    schemas = (bedrock.request_schema(spec), bedrock.response_schema(spec))
    for node in (node for schema in schemas for node in nodes(schema)):
        assert set(node) <= {"type", "description", "properties", "items", "required"}
        assert node["type"] in {"string", "integer", "number", "boolean", "array", "object"}
    assert not {"$ref", "$defs", "enum", "oneOf", "anyOf"} & set(leaves(bedrock.emit(spec)))


@each_tool
def test_a_bedrock_argument_is_one_described_scalar_and_never_the_version(spec):
    schema = bedrock.request_schema(spec)
    declared = spec.input_schema
    assert set(schema["properties"]) == set(declared["properties"]) - {"schemaVersion"}
    assert set(schema["required"]) == set(declared["required"]) - {"schemaVersion"}
    for field in schema["properties"].values():
        assert field["type"] in {"string", "integer", "boolean"}
        assert field["description"].strip()


def test_a_nested_bedrock_argument_is_json_text_that_is_described_to_the_last_field():
    files = bedrock.request_schema(registry.find("apply_patch_v1"))["properties"]["files"]
    assert files["type"] == "string"
    said = files["description"]
    assert "Send JSON text: an array of 1 to 40 items" in said
    assert '"path" (string)' in said
    assert '"mode" (string)' in said
    assert '"content" (string)' in said
    assert "one of unified_diff, replace_full" in said
    assert "at most 500000 characters" in said


@each_tool
def test_every_bound_of_a_scalar_is_said_in_words(spec):
    """Bedrock has no keyword for it: a model learns a bound from the description or not at all."""
    fields = inline(spec.input_schema)["properties"]
    for name, sent in bedrock.request_schema(spec)["properties"].items():
        numbers = set(re.findall(r"\d+", sent["description"]))
        for limit in ("minLength", "maxLength", "minimum", "maximum"):
            if limit in fields[name]:
                assert str(fields[name][limit]) in numbers, (name, limit)


@pytest.mark.parametrize(
    ("description", "said"),
    [
        ("A word.", "A word. (8 to 128 characters)"),
        ("A word, 8-128 characters.", "A word, 8-128 characters."),
        (
            "A word of at most 128 characters.",
            "A word of at most 128 characters. (at least 8 characters)",
        ),
        ("None of 8.", "None of 8. (8 to 128 characters)"),
    ],
)
def test_a_bound_that_a_description_does_not_name_is_added(description, said):
    schema = {"type": "string", "minLength": 8, "maxLength": 128, "description": description}
    assert described(schema) == said


@each_tool
def test_a_bedrock_answer_says_everything_that_a_result_may_hold(spec):
    schema = bedrock.response_schema(spec)
    document = json_schema.emit(spec)
    both = {**document["output"]["properties"], **document["error"]["properties"]}
    assert set(schema["properties"]) == set(both)
    assert schema["required"] == ["ok", "schemaVersion"]
    assert schema["properties"]["ok"]["type"] == "boolean"
    said = schema["properties"]["error"]["properties"]["code"]["description"]
    assert [code for code in spec.codes if code not in said] == []


@each_tool
def test_the_name_that_bedrock_composes_fits(spec):
    name = bedrock.tool_name(spec)
    assert name == f"POST__{spec.model_name}__{spec.model_name}"
    assert len(name) <= 64
    assert re.fullmatch(r"[a-zA-Z0-9_-]+", name)


def test_the_longest_name_that_a_spec_may_have_still_fits(make_read):
    longest = make_read(name="a" * 25)
    assert len(longest.model_name) == 28
    assert len(bedrock.tool_name(longest)) == 64


def test_the_user_is_asked_to_confirm_a_destructive_call_that_no_one_else_approves(make_write):
    def asks(**changes):
        spec = make_write()
        for name, value in changes.items():
            object.__setattr__(spec, name, value)
        (methods,) = bedrock.emit(spec)["paths"].values()
        return methods["post"].get("x-requireConfirmation")

    assert asks() is None
    assert asks(effect=Effect.DESTRUCTIVE, approval=Approval.DUAL) is None
    # A spec like this cannot be made; should that rule ever fall, this gate still stands.
    assert asks(effect=Effect.DESTRUCTIVE, approval=Approval.NONE) == "ENABLED"


@each_tool
def test_json_schema_documents_are_valid_2020_12(spec):
    for schema in parts_of(json_schema.emit(spec)).values():
        assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
        Draft202012Validator.check_schema(schema)


@each_tool
def test_json_schema_documents_are_one_piece_and_closed_and_described(spec):
    for part, schema in parts_of(json_schema.emit(spec)).items():
        assert not {"$ref", "$defs"} & set(leaves(schema))
        for node in nodes(schema):
            assert "title" not in node
            if node.get("type") == "object" and node.get("properties"):
                assert node["additionalProperties"] is False
            for name, field in node.get("properties", {}).items():
                assert field.get("description", "").strip(), (part, name)


@each_tool
def test_every_code_that_a_tool_may_answer_is_in_its_error_schema(spec):
    error = json_schema.emit(spec)["error"]["properties"]["error"]
    assert set(error["properties"]["code"]["enum"]) == set(spec.codes) >= set(CODES)
    assert set(error["required"]) == {"code", "retryable", "message"}


@each_tool
def test_only_a_mutating_tool_can_be_skipped_as_a_duplicate(spec):
    output = json_schema.emit(spec)["output"]
    assert ("skippedAsDuplicate" in output["properties"]) is spec.mutates
    assert ("skippedAsDuplicate" in output["required"]) is spec.mutates


@each_tool
def test_emitting_twice_gives_the_same_text_and_leaves_the_spec_alone(spec):
    for emit in DIALECTS.values():
        before = json.dumps(spec.input_schema)
        assert json.dumps(emit(spec)) == json.dumps(emit(spec))
        assert json.dumps(spec.input_schema) == before


class Recorder:
    """A target that remembers what was sent, and what came back."""

    def __init__(self):
        self.sent, self.answers, self._target = [], [], InProcessTarget()

    def send(self, spec, event):
        answer = self._target.send(spec, event)
        self.sent.append(event.payload)
        self.answers.append(answer)
        return answer


# One success and one failure of each kind: more of them would tell the same again.
SAMPLES = {(case.tool, case.data["kind"], case.data["expect"]["ok"]): case for case in DIRECT}


@pytest.mark.usefixtures("aws_cloud")
@pytest.mark.parametrize("case", SAMPLES.values(), ids=[case.id for case in SAMPLES.values()])
def test_a_tool_answers_what_its_emitted_schema_says(case: Case, workspaces):
    recorder = Recorder()
    case.play(recorder, workspaces)
    document = json_schema.emit(registry.find(case.tool))
    for answer in recorder.answers:
        schema = document["output" if answer["ok"] else "error"]
        Draft202012Validator(schema).validate(json.loads(json.dumps(answer)))


VALID = [case for case in DIRECT if case.data["kind"] == "valid"]


@pytest.mark.usefixtures("aws_cloud")
@pytest.mark.parametrize("case", VALID, ids=[case.id for case in VALID])
def test_golden_arguments_that_a_tool_takes_fit_its_emitted_schema(case: Case, workspaces):
    recorder = Recorder()
    case.play(recorder, workspaces)
    schema = json_schema.emit(registry.find(case.tool))["input"]
    for arguments in recorder.sent:
        Draft202012Validator(schema).validate(arguments)


def test_arguments_that_break_a_bound_do_not_fit_the_emitted_schema():
    schema = json_schema.emit(registry.find("apply_patch_v1"))["input"]
    file = {"path": "a.txt", "mode": "replace_full", "content": ""}
    good = {
        "schemaVersion": 1, "idempotencyKey": "k" * 8, "repoRoot": "/w", "files": [file],
    }  # fmt: skip
    Draft202012Validator(schema).validate(good)
    for change in (
        {"idempotencyKey": "k" * 7},
        {"schemaVersion": 2},
        {"files": []},
        {"files": [file] * 41},
        {"files": [{**file, "mode": "patch"}]},
        {"files": [{**file, "path": "a b"}]},
        {"more": 1},
    ):
        with pytest.raises(SchemaViolation):
            Draft202012Validator(schema).validate({**good, **change})


def test_a_schema_that_refers_to_itself_is_refused():
    schema = {
        "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}},
        "$ref": "#/$defs/Node",
    }
    with pytest.raises(ValueError, match="refers to itself"):
        inline(schema)


def test_inlining_keeps_fields_that_are_called_like_keywords():
    class Odd(BaseModel):
        title: str = Field(description="A title.")
        discriminator: str = Field(description="A word.")

    schema = inline(Odd.model_json_schema())
    assert set(schema["properties"]) == {"title", "discriminator"}
    assert all("title" not in field for field in schema["properties"].values())


class Write(Contract):
    """The whole file."""

    kind: Literal["write"] = Field(description="write: the whole file.")
    text: str = Field(max_length=10, description="The text.")


class Drop(Contract):
    """No file."""

    kind: Literal["drop"] = Field(description="drop: no file.")


class Either(Contract):
    """A choice, and a list of them, and none."""

    change: Annotated[Write | Drop, Field(discriminator="kind", description="One change.")]
    more: Annotated[
        list[Annotated[Write | Drop, Field(discriminator="kind")]],
        Field(max_length=3, description="More changes."),
    ]
    note: Annotated[str | None, Field(default=None, max_length=9, description="A remark.")]


def test_a_union_is_json_text_on_bedrock_and_each_branch_is_described(make_read):
    spec = make_read(input=Either)
    fields = bedrock.request_schema(spec)["properties"]
    assert {name: field["type"] for name, field in fields.items()} == dict.fromkeys(
        ("change", "more", "note"), "string"
    )
    assert "one of: an object with" in fields["change"]["description"]
    assert 'always "drop"' in fields["change"]["description"]
    assert "at most 3 items, each one of: " in fields["more"]["description"]
    assert "at most 9 characters" in fields["note"]["description"]
    OpenAPIV30SpecValidator(bedrock.emit(spec)).validate()
    Draft202012Validator.check_schema(json_schema.emit(spec)["input"])


def test_an_agents_instruction_fits_bedrock_and_names_every_code_and_tool():
    text = agent_instruction(registry.newest(SPECS))
    assert 40 <= len(text) <= 4_000
    assert (LENGTH_MIN, LENGTH_MAX) == (40, 4_000)
    for code in CODES.values():
        assert f"{code.name} ({code.meaning})" in text
    for spec in registry.newest(SPECS):
        assert f"{spec.model_name}: {spec.summary}" in text
    assert "idempotencyKey" in text
    assert "keySpent" in text


def test_an_agents_instruction_puts_each_code_under_what_to_do_about_it():
    lines = agent_instruction(SPECS).splitlines()
    starts = {"retry": "- Wait", "replan": "- Read message", "escalate": "- Stop"}
    for code in CODES.values():
        (line,) = [one for one in lines if f"{code.name} (" in one]
        assert line.startswith(starts[code.recovery])


def test_an_instruction_that_would_be_too_long_is_refused(make_read):
    with pytest.raises(SpecError, match="characters, not 40-4000"):
        agent_instruction([make_read(summary="s" * 4_000)])
