"""Signs caller tokens: who calls, for which tenant, with which scopes, until when.

For a service of yours that stands between people and an agent: it knows who the person is, signs a
token for this session, and gives it to Bedrock as the session attribute `_caller`, or sends it as
the argument `_caller` on every other surface. It holds the stage's key, so it decides; the model
never sees either.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

from contracts import caller
from contracts.caller import CallerClaims
from contracts.fingerprint import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LIFE_S = 900
"""How long a token is good if nothing else is asked for: a quarter of an hour."""


_IDENTITY = re.compile(r"arn:[^:]+:(sts::\d+:assumed-role|iam::\d+:user)/(.+/)?(?P<name>[^/]+)")


class IssueError(ValueError):
    """A token cannot be signed as asked; the message says why."""


def issue(
    *,
    tenant: str,
    subject: str,
    scopes: Iterable[str],
    stage: str,
    keys: Sequence[str],
    now_s: int,
    life_s: int = LIFE_S,
    session_id: str | None = None,
    agent: str | None = None,
) -> str:
    """A token, signed with the last of `keys`; `session_id` is required for Bedrock alone.

    `subject` is the person whose request it is. `agent` names who acts for them, where that has a
    name: neither may agree to what they ask for.

    Raises IssueError for a life that is not 1 to 3600 seconds, or a token that would be too long;
    pydantic's ValidationError for claims that are out of bounds.
    """
    # Here, because most users of this package sign nothing.
    from itsdangerous import Signer  # noqa: PLC0415
    from itsdangerous.encoding import base64_encode  # noqa: PLC0415

    if not 0 < life_s <= caller.LIFE_MAX_S:
        raise IssueError(f"a token lives 1 to {caller.LIFE_MAX_S} seconds")
    claims = CallerClaims.model_validate(
        {
            "tenant": tenant,
            "subject": subject,
            "scopes": sorted(set(scopes)),
            "audience": caller.audience(stage),
            "expiresAtS": now_s + life_s,
            "sessionId": session_id,
            "agent": agent,
        }
    )
    text = canonical(claims.model_dump(mode="json", exclude_none=True))
    signer = Signer(
        list(keys), salt=caller.SALT, key_derivation="hmac", digest_method=hashlib.sha256
    )
    token = signer.sign(base64_encode(text)).decode("ascii")
    if len(token) > caller.TOKEN_MAX_CHARACTERS:
        raise IssueError(f"the token is longer than {caller.TOKEN_MAX_CHARACTERS} characters")
    return token


def read_keys(client: Any, secret: str) -> tuple[str, ...]:
    """The stage's keys, newest last, from Secrets Manager (`client`).

    Raises contracts.caller.KeysError if the secret holds none, and what boto3 raises.
    """
    return caller.signing_keys(client.get_secret_value(SecretId=secret)["SecretString"])


def aws_subject(arn: str) -> str:
    """The name of whom AWS has verified, by the ARN that `sts:GetCallerIdentity` gives.

    A role's session name or a user's name, case-folded. Raises IssueError for an account's root.
    """
    found = _IDENTITY.fullmatch(arn)
    if found is None:
        raise IssueError("the credentials are neither a role's session nor a user's")
    return found["name"].casefold()
