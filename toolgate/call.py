"""`toolgate call`: one call of one tool, as any of its surfaces would make it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer
from botocore.exceptions import BotoCoreError, ClientError

from agents import events
from agents.targets import InvocationError, LambdaTarget
from contracts import registry, strict_json
from contracts.errors import recovery
from contracts.publishing import dump
from toolgate.deployed import function_names
from toolgate.errors import CallFailedError, CommandError

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
    as_json: Annotated[bool, typer.Option("--json", help="Print the result only.")] = False,
) -> None:
    """Call a tool. Exit code 1 if it answers a failure."""
    if surface not in events.SURFACES:
        raise CommandError(f"--as takes one of: {', '.join(events.SURFACES)}")
    if target not in _LOGS:
        raise CommandError("--target takes local or aws")
    spec = registry.find(name)
    event = events.build(spec, read_arguments(arguments), cast("events.Surface", surface))
    names, client = function_names(cast("Literal['local', 'aws']", target), stage)
    if spec.model_name not in names:
        raise CommandError(
            f"{spec.model_name} is not deployed there; there are {', '.join(sorted(names))}"
        )
    try:
        answer = LambdaTarget(names, client=client).send(spec, event)
        result = events.unwrap(answer)
    except (InvocationError, events.AnswerError) as error:
        raise CallFailedError(f"{error}; {_LOGS[target]} shows why") from None
    except (BotoCoreError, ClientError) as error:
        raise CallFailedError(f"{spec.model_name} could not be called: {error}") from None
    typer.echo(dump(result), nl=False)
    if not as_json:
        typer.echo(_verdict(result), err=True)
    if not result["ok"]:
        raise typer.Exit(1)


def read_arguments(text: str) -> dict[str, Any]:
    """The arguments from JSON, `@file` or `-`. Raises CommandError."""
    source = "standard input" if text == "-" else text[1:]
    try:
        if text == "-":
            text = sys.stdin.read()
        elif text.startswith("@"):
            text = Path(source).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{source} cannot be read: {type(error).__name__}") from None
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
