"""`toolgate token`: a token that the tools take, for whoever asks, and how the key is changed."""

from __future__ import annotations

import getpass
import sys

import boto3
import pytest

import toolgate.token_commands
from agents import events
from functions._runtime import aws, keys, settings
from functions._runtime.caller import Presented, authorise
from tests.functions.counter import SPEC
from tests.people import keys_secret
from toolgate import __main__

NOW_MS = 1_800_000_000_000


@pytest.fixture
def secret(aws_cloud, monkeypatch):
    """The stage's secret, as a deployment makes it."""
    arn = keys_secret()
    monkeypatch.setenv("CALLER_KEYS_SECRET", arn)
    monkeypatch.setenv("TOOLGATE_STAGE", "dev")
    settings.settings.cache_clear()
    found = (aws.secrets(), {"CallerKeys": arn})
    monkeypatch.setattr(toolgate.token_commands, "client_and_outputs", lambda *_: found)
    monkeypatch.setattr(toolgate.token_commands.time, "time", lambda: NOW_MS / 1000)
    monkeypatch.setattr(getpass, "getuser", lambda: "Ada")
    return arn


@pytest.fixture
def token(monkeypatch, capsys):
    """Runs `toolgate token …`: (exit code, stdout, stderr)."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["toolgate", "token", *arguments])
        with pytest.raises(SystemExit) as ended:
            __main__.main()
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return run


def caller_of(text, secret, session=None):
    keys.forget()
    presented = Presented("bedrock" if session else "direct", session, text)
    stage = settings.settings()
    return authorise(presented, SPEC, stage, now_ms=NOW_MS, ring=keys.ring(secret))


@pytest.mark.parametrize("session", [None, "s-1"])
def test_a_token_names_who_asked_and_is_taken_by_the_tools(secret, token, session):
    more = ("--session", session) if session else ()
    code, out, err = token("issue", "--scope", "workspace:write", "--tenant", "acme", *more)
    assert (code, err) == (0, "")
    found = caller_of(out.strip(), secret, session)
    assert (found.subject, found.tenant) == ("ada", "acme")
    assert found.scopes == {"workspace:write"}


def test_a_token_may_name_who_acts(secret, token):
    _, out, _ = token("issue", "--scope", "workspace:write", "--agent", "release-bot")
    found = caller_of(out.strip(), secret)
    assert (found.subject, found.agent) == ("ada", "release-bot")


def test_on_aws_a_token_names_whom_aws_has_verified(secret, token, monkeypatch):
    given = boto3.client("sts").assume_role(
        RoleArn="arn:aws:iam::123456789012:role/Admin", RoleSessionName="Ada@Example.org"
    )["Credentials"]
    session = boto3.Session(given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"])
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", session)
    code, out, _ = token("issue", "--scope", "workspace:write", "--target", "aws")
    assert code == 0
    assert caller_of(out.strip(), secret).subject == "ada@example.org"


def test_nobody_names_the_subject(secret, token):
    assert token("issue", "--scope", "workspace:write", "--subject", "eve")[0] == 2


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("--scope", "moon:land"), "moon:land is no scope"),
        (("--scope", "workspace:read", "--ttl", "61m"), "a token lives 1 to 3600 seconds"),
        (("--scope", "workspace:read", "--ttl", "soon"), "such as 90s or 15m"),
        (("--scope", "workspace:read", "--tenant", "A B"), "no token can say that: tenant"),
        (("--scope", "workspace:read", "--target", "moon"), "--target takes local or aws"),
    ],
)
def test_what_cannot_be_signed_is_said(secret, token, wrong, said):
    code, out, err = token("issue", *wrong)
    assert (code, out) == (2, "")
    assert said in err


def test_a_key_is_changed_twice_before_its_tokens_are_worthless(secret, token):
    from contracts.errors import ForbiddenError

    _, out, _ = token("issue", "--scope", "workspace:write")
    assert token("rotate")[0] == 0
    assert caller_of(out.strip(), secret).subject == "ada"
    code, said, err = token("rotate")
    assert (code, err) == (0, "")
    assert aws.secrets().get_secret_value(SecretId=secret)["SecretString"][13:40] not in said
    with pytest.raises(ForbiddenError):
        caller_of(out.strip(), secret)


def test_every_surface_carries_a_token_where_its_tools_look_for_it():
    for surface in events.SURFACES:
        payload = events.build(SPEC, {}, surface, token="t").payload
        held = payload if surface in {"direct", "gateway"} else payload["sessionAttributes"]
        assert held["_caller"] == "t"
