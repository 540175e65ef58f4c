"""`toolgate mcp`: as whom it calls, what it refuses to start with, and who gets in by HTTP."""

from __future__ import annotations

import asyncio
import getpass
import io
import json
import re
import sys
import time

import pytest

import toolgate.mcp_commands
import toolgate.token_commands
from agents.mcp_server import Bearer
from contracts import registry
from functions._runtime import aws, keys, settings
from functions._runtime.caller import Presented, authorise
from tests.people import keys_secret
from toolgate import __main__
from toolgate.project import ROOT

LIST = registry.find("list_files_v1")
FOUND = {"ok": True, "schemaVersion": 1}


class Functions:
    """A Lambda client that keeps the payloads."""

    def __init__(self):
        self.payloads = []

    def invoke(self, *, FunctionName, Payload):  # noqa: N803  (as the SDK calls them)
        self.payloads.append(json.loads(Payload))
        return {"Payload": io.BytesIO(json.dumps(FOUND).encode())}


@pytest.fixture
def served(monkeypatch):
    """Runs `toolgate mcp …` up to where it would serve: the tools, and the functions they call."""
    functions, made = Functions(), []
    names = {LIST.model_name: "list-files", "apply_patch_v1": "v1", "apply_patch_v2": "v2"}

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["toolgate", "mcp", *arguments])
        with pytest.raises(SystemExit) as ended:
            __main__.main()
        return ended.value.code or 0, made[-1] if made else None, functions

    monkeypatch.delenv("TOOLGATE_TOKEN", raising=False)
    module = toolgate.mcp_commands
    monkeypatch.setattr(module, "_check_sdk", lambda: None)
    monkeypatch.setattr(module, "function_names", lambda *_: (names, functions))
    monkeypatch.setattr(module, "make_server", lambda tools, **_: made.append(tools))
    monkeypatch.setattr(module, "serve_stdio", lambda _: None)
    return run


@pytest.fixture
def secret(aws_cloud, monkeypatch):
    """The stage's secret, as a deployment makes it."""
    arn = keys_secret()
    monkeypatch.setenv("CALLER_KEYS_SECRET", arn)
    monkeypatch.setenv("TOOLGATE_STAGE", "dev")
    settings.settings.cache_clear()
    found = (aws.secrets(), {"CallerKeys": arn})
    monkeypatch.setattr(toolgate.token_commands, "client_and_outputs", lambda *_: found)
    monkeypatch.setattr(getpass, "getuser", lambda: "Ada")
    return arn


def called(tools, functions):
    """The `_caller` of one call."""
    outcome = tools.call(LIST.model_name, {"repoRoot": "/w"}, {})
    assert outcome.structured == FOUND
    return functions.payloads[-1].get("_caller")


def test_the_newest_of_what_is_deployed_is_served(served):
    code, tools, functions = served()
    assert code == 0
    names = [document["name"] for document in tools.documents()]
    assert names == ["apply_patch_v2", "list_files_v1"]
    assert called(tools, functions) is None


def test_each_call_is_signed_anew_as_the_person_that_runs_it(secret, served):
    asked = ("--sign", "--scope", "workspace:read", "--tenant", "acme", "--agent", "coder")
    code, tools, functions = served(*asked)
    assert code == 0
    token = called(tools, functions)
    presented = Presented("direct", None, token)
    now_ms = int(time.time() * 1000)

    def caller(ring):
        return authorise(presented, LIST, settings.settings(), now_ms=now_ms, ring=ring)

    keys.forget()
    found = caller(keys.ring(secret))
    assert (found.subject, found.tenant, found.agent) == ("ada", "acme", "coder")
    assert found.scopes == {"workspace:read"}
    # The key of the moment signs: one that was changed after the start is used at once.
    aws.secrets().put_secret_value(SecretId=secret, SecretString=json.dumps({"current": "n" * 64}))
    keys.forget()
    presented = Presented("direct", None, called(tools, functions))
    assert caller(keys.ring(secret)).subject == "ada"


