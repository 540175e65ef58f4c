"""`toolgate approvals`: see what agents ask for, and decide, as the person that you are."""

from __future__ import annotations

import json
import shutil
import sys
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from functions._runtime.approvals.chain import problems, unpublished
from toolgate.approvals import terminal, words
from toolgate.approvals.client import ApprovalsClient, checked_reason
from toolgate.approvals.identity import transport_of
from toolgate.approvals.review import has_voted, review, why_no_yes
from toolgate.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolgate.approvals.client import Approval, Summary

app = typer.Typer(help="Decide on what agents ask for.", no_args_is_help=True)

Id = Annotated[str, typer.Argument(help="The approval's id: apr_….")]
Target = Annotated[str, typer.Option("--target", help="local or aws.")]
Stage = Annotated[str, typer.Option("--stage", help="The stage on aws.")]
As = Annotated[
    str | None,
    typer.Option("--as", help="Who you are, on the local cloud; on aws, AWS says it."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not show it and do not ask.")]


@app.command("list")
def list_approvals(
    target: Target = "local", stage: Stage = "dev", name: As = None, *, as_json: AsJson = False
) -> None:
    """List what waits for people, and what was decided lately."""
    listing = _client(target, stage, name).list()
    if as_json:
        _print_json(listing)
        return
    if not listing["approvals"]:
        typer.echo("nobody asks for anything", err=True)
        return
    console = Console(highlight=False)
    console.print(terminal.table(listing, time.time(), console.width))
    if listing["more"]:
        typer.echo(f"There are more than these {len(listing['approvals'])}: older ones.", err=True)


@app.command()
def show(
    approval_id: Id,
    target: Target = "local",
    stage: Stage = "dev",
    name: As = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Show one approval and all that would be carried out."""
    client = _client(target, stage, name)
    if as_json:
        shown = client.show(approval_id)
        _print_json({**shown, "arguments": client.statement(shown["approval"]).args})
        return
    seen = review(client, approval_id)
    _print(terminal.told(seen, time.time(), _width()))
    typer.echo("")
    voted = has_voted(seen.approval, seen.me)
    typer.echo(
        why_no_yes(seen.approval, seen.me, voted=voted) or f"{seen.me}, you may decide on this."
    )


@app.command()
def approve(
    approval_id: Id,
    reason: Annotated[str | None, typer.Option("--reason", help="Why, for the audit.")] = None,
    target: Target = "local",
    stage: Stage = "dev",
    name: As = None,
    *,
    yes: Yes = False,
) -> None:
    """Agree to one approval, once you have read it."""
    said = checked_reason(reason, required=False)
    client = _client(target, stage, name)
    if yes:
        fingerprint = client.arguments(approval_id).fingerprint
    else:
        seen = review(client, approval_id)
        voted = has_voted(seen.approval, seen.me)
        if refusal := why_no_yes(seen.approval, seen.me, voted=voted):
            raise CommandError(refusal)
        if not sys.stdin.isatty():
            raise CommandError("who approves reads it first: use a terminal, or say --yes")
        _print(terminal.told(seen, time.time(), _width()))
        typer.echo("")
        if typer.prompt(f"Type yes to approve this as {seen.me}", default="no") != "yes":
            raise CommandError("nothing was approved")
        fingerprint = seen.statement.fingerprint
    _print_outcome(client.approve(approval_id, fingerprint, said))


@app.command()
def deny(
    approval_id: Id,
    reason: Annotated[str, typer.Option("--reason", help="Why; the agent is told.")],
    target: Target = "local",
    stage: Stage = "dev",
    name: As = None,
) -> None:
    """Refuse one approval, for good. One person is enough."""
    said = checked_reason(reason, required=True)
    client = _client(target, stage, name)
    fingerprint = client.arguments(approval_id).fingerprint
    _print_outcome(client.deny(approval_id, fingerprint, said or ""))


@app.command()
def audit(
    approval_id: Id,
    target: Target = "local",
    stage: Stage = "dev",
    name: As = None,
    *,
    verify: Annotated[
        bool, typer.Option("--verify", help="Check the chain; exit with 1 if it is broken.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show all that happened to one approval."""
    found = _client(target, stage, name).audit(approval_id)
    wrong = problems(approval_id, found["events"], found["heads"]) if verify else []
    if as_json:
        _print_json({**found, "problems": wrong} if verify else found)
    else:
        _print(terminal.audited(found, _width()))
    if verify and not as_json:
        _print(verdict(wrong, unpublished(found["events"], found["heads"]) if not wrong else []))
    if wrong:
        raise typer.Exit(1)


@app.command()
def page(
    target: Target = "local",
    stage: Stage = "dev",
    name: As = None,
    port: Annotated[int, typer.Option("--port", help="0 for any that is free.")] = 0,
    *,
    open_it: Annotated[bool, typer.Option("--open/--no-open", help="Open the browser.")] = True,
) -> None:
    """Read and decide in a browser, on this machine alone. Ends with Ctrl-C."""
    from toolgate.approvals.serving import serve

    client = _client(target, stage, name)
    client.list()
    serve(client, port=port, open_it=open_it, say=lambda text: typer.echo(text, err=True))


def verdict(wrong: list[str], unpublished_ones: list[int]) -> list[str]:
    """What a verification came to, in lines."""
    if wrong:
        return ["", "This audit was tampered with, or lost something:", *(f"  {w}" for w in wrong)]
    lines = ["", "The audit is whole: every event follows from the one before it."]
    if unpublished_ones:
        numbers = ", ".join(map(str, unpublished_ones))
        lines.append(f"Not published, so nobody could tell if they were lost: {numbers}.")
    return lines


def _client(target: str, stage: str, name: str | None) -> ApprovalsClient:
    return ApprovalsClient(transport_of(target, stage, name))


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        typer.echo(line)


def _print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=2))


def _print_outcome(summary: Summary | Approval) -> None:
    state = words.state(summary)
    denied = summary["state"] == "denied"
    typer.echo(state if denied else f"{state}: {words.tally(summary)} have agreed")


def _width() -> int | None:
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
