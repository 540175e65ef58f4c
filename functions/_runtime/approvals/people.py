"""Who a person is: one name, however it is written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from contracts.errors import ForbiddenError

if TYPE_CHECKING:
    from functions._runtime.caller import Caller

_NAME = re.compile(r"[a-z0-9_+=,.@-]{2,64}\Z")
"""What AWS takes for the name of a role's session, without upper case."""


def person(name: str) -> str | None:
    """The one spelling of a name; None for what cannot be a person's.

    Another case is not another person. What no session can be called is nobody, rather than
    somebody who looks like another: so no blank, no look-alike letter makes a second person.
    """
    folded = name.casefold()
    return folded if _NAME.match(folded) else None


def requester(caller: Caller) -> str:
    """Who asks, for the record. Raises ForbiddenError, `details.reason` SUBJECT_REQUIRED.

    A surface's binding names nobody, and who asked decides who may agree.
    """
    found = person(caller.subject or "")
    if found is None:
        raise ForbiddenError(
            "people must agree to this call, so it needs a caller token that says who asks: the "
            "subject is a person's name as AWS knows it",
            reason="SUBJECT_REQUIRED",
        )
    return found


def excluded(caller: Caller) -> tuple[str, ...]:
    """Who may not decide on the caller's request: who asks, and the agent that asks for them."""
    names = {person(name) for name in (caller.subject, caller.agent) if name}
    return tuple(sorted(name for name in names if name))
