"""`toolgate orders seed`: put orders into a stage's table, for `orders.lookup` to find."""

from __future__ import annotations

import json
import re
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from botocore.exceptions import BotoCoreError, ClientError
from pydantic import ValidationError

from contracts import strict_json
from contracts.errors import InternalError
from contracts.issues import issues
from contracts.orders_lookup.v1 import Output
from functions.orders_lookup.orders import from_row, key, to_row
from toolgate.deployed import Where, client_and_outputs
from toolgate.errors import CallFailedError, CommandError

if TYPE_CHECKING:
    from collections.abc import Callable

app = typer.Typer(help="Fill the table of orders.", no_args_is_help=True)

SAMPLE = Path(__file__).parent / "sample_orders.json"
BATCH_MAX = 25
"""Rows that DynamoDB takes at once."""
TRIES = 8
_TENANT = re.compile(r"[a-z0-9-]{1,32}\Z")
_SCHEMA = Output.model_json_schema()


@app.callback()
def orders() -> None:
    """Fill the table of orders."""


@app.command()
def seed(
    file: Annotated[
        str | None, typer.Argument(help="A JSON array of orders, or - for standard input.")
    ] = None,
    tenant: Annotated[str, typer.Option("--tenant", help="Whose orders they are.")] = "default",
    target: Annotated[str, typer.Option("--target", help="local or aws.")] = "local",
    stage: Annotated[str, typer.Option("--stage", help="The stage on aws.")] = "dev",
    *,
    sample: Annotated[bool, typer.Option("--sample", help="Five orders, for a try.")] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Also orders that are there and differ.")
    ] = False,
) -> None:
    """Write orders. One that is wrong, or is there and differs, stops all of them."""
    if (file is None) is not sample:
        raise CommandError("name one file of orders, or give --sample")
    if not _TENANT.match(tenant):
        raise CommandError("a tenant is 1-32 of a-z, 0-9 and -")
    if target not in {"local", "aws"}:
        raise CommandError("--target takes local or aws")
    found = parse(_text(file))
    client, outputs = client_and_outputs(cast("Where", target), stage, "dynamodb")
    if "OrdersTable" not in outputs:
        raise CommandError(f"stage {stage} has no table of orders yet: deploy it first")
    rows = [to_row(tenant, order) for order in found]
    if not replace and (others := differing(client, outputs["OrdersTable"], tenant, found)):
        raise CommandError(
            f"{len(others)} of these orders are there and differ, {others[0]} first; nothing was "
            "written (--replace replaces them)"
        )
    write(client, outputs["OrdersTable"], rows)
    typer.echo(f"{len(rows)} orders written for tenant {tenant}")


def parse(text: str) -> list[Output]:
    """The orders that JSON text holds. Raises CommandError, naming the row that is wrong."""
    try:
        rows = strict_json.parse(text)
    except strict_json.StrictJsonError as error:
        raise CommandError(f"the orders are not usable JSON: {error}") from None
    # Every digit as it is written: a float would have lost some before anyone could look.
    exact = json.loads(text, parse_float=Decimal)
    if not isinstance(rows, list):
        raise CommandError("the orders must be one JSON array of objects")
    found: dict[str, Output] = {}
    for number, row in enumerate(rows, 1):
        try:
            order = Output.model_validate(row)
        except ValidationError as error:
            first = issues(error, _SCHEMA)[0]
            field = first["path"].removeprefix("/")
            where = f"row {number}, {field}" if field else f"row {number}"
            raise CommandError(f"{where}: {first['problem']}; nothing was written") from None
        if Decimal(repr(order.total_amount)) != exact[number - 1]["total_amount"]:
            problem = "more than two decimals; nothing was written"
            raise CommandError(f"row {number}, total_amount: {problem}")
        if order.order_id in found:
            raise CommandError(
                f"row {number}: {order.order_id} stands in an earlier row; nothing was written"
            )
        found[order.order_id] = order
    return list(found.values())


def differing(client: Any, table: str, tenant: str, orders: list[Output]) -> list[str]:
    """Numbers of the orders that the table holds otherwise. Raises CommandError."""
    found = []
    for order in orders:
        try:
            answer = client.get_item(
                TableName=table, Key=key(tenant, order.order_id), ConsistentRead=True
            )
        except (ClientError, BotoCoreError) as error:
            raise CommandError(f"the table of orders cannot be read: {error}") from None
        if "Item" in answer and not _is_same(answer["Item"], order):
            found.append(order.order_id)
    return found


def _is_same(row: dict[str, Any], order: Output) -> bool:
    try:
        return from_row(order.order_id, row) == order
    except InternalError:
        return False


def write(
    client: Any,
    table: str,
    rows: list[dict[str, Any]],
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Put rows, what the table refused for lack of room again. Raises CallFailedError."""
    for start in range(0, len(rows), BATCH_MAX):
        waiting = [{"PutRequest": {"Item": row}} for row in rows[start : start + BATCH_MAX]]
        done = start
        for tried in range(TRIES):
            try:
                answer = client.batch_write_item(RequestItems={table: waiting})
            except (ClientError, BotoCoreError) as error:
                raise _stopped(done, rows, str(error)) from None
            left = answer.get("UnprocessedItems", {}).get(table, [])
            done += len(waiting) - len(left)
            waiting = left
            if not waiting:
                break
            sleep(0.1 * 2**tried)
        else:
            raise _stopped(done, rows, "the table is busy")


def _stopped(done: int, rows: list[dict[str, Any]], why: str) -> CallFailedError:
    return CallFailedError(
        f"{done} of {len(rows)} orders were written, perhaps a few more: {why}. "
        "The same command again is safe"
    )


def _text(file: str | None) -> str:
    if file == "-":
        return sys.stdin.read()
    path = Path(file) if file is not None else SAMPLE
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path} cannot be read: {type(error).__name__}") from None
