"""A repository that git cannot read is refused: never taken for a plain directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from contracts.errors import NotFoundError
from tests.functions.workspace.cloud import workspace
from tests.toolgate.repositories import Repo, made_repo
from toolgate.workspace import GitError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from functions._runtime.workspace import Stores


@pytest.fixture
def repo(stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    return made_repo(stores, tmp_path, monkeypatch)


def _emptied_head(repo: Repo) -> Path:
    (repo.path / ".git" / "HEAD").write_bytes(b"")
    return repo.path


def _missing_refs(repo: Repo) -> Path:
    (repo.path / ".git" / "refs").rename(repo.path / ".git" / "moved")
    return repo.path / "src"


def _moved_repository(repo: Repo) -> Path:
    tree = repo.path.parent / "tree"
    repo.git("worktree", "add", "-q", str(tree))
    repo.path.rename(repo.path.parent / "elsewhere")
    return tree


def _pointer_to_nowhere(repo: Repo) -> Path:
    (repo.path / ".git").rename(repo.path.parent / "moved")
    (repo.path / ".git").write_text("gitdir: ../gone\n")
    return repo.path


def _link_to_nowhere(repo: Repo) -> Path:
    (repo.path / ".git").rename(repo.path.parent / "moved")
    (repo.path / ".git").symlink_to("../gone")
    return repo.path


def _within_another(repo: Repo) -> Path:
    """Git passes over the broken one and finds the one around it."""
    inner = repo.path / "inner"
    repo.git("clone", "-q", str(repo.path), str(inner))
    (inner / ".git" / "HEAD").write_bytes(b"")
    return inner


def _within_an_ignored_directory(repo: Repo) -> Path:
    inner = repo.path / "secret" / "inner"
    repo.git("clone", "-q", str(repo.path), str(inner))
    (inner / ".git" / "HEAD").write_bytes(b"")
    return inner


@pytest.mark.parametrize(
    "break_it",
    [
        _emptied_head,
        _missing_refs,
        _moved_repository,
        _pointer_to_nowhere,
        _link_to_nowhere,
        _within_another,
        _within_an_ignored_directory,
    ],
)
def test_broken_repository_is_no_plain_directory_whose_ignored_files_would_be_pushed(
    repo: Repo, break_it: Callable[[Repo], Path]
):
    directory = break_it(repo)
    (directory / "secret.log").write_bytes(b"SECRET=1")
    with pytest.raises(GitError, match=r"\.git leads to no repository"):
        repo.push(directory)
    with pytest.raises(NotFoundError):
        workspace(repo.stores).snapshot()