def test_keys_that_cannot_be_read_are_an_answer_and_nothing_is_sent(secret, served):
    _, tools, functions = served("--sign", "--scope", "workspace:read")
    aws.secrets().delete_secret(SecretId=secret, ForceDeleteWithoutRecovery=True)
    outcome = tools.call(LIST.model_name, {"repoRoot": "/w"}, {})
    assert json.loads(outcome.text)["code"] == "UNAVAILABLE"
    assert functions.payloads == []


def test_a_token_is_given_as_text_file_or_variable_and_a_file_may_be_renewed(
    served, monkeypatch, tmp_path
):
    _, tools, functions = served("--token", "given")
    assert called(tools, functions) == "given"
    file = tmp_path / "token"
    file.write_text("first\n")
    monkeypatch.setenv("TOOLGATE_TOKEN", f"@{file}")
    _, tools, functions = served()
    assert called(tools, functions) == "first"
    file.write_text("second\n")
    assert called(tools, functions) == "second"
    file.unlink()
    outcome = tools.call(LIST.model_name, {"repoRoot": "/w"}, {})
    assert json.loads(outcome.text)["code"] == "UNAVAILABLE"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("--target", "moon"), "--target takes local or aws"),
        (("--port", "8000"), "--port and --no-auth are for --http"),
        (("--no-auth",), "--port and --no-auth are for --http"),
        (("--token", "-"), "give the token as @FILE"),
        (("--token", "@/no/such/file"), "cannot be read"),
        (("--sign",), "--sign needs --scope"),
        (("--scope", "workspace:read"), "need --sign"),
        (("--agent", "coder"), "need --sign"),
        (("--sign", "--scope", "workspace:read", "--token", "t"), "exclude each other"),
        (("--sign", "--scope", "moon:land"), "moon:land is no scope"),
        (("--sign", "--scope", "workspace:read", "--tenant", "A B"), "no token can say that"),
    ],
)
def test_what_cannot_be_served_is_said(secret, served, capsys, wrong, said):
    code, tools, _ = served(*wrong)
    out, err = capsys.readouterr()
    assert (code, tools, out) == (2, None, "")
    assert said in err


def test_without_the_sdk_the_sentence_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["toolgate", "mcp"])
    monkeypatch.setitem(sys.modules, "mcp_types", None)
    with pytest.raises(SystemExit) as ended:
        __main__.main()
    assert ended.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "pip install 'mcp>=2,<3'" in err


def test_the_documented_configurations_start_a_server(served, secret, monkeypatch):
    monkeypatch.setattr(toolgate.mcp_commands, "who_asks", lambda _: "ada")
    page = (ROOT / "docs" / "mcp.md").read_text("utf-8")
    found = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", page, re.DOTALL)]
    servers = [one["mcpServers"]["toolgate"] for one in found]
    started = [server["args"] for server in servers if "command" in server]
    assert len(started) == 2
    for command, *options in started:
        assert command == "mcp"
        assert served(*options)[0] == 0


@pytest.mark.parametrize(
    ("headers", "let_in"),
    [
        ([(b"authorization", b"Bearer right")], True),
        ([], False),
        ([(b"authorization", b"Bearer wrong")], False),
        ([(b"authorization", b"right")], False),
        ([(b"authorization", b"Bearer \xff")], False),
        ([(b"authorization", b"Bearer wrong"), (b"authorization", b"Bearer right")], False),
    ],
)
def test_who_has_not_the_token_is_not_let_in_and_nothing_is_read(headers, let_in):
    entered, sent = [], []

    async def application(scope, receive, send):
        entered.append(scope["type"])

    async def unread():
        raise AssertionError("the body of a refused request was read")

    async def send(message):
        sent.append(message)

    guarded = Bearer(application, "right")
    asyncio.run(guarded({"type": "http", "headers": headers}, unread, send))
    assert entered == (["http"] if let_in else [])
    assert [message.get("status") for message in sent] == ([] if let_in else [401, None])
