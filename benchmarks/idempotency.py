"""Our guard beside stock Powertools: AWS calls, and the time of both around the same work.

`python -m benchmarks.idempotency`. The store is one that answers at once, so that what is timed is
the two libraries' own work; the calls are counted on it as well. Ratios are of medians, ours to
stock, from interleaved rounds of one run.
"""

from __future__ import annotations

import statistics
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent_function,
)
from aws_lambda_powertools.utilities.idempotency.exceptions import IdempotencyValidationError
from botocore.exceptions import ClientError

from contracts.apply_patch.v1 import SPEC, Output
from contracts.errors import IdempotencyConflictError
from functions._runtime.commit import RecordedEffect
from functions._runtime.idempotency import Attempt, Guard, Request

ROUNDS = 300
OUTPUT = Output(applied=["a.txt"])
EXPECTED: dict[str, tuple[type[Exception], ...]] = {
    "first run": (),
    "replay": (),
    "conflict": (IdempotencyConflictError, IdempotencyValidationError),
}
ANSWER = {"ok": True, "schemaVersion": 1, "applied": ["a.txt"], "skippedAsDuplicate": False}


class Context:
    """A Lambda context with 10 s left."""

    def get_remaining_time_in_millis(self) -> int:
        return 10_000


class Table:
    """Enough of DynamoDB for one idempotency table: conditional claim, completion, release."""

    def __init__(self) -> None:
        self.items: dict[str, dict[str, Any]] = {}
        self.calls: list[str] = []

    def put_item(self, *, Item: dict[str, Any], **_: Any) -> dict[str, Any]:  # noqa: N803
        self.calls.append("PutItem")
        return self._claim(Item["id"]["S"], Item)

    def update_item(self, *, Key: dict[str, Any], **given: Any) -> dict[str, Any]:  # noqa: N803
        self.calls.append("UpdateItem")
        values, names = given["ExpressionAttributeValues"], given["ExpressionAttributeNames"]
        identity = Key["id"]["S"]
        if "ADD #attempt" in given["UpdateExpression"]:
            item = {
                names["#status"]: values[":running"],
                names["#hash"]: values[":hash"],
                names["#lease"]: values[":lease"],
                names["#expiry"]: values[":expiry"],
                "owner": values[":owner"],
                "id": {"S": identity},
            }
            self._claim(identity, item)
            return {"Attributes": {"attempt": {"N": "1"}}}
        data = next(v for k, v in values.items() if k in {":data", ":response_data"})
        self.items[identity] |= {"status": {"S": "COMPLETED"}, "data": data}
        return {}

    def transact_write_items(self, *, TransactItems: list[Any], **_: Any) -> dict[str, Any]:  # noqa: N803
        self.calls.append("TransactWriteItems")
        update = TransactItems[-1]["Update"]
        data = update["ExpressionAttributeValues"][":data"]
        self.items[update["Key"]["id"]["S"]] |= {"status": {"S": "COMPLETED"}, "data": data}
        return {}

    def _claim(self, identity: str, item: dict[str, Any]) -> dict[str, Any]:
        if identity in self.items:
            error = {"Error": {"Code": "ConditionalCheckFailedException", "Message": ""}}
            raise ClientError({**error, "Item": self.items[identity]}, "claim")  # type: ignore[typeddict-item]
        self.items[identity] = dict(item)
        return {}


def ours(table: Table) -> Callable[[str, str], Any]:
    guard = Guard(SPEC, table="t", client=table)

    def body(attempt: Attempt) -> dict[str, Any]:
        RecordedEffect(SPEC, guard.layer, attempt).commit([], OUTPUT)
        return attempt.answer or {}

    def call(key: str, arguments: str) -> Any:
        attempt = Attempt(
            now_ms=lambda: time.time_ns() // 1_000_000,
            new_owner=lambda: uuid.uuid4().hex,
            remaining_ms=lambda: 10_000,
        )
        return guard.run(Request("default", key, arguments), attempt, body)

    return call


def stock(table: Table) -> Callable[[str, str], Any]:
    layer = DynamoDBPersistenceLayer(table_name="t", boto3_client=table)  # type: ignore[arg-type]
    config = IdempotencyConfig(
        event_key_jmespath="k",
        payload_validation_jmespath="h",
        raise_on_no_idempotency_key=True,
        hash_function="sha256",
    )
    config.register_lambda_context(Context())  # type: ignore[arg-type]

    @idempotent_function(
        data_keyword_argument="idem", persistence_store=layer, config=config, key_prefix="stock@1"
    )
    def work(*, idem: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001  (Powertools hashes it)
        return ANSWER

    return lambda key, arguments: work(idem={"k": ["default", key], "h": arguments})


def main() -> None:
    tables = {"ours": Table(), "stock": Table()}
    calls = {"ours": ours(tables["ours"]), "stock": stock(tables["stock"])}
    cases = {
        "first run": lambda: (uuid.uuid4().hex, "1:a"),
        "replay": lambda: ("replayed", "1:a"),
        "conflict": lambda: ("replayed", "1:b"),
    }
    for call in calls.values():
        call("replayed", "1:a")
    print(f"{'':12}{'calls, ours':44}{'calls, stock':28}{'µs ours':>9}{'µs stock':>9}{'ratio':>7}")
    for case, arguments in cases.items():
        times: dict[str, list[float]] = {"ours": [], "stock": []}
        seen: dict[str, str] = {}
        for _ in range(ROUNDS):
            for name, call in calls.items():
                key = arguments()
                tables[name].calls.clear()
                started = time.perf_counter()
                with suppress(*EXPECTED[case]):
                    call(*key)
                times[name].append((time.perf_counter() - started) * 1e6)
                seen[name] = ", ".join(tables[name].calls)
        mine, theirs = (statistics.median(times[name]) for name in ("ours", "stock"))
        operations = f"{case:12}{seen['ours']:44}{seen['stock']:28}"
        print(f"{operations}{mine:9.0f}{theirs:9.0f}{mine / theirs:7.2f}")
    print(
        "\nours: the first run's TransactWriteItems is the effect's own; it carries the completion."
        "\nstock: the effect comes between its two writes, and is repeated if the second one fails."
    )


if __name__ == "__main__":
    main()
