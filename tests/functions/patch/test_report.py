"""The conflict report: what it says, that one turn can act on it, and that it stays small."""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import dataclass

import pytest

from functions.apply_patch.engine import Before, conflict_details, plan_request

MAX_BYTES = 8_000


@dataclass(frozen=True)
class Entry:
    content: str
    path: str = "app.py"
    mode: str = "unified_diff"


def report_of(before: bytes, patch: str):
    plan = plan_request(lambda _path: Before(before), [Entry(patch)])
    assert not plan.writes
    return conflict_details(plan)


def patched(before: bytes, patch: str) -> bytes:
    plan = plan_request(lambda _path: Before(before), [Entry(patch)])
    return plan.writes[0].data


def one_conflict(before: bytes, patch: str):
    return report_of(before, patch)["conflicts"][0]


FILE = b"""import sys


def load(path):
    return open(path).read()


def main():
    data = load(sys.argv[1])
    data = data.strip()
    print(data)
    return 0
"""


def test_report_names_hunk_place_difference_and_remedy():
    patch = """--- a/app.py
+++ b/app.py
@@ -1,1 +1,2 @@
 import sys
+import os
@@ -7,5 +8,5 @@ def main():
 def main():
     data = load(argv[1])
     data = data.strip()
-    print(data)
+    print(data, end="")
     return 0
"""
    hint = (
        "Line 9 of the file differs from line 8 of your patch. suggestedHunk has the file's lines; "
        "check its '+' lines before you send it. Nothing was written. Copy the file's lines "
        "exactly and send the request again. Hunks of this file that fit: 1."
    )
    assert report_of(FILE, patch) == {
        "conflicts": [
            {
                "path": "app.py",
                "fileSha256": hashlib.sha256(FILE).hexdigest(),
                "lineCount": 12,
                "eol": "lf",
                "finalNewline": True,
                "code": "CONTEXT_MISMATCH",
                "hunk": 2,
                "header": "@@ -7,5 +8,5 @@ def main():",
                "patchLine": 6,
                "expectedAt": 7,
                "closest": {
                    "startLine": 8,
                    "endLine": 12,
                    "matchedLines": 4,
                    "ofLines": 5,
                    "firstDiff": {
                        "patchLine": 8,
                        "fileLine": 9,
                        "expected": "    data = load(argv[1])",
                        "actual": "    data = load(sys.argv[1])",
                        "kind": "content",
                    },
                },
                "actual": "\n".join(
                    f"{n}| {line}" for n, line in enumerate(FILE.decode().splitlines(), 1)
                ),
                "suggestedHunk": (
                    "@@ -8,5 +8,5 @@\n def main():\n     data = load(sys.argv[1])\n"
                    '     data = data.strip()\n-    print(data)\n+    print(data, end="")\n'
                    "     return 0\n"
                ),
                "hint": hint,
            }
        ],
        "fits": [],
        "omitted": 0,
    }


KINDS = {
    "indentation": ("    x = 1", "  x = 1"),
    "inner-whitespace": ("x = f(1, 2)", "x = f(1,2)"),
    "trailing-whitespace": ("x\f", "x"),
    "typographic-characters": ("say “hi”", 'say "hi"'),
    "html-escaping": ("if a < b:", "if a &lt; b:"),
    "line-number-prefix": ("status = 1", "12| status = 1"),
    "letter-case": ("Total = 1", "total = 1"),
    "content": ("x = 1", "x = 2"),
}


@pytest.mark.parametrize(("kind", "actual", "expected"), [(k, *v) for k, v in KINDS.items()])
def test_kind_says_how_the_lines_differ(kind, actual, expected):
    before = f"above\n{actual}\nbelow\n".encode()
    patch = f"@@ -1,3 +1,3 @@\n above\n-{expected}\n+new\n below\n"
    first = one_conflict(before, patch)["closest"]["firstDiff"]
    assert first == {
        "patchLine": 3,
        "fileLine": 2,
        "expected": expected,
        "actual": actual,
        "kind": kind,
    }


@pytest.mark.parametrize("kind", ["typographic-characters", "html-escaping", "line-number-prefix"])
def test_the_place_is_found_even_if_no_line_is_equal(kind):
    actual, expected = KINDS[kind]
    filler = "".join(f"filler {n}\n" for n in range(40))
    before = f"{filler}{actual}\n{filler}".encode()
    first = one_conflict(before, f"@@ -3 +3 @@\n-{expected}\n+new\n")["closest"]["firstDiff"]
    assert (first["fileLine"], first["kind"]) == (41, kind)


def test_a_line_too_many_or_too_few_is_told_from_a_different_one():
    before = b"head\nfoo\nbaz\nqux\ntail\n"
    missing = one_conflict(before, "@@ -2,4 +2,4 @@\n foo\n-bar\n+x\n baz\n qux\n")
    first = missing["closest"]["firstDiff"]
    assert (first["kind"], first["patchLine"], first["fileLine"]) == ("missing-in-file", 3, 3)
    extra = one_conflict(before, "@@ -2,2 +2,2 @@\n foo\n-qux\n+x\n tail\n")
    first = extra["closest"]["firstDiff"]
    assert (first["kind"], first["fileLine"], first["actual"]) == ("extra-in-file", 3, "baz")
    past = one_conflict(before, "@@ -4,3 +4,3 @@\n qux\n tail\n-more\n+x\n")
    assert past["closest"]["firstDiff"]["kind"] == "past-end"


