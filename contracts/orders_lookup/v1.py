"""orders.lookup v1: how one order stands. It keeps its domain's snake_case on the wire."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from contracts.errors import DomainError
from contracts.spec import Effect, Scope, Status, ToolSpec
from contracts.types import Answer, Contract

DECIMALS_MAX = 2


class OrderNotFoundError(DomainError):
    """No such order for this caller; another tenant's looks the same."""

    code = "order_not_found"


def _cents(amount: float) -> float:
    """Refuse parts of a cent: the shortest text of a float is what will be on the wire."""
    exponent = Decimal(repr(amount)).normalize().as_tuple().exponent
    if not isinstance(exponent, int) or exponent < -DECIMALS_MAX:
        raise PydanticCustomError("more_than_two_decimals", "more than two decimals")
    return amount + 0.0  # -0.0 is written as 0.0


OrderId = Annotated[
    str,
    Field(
        min_length=6,
        max_length=20,
        pattern=r"^ORD-[0-9]{4,8}$",
        description="Number of the order: ORD- and 4-8 digits, such as ORD-10042.",
    ),
]


class Input(Contract):
    """Which order."""

    model_config = ConfigDict(alias_generator=None)

    order_id: OrderId


class Output(Answer):
    """How the order stands."""

    model_config = ConfigDict(alias_generator=None)

    order_id: OrderId
    status: Literal["pending", "paid", "shipped", "delivered", "cancelled"] = Field(
        description="Where the order stands: pending, paid, shipped, delivered or cancelled."
    )
    items_count: int = Field(
        ge=0, le=100_000, description="How many items were ordered, 0-100000; two of one are 2."
    )
    total_amount: Annotated[
        float,
        # A double holds every amount of this size to the cent, and gives it back as it was.
        Field(
            ge=0,
            le=9_999_999_999.99,
            description=(
                "What the whole order costs, with at most two decimals, in the one currency of "
                "the shop; not in cents. 0-9999999999.99."
            ),
        ),
        AfterValidator(_cents),
    ]


SPEC = ToolSpec(
    name="orders.lookup",
    version="1.0.0",
    summary="Look up one order: its status, how many items it has, what it costs in all.",
    owner="commerce",
    input=Input,
    output=Output,
    errors=(OrderNotFoundError,),
    effect=Effect.READ,
    scopes=frozenset({Scope.ORDERS_READ}),
    timeout_s=10,
    status=Status.DRAFT,
)
