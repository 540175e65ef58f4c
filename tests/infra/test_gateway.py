"""The Gateway's stack: what AgentCore would refuse, and who may call what."""

from __future__ import annotations

import dataclasses
import json
from types import SimpleNamespace

import pytest

from contracts.dialects import gateway as dialect
from contracts.spec import SpecError
from infra.errors import QuotaError
from infra.names import pascal
from infra.quotas import TARGETS_MAX, check_gateway
from tests.contracts.aws_shapes import faults
from tests.gateway_template import request, tool_of
from tests.gateway_template import targets as targets_of

BOTH = ["dev", "prod"]
API = "bedrock-agentcore-control"
ROLE = "arn:aws:iam::123456789012:role/gateway"
LAMBDA = "arn:aws:lambda:us-east-1:123456789012:function:tool:live"
GATEWAY_ID = "toolgate-dev-abcdefghij"


@pytest.fixture
def gateway(resources):
    def of(stage):
        (found,) = resources(stage, "gateway", "AWS::BedrockAgentCore::Gateway").values()
        return found

    return of


@pytest.fixture
def targets(templates):
    return lambda stage: targets_of(templates(stage)["gateway"])


@pytest.fixture
def role(resources):
    def of(stage):
        (found,) = resources(stage, "gateway", "AWS::IAM::Role").values()
        return found

    return of


@pytest.mark.parametrize("stage", BOTH)
def test_there_is_one_target_for_the_newest_version_of_each_tool(stage, targets, deployed):
    from contracts import registry

    newest = registry.newest(deployed(stage))
    assert [target["Name"] for target in targets(stage)] == [
        dialect.target_name(spec) for spec in newest
    ]
    assert [tool_of(target)["Name"] for target in targets(stage)] == [
        spec.model_name for spec in newest
    ]


@pytest.mark.parametrize("stage", BOTH)
def test_every_target_says_what_the_contract_says(stage, targets, deployed):
    documents = {spec.model_name: dialect.emit(spec) for spec in deployed(stage)}
    for target in targets(stage):
        assert request(tool_of(target)) == documents[tool_of(target)["Name"]]


@pytest.mark.parametrize("stage", BOTH)
def test_every_target_calls_its_own_tool_as_the_gateways_role(stage, targets):
    for target in targets(stage):
        arn = target["TargetConfiguration"]["Mcp"]["Lambda"]["LambdaArn"]["Fn::ImportValue"]
        assert arn.startswith(f"toolgate-{stage}-tools:")
        assert pascal(tool_of(target)["Name"]) in arn
        assert ("Alias" in arn) is (stage == "prod")
        (provider,) = target["CredentialProviderConfigurations"]
        assert provider == {"CredentialProviderType": "GATEWAY_IAM_ROLE"}


@pytest.mark.parametrize("stage", BOTH)
def test_aws_takes_the_gateway(stage, gateway):
    assert faults(API, "CreateGateway", request(gateway(stage), {"RoleArn": ROLE})) == ""


@pytest.mark.parametrize("stage", BOTH)
def test_aws_takes_every_target(stage, targets):
    values = {"GatewayIdentifier": GATEWAY_ID, "LambdaArn": LAMBDA}
    assert targets(stage)
    for target in targets(stage):
        assert faults(API, "CreateGatewayTarget", request(target, values)) == ""
        assert len(f"{target['Name']}___{tool_of(target)['Name']}") <= 64


def test_the_judge_finds_what_aws_would_refuse(gateway, targets):
    odd = {**gateway("dev"), "AuthorizerType": "COGNITO", "Name": "tool_gate"}
    found = faults(API, "CreateGateway", request(odd, {"RoleArn": ROLE}))
    assert "authorizerType is none of" in found
    assert "name does not match" in found
    target = json.loads(json.dumps(targets("dev")[0]))
    tool_of(target)["InputSchema"]["Enum"] = ["a"]
    values = {"GatewayIdentifier": GATEWAY_ID, "LambdaArn": LAMBDA}
    found = faults(API, "CreateGatewayTarget", request(target, values))
    assert "Unknown parameter in targetConfiguration.mcp.lambda.toolSchema.inlinePayload" in found
    assert '"enum"' in found


@pytest.mark.parametrize("stage", BOTH)
def test_only_callers_with_credentials_of_aws_get_in(stage, gateway):
    found = gateway(stage)
    assert (found["AuthorizerType"], found["ProtocolType"]) == ("AWS_IAM", "MCP")
    # It would tell callers how a tool failed inside.
    assert "ExceptionLevel" not in found


@pytest.mark.parametrize("stage", BOTH)
def test_clients_are_told_about_keys_and_codes_and_not_about_bedrock(stage, gateway):
    told = gateway(stage)["ProtocolConfiguration"]["Mcp"]["Instructions"]
    assert "idempotencyKey" in told
    assert "OUTCOME_UNKNOWN" in told
    assert "JSON text" not in told  # there, nested arguments are JSON values


def test_an_instruction_that_is_too_long_is_refused(monkeypatch):
    from contracts import instruction

    monkeypatch.setattr(instruction, "GATEWAY_LENGTH_MAX", 1_000)
    with pytest.raises(SpecError, match=r"has [0-9]+ characters, not 1-1000"):
        instruction.gateway_instruction()


