"""What the engine makes of one diff and one file: the policy, clause by clause."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from functions.apply_patch.engine import Before, check_request, plan_request

PATH = "src/app.py"
TEN = b"".join(b"line %d\n" % n for n in range(1, 11))


@dataclass(frozen=True)
class Entry:
    content: str
    path: str = PATH
    mode: str = "unified_diff"


def plan_of(before: bytes | None, patch: str, **entry: str):
    kind = "missing" if before is None else "file"
    return plan_request(
        lambda _path: Before(before, kind=kind), [Entry(patch, **entry)], root="/srv/repo"
    )


def outcome(before: bytes | None, patch: str, **entry: str) -> bytes | str | None:
    """The new bytes (None = deleted), or the code of the first objection."""
    plan = plan_of(before, patch, **entry)
    if plan.writes:
        return plan.writes[0].data
    return (plan.invalid or plan.conflicts)[0].code


HEADER = f"--- a/{PATH}\n+++ b/{PATH}\n"
CREATION = f"--- /dev/null\n+++ b/{PATH}\n@@ -0,0 +1 @@\n+x\n"

APPLIED = {
    "removed and added lines that look like headers, by count": (
        b"-- x\nkeep\n",
        HEADER + "@@ -1,2 +1,2 @@\n--- x\n+++ y\n keep\n",
        b"++ y\nkeep\n",
    ),
    "a carriage return inside a line": (
        b"beta\rcarriage\ngamma\n",
        "@@ -1,2 +1,2 @@\n beta\rcarriage\n-gamma\n+GAMMA\n",
        b"beta\rcarriage\nGAMMA\n",
    ),
    "a dollar sign is a dollar sign": (
        b"a\nb\n",
        "@@ -1,2 +1,2 @@\n a\n-b\n+'^[sv]d$' $$ \\1 \\n\n",
        b"a\n'^[sv]d$' $$ \\1 \\n\n",
    ),
    "a lost blank does not shift the hunk to another place": (
        b"P = {\n\n  x: 1\n}\nB = {\n  x: 1\n}\n",
        "@@ -1,4 +1,4 @@\n P = {\n\n-  x: 1\n+  x: 2\n }\n",
        b"P = {\n\n  x: 2\n}\nB = {\n  x: 1\n}\n",
    ),
    "counts that are too small": (
        TEN,
        HEADER + "@@ -2,1 +2,1 @@\n line 2\n-line 3\n+LINE 3\n line 4\n",
        TEN.replace(b"line 3", b"LINE 3"),
    ),
    "a +++ line without ---": (
        b"a\nb\n",
        f"+++ b/{PATH}\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n",
        b"a\nB\n",
    ),
    "a quoted name": (
        b"a\n",
        '--- "a/src/app\\056py"\n+++ "b/src/app\\056py"\n@@ -1 +1 @@\n-a\n+b\n',
        b"b\n",
    ),
    "a name below the repository's root": (
        b"a\n",
        f"--- /srv/repo/{PATH}\n+++ /srv/repo/{PATH}\n@@ -1 +1 @@\n-a\n+b\n",
        b"b\n",
    ),
    "a name with the repository's folder in front": (
        b"a\n",
        f"--- a/repo/{PATH}\n+++ b/repo/{PATH}\n@@ -1 +1 @@\n-a\n+b\n",
        b"b\n",
    ),
    "a subversion header": (
        b"a\n",
        f"Index: {PATH}\n=======\n--- {PATH}\t(r1)\n+++ {PATH}\t(mine)\n@@ -1 +1 @@\n-a\n+b\n",
        b"b\n",
    ),
    "a date after a blank": (
        b"a\n",
        f"--- {PATH} 2024-05-01 10:00:00\n+++ {PATH} 2024-05-01 10:00:01\n@@ -1 +1 @@\n-a\n+b\n",
        b"b\n",
    ),
    "V4A without @@": (
        b"a\nb\n",
        f"*** Begin Patch\n*** Update File: {PATH}\n a\n-b\n+B\n*** End Patch\n",
        b"a\nB\n",
    ),
    "V4A deletion": (b"any\nthing\n", f"*** Delete File: {PATH}\n", None),
    "a hunk header that is not closed": (b"a\nb\n", "@@ -1,2 +1,2\n a\n-b\n+B\n", b"a\nB\n"),
    "a hunk header with the old range only": (b"a\nb\n", "@@ -1,2 @@\n a\n-b\n+B\n", b"a\nB\n"),
    "bare context at column 0 beside prefixed context": (
        b"def f():\n    x = 1\n    y = 2\n",
        "@@ -1,3 +1,3 @@\ndef f():\n     x = 1\n-    y = 2\n+    y = 3\n",
        b"def f():\n    x = 1\n    y = 3\n",
    ),
    "a patch stripped at both ends": (
        b"a\nb\n\n",
        "@@ -1,3 +1,3 @@\n a\n-b\n+B",
        b"a\nB\n\n",
    ),
    "trailing blanks the file has and the patch lacks": (
        b"a  \nb\t\nc\n",
        "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n",
        b"a  \nB\nc\n",
    ),
    "a byte-order mark before the patch": (b"a\n", "\ufeff@@ -1 +1 @@\n-a\n+b\n", b"b\n"),
    "insertion above the first line of a file with a byte-order mark": (
        b"\xef\xbb\xbfone\ntwo\n",
        "@@ -1,2 +1,3 @@\n+zero\n one\n two\n",
        b"\xef\xbb\xbfzero\none\ntwo\n",
    ),
    "a hunk without a change beside a real one": (
        TEN,
        "@@ -1,2 +1,2 @@\n line 1\n line 2\n@@ -4,2 +4,2 @@\n line 4\n-line 5\n+LINE 5\n",
        TEN.replace(b"line 5", b"LINE 5"),
    ),
    "appending to a file without final newline, no marker": (
        b"hello\nworld",
        "@@ -1,2 +1,3 @@\n hello\n world\n+tail\n",
        b"hello\nworld\ntail",
    ),
    "appending to a CRLF file without final newline": (
        b"hello\r\nworld",
        "@@ -1,2 +1,3 @@\n hello\n world\n+tail\n",
        b"hello\r\nworld\r\ntail",
    ),
    "a marker that adds the final newline, in a CRLF file": (
        b"a\r\nb",
        "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n",
        b"a\r\nb\r\n",
    ),
    "a removal without context that is unique": (
        TEN,
        "@@ -3 +2,0 @@\n-line 3\n",
        TEN.replace(b"line 3\n", b""),
    ),
    "the only match below a scope line that repeats": (
        b"go:\n  x\ngo:\n  y\n",
        "@@ go:\n-  x\n+  z\n",
        b"go:\n  z\ngo:\n  y\n",
    ),
    "a scope line that is context as well": (
        b"a\ngo:\n  x\n",
        "@@ go:\n a\n go:\n-  x\n+  z\n",
        b"a\ngo:\n  z\n",
    ),
    "scopes one below the other": (
        b"class A:\n go:\n  pass\nclass B:\n run:\n  pass\n go:\n  pass\n",
        "@@ class B:\n@@ go:\n-  pass\n+  return\n",
        b"class A:\n go:\n  pass\nclass B:\n run:\n  pass\n go:\n  return\n",
    ),
    "two hunks that touch without sharing": (
        b"a\nb\nc\nd\n",
        "@@ -1,2 +1,2 @@\n a\n-b\n+B\n@@ -3,2 +3,2 @@\n-c\n+C\n d\n",
        b"a\nB\nC\nd\n",
    ),
    "filling an empty file": (b"", HEADER + "@@ -0,0 +1,2 @@\n+a\n+b\n", b"a\nb\n"),
    "emptying a file": (b"a\n", HEADER + "@@ -1 +0,0 @@\n-a\n", b""),
    "prose with a fenced command before the fenced diff": (
        b"a\n",
        "Run\n```sh\nmake\n```\nthen\n```diff\n@@ -1 +1 @@\n-a\n+b\n```\nand done.\n",
        b"b\n",
    ),
    "a fence that is only closed": (b"a\n", "@@ -1 +1 @@\n-a\n+b\n```\n", b"b\n"),
    "a creation with a mode": (
        None,
        f"diff --git a/{PATH} b/{PATH}\nnew file mode 100755\n" + CREATION,
        b"x\n",
    ),
}

REFUSED = {
    "nothing but headers": (b"a\n", HEADER, "NO_HUNKS"),
    "only context": (b"a\nb\n", "@@ -1,2 +1,2 @@\n a\n b\n", "NO_CHANGES"),
    "a line replaced by itself": (b"a\n", "@@ -1 +1 @@\n-a\n+a\n", "NO_CHANGES"),
    "a bare @@": (b"a\n", "@@\n", "NO_HUNKS"),
    "a context diff": (
        b"a\n",
        f"*** {PATH}\n--- {PATH}\n***************\n*** 1 ****\n! a\n--- 1 ----\n! b\n",
        "NO_HUNKS",
    ),
    "changed lines above the first @@": (
        b"a\nb\n",
        HEADER + "-a\n+A\n@@ -2 +2 @@\n-b\n+B\n",
        "JUNK",
    ),
    "an absolute name": (
        b"a\n",
        "--- /etc/passwd\n+++ /etc/passwd\n@@ -1 +1 @@\n-a\n+b\n",
        "UNSAFE_PATH",
    ),
    "a name of another file": (
        b"a\n",
        "--- a/src/other.py\n+++ b/src/other.py\n@@ -1 +1 @@\n-a\n+b\n",
        "PATH_MISMATCH",
    ),
    "a name that ends like the path, but not at a component": (
        b"a\n",
        "--- a/my_app.py\n+++ b/my_app.py\n@@ -1 +1 @@\n-a\n+b\n",
        "PATH_MISMATCH",
    ),
    "two names": (
        b"a\n",
        f"--- a/src/old.py\n+++ b/{PATH}\n@@ -1 +1 @@\n-a\n+b\n",
        "RENAME_UNSUPPORTED",
    ),
    "a copy": (
        b"a\n",
        f"diff --git a/{PATH} b/src/new.py\ncopy from {PATH}\ncopy to src/new.py\n",
        "RENAME_UNSUPPORTED",
    ),
    "a submodule": (
        None,
        f"diff --git a/{PATH} b/{PATH}\nnew file mode 160000\n",
        "UNSUPPORTED_MODE",
    ),
    "V4A for two files": (
        b"a\n",
        f"*** Update File: {PATH}\n@@\n-a\n+b\n*** Update File: src/x.py\n@@\n-a\n+b\n",
        "MULTIPLE_FILES",
    ),
    "a file deleted and created": (
        b"a\n",
        f"--- a/{PATH}\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n" + CREATION,
        "MULTIPLE_FILES",
    ),
    "two files whose names both end like the path": (
        b"a\n",
        "".join(f"--- {d}/{PATH}\n+++ {d}/{PATH}\n@@ -1 +1 @@\n-a\n+b\n" for d in "xy"),
        "MULTIPLE_FILES",
    ),
    "creation over an empty file": (b"", CREATION, "ALREADY_EXISTS"),
    "deletion of a missing file": (None, f"*** Delete File: {PATH}\n", "FILE_NOT_FOUND"),
    "deletion that leaves lines": (
        TEN,
        f"--- a/{PATH}\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-line 1\n-line 2\n",
        "DELETE_LEAVES_CONTENT",
    ),
    "other indentation": (
        b"def f():\n    pass\n",
        "@@ -1,2 +1,2 @@\n def f():\n-   pass\n+   x\n",
        "CONTEXT_MISMATCH",
    ),
    "an en dash": (
        "10 \u2013 20\n".encode(),
        "@@ -1 +1 @@\n-10 - 20\n+10 - 30\n",
        "CONTEXT_MISMATCH",
    ),
    "an insertion at a stated line": (TEN, "@@ -4,0 +5 @@\n+new\n", "UNANCHORED_INSERT"),
    "an insertion beside separators only": (
        b"a\n\nb\n",
        "@@ -2,9 +2,9 @@\n\n+new\n\n",
        "UNANCHORED_INSERT",
    ),
    "a removal without context at the stated line, twice in the file": (
        b"x\ny\nx\n",
        "@@ -3 +2,0 @@\n-x\n",
        "AMBIGUOUS",
    ),
    "blank context at the stated line, twice in the file": (
        b"\nx\n\nx\n",
        "@@ -1,2 +1,2 @@\n \n-x\n+y\n",
        "AMBIGUOUS",
    ),
    "the stated line and the drift both fit": (
        b"n\nhead\nx\ny\nx\ny\n".replace(b"n\n", b"n\nn\n"),
        "@@ -1,2 +1,2 @@\n-head\n+HEAD\n x\n@@ -4,2 +4,2 @@\n x\n-y\n+Y\n",
        "AMBIGUOUS",
    ),
    "a scope line that is not there": (b"f\nx\ng\nx\n", "@@ class Z:\n-x\n+y\n", "AMBIGUOUS"),
    "the only match is in another scope": (
        b"class A:\n  x\nclass B:\n  y\n",
        "@@ class B:\n-  x\n+  z\n",
        "SCOPE_MISMATCH",
    ),
    "the only match and a scope that is not there": (
        b"class A:\n  x\n",
        "@@ class Z:\n-  x\n+  z\n",
        "SCOPE_MISMATCH",
    ),
    "the only match and scopes in the wrong order": (
        b"go:\nclass A:\n  x\n",
        "@@ class A:\n@@ go:\n-  x\n+  z\n",
        "SCOPE_MISMATCH",
    ),
    "a new state given as context": (
        b"a\nb\nc\n",
        "@@ -1,3 +1,4 @@\n a\n B\n+x\n c\n",
        "CONTEXT_MISMATCH",
    ),
    "an insertion on both sides of one line pair": (
        b"c\nd\n",
        "@@ -1 +1,2 @@\n c\n+one\n@@ -2 +2,2 @@\n+two\n d\n",
        "OVERLAP",
    ),
    "a hunk within the context of another": (
        TEN,
        "@@ -1,3 +1,3 @@\n-line 1\n+x\n line 2\n line 3\n@@ -3 +3 @@\n-line 3\n+y\n",
        "OVERLAP",
    ),
    "a change already made, as an insertion": (
        b"a\nnew\nb\n",
        "@@ -1,2 +1,3 @@\n a\n+new\n b\n",
        "ALREADY_APPLIED",
    ),
    "a binary file": (b"\0\1", "@@ -1 +1 @@\n-a\n+b\n", "BINARY"),
    "a NUL in the patch": (b"a\n", "@@ -1 +1 @@\n-a\n+b\0\n", "BAD_TEXT"),
}


@pytest.mark.parametrize(("before", "patch", "after"), APPLIED.values(), ids=APPLIED)
def test_applies(before, patch, after):
    assert outcome(before, patch) == after


@pytest.mark.parametrize(("before", "patch", "code"), REFUSED.values(), ids=REFUSED)
def test_refuses(before, patch, code):
    assert outcome(before, patch) == code


def test_modes_set_the_executable_bit_and_nothing_else_does():
    to_executable = f"diff --git a/{PATH} b/{PATH}\nold mode 100644\nnew mode 100755\n"
    write = plan_of(b"a\n", to_executable).writes[0]
    assert (write.action, write.data, write.executable) == ("modify", b"a\n", True)
    assert plan_of(b"a\n", "@@ -1 +1 @@\n-a\n+b\n").writes[0].executable is None


def test_a_stated_line_wins_over_equal_places_and_the_offset_is_told():
    block = "x = 1\ny = 2\n"
    stated = plan_of((block * 3).encode(), "@@ -3,2 +3,2 @@\n x = 1\n-y = 2\n+y = 3\n").writes[0]
    assert stated.data == b"x = 1\ny = 2\nx = 1\ny = 3\nx = 1\ny = 2\n"
    shifted = plan_of(b"new\n" + TEN, "@@ -2,2 +2,2 @@\n line 2\n-line 3\n+LINE 3\n").writes[0]
    place = shifted.hunks[0]
    assert (place.hunk, place.line, place.offset, place.tier) == (1, 3, 1, 0)


def test_every_leniency_leaves_a_note():
    patch = "Sure!\n```diff\n@@ -9,9 +9,9 @@\na\n-b\n+B\n```\n"
    notes = plan_of(b"a\r\nb\r\n", patch).writes[0].notes
    assert len(notes) == 5, notes


def test_bytes_that_are_not_utf8_survive():
    before = b"caf\xe9\n" + TEN + b"\xff\xfe"
    after = outcome(before, "@@ -2,2 +2,2 @@\n line 1\n-line 2\n+LINE 2\n")
    assert after == before.replace(b"line 2", b"LINE 2")


def test_replace_full_is_literal_and_says_what_looks_wrong():
    text = "```diff\n@@ -1 +1 @@\r\n# ... rest of the code unchanged\n"
    write = plan_of(b"old\n", text, mode="replace_full").writes[0]
    assert write.data == text.encode()
    assert len(write.notes) == 2, write.notes


def test_equal_content_is_unchanged():
    assert plan_of(b"a\n", "a\n", mode="replace_full").writes[0].action == "unchanged"


@pytest.mark.parametrize(
    "path", ["", "/etc/passwd", "../x", "a/../b", "a\\b", ".git/config", "sub/.GIT/x", "a\0b"]
)
def test_unsafe_entry_paths_are_invalid(path):
    assert check_request([Entry("x", path=path, mode="replace_full")])[0].code == "UNSAFE_PATH"


def test_paths_are_normalised_before_they_are_read():
    asked = []

    def read(path: str) -> Before:
        asked.append(path)
        return Before(None, kind="missing")

    plan = plan_request(read, [Entry("x\n", path="./a//b.txt", mode="replace_full")])
    assert asked == ["a/b.txt"]
    assert plan.writes[0].path == "a/b.txt"


def test_symlinks_are_reported_apart_and_stop_every_write():
    kinds = {"link": Before(None, kind="symlink"), "a.txt": Before(b"a\n")}
    entries = [
        Entry("b\n", path="a.txt", mode="replace_full"),
        Entry("x", path="link", mode="replace_full"),
    ]
    plan = plan_request(kinds.__getitem__, entries)
    assert plan.forbidden == ["link"]
    assert not plan.writes
