"""A claim whose answer was lost: recognised when sent again, never left to block its key."""

from __future__ import annotations

import pytest

from functions._runtime import aws
from tests.faults.campaign import faulty
from tests.faults.injector import Fault, Injector
from tests.functions.counter import args, count, make

pytestmark = pytest.mark.usefixtures("aws_cloud")


def test_a_claim_that_landed_unseen_is_released_at_once():
    with faulty(Injector(0, Fault.TIMEOUT_DONE)):
        first = make()(args(), None)
    assert first["error"]["code"] == "UNAVAILABLE"
    assert make()(args(), None)["skippedAsDuplicate"] is False
    assert count() == 1


def test_a_claim_that_the_sdk_sends_twice_is_this_attempts_own():
    """botocore repeats a request whose answer was lost, as it was: the owner in it is ours."""
    sent = []
    real = aws.dynamodb()

    class Repeating:
        """Makes the first update twice, as an SDK's retry does, and gives the second answer."""

        meta = real.meta

        def __getattr__(self, name):
            return getattr(real, name)

        def update_item(self, **given):
            if not sent:
                sent.append("UpdateItem")
                real.update_item(**given)
            return real.update_item(**given)

    with pytest.MonkeyPatch.context() as patch:
        client = Repeating()
        patch.setattr(aws, "dynamodb", lambda: client)
        assert make()(args(), None)["skippedAsDuplicate"] is False
    assert sent == ["UpdateItem"]
    assert count() == 1
