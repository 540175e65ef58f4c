"""The demo as a person reads it: what happened, what was answered, what is in the history."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console

    from toolgate.demo.steps import Step


INDENT = 13
"""Columns before the text of a line: four, and nine for its label."""


class Transcript:
    """Prints steps as they come, with the commits that each has added."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._commits: int | None = None
        self._number = 0

    def tell(self, step: Step) -> None:
        """Print one step."""
        self._number += 1
        self._console.print(Text.assemble((f"\n{self._number:2}. ", "dim"), (step.title, "bold")))
        self._line("call", step.tool)
        ok = step.result["ok"]
        self._line("answer", _answer(step.result), "green" if ok else "yellow")
        for label, text in _notes(step):
            self._line(label, text)
        added = step.commits - (step.commits if self._commits is None else self._commits)
        self._commits = step.commits
        self._line("commits", f"{step.commits} ({added:+d})" if added else f"{step.commits}")
        if "diff" in step.more:
            self._console.print()
            for line in step.more["diff"].splitlines():
                style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
                shown = Text(f"    {line}", style=style)
                self._console.print(shown, no_wrap=True, overflow="ellipsis")

    def close(self) -> None:
        """Print what to do next."""
        told = "The local cloud is still up: toolgate call, toolgate workspace log; "
        self._console.print()
        for line in textwrap.wrap(f"{told}toolgate local down ends it.", self._console.width):
            self._console.print(Text(line))

    def _line(self, label: str, text: str, style: str = "") -> None:
        """A label and its text; what does not fit goes on below the text, not below the label."""
        lines = textwrap.wrap(text, max(20, self._console.width - INDENT)) or [""]
        for number, line in enumerate(lines):
            head = f"    {'' if number else label:9}"
            self._console.print(Text.assemble((head, "dim"), (line, style)))


def _answer(result: dict[str, Any]) -> str:
    if not result["ok"]:
        error = result["error"]
        kind = "retryable" if error["retryable"] else "not retryable"
        return f"{error['code']}, {kind}: {error['message']}"
    if "files" in result:
        ok = "ok, skipped as duplicate" if result.get("skippedAsDuplicate") else "ok"
        return f"{ok}: {_paths([entry['path'] for entry in result['files']])}"
    if "state" in result:
        return f"{result['state']}"
    if "releaseId" in result:
        ok = "ok, skipped as duplicate" if result["skippedAsDuplicate"] else "ok"
        return f"{ok}: release {result['releaseId'][:14]}…, {result['byteCount']} bytes"
    if "path" in result:
        return f"ok: {result['path']}, {result['byteCount']} bytes"
    if "text" in result:
        return f"ok: {result['lineCount']} lines, {result['encoding']}"
    return f"ok: {result.get('branch', '')}"


def _paths(paths: list[str]) -> str:
    shown = ", ".join(paths[:4])
    return f"{shown} and {len(paths) - 4} more" if len(paths) > 4 else shown


def _notes(step: Step) -> list[tuple[str, str]]:
    details = {} if step.result["ok"] else step.result["error"].get("details", {})
    notes = []
    for conflict in details.get("conflicts", []):
        differs = conflict.get("closest", {}).get("firstDiff", {})
        if differs:
            notes.append(("expected", f"{differs['expected']!r}"))
            notes.append(("actual", f"{differs['actual']!r} in line {differs['fileLine']}"))
    notes += [("and", f"{one['path']}: {one['problem']}") for one in details.get("issues", [])[1:4]]
    if "keySpent" in details:
        notes.append(("key", "spent" if details["keySpent"] else "not spent"))
    if step.id == "concurrent":
        told = f"{step.more['effects']} acted, {step.more['duplicates']} got its answer"
        notes.append(("callers", told))
    if "approvalId" in details:
        notes.append(("approval", details["approvalId"]))
    if "reason" in details:
        notes.append(("reason", details["reason"]))
    if "need" in step.more:
        notes.append(("agreed", f"{step.more['have']} of {step.more['need']}"))
    if step.more.get("reason"):
        notes.append(("reason", step.more["reason"]))
    if step.id == "killed":
        at_kill, attempts = step.more["recordAtKill"], step.more["attempts"]
        notes.append(("killed", f"its record was still {at_kill}; done in {attempts} attempts"))
    return notes
