"""Starts the page on loopback, prints the address that opens it once, and serves until Ctrl-C."""

from __future__ import annotations

import secrets
import time
import webbrowser
from typing import TYPE_CHECKING

from werkzeug.serving import WSGIRequestHandler, make_server

from toolgate.approvals.guard import Guard, Secrets
from toolgate.approvals.page import ApprovalsPage
from toolgate.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Callable

    from werkzeug.serving import BaseWSGIServer

    from toolgate.approvals.client import ApprovalsClient

LOOPBACK = "127.0.0.1"


class _Quiet(WSGIRequestHandler):
    """Logs nothing: an address holds a key."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Nothing."""


def started(client: ApprovalsClient, port: int) -> tuple[BaseWSGIServer, Guard]:
    """A server that listens already, and the guard that knows its address. Raises CommandError."""
    chance = Secrets(
        place=secrets.token_urlsafe(12),
        entrance=secrets.token_urlsafe(24),
        session=secrets.token_urlsafe(24),
        signing=secrets.token_bytes(32),
    )

    def not_yet(*_: object) -> list[bytes]:
        raise AssertionError("the server does not serve yet")

    try:
        server = make_server(LOOPBACK, port, not_yet, threaded=True, request_handler=_Quiet)
    except (OSError, SystemExit):
        raise CommandError(f"port {port} of {LOOPBACK} is taken: choose another --port") from None
    guard = Guard(f"{LOOPBACK}:{server.server_port}", chance)
    server.app = ApprovalsPage(client, guard, time.time)
    return server, guard


def serve(
    client: ApprovalsClient, *, port: int, open_it: bool, say: Callable[[str], object]
) -> None:
    """Serve the page until Ctrl-C. Raises CommandError if the port is taken."""
    server, guard = started(client, port)
    say(f"Open this in your browser, once:\n{guard.address}\nEnd with Ctrl-C.")
    if open_it:
        webbrowser.open(guard.address)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        say("")
    finally:
        server.server_close()
