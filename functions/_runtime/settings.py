"""What the stage says, read from the environment on first use and never at import."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SURFACES = ("bedrock", "gateway", "direct")


class SettingsError(RuntimeError):
    """The function was deployed with an environment that it must not run in."""


@dataclass(frozen=True)
class Binding:
    """Who a surface's callers are when they present no token."""

    tenant: str
    scopes: frozenset[str]


@dataclass(frozen=True)
class Settings:
    """Names of the stage's resources, and its bindings by surface."""

    stage: str
    idempotency_table: str
    workspace_table: str
    workspace_bucket: str
    orders_table: str
    releases_bucket: str
    bindings: Mapping[str, Binding]
    caller_keys: str | None = None
    """The ARN of the secret that caller tokens are verified with; None where none are accepted."""


@cache
def settings() -> Settings:
    """The settings. Raises SettingsError if a variable is missing, unreadable or forbidden."""
    environment = os.environ
    if environment.get("POWERTOOLS_IDEMPOTENCY_DISABLED"):
        raise SettingsError("POWERTOOLS_IDEMPOTENCY_DISABLED is set: calls could happen twice")
    try:
        return Settings(
            stage=environment["TOOLGATE_STAGE"],
            idempotency_table=environment["IDEMPOTENCY_TABLE"],
            workspace_table=environment["WORKSPACE_TABLE"],
            workspace_bucket=environment["WORKSPACE_BUCKET"],
            orders_table=environment["ORDERS_TABLE"],
            releases_bucket=environment["RELEASES_BUCKET"],
            bindings=_bindings(environment["TOOLGATE_BINDINGS"]),
            caller_keys=environment.get("CALLER_KEYS_SECRET"),
        )
    except KeyError as error:
        raise SettingsError(f"{error.args[0]} is not set") from None


def _bindings(text: str) -> dict[str, Binding]:
    try:
        return {
            surface: Binding(tenant=given["tenant"], scopes=frozenset(given["scopes"]))
            for surface, given in json.loads(text).items()
            if surface in SURFACES
        }
    except (ValueError, TypeError, AttributeError):
        raise SettingsError("TOOLGATE_BINDINGS is not the JSON that it should be") from None
