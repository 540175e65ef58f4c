"""What Bedrock refuses only at deploy time, or worse at the first call; checked at synth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.dialects.bedrock import TOOL_NAME_MAX, tool_name
from infra.errors import QuotaError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contracts.spec import ToolSpec

APIS_MAX = 11
"""Operations of all action groups of an agent together (quota L-6B2DA87E, adjustable)."""

GROUPS_MAX = 20
"""Action groups of an agent (quota L-5DAAE567, adjustable)."""


def check_agent(
    tools: Sequence[ToolSpec], *, apis_max: int = APIS_MAX, groups_max: int = GROUPS_MAX
) -> None:
    """Raise QuotaError if an agent could not have these tools, one action group and API each."""
    if not tools:
        raise QuotaError("an agent needs a tool and this stage has none; publish one first")
    for what, limit in (("APIs", apis_max), ("action groups", groups_max)):
        if len(tools) > limit:
            names = ", ".join(tool.model_name for tool in tools)
            raise QuotaError(
                f"an agent has at most {limit} {what} and this one would have {len(tools)} "
                f"({names}); have the quota raised and raise it in infra/quotas.py, "
                "or deploy fewer tools"
            )
    for tool in tools:
        if len(name := tool_name(tool)) > TOOL_NAME_MAX:
            raise QuotaError(
                f"Bedrock would call a tool {name}, which has {len(name)} characters and may have "
                f"{TOOL_NAME_MAX}; choose a shorter name for {tool.model_name}"
            )
