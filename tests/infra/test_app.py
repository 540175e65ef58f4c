"""`python app.py`, as the CDK command line runs it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[2]


def run(tmp_path, **context):
    given = {"aws:cdk:bundling-stacks": [], **context}
    return subprocess.run(
        [sys.executable, "app.py"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "CDK_OUTDIR": str(tmp_path / "out"),
            "CDK_CONTEXT_JSON": json.dumps(given),
        },
    )


def test_app_py_synthesises_every_stack_and_is_silent(tmp_path):
    done = run(tmp_path, stage="dev", surfaces="bedrock,gateway")
    assert done.returncode == 0, done.stderr
    assert (done.stdout, done.stderr) == ("", "")
    templates = sorted(path.name for path in (tmp_path / "out").glob("*.template.json"))
    assert templates == [
        "toolgate-dev-approvals.template.json",
        "toolgate-dev-bedrock-agent.template.json",
        "toolgate-dev-gateway.template.json",
        "toolgate-dev-state.template.json",
        "toolgate-dev-tools.template.json",
    ]


def test_an_option_that_means_nothing_ends_in_one_sentence(tmp_path):
    done = run(tmp_path, stage="qa")
    assert done.returncode == 1
    assert done.stderr == "toolgate: stage=qa is unknown; choose one of dev, prod\n"


def test_an_option_that_does_not_exist_ends_in_one_sentence(tmp_path):
    done = run(tmp_path, surface="gateway")
    assert done.returncode == 1
    assert done.stderr.startswith("toolgate: -c surface=... is unknown; there are stage, surfaces,")
    assert done.stderr.count("\n") == 1


def test_a_python_without_the_cdk_is_told_what_to_install(tmp_path):
    for name in ("app.py", "infra", "contracts"):
        source = PROJECT / name
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, tmp_path / name)
    done = subprocess.run(
        [sys.executable, "-S", "-c", PROGRAM, str(tmp_path), pydantic_home()],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.defpath, "JSII_NODE": "/unused"},
    )
    assert done.returncode == 1
    assert re.match(r"toolgate: this Python has no aws_cdk; .*requirements\.txt", done.stderr)


PROGRAM = """
import sys
class NoCdk:
    def find_spec(self, name, path=None, target=None):
        if name == "aws_cdk":
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, NoCdk())
sys.path[:0] = sys.argv[1:]
import infra
infra.main()
"""


def pydantic_home():
    import pydantic

    return str(Path(pydantic.__file__).parents[1])


def test_the_command_line_is_pinned_without_naming_a_registry():
    manifest = json.loads((PROJECT / "package.json").read_text())
    version = manifest["devDependencies"]["aws-cdk"]
    assert re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", version)
    text = (PROJECT / "package-lock.json").read_text()
    locked = json.loads(text)["packages"]["node_modules/aws-cdk"]
    assert locked["version"] == version
    assert locked["integrity"].startswith("sha512-")
    assert "://" not in text
