"""The commands about contracts, as a person and a pipeline use them; only copies are changed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

from contracts import publishing, registry
from contracts.dialects import DIALECTS, json_schema
from contracts.spec import Status
from tests.toolgate.projects import TITLES, copied
from toolgate import __main__, promises, schema_files
from toolgate.errors import CommandError
from toolgate.project import ROOT

PATCH = registry.find("apply_patch_v1")
NEWEST = registry.find("apply_patch_v2")
READ = registry.find("read_file_v1")


@pytest.fixture
def toolgate(monkeypatch, capsys):
    """Runs a command in this process: (exit code, stdout, stderr)."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["toolgate", *arguments])
        with pytest.raises(SystemExit) as ended:
            __main__.main()
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return run


@pytest.fixture
def project(tmp_path):
    return copied(tmp_path)


def in_project(project, *arguments):
    """A command in a process of its own, with the copy's code and files."""
    done = subprocess.run(
        [sys.executable, "-m", "toolgate", *arguments],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def files_of(project):
    return {
        path.relative_to(project).as_posix(): path.read_bytes()
        for path in project.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def is_one_sentence(err):
    return err.startswith("Error: ") and err.count("\n") == 1 and "Traceback" not in err


def test_list_prints_each_tool_with_exactly_the_pinned_keys(toolgate):
    code, out, err = toolgate("list", "--json")
    rows = json.loads(out)
    assert (code, err) == (0, "")
    assert [row["model_name"] for row in rows] == [spec.model_name for spec in registry.specs()]
    for row in rows:
        assert list(row) == [
            "name", "version", "model_name", "status", "effect", "approval", "scopes", "owner",
        ]  # fmt: skip


def test_list_says_of_a_tool_what_its_spec_says(toolgate):
    _, out, _ = toolgate("list", "--json")
    assert json.loads(out)[0] == {
        "name": "apply_patch",
        "version": "1.0.1",
        "model_name": "apply_patch_v1",
        "status": "deprecated",
        "effect": "write",
        "approval": "none",
        "scopes": ["workspace:write"],
        "owner": "agent-platform",
    }


def test_list_names_every_tool_for_people_too(toolgate):
    code, out, _ = toolgate("list")
    assert code == 0
    assert [spec for spec in registry.specs() if spec.model_name not in out] == []


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("spec", registry.specs(), ids=lambda spec: spec.model_name)
def test_show_prints_one_json_document(toolgate, spec, dialect):
    code, out, err = toolgate("show", spec.model_name, "--dialect", dialect)
    assert (code, err) == (0, "")
    assert json.loads(out) == DIALECTS[dialect](spec)


def test_show_takes_json_schema_if_nothing_is_said_and_a_bare_name(toolgate):
    assert json.loads(toolgate("show", "apply_patch")[1]) == json_schema.emit(NEWEST)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (("show", "apply_patch", "--dialect", "soap"), "there is no dialect 'soap'; there are"),
        (("show", "rm_v1"), "no tool is called 'rm_v1'; there are apply_patch_v1"),
        (("publish", "rm_v1", "--read-by", "me"), "no tool is called 'rm_v1'"),
        (("publish", "apply_patch_v1", "--read-by", "me"), "apply_patch@1 is published"),
    ],
)
def test_misuse_is_one_sentence_and_exit_code_2(toolgate, command, says):
    code, out, err = toolgate(*command)
    assert (code, out) == (2, "")
    assert is_one_sentence(err)
    assert says in err


@pytest.mark.parametrize("command", [("no-such-command",), ("show",), ("publish", "apply_patch")])
def test_an_incomplete_command_line_is_exit_code_2(toolgate, command):
    code, out, err = toolgate(*command)
    assert (code, out) == (2, "")
    assert "Traceback" not in err


def test_check_passes_and_prints_each_line_of_the_checklist(toolgate):
    code, out, err = toolgate("check")
    assert (code, err) == (0, "")
    assert out.splitlines() == [f"ok    {title}" for title in TITLES]


def test_check_prints_the_same_as_json(toolgate):
    code, out, _ = toolgate("check", "--json")
    assert code == 0
    assert json.loads(out) == [{"ok": True, "title": title, "problems": []} for title in TITLES]


def test_check_in_a_project_with_a_fault_names_it_and_exits_with_1(project):
    path = project / READ.handler_path
    path.write_text(path.read_text().replace("@tool(SPEC)", ""))
    before = files_of(project)
    code, out, err = in_project(project, "check")
    assert (code, err) == (1, "")
    assert "FAIL  arguments are validated before any side effect\n" in out
    assert "        read_file_v1: handler is not decorated by @tool(SPEC) alone\n" in out
    assert out.count("FAIL") == 1
    assert files_of(project) == before


