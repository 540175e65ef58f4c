"""One request has one budget of steps: hostile requests end in conflicts, never in a timeout."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from functions.apply_patch.engine import Before, check_request, conflict_details, plan_request
from functions.apply_patch.engine.budget import REQUEST_STEPS

MISSING = Before(None, kind="missing")


@dataclass(frozen=True)
class Entry:
    path: str
    content: str
    mode: str = "unified_diff"


def two_letters(count: int, seed: int, between: str = "") -> str:
    return between.join(random.Random(seed).choices("xy", k=count))


def before(files: dict[str, str]):
    return lambda path: Before(files[path].encode()) if path in files else MISSING


def test_lines_that_are_all_alike_are_compared_within_the_budget():
    lines = "\n".join(two_letters(199, seed) for seed in range(500)) + "\n"
    files = {f"x{i}": lines for i in range(10)}
    patch = f"@@ -250 +250 @@\n-{two_letters(199, 999)}\n+z\n"
    plan = plan_request(before(files), [Entry(path, patch) for path in files])
    conflicts = conflict_details(plan)["conflicts"]
    assert {one["code"] for one in conflicts} == {"CONTEXT_MISMATCH"}
    assert 0 <= plan.budget.left < REQUEST_STEPS


def test_names_that_are_all_alike_are_compared_for_shown_conflicts_only():
    beside = [two_letters(198, seed) for seed in range(500)]
    listed = []

    def siblings(path: str) -> list[str]:
        listed.append(path)
        return beside

    entries = [Entry(two_letters(198, 1000 + i), "@@ -1 +1 @@\n-a\n+b\n") for i in range(40)]
    plan = plan_request(before({}), entries, similar=siblings)
    assert [one.code for one in plan.conflicts] == ["FILE_NOT_FOUND"] * 40
    assert len(listed) == 10
    assert 0 <= plan.budget.left < REQUEST_STEPS


def test_a_long_patch_on_a_file_of_two_letters_is_too_complex_not_endless():
    letters = random.Random(3)
    hunk = "@@\n" + "".join(f" {letters.choice('xy')}\n" for _ in range(200)) + "+c\n"
    plan = plan_request(
        before({"x": two_letters(900_000, 1, "\n") + "\n"}), [Entry("x", hunk * 790)]
    )
    first = conflict_details(plan)["conflicts"][0]
    codes = {one.code for one in plan.conflicts}
    assert "TOO_COMPLEX" in codes
    assert plan.budget.left >= 0
    assert first["path"] == "x"
    assert first["hint"]


def test_forty_large_files_share_one_budget():
    text = two_letters(900_000, 1, "\n") + "\n"
    files = {f"x{i}": text for i in range(40)}
    entries = [Entry(path, "@@ -1,3 +1,3 @@\n x\n y\n-q\n+z\n") for path in files]
    plan = plan_request(before(files), entries)
    assert [one.code for one in plan.conflicts].count("TOO_COMPLEX") > 30
    shown = conflict_details(plan)["conflicts"]
    assert "replace_full" in next(one for one in shown if one["code"] == "TOO_COMPLEX")["hint"]


def test_out_of_budget_a_report_keeps_what_it_has_at_hand():
    text = "".join(f"line {n}\n" for n in range(1000))
    patch = "@@ -9,2 +9,2 @@\n line 8\n-line nine\n+z\n"
    whole = plan_request(before({"x": text}), [Entry("x", patch)])
    used = REQUEST_STEPS - whole.budget.left
    assert "closest" in conflict_details(whole)["conflicts"][0]
    plan = plan_request(before({"x": text}), [Entry("x", patch)], steps=used)
    assert conflict_details(plan)["conflicts"] == [
        {
            "path": "x",
            "code": "CONTEXT_MISMATCH",
            "hunk": 1,
            "header": "@@ -9,2 +9,2 @@",
            "patchLine": 1,
            "expectedAt": 9,
            "hint": plan.conflicts[0].hint,
        }
    ]
    stopped = plan_request(before({"x": text}), [Entry("x", patch)], steps=used - 1)
    assert [one.code for one in stopped.conflicts] == ["TOO_COMPLEX"]


def test_more_lines_of_diffs_than_can_be_read_are_invalid():
    entries = [Entry(f"x{i}", "@@ -1 +1 @@\n-a\n" + "+b\n" * 125_000) for i in range(2)]
    assert [one.code for one in check_request(entries)] == ["TOO_MANY_LINES"]
    assert check_request(entries[:1]) == []


@pytest.mark.parametrize(
    ("text", "patch"),
    [
        ("  baz\nfoo\n  baz\n", "@@ -3,1 +3,0 @@\n-   baz\n"),
        ("a b\nx\na b\n", "@@ -9,1 +1,1 @@\n-  a b\n+a b\n"),
    ],
    ids=["removes one of two equal lines", "changes nothing"],
)
def test_a_hunk_that_would_not_apply_is_not_suggested(text, patch):
    plan = plan_request(before({"x": text}), [Entry("x", patch)])
    conflict = conflict_details(plan)["conflicts"][0]
    assert conflict["closest"]
    assert "suggestedHunk" not in conflict


def test_a_large_file_is_overwritten_or_deleted_unread_but_not_edited():
    entries = [
        Entry("a", "new\n", "replace_full"),
        Entry("b", "*** Begin Patch\n*** Delete File: b\n*** End Patch\n"),
        Entry("c", "@@ -1 +1 @@\n-a\n+b\n"),
    ]
    plan = plan_request(lambda _path: Before(None, kind="large"), entries[:2])
    assert [(one.action, one.data) for one in plan.writes] == [
        ("modify", b"new\n"),
        ("delete", None),
    ]
    plan = plan_request(lambda _path: Before(None, kind="large"), entries)
    assert plan.too_large == ["c"]
    assert not plan.writes
