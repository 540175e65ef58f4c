"""The one place where idempotency is configured: Powertools' engine over a fenced record.

Stock Powertools remembers answers; it does not stop a late attempt from overwriting or deleting
the answer of a newer one. FencedLayer does: each attempt owns the record by a random `owner`, every
write is conditional on it, and the effect's own transaction completes the record.

    absent ──claim──► INPROGRESS(owner, lease) ──commit with the effect──► COMPLETED(answer)
                          │      ▲                 or non-retryable failure
        retryable failure │      │ same arguments only
                          └─► released (lease 0, arguments' hash kept)

A crash leaves INPROGRESS until the lease ends; then a call with the same arguments takes over.
"""

from __future__ import annotations

import json
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent_function,
)
from aws_lambda_powertools.utilities.idempotency.exceptions import (
    IdempotencyAlreadyInProgressError,
    IdempotencyInconsistentStateError,
    IdempotencyItemAlreadyExistsError,
    IdempotencyPersistenceLayerError,
    IdempotencyValidationError,
)
from botocore.exceptions import BotoCoreError, ClientError

from contracts import results
from contracts.errors import (
    IdempotencyConflictError,
    InProgressError,
    UnavailableError,
)
from functions._runtime import telemetry

if TYPE_CHECKING:
    from collections.abc import Callable

    from aws_lambda_powertools.utilities.idempotency.persistence.datarecord import DataRecord

    from contracts.results import Result
    from contracts.spec import ToolSpec

TTL_S = 86_400
"""How long an answer is kept, in seconds: after a day a key is new."""
GRACE_MS = 2_000
"""Added to the lease: Lambda ends a late process up to 0.7 s after its time, and clocks differ."""
RETRY_AFTER_MS = (250, 5_000)

CONDITION_FAILED = "ConditionalCheckFailedException"


@dataclass
class Attempt:
    """One execution of one call, and what it owns."""

    now_ms: Callable[[], int]
    new_owner: Callable[[], str]
    remaining_ms: Callable[[], int]
    key: dict[str, Any] = field(default_factory=dict)
    arguments_hash: str = ""
    owner: str = ""
    number: int = 0
    blocked_by: DataRecord | None = None
    answer: Result | None = None

    def get_remaining_time_in_millis(self) -> int:
        """All that Powertools asks a Lambda context for; the rest of it is kept from it."""
        return self.remaining_ms()


_attempt: ContextVar[Attempt] = ContextVar("toolgate_attempt")


