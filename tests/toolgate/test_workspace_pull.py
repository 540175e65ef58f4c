"""Pulling agents' work into a repository: as commits, and never over local files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from contracts.errors import InternalError, UnavailableError
from functions._runtime.workspace import FileWrite
from tests.functions.workspace.cloud import ROOT, workspace
from tests.toolgate.repositories import NOW, Repo, made_repo
from toolgate.workspace import (
    PullRefusedError,
    PullResult,
    PushRefusedError,
    Remote,
    log,
    push,
)

if TYPE_CHECKING:
    from functions._runtime.workspace import Stores


@pytest.fixture
def repo(stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    return made_repo(stores, tmp_path, monkeypatch)


def wipe(stores: Stores) -> None:
    for row in stores.dynamodb.scan(TableName="workspace")["Items"]:
        key = {"pk": row["pk"], "sk": row["sk"]}
        stores.dynamodb.delete_item(TableName="workspace", Key=key)


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


def test_pull_with_nothing_new_asks_for_no_reversed_range(repo: Repo):
    repo.push()
    repo.agent(FileWrite("a", b"1"))
    repo.pull()
    repo.stores.dynamodb.calls.clear()
    assert repo.pull().commits == 0
    # DynamoDB itself refuses such a range; the stand-in of these tests answers it.
    queries = [a for called, a in repo.stores.dynamodb.calls if called == "query"]
    ranges = [a["ExpressionAttributeValues"] for a in queries]
    assert all(r[":first"]["S"] <= r[":last"]["S"] for r in ranges)
    remote = Remote(repo.stores, "default", ROOT)
    assert [row.seq for row in remote.rows(2, 2)] == [2]
    repo.stores.dynamodb.calls.clear()
    assert list(remote.rows(3, 2)) == []
    assert repo.stores.dynamodb.calls == []


def test_request_that_dynamodb_refuses_is_our_fault_and_not_a_busy_store(repo: Repo):
    repo.push()

    def refuse(code: str) -> None:
        def fail(**_: Any) -> None:
            raise ClientError({"Error": {"Code": code, "Message": "no"}}, "Query")

        repo.stores.dynamodb.before["query"] = fail

    refuse("ValidationException")
    with pytest.raises(InternalError):
        log(repo.stores, ROOT)
    refuse("ThrottlingException")
    with pytest.raises(UnavailableError):
        log(repo.stores, ROOT)


LOCAL = {"ignored": "debug.log", "untracked": "new.txt", "dirty": "README.md"}


@pytest.mark.parametrize("name", LOCAL.values(), ids=LOCAL.keys())
def test_checkout_of_pulled_work_keeps_local_files_and_names_them(repo: Repo, name: str):
    repo.push()
    repo.agent(FileWrite(name, b"agent's\n"))
    repo.write(name, b"mine\n")
    before = repo.status()
    with pytest.raises(PullRefusedError, match=re.escape(name)):
        repo.pull(checkout=True)
    assert (repo.path / name).read_bytes() == b"mine\n"
    assert repo.status() == before
    repo.agent(FileWrite("later", b"2"))
    with pytest.raises(PullRefusedError, match=re.escape(name)):
        repo.pull(checkout=True)
    (repo.path / name).rename(repo.path / "moved.log")
    repo.git("checkout", "-q", "--", ".")
    repo.pull(checkout=True)
    assert (repo.path / name).read_bytes() == b"agent's\n"
    assert (repo.path / "later").read_bytes() == b"2"


@pytest.mark.parametrize("name", LOCAL.values(), ids=LOCAL.keys())
def test_pull_of_the_branch_on_show_keeps_local_files_and_names_them(repo: Repo, name: str):
    repo.push()
    repo.agent(FileWrite("first", b"1"))
    repo.pull(checkout=True)
    repo.agent(FileWrite(name, b"agent's\n"))
    repo.write(name, b"mine\n")
    before = repo.status()
    for _ in range(2):
        with pytest.raises(PullRefusedError, match=re.escape(name)):
            repo.pull(checkout=True)
        assert (repo.path / name).read_bytes() == b"mine\n"
        assert repo.status() == before
    (repo.path / name).rename(repo.path / "moved.log")
    repo.git("checkout", "-q", "--", ".")
    repo.pull(checkout=True)
    assert (repo.path / name).read_bytes() == b"agent's\n"


def test_ignored_directory_is_kept_where_an_agent_made_a_file(repo: Repo):
    repo.push()
    repo.agent(FileWrite("secret", b"agent's\n"))
    repo.write("secret/key", b"mine")
    with pytest.raises(PullRefusedError, match="secret"):
        repo.pull(checkout=True)
    assert (repo.path / "secret" / "key").read_bytes() == b"mine"
