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
class Approvals:
    """Where the stage keeps approvals, whom it tells, and how many people it takes how soon."""

    table: str
    bucket: str
    topic: str
    need: int
    approve_within_s: int
    execute_within_s: int


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
    approvals: Approvals | None = None
    """None where people cannot be asked, or this tool never asks them."""


@dataclass(frozen=True)
class Desk:
    """What the humans' side of approvals works with."""

    table: str
    bucket: str
    workspace_table: str
    workspace_bucket: str
    approver_role: str
    """ARN of the one role whose sessions decide."""
    need: int


@cache
def desk() -> Desk:
    """The settings of the humans' side. Raises SettingsError if a variable is missing."""
    environment = os.environ
    try:
        return Desk(
            table=environment["APPROVALS_TABLE"],
            bucket=environment["APPROVALS_BUCKET"],
            workspace_table=environment["WORKSPACE_TABLE"],
            workspace_bucket=environment["WORKSPACE_BUCKET"],
            approver_role=environment["APPROVER_ROLE"],
            need=int(environment["APPROVALS_NEED"]),
        )
    except KeyError as error:
        raise SettingsError(f"{error.args[0]} is not set") from None


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
            approvals=_approvals(environment.get("TOOLGATE_APPROVALS")),
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


def _approvals(text: str | None) -> Approvals | None:
    if text is None:
        return None
    try:
        given = json.loads(text)
        found = Approvals(
            table=given["table"],
            bucket=given["bucket"],
            topic=given["topic"],
            need=int(given["need"]),
            approve_within_s=int(given["approveWithinS"]),
            execute_within_s=int(given["executeWithinS"]),
        )
    except (KeyError, ValueError, TypeError):
        raise SettingsError("TOOLGATE_APPROVALS is not the JSON that it should be") from None
    if min(found.need, found.approve_within_s, found.execute_within_s) < 1:
        raise SettingsError("TOOLGATE_APPROVALS asks nobody, or gives no time")
    return found


def forget() -> None:
    """Drop what was read; for tests."""
    settings.cache_clear()
    desk.cache_clear()