class FencedLayer(DynamoDBPersistenceLayer):
    """Powertools' DynamoDB layer with owned records. Three of its methods are replaced."""

    def _put_record(self, data_record: DataRecord) -> None:
        """Claim the record, or say who has it. One conditional update."""
        attempt = _attempt.get()
        attempt.key = self._get_key(data_record.idempotency_key)
        attempt.arguments_hash = data_record.payload_hash
        attempt.owner = ""
        owner, now_ms = attempt.new_owner(), attempt.now_ms()
        lease_ms = now_ms + attempt.remaining_ms() + GRACE_MS
        try:
            claimed = self.client.update_item(
                TableName=self.table_name,
                Key=attempt.key,
                UpdateExpression=(
                    "SET #expiry=:expiry, #status=:running, #lease=:lease, #hash=:hash, "
                    "#owner=:owner REMOVE #data ADD #attempt :one"
                ),
                # New; or past its retention; or abandoned, and then for the same arguments only.
                ConditionExpression=(
                    "attribute_not_exists(#id) OR #expiry < :now "
                    "OR (#status=:running AND #lease < :now_ms AND #hash=:hash)"
                ),
                ExpressionAttributeNames={
                    "#id": self.key_attr,
                    "#expiry": self.expiry_attr,
                    "#status": self.status_attr,
                    "#lease": self.in_progress_expiry_attr,
                    "#hash": self.validation_key_attr,
                    "#data": self.data_attr,
                    "#owner": "owner",
                    "#attempt": "attempt",
                },
                ExpressionAttributeValues={
                    ":expiry": {"N": str(now_ms // 1000 + TTL_S)},
                    ":running": {"S": "INPROGRESS"},
                    ":lease": {"N": str(lease_ms)},
                    ":hash": {"S": attempt.arguments_hash},
                    ":owner": {"S": owner},
                    ":one": {"N": "1"},
                    ":now": {"N": str(now_ms // 1000)},
                    ":now_ms": {"N": str(now_ms)},
                },
                ReturnValues="UPDATED_NEW",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except (ClientError, BotoCoreError) as error:
            item = _refused_by(error)
            if item is None:
                # The claim may have landed all the same: nobody shall wait for a lease of nobody.
                attempt.owner = owner
                self._delete_record(data_record)
                attempt.owner = ""
                raise
            if item.get("owner") == {"S": owner}:
                # The SDK sent the claim again because the first answer was lost.
                attempt.owner, attempt.number = owner, int(item["attempt"]["N"])
                return
            standing = self._item_to_data_record(item)
            attempt.blocked_by = standing
            self._validate_payload(data_payload=data_record, stored_data_record=standing)
            raise IdempotencyItemAlreadyExistsError(old_data_record=standing) from error
        attempt.owner = owner
        attempt.number = int(claimed["Attributes"]["attempt"]["N"])

    def _update_record(self, data_record: DataRecord) -> None:
        """Store a failure as the answer. A committed effect has completed the record already."""
        attempt = _attempt.get()
        if attempt.answer is None:
            self.client.update_item(**self.completion(data_record.response_data)["Update"])

    def _delete_record(self, data_record: DataRecord) -> None:  # noqa: ARG002  (the base's name)
        """Release the record, keeping the arguments' hash; never another attempt's.

        If the release cannot be written the lease runs out by itself: the failure that led here
        is what the caller must hear of.
        """
        attempt = _attempt.get()
        if not attempt.owner or attempt.answer is not None:
            return
        try:
            self.client.update_item(
                TableName=self.table_name,
                Key=attempt.key,
                UpdateExpression="SET #lease=:none",
                ConditionExpression="#status=:running AND #owner=:owner",
                ExpressionAttributeNames={
                    "#lease": self.in_progress_expiry_attr,
                    "#status": self.status_attr,
                    "#owner": "owner",
                },
                ExpressionAttributeValues={
                    ":none": {"N": "0"},
                    ":running": {"S": "INPROGRESS"},
                    ":owner": {"S": attempt.owner},
                },
            )
        except (ClientError, BotoCoreError) as error:
            telemetry.failed("a record was not released", error)

    def completion(self, answer_json: str) -> dict[str, Any]:
        """The transaction item that completes this attempt's record with its answer."""
        attempt = _attempt.get()
        return {
            "Update": {
                "TableName": self.table_name,
                "Key": attempt.key,
                "UpdateExpression": "SET #status=:done, #data=:data, #expiry=:expiry",
                "ConditionExpression": "#status=:running AND #owner=:owner",
                "ExpressionAttributeNames": {
                    "#status": self.status_attr,
                    "#data": self.data_attr,
                    "#expiry": self.expiry_attr,
                    "#owner": "owner",
                },
                "ExpressionAttributeValues": {
                    ":done": {"S": "COMPLETED"},
                    ":data": {"S": answer_json},
                    ":expiry": {"N": str(attempt.now_ms() // 1000 + TTL_S)},
                    ":running": {"S": "INPROGRESS"},
                    ":owner": {"S": attempt.owner},
                },
            }
        }

    def fence(self) -> dict[str, Any]:
        """The transaction item that fails unless this attempt still owns its call."""
        attempt = _attempt.get()
        return {
            "ConditionCheck": {
                "TableName": self.table_name,
                "Key": attempt.key,
                "ConditionExpression": "#status=:running AND #owner=:owner",
                "ExpressionAttributeNames": {"#status": self.status_attr, "#owner": "owner"},
                "ExpressionAttributeValues": {
                    ":running": {"S": "INPROGRESS"},
                    ":owner": {"S": attempt.owner},
                },
            }
        }

    def standing(self) -> tuple[str, str, Result | None]:
        """Status, owner and answer of this attempt's record, read consistently.

        All empty if there is none, or one of other arguments: after a deletion, or a day late, the
        key is another call's, whose answer is not for this one.
        """
        attempt = _attempt.get()
        found = self.client.get_item(
            TableName=self.table_name, Key=attempt.key, ConsistentRead=True
        ).get("Item", {})
        if found.get(self.validation_key_attr, {}).get("S") != attempt.arguments_hash:
            return "", "", None
        data = found.get(self.data_attr, {}).get("S")
        return (
            found.get(self.status_attr, {}).get("S", ""),
            found.get("owner", {}).get("S", ""),
            json.loads(data) if data else None,
        )


@dataclass(frozen=True)
class Request:
    """What makes two calls the same: whose, which key, which arguments."""

    tenant: str
    key: str
    fingerprint: str


class Guard:
    """Runs a tool's body at most once per tenant and key. One per tool and process."""

    def __init__(self, spec: ToolSpec, *, table: str, client: Any) -> None:
        self.layer = FencedLayer(table_name=table, boto3_client=client)
        self._config = IdempotencyConfig(
            event_key_jmespath="k",
            payload_validation_jmespath="h",
            raise_on_no_idempotency_key=True,
            hash_function="sha256",
            expires_after_seconds=TTL_S,
            use_local_cache=False,
            response_hook=lambda stored, _record: results.as_duplicate(stored),
        )
        self._guarded = idempotent_function(
            _body,
            data_keyword_argument="idem",
            persistence_store=self.layer,
            config=self._config,
            key_prefix=spec.record_prefix,
        )

    def run(self, request: Request, attempt: Attempt, body: Callable[[Attempt], Result]) -> Result:
        """The first answer of this call, by running `body` or from the record.

        `body` returns an answer to keep, or raises a retryable ToolError to release the key.
        Raises IdempotencyConflictError, InProgressError, UnavailableError and what `body` raises.
        """
        token = _attempt.set(attempt)
        self._config.register_lambda_context(attempt)  # type: ignore[arg-type]
        try:
            answer: Result = self._guarded(
                idem={"k": [request.tenant, request.key], "h": request.fingerprint}, body=body
            )
        except IdempotencyValidationError:
            raise IdempotencyConflictError(
                "the idempotencyKey was used with other arguments; take a new one"
            ) from None
        except (IdempotencyAlreadyInProgressError, IdempotencyInconsistentStateError):
            raise InProgressError(
                "a call with this idempotencyKey is still running; repeat the identical call",
                retryAfterMs=_retry_after_ms(attempt),
            ) from None
        except IdempotencyPersistenceLayerError as error:
            telemetry.failed("the record could not be written", error.__cause__)
            raise UnavailableError(
                "the record of calls was not available; repeat the call"
            ) from error
        finally:
            _attempt.reset(token)
        return answer


def _refused_by(error: ClientError | BotoCoreError) -> dict[str, Any] | None:
    """The item because of which a condition failed; None if the error is another one."""
    if isinstance(error, BotoCoreError) or error.response["Error"]["Code"] != CONDITION_FAILED:
        return None
    item: dict[str, Any] = error.response["Item"]
    return item


def _body(*, idem: dict[str, Any], body: Callable[[Attempt], Result]) -> Result:  # noqa: ARG001
    return body(_attempt.get())


def _retry_after_ms(attempt: Attempt) -> int:
    standing = attempt.blocked_by
    lease_ms = int(standing.in_progress_expiry_timestamp or 0) if standing else 0
    low, high = RETRY_AFTER_MS
    return max(low, min(lease_ms - attempt.now_ms(), high))


class RecordedError(Exception):
    """Another attempt has completed this call; `answer` is what the caller gets."""

    def __init__(self, answer: Result) -> None:
        super().__init__("the call was completed by another attempt")
        self.answer = answer
