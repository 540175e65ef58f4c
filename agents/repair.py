"""Gets one valid answer out of a model that answers in text, by telling it what was wrong.

    action = get_valid_action(call_model, prompt, max_attempts=3)

What goes back is data: JSON pointers, problems, what was expected (contracts/issues.py). It never
repeats a value, stays below 1 kB whatever was sent, and does not pile up: a request holds the
prompt, the last reply if it is short, and the report on it.

    RepairExhausted    the calls are used up, or the model said again what it had said before
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema

from agents.replies import ReplyError, value_in
from contracts import actions, issues

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator

    from contracts.issues import Issue

T = TypeVar("T")
Message = dict[str, str]
Reason = Literal["attempts", "same reply"]

FEEDBACK_MAX_BYTES = 750
"""What stays below 1 kB once it is a JSON string itself."""
KEPT_MAX_BYTES = 2_000
"""A reply up to this size stays before the report on it; a longer one is only named."""
LEFT_OUT = "(a reply of {} bytes, left out)"


@dataclass(frozen=True)
class Attempt:
    """One reply: its size and hash, what was wrong, how many bytes of report go back."""

    number: int
    reply_bytes: int
    sha256: str
    issues: tuple[Issue, ...]
    fed_back_bytes: int

    @property
    def ok(self) -> bool:
        """Whether the reply was valid."""
        return not self.issues


class RepairExhausted(Exception):  # noqa: N818  (it says what happened)
    """No valid answer; `attempts` is the history, `reason` says why it ended. Quotes no reply."""

    def __init__(self, attempts: tuple[Attempt, ...], reason: Reason) -> None:
        self.attempts, self.reason = attempts, reason
        super().__init__(f"no valid answer after {len(attempts)} attempts: {reason}")


@overload
def get_valid_action(
    call_model: Callable[[list[Message]], str],
    prompt: str,
    max_attempts: int = ...,
    *,
    on_attempt: Callable[[Attempt], None] | None = ...,
) -> actions.ReadFile | actions.WriteFile | actions.Search: ...
@overload
def get_valid_action(
    call_model: Callable[[list[Message]], str],
    prompt: str,
    max_attempts: int = ...,
    *,
    of: type[T] | TypeAdapter[T],
    on_attempt: Callable[[Attempt], None] | None = ...,
) -> T: ...
def get_valid_action(
    call_model: Callable[[list[Message]], str],
    prompt: str,
    max_attempts: int = 3,
    *,
    of: Any = None,
    on_attempt: Callable[[Attempt], None] | None = None,
) -> Any:
    """A valid value of the type `of`, an AgentAction by default.

    `call_model` is called `max_attempts` times at most. Raises RepairExhausted, ValueError for a
    budget below 1, and whatever `call_model` raises: that is no fault of the reply.
    """
    work = _attempts(_reader(of), prompt, max_attempts, on_attempt)
    messages = next(work)
    while True:
        try:
            messages = work.send(call_model(messages))
        except StopIteration as done:
            return done.value


async def aget_valid_action(
    call_model: Callable[[list[Message]], Awaitable[str]],
    prompt: str,
    max_attempts: int = 3,
    *,
    of: Any = None,
    on_attempt: Callable[[Attempt], None] | None = None,
) -> Any:
    """`get_valid_action` with a model that is awaited."""
    work = _attempts(_reader(of), prompt, max_attempts, on_attempt)
    messages = next(work)
    while True:
        reply = await call_model(messages)
        try:
            messages = work.send(reply)
        except StopIteration as done:
            return done.value


def _attempts(
    read: _Reader,
    prompt: str,
    max_attempts: int,
    on_attempt: Callable[[Attempt], None] | None,
) -> Generator[list[Message], str, Any]:
    """Yields what to send to the model, takes its reply; returns the valid value."""
    if max_attempts < 1:
        raise ValueError("max_attempts must be at least 1")
    first = {"role": "user", "content": prompt}
    messages = [first]
    made: list[Attempt] = []
    for number in range(1, max_attempts + 1):
        reply = yield messages
        if not isinstance(reply, str):
            raise TypeError(f"call_model returned {type(reply).__name__}, not text")
        data = reply.encode("utf-8", "surrogatepass")
        digest = hashlib.sha256(data).hexdigest()
        value, found = read(reply)
        again = any(one.sha256 == digest for one in made)
        is_last = number == max_attempts or again
        report = feedback(found) if found and not is_last else ""
        attempt = Attempt(number, len(data), digest, tuple(found), len(report.encode("utf-8")))
        made.append(attempt)
        if on_attempt:
            on_attempt(attempt)
        if not found:
            return value
        if again:
            raise RepairExhausted(tuple(made), "same reply")
        kept = reply if 0 < len(data) <= KEPT_MAX_BYTES else LEFT_OUT.format(len(data))
        messages = [
            first,
            {"role": "assistant", "content": kept},
            {"role": "user", "content": report},
        ]
    raise RepairExhausted(tuple(made), "attempts")


def feedback(found: list[Issue]) -> str:
    """The report on a reply that was refused; below FEEDBACK_MAX_BYTES, whatever was found."""
    head = "Your reply was not accepted. What is wrong, by JSON pointer:\n"
    tail = "\nSend the whole corrected reply again: one JSON value and nothing else."
    lines: list[str] = []
    room = FEEDBACK_MAX_BYTES - len((head + tail).encode("utf-8")) - 20
    distinct = [one for index, one in enumerate(found) if one not in found[:index]]
    for index, one in enumerate(distinct):
        line = json.dumps(one, separators=(",", ":"))
        if len(line) > room and not lines:
            line = json.dumps({"path": one["path"][-100:], "problem": one["problem"][:200]})
        if len(line) >= room:
            lines.append(f"and {len(distinct) - index} more")
            break
        room -= len(line) + 1
        lines.append(line)
    return head + "\n".join(lines) + tail


class _Reader:
    """Reads a reply as a type: `(value, [])` or `(None, issues)`."""

    def __init__(self, adapter: TypeAdapter[Any], *, in_action: bool) -> None:
        self._adapter, self._in_action = adapter, in_action
        try:
            self._schema = adapter.json_schema(by_alias=True)
        except PydanticInvalidForJsonSchema:
            self._schema = {}  # pointers are made of the places alone

    def __call__(self, reply: str) -> tuple[Any, list[Issue]]:
        try:
            value = value_in(reply, self._schema)
        except ReplyError as error:
            return None, [issues.issue("", str(error), {"reply": "one JSON value"})]
        if self._in_action:
            value = _unwrapped(value)
        try:
            # As text again, since a strict type takes a date or a tuple from JSON only.
            return self._adapter.validate_json(json.dumps(value)), []
        except ValidationError as error:
            return None, issues.issues(error, self._schema)


def _reader(of: Any) -> _Reader:
    if of is None:
        return _Reader(actions.ADAPTER, in_action=True)
    adapter = of if isinstance(of, TypeAdapter) else TypeAdapter(of)
    return _Reader(adapter, in_action=False)


def _unwrapped(value: Any) -> Any:
    """The action in `{"action": {…}}`, a form for models that need an object around a union."""
    if isinstance(value, dict) and value.keys() == {actions.TAG}:
        inner = value[actions.TAG]
        return inner if isinstance(inner, dict) else value
    return value
