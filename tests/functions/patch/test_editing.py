"""What planning a request reads of a workspace, and what it suggests for a missing file."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from contracts.errors import ConflictError, InvalidArgumentsError, TooLargeError
from functions._runtime.workspace import Protection
from functions.apply_patch.editing import PATCHED_MAX_BYTES, file_writes, planned, refuse_unusable

ROOT = "/workspace/editing"


def request(*files: tuple[str, str, str]):
    entries = [SimpleNamespace(path=p, mode=m, content=c) for p, m, c in files]
    return SimpleNamespace(repo_root=ROOT, files=entries)


@pytest.fixture
def snapshot(workspaces):
    workspaces.create(
        ROOT,
        {
            "big.txt": b"x" * (PATCHED_MAX_BYTES + 1),
            "same.txt": b"same\n",
            "src/handler.py": b"a\n",
            "src/unlike.txt": b"a\n",
        },
    )
    return workspaces.snapshot(ROOT)


def test_a_file_too_large_to_patch_is_overwritten(snapshot):
    writes = planned(request(("big.txt", "replace_full", "small\n")), snapshot)
    assert [(one.path, one.data) for one in writes] == [("big.txt", b"small\n")]


def test_a_file_too_large_to_patch_is_deleted(snapshot):
    diff = "*** Begin Patch\n*** Delete File: big.txt\n*** End Patch\n"
    writes = planned(request(("big.txt", "unified_diff", diff)), snapshot)
    assert [(one.path, one.data) for one in writes] == [("big.txt", None)]


def test_a_file_too_large_to_patch_is_not_patched(snapshot):
    with pytest.raises(TooLargeError):
        planned(request(("big.txt", "unified_diff", "@@ -1 +1 @@\n-x\n+y\n")), snapshot)


def test_the_same_text_is_no_write(snapshot):
    writes = planned(request(("same.txt", "replace_full", "same\n")), snapshot)
    assert [one.action for one in writes] == ["unchanged"]
    assert file_writes(writes, snapshot) == []


def test_a_missing_file_names_the_likest_beside_it(snapshot):
    with pytest.raises(ConflictError) as caught:
        planned(request(("src/handlers.py", "unified_diff", "@@ -1 +1 @@\n-a\n+b\n")), snapshot)
    assert caught.value.details["conflicts"][0]["similarPaths"] == ["src/handler.py"]


def moves(*pairs: tuple[str, str]):
    entries = [SimpleNamespace(path=old, mode="move", new_path=new) for old, new in pairs]
    return SimpleNamespace(repo_root=ROOT, files=entries)


@pytest.mark.parametrize(
    "pairs", [(("a", "b"), ("b", "a")), (("a", "b"), ("b", "c")), (("a", "c"), ("b", "c"))]
)
def test_moves_that_meet_are_told_to_take_a_call_each(pairs):
    with pytest.raises(InvalidArgumentsError) as refused:
        refuse_unusable(moves(*pairs), SimpleNamespace(protection=Protection()))
    (issue, *_) = refused.value.details["issues"]
    assert issue["expected"] == {"code": "DUPLICATE_PATH"}
    assert "take a call for each step" in issue["problem"]


def test_a_moved_file_keeps_its_object_and_is_not_read(snapshot):
    (write,) = planned(moves(("big.txt", "x/big.txt")), snapshot)
    gone, there = file_writes([write], snapshot)
    assert (gone.path, gone.deletes) == ("big.txt", True)
    entry = snapshot.find("big.txt").entry
    assert (there.path, there.data, there.oid) == ("x/big.txt", None, entry.oid)
