"""The log of a workspace, and diffs that git reads."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from contracts.errors import InvalidArgumentsError, NotFoundError
from functions._runtime.workspace import Edit, FileWrite
from tests.functions.workspace.cloud import ROOT, Done, TableEffect, found, workspace
from toolgate.workspace import diff, export_tree, import_tree, log

if TYPE_CHECKING:
    from pathlib import Path

    from functions._runtime.workspace import Stores


def change(stores: Stores, *writes: FileWrite, message: str = "Change") -> str:
    number = workspace(stores).snapshot().head.seq
    effect = TableEffect(stores, f"op{number}")
    workspace(stores, effect=effect).change(lambda _: Edit(writes, lambda _: Done(), message))
    return workspace(stores).snapshot().revision


def test_log_is_newest_first_and_as_long_as_asked_for(stores: Stores):
    found(stores)
    revisions = [change(stores, FileWrite("a", b"%d" % n), message=f"Write {n}") for n in range(12)]
    entries = log(stores, ROOT, limit=3)
    assert [entry.message for entry in entries] == ["Write 11", "Write 10", "Write 9"]
    assert [entry.revision for entry in entries] == revisions[:-4:-1]
    assert entries[0].parent == entries[1].tree
    assert (entries[0].operation, entries[0].tool, entries[0].by) == (
        "op12",
        "apply_patch@1",
        "ada",
    )
    assert len(log(stores, ROOT)) == 13


def test_log_names_a_hundred_paths_and_counts_the_rest(stores: Stores):
    found(stores)
    change(stores, *[FileWrite(f"f{n:03}", b"") for n in range(130)])
    entry = log(stores, ROOT, limit=1)[0]
    assert (len(entry.paths), entry.more) == (100, 30)


def test_history_of_an_unknown_workspace_is_not_found(stores: Stores):
    with pytest.raises(NotFoundError):
        log(stores, ROOT)
    with pytest.raises(NotFoundError):
        diff(stores, ROOT, "1-" + "0" * 64, "2-" + "0" * 64)
    with pytest.raises(InvalidArgumentsError):
        diff(stores, ROOT, "HEAD~1", "HEAD")


def test_diff_is_what_git_apply_needs(
    stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "/bin/false")
    top = tmp_path / "top"
    top.mkdir()
    (top / "keep").write_bytes(b"untouched\n")
    (top / "text").write_bytes(b"one\ntwo\r\nthr\xe9e\n")
    (top / "gone").write_bytes(b"bye\n")
    (top / "run").write_bytes(b"#!\n")
    (top / "a").mkdir()
    (top / "a" / "spaced name").write_bytes(b"x\n")
    (top / "link").symlink_to("text")
    import_tree(stores, top, ROOT, by="ada", now_ms=1)
    old = workspace(stores).snapshot()
    copy = tmp_path / "copy"
    copy.mkdir()
    export_tree(old, copy)

    (top / "link").unlink()
    (top / "link").symlink_to("keep")
    import_tree(stores, top, ROOT, by="ada", now_ms=1)
    new = change(
        stores,
        FileWrite("text", b"one\nTWO\r\nthr\xe9e\nno newline"),
        FileWrite("gone", None),
        FileWrite("run", b"#!\n", executable=True),
        FileWrite("a/spaced name", b"y\n"),
        FileWrite("b/new \u2603", b"new\n"),
    )
    text = diff(stores, ROOT, old.revision, new)

    assert b"diff --git a/text b/text" in text
    assert b"old mode 100644\nnew mode 100755" in text
    assert b"deleted file mode 100644" in text
    assert b"new file mode 100644" in text
    assert b"keep" not in text.replace(b"\n+keep", b"")
    subprocess.run(
        ["git", "apply", "--whitespace=nowarn", "-"],
        cwd=copy,
        input=text,
        env={"PATH": os.environ["PATH"], "GIT_CEILING_DIRECTORIES": str(tmp_path)},
        check=True,
        capture_output=True,
    )
    assert export_tree(workspace(stores).snapshot(), copy) == 0


def test_diff_names_binary_files_and_is_empty_for_equal_trees(stores: Stores):
    found(stores)
    one = change(stores, FileWrite("logo.png", b"\x89PNG\x00"))
    two = change(stores, FileWrite("logo.png", b"\x89PNG\x01\x00"))
    assert b"Binary files a/logo.png and b/logo.png differ" in diff(stores, ROOT, one, two)
    assert diff(stores, ROOT, two, two) == b""


def test_diff_names_both_sides_of_new_and_deleted_files(stores: Stores):
    found(stores)
    one = change(stores, FileWrite("old.md", b"1\n"))
    two = change(stores, FileWrite("old.md", None), FileWrite("new.md", b"1\n"))
    headers = [line for line in diff(stores, ROOT, one, two).splitlines() if b"diff --git" in line]
    assert headers == [b"diff --git a/new.md b/new.md", b"diff --git a/old.md b/old.md"]


@pytest.mark.parametrize("place", ["home", "xdg", "configured", "workspace"])
def test_diff_is_the_same_whatever_attributes_and_configuration_say(
    stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
):
    home = tmp_path / "home"
    (home / ".config" / "git").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    attributes = tmp_path / "attributes"
    if place == "home":
        attributes = home / ".config" / "git" / "attributes"
    elif place == "xdg":
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
        attributes = tmp_path / "xdg" / "git" / "attributes"
        attributes.parent.mkdir(parents=True)
    else:
        config = f"[core]\n\tattributesFile = {attributes}\n[diff]\n\tnoprefix = true\n"
        (home / ".gitconfig").write_text(config)
    if place != "workspace":
        attributes.write_text("* -diff\n")
    found(stores)
    one = change(stores, FileWrite("a.txt", b"1\n"))
    rule = [FileWrite(".gitattributes", b"* -diff\n")] if place == "workspace" else []
    two = change(stores, FileWrite("a.txt", b"2\n"), *rule)
    text = diff(stores, ROOT, one, two)
    assert b"--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-1\n+2\n" in text
