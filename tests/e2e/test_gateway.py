"""MCP calls through an emulated Gateway, made from our template, to the deployed Lambdas."""

from __future__ import annotations

import json
import uuid

import pytest

from contracts import registry
from contracts.dialects import gateway as dialect
from contracts.fingerprint import record_id
from infra.stage import STAGES
from tests.e2e import gateway_emulator

pytestmark = [pytest.mark.long, pytest.mark.local]

NEWEST = {spec.name: spec for spec in registry.newest(registry.specs())}
PATCH, READ, LIST = (NEWEST[name] for name in ("apply_patch", "read_file", "list_files"))
TENANT = "default"


@pytest.fixture(scope="module")
def template(local_cloud, tmp_path_factory):
    """The Gateway's template, as `-c surfaces=gateway` makes it."""
    return gateway_emulator.template(local_cloud.layout, tmp_path_factory.mktemp("out"))


@pytest.fixture(scope="module")
def start(local_cloud, tmp_path_factory):
    """Gives a configuration's file, and the Python of the emulator that reads it."""
    python = gateway_emulator.install(local_cloud.layout)

    def write(made):
        file = tmp_path_factory.mktemp("gateway") / "gateway.yaml"
        file.write_text(json.dumps(made))  # YAML takes it
        return python, file

    return write


@pytest.fixture(scope="module")
def config(local_cloud, template):
    """The emulator's configuration, its functions those that the template imports."""
    arns = gateway_emulator.exports(local_cloud)
    return gateway_emulator.config(template, arns, local_cloud.region)


@pytest.fixture(scope="module")
def gateway(local_cloud, start, config):
    """The dev stage's gateway, emulated."""
    python, file = start(config)
    with gateway_emulator.serve(python, local_cloud, file) as running:
        yield running


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def workspace(local_workspaces):
    """The root of a fresh workspace."""
    root = f"/workspace/gateway-{uuid.uuid4().hex[:8]}"
    local_workspaces.create(root, {"a.txt": b"one\n", "docs/b.md": b"two\nthree\n"})
    return root


def patch(root, **changed):
    """Arguments as a model sends them: the tool's name carries the version."""
    entry = {"path": "a.txt", "mode": "unified_diff"}
    entry["content"] = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n one\n+more\n"
    given = {"idempotencyKey": uuid.uuid4().hex, "repoRoot": root, "files": [entry]}
    return {**given, **changed}


def result(answer):
    """The tool's result in an answer, which says the same as text and as structure."""
    (content,) = answer.content
    assert json.loads(content.text) == answer.structured_content
    return answer.structured_content


def test_the_emulator_knows_nothing_that_aws_would_refuse(start, config):
    assert gateway_emulator.preflight(*start(config)) == "no findings"


def test_clients_are_listed_the_newest_version_of_each_tool_as_its_contract_says(gateway):
    listed = {tool.name: tool for tool in gateway.tools()}
    newest = registry.newest(registry.specs())
    assert set(listed) == {dialect.tool_name(spec) for spec in newest}
    for spec in newest:
        document, tool = dialect.emit(spec), listed[dialect.tool_name(spec)]
        assert tool.description == document["description"]
        assert tool.input_schema == document["inputSchema"]
        assert tool.output_schema == document["outputSchema"]


def test_a_file_is_found_read_and_changed_once_however_often_it_is_asked(
    gateway, workspace, local_workspaces
):
    def call(spec, **arguments):
        answer = gateway.call(dialect.tool_name(spec), {"repoRoot": workspace, **arguments})
        assert not answer.is_error
        return result(answer)

    found = call(LIST, glob="**/*.md")
    assert [file["path"] for file in found["files"]] == ["docs/b.md"]
    assert call(READ, path="docs/b.md", firstLine=2)["text"] == "three\n"
    arguments = patch(workspace)
    first = call(PATCH, **arguments)
    assert first["skippedAsDuplicate"] is False
    assert call(PATCH, **arguments) == {**first, "skippedAsDuplicate": True}
    assert call(READ, path="a.txt")["text"] == "one\nmore\n"
    operations = [row["op"]["S"] for row in local_workspaces.log(workspace)][1:]
    assert operations == [record_id(PATCH, TENANT, arguments["idempotencyKey"])]
    mine = [one for one in gateway.invocations() if workspace in one["arguments"]]
    assert len(mine) == 5
    # Neither what was sent nor what came back breaks the schemas that were listed.
    assert [one["contract_violation"] for one in mine] == [None] * 5


