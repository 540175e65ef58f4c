"""`toolgate workspace`: move a directory into a workspace and agents' work back out."""

from __future__ import annotations

import getpass
import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, cast

import typer
from pydantic import TypeAdapter, ValidationError
from rich.console import Console
from rich.progress import Progress as Bar

from contracts.types import RepoRoot, path_problem
from functions._runtime.workspace import Stores
from toolgate import workspace as api
from toolgate.deployed import Where, client_and_outputs
from toolgate.errors import CommandError
from toolgate.project import ROOT

app = typer.Typer(help="Move files into and out of workspaces.", no_args_is_help=True)

Directory = Annotated[Path, typer.Argument(help="A directory; best, a git repository.")]
Name = Annotated[str, typer.Option("--as", help="The workspace: /workspace/app.")]
Root = Annotated[str, typer.Argument(help="The workspace: /workspace/app.")]
Target = Annotated[str, typer.Option("--target", help="local or aws.")]
Stage = Annotated[str, typer.Option("--stage", help="The stage on aws.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def push(
    directory: Directory,
    repo_root: Name,
    message: Annotated[str, typer.Option("--message", "-m", help="For the history.")] = "Push",
    target: Target = "local",
    stage: Stage = "dev",
    *,
    discard_pulled: Annotated[
        bool, typer.Option("--discard-pulled", help="Push although pulled work is not merged.")
    ] = False,
) -> None:
    """Make the workspace hold what the directory holds.

    Creates it if there is none.
    """
    stores = stores_of(target, stage)
    console = Console(stderr=True)
    with Bar(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("Pushing", total=None)
        result = api.push(
            stores,
            directory.resolve(),
            checked(repo_root),
            by=getpass.getuser(),
            now_ms=time.time_ns() // 1_000_000,
            message=message,
            state_directory=state_of(target, stage),
            discard_pulled=discard_pulled,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    what = "created" if result.created else "changed" if result.changed else "unchanged"
    typer.echo(
        f"{repo_root} {what}: {result.files} files, {result.uploaded} objects uploaded, "
        f"{result.skipped} there already"
    )
    typer.echo(f"revision {result.revision}")
    for path in result.left_out:
        typer.echo(f"left out: {visible(path)}", err=True)


@app.command()
def pull(
    directory: Directory,
    repo_root: Name,
    target: Target = "local",
    stage: Stage = "dev",
    branch: Annotated[
        str | None, typer.Option("--branch", help="Instead of toolgate/NAME; in a repository only.")
    ] = None,
    *,
    checkout: Annotated[
        bool, typer.Option("--checkout", help="Check the pulled branch out as well.")
    ] = False,
) -> None:
    """Bring agents' work back as commits.

    In a git repository they come on a branch of their own.
    """
    result = api.pull(
        stores_of(target, stage),
        directory.resolve(),
        checked(repo_root),
        branch=branch,
        checkout=checkout,
        state_directory=state_of(target, stage),
    )
    if result.branch:
        on = f" on {result.branch}" if result.tip else ""
        typer.echo(f"{counted(result.commits, 'new commit')}{on}")
    else:
        typer.echo(f"{counted(result.changed, 'path')} changed")
    typer.echo(f"revision {result.revision}")


@app.command()
def log(
    repo_root: Root,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many rows.")] = 20,
    target: Target = "local",
    stage: Stage = "dev",
    *,
    as_json: AsJson = False,
) -> None:
    """Show a workspace's history, newest first."""
    entries = api.log(stores_of(target, stage), checked(repo_root), limit=limit)
    if as_json:
        rows = [{**vars(entry), "revision": entry.revision} for entry in entries]
        typer.echo(json.dumps(rows, indent=2))
        return
    for entry in entries:
        moment = datetime.fromtimestamp(entry.at_ms / 1000, UTC)
        typer.echo(f"{entry.revision}")
        typer.echo(
            f"    {moment:%Y-%m-%d %H:%M:%S} UTC  {visible(entry.tool)}  by {visible(entry.by)}"
        )
        shown = [visible(path) for path in entry.paths[:5]]
        left = len(entry.paths) - len(shown) + entry.more
        more = f" and {left} more" if left else ""
        typer.echo(f"    {', '.join(shown)}{more}" if shown else "    no paths")


@app.command()
def diff(
    repo_root: Root,
    old: Annotated[str, typer.Argument(help="A revision, or its number.")],
    new: Annotated[str, typer.Argument(help="A revision, or its number.")],
    target: Target = "local",
    stage: Stage = "dev",
) -> None:
    """Show what changed between two revisions, as git apply reads it."""
    stores, root = stores_of(target, stage), checked(repo_root)
    before, after = (_revision(stores, root, text) for text in (old, new))
    typer.echo(api.diff(stores, root, before, after), nl=False)


@app.command()
def undo(
    repo_root: Root,
    revision: Annotated[str, typer.Argument(help="A revision, or its number.")],
    target: Target = "local",
    stage: Stage = "dev",
) -> None:
    """Take back what one revision changed.

    By a new commit; later changes stay.
    """
    stores, root = stores_of(target, stage), checked(repo_root)
    result = api.undo(
        stores,
        root,
        _revision(stores, root, revision),
        by=getpass.getuser(),
        now_ms=time.time_ns() // 1_000_000,
    )
    typer.echo(f"{counted(len(result.paths), 'path')} put back")
    typer.echo(f"revision {result.revision}")


@app.command()
def rm(
    repo_root: Root,
    target: Target = "local",
    stage: Stage = "dev",
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete a workspace with its files and its history.

    Keys that were used stay used for 24 hours. Push nothing to it meanwhile.
    """
    stores, root = stores_of(target, stage), checked(repo_root)
    if not yes and typer.prompt(f"Deletes {root} with all history. Type its name") != root:
        raise CommandError("that is another name; nothing was deleted")
    result = api.remove(stores, root)
    typer.echo(f"{root} deleted: {result.rows} rows, {result.objects} objects")


def counted(count: int, noun: str) -> str:
    """`1 path`, `2 paths`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def visible(text: str) -> str:
    """A name from a workspace, with escapes for what a terminal would obey or not show."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def stores_of(target: str, stage: str) -> Stores:
    """Where the workspaces of a stage are. Raises CommandError, LocalCloudError."""
    if target not in {"local", "aws"}:
        raise CommandError("--target takes local or aws")
    where = cast("Where", target)
    dynamodb, outputs = client_and_outputs(where, stage, "dynamodb")
    s3, _ = client_and_outputs(where, stage, "s3")
    try:
        return Stores(dynamodb, s3, outputs["WorkspaceTable"], outputs["WorkspaceBucket"])
    except KeyError:
        raise CommandError(f"stage {stage} has no workspaces yet: deploy it first") from None


def state_of(target: str, stage: str) -> Path:
    """Where it is kept what plain directories and the workspaces of a stage have in common."""
    return ROOT / ".local" / "workspaces" / f"{target}-{stage}"


def checked(repo_root: str) -> str:
    """The workspace's name, if tools would accept it. Raises CommandError."""
    try:
        return TypeAdapter(RepoRoot).validate_python(repo_root)
    except ValidationError:
        problem = path_problem(repo_root, absolute=True) if repo_root.startswith("/") else None
    raise CommandError(
        f"the workspace's name {problem}"
        if problem
        else "a workspace's name is / and then 1-255 of the characters A-Z a-z 0-9 . _ / -, "
        "such as /workspace/app"
    )


def _revision(stores: Stores, repo_root: str, text: str) -> str:
    """A revision by itself or by its number."""
    if not text.isascii() or not text.isdigit():
        return text
    row = api.Remote(stores, "default", repo_root).row(int(text))
    if row is None:
        raise CommandError(f"{repo_root} has no revision {text}")
    return row.revision
