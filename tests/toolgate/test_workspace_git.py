"""Pushing a repository: what goes, what stays at home, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contracts.errors import NotFoundError, UnavailableError
from functions._runtime.workspace import FileWrite
from functions._runtime.workspace.names import decode
from tests.functions.workspace.cloud import ROOT, workspace
from tests.toolgate.repositories import NOW, Repo, made_repo, paths
from toolgate.workspace import (
    GitError,
    PushRefusedError,
    log,
)

if TYPE_CHECKING:
    from functions._runtime.workspace import Stores


@pytest.fixture
def repo(stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    return made_repo(stores, tmp_path, monkeypatch)


def test_first_push_creates_the_workspace(repo: Repo):
    with pytest.raises(NotFoundError):
        workspace(repo.stores).snapshot()
    result = repo.push(message="First push")
    snapshot = workspace(repo.stores).snapshot()
    assert (result.created, result.changed, result.revision) == (True, True, snapshot.revision)
    assert dict(snapshot.walk()) == {
        b".gitignore": "file",
        b"README.md": "file",
        b"link": "symlink",
        b"run": "executable",
        b"src/app.py": "file",
    }
    assert snapshot.read("link").data == b"src/app.py"
    (row,) = log(repo.stores, ROOT)
    assert (row.seq, row.parent, row.by, row.tool) == (1, None, "ada", "push")
    assert (row.message, row.at_ms, row.more) == ("First push", NOW, 0)
    assert row.paths == (".gitignore", "README.md", "link", "run", "src/app.py")


def test_pushed_tree_has_the_id_that_a_sha256_repository_gives_it(repo: Repo, tmp_path: Path):
    repo.push()
    repo.git("init", "-q", "--object-format=sha256", str(tmp_path / "other.git"))
    where = ("--git-dir", str(tmp_path / "other.git" / ".git"), "--work-tree", str(repo.path))
    repo.git(*where, "add", "-A")
    assert repo.git(*where, "write-tree") == workspace(repo.stores).snapshot().tree


def test_ignored_files_stay_at_home_and_new_ones_go(repo: Repo):
    repo.write("debug.log", b"x")
    repo.write("secret/key", b"x")
    repo.write("new.txt", b"untracked")
    (repo.path / "README.md").unlink()
    repo.push()
    assert paths(repo.stores) == [b".gitignore", b"link", b"new.txt", b"run", b"src/app.py"]


def test_names_that_are_not_utf_8_are_pushed_and_pulled(repo: Repo):
    name = decode(b'caf\xe9 "quoted"\n.txt')
    repo.write(name, b"latin")
    repo.push()
    assert b'caf\xe9 "quoted"\n.txt' in paths(repo.stores)
    repo.agent(FileWrite(name, b"changed"))
    tip = repo.pull().tip
    assert repo.git("show", f"{tip}:{name}") == "changed"


def test_second_push_sends_only_what_is_new(repo: Repo):
    for number in range(30):
        repo.write(f"lib/m{number}/f.py", b"%d" % number)
    first = repo.push()
    repo.write("lib/m7/f.py", b"changed")
    repo.stores.s3.calls.clear()
    seen: list[tuple[int, int]] = []
    second = repo.push(progress=lambda done, total: seen.append((done, total)))
    assert repo.stores.s3.count("put_object") == 4  # the file, m7, lib and the root
    assert (second.uploaded, second.created, second.changed) == (4, False, True)
    assert first.uploaded > 60
    assert second.uploaded + second.skipped == first.uploaded + first.skipped
    assert seen[-1] == (4, 4)
    assert log(repo.stores, ROOT)[0].paths == ("lib/m7/f.py",)


def test_push_of_the_same_files_writes_no_history(repo: Repo):
    first = repo.push()
    second = repo.push()
    assert (second.revision, second.changed, second.uploaded) == (first.revision, False, 0)
    assert len(log(repo.stores, ROOT)) == 1


def test_push_onto_a_moved_head_is_refused(repo: Repo):
    repo.push()
    repo.agent(FileWrite("README.md", b"agent's\n"))
    revision = workspace(repo.stores).snapshot().revision
    repo.write("README.md", b"mine\n")
    with pytest.raises(PushRefusedError, match="pull first"):
        repo.push()
    assert workspace(repo.stores).snapshot().revision == revision


def test_push_from_a_directory_that_never_saw_the_workspace_is_refused(repo: Repo, tmp_path: Path):
    repo.push()
    other = tmp_path / "other"
    repo.git("clone", "-q", str(repo.path), str(other))
    assert not repo.push(other).changed
    repo.agent(FileWrite("README.md", b"agent's\n"))
    with pytest.raises(PushRefusedError):
        repo.push(other)


def test_push_that_loses_the_race_for_the_head_is_refused(repo: Repo):
    repo.push()
    repo.write("README.md", b"mine\n")

    def agent_first(**_: Any) -> None:
        repo.stores.dynamodb.before.clear()
        repo.agent(FileWrite("src/app.py", b"agent's\n"))

    repo.stores.dynamodb.before["transact_write_items"] = agent_first
    with pytest.raises(PushRefusedError):
        repo.push()
    assert workspace(repo.stores).snapshot().read("README.md").data == b"# App\n"


def test_failing_store_leaves_the_head_and_the_record(repo: Repo):
    repo.push()
    repo.write("README.md", b"mine\n")

    def fail(**_: Any) -> None:
        raise UnavailableError("busy")

    repo.stores.s3.before["put_object"] = fail
    with pytest.raises(UnavailableError):
        repo.push()
    repo.stores.s3.before.clear()
    assert repo.push().changed


def test_directory_inside_a_repository_is_a_workspace_of_its_own(repo: Repo):
    inner = repo.path / "src"
    repo.push(inner)
    assert paths(repo.stores) == [b"app.py"]
    repo.agent(FileWrite("app.py", b"agent's\n"), FileWrite("b.py", b""))
    repo.pull(inner)
    assert repo.git("diff", "--name-only", "main", "toolgate/app").splitlines() == [
        "src/app.py",
        "src/b.py",
    ]


def test_ignored_directory_of_a_repository_is_pushed_as_a_plain_one(repo: Repo):
    repo.write("secret/demo/a.log", b"1")
    repo.push(repo.path / "secret" / "demo", state_directory=repo.state)
    assert paths(repo.stores) == [b"a.log"]


def test_submodules_and_other_repositories_are_left_out_and_kept(repo: Repo, tmp_path: Path):
    other = Repo(tmp_path / "other", repo.stores, repo.state)
    other.path.mkdir()
    other.git("init", "-q")
    other.write("x", b"x")
    other.commit()
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other.path), "sub")
    repo.commit("Add a submodule")
    repo.git("clone", "-q", str(other.path), str(repo.path / "nested"))
    result = repo.push()
    assert set(result.left_out) == {"sub", "nested/"}
    assert b"sub/x" not in paths(repo.stores)
    repo.agent(FileWrite("a", b"1"))
    repo.pull()
    assert repo.git("diff", "--name-only", "main", "toolgate/app") == "a"
    assert "160000" in repo.git("ls-tree", "toolgate/app")


def test_file_that_became_a_directory_is_not_said_to_be_left_out(repo: Repo):
    for name in ("run", "README.md"):
        (repo.path / name).unlink()
        (repo.path / name).mkdir()
    repo.write("run/inside", b"1")
    assert repo.push().left_out == ()
    assert paths(repo.stores) == [b".gitignore", b"link", b"run/inside", b"src/app.py"]


def test_file_behind_a_link_that_replaced_its_directory_is_not_pushed(repo: Repo, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "app.py").write_bytes(b"not yours")
    (repo.path / "src" / "app.py").unlink()
    (repo.path / "src").rmdir()
    (repo.path / "src").symlink_to(outside)
    repo.push()
    assert b"src/app.py" not in paths(repo.stores)
    assert workspace(repo.stores).snapshot().read("src").kind == "symlink"


def test_repository_that_git_will_not_read_is_never_pushed_as_a_plain_directory(repo: Repo):
    (repo.path / ".git" / "config").write_text("[core]\n\trepositoryformatversion = 99\n")
    with pytest.raises(GitError):
        repo.push()
    with pytest.raises(NotFoundError):
        workspace(repo.stores).snapshot()


def test_hooks_and_git_variables_of_the_shell_have_no_say(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "no-index"))
    hook = repo.write(".git/hooks/reference-transaction", b"#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    repo.push()
    repo.agent(FileWrite("a", b"1"))
    assert repo.pull().commits == 1


def test_damaged_record_says_so(repo: Repo):
    from toolgate.workspace import WorkspaceError

    repo.push()
    (record,) = (repo.path / ".git" / "toolgate").iterdir()
    record.write_text("{")
    with pytest.raises(WorkspaceError, match="damaged"):
        repo.push()


def test_push_of_a_sparse_checkout_is_refused_and_deletes_nothing(repo: Repo):
    first = repo.push()
    repo.git("sparse-checkout", "set", "--no-cone", "/README.md", "/.gitignore")
    assert not (repo.path / "src").exists()
    repo.write("README.md", b"mine\n")
    with pytest.raises(PushRefusedError, match=r"link and 2 more.*git sparse-checkout disable"):
        repo.push()
    assert workspace(repo.stores).snapshot().revision == first.revision
    repo.git("sparse-checkout", "disable")
    repo.push()
    assert log(repo.stores, ROOT)[0].paths == ("README.md",)


def test_file_that_git_skips_although_it_is_there_is_pushed(repo: Repo):
    repo.git("update-index", "--skip-worktree", "README.md")
    repo.write("README.md", b"mine\n")
    repo.push()
    assert workspace(repo.stores).snapshot().read("README.md").data == b"mine\n"
    repo.agent(FileWrite("README.md", b"mine\nagent's\n"))
    tip = repo.pull().tip
    assert repo.git("show", "--format=", tip, "--unified=0").splitlines()[-1] == "+agent's"


def test_line_ends_that_git_converted_make_no_commit(repo: Repo):
    repo.write(".gitattributes", b"*.txt text eol=crlf\n")
    repo.write("a.txt", b"one\r\ntwo\r\n")
    repo.write("b.txt", b"one\r\n")
    head = repo.commit("Windows")
    repo.push()
    assert workspace(repo.stores).snapshot().read("a.txt").data == b"one\r\ntwo\r\n"
    repo.agent(FileWrite("c", b"agent's\n"))
    assert repo.git("rev-parse", f"{repo.pull().tip}^") == head
    repo.git("merge", "-q", "toolgate/app")
    assert repo.git("status", "--porcelain") == ""

    repo.write("b.txt", b"mine\r\n")
    repo.push()
    repo.agent(FileWrite("c", b"again\n"))
    tip = repo.pull().tip
    assert repo.git("diff", "--name-only", "HEAD", f"{tip}^") == "b.txt"
