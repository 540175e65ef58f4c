"""Golden cases as data, playable wherever a target and workspaces are: moto, local cloud, AWS.

A case: `given` (files of a fresh workspace, calls made before), `arguments`, `expect` (what the
result holds at least), `after` (the workspace's files then), `surfaces` (default: direct).
`$ROOT` and `$KEY` stand for the fresh workspace and a fresh key; `{"$text", "$times"}` for a long
string.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from agents import events
from contracts import registry

HOME = Path(__file__).parent


class Workspaces(Protocol):
    """Where cases keep their files."""

    def create(self, root: str, files: dict[str, bytes]) -> None: ...

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

    def play(self, target: Any, workspaces: Workspaces) -> None:
        """Run the case and assert what it expects."""
        spec = registry.find(self.tool)
        unique = uuid.uuid4().hex
        root, key = f"/golden/{unique}", f"golden-{unique}"
        given = self.data["given"]
        workspaces.create(root, {p: t.encode() for p, t in given["files"].items()})
        for arguments in [*given.get("calls", []), self.data["arguments"]]:
            event = events.build(spec, _filled(arguments, root, key), self.surface)
            result = events.unwrap(target.send(spec, event))
        differences = list(_differences(self.data["expect"], result))
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


def _filled(value: Any, root: str, key: str) -> Any:
    if isinstance(value, dict) and value.keys() == {"$text", "$times"}:
        return value["$text"] * value["$times"]
    if isinstance(value, dict):
        return {name: _filled(item, root, key) for name, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, root, key) for item in value]
    return {"$ROOT": root, "$KEY": key}.get(value, value) if isinstance(value, str) else value


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
