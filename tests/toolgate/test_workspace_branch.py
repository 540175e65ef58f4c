"""The branch that a pull goes to: made, kept or refused, whether anything is new or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from functions._runtime.workspace import FileWrite
from tests.functions.workspace.cloud import ROOT
from tests.toolgate.repositories import Repo, made_repo
from toolgate.workspace import PullRefusedError, pull

if TYPE_CHECKING:
    from pathlib import Path

    from functions._runtime.workspace import Stores


@pytest.fixture
def repo(stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    return made_repo(stores, tmp_path, monkeypatch)


def test_branch_that_was_deleted_comes_back(repo: Repo):
    repo.push()
    repo.agent(FileWrite("a", b"1"))
    tip = repo.pull().tip
    repo.git("branch", "-q", "-D", "toolgate/app")
    assert repo.pull().tip == tip == repo.git("rev-parse", "toolgate/app")
    repo.git("branch", "-q", "-D", "toolgate/app")
    repo.pull(checkout=True)
    assert repo.git("symbolic-ref", "HEAD") == "refs/heads/toolgate/app"


def test_another_branch_is_made_although_nothing_is_new(repo: Repo):
    repo.push()
    assert (repo.pull().branch, repo.pull().tip) == ("toolgate/app", None)
    repo.agent(FileWrite("a", b"1"))
    tip = repo.pull().tip
    result = repo.pull(branch="agents/work")
    assert (result.commits, result.branch, result.tip) == (0, "agents/work", tip)
    assert repo.git("rev-parse", "agents/work") == tip


def test_commits_on_top_of_what_was_pulled_stay(repo: Repo):
    repo.push()
    repo.agent(FileWrite("a", b"1"))
    repo.pull(checkout=True)
    repo.write("b", b"mine")
    mine = repo.commit("Mine")
    assert repo.pull().tip == mine


def test_branch_without_what_was_pulled_is_refused_and_stays(repo: Repo):
    repo.push()
    repo.agent(FileWrite("a", b"1"))
    tip = repo.pull().tip
    main = repo.git("rev-parse", "main")
    repo.git("branch", "mine")
    with pytest.raises(PullRefusedError, match=f"mine does not hold .* merge {str(tip)[:12]}"):
        repo.pull(branch="mine")
    assert repo.git("rev-parse", "mine") == main


@pytest.mark.parametrize("new", [True, False], ids=["new", "nothing new"])
@pytest.mark.parametrize("name", ["HEAD", "@", "-x", "bad..name", "a b", "", "@{-1}", "a.lock"])
def test_name_that_is_no_branch_is_refused_and_makes_nothing(repo: Repo, name: str, new: bool):
    repo.push()
    if new:
        repo.agent(FileWrite("a", b"1"))
    refs = repo.git("for-each-ref", "refs/heads")
    with pytest.raises(PullRefusedError, match="is no name for a branch"):
        repo.pull(branch=name)
    assert repo.git("for-each-ref", "refs/heads") == refs


def test_plain_directory_takes_no_branch(repo: Repo, tmp_path: Path):
    repo.push()
    for more in ({"branch": "x"}, {"checkout": True}):
        with pytest.raises(PullRefusedError, match="in no git repository"):
            pull(repo.stores, tmp_path / "plain", ROOT, **more)
