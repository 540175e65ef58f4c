"""The same tool twice: behind our layer, and behind stock Powertools set up as well as it can be.

A side makes processes, a process makes tools, and a tool is called: `Said` is what came of it.
Both sides have the same effect (a counter in DynamoDB), the same record ids and the same hash of
the arguments; so what differs is the layer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent_function,
)
from aws_lambda_powertools.utilities.idempotency.exceptions import BaseError
from pydantic import Field

from contracts.errors import ToolError
from contracts.fingerprint import fingerprint
from contracts.types import Answer
from functions._runtime import aws
from functions._runtime.tool import tool
from tests.exactly_once.world import KEY, LEFT_MS, TABLE, Context
from tests.functions import counter


@dataclass(frozen=True)
class Said:
    """What a caller heard: `value` of a success, or the code of a failure."""

    ok: bool
    value: Any = None
    code: str = ""


class Values(Answer):
    """An output that can be empty, and large."""

    text: str = Field(description="Text.")
    items: list[str] = Field(description="Texts.")
    number: int = Field(description="A number.")
    flag: bool = Field(description="Yes or no.")


def spec_of(name):
    return replace(counter.SPEC, name=f"demo.{name}")


def adding(amount):
    """The effect, as an entry of a transaction."""
    return {
        "Update": {
            "TableName": counter.TABLE,
            "Key": counter.KEY,
            "UpdateExpression": "ADD n :amount",
            "ExpressionAttributeValues": {":amount": {"N": str(amount)}},
        }
    }


class Ours:
    """Tools as the product has them: each with a guard of its own."""

    calls = ("UpdateItem", "GetItem", "TransactWriteItems")
    """A first call; the last one completes the record."""

    def process(self):
        return self

    def tool(self, name="count", **hooks):
        """A tool that counts, with the counter's hooks on its way."""
        handler = tool(spec_of(name))(counter.make(**hooks).__wrapped__)
        return lambda **given: self._said(handler, **given)

    def answering(self, value):
        """A tool that counts one and answers `value`, an output."""

        @tool(replace(spec_of("answer"), output=Values))
        def handler(request, call):
            call.effect.commit([adding(1)], value)
            return value

        return lambda **given: self._said(handler, **given)

    def _said(self, handler, key=KEY, left_ms=LEFT_MS, **arguments):
        answer = handler(counter.args(idempotencyKey=key, **arguments), Context(left_ms))
        if not answer["ok"]:
            return Said(ok=False, code=answer["error"]["code"])
        told = {k: v for k, v in answer.items() if k not in {"ok", "schemaVersion"}}
        del told["skippedAsDuplicate"]
        return Said(ok=True, value=told.get("count", told))


class Stock:
    """Powertools as its documentation shows it: one persistence layer for a process's functions."""

    calls = ("PutItem", "GetItem", "UpdateItem", "UpdateItem")

    def process(self):
        return _StockProcess()


class _StockProcess:
    def __init__(self):
        self._layer = DynamoDBPersistenceLayer(table_name=TABLE, boto3_client=aws.dynamodb())

    def tool(self, name="count", **hooks):
        def hook(point):
            if point in hooks:
                hooks[point]()

        def body(amount):
            hook("start")
            hook("before_commit")
            before = counter.count()
            aws.dynamodb().update_item(**adding(amount)["Update"])
            hook("after_commit")
            return {"count": before + amount}

        return self._guarded(name, body)

    def answering(self, value):
        def body(amount):
            aws.dynamodb().update_item(**adding(amount)["Update"])
            return value

        return self._guarded("answer", body)

    def _guarded(self, name, body):
        spec = spec_of(name)
        config = IdempotencyConfig(
            event_key_jmespath="k",
            payload_validation_jmespath="h",
            raise_on_no_idempotency_key=True,
            hash_function="sha256",
            expires_after_seconds=86_400,
        )

        def function(*, idem, amount):
            return body(amount)

        guarded = idempotent_function(
            function,
            data_keyword_argument="idem",
            persistence_store=self._layer,
            config=config,
            key_prefix=spec.record_prefix,
        )

        def called(key=KEY, left_ms=LEFT_MS, **arguments):
            config.register_lambda_context(Context(left_ms))
            request = counter.Input.model_validate(counter.args(idempotencyKey=key, **arguments))
            idem = {"k": ["default", key], "h": fingerprint(spec, request)}
            try:
                answer = guarded(idem=idem, amount=request.add)
            except ToolError as error:
                return Said(ok=False, code=error.code)
            except BaseError as error:
                return Said(ok=False, code=type(error).__name__)
            counted = isinstance(answer, dict) and "count" in answer
            return Said(ok=True, value=answer["count"] if counted else answer)

        return called
