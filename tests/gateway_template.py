"""What the Gateway's template holds, as the API takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

TARGET = "AWS::BedrockAgentCore::GatewayTarget"
NAMES = "Properties"
"""Of a schema: the one property below which the keys are ours and not CloudFormation's."""


def targets(template: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The properties of a template's targets, in order."""
    return [each["Properties"] for each in template["Resources"].values() if each["Type"] == TARGET]


def tool_of(target: Mapping[str, Any]) -> dict[str, Any]:
    """The definition of a target's one tool."""
    (tool,) = target["TargetConfiguration"]["Mcp"]["Lambda"]["ToolSchema"]["InlinePayload"]
    return tool


def request(node: Any, values: Mapping[str, str] | None = None, *, named: bool = False) -> Any:
    """Properties as the API's parameters: the same, but for the case of their names.

    `values` are what references to other resources become, by property.
    """
    values = values or {}
    if isinstance(node, list):
        return [request(each, values) for each in node]
    if not isinstance(node, dict):
        return node
    found = {}
    for name, value in node.items():
        if named:
            found[name] = request(value, values)
        else:
            inner = request(value, values, named=name == NAMES)
            found[name[0].lower() + name[1:]] = values.get(name, inner)
    return found
