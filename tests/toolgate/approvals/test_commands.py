"""`toolgate approvals` by its command line, against the real handler."""

from __future__ import annotations

import json
import sys

import pytest

import toolgate.approvals_commands
from tests.people import Person, edit_arguments, edit_row, rows
from tests.toolgate.approvals.hostile import HOSTILE
from tests.toolgate.approvals.scene import BEFORE, WORKFLOW, Desk
from toolgate import __main__
from toolgate.approvals import identity
from toolgate.approvals.visible import visible
from toolgate.errors import CommandError


@pytest.fixture
def approvals(scene, monkeypatch, capsys):
    """Runs `toolgate approvals …` as alice: (exit code, stdout, stderr)."""
    people = []

    def transport_of(target, stage, name):
        people.append(Desk(name or "alice"))
        return people[-1]

    monkeypatch.setattr(toolgate.approvals_commands, "transport_of", transport_of)

    def run(*arguments):
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["toolgate", "approvals", *arguments])
        with pytest.raises(SystemExit) as ended:
            __main__.main()
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    run.people = people
    return run


@pytest.fixture
def on_a_terminal(monkeypatch):
    """Lets the command believe that a person types."""

    def typing(answer):
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        monkeypatch.setattr("typer.prompt", lambda *_, **__: answer)

    return typing


