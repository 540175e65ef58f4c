"""Plays a Bedrock agent: the template's action groups, a script's choices, the exact events.

No model runs. A script stands for it: a generator that yields a `Choice` (a tool and its
arguments) and is sent the tool's result. Everything else is as on AWS: the action groups come out
of the synthesised agent template, each choice becomes the event that Bedrock sends, and it goes to
the Lambda that the template names.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from agents import events
from agents.retries import Means, Policy, Retries, is_fault, reaction
from agents.targets import InvocationError, invoke, unsent
from agents.turns import Choice
from contracts import registry
from contracts.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from contracts.results import Result


class TemplateError(ValueError):
    """The template holds no agent that could be played; the message says what is missing."""


@dataclass(frozen=True)
class Operation:
    """One tool as the agent has it: where it is, what it takes, which Lambda it runs."""

    place: events.ApiPlace
    schema: dict[str, Any]
    executor: str

    @property
    def tool_name(self) -> str:
        """The name that Bedrock composes for the model."""
        return f"{self.place.http_method}__{self.place.action_group}__{self.place.api_path[1:]}"


@dataclass(frozen=True)
class Turn:
    """One call as it went: what was chosen, sent and answered, and how often it was sent."""

    choice: Choice
    event: dict[str, Any]
    result: Result
    attempts: int = 1


@dataclass
class Session:
    """What happened in one session, and whether it had to stop."""

    turns: list[Turn] = field(default_factory=list)
    escalated: Result | None = None


def operations(template: Mapping[str, Any], exports: Mapping[str, str]) -> dict[str, Operation]:
    """The agent's tools by operation name; `exports` resolve what other stacks put out.

    Raises TemplateError.
    """
    found = {}
    for resource in template.get("Resources", {}).values():
        if resource.get("Type") != "AWS::Bedrock::Agent":
            continue
        for group in resource["Properties"].get("ActionGroups", []):
            executor = _resolved(group["ActionGroupExecutor"]["Lambda"], exports)
            document = json.loads(group["ApiSchema"]["Payload"])
            for path, methods in document["paths"].items():
                for method, operation in methods.items():
                    content = operation["requestBody"]["content"]["application/json"]
                    place = events.ApiPlace(group["ActionGroupName"], path, method.upper())
                    found[operation["operationId"]] = Operation(place, content["schema"], executor)
    if not found:
        raise TemplateError("the template holds no agent with action groups")
    return found


def _resolved(value: Any, exports: Mapping[str, str]) -> str:
    if isinstance(value, dict) and "Fn::ImportValue" in value:
        name = value["Fn::ImportValue"]
        if name not in exports:
            raise TemplateError(f"{name} is not exported: deploy the tools first")
        return exports[name]
    if isinstance(value, str):
        return value
    raise TemplateError("an action group's Lambda is neither an ARN nor an import")


class BedrockAgent:
    """One agent with its tools, played against deployed Lambdas."""

    def __init__(
        self,
        tools: Mapping[str, Operation],
        client: Any,
        *,
        policy: Policy | None = None,
        means: Means | None = None,
    ) -> None:
        self.tools = tools
        self._client = client
        self._policy = policy or Policy()
        self._means = means or Means()

    @classmethod
    def of_stack(
        cls, template: Mapping[str, Any], *, cloudformation: Any, client: Any
    ) -> BedrockAgent:
        """The agent of a synthesised template, its Lambdas found by the cloud's exports."""
        pages = cloudformation.get_paginator("list_exports").paginate()
        exports = {one["Name"]: one["Value"] for page in pages for one in page["Exports"]}
        return cls(operations(template, exports), client)

    def run(
        self, script: Generator[Choice, Result, None], session: events.Session | None = None
    ) -> Session:
        """Play a script to its end, or until a result says that people must look at it."""
        played = Session()
        session = session or events.Session()
        try:
            choice = next(script)
            while True:
                turn = self.call(choice, session)
                played.turns.append(turn)
                if _is_for_people(turn.result):
                    played.escalated = turn.result
                    script.close()
                    return played
                choice = script.send(turn.result)
        except StopIteration:
            return played

    def call(self, choice: Choice, session: events.Session | None = None) -> Turn:
        """One choice: sent, and repeated identically while its failure says that this helps.

        A Lambda that dies leaves its outcome unknown, which is a reason to repeat, too. Raises
        InvocationError if it dies to the last.
        """
        retries = Retries(self._policy, self._means)
        while True:
            try:
                turn = self.send(choice, session)
            except InvocationError:
                wait = retries.wait_ms(None)
                if wait is None:
                    raise
            else:
                wait = None if turn.result["ok"] else retries.wait_ms(turn.result)
                if wait is None:
                    return replace(turn, attempts=retries.attempts + turn.result["ok"])
            self._means.sleep_ms(wait)

    def send(self, choice: Choice, session: events.Session | None = None) -> Turn:
        """One choice, sent once; a call that cannot be sent is answered as its tool would."""
        if choice.tool not in self.tools:
            raise TemplateError(f"the agent has no tool {choice.tool!r}")
        operation = self.tools[choice.tool]
        event = events.bedrock_api(operation.place, choice.arguments, session or events.Session())
        try:
            answer = invoke(self._client, operation.executor, event)
        except ToolError as error:
            answer = unsent(registry.find(choice.tool), error)
        return Turn(choice, event.payload, events.unwrap(answer))


def _is_for_people(result: Result) -> bool:
    """Whether a session ends here: a fault has been retried by the time a script could see it."""
    return reaction(result) == "escalate" or is_fault(result)
