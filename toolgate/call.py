"""`toolgate call`: one call of one tool, as any of its surfaces would make it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer
from botocore.exceptions import BotoCoreError, ClientError

from agents import events
from agents.targets import InvocationError, LambdaTarget, too_large, unsent
from contracts import registry, strict_json
from contracts.errors import recovery
from contracts.publishing import dump
from toolgate.approvals.visible import escaped
from toolgate.deployed import function_names
from toolgate.errors import CallFailedError, CommandError

if TYPE_CHECKING:
    from contracts.spec import ToolSpec

_LOGS = {"local": "toolgate local logs", "aws": "the function's log group"}


def call(
    name: Annotated[str, typer.Argument(help="A tool: apply_patch_v1, or apply_patch.")],
    arguments: Annotated[str, typer.Argument(help="JSON, @FILE, or - for standard input.")],
    target: Annotated[str, typer.Option("--target", help="local or aws.")] = "local",
    surface: Annotated[
        str, typer.Option("--as", help=f"Whose event to send: {', '.join(events.SURFACES)}.")
    ] = "direct",
    stage: Annotated[str, typer.Option("--stage", help="The stage on aws.")] = "dev",
    *,
    token: Annotated[
        str | None, typer.Option("--token", help="A caller token, @FILE, or - for standard input.")
    ] = None,
    session: Annotated[
        str, typer.Option("--session", help="The Bedrock session to call in.")
    ] = events.Session.id,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result only.")] = False,
) -> None:
    """Call a tool. Exit code 1 if it answers a failure."""
    if surface not in events.SURFACES:
        raise CommandError(f"--as takes one of: {', '.join(events.SURFACES)}")
    if target not in _LOGS:
        raise CommandError("--target takes local or aws")
    if arguments == token == "-":
        raise CommandError("standard input can be the arguments or the token, not both")
    spec, text = registry.find(name), read_text(arguments)
    carried = None if token is None else read_text(token).strip()
    if len(text) > strict_json.TEXT_MAX_CHARACTERS:
        # It is not even read: no function takes as much.
        result = unsent(spec, too_large(len(text.encode("utf-8", "replace"))))
    else:
        event = events.build(
            spec,
            parsed(text),
            cast("events.Surface", surface),
            events.Session(id=session),
            token=carried,
        )
        result = _sent(spec, event, target, stage)
    typer.echo(escaped(dump(result)), nl=False)
    if not as_json:
        typer.echo(_verdict(result), err=True)
    if not result["ok"]:
        raise typer.Exit(1)


def _sent(spec: ToolSpec, event: events.Event, target: str, stage: str) -> dict[str, Any]:
    """The result of one call. Raises CommandError or CallFailedError if there is none."""
    names, client = function_names(cast("Literal['local', 'aws']", target), stage)
    if spec.model_name not in names:
        raise CommandError(
            f"{spec.model_name} is not deployed there; there are {', '.join(sorted(names))}"
        )
    try:
        answer = LambdaTarget(names, client=client).send(spec, event)
        return events.unwrap(answer)
    except (InvocationError, events.AnswerError) as error:
        raise CallFailedError(f"{error}; {_LOGS[target]} shows why") from None
    except (BotoCoreError, ClientError) as error:
        raise CallFailedError(f"{spec.model_name} could not be called: {error}") from None


def read_arguments(source: str) -> dict[str, Any]:
    """The arguments from JSON, `@file` or `-`. Raises CommandError."""
    return parsed(read_text(source))


def read_text(source: str) -> str:
    """What `@file` or `-` hold, or the text itself. Raises CommandError."""
    try:
        if source == "-":
            return sys.stdin.read()
        if source.startswith("@"):
            return Path(source[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        place = "standard input" if source == "-" else source[1:]
        raise CommandError(f"{place} cannot be read: {type(error).__name__}") from None
    return source


def parsed(text: str) -> dict[str, Any]:
    """The arguments in a JSON text. Raises CommandError."""
    try:
        found = strict_json.parse(text)
    except strict_json.StrictJsonError as error:
        raise CommandError(f"the arguments are not usable JSON: {error}") from None
    if not isinstance(found, dict):
        raise CommandError("the arguments must be one JSON object")
    return found


def _verdict(result: dict[str, Any]) -> str:
    if result["ok"]:
        again = result.get("skippedAsDuplicate")
        return "ok: answered before, nothing was done now" if again else "ok"
    error = result["error"]
    what = recovery(error["code"], retryable=error["retryable"])
    return f"{error['code']} ({what}): {error['message']}"
