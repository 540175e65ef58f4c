"""Who decides: the verified caller of the API, and nobody that a body could name.

The one approver role's trust policy forces a session's name to be the user's own. Every other form
of principal (a user's own key, another role, the account's root, a federated one) is refused: it
would be a second name of somebody.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from contracts.errors import ForbiddenError
from functions._runtime.approvals.people import person

if TYPE_CHECKING:
    from collections.abc import Mapping

_ROLE = re.compile(r"arn:(?P<partition>[a-z-]+):iam::(?P<account>[0-9]{12}):role/(?P<name>[^/]+)\Z")
_SESSION = re.compile(
    r"arn:(?P<partition>[a-z-]+):sts::(?P<account>[0-9]{12}):assumed-role/(?P<name>[^/]+)/"
    r"(?P<session>[^/]+)\Z"
)


def decider(event: Mapping[str, Any], approver_role: str) -> str:
    """The person who calls. `approver_role` is the ARN of the role.

    Raises ForbiddenError, `details.reason` NOT_AN_APPROVER.
    """
    role = _ROLE.match(approver_role)
    session = _SESSION.match(_caller(event))
    if role is None or session is None or role["name"] != session["name"]:
        raise _refusal()
    if (role["partition"], role["account"]) != (session["partition"], session["account"]):
        raise _refusal()
    found = person(session["session"])
    if found is None:
        raise _refusal()
    return found


def _caller(event: Mapping[str, Any]) -> str:
    """The ARN that API Gateway has verified; empty if there is none."""
    found: Any = event
    for name in ("requestContext", "authorizer", "iam", "userArn"):
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, str) else ""


def _refusal() -> ForbiddenError:
    return ForbiddenError(
        "only a session of the approver role decides, and it is named like its user",
        reason="NOT_AN_APPROVER",
    )
