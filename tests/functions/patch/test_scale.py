"""Inputs on which a naive engine takes minutes or rereads the file for every hunk."""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass

import pytest

from functions.apply_patch.engine import Before, conflict_details, plan_request


@dataclass(frozen=True)
class Entry:
    content: str
    path: str = "f.txt"
    mode: str = "unified_diff"


def plan_of(before: bytes, patch: str):
    return plan_request(lambda _path: Before(before), [Entry(patch)])


def codes_of(before: bytes, patch: str) -> list[str]:
    """The codes of a plan that does not work out, after its report was made."""
    plan = plan_of(before, patch)
    if plan.conflicts:
        conflict_details(plan)
    return [one.code for one in plan.invalid or plan.conflicts]


def many_hunks(count: int, gap: int, shift: int) -> tuple[bytes, str, bytes]:
    lines = [f"line {n}" for n in range(count * gap)]
    after = list(lines)
    patch = []
    for at in range(1, count * gap, gap):
        after[at] = f"new {at}"
        start = at + shift
        patch.append(
            f"@@ -{start},3 +{start},3 @@\n {lines[at - 1]}\n-{lines[at]}\n+{after[at]}\n"
            f" {lines[at + 1]}\n"
        )
    return ("\n".join(lines) + "\n").encode(), "".join(patch), ("\n".join(after) + "\n").encode()


@pytest.mark.parametrize("shift", [0, 1_000_000], ids=["numbers right", "numbers stale"])
def test_ten_thousand_hunks_all_land(shift):
    before, patch, after = many_hunks(10_000, 5, shift)
    assert plan_of(before, patch).writes[0].data == after


def test_ten_thousand_hunks_that_fit_nowhere_are_all_counted():
    before, patch, _after = many_hunks(10_000, 5, 0)
    plan = plan_of(before.replace(b"\n", b" changed\n"), patch)
    details = conflict_details(plan)
    assert len(details["conflicts"]) + details["omitted"] == 10_000


def test_half_a_million_lines_take_one_hunk():
    before = b"".join(b"line %d\n" % n for n in range(500_000))
    patch = "@@ -9,3 +9,3 @@\n line 400000\n-line 400001\n+new\n line 400002\n"
    assert plan_of(before, patch).writes[0].data == before.replace(b"line 400001\n", b"new\n")


def test_half_a_million_equal_lines_are_ambiguous():
    assert codes_of(b"\n" * 500_000, "@@\n \n-\n+x\n \n") == ["AMBIGUOUS"]


def test_a_long_block_that_nearly_matches_everywhere_is_found_in_linear_time():
    before = ("a\n" * 19_999 + "c\n") * 5
    nearly = "@@ -1,20000 +1,19999 @@\n" + " a\n" * 19_999 + "-a\n"
    assert codes_of(before.encode(), nearly) == ["CONTEXT_MISMATCH"]
    once = before + "a\n" * 19_999 + "b\n"
    fits = "@@ -1,20000 +1,19999 @@\n" + " a\n" * 19_999 + "-b\n"
    assert plan_of(once.encode(), fits).writes[0].data == once.removesuffix("b\n").encode()


def test_bare_context_in_a_file_that_repeats_itself_is_given_up_not_searched_for_ever():
    before = b" a\na\n" * 100_000
    patch = "@@ -5,3 +5,3 @@\n" + " a\n" * 5_000 + "a\na\n-a\n+x\n"
    assert codes_of(before, patch) == ["TOO_COMPLEX"]


def hunks_in_place(count: int) -> tuple[bytes, str]:
    before, patch, _after = many_hunks(count, 5, 0)
    return before, patch


def hunks_to_search(count: int) -> tuple[bytes, str]:
    before, patch, _after = many_hunks(count, 5, 1_000_000)
    return before, patch


def nearly_everywhere(count: int) -> tuple[bytes, str]:
    before = ("a\n" * (count - 1) + "c\n") * 5
    return before.encode(), "@@ -1,9 +1,9 @@\n" + " a\n" * (count - 1) + "-a\n"


def one_hunk_in_many_lines(count: int) -> tuple[bytes, str]:
    before = b"".join(b"line %d\n" % n for n in range(count))
    return before, f"@@ -9,2 +9,2 @@\n line {count - 2}\n-line {count - 1}\n+new\n"


def cost(before: bytes, patch: str) -> float:
    """Seconds of processor time, the least of three."""
    times = []
    for _ in range(3):
        gc.collect()
        started = time.process_time()
        codes_of(before, patch)
        times.append(time.process_time() - started)
    return min(times)


@pytest.mark.parametrize(
    ("make", "count"),
    [
        (hunks_in_place, 10_000),
        (hunks_to_search, 10_000),
        (nearly_everywhere, 40_000),
        (one_hunk_in_many_lines, 500_000),
    ],
)
def test_eight_times_the_input_costs_nowhere_near_sixty_four_times_as_much(make, count):
    assert cost(*make(count)) < 24 * cost(*make(count // 8))


@pytest.mark.parametrize(
    ("patch", "code"),
    [
        ("@@\n" * 160_000, "NO_HUNKS"),
        ("@@ a\n" * 90_000 + "-b\n+c\n", "CONTEXT_MISMATCH"),
        ("@@ -1,9 +1,9 @@\n" + "--- a\n+++ b\n\n" * 30_000, "MULTIPLE_FILES"),
        ("--- " + "a " * 240_000 + "\n+++ b\n@@ -1 +1 @@\n-a\n+b\n", "PATH_MISMATCH"),
        ("```diff\n" + "`" * 450_000 + "\n@@ -1 +1 @@\n-b\n+c\n", "CONTEXT_MISMATCH"),
        ("@@" + " " * 490_000 + "\n-b\n+c\n", "CONTEXT_MISMATCH"),
        ("@@ -1 +1 @@\n-" + "x" * 490_000 + "\n+b\n", "CONTEXT_MISMATCH"),
        ("@@ -1 +1 @@\n-" + "&lt; " * 90_000 + "\n+b\n", "CONTEXT_MISMATCH"),
        ("@@ -1 +1 @@\n" + "\n" * 200_000 + "-b\n+c\n", "CONTEXT_MISMATCH"),
    ],
)
def test_hostile_patch_text_is_read_in_one_pass(patch, code):
    assert codes_of(b"a\n" * 10, patch) == [code]
