"""A stage whose callers sign, on moto, with a gated counter and a clock that can be moved."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from contracts.spec import Approval, Effect
from functions._approvals import handler as desk
from functions._runtime import tool
from tests.functions import counter
from tests.people import Agent, clear_bucket, clear_pages, code, make_keys

GATED = replace(counter.SPEC, name="demo.gated", effect=Effect.DESTRUCTIVE, approval=Approval.DUAL)


@dataclass
class Gated:
    """The counter behind dual control, called as often as a test likes."""

    forward_ms: int = 0

    def call(self, agent=None, handler=None, **changes):
        return (agent or Agent()).call(GATED, counter.args(**changes), handler or self.made())

    def made(self, **hooks):
        return counter.make(GATED, **hooks)

    def wait(self, seconds):
        self.forward_ms += int(seconds * 1000)

    def code(self, **changes):
        return code(self.call(**changes))


@pytest.fixture
def gated(aws_cloud, monkeypatch):
    """The gated counter, in a stage with a key; `wait` moves both sides' clocks."""
    make_keys(monkeypatch)
    clear_pages()
    clear_bucket()
    stage = Gated()
    for place, name in ((tool, "now_ms"), (desk, "now")):
        real = getattr(place, name)
        monkeypatch.setattr(place, name, lambda real=real: real() + stage.forward_ms)
    return stage
