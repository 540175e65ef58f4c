"""Sixteen callers at the same moment, on the deployed Lambdas: nothing twice, nothing lost."""

from __future__ import annotations

import uuid

import pytest

from tests.e2e.callers import SPEC, Caller, diff, patch, record_of, unreachable
from toolgate.deployed import output_key

pytestmark = pytest.mark.local

CALLERS = range(16)


@pytest.fixture
def caller(local_cloud):
    return Caller(local_cloud.client("lambda"), local_cloud.outputs()[output_key(SPEC)])


@pytest.fixture
def workspace(local_workspaces):
    """Makes a fresh workspace: files in, its root out."""

    def make(files):
        root = f"/workspace/crowd-{uuid.uuid4().hex[:8]}"
        local_workspaces.create(root, files)
        return root

    return make


def fresh_keys():
    return [uuid.uuid4().hex for _ in CALLERS]


def operations(workspaces, root):
    return [row["op"]["S"] for row in workspaces.log(root)][1:]


def test_one_key_from_all_callers_is_one_commit_and_one_answer(caller, workspace, local_workspaces):
    root, key = workspace({"a.txt": b"one\n"}), uuid.uuid4().hex
    # Not idempotent by itself: each time that it happens adds a line.
    call = patch(root, key, diff("a.txt", "@@ -1 +1,2 @@\n one\n+more\n"))
    done = caller.all_at_once([call for _ in CALLERS])
    assert [one.answer["ok"] and one.answer["applied"] for one in done] == [["a.txt"]] * 16
    firsts = sum(one.first for one in done)
    assert firsts == 1 or (firsts == 0 and any(one.lost for one in done))
    assert operations(local_workspaces, root) == [record_of(key)]
    assert local_workspaces.files(root) == {"a.txt": b"one\nmore\n"}


def test_disjoint_files_on_one_head_all_land(caller, workspace, local_workspaces):
    root, keys = workspace({"a.txt": b"a\n"}), fresh_keys()
    done = caller.all_at_once(
        [patch(root, keys[n], (f"{n}.txt", "replace_full", f"{n}\n")) for n in CALLERS]
    )
    for n in CALLERS:
        assert done[n].answer["ok"], done[n]
        assert done[n].answer["applied"] == [f"{n}.txt"]
        assert done[n].first or done[n].lost
    expected = {f"{n}.txt": f"{n}\n".encode() for n in CALLERS}
    assert local_workspaces.files(root) == {"a.txt": b"a\n", **expected}
    assert sorted(operations(local_workspaces, root)) == sorted(map(record_of, keys))
    # Else they came one after the other, and nothing was tested.
    assert unreachable(local_workspaces, root) > 0


def test_edits_of_one_line_exclude_each_other(caller, workspace, local_workspaces):
    root, keys = workspace({"a.txt": b"head\nvalue = none\ntail\n"}), fresh_keys()
    hunk = "@@ -1,3 +1,3 @@\n head\n-value = none\n+value = {}\n tail\n"
    calls = [patch(root, keys[n], diff("a.txt", hunk.format(n))) for n in CALLERS]
    done = caller.all_at_once(calls)
    (winner,) = [n for n in CALLERS if done[n].answer["ok"]]
    for n in CALLERS:
        if n != winner:
            error = done[n].answer["error"]
            assert (error["code"], error["details"]["keySpent"]) == ("CONFLICT", True)
    after = f"head\nvalue = {winner}\ntail\n".encode()
    assert local_workspaces.files(root) == {"a.txt": after}
    assert operations(local_workspaces, root) == [record_of(keys[winner])]
    # A loser's answer is kept as well, and repeating the call does not win later.
    loser = next(n for n in CALLERS if n != winner)
    again = caller.until_done(calls[loser])
    assert again.answer["error"]["details"]["replayed"] is True


def test_disjoint_hunks_of_one_file_all_land(caller, workspace, local_workspaces):
    lines = [text for n in CALLERS for text in (f"block {n}", f"old {n}", "", "", "")]
    root, keys = workspace({"a.txt": "\n".join(lines).encode()}), fresh_keys()
    hunk = "@@ -{0},2 +{0},3 @@\n block {1}\n-old {1}\n+new {1}\n+and more\n"
    done = caller.all_at_once(
        [patch(root, keys[n], diff("a.txt", hunk.format(5 * n + 1, n))) for n in CALLERS]
    )
    assert all(one.answer["ok"] for one in done), [one.answer for one in done]
    after = "\n".join(lines)
    for n in CALLERS:
        after = after.replace(f"block {n}\nold {n}\n", f"block {n}\nnew {n}\nand more\n")
    assert local_workspaces.files(root) == {"a.txt": after.encode()}
    assert sorted(operations(local_workspaces, root)) == sorted(map(record_of, keys))
    assert unreachable(local_workspaces, root) > 0
