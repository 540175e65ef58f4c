"""`toolgate audit`: who may do what in a stage, read from the templates that a deploy would use."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from contracts import registry
from toolgate.errors import CommandError

if TYPE_CHECKING:
    from infra.options import Options
    from toolgate.audit_tables import Section

WIDTH = 100
"""Columns where nobody's terminal says otherwise."""
GAP = 2
"""Between a table's columns."""


def audit(
    *,
    stage: Annotated[str, typer.Option("--stage", help="dev or prod.")] = "dev",
    surfaces: Annotated[
        str, typer.Option("--surfaces", help="bedrock, gateway, or both: bedrock,gateway.")
    ] = "bedrock",
    agent_arns: Annotated[
        str, typer.Option("--agent-arns", help="Agents that exist already and are let in.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
) -> None:
    """Review who may do what in a stage. Exit code 1 if something is wrong there.

    Reads the templates that a deployment with these options would use; asks no account.
    """
    if as_json and as_markdown:
        raise CommandError("--json and --markdown are two forms: choose one")
    from infra.errors import InfraError
    from infra.review import review, synthesise
    from toolgate import audit_tables
    from toolgate.audit import audit as judge

    try:
        found = review(synthesise(_options(stage, surfaces, agent_arns)))
    except InfraError as error:
        raise CommandError(str(error)) from None
    report = judge(found, registry.specs())
    if as_json:
        typer.echo(json.dumps(audit_tables.document(report, found, stage), indent=2))
    elif as_markdown:
        typer.echo(audit_tables.markdown(report, found, stage), nl=False)
    else:
        _print(audit_tables.sections(report, found), audit_tables.notes(report))
        for one in report.findings:
            typer.echo(f"\n{one.rule}: {one.tool or 'the stage'}, {one.where}")
            typer.echo(f"  {one.problem}\n  What to do: {one.fix}")
        count = len(report.findings)
        typer.echo(f"\nStage {stage}: {count or 'no'} finding{'' if count == 1 else 's'}.")
    if report.findings:
        raise typer.Exit(1)


def _options(stage: str, surfaces: str, agent_arns: str) -> Options:
    from infra.options import read_options

    return read_options({"stage": stage, "surfaces": surfaces, "agentArns": agent_arns}.get)


def _print(sections: list[Section], notes: list[str]) -> None:
    # Text from templates is no markup, and `:root:` no emoji.
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console = Console(highlight=False, markup=False, emoji=False, width=WIDTH)
    for section in sections:
        table = Table(
            title=section.title,
            title_justify="left",
            box=None,
            padding=(0, GAP, 0, 0),
            pad_edge=False,
        )
        for column, width in zip(section.columns, widths(section, console.width), strict=True):
            table.add_column(column, width=width, overflow="fold")
        before = ""
        for first, *rest in section.rows:
            table.add_row("" if first == before else first, *rest)
            before = first
        console.print(table)
        console.print()
    for note in notes:
        console.print(note)


def widths(section: Section, total: int) -> list[int]:
    """How wide each column of a table is, so that nothing is cut off and few words are broken.

    Each is as wide as its longest word, the widest ones less if all do not fit; what is left over
    goes to those whose cells are longer.
    """
    columns = [(name, *(row[n] for row in section.rows)) for n, name in enumerate(section.columns)]
    wanted = [max(map(len, cells)) for cells in columns]
    found = [max(len(word) for cell in cells for word in cell.split()) for cells in columns]
    room = total - GAP * (len(columns) - 1)
    while sum(found) > room and max(found) > 1:
        found[found.index(max(found))] -= 1
    while sum(found) < room and (narrow := [n for n, w in enumerate(found) if w < wanted[n]]):
        found[min(narrow, key=found.__getitem__)] += 1
    return found
