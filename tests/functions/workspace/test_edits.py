from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.errors import ConflictError, ForbiddenPathError, NotFoundError
from functions._runtime.workspace.edits import FileWrite, change_tree
from functions._runtime.workspace.globs import Glob
from functions._runtime.workspace.names import encode
from functions._runtime.workspace.objects import (
    DIRECTORY,
    EMPTY_TREE,
    EXECUTABLE,
    FILE,
    SUBMODULE,
    SYMLINK,
    Tree,
    TreeEntry,
    decode_tree,
    encode_tree,
    frame,
    object_id,
    open_object,
)
from functions._runtime.workspace.walk import differences, lookup, walk

EVERYTHING = Glob.of("**")


class Memory:
    """Objects in a dict, with a note of every tree that was read."""

    def __init__(self) -> None:
        self.objects = {EMPTY_TREE: frame("tree", b"")}
        self.read: list[str] = []

    def tree(self, oid: str) -> Tree:
        self.read.append(oid)
        return decode_tree(open_object(oid, "tree", self.objects[oid]))

    def change(self, root: str, *writes: FileWrite) -> str:
        change = change_tree(self.tree, root, writes)
        self.objects |= change.blobs | change.trees
        return change.root

    def add_tree(self, tree: Tree) -> str:
        framed = frame("tree", encode_tree(tree))
        self.objects[object_id(framed)] = framed
        return object_id(framed)

    def files(self, root: str) -> dict[str, tuple[str, bytes]]:
        return {
            path.decode(): (entry.mode, open_object(entry.oid, "blob", self.objects[entry.oid]))
            for path, entry in walk(self.tree, root, EVERYTHING)
        }


def write(path: str, text: str = "x", executable: bool | None = None) -> FileWrite:
    return FileWrite(path, text.encode(), executable)


def delete(path: str) -> FileWrite:
    return FileWrite(path, None)


@pytest.fixture
def memory() -> Memory:
    return Memory()


@pytest.fixture
def root(memory: Memory) -> str:
    """A tree with a file, a directory, a link and a submodule."""
    made = memory.change(
        EMPTY_TREE, write("a.txt"), write("src/b.py"), write("run", "#!", executable=True)
    )
    blob = object_id(frame("blob", b"../outside"))
    memory.objects[blob] = frame("blob", b"../outside")
    odd = {b"link": TreeEntry(SYMLINK, blob), b"sub": TreeEntry(SUBMODULE, "ab" * 32)}
    return memory.add_tree(memory.tree(made) | odd)


