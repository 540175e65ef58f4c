"""What a failure of DynamoDB or S3 is to a caller: worth a retry, and no text of AWS's.

UnavailableError  the store failed, throttled or timed out; the identical call may succeed
InternalError     the request was malformed and would fail again
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError

from contracts.errors import InternalError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator

ABSENT = frozenset({"NoSuchKey", "404", "AccessDenied", "403"})
"""What S3 says of an object that is not there: 403 where the caller may not list the bucket."""


@contextmanager
def unavailable_on_failure() -> Iterator[None]:
    """Turn a failure of a store into a ToolError, as the module says."""
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        refused = isinstance(error, ClientError) and error_code(error) == "ValidationException"
        if refused or isinstance(error, ParamValidationError):
            raise InternalError("a store was asked what it cannot answer") from error
        raise UnavailableError("a store failed or was busy; repeat the call") from error


def error_code(error: ClientError) -> str:
    """AWS's name of a failure."""
    return str(error.response.get("Error", {}).get("Code", ""))
