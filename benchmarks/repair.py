"""What self-repair costs and gives on scripted bad replies, beside instructor and pydantic-ai.

`python -m benchmarks.repair [--write]`. Every library is asked for the same `write_file`, of the
same contract, with a budget of 3 by its own parameter, and gets the same replies. Counted: calls of
the model, the bytes by which its largest request exceeded the first, and what came out. A library
that is not installed is said to be missing.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module, metadata
from typing import Any

from agents.repair import RepairExhausted, get_valid_action
from benchmarks.report import tell
from contracts.actions import WriteFile

BUDGET = 3
PROMPT = "Write NOTES.md."
GOOD = {"action": "write_file", "path": "NOTES.md", "content": "hello"}
TEXT = json.dumps(GOOD)


def _with(**more: Any) -> str:
    return json.dumps({**GOOD, **more})


CASES: dict[str, tuple[str, ...]] = {
    "valid at once": (TEXT,),
    "valid, in a fence among prose": (f"Here you are:\n```json\n{TEXT}\n```\nDone.",),
    "one field of a wrong type": (_with(overwrite="yes"), TEXT),
    "500 kB with an unknown field": (_with(content="x" * 500_000, mode="w"), TEXT),
    "500 kB with a field missing": (
        json.dumps({"action": "write_file", "content": "x" * 500_000}),
        TEXT,
    ),
    "two faults, one after the other": (_with(overwrite="yes"), _with(path=7), TEXT),
    "no JSON at all": ("I would rather not.", TEXT),
    "the same key twice": (TEXT[:-1] + ', "content": "bye"}', TEXT),
    "two different values": (f"{TEXT}\n\n{_with(content='bye')}", TEXT),
    "never valid": tuple(_with(overwrite=f"no {n}") for n in range(20)),
    "the same bad reply for ever": (_with(overwrite="yes"),),
}


@dataclass
class Scripted:
    """Plays a model: gives the replies in order, the last one for ever, and weighs requests."""

    replies: tuple[str, ...]
    sizes: list[int] = field(default_factory=list)

    def reply(self, request: Any) -> str:
        """The next reply; `request` is all text that a model would be sent."""
        self.sizes.append(len(json.dumps(request, ensure_ascii=False).encode("utf-8")))
        return self.replies[min(len(self.sizes), len(self.replies)) - 1]

    @property
    def fed_back(self) -> int:
        return max(self.sizes) - self.sizes[0]


def ours(model: Scripted) -> WriteFile:
    return get_valid_action(model.reply, PROMPT, BUDGET, of=WriteFile)


def with_instructor(model: Scripted) -> WriteFile:
    instructor = import_module("instructor")
    completions = import_module("openai.types.chat")

    def create(messages: Any, **_: Any) -> Any:
        message = {"role": "assistant", "content": model.reply(messages)}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return completions.ChatCompletion.model_validate(
            {
                "id": "x",
                "object": "chat.completion",
                "created": 0,
                "model": "m",
                "choices": [choice],
            }
        )

    patched = instructor.patch(create=create, mode=instructor.Mode.MD_JSON)
    prompt = [{"role": "user", "content": PROMPT}]
    return patched(model="m", messages=prompt, response_model=WriteFile, max_retries=BUDGET)


def with_pydantic_ai(model: Scripted) -> WriteFile:
    pydantic_ai = import_module("pydantic_ai")
    messages = import_module("pydantic_ai.messages")
    function = import_module("pydantic_ai.models.function")

    def answer(history: Any, _: Any) -> Any:
        sent = [
            part.model_response() if hasattr(part, "model_response") else part.content
            for message in history
            for part in message.parts
        ]
        return messages.ModelResponse(parts=[messages.TextPart(model.reply(sent))])

    agent = pydantic_ai.Agent(
        function.FunctionModel(answer),
        output_type=pydantic_ai.PromptedOutput(WriteFile),
        retries=BUDGET,
    )
    return agent.run_sync(PROMPT).output


LIBRARIES: dict[str, tuple[str | None, Callable[[Scripted], WriteFile]]] = {
    "ours": (None, ours),
    "instructor": ("instructor", with_instructor),
    "pydantic-ai": ("pydantic-ai-slim", with_pydantic_ai),
}


def outcome(ask: Callable[[Scripted], WriteFile], replies: tuple[str, ...]) -> str:
    """Calls, bytes and what came of it, as a cell of the table."""
    model = Scripted(replies)
    try:
        value = ask(model)
    except RepairExhausted as error:
        came = f"gave up: {error.reason}"
    except Exception as error:  # each library has its own
        if not model.sizes:
            raise
        came = f"gave up: {type(error).__name__}, {len(str(error)):,} characters"
    else:
        was_clear = len(model.sizes) == len(replies)
        came = "valid" if was_clear else f"took {json.dumps(value.content)[:20]}"
    calls = "1 call" if len(model.sizes) == 1 else f"{len(model.sizes)} calls"
    return f"{calls}, {model.fed_back:,} B, {came}"


def installed(package: str | None) -> str | None:
    """The version of a package; None if it is missing."""
    try:
        return "here" if package is None else metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def table() -> list[str]:
    """The whole table, with a line on what was compared."""
    here = {name: ask for name, (package, ask) in LIBRARIES.items() if installed(package)}
    lines = ["| replies | " + " | ".join(here) + " |", "|---" * (len(here) + 1) + "|"]
    for name, replies in CASES.items():
        cells = " | ".join(outcome(ask, replies) for ask in here.values())
        lines.append(f"| {name} | {cells} |")
    versions = [
        f"{name} {installed(package) or 'is missing'}"
        for name, (package, _) in LIBRARIES.items()
        if package
    ]
    return [*lines, "", "; ".join(versions) + "."]


def main() -> None:
    """Print the table; with `--write`, put it into docs/benchmarks.md as well."""
    warnings.simplefilter("ignore")
    tell("repair", table())


if __name__ == "__main__":
    main()
