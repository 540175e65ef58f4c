"""What each target is sent is what that target's own library takes."""

from __future__ import annotations

import copy
import json

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV30SpecValidator
from pydantic import Field

from contracts import registry
from contracts.dialects import (
    DIALECTS,
    bedrock,
    bedrock_function,
    converse,
    emitted,
    gateway,
    json_schema,
    langchain,
    mcp,
    schemas,
)
from contracts.dialects.targets import TARGETS
from contracts.results import failure_model, success_model
from contracts.spec import Approval, Effect
from contracts.types import Contract
from tests.contracts.aws_shapes import faults
from tests.contracts.examples import CHANGES, EXAMPLES, MANY, WORDY, tool

SPECS = (*registry.specs(), *EXAMPLES)
each_spec = pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.model_name)
PATCH = registry.find("apply_patch_v1")
LAMBDA = "arn:aws:lambda:eu-west-1:123456789012:function:tool"


def function_faults(function, group="group"):
    return faults(
        "bedrock-agent",
        "CreateAgentActionGroup",
        {
            "agentId": "A" * 10,
            "agentVersion": "DRAFT",
            "actionGroupName": group,
            "actionGroupExecutor": {"lambda": LAMBDA},
            "functionSchema": {"functions": [function]},
        },
    )


def gateway_faults(tool, target="target"):
    lambda_target = {"lambdaArn": LAMBDA, "toolSchema": {"inlinePayload": [tool]}}
    return faults(
        "bedrock-agentcore-control",
        "CreateGatewayTarget",
        {
            "gatewayIdentifier": "gateway-abcdefghij",
            "name": target,
            "targetConfiguration": {"mcp": {"lambda": lambda_target}},
        },
    )


def converse_faults(tool):
    return faults(
        "bedrock-runtime", "Converse", {"modelId": "model", "toolConfig": {"tools": [tool]}}
    )


def test_there_is_a_row_of_the_table_for_each_target_with_its_source():
    assert list(TARGETS) == list(DIALECTS)
    assert len(DIALECTS) == 7
    for target in TARGETS.values():
        assert target.source.startswith("https://")
        assert target.read_on.year >= 2026


@each_spec
def test_openapi_takes_the_action_group(spec):
    OpenAPIV30SpecValidator(bedrock.emit(spec)).validate()


@each_spec
def test_bedrock_takes_the_function(spec):
    function = bedrock_function.emit(spec)
    assert function_faults(function, spec.model_name) == ""
    assert function["description"].startswith(spec.summary)
    assert 0 < len(function["parameters"]) <= 5
    for parameter in function["parameters"].values():
        assert parameter["type"] in {"string", "integer", "boolean"}


@each_spec
def test_the_gateway_takes_the_tool_and_the_name_of_its_target(spec):
    assert gateway_faults(gateway.emit(spec), gateway.target_name(spec)) == ""


@each_spec
def test_converse_takes_the_tool(spec):
    assert converse_faults(converse.emit(spec)) == ""


def test_the_judges_find_what_aws_would_refuse():
    function = bedrock_function.emit(PATCH)
    assert "has 501 characters" in function_faults(
        {**function, "parameters": {"a": {"type": "string", "description": "d" * 501}}}
    )
    assert "is none of" in function_faults({**function, "parameters": {"a": {"type": "object"}}})
    assert "does not match" in function_faults({**function, "name": "a__b"})
    assert "has 1201 characters" in function_faults({**function, "description": "d" * 1_201})
    tool = copy.deepcopy(gateway.emit(PATCH))
    tool["inputSchema"]["properties"]["repoRoot"]["pattern"] = "^a$"
    assert "Unknown parameter" in gateway_faults(tool)
    assert "does not match" in gateway_faults(gateway.emit(PATCH), "apply_patch_v1")
    spec = copy.deepcopy(converse.emit(PATCH))
    spec["toolSpec"]["name"] = "n" * 65
    assert "has 65 characters" in converse_faults(spec)


@each_spec
@pytest.mark.parametrize("dialect", DIALECTS)
def test_schemas_are_valid_2020_12_in_one_piece_with_an_object_at_the_root(spec, dialect):
    found = schemas(emitted(spec, dialect), dialect)
    assert "input" in found
    for schema in found.values():
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        text = json.dumps(schema)
        assert not [word for word in ("$ref", "$defs", '"discriminator"') if word in text]


@each_spec
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_model_is_told_of_each_argument_that_the_surface_does_not_fill_in(spec, dialect):
    told = set(schemas(emitted(spec, dialect), dialect)["input"]["properties"])
    meant = set(spec.input_schema["properties"]) - TARGETS[dialect].supplied
    if dialect == "bedrock-function" and len(meant) > bedrock_function.PARAMETERS_MAX:
        meant = {"arguments"}
    assert told == meant


@each_spec
def test_an_mcp_tool_says_which_version_it_is_and_gives_every_hint(spec):
    tool = mcp.emit(spec)
    assert tool["name"] == spec.model_name
    assert tool["_meta"] == {"toolgate/version": f"{spec.name}@{spec.version}"}
    assert tool["annotations"] == {
        "readOnlyHint": not spec.mutates,
        "destructiveHint": spec.effect is Effect.DESTRUCTIVE,
        "idempotentHint": True,
        "openWorldHint": False,
    }
    assert tool["inputSchema"]["additionalProperties"] is False


