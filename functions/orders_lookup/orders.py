"""An order as its row in DynamoDB, and back; amounts keep every digit.

pk            ORDER#{tenant}#{order_id}
status        text
items_count   number
total_amount  number, in the shop's currency, as exact as it was written
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from contracts.errors import InternalError
from contracts.orders_lookup.v1 import Output

Row = dict[str, Any]
"""A row in DynamoDB's low-level form."""


def key(tenant: str, order_id: str) -> Row:
    """The key of a tenant's order."""
    return {"pk": {"S": f"ORDER#{tenant}#{order_id}"}}


def to_row(tenant: str, order: Output) -> Row:
    """The row that holds an order."""
    return {
        **key(tenant, order.order_id),
        "status": {"S": order.status},
        "items_count": {"N": str(order.items_count)},
        "total_amount": {"N": repr(order.total_amount)},
    }


def from_row(order_id: str, row: Row) -> Output:
    """The order that a row holds. Raises InternalError for a row that holds none."""
    try:
        return Output(
            order_id=order_id,
            status=row["status"]["S"],
            items_count=_whole(row["items_count"]["N"]),
            total_amount=_exact(row["total_amount"]["N"]),
        )
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        raise InternalError("the order's row is damaged") from error


def _whole(digits: str) -> int:
    number = Decimal(digits)
    if number != number.to_integral_value():
        raise ValueError("not a whole number")
    return int(number)


def _exact(digits: str) -> float:
    """The amount as the double whose shortest text it is; ValueError if there is none."""
    amount = float(digits)
    if Decimal(repr(amount)) != Decimal(digits):
        raise ValueError("more digits than the contract takes")
    return amount
