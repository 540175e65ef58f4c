"""Work trees of one repository know what the others pushed and pulled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from functions._runtime.workspace import FileWrite
from tests.functions.workspace.cloud import workspace
from tests.toolgate.repositories import Repo, made_repo
from toolgate.workspace import GitError, PushRefusedError
from toolgate.workspace.git import fast_import

if TYPE_CHECKING:
    from pathlib import Path

    from functions._runtime.workspace import Stores


@pytest.fixture
def repo(stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    return made_repo(stores, tmp_path, monkeypatch)


@pytest.fixture
def tree(repo: Repo, tmp_path: Path) -> Path:
    """A second work tree, on a branch of its own."""
    made = tmp_path / "tree"
    repo.git("worktree", "add", "-q", "-b", "side", str(made))
    return made


def test_what_one_work_tree_pulled_the_other_knows(repo: Repo, tree: Path):
    repo.push()
    repo.agent(FileWrite("a", b"1"))
    tip = repo.pull(tree).tip
    assert (repo.pull().commits, repo.pull().tip) == (0, tip)
    repo.agent(FileWrite("a", b"2"))
    assert repo.pull().commits == 1
    assert repo.git("rev-parse", "toolgate/app^") == tip
    with pytest.raises(PushRefusedError, match="were pulled are not merged"):
        repo.push(tree)


def test_what_one_work_tree_pushed_is_not_undone_by_the_other_unseen(repo: Repo, tree: Path):
    repo.push()
    (tree / "side").write_bytes(b"1")
    assert repo.push(tree).changed
    repo.write("main", b"1")
    with pytest.raises(PushRefusedError, match=r"another work tree pushed .* merge [0-9a-f]{12} "):
        repo.push()
    assert repo.push(discard_pulled=True).changed
    assert workspace(repo.stores).snapshot().read("side").kind == "missing"


def test_commit_that_one_work_tree_needs_outlives_the_others_pushes(repo: Repo, tree: Path):
    repo.write("dirty", b"1")
    repo.push()
    repo.agent(FileWrite("a", b"1"))
    repo.pull(tree)
    repo.push(tree, discard_pulled=True)
    repo.agent(FileWrite("b", b"1"))
    repo.git("gc", "-q", "--prune=now")
    assert repo.pull().commits == 1


def test_pull_whose_base_was_pruned_names_the_way_out(repo: Repo):
    repo.write("dirty", b"1")
    repo.push()
    (pushed,) = repo.git("for-each-ref", "--format=%(refname)", "refs/toolgate").splitlines()
    repo.git("update-ref", "-d", pushed)
    repo.git("gc", "-q", "--prune=now")
    repo.agent(FileWrite("a", b"1"))
    with pytest.raises(GitError, match=r"is gone; .* remove .*\.git/toolgate/.*\.json"):
        repo.pull()
    (record,) = (repo.path / ".git" / "toolgate").iterdir()
    record.unlink()
    assert repo.pull().commits == 2


def test_failure_of_git_tells_what_was_fatal_and_not_what_came_after(repo: Repo):
    start = b"commit refs/heads/x\ncommitter a <a@b> 0 +0000\ndata 0\n"
    with pytest.raises(GitError, match="fatal: ") as told:
        fast_import(repo.path, [start, b"from %s\n" % (b"1" * 40)])
    assert "crash report" not in str(told.value)
