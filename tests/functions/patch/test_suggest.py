"""What a conflict suggests: it keeps what the hunk did not name, and never guesses."""

from __future__ import annotations

import random

import pytest

from functions.apply_patch.engine import Before, conflict_details, plan_request
from tests.functions.patch.test_report import Entry, one_conflict, patched


def test_a_line_that_the_hunk_left_out_becomes_context():
    before = b"a\nb\nc\nd\nKEEP\nremove\nend\n"
    conflict = one_conflict(before, "@@ -1,5 +1,4 @@\n a\n b\n c\n d\n-remove\n")
    assert conflict["closest"]["firstDiff"]["kind"] == "extra-in-file"
    assert conflict["suggestedHunk"] == ("@@ -1,6 +1,5 @@\n a\n b\n c\n d\n KEEP\n-remove\n")


def test_what_a_removed_line_is_replaced_by_stays_with_it():
    before = b"a\nb\nKEEP\nc\nd\n"
    conflict = one_conflict(before, "@@ -1,4 +1,4 @@\n a\n-b\n+B\n c\n d\n")
    assert patched(before, conflict["suggestedHunk"]) == b"a\nB\nKEEP\nc\nd\n"


def test_context_that_the_file_lacks_is_left_out():
    before = b"a\nb\nc\nd\ne\n"
    conflict = one_conflict(before, "@@ -1,6 +1,5 @@\n a\n b\n gone\n c\n-d\n e\n")
    assert conflict["suggestedHunk"] == "@@ -1,5 +1,4 @@\n a\n b\n c\n-d\n e\n"


@pytest.mark.parametrize(
    "body",
    [
        " a\n b\n c\n d\n-other\n",  # names a line that is not there
        " a\n b\n c\n-other\n KEEP\n",
        " a\n b\n c\n d\n+new\n remove\n",  # above KEEP or below it?
        " a\n b\n c\n-d\n-remove\n+new\n",  # what of KEEP?
    ],
)
def test_nothing_is_suggested_that_has_to_be_guessed(body):
    before = b"a\nb\nc\nd\nKEEP\nremove\nend\n"
    conflict = one_conflict(before, f"@@ -1 +1 @@\n{body}")
    assert conflict["code"] == "CONTEXT_MISMATCH"
    assert "suggestedHunk" not in conflict


def test_no_suggestion_for_a_hunk_that_left_a_line_out_removes_what_it_did_not_name():
    suggested = conflicts = 0
    for seed in range(400):
        rng = random.Random(seed)
        names = rng.choice([12, 1_000])
        lines = [f"{' ' * rng.choice([0, 2])}step {rng.randrange(names)}" for _ in range(20)]
        at, size = rng.randint(0, 12), rng.randint(5, 8)
        removed = set(rng.sample(range(size), rng.randint(1, 2)))
        left_out = rng.choice([i for i in range(1, size - 1) if i not in removed] or [0])
        if not left_out:
            continue
        old = [i for i in range(size) if i != left_out]
        body = "".join(f"{'-' if i in removed else ' '}{lines[at + i]}\n" for i in old)
        before = "".join(f"{line}\n" for line in lines)
        plan = plan_request(
            lambda _p, now=before: Before(now.encode()), [Entry(f"@@ -{at + 1} @@\n{body}")]
        )
        if plan.writes:
            continue  # the rest stands elsewhere
        conflict = conflict_details(plan)["conflicts"][0]
        conflicts += conflict["code"] == "CONTEXT_MISMATCH"
        if conflict["code"] == "CONTEXT_MISMATCH" and "suggestedHunk" in conflict:
            suggested += 1
            kept = [line for i, line in enumerate(lines) if i - at not in removed]
            after = patched(before.encode(), conflict["suggestedHunk"]).decode()
            assert after == "".join(f"{line}\n" for line in kept), seed
    assert suggested > 0.8 * conflicts > 200
