"""Two promises side by side: what was published, and what the contract says now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.compatibility import validation
from contracts.compatibility.reports import Reason, Report, Verdict, compare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Part = Callable[[Any, Any], Report]

EFFECTS = ("read", "write", "destructive")
APPROVALS = ("none", "when_protected", "dual")


def compare_promises(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Report]:
    """A report for each part that both have, by its name.

    input, output, error   JSON Schemas; who kept to the old one is not to notice
    codes                  name to retryable; a code that callers cannot know is breaking
    effect, approval       one that does more, or asks more people, is breaking

    Raises SchemaError.
    """
    return {
        name: judge(old[name], new[name])
        for name, judge in _PARTS.items()
        if name in old and name in new
    }


def _codes(old: Mapping[str, bool], new: Mapping[str, bool]) -> Report:
    return Report(tuple(_changed_codes(old, new)))


def _changed_codes(old: Mapping[str, bool], new: Mapping[str, bool]) -> Iterator[Reason]:
    for code in sorted(new.keys() - old.keys()):
        yield Reason(f"/{code}", "code-added", f"code {code} is new", "breaking")
    for code in sorted(old.keys() & new.keys()):
        if old[code] is not new[code]:
            why = f"retryable {validation.text(old[code])} -> {validation.text(new[code])}"
            yield Reason(f"/{code}", "retryable-changed", why, "breaking")
    for code in sorted(old.keys() - new.keys()):
        yield Reason(f"/{code}", "code-removed", f"code {code} is gone", "compatible")


def _ranked(name: str, ranks: tuple[str, ...]) -> Part:
    """More than before is breaking, less is not."""

    def judge(old: Any, new: Any) -> Report:
        if old == new:
            return Report(())
        verdict: Verdict = "breaking" if ranks.index(new) > ranks.index(old) else "compatible"
        return Report((Reason("", f"{name}-changed", f"{name} {old} -> {new}", verdict),))

    return judge


_PARTS: dict[str, Part] = {
    "input": lambda old, new: compare(old, new, "input"),
    "output": lambda old, new: compare(old, new, "output"),
    "error": lambda old, new: compare(old, new, "output"),
    "codes": _codes,
    "effect": _ranked("effect", EFFECTS),
    "approval": _ranked("approval", APPROVALS),
}
