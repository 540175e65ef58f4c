"""Each hole of stock Powertools: ours holds, and stock, in the same story, does not.

A test of the second kind fails when a new Powertools closes its hole: then our code can go.
"""

from __future__ import annotations

import pytest

from tests.exactly_once.holes import HOLES
from tests.exactly_once.sides import Ours, Said, Stock
from tests.functions.counter import count

pytestmark = pytest.mark.usefixtures("aws_cloud")
each_hole = pytest.mark.parametrize("hole", HOLES, ids=[hole.id for hole in HOLES])


@each_hole
def test_ours_keeps_the_promise(hole):
    assert not hole.ours()


@each_hole
def test_stock_powertools_breaks_it(hole):
    assert hole.stock(), f"Powertools closed hole {hole.id}: our code for it can go"


@pytest.mark.parametrize("side", [Ours(), Stock()], ids=["ours", "stock"])
def test_where_nothing_goes_wrong_both_sides_keep_it(side):
    first = side.process().tool()()
    assert first == Said(ok=True, value=1)
    assert side.process().tool()() == first
    assert side.process().tool()(add=2).ok is False
    assert count() == 1


def test_all_nine_holes_are_there():
    assert [hole.id for hole in HOLES if len(hole.id) == 1] == list("ABCDEFGHI")
