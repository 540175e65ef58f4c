"""What a workspace does when its stores fail, lag or are damaged, or time runs out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from contracts.errors import (
    DeadlineError,
    InternalError,
    UnavailableError,
)
from functions._runtime.effect import PreconditionFailedError
from functions._runtime.workspace import Stores
from functions._runtime.workspace.objects import EMPTY_TREE, frame, object_id
from functions._runtime.workspace.workspace import TRIES
from tests.functions.workspace.cloud import TableEffect, changed, found, put, workspace

if TYPE_CHECKING:
    from functions._runtime.workspace.heads import WorkspaceName


@pytest.fixture
def name(stores: Stores) -> WorkspaceName:
    return found(stores)


class Countdown:
    """A deadline that lets a number of steps begin."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def check(self) -> None:
        self.steps -= 1
        if self.steps < 0:
            raise DeadlineError("time is up")


def failing(code: str, status: int = 500) -> Any:
    def fail(**_: Any) -> None:
        answer = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
        raise ClientError(answer, "Operation")  # type: ignore[arg-type]

    return fail


def test_head_that_never_stands_still_is_unavailable(stores: Stores, name: Any):
    class Unlucky(TableEffect):
        tries = 0

        def commit(self, items: Any, output: Any) -> None:
            self.tries += 1
            raise PreconditionFailedError

    effect = Unlucky(stores)
    with pytest.raises(UnavailableError):
        workspace(stores, effect=effect).change(put("a", b"1"))
    assert effect.tries == TRIES
    assert workspace(stores).snapshot().head.seq == 1


def test_put_that_meets_another_put_is_tried_again(stores: Stores, name: Any):
    tried: list[int] = []

    def conflict_once(**_: Any) -> None:
        tried.append(1)
        if len(tried) == 1:
            failing("ConditionalRequestConflict", 409)()

    stores.s3.before["put_object"] = conflict_once
    assert changed(stores, put("a", b"1")).snapshot().read("a").data == b"1"
    assert len(tried) == 3


@pytest.mark.parametrize("code", ["SlowDown", "InternalError", "RequestTimeout", "409"])
def test_failing_object_store_is_unavailable_and_moves_no_head(
    stores: Stores, name: Any, code: str
):
    stores.s3.before["put_object"] = failing(code)
    with pytest.raises(UnavailableError) as caught:
        workspace(stores, effect=TableEffect(stores)).change(put("a", b"1"))
    assert code not in caught.value.message
    del stores.s3.before["put_object"]
    assert workspace(stores).snapshot().head.seq == 1

    stores.s3.before["get_object"] = failing(code)
    with pytest.raises(UnavailableError):
        workspace(stores).snapshot().read("a")


def test_failing_table_is_unavailable(stores: Stores, name: Any):
    def time_out(**_: Any) -> None:
        raise ReadTimeoutError(endpoint_url="https://example.invalid/secret")

    for fail in (failing("ProvisionedThroughputExceededException", 400), time_out):
        stores.dynamodb.before = {"batch_get_item": fail, "get_item": fail}
        with pytest.raises(UnavailableError) as caught:
            workspace(stores).snapshot()
        assert "secret" not in caught.value.message
        with pytest.raises(UnavailableError):
            workspace(stores).at(f"1-{EMPTY_TREE}")


def test_unprocessed_keys_are_asked_for_again(stores: Stores, name: Any):
    real = stores.dynamodb
    answers = 0

    class Throttled:
        def batch_get_item(self, RequestItems: Any) -> Any:  # noqa: N803
            nonlocal answers
            answers += 1
            answer = real.batch_get_item(RequestItems=RequestItems)
            if answers < 3:
                (dropped,) = [
                    row for row in answer["Responses"]["workspace"] if row["sk"]["S"] == "META"
                ]
                answer["Responses"]["workspace"].remove(dropped)
                answer["UnprocessedKeys"] = {"workspace": {"Keys": [name.key("META")]}}
            return answer

    throttled = Stores(Throttled(), stores.s3, stores.table, stores.bucket)
    assert workspace(throttled).snapshot().head.seq == 1
    assert answers == 3
    answers = -9
    with pytest.raises(UnavailableError):
        workspace(throttled).snapshot()


def test_missing_object_is_our_fault_and_not_the_callers(stores: Stores, name: Any):
    changed(stores, put("a", b"1"))
    blob = object_id(frame("blob", b"1"))
    key = f"{name.prefix}{blob[:2]}/{blob[2:]}"
    stores.s3.delete_object(Bucket=stores.bucket, Key=key)
    with pytest.raises(InternalError):
        workspace(stores).snapshot().read("a")


def test_damaged_object_is_never_returned(stores: Stores, name: Any):
    changed(stores, put("a", b"1"))
    blob = object_id(frame("blob", b"1"))
    key = f"{name.prefix}{blob[:2]}/{blob[2:]}"
    stores.s3.put_object(Bucket=stores.bucket, Key=key, Body=frame("blob", b"2"))
    with pytest.raises(InternalError):
        workspace(stores).snapshot().read("a")


def test_deadline_is_asked_between_all_store_operations(stores: Stores, name: Any):
    timeouts = 0
    while True:
        effect = TableEffect(stores)
        try:
            workspace(stores, effect=effect, deadline=Countdown(timeouts)).change(put("a/b", b"1"))
            break
        except DeadlineError:
            assert effect.commits == []
            assert workspace(stores).snapshot().head.seq == 1
            timeouts += 1
    # head, tree, one blob, two trees and the commit at the least
    assert timeouts >= 6
    assert workspace(stores).snapshot().head.seq == 2
