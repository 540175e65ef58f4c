"""What the templates of dev and prod hold, and in what they differ."""

from __future__ import annotations

import json
import re

import pytest

from contracts.caller import signing_keys
from contracts.spec import Approval
from infra.errors import OptionError
from infra.names import pascal, stack_name
from infra.options import SURFACES
from infra.stage import STAGES, find_stage

STORES = ("IdempotencyTable", "WorkspaceTable", "WorkspaceBucket", "OrdersTable", "ReleasesBucket")
BOTH = ["dev", "prod"]
STACKS = ["state", "approvals", "tools", "bedrock-agent", "gateway"]
RESOURCES_MAX = 400
"""CloudFormation takes 500; the rest is room for tools to come."""

PHYSICAL = {
    "AWS::DynamoDB::GlobalTable": "TableName",
    "AWS::IAM::Role": "RoleName",
    "AWS::Lambda::Function": "FunctionName",
    "AWS::Lambda::LayerVersion": "LayerName",
    "AWS::Logs::LogGroup": "LogGroupName",
    "AWS::S3::Bucket": "BucketName",
    "AWS::SNS::Topic": "TopicName",
    "AWS::SecretsManager::Secret": "Name",
}
NAMELESS = {
    "AWS::Bedrock::Agent",  # the API asks for a name
    "AWS::Bedrock::AgentAlias",
    "AWS::BedrockAgentCore::Gateway",  # likewise
    "AWS::BedrockAgentCore::GatewayTarget",
    "AWS::Lambda::Alias",  # an alias is a name
    "AWS::Lambda::Permission",
    "AWS::Lambda::Version",
    "AWS::S3::BucketPolicy",
    "AWS::SNS::TopicPolicy",
    "AWS::ApiGatewayV2::Api",  # the API asks for a name
    "AWS::ApiGatewayV2::Integration",
    "AWS::ApiGatewayV2::Route",
    "AWS::ApiGatewayV2::Stage",  # a stage is a name
}


def test_an_unknown_stage_is_refused():
    with pytest.raises(OptionError, match="stage=qa is unknown; choose one of dev, prod"):
        find_stage("qa")


@pytest.mark.parametrize("stage", BOTH)
@pytest.mark.parametrize("stack", STACKS)
def test_resources_get_their_names_from_cloudformation(stage, stack, templates):
    for name, found in templates(stage)[stack]["Resources"].items():
        kind = found["Type"]
        assert kind in PHYSICAL or kind in NAMELESS, f"say in this test how {kind} is named"
        if kind in PHYSICAL:
            assert PHYSICAL[kind] not in found.get("Properties", {}), name


@pytest.mark.parametrize("stage", BOTH)
@pytest.mark.parametrize("stack", STACKS)
def test_a_stack_leaves_room_for_more_tools(stage, stack, templates):
    assert len(templates(stage)[stack]["Resources"]) <= RESOURCES_MAX


@pytest.mark.parametrize("stage", BOTH)
def test_every_deployed_tool_has_one_function_made_as_its_contract_says(
    stage, templates, resources, deployed
):
    functions = resources(stage, "tools", "AWS::Lambda::Function")
    assert len(functions) == len(deployed(stage))
    state = f"toolgate-{stage}-state:"
    for spec in deployed(stage):
        key = pascal(spec.model_name)
        (made,) = (f for n, f in functions.items() if n.startswith(f"{key}Function"))
        assert made["Handler"] == f"functions.{spec.folder}.v{spec.major}.handler"
        assert made["Timeout"] == spec.timeout_s
        assert made["Runtime"] == "python3.13"
        assert made["Architectures"] == ["arm64"]
        assert len(made["Layers"]) == 1
        variables = made["Environment"]["Variables"]
        for key in STORES:
            store = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).upper()
            assert variables.pop(store)["Fn::ImportValue"].startswith(state)
        keys = variables.pop("CALLER_KEYS_SECRET")
        assert keys["Fn::ImportValue"].startswith(f"{state}ExportsOutputRefCallerKeys")
        bindings = json.loads(variables.pop("TOOLGATE_BINDINGS"))
        assert set(bindings) == {"bedrock", "direct", "gateway"}
        asks = json.dumps(variables.pop("TOOLGATE_APPROVALS", None))
        assert ("executeWithinS" in asks) is (spec.approval is not Approval.NONE)
        assert variables == {
            "TOOLGATE_STAGE": stage,
            "POWERTOOLS_SERVICE_NAME": "toolgate",
            "POWERTOOLS_METRICS_NAMESPACE": "Toolgate",
            "POWERTOOLS_LOG_LEVEL": STAGES[stage].log_level,
        }


