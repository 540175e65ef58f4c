from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contracts.errors import ConflictError
from functions._runtime.workspace import Edit, FileWrite, Stores
from tests.functions.workspace.cloud import Done, TableEffect, found, workspace

if TYPE_CHECKING:
    from functions._runtime.workspace.snapshot import Snapshot


def put(path: str, data: bytes | None) -> Any:
    """An edit whose answer is the revision it was given."""
    return lambda _: Edit([FileWrite(path, data)], lambda revision: Done(text=revision), "Write")


@pytest.fixture(autouse=True)
def workspace_there(stores: Stores) -> None:
    found(stores)


def test_answer_names_the_revision_that_the_change_makes(stores: Stores):
    answer = workspace(stores, effect=TableEffect(stores)).change(put("a", b"1"))
    assert answer.text == workspace(stores).snapshot().revision


def test_answer_of_a_change_without_difference_names_the_revision_that_stands(stores: Stores):
    workspace(stores, effect=TableEffect(stores, "op#1")).change(put("a", b"1"))
    answer = workspace(stores, effect=TableEffect(stores, "op#2")).change(put("a", b"1"))
    assert answer.text == workspace(stores).snapshot().revision


def test_answer_of_a_dry_run_names_the_revision_it_was_tried_on(stores: Stores):
    answer = workspace(stores).change(put("a", b"1"))
    assert answer.text == workspace(stores).snapshot().revision


def test_change_of_the_expected_revision_is_made(stores: Stores):
    revision = workspace(stores).snapshot().revision
    workspace(stores, effect=TableEffect(stores)).change(put("a", b"1"), expected=revision)
    assert workspace(stores).snapshot().read("a").data == b"1"


def test_change_of_another_revision_is_refused_and_names_the_one_that_is_there(stores: Stores):
    old = workspace(stores).snapshot().revision
    workspace(stores, effect=TableEffect(stores, "op#1")).change(put("a", b"1"))
    now = workspace(stores).snapshot().revision
    with pytest.raises(ConflictError) as refused:
        workspace(stores, effect=TableEffect(stores, "op#2")).change(put("b", b""), expected=old)
    assert refused.value.details == {"code": "REVISION_MOVED", "revision": now}
    assert workspace(stores).snapshot().revision == now


def test_expected_revision_that_a_rival_moves_is_never_rebased(stores: Stores):
    revision = workspace(stores).snapshot().revision

    def edit(_snapshot: Snapshot) -> Edit[Done]:
        workspace(stores, effect=TableEffect(stores, "rival#1")).change(put("r", b"rival"))
        return Edit([FileWrite("a", b"1")], lambda _: Done(), "Write")

    with pytest.raises(ConflictError) as refused:
        workspace(stores, effect=TableEffect(stores)).change(edit, expected=revision)
    assert refused.value.details["code"] == "REVISION_MOVED"
    assert workspace(stores).snapshot().read("a").kind == "missing"
