"""`python -m toolgate`: exit code 0 for success, 1 for a typed failure, 2 for misuse."""

from __future__ import annotations

import sys

import typer

from contracts.errors import ToolError
from contracts.registry import UnknownToolError
from contracts.spec import SpecError
from toolgate.call import call
from toolgate.calls_commands import app as calls
from toolgate.compat_commands import compat
from toolgate.contract_commands import check, emit, list_tools, publish, show
from toolgate.demo.command import demo
from toolgate.errors import CallFailedError, CommandError
from toolgate.local.cli import app as local
from toolgate.local.errors import LocalCloudError
from toolgate.orders_commands import app as orders
from toolgate.token_commands import app as token
from toolgate.workspace.errors import WorkspaceError
from toolgate.workspace_commands import app as workspace

app = typer.Typer(
    help="Agent tools on AWS as versioned JSON contracts, safe to retry.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("list")(list_tools)
app.command()(show)
app.command()(emit)
app.command()(check)
app.command()(compat)
app.command()(publish)
app.command()(call)
app.add_typer(calls, name="calls")
app.add_typer(workspace, name="workspace")
app.add_typer(orders, name="orders")
app.add_typer(token, name="token")
app.add_typer(local, name="local")
app.command()(demo)


def main() -> None:
    """Run the command line and end the process."""
    try:
        app()
    except CallFailedError as error:
        _end(error, 1)
    except (CommandError, UnknownToolError, SpecError) as error:
        _end(error, 2)
    except ToolError as error:
        _end(f"{error.code}: {error.message}", 1)
    except (LocalCloudError, WorkspaceError) as error:
        _end(error, 1)


def _end(error: object, code: int) -> None:
    typer.echo(f"Error: {error}", err=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
