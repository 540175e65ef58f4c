"""The one table from scopes to IAM: which actions, on which part of which store.

A tool's role holds what its scopes say and nothing else. Reading is allowed within the
workspaces' rows and objects, or the orders' rows; a tool that changes something may also touch the
idempotency records of its own version, and no other tool's. A tool that people must agree to asks
them and reads what they decided, and cannot write it. Every tool may read the one secret that
caller tokens are verified with.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from contracts.spec import Approval, Scope
from infra.errors import ScopeError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contracts.spec import ToolSpec


class Store(StrEnum):
    """What holds state."""

    WORKSPACE_TABLE = "workspace_table"
    WORKSPACE_BUCKET = "workspace_bucket"
    IDEMPOTENCY_TABLE = "idempotency_table"
    ORDERS_TABLE = "orders_table"
    RELEASES_BUCKET = "releases_bucket"
    APPROVALS_TABLE = "approvals_table"
    APPROVALS_BUCKET = "approvals_bucket"
    APPROVALS_TOPIC = "approvals_topic"
    CALLER_KEYS = "caller_keys"

    @property
    def holds_objects(self) -> bool:
        """Whether it is a bucket; else it is a table, a topic, or the secret of keys."""
        return self in {Store.WORKSPACE_BUCKET, Store.RELEASES_BUCKET, Store.APPROVALS_BUCKET}


@dataclass(frozen=True, kw_only=True, order=True)
class Grant:
    """Actions on the part of a store: keys of objects, or leading keys of rows, by pattern.

    A secret or a topic has no parts: there it is WHOLE.
    """

    store: Store
    part: str
    actions: tuple[str, ...]


WHOLE = ""
ROWS = "WS#*"
OBJECTS = "t/*"
ORDERS = "ORDER#*"
STAGED, RELEASED = "staging/*", "releases/*"
REQUESTS, DECISIONS, EVENTS = "REQ#*", "DEC#*", "AUD#*"
ARGUMENTS, HEADS = "arguments/*", "heads/*"


def _rows(*actions: str) -> Grant:
    return Grant(store=Store.WORKSPACE_TABLE, part=ROWS, actions=actions)


def _objects(*actions: str) -> Grant:
    return Grant(store=Store.WORKSPACE_BUCKET, part=OBJECTS, actions=actions)


_READ = (_rows("dynamodb:BatchGetItem", "dynamodb:GetItem"), _objects("s3:GetObject"))
# TransactWriteItems is not an action of its own: each of its items needs its single action.
_WRITE = (
    _rows("dynamodb:PutItem", "dynamodb:UpdateItem"),
    _objects("s3:PutObject"),
)

_RELEASE = tuple(
    Grant(store=Store.RELEASES_BUCKET, part=part, actions=("s3:GetObject", "s3:PutObject"))
    for part in (STAGED, RELEASED)
)

# A tool asks, and uses up what people have decided; what they decide it can only read.
_ASKING = (
    Grant(
        store=Store.APPROVALS_TABLE,
        part=REQUESTS,
        actions=("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"),
    ),
    Grant(
        store=Store.APPROVALS_TABLE,
        part=DECISIONS,
        actions=("dynamodb:ConditionCheckItem", "dynamodb:GetItem"),
    ),
    Grant(store=Store.APPROVALS_TABLE, part=EVENTS, actions=("dynamodb:PutItem", "dynamodb:Query")),
    Grant(store=Store.APPROVALS_BUCKET, part=ARGUMENTS, actions=("s3:PutObject",)),
    Grant(store=Store.APPROVALS_BUCKET, part=HEADS, actions=("s3:PutObject",)),
    Grant(store=Store.APPROVALS_TOPIC, part=WHOLE, actions=("sns:Publish",)),
)

_KEYS = Grant(store=Store.CALLER_KEYS, part=WHOLE, actions=("secretsmanager:GetSecretValue",))

SCOPES: Mapping[str, tuple[Grant, ...]] = {
    Scope.WORKSPACE_READ: _READ,
    Scope.WORKSPACE_WRITE: (*_READ, *_WRITE),
    Scope.ORDERS_READ: (
        Grant(store=Store.ORDERS_TABLE, part=ORDERS, actions=("dynamodb:GetItem",)),
    ),
    Scope.RELEASE_PUBLISH: _RELEASE,
}


def grants(spec: ToolSpec) -> tuple[Grant, ...]:
    """What the role of a tool holds: one grant for each part of a store, in a fixed order.

    Raises ScopeError for a scope that the table does not know.
    """
    asked = [_KEYS, *(grant for scope in sorted(spec.scopes) for grant in _of_scope(scope, spec))]
    records = f"{spec.record_prefix}#*"
    if spec.mutates:
        actions = ("dynamodb:GetItem", "dynamodb:UpdateItem")
        asked.append(Grant(store=Store.IDEMPOTENCY_TABLE, part=records, actions=actions))
    if spec.approval is not Approval.NONE:
        asked += _ASKING
    if spec.approval is Approval.DUAL:
        # An effect outside of DynamoDB is fenced by a look at the record.
        fence = ("dynamodb:ConditionCheckItem",)
        asked.append(Grant(store=Store.IDEMPOTENCY_TABLE, part=records, actions=fence))
    merged: dict[tuple[Store, str], set[str]] = {}
    for grant in asked:
        merged.setdefault((grant.store, grant.part), set()).update(grant.actions)
    return tuple(
        Grant(store=store, part=part, actions=tuple(sorted(actions)))
        for (store, part), actions in sorted(merged.items())
    )


def _of_scope(scope: str, spec: ToolSpec) -> tuple[Grant, ...]:
    if scope not in SCOPES:
        raise ScopeError(f"{spec.key} has scope {scope}, which infra/scopes.py turns into nothing")
    return SCOPES[scope]
