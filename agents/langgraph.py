"""The tools for LangGraph and LangChain: `bind_tools` shows them to a model, `ToolNode` runs them.

Their schemas are the emitted ones. Whatever goes wrong with a call is a `ToolMessage` of status
`error` whose text is `contracts.results.project` of the failure; a graph never ends by it.

The model knows neither `schemaVersion` nor `idempotencyKey`. The key is made of the graph's thread
and the tool call's id: both are in the checkpoint, so a graph that is resumed sends the identical
call and gets the first answer. A model that calls again has another id, which is another change;
so what may help is repeated here, and what stays unknown is OUTCOME_UNKNOWN, not retryable.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import TYPE_CHECKING, Any, Literal

from agents.attempts import attempt
from agents.retries import Means, Policy, Retries
from agents.targets import unsent
from contracts import registry, results
from contracts.dialects import langchain
from contracts.dialects.targets import KEY, VERSION
from contracts.errors import (
    InvalidArgumentsError,
    OutcomeUnknownError,
    ToolError,
    UnavailableError,
)
from contracts.issues import issue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agents.targets import Target
    from contracts.results import Result
    from contracts.spec import ToolSpec

Names = Literal["both", "versioned", "bare"]
"""Which names tools go by: `orders_lookup_v1`, `orders_lookup` for the newest version, or both."""


class MissingExtraError(ImportError):
    """LangChain is not installed; the message says what to install."""


def make_tools(
    specs: Iterable[ToolSpec],
    target: Target,
    *,
    token: Callable[[], str] | None = None,
    names: Names = "both",
    policy: Policy | None = None,
    means: Means | None = None,
) -> list[Any]:
    """The tools as LangChain's `BaseTool`s, for `bind_tools` and `ToolNode`.

    `token` is asked before each attempt and gives a caller token; it may raise
    `agents.attempts.TokenError`. The artifact of a `ToolMessage` is the whole result.

    Raises MissingExtraError without langchain-core.
    """
    make = _tool_type(Calls(target, token=token, policy=policy, means=means))
    return [make(name, spec) for name, spec in offered(specs, names)]


def offered(specs: Iterable[ToolSpec], names: Names = "both") -> list[tuple[str, ToolSpec]]:
    """Each name that a tool goes by, with its spec; a versioned name is nobody else's bare one."""
    found = list(specs)
    versioned = {spec.model_name: spec for spec in found}
    bare = {spec.folder: spec for spec in registry.newest(found)}
    chosen = {"versioned": versioned, "bare": bare, "both": {**bare, **versioned}}[names]
    return sorted(chosen.items())


def document(name: str, spec: ToolSpec) -> dict[str, Any]:
    """`{name, description, args_schema}` as emitted, under the name that the tool goes by here."""
    return {**langchain.emit(spec), "name": name}


def key_of(thread_id: str, call_id: str) -> str:
    """The idempotency key of one tool call of one thread: 67 characters, the same for ever.

    Not of the checkpoint's own id, which changes when somebody edits the state of a graph that
    waits; the call is the same one then.
    """
    text = json.dumps([thread_id, call_id])
    return f"lg-{hashlib.sha256(text.encode('ascii')).hexdigest()}"


def completed(
    spec: ToolSpec, arguments: Any, thread_id: str | None, call_id: str | None
) -> dict[str, Any]:
    """The model's arguments as the tool takes them, with key and version if it changes something.

    Raises InvalidArgumentsError for what the harness supplies, and where there is no thread or call
    to make a key of.
    """
    declared = langchain.emit(spec)["args_schema"]["properties"]
    if not isinstance(arguments, dict):
        raise _invalid("", "is not an object", {"fields": sorted(declared)})
    supplied = {KEY, VERSION} if spec.mutates else set()
    if taken := sorted(supplied & set(arguments)):
        raise _invalid(f"/{taken[0]}", "is not an argument", {"fields": sorted(declared)})
    if not spec.mutates:
        return dict(arguments)
    if not thread_id or not call_id:
        lacking = "thread_id in its config" if not thread_id else "id of the tool call"
        expected = {"type": "string"}
        raise _invalid(f"/{KEY}", f"cannot be made: the graph has no {lacking}", expected)
    return {**arguments, KEY: key_of(thread_id, call_id), VERSION: spec.major}