def test_shown_lines_surround_the_first_difference_not_the_head_of_the_hunk():
    lines = [f"line {n}" for n in range(1, 101)]
    old = "".join(f" {line}\n" for line in lines[9:30])
    patch = f"@@ -10,22 +10,22 @@\n{old}-line XX\n+new\n"
    shown = one_conflict(("\n".join(lines) + "\n").encode(), patch)["actual"].split("\n")
    assert len(shown) == 12
    assert "31| line 31" in shown


def test_nothing_alike_shows_the_stated_place():
    before = b"".join(b"%d%d%d\n" % (n, n, n) for n in range(100, 130))
    conflict = one_conflict(before, "@@ -20,2 +20,2 @@\n def f():\n-    return\n+    pass\n")
    assert "closest" not in conflict
    assert "20| 119119119" in conflict["actual"]


def test_ambiguity_lists_the_places_and_what_they_stand_in():
    before = b"class A:\n  def go():\n    x = 1\nclass B:\n  def run():\n    x = 1\n"
    conflict = one_conflict(before, "@@\n-    x = 1\n+    x = 2\n")
    assert conflict["code"] == "AMBIGUOUS"
    assert conflict["candidates"] == [3, 6]
    assert conflict["candidateScopes"] == ["class A: > def go():", "class B: > def run():"]
    assert conflict["candidateLines"] == [
        "1| class A:\n2|   def go():\n4| class B:\n5|   def run():",
        "4| class B:\n5|   def run():",
    ]


def test_a_candidate_with_the_lines_beside_it_is_a_place():
    before = b"class A:\n  def go():\n    x = 1\nclass B:\n  def run():\n    x = 1\n"
    patch = "@@ -5,2 +5,2 @@\n   def run():\n-    x = 1\n+    x = 2\n"
    assert patched(before, patch).endswith(b"    x = 2\n")


def test_the_candidates_next_to_the_stated_line_are_shown():
    before = b"same\n" * 40
    conflict = one_conflict(before, "@@ -31 +31 @@\n-same\n+other\n")
    assert conflict["candidates"] == list(range(25, 37))


def test_added_lines_alone_are_shown_the_place_that_their_header_names():
    before = b"".join(b"line %d\n" % n for n in range(1, 41)) + b"def last():\n    pass\n"
    numbered = one_conflict(before, "@@ -20,0 +21 @@\n+new\n")
    assert numbered["code"] == "UNANCHORED_INSERT"
    assert numbered["actual"].split("\n")[4:7] == ["19| line 19", "20| line 20", "21| line 21"]
    assert numbered["hint"].startswith("The header's number points at line 20")
    named = one_conflict(before, "@@ def last():\n+    new\n")
    assert "41| def last():" in named["actual"]
    unknown = one_conflict(before, "@@ def first():\n+    new\n")
    assert "actual" not in unknown


def test_overlapping_hunks_are_told_where_both_go():
    before = b"".join(b"line %d\n" % n for n in range(1, 10))
    patch = "@@ -2,2 +2,2 @@\n line 2\n-line 3\n+three\n@@ -3,2 +3,2 @@\n line 3\n-line 4\n+four\n"
    conflict = one_conflict(before, patch)
    assert conflict["code"] == "OVERLAP"
    assert (conflict["hunk"], conflict["startLine"]) == (2, 3)
    assert conflict["joinWith"] == {"hunk": 1, "startLine": 2}


@pytest.mark.parametrize(
    ("spoil", "kind"),
    [
        (lambda line: f"{line[0]}   7\t{line[1:]}", "line-number-prefix"),
        (lambda line: line.replace("<", "&lt;").replace(">", "&gt;"), "html-escaping"),
    ],
)
def test_a_suggestion_leaves_out_what_was_put_on_every_line(spoil, kind):
    before = b"if a < b:\n    one(a > 1)\n    two(a > 2)\n"
    body = [" if a < b:", "     one(a > 1)", "-    two(a > 2)", "+    three(a > 3)"]
    patch = "@@ -1,3 +1,3 @@\n" + "".join(spoil(line) + "\n" for line in body)
    conflict = one_conflict(before, patch)
    assert conflict["closest"]["firstDiff"]["kind"] == kind
    after = patched(before, conflict["suggestedHunk"])
    assert after == b"if a < b:\n    one(a > 1)\n    three(a > 3)\n"


def test_a_replay_names_the_line_where_the_change_stands():
    conflict = one_conflict(b"top\na\nnew\nb\n", "@@ -1,2 +1,3 @@\n a\n+new\n b\n")
    assert (conflict["code"], conflict["appliedAt"]) == ("ALREADY_APPLIED", 2)
    assert "drop this hunk" in conflict["hint"]


