"""What agents changed gets into git as `git add` would store it, whatever git converts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from functions._runtime.workspace import FileWrite
from tests.functions.workspace.cloud import ROOT, workspace
from tests.toolgate.repositories import NOW, Repo, made_repo
from toolgate.workspace import GitError, log, undo

if TYPE_CHECKING:
    from pathlib import Path

    from functions._runtime.workspace import Stores

LINES = [f"line {number}" for number in range(40)]


@pytest.fixture
def repo(stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    return made_repo(stores, tmp_path, monkeypatch)


def crlf(lines: list[str]) -> bytes:
    return "".join(f"{line}\r\n" for line in lines).encode()


def shout(repo: Repo, command: str = "tr a-z A-Z", smudge: str = "tr A-Z a-z") -> None:
    """`*.bin` is upper case in git and lower case on disk."""
    repo.git("config", "filter.shout.clean", command)
    repo.git("config", "filter.shout.smudge", smudge)
    repo.write(".gitattributes", b"*.bin filter=shout\n")
    repo.write("b.bin", b"hello\n")


def test_checkout_of_pulled_lines_that_end_in_crlf_is_clean(repo: Repo):
    repo.write(".gitattributes", b"*.txt text eol=crlf\n")
    repo.write("t.txt", crlf(LINES))
    repo.commit()
    repo.push()
    for number in (3, 5):
        repo.agent(FileWrite("t.txt", crlf([*LINES[:number], "agent's", *LINES[number + 1 :]])))
        tip = repo.pull(checkout=True).tip
        assert repo.git("status", "--porcelain") == ""
        assert repo.git("diff", "--shortstat", f"{tip}^", f"{tip}").startswith("1 file changed")
    assert repo.git("diff", "--numstat", "main", "HEAD") == "1\t1\tt.txt"


@pytest.mark.parametrize("way", ["attributes", "configuration", "info"])
def test_merge_joins_what_agent_and_user_changed_in_converted_lines(repo: Repo, way: str):
    if way == "attributes":
        repo.write(".gitattributes", b"* text=auto eol=crlf\n")
    elif way == "info":
        repo.write(".git/info/attributes", b"*.txt text eol=crlf\n")
    else:
        repo.git("config", "core.autocrlf", "true")
    repo.write("a.txt", crlf(LINES))
    repo.commit()
    repo.push()
    repo.agent(FileWrite("a.txt", crlf([LINES[0], "agent's", *LINES[2:]])))
    repo.write("a.txt", crlf([*LINES[:35], "mine", *LINES[36:]]))
    repo.commit("Mine")
    repo.pull()
    repo.git("merge", "-q", "-m", "Merge", "toolgate/app")
    merged = [LINES[0], "agent's", *LINES[2:35], "mine", *LINES[36:]]
    assert (repo.path / "a.txt").read_bytes() == crlf(merged)
    assert repo.git("show", "HEAD:a.txt").split("\n") == merged


def test_clean_filter_is_run_for_what_an_agent_moved_or_wrote(repo: Repo):
    shout(repo)
    repo.commit()
    repo.push()
    repo.agent(FileWrite("b.bin", None), FileWrite("moved.bin", b"hello\n"))
    repo.agent(FileWrite("moved.bin", b"world\n"), FileWrite("plain", b"hello\n"))
    tip = repo.pull().tip
    assert repo.git("rev-parse", f"{tip}^:moved.bin") == repo.git("rev-parse", "main:b.bin")
    assert repo.git("show", f"{tip}:moved.bin") == "WORLD"
    assert repo.git("show", f"{tip}:plain") == "hello"


def test_filter_that_lies_in_the_repository_is_found_from_any_directory_of_it(repo: Repo):
    repo.write("tools/shout", b"#!/bin/sh\ntr a-z A-Z\n").chmod(0o755)
    shout(repo, "tools/shout")
    repo.write("src/c.bin", b"one\n")
    repo.commit()
    repo.push(repo.path / "src")
    repo.agent(FileWrite("c.bin", b"two\n"))
    tip = repo.pull(repo.path / "src").tip
    assert repo.git("show", f"{tip}:src/c.bin") == "TWO"


def test_attributes_that_an_agent_wrote_hold_from_then_on(repo: Repo):
    repo.push()
    repo.agent(FileWrite("a.txt", b"1\r\n"))
    repo.agent(FileWrite(".gitattributes", b"*.txt text\n"), FileWrite("b.txt", b"1\r\n"))
    repo.agent(FileWrite("c.txt", b"1\r\n"))
    repo.agent(FileWrite(".gitattributes", None), FileWrite("d.txt", b"1\r\n"))
    tip = repo.pull().tip
    sizes = {name: repo.git("cat-file", "-s", f"{tip}:{name}.txt") for name in "abcd"}
    assert sizes == {"a": "3", "b": "2", "c": "2", "d": "3"}


def test_file_whose_bytes_an_agent_left_keeps_its_blob(repo: Repo):
    repo.write("a.txt", b"1\r\n")
    repo.commit("Before there were attributes")
    repo.write(".gitattributes", b"*.txt text\n")
    repo.git("add", ".gitattributes")
    repo.git("commit", "-q", "-m", "Attributes")
    repo.push()
    repo.agent(FileWrite("a.txt", b"1\r\n", executable=True))
    repo.agent(FileWrite("a.txt", b"2\r\n", executable=True))
    undo(repo.stores, ROOT, log(repo.stores, ROOT)[0].revision, by="ada", now_ms=NOW)
    tip = repo.pull().tip
    ids = [repo.git("rev-parse", f"{at}:a.txt") for at in ("main", f"{tip}~2", f"{tip}^", tip)]
    assert ids[0] == ids[1] == ids[3]
    assert repo.git("cat-file", "-s", ids[2]) == "2"


def test_uncommitted_files_are_converted_in_the_commit_that_a_push_makes(repo: Repo):
    shout(repo)
    repo.commit()
    repo.write("b.bin", b"mine\n")
    repo.write("new.bin", b"new\n")
    repo.push()
    assert workspace(repo.stores).snapshot().read("b.bin").data == b"mine\n"
    repo.agent(FileWrite("a", b"1"))
    tip = repo.pull().tip
    repo.git("add", "-A")
    assert repo.git("diff", "--cached", "--name-only", f"{tip}^") == ""
    assert repo.git("show", f"{tip}:new.bin") == "NEW"


@pytest.mark.parametrize("required", ["true", "false"])
def test_filter_that_fails_refuses_pull_and_push_and_moves_nothing(repo: Repo, required: str):
    shout(repo)
    repo.commit()
    revision = repo.push().revision
    repo.agent(FileWrite("b.bin", b"agent's\n"))
    repo.git("config", "filter.shout.clean", "no-such-program")
    repo.git("config", "filter.shout.required", required)
    with pytest.raises(GitError, match=r"b\.bin: clean filter 'shout' failed; .*install or repair"):
        repo.pull()
    assert repo.git("for-each-ref", "refs/heads/toolgate") == ""
    undo(repo.stores, ROOT, log(repo.stores, ROOT)[0].revision, by="ada", now_ms=NOW)
    assert log(repo.stores, ROOT)[0].tree in revision
    repo.git("config", "filter.shout.clean", "tr a-z A-Z")
    assert repo.pull().commits == 2


def test_pull_without_git_lfs_is_refused_but_pointers_pass(repo: Repo):
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    repo.write(".gitattributes", b"*.bin filter=lfs -text\n")
    repo.write("b.bin", pointer)
    repo.commit()
    repo.push()
    repo.agent(FileWrite("b.bin", None), FileWrite("c.bin", pointer))
    assert repo.pull().commits == 1
    repo.agent(FileWrite("c.bin", b"whole"))
    with pytest.raises(GitError, match="git lfs install"):
        repo.pull()
