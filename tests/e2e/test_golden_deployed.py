"""The golden cases again, through the deployed Lambdas of the local cloud.

One case of each kind on each surface of each tool; all of them are part of the long tests.
"""

from __future__ import annotations

import pytest

from tests.golden.cases import Case, all_cases


def marked() -> list:
    """Every case; all but the first of its kind on its surface are long."""
    seen, found = set(), []
    for case in all_cases():
        kind = (case.tool, case.surface, case.data["kind"])
        marks = [pytest.mark.long] if kind in seen else []
        seen.add(kind)
        found.append(pytest.param(case, id=case.id, marks=marks))
    return found


@pytest.mark.local
@pytest.mark.parametrize("case", marked())
def test_golden(case: Case, local_target, local_workspaces):
    case.play(local_target, local_workspaces)
