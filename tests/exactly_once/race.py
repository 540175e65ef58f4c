"""`python -m tests.exactly_once.race`: moto under threads, without the tests' lock and with it.

Prints at which try it first went wrong without, and how many tries did with it. Writers and losers
have rows of their own. So nothing but moto can make them disagree: every write must be there at the
end, though losers' transactions fail all the while.
"""

from __future__ import annotations

import json
import sys
import threading
from contextlib import suppress

from moto import mock_aws
from moto.dynamodb.responses import DynamoHandler

from functions._runtime import aws
from tests import conftest

WRITERS = LOSERS = 2
ROUNDS = 8
TRIES, LOCKED_TRIES = 20, 5
SWITCH_S = 1e-5


def update(number, condition):
    """A transaction that counts in a row."""
    return [
        {
            "Update": {
                "TableName": conftest.IDEMPOTENCY_TABLE,
                "Key": {"id": {"S": str(number)}},
                "UpdateExpression": "ADD n :one",
                "ConditionExpression": condition,
                "ExpressionAttributeValues": {":one": {"N": "1"}},
            }
        }
    ]


def go_wrong():
    """Whether one try of all threads lost a write, or refused one."""
    client = aws.dynamodb()
    conftest.create_tables()
    barrier = threading.Barrier(WRITERS + LOSERS)
    written = []

    def write(number):
        condition = "attribute_exists(nothing)" if number >= WRITERS else "attribute_not_exists(x)"
        barrier.wait()
        for _ in range(ROUNDS):
            # Whatever moto raises under threads counts as not written.
            with suppress(Exception):
                client.transact_write_items(TransactItems=update(number, condition))
                written.append(number)

    threads = [threading.Thread(target=write, args=(n,)) for n in range(WRITERS + LOSERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    items = client.scan(TableName=conftest.IDEMPOTENCY_TABLE, ConsistentRead=True)["Items"]
    there = {int(item["id"]["S"]): int(item["n"]["N"]) for item in items}
    conftest.delete_tables()
    return len(written) != WRITERS * ROUNDS or there != dict.fromkeys(range(WRITERS), ROUNDS)


def main():
    """Without the lock until a try goes wrong; then several with it."""
    conftest.become_stage()
    sys.setswitchinterval(SWITCH_S)
    with mock_aws():
        DynamoHandler.call_action = conftest._call_action
        without = next((n for n in range(1, TRIES + 1) if go_wrong()), None)
        DynamoHandler.call_action = conftest._locked_call_action
        wrong = sum(go_wrong() for _ in range(LOCKED_TRIES))
    sys.stdout.write(json.dumps({"wrong without, at try": without, "wrong with": wrong}) + "\n")


if __name__ == "__main__":
    main()
