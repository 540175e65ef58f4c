"""The golden cases, in process on moto: data in, the result that callers rely on out."""

from __future__ import annotations

import pytest

from agents.targets import InProcessTarget
from tests.golden.cases import Case, all_cases

CASES = all_cases()


@pytest.mark.usefixtures("aws_cloud")
@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_golden(case: Case, workspaces):
    case.play(InProcessTarget(), workspaces)
