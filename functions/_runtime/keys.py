"""The keys that caller tokens are verified with: fetched when first needed, and kept for minutes.

A call without a token never asks for them. Each process keeps its own copy, so a key that was
dropped from the secret still counts there for up to KEPT_MS.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from contracts.caller import KeysError, signing_keys
from contracts.errors import UnavailableError
from functions._runtime import aws

if TYPE_CHECKING:
    from collections.abc import Callable

KEPT_MS = 300_000
ASKED_AGAIN_MS = 10_000
"""How often, at most, a signature by no known key makes a process look for a newer key."""


class KeyRing:
    """One secret's keys, newest last. `fetch()` gives its text."""

    def __init__(self, fetch: Callable[[], str]) -> None:
        self._fetch = fetch
        self._keys: tuple[str, ...] = ()
        self._fetched_ms: int | None = None

    def keys(self, now_ms: int) -> tuple[str, ...]:
        """The keys as they were at most KEPT_MS ago. Raises UnavailableError."""
        if not self._within(KEPT_MS, now_ms):
            self._refresh(now_ms)
        return self._keys

    def newer(self, now_ms: int) -> tuple[str, ...]:
        """The keys as they were at most ASKED_AGAIN_MS ago. Raises UnavailableError."""
        if not self._within(ASKED_AGAIN_MS, now_ms):
            self._refresh(now_ms)
        return self._keys

    def _within(self, most_ms: int, now_ms: int) -> bool:
        return self._fetched_ms is not None and 0 <= now_ms - self._fetched_ms < most_ms

    def _refresh(self, now_ms: int) -> None:
        try:
            self._keys = signing_keys(self._fetch())
        except (BotoCoreError, ClientError, KeysError):
            raise UnavailableError("the keys of caller tokens could not be read") from None
        self._fetched_ms = now_ms


@cache
def ring(secret: str) -> KeyRing:
    """This process's ring of the secret of that ARN or name."""

    def fetch() -> str:
        answer = aws.secrets().get_secret_value(SecretId=secret)
        return str(answer.get("SecretString", ""))

    return KeyRing(fetch)


def forget() -> None:
    """Drop the keys that this process has read; for tests."""
    ring.cache_clear()
