"""Whether a new version of a contract breaks who depends on the old one, and by what.

`compare` judges two JSON Schemas in one direction; `compare_promises` judges two whole promises:
input, output, codes, effect and approval.
"""

from __future__ import annotations

from contracts.compatibility.promises import compare_promises
from contracts.compatibility.reports import Direction, Reason, Report, Verdict, compare, worst
from contracts.compatibility.schemas import SchemaError, Value

__all__ = [
    "Direction",
    "Reason",
    "Report",
    "SchemaError",
    "Value",
    "Verdict",
    "compare",
    "compare_promises",
    "worst",
]
