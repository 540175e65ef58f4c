"""What the deployed tools wrote lately, oldest first, from the local cloud's own log groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolgate.local.environment import LocalCloud


@dataclass(frozen=True)
class Line:
    """One log line: when it was written (ms since 1970), by which tool, and what it says."""

    at_ms: int
    tool: str
    text: str


def lines(cloud: LocalCloud, since_ms: int, tool: str | None = None) -> list[Line]:
    """Every line since then, of one tool (its output key, such as `ApplyPatchV1`) or of all."""
    functions = {
        key: name for key, name in cloud.functions().items() if tool is None or key == tool
    }
    lambdas, logs = cloud.client("lambda"), cloud.client("logs")
    found: list[Line] = []
    for key, name in functions.items():
        group = log_group(lambdas.get_function_configuration(FunctionName=name))
        found += _events(logs, key, group, since_ms)
    return sorted(found, key=lambda line: line.at_ms)  # stable: a tool's own order stays


def log_group(configuration: dict[str, Any]) -> str:
    """The log group of a function, from its configuration."""
    named = configuration.get("LoggingConfig", {}).get("LogGroup")
    return str(named or f"/aws/lambda/{configuration['FunctionName']}")


def _events(logs: Any, tool: str, group: str, since_ms: int) -> Iterable[Line]:
    pages = logs.get_paginator("filter_log_events").paginate(logGroupName=group, startTime=since_ms)
    try:
        return [
            Line(at_ms=event["timestamp"], tool=tool, text=event["message"].rstrip("\n"))
            for page in pages
            for event in page["events"]
        ]
    except logs.exceptions.ResourceNotFoundException:
        return []  # a group appears with the first call
