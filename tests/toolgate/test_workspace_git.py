"""Pushing a repository and pulling agents' work back as commits."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contracts.errors import NotFoundError, UnavailableError
from functions._runtime.workspace import Edit, FileWrite
from functions._runtime.workspace.names import decode
from tests.functions.workspace.cloud import (
    ROOT,
    Done,
    TableEffect,
    workspace,
)
from toolgate.workspace import (
    GitError,
    PullRefusedError,
    PullResult,
    PushRefusedError,
    PushResult,
    log,
    pull,
    push,
)

if TYPE_CHECKING:
    from functions._runtime.workspace import Stores

NOW = 1_700_000_000_000
IDENTITY = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.invalid",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.invalid",
    "GIT_CONFIG_NOSYSTEM": "1",
}


@dataclass
class Repo:
    """A repository, its workspace, and an agent that patches it."""

    path: Path
    stores: Stores
    state: Path

    def git(self, *arguments: str) -> str:
        env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **IDENTITY}
        run = subprocess.run(
            ["git", *arguments], cwd=self.path, env=env, capture_output=True, check=True
        )
        return run.stdout.decode("utf-8", "surrogateescape").strip()

    def write(self, name: str, data: bytes) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def commit(self, message: str = "Commit") -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def push(self, directory: Path | None = None, **more: Any) -> PushResult:
        arguments: dict[str, Any] = {"by": "ada", "now_ms": NOW}
        return push(self.stores, directory or self.path, ROOT, **(arguments | more))

    def pull(self, directory: Path | None = None, **more: Any) -> PullResult:
        return pull(self.stores, directory or self.path, ROOT, **more)

    def agent(self, *writes: FileWrite, message: str = "Agent's change", at_ms: int = NOW) -> None:
        number = workspace(self.stores).snapshot().head.seq
        workspace(
            self.stores,
            effect=TableEffect(self.stores, f"apply_patch@1#{number}"),
            by="bedrock",
            now_ms=lambda: at_ms,
        ).change(lambda _: Edit(writes, Done(), message))

    def status(self) -> str:
        return self.git("status", "--porcelain") + self.git("rev-parse", "HEAD", "HEAD:")


@pytest.fixture
def repo(stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.setenv("HOME", str(tmp_path))
    made = Repo(tmp_path / "repo", stores, tmp_path / "state")
    made.path.mkdir()
    made.git("init", "-q", "-b", "main")
    made.write("README.md", b"# App\n")
    made.write("src/app.py", b"print('hello')\n")
    made.write(".gitignore", b"*.log\nsecret/\n")
    made.write("run", b"#!/bin/sh\n").chmod(0o755)
    (made.path / "link").symlink_to("src/app.py")
    made.commit("Start")
    return made


def wipe(stores: Stores) -> None:
    for row in stores.dynamodb.scan(TableName="workspace")["Items"]:
        key = {"pk": row["pk"], "sk": row["sk"]}
        stores.dynamodb.delete_item(TableName="workspace", Key=key)


def paths(stores: Stores) -> list[bytes]:
    return [path for path, _ in workspace(stores).snapshot().walk()]


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


def test_pull_brings_each_change_as_a_commit_with_its_author_time_and_message(repo: Repo):
    base = repo.git("rev-parse", "HEAD")
    repo.push()
    repo.agent(FileWrite("src/app.py", b"one\n"), message="Say one", at_ms=NOW + 60_000)
    repo.agent(
        FileWrite("src/app.py", None),
        FileWrite("src/app/main.py", b"two\n", executable=True),
        message="Move it",
    )
    before = repo.status()
    result = repo.pull()

    assert (result.commits, result.branch) == (2, "toolgate/app")
    assert result.revision == workspace(repo.stores).snapshot().revision
    shown = repo.git("log", "--reverse", "--format=%an|%ae|%at|%ct|%s|%b", f"{base}..toolgate/app")
    one, two = [line for line in shown.splitlines() if "|" in line]
    assert one.startswith("bedrock|bedrock@toolgate.invalid|1700000060|1700000060|Say one|")
    assert two.startswith("bedrock|bedrock@toolgate.invalid|1700000000|1700000000|Move it|")
    assert f"Toolgate-Revision: {result.revision}" in shown
    assert "Toolgate-Operation: apply_patch@1#2" in shown
    assert repo.git("merge-base", base, "toolgate/app") == base
    listing = repo.git("ls-tree", "-r", "toolgate/app")
    assert "src/app.py" not in listing
    assert "100755" in next(line for line in listing.splitlines() if "src/app/main.py" in line)
    assert "120000" in listing
    assert repo.git("show", "toolgate/app:src/app/main.py") == "two"
    assert repo.status() == before
    repo.git("fsck", "--strict")


def test_second_pull_brings_only_what_is_new(repo: Repo):
    repo.push()
    repo.agent(FileWrite("a", b"1"))
    first = repo.pull()
    assert repo.pull() == PullResult(
        first.revision, commits=0, branch="toolgate/app", tip=first.tip
    )
    repo.agent(FileWrite("a", b"2"))
    repo.stores.s3.calls.clear()
    second = repo.pull()
    assert second.commits == 1
    assert repo.git("rev-parse", f"{second.tip}^") == first.tip


def test_commits_are_the_same_when_a_pull_is_repeated_after_a_crash(repo: Repo):
    repo.push()
    repo.agent(FileWrite("a", b"1"))
    (record,) = (repo.path / ".git" / "toolgate").iterdir()
    before = record.read_bytes()
    first = repo.pull()
    record.write_bytes(before)
    assert repo.pull().tip == first.tip


def test_pull_after_a_push_of_uncommitted_files_builds_on_a_commit_of_those(repo: Repo):
    head = repo.git("rev-parse", "HEAD")
    repo.write("README.md", b"uncommitted\n")
    repo.write("new.txt", b"new\n")
    (repo.path / "run").unlink()
    status = repo.status()
    repo.push(message="Work in progress")
    assert repo.status() == status
    repo.agent(FileWrite("src/app.py", b"agent's\n"), message="Agent's")
    repo.pull()
    subjects = repo.git("log", "--format=%s", "toolgate/app").splitlines()
    assert subjects == ["Agent's", "Work in progress", "Start"]
    assert repo.git("diff", "--name-status", head, "toolgate/app^").splitlines() == [
        "M\tREADME.md",
        "A\tnew.txt",
        "D\trun",
    ]
    assert repo.git("diff", "--name-only", "toolgate/app^", "toolgate/app") == "src/app.py"
    assert repo.status() == status


def test_repository_without_a_commit_can_be_pushed_and_pulled(repo: Repo, tmp_path: Path):
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    repo.git("init", "-q", str(fresh))
    (fresh / "a").write_bytes(b"1")
    repo.push(fresh)
    repo.agent(FileWrite("b", b"2"))
    tip = repo.pull(fresh).tip
    assert tip is not None
    made = Repo(fresh, repo.stores, repo.state)
    assert made.git("log", "--format=%s", tip).splitlines() == ["Agent's change", "Push"]
    assert made.git("ls-tree", "-r", "--name-only", tip).splitlines() == ["a", "b"]


def test_pull_into_a_repository_that_never_pushed_brings_the_whole_history(
    repo: Repo, tmp_path: Path
):
    repo.push(message="First")
    repo.agent(FileWrite("a", b"1"))
    other = Repo(tmp_path / "other", repo.stores, repo.state)
    other.path.mkdir()
    other.git("init", "-q", "-b", "main")
    result = other.pull(checkout=True)
    assert result.commits == 2
    assert other.git("log", "--format=%s").splitlines() == ["Agent's change", "First"]
    assert (other.path / "a").read_bytes() == b"1"
    assert (other.path / "run").stat().st_mode & 0o100
    assert (other.path / "link").readlink() == Path("src/app.py")


def test_checkout_shows_the_work_and_follows_later_pulls(repo: Repo):
    repo.push()
    repo.agent(FileWrite("a", b"1"))
    repo.pull(checkout=True)
    assert (repo.path / "a").read_bytes() == b"1"
    repo.agent(FileWrite("a", b"2"))
    with pytest.raises(PullRefusedError, match="checked out"):
        repo.pull()
    assert (repo.path / "a").read_bytes() == b"1"
    repo.pull(checkout=True)
    assert (repo.path / "a").read_bytes() == b"2"
    assert repo.git("status", "--porcelain") == ""
    repo.write("a", b"3")
    assert repo.push().changed


def test_checkout_never_overwrites_local_changes(repo: Repo):
    repo.push()
    repo.agent(FileWrite("README.md", b"agent's\n"))
    repo.write("README.md", b"mine\n")
    with pytest.raises(PullRefusedError, match="cannot be checked out"):
        repo.pull(checkout=True)
    assert (repo.path / "README.md").read_bytes() == b"mine\n"


def test_push_that_would_undo_pulled_work_is_refused_until_it_is_merged(repo: Repo):
    repo.push()
    repo.agent(FileWrite("src/app.py", b"agent's\n"))
    repo.pull()
    repo.write("README.md", b"mine\n")
    repo.commit("Mine")
    with pytest.raises(PushRefusedError, match="merge"):
        repo.push()
    repo.git("merge", "-q", "-m", "Merge", "toolgate/app")
    assert repo.push().changed
    snapshot = workspace(repo.stores).snapshot()
    assert snapshot.read("src/app.py").data == b"agent's\n"
    assert snapshot.read("README.md").data == b"mine\n"
    repo.agent(FileWrite("c", b"after the merge"))
    assert repo.git("rev-parse", f"{repo.pull().tip}^") == repo.git("rev-parse", "HEAD")


def test_pulled_work_can_be_discarded_on_purpose(repo: Repo):
    repo.push()
    repo.agent(FileWrite("src/app.py", b"agent's\n"))
    repo.pull()
    assert repo.push(discard_pulled=True).changed
    assert workspace(repo.stores).snapshot().read("src/app.py").data == b"print('hello')\n"
    repo.agent(FileWrite("b", b"next"))
    tip = repo.pull().tip
    assert repo.git("diff", "--name-only", "main", str(tip)) == "b"


def test_branch_with_commits_of_the_users_own_is_never_moved(repo: Repo):
    repo.push()
    repo.agent(FileWrite("a", b"1"))
    repo.git("branch", "toolgate/app")
    mine = repo.git("rev-parse", "toolgate/app")
    with pytest.raises(PullRefusedError, match="another branch"):
        repo.pull()
    assert repo.git("rev-parse", "toolgate/app") == mine
    assert repo.pull(branch="agents/work").branch == "agents/work"
    repo.agent(FileWrite("a", b"2"))
    with pytest.raises(GitError):
        repo.pull(branch="-x..y")


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


def test_recreated_workspace_is_pulled_from_its_beginning(repo: Repo):
    repo.push()
    repo.agent(FileWrite("a", b"1"))
    repo.pull()
    wipe(repo.stores)
    repo.write("README.md", b"another beginning\n")
    assert repo.push(discard_pulled=True).created
    repo.agent(FileWrite("b", b"2"))
    assert repo.pull().commits == 1

    wipe(repo.stores)
    push(repo.stores, repo.path / "src", ROOT, by="eve", now_ms=NOW)
    result = repo.pull(branch="again")
    assert result.commits == 1
    assert repo.git("log", "--format=%an", "again") == "eve"


def test_damaged_record_says_so(repo: Repo):
    from toolgate.workspace import WorkspaceError

    repo.push()
    (record,) = (repo.path / ".git" / "toolgate").iterdir()
    record.write_text("{")
    with pytest.raises(WorkspaceError, match="damaged"):
        repo.push()
