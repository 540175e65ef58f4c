"""What tests of the contract commands share: the rules by name, and a project to change."""

from __future__ import annotations

import shutil
from pathlib import Path

from toolgate.project import ROOT

TITLES = (
    "every mutating tool requires idempotencyKey and schemaVersion",
    "no object takes additional properties, error.details aside",
    "results are told apart by ok, and failures say retryable",
    "arguments are validated before any side effect",
    "names carry the version, and contract and handler share a path",
    "committed schemas are what the handlers' contracts emit",
    "every argument and answer field is described",
    "what each target is sent holds only what it takes",
    "golden cases cover validation, replay and conflict",
    "tools that touch production stop at a gate",
    "published versions keep their digest",
    "no published version is gone",
    "the agent's instruction fits Bedrock",
    "every handler has a contract",
)
"""The checklist, line by line."""

PARTS = ("agents", "contracts", "functions", "infra", "tests/golden", "toolgate")


def copied(place: Path) -> Path:
    """A copy of what the command line reads and runs."""
    for folder in PARTS:
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, place / folder, ignore=ignore)
    return place