def test_a_failure_is_an_answer_that_says_what_to_do(gateway, workspace, local_workspaces):
    def error(spec, arguments):
        answer = gateway.call(dialect.tool_name(spec), arguments)
        assert not answer.is_error  # what a tool answers is data, for the model to read
        assert result(answer)["ok"] is False
        return result(answer)["error"]

    absent = error(READ, {"repoRoot": workspace, "path": "no.txt"})
    assert (absent["code"], absent["retryable"]) == ("NOT_FOUND", False)
    arguments = patch(workspace)
    assert result(gateway.call(dialect.tool_name(PATCH), arguments))["ok"]
    entry = {"path": "b.txt", "mode": "replace_full", "content": "other\n"}
    other = error(PATCH, {**arguments, "files": [entry]})
    assert (other["code"], other["retryable"]) == ("IDEMPOTENCY_CONFLICT", False)
    invalid = error(PATCH, patch(workspace, files=[]))
    assert invalid["code"] == "VALIDATION"
    assert invalid["details"]["issues"][0]["path"] == "/files"
    assert len(local_workspaces.log(workspace)) == 2


def test_an_empty_call_as_aws_makes_to_try_a_target_does_nothing(gateway):
    for spec in registry.newest(registry.specs()):
        answer = result(gateway.call(dialect.tool_name(spec), {}))
        assert answer["error"]["code"] == "VALIDATION"
        assert "issues" in answer["error"]["details"]


@pytest.fixture
def as_prod(local_cloud, config):
    """The configuration again, its functions copies that are bound as prod binds them."""
    client = local_cloud.client("lambda")
    made = []

    def copy(arn):
        found = client.get_function(FunctionName=arn)
        old = found["Configuration"]
        with gateway_emulator.DIRECT.open(found["Code"]["Location"]) as code:
            archive = code.read()
        variables = {
            **old["Environment"]["Variables"],
            "TOOLGATE_BINDINGS": STAGES["prod"].bindings_json(),
        }
        new = client.create_function(
            FunctionName=f"gateway-{uuid.uuid4().hex[:12]}",
            Code={"ZipFile": archive},
            Environment={"Variables": variables},
            Layers=[layer["Arn"] for layer in old["Layers"]],
            **{name: old[name] for name in ("Role", "Runtime", "Handler", "Timeout")},
        )
        made.append(new["FunctionName"])
        return new["FunctionArn"]

    bound = json.loads(json.dumps(config))
    for target in bound["targets"]:
        target["lambda"]["aws_function"] = copy(target["lambda"]["aws_function"])
    yield bound
    for name in made:
        client.delete_function(FunctionName=name)


def test_callers_may_do_what_the_stage_binds_the_gateway_to(
    local_cloud, start, as_prod, workspace, local_workspaces
):
    python, file = start(as_prod)
    with gateway_emulator.serve(python, local_cloud, file) as gateway:
        read = gateway.call(dialect.tool_name(READ), {"repoRoot": workspace, "path": "a.txt"})
        refused = gateway.call(dialect.tool_name(PATCH), patch(workspace))
    assert result(read)["text"] == "one\n"
    assert result(refused)["error"]["code"] == "FORBIDDEN"
    details = result(refused)["error"]["details"]
    assert (details["reason"], details["scope"]) == ("SCOPE_MISSING", "workspace:write")
    assert len(local_workspaces.log(workspace)) == 1
