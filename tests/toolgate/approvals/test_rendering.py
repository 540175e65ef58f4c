"""A stored call as a person reads it: everything is there, and nothing is obeyed."""

from __future__ import annotations

import random
import subprocess
import time

import pytest

from toolgate.approvals.client import Statement
from toolgate.approvals.folding import OPEN_LINES, leaves, parts
from toolgate.approvals.lines import changed, sent_diff, whole
from toolgate.approvals.rendering import blocks, questions

PINNED = {"repoRoot": "/w/app", "expectedRevision": "4-ab"}
DIFF = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-- old\n+++ new\n keep\n\\ No newline at end of file\n"


def statement(tool, **args):
    return Statement("", "1:0", tool, 1, args)


def patch(*files, **changes):
    return statement("apply_patch", **{**PINNED, **changes}, files=list(files))


def replaced(content, path="ci.yml"):
    return {"mode": "replace_full", "path": path, "content": content}


def seen(call, before=None, released=None):
    return blocks(call, before or {}, released)


def text_of(block):
    return "\n".join(f"{line.sign}{line.text}" for p in block.passages for line in p.lines)


def everything(found):
    """All texts of all blocks."""
    said = []
    for block in found:
        said += [block.title, block.label, *block.said, *block.warnings, text_of(block)]
        said += [f"{fact.name} {fact.value}" for fact in block.facts]
    return "\n".join(said)


def test_a_diff_is_shown_as_it_was_sent_and_its_lines_by_what_they_do():
    (_, block) = seen(patch({"mode": "unified_diff", "path": "x", "content": DIFF}))
    assert text_of(block) + "\n" == DIFF
    assert [line.kind for line in sent_diff(DIFF)] == [
        *("about", "about", "hunk", "removed", "added", "context", "about"),
    ]
    assert block.label == "Changed by a diff"


@pytest.mark.parametrize(
    ("header", "label"),
    [("--- /dev/null\n+++ b/x\n", "Created by a diff"), ("--- a/x\n+++ /dev/null\n", "Deleted by")],
)
def test_a_diff_that_creates_or_deletes_says_so(header, label):
    sent = {"mode": "unified_diff", "path": "x", "content": f"{header}@@ -0,0 +1 @@\n+a\n"}
    assert seen(patch(sent))[1].label.startswith(label)


def test_a_replaced_file_is_compared_with_what_it_holds():
    before = {"ci.yml": {"state": "text", "text": "a\nb\nc\n", "revision": "4-ab"}}
    (facts, block) = seen(patch(replaced("a\nB\nc\n")), before)
    assert text_of(block) == "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c"
    assert "4-ab" in block.said[0]
    assert "what you see is what will be" in facts.said[0]


def test_without_a_revision_the_whole_new_text_is_there_too():
    before = {"ci.yml": {"state": "text", "text": "a\n" * 50, "revision": "4-ab"}}
    write = statement("write_file", repoRoot="/w", path="ci.yml", content="a\n" * 50 + "b\n")
    (facts, block) = seen(write, before)
    assert [passage.title for passage in block.passages] == ["Difference", "The whole new text"]
    assert len(block.passages[1].lines) == 51
    assert "files may change before it is made" in facts.said[0]


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ({"state": "missing"}, "no such file yet"),
        ({"state": "binary"}, "is no text"),
        ({"state": "too_large"}, "too large to be compared"),
        ({"state": "other"}, "no ordinary file"),
        ({"state": "unread", "text": "NOT_FOUND: \x1bgone"}, "NOT_FOUND: ⟨ESC⟩gone"),
        ({"state": "text", "text": "new\n"}, "exactly this text already"),
        ({"state": "text", "text": "old\n" * 2000}, "+new"),
        (None, "could not be read"),
    ],
)
def test_whatever_a_file_holds_now_the_new_text_is_shown(before, said):
    (_, block) = seen(patch(replaced("new\n")), {"ci.yml": before} if before else {})
    assert "+new" in text_of(block)
    assert said in everything([block])


def test_deleting_and_moving_are_said_in_words():
    move = {"mode": "move", "path": "a", "newPath": "\u0430b"}
    (_, gone, moved) = seen(patch({"mode": "delete", "path": "old"}, move))
    assert (gone.title, gone.label) == ("old", "Deleted")
    assert (moved.label, moved.facts[0].value) == ("Moved", "\u0430b")
    assert "The new path mixes letters" in moved.warnings[0]


def test_a_release_is_a_table_and_its_history():
    row = {"revision": "2-b", "tool": "apply_patch", "by": "dana", "at": "2026-12-01T10:00:00Z",
           "message": "fix\x1b[2J", "paths": ["a", "\u202eb"], "more": 7}  # fmt: skip
    call = statement("release.publish", repoRoot="/w", revision="2-b", name="api", version="1.0.0")
    facts, history = seen(call, released={"revision": "2-b", "fileCount": 1, "log": [row]})
    assert [(fact.name, fact.value) for fact in facts.facts] == [
        ("Workspace", "/w"), ("Release", "api"), ("Version", "1.0.0"), ("Revision", "2-b"),
    ]  # fmt: skip
    assert history.said[0] == "The revision holds 1 file."
    (shown,) = history.rows
    assert (shown.message, shown.paths, shown.more) == ("fix⟨ESC⟩[2J", ("a", "⟨U+202E⟩b"), 7)


