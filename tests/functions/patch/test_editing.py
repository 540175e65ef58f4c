"""What planning a request reads of a workspace, and what it suggests for a missing file."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from contracts.errors import ConflictError, TooLargeError
from functions.apply_patch.editing import PATCHED_MAX_BYTES, file_writes, planned

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
