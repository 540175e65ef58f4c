"""Every AWS call of every mutating tool, failing in every way: one effect, one answer."""

from __future__ import annotations

import pytest

from agents import events
from agents.targets import InProcessTarget
from contracts import registry
from contracts.spec import Approval
from functions._runtime import aws
from tests.conftest import IDEMPOTENCY_TABLE, RELEASES_BUCKET
from tests.faults import campaign
from tests.faults.injector import Fault, Injector
from tests.faults.scenarios import BEFORE, GATED, SCENARIOS

IDS = [scenario.name.replace(" ", "-") for scenario in SCENARIOS]
QUICK = (Fault.CRASH_AFTER, Fault.TIMEOUT_DONE)
"""The two that leave the most behind; the others are part of the long tests."""


@pytest.mark.parametrize("scenario", SCENARIOS[:2], ids=IDS[:2])
def test_whatever_fails_after_its_write_the_call_is_done_once(scenario, workspaces):
    _check(list(campaign.run(scenario, workspaces, QUICK)), faults=len(QUICK))


@pytest.mark.long
@pytest.mark.parametrize("scenario", SCENARIOS, ids=IDS)
def test_whatever_fails_the_call_is_done_once(scenario, workspaces):
    _check(list(campaign.run(scenario, workspaces)), faults=len(Fault))


def _check(rows, faults):
    operations = {row.operation for row in rows}
    assert {"UpdateItem", "BatchGetItem"} <= operations
    assert len(rows) == faults * len({row.number for row in rows})
    broken = [row for row in rows if row.problems]
    assert not broken, broken[:3]


@pytest.mark.parametrize("fault", Fault)
@pytest.mark.parametrize("scenario", GATED, ids=[scenario.tool for scenario in GATED])
def test_whatever_would_fail_a_gated_call_is_refused_and_does_nothing(scenario, fault, workspaces):
    root = f"/faults/{fault.name.lower()}"
    workspaces.create(root, BEFORE)
    spec, injector = registry.find(scenario.tool), Injector(0, fault)
    with campaign.faulty(injector):
        event = events.build(spec, scenario.arguments(root), "direct")
        error = events.unwrap(InProcessTarget().send(spec, event))["error"]
    assert error["code"] == scenario.code
    assert error["details"] == {"reason": "NO_APPROVALS", "keySpent": False}
    # Refused before the first call to AWS: there is nothing that could fail, or be half done.
    assert injector.calls == []
    assert aws.dynamodb().scan(TableName=IDEMPOTENCY_TABLE)["Count"] == 0
    assert aws.s3().list_objects_v2(Bucket=RELEASES_BUCKET)["KeyCount"] == 0
    assert workspaces.files(root) == scenario.after
    assert workspaces.commits(root) - 1 == scenario.commits


def test_every_mutating_tool_has_scenarios():
    mutating = {spec for spec in registry.specs() if spec.mutates}
    gated = {spec.model_name for spec in mutating if spec.approval is Approval.DUAL}
    assert gated == {scenario.tool for scenario in GATED}
    acting = {spec.model_name for spec in mutating} - gated
    assert acting == {scenario.tool for scenario in SCENARIOS}
