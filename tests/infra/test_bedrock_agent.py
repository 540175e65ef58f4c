"""The agent's stack: what Bedrock would refuse, and who may call the tools."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import pytest
from openapi_spec_validator import validate

from infra.errors import QuotaError
from infra.names import pascal
from infra.quotas import APIS_MAX, GROUPS_MAX, check_agent

from .conftest import ADMITTED

BOTH = ["dev", "prod"]
NAME = re.compile(r"([0-9a-zA-Z][_-]?){1,100}\Z")
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")


@pytest.fixture
def agent(resources):
    def of(stage):
        (found,) = resources(stage, "bedrock-agent", "AWS::Bedrock::Agent").values()
        return found

    return of


def operations(group):
    document = json.loads(group["ApiSchema"]["Payload"])
    return [
        (verb, path, operation)
        for path, verbs in document["paths"].items()
        for verb, operation in verbs.items()
    ]


@pytest.mark.parametrize("stage", BOTH)
def test_the_agent_has_one_action_group_for_the_newest_version_of_each_tool(stage, agent, deployed):
    from contracts import registry

    groups = [group["ActionGroupName"] for group in agent(stage)["ActionGroups"]]
    assert groups == [spec.model_name for spec in registry.newest(deployed(stage))]


@pytest.mark.parametrize("stage", BOTH)
def test_every_group_calls_its_own_tool(stage, agent):
    for group in agent(stage)["ActionGroups"]:
        executor = group["ActionGroupExecutor"]["Lambda"]["Fn::ImportValue"]
        assert executor.startswith(f"toolgate-{stage}-tools:")
        assert pascal(group["ActionGroupName"]) in executor


@pytest.mark.parametrize("stage", BOTH)
def test_every_payload_is_valid_openapi_3_0_0_in_ascii(stage, agent):
    for group in agent(stage)["ActionGroups"]:
        payload = group["ApiSchema"]["Payload"]
        assert payload.isascii()
        document = json.loads(payload)
        assert document["openapi"] == "3.0.0"
        validate(document)


@pytest.mark.parametrize("stage", BOTH)
def test_every_name_that_bedrock_composes_is_one_that_models_accept(stage, agent):
    for group in agent(stage)["ActionGroups"]:
        name = group["ActionGroupName"]
        assert NAME.match(name)
        for verb, _, operation in operations(group):
            assert operation["operationId"] == name
            assert TOOL_NAME.match(f"{verb.upper()}__{name}__{operation['operationId']}")
            assert operation["description"]


@pytest.mark.parametrize("stage", BOTH)
def test_texts_are_as_long_as_bedrock_takes_them(stage, agent, resources):
    found = agent(stage)
    assert 40 <= len(found["Instruction"]) <= 4_000
    (alias,) = resources(stage, "bedrock-agent", "AWS::Bedrock::AgentAlias").values()
    described = [found, alias, *found["ActionGroups"]]
    assert all(1 <= len(each["Description"]) <= 200 for each in described)


@pytest.mark.parametrize("stage", BOTH)
def test_a_deployed_agent_is_prepared_and_can_lose_groups(stage, agent):
    found = agent(stage)
    assert found["AutoPrepare"] is True
    assert found["SkipResourceInUseCheckOnDelete"] is True
    for group in found["ActionGroups"]:
        assert group["SkipResourceInUseCheckOnDelete"] is True
        assert group["ActionGroupState"] == "ENABLED"


@pytest.mark.parametrize("stage", BOTH)
def test_every_permission_names_the_agent_and_the_account(stage, resources):
    permissions = resources(stage, "bedrock-agent", "AWS::Lambda::Permission")
    assert permissions
    for name, permission in permissions.items():
        assert permission["Action"] == "lambda:InvokeFunction"
        assert permission["Principal"] == "bedrock.amazonaws.com"
        assert permission["SourceAccount"] in ({"Ref": "AWS::AccountId"}, "123456789012"), name
        arn = permission["SourceArn"]
        assert arn in ({"Fn::GetAtt": ["Agent", "AgentArn"]}, ADMITTED), name


@pytest.mark.parametrize("stage", BOTH)
def test_no_other_stack_lets_anyone_call_a_tool(stage, resources):
    for stack in ("state", "tools", "gateway"):
        assert not resources(stage, stack, "AWS::Lambda::Permission")


@pytest.mark.parametrize("stage", BOTH)
def test_the_agent_may_call_each_of_its_tools(stage, agent, resources):
    own = [
        permission["FunctionName"]
        for permission in resources(stage, "bedrock-agent", "AWS::Lambda::Permission").values()
        if permission["SourceArn"] != ADMITTED
    ]
    assert own == [g["ActionGroupExecutor"]["Lambda"] for g in agent(stage)["ActionGroups"]]


def test_an_agent_that_exists_already_may_call_every_deployed_tool(resources, deployed):
    admitted = [
        permission
        for permission in resources("dev", "bedrock-agent", "AWS::Lambda::Permission").values()
        if permission["SourceArn"] == ADMITTED
    ]
    assert {p["SourceAccount"] for p in admitted} == {"123456789012"}
    called = " ".join(p["FunctionName"]["Fn::ImportValue"] for p in admitted)
    assert len(admitted) == len(deployed("dev"))
    assert all(pascal(spec.model_name) in called for spec in deployed("dev"))


@pytest.mark.parametrize("stage", BOTH)
def test_only_bedrock_in_this_account_takes_the_agents_role(stage, resources):
    (role,) = resources(stage, "bedrock-agent", "AWS::IAM::Role").values()
    (trust,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Principal"] == {"Service": "bedrock.amazonaws.com"}
    assert trust["Condition"]["StringEquals"] == {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}
    assert "agent/*" in json.dumps(trust["Condition"]["ArnLike"])


@pytest.fixture
def describe(new_app, tree, tmp_path):
    """Gives the alias's name and description of an agent, without a synth."""
    from infra.application import build
    from infra.options import Options

    def of(name, **options):
        made = build(new_app(), Options(**options), staging=tmp_path / name, root=tree)
        alias = made.bedrock_agent.node.find_child("Alias")
        return alias.agent_alias_name, alias.description

    return of


