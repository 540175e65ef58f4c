"""AWS clients that fail at one chosen call. The store behind them is the ordinary one."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from botocore.exceptions import ClientError, ReadTimeoutError


class Crash(BaseException):
    """The process is gone: nothing in it catches this."""


class Fault(StrEnum):
    """How a call fails."""

    CRASH_BEFORE = "crash before"
    CRASH_AFTER = "crash after"
    ERROR = "error"
    THROTTLE = "throttle"
    TIMEOUT_UNSENT = "timeout, not done"
    TIMEOUT_DONE = "timeout, but done"


@dataclass
class Injector:
    """Counts calls over all clients, and fails the one numbered `at` (from 0) in one way."""

    at: int | None = None
    fault: Fault | None = None
    calls: list[str] = field(default_factory=list)
    paused: bool = False
    """True while somebody else acts: people, whose calls are not the tool's."""
    before_call: Any = None
    """Called with (number, operation) before each call; for rivals that act in between."""

    def wrap(self, client: Any) -> Client:
        """The client, under this injector."""
        return Client(client, self)

    def call(self, operation: str, do: Any) -> Any:
        """Make one call, or fail it."""
        if self.paused:
            return do()
        number = len(self.calls)
        self.calls.append(operation)
        if self.before_call:
            self.before_call(number, operation)
        if number != self.at:
            return do()
        if self.fault is Fault.CRASH_BEFORE:
            raise Crash(operation)
        if self.fault is Fault.ERROR:
            raise _client_error(operation, "InternalServerError", 500)
        if self.fault is Fault.THROTTLE:
            code = "SlowDown" if operation.endswith("Object") else "ThrottlingException"
            raise _client_error(operation, code, 503)
        if self.fault is Fault.TIMEOUT_UNSENT:
            raise ReadTimeoutError(endpoint_url="https://aws.invalid")
        answer = do()
        if self.fault is Fault.CRASH_AFTER:
            raise Crash(operation)
        if self.fault is Fault.TIMEOUT_DONE:
            raise ReadTimeoutError(endpoint_url="https://aws.invalid")
        return answer


class Client:
    """A client whose operations go through an injector; all else is the client's own."""

    def __init__(self, client: Any, injector: Injector) -> None:
        self._client = client
        self._injector = injector
        self._operations = client.meta.method_to_api_mapping

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._client, name)
        if name not in self._operations:
            return attribute

        def operation(**arguments: Any) -> Any:
            return self._injector.call(self._operations[name], lambda: attribute(**arguments))

        return operation


def _client_error(operation: str, code: str, status: int) -> ClientError:
    answer: Any = {
        "Error": {"Code": code, "Message": "injected"},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    return ClientError(answer, operation)
