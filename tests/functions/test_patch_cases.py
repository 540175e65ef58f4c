"""Every patch case through the real handler and workspace, by the cases' own runner."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest

from tests import patch_adapter

HOME = Path(__file__).parents[1] / "cases" / "patches"

_spec = importlib.util.spec_from_file_location("patch_case_runner", HOME / "run.py")
runner = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(runner)

SINGLE = sorted(path.name for path in HOME.iterdir() if re.match(r"\d{3}-", path.name))
MULTI = sorted(path.name for path in (HOME / "_multi").iterdir())


@pytest.fixture(autouse=True)
def on_moto(moto_session):
    """A stage for the adapter; it makes its own tables."""


@pytest.mark.parametrize("name", SINGLE)
def test_a_file_is_patched_as_expected(name, tmp_path):
    expected = json.loads((HOME / name / "expect.json").read_text())
    _, result, problems, _ = runner.run_single(name, patch_adapter.apply)
    assert not [problem for problem in problems if not problem.startswith("soft")]
    assert not runner.soft(result, expected) or result["outcome"] == "applied"


@pytest.mark.parametrize("name", MULTI)
def test_a_request_is_all_or_nothing(name):
    _, _, problems, _ = runner.run_multi(name, patch_adapter.apply)
    assert not problems
