"""What changed between two versions of a schema, and whether callers of the old one notice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from contracts.compatibility import inclusion, validation
from contracts.compatibility.schemas import (
    Node,
    UndecidedError,
    Value,
    alternatives,
    read,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from contracts.compatibility.inclusion import Gap

Direction = Literal["input", "output"]
"""Who writes the values: callers (input) or the tool (output)."""

Verdict = Literal["identical", "additive", "compatible", "breaking"]
"""From harmless to harmful.

identical   the same values fit and mean the same; texts, order and spelling may differ
additive    input only: there are new optional arguments, each with a default, and nothing else
compatible  something else changed, and nobody who kept to the old schema notices
breaking    input: an argument that was valid is refused now. output: an answer that was
            impossible is possible now. Or the opposite could not be proven
"""

_VERDICTS = get_args(Verdict)
_MISSING = object()


@dataclass(frozen=True)
class Reason:
    """One change.

    pointer   JSON pointer of what changed, in the old schema, or in the new one if it is new there;
              a `$ref` counts as what it leads to
    change    a stable word: `bound-changed`, `property-added`, `value-removed` …
    why       from what to what, for people
    verdict   what this change alone amounts to
    witness   of a breaking change, and if one was found: a whole input that was valid and is
              refused now, or a whole output that is possible now and was not
    """

    pointer: str
    change: str
    why: str
    verdict: Verdict
    witness: Value | None = None

    def as_dict(self) -> dict[str, Any]:
        """For JSON; `witness` is there only if there is one."""
        shown = {"pointer": self.pointer, "change": self.change, "why": self.why}
        more = {"witness": self.witness.value} if self.witness else {}
        return {**shown, "verdict": self.verdict, **more}


@dataclass(frozen=True)
class Report:
    """All changes, the breaking ones first."""

    reasons: tuple[Reason, ...]

    @property
    def verdict(self) -> Verdict:
        """That of the worst change."""
        return worst(reason.verdict for reason in self.reasons)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        reasons = [reason.as_dict() for reason in self.reasons]
        return {"verdict": self.verdict, "reasons": reasons}


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The most harmful of them; identical if there are none."""
    return max(verdicts, key=_VERDICTS.index, default="identical")


def compare(old_schema: Any, new_schema: Any, direction: Direction) -> Report:
    """Every change from the old schema to the new one, judged for who depends on the old one.

    Sound for JSON Schema 2020-12: what is not understood (`not`, `if`, `patternProperties` …) and
    not the same counts as breaking. Raises SchemaError for what is no schema, and for a recursive
    one.
    """
    old, new = read(old_schema), read(new_schema)
    refused, admitted = inclusion.gaps(old, new), inclusion.gaps(new, old)
    defaults = _defaults(new)
    found: dict[tuple[str, str], Reason] = {}
    for gap, forward in [(gap, True) for gap in refused] + [(gap, False) for gap in admitted]:
        breaks = forward is (direction == "input")
        reason = _reason(gap, forward=forward, breaks=breaks)
        if reason.change == "property-added" and (default := _at(defaults, reason)) is not _MISSING:
            reason = replace(reason, why=f"{reason.why}, default {validation.text(default)}")
            if direction == "input" and not breaks:
                reason = replace(reason, verdict="additive")
        if reason.witness:
            fits, not_fits = (old, new) if forward else (new, old)
            reason = replace(reason, witness=_checked(reason.witness, fits, not_fits))
        place = (reason.pointer, _topic(gap))
        if place not in found or (breaks and not found[place].witness):
            found[place] = reason
    reasons = [*found.values(), *_changed_defaults(_defaults(old), defaults)]
    reasons.sort(key=lambda reason: reason.verdict != "breaking")
    return Report(tuple(reasons))


def _checked(witness: Value, fits: Node, not_fits: Node) -> Value | None:
    value = witness.value
    sure = validation.accepts(fits, value) and validation.accepts(not_fits, value) is False
    return witness if sure else None


def _topic(gap: Gap) -> str:
    """What a gap and its counterpart in the other direction have in common."""
    kind = "property" if gap.kind in {"absent", "unknown"} else gap.kind
    return f"{kind} {gap.topic}"


def _reason(gap: Gap, *, forward: bool, breaks: bool) -> Reason:
    """A gap as a change from old to new; `forward` if it is the old that does not fit the new."""
    inner, outer = (gap.inner, gap.outer) if forward else (gap.outer, gap.inner)
    change, why, is_new = _WORDS[gap.kind](gap.topic, inner, outer, forward)
    old, new = gap.place if forward else gap.place[::-1]
    verdict: Verdict = "breaking" if breaks or gap.kind == "undecided" else "compatible"
    return Reason((new if is_new else old), change, why, verdict, gap.witness if breaks else None)


_Words = tuple[str, str, bool]
"""The stable word, the sentence, and whether the thing is in the new schema only."""