@pytest.mark.parametrize("stage", BOTH)
def test_only_this_stages_gateways_in_this_account_take_the_role(stage, role, gateway):
    (trust,) = role(stage)["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Principal"] == {"Service": "bedrock-agentcore.amazonaws.com"}
    condition = trust["Condition"]
    assert condition["StringEquals"] == {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}
    (source,) = condition["ArnLike"].values()
    assert source["Fn::Join"][1][-1] == f":gateway/{gateway(stage)['Name']}-*"


@pytest.mark.parametrize("stage", BOTH)
def test_the_role_may_call_the_targets_functions_and_nothing_else(stage, role, targets):
    found = role(stage)
    assert "ManagedPolicyArns" not in found
    (policy,) = found["Policies"]
    (statement,) = policy["PolicyDocument"]["Statement"]
    assert (statement["Effect"], statement["Action"]) == ("Allow", "lambda:InvokeFunction")
    called = [
        target["TargetConfiguration"]["Mcp"]["Lambda"]["LambdaArn"] for target in targets(stage)
    ]
    assert statement["Resource"] == (called if len(called) > 1 else called[0])


@pytest.mark.parametrize("stage", BOTH)
def test_nothing_is_made_that_was_not_asked_for(stage, templates):
    kinds = {found["Type"] for found in templates(stage)["gateway"]["Resources"].values()}
    assert kinds == {
        "AWS::BedrockAgentCore::Gateway",
        "AWS::BedrockAgentCore::GatewayTarget",
        "AWS::IAM::Role",
    }


@pytest.mark.parametrize("stage", BOTH)
def test_the_template_is_ascii_and_its_outputs_say_where_the_gateway_is(stage, templates):
    template = templates(stage)["gateway"]
    # CloudFormation loses other characters.
    assert json.dumps(template, ensure_ascii=False).isascii()
    assert {name: out["Value"] for name, out in template["Outputs"].items()} == {
        "GatewayId": {"Fn::GetAtt": ["Gateway", "GatewayIdentifier"]},
        "GatewayArn": {"Fn::GetAtt": ["Gateway", "GatewayArn"]},
        "GatewayUrl": {"Fn::GetAtt": ["Gateway", "GatewayUrl"]},
    }


def test_no_more_than_four_targets_are_made_at_once(new_app):
    from contracts import registry
    from infra.gateway import GatewayStack
    from infra.stage import STAGES

    (spec, *_) = registry.specs()
    many = [dataclasses.replace(spec, name=f"tool.number{n}") for n in range(10)]
    tools = {
        each.model_name: SimpleNamespace(executor=SimpleNamespace(function_arn=LAMBDA))
        for each in many
    }
    app = new_app()
    stack = GatewayStack(app, "many", many, tools=tools, stage=STAGES["dev"])
    made = app.synth().get_stack_by_name(stack.stack_name).template["Resources"]
    waits = {
        name: found.get("DependsOn", [])
        for name, found in made.items()
        if found["Type"].endswith("GatewayTarget")
    }
    assert len(waits) == 10
    done: set[str] = set()
    while waits:
        free = {name for name, on in waits.items() if done.issuperset(on)}
        assert 1 <= len(free) <= 4
        done |= free
        waits = {name: on for name, on in waits.items() if name not in free}


def test_a_surface_that_is_left_out_has_no_stack(new_app, tree, tmp_path):
    from infra.application import build
    from infra.options import Options

    made = {}
    for surface in ("bedrock", "gateway"):
        options = Options(surfaces=(surface,))
        stacks = build(new_app(), options, staging=tmp_path / surface, root=tree)
        made[surface] = (stacks.bedrock_agent is not None, stacks.gateway is not None)
    assert made == {"bedrock": (True, False), "gateway": (False, True)}


def tool(name):
    return SimpleNamespace(model_name=name)


def of(*tools, **document):
    return {each.model_name: document for each in tools}


def test_as_many_targets_as_the_gateway_takes_are_fine_and_one_more_is_not():
    tools = [tool(f"tool_number_{n}_v1") for n in range(TARGETS_MAX + 1)]
    check_gateway(tools[:-1], of(*tools))
    with pytest.raises(QuotaError, match="at most 100 targets and this one would have 101"):
        check_gateway(tools, of(*tools))


def test_a_gateway_without_tools_is_refused():
    with pytest.raises(QuotaError, match="publish one first"):
        check_gateway([], {})


@pytest.mark.parametrize("name", ["tool__twice_v1", "_tool_v1", "a" * 101])
def test_a_name_that_no_target_may_have_is_refused(name):
    with pytest.raises(QuotaError, match="takes no target named"):
        check_gateway([tool(name)], of(tool(name)))


def test_a_composed_name_over_64_characters_is_refused():
    too_long = tool("a" * 28 + "_v1")
    with pytest.raises(QuotaError, match="which has 65 characters and may have 64"):
        check_gateway([too_long], of(too_long))
    check_gateway([tool("a" * 27 + "_v1")], of(tool("a" * 27 + "_v1")))


def test_schemas_over_a_megabyte_are_refused():
    big = tool("big_v1")
    with pytest.raises(QuotaError, match="may have 1000000 on the Gateway"):
        check_gateway([big], of(big, description="d" * 1_000_000))
