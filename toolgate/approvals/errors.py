"""How approvals fail, with the code and the words of the API.

CallFailedError
└── ApprovalsError                   any failure; `code`, `message`, `details`
    ├── ApprovalForbiddenError       FORBIDDEN: you may not
    ├── ApprovalNotFoundError        NOT_FOUND
    ├── ApprovalInvalidError         VALIDATION: the API does not take what was sent
    ├── ApprovalConflictError        CONFLICT: it is not, or no longer, to be decided so
    │   └── ApprovalDamagedError     what is stored is not what was asked for; nothing is shown
    └── ApprovalsUnavailableError    UNAVAILABLE, TIMEOUT, INTERNAL, or no answer at all
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolgate.approvals.visible import visible
from toolgate.errors import CallFailedError

if TYPE_CHECKING:
    from collections.abc import Mapping


class ApprovalsError(CallFailedError):
    """A failure by its code; as text, one line that is safe to print."""

    def __init__(self, code: str, message: str, details: Mapping[str, Any] | None = None) -> None:
        self.code, self.message, self.details = code, message, dict(details or {})
        super().__init__(f"{visible(code)}: {visible(message)}")

    @property
    def reason(self) -> str | None:
        """The API's `details.reason`, such as ALREADY_VOTED."""
        found = self.details.get("reason")
        return found if isinstance(found, str) else None


class ApprovalForbiddenError(ApprovalsError):
    """The API knows who you are, and you may not."""


class ApprovalNotFoundError(ApprovalsError):
    """There is no such approval."""


class ApprovalInvalidError(ApprovalsError):
    """What was sent is not what the API takes."""


class ApprovalConflictError(ApprovalsError):
    """The approval is not, or no longer, in a state for this."""


class ApprovalDamagedError(ApprovalConflictError):
    """The stored arguments are not those that the approval is for."""

    def __init__(self, message: str) -> None:
        super().__init__("CONFLICT", message, {"reason": "DAMAGED"})


class ApprovalsUnavailableError(ApprovalsError):
    """The API failed, or did not answer."""


_BY_CODE: dict[str, type[ApprovalsError]] = {
    "CONFLICT": ApprovalConflictError,
    "FORBIDDEN": ApprovalForbiddenError,
    "INTERNAL": ApprovalsUnavailableError,
    "NOT_FOUND": ApprovalNotFoundError,
    "TIMEOUT": ApprovalsUnavailableError,
    "UNAVAILABLE": ApprovalsUnavailableError,
    "VALIDATION": ApprovalInvalidError,
}
_BY_STATUS = {400: "VALIDATION", 403: "FORBIDDEN", 404: "NOT_FOUND", 409: "CONFLICT"}


def failure(status: int, body: Any) -> ApprovalsError:
    """The error of an answer: the API's own, or what the gateway before it said."""
    said = body.get("error") if isinstance(body, dict) else None
    if isinstance(said, dict) and isinstance(said.get("code"), str):
        code, details = said["code"], said.get("details")
        details = details if isinstance(details, dict) else {}
        message = str(said.get("message", ""))
        if details.get("reason") == "DAMAGED":
            return ApprovalDamagedError(message)
        return _BY_CODE.get(code, ApprovalsError)(code, message, details)
    code = _BY_STATUS.get(status, "UNAVAILABLE")
    message = f"the approvals API answered {status} without a reason"
    if code == "FORBIDDEN":
        message = "AWS let nobody through with these credentials: are you an approver here?"
    return _BY_CODE[code](code, message)
