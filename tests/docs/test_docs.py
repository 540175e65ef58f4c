"""What the documentation says is run, or at least looked up."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import textwrap
import uuid

import pytest
from typer.main import get_command

from contracts import registry
from contracts.errors import CODES
from toolgate import schema_files
from toolgate.cli import app
from toolgate.project import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


def blocks(page, language):
    return [text for kind, text in FENCE.findall(page.read_text("utf-8")) if kind == language]


def pages(*names):
    return pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)(*names)


@pages
def test_links_lead_somewhere(page):
    for target in LINK.findall(page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


@pages
def test_commands_and_options_exist(page):
    for line in re.findall(r"`([^`\n]+)`", page.read_text("utf-8")) + [
        line for text in blocks(page, "") for line in text.splitlines()
    ]:
        if line.startswith("toolgate "):
            _find_command(line)


def _find_command(line):
    """Walk the command line's own commands; fail on a word or an option that is not there."""
    words = line.split()
    command = get_command(app)
    rest = words[1:]
    while rest and hasattr(command, "commands"):
        assert rest[0] in command.commands, line
        command, rest = command.commands[rest[0]], rest[1:]
    known = {name for parameter in command.params for name in parameter.opts}
    for option in (word for word in rest if word.startswith("--")):
        assert option in known, line


@pages
def test_make_targets_exist(page):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for target in re.findall(r"(?:^|`)make ([a-z-]+)", page.read_text("utf-8"), re.MULTILINE):
        assert target in targets


def test_the_table_of_tools_is_the_emitted_one():
    documents = schema_files.documents(registry.specs())
    assert documents["README.md"] == (ROOT / "README.md").read_text("utf-8")


def test_what_the_loop_does_about_each_code_is_the_emitted_table():
    documents = schema_files.documents(registry.specs())
    page = (ROOT / "docs" / "calling.md").read_text("utf-8")
    assert documents["docs/calling.md"] == page
    assert all(f"\n| {code} |" in page for code in CODES)


def test_every_required_package_has_its_reason():
    decisions = (ROOT / "docs" / "decisions.md").read_text("utf-8")
    requirements = [ROOT / "requirements.txt", ROOT / "functions" / "requirements.txt"]
    named = [
        line.partition("==")[0].partition("[")[0]
        for path in requirements
        for line in path.read_text().splitlines()
        if "==" in line
    ]
    shipped_by_others = {"annotated-types", "jmespath", "pydantic-core", "typing-extensions"}
    shipped_by_others |= {"typing-inspection"}
    missing = [
        n for n in named if n not in shipped_by_others and not re.search(rf"\b{n}\b", decisions)
    ]
    assert not missing


@pytest.fixture
def project(tmp_path):
    """A copy of what a tool needs, to which the README's tool is added."""
    for name in ("contracts", "functions", "toolgate", "agents", "infra"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "tests" / "golden").mkdir(parents=True)
    for golden in (ROOT / "tests" / "golden").glob("*.json"):
        shutil.copy(golden, tmp_path / "tests" / "golden")
    for text in blocks(ROOT / "README.md", "python"):
        path = tmp_path / text.splitlines()[0].removeprefix("# ")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    return tmp_path


def run(project, *arguments):
    return subprocess.run(
        [sys.executable, *arguments], cwd=project, capture_output=True, text=True, check=False
    )


def test_the_whole_tool_of_the_readme_is_a_tool(project):
    listed = run(project, "-m", "toolgate", "list")
    assert "files_count_v1" in listed.stdout, listed.stderr
    emitted = run(project, "-m", "toolgate", "emit").stdout.split()
    assert emitted == ["contracts/schemas/files_count_v1.json", "contracts/schemas/index.json"]
    checked = run(project, "-m", "toolgate", "check")
    assert checked.returncode == 1
    problems = [line.strip() for line in checked.stdout.splitlines() if line.startswith("   ")]
    assert problems == ["files_count_v1: there is no tests/golden/files_count_v1.json"]


def test_the_whole_tool_of_the_readme_answers(project):
    program = """
        import json, sys
        from tests_stage import StoredWorkspaces, stores
        from agents import events
        from agents.targets import InProcessTarget
        from contracts import registry

        StoredWorkspaces(stores).create("/workspace/app", {"a.py": b"", "b.txt": b""})
        event = events.build(
            registry.find("files_count"), {"repoRoot": "/workspace/app", "glob": "*.py"}, "bedrock"
        )
        result = events.unwrap(InProcessTarget().send(registry.find("files_count"), event))
        print(json.dumps(result, sort_keys=True), file=sys.stderr)
    """
    stage = f"""
        import os, sys
        sys.path.append({str(ROOT)!r})
        from tests import conftest
        from moto import mock_aws
        os.environ.update(conftest.STAGE)
        mock_aws().start()
        from functions._runtime import aws
        from functions._runtime.workspace import Stores
        from tests.workspaces import StoredWorkspaces
        conftest.create_tables()
        conftest.create_buckets()
        names = (conftest.WORKSPACE_TABLE, conftest.WORKSPACE_BUCKET)
        stores = Stores(aws.dynamodb(), aws.s3(), *names)
    """
    (project / "tests" / "golden").rename(project / "golden")
    (project / "tests").rmdir()
    (project / "tests_stage.py").write_text(textwrap.dedent(stage))
    (project / "program.py").write_text(textwrap.dedent(program))
    done = run(project, "program.py")
    assert '{"count": 1, "ok": true, "schemaVersion": 1}' in done.stderr


@pytest.mark.local
def test_the_readmes_commands_run_as_they_stand(tmp_path):
    from toolgate.local import cloud

    cloud.up()
    (script,) = [text for text in blocks(ROOT / "README.md", "") if "workspace push" in text]
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    unique = f"readme-{uuid.uuid4().hex[:12]}"
    # The commands of a reader, in a clone and on a workspace of their own, on the cloud that runs.
    script = script.replace("/workspace/app", f"/workspace/{unique}")
    script = script.replace("hello-7f3a9c2e41d0", f"hello-{unique}").replace(
        "toolgate local down", ""
    )
    script = script.replace("toolgate ", f"{sys.executable} -m toolgate ")
    script = script.replace("push . ", f"push {clone} ").replace("pull . ", f"pull {clone} ")
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert '"skippedAsDuplicate": true' in done.stdout
    assert f"1 new commit on toolgate/{unique}" in done.stdout
