"""Time that stands still unless a test moves it."""

from __future__ import annotations

import pytest


@pytest.fixture
def still(monkeypatch):
    """The runtime's clock stops now: what a busy machine takes for a test counts for nothing."""
    from functions._runtime import tool

    now_ms = tool.now_ms()
    monkeypatch.setattr(tool, "now_ms", lambda: now_ms)
