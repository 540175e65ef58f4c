"""Who calls, and whether they may: a presented token, or else the stage's binding of the surface.

A token that is presented and not good is refused; it never falls back to the binding. The reasons,
in `details.reason`: TOKEN_REFUSED (the stage has no keys), TOKEN_FORGED (no token of these keys,
or changed since), TOKEN_AUDIENCE (another stage's), TOKEN_EXPIRED, TOKEN_LIFETIME (good for too
long), TOKEN_SESSION (another session's), SCOPE_MISSING, SURFACE_UNBOUND.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from contracts import caller, strict_json
from contracts.caller import CallerClaims
from contracts.errors import ForbiddenError
from contracts.spec import Scope

if TYPE_CHECKING:
    from collections.abc import Iterable

    from contracts.spec import ToolSpec
    from functions._runtime.keys import KeyRing
    from functions._runtime.settings import Settings

_KNOWN = frozenset(str(scope) for scope in Scope)


@dataclass(frozen=True)
class Caller:
    """A caller as the platform knows it; nothing of this comes from the model's arguments."""

    tenant: str
    subject: str | None
    scopes: frozenset[str]
    surface: str
    agent: str | None = None
    """Who acts for the subject, where the token says so."""

    @property
    def name(self) -> str:
        """What history calls it: the subject, or the surface if there is no subject."""
        return self.subject or self.surface


@dataclass(frozen=True)
class Presented:
    """What came with a call: the surface, its Bedrock session, and a token if there was one.

    The token stays out of the representation, and so out of logs.
    """

    surface: str
    session_id: str | None
    token: str | None

    def __repr__(self) -> str:
        return f"Presented({self.surface!r})"


def authorise(
    presented: Presented,
    spec: ToolSpec,
    settings: Settings,
    *,
    now_ms: int,
    ring: KeyRing | None,
) -> Caller:
    """The caller, who may call `spec`. `ring` is None where the stage has no keys.

    Raises ForbiddenError with `details.reason`, and `.scope` where one is missing, or
    UnavailableError if the keys cannot be read.
    """
    if presented.token is None:
        found = _bound(presented.surface, settings)
    else:
        found = _signed(presented, presented.token, settings.stage, now_ms=now_ms, ring=ring)
    lacking = sorted(scope for scope in spec.scopes if scope not in found.scopes)
    if lacking:
        raise ForbiddenError(
            f"the caller lacks the scope {lacking[0]}", reason="SCOPE_MISSING", scope=lacking[0]
        )
    return found


def _bound(surface: str, settings: Settings) -> Caller:
    binding = settings.bindings.get(surface)
    if binding is None:
        raise ForbiddenError("this stage does not serve that surface", reason="SURFACE_UNBOUND")
    return Caller(tenant=binding.tenant, subject=None, scopes=binding.scopes, surface=surface)


def _signed(
    presented: Presented, token: str, stage: str, *, now_ms: int, ring: KeyRing | None
) -> Caller:
    """The caller that a good token names; scopes that no contract knows grant nothing."""
    if ring is None:
        raise _refusal("TOKEN_REFUSED", "caller tokens are not accepted by this stage")
    claims = _verified(token, ring, now_ms)
    if claims.audience != caller.audience(stage):
        raise _refusal("TOKEN_AUDIENCE", "the caller token is for another stage")
    if now_ms >= claims.expires_at_s * 1_000:
        raise _refusal("TOKEN_EXPIRED", "the caller token has expired: sign a new one")
    if claims.expires_at_s * 1_000 > now_ms + (caller.LIFE_MAX_S + caller.SKEW_S) * 1_000:
        raise _refusal("TOKEN_LIFETIME", "the caller token is good for too long: at most an hour")
    on_bedrock = presented.surface == "bedrock"
    # A token of a session is good there alone, and on Bedrock there is no other kind.
    if claims.session_id != presented.session_id or (on_bedrock and not claims.session_id):
        raise _refusal("TOKEN_SESSION", "the caller token is not this session's")
    return Caller(
        tenant=claims.tenant,
        subject=claims.subject,
        scopes=_KNOWN & frozenset(claims.scopes),
        surface=presented.surface,
        agent=claims.agent,
    )


def _verified(token: str, ring: KeyRing, now_ms: int) -> CallerClaims:
    """The claims of a token that one of the keys has signed. Raises ForbiddenError."""
    forged = _refusal("TOKEN_FORGED", "the caller token is not one of this stage's")
    # Refused before the keys are asked for: what cannot be a token costs no call.
    if len(token) > caller.TOKEN_MAX_CHARACTERS or not token.isascii() or token.count(".") != 1:
        raise forged
    signed = _unsigned(token, ring.keys(now_ms))
    if signed is None:
        # Perhaps by a key that is newer than the ones that this process knows.
        signed = _unsigned(token, ring.newer(now_ms))
    if signed is None:
        raise forged
    try:
        return CallerClaims.model_validate(strict_json.parse(signed.decode("utf-8")))
    except (UnicodeDecodeError, strict_json.StrictJsonError, ValidationError):
        raise forged from None


def _unsigned(token: str, keys: Iterable[str]) -> bytes | None:
    """What was signed, if it was by one of the keys."""
    # Here, because only a call with a token pays for it.
    from itsdangerous import BadData, Signer  # noqa: PLC0415
    from itsdangerous.encoding import base64_decode  # noqa: PLC0415

    signer = Signer(
        list(keys), salt=caller.SALT, key_derivation="hmac", digest_method=hashlib.sha256
    )
    try:
        return base64_decode(signer.unsign(token))
    except BadData:
        return None


def _refusal(reason: str, message: str) -> ForbiddenError:
    return ForbiddenError(message, reason=reason)
