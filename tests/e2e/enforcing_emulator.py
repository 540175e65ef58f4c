"""Runs the emulator, in its own Python, with what its IAM lacks for the policies of this project.

The emulator evaluates policies itself. What it lacks is read from the request and given to its
evaluator here. That is how we understand AWS, and no proof of it:

dynamodb:LeadingKeys  without it, a right on some rows of a table is one on all of them
sts:SourceIdentity    and the action that sets it; without it nobody fits a policy that names it
${aws:username}       in trust policies
Ref of a secret       its ARN; the emulator's is its name, which is no resource of a policy

It leans on names inside the pinned version and ends with an error if they are gone.
"""

from __future__ import annotations

import dataclasses
import json
import re
from contextvars import ContextVar
from typing import Any

from ministack.app import main
from ministack.core import iam_actions, iam_evaluator
from ministack.services import dynamodb, sts
from ministack.services.cloudformation import provisioners

LEADING = "dynamodb:LeadingKeys"
SOURCE = "sts:sourceidentity"
USERNAME = "${aws:username}"
SECRET = "AWS::SecretsManager::Secret"
MEMBERS = ("ConditionCheck", "Put", "Update", "Delete", "Get")
UNREADABLE = "\0"
"""Fits no policy: a key that is not understood must not look like one that is allowed."""

_source: ContextVar[str | None] = ContextVar("toolgate_source_identity", default=None)


class KeyedArn(str):
    """The table's ARN of one item of a transaction, with the item's partition key."""

    __slots__ = ("keys",)

    keys: list[str]


def leading_keys(body: bytes) -> list[str]:
    """The partition keys that a request names; none for what names none, such as a scan."""
    data = json.loads(body or b"{}")
    if batch := data.get("RequestItems"):
        return [
            key
            for table, asked in batch.items()
            for one in _batched(asked)
            for key in _keys(table, one)
        ]
    table = data.get("TableName")
    return _keys(table, data) if table else []


def _batched(asked: Any) -> list[dict[str, Any]]:
    if isinstance(asked, dict):
        return [{"Key": key} for key in asked["Keys"]]
    return [request for one in asked for request in one.values()]


def _keys(table: str, asked: dict[str, Any]) -> list[str]:
    name = _partition(table.rpartition("/")[2], asked.get("IndexName"))
    for part in ("Key", "Item"):
        if part in asked:
            return [_text(asked[part].get(name))]
    if "KeyConditionExpression" in asked:
        names = asked.get("ExpressionAttributeNames", {})
        for left, right in re.findall(r"([#\w]+)\s*=\s*(:\w+)", asked["KeyConditionExpression"]):
            if names.get(left, left) == name:
                return [_text(asked["ExpressionAttributeValues"].get(right))]
        return [UNREADABLE]
    return []


def _partition(table: str, index: str | None) -> str:
    held = dynamodb._tables.get(table) or {}
    schema = held.get("KeySchema", [])
    for one in held.get("GlobalSecondaryIndexes") or []:
        if one["IndexName"] == index:
            schema = one["KeySchema"]
    return next((one["AttributeName"] for one in schema if one["KeyType"] == "HASH"), UNREADABLE)


def _text(value: Any) -> str:
    found = value.get("S") if isinstance(value, dict) else None
    return found if isinstance(found, str) else UNREADABLE


def add_leading_keys() -> None:
    """Each request's keys, and each item's of a transaction, which is a check of its own."""
    context, checks = iam_actions.dynamodb_service_context, iam_actions.dynamodb_transaction_checks
    enforce = iam_evaluator.enforce

    def context_with_keys(body: bytes) -> dict[str, Any]:
        keys = leading_keys(body)
        return {**context(body), **({LEADING: keys} if keys else {})}

    def checks_with_keys(
        action: str, body: bytes, region: str, account: str
    ) -> list[tuple[str, str]]:
        found = checks(action, body, region, account)
        if not found:
            return found
        items = [
            one[member]
            for one in json.loads(body)["TransactItems"]
            for member in MEMBERS
            if member in one
        ]
        made = []
        for (item_action, arn), item in zip(found, items, strict=True):
            keyed = KeyedArn(arn)
            keyed.keys = _keys(item["TableName"], item)
            made.append((item_action, keyed))
        return made

    def enforce_with_keys(*given: Any, **named: Any) -> Any:
        arn = named.get("resource_arn")
        if isinstance(arn, KeyedArn):
            named["service_context"] = {**named["service_context"], LEADING: arn.keys}
        return enforce(*given, **named)

    iam_actions.dynamodb_service_context = context_with_keys
    iam_actions.dynamodb_transaction_checks = checks_with_keys
    iam_evaluator.enforce = enforce_with_keys


def add_source_identity() -> None:
    """A trust policy sees it, and must allow that it is set, which is an action of its own.

    Of that action AWS lists one key, the identity itself: the session's name is not among them.
    """
    read, trusts = sts._p, iam_evaluator.evaluate_trust_policy

    def reading(params: Any, name: str, *default: Any) -> Any:
        if name == "RoleSessionName":
            _source.set(read(params, "SourceIdentity", None))
        return read(params, name, *default)

    def trusts_as(document: Any, caller: str, context: Any = None) -> bool:
        source = _source.get()
        if context is None:
            return bool(trusts(document, caller))
        document = filled_in(document, context.principal_keys)
        if source is None:
            return bool(trusts(document, caller, context))
        seen = {**context.service_context, SOURCE: source}
        setting = dataclasses.replace(
            context, action="sts:SetSourceIdentity", service_context={SOURCE: source}
        )
        context = dataclasses.replace(context, service_context=seen)
        return bool(trusts(document, caller, context) and trusts(document, caller, setting))

    sts._p = reading
    iam_evaluator.evaluate_trust_policy = trusts_as


def filled_in(document: Any, keys: dict[str, Any]) -> str:
    """A policy with the user's name in it; for who has none the variable stays, and fits nobody."""
    text = document if isinstance(document, str) else json.dumps(document)
    return text.replace(USERNAME, keys.get("aws:username", USERNAME))


def refer_to_secrets_by_arn() -> None:
    """For a cloud that is deployed once: a later update would look for the name."""
    handlers = provisioners._RESOURCE_HANDLERS[SECRET]
    create = handlers["create"]

    def create_by_arn(*given: Any) -> tuple[str, dict[str, str]]:
        _, attributes = create(*given)
        return attributes["Arn"], attributes

    handlers["create"] = create_by_arn


if __name__ == "__main__":
    add_leading_keys()
    add_source_identity()
    refer_to_secrets_by_arn()
    main()
