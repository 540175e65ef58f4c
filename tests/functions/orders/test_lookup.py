"""orders.lookup on moto: one consistent read, and what comes of what it may find."""

from __future__ import annotations

import json

import pytest

from contracts import registry
from functions._runtime import aws, settings
from functions.orders_lookup.v1 import handler
from tests.conftest import BINDINGS, ORDERS_TABLE
from tests.faults.campaign import faulty
from tests.faults.injector import Fault, Injector

ORDER = {"order_id": "ORD-10042", "status": "paid", "items_count": 3, "total_amount": 129.95}
SPEC = registry.find("orders_lookup_v1")


def lookup(order_id="ORD-10042"):
    return handler({"order_id": order_id}, None)


def bound(monkeypatch, **direct):
    bindings = BINDINGS | {"direct": BINDINGS["direct"] | direct}
    monkeypatch.setenv("TOOLGATE_BINDINGS", json.dumps(bindings))
    settings.settings.cache_clear()


def test_an_order_costs_one_consistent_read_and_keeps_its_digits(workspaces, aws_calls):
    workspaces.put_order(ORDER)
    aws_calls.clear()
    seen = []
    events = aws.dynamodb().meta.events
    note = lambda params, **_: seen.append(params)  # noqa: E731
    events.register("provide-client-params.dynamodb.GetItem", note)
    try:
        answer = lookup()
    finally:
        events.unregister("provide-client-params.dynamodb.GetItem", note)
    assert answer == {"ok": True, "schemaVersion": 1, **ORDER}
    assert '"total_amount": 129.95}' in json.dumps(answer)
    assert aws_calls == ["GetItem"]
    assert [params["ConsistentRead"] for params in seen] == [True]


def test_a_tenant_finds_its_own_orders_and_no_other_tenants(workspaces, monkeypatch):
    workspaces.put_order(ORDER, tenant="acme")
    workspaces.put_order({**ORDER, "status": "cancelled"}, tenant="other")
    missing = lookup()
    assert missing["error"]["code"] == "order_not_found"
    bound(monkeypatch, tenant="acme")
    assert lookup()["status"] == "paid"
    bound(monkeypatch, tenant="other")
    assert lookup()["status"] == "cancelled"
    bound(monkeypatch, tenant="third")
    assert lookup() == missing


def test_a_caller_without_the_scope_is_told_which_and_nothing_is_read(aws_calls, monkeypatch):
    bound(monkeypatch, scopes=["workspace:read", "workspace:write", "release:publish"])
    aws_calls.clear()
    error = lookup()["error"]
    assert error["code"] == "FORBIDDEN"
    assert error["details"] == {"reason": "SCOPE_MISSING", "scope": "orders:read"}
    assert aws_calls == []


def test_a_damaged_row_answers_internal_and_tells_nothing_of_it(workspaces):
    workspaces.put_order(ORDER)
    row = {"pk": {"S": "ORDER#default#ORD-10042"}, "status": {"S": "secret"}}
    aws.dynamodb().put_item(TableName=ORDERS_TABLE, Item=row)
    answer = lookup()
    assert (answer["error"]["code"], answer["error"]["retryable"]) == ("INTERNAL", True)
    assert "secret" not in json.dumps(answer)


@pytest.mark.usefixtures("aws_cloud")
@pytest.mark.parametrize("fault", [Fault.ERROR, Fault.THROTTLE, Fault.TIMEOUT_UNSENT])
def test_a_table_that_fails_is_unavailable_and_names_nothing_of_aws(fault):
    with faulty(Injector(0, fault)):
        error = lookup()["error"]
    assert (error["code"], error["retryable"]) == ("UNAVAILABLE", True)
    assert error["message"] == "a store failed or was busy; repeat the call"


def test_too_little_time_is_a_timeout_and_nothing_is_read(aws_calls):
    class Context:
        client_context = None

        def get_remaining_time_in_millis(self):
            return 500

    aws_calls.clear()
    answer = handler({"order_id": "ORD-10042"}, Context())
    assert answer["error"]["code"] == "TIMEOUT"
    assert aws_calls == []
