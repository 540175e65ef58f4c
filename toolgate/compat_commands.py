"""The command that compares: two schemas, two emitted documents, or two versions of a tool."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from contracts import publishing, registry
from contracts.compatibility import Direction, Reason, Report, SchemaError, compare_promises, worst
from contracts.dialects import json_schema
from toolgate.errors import CommandError

Side = Annotated[
    str,
    typer.Argument(
        help="A file that holds a JSON Schema or what toolgate emitted, or a tool: apply_patch_v1."
    ),
]
PARTS = ("input", "output", "error", "codes", "effect", "approval")
SHOWN = 60
"""Characters of a text that are printed whole."""


def compat(
    old: Side,
    new: Side,
    direction: Annotated[
        Direction | None,
        typer.Option(
            "--direction",
            help="input: callers write it. output: the tool does. Of two tools, all if not given.",
        ),
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say whether NEW breaks who depends on OLD, and by what. Exit code 1 if it does."""
    try:
        reports = compare_promises(*_alike(_read(old), _read(new), direction))
    except SchemaError as error:
        raise CommandError(str(error)) from None
    verdict = worst(report.verdict for report in reports.values())
    if as_json:
        parts = {name: report.as_dict() for name, report in reports.items()}
        document = {"verdict": verdict, "parts": parts}
        typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        for name, report in reports.items():
            typer.echo("\n".join(_lines(name, report)))
    if verdict == "breaking":
        raise typer.Exit(1)


def _read(name: str) -> dict[str, Any]:
    """The parts of a promise by name; a schema alone is under the name `schema`."""
    path = Path(name)
    if not path.is_file():
        if path.suffix == ".json":
            raise CommandError(f"there is no file {name}")
        spec = registry.find(name)
        return {**publishing.promise(spec), "error": json_schema.emit(spec)["error"]}
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise CommandError(f"{name} is not JSON") from None
    if not isinstance(document, dict):
        raise CommandError(f"{name} holds no JSON object")
    document = document.get("json-schema", document)
    parts = {part: document[part] for part in PARTS if part in document}
    return parts if {"input", "output"} <= parts.keys() else {"schema": document}


def _alike(
    old: dict[str, Any], new: dict[str, Any], direction: Direction | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both sides with the same parts."""
    if direction:
        chosen = ({direction: side.get("schema", side.get(direction))} for side in (old, new))
        return next(chosen), next(chosen)
    if "schema" in old or "schema" in new:
        raise CommandError("a schema alone does not say who writes it: add --direction")
    shared = old.keys() & new.keys()
    shared -= {"error"} if "codes" in shared else set()
    return {part: old[part] for part in shared}, {part: new[part] for part in shared}


def _lines(name: str, report: Report) -> list[str]:
    lines = [f"{name}: {report.verdict}"]
    for reason in report.reasons:
        where = f"{reason.pointer}  " if reason.pointer else ""
        lines.append(f"  {reason.verdict}: {where}{reason.why}  [{reason.change}]")
        if reason.verdict == "breaking" and name in {"input", "output", "error"}:
            lines.append(f"    {_shown(name, reason)}")
    return lines


def _shown(name: str, reason: Reason) -> str:
    if reason.witness is None:
        return "no example was found; it counts as breaking because the opposite is not proven"
    meaning = "was valid, is refused" if name == "input" else "was impossible, is possible"
    return f"{meaning}: {json.dumps(_short(reason.witness.value), ensure_ascii=False)}"


def _short(value: Any) -> Any:
    """The same value to look at: long texts and lists are cut, and say how long they are."""
    if isinstance(value, str) and len(value) > SHOWN:
        return f"{value[: SHOWN // 3]}… ({len(value)} characters)"
    if isinstance(value, list) and len(value) > 2:
        return [_short(value[0]), f"… ({len(value)} items)"]
    if isinstance(value, list):
        return [_short(item) for item in value]
    if isinstance(value, dict):
        return {key: _short(item) for key, item in value.items()}
    return value
