"""The local cloud itself: the tools answer, data stays, a killed emulator is recovered from."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import time
from contextlib import contextmanager

import pytest

from contracts import registry
from toolgate.local import cloud, emulator, logs, process
from toolgate.local.layout import PROJECT_ROOT, Layout

ABSENT = {"repoRoot": "/repos/no-such-workspace"}
SOURCES = (
    "contracts",
    "functions",
    "infra",
    "app.py",
    "cdk.json",
    "package.json",
    "package-lock.json",
    "requirements.txt",
)


class Steps:
    """Keeps the titles of the steps that a command took."""

    def __init__(self):
        self.titles = []

    @contextmanager
    def step(self, title):
        self.titles.append(title)
        yield

    def note(self, text):
        self.titles.append(text)


@pytest.fixture(scope="module")
def local():
    """The project's local cloud, up and current; it stays up."""
    return cloud.up()


def invoke(here, key, arguments):
    answer = here.client("lambda").invoke(
        FunctionName=here.functions()[key], Payload=json.dumps(arguments)
    )
    assert "FunctionError" not in answer
    return json.loads(answer["Payload"].read())


def put_marker(here, text):
    """One row and one object that say `text`, where no workspace keeps anything."""
    outputs = here.outputs()
    here.client("dynamodb").put_item(
        TableName=outputs["WorkspaceTable"],
        Item={"pk": {"S": "TEST#local"}, "sk": {"S": "MARKER"}, "text": {"S": text}},
    )
    here.client("s3").put_object(
        Bucket=outputs["WorkspaceBucket"], Key="test/marker", Body=text.encode()
    )


def marker(here):
    outputs = here.outputs()
    row = here.client("dynamodb").get_item(
        TableName=outputs["WorkspaceTable"],
        Key={"pk": {"S": "TEST#local"}, "sk": {"S": "MARKER"}},
        ConsistentRead=True,
    )
    held = here.client("s3").get_object(Bucket=outputs["WorkspaceBucket"], Key="test/marker")
    return row["Item"]["text"]["S"], held["Body"].read().decode()


@pytest.mark.local
def test_every_contract_is_deployed_as_one_function(local):
    expected = {
        "".join(part.capitalize() for part in spec.model_name.split("_"))
        for spec in registry.specs()
    }
    assert set(local.functions()) == expected


@pytest.mark.local
def test_a_deployed_tool_answers_a_typed_failure(local):
    result = invoke(local, "ListFilesV1", ABSENT)
    assert result["ok"] is False
    assert result["error"]["code"] == "NOT_FOUND"


@pytest.mark.local
def test_up_again_does_nothing(local):
    steps = Steps()
    assert cloud.up(steps) == local
    assert steps.titles == []


@pytest.mark.local
def test_status_tells_what_is_deployed(local):
    found = cloud.status()
    assert found.running
    assert found.endpoint == local.endpoint
    assert found.functions == local.functions()
    assert {"IdempotencyTable", "WorkspaceTable", "WorkspaceBucket"} <= set(found.outputs)
    assert json.loads(json.dumps(found.as_dict()))["pid"] == found.pid


@pytest.mark.local
def test_rows_objects_and_functions_survive_down_and_up(local, tmp_path):
    put_marker(local, tmp_path.name)
    workers = [pid for name in local.functions().values() for pid in local.workers(name)]
    assert cloud.down()
    assert not cloud.status().running
    assert [pid for pid in workers if (found := process.find(pid)) and found.alive] == []
    steps = Steps()
    again = cloud.up(steps)
    assert steps.titles == [f"Start the emulator on port {local.port}"]
    assert marker(again) == (tmp_path.name, tmp_path.name)
    assert invoke(again, "ListFilesV1", ABSENT)["error"]["code"] == "NOT_FOUND"


@pytest.mark.local
def test_workers_belong_to_their_function_and_a_killed_one_is_replaced(local):
    names = local.functions()
    invoke(local, "ListFilesV1", ABSENT)
    invoke(local, "ReadFileV1", ABSENT | {"path": "README.md"})
    listing, reading = local.workers(names["ListFilesV1"]), local.workers(names["ReadFileV1"])
    assert listing
    assert reading
    assert not set(listing) & set(reading)
    assert local.kill_workers(names["ListFilesV1"]) == listing
    assert local.workers(names["ReadFileV1"]) == reading
    lambdas = local.client("lambda")
    first = lambdas.invoke(FunctionName=names["ListFilesV1"], Payload=json.dumps(ABSENT))
    first["Payload"].read()  # the emulator may notice the death only now
    assert invoke(local, "ListFilesV1", ABSENT)["error"]["code"] == "NOT_FOUND"
    assert not set(local.workers(names["ListFilesV1"])) & set(listing)


@pytest.mark.local
def test_logs_hold_what_a_tool_wrote(local):
    since_ms = int(time.time() * 1000)
    invoke(local, "ListFilesV1", ABSENT)
    lines = logs.lines(local, since_ms, tool="ListFilesV1")
    assert [line.at_ms for line in lines] == sorted(line.at_ms for line in lines)
    assert {line.tool for line in lines} == {"ListFilesV1"}
    assert any("list_files" in line.text for line in lines)


@pytest.fixture
def elsewhere(tmp_path):
    """A copy of the project in which nothing is installed, and a free port; reset afterwards."""
    for name in SOURCES:
        origin = PROJECT_ROOT / name
        if origin.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(origin, tmp_path / name, ignore=ignored)
        else:
            shutil.copy2(origin, tmp_path / name)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    layout = Layout(tmp_path)
    yield layout, port
    cloud.reset(layout=layout)


@pytest.mark.local
@pytest.mark.long
def test_from_nothing_to_tools_and_back_after_the_emulator_was_killed(elsewhere):
    layout, port = elsewhere
    steps = Steps()
    here = cloud.up(steps, port=port, layout=layout)
    assert steps.titles == [
        "Install the emulator",
        "Install the CDK CLI",
        f"Start the emulator on port {port}",
        "Prepare the account for the CDK",
        "Deploy the tools",
    ]
    assert invoke(here, "ListFilesV1", ABSENT)["error"]["code"] == "NOT_FOUND"

    def kill():
        pid = emulator.running(layout).pid
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        assert not cloud.status(layout=layout).running

    kill()  # before anything was saved: everything is deployed anew
    steps = Steps()
    here = cloud.up(steps, layout=layout)
    assert steps.titles[-3:] == [
        f"Start the emulator on port {port}",
        "Prepare the account for the CDK",
        "Deploy the tools",
    ]
    put_marker(here, "kept")
    assert cloud.down(layout=layout)
    here = cloud.up(layout=layout)
    kill()  # after a clean stop: its tables come back
    here = cloud.up(layout=layout)
    assert marker(here) == ("kept", "kept")
    assert invoke(here, "ListFilesV1", ABSENT)["error"]["code"] == "NOT_FOUND"

    cloud.reset(layout=layout)
    assert cloud.data_bytes(layout) == 0
    assert layout.emulator_python.exists()
    assert layout.cdk_cli.exists()