def test_a_tool_without_a_view_is_shown_as_json():
    call = statement("demo.gated", note="a\u202eb", nested={"list": [1, True, None]})
    assert '"note": "a⟨U+202E⟩b"' in everything(seen(call))
    assert questions(call).paths == ()


@pytest.mark.parametrize(
    "call",
    [
        patch(replaced("new"), surprise={"deep": ["hidden-1"]}, other="hidden-2"),
        patch({**replaced("new"), "extra": "hidden-1 hidden-2"}),
        patch({"mode": "explode", "path": "hidden-1", "with": "hidden-2"}),
        patch({"mode": "move", "path": "hidden-1", "newPath": "b", "note": "hidden-2"}),
        patch({"mode": "delete", "path": 7, "note": ["hidden-1", "hidden-2"]}),
        statement("apply_patch", files="hidden-1 hidden-2"),
        statement("write_file", path=["hidden-1"], content="hidden-2"),
        statement("write_file", path="hidden-1", content="x", more="hidden-2"),
        statement("release.publish", name=["hidden-1"], other={"a": "hidden-2"}),
    ],
)
def test_nothing_of_the_arguments_is_left_out_however_odd_they_are(call):
    questions(call)
    shown = everything(seen(call))
    assert "hidden-1" in shown
    assert "hidden-2" in shown


def test_differences_are_what_git_applies(tmp_path):
    """Random edits of a file, with and without its last line break, taken over by git."""
    chance = random.Random(7)
    for _ in range(12):
        old = [f"{chance.choice('abc')}{n % 7}" for n in range(40)]
        new = [
            chance.choice((one, one, one, "new", f"{one}!")) for one in old if chance.random() > 0.1
        ]
        before = "\n".join(old) + chance.choice(("", "\n"))
        after = "\n".join(new) + chance.choice(("", "\n"))
        (tmp_path / "f").write_text(before)
        body = "".join(f"{line.sign}{line.text}\n" for line in changed(before, after))
        diff = f"--- a/f\n+++ b/f\n{body}"
        done = subprocess.run(
            ["git", "apply", "-"],
            cwd=tmp_path,
            input=diff,
            text=True,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, (done.stderr, diff)
        assert (tmp_path / "f").read_text() == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x" * 1_000_000, "y" * 500_000),
        ("a\n" * 90_000, "a\n" * 50_000),
        ("".join(f"{n % 2}\n" for n in range(999)), "".join(f"{n % 3 % 2}\n" for n in range(999))),
        ("".join(f"{n % 2}\n" for n in range(99)), "".join(f"{n % 3 % 2}\n" for n in range(99))),
        ("same\n" * 5000, "other\nsame\n" * 150),
        ("".join(f"{n}\n" for n in range(30_000)), "".join(f"{n + 1}!\n" for n in range(30_000))),
    ],
)
def test_no_two_texts_take_long_to_compare(before, after):
    began = time.process_time()
    found = changed(before, after)
    assert time.process_time() - began < 5
    kinds = {line.kind: line for line in found}
    assert {"added", "removed"} & set(kinds)


def test_two_edits_far_apart_in_a_long_file_are_two_hunks():
    old = [f"line {n}\n" for n in range(50_000)]
    new = [*old[:10], "new\n", *old[10:40_000], *old[40_001:]]
    found = changed("".join(old), "".join(new))
    assert [line.kind for line in found].count("hunk") == 2
    assert len(found) == 2 + 1 + 1 + 12


def test_folding_drops_nothing():
    text = "".join(f"line {n}\n" for n in range(1000)) + "x" * 500_000
    (_, part) = parts(seen(patch(replaced(text)), {"ci.yml": {"state": "missing"}}))
    (passage,) = part.passages
    assert (passage.count, len(passage.open)) == (1002, OPEN_LINES)
    assert passage.folded_lines == 1002 - OPEN_LINES
    assert [*passage.open, *passage.folded] == whole(text)


def test_a_long_line_is_cut_at_the_fold_and_goes_on_below():
    (_, part) = parts(seen(patch(replaced("x" * 500_000))))
    (passage,) = part.passages
    joined = "".join(line.text for line in [*passage.open, *passage.folded][:2])
    assert joined == "x" * 500_000
    assert (passage.open[0].sign, passage.folded[0].sign) == ("+", "↳")


def test_what_is_too_much_for_one_page_is_all_on_pages_of_its_own():
    text = "\n" * 50_000
    shown = seen(patch(replaced("small\n", "a"), replaced(text, "b"), replaced("end\n", "c")))
    found = parts(shown)
    assert [part.elsewhere for part in found] == [0, 0, 50_000, 0]
    pages = leaves(shown[2])
    assert [(leaf.first, leaf.last) for leaf in pages] == [
        (1, 20_000), (20_001, 40_000), (40_001, 50_000),
    ]  # fmt: skip
    assert [line for leaf in pages for line in leaf.lines] == whole(text)
