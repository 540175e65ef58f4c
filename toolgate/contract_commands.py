"""The commands about contracts: list, show, emit, check, publish."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from contracts import publishing, registry
from contracts.dialects import DIALECTS
from contracts.dialects.targets import UnportableError
from contracts.spec import Status
from toolgate import checklist, schema_files
from toolgate.errors import CommandError

WIDE = 132
"""Columns that a line of the list takes with everything in it."""

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Name = Annotated[str, typer.Argument(help="A tool: apply_patch_v1, or apply_patch for the newest.")]


def list_tools(*, as_json: AsJson = False) -> None:
    """List the tools."""
    rows = [
        {
            "name": spec.name,
            "version": spec.version,
            "model_name": spec.model_name,
            "status": spec.status.value,
            "effect": spec.effect.value,
            "approval": spec.approval.value,
            "scopes": sorted(spec.scopes),
            "owner": spec.owner,
        }
        for spec in registry.specs()
    ]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    _print_table(rows)


def _print_table(rows: list[dict[str, Any]]) -> None:
    """The tools, a line each; on a narrow terminal without scopes and owners."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=WIDE)
    keys = ["model_name", "version", "status", "effect", "approval", "scopes", "owner"]
    if console.width < WIDE:
        keys = keys[:5]
    table = Table(box=None, pad_edge=False)
    for key in keys:
        # A name that is cut short cannot be called.
        table.add_column("tool" if key == "model_name" else key, no_wrap=True)
    for row in rows:
        table.add_row(*(_cell(row[key]) for key in keys))
    console.print(table)


def _cell(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)


def show(
    name: Name,
    dialect: Annotated[
        str, typer.Option("--dialect", help=f"One of: {', '.join(DIALECTS)}.")
    ] = "json-schema",
) -> None:
    """Print a tool's schema in one dialect, as one JSON document."""
    if dialect not in DIALECTS:
        raise CommandError(f"there is no dialect {dialect!r}; there are {', '.join(DIALECTS)}")
    spec = registry.find(name)
    try:
        document = DIALECTS[dialect](spec)
    except UnportableError as error:
        raise CommandError(f"{spec.model_name} has no {dialect} document: {error}") from None
    typer.echo(publishing.dump(document), nl=False)


def emit() -> None:
    """Write contracts/schemas from the contracts."""
    changed = schema_files.write(registry.specs())
    typer.echo("\n".join(changed) if changed else "contracts/schemas is up to date")


def check(*, as_json: AsJson = False) -> None:
    """Check every contract against the checklist. Exit code 1 if a line fails."""
    lines = checklist.run(registry.specs())
    if as_json:
        typer.echo(json.dumps([line.as_dict() for line in lines], indent=2))
    else:
        for line in lines:
            typer.echo(f"{'ok  ' if line.ok else 'FAIL'}  {line.title}")
            for problem in line.problems:
                typer.echo(f"        {problem}")
    if not all(line.ok for line in lines):
        raise typer.Exit(1)


def publish(
    name: Name,
    read_by: Annotated[
        str, typer.Option("--read-by", help="Who has read the contract and stands for it.")
    ],
) -> None:
    """Publish a version: from now on its schema never changes."""
    spec = registry.find(name)
    schema_files.publish(spec, read_by)
    active = replace(spec, status=Status.ACTIVE)
    schema_files.write([active if one is spec else one for one in registry.specs()])
    typer.echo(f"{spec.key} is published as {publishing.digest(spec)}")
