"""`toolgate local …`: the local cloud's commands. Exit code 1: a typed failure, or not up."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from toolgate.local import cloud
from toolgate.local.errors import LocalCloudError
from toolgate.local.logs import lines as log_lines
from toolgate.local.progress import Shown

if TYPE_CHECKING:
    from collections.abc import Iterator

app = typer.Typer(help="The local cloud: an AWS on this machine.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Port = Annotated[
    int | None,
    typer.Option("--port", min=1024, max=65535, help="Listen here; remembered. At first 4566."),
]
Redeploy = Annotated[bool, typer.Option("--redeploy", help="Deploy even if nothing changed.")]


@app.command()
def up(port: Port = None, *, redeploy: Redeploy = False, as_json: Json = False) -> None:
    """Start the local cloud and deploy the tools to it."""
    with _plain_errors():
        cloud.up(Shown(), port=port, redeploy=redeploy)
        _show(cloud.status(), as_json=as_json)


@app.command()
def status(*, as_json: Json = False) -> None:
    """Say what runs. Exit code 0 if the local cloud is up, 1 if not."""
    found = cloud.status()
    _show(found, as_json=as_json)
    if not found.running:
        raise typer.Exit(1)


@app.command()
def down() -> None:
    """Stop the local cloud; its data stays."""
    with _plain_errors():
        if not cloud.down(Shown()):
            typer.echo("The local cloud was not up.", err=True)


@app.command()
def reset() -> None:
    """Stop the local cloud and remove its data; what is installed stays."""
    with _plain_errors():
        cloud.reset(Shown())


@app.command()
def install() -> None:
    """Install what the local cloud is made of, without starting it."""
    with _plain_errors():
        cloud.prepare(Shown())


@app.command()
def logs(
    tool: Annotated[
        str | None, typer.Argument(help="One tool: ApplyPatchV1. Default: all.")
    ] = None,
    minutes: Annotated[int, typer.Option("--minutes", min=1, help="How far back.")] = 15,
) -> None:
    """Print what the local tools wrote lately."""
    with _plain_errors():
        since_ms = int((time.time() - minutes * 60) * 1000)
        for line in log_lines(cloud.attached(), since_ms, tool):
            moment = datetime.fromtimestamp(line.at_ms / 1000, UTC)
            typer.echo(f"{moment:%H:%M:%S.%f} {line.tool} {line.text}")


def _show(found: cloud.Status, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(found.as_dict(), indent=2))
        return
    rows = {
        "local cloud": f"up, process {found.pid}" if found.running else "not up",
        "endpoint": found.endpoint,
        "region": found.region,
        "data": f"{found.data_bytes / 1e6:.1f} MB in .local/",
        **dict(sorted(found.stacks.items())),
        **dict(sorted(found.outputs.items())),
    }
    width = max(len(name) for name in rows)
    for name, value in rows.items():
        typer.echo(f"{name:{width}}  {value}")


@contextmanager
def _plain_errors() -> Iterator[None]:
    try:
        yield
    except LocalCloudError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(1) from None
