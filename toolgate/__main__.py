"""`python -m toolgate`: exit code 0 for success, 1 for a typed failure, 2 for misuse."""

from __future__ import annotations

import sys

import typer

from contracts.errors import ToolError
from contracts.registry import UnknownToolError
from contracts.spec import SpecError
from toolgate.errors import CallFailedError, CommandError
from toolgate.local.errors import LocalCloudError
from toolgate.workspace.errors import WorkspaceError


def main() -> None:
    """Run the command line and end the process."""
    try:
        # Some commands need some contracts, and a contract may contradict itself: that is a
        # sentence as well, whichever command was given.
        from toolgate.cli import app

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