def test_a_destructive_tool_is_hinted_at_and_confirmed_unless_others_decide(make_write):
    def emitted_with(approval):
        spec = make_write()
        object.__setattr__(spec, "effect", Effect.DESTRUCTIVE)
        object.__setattr__(spec, "approval", approval)
        return mcp.emit(spec)["annotations"], bedrock_function.emit(spec)

    hints, function = emitted_with(Approval.DUAL)
    assert (hints["readOnlyHint"], hints["destructiveHint"]) == (False, True)
    assert "requireConfirmation" not in function
    _, function = emitted_with(Approval.NONE)
    assert function["requireConfirmation"] == "ENABLED"
    assert function_faults(function) == ""


@each_spec
def test_the_mcp_output_is_the_success_alone(spec):
    output = mcp.emit(spec)["outputSchema"]
    assert output == {k: v for k, v in json_schema.emit(spec)["output"].items() if k != "$schema"}
    assert "error" not in output["properties"]


def test_on_mcp_the_key_may_stay_away_from_the_arguments_and_the_description_says_where_to():
    schema = mcp.emit(PATCH)["inputSchema"]
    key = schema["properties"]["idempotencyKey"]
    assert schema["required"] == ["repoRoot", "files"]
    assert mcp.META_KEY == "toolgate/idempotency-key"
    assert mcp.META_KEY in key["description"]
    assert "differ are VALIDATION" in key["description"]
    assert (key["minLength"], key["maxLength"]) == (8, 128)


def test_a_harness_that_makes_the_keys_does_not_tell_the_model_of_keys():
    told = langchain.emit(PATCH)
    assert list(told) == ["name", "description", "args_schema"]
    assert "idempotencyKey" not in json.dumps(told)
    assert "idempotencyKey" in converse.emit(PATCH)["toolSpec"]["inputSchema"]["json"]["required"]


def test_the_gateway_answers_with_a_success_or_a_failure_and_nulls_stay_open():
    schema = gateway.emit(MANY)["outputSchema"]
    head = {"schemaVersion": 1}
    place = {"name": "Ulm", "height": None}
    good = {**head, "ok": True, "nextCursor": None, "places": [place]}
    error = {"code": "CONFLICT", "retryable": False, "message": "no", "details": {"a": [None]}}
    bad = {**head, "ok": False, "error": error}
    success_model(MANY).model_validate_json(json.dumps(good))
    failure_model(MANY).model_validate_json(json.dumps(bad))
    for answer in (good, bad, {**good, "nextCursor": "c"}):
        Draft202012Validator(schema).validate(answer)
    assert not Draft202012Validator(schema).is_valid({**good, "places": "Ulm"})
    assert "nextCursor (string or null): For the next page." in schema["description"]
    assert "height (integer or null)" in schema["properties"]["places"]["items"]["description"]


def test_more_parameters_than_a_function_may_have_become_one_that_holds_them_all():
    assert bedrock_function.PARAMETERS_MAX == 5
    function = bedrock_function.emit(MANY)
    ((name, parameter),) = function["parameters"].items()
    assert (name, parameter["type"], parameter["required"]) == ("arguments", "string", True)
    assert '"two" (integer, optional): (1 to 9; default 3)' in parameter["description"]
    assert '"five" (array): an array of at most 3 items, each string' in parameter["description"]


def test_a_parameter_with_too_many_words_keeps_its_form_and_its_bounds():
    parameters = bedrock_function.emit(WORDY)["parameters"]
    assert parameters["text"]["description"] == "A text. (2 to 9 characters)"
    text = parameters["items"]["description"]
    assert text.startswith("Some changes. Send JSON text: [{")
    assert '{"kind": "write", "path": string, "text": string}' in text
    assert '{"kind": "drop" | "forget", "path": string, "size"?: integer}' in text


def test_what_a_parameter_has_no_room_for_is_told_by_the_function():
    function = bedrock_function.emit(PATCH)
    files = function["parameters"]["files"]["description"]
    assert "replace_full: content is the whole new file" not in files
    assert "replace_full: content is the whole new file" in function["description"]
    assert '"mode" (string): (one of unified_diff, replace_full)' in files


def test_a_union_is_one_object_on_the_gateway_that_says_what_belongs_to_which_variant():
    schema = gateway.emit(CHANGES)["inputSchema"]
    change = schema["properties"]["first"]
    assert change == schema["properties"]["more"]["items"] | {"description": "One change."}
    assert change["required"] == ["kind", "path"]
    said = {name: field["description"] for name, field in change["properties"].items()}
    assert said == {
        "kind": (
            "write: the whole file. move: another name. drop or forget: no file. "
            "(one of write, move, drop, forget)"
        ),
        "path": (
            "write: Which file. move: Which file. drop or forget: What to drop. "
            "(1 to 20 characters)"
        ),
        "text": "The text. Only when kind is write, and needed then. (at most 10 characters)",
        "to": "The new name. Only when kind is move, and needed then. (at most 20 characters)",
        "size": "A size. Only when kind is move or drop or forget. (0 to 9)",
    }


@pytest.mark.parametrize(("length", "kept"), [(500, True), (501, False)])
def test_a_description_is_shortened_only_if_it_has_more_than_500_characters(length, kept):
    text = "A flag. ".ljust(length, "x")

    class Flag(Contract):
        """Takes a flag."""

        flag: bool = Field(description=text)

    function = bedrock_function.emit(tool("demo.flag", Flag))
    assert function["parameters"]["flag"]["description"] == (text if kept else "A flag.")
    assert (text in function["description"]) is not kept
