"""Every AWS call of every mutating tool, failing in every way: one effect, one answer."""

from __future__ import annotations

import pytest

from contracts import registry
from contracts.spec import Approval
from tests.faults import campaign
from tests.faults.injector import Fault
from tests.faults.scenarios import SCENARIOS

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
    assert "UpdateItem" in operations
    assert len(rows) == faults * len({row.number for row in rows})
    broken = [row for row in rows if row.problems]
    assert not broken, broken[:3]


def test_every_mutating_tool_has_scenarios():
    mutating = {spec.model_name for spec in registry.specs() if spec.mutates}
    assert mutating == {scenario.tool for scenario in SCENARIOS}
    gated = {spec.model_name for spec in registry.specs() if spec.approval is not Approval.NONE}
    assert gated == {scenario.tool for scenario in SCENARIOS if scenario.gated}
