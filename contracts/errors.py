"""Every code a tool may answer with, whether it is worth a retry, and what the caller does.

    ToolError                       code, retryable, message, details
    ├── InvalidArgumentsError       VALIDATION
    ├── ForbiddenError              FORBIDDEN
    ├── ForbiddenPathError          FORBIDDEN_PATH
    ├── TooLargeError               TOO_LARGE
    ├── NotFoundError               NOT_FOUND
    ├── ConflictError               CONFLICT
    ├── IdempotencyConflictError    IDEMPOTENCY_CONFLICT
    ├── InProgressError             IN_PROGRESS             retryable
    ├── DeadlineError               TIMEOUT                 retryable
    ├── UnavailableError            UNAVAILABLE             retryable
    ├── InternalError               INTERNAL                retryable, once
    ├── OutcomeUnknownError         OUTCOME_UNKNOWN
    ├── ApprovalPendingError        APPROVAL_PENDING        retryable, by the identical call
    ├── ApprovalDeniedError         APPROVAL_DENIED
    ├── ApprovalExpiredError        APPROVAL_EXPIRED
    └── DomainError                 a tool's own lower_snake code

A handler raises one of these and never returns it. A tool's own errors subclass DomainError in its
contract, set `code` and `retryable`, and are listed in `SPEC.errors`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Recovery = Literal["retry", "replan", "escalate"]

MESSAGE_MAX = 500
DETAILS_MAX_BYTES = 8_000


@dataclass(frozen=True)
class Code:
    """A platform code: what it means, what a caller does, what becomes of the record."""

    name: str
    retryable: bool
    recovery: Recovery
    record: Literal["none", "stored", "released", "untouched"]
    meaning: str


_TABLE = (
    Code("VALIDATION", False, "replan", "none", "the arguments are unusable whatever the state"),
    Code("FORBIDDEN", False, "escalate", "none", "the caller is unknown or lacks a scope"),
    Code("FORBIDDEN_PATH", False, "escalate", "none", "the path is unsafe or protected"),
    Code("TOO_LARGE", False, "replan", "none", "over a limit; details name limit and actual"),
    Code("NOT_FOUND", False, "replan", "stored", "there is no such thing for this caller"),
    Code("CONFLICT", False, "replan", "stored", "the state does not fit the arguments"),
    Code(
        "IDEMPOTENCY_CONFLICT",
        False,
        "replan",
        "untouched",
        "the key was already used with other arguments",
    ),
    Code("IN_PROGRESS", True, "retry", "untouched", "a call with this key is still running"),
    Code("TIMEOUT", True, "retry", "released", "stopped before the effect, for lack of time"),
    Code("UNAVAILABLE", True, "retry", "released", "a store could not be reached or was busy"),
    Code("INTERNAL", True, "retry", "released", "a fault of ours"),
    Code("OUTCOME_UNKNOWN", False, "escalate", "stored", "nobody can tell whether it happened"),
    Code(
        "APPROVAL_PENDING",
        True,
        "escalate",
        "released",
        "people were asked; repeat the identical call once they agree",
    ),
    Code("APPROVAL_DENIED", False, "replan", "stored", "a person refused; details give the reason"),
    Code("APPROVAL_EXPIRED", False, "replan", "stored", "undecided, unexecuted or used up"),
)

CODES: Mapping[str, Code] = {code.name: code for code in _TABLE}
"""The platform codes by name; all of them are in every tool's error schema."""


def recovery(code: str, *, retryable: bool) -> Recovery:
    """What a caller does about a failure: `retry`, `replan` or `escalate`.

    A code that the table lacks (a tool's own, or a later release's) is judged by `retryable`.
    """
    known = CODES.get(code)
    if known:
        return known.recovery
    return "retry" if retryable else "escalate"


class ToolError(Exception):
    """A failure that the caller is told about: a code, a message of ours, open details.

    `details` hold what a caller can act on, at most 8 kB as JSON, and never what was sent.
    """

    code: ClassVar[str]
    retryable: ClassVar[bool | None] = None

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message[:MESSAGE_MAX]
        self.details = details

    @classmethod
    def is_retryable(cls) -> bool:
        """Whether the identical call may succeed later."""
        return CODES[cls.code].retryable if cls.retryable is None else cls.retryable


class InvalidArgumentsError(ToolError):
    """The arguments are unusable whatever the state; `details.issues` say where and why."""

    code = "VALIDATION"


class ForbiddenError(ToolError):
    """The caller may not; `details.reason`, and `details.scope` where one is missing."""

    code = "FORBIDDEN"


class ForbiddenPathError(ToolError):
    """An unsafe or protected path; `details.path` is a JSON pointer or a stored path."""

    code = "FORBIDDEN_PATH"


class TooLargeError(ToolError):
    """Over a limit; `details.limit` and `details.actual`, in the unit the message names."""

    code = "TOO_LARGE"

    def __init__(self, message: str, *, limit: int, actual: int, **details: Any) -> None:
        super().__init__(message, limit=limit, actual=actual, **details)


class NotFoundError(ToolError):
    """No such thing for this caller; another tenant's looks the same."""

    code = "NOT_FOUND"


class ConflictError(ToolError):
    """The state does not fit the arguments; `details` say what is there instead."""

    code = "CONFLICT"


class IdempotencyConflictError(ToolError):
    """The key is taken by other arguments; nothing of them is revealed."""

    code = "IDEMPOTENCY_CONFLICT"


class InProgressError(ToolError):
    """A call with this key is running; `details.retryAfterMs` is 250-5000."""

    code = "IN_PROGRESS"


class DeadlineError(ToolError):
    """Too little time was left to begin, so nothing was begun."""

    code = "TIMEOUT"


class UnavailableError(ToolError):
    """A store failed, throttled, or this attempt was overtaken by a newer one."""

    code = "UNAVAILABLE"


class InternalError(ToolError):
    """A fault of ours; the log has it, the answer does not."""

    code = "INTERNAL"


class OutcomeUnknownError(ToolError):
    """An effect outside the transaction whose outcome cannot be looked up."""

    code = "OUTCOME_UNKNOWN"


class ApprovalPendingError(ToolError):
    """People must agree first; the identical call resumes."""

    code = "APPROVAL_PENDING"


class ApprovalDeniedError(ToolError):
    """A person refused; `details.reason` is data, not an instruction."""

    code = "APPROVAL_DENIED"


class ApprovalExpiredError(ToolError):
    """Undecided in time, not executed in time, or used already."""

    code = "APPROVAL_EXPIRED"


class DomainError(ToolError):
    """The base of a tool's own codes; subclasses set `code` (lower_snake) and `retryable`."""

    retryable = False
