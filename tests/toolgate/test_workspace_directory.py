"""Pushing plain directories, and writing revisions into them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from functions._runtime.workspace import Edit, FileWrite
from functions._runtime.workspace.heads import Commit, WorkspaceName, commit_items, meta_item
from functions._runtime.workspace.names import decode
from functions._runtime.workspace.objects import (
    FILE,
    SYMLINK,
    TreeEntry,
    frame,
    object_id,
)
from tests.functions.workspace.cloud import ROOT, Done, TableEffect, workspace
from toolgate.workspace import (
    DirectoryError,
    PullRefusedError,
    PushRefusedError,
    Remote,
    WorkspaceError,
    export_tree,
    import_tree,
    pull,
    push,
)
from toolgate.workspace.disk import build_trees, read_framed, scan
from toolgate.workspace.writing import DirectoryWriter

if TYPE_CHECKING:
    from functions._runtime.workspace import Stores
    from functions._runtime.workspace.snapshot import Snapshot

NOW = 1_700_000_000_000


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A plain directory with every kind of file that a tree holds."""
    top = tmp_path / "place"
    (top / "deep" / "er").mkdir(parents=True)
    (top / "a.txt").write_bytes(b"a\r\nno newline")
    (top / "deep" / "er" / "b.bin").write_bytes(b"\x00\xff")
    (top / "run").write_bytes(b"#!/bin/sh\n")
    (top / "run").chmod(0o755)
    (top / decode(b"caf\xe9")).write_bytes(b"")
    (top / "inside").symlink_to("deep/er")
    return top


def look(top: Path) -> dict[str, Any]:
    """Everything below a directory, without following links."""
    seen: dict[str, Any] = {}
    for base, directories, files in os.walk(top):
        for name in files + directories:
            path = Path(base) / name
            key = str(path.relative_to(top))
            if path.is_symlink():
                seen[key] = ("link", str(path.readlink()))
            elif path.is_file():
                seen[key] = (bool(path.stat().st_mode & 0o100), path.read_bytes())
    return seen


def agent(stores: Stores, *writes: FileWrite) -> Snapshot:
    number = workspace(stores).snapshot().head.seq
    effect = TableEffect(stores, f"op{number}")
    workspace(stores, effect=effect).change(lambda _: Edit(writes, lambda _: Done(), "Agent's"))
    return workspace(stores).snapshot()


def plant(stores: Stores, files: dict[bytes, tuple[str, bytes]]) -> Snapshot:
    """A workspace as someone without our rules would write it."""
    remote = Remote(stores, "default", ROOT)
    blobs = [frame("blob", data) for _, data in files.values()]
    entries = {
        path: TreeEntry(mode, object_id(frame("blob", data)))
        for path, (mode, data) in files.items()
    }
    root, trees = build_trees(entries)
    remote.objects.write({object_id(framed): framed for framed in blobs} | trees)
    name = WorkspaceName("default", ROOT)
    commit = Commit(root, None, "push", "push", "eve", NOW, "Plant", [])
    assert remote.transact([meta_item(stores, name), *commit_items(stores, name, commit)])
    return remote.snapshot(remote.head())


def test_import_and_export_are_byte_exact(stores: Stores, place: Path, tmp_path: Path):
    (place / "outside").symlink_to("/etc/passwd")
    result = import_tree(stores, place, ROOT, by="ada", now_ms=NOW)
    copy = tmp_path / "copy"
    copy.mkdir()
    assert export_tree(workspace(stores).snapshot(), copy) == result.files == 6
    assert look(copy) == look(place)
    assert scan(copy).root == scan(place).root == workspace(stores).snapshot().tree


def test_export_replaces_only_what_differs(stores: Stores, place: Path):
    import_tree(stores, place, ROOT, by="ada", now_ms=NOW)
    (place / "empty").mkdir()
    (place / "a.txt").chmod(0o640)
    same = (place / "run").stat()
    snapshot = agent(
        stores,
        FileWrite("a.txt", b"new"),
        FileWrite("deep/er/b.bin", None),
        FileWrite("new/file", b"1", executable=True),
    )
    expected = look(place) | {"a.txt": (False, b"new"), "new/file": (True, b"1")}
    del expected["deep/er/b.bin"]
    assert export_tree(snapshot, place) == 3
    assert look(place) == expected
    assert (place / "run").stat() == same
    assert (place / "a.txt").stat().st_mode & 0o777 == 0o640
    assert not (place / "deep").exists()
    assert (place / "empty").is_dir()
    assert export_tree(snapshot, place) == 0


def test_export_removes_what_the_revision_lacks_and_never_touches_git(
    stores: Stores, place: Path, tmp_path: Path
):
    import_tree(stores, place, ROOT, by="ada", now_ms=NOW)
    copy = tmp_path / "copy"
    (copy / ".git").mkdir(parents=True)
    (copy / ".git" / "config").write_bytes(b"mine")
    (copy / "deep").write_bytes(b"a file where a directory belongs")
    (copy / "run" / "x").mkdir(parents=True)
    (copy / "run" / "x" / "y").write_bytes(b"a directory where a file belongs")
    export_tree(workspace(stores).snapshot(), copy)
    assert look(copy) == look(place) | {".git/config": (False, b"mine")}


