"""Pages of paths: of one revision and one glob, and never too large, however long the paths."""

from __future__ import annotations

import json
import uuid

import pytest

from agents import events
from agents.targets import InProcessTarget
from contracts import registry
from functions.list_files.page import PAGE_MAX_BYTES

LONGEST = "/".join(["\udcff" * 255] * 16) + "\udcff"
"""4096 bytes, none of them UTF-8: the most that a path has."""


@pytest.fixture
def root(workspaces):
    return f"/list/{uuid.uuid4().hex}"


def call(name, **arguments):
    spec = registry.find(name)
    return events.unwrap(InProcessTarget().send(spec, events.build(spec, arguments, "direct")))


def all_pages(name, field, **arguments):
    more, pages = {}, []
    while True:
        page = call(name, **arguments, **more)
        assert page["ok"], page
        pages.append(page)
        if not page["nextCursor"]:
            return pages, [item["path"] for page in pages for item in page[field]]
        assert len(page["nextCursor"]) <= 8_192
        more = {"cursor": page["nextCursor"]}


def test_the_longest_path_is_listed_and_searched_and_gone_on_from(workspaces, root):
    assert len(LONGEST.encode("utf-8", "surrogateescape")) == 4_096
    shown = LONGEST.replace("\udcff", "\\xff")
    workspaces.create(root, {LONGEST: b"x\nx\n", f"{LONGEST[:-1]}\udcfe": b"x"})
    _, listed = all_pages("list_files_v1", "files", repoRoot=root, limit=1)
    assert listed == [f"{shown[:-1]}e", shown]
    _, found = all_pages("search_v1", "matches", repoRoot=root, query="x", limit=1)
    assert found == [f"{shown[:-1]}e", shown, shown]


def test_a_page_of_long_paths_ends_early_and_the_next_goes_on(workspaces, root):
    names = [f"{n:03}-" + "\udcff\x01" * 1_000 for n in range(30)]
    workspaces.create(root, dict.fromkeys(names, b""))
    pages, listed = all_pages("list_files_v1", "files", repoRoot=root, limit=200)
    assert listed == [name.replace("\udcff", "\\xff") for name in names]
    sizes = [len(json.dumps(page["files"], separators=(",", ":"))) for page in pages]
    assert max(sizes) <= PAGE_MAX_BYTES + len("[]")
    assert len(pages) == 4


def test_another_globs_or_tools_cursor_is_refused(workspaces, root):
    workspaces.create(root, {"a": b"x", "b": b"x"})
    cursor = call("list_files_v1", repoRoot=root, limit=1)["nextCursor"]
    other = call("search_v1", repoRoot=root, query="x", limit=1)["nextCursor"]
    for arguments in ({"cursor": cursor, "glob": "*"}, {"cursor": other}):
        (issue,) = call("list_files_v1", repoRoot=root, **arguments)["error"]["details"]["issues"]
        assert issue == {
            "path": "/cursor",
            "problem": "belongs to another tool or glob",
            "expected": {"from": "nextCursor of the page before"},
        }


def test_a_revision_is_listed_as_it_was(workspaces, root):
    workspaces.create(root, {"a": b"x"})
    before = call("list_files_v1", repoRoot=root)
    change = {"path": "b", "mode": "replace_full", "content": "x"}
    key = uuid.uuid4().hex
    arguments = {"schemaVersion": 1, "idempotencyKey": key, "repoRoot": root, "files": [change]}
    assert call("apply_patch_v1", **arguments)["ok"]
    assert [file["path"] for file in call("list_files_v1", repoRoot=root)["files"]] == ["a", "b"]
    assert call("list_files_v1", repoRoot=root, revision=before["revision"]) == before
