"""What the benchmark of self-repair says of ours, and of libraries that are not there."""

from __future__ import annotations

import pytest

from benchmarks import repair
from benchmarks.report import DOCS


@pytest.mark.parametrize(
    ("case", "says"),
    [
        ("valid at once", "1 call, 0 B, valid"),
        ("valid, in a fence among prose", "1 call, 0 B, valid"),
        ("the same key twice", "2 calls"),
        ("two different values", "2 calls"),
        ("never valid", "3 calls"),
        ("the same bad reply for ever", "2 calls"),
    ],
)
def test_ours_calls_the_model_as_often_as_the_docs_say(case, says):
    cell = repair.outcome(repair.ours, repair.CASES[case])
    assert cell.startswith(says)
    assert "took" not in cell
    assert f"| {case} | {cell} |" in repair_section()


def repair_section():
    text = DOCS.read_text("utf-8")
    return text.partition("<!-- repair -->")[2].partition("<!-- /repair -->")[0]


def test_half_a_megabyte_is_not_sent_back():
    for case, replies in repair.CASES.items():
        model = repair.Scripted(replies)
        try:
            repair.ours(model)
        except repair.RepairExhausted:
            assert case in {"never valid", "the same bad reply for ever"}
        assert model.fed_back < 1_000


def test_a_library_that_is_not_installed_is_said_to_be_missing(monkeypatch):
    monkeypatch.setattr(repair, "installed", lambda package: None if package else "here")
    lines = repair.table()
    assert lines[0] == "| replies | ours |"
    assert lines[-1] == "instructor is missing; pydantic-ai is missing."
