"""Every command, put together."""

from __future__ import annotations

import typer

from toolgate.approvals_commands import app as approvals
from toolgate.audit_commands import audit
from toolgate.call import call
from toolgate.calls_commands import app as calls
from toolgate.compat_commands import compat
from toolgate.contract_commands import check, emit, list_tools, publish, show
from toolgate.demo.command import demo
from toolgate.local.cli import app as local
from toolgate.mcp_commands import mcp
from toolgate.orders_commands import app as orders
from toolgate.token_commands import app as token
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
app.command()(audit)
app.command()(publish)
app.command()(call)
app.command()(mcp)
app.add_typer(calls, name="calls")
app.add_typer(workspace, name="workspace")
app.add_typer(orders, name="orders")
app.add_typer(token, name="token")
app.add_typer(approvals, name="approvals")
app.add_typer(local, name="local")
app.command()(demo)