def _absent(name: str, old: Any, new: Any, forward: bool) -> _Words:
    if old is None:
        return "property-added", f"{new} property {name!r} is new", True
    if new is None:
        return "property-removed", f"{old} property {name!r} is gone", False
    word, sentence = (
        ("added", "is now required") if forward else ("removed", "is no longer required")
    )
    return f"required-{word}", sentence, False


def _unknown(name: str, old: Any, new: Any, _forward: bool) -> _Words:
    if new is None:
        return "property-removed", f"{old} property {name!r} is gone", False
    return "property-added", f"{new} property {name!r} is new", True


def _listed(value: str, _old: Any, _new: Any, forward: bool) -> _Words:
    word, sentence = ("removed", "gone") if forward else ("added", "new")
    return f"value-{word}", f"value {value} is {sentence}", False


def _null(_topic: str, _old: Any, _new: Any, forward: bool) -> _Words:
    word, sentence = ("removed", "no longer") if forward else ("added", "now")
    return f"null-{word}", f"null is {sentence} allowed", False


def _branch(name: str, _old: Any, _new: Any, forward: bool) -> _Words:
    word, sentence = ("removed", "gone") if forward else ("added", "new")
    return f"branch-{word}", f"branch {name} is {sentence}", not forward


def _open(_topic: str, _old: Any, _new: Any, forward: bool) -> _Words:
    word, sentence = ("closed", "no longer") if forward else ("opened", "now")
    return f"object-{word}", f"additional properties are {sentence} allowed", False


def _undecided(keyword: str, _old: Any, _new: Any, _forward: bool) -> _Words:
    return "undecided", f"{keyword} changed, or something beside it: not comparable", False


def _change(word: str) -> Callable[[str, Any, Any, bool], _Words]:
    """From one to the other; `added` or `removed` where there was or is nothing."""

    def words(keyword: str, old: Any, new: Any, _forward: bool) -> _Words:
        how = "added" if old is None else "removed" if new is None else "changed"
        sides = ("none" if side is None else _plain(side) for side in (old, new))
        spelled = word == "bound" and isinstance(old, str)  # minimum against exclusiveMinimum
        said = " -> ".join(sides)
        return f"{word or keyword}-{how}", said if spelled else f"{keyword or word} {said}", False

    return words


def _plain(side: Any) -> str:
    return side if isinstance(side, str) else validation.text(side)


_WORDS: dict[str, Callable[[str, Any, Any, bool], _Words]] = {
    "absent": _absent,
    "unknown": _unknown,
    "value": _listed,
    "enum": _change("type"),
    "type": _change("type"),
    "null": _null,
    "branch": _branch,
    "open": _open,
    "bound": _change("bound"),
    "keyword": _change(""),
    "undecided": _undecided,
}


def _at(defaults: dict[str, tuple[str, Any]], reason: Reason) -> Any:
    return next((d for pointer, d in defaults.values() if pointer == reason.pointer), _MISSING)


def _changed_defaults(
    old: dict[str, tuple[str, Any]], new: dict[str, tuple[str, Any]]
) -> Iterator[Reason]:
    """A default decides what a call means that leaves the argument out."""
    for place in old.keys() & new.keys():
        (pointer, was), (_, now) = old[place], new[place]
        given = was is not _MISSING, now is not _MISSING
        if not any(given) or (all(given) and validation.text(was) == validation.text(now)):
            continue
        how = "changed" if all(given) else "removed" if given[0] else "added"
        why = f"default {' -> '.join(_default(side) for side in (was, now))}"
        yield Reason(pointer, f"default-{how}", why, "compatible")


def _default(side: Any) -> str:
    return "none" if side is _MISSING else validation.text(side)


def _defaults(node: Node) -> dict[str, tuple[str, Any]]:
    """Every node by a name that outlives reordered unions: its pointer, and its default if any."""
    return dict(_walk(node, "", ""))


def _walk(node: Node, label: str, pointer: str) -> Iterator[tuple[str, tuple[str, Any]]]:
    yield label, (pointer, node.get("default", _MISSING))
    for name, child in node.get("properties", {}).items():
        step = f"/properties/{name.replace('~', '~0').replace('/', '~1')}"
        yield from _walk(child, label + step, pointer + step)
    for keyword in ("items", "additionalProperties"):
        if keyword in node:
            yield from _walk(node[keyword], f"{label}/{keyword}", f"{pointer}/{keyword}")
    for union in ("anyOf", "oneOf", "allOf"):
        branches = node.get(union, [])
        several = sum(branch.get("type") != "null" for branch in branches) > 1
        for index, branch in enumerate(branches):
            if branch.get("type") == "null":
                continue
            name = f"{label}/{_branch_label(branch)}" if several else label
            for place, found in _walk(branch, name, f"{pointer}/{union}/{index}"):
                if place != label:
                    yield place, found


def _branch_label(branch: Node) -> str:
    try:
        return " or ".join(inclusion.branch_name(one) for one in alternatives(branch))
    except UndecidedError:
        return "undecided"
