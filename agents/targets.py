"""Where a call goes: a Lambda (on AWS or the local cloud) or a handler in this process.

A target sends once: the read timeout is above every tool's own, and the SDK does not retry, so
that only the caller's loop decides what is repeated. A call that cannot be sent at all, because it
is too large, no JSON or names an argument that is none, is answered here, as the tool itself would:
TOO_LARGE or VALIDATION.
"""

from __future__ import annotations

import asyncio
import base64
import importlib
import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as UnreachableError

from agents import events
from contracts import results
from contracts.errors import InvalidArgumentsError, TooLargeError, ToolError
from contracts.issues import issue

if TYPE_CHECKING:
    from collections.abc import Callable

    from agents.events import Event
    from contracts.results import Result
    from contracts.spec import ToolSpec

READ_TIMEOUT_S = 70
"""Above the longest timeout that a contract may declare, 60 s."""

REQUEST_MAX_BYTES = 6_291_456
"""What Lambda takes in one synchronous call; what a tool answers is far smaller by its contract."""
CONTENT_TOO_LARGE = 413
TOO_MANY_REQUESTS = 429
SERVER_ERRORS = 500

CONFIG = Config(
    read_timeout=READ_TIMEOUT_S,
    connect_timeout=5,
    retries={"mode": "standard", "total_max_attempts": 1},
    max_pool_connections=32,
)


class InvocationError(RuntimeError):
    """The function gave no answer: it was killed, timed out, could not start or be reached."""


class Target(Protocol):
    """Sends one event to a tool and brings back what its Lambda returned."""

    def send(self, spec: ToolSpec, event: Event) -> Any:
        """The Lambda's return value, or the bare failure of a call that cannot be sent.

        Raises InvocationError if there is no answer.
        """


def call(
    target: Target, spec: ToolSpec, arguments: dict[str, Any], *, token: str | None = None
) -> Result:
    """The tool's result for one call, the same type whatever the target; sent once.

    Raises InvocationError if there is no result: nothing came, the service was busy or out of
    reach, or what came is no result. What happened is unknown then; the identical call tells.
    """
    try:
        event = events.build(spec, arguments, "direct", token=token)
    except ToolError as error:
        return unsent(spec, error)
    try:
        return events.unwrap(target.send(spec, event))
    except events.AnswerError as error:
        raise InvocationError(f"{spec.model_name} answered no result: {error}") from None
    except UnreachableError as error:
        raise InvocationError(
            f"{spec.model_name} was not reached: {type(error).__name__}"
        ) from None
    except ClientError as error:
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if status != TOO_MANY_REQUESTS and status < SERVER_ERRORS:
            raise
        raise InvocationError(f"{spec.model_name} was not run: HTTP {status}") from None


async def acall(
    target: Target, spec: ToolSpec, arguments: dict[str, Any], *, token: str | None = None
) -> Result:
    """`call` in a thread of its own, so that an event loop goes on meanwhile."""
    return await asyncio.to_thread(call, target, spec, arguments, token=token)


class LambdaTarget:
    """Deployed functions, by the names that the stack puts out."""

    def __init__(self, function_names: dict[str, str], *, client: Any = None) -> None:
        self._names = function_names
        self._client = client or boto3.client("lambda", config=CONFIG)

    def send(self, spec: ToolSpec, event: Event) -> Any:
        """Invoke and wait, once."""
        try:
            return invoke(self._client, self._names[spec.model_name], event)
        except ToolError as error:
            return unsent(spec, error)


def invoke(client: Any, function: str, event: Event) -> Any:
    """What a function, by name or ARN, returned.

    Raises InvocationError if it failed itself, TooLargeError or InvalidArgumentsError if the event
    cannot be sent; then nothing has happened.
    """
    extra: dict[str, str] = {}
    if event.client_context is not None:
        text = json.dumps(event.client_context).encode("utf-8")
        extra["ClientContext"] = base64.b64encode(text).decode("ascii")
    payload = encoded(event)
    if len(payload) > REQUEST_MAX_BYTES:
        raise too_large(len(payload))
    try:
        answer = client.invoke(FunctionName=function, Payload=payload, **extra)
        returned = answer["Payload"].read()
    except HTTPClientError as error:
        # No answer says nothing about what happened, just as a dead worker's does not.
        raise InvocationError(f"{function} did not answer: {type(error).__name__}") from None
    except ClientError as error:
        if error.response.get("ResponseMetadata", {}).get("HTTPStatusCode") == CONTENT_TOO_LARGE:
            raise too_large(len(payload)) from None
        raise
    if "FunctionError" in answer:
        raise InvocationError(f"{function} failed: {answer['FunctionError']}")
    return json.loads(returned)


def encoded(event: Event) -> bytes:
    """The event as JSON in UTF-8. Raises InvalidArgumentsError for what JSON cannot hold."""
    try:
        text = json.dumps(event.payload, ensure_ascii=False, allow_nan=False)
    except (RecursionError, ValueError):
        problem = "cannot be written as JSON"
        raise InvalidArgumentsError(
            f"the call {problem}", issues=[issue("", problem, {"type": "object"})]
        ) from None
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        # A lone surrogate can only be sent escaped; the tool says where it stands.
        return json.dumps(event.payload).encode("ascii")


def too_large(actual: int) -> TooLargeError:
    """What to raise for a call of `actual` bytes."""
    return TooLargeError(
        "the call has more bytes than a function takes: send less, or in several calls",
        limit=REQUEST_MAX_BYTES,
        actual=actual,
    )


def unsent(spec: ToolSpec, error: ToolError) -> Result:
    """The tool's failure for a call that did not reach it; its key is not spent."""
    result = results.failure(spec, error)
    return results.with_key_spent(result, spent=False) if spec.mutates else result


class InProcessTarget:
    """The handlers themselves, loaded by path; the environment must name their stores."""

    def send(self, spec: ToolSpec, event: Event) -> Any:
        """Call the handler with a context that holds what Lambda's would."""
        handler: Callable[[Any, Any], Any] = importlib.import_module(spec.handler_module).handler
        custom = (event.client_context or {}).get("custom")
        context = SimpleNamespace(client_context=SimpleNamespace(custom=custom) if custom else None)
        try:
            payload = json.loads(encoded(event))
        except ToolError as error:
            return unsent(spec, error)
        return handler(payload, context)
