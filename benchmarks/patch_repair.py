"""How often a conflict report is enough to put a patch right in one turn.

`python -m benchmarks.patch_repair [--write]`. A scripted model gets its failed request and the
`details` of the error, nothing else, and sends once more. Repaired means that this request fits and
leaves every file as its author meant it; where the change was made already, that it is dropped.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.patch_mix import MIX, cases
from benchmarks.patch_model import repair
from benchmarks.patch_stories import Case
from benchmarks.report import tell
from functions.apply_patch.engine import (
    Before,
    FileChange,
    Plan,
    conflict_details,
    plan_request,
)

PER_KIND = 200
MAX_DETAILS = 8_000


@dataclass
class Tally:
    """What came of the conflicts of one kind."""

    conflicts: int = 0
    repaired: int = 0
    wrong: int = 0
    """Second requests that fit and left something else than was meant."""
    codes: Counter[str] = field(default_factory=Counter)

    @property
    def share(self) -> float:
        return self.repaired / self.conflicts if self.conflicts else 0.0


def attempt(case: Case, entries: Sequence[FileChange]) -> Plan:
    """What the engine plans on the case's files, which it sees as a workspace would show them."""

    def read(path: str) -> Before:
        data = case.files.get(path)
        return Before(None, kind="missing") if data is None else Before(data)

    def beside(path: str) -> list[str]:
        folder = path.rpartition("/")[0]
        return [one for one in case.files if one.rpartition("/")[0] == folder]

    return plan_request(read, entries, similar=beside)


def outcome(case: Case, plan: Plan) -> dict[str, bytes | None] | None:
    """The case's files after a plan; None if there is nothing written."""
    if plan.conflicts or plan.invalid:
        return None
    return {**case.files, **{write.path: write.data for write in plan.writes}}


def measure(found: Iterable[Case]) -> dict[str, Tally]:
    """Tallies by kind. Cases that are no conflict are left out."""
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    for case in found:
        plan = attempt(case, case.entries)
        if not plan.conflicts:
            continue
        details: dict[str, Any] = conflict_details(plan)
        sent = json.dumps(details)
        if len(sent) > MAX_DETAILS:
            raise ValueError(f"a report of {len(sent)} bytes")
        tally = tallies[case.kind]
        tally.conflicts += 1
        tally.codes[plan.conflicts[0].code] += 1
        again = repair(case.entries, json.loads(sent))
        after = outcome(case, attempt(case, again)) if again else dict(case.files)
        tally.repaired += after == {**case.files, **case.meant}
        tally.wrong += after is not None and after != {**case.files, **case.meant}
    return dict(tallies)


def overall(tallies: dict[str, Tally]) -> float:
    """The share of repaired conflicts in the mix."""
    weights = {kind.__name__: weight for kind, weight in MIX.items() if kind.__name__ in tallies}
    whole = sum(weights.values())
    return sum(weight * tallies[kind].share for kind, weight in weights.items()) / whole


def main() -> None:
    """Print the table; with `--write`, put it into docs/benchmarks.md as well."""
    tallies = measure(cases("repair", PER_KIND))
    lines = [
        "| kind | parts of the mix | conflicts | repaired | fits, but not as meant | codes |",
        "|---|---|---|---|---|---|",
    ]
    for kind, weight in MIX.items():
        tally = tallies.get(kind.__name__, Tally())
        codes = ", ".join(f"{code} {count}" for code, count in tally.codes.most_common(3))
        lines.append(
            f"| {kind.__name__.replace('_', ' ')} | {weight} | {tally.conflicts} | "
            f"{tally.share:.0%} | {tally.wrong} | {codes} |"
        )
    whole = sum(tally.conflicts for tally in tallies.values())
    flat = sum(tally.share for tally in tallies.values()) / len(tallies)
    mix = f"Repaired in one turn: **{overall(tallies):.1%}** of the mix, "
    lines += ["", mix + f"{flat:.1%} if every kind came as often; {whole:,} conflicts."]
    tell("patch repair", lines)


if __name__ == "__main__":
    main()