def test_export_writes_beside_links_and_never_through_them(
    stores: Stores, place: Path, tmp_path: Path
):
    import_tree(stores, place, ROOT, by="ada", now_ms=NOW)
    outside = tmp_path / "outside"
    (outside / "er").mkdir(parents=True)
    (outside / "er" / "b.bin").write_bytes(b"not yours")
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "deep").symlink_to(outside)
    (copy / "a.txt").symlink_to(outside / "er" / "b.bin")
    export_tree(workspace(stores).snapshot(), copy)
    assert look(copy) == look(place)
    assert look(outside) == {"er/b.bin": (False, b"not yours")}


def test_writer_refuses_a_link_that_appears_in_its_way(tmp_path: Path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "d").symlink_to(tmp_path / "outside")
    with DirectoryWriter(tmp_path / "in") as writer:
        with pytest.raises(PullRefusedError):
            writer.put_file(b"d/f", b"1", executable=False)
        with pytest.raises(PullRefusedError):
            writer.remove(b"d/f")
    assert look(tmp_path / "outside") == {}


@pytest.mark.parametrize("path", [b".git/config", b"sub/.GIT/hooks/x", b".git "])
def test_tree_that_reaches_into_git_is_never_written(stores: Stores, tmp_path: Path, path: bytes):
    snapshot = plant(stores, {b"fine": (FILE, b"1"), path: (FILE, b"evil")})
    top = tmp_path / "top"
    with pytest.raises(PullRefusedError):
        pull(stores, top, ROOT)
    with pytest.raises(PullRefusedError):
        export_tree(snapshot, top)
    assert look(top) == {}


@pytest.mark.parametrize(
    ("path", "target", "allowed"),
    [
        (b"l", b"a/b", True),
        (b"d/l", b"../a", True),
        (b"d/e/l", b"../../a", True),
        (b"l", b".", True),
        (b"l", b"/etc", False),
        (b"l", b"..", False),
        (b"d/l", b"../../x", False),
        (b"l", b"a/../..", False),
        (b"d/l", b"x/../../..", False),
    ],
)
def test_pull_writes_a_link_only_if_it_stays_inside(
    stores: Stores, tmp_path: Path, path: bytes, target: bytes, allowed: bool
):
    plant(stores, {b"fine": (FILE, b"1"), path: (SYMLINK, target)})
    top = tmp_path / "top"
    if allowed:
        assert pull(stores, top, ROOT).changed == 2
        assert look(top)[path.decode()] == ("link", target.decode())
    else:
        with pytest.raises(PullRefusedError, match="link"):
            pull(stores, top, ROOT)
        assert look(top) == {}


def test_plain_directory_is_pushed_pulled_and_pushed_again(
    stores: Stores, place: Path, tmp_path: Path
):
    def push_it() -> Any:
        return push(stores, place, ROOT, by="ada", now_ms=NOW, state_directory=tmp_path / "state")

    def pull_it() -> Any:
        return pull(stores, place, ROOT, state_directory=tmp_path / "state")

    assert push_it().created
    agent(stores, FileWrite("a.txt", b"agent's"), FileWrite("deep/er/b.bin", None))
    (place / "mine").write_bytes(b"local only")
    with pytest.raises(PushRefusedError):
        push_it()
    assert pull_it().changed == 2
    assert (place / "a.txt").read_bytes() == b"agent's"
    assert not (place / "deep").exists()
    assert (place / "mine").read_bytes() == b"local only"
    assert pull_it().changed == 0
    assert push_it().changed
    assert workspace(stores).snapshot().read("mine").data == b"local only"


def test_pull_never_overwrites_a_local_change(stores: Stores, place: Path, tmp_path: Path):
    state = tmp_path / "state"
    push(stores, place, ROOT, by="ada", now_ms=NOW, state_directory=state)
    agent(
        stores,
        FileWrite("a.txt", b"agent's"),
        FileWrite("run", None),
        FileWrite("new", b"agent's"),
        FileWrite("dir/x", b"1"),
    )
    (place / "a.txt").write_bytes(b"mine")
    (place / "run").chmod(0o644)
    (place / "new").mkdir()
    (place / "new" / "mine").write_bytes(b"1")
    (place / "dir").write_bytes(b"mine")
    before = look(place)
    with pytest.raises(PullRefusedError, match=r"lost: a\.txt, dir, new, run;"):
        pull(stores, place, ROOT, state_directory=state)
    assert look(place) == before


def test_pull_into_a_new_directory_brings_everything(stores: Stores, place: Path, tmp_path: Path):
    import_tree(stores, place, ROOT, by="ada", now_ms=NOW)
    target = tmp_path / "some" / "where"
    result = pull(stores, target, ROOT)
    assert (result.changed, result.commits, result.branch) == (5, 0, None)
    assert look(target) == look(place)


