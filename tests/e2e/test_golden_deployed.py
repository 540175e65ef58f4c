"""The golden cases again, through the deployed Lambdas of the local cloud."""

from __future__ import annotations

import pytest

from tests.golden.cases import Case, all_cases

CASES = all_cases()


@pytest.mark.local
@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_golden(case: Case, local_target, local_workspaces):
    case.play(local_target, local_workspaces)
