"""Where people decide: who may come in, as whom, and what the humans' side may touch."""

from __future__ import annotations

import json

import pytest

from functions._approvals import handler, looking
from infra.approvals import ROUTES
from tests.conftest import OPEN_INDEX

BOTH = ["dev", "prod"]
OWN_IDENTITY = {"sts:SourceIdentity": "${aws:username}"}
OWN_NAME = {"sts:RoleSessionName": "${aws:username}", **OWN_IDENTITY}


def one(resources, stage, kind, begins=""):
    found = resources(stage, "approvals", kind)
    (made,) = (made for name, made in found.items() if name.startswith(begins))
    return made


def statements(role):
    return [s for policy in role["Policies"] for s in policy["PolicyDocument"]["Statement"]]


@pytest.mark.parametrize("stage", BOTH)
def test_a_session_of_the_approver_is_named_like_its_user_and_by_no_other_way(stage, resources):
    role = one(resources, stage, "AWS::IAM::Role", "Approver")
    trust = role["AssumeRolePolicyDocument"]["Statement"]
    # AWS knows no session's name where it is asked whether an identity may be set.
    assert {statement["Action"]: statement["Condition"] for statement in trust} == {
        "sts:AssumeRole": {"StringEquals": OWN_NAME},
        "sts:SetSourceIdentity": {"StringEquals": OWN_IDENTITY},
    }
    for statement in trust:
        assert statement["Effect"] == "Allow"
        assert "AWS::AccountId" in json.dumps(statement["Principal"])
        assert ":root" in json.dumps(statement["Principal"])


@pytest.mark.parametrize("stage", BOTH)
def test_the_approver_may_call_the_apis_routes_and_nothing_else(stage, resources):
    (allowed,) = statements(one(resources, stage, "AWS::IAM::Role", "Approver"))
    assert allowed["Action"] == "execute-api:Invoke"
    assert len(allowed["Resource"]) == len(ROUTES)
    ends = {json.dumps(resource).rpartition("$default/")[2] for resource in allowed["Resource"]}
    assert 'POST/approvals/*/votes"]]}' in ends


@pytest.mark.parametrize("stage", BOTH)
def test_every_route_asks_iam_who_calls_and_the_handler_knows_it(stage, resources):
    routes = resources(stage, "approvals", "AWS::ApiGatewayV2::Route").values()
    assert {route["RouteKey"] for route in routes} == set(ROUTES) == set(handler.ROUTES)
    assert {route["AuthorizationType"] for route in routes} == {"AWS_IAM"}
    assert one(resources, stage, "AWS::ApiGatewayV2::Integration")["PayloadFormatVersion"] == "2.0"


@pytest.mark.parametrize("stage", BOTH)
def test_the_function_admits_this_api_alone(stage, resources):
    permission = one(resources, stage, "AWS::Lambda::Permission")
    assert permission["Principal"] == "apigateway.amazonaws.com"
    assert permission["SourceAccount"] == {"Ref": "AWS::AccountId"}
    assert "execute-api" in json.dumps(permission["SourceArn"])
    assert "Api" in json.dumps(permission["SourceArn"])


@pytest.mark.parametrize("stage", BOTH)
def test_the_humans_side_writes_decisions_and_events_and_acts_for_no_tool(stage, resources):
    found = statements(one(resources, stage, "AWS::IAM::Role", "Role"))
    writes = {"PutItem", "UpdateItem", "DeleteItem", "PutObject", "DeleteObject", "Publish"}
    written = set()
    for statement in found:
        actions = statement["Action"]
        for action in actions if isinstance(actions, list) else [actions]:
            assert not action.startswith("lambda:")
            if action.partition(":")[2] in writes:
                keys = statement.get("Condition", {}).get("ForAllValues:StringLike", {})
                objects = "/heads/*" if "/heads/*" in json.dumps(statement["Resource"]) else "?"
                written.add((action, keys.get("dynamodb:LeadingKeys", [objects])[0]))
    assert written == {
        ("dynamodb:PutItem", "DEC#*"),
        ("dynamodb:PutItem", "AUD#*"),
        ("s3:PutObject", "/heads/*"),
    }


@pytest.mark.parametrize("stage", BOTH)
def test_two_people_decide(stage, resources):
    function = one(resources, stage, "AWS::Lambda::Function")
    assert function["Environment"]["Variables"]["APPROVALS_NEED"] == "2"
    assert function["Handler"] == "functions._approvals.handler.handler"
    assert function["Timeout"] == handler.TIMEOUT_S


def test_the_index_of_requests_is_the_one_that_is_asked_and_that_tests_have(resources):
    tables = resources("dev", "state", "AWS::DynamoDB::GlobalTable")
    (table,) = (made for name, made in tables.items() if name.startswith("ApprovalsTable"))
    (made,) = table["GlobalSecondaryIndexes"]
    assert made["IndexName"] == looking.INDEX == OPEN_INDEX["IndexName"]
    assert made["KeySchema"] == OPEN_INDEX["KeySchema"]
    assert made["Projection"] == OPEN_INDEX["Projection"]


def test_in_prod_nobody_deletes_what_was_published(resources):
    buckets = resources("prod", "state", "AWS::S3::Bucket")
    (bucket,) = (made for name, made in buckets.items() if name.startswith("ApprovalsBucket"))
    rule = bucket["ObjectLockConfiguration"]["Rule"]["DefaultRetention"]
    assert rule == {"Days": 365, "Mode": "GOVERNANCE"}
