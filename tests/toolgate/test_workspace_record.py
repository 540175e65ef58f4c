"""What a directory last had in common with its workspace is believed of that directory alone."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contracts.errors import UnavailableError
from functions._runtime.workspace import FileWrite
from tests.functions.workspace.cloud import ROOT, workspace
from tests.toolgate.repositories import NOW, Repo, made_repo
from toolgate.workspace import (
    DirectoryError,
    GitError,
    PushRefusedError,
    Remote,
    WorkspaceError,
    pull,
    push,
)

if TYPE_CHECKING:
    from functions._runtime.workspace import Stores


OTHER = "/workspace/other"


@pytest.fixture
def repo(stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    return made_repo(stores, tmp_path, monkeypatch)


@pytest.fixture
def plain(repo: Repo, tmp_path: Path) -> Path:
    """A plain directory that was pushed."""
    made = tmp_path / "plain"
    made.mkdir()
    (made / "a").write_bytes(b"1")
    (made / "b").write_bytes(b"2")
    push_it(repo, made)
    return made


def push_it(repo: Repo, plain: Path) -> Any:
    return push(repo.stores, plain, ROOT, by="ada", now_ms=NOW, state_directory=repo.state)


def pull_it(repo: Repo, plain: Path) -> Any:
    return pull(repo.stores, plain, ROOT, state_directory=repo.state)


def test_pull_fills_a_directory_that_is_gone(repo: Repo, plain: Path):
    shutil.rmtree(plain)
    assert pull_it(repo, plain).changed == 2
    assert (plain / "a").read_bytes() == b"1"
    assert not push_it(repo, plain).changed


@pytest.mark.parametrize("files", [{}, {"a": b"1"}, {"other": b"mine"}], ids=" ".join)
def test_new_directory_under_an_old_name_is_filled_and_empties_no_workspace(
    repo: Repo, plain: Path, files: dict[str, bytes]
):
    shutil.rmtree(plain)
    plain.mkdir()
    for name, data in files.items():
        (plain / name).write_bytes(data)
    with pytest.raises(PushRefusedError, match="pull first"):
        push_it(repo, plain)
    assert workspace(repo.stores).snapshot().read("a").data == b"1"
    assert pull_it(repo, plain).changed == (1 if "a" in files else 2)
    assert {path.name for path in plain.iterdir()} == {"a", "b", *files}


def test_directory_that_was_moved_away_and_back_is_the_same(repo: Repo, plain: Path):
    plain.rename(plain.parent / "away")
    (plain.parent / "away").rename(plain)
    (plain / "a").unlink()
    repo.agent(FileWrite("c", b"agent's"))
    assert pull_it(repo, plain).changed == 1
    assert not (plain / "a").exists()
    assert push_it(repo, plain).changed


def test_record_that_cannot_be_written_says_so(repo: Repo, tmp_path: Path):
    (tmp_path / "plain").mkdir()
    repo.state.write_bytes(b"a file where a directory belongs")
    with pytest.raises(WorkspaceError, match="cannot be written"):
        push_it(repo, tmp_path / "plain")


def test_file_that_changes_during_a_push_moves_nothing_and_the_next_push_takes_it(repo: Repo):
    first = repo.push().revision
    repo.write("new", b"1")

    def rewrite(done: int, total: int) -> None:
        if done == total:
            repo.write("new", b"2")

    with pytest.raises(DirectoryError, match="new changed while it was pushed; push again"):
        repo.push(progress=rewrite)
    assert workspace(repo.stores).snapshot().revision == first
    assert repo.push().changed
    assert workspace(repo.stores).snapshot().read("new").data == b"2"
    assert repo.pull().commits == 0


def test_filter_that_fails_stops_a_push_before_the_workspace_moves(repo: Repo):
    first = repo.push().revision
    repo.write(".gitattributes", b"*.bin filter=gone\n")
    repo.write("a.bin", b"1")
    repo.git("config", "filter.gone.clean", "no-such-program")
    with pytest.raises(GitError, match="clean filter 'gone' failed"):
        repo.push()
    assert workspace(repo.stores).snapshot().revision == first


@pytest.mark.parametrize("kind", ["repository", "plain"])
def test_push_whose_answer_is_lost_is_known_to_have_been_done(
    repo: Repo, plain: Path, kind: str, monkeypatch: pytest.MonkeyPatch
):
    directory = plain if kind == "plain" else repo.path
    if kind == "repository":
        push(repo.stores, repo.path, OTHER, by="ada", now_ms=NOW, state_directory=repo.state)
    name = ROOT if kind == "plain" else OTHER
    arguments: dict[str, Any] = {"state_directory": repo.state}
    (directory / "new").write_bytes(b"1")
    real = Remote.transact

    def lose(remote: Remote, items: list[dict[str, Any]]) -> bool:
        assert real(remote, items)
        raise UnavailableError("the answer was lost")

    monkeypatch.setattr(Remote, "transact", lose)
    with pytest.raises(UnavailableError):
        push(repo.stores, directory, name, by="ada", now_ms=NOW, **arguments)
    monkeypatch.setattr(Remote, "transact", real)
    (directory / "new").write_bytes(b"2")
    assert push(repo.stores, directory, name, by="ada", now_ms=NOW, **arguments).changed
    result = pull(repo.stores, directory, name, **arguments)
    assert (result.commits, result.changed) == (0, 0)


def test_push_that_lost_a_race_is_not_taken_for_done(repo: Repo):
    repo.push()
    repo.write("README.md", b"mine\n")

    def agent_first(**_: Any) -> None:
        repo.stores.dynamodb.before.clear()
        repo.agent(FileWrite("src/app.py", b"agent's\n"))

    repo.stores.dynamodb.before["transact_write_items"] = agent_first
    for _ in range(2):
        with pytest.raises(PushRefusedError, match="pull first"):
            repo.push()
    assert repo.pull().commits == 1
