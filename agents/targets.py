"""Where a call goes: a Lambda (on AWS or the local cloud) or a handler in this process.

A target sends once: the read timeout is above every tool's own, and the SDK does not retry, so
that only the caller's loop decides what is repeated.
"""

from __future__ import annotations

import base64
import importlib
import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol

import boto3
from botocore.config import Config
from botocore.exceptions import HTTPClientError

if TYPE_CHECKING:
    from collections.abc import Callable

    from agents.events import Event
    from contracts.spec import ToolSpec

READ_TIMEOUT_S = 70
"""Above the longest timeout that a contract may declare, 60 s."""

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
        """The Lambda's return value. Raises InvocationError if there is none."""


class LambdaTarget:
    """Deployed functions, by the names that the stack puts out."""

    def __init__(self, function_names: dict[str, str], *, client: Any = None) -> None:
        self._names = function_names
        self._client = client or boto3.client("lambda", config=CONFIG)

    def send(self, spec: ToolSpec, event: Event) -> Any:
        """Invoke and wait, once."""
        return invoke(self._client, self._names[spec.model_name], event)


def invoke(client: Any, function: str, event: Event) -> Any:
    """What a function, by name or ARN, returned. Raises InvocationError if it failed itself."""
    extra: dict[str, str] = {}
    if event.client_context is not None:
        text = json.dumps(event.client_context).encode("utf-8")
        extra["ClientContext"] = base64.b64encode(text).decode("ascii")
    try:
        answer = client.invoke(
            FunctionName=function,
            Payload=json.dumps(event.payload).encode("ascii"),
            **extra,
        )
        payload = answer["Payload"].read()
    except HTTPClientError as error:
        # No answer says nothing about what happened, just as a dead worker's does not.
        raise InvocationError(f"{function} did not answer: {type(error).__name__}") from None
    if "FunctionError" in answer:
        raise InvocationError(f"{function} failed: {answer['FunctionError']}")
    return json.loads(payload)


class InProcessTarget:
    """The handlers themselves, loaded by path; the environment must name their stores."""

    def send(self, spec: ToolSpec, event: Event) -> Any:
        """Call the handler with a context that holds what Lambda's would."""
        handler: Callable[[Any, Any], Any] = importlib.import_module(spec.handler_module).handler
        custom = (event.client_context or {}).get("custom")
        context = SimpleNamespace(client_context=SimpleNamespace(custom=custom) if custom else None)
        return handler(json.loads(json.dumps(event.payload)), context)
