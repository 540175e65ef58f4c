"""A mutating tool of the tests' own: it adds to a counter, and can be told to fail on the way."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from contracts.errors import ConflictError, DomainError, UnavailableError
from contracts.spec import Effect, Scope, ToolSpec
from contracts.types import WHOLE, Answer, Contract, IdempotencyKey
from functions._runtime import aws
from functions._runtime.effect import PreconditionFailedError
from functions._runtime.tool import tool

TABLE = "workspace"
KEY = {"pk": {"S": "COUNTER"}, "sk": {"S": "COUNTER"}}


class OddError(DomainError):
    """The counter refuses."""

    code = "odd_counter"


class Input(Contract):
    schema_version: Annotated[Literal[1], WHOLE] = Field(description="Version.")
    idempotency_key: IdempotencyKey
    add: int = Field(ge=1, le=100, description="How much.")
    note: str = Field(default="", max_length=100, description="Anything.")
    dry_run: bool = Field(default=False, description="Say only.")


class Output(Answer):
    count: int = Field(ge=0, description="The counter.")


SPEC = ToolSpec(
    name="demo.count",
    version="1.0.0",
    summary="Add to a counter.",
    owner="tests",
    input=Input,
    output=Output,
    errors=(OddError,),
    effect=Effect.WRITE,
    scopes=frozenset({Scope.WORKSPACE_WRITE}),
    timeout_s=10,
)


def count() -> int:
    """The counter as it stands."""
    item = aws.dynamodb().get_item(TableName=TABLE, Key=KEY, ConsistentRead=True).get("Item", {})
    return int(item.get("n", {}).get("N", "0"))


def make(spec=SPEC, **hooks):
    """A fresh handler, as another Lambda process would have one, with hooks on its way.

    `start` and `before_commit` run inside the effect, `after_commit` when it has happened.
    """

    def hook(name):
        if name in hooks:
            hooks[name]()

    @tool(spec)
    def handler(request, call):
        hook("start")
        if request.note == "odd":
            raise OddError("the counter refuses")
        if request.note == "conflict":
            raise ConflictError("the counter is elsewhere")
        if request.note == "unavailable":
            raise UnavailableError("the counter is busy")
        if request.note == "bug":
            raise RuntimeError("secret text")
        while True:
            before = count()
            output = Output(count=before + request.add)
            if call.dry_run:
                return output
            hook("before_commit")
            try:
                call.effect.commit([_moved(before, output.count)], output)
            except PreconditionFailedError:
                continue
            hook("after_commit")
            return output

    return handler


def _moved(before, after):
    condition = "#n = :before" if before else "attribute_not_exists(#n)"
    values = {":after": {"N": str(after)}} | ({":before": {"N": str(before)}} if before else {})
    return {
        "Update": {
            "TableName": TABLE,
            "Key": KEY,
            "UpdateExpression": "SET #n = :after",
            "ConditionExpression": condition,
            "ExpressionAttributeNames": {"#n": "n"},
            "ExpressionAttributeValues": values,
        }
    }


def args(**changes):
    """The arguments of a good call, with changes."""
    return {"schemaVersion": 1, "idempotencyKey": "key-12345678", "add": 1, **changes}
