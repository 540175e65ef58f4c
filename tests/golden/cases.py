"""Golden cases as data, playable wherever a target and workspaces are: moto, local cloud, AWS.

A case: `given` (files of a fresh workspace, orders, calls made before), `arguments`, `expect` (what
the result holds at least), `after` (the workspace's files then), `surfaces` (default: direct).
`$ROOT`, `$KEY` and `$ORDER` stand for the fresh workspace, a fresh key and a fresh order number;
`{"$text", "$times"}` for a long string. An order with `$tenant` is another tenant's.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from agents import events
from contracts import registry
from contracts.spec import ToolSpec

HOME = Path(__file__).parent
Build = Callable[[ToolSpec, dict[str, Any], events.Surface], events.Event]


class Workspaces(Protocol):
    """Where cases keep their files and orders."""

    def create(self, root: str, files: dict[str, bytes]) -> None: ...

    def put_order(self, order: dict[str, Any], tenant: str) -> None: ...

    def files(self, root: str) -> dict[str, bytes]: ...


@dataclass(frozen=True)
class Case:
    """One case on one surface."""

    tool: str
    surface: events.Surface
    data: dict[str, Any]

    @property
    def id(self) -> str:
        return f"{self.tool}-{self.surface}-{self.data['name'].replace(' ', '-')}"

    def play(self, target: Any, workspaces: Workspaces, build: Build = events.build) -> None:
        """Run the case and assert what it expects. `build` makes an event of the arguments."""
        spec = registry.find(self.tool)
        fresh = _fresh()
        root = fresh["$ROOT"]
        given = self.data["given"]
        if "files" in given:
            workspaces.create(root, {p: t.encode() for p, t in given["files"].items()})
        for order in given.get("orders", []):
            filled = _filled(order, fresh)
            workspaces.put_order(filled, filled.pop("$tenant", "default"))
        for arguments in [*given.get("calls", []), self.data["arguments"]]:
            event = build(spec, _filled(arguments, fresh), self.surface)
            result = events.unwrap(target.send(spec, event))
        differences = list(_differences(_filled(self.data["expect"], fresh), result))
        assert not differences, (differences, result)
        if "after" in self.data:
            after = {path: text.encode() for path, text in self.data["after"].items()}
            assert workspaces.files(root) == after


def all_cases() -> list[Case]:
    """Every case of every tool, on each of its surfaces."""
    found: list[Case] = []
    for path in sorted(HOME.glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        found += [
            Case(document["tool"], surface, data)
            for data in document["cases"]
            for surface in data.get("surfaces", ["direct"])
        ]
    return found


def _fresh() -> dict[str, str]:
    """What the placeholders of one case stand for; no other case and no other run has it."""
    unique = uuid.uuid4()
    return {
        "$ROOT": f"/golden/{unique.hex}",
        "$KEY": f"golden-{unique.hex}",
        "$ORDER": f"ORD-{unique.int % 10**8:08}",
    }


def _filled(value: Any, fresh: dict[str, str]) -> Any:
    if isinstance(value, dict) and value.keys() == {"$text", "$times"}:
        return value["$text"] * value["$times"]
    if isinstance(value, dict):
        return {name: _filled(item, fresh) for name, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, fresh) for item in value]
    return fresh.get(value, value) if isinstance(value, str) else value


def _differences(expected: Any, actual: Any, pointer: str = ""):
    """Where `actual` lacks what is expected; objects may hold more, lists may not."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name, value in expected.items():
            if name not in actual:
                yield f"{pointer}/{name} is missing"
            else:
                yield from _differences(value, actual[name], f"{pointer}/{name}")
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for index, (one, other) in enumerate(zip(expected, actual, strict=True)):
            yield from _differences(one, other, f"{pointer}/{index}")
    elif expected != actual or type(expected) is not type(actual):
        yield f"{pointer} is {actual!r:.200}, not {expected!r:.200}"
