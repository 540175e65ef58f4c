"""What a directory last had in common with its workspace is believed of that directory alone."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from functions._runtime.workspace import FileWrite
from tests.functions.workspace.cloud import ROOT, workspace
from tests.toolgate.repositories import NOW, Repo, made_repo
from toolgate.workspace import PushRefusedError, WorkspaceError, pull, push

if TYPE_CHECKING:
    from functions._runtime.workspace import Stores


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
