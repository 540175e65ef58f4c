"""dev and prod: everything that differs between them, and nothing else, in one frozen model."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contracts.spec import Scope, Status
from infra.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from contracts.spec import ToolSpec

READ_SCOPES = frozenset({Scope.WORKSPACE_READ, Scope.ORDERS_READ})
"""What prod gives to callers without a token. Widen it in a stage's `bindings`, on purpose."""

ALL_SCOPES = frozenset(Scope)

MODEL = "global.anthropic.claude-sonnet-4-5-20250929-v1:0"
"""The agent's model: a profile that every commercial region can call."""


@dataclass(frozen=True, kw_only=True)
class Binding:
    """Who a surface's callers are, and what they may do, when they present no token."""

    tenant: str
    scopes: frozenset[Scope]


@dataclass(frozen=True, kw_only=True)
class Approvals:
    """How people agree to a call: how many of them, and the two clocks."""

    need: int = 2
    """People other than who asks."""
    approve_within_s: int = 86_400
    """From the request: who decides later decides nothing."""
    execute_within_s: int = 14_400
    """From the last yes: what is not done by then is asked for again."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One deployment of all stacks."""

    name: str
    keeps_data: bool
    """Tables, objects, logs and old versions stay when their stack goes, and can be restored."""
    termination_protection: bool
    """The stack that holds the data refuses to be destroyed."""
    log_retention_days: int
    log_level: str
    tracing: bool
    """Whether Lambda sends traces to X-Ray."""
    alias: str | None
    """The Lambda alias that callers use. None: the newest code, which can be hot-swapped."""
    drafts: bool
    """Whether versions are deployed that no one has published yet."""
    memory_mb: int
    model: str
    bindings: Mapping[str, Binding]
    """By surface."""
    approvals: Approvals = Approvals()

    def deployed(self, specs: Iterable[ToolSpec]) -> tuple[ToolSpec, ...]:
        """The versions that this stage runs, in the order given."""
        return tuple(s for s in specs if self.drafts or s.status is not Status.DRAFT)

    def bindings_json(self) -> str:
        """The bindings as the functions read them; the same text for the same bindings."""
        plain = {
            surface: {"tenant": bound.tenant, "scopes": sorted(bound.scopes)}
            for surface, bound in self.bindings.items()
        }
        return json.dumps(plain, sort_keys=True, separators=(",", ":"))


def _all_surfaces(scopes: frozenset[Scope]) -> dict[str, Binding]:
    bound = Binding(tenant="default", scopes=scopes)
    return {"bedrock": bound, "direct": bound, "gateway": bound}


STAGES: Mapping[str, Stage] = {
    stage.name: stage
    for stage in (
        Stage(
            name="dev",
            keeps_data=False,
            termination_protection=False,
            log_retention_days=14,
            log_level="DEBUG",
            tracing=False,
            alias=None,
            drafts=True,
            memory_mb=1024,
            model=MODEL,
            bindings=_all_surfaces(ALL_SCOPES),
        ),
        Stage(
            name="prod",
            keeps_data=True,
            termination_protection=True,
            log_retention_days=365,
            log_level="INFO",
            tracing=True,
            alias="live",
            drafts=False,
            memory_mb=1024,
            model=MODEL,
            bindings=_all_surfaces(READ_SCOPES),
        ),
    )
}


def find_stage(name: str) -> Stage:
    """The stage of that name. Raises OptionError if there is none."""
    if name not in STAGES:
        raise OptionError(f"stage={name} is unknown; choose one of {', '.join(STAGES)}")
    return STAGES[name]
