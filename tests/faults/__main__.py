"""`python -m tests.faults`: the whole campaign on moto, as a table. Exit code 1 if a promise broke.

`--write` puts the table of counts into docs/exactly-once.md as well.
"""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stdout

from moto import mock_aws

from functions._runtime import aws
from functions._runtime.workspace import Stores
from tests import conftest
from tests.faults import campaign
from tests.faults.injector import Fault
from tests.faults.scenarios import SCENARIOS
from tests.workspaces import StoredWorkspaces
from toolgate.project import ROOT

PAGE = ROOT / "docs" / "exactly-once.md"
BEGIN = "<!-- faults: written by python -m tests.faults --write -->"
END = "<!-- /faults -->"


def main() -> int:
    """Run every scenario and print what came of each call and fault."""
    rows: list[campaign.Row] = []
    conftest.become_stage()
    with mock_aws():
        conftest.create_buckets()
        conftest.create_tables()
        stores = Stores(
            aws.dynamodb(), aws.s3(), conftest.WORKSPACE_TABLE, conftest.WORKSPACE_BUCKET
        )
        for scenario in SCENARIOS:
            # The handlers log to standard output; the table is all that belongs there.
            with redirect_stdout(io.StringIO()):
                found = list(campaign.run(scenario, StoredWorkspaces(stores)))
            rows += found
            _print_rows(found)
    kept = sum(not row.problems for row in rows)
    total = f"{len(rows)} faults injected, {kept} promises kept, {len(rows) - kept} broken"
    print(f"\n{total}")
    if "--write" in sys.argv:
        _write(_counts(rows) + f"\n\n{total}.")
    return 1 if any(row.problems for row in rows) else 0


def _print_rows(rows: list[campaign.Row]) -> None:
    print(f"\n{rows[0].tool}: {rows[0].scenario}")
    print(f"  {'call':24}{'fault':20}{'attempts':>9}{'effects':>9}")
    for row in rows:
        end = "" if not row.problems else f"  BROKEN: {'; '.join(row.problems)}"
        call = f"{row.number + 1}. {row.operation}"
        print(f"  {call:24}{row.fault:20}{row.attempts:9}{row.effects:9}{end}")


def _counts(rows: list[campaign.Row]) -> str:
    """How many faults of each kind were injected into each scenario, as a Markdown table."""
    lines = [
        "| tool | scenario | calls | " + " | ".join(Fault) + " | broken |",
        "|---|---|---|" + "---|" * (len(Fault) + 1),
    ]
    for scenario in dict.fromkeys(row.scenario for row in rows):
        mine = [row for row in rows if row.scenario == scenario]
        counts = [str(sum(row.fault is fault for row in mine)) for fault in Fault]
        calls = len({row.number for row in mine})
        broken = sum(bool(row.problems) for row in mine)
        cells = [f"`{mine[0].tool}`", scenario, str(calls), *counts, str(broken)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _write(table: str) -> None:
    """Replace what stands between the page's marks."""
    text = PAGE.read_text(encoding="utf-8")
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    PAGE.write_text(f"{head}{begin}\n{table}\n{end}{tail}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
