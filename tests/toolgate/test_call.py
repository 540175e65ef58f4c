"""`toolgate call` against the real handlers on moto: what is printed, and how it ends."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import sys
import uuid
from types import SimpleNamespace

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

import toolgate.call
from agents.events import SURFACES
from agents.targets import InProcessTarget
from contracts import registry
from functions._runtime import aws
from toolgate import __main__
from toolgate.call import read_arguments
from toolgate.errors import CommandError

NAMES = {spec.model_name: f"function-of-{spec.model_name}" for spec in registry.specs()}
TOOLS = {name: registry.find(model_name) for model_name, name in NAMES.items()}


class Lambda:
    """Runs the handler of the function that is named, as the service would."""

    def invoke(self, *, FunctionName, Payload, ClientContext=None):  # noqa: N803  (boto3's names)
        context = json.loads(base64.b64decode(ClientContext)) if ClientContext else None
        event = SimpleNamespace(payload=json.loads(Payload), client_context=context)
        # What a Lambda prints goes to its log.
        with contextlib.redirect_stdout(io.StringIO()):
            answer = InProcessTarget().send(TOOLS[FunctionName], event)
        return {"StatusCode": 200, "Payload": io.BytesIO(json.dumps(answer).encode())}


class Answers:
    """A client whose every call ends the same way."""

    def __init__(self, payload=None, *, error=None, died=False):
        self.payload, self.error, self.died = payload, error, died

    def invoke(self, **_):
        if self.error:
            raise self.error
        answer = {"StatusCode": 200, "Payload": io.BytesIO(json.dumps(self.payload).encode())}
        return {**answer, "FunctionError": "Unhandled"} if self.died else answer


@pytest.fixture
def deployed(monkeypatch):
    """What is deployed, and the client to call it with; `asked` is where that was looked for."""
    stage = SimpleNamespace(names=NAMES, client=Lambda(), asked=[])

    def function_names(where, name):
        stage.asked.append((where, name))
        return stage.names, stage.client

    monkeypatch.setattr(toolgate.call, "function_names", function_names)
    return stage


@pytest.fixture
def call(monkeypatch, capsys, deployed):
    """Runs `toolgate call …`: (exit code, stdout, stderr)."""

    def run(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "argv", ["toolgate", "call", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        with pytest.raises(SystemExit) as ended:
            __main__.main()
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return run


@pytest.fixture
def patch(workspaces):
    """Arguments of a patch in a fresh workspace."""
    root = f"/workspace/{uuid.uuid4().hex}"
    workspaces.create(root, {"a.txt": b"one\n"})
    return {
        "schemaVersion": 1,
        "idempotencyKey": uuid.uuid4().hex,
        "repoRoot": root,
        "files": [{"path": "a.txt", "mode": "replace_full", "content": "é\r\n"}],
    }


DONE = {"ok": True, "schemaVersion": 1, "applied": ["a.txt"], "skippedAsDuplicate": False}


def test_json_prints_the_result_and_nothing_else(call, patch, workspaces):
    code, out, err = call("apply_patch_v1", json.dumps(patch), "--json")
    assert (code, json.loads(out), err) == (0, DONE, "")
    assert workspaces.files(patch["repoRoot"]) == {"a.txt": "é\r\n".encode()}


def test_a_person_is_told_how_it_went_beside_the_result(call, patch):
    code, out, err = call("apply_patch_v1", json.dumps(patch))
    assert (code, json.loads(out), err) == (0, DONE, "ok\n")
    code, out, err = call("apply_patch_v1", json.dumps(patch))
    assert (code, json.loads(out)) == (0, {**DONE, "skippedAsDuplicate": True})
    assert err == "ok: answered before, nothing was done now\n"


@pytest.mark.parametrize("first", SURFACES)
def test_all_surfaces_share_one_record(call, patch, workspaces, first):
    code, out, _ = call("apply_patch_v1", json.dumps(patch), "--as", first, "--json")
    assert (code, json.loads(out)) == (0, DONE)
    for surface in SURFACES:
        code, out, _ = call("apply_patch_v1", json.dumps(patch), "--as", surface, "--json")
        assert (code, json.loads(out)) == (0, {**DONE, "skippedAsDuplicate": True})
    assert len(aws.dynamodb().scan(TableName="idempotency")["Items"]) == 1
    assert workspaces.commits(patch["repoRoot"]) == 2


@pytest.mark.parametrize("surface", SURFACES)
def test_a_failure_is_printed_the_same_and_ends_with_exit_code_1(call, aws_cloud, surface):
    arguments = json.dumps({"repoRoot": "/no/such/workspace"})
    code, out, err = call("list_files", arguments, "--as", surface)
    assert code == 1
    assert json.loads(out)["error"]["code"] == "NOT_FOUND"
    assert err.startswith("NOT_FOUND (replan): ")
    assert call("list_files", arguments, "--as", surface, "--json") == (1, out, "")


def test_arguments_that_the_tool_refuses_are_a_failure_and_no_misuse(call, aws_cloud):
    code, out, _ = call("list_files", '{"repoRoot": 7}', "--json")
    assert (code, json.loads(out)["error"]["code"]) == (1, "VALIDATION")
    code, out, _ = call("list_files", "{}", "--json")
    assert (code, json.loads(out)["error"]["code"]) == (1, "VALIDATION")


@pytest.mark.parametrize("size", [6_300_000, 33_000_000])
def test_a_call_over_the_limit_of_lambda_is_too_large(call, deployed, size):
    text = json.dumps({"repoRoot": "/w", "content": "x" * size})
    deployed.client = Answers(error=AssertionError("sent"))
    code, out, err = call("write_file_v1", "-", stdin=text.encode())
    error = json.loads(out)["error"]
    assert (code, error["code"]) == (1, "TOO_LARGE")
    assert error["details"] | {"actual": 0} == {
        "limit": 6_291_456,
        "actual": 0,
        "keySpent": False,
    }
    assert err.startswith("TOO_LARGE (replan): ")


def test_arguments_come_from_a_file_or_standard_input(call, patch, tmp_path):
    path = tmp_path / "arguments.json"
    path.write_text(json.dumps(patch, ensure_ascii=False), encoding="utf-8")
    assert json.loads(call("apply_patch_v1", f"@{path}", "--json")[1]) == DONE
    code, out, _ = call("apply_patch_v1", "-", "--json", stdin=path.read_bytes())
    assert (code, json.loads(out)["skippedAsDuplicate"]) == (0, True)


def test_the_local_cloud_is_called_unless_aws_is_said(call, deployed, aws_cloud):
    call("list_files", "{}")
    call("list_files", "{}", "--target", "aws", "--stage", "prod")
    assert deployed.asked == [("local", "dev"), ("aws", "prod")]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("list_files", "{"), "the arguments are not usable JSON: "),
        (("list_files", "[]"), "the arguments must be one JSON object"),
        (("list_files", '{"a": 1, "a": 2}'), "an object has the same key twice"),
        (("list_files", "@no-such-file"), "no-such-file cannot be read: FileNotFoundError"),
        (("list_files", "@."), ". cannot be read: IsADirectoryError"),
        (("list_files", "{}", "--as", "soap"), "--as takes one of: direct, bedrock"),
        (("list_files", "{}", "--target", "mars"), "--target takes local or aws"),
        (("rm_v1", "{}"), "no tool is called 'rm_v1'"),
        (("list_files", "-"), "the arguments are not usable JSON: "),
    ],
)
def test_misuse_is_one_sentence_and_exit_code_2_and_calls_nothing(call, deployed, arguments, says):
    code, out, err = call(*arguments)
    assert (code, out, deployed.asked) == (2, "", [])
    assert err.startswith("Error: ")
    assert err.count("\n") == 1
    assert says in err


def test_input_that_is_no_text_is_refused(call, tmp_path):
    path = tmp_path / "arguments.json"
    path.write_bytes(b'{"a": "\xff"}')
    for argument, name in ((f"@{path}", str(path)), ("-", "standard input")):
        code, _, err = call("list_files", argument, stdin=path.read_bytes())
        assert (code, err) == (2, f"Error: {name} cannot be read: UnicodeDecodeError\n")


def test_a_tool_that_is_not_deployed_is_named_with_those_that_are(call, deployed):
    deployed.names = {"apply_patch_v1": "function"}
    code, _, err = call("read_file", "{}", "--target", "aws", "--stage", "prod")
    assert (code, err) == (
        2,
        "Error: read_file_v1 is not deployed there; there are apply_patch_v1\n",
    )


@pytest.mark.parametrize(
    ("client", "says"),
    [
        (Answers({"errorMessage": "secret"}, died=True), "failed: Unhandled; toolgate local logs"),
        (Answers({"no": "result"}), "not a result: it has no boolean ok; toolgate local logs"),
        (Answers(error=EndpointConnectionError(endpoint_url="http://x")), "could not be called: "),
        (
            Answers(error=ClientError({"Error": {"Code": "TooManyRequests"}}, "Invoke")),
            "list_files_v1 could not be called: ",
        ),
    ],
)
def test_a_call_without_an_answer_is_one_sentence_and_exit_code_1(call, deployed, client, says):
    deployed.client = client
    code, out, err = call("list_files", "{}")
    assert (code, out) == (1, "")
    assert err.startswith("Error: ")
    assert err.count("\n") == 1
    assert says in err
    assert "secret" not in err


def test_on_aws_nobody_is_sent_to_local_logs(call, deployed):
    deployed.client = Answers({}, died=True)
    code, _, err = call("list_files", "{}", "--target", "aws")
    assert code == 1
    assert "local" not in err


def test_arguments_are_read_strictly_and_as_they_are(tmp_path):
    path = tmp_path / "arguments.json"
    path.write_text('{"content": "\\r\\n é \\u00e9", "n": null}', encoding="utf-8")
    assert read_arguments(f"@{path}") == {"content": "\r\n é é", "n": None}
    assert read_arguments(" {} ") == {}
    for text in ("NaN", '{"a": NaN}', "1", "null", '"{}"', "", "{} {}", "\ufeff{}"):
        with pytest.raises(CommandError):
            read_arguments(text)


@pytest.mark.parametrize("surface", SURFACES)
def test_a_token_is_sent_on_every_surface(surface, call, aws_cloud, tmp_path):
    (tmp_path / "token").write_text("no.token\n")
    code, out, _ = call(
        "list_files", "{}", "--as", surface, "--token", f"@{tmp_path / 'token'}", "--json"
    )
    # This stage has no keys: that it says so shows that the token has arrived.
    assert (code, json.loads(out)["error"]["details"]["reason"]) == (1, "TOKEN_REFUSED")
