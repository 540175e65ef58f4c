"""Runs the emulator, in the emulator's own Python, with one thing added: Lambda's client context.

The emulator drops the `X-Amz-Client-Context` header, in which the AgentCore Gateway names the tool,
so a Gateway event could not be sent. Here it travels with the invocation to the worker, as on AWS.
This leans on names inside the pinned version; a test sends a Gateway event, and it ends loudly if
they are gone.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from ministack.app import main
from ministack.core import lambda_runtime
from ministack.services import lambda_svc

HEADER = "x-amz-client-context"
KEY = "toolgate_client_context"
WITHOUT = '"client_context": None,'
WITH = f'"client_context": _toolgate_client_context(_ms_durable.get("{KEY}")),'
MAKER = """
def _toolgate_client_context(header):
    import base64, json, types
    try:
        given = json.loads(base64.b64decode(header or ""))
    except ValueError:
        return None
    parts = {name: given.get(name) for name in ("custom", "env", "client")}
    return types.SimpleNamespace(**parts)

"""

_given: ContextVar[str | None] = ContextVar(KEY, default=None)


def add_client_context() -> None:
    """Carry the client context from the invocation's header to the handler's context object."""
    script = lambda_runtime._PYTHON_WORKER_SCRIPT
    if script.count(WITHOUT) != 1:
        raise SystemExit("this version of the emulator is not the one that was pinned")
    lambda_runtime._PYTHON_WORKER_SCRIPT = MAKER + script.replace(WITHOUT, WITH)
    invoke, overlay = lambda_svc._invoke, lambda_svc._durable_env_overlay

    async def invoke_with_context(
        name: str, event: Any, headers: dict[str, str], *more: Any, **named: Any
    ) -> Any:
        _given.set({key.lower(): value for key, value in headers.items()}.get(HEADER))
        return await invoke(name, event, headers, *more, **named)

    def overlay_with_context() -> dict[str, str]:
        given = _given.get()
        return {**(overlay() or {}), **({KEY: given} if given else {})}

    lambda_svc._invoke = invoke_with_context
    lambda_svc._durable_env_overlay = overlay_with_context


if __name__ == "__main__":
    add_client_context()
    main()
