"""Taking one revision back, and deleting a workspace whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.errors import InvalidArgumentsError, NotFoundError, UnavailableError
from functions._runtime.workspace import FileWrite
from functions._runtime.workspace.globs import Glob
from functions._runtime.workspace.objects import (
    EMPTY_TREE,
    FILE,
    TreeEntry,
    decode_tree,
    frame,
    open_object,
)
from functions._runtime.workspace.walk import differences, walk
from tests.functions.workspace.cloud import ROOT, Recorder, found, workspace
from tests.toolgate.test_workspace_history import change
from toolgate.workspace import UndoRefusedError, import_tree, log, remove, undo
from toolgate.workspace.undoing import replaced

if TYPE_CHECKING:
    from pathlib import Path

    from functions._runtime.workspace import Stores

NOW = 1_700_000_000_000


def files(stores: Stores) -> dict[str, bytes]:
    snapshot = workspace(stores).snapshot()
    return {path.decode(): snapshot.read(path.decode()).data for path, _ in snapshot.walk()}


def undone(stores: Stores, revision: str) -> Any:
    return undo(stores, ROOT, revision, by="ada", now_ms=NOW)


def test_the_last_change_is_taken_back_by_a_new_commit(stores: Stores):
    found(stores)
    first = change(stores, FileWrite("a", b"1"), FileWrite("d/b", b"1"))
    second = change(stores, FileWrite("a", b"2"), FileWrite("d/b", None), FileWrite("n/c", b"3"))
    result = undone(stores, second)
    assert files(stores) == {"a": b"1", "d/b": b"1"}
    assert (sorted(result.paths), result.revision) == (
        ["a", "d/b", "n/c"],
        workspace(stores).snapshot().revision,
    )
    assert result.revision.split("-")[1] == first.split("-")[1]
    newest = log(stores, ROOT)[0]
    assert (newest.tool, newest.by, newest.message) == ("undo", "ada", "Undo 3: Change")


def test_an_older_change_is_taken_back_and_later_ones_of_other_files_stay(stores: Stores):
    found(stores)
    change(stores, FileWrite("a", b"1"), FileWrite("b", b"1"))
    wrong = change(stores, FileWrite("a", b"wrong"))
    change(stores, FileWrite("b", b"2"))
    undone(stores, wrong)
    assert files(stores) == {"a": b"1", "b": b"2"}


def test_an_undo_can_be_undone(stores: Stores):
    found(stores)
    change(stores, FileWrite("a", b"1"))
    second = change(stores, FileWrite("a", b"2"))
    undone(stores, undone(stores, second).revision)
    assert files(stores) == {"a": b"2"}


def test_a_file_that_was_changed_since_is_not_lost(stores: Stores):
    found(stores)
    wrong = change(stores, *[FileWrite(f"f{n}", b"1") for n in range(7)])
    change(stores, *[FileWrite(f"f{n}", b"2") for n in range(7)])
    before = workspace(stores).snapshot().revision
    with pytest.raises(UndoRefusedError, match=r"changed again since 2-.*: f0, .* and 2 more"):
        undone(stores, wrong)
    assert workspace(stores).snapshot().revision == before


def test_a_file_that_came_where_a_directory_was_is_not_lost(stores: Stores):
    found(stores)
    change(stores, FileWrite("a/b", b"1"), FileWrite("c/d/e", b"1"))
    gone = change(stores, FileWrite("a/b", None), FileWrite("c/d/e", None))
    change(stores, FileWrite("a", b"precious"), FileWrite("c/d", b"precious, too"))
    with pytest.raises(UndoRefusedError, match=r"changed again since 3-.*: a/b, c/d/e"):
        undone(stores, gone)
    assert files(stores) == {"a": b"precious", "c/d": b"precious, too"}


@pytest.mark.parametrize(
    ("was", "came"), [("a.txt", "A.txt"), ("Dir/x", "dir/y"), ("cafe\u0301", "caf\u00e9")]
)
def test_a_name_that_some_file_system_takes_for_another_does_not_come_back(stores, was, came):
    found(stores)
    change(stores, FileWrite(was, b"1"))
    gone = change(stores, FileWrite(was, None))
    change(stores, FileWrite(came, b"2"))
    with pytest.raises(UndoRefusedError, match="in case or unicode form only"):
        undone(stores, gone)
    assert files(stores) == {came: b"2"}


def test_a_move_to_another_case_can_be_undone(stores: Stores):
    found(stores)
    change(stores, FileWrite("a.txt", b"1"))
    moved = change(stores, FileWrite("a.txt", None), FileWrite("A.txt", b"1"))
    undone(stores, moved)
    assert files(stores) == {"a.txt": b"1"}


def test_a_directorys_move_to_another_case_can_be_undone(stores: Stores):
    found(stores)
    change(stores, FileWrite("foo/x", b"1"), FileWrite("foo/deep/y", b"1"))
    writes = [FileWrite(name, None) for name in ("foo/x", "foo/deep/y")]
    writes += [FileWrite(name, b"1") for name in ("Foo/x", "Foo/deep/y")]
    moved = change(stores, *writes)
    undone(stores, moved)
    assert files(stores) == {"foo/x": b"1", "foo/deep/y": b"1"}


def test_a_directorys_move_is_not_undone_beside_what_came_later(stores: Stores):
    found(stores)
    change(stores, FileWrite("foo/x", b"1"))
    moved = change(stores, FileWrite("foo/x", None), FileWrite("Foo/x", b"1"))
    change(stores, FileWrite("Foo/later", b"1"))
    with pytest.raises(UndoRefusedError, match="only from Foo"):
        undone(stores, moved)


def test_the_same_revision_is_not_taken_back_twice(stores: Stores):
    found(stores)
    change(stores, FileWrite("a", b"1"))
    second = change(stores, FileWrite("a", b"2"))
    undone(stores, second)
    with pytest.raises(UndoRefusedError, match="changed again since"):
        undone(stores, second)


def test_links_and_bits_and_what_became_a_directory_come_back(stores: Stores, tmp_path: Path):
    one, two = tmp_path / "one", tmp_path / "two"
    for top in (one, two):
        top.mkdir()
    (one / "link").symlink_to("run")
    (one / "run").write_bytes(b"#!/bin/sh\n")
    (one / "run").chmod(0o755)
    (one / "x").write_bytes(b"file\n")
    (two / "x").mkdir()
    (two / "x" / "y").write_bytes(b"inside\n")
    first = import_tree(stores, one, ROOT, by="ada", now_ms=NOW).revision
    second = import_tree(stores, two, ROOT, by="ada", now_ms=NOW).revision
    assert undone(stores, second).revision.split("-")[1] == first.split("-")[1]


def test_what_cannot_be_undone_says_why(stores: Stores):
    found(stores)
    first = workspace(stores).snapshot().revision
    with pytest.raises(UndoRefusedError, match="nothing before it"):
        undone(stores, first)
    with pytest.raises(NotFoundError):
        undone(stores, "7-" + "0" * 64)
    with pytest.raises(InvalidArgumentsError):
        undone(stores, "HEAD")


def test_a_workspace_that_moves_meanwhile_is_left_alone(stores: Stores):
    found(stores)
    change(stores, FileWrite("a", b"1"))
    second = change(stores, FileWrite("a", b"2"))
    racing = Recorder(stores.dynamodb)
    racing.before["transact_write_items"] = lambda **_: change(stores, FileWrite("b", b"rival"))
    from dataclasses import replace

    with pytest.raises(UndoRefusedError, match="meanwhile"):
        undone(replace(stores, dynamodb=racing), second)
    assert files(stores) == {"a": b"2", "b": b"rival"}


PATHS = st.sampled_from([b"a", b"b", b"d/a", b"d/b", b"d/e/f", b"x/y", b"x"])


def _valid(paths: dict[bytes, str]) -> bool:
    return not (b"x" in paths and b"x/y" in paths)


TREES = st.dictionaries(PATHS, st.sampled_from("0123"), max_size=6).filter(_valid)


@given(TREES, TREES)
@settings(max_examples=120, derandomize=True, deadline=None)
def test_replacing_what_differs_between_two_trees_gives_the_other(one, two):
    objects = {EMPTY_TREE: frame("tree", b"")}

    def read(oid: str):
        return decode_tree(open_object(oid, "tree", objects[oid]))

    def made(wanted: dict[bytes, str]) -> str:
        entries = {path: TreeEntry(FILE, content * 64) for path, content in wanted.items()}
        root, new = replaced(read, EMPTY_TREE, entries)
        objects.update(new)
        return root

    before, after = made(one), made(two)
    assert {p: e.oid[0] for p, e in walk(read, after, Glob.of("**"))} == two
    changes = {change.path: change.new for change in differences(read, before, after)}
    assert replaced(read, before, changes)[0] == after


def test_a_removed_workspace_is_gone_with_all_that_it_held(stores: Stores):
    found(stores)
    found(stores, tenant="other")
    found(stores, repo_root="/workspace/kept")
    for number in range(30):
        change(stores, FileWrite("a", b"%d" % number))
    result = remove(stores, ROOT)
    assert result.rows == 33
    assert result.objects == 61
    with pytest.raises(NotFoundError):
        workspace(stores).snapshot()
    with pytest.raises(NotFoundError):
        remove(stores, ROOT)
    assert workspace(stores, tenant="other").snapshot()
    assert workspace(stores, repo_root="/workspace/kept").snapshot()


def test_a_removal_that_was_stopped_is_finished_by_another(stores: Stores):
    from dataclasses import replace

    found(stores)
    change(stores, FileWrite("a", b"1"))
    failing = Recorder(stores.s3)

    def fail(**_: Any) -> None:
        raise UnavailableError("stopped")

    failing.before["delete_objects"] = fail
    with pytest.raises(UnavailableError):
        remove(replace(stores, s3=failing), ROOT)
    with pytest.raises(NotFoundError):
        workspace(stores).snapshot()
    assert remove(stores, ROOT).objects == 3


def test_a_push_during_a_removal_leaves_no_workspace_without_its_objects(stores: Stores, tmp_path):
    from dataclasses import replace

    found(stores)
    change(stores, FileWrite("a", b"1"))
    (tmp_path / "a").write_bytes(b"1")
    pushing = Recorder(stores.s3)
    pushed = []

    def push(**_: Any) -> None:
        if not pushed:
            pushed.append(import_tree(stores, tmp_path, ROOT, by="ada", now_ms=NOW))

    pushing.before["delete_objects"] = push
    remove(replace(stores, s3=pushing), ROOT)
    assert pushed[0].created
    with pytest.raises(NotFoundError):
        workspace(stores).snapshot()