def test_emit_repairs_what_was_edited_and_then_has_nothing_to_do(project):
    before = files_of(project)
    schemas = project / "contracts/schemas"
    (schemas / "apply_patch_v1.json").write_text("{}")
    (schemas / "read_file_v1.json").unlink()
    (schemas / "gone_v1.json").write_text("{}")
    code, out, _ = in_project(project, "emit")
    assert code == 0
    assert out.splitlines() == [
        f"contracts/schemas/{name}_v1.json" for name in ("apply_patch", "gone", "read_file")
    ]
    assert files_of(project) == before
    assert in_project(project, "emit") == (0, "contracts/schemas is up to date\n", "")
    assert files_of(project) == before


def test_publish_records_the_digest_and_makes_the_draft_active_for_good(project):
    shutil.copy(ROOT / "README.md", project)
    before = files_of(project)
    code, out, _ = in_project(project, "publish", "read_file", "--read-by", "a reader")
    digest = publishing.digest(READ)
    assert (code, out) == (0, f"read_file@1.0.0 is published as {digest}\n")
    entry = {
        "version": "1.0.0",
        "digest": digest,
        "scopes": ["workspace:read"],
        "paths": ["/path", "/repoRoot"],
        "readBy": "a reader",
    }
    assert schema_files.digests(project)["read_file@1"] == entry
    changed = {name for name, data in files_of(project).items() if before.get(name) != data}
    written = {READ.contract_path, publishing.DIGESTS, promises.path(READ), "README.md"}
    assert changed == written
    promise = json.loads((project / promises.path(READ)).read_text("utf-8"))
    assert publishing.digest_of(promise) == digest
    assert "status=Status.ACTIVE" in (project / READ.contract_path).read_text()

    assert in_project(project, "check")[0] == 0
    after = files_of(project)
    code, out, err = in_project(project, "publish", "read_file", "--read-by", "a reader")
    assert (code, out) == (2, "")
    assert is_one_sentence(err)
    assert "read_file@1 is published" in err
    assert files_of(project) == after


def test_a_published_schema_that_changes_is_found(project):
    path = project / PATCH.contract_path
    path.write_text(path.read_text().replace("max_length=500_000", "max_length=400_000"))
    assert in_project(project, "emit")[0] == 0
    code, out, _ = in_project(project, "check")
    assert code == 1
    assert "FAIL  published versions keep their digest" in out
    assert (
        "        apply_patch_v1: input: breaking: /properties/files/items/properties/content "
        "maxLength 500000 -> 400000; undo the change, or make it apply_patch v3\n"
    ) in out


def test_a_draft_that_does_not_say_so_is_not_published_halfway(project):
    path = project / READ.contract_path
    path.write_text(path.read_text().replace("    status=Status.DRAFT,\n", ""))
    before = files_of(project)
    with pytest.raises(CommandError, match="once, to be made active"):
        schema_files.publish(READ, "me", project)
    assert files_of(project) == before


def test_a_lost_digest_cannot_be_made_anew(project):
    before = (project / "contracts/schemas/digests.json").read_bytes()
    with pytest.raises(CommandError, match="bring the entry back from history"):
        schema_files.publish(replace(READ, status=Status.ACTIVE), "me", project)
    assert (project / "contracts/schemas/digests.json").read_bytes() == before


@pytest.mark.parametrize("nobody", ["", "  "])
def test_nobody_cannot_have_read_a_contract(project, nobody):
    with pytest.raises(CommandError, match="who has read"):
        schema_files.publish(READ, nobody, project)


@pytest.mark.parametrize(
    ("path", "old", "new", "says"),
    [
        ("contracts/search/v1.py", "timeout_s=15", "timeout_s=99", "timeout_s is 1-60 s"),
        ("contracts/orders_lookup/v1.py", "timeout_s=10", "timeout_s=99", "timeout_s is 1-60 s"),
        ("contracts/read_file/v1.py", "    first_column: int", "    column: int", "first_column"),
    ],
)
def test_a_contract_that_contradicts_itself_is_one_sentence(project, path, old, new, says):
    contract = project / path
    contract.write_text(contract.read_text().replace(old, new))
    code, out, err = in_project(project, "list")
    assert (code, out) == (2, "")
    assert is_one_sentence(err)
    assert says in err
