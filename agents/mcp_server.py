"""The tools as a Model Context Protocol server, over stdio or stateless HTTP on loopback.

The official SDK's low-level server speaks the protocol, in the revisions that the SDK knows; it is
an optional extra and imported on use. The tools' documents go out as they were emitted. A request
that its client cancels is let go of, not undone: what became of it is known by its key.
"""

from __future__ import annotations

import hmac
from functools import partial
from typing import TYPE_CHECKING, Any

from agents.mcp_calls import NoSuchToolError
from contracts.instruction import mcp_instruction

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    from mcp.server import Server

    from agents.mcp_calls import Tools

    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]
    Application = Callable[[Message, Receive, Send], Awaitable[None]]

NAME = "toolgate"
PATH = "/mcp"
LOOPBACK = "127.0.0.1"
LIST_TTL_MS = 300_000
"""How long a client may keep the list: it changes by a deployment, and this server by a start."""
REQUEST_MAX_BYTES = 16 * 1024 * 1024
"""Above what a tool takes, so that it is the tool's own TOO_LARGE that answers."""


def make_server(tools: Tools, *, version: str) -> Server[Any]:
    """A server of these tools. Raises ImportError without the SDK (mcp 2)."""
    import anyio  # noqa: PLC0415  (with the SDK, which is an extra)
    import mcp_types as types  # noqa: PLC0415
    from mcp.server import Server as SdkServer  # noqa: PLC0415
    from mcp.shared.exceptions import MCPError  # noqa: PLC0415

    listed = [types.Tool.model_validate(document) for document in tools.documents()]

    async def list_tools(_: Any, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=listed, ttl_ms=LIST_TTL_MS, cache_scope="public")

    async def call_tool(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        meta: dict[str, Any] = {**(params.meta or {})}
        call = partial(tools.call, params.name, params.arguments or {}, meta)
        try:
            # A cancelled request leaves its thread to end alone: what was sent cannot be unsent.
            answer = await anyio.to_thread.run_sync(call, abandon_on_cancel=True)
        except NoSuchToolError:
            raise MCPError(types.INVALID_PARAMS, "no such tool; tools/list names them") from None
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=answer.text)],
            structured_content=answer.structured,
            is_error=answer.is_error,
        )

    schemas = {tool.name: tool.input_schema for tool in listed}
    return SdkServer(
        NAME,
        version=version,
        instructions=mcp_instruction(),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=schemas.get,
    )


def serve_stdio(server: Server[Any]) -> None:
    """Serve one client on standard input and output until it closes them.

    Nothing but protocol goes out: whatever else is printed meanwhile goes to standard error.
    """
    import anyio  # noqa: PLC0415
    from mcp.server.stdio import stdio_server  # noqa: PLC0415

    async def run() -> None:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    anyio.run(run)


def http_application(server: Server[Any], port: int, token: str | None) -> Application:
    """The server as an ASGI application at `PATH`, for loopback and this port.

    Requests are judged one by one; there are no sessions. Another Host (421) or Origin (403) is
    refused, so that no web page reaches it; so is who has not `token` (401), unless it is None.
    """
    from mcp.server.transport_security import TransportSecuritySettings  # noqa: PLC0415

    hosts = [f"{LOOPBACK}:{port}", f"localhost:{port}"]
    application: Application = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=REQUEST_MAX_BYTES,
        transport_security=TransportSecuritySettings(
            allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts]
        ),
    )
    return application if token is None else Bearer(application, token)


class Bearer:
    """Lets through who has the token; of anybody else's request nothing but the head is read."""

    def __init__(self, application: Application, token: str) -> None:
        self._application = application
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer 401, or hand on."""
        if scope["type"] == "lifespan" or self._has_token(scope):
            await self._application(scope, receive, send)
            return
        headers = [(b"www-authenticate", b"Bearer"), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    def _has_token(self, scope: Message) -> bool:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        return len(given) == 1 and hmac.compare_digest(given[0], self._expected)
