"""A VALIDATION is enough to put a call right in one turn, for whoever does only what it says."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from pydantic import ValidationError

from benchmarks.report import DOCS
from tests.contracts.schema_values import broken, values
from tests.functions import hostile
from tests.functions.hostile import SPECS, few, sample, schema_of

AIMED_AT = 0.95


@pytest.fixture(autouse=True)
def _unreachable(monkeypatch):
    hostile.patched(monkeypatch)


def mended(sent, meant, issues):
    """What a model sends next that only follows the issues, and has no schema.

    A text, number or choice it makes out of `expected`. What a list or an object is to hold no
    report can say, so there it writes what it meant to.
    """
    for one in issues:
        if one["path"] == "":
            sent = copy.deepcopy(meant)
            continue
        parent, _, name = one["path"].rpartition("/")
        holders = [value for _, value in select_at(sent, parent)]
        if not holders:
            continue
        (holder,) = holders
        step = int(name) if isinstance(holder, list) else name
        if one["problem"] == "unknown field":
            holder.pop(step, None)
        elif one["expected"].get("type") in {"array", "object"}:
            holder[step] = copy.deepcopy(next(select_at(meant, one["path"]))[1])
        else:
            holder[step] = fitting(one["expected"])
    return sent


def select_at(value, pointer):
    """What stands at an exact pointer: none or one."""
    for step in pointer.split("/")[1:]:
        if isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        elif isinstance(value, dict) and step in value:
            value = value[step]
        else:
            return
    yield pointer, value


def fitting(expected):
    """The simplest value that fits what was expected."""
    made = []

    @few(1)
    @given(value=values(expected))
    def keep(value):
        made.append(value)

    keep()
    return made[0]


def repaired(spec, arguments):
    try:
        spec.input.model_validate(arguments)
    except ValidationError:
        return False
    return True


def test_nearly_every_violation_of_a_schema_is_repaired_in_one_turn():
    tried, failed = 0, []
    for spec in SPECS:
        meant = sample(spec)
        for pointer, keyword, value in broken(schema_of(spec), meant):
            answer = hostile.call(spec, "direct", value)
            if answer.code != "VALIDATION" or not isinstance(value, dict):
                continue
            tried += 1
            issues = answer.result["error"]["details"]["issues"]
            if not repaired(spec, mended(copy.deepcopy(value), meant, issues)):
                failed.append((spec.model_name, pointer, keyword))
    assert tried > 400
    rate = 1 - len(failed) / tried
    assert rate >= AIMED_AT, (rate, failed)
    assert f"{tried - len(failed)} of {tried} calls" in DOCS.read_text("utf-8")
