"""`toolgate mcp`: the deployed tools for clients that speak the Model Context Protocol."""

from __future__ import annotations

import importlib.metadata
import secrets
import socket
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer
from botocore.exceptions import BotoCoreError, ClientError
from pydantic import ValidationError

from agents.attempts import TokenError
from agents.mcp_calls import Tools
from agents.mcp_server import LOOPBACK, PATH, http_application, make_server, serve_stdio
from agents.session import IssueError, issue, read_keys
from agents.targets import LambdaTarget
from contracts import registry
from contracts.caller import KeysError
from toolgate.call import read_text
from toolgate.deployed import function_names
from toolgate.errors import CommandError
from toolgate.token_commands import checked_scopes, keys_secret, signing_stage, who_asks

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.server import Server

DEFAULT_PORT = 8765
TOKEN_LIFE_S = 120
"""Of a token signed for one call: it is looked at once, when the tool begins."""
STOP_S = 3


def mcp(
    target: Annotated[str, typer.Option("--target", help="local or aws.")] = "local",
    stage: Annotated[str, typer.Option("--stage", help="The stage on aws.")] = "dev",
    *,
    http: Annotated[
        bool, typer.Option("--http", help="Serve HTTP on loopback, not standard input.")
    ] = False,
    port: Annotated[
        int | None,
        typer.Option("--port", min=0, max=65_535, help=f"Of HTTP; {DEFAULT_PORT}, or 0: any."),
    ] = None,
    no_auth: Annotated[
        bool, typer.Option("--no-auth", help="Of HTTP: let in whoever reaches the port.")
    ] = False,
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            envvar="TOOLGATE_TOKEN",
            show_envvar=False,
            help="Call as a caller token says: the token, @FILE (read for each call) or -. "
            "Also TOOLGATE_TOKEN.",
        ),
    ] = None,
    sign: Annotated[
        bool, typer.Option("--sign", help="Call as yourself: sign a token for each call.")
    ] = False,
    scopes: Annotated[
        list[str] | None,
        typer.Option("--scope", help="With --sign: what the calls may do; once for each scope."),
    ] = None,
    tenant: Annotated[
        str, typer.Option("--tenant", help="With --sign: whose data it is.")
    ] = "default",
    agent: Annotated[
        str | None, typer.Option("--agent", help="With --sign: who acts for you.")
    ] = None,
) -> None:
    """Serve the deployed tools by MCP: to one client on standard input and output, or by HTTP."""
    if target not in {"local", "aws"}:
        raise CommandError("--target takes local or aws")
    if not http and (port is not None or no_auth):
        raise CommandError("--port and --no-auth are for --http")
    if not http and token == "-":  # noqa: S105  (where to read it)
        raise CommandError("standard input is the client's: give the token as @FILE")
    if sign and token is not None:
        raise CommandError("--sign and a token (--token, TOOLGATE_TOKEN) exclude each other")
    if sign != bool(scopes) or (not sign and (agent is not None or tenant != "default")):
        raise CommandError("--sign needs --scope; --scope, --tenant and --agent need --sign")
    _check_sdk()
    caller = _signer(target, stage, scopes or [], tenant, agent) if sign else _presented(token)
    names, client = function_names(cast("Literal['local', 'aws']", target), stage)
    specs = registry.newest(spec for spec in registry.specs() if spec.model_name in names)
    tools = Tools(specs, LambdaTarget(names, client=client), token=caller)
    server = make_server(tools, version=_version())
    if http:
        _serve_http(server, DEFAULT_PORT if port is None else port, auth=not no_auth)
    else:
        serve_stdio(server)


@dataclass(frozen=True)
class Signer:
    """Signs a token for one call, with the key that the stage has at that moment."""

    client: Any
    secret: str
    claims: dict[str, Any]

    def __call__(self) -> str:
        """A token. Raises TokenError if the stage's keys cannot be read or used."""
        try:
            keys = read_keys(self.client, self.secret)
            now_s = int(time.time())
            return issue(**self.claims, keys=keys, now_s=now_s, life_s=TOKEN_LIFE_S)
        except (IssueError, KeysError) as error:
            raise TokenError(str(error)) from None
        except (BotoCoreError, ClientError) as error:
            raise TokenError(f"the keys cannot be read: {error}") from None


def _signer(
    target: str, stage: str, scopes: list[str], tenant: str, agent: str | None
) -> Callable[[], str]:
    """Signs as whoever runs this; tried once, so that what cannot work ends the command."""
    client, secret = keys_secret(target, stage)
    try:
        claims = {
            "tenant": tenant,
            "subject": who_asks(target),
            "scopes": checked_scopes(scopes),
            "stage": signing_stage(target, stage),
            "agent": agent,
        }
        signer = Signer(client, secret, claims)
        signer()
    except ValidationError as error:
        fields = ", ".join(str(one["loc"][0]) for one in error.errors())
        raise CommandError(f"no token can say that: {fields}") from None
    except (IssueError, TokenError) as error:
        raise CommandError(str(error)) from None
    except (BotoCoreError, ClientError) as error:
        raise CommandError(f"AWS does not say who you are: {error}") from None
    return signer


def _presented(token: str | None) -> Callable[[], str | None]:
    """The token that was given. A file is read for each call: something may renew it there."""
    if token is None or not token.startswith("@"):
        text = None if token is None else read_text(token).strip()
        return lambda: text

    def read() -> str:
        try:
            return read_text(token).strip()
        except CommandError as error:
            raise TokenError(str(error)) from None

    try:
        read()
    except TokenError as error:
        raise CommandError(str(error)) from None
    return read


def _serve_http(server: Server[Any], port: int, *, auth: bool) -> None:
    """Serve on loopback until Ctrl-C. Raises CommandError if the port is taken."""
    import uvicorn

    try:
        listening = socket.create_server((LOOPBACK, port))
    except OSError:
        raise CommandError(f"port {port} of {LOOPBACK} is taken: choose another --port") from None
    with listening:
        port = listening.getsockname()[1]
        bearer = secrets.token_urlsafe(32) if auth else None
        config = uvicorn.Config(
            cast("Any", http_application(server, port, bearer)),
            access_log=False,
            log_level="warning",
            lifespan="on",
            ws="none",
            timeout_graceful_shutdown=STOP_S,
        )
        typer.echo(f"http://{LOOPBACK}:{port}{PATH}", err=True)
        who = f"Authorization: Bearer {bearer}" if auth else "Whoever reaches the port is let in."
        typer.echo(f"{who}\nEnd with Ctrl-C.", err=True)
        uvicorn.Server(config).run(sockets=[listening])


def _check_sdk() -> None:
    """Raises CommandError unless the SDK is there, in a version that has what is needed."""
    try:
        import mcp_types  # noqa: F401
        import uvicorn  # noqa: F401
        from mcp.server import Server  # noqa: F401
    except ImportError:
        raise CommandError(
            "toolgate mcp needs the SDK of MCP, version 2. Run: pip install 'mcp>=2,<3'"
        ) from None


def _version() -> str:
    """The project's, where it is installed."""
    try:
        return importlib.metadata.version("toolgate")
    except importlib.metadata.PackageNotFoundError:
        return "0"
