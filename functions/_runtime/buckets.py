"""Objects in S3 that are written once: no put ever replaces one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from functions._runtime.failures import error_code, unavailable_on_failure

if TYPE_CHECKING:
    from collections.abc import Callable

_TRIES = 4


def put_new(
    s3: Any, *, bucket: str, key: str, body: bytes, before: Callable[[], None] = lambda: None
) -> bool:
    """Put an object; False if one was there, which stays as it is.

    `before` runs before each try, and may raise. Twice is once, so a conflict with another put is
    tried again. Raises UnavailableError.
    """
    with unavailable_on_failure():
        for tried in range(1, _TRIES + 1):
            before()
            try:
                s3.put_object(Bucket=bucket, Key=key, Body=body, IfNoneMatch="*")
                break
            except ClientError as error:
                if error_code(error) in {"PreconditionFailed", "412"}:
                    return False
                busy = error_code(error) in {"ConditionalRequestConflict", "409"}
                if not busy or tried == _TRIES:
                    raise
    return True
