"""The lock that makes moto usable under threads is needed, and is enough.

All tests of concurrency stand on it: without it moto loses writes that it confirmed, and they
would pass or fail by chance.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def race():
    """What came of it, in a process of its own: its threads switch all the time."""
    ended = subprocess.run(
        [sys.executable, "-m", "tests.exactly_once.race"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
        timeout=300,
    )
    return json.loads(ended.stdout)


def test_without_the_lock_moto_loses_writes(race):
    found = race["wrong without, at try"]
    assert found is not None, "moto has become atomic: the lock in tests/conftest.py can go"


def test_with_the_lock_every_write_is_there(race):
    assert race["wrong with"] == 0
