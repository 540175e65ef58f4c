"""Who calls: the claims of a signed caller token, and what both sides must agree on.

A token is base64url(canonical JSON of the claims), a dot and a signature. Only the agreement lives
here: the caller's side signs, the tool's side verifies. Nothing that a model writes (arguments,
prompt session attributes) ever grants anything.
"""

from __future__ import annotations

import json
from typing import Annotated

from pydantic import Field

from contracts.types import Contract

ARGUMENT = "_caller"
"""Where a token travels: this session attribute on Bedrock, this argument everywhere else."""

SALT = "toolgate.caller-token.v1"
"""Sets these signatures apart from any other use of the same keys."""

TOKEN_MAX_CHARACTERS = 4_096
LIFE_MAX_S = 3_600
"""A token ends within an hour of being signed; what says otherwise is refused."""
SKEW_S = 60
"""By how much the signer's clock may be ahead."""

CURRENT, PREVIOUS = "current", "previous"
"""The names of the keys in the stage's secret: the one that signs, and the one before it."""
KEY_MIN_CHARACTERS = 32

Tenant = Annotated[str, Field(pattern=r"^[a-z0-9-]{1,32}$", description="Whose data it is.")]
Subject = Annotated[
    str,
    Field(
        min_length=1,
        max_length=128,
        pattern=r"^[^\x00-\x1f\x7f-\x9f]*$",
        description="Who acts, by the same name as a person's.",
    ),
]


class CallerClaims(Contract):
    """What a token says about its bearer; times are seconds since the epoch."""

    tenant: Tenant
    subject: Subject
    scopes: Annotated[list[str], Field(max_length=32, description="What it may do.")]
    audience: Annotated[str, Field(min_length=1, max_length=128, description="For which service.")]
    expires_at_s: Annotated[int, Field(ge=0, le=2**40, description="When it ends, in seconds.")]
    session_id: Annotated[
        str | None,
        Field(
            default=None,
            min_length=1,
            max_length=100,
            description="The Bedrock session it is for.",
        ),
    ]
    agent: Annotated[
        Subject | None,
        Field(
            default=None, description="Who acts for the subject: neither may agree to a request."
        ),
    ]


class KeysError(ValueError):
    """The stage's secret does not hold keys."""


def audience(stage: str) -> str:
    """The service that a stage is: a token of one stage opens no other."""
    return f"toolgate-{stage}"


def signing_keys(text: str) -> tuple[str, ...]:
    """The keys in a secret's text, newest last: `{"current": …, "previous": …}`, one or both.

    Raises KeysError, which says nothing of what the secret holds.
    """
    try:
        held = json.loads(text)
        keys = [held[name] for name in (PREVIOUS, CURRENT) if name in held]
    except (TypeError, ValueError):
        raise KeysError("the secret is not a JSON object") from None
    if not isinstance(held, dict) or CURRENT not in held:
        raise KeysError("the secret holds no current key")
    if not all(isinstance(key, str) and len(key) >= KEY_MIN_CHARACTERS for key in keys):
        raise KeysError(f"a key is text of at least {KEY_MIN_CHARACTERS} characters")
    return tuple(keys)
