"""What the benchmark of repairs promises, on fewer cases: one turn is enough for four in five."""

from __future__ import annotations

import pytest

from benchmarks.patch_mix import MIX, cases
from benchmarks.patch_repair import measure, overall


@pytest.fixture(scope="module")
def tallies():
    return measure(cases("test", 8))


def test_one_turn_repairs_four_of_five_conflicts(tallies):
    assert overall(tallies) >= 0.8


def test_the_kinds_that_come_most_often_are_repaired_too(tallies):
    often = [kind.__name__ for kind, weight in MIX.items() if weight >= 4]
    assert min(tallies[kind].share for kind in often) >= 0.5


def test_every_kind_of_the_mix_is_there_as_conflicts(tallies):
    assert tallies.keys() == {kind.__name__ for kind in MIX}


def test_hardly_any_second_request_does_something_else(tallies):
    whole = sum(tally.conflicts for tally in tallies.values())
    assert sum(tally.wrong for tally in tallies.values()) <= 0.06 * whole
