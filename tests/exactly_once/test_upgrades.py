"""What outlives a deploy: keys and records, whatever the code around them is called by then."""

from __future__ import annotations

import functools
import hashlib
import json
import subprocess
import sys
import types
from dataclasses import replace
from pathlib import Path

import pytest

from functions._runtime import aws
from functions._runtime import tool as runtime
from functions._runtime.tool import tool
from tests.exactly_once.world import (
    LEASE_MS,
    TABLE,
    Context,
    Crash,
    call,
    clock,
    raising,
    record,
)
from tests.functions import counter
from tests.functions.counter import SPEC, args, count, make

pytestmark = pytest.mark.usefixtures("aws_cloud")

ROOT = Path(__file__).parents[2]
KEY = "agent-turn-9f3c"
NOW_MS = 1_800_000_000_123
GOLDEN = {
    "id": {"S": "demo.count@1#0fffc9eddebb764c583638f84c8010114a7db57e6904e4d10a6a36d788a13248"},
    "status": {"S": "COMPLETED"},
    "expiration": {"N": "1800086400"},
    "in_progress_expiration": {"N": "1800000012123"},
    "validation": {"S": "10ad29ca40fc8d86d0f18c30cef0b29d29b8ead32690cc2bf9f693e637ee3be2"},
    "data": {"S": '{"ok":true,"schemaVersion":1,"count":1,"skippedAsDuplicate":false}'},
    "owner": {"S": "0123456789abcdef0123456789abcdef"},
    "attempt": {"N": "1"},
}
"""What the first release wrote for this call. Records like it are out there: it never changes."""


def of(handler):
    return handler.__wrapped__


def renamed(run):
    @functools.wraps(run)
    def run_under_a_new_name(request, call):
        return run(request, call)

    run_under_a_new_name.__name__ = run_under_a_new_name.__qualname__ = "new_name"
    return tool(SPEC)(run_under_a_new_name)


def unwrapped(run):
    def run_without_its_name(request, call):
        return run(request, call)

    return tool(SPEC)(run_without_its_name)


def moved(run):
    copy = types.FunctionType(run.__code__, run.__globals__, closure=run.__closure__)
    copy.__module__ = "functions.moved.v1"
    return tool(SPEC)(copy)


def partial(run):
    return tool(SPEC)(functools.partial(run))


@pytest.mark.parametrize("change", [renamed, unwrapped, moved, partial])
def test_a_function_that_is_renamed_wrapped_or_moved_keeps_its_keys(change):
    first = call()
    assert call(change(of(make()))) == {**first, "skippedAsDuplicate": True}
    assert count() == 1


@pytest.mark.parametrize("name", ["toolgate-dev-demo-count", "toolgate-dev-demo-count-2F7A", None])
def test_a_replaced_lambda_keeps_the_keys(name, monkeypatch):
    first = call()
    monkeypatch.delenv("AWS_LAMBDA_FUNCTION_NAME", raising=False)
    if name:
        monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", name)
    assert call() == {**first, "skippedAsDuplicate": True}


def test_versions_and_aliases_of_a_lambda_share_the_keys():
    def through(alias, number):
        context = Context()
        context.invoked_function_arn = f"arn:aws:lambda:us-east-1:1:function:demo:{alias}"
        context.function_version = number
        return make()(args(), context)

    first = through("live", "7")
    assert through("canary", "8") == {**first, "skippedAsDuplicate": True}
    assert count() == 1


@pytest.mark.usefixtures("still")
def test_a_key_of_a_running_old_version_is_taken_over_by_the_new_one():
    with pytest.raises(Crash):
        call(make(before_commit=raising(Crash())))
    with clock(LEASE_MS + 1):
        assert call(renamed(of(make())))["skippedAsDuplicate"] is False
    assert record()["attempt"] == {"N": "2"}


@pytest.mark.parametrize("number", ["1.0.1", "1.9.0"])
def test_a_compatible_version_keeps_the_keys(number):
    first = call()
    assert call(tool(replace(SPEC, version=number))(of(make()))) == {
        **first,
        "skippedAsDuplicate": True,
    }


def test_an_optional_argument_that_a_version_adds_keeps_the_keys():
    class Wider(counter.Input):
        colour: str = "red"

    wider = replace(SPEC, version="1.1.0", input=Wider)
    first = call()
    assert call(tool(wider)(of(make()))) == {**first, "skippedAsDuplicate": True}
    asked = call(tool(wider)(of(make())), colour="blue")
    assert asked["error"]["code"] == "IDEMPOTENCY_CONFLICT"


def test_a_new_major_version_has_keys_of_its_own():
    second = replace(SPEC, version="2.0.0")
    assert call()["count"] == 1
    answer = call(tool(second)(of(make())))
    assert (answer["schemaVersion"], answer["count"]) == (2, 2)
    assert answer["skippedAsDuplicate"] is False
    assert record()["id"] != record(spec=second)["id"]
    assert call()["count"] == 1


def test_the_whole_record_is_the_pinned_one(monkeypatch):
    monkeypatch.setattr(runtime, "now_ms", lambda: NOW_MS)
    monkeypatch.setattr(runtime, "new_owner", lambda: GOLDEN["owner"]["S"])
    call(idempotencyKey=KEY)
    assert record(KEY) == GOLDEN


def test_the_pinned_hash_is_that_of_the_fingerprint_of_the_arguments():
    """By hand: a change of the recipe, here or in Powertools, would turn all keys to conflicts."""
    said = hashlib.sha256(b'{"args":{"add":1},"major":1,"tool":"demo.count"}').hexdigest()
    assert GOLDEN["validation"]["S"] == hashlib.sha256(f'"1:{said}"'.encode()).hexdigest()


def test_a_record_of_the_first_release_is_replayed_and_guards_its_arguments():
    expires = {"expiration": {"N": str(runtime.now_ms() // 1000 + 60)}}
    aws.dynamodb().put_item(TableName=TABLE, Item={**GOLDEN, **expires})
    assert call(idempotencyKey=KEY) == {
        **json.loads(GOLDEN["data"]["S"]),
        "skippedAsDuplicate": True,
    }
    assert call(idempotencyKey=KEY, add=2)["error"]["code"] == "IDEMPOTENCY_CONFLICT"
    assert count() == 0


OTHER_PROCESS = """
import json, sys
from moto import mock_aws
from tests import conftest
conftest.become_stage()
with mock_aws():
    conftest.create_tables()
    from functions._runtime import tool
    from tests.exactly_once import world
    tool.now_ms = lambda: int(sys.argv[1])
    tool.new_owner = lambda: sys.argv[2]
    world.call(idempotencyKey=sys.argv[3])
    print(json.dumps(world.record(sys.argv[3])))
"""


def test_a_fresh_process_writes_the_same_record():
    """As after a redeploy: other hash seed, other function name, nothing in memory."""
    ended = subprocess.run(
        [sys.executable, "-c", OTHER_PROCESS, str(NOW_MS), GOLDEN["owner"]["S"], KEY],
        cwd=ROOT,
        env={"PYTHONHASHSEED": "4711", "AWS_LAMBDA_FUNCTION_NAME": "another", "PATH": ""},
        capture_output=True,
        check=True,
        text=True,
    )
    assert json.loads(ended.stdout.splitlines()[-1]) == GOLDEN
