"""`toolgate calls`: what became of calls, and how an operator resolves one that is stuck."""

from __future__ import annotations

import getpass
import json
import time
from datetime import UTC, datetime
from typing import Annotated, cast

import typer

from contracts import registry
from toolgate.call import read_arguments
from toolgate.calls import Calls, Record, Verdict
from toolgate.deployed import Where, client_and_outputs
from toolgate.errors import CommandError

app = typer.Typer(help="Look at calls by their key; resolve stuck ones.", no_args_is_help=True)

Key = Annotated[str, typer.Argument(help="The call's idempotencyKey.")]
Tool = Annotated[str, typer.Option("--tool", help="The tool that was called: apply_patch_v1.")]
Tenant = Annotated[str, typer.Option("--tenant", help="Whose call it was.")]
Target = Annotated[str, typer.Option("--target", help="local or aws.")]
Stage = Annotated[str, typer.Option("--stage", help="The stage on aws.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("list")
def list_calls(target: Target = "local", stage: Stage = "dev", *, as_json: AsJson = False) -> None:
    """List calls that a person may have to look at. Reads the whole table of records."""
    now_ms = _now_ms()
    found = list(_calls(target, stage).stuck(now_ms))
    if as_json:
        typer.echo(json.dumps([record.as_dict() for record in found], indent=2))
        return
    for record in found:
        typer.echo(f"{record.id}\n    attempt {record.attempt}: {record.stuck_because(now_ms)}")
    if not found:
        typer.echo("no call is stuck", err=True)


@app.command()
def show(
    key: Key,
    tool: Tool,
    tenant: Tenant = "default",
    target: Target = "local",
    stage: Stage = "dev",
    *,
    as_json: AsJson = False,
) -> None:
    """Show the record of one call."""
    record = _calls(target, stage).find(registry.find(tool), tenant, key)
    typer.echo(json.dumps(record.as_dict(), indent=2) if as_json else _told(record))


@app.command()
def resolve(
    key: Key,
    tool: Tool,
    verdict: Annotated[str, typer.Option("--as", help="done or not-done.")],
    reason: Annotated[str, typer.Option("--reason", help="How you know; kept for ever.")],
    *,
    result: Annotated[
        str | None, typer.Option("--result", help="With done: the answer, as JSON or @FILE.")
    ] = None,
    tenant: Tenant = "default",
    target: Target = "local",
    stage: Stage = "dev",
) -> None:
    """Say whether a stuck call's effect happened; writes an audit row with your name."""
    if verdict not in {"done", "not-done"}:
        raise CommandError("--as takes done or not-done")
    if not reason.strip():
        raise CommandError("--reason must say how you know")
    spec, calls = registry.find(tool), _calls(target, stage)
    calls.resolve(
        spec,
        calls.find(spec, tenant, key),
        cast("Verdict", verdict),
        reason=reason,
        by=getpass.getuser(),
        now_ms=_now_ms(),
        result=read_arguments(result) if result else None,
    )
    again = "the identical call runs again" if verdict == "not-done" else "repeating it is answered"
    typer.echo(f"resolved as {verdict}: {again}")


def _calls(target: str, stage: str) -> Calls:
    if target not in {"local", "aws"}:
        raise CommandError("--target takes local or aws")
    dynamodb, outputs = client_and_outputs(cast("Where", target), stage, "dynamodb")
    if "IdempotencyTable" not in outputs:
        raise CommandError(f"stage {stage} has no records yet: deploy it first")
    return Calls(dynamodb, outputs["IdempotencyTable"])


def _told(record: Record) -> str:
    lease = datetime.fromtimestamp(record.lease_ms / 1000, UTC)
    kept = datetime.fromtimestamp(record.expires_s, UTC)
    why = record.stuck_because(_now_ms())
    lines = [
        record.id,
        f"    {record.status}, attempt {record.attempt}" + (f": {why}" if why else ""),
        f"    lease until {lease:%Y-%m-%d %H:%M:%S} UTC, kept until {kept:%Y-%m-%d %H:%M:%S} UTC",
    ]
    if record.answer is not None:
        lines.append(f"    {json.dumps(record.answer, ensure_ascii=False)}")
    return "\n".join(lines)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
