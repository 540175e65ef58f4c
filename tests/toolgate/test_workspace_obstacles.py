"""A pull into a plain directory that is refused has changed nothing there."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from functions._runtime.workspace import FileWrite
from tests.functions.workspace.cloud import ROOT
from tests.toolgate.repositories import NOW, Repo, made_repo
from toolgate.workspace import PullRefusedError, pull, push
from toolgate.workspace.obstacles import obstacles

if TYPE_CHECKING:
    from collections.abc import Callable

    from functions._runtime.workspace import Stores


def _empty_directory_below(plain: Path) -> None:
    (plain / "p" / "deep" / "empty").mkdir(parents=True)


def _git_directory_below(plain: Path) -> None:
    (plain / "p" / ".git").mkdir(parents=True)


def _pipe(plain: Path) -> None:
    os.mkfifo(plain / "p")


def _pipe_below(plain: Path) -> None:
    (plain / "p").mkdir()
    os.mkfifo(plain / "p" / "pipe")


@pytest.fixture
def repo(stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    return made_repo(stores, tmp_path, monkeypatch)


def look(top: Path) -> dict[str, int]:
    return {str(p.relative_to(top)): stat.S_IFMT(p.lstat().st_mode) for p in top.rglob("*")}


@pytest.mark.parametrize("written", ["p", "p/x"])
@pytest.mark.parametrize(
    "obstruct", [_empty_directory_below, _git_directory_below, _pipe, _pipe_below]
)
def test_obstacle_is_named_and_nothing_is_changed(
    repo: Repo, tmp_path: Path, obstruct: Callable[[Path], None], written: str
):
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "gone").write_bytes(b"1")
    push(repo.stores, plain, ROOT, by="ada", now_ms=NOW, state_directory=repo.state)
    obstruct(plain)
    repo.agent(FileWrite("a", b"1"), FileWrite(written, b"1"), FileWrite("gone", None))
    before = look(plain)
    if written == "p/x" and before["p"] == stat.S_IFDIR:
        assert pull(repo.stores, plain, ROOT, state_directory=repo.state).changed == 3
        assert before.keys() - look(plain).keys() == {"gone"}
        return
    with pytest.raises(PullRefusedError, match=r"lost: p; move"):
        pull(repo.stores, plain, ROOT, state_directory=repo.state)
    assert look(plain) == before


def test_name_that_the_file_system_does_not_take_is_found_before(repo: Repo, tmp_path: Path):
    repo.push()
    long = "n" * 256
    repo.agent(FileWrite("a", b"1"), FileWrite(f"d/{long}", b"1"))
    with pytest.raises(PullRefusedError, match=long):
        pull(repo.stores, tmp_path / "plain", ROOT)
    assert look(tmp_path / "plain") == {}


def test_directory_that_goes_with_its_files_makes_room(tmp_path: Path):
    (tmp_path / "p" / "q").mkdir(parents=True)
    (tmp_path / "p" / "q" / "a").write_bytes(b"1")
    (tmp_path / "empty").mkdir()
    assert obstacles(tmp_path, [b"p/q/a"], [b"p", b"empty"]) == []
    (tmp_path / "p" / "was empty").mkdir()
    assert obstacles(tmp_path, [b"p/q/a"], [b"p"]) == [b"p"]
    assert obstacles(tmp_path, [b"p/q/a"], [b"p/was empty"]) == []


def test_directory_that_may_not_be_changed_is_an_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "locked").mkdir()
    locked = os.fsencode(tmp_path / "locked")
    monkeypatch.setattr(os, "access", lambda path, _mode: path != locked)
    assert obstacles(tmp_path, [b"locked/a"], []) == [b"locked"]
    assert obstacles(tmp_path, [], [b"locked/new/b", b"free/c"]) == [b"locked"]
