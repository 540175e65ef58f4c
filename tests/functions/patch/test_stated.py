"""A hunk that fits where it says, but for line ends, never goes somewhere else in silence."""

from __future__ import annotations

import random

import pytest

from functions.apply_patch.engine import Before, conflict_details, plan_request
from tests.functions.patch.test_report import Entry, patched
from tests.functions.patch.test_report import one_conflict as conflict_of

BLOCK = ["begin", "  x = 1", "end"]
HUNK = "@@ -5,3 +5,3 @@\n begin\n-  x = 1\n+  x = 2\n end\n"
EXACT = "begin\n  x = 1\nend\nmid\n"


LOOSE = {
    "no final newline": ("begin\n  x = 1\nend", "begin\n  x = 2\nend"),
    "CRLF": ("begin\r\n  x = 1\r\nend\r\n", "begin\r\n  x = 2\r\nend\r\n"),
    "one trailing blank": ("begin \n  x = 1\nend\n", "begin \n  x = 2\nend\n"),
    "blanks on the removed line": ("begin\n  x = 1\t \nend\n", "begin\n  x = 2\nend\n"),
    "CRLF and no final newline": ("begin\r\n  x = 1\r\nend", "begin\r\n  x = 2\r\nend"),
}


@pytest.mark.parametrize(("stated", "after"), LOOSE.values(), ids=LOOSE)
def test_the_stated_place_and_a_better_one_are_both_told(stated, after):
    before = (EXACT + stated).encode()
    conflict = conflict_of(before, HUNK)
    assert conflict["code"] == "AMBIGUOUS"
    assert conflict["candidates"] == [1, 5]
    assert "names line 5" in conflict["hint"]
    assert patched(before, conflict["suggestedHunk"]) == (EXACT + after).encode()


@pytest.mark.parametrize(("stated", "after"), LOOSE.values(), ids=LOOSE)
def test_the_stated_place_is_taken_where_no_other_fits(stated, after):
    before = (EXACT.replace("1", "7") + stated).encode()
    assert patched(before, HUNK) == (EXACT.replace("1", "7") + after).encode()


def test_the_better_place_is_taken_where_it_is_the_stated_one():
    before = (EXACT + LOOSE["CRLF"][0]).encode()
    after = before.replace(b"1", b"2", 1)
    assert patched(before, HUNK.replace("-5", "-1")) == after


def test_a_hunk_sent_again_does_not_change_the_next_copy():
    once = patched((EXACT + EXACT).encode(), HUNK)
    assert once == (EXACT + EXACT.replace("1", "2")).encode()
    conflict = conflict_of(once, HUNK)
    assert (conflict["code"], conflict["appliedAt"]) == ("ALREADY_APPLIED", 5)
    assert patched(once, HUNK.replace("-5", "-1")) == once.replace(b"1", b"2")


def test_a_byte_order_mark_hides_no_stated_place():
    before = b"\xef\xbb\xbfbegin\n  x = 1\nend\nmid\nbegin\n  x = 1\nend\n"
    conflict = conflict_of(before, HUNK.replace("-5", "-1"))
    assert conflict["candidates"] == [1, 5]
    assert patched(before, conflict["suggestedHunk"]) == before.replace(b"1", b"2", 1)


def test_a_number_without_context_decides_nothing_but_raises_doubt():
    before = b"a\nx\r\nb\nx\nc\n"
    conflict = conflict_of(before, "@@ -2 +2 @@\n-x\n+y\n")
    assert (conflict["code"], conflict["candidates"]) == ("AMBIGUOUS", [2, 4])
    assert patched(before, conflict["suggestedHunk"]) == b"a\ny\r\nb\nx\nc\n"


def test_a_place_as_far_off_as_the_hunk_above_is_not_passed_over_either():
    before = b"new\nhead\none\ntwo\n" + (LOOSE["CRLF"][0] + EXACT).encode()
    patch = "@@ -1,2 +1,2 @@\n head\n-one\n+ONE\n@@ -4,3 +4,3 @@" + HUNK.partition("@@\n")[2].join(
        ["\n", ""]
    )
    conflict = conflict_of(before, patch)
    assert (conflict["hunk"], conflict["code"], conflict["candidates"]) == (2, "AMBIGUOUS", [5, 8])


def test_the_end_of_the_file_that_is_named_is_not_passed_over():
    patch = "*** Update File: app.py\n@@\n begin\n-  x = 1\n+  x = 2\n end\n*** End of File\n"
    before = (EXACT + LOOSE["no final newline"][0]).encode()
    conflict = conflict_of(before, patch)
    assert (conflict["code"], conflict["candidates"]) == ("AMBIGUOUS", [1, 5])
    assert patched(before, conflict["suggestedHunk"]).endswith(b"mid\nbegin\n  x = 2\nend")


def test_the_scope_that_is_named_is_not_passed_over_for_one_below():
    before = b"class A:\n  x\nclass B:\n  x \nclass C:\n  x\n"
    conflict = conflict_of(before.replace(b"A:\n  x", b"A:\n  y"), "@@ class B:\n-  x\n+  z\n")
    assert (conflict["code"], conflict["candidates"]) == ("AMBIGUOUS", [4, 6])


def test_a_candidate_that_is_followed_is_the_one_that_changes():
    ends = ["\n"] * 12 + ["\r\n"] * 5
    before = "".join(f"begin{e}  x = 1{e}end{e}" for e in ends).encode()
    first = conflict_of(before, "@@ -40 +40 @@\n-  x = 1\n+  x = 2\n")
    assert 44 in conflict_of(before, "@@ -44 +44 @@\n-  x = 1\n+  x = 2\n")["candidates"]
    assert first["code"] == "AMBIGUOUS"
    again = conflict_of(before, "@@ -43,3 +43,3 @@\n begin\n-  x = 1\n+  x = 2\n end\n")
    lines = before.split(b"\n")
    lines[43] = b"  x = 2\r"
    assert patched(before, again["suggestedHunk"]) == b"\n".join(lines)


def spoilt(rng: random.Random, lines: list[str]) -> str:
    """The lines with endings and trailing blanks of their own, perhaps without the last ending."""
    text = "".join(
        f"{line}{rng.choice(['', '', ' '])}{rng.choice([end, end, chr(13) + chr(10)])}"
        for end in [rng.choice(["\n", "\r\n"])]
        for line in lines
    )
    return text if rng.random() < 0.6 else text.removesuffix("\n").removesuffix("\r")


def test_a_true_number_is_followed_or_refused_and_the_report_leads_there():
    refused = 0
    for seed in range(600):
        rng = random.Random(seed)
        seen = [line for _ in range(6) for line in (*BLOCK, *rng.choices(["mid", ""], k=2))]
        before = spoilt(rng, seen).encode()
        at = 5 * rng.randrange(6)
        patch = f"@@ -{at + 1},3 +{at + 1},3 @@\n begin\n-  x = 1\n+  x = 2\n end\n"
        plan = plan_request(lambda _path, now=before: Before(now), [Entry(patch)])
        if not plan.writes:
            refused += 1
            patch = conflict_details(plan)["conflicts"][0]["suggestedHunk"]
        after = patched(before, patch).split(b"\n")
        meant = before.split(b"\n")
        assert after[at + 1].rstrip() == b"  x = 2", seed
        assert after[at + 1].endswith(b"\r") == meant[at + 1].endswith(b"\r"), seed
        assert [*after[: at + 1], *after[at + 2 :]] == [*meant[: at + 1], *meant[at + 2 :]], seed
    assert 20 < refused < 500
