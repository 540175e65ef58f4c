"""The stored cases, judged by their own runner, against the engine on real directories."""

from __future__ import annotations

import importlib.util
import re
import stat
from dataclasses import dataclass
from pathlib import Path

import pytest

from functions.apply_patch.engine import Before, Write, conflict_details, plan_request

CASES = Path(__file__).parents[2] / "cases" / "patches"
SINGLE = sorted(path.name for path in CASES.iterdir() if re.match(r"\d{3}-", path.name))
REQUESTS = sorted(path.name for path in (CASES / "_multi").iterdir())


def load_runner():
    spec = importlib.util.spec_from_file_location("patch_cases_runner", CASES / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RUNNER = load_runner()


@dataclass(frozen=True)
class Entry:
    path: str
    mode: str
    content: str


def before_of(root: Path, path: str) -> Before:
    at = root
    for part in path.split("/"):
        if at != root and not at.is_dir():
            return Before(None, kind="not_a_directory" if at.exists() else "missing")
        at /= part
        if at.is_symlink():
            return Before(None, kind="symlink")
    if at.is_dir():
        return Before(None, kind="directory")
    if not at.exists():
        return Before(None, kind="missing")
    return Before(at.read_bytes(), executable=bool(at.stat().st_mode & stat.S_IXUSR))


def carry_out(root: Path, write: Write) -> None:
    target = root / write.path
    if write.data is None:
        target.unlink()
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(write.data)
    if write.executable is not None:
        target.chmod(0o755 if write.executable else 0o644)


def apply(repo_root, files, dry_run):
    root = Path(repo_root)
    plan = plan_request(lambda path: before_of(root, path), [Entry(**entry) for entry in files])
    if plan.invalid or plan.forbidden:
        codes = [one.code for one in plan.invalid] + ["UNSAFE_PATH" for _ in plan.forbidden]
        return {"outcome": "invalid", "codes": codes}
    if plan.conflicts:
        return {"outcome": "conflict", **conflict_details(plan)}
    for write in plan.writes if not dry_run else ():
        carry_out(root, write)
    return {"outcome": "applied"}


def judge(run, case):
    expected, result, errors, _seconds = run(case, apply)
    assert not errors, expected["why"]
    if result["outcome"] != "applied":
        assert not RUNNER.soft(result, expected), result


@pytest.mark.parametrize("case", SINGLE)
def test_case_has_the_stated_outcome_and_report(case):
    judge(RUNNER.run_single, case)


@pytest.mark.parametrize("case", REQUESTS)
def test_request_is_done_whole_or_not_at_all(case):
    judge(RUNNER.run_multi, case)


def test_the_cases_are_all_there():
    assert len(SINGLE) == 135
    assert len(REQUESTS) == 19
