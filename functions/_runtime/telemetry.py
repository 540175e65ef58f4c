"""One structured log line and a handful of metrics a call: ids and outcomes, never bodies."""

from __future__ import annotations

import logging
import sys
import traceback
from functools import cache
from typing import TYPE_CHECKING, Any, TextIO

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

if TYPE_CHECKING:
    from contracts.results import Result
    from contracts.spec import ToolSpec

NOT_ERRORS = frozenset({"VALIDATION", "IN_PROGRESS", "APPROVAL_PENDING", "APPROVAL_DENIED"})
"""Failures that are no fault of the tool; they have metrics of their own or none."""


class _Stdout(logging.StreamHandler[TextIO]):
    """Writes to what `sys.stdout` is now, not to what it was when the logger was made."""

    @property
    def stream(self) -> TextIO:
        return sys.stdout

    @stream.setter
    def stream(self, stream: TextIO) -> None:
        pass


@cache
def _logger() -> Logger:
    return Logger(logger_handler=_Stdout())


@cache
def _metrics() -> Metrics:
    return Metrics()


def measure(
    spec: ToolSpec, result: Result, *, stage: str, duration_ms: int, **ids: str | int | None
) -> None:
    """Log and count one finished call; `ids` are its dialect, attempt and request ids."""
    code = "OK" if result["ok"] else result["error"]["code"]
    replayed = _replayed(result)
    _logger().info(
        "call",
        extra={
            "tool": spec.name,
            "version": spec.version,
            "outcome": code,
            "replayed": replayed,
            "durationMs": duration_ms,
            **{name: value for name, value in ids.items() if value is not None},
        },
    )
    counts = {
        "Calls": 1,
        "ValidationFailure": int(code == "VALIDATION"),
        "ToolError": int(code != "OK" and code not in NOT_ERRORS),
        "UnhandledException": int(code == "INTERNAL"),
        "IdempotentReplay": int(replayed),
    }
    metrics = _metrics()
    metrics.add_dimension("tool", spec.model_name)
    metrics.add_dimension("stage", stage)
    for name, count in counts.items():
        metrics.add_metric(name, MetricUnit.Count, count)
    metrics.add_metric("LatencyMs", MetricUnit.Milliseconds, duration_ms)
    metrics.flush_metrics()


def failed(what: str, error: BaseException | None) -> None:
    """Log that something of the platform's failed, by the kind of error only."""
    _logger().warning(what, extra={"exceptionType": type(error).__name__})


def unhandled(spec: ToolSpec, error: Exception) -> None:
    """Log a fault of ours in a tool."""
    fault(error, tool=spec.name, version=spec.version)


def fault(error: Exception, **where: str) -> None:
    """Log a fault of ours by type and place; its text may hold what a caller sent."""
    frames = traceback.extract_tb(error.__traceback__)
    _logger().error(
        "unhandled",
        extra={
            **where,
            "exceptionType": type(error).__name__,
            "frames": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames[-8:]],
        },
    )


def _replayed(result: dict[str, Any]) -> bool:
    if result["ok"]:
        return bool(result.get("skippedAsDuplicate"))
    return bool(result["error"].get("details", {}).get("replayed"))
