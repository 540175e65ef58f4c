"""When the local cloud deploys again, and with what environment."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from toolgate.local import aws, deploy, install
from toolgate.local.environment import STACKS, LocalCloud, merged_outputs
from toolgate.local.errors import PrerequisiteError
from toolgate.local.layout import Layout

CONTEXT = {"py": "3.11", "arch": "x86_64"}
DONE = dict.fromkeys(STACKS, "CREATE_COMPLETE")


@pytest.fixture
def source(tmp_path):
    (tmp_path / "functions" / "read_file").mkdir(parents=True)
    (tmp_path / "functions" / "read_file" / "v1.py").write_text("one\n")
    (tmp_path / "app.py").write_text("app\n")
    return tmp_path


def digest(root, context=CONTEXT):
    return deploy.source_digest(root, ("functions", "app.py", "absent"), context)


def test_the_same_source_gives_the_same_digest(source):
    assert digest(source) == digest(source)


def test_changed_added_and_renamed_files_each_change_the_digest(source):
    seen = {digest(source)}
    tool = source / "functions" / "read_file"
    (tool / "v1.py").write_text("two\n")
    seen.add(digest(source))
    (tool / "new.py").write_text("")
    seen.add(digest(source))
    (tool / "new.py").rename(tool / "newer.py")
    seen.add(digest(source))
    (source / "app.py").write_text("")
    seen.add(digest(source))
    assert len(seen) == 5


def test_content_that_moves_between_files_changes_the_digest(source):
    tool = source / "functions" / "read_file"
    (tool / "a.py").write_text("xy")
    (tool / "b.py").write_text("")
    before = digest(source)
    (tool / "a.py").write_text("x")
    (tool / "b.py").write_text("y")
    assert digest(source) != before


def test_another_python_changes_the_digest(source):
    assert digest(source) != digest(source, CONTEXT | {"py": "3.12"})


def test_bytecode_does_not_change_the_digest(source):
    before = digest(source)
    cache = source / "functions" / "read_file" / "__pycache__"
    cache.mkdir()
    (cache / "v1.cpython-311.pyc").write_bytes(b"code")
    assert digest(source) == before


@pytest.mark.parametrize(
    ("stacks", "recorded", "current"),
    [
        (DONE, "now", True),
        (DONE, "before", False),
        (DONE | {STACKS[0]: "UPDATE_COMPLETE"}, "now", True),
        (DONE | {STACKS[0]: "ROLLBACK_COMPLETE"}, "now", False),
        ({STACKS[0]: "CREATE_COMPLETE"}, "now", False),
        (DONE, None, False),
    ],
)
def test_only_settled_stacks_of_the_present_source_are_current(tmp_path, stacks, recorded, current):
    layout = Layout(tmp_path)
    layout.home.mkdir()
    if recorded:
        layout.deployed_file.write_text(json.dumps({"digest": recorded}))
    assert deploy.is_current(layout, stacks, "now") is current


@pytest.mark.parametrize("text", ["", "[]", "nonsense"])
def test_an_unreadable_digest_deploys_again(tmp_path, text):
    layout = Layout(tmp_path)
    layout.home.mkdir()
    layout.deployed_file.write_text(text)
    assert not deploy.is_current(layout, DONE, "now")


def test_the_cli_sees_this_cloud_and_no_account_of_the_developer(tmp_path):
    cloud = LocalCloud(4599, Layout(tmp_path))
    theirs = {
        "AWS_PROFILE": "production",
        "AWS_SESSION_TOKEN": "real",
        "CDK_DEFAULT_ACCOUNT": "123456789012",
        "PYTHONDONTWRITEBYTECODE": "1",
        "HTTPS_PROXY": "http://proxy:3128",
        "NO_PROXY": "intranet",
        "PATH": "/usr/bin",
    }
    ours = deploy.cli_environ(cloud, theirs)
    assert ours["AWS_ENDPOINT_URL"] == "http://127.0.0.1:4599"
    assert ours["AWS_CONFIG_FILE"] == ours["AWS_SHARED_CREDENTIALS_FILE"] == "/dev/null"
    assert ours["NO_PROXY"] == "intranet,127.0.0.1,localhost"
    assert ours["HTTPS_PROXY"] == "http://proxy:3128"
    assert ours["PATH"].endswith(":/usr/bin")
    assert Path(ours["JSII_NODE"]).is_file()
    assert not {
        "AWS_PROFILE",
        "AWS_SESSION_TOKEN",
        "CDK_DEFAULT_ACCOUNT",
        "PYTHONDONTWRITEBYTECODE",
    } & set(ours)


def test_a_real_deployment_keeps_the_developers_account():
    ours = aws.environ({"AWS_PROFILE": "production", "PATH": "/usr/bin"})
    assert ours["AWS_PROFILE"] == "production"
    assert "AWS_ENDPOINT_URL" not in ours


def test_outputs_that_only_link_stacks_are_left_out():
    def stack(name, *keys):
        outputs = [{"OutputKey": key, "OutputValue": key.lower()} for key in keys]
        return {"StackName": name, "Outputs": outputs}

    stacks = [
        stack("state", "WorkspaceTable", "ExportsOutputRefX1"),
        stack("tools", "ReadFileV1"),
        stack("CDKToolkit", "BucketName"),
        {"StackName": "state"},
    ]
    assert merged_outputs(stacks, ("state", "tools")) == {
        "WorkspaceTable": "workspacetable",
        "ReadFileV1": "readfilev1",
    }


def test_a_checkout_without_the_app_is_refused_by_name(tmp_path):
    (tmp_path / "app.py").touch()
    with pytest.raises(PrerequisiteError, match=r"^cdk\.json, package\.json, package-lock\.json "):
        deploy.check_sources(tmp_path)


@pytest.mark.parametrize(
    ("machine", "arch"),
    [("x86_64", "x86_64"), ("AMD64", "x86_64"), ("aarch64", "arm64"), ("arm64", "arm64")],
)
def test_machines_are_named_as_lambda_names_them(machine, arch):
    assert install.architecture(machine) == arch


def test_a_machine_that_lambda_does_not_know_is_refused():
    with pytest.raises(PrerequisiteError, match="riscv64"):
        install.architecture("riscv64")


def test_changed_pins_or_another_python_make_another_emulator():
    keys = {
        install.emulator_key("a==1\n", "3.11", "/usr"),
        install.emulator_key("a==2\n", "3.11", "/usr"),
        install.emulator_key("a==1\n", "3.12", "/usr"),
        install.emulator_key("a==1\n", "3.11", "/opt"),
    }
    assert len(keys) == 4


def test_the_emulators_environment_is_pinned_to_the_last_package():
    lines = install.REQUIREMENTS.read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert "ministack==1.5.33" in pins
    assert all("==" in pin for pin in pins)
