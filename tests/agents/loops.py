"""A loop on a scripted target, with time that passes only while somebody sleeps."""

from __future__ import annotations

import asyncio

from agents.loop import Loop
from agents.retries import Means
from agents.targets import InvocationError
from contracts.errors import CODES

SECRET = b"s" * 32
FILES = [{"path": "a.txt", "mode": "replace_full", "content": "x"}]
PATCH = {"repoRoot": "/workspace/app", "files": FILES}
OK = {"ok": True, "schemaVersion": 2, "files": [], "skippedAsDuplicate": False}
DIED = InvocationError("died")


def failed(code, message="why", retryable=None, **details):
    retryable = CODES[code].retryable if retryable is None else retryable
    error = {"code": code, "retryable": retryable, "message": message, "details": details}
    return {"ok": False, "schemaVersion": 2, "error": error}


class Scripted:
    """Answers each event with the next of some results, the last one for ever."""

    def __init__(self, *results):
        self.results, self.sent = list(results), []

    def send(self, spec, event):
        self.sent.append((spec.model_name, event.payload))
        result = self.results.pop(0) if len(self.results) > 1 else self.results[0]
        if isinstance(result, BaseException):
            raise result
        return result


class Clock:
    """Time that sleeping moves, and chance that always takes the upper end."""

    def __init__(self):
        self.now, self.waits = 1_800_000_000_000, []

    @property
    def means(self):
        return Means(
            wall_ms=lambda: self.now,
            elapsed_ms=lambda: self.now,
            sleep_ms=self.sleep,
            asleep_ms=self.asleep,
            uniform=lambda _, high: high,
        )

    def sleep(self, ms):
        self.waits.append(ms)
        self.now += ms

    async def asleep(self, ms):
        self.sleep(ms)


class Played:
    """A loop on these results, and what it sent."""

    def __init__(self, *results, way="sync", clock=None, **more):
        self.target, self.clock, self.way = Scripted(*results), clock or Clock(), way
        self.loop = Loop(self.target, **{"secret": SECRET, "means": self.clock.means, **more})

    @property
    def sent(self):
        return self.target.sent

    def call(self, tool="apply_patch", arguments=PATCH, turn=0, action=0):
        place = {"turn": turn, "action": action}
        if self.way == "async":
            return asyncio.run(self.loop.acall(tool, arguments, **place))
        return self.loop.call(tool, arguments, **place)

    def resume(self, call):
        if self.way == "async":
            return asyncio.run(self.loop.aresume(call))
        return self.loop.resume(call)

    def run(self, model, **more):
        if self.way == "sync":
            return self.loop.run(model, **more)

        async def awaited(steps):
            return model(steps)

        return asyncio.run(self.loop.arun(awaited, **more))
