"""`toolgate orders seed`: all rows or none of a bad file, and no row more than it says."""

from __future__ import annotations

import json

import pytest
from botocore.exceptions import ClientError
from typer.testing import CliRunner

from contracts.orders_lookup.v1 import Output
from functions._runtime import aws
from functions.orders_lookup.orders import to_row
from functions.orders_lookup.v1 import handler
from tests.conftest import ORDERS_TABLE
from toolgate import orders_commands
from toolgate.errors import CallFailedError, CommandError

ORDER = {"order_id": "ORD-10042", "status": "paid", "items_count": 3, "total_amount": 129.95}


@pytest.fixture
def places(aws_cloud, monkeypatch):
    """The command's table is the one on moto; gives which places were asked for."""
    asked = []

    def there(where, stage, service):
        asked.append((where, stage, service))
        return aws.dynamodb(), {"OrdersTable": ORDERS_TABLE}

    monkeypatch.setattr(orders_commands, "client_and_outputs", there)
    return asked


def run(*words, stdin=None):
    result = CliRunner().invoke(orders_commands.app, ["seed", *words], input=stdin)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def stored():
    return aws.dynamodb().scan(TableName=ORDERS_TABLE)["Items"]


def some(count):
    return [{**ORDER, "order_id": f"ORD-{number:06}"} for number in range(count)]


def test_seeded_orders_are_found_by_the_tool(places, tmp_path):
    path = tmp_path / "orders.json"
    path.write_text(json.dumps([ORDER, {**ORDER, "order_id": "ORD-10043", "total_amount": 7}]))
    assert run(str(path)) == "2 orders written for tenant default\n"
    assert handler({"order_id": "ORD-10042"}, None) == {"ok": True, "schemaVersion": 1, **ORDER}
    assert handler({"order_id": "ORD-10043"}, None)["total_amount"] == 7.0
    assert places == [("local", "dev", "dynamodb")]


def test_the_sample_is_made_of_orders_and_can_be_seeded_twice(places):
    said = run("--sample", "--target", "aws", "--stage", "prod")
    assert run("--sample") == said
    assert said == f"{len(stored())} orders written for tenant default\n"
    assert handler({"order_id": "ORD-10042"}, None)["total_amount"] == 129.95
    assert places[0] == ("aws", "prod", "dynamodb")


def test_orders_come_from_standard_input_for_the_tenant_that_is_named(places):
    assert run("-", "--tenant", "acme", stdin=json.dumps([ORDER])).endswith("tenant acme\n")
    (row,) = stored()
    assert row["pk"] == {"S": "ORDER#acme#ORD-10042"}


def test_more_rows_than_dynamodb_takes_at_once_are_all_written(places):
    assert run("-", stdin=json.dumps(some(60))) == "60 orders written for tenant default\n"
    assert len(stored()) == 60


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([ORDER, {**ORDER, "order_id": "10043"}], "row 2, order_id: too short"),
        ([{**ORDER, "total_amount": 1.001}], "row 1, total_amount: more than two decimals"),
        ([{**ORDER, "total_amount": "1"}], "row 1, total_amount: not a number"),
        ([{**ORDER, "items_count": -1}], "row 1, items_count: too small"),
        ([{**ORDER, "status": "lost"}], "row 1, status: not one of the allowed values"),
        ([{**ORDER, "note": "x"}], "row 1, note: unknown field"),
        ([{"order_id": "ORD-10042"}], "row 1, status: required"),
        ([ORDER, 7], "row 2: not an object"),
        ([ORDER, ORDER], "row 2: ORD-10042 stands in an earlier row"),
    ],
)
def test_a_row_that_is_wrong_is_named_and_nothing_is_written(places, rows, says):
    with pytest.raises(CommandError) as raised:
        run("-", stdin=json.dumps(rows))
    assert str(raised.value) == f"{says}; nothing was written"
    assert stored() == []
    assert places == []


