"""`python -m tests.exactly_once`: every hole of stock Powertools on moto, as a table of both sides.

Exit code 1 if ours broke a promise, 2 if stock keeps one that it did not keep before.
`--markdown` prints the table for the documentation.
"""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stdout
from importlib.metadata import version

from moto import mock_aws

from tests import conftest
from tests.exactly_once.holes import HOLES


def main() -> int:
    """Tell every story on both sides and print what came of it."""
    stock = f"stock Powertools {version('aws-lambda-powertools')}"
    rows = [("hole", "story", stock, "Toolgate")]
    code = 0
    conftest.become_stage()
    with mock_aws():
        for hole in HOLES:
            # The handlers log to standard output; the table is all that belongs there.
            with redirect_stdout(io.StringIO()):
                theirs, ours = _told(hole.stock), _told(hole.ours)
            rows.append((hole.id, hole.what, theirs or "kept", ours or "kept"))
            code = 1 if ours else code or (0 if theirs else 2)
    sys.stdout.write("\n".join(_table(rows, markdown="--markdown" in sys.argv)) + "\n")
    return code


def _table(rows, *, markdown):
    if markdown:
        lines = [f"| {' | '.join(row)} |" for row in rows]
        return [lines[0], "|---" * len(rows[0]) + "|", *lines[1:]]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def _told(story):
    conftest.create_tables()
    try:
        return story()
    finally:
        conftest.delete_tables()


if __name__ == "__main__":
    sys.exit(main())