@pytest.mark.parametrize("stage", BOTH)
def test_outputs_name_the_stores_and_each_tool(stage, templates, deployed):
    state, tools = (templates(stage)[stack]["Outputs"] for stack in ("state", "tools"))
    for key in (*STORES, "CallerKeys"):
        assert state[key]["Value"]["Ref"].startswith(key)
    own = {key for key in tools if not key.startswith("Exports")}
    assert own == {pascal(spec.model_name) for spec in deployed(stage)}


@pytest.mark.parametrize("stage", BOTH)
def test_every_import_is_exported_by_the_stack_that_it_names(stage, templates):
    exported = {
        output["Export"]["Name"]
        for template in templates(stage).values()
        for output in template.get("Outputs", {}).values()
        if "Export" in output
    }
    asked = set()

    def walk(node):
        if isinstance(node, dict):
            asked.update([node["Fn::ImportValue"]] if "Fn::ImportValue" in node else [])
            assert "Fn::GetStackOutput" not in node
            for child in node.values():
                walk(child)
        elif isinstance(node, list):
            for child in node:
                walk(child)

    walk(templates(stage))
    assert asked
    assert asked <= exported


@pytest.mark.parametrize("stage", BOTH)
def test_a_tool_is_exported_while_no_agent_uses_it(stage, new_app, tree, tmp_path, deployed):
    from infra.options import Options
    from infra.state import StateStack
    from infra.tools import ToolsStack

    app = new_app()
    tools = ToolsStack(
        app,
        "tools",
        deployed(stage),
        stage=STAGES[stage],
        options=Options(stage=stage),
        stores=StateStack(app, "state", stage=STAGES[stage]).stores,
        root=tree,
        staging=tmp_path,
        warn=pytest.fail,
    )
    template = app.synth().get_stack_by_name(tools.stack_name).template
    exported = [output["Value"] for output in template["Outputs"].values() if "Export" in output]
    assert len(exported) == len(deployed(stage))
    for spec in deployed(stage):
        assert pascal(spec.model_name) in str(exported)