@pytest.mark.parametrize(
    "amount", ["9999999999.990000000001", "0.1000000000000000055511151231257827", "1e-30"]
)
def test_digits_that_a_float_would_lose_are_seen(places, amount):
    text = json.dumps([ORDER]).replace("129.95", amount)
    with pytest.raises(CommandError, match="row 1, total_amount: more than two decimals"):
        run("-", stdin=text)
    assert stored() == []


def test_an_order_that_is_there_and_differs_is_replaced_on_demand_only(places):
    run("-", stdin=json.dumps([ORDER]))
    before, changed = stored(), {**ORDER, "status": "shipped"}
    both = json.dumps([{**ORDER, "order_id": "ORD-10000"}, changed])
    with pytest.raises(CommandError, match=r"1 of these orders are there and differ, ORD-10042"):
        run("-", stdin=both)
    assert stored() == before
    assert run("-", "--replace", stdin=both) == "2 orders written for tenant default\n"
    assert handler({"order_id": "ORD-10042"}, None)["status"] == "shipped"


def test_nothing_owed_is_nothing_owed(places):
    run("-", stdin=json.dumps([{**ORDER, "total_amount": -0.0}]))
    assert str(handler({"order_id": "ORD-10042"}, None)["total_amount"]) == "0.0"


@pytest.mark.parametrize(
    ("words", "stdin", "says"),
    [
        ((), None, "name one file of orders, or give --sample"),
        (("-", "--sample"), "[]", "name one file of orders, or give --sample"),
        (("-",), "{", "the orders are not usable JSON"),
        (("-",), "{}", "the orders must be one JSON array of objects"),
        (("no-such-file",), None, "no-such-file cannot be read: FileNotFoundError"),
        (("-", "--tenant", "a#b"), "[]", "a tenant is 1-32 of a-z, 0-9 and -"),
        (("-", "--target", "mars"), "[]", "--target takes local or aws"),
    ],
)
def test_misuse_is_told_in_a_sentence(words, stdin, says):
    with pytest.raises(CommandError, match=says):
        run(*words, stdin=stdin)


def test_a_stage_without_the_table_says_to_deploy_it(monkeypatch):
    monkeypatch.setattr(orders_commands, "client_and_outputs", lambda *_: (None, {}))
    with pytest.raises(CommandError, match="stage dev has no table of orders yet: deploy it first"):
        run("--sample")


class Full:
    """A table that takes `room` rows of each batch, and after `batches` of them fails."""

    def __init__(self, room, batches=99):
        self.room, self.batches, self.rows = room, batches, []

    def batch_write_item(self, RequestItems):  # noqa: N803  (boto3's name)
        ((table, requests),) = RequestItems.items()
        assert len(requests) <= orders_commands.BATCH_MAX
        if self.batches == 0:
            raise ClientError({"Error": {"Code": "Denied", "Message": "no"}}, "BatchWriteItem")
        self.batches -= 1
        self.rows += requests[: self.room]
        left = requests[self.room :]
        return {"UnprocessedItems": {table: left} if left else {}}


def rows(count):
    return [to_row("default", Output(**order)) for order in some(count)]


def test_rows_that_found_no_room_are_sent_again_after_a_while():
    table, waits = Full(room=10), []
    orders_commands.write(table, "orders", rows(30), sleep=waits.append)
    assert [put["PutRequest"]["Item"] for put in table.rows] == rows(30)
    assert waits == [0.1, 0.2]


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (Full(room=0), "0 of 30 orders were written, perhaps a few more: the table is busy"),
        (Full(room=25, batches=1), "25 of 30 orders were written, perhaps a few more: .*Denied"),
    ],
)
def test_a_table_that_stops_taking_rows_is_told_with_how_many_it_has(table, says):
    with pytest.raises(CallFailedError, match=says):
        orders_commands.write(table, "orders", rows(30), sleep=lambda _s: None)