NAMES = st.sampled_from(["a", "b", "c", "a.b"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
DATA = st.one_of(st.none(), st.sampled_from([b"", b"1", b"2\n"]))
WRITES = st.lists(
    st.builds(FileWrite, PATHS, DATA, st.sampled_from([None, True, False])),
    max_size=5,
    unique_by=lambda w: w.path,
)


def on_a_dict(files: dict[str, tuple[str, bytes]], writes: list[FileWrite]) -> Any:
    """What `writes` make of `files`, or None if they cannot be done."""
    after = dict(files)
    for w in writes:
        if w.data is None and after.pop(w.path, None) is None:
            return None
    for w in writes:
        if w.data is not None:
            mode = files.get(w.path, (FILE, b""))[0]
            # A file that is deleted and written at once cannot be: paths are unique.
            if w.executable is not None:
                mode = EXECUTABLE if w.executable else FILE
            after[w.path] = (mode, w.data)
    paths = set(after)
    if any(other.startswith(path + "/") for path in paths for other in paths):
        return None
    return after


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(st.lists(WRITES, max_size=6))
def test_edits_do_to_a_tree_what_they_do_to_a_dict(edits: list[list[FileWrite]]):
    memory, root, files = Memory(), EMPTY_TREE, {}
    for writes in edits:
        expected = on_a_dict(files, writes)
        if expected is None:
            with pytest.raises((ConflictError, NotFoundError)):
                memory.change(root, *writes)
            continue
        before, root = root, memory.change(root, *writes)
        changed = {d.path.decode() for d in differences(memory.tree, before, root)}
        assert changed == {p for p in files | expected if files.get(p) != expected.get(p)}
        files = expected
        assert memory.files(root) == files
        assert list(memory.files(root)) == sorted(files)
    rebuilt = memory.change(
        EMPTY_TREE, *[FileWrite(p, d, m == EXECUTABLE) for p, (m, d) in files.items()]
    )
    assert rebuilt == root


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(st.sets(PATHS, max_size=12), PATHS)
def test_walk_resumes_after_any_path(paths: set[str], after: str):
    paths = {p for p in paths if not any(o.startswith(p + "/") for o in paths)}
    memory = Memory()
    root = memory.change(EMPTY_TREE, *[write(p) for p in paths])
    rest = [p.decode() for p, _ in walk(memory.tree, root, EVERYTHING, after.encode())]
    assert rest == sorted(p for p in paths if p > after)


def test_resumed_walk_reads_nothing_before_its_start(memory: Memory):
    root = memory.change(EMPTY_TREE, *[write(f"d{n}/f") for n in range(9)])
    memory.read.clear()
    assert [p for p, _ in walk(memory.tree, root, EVERYTHING, b"d7/f")] == [b"d8/f"]
    assert len(memory.read) == 3  # the root, d7 in which it stopped, d8


def test_walk_reads_only_directories_that_can_hold_a_match(memory: Memory):
    root = memory.change(EMPTY_TREE, write("src/a.py"), write("src/in/b.py"), write("doc/c.py"))
    memory.read.clear()
    assert [p for p, _ in walk(memory.tree, root, Glob.of("src/*.py"))] == [b"src/a.py"]
    assert len(memory.read) == 2


def test_edit_reads_and_makes_only_the_trees_on_its_path(memory: Memory):
    writes = [write(f"a/b/c{n}/d{m}", f"{n} {m}") for n in range(50) for m in range(40)]
    root = memory.change(EMPTY_TREE, *writes)
    memory.read.clear()
    change = change_tree(memory.tree, root, [write("a/b/c7/d7", "new")])
    assert len(memory.read) == 4
    assert len(change.trees) == 4
    assert len(change.blobs) == 1


def test_edit_that_changes_nothing_makes_nothing(memory: Memory, root: str):
    change = change_tree(memory.tree, root, [write("src/b.py")])
    assert (change.root, change.blobs, change.trees) == (root, {}, {})


def test_last_deletion_takes_the_directory_along(memory: Memory):
    root = memory.change(EMPTY_TREE, write("a/b/c"), write("d"))
    assert memory.change(root, delete("a/b/c")) == memory.change(EMPTY_TREE, write("d"))
    assert memory.change(root, delete("a/b/c"), delete("d")) == EMPTY_TREE


def test_path_of_the_greatest_depth_is_written(memory: Memory):
    path = "/".join("d" * 512)
    root = memory.change(EMPTY_TREE, write(path))
    assert lookup(memory.tree, root, path.encode()).entry is not None


def test_executable_bit_is_kept_set_and_cleared(memory: Memory, root: str):
    kept = memory.change(root, write("run", "#!new"))
    assert memory.tree(kept)[b"run"].mode == EXECUTABLE
    cleared = memory.change(kept, write("run", "#!new", executable=False))
    assert memory.tree(cleared)[b"run"].mode == FILE
    assert memory.tree(memory.change(root, write("new")))[b"new"].mode == FILE


@pytest.mark.parametrize("bad", [write("link"), delete("link"), write("link/x"), delete("link/x")])
def test_symlink_is_never_written_or_passed(memory: Memory, root: str, bad: FileWrite):
    with pytest.raises(ForbiddenPathError) as caught:
        memory.change(root, write("fine"), bad)
    assert caught.value.details == {"path": "link", "reason": "SYMLINK"}


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (write("a.txt/b"), "NOT_A_DIRECTORY"),
        (write("a.txt/b/c"), "NOT_A_DIRECTORY"),
        (write("src"), "IS_A_DIRECTORY"),
        (delete("src"), "IS_A_DIRECTORY"),
        (write("sub"), "SUBMODULE"),
        (delete("sub"), "SUBMODULE"),
        (write("sub/x"), "SUBMODULE"),
        (write("A.TXT"), "PATH_CASE_COLLISION"),
        (write("Src/new.py"), "PATH_CASE_COLLISION"),
        (write("src/B.py"), "PATH_CASE_COLLISION"),
        (write("LINK"), "PATH_CASE_COLLISION"),
    ],
)
def test_write_that_does_not_fit_the_tree_is_a_conflict(
    memory: Memory, root: str, bad: FileWrite, code: str
):
    with pytest.raises(ConflictError) as caught:
        memory.change(root, bad)
    assert caught.value.details["code"] == code


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("new.md", "NEW.md"),
        ("straße", "STRASSE"),
        ("caf\u00e9", "cafe\u0301"),
        ("n/a", "N/b"),
    ],
)
def test_two_writes_that_are_twins_are_refused(memory: Memory, root: str, one: str, two: str):
    with pytest.raises(ConflictError) as caught:
        memory.change(root, write(one), write(two))
    assert caught.value.details["code"] == "PATH_CASE_COLLISION"


