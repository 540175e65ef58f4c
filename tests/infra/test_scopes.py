"""Roles hold what the scopes say: the templates against a table written out here by hand."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from contracts.spec import Approval, Scope
from infra.errors import ScopeError
from infra.names import pascal
from infra.scopes import SCOPES, grants

READ_ROWS = {"dynamodb:BatchGetItem", "dynamodb:GetItem"}
WRITE_ROWS = READ_ROWS | {"dynamodb:PutItem", "dynamodb:UpdateItem"}
READ = {
    "WorkspaceTable": (READ_ROWS, ["WS#*"]),
    "WorkspaceBucket/t/*": ({"s3:GetObject"}, None),
}
WRITE = {
    "WorkspaceTable": (WRITE_ROWS, ["WS#*"]),
    "WorkspaceBucket/t/*": ({"s3:GetObject", "s3:PutObject"}, None),
}
RELEASE = {
    f"ReleasesBucket/{part}/*": ({"s3:GetObject", "s3:PutObject"}, None)
    for part in ("staging", "releases")
}
STORES = {
    frozenset({"workspace:read"}): READ,
    frozenset({"workspace:write"}): WRITE,
    frozenset({"workspace:read", "workspace:write"}): WRITE,
    frozenset({"orders:read"}): {"OrdersTable": ({"dynamodb:GetItem"}, ["ORDER#*"])},
    frozenset({"release:publish", "workspace:read"}): READ | RELEASE,
}
RECORDS = {"dynamodb:GetItem", "dynamodb:UpdateItem"}
LOGS = {"logs:CreateLogStream", "logs:PutLogEvents"}
TRACES = {"xray:PutTelemetryRecords", "xray:PutTraceSegments"}
STAGES = ["dev", "prod"]
KEYS = {"secretsmanager:GetSecretValue"}
TABLES = ("IdempotencyTable", "WorkspaceTable", "OrdersTable", "ApprovalsTable")
BUCKETS = {
    "WorkspaceBucket": ("t",),
    "ReleasesBucket": ("staging", "releases"),
    "ApprovalsBucket": ("arguments", "heads"),
}
ASKING = {
    "ApprovalsTable REQ#*": (
        {"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"},
        ["REQ#*"],
    ),
    "ApprovalsTable DEC#*": ({"dynamodb:ConditionCheckItem", "dynamodb:GetItem"}, ["DEC#*"]),
    "ApprovalsTable AUD#*": ({"dynamodb:PutItem", "dynamodb:Query"}, ["AUD#*"]),
    "ApprovalsBucket/arguments/*": ({"s3:PutObject"}, None),
    "ApprovalsBucket/heads/*": ({"s3:PutObject"}, None),
    "ApprovalsTopic": ({"sns:Publish"}, None),
}
"""What a tool that people must agree to may do: ask, look, use up. Never decide."""


def as_list(value):
    return value if isinstance(value, list) else [value]


def statements(role):
    return [s for policy in role["Policies"] for s in policy["PolicyDocument"]["Statement"]]


def kind_of(resource):
    """Which store an ARN in a template is of, with the part of it; from the import's name."""
    text = str(resource)
    for store in (*TABLES, "CallerKeys", "Logs", "ApprovalsTopic"):
        if store in text:
            return store
    for bucket, parts in BUCKETS.items():
        if bucket in text:
            return f"{bucket}/{next(part for part in parts if f'/{part}/*' in text)}/*"
    return text


def allowed(role):
    """{what: (actions, condition)} of a role, one entry a statement."""
    found = {}
    for statement in statements(role):
        assert statement["Effect"] == "Allow"
        (resource,) = as_list(statement["Resource"])
        keys = statement.get("Condition", {})
        rows = keys.get("ForAllValues:StringLike", {}).get("dynamodb:LeadingKeys")
        what = kind_of(resource)
        if what == "ApprovalsTable":
            what += f" {rows[0]}"
        assert what not in found
        found[what] = (set(as_list(statement["Action"])), rows)
    return found


def expected(spec, stage):
    scopes = frozenset(str(scope) for scope in spec.scopes)
    what = {**STORES[scopes], "CallerKeys": (KEYS, None), "Logs": (LOGS, None)}
    if spec.mutates:
        fence = {"dynamodb:ConditionCheckItem"} if spec.approval is Approval.DUAL else set()
        what["IdempotencyTable"] = (RECORDS | fence, [f"{spec.name}@{spec.major}#*"])
    if spec.approval is not Approval.NONE:
        what |= ASKING
    if stage == "prod":
        what["*"] = (TRACES, None)
    return what


@pytest.mark.parametrize("stage", STAGES)
def test_every_role_holds_exactly_what_its_scopes_say(stage, resources, deployed):
    roles = resources(stage, "tools", "AWS::IAM::Role")
    assert len(roles) == len(deployed(stage))
    for spec in deployed(stage):
        (role,) = (r for n, r in roles.items() if n.startswith(f"{pascal(spec.model_name)}Role"))
        assert allowed(role) == expected(spec, stage), spec.key


@pytest.mark.parametrize("stage", STAGES)
def test_a_function_may_write_to_its_own_log_group_only(stage, templates):
    found = templates(stage)["tools"]["Resources"]
    for name, function in found.items():
        if function["Type"] != "AWS::Lambda::Function":
            continue
        log_group = function["Properties"]["LoggingConfig"]["LogGroup"]["Ref"]
        role = found[function["Properties"]["Role"]["Fn::GetAtt"][0]]["Properties"]
        (own,) = (s for s in statements(role) if "logs:PutLogEvents" in s["Action"])
        assert own["Resource"] == {"Fn::GetAtt": [log_group, "Arn"]}, name


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("stack", ["state", "approvals", "tools", "bedrock-agent", "gateway"])
def test_no_policy_allows_by_wildcard_and_none_is_managed(stage, stack, templates, resources):
    for role in resources(stage, stack, "AWS::IAM::Role").values():
        assert "ManagedPolicyArns" not in role
        for statement in statements(role):
            assert not [a for a in as_list(statement["Action"]) if "*" in a]
            if statement["Resource"] == "*":
                assert set(statement["Action"]) == TRACES
    kinds = {r["Type"] for r in templates(stage)[stack]["Resources"].values()}
    assert not kinds & {"AWS::IAM::Policy", "AWS::IAM::ManagedPolicy"}


def test_every_scope_of_the_contracts_is_in_the_table():
    assert set(SCOPES) == set(Scope)


def test_an_unknown_scope_is_refused():
    spec = SimpleNamespace(key="x@1.0.0", scopes={"moon:land"}, mutates=False, record_prefix="x@1")
    with pytest.raises(ScopeError, match=r"x@1\.0\.0 has scope moon:land"):
        grants(spec)