def test_pull_into_a_directory_with_files_takes_only_equal_ones_for_its_own(
    stores: Stores, place: Path, tmp_path: Path
):
    import_tree(stores, place, ROOT, by="ada", now_ms=NOW)
    target = tmp_path / "target"
    target.mkdir()
    (target / "a.txt").write_bytes((place / "a.txt").read_bytes())
    (target / "other").write_bytes(b"mine")
    assert pull(stores, target, ROOT).changed == 4
    assert (target / "other").read_bytes() == b"mine"
    (target / "a.txt").write_bytes(b"different")
    with pytest.raises(PullRefusedError):
        pull(stores, target, ROOT)


def test_special_files_are_left_out(stores: Stores, place: Path):
    os.mkfifo(place / "pipe")
    result = import_tree(stores, place, ROOT, by="ada", now_ms=NOW)
    assert result.left_out == ("pipe",)
    assert result.files == 5


def test_what_is_no_directory_says_so(stores: Stores, place: Path):
    for missing in (place / "a.txt", place / "missing"):
        with pytest.raises(DirectoryError):
            import_tree(stores, missing, ROOT, by="ada", now_ms=NOW)


def test_file_over_the_limit_is_named(stores: Stores, place: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("toolgate.workspace.disk.FILE_MAX_BYTES", 5)
    with pytest.raises(DirectoryError, match=r"a\.txt"):
        import_tree(stores, place, ROOT, by="ada", now_ms=NOW)


def test_file_that_changes_during_a_push_is_noticed(place: Path):
    local = scan(place)
    (place / "a.txt").write_bytes(b"changed meanwhile")
    with pytest.raises(DirectoryError, match="changed"):
        read_framed(place, b"a.txt", local.files[b"a.txt"].entry)


def test_large_file_that_the_store_has_is_not_sent_again(stores: Stores, tmp_path: Path):
    top = tmp_path / "top"
    top.mkdir()
    (top / "big").write_bytes(b"x" * 300_000)
    import_tree(stores, top, ROOT, by="ada", now_ms=NOW)
    (top / "big").rename(top / "moved")
    (top / "sub").mkdir()
    (top / "moved").rename(top / "sub" / "moved")
    stores.s3.calls.clear()
    result = import_tree(stores, top, ROOT, by="ada", now_ms=NOW)
    sent = [len(a["Body"]) for called, a in stores.s3.calls if called == "put_object"]
    assert max(sent) < 1_000
    assert result.uploaded == 2


def test_empty_directory_is_a_workspace_too(stores: Stores, tmp_path: Path):
    top = tmp_path / "top"
    top.mkdir()
    assert import_tree(stores, top, ROOT, by="ada", now_ms=NOW).created
    agent(stores, FileWrite("first", b"1"))
    export_tree(workspace(stores).snapshot(), top)
    assert look(top) == {"first": (False, b"1")}


def test_path_over_the_limit_is_refused_with_the_limit(stores: Stores, place: Path):
    # Made step by step, because no path this long can be given to the system at once.
    inside = os.open(place, os.O_RDONLY)
    for name in ["d" * 199] * 19 + ["e" * 99]:
        os.mkdir(name, dir_fd=inside)
        below = os.open(name, os.O_RDONLY, dir_fd=inside)
        os.close(inside)
        inside = below
    os.close(os.open("f" * 197, os.O_CREAT | os.O_WRONLY, dir_fd=inside))
    os.close(inside)
    with pytest.raises(DirectoryError, match=r"ddd.* has 4097 bytes; a path may have 4096"):
        import_tree(stores, place, ROOT, by="ada", now_ms=NOW)


def test_directory_too_deep_for_the_system_says_so(stores: Stores, place: Path):
    inside = os.open(place, os.O_RDONLY)
    for name in ["d" * 199] * 20 + ["e" * 90]:
        os.mkdir(name, dir_fd=inside)
        below = os.open(name, os.O_RDONLY, dir_fd=inside)
        os.close(inside)
        inside = below
    os.close(inside)
    with pytest.raises(DirectoryError, match="cannot be read: File name too long"):
        import_tree(stores, place, ROOT, by="ada", now_ms=NOW)


@pytest.mark.parametrize("name", ["a.txt", "a.txt/below", "/dev/null/x", "/proc/none", "n" * 256])
def test_pull_into_what_can_be_no_directory_says_so(stores: Stores, place: Path, name: str):
    import_tree(stores, place, ROOT, by="ada", now_ms=NOW)
    with pytest.raises(DirectoryError, match="cannot be made: "):
        pull(stores, place / name, ROOT)
    assert (place / "a.txt").is_file()


@pytest.mark.parametrize("name", ["a.txt", "a.txt/below", "missing", "/dev/null/x", "n" * 256])
def test_push_of_what_is_no_directory_says_so(stores: Stores, place: Path, name: str):
    with pytest.raises(WorkspaceError, match=r"is not a directory|cannot be"):
        push(stores, place / name, ROOT, by="ada", now_ms=NOW)


def test_directory_that_may_not_be_opened_says_so(place: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: Any, **__: Any) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(DirectoryError, match="cannot be opened: Permission denied"):
        DirectoryWriter(place)