def test_twins_that_were_pushed_can_still_be_edited(memory: Memory, root: str):
    twin = memory.add_tree(memory.tree(root) | {b"A.TXT": memory.tree(root)[b"a.txt"]})
    edited = memory.change(twin, write("A.TXT", "edited"))
    assert memory.tree(edited)[b"A.TXT"] != memory.tree(edited)[b"a.txt"]


def test_rename_that_only_changes_case_is_allowed(memory: Memory, root: str):
    renamed = memory.change(root, delete("a.txt"), write("A.txt"))
    assert {b"A.txt"} == {name for name in memory.tree(renamed) if name.lower() == b"a.txt"}


def test_file_and_directory_change_places_in_one_edit(memory: Memory):
    root = memory.change(EMPTY_TREE, write("a"), write("d/x"))
    swapped = memory.change(root, delete("a"), write("a/b"), delete("d/x"), write("d"))
    assert set(memory.files(swapped)) == {"a/b", "d"}


def test_one_path_written_twice_is_refused(memory: Memory, root: str):
    with pytest.raises(ConflictError) as caught:
        memory.change(root, write("n", "1"), write("n", "2"))
    assert caught.value.details["code"] == "SAME_PATH_TWICE"


def test_deleting_what_is_not_there_is_not_found(memory: Memory, root: str):
    for path in ("gone", "src/gone", "gone/gone"):
        with pytest.raises(NotFoundError):
            memory.change(root, delete(path))


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("gone", "missing"),
        ("gone/x", "missing"),
        ("a.txt/x", "not_a_directory"),
        ("sub/x", "not_a_directory"),
        ("link/x", "symlink_parent"),
        ("link/x/y", "symlink_parent"),
    ],
)
def test_lookup_says_why_nothing_is_there(memory: Memory, root: str, path: str, why: str):
    assert lookup(memory.tree, root, encode(path)) == (None, why)


def test_differences_see_a_file_become_a_directory(memory: Memory):
    one = memory.change(EMPTY_TREE, write("a"), write("same/x"))
    two = memory.change(one, delete("a"), write("a/b"))
    found = differences(memory.tree, one, two)
    assert [(d.path, d.old is None, d.new is None) for d in found] == [
        (b"a", False, True),
        (b"a/b", True, False),
    ]
    assert [d.path for d in differences(memory.tree, None, one)] == [b"a", b"same/x"]
    assert DIRECTORY not in {d.new.mode for d in differences(memory.tree, None, two) if d.new}


def test_write_of_an_object_that_is_there_stores_no_blob():
    memory = Memory()
    before = memory.change(EMPTY_TREE, FileWrite("big.bin", b"\0big", executable=True))
    entry = lookup(memory.tree, before, b"big.bin").entry
    assert entry
    moved = [FileWrite("big.bin", None), FileWrite("x/new.bin", None, True, oid=entry.oid)]
    change = change_tree(memory.tree, before, moved)
    assert not change.blobs
    memory.objects |= change.trees
    assert memory.files(change.root) == {"x/new.bin": (EXECUTABLE, b"\0big")}
