"""Orders and their rows: every amount comes back as it was, and a damaged row is a typed error."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from contracts.errors import InternalError
from contracts.orders_lookup.v1 import Output
from functions.orders_lookup.orders import from_row, key, to_row

GOOD = {
    "status": {"S": "paid"},
    "items_count": {"N": "3"},
    "total_amount": {"N": "129.95"},
}
CENTS_MAX = 999_999_999_999


def order(**changes):
    fields = {"order_id": "ORD-10042", "status": "paid", "items_count": 3, "total_amount": 1.5}
    return Output(**(fields | changes))


def test_the_row_is_the_pinned_one():
    made = to_row("acme", order(total_amount=129.95))
    assert made == {"pk": {"S": "ORDER#acme#ORD-10042"}, **GOOD}
    assert key("acme", "ORD-10042") == {"pk": made["pk"]}


@given(st.integers(0, CENTS_MAX))
def test_every_amount_to_the_cent_comes_back_as_it_was_written(cents):
    digits = str(Decimal(cents).scaleb(-2))
    found = from_row("ORD-10042", {**GOOD, "total_amount": {"N": digits}})
    assert Decimal(repr(found.total_amount)) == Decimal(digits)
    again = from_row("ORD-10042", to_row("acme", found))
    assert again == found


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("status", None),
        ("status", {"S": "lost"}),
        ("status", {"N": "1"}),
        ("status", "paid"),
        ("items_count", None),
        ("items_count", {"S": "3"}),
        ("items_count", {"N": "3.5"}),
        ("items_count", {"N": "-1"}),
        ("items_count", {"N": "100001"}),
        ("items_count", {"N": "Infinity"}),
        ("items_count", {"N": "many"}),
        ("total_amount", None),
        ("total_amount", {"NULL": True}),
        ("total_amount", {"N": "129.955"}),
        ("total_amount", {"N": "0.001"}),
        ("total_amount", {"N": "129.95000000000000000001"}),
        ("total_amount", {"N": "-0.01"}),
        ("total_amount", {"N": "10000000000"}),
        ("total_amount", {"N": "NaN"}),
        ("total_amount", {"N": "Infinity"}),
        ("total_amount", {"N": "1e400"}),
    ],
)
def test_a_damaged_row_is_an_internal_error_that_tells_nothing_of_it(attribute, value):
    row = {name: held for name, held in GOOD.items() if name != attribute}
    row |= {attribute: value} if value is not None else {}
    with pytest.raises(InternalError) as raised:
        from_row("ORD-10042", row)
    assert (raised.value.message, raised.value.details) == ("the order's row is damaged", {})


@pytest.mark.parametrize("amount", [-0.01, 0.001, 1.005, 10_000_000_000, True, "1", float("nan")])
def test_the_contract_takes_no_amount_that_is_none(amount):
    with pytest.raises(ValidationError):
        order(total_amount=amount)


def test_an_order_is_on_the_wire_in_its_domains_own_names():
    assert list(order().model_dump(by_alias=True)) == [
        "order_id",
        "status",
        "items_count",
        "total_amount",
    ]
