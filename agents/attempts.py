"""One sending of a call, whatever becomes of it: the tool's result, a typed failure, or nothing.

For harnesses that must answer a model in any case. `agents.targets.call` is the same for those that
would rather have the exceptions.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from agents import events
from agents.targets import InvocationError, unsent
from contracts.errors import ForbiddenError, ToolError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from agents.targets import Target
    from contracts.results import Result
    from contracts.spec import ToolSpec

HTTP_FORBIDDEN = 403
HTTP_SERVER_ERROR = 500

_log = logging.getLogger(__name__)


class TokenError(RuntimeError):
    """No caller token can be had now; the message says why and holds no secret."""


def attempt(
    target: Target,
    spec: ToolSpec,
    arguments: dict[str, Any],
    token: Callable[[], str | None] | None = None,
) -> Result | None:
    """What one sending brought; None if nothing came, so that it may have happened.

    `token` gives a caller token, or None for what the stage binds to direct calls; it may raise
    TokenError. What was surely not done (arguments of a reserved name, no token, Lambda let nobody
    in) is a failure whose key is not spent.
    """
    try:
        event = events.build(spec, arguments, "direct", token=token() if token else None)
    except TokenError as error:
        _log.warning("%s: %s", spec.model_name, error)
        return unsent(spec, UnavailableError("there is no caller token now; nothing was sent"))
    except ToolError as error:
        return unsent(spec, error)
    try:
        return events.unwrap(target.send(spec, event))
    except ClientError as error:
        _log.warning("%s: %s", spec.model_name, error)
        refusal = _refusal(error)
        return unsent(spec, refusal) if refusal else None
    except (BotoCoreError, InvocationError, ValueError) as error:
        # ValueError: what came is no result.
        _log.warning("%s: %s", spec.model_name, error)
        return None


def _refusal(error: ClientError) -> ToolError | None:
    """What to tell of a call that Lambda has not let in; None if it may have run."""
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", HTTP_SERVER_ERROR)
    if status >= HTTP_SERVER_ERROR:
        return None
    if status == HTTP_FORBIDDEN:
        return ForbiddenError("the caller may not invoke the tool", reason="INVOKE_REFUSED")
    return UnavailableError("the tool takes no calls now; nothing was done")
