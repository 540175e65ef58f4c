"""The dependency layer: what is in it, when it is built again, and that it is then offline."""

from __future__ import annotations

import marshal
import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from infra import layer
from infra.errors import LayerError
from infra.layer import Target, build_layer, find_interpreter, layer_key

REQUIREMENTS = Path(__file__).parents[2] / "functions/requirements.txt"
RUNNING = f"{sys.version_info.major}.{sys.version_info.minor}"
HERE = Target(python=RUNNING, arch="x86_64", local=True)
UNCHECKED_HASH = 0b01


@pytest.fixture
def requirements(tmp_path):
    """Requirements that need no index: one wheel on disk, with a program in it."""
    wheel = tmp_path / "demo-1.0-py3-none-any.whl"
    info = "demo-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("demo/__init__.py", "ANSWER = 42\n")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n")
        archive.writestr(
            f"{info}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        archive.writestr(f"{info}/entry_points.txt", "[console_scripts]\ndemo = demo:ANSWER\n")
        archive.writestr(f"{info}/RECORD", "")
    path = tmp_path / "requirements.txt"
    path.write_text(f"demo @ {wheel.as_uri()}\n")
    return path


def silent(text):
    raise AssertionError(f"warned: {text}")


def names(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_a_layer_holds_the_packages_and_nothing_that_differs_between_machines(
    requirements, tmp_path
):
    built = build_layer(requirements, HERE, tmp_path / "cache", silent)
    found = names(built.path / "python")
    assert "demo/__init__.py" in found
    assert not [n for n in found if n.startswith("bin/") or n.endswith(("RECORD", ".lock"))]
    for path in built.path.rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o755 if path.is_dir() else 0o644)


def test_bytecode_is_unchecked_and_names_the_place_where_lambda_mounts_it(requirements, tmp_path):
    built = build_layer(requirements, HERE, tmp_path / "cache", silent)
    (compiled,) = built.path.glob("python/demo/__pycache__/*.pyc")
    data = compiled.read_bytes()
    assert int.from_bytes(data[4:8], "little") == UNCHECKED_HASH
    assert marshal.loads(data[16:]).co_filename == "/opt/python/demo/__init__.py"


def test_two_builds_of_the_same_wheels_have_the_same_digest(requirements, tmp_path):
    one = build_layer(requirements, HERE, tmp_path / "one", silent)
    two = build_layer(requirements, HERE, tmp_path / "two", silent)
    assert one.path != two.path
    assert one.digest == two.digest


def test_a_layer_is_built_once(requirements, tmp_path, monkeypatch):
    first = build_layer(requirements, HERE, tmp_path / "cache", silent)
    monkeypatch.setattr(layer, "_install", lambda *given: pytest.fail("built again"))
    assert build_layer(requirements, HERE, tmp_path / "cache", silent) == first
    assert names(tmp_path / "cache") == {f"{first.path.name}/{name}" for name in names(first.path)}


def test_everything_that_decides_the_content_decides_the_key(monkeypatch):
    target = Target(python="3.13", arch="arm64")
    keys = [
        layer_key("a==1", target, compiled=True),
        layer_key("a==2", target, compiled=True),
        layer_key("a==1", replace(target, python="3.12"), compiled=True),
        layer_key("a==1", replace(target, arch="x86_64"), compiled=True),
        layer_key("a==1", replace(target, local=True), compiled=True),
        layer_key("a==1", target, compiled=False),
    ]
    monkeypatch.setattr(layer, "BUILDER", layer.BUILDER + 1)
    keys.append(layer_key("a==1", target, compiled=True))
    assert len(set(keys)) == len(keys)


def test_without_an_interpreter_of_the_version_there_is_a_warning_and_no_bytecode(
    requirements, tmp_path, monkeypatch
):
    monkeypatch.setattr(layer, "find_interpreter", lambda version: None)
    said = []
    built = build_layer(requirements, HERE, tmp_path / "cache", said.append)
    assert not [name for name in names(built.path) if name.endswith(".pyc")]
    (warning,) = said
    assert re.match(rf"no Python {re.escape(RUNNING)} on PATH", warning)


def test_a_failed_build_says_what_uv_said_and_leaves_nothing(tmp_path):
    path = tmp_path / "requirements.txt"
    path.write_text(f"absent @ file://{tmp_path}/absent-1.0-py3-none-any.whl\n")
    with pytest.raises(LayerError, match=r"uv pip said: .*absent"):
        build_layer(path, HERE, tmp_path / "cache", silent)
    assert list((tmp_path / "cache").iterdir()) == []


def test_the_running_interpreter_compiles_for_its_own_version():
    assert find_interpreter(RUNNING) == sys.executable


@pytest.mark.parametrize("body", ["exit 127", "echo 2.7"])
def test_a_launcher_that_does_not_run_that_version_is_no_interpreter(tmp_path, monkeypatch, body):
    other = "3.13" if RUNNING != "3.13" else "3.12"
    launcher = tmp_path / f"python{other}"
    launcher.write_text(f"#!/bin/sh\n{body}\n")
    launcher.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_interpreter(other) is None


def test_an_interpreter_on_path_is_found(tmp_path, monkeypatch):
    other = "3.13" if RUNNING != "3.13" else "3.12"
    launcher = tmp_path / f"python{other}"
    launcher.write_text(f"#!/bin/sh\necho {other}\n")
    launcher.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_interpreter(other) == str(launcher)


def test_the_requirements_name_neither_boto3_nor_botocore():
    lines = REQUIREMENTS.read_text("utf-8").splitlines()
    wanted = [re.split(r"[\[=<>~!; ]", line)[0] for line in lines if not line.startswith("#")]
    assert {"aws-lambda-powertools", "google-re2", "pydantic"} <= set(wanted)
    assert not {"boto3", "botocore"} & set(wanted)


@pytest.mark.local
def test_the_layer_of_the_tools_holds_no_boto3_and_imports_here(tmp_path):
    built = build_layer(REQUIREMENTS, HERE, tmp_path / "cache", silent)
    tops = {name.split("/")[0] for name in names(built.path / "python")}
    assert {"pydantic", "pydantic_core", "aws_lambda_powertools", "re2"} <= tops
    assert not {"boto3", "botocore", "s3transfer", "bin"} & tops
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import re2; "
        "import pydantic; print(pydantic.__file__)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, str(built.path / "python")],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": os.defpath},
    )
    assert done.stdout.startswith(str(built.path))


