"""A workspace's tree is git's own: `git write-tree` of a SHA-256 repository is the oracle."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchmarks.stores import Memory
from functions._runtime.workspace.objects import EXECUTABLE, FILE, SYMLINK, TreeEntry
from tests.functions.workspace.cloud import ROOT
from toolgate.workspace import Remote, export_tree, import_tree
from toolgate.workspace.disk import build_trees, scan

# Short names of few letters collide, nest and sort against each other; the rest is any bytes.
NAMES = [b"a", b"A", b"a.", b"a-", b"a0", b"b", b"ab", b"caf\xe9", b" ", b"\xff"]
NAME = st.sampled_from(NAMES) | (
    st.binary(min_size=1, max_size=6).filter(lambda name: not set(name) & {0, ord("/")})
)
PATH = st.lists(NAME, min_size=1, max_size=4).map(b"/".join)
ENTRY = st.builds(
    TreeEntry,
    st.sampled_from([FILE, EXECUTABLE, SYMLINK]),
    st.binary(min_size=32, max_size=32).map(bytes.hex),
)


def git(directory: Path, *arguments: str, stdin: bytes = b"", index: str = "index") -> bytes:
    env = {"PATH": os.environ["PATH"], "HOME": str(directory), "GIT_INDEX_FILE": index}
    done = subprocess.run(
        ["git", *arguments], cwd=directory, env=env, input=stdin, capture_output=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    top = tmp_path_factory.mktemp("sha256")
    git(top, "init", "-q", "--object-format=sha256")
    return top


def _without_clashes(files: dict[bytes, TreeEntry]) -> dict[bytes, TreeEntry]:
    """No path of a file is a directory of another."""
    above = {path[:at] for path in files for at in range(len(path)) if path[at : at + 1] == b"/"}
    return {path: entry for path, entry in files.items() if path not in above}


@given(files=st.dictionaries(PATH, ENTRY, max_size=12).map(_without_clashes))
@settings(max_examples=80, derandomize=True, deadline=None)
def test_any_tree_that_git_accepts_has_the_id_that_git_gives_it(repository, files):
    (repository / "index").unlink(missing_ok=True)
    listing = b"".join(
        b"%s %s\t%s\0" % (entry.mode.encode(), entry.oid.encode(), path)
        for path, entry in files.items()
    )
    try:
        git(repository, "update-index", "-z", "--index-info", stdin=listing)
    except subprocess.CalledProcessError:
        assume(False)
    accepted = git(repository, "ls-files", "-z").split(b"\0")
    assume(len([path for path in accepted if path]) == len(files))
    root, _ = build_trees(files)
    assert root == git(repository, "write-tree", "--missing-ok").decode()


CONTENT = st.binary(max_size=40) | st.sampled_from([b"", b"\0", b"a\r\nb", b"\xff\xfe", b"x\n"])
KIND = st.sampled_from(["file", "executable", "link"])
DISK_NAME = st.sampled_from([b"a", b"b", b"c d", b"caf\xe9", b"Z"])
DISK_PATH = st.lists(DISK_NAME, min_size=1, max_size=3).map(b"/".join)


@given(files=st.dictionaries(DISK_PATH, st.tuples(CONTENT, KIND), max_size=8).map(_without_clashes))
@settings(max_examples=15, derandomize=True, deadline=None)
def test_a_directory_comes_back_byte_for_byte_and_is_the_tree_that_git_writes(
    repository, tmp_path_factory, files
):
    stores = Memory().stores()
    one, two = (tmp_path_factory.mktemp("tree") for _ in range(2))
    for path, (data, kind) in files.items():
        full = one / os.fsdecode(path)
        full.parent.mkdir(parents=True, exist_ok=True)
        if kind == "link":
            full.symlink_to(os.fsdecode(data.replace(b"\0", b"0") or b"nowhere"))
            continue
        full.write_bytes(data)
        full.chmod(0o755 if kind == "executable" else 0o644)
    name = f"{ROOT}/{one.name}"
    import_tree(stores, one, name, by="ada", now_ms=0)
    remote = Remote(stores, "default", name)
    export_tree(remote.snapshot(remote.head()), two)
    index = str(one.parent / f"{one.name}.index")
    work = ("--git-dir", str(repository / ".git"), "-c", "core.autocrlf=false", "--work-tree")
    git(repository, *work, str(two), "add", "-A", str(two), index=index)
    assert (
        git(repository, *work, str(two), "write-tree", index=index).decode() == remote.head().tree
    )
    assert scan(two).root == scan(one).root == remote.head().tree
