"""A repository's submodules stay what they are, whatever agents write in their place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from functions._runtime.workspace import FileWrite
from tests.functions.workspace.cloud import ROOT
from tests.toolgate.repositories import NOW, Repo, made_repo
from toolgate.workspace import PullRefusedError, log, undo

if TYPE_CHECKING:
    from pathlib import Path

    from functions._runtime.workspace import Stores


@pytest.fixture
def repo(stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A repository with a submodule at libs/sub, pushed."""
    made = made_repo(stores, tmp_path, monkeypatch)
    other = Repo(tmp_path / "other", stores, made.state)
    other.path.mkdir()
    other.git("init", "-q")
    other.write("x", b"x")
    other.commit()
    made.git(
        *("-c", "protocol.file.allow=always", "submodule", "add", "-q"),
        *(str(other.path), "libs/sub"),
    )
    made.commit("Add a submodule")
    assert made.push().left_out == ("libs/sub",)
    return made


@pytest.mark.parametrize("path", ["libs/sub/x", "libs/sub/deep/er", "libs/sub", "libs"])
def test_pull_of_what_an_agent_wrote_in_a_submodules_place_is_refused_until_it_is_taken_back(
    repo: Repo, path: str
):
    repo.agent(FileWrite(path, b"agent's"), FileWrite("a", b"1"))
    with pytest.raises(PullRefusedError, match=rf"holds {path}, .* submodule libs/sub"):
        repo.pull()
    assert repo.git("for-each-ref", "refs/heads/toolgate/app") == ""
    undo(repo.stores, ROOT, log(repo.stores, ROOT)[0].revision, by="ada", now_ms=NOW)
    repo.agent(FileWrite("a", b"2"))
    assert repo.pull().commits == 3
    assert repo.git("diff", "--name-only", "main", "toolgate/app") == "a"
    for commit in repo.git("rev-list", "main..toolgate/app").splitlines():
        assert repo.git("ls-tree", commit, "libs/sub").startswith("160000 commit")


def test_pull_of_what_lies_beside_a_submodule_is_brought(repo: Repo):
    repo.agent(FileWrite("libs/sub2", b"1"), FileWrite("libs/other/sub", b"2"))
    repo.pull()
    names = repo.git("diff", "--name-only", "main", "toolgate/app").splitlines()
    assert names == ["libs/other/sub", "libs/sub2"]
