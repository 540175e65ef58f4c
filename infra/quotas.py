"""What AWS refuses only at deploy time, or worse at the first call; checked at synth."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from contracts.dialects import gateway
from contracts.dialects.bedrock import TOOL_NAME_MAX, tool_name
from infra.errors import QuotaError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from contracts.spec import ToolSpec

APIS_MAX = 11
"""Operations of all action groups of an agent together (quota L-6B2DA87E, adjustable)."""

GROUPS_MAX = 20
"""Action groups of an agent (quota L-5DAAE567, adjustable)."""

TARGETS_MAX = 100
"""Targets of a gateway (adjustable)."""

SCHEMA_BYTES_MAX = 1_000_000
"""The inline schemas of one target."""

TARGET_NAME = re.compile(r"([0-9a-zA-Z]-?){1,100}\Z")


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


def check_gateway(
    tools: Sequence[ToolSpec],
    documents: Mapping[str, Mapping[str, Any]],
    *,
    targets_max: int = TARGETS_MAX,
) -> None:
    """Raise QuotaError if a gateway could not serve these tools, each as a target of its own.

    `documents` are the tools' definitions by model name.
    """
    if not tools:
        raise QuotaError("a gateway needs a tool and this stage has none; publish one first")
    if len(tools) > targets_max:
        raise QuotaError(
            f"a gateway has at most {targets_max} targets and this one would have {len(tools)}; "
            "have the quota raised and raise it in infra/quotas.py, or deploy fewer tools"
        )
    for tool in tools:
        if not TARGET_NAME.match(target := gateway.target_name(tool)):
            raise QuotaError(
                f"the Gateway takes no target named {target}: letters, digits and single hyphens, "
                f"at most 100; choose another name for {tool.model_name}"
            )
        if len(name := gateway.tool_name(tool)) > TOOL_NAME_MAX:
            raise QuotaError(
                f"the Gateway would call a tool {name}, which has {len(name)} characters and may "
                f"have {TOOL_NAME_MAX}; choose a shorter name for {tool.model_name}"
            )
        if (size := len(json.dumps(documents[tool.model_name]).encode())) > SCHEMA_BYTES_MAX:
            raise QuotaError(
                f"the schemas of {tool.model_name} have {size} bytes and may have "
                f"{SCHEMA_BYTES_MAX} on the Gateway; describe less, or split the tool"
            )
