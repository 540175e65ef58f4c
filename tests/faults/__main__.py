"""`python -m tests.faults`: the whole campaign on moto, as a table. Exit code 1 if a promise broke.

`--markdown` prints the table for the documentation.
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


def main() -> int:
    """Run every scenario and print what came of each call and fault."""
    markdown = "--markdown" in sys.argv
    rows: list[campaign.Row] = []
    conftest.become_stage()
    with mock_aws():
        aws.s3().create_bucket(Bucket=conftest.WORKSPACE_BUCKET)
        conftest.create_tables()
        stores = Stores(
            aws.dynamodb(), aws.s3(), conftest.WORKSPACE_TABLE, conftest.WORKSPACE_BUCKET
        )
        for scenario in SCENARIOS:
            # The handlers log to standard output; the table is all that belongs there.
            with redirect_stdout(io.StringIO()):
                found = list(campaign.run(scenario, StoredWorkspaces(stores)))
            rows += found
            if not markdown:
                _print_rows(found)
    _print_summary(rows, markdown=markdown)
    return 1 if any(row.problems for row in rows) else 0


def _print_rows(rows: list[campaign.Row]) -> None:
    print(f"\n{rows[0].tool}: {rows[0].scenario}")
    print(f"  {'call':24}{'fault':20}{'attempts':>9}{'effects':>9}")
    for row in rows:
        end = "" if not row.problems else f"  BROKEN: {'; '.join(row.problems)}"
        call = f"{row.number + 1}. {row.operation}"
        print(f"  {call:24}{row.fault:20}{row.attempts:9}{row.effects:9}{end}")


def _print_summary(rows: list[campaign.Row], *, markdown: bool) -> None:
    if markdown:
        print("| tool | scenario | calls | " + " | ".join(Fault) + " | promise broken |")
        print("|---|---|---|" + "---|" * (len(Fault) + 1))
        for scenario in dict.fromkeys(row.scenario for row in rows):
            mine = [row for row in rows if row.scenario == scenario]
            counts = [str(sum(row.fault is fault for row in mine)) for fault in Fault]
            broken = sum(bool(row.problems) for row in mine)
            calls = len({row.number for row in mine})
            cells = [mine[0].tool, scenario, str(calls), *counts, str(broken)]
            print("| " + " | ".join(cells) + " |")
    kept = sum(not row.problems for row in rows)
    print(f"\n{len(rows)} faults injected, {kept} promises kept, {len(rows) - kept} broken")


if __name__ == "__main__":
    sys.exit(main())
