"""orders.lookup v1: one row, read as it is now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.orders_lookup.v1 import SPEC, Input, OrderNotFoundError, Output
from functions._runtime import aws
from functions._runtime.failures import unavailable_on_failure
from functions._runtime.tool import tool
from functions.orders_lookup.orders import from_row, key

if TYPE_CHECKING:
    from functions._runtime.call import Call


@tool(SPEC)
def handler(request: Input, call: Call) -> Output:
    """Read the caller's tenant's order; another tenant's is not found."""
    call.deadline.check()
    with unavailable_on_failure():
        answer = aws.dynamodb().get_item(
            TableName=call.settings.orders_table,
            Key=key(call.caller.tenant, request.order_id),
            ConsistentRead=True,
        )
    if "Item" not in answer:
        raise OrderNotFoundError("there is no such order")
    return from_row(request.order_id, answer["Item"])
