"""Who calls: the claims that a signed caller token carries.

Only the model lives here. The caller's side signs, the tool's side verifies; nothing that a model
writes (arguments, prompt session attributes) ever grants anything.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from contracts.types import Contract

ARGUMENT = "_caller"
"""Where a token travels: this session attribute on Bedrock, this argument everywhere else."""

Tenant = Annotated[str, Field(pattern=r"^[a-z0-9-]{1,32}$", description="Whose data it is.")]


class CallerClaims(Contract):
    """What a token says about its bearer; times are seconds since the epoch."""

    tenant: Tenant
    subject: Annotated[str, Field(min_length=1, max_length=128, description="Who acts.")]
    scopes: Annotated[list[str], Field(max_length=32, description="What it may do.")]
    audience: Annotated[str, Field(min_length=1, max_length=128, description="For which service.")]
    expires_at_s: Annotated[int, Field(ge=0, le=2**40, description="When it ends, in seconds.")]
    session_id: Annotated[
        str | None,
        Field(default=None, max_length=100, description="The Bedrock session it is for."),
    ]