@pytest.mark.parametrize("width", [80, 100])
def test_the_list_tells_what_waits_and_for_whom(scene, approvals, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    first, second = scene.replace("x\n"), scene.release()
    code, out, err = approvals("list")
    assert (code, err) == (0, "")
    for said in (first, second, "Waiting, your turn", "0 of 2", "by dana"):
        assert said in out
    words = "".join(line[59:].strip() for line in out.splitlines())
    assert "checkout-api 1.4.0" in words
    assert WORKFLOW in words
    assert max(map(len, out.splitlines())) <= width
    code, out, _ = approvals("list", "--json", "--as", "dana")
    assert (code, json.loads(out)["me"]) == (0, "dana")
    assert not any(one["mayVote"] for one in json.loads(out)["approvals"])


def test_an_empty_list_says_so(approvals):
    assert approvals("list") == (0, "", "nobody asks for anything\n")


def test_show_tells_the_facts_and_the_change(scene, approvals):
    approval_id = scene.replace(BEFORE.replace("step 7: run", "step 7: [red]run[/red] --fast"))
    Person("bob").vote(approval_id, "approve", "fine\n\x1b[2J")
    code, out, _ = approvals("show", approval_id)
    assert code == 0
    assert f"│ {WORKFLOW}\n" in out
    assert "│ -step 7: run\n│ +step 7: [red]run[/red] --fast\n" in out
    assert "1 of 2 have agreed" in out
    assert "│ fine⟨LF⟩⟨ESC⟩[2J\n" in out
    assert out.endswith("alice, you may decide on this.\n")
    code, out, _ = approvals("show", approval_id, "--json")
    assert json.loads(out)["arguments"]["files"][0]["path"] == WORKFLOW


def test_hostile_text_is_letters_behind_a_bar(scene, approvals):
    approval_id = scene.replace("\n".join(HOSTILE))
    code, out, _ = approvals("show", approval_id)
    assert code == 0
    assert "\x1b" not in out
    for hostile in HOSTILE:
        assert f"│ +{visible(hostile)}\n" in out


def test_no_line_of_an_agent_can_look_like_ours_on_a_narrow_terminal(scene, approvals, monkeypatch):
    monkeypatch.setattr(toolgate.approvals_commands, "_width", lambda: 40)
    fake = "Type yes to approve this as alice"
    _, out, _ = approvals("show", scene.replace("x" * 37 + fake + "é" * 100))
    agents = [line for line in out.splitlines() if fake[:20] in line or "éé" in line]
    assert agents
    assert all(line.startswith("│ ") for line in agents)
    assert max(len(line) for line in agents) <= 40


def test_approving_shows_it_and_asks(scene, approvals, on_a_terminal):
    approval_id = scene.replace("new\n")
    on_a_terminal("yes")
    code, out, _ = approvals("approve", approval_id, "--reason", "read it")
    assert code == 0
    assert "│ +new\n" in out
    assert out.endswith("Waiting: 1 of 2 have agreed\n")
    (vote,) = approvals.people[-1].votes
    assert vote["reason"] == "read it"
    assert Person("bob").show(approval_id)["fingerprint"] == vote["fingerprint"]


def test_anything_but_yes_approves_nothing(scene, approvals, on_a_terminal):
    on_a_terminal("y")
    code, _, err = approvals("approve", scene.replace("new\n"))
    assert (code, "nothing was approved" in err) == (2, True)
    assert approvals.people[-1].votes == []


def test_without_a_terminal_yes_must_be_said(scene, approvals):
    approval_id = scene.replace("new\n")
    code, _, err = approvals("approve", approval_id)
    assert (code, "--yes" in err) == (2, True)
    assert approvals.people[-1].votes == []
    assert approvals("approve", approval_id, "--yes")[0] == 0
    assert Person("bob").show(approval_id)["have"] == 1


@pytest.mark.parametrize("how", [("approve", "--yes"), ("deny", "--reason", "no"), ("show",)])
def test_damaged_arguments_are_neither_shown_nor_decided_on(scene, approvals, how):
    approval_id = scene.replace("good\n")
    edit_arguments(approval_id, lambda text: text.replace("good", "evil"))
    command, *options = how
    code, out, err = approvals(command, approval_id, *options)
    assert code == 1
    assert "CONFLICT" in err
    assert "evil" not in out
    assert approvals.people[-1].votes == []


def test_who_may_not_approve_is_told_why(scene, approvals, on_a_terminal):
    on_a_terminal("yes")
    approval_id = scene.replace("new\n")
    code, _, err = approvals("approve", approval_id, "--as", "dana")
    assert (code, "You asked for this yourself" in err) == (2, True)
    code, _, err = approvals("approve", approval_id, "--as", "dana", "--yes")
    assert (code, "FORBIDDEN" in err, "who asks does not decide" in err) == (1, True, True)


def test_a_refusal_needs_a_reason_and_is_final(scene, approvals):
    approval_id = scene.replace("new\n")
    assert approvals("deny", approval_id)[0] == 2
    assert "needs a reason" in approvals("deny", approval_id, "--reason", " ")[2]
    code, out, _ = approvals("deny", approval_id, "--reason", "not today")
    assert (code, out) == (0, "Denied\n")
    code, _, err = approvals("approve", approval_id, "--yes")
    assert (code, "somebody has denied" in err) == (1, True)


def test_the_audit_is_shown_and_verified(scene, approvals):
    approval_id = scene.replace("new\n")
    Person("bob").deny(approval_id, "no\x1b[2J")
    code, out, _ = approvals("audit", approval_id, "--verify")
    assert code == 0
    assert "requested by dana" in out
    assert "│ reason: no⟨ESC⟩[2J" in out
    assert "The audit is whole" in out
    last = rows("AUD", approval_id)[-1]
    key = {name: last[name] for name in ("pk", "sk")}
    edit_row(key, event={"S": last["event"]["S"].replace("bob", "eve")})
    code, out, _ = approvals("audit", approval_id, "--verify")
    assert (code, "event 2 was edited" in out) == (1, True)
    code, out, _ = approvals("audit", approval_id, "--verify", "--json")
    assert code == 1
    assert json.loads(out)["problems"]
    assert approvals("audit", approval_id)[0] == 0


ROLE = "arn:aws:iam::123456789012:role/team/Approver"


def test_a_session_of_the_role_is_used_as_it_is():
    session = "arn:aws:sts::123456789012:assumed-role/Approver/ada"
    assert identity.needs_role(session, ROLE) is None


def test_a_user_takes_the_role_under_their_own_name():
    assert identity.needs_role("arn:aws:iam::123456789012:user/staff/Ada", ROLE) == "Ada"


@pytest.mark.parametrize(
    ("arn", "said"),
    [
        ("arn:aws:sts::123456789012:assumed-role/Admin/ada", "session of the role Admin"),
        ("arn:aws:sts::999999999999:assumed-role/Approver/ada", "session of the role Approver"),
        ("arn:aws:iam::123456789012:root", "is no person"),
        ("arn:aws:sts::123456789012:federated-user/ada", "is no person"),
    ],
)
def test_whoever_aws_does_not_vouch_for_is_told_what_to_do(arn, said):
    with pytest.raises(CommandError, match=said):
        identity.needs_role(arn, ROLE)


@pytest.mark.parametrize(
    ("target", "name", "said"),
    [
        ("aws", "ada", "AWS says who you are"),
        ("local", None, "--as NAME"),
        ("local", "a b", "a name is 2-64"),
        ("moon", None, "local or aws"),
    ],
)
def test_names_are_for_the_local_cloud_alone(target, name, said):
    with pytest.raises(CommandError, match=said):
        identity.transport_of(target, "dev", name)


def test_on_aws_the_role_is_taken_under_the_name_that_aws_knows(aws_cloud, monkeypatch):
    """moto knows one IAM user when a user's keys are used."""
    import boto3

    iam = boto3.client("iam")
    iam.create_user(UserName="Ada")
    iam.create_role(RoleName="Approver", AssumeRolePolicyDocument="{}")
    key = iam.create_access_key(UserName="Ada")["AccessKey"]
    session = boto3.Session(key["AccessKeyId"], key["SecretAccessKey"], region_name="us-east-1")
    sts = session.client("sts")
    taken = []
    sts.meta.events.register(
        "before-parameter-build.sts.AssumeRole", lambda params, **_: taken.append(params)
    )
    outputs = {
        "ApprovalsUrl": "https://abc.execute-api.us-east-1.amazonaws.com",
        "ApprovalsApiId": "abc",
        "ApproverRoleArn": "arn:aws:iam::123456789012:role/Approver",
    }
    monkeypatch.setattr(identity, "client_and_outputs", lambda *_: (sts, outputs))
    identity.transport_of("aws", "prod", None)
    (given,) = taken
    assert (given["RoleSessionName"], given["SourceIdentity"]) == ("Ada", "Ada")
    monkeypatch.setattr(identity, "client_and_outputs", lambda *_: (sts, {}))
    with pytest.raises(CommandError, match="stage prod has no approvals yet"):
        identity.transport_of("aws", "prod", None)
