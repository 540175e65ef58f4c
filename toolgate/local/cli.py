"""`toolgate local …`: the four verbs, as commands. Exit code 1: a typed failure, or not up."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from toolgate.local import cloud
from toolgate.local.errors import LocalCloudError
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


def _show(found: cloud.Status, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(found.as_dict(), indent=2))
        return
    table = Table.grid(padding=(0, 2))
    table.add_row("local cloud", f"up, process {found.pid}" if found.running else "not up")
    table.add_row("endpoint", found.endpoint)
    table.add_row("region", found.region)
    table.add_row("data", f"{found.data_bytes / 1e6:.1f} MB in .local/")
    for name, state in sorted(found.stacks.items()):
        table.add_row(name, state)
    for key, value in sorted(found.outputs.items()):
        table.add_row(key, value)
    Console(highlight=False, soft_wrap=True).print(table)


@contextmanager
def _plain_errors() -> Iterator[None]:
    try:
        yield
    except LocalCloudError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(1) from None