def test_the_alias_keeps_its_name_and_says_when_the_agent_changed(describe, resources):
    name, description = describe("as-it-is")
    (deployed,) = resources("dev", "bedrock-agent", "AWS::Bedrock::AgentAlias").values()
    assert (deployed["AgentAliasName"], deployed["Description"]) == (name, description)
    other_name, other_description = describe("other-model", model="amazon.nova-pro-v1:0")
    assert other_name == name
    assert other_description != description


def test_a_changed_schema_changes_the_alias(describe, monkeypatch):
    from infra import bedrock_agent

    _, before = describe("before")
    emit = bedrock_agent.emit
    monkeypatch.setattr(bedrock_agent, "emit", lambda spec: emit(spec) | {"x-more": "1"})
    _, after = describe("after")
    assert before != after


def test_a_model_without_a_profile_is_called_in_its_own_region_only(new_app, tree, tmp_path):
    from infra.application import build
    from infra.options import Options

    options = Options(model="amazon.nova-pro-v1:0")
    stack = build(new_app(), options, staging=tmp_path, root=tree).bedrock_agent
    role = stack.node.find_child("Role").node.default_child
    text = json.dumps(stack.resolve(role.policies))
    assert "::foundation-model/amazon.nova-pro-v1:0" in text
    assert "bedrock:*" not in text
    assert "inference-profile" not in text


def tool(number):
    return SimpleNamespace(model_name=f"tool_number_{number}_v1")


def test_as_many_tools_as_bedrock_takes_are_fine():
    check_agent([tool(n) for n in range(APIS_MAX)])


def test_one_tool_more_is_refused_with_the_quota():
    with pytest.raises(QuotaError, match="at most 11 APIs and this one would have 12"):
        check_agent([tool(n) for n in range(APIS_MAX + 1)])


def test_a_raised_api_quota_leaves_the_one_of_action_groups():
    with pytest.raises(QuotaError, match="at most 20 action groups"):
        check_agent([tool(n) for n in range(GROUPS_MAX + 1)], apis_max=100)


def test_a_composed_name_over_64_characters_is_refused():
    too_long = SimpleNamespace(model_name="a" * 26 + "_v1")
    with pytest.raises(QuotaError, match="which has 66 characters and may have 64"):
        check_agent([too_long])


def test_an_agent_without_tools_is_refused():
    with pytest.raises(QuotaError, match="publish one first"):
        check_agent([])
