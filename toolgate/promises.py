"""What was promised when a version was published, kept as a file beside its digest.

The digest proves that the file is the promise; the file tells what a change has done to it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from contracts import publishing
from contracts.compatibility import SchemaError, compare_promises

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from contracts.spec import ToolSpec

PUBLISHED = "contracts/schemas/published"


def path(spec: ToolSpec) -> str:
    """Where the promise of a published version is, relative to the project."""
    return f"{PUBLISHED}/{spec.model_name}.json"


def store(spec: ToolSpec, root: Path) -> None:
    """Keep what the contract promises now."""
    place = root / path(spec)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(publishing.dump(publishing.promise(spec)), encoding="utf-8")


def broken(spec: ToolSpec, published: Mapping[str, Any], root: Path) -> Iterator[str]:
    """How a published contract differs from its promise; `published` is its entry of the digests.

    One sentence a change: the part, the class of the change, where it is, from what to what.
    """
    moved = publishing.digest(spec) != published["digest"]
    place = root / path(spec)
    kept = json.loads(place.read_text(encoding="utf-8")) if place.is_file() else None
    if kept is None or publishing.digest_of(kept) != published["digest"]:
        fault = "is missing" if kept is None else f"is not what {publishing.DIGESTS} has"
        yield f"{path(spec)} {fault}: bring back what was published as {published['version']}"
        if moved:
            yield (
                f"its schema is not the one published as {published['version']}"
                f"{_advice(spec, root)}"
            )
    elif moved:
        for change in _changes(kept, publishing.promise(spec)):
            yield change + _advice(spec, root)
    for what, now in publishing.beside(spec).items():
        was = published.get(what)
        if was != now:
            yield f"{what}: breaking: {_listed(was)} -> {_listed(now)}{_advice(spec, root)}"


def _listed(values: list[str] | None) -> str:
    return "not recorded" if values is None else ", ".join(values) or "none"


def _advice(spec: ToolSpec, root: Path) -> str:
    there = (root / spec.contract_path).parent.glob("v*.py")
    taken = [int(path.stem[1:]) for path in there if path.stem[1:].isdigit()]
    return f"; undo the change, or make it {spec.name} v{max([spec.major, *taken]) + 1}"


def _changes(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    try:
        reports = compare_promises(old, new)
    except SchemaError as error:
        yield str(error)
        return
    for part, report in reports.items():
        for reason in report.reasons:
            where = f"{reason.pointer} " if reason.pointer else ""
            yield f"{part}: {reason.verdict}: {where}{reason.why}"
        if not report.reasons and publishing.dump(old[part]) != publishing.dump(new[part]):
            for pointer in _respelled(old[part], new[part]):
                yield f"{part}: identical: {pointer} is written in another way"


def _respelled(old: Any, new: Any, pointer: str = "") -> Iterator[str]:
    """Where two documents differ that mean the same."""
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        for key in old:
            yield from _respelled(old[key], new[key], f"{pointer}/{key}")
    elif old != new:
        yield pointer or "/"