class Calls:
    """Calls tools at `target` until there is an answer, or no use in asking again."""

    def __init__(
        self,
        target: Target,
        *,
        token: Callable[[], str] | None = None,
        policy: Policy | None = None,
        means: Means | None = None,
    ) -> None:
        self._target = target
        self._token = token
        self._policy = policy or Policy()
        self._means = means or Means()

    def result(
        self, spec: ToolSpec, arguments: Any, thread_id: str | None, call_id: str | None
    ) -> Result:
        """The tool's result for one call of a model, whatever happened."""
        try:
            sent = completed(spec, arguments, thread_id, call_id)
        except ToolError as error:
            return unsent(spec, error)
        retries = Retries(self._policy, self._means)
        doubt = False
        while True:
            answer = attempt(self._target, spec, sent, self._token)
            doubt = doubt or answer is None or _code(answer) == "IN_PROGRESS"
            wait_ms = retries.wait_ms(answer)
            if wait_ms is None:
                return _final(spec, answer, doubt=doubt)
            self._means.sleep_ms(wait_ms)


def _final(spec: ToolSpec, answer: Result | None, *, doubt: bool) -> Result:
    """What the model is told. A change that may have happened must not look as if it had not."""
    if spec.mutates and doubt and not _settles(answer):
        message = "it may have happened: do not call again, look first, or have people look"
        return results.failure(spec, OutcomeUnknownError(message))
    if answer is None:
        return results.failure(spec, UnavailableError("no answer came"))
    return answer


def _settles(answer: Result | None) -> bool:
    """Whether an answer was given by whoever holds the key, not in front of it."""
    if answer is None or answer["ok"]:
        return answer is not None
    spent = answer["error"].get("details", {}).get("keySpent") is True
    return spent or _code(answer) == "APPROVAL_PENDING"


def _code(answer: Result) -> str | None:
    return None if answer["ok"] else answer["error"]["code"]


def _invalid(path: str, problem: str, expected: Any) -> InvalidArgumentsError:
    said = f"{path}: {problem}" if path else f"the arguments: {problem}"
    return InvalidArgumentsError(said, issues=[issue(path, problem, expected)])


def answer_unreadable(message: Any) -> list[Any]:
    """Answers to the calls of an `AIMessage` whose arguments are no JSON.

    LangChain puts them aside (`invalid_tool_calls`) and `ToolNode` never sees them, but a model
    wants an answer to each call. Add these to the graph's messages before the model is asked again.

    Raises MissingExtraError without langchain-core.
    """
    tool_message = _langchain().ToolMessage
    error = _invalid("", "are not JSON", {"type": "object"})
    failure = {
        "code": error.code,
        "message": error.message,
        "details": error.details,
        "retryable": error.is_retryable(),
    }
    text = _text({"ok": False, "error": failure})
    return [
        tool_message(content=text, tool_call_id=call["id"] or "", name=call["name"], status="error")
        for call in message.invalid_tool_calls
    ]


def _text(result: Result) -> str:
    return json.dumps(results.project(result), ensure_ascii=False)


def _langchain() -> Any:
    """The module of LangChain's messages; with it the rest is there."""
    try:
        from langchain_core import messages  # noqa: PLC0415  (an extra, imported on use)
    except ImportError:
        raise MissingExtraError(
            "the tools for LangGraph need langchain-core: pip install 'langgraph>=1.2,<2'"
        ) from None
    return messages


def _tool_type(calls: Calls) -> Callable[[str, ToolSpec], Any]:
    """Makes a `BaseTool` of a name and a spec; the class is made here because its base is extra."""
    tool_message = _langchain().ToolMessage
    from langchain_core.runnables.config import ensure_config  # noqa: PLC0415
    from langchain_core.tools import BaseTool  # noqa: PLC0415

    class ContractTool(BaseTool):  # type: ignore[misc]  # the base is Any without the extra
        """One tool under one name."""

        _spec: Any = None

        def _to_args_and_kwargs(self, tool_input: Any, tool_call_id: str | None) -> Any:
            # By position: as keywords, `config` or `run_manager` would be taken for LangChain's.
            return (tool_input, tool_call_id), {}

        def _run(self, arguments: Any, call_id: str | None, /) -> Any:
            configured = ensure_config().get("configurable", {})
            thread = configured.get("thread_id")
            thread_id = None if thread is None else str(thread)
            result = calls.result(self._spec, arguments, thread_id, call_id)
            if call_id is None:
                return _text(result)
            return tool_message(
                content=_text(result),
                artifact=result,
                name=self.name,
                tool_call_id=call_id,
                status="success" if result["ok"] else "error",
            )

        async def _arun(self, arguments: Any, call_id: str | None, /) -> Any:
            # A thread of its own: what is sent and waited for blocks.
            return await asyncio.to_thread(self._run, arguments, call_id)

    def make(name: str, spec: ToolSpec) -> Any:
        tool = ContractTool(**document(name, spec))
        tool._spec = spec
        return tool

    return make