def test_a_missing_file_names_similar_paths():
    plan = plan_request(
        lambda _path: Before(None, kind="missing"),
        [Entry("@@ -1 +1 @@\n-a\n+b\n")],
        similar=lambda path: [f"src/{path}", f"lib/{path}"],
    )
    conflict = conflict_details(plan)["conflicts"][0]
    assert conflict["code"] == "FILE_NOT_FOUND"
    assert conflict["similarPaths"] == ["src/app.py", "lib/app.py"]


def test_all_conflicts_of_all_files_are_reported_and_what_fits_beside_them():
    files = {"a": b"1\n2\n3\n4\n5\n6\n", "b": b"x\ny\n", "c": b"x\ny\n"}
    entries = [
        Entry("@@ -1,2 +1,2 @@\n 1\n-zwei\n+Z\n@@ -5,2 +5,2 @@\n 5\n-sechs\n+S\n", "a"),
        Entry("@@ -1,2 +1,2 @@\n x\n-y\n+Y\n", "b"),
        Entry("@@ -1,2 +1,2 @@\n x\n-ypsilon\n+Y\n", "c"),
    ]
    plan = plan_request(lambda path: Before(files[path]), entries)
    details = conflict_details(plan)
    assert [(c["path"], c["hunk"]) for c in details["conflicts"]] == [("a", 1), ("a", 2), ("c", 1)]
    assert details["fits"] == [{"path": "b", "hunks": 1}]
    assert not plan.writes


def test_suggested_hunk_applies_as_it_stands_in_the_next_turn():
    suggested = 0
    for seed in range(200):
        rng = random.Random(seed)
        end = rng.choice(["\n", "\r\n"])
        lines = [f"{' ' * rng.randint(0, 8)}statement {n}({rng.random()})" for n in range(40)]
        before = end.join(lines) + rng.choice([end, ""])
        at, size = rng.randint(0, 30), rng.randint(5, 9)
        old = lines[at : at + size]
        removed = rng.randrange(size)
        wrong = rng.randrange(size)
        old[wrong] = rng.choice([old[wrong].strip() + " # stale", "  " + old[wrong]])
        body = [
            f"-{line}\n+added\n" if i == removed else f" {line}\n" for i, line in enumerate(old)
        ]
        patch = f"@@ -{rng.randint(1, 40)},{size} +1,{size} @@\n{''.join(body)}"
        conflict = one_conflict(before.encode(), patch)
        assert conflict["code"] == "CONTEXT_MISMATCH"
        assert conflict["closest"]["firstDiff"]["fileLine"] == at + wrong + 1
        if "suggestedHunk" not in conflict:
            continue
        suggested += 1
        lines[at + removed] = "added"
        after = patched(before.encode(), conflict["suggestedHunk"]).decode()
        assert after.split(end)[: len(lines)] == lines, seed
    assert suggested > 150


def test_report_of_forty_hopeless_files_stays_within_its_bounds():
    line = "日本語 \ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16") * 500
    before = "".join(f"{n} {line}\n" for n in range(30)).encode() + b"\xff\xfe\n"
    body = "".join(f" {n} {line}\n" for n in range(3, 9))
    good = "@@ -2,2 +2,2 @@\n" + f" 1 {line}\n-2 {line}\n+x\n"
    paths = [f"{'ordner/' * 120}{n}.txt" for n in range(40)]
    entries = [
        Entry(f"@@ -4,7 +4,7 @@\n{body}-{n} other\n+{line}\n" if n % 2 else good, path)
        for n, path in enumerate(paths)
    ]
    plan = plan_request(lambda _path: Before(before), entries)
    details = conflict_details(plan)
    assert len(json.dumps(details)) <= MAX_BYTES
    assert 1 <= len(details["conflicts"]) <= 10
    assert len(details["conflicts"]) + details["omitted"] == len(plan.conflicts) == 20
    assert len(details["fits"]) + details["fitsOmitted"] == 20
    json.dumps(details, ensure_ascii=False).encode()


def test_long_lines_are_cut_with_a_count():
    before = b"above\n" + b"x" * 5_000 + b"\nbelow\n"
    patch = "@@ -1,3 +1,3 @@\n above\n-" + "y" * 400 + "\n+new\n below\n"
    first = one_conflict(before, patch)["closest"]["firstDiff"]
    assert first["expected"] == "y" * 300 + "…(+100 characters)"
    assert first["actual"] == "x" * 300 + "…(+4700 characters)"


def test_bytes_that_are_not_utf8_do_not_break_the_report():
    conflict = one_conflict(b"a\ncaf\xe9\nb\n", "@@ -1,3 +1,3 @@\n a\n-cafe\n+x\n b\n")
    assert conflict["closest"]["firstDiff"]["actual"] == "caf\ufffd"
    json.dumps(conflict, ensure_ascii=False).encode()


def test_invalid_entries_name_path_code_and_patch_line():
    plan = plan_request(
        lambda _path: Before(b""), [Entry("--- a/app.py\n+++ b/app.py\n@@ -1 +1 @@\n")]
    )
    assert plan.invalid[0].to_dict() == {
        "path": "app.py",
        "code": "EMPTY_HUNK",
        "patchLine": 3,
        "hint": "Nothing follows this '@@' line.",
    }