@pytest.mark.local
@pytest.mark.parametrize(
    ("python", "arch", "machine"),
    [("3.12", "x86_64", "x86_64"), ("3.13", "arm64", "aarch64"), ("3.14", "x86_64", "x86_64")],
)
def test_a_layer_for_aws_holds_the_binaries_of_its_architecture(tmp_path, python, arch, machine):
    target = Target(python=python, arch=arch)
    built = build_layer(REQUIREMENTS, target, tmp_path / "cache", lambda text: None)
    binaries = [path.name for path in built.path.rglob("*.so")]
    assert {name.split(".")[0] for name in binaries} >= {"_pydantic_core", "_re2"}
    tag = f"{python.replace('.', '')}-{machine}-linux-gnu"
    assert all(tag in name for name in binaries)


def test_a_local_layer_is_for_this_machine_whatever_it_is():
    assert HERE.platform == sysconfig.get_platform()
    assert Target(python="3.13", arch="arm64").platform == "aarch64-manylinux_2_28"


@pytest.mark.parametrize("arch", ["arm64", "x86_64"])
def test_a_python_whose_lambda_cannot_load_the_wheels_is_refused(requirements, tmp_path, arch):
    target = Target(python="3.11", arch=arch)
    with pytest.raises(LayerError, match=r"py=3\.11 .* glibc 2\.26, .* use py=3\.12 or newer"):
        build_layer(requirements, target, tmp_path / "cache", silent)
    assert not (tmp_path / "cache").exists()


def test_a_python_that_is_refused_on_lambda_still_runs_here(requirements, tmp_path):
    target = Target(python="3.11", arch="x86_64", local=True)
    built = build_layer(requirements, target, tmp_path / "cache", lambda text: None)
    assert "demo/__init__.py" in names(built.path / "python")
