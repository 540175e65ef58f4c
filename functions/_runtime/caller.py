"""Who calls, and whether they may: the stage's binding of the surface, or a presented token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from contracts.errors import ForbiddenError

if TYPE_CHECKING:
    from contracts.spec import ToolSpec
    from functions._runtime.settings import Settings


@dataclass(frozen=True)
class Caller:
    """A caller as the platform knows it; nothing of this comes from the model's arguments."""

    tenant: str
    subject: str | None
    scopes: frozenset[str]
    surface: str

    @property
    def name(self) -> str:
        """What history calls it: the subject, or the surface if there is no subject."""
        return self.subject or self.surface


def authorise(surface: str, token: str | None, spec: ToolSpec, settings: Settings) -> Caller:
    """The caller on a surface. Raises ForbiddenError, with `details.reason` and maybe `.scope`.

    No stage issues tokens yet, so a presented one cannot be genuine: it is refused, not ignored.
    """
    if token is not None:
        raise ForbiddenError("caller tokens are not accepted by this stage", reason="TOKEN_REFUSED")
    binding = settings.bindings.get(surface)
    if binding is None:
        raise ForbiddenError("this stage does not serve that surface", reason="SURFACE_UNBOUND")
    lacking = sorted(scope for scope in spec.scopes if scope not in binding.scopes)
    if lacking:
        raise ForbiddenError(
            f"the caller lacks the scope {lacking[0]}", reason="SCOPE_MISSING", scope=lacking[0]
        )
    return Caller(tenant=binding.tenant, subject=None, scopes=binding.scopes, surface=surface)
