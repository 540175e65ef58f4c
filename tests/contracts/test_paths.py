"""Which paths are refused, and that the reason is one a person can read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.types import path_problem

HOSTILE = [
    "/etc/passwd",
    "//server/share",
    "../x",
    "a/../../x",
    "a/..",
    "..",
    ".",
    "./a",
    "a/./b",
    "",
    "a//b",
    "a/",
    "a\\b",
    "..\\x",
    "C:/x",
    "c:x",
    "a\0b",
    "a\nb",
    "a\x7fb",
    "a\ud800b",
    ".git",
    ".git/config",
    "a/.git/hooks/pre-commit",
    ".GIT/config",
    ".Git",
    ".g\u200cit/config",
    "\u2060.git",
    ".g\u034fit/config",
    ".git\ufe0f/config",
    ".\u3164git",
    ".gi\U000e0100t/hooks/x",
    ".git\ufff0",
    "git\u115f~1/config",
    ".\u034f./x",
    "a/.\ufe0f/b",
    "co\u17b5n",
    "git~1/config",
    "GIT~2",
    ".git./config",
    ".git /config",
    ".git. . /config",
    ".git::$INDEX_ALLOCATION/config",
    ".git:stream",
    "\uff0egit/config",
    "\uff0e\uff0e/x",
    "a\uff0fb",
    "con",
    "NUL.txt",
    "a/Aux",
    "com1.log",
    "lpt9",
    "x" * 256,
    "\u00e9" * 128,
    "a/" * 4096 + "a",
    "a" * 2_000_000,
]
FINE = [
    "a",
    "a.txt",
    "a/b/c.py",
    ".github/workflows/ci.yml",
    ".gitignore",
    ".gitmodules",
    "..a",
    "a..b",
    "...",
    "%2e%2e/x",
    "a b",
    "[slug]/@scope/+page.ts",
    "\u00e9\u4e2d\U0001f600",
    "console.log",
    "connection",
    "com10",
    "ab:c",
    ".gi\u0301t",
    "x" * 255,
    "git~x",
    "\u2764\ufe0f.md",
    "a\u034fb",
]


@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: ascii(path[:20]))
def test_a_hostile_path_is_refused_with_a_reason(path):
    assert path_problem(path)


@pytest.mark.parametrize("path", FINE)
def test_a_real_path_is_allowed(path):
    assert path_problem(path) is None


@pytest.mark.parametrize("root", ["/workspace/..", "/../x", "/workspace/./x", "/x/.git", "/x\n"])
def test_a_workspace_name_with_tricks_is_refused(root):
    assert path_problem(root, absolute=True)


@pytest.mark.parametrize("root", ["/workspace/app", "/a", "/workspace/app.v2/x_y-z"])
def test_a_workspace_name_is_allowed(root):
    assert path_problem(root, absolute=True) is None


@given(st.text(max_size=40))
@settings(max_examples=300, derandomize=True, deadline=None)
def test_what_is_allowed_stays_below_its_root(path):
    if path_problem(path) is None:
        parts = path.split("/")
        assert not path.startswith("/")
        assert not {"", ".", ".."} & set(parts)
        assert all(part.casefold() != ".git" for part in parts)
