"""What the templates allow, read from the real ones, and from small ones that hold what is rare."""

from __future__ import annotations

import pytest

from contracts import registry
from infra.errors import ReviewError
from infra.names import pascal
from infra.policies import Kind
from infra.review import review
from infra.template import Id, Reader, named
from toolgate.audit import audit
from toolgate.audit_rules import Rule

BOTH = ["dev", "prod"]


@pytest.fixture(scope="session")
def whole(templates):
    """Gives a stage's templates by the whole name of their stack."""
    return lambda stage: {f"toolgate-{stage}-{n}": t for n, t in templates(stage).items()}


def of_spec(found, spec):
    (function,) = (f for f in found.functions if f.handler == f"{spec.handler_module}.handler")
    return function


def principals(function):
    return {(p, by.is_role) for by in function.invokers for p in by.principals}


def small(resources, **outputs):
    return {"s": {"Resources": resources, "Outputs": outputs}}


def role(*statements, trust=(), **properties):
    document = {"Statement": list(statements)}
    return {
        "Type": "AWS::IAM::Role",
        "Properties": {
            "AssumeRolePolicyDocument": {"Statement": list(trust)},
            "Policies": [{"PolicyName": "p", "PolicyDocument": document}],
            **properties,
        },
    }


def allow(action, resource):
    return {"Effect": "Allow", "Action": action, "Resource": resource}


@pytest.mark.parametrize("stage", BOTH)
def test_a_stage_as_it_is_has_no_finding(stage, whole, deployed):
    report = audit(review(whole(stage)), registry.specs())
    assert report.findings == ()
    assert {tool.spec for tool in report.tools} == set(deployed(stage))


@pytest.mark.parametrize("stage", BOTH)
def test_every_tool_has_its_own_role_and_the_newest_are_reached_by_both_surfaces(
    stage, whole, deployed
):
    found = review(whole(stage))
    newest = {spec.model_name for spec in registry.newest(deployed(stage))}
    roles = set()
    for spec in deployed(stage):
        function = of_spec(found, spec)
        assert function.role.id.name.startswith(f"{pascal(spec.model_name)}Role")
        roles.add(function.role.id)
        reached = {("bedrock.amazonaws.com", False), ("bedrock.amazonaws.com", True)}
        reached.add(("bedrock-agentcore.amazonaws.com", True))
        if spec.model_name in newest:  # in prod, by way of an alias
            assert principals(function) == reached, spec.key
    assert len(roles) == len(deployed(stage))


def test_an_agent_that_is_admitted_may_call_the_older_version_too_under_its_own_arn(whole):
    from tests.infra.conftest import ADMITTED

    (by,) = of_spec(review(whole("dev")), registry.find("apply_patch_v1")).invokers
    assert by.conditions == {
        "StringEquals": {"aws:SourceAccount": ("123456789012",)},
        "ArnLike": {"aws:SourceArn": (ADMITTED,)},
    }
    assert of_spec(review(whole("prod")), registry.find("apply_patch_v1")).invokers == ()


@pytest.mark.parametrize("stage", BOTH)
def test_roles_without_a_function_say_who_may_assume_them_and_when(stage, whole):
    trusted = {
        p: statement.conditions
        for role in review(whole(stage)).idle_roles()
        for statement in role.trust
        for p in statement.principals
    }
    account = "${AWS::AccountId}"
    for service in ("bedrock.amazonaws.com", "bedrock-agentcore.amazonaws.com"):
        assert trusted[service]["StringEquals"] == {"aws:SourceAccount": (account,)}
        ((_, (source,)),) = trusted[service]["ArnLike"].items()
        assert f":{account}:" in source


@pytest.mark.parametrize("stage", BOTH)
def test_what_a_statement_names_is_followed_to_the_stack_that_has_it(stage, whole):
    found = review(whole(stage))
    table = found.named["WorkspaceTable"]
    assert table.stack == f"toolgate-{stage}-state"
    function = of_spec(found, registry.find("apply_patch_v2"))
    assert function.environment["WORKSPACE_TABLE"] == f"${{{table}}}"
    put = [s for s in function.role.statements if s.permits("dynamodb:PutItem")]
    (writing,) = (s for s in put if s.reaches(table))
    assert writing.conditions == {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ("WS#*",)}}


def test_policies_that_stand_apart_belong_to_the_roles_that_they_name():
    document = {"Statement": allow("s3:GetObject", "arn:aws:s3:::b/k")}
    attached = {"PolicyName": "x", "PolicyDocument": document}
    found = review(
        small(
            {
                "R": role(ManagedPolicyArns=[{"Ref": "M"}, "arn:aws:iam::aws:policy/Power"]),
                "P": {
                    "Type": "AWS::IAM::Policy",
                    "Properties": {**attached, "Roles": [{"Ref": "R"}]},
                },
                "M": {"Type": "AWS::IAM::ManagedPolicy", "Properties": attached},
                "Q": {"Type": "AWS::SQS::QueuePolicy", "Properties": {"PolicyDocument": document}},
            }
        )
    )
    (only,) = found.roles
    assert [s.actions for s in only.statements] == [("s3:GetObject",)] * 2
    assert only.managed == ("arn:aws:iam::aws:policy/Power",)
    assert {p.id.name: p.kind for p in found.policies if p.id.name != "R"} == {
        "P": Kind.IDENTITY,
        "M": Kind.IDENTITY,
        "Q": Kind.RESOURCE,
    }


