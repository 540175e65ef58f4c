"""`toolgate workspace`: what the commands keep, take and refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from functions._runtime.workspace import FileWrite
from tests.functions.workspace.cloud import ROOT, workspace
from tests.toolgate.repositories import Repo, made_repo
from toolgate import workspace_commands
from toolgate.errors import CommandError
from toolgate.workspace import PullRefusedError, PushRefusedError

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

    from functions._runtime.workspace import Stores


@pytest.fixture
def repo(stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """The commands' stores are those on moto, the project's directory is an empty one."""
    monkeypatch.setattr(workspace_commands, "stores_of", lambda _target, _stage: stores)
    monkeypatch.setattr(workspace_commands, "ROOT", tmp_path / "project")
    return made_repo(stores, tmp_path, monkeypatch)


def run(*words: object) -> Result:
    result = CliRunner().invoke(workspace_commands.app, [str(word) for word in words])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


def test_plain_directory_goes_back_and_forth(repo: Repo, tmp_path: Path):
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "a").write_bytes(b"1")
    (plain / "b").write_bytes(b"1")
    assert "created" in run("push", plain, "--as", ROOT).stdout
    for number in (b"2", b"3"):
        repo.agent(FileWrite("a", number))
        (plain / "b").write_bytes(number)
        with pytest.raises(PushRefusedError, match="pull first"):
            run("push", plain, "--as", ROOT)
        assert "1 path changed" in run("pull", plain, "--as", ROOT).stdout
        assert ((plain / "a").read_bytes(), (plain / "b").read_bytes()) == (number, number)
        assert "0 paths changed" in run("pull", plain, "--as", ROOT).stdout
        assert "changed" in run("push", plain, "--as", ROOT).stdout
        assert workspace(repo.stores).snapshot().read("b").data == number
    (kept,) = (tmp_path / "project" / ".local" / "workspaces").rglob("*.json")
    assert kept.parent.name == "local-dev"
    assert sorted(path.name for path in plain.iterdir()) == ["a", "b"]


def test_stages_and_targets_keep_their_own_records(repo: Repo, tmp_path: Path):
    plain = tmp_path / "plain"
    plain.mkdir()
    run("push", plain, "--as", ROOT)
    run("push", plain, "--as", ROOT, "--target", "aws", "--stage", "prod")
    records = (tmp_path / "project" / ".local" / "workspaces").rglob("*.json")
    assert sorted(path.parent.name for path in records) == ["aws-prod", "local-dev"]
    assert repo.path.is_dir()


def test_pull_that_brings_nothing_counts_commits_in_a_repository(repo: Repo):
    run("push", repo.path, "--as", ROOT)
    assert run("pull", repo.path, "--as", ROOT).stdout.startswith("0 new commits\n")
    repo.agent(FileWrite("a", b"1"))
    run("pull", repo.path, "--as", ROOT)
    assert "0 new commits on toolgate/app\n" in run("pull", repo.path, "--as", ROOT).stdout


def test_pull_takes_another_branch_when_the_usual_one_is_the_users(repo: Repo):
    run("push", repo.path, "--as", ROOT)
    repo.agent(FileWrite("a", b"1"))
    repo.git("branch", "toolgate/app")
    with pytest.raises(PullRefusedError, match="--branch"):
        run("pull", repo.path, "--as", ROOT)
    result = run("pull", repo.path, "--as", ROOT, "--branch", "agents/work")
    assert "1 new commit on agents/work" in result.stdout
    assert repo.git("show", "agents/work:a") == "1"


def test_names_that_a_terminal_would_obey_are_shown_as_escapes(repo: Repo):
    repo.push(by="ada\x1b[2J")
    repo.agent(FileWrite("a\x1b[31m\u202e\n.txt", b"1"))
    printed = run("log", ROOT).stdout
    assert "    a\\x1b[31m\\u202e\\n.txt\n" in printed
    assert "by ada\\x1b[2J\n" in printed
    assert "\x1b" not in printed


def test_push_without_a_terminal_prints_no_empty_line(repo: Repo):
    assert run("push", repo.path, "--as", ROOT).stderr == ""


REFUSED = ("/", "app", "/a b", "/workspace/\u00e9", "/" + "x" * 256, "/a\n", "/a/../b", "/.git", "")


@pytest.mark.parametrize("name", REFUSED)
def test_name_that_tools_refuse_is_refused_before_any_store_is_asked(repo: Repo, name: str):
    repo.stores.dynamodb.calls.clear()
    for words in (("push", repo.path, "--as", name), ("pull", repo.path, "--as", name)):
        with pytest.raises(CommandError, match="name"):
            run(*words)
    with pytest.raises(CommandError, match="name"):
        run("log", name)
    assert repo.stores.dynamodb.calls == []


@pytest.mark.parametrize("name", ["/x", "/workspace/my.app_1-b", "/" + "x" * 255])
def test_name_that_tools_take_is_taken(name: str):
    assert workspace_commands.checked(name) == name


def test_undo_takes_a_number_and_rm_asks_for_the_name(repo: Repo):
    repo.push()
    repo.agent(FileWrite("README.md", b"# Wrong\n"))
    assert "1 path put back\nrevision 3-" in run("undo", ROOT, 2).stdout
    assert workspace(repo.stores).snapshot().read("README.md").data == b"# App\n"
    typed = CliRunner().invoke(workspace_commands.app, ["rm", ROOT], input="/workspace/other\n")
    assert isinstance(typed.exception, CommandError)
    assert workspace(repo.stores).snapshot().head.seq == 3
    typed = CliRunner().invoke(workspace_commands.app, ["rm", ROOT], input=f"{ROOT}\n")
    assert f"{ROOT} deleted: 5 rows" in typed.stdout
    repo.push(discard_pulled=True)
    assert f"{ROOT} deleted" in run("rm", ROOT, "--yes").stdout
