"""The committed schemas and digests: writing them, and what in them is out of date."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agents import retries
from contracts import publishing
from contracts.spec import Status
from toolgate import promises
from toolgate.errors import CommandError
from toolgate.project import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from contracts.spec import ToolSpec

README = "README.md"
TABLE_BEGIN = "<!-- tools: written by toolgate emit -->"
TABLE_END = "<!-- /tools -->"
CALLING = "docs/calling.md"
CODES_BEGIN = "<!-- codes: written by toolgate emit -->"
CODES_END = "<!-- /codes -->"
DRAFT_LINE = "status=Status.DRAFT"
ACTIVE_LINE = "status=Status.ACTIVE"


def documents(specs: Iterable[ToolSpec], root: Path = ROOT) -> dict[str, str]:
    """Every emitted file: the schemas, the README with its tools, and what a loop does by code."""
    specs = tuple(specs)
    found = publishing.documents(specs)
    for path, begin, end, table in (
        (README, TABLE_BEGIN, TABLE_END, _table(specs)),
        (CALLING, CODES_BEGIN, CODES_END, "\n".join(retries.table())),
    ):
        page = _text(root / path)
        if page is not None and begin in page and end in page:
            head, _, rest = page.partition(begin)
            found[path] = f"{head}{begin}\n{table}\n{end}{rest.partition(end)[2]}"
    return found


def _table(specs: Iterable[ToolSpec]) -> str:
    """The tools as a Markdown table."""
    rows = [
        "| tool | version | status | effect | approval | scopes | timeout | what it does |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for spec in specs:
        scopes = ", ".join(f"`{scope}`" for scope in sorted(spec.scopes))
        rows.append(
            f"| `{spec.model_name}` | {spec.version} | {spec.status} | {spec.effect} "
            f"| {spec.approval} | {scopes} | {spec.timeout_s} s | {spec.summary} |"
        )
    return "\n".join(rows)


def stale(specs: Iterable[ToolSpec], root: Path = ROOT) -> list[str]:
    """Paths of emitted files that differ from what the contracts emit now, or have no contract."""
    wanted = documents(specs, root)
    differing = [path for path, text in wanted.items() if _text(root / path) != text]
    return sorted(differing + [path for path in _present(root) if path not in wanted])


def write(specs: Iterable[ToolSpec], root: Path = ROOT) -> list[str]:
    """Make the emitted files what the contracts say; the paths that changed."""
    specs = tuple(specs)
    wanted, changed = documents(specs, root), stale(specs, root)
    for path in changed:
        if path in wanted:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(wanted[path], encoding="utf-8")
        else:
            (root / path).unlink()
    return changed


def digests(root: Path = ROOT) -> dict[str, dict[str, Any]]:
    """What was published, by `name@major`: version, digest, scopes, paths and who read it."""
    text = _text(root / publishing.DIGESTS)
    found: dict[str, dict[str, Any]] = json.loads(text) if text else {}
    return found


def publish(spec: ToolSpec, read_by: str, root: Path = ROOT) -> None:
    """Record what a draft promises and make it active. Raises CommandError if it is no draft."""
    if not read_by.strip():
        raise CommandError("--read-by must name who has read the contract")
    known = digests(root)
    if spec.record_prefix in known:
        raise CommandError(f"{spec.record_prefix} is published; its next schema is a new version")
    if spec.status is not Status.DRAFT:
        raise CommandError(
            f"{spec.key} is {spec.status} but {publishing.DIGESTS} lacks it: "
            "bring the entry back from history, or make it a draft"
        )
    contract = root / spec.contract_path
    source = contract.read_text(encoding="utf-8")
    if source.count(DRAFT_LINE) != 1:
        raise CommandError(f"{spec.contract_path} must say {DRAFT_LINE} once, to be made active")
    _record(spec, read_by, known, root)
    contract.write_text(source.replace(DRAFT_LINE, ACTIVE_LINE), encoding="utf-8")


def _record(spec: ToolSpec, read_by: str, known: dict[str, dict[str, Any]], root: Path) -> None:
    entry = {
        "version": spec.version,
        "digest": publishing.digest(spec),
        **publishing.beside(spec),
        "readBy": read_by,
    }
    promises.store(spec, root)
    known = dict(sorted({**known, spec.record_prefix: entry}.items()))
    (root / publishing.DIGESTS).write_text(publishing.dump(known), encoding="utf-8")


def _present(root: Path) -> list[str]:
    folder = root / publishing.DIGESTS
    return [
        path.relative_to(root).as_posix()
        for path in folder.parent.glob("*.json")
        if path.name != folder.name
    ]


def _text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None