@pytest.mark.parametrize(
    "resource",
    ["*", "arn:aws:lambda:eu-west-1:1:function:f*", {"Fn::Sub": "${F.Arn}:*"}, {"Ref": "A"}],
)
def test_a_role_that_may_invoke_a_function_by_whatever_name_is_an_invoker_of_it(resource):
    trust = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "x.y"}}
    function = {"Type": "AWS::Lambda::Function", "Properties": {"Handler": "h", "Role": "r"}}
    found = review(
        small(
            {
                "F": function,
                "A": {
                    "Type": "AWS::Lambda::Alias",
                    "Properties": {"FunctionName": {"Ref": "F"}, "Name": "live"},
                },
                "R": role(allow("Lambda:Invoke*", resource), trust=[trust]),
                "Other": role(allow("lambda:GetFunction", "*"), trust=[trust]),
            }
        )
    )
    (only,) = found.functions
    assert [(by.by.name, by.principals) for by in only.invokers] == [("R", ("x.y",))]


def test_a_source_of_events_is_an_invoker():
    function = {"Type": "AWS::Lambda::Function", "Properties": {"Handler": "h", "Role": "r"}}
    mapping = {"FunctionName": {"Ref": "F"}, "EventSourceArn": {"Fn::GetAtt": ["Q", "Arn"]}}
    found = review(
        small(
            {
                "F": function,
                "Q": {"Type": "AWS::SQS::Queue"},
                "E": {"Type": "AWS::Lambda::EventSourceMapping", "Properties": mapping},
            }
        )
    )
    (by,) = found.functions[0].invokers
    assert by.conditions == {"ArnEquals": {"EventSourceArn": ("${s/Q.Arn}",)}}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"),
        (True, "true"),
        ({"Ref": "AWS::AccountId"}, "${AWS::AccountId}"),
        ({"Ref": "T"}, "${s/T}"),
        ({"Fn::GetAtt": ["T", "Arn"]}, "${s/T.Arn}"),
        ({"Fn::GetAtt": "T.Arn"}, "${s/T.Arn}"),
        ({"Fn::ImportValue": "out"}, "${s/T.Arn}"),
        ({"Fn::Join": ["/", ["a", {"Ref": "T"}]]}, "a/${s/T}"),
        ({"Fn::Sub": "${T.Arn}/${AWS::Region}/${!x}"}, "${s/T.Arn}/${AWS::Region}/${x}"),
        ({"Fn::Sub": ["${V}*", {"V": {"Ref": "T"}}]}, "${s/T}*"),
    ],
)
def test_values_become_text(value, text):
    out = {"Value": {"Fn::GetAtt": ["T", "Arn"]}, "Export": {"Name": "out"}}
    reader = Reader(small({"T": {"Type": "AWS::DynamoDB::Table"}}, Out=out))
    assert reader.text(value, "s") == text
    assert set(named(text)) <= {Id("s", "T")}


@pytest.mark.parametrize(
    "value",
    [{"Fn::If": ["IsProd", "s3:GetObject", "*"]}, {"Fn::ImportValue": "nowhere"}, {"a": 1, "b": 2}],
)
def test_a_policy_that_cannot_be_read_is_refused_and_not_passed_over(value):
    with pytest.raises(ReviewError):
        review(small({"R": role(allow("s3:GetObject", value))}))


@pytest.mark.parametrize(
    "statement",
    [
        {"Fn::If": ["IsProd", allow("s3:GetObject", "x"), {"Ref": "AWS::NoValue"}]},
        {**allow("s3:GetObject", "x"), "Condition": {"Fn::If": ["IsProd", {}, {}]}},
    ],
)
def test_a_statement_that_depends_on_the_deployment_is_refused(statement):
    with pytest.raises(ReviewError, match="only a deployment knows"):
        review(small({"R": role(statement)}))


def test_an_address_that_verifies_nobody_is_seen():
    route = {"Type": "AWS::ApiGatewayV2::Route", "Properties": {"RouteKey": "GET /"}}
    closed = {**route, "Properties": {"RouteKey": "GET /", "AuthorizationType": "AWS_IAM"}}
    found = review(small({"Open": route, "Closed": closed}))
    assert found.open_doors == (Id("s", "Open"),)


def test_rules_have_names_that_pipelines_can_rely_on():
    assert [str(rule) for rule in Rule] == [
        "destructive-without-gate",
        "gate-missing",
        "unused-scope",
        "wildcard-action",
        "wildcard-resource",
        "permission-without-source",
        "wildcard-principal",
        "unwritten-policy",
    ]
