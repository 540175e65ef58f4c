"""Finds every SPEC under `contracts/<tool>/v<N>.py`, and refuses two that would collide."""

from __future__ import annotations

import importlib
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from contracts.spec import SpecError, Status, ToolSpec

if TYPE_CHECKING:
    from collections.abc import Iterable

HOME = Path(__file__).parent
_VERSION_FILE = re.compile(r"v([1-9][0-9]*)\.py\Z")


class UnknownToolError(LookupError):
    """No tool of that name; the message lists the names there are."""


@cache
def specs() -> tuple[ToolSpec, ...]:
    """Every spec, by name and version. Raises SpecError for a spec that is out of place."""
    found = []
    for path in sorted(HOME.glob("*/v*.py")):
        if not _VERSION_FILE.match(path.name):
            continue
        module = importlib.import_module(f"contracts.{path.parent.name}.{path.stem}")
        spec = getattr(module, "SPEC", None)
        relative = path.relative_to(HOME.parent).as_posix()
        if not isinstance(spec, ToolSpec):
            raise SpecError(f"{relative} has no SPEC")
        if spec.contract_path != relative:
            raise SpecError(f"{relative} holds {spec.key}, which belongs at {spec.contract_path}")
        found.append(spec)
    refuse_collisions(found)
    return tuple(sorted(found, key=lambda spec: (spec.name, spec.major)))


def refuse_collisions(found: Iterable[ToolSpec]) -> None:
    """Raise SpecError if two specs share a key or a model-facing name."""
    found = list(found)
    for what in ("key", "model_name"):
        counts = Counter(getattr(spec, what) for spec in found)
        if twice := [name for name, count in counts.items() if count > 1]:
            raise SpecError(f"{what} {', '.join(twice)} is taken; bump the version or rename")


def find(name: str) -> ToolSpec:
    """The spec called `name`: a model name (`apply_patch_v1`), a key, or a bare name.

    A bare name (`apply_patch`, `orders_lookup`) is the newest version that is not a draft, or the
    newest draft if there is nothing else. Raises UnknownToolError.
    """
    exact = [spec for spec in specs() if name in {spec.model_name, spec.key, spec.record_prefix}]
    if exact:
        return exact[0]
    family = [spec for spec in specs() if name in {spec.name, spec.folder}]
    published = [spec for spec in family if spec.status is not Status.DRAFT]
    if family:
        return (published or family)[-1]
    names = ", ".join(spec.model_name for spec in specs())
    raise UnknownToolError(f"no tool is called {name!r}; there are {names}")


def newest(found: Iterable[ToolSpec]) -> tuple[ToolSpec, ...]:
    """Of each tool, the version that agents are given: the newest active one, else the newest."""
    best: dict[str, ToolSpec] = {}
    for spec in sorted(found, key=lambda s: (s.status is Status.ACTIVE, s.major)):
        best[spec.name] = spec
    return tuple(sorted(best.values(), key=lambda spec: spec.name))