@pytest.mark.parametrize("stage", BOTH)
def test_buckets_are_private_encrypted_and_refuse_plain_http(stage, resources):
    buckets = resources(stage, "state", "AWS::S3::Bucket")
    assert len(buckets) == 3
    for bucket in buckets.values():
        assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
        assert "BucketEncryption" in bucket
    policies = resources(stage, "state", "AWS::S3::BucketPolicy").values()
    assert {policy["Bucket"]["Ref"] for policy in policies} == set(buckets)
    for policy in policies:
        (deny,) = policy["PolicyDocument"]["Statement"]
        assert deny["Effect"] == "Deny"
        assert deny["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


@pytest.mark.parametrize("stage", BOTH)
def test_the_bucket_of_releases_alone_tells_eventbridge_and_without_a_custom_resource(
    stage, templates, resources
):
    telling = {
        name: bucket["NotificationConfiguration"]
        for name, bucket in resources(stage, "state", "AWS::S3::Bucket").items()
        if "NotificationConfiguration" in bucket
    }
    ((name, told),) = telling.items()
    assert name.startswith("ReleasesBucket")
    assert told == {"EventBridgeConfiguration": {"EventBridgeEnabled": True}}
    kinds = {found["Type"] for found in templates(stage)["state"]["Resources"].values()}
    assert kinds == {
        "AWS::DynamoDB::GlobalTable",
        "AWS::S3::Bucket",
        "AWS::S3::BucketPolicy",
        "AWS::SecretsManager::Secret",
        "AWS::SNS::Topic",
        "AWS::SNS::TopicPolicy",
    }


@pytest.mark.parametrize("stage", BOTH)
def test_the_first_key_is_made_by_aws_and_is_long_enough(stage, resources):
    (secret,) = resources(stage, "state", "AWS::SecretsManager::Secret").values()
    assert set(secret) == {"Description", "GenerateSecretString"}
    made = secret["GenerateSecretString"]
    generated = {**json.loads(made["SecretStringTemplate"]), made["GenerateStringKey"]: "x" * 64}
    assert made["PasswordLength"] == 64
    assert signing_keys(json.dumps(generated)) == ("x" * 64,)


@pytest.mark.parametrize("stage", BOTH)
def test_the_tables_have_the_keys_that_rows_are_written_with(stage, resources):
    tables = resources(stage, "state", "AWS::DynamoDB::GlobalTable")
    keys = {
        name.rstrip("0123456789ABCDEF"): [k["AttributeName"] for k in table["KeySchema"]]
        for name, table in tables.items()
    }
    assert keys == {
        "IdempotencyTable": ["id"],
        "WorkspaceTable": ["pk", "sk"],
        "OrdersTable": ["pk"],
        "ApprovalsTable": ["pk", "sk"],
    }
    (records,) = (t for n, t in tables.items() if n.startswith("Idempotency"))
    assert records["TimeToLiveSpecification"] == {"AttributeName": "expiration", "Enabled": True}


@pytest.mark.parametrize(("stage", "policy"), [("dev", "Delete"), ("prod", "Retain")])
def test_prod_keeps_its_data_and_logs_and_dev_does_not(stage, policy, templates, resources):
    kinds = {
        "AWS::DynamoDB::GlobalTable",
        "AWS::S3::Bucket",
        "AWS::Logs::LogGroup",
        "AWS::SecretsManager::Secret",
        "AWS::SNS::Topic",
    }
    seen = set()
    for template in templates(stage).values():
        for name, found in template["Resources"].items():
            if found["Type"] in kinds:
                seen.add(found["Type"])
                assert found["DeletionPolicy"] == policy, name
                assert found["UpdateReplacePolicy"] == policy, name
    assert seen == kinds
    for table in resources(stage, "state", "AWS::DynamoDB::GlobalTable").values():
        (replica,) = table["Replicas"]
        kept = stage == "prod"
        assert replica.get("DeletionProtectionEnabled", False) is kept
        recovery = replica["PointInTimeRecoverySpecification"]
        assert recovery["PointInTimeRecoveryEnabled"] is kept
    for bucket in resources(stage, "state", "AWS::S3::Bucket").values():
        assert ("VersioningConfiguration" in bucket) is kept
        (rule,) = bucket["LifecycleConfiguration"]["Rules"]
        expiry = rule.get("NoncurrentVersionExpiration", {})
        assert expiry == ({"NoncurrentDays": 30} if kept else {})


@pytest.mark.parametrize(("stage", "days"), [("dev", 14), ("prod", 365)])
def test_logs_are_kept_for_the_days_of_the_stage(stage, days, resources, deployed):
    groups = resources(stage, "tools", "AWS::Logs::LogGroup")
    assert [group["RetentionInDays"] for group in groups.values()] == [days] * len(deployed(stage))


def test_only_prod_puts_an_alias_before_its_functions(resources, deployed):
    assert not resources("dev", "tools", "AWS::Lambda::Alias")
    aliases = resources("prod", "tools", "AWS::Lambda::Alias")
    assert [alias["Name"] for alias in aliases.values()] == ["live"] * len(deployed("prod"))
    (agent,) = resources("prod", "bedrock-agent", "AWS::Bedrock::Agent").values()
    for group in agent["ActionGroups"]:
        assert "Alias" in group["ActionGroupExecutor"]["Lambda"]["Fn::ImportValue"]


def test_only_dev_runs_drafts(deployed):
    from contracts import registry
    from contracts.spec import Status

    assert deployed("dev") == registry.specs()
    assert Status.DRAFT not in {spec.status for spec in deployed("prod")}
    assert deployed("prod")


def test_prod_lets_callers_without_a_token_only_read():
    read = {"tenant": "default", "scopes": ["orders:read", "workspace:read"]}
    assert json.loads(STAGES["prod"].bindings_json()) == {
        "bedrock": read,
        "direct": read,
        "gateway": read,
    }


def test_dev_lets_callers_without_a_token_do_everything():
    scopes = ["orders:read", "release:publish", "workspace:read", "workspace:write"]
    every = {"tenant": "default", "scopes": scopes}
    assert json.loads(STAGES["dev"].bindings_json()) == {
        "bedrock": every,
        "direct": every,
        "gateway": every,
    }


def test_only_prods_state_is_protected_from_being_destroyed(new_app, tree, tmp_path):
    from infra.application import build
    from infra.options import Options

    protected = {}
    for stage in BOTH:
        options = Options(stage=stage, surfaces=SURFACES)
        stacks = build(new_app(), options, staging=tmp_path / stage, root=tree)
        for stack in (
            stacks.state,
            stacks.approvals,
            stacks.tools,
            stacks.bedrock_agent,
            stacks.gateway,
        ):
            protected[stack.stack_name] = bool(stack.termination_protection)
    assert [name for name, on in protected.items() if on] == [stack_name("prod", "state")]
