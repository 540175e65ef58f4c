"""What the demo's story is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Step:
    """One step: what the agent did, the event that was sent, the answer, the commits so far."""

    id: str
    title: str
    tool: str
    event: dict[str, Any] | None
    result: dict[str, Any]
    commits: int
    more: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """One line of `--json`."""
        return {
            "step": self.id,
            "tool": self.tool,
            "event": self.event,
            "result": self.result,
            "commits": self.commits,
            **self.more,
        }
