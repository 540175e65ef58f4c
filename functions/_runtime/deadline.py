"""Stop in time: a tool that runs out of time must answer TIMEOUT, not die with its lease held."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contracts.errors import DeadlineError

if TYPE_CHECKING:
    from collections.abc import Callable

RESERVE_MS = 3_000


class Deadline:
    """How long work may still begin, from the Lambda's remaining time.

    The reserve is 3 s, or a third of the function's timeout if that is less.
    """

    def __init__(self, remaining_ms: Callable[[], int], timeout_s: int) -> None:
        self._remaining_ms = remaining_ms
        self._reserve_ms = min(RESERVE_MS, timeout_s * 1000 // 3)

    def check(self) -> None:
        """Raise DeadlineError if no more work may begin."""
        if self._remaining_ms() < self._reserve_ms:
            raise DeadlineError("too little time was left; nothing was changed, repeat the call")
