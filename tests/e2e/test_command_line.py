"""`toolgate call` as a person uses it, on the local cloud."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid

import pytest

from toolgate.project import ROOT

pytestmark = pytest.mark.local


def toolgate(*arguments, stdin=None):
    return subprocess.run(  # noqa: PLW1510  (the exit code is what is tested)
        [sys.executable, "-m", "toolgate", *arguments],
        cwd=ROOT,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=240,
    )


def call(path, surface):
    done = toolgate("call", "apply_patch_v1", f"@{path}", "--as", surface, "--json")
    return done.returncode, json.loads(done.stdout)


@pytest.fixture
def patch_file(local_workspaces, tmp_path):
    """Arguments of a patch in a fresh workspace, in a file."""
    root = f"/workspace/cli-{uuid.uuid4().hex[:8]}"
    local_workspaces.create(root, {"a.txt": b"one\n"})
    arguments = {
        "schemaVersion": 1,
        "idempotencyKey": uuid.uuid4().hex,
        "repoRoot": root,
        "files": [{"path": "a.txt", "mode": "replace_full", "content": "two\n"}],
    }
    path = tmp_path / "args.json"
    path.write_text(json.dumps(arguments))
    return path


def test_the_same_call_is_a_duplicate_on_every_surface_and_after_a_restart(patch_file):
    assert call(patch_file, "direct") == (
        0,
        {"ok": True, "schemaVersion": 1, "applied": ["a.txt"], "skippedAsDuplicate": False},
    )
    for surface in ("direct", "bedrock", "bedrock-function", "gateway"):
        code, result = call(patch_file, surface)
        assert (code, result["skippedAsDuplicate"]) == (0, True)
    assert toolgate("local", "down").returncode == 0
    assert toolgate("local", "up").returncode == 0
    code, result = call(patch_file, "bedrock")
    assert (code, result["skippedAsDuplicate"]) == (0, True)


def test_a_failure_ends_with_exit_code_1_and_says_what_to_do(local_cloud):
    arguments = json.dumps({"repoRoot": "/no/such/workspace"})
    done = toolgate("call", "list_files", "-", stdin=arguments)
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["code"] == "NOT_FOUND"
    assert "NOT_FOUND (replan)" in done.stderr


def test_a_directory_is_pushed_changed_and_pulled(local_cloud, tmp_path):
    root = f"/workspace/cli-{uuid.uuid4().hex[:8]}"
    source, copy = tmp_path / "source", tmp_path / "copy"
    source.mkdir()
    copy.mkdir()
    (source / "a.txt").write_text("one\n")
    assert toolgate("workspace", "push", str(source), "--as", root).returncode == 0
    arguments = {
        "schemaVersion": 2,
        "idempotencyKey": uuid.uuid4().hex,
        "repoRoot": root,
        "files": [{"path": "a.txt", "mode": "replace_full", "content": "two\n"}],
    }
    assert toolgate("call", "apply_patch", json.dumps(arguments)).returncode == 0
    log = json.loads(toolgate("workspace", "log", root, "--json").stdout)
    assert [entry["tool"] for entry in log] == ["apply_patch@2.0.0", "push"]
    shown = toolgate("workspace", "diff", root, "1", "2").stdout
    assert "-one\n+two\n" in shown
    assert toolgate("workspace", "pull", str(copy), "--as", root).returncode == 0
    assert (copy / "a.txt").read_text() == "two\n"
