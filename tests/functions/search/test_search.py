"""The whole tool on moto: pages of a workspace that moves on, and what an answer may hold."""

from __future__ import annotations

import json
import uuid

import pytest

from agents import events
from agents.targets import InProcessTarget
from contracts import registry
from contracts.dialects import bedrock_function
from functions._runtime import tool as pipeline


@pytest.fixture
def root(workspaces):
    return f"/search/{uuid.uuid4().hex}"


def call(name, **arguments):
    spec = registry.find(name)
    return events.unwrap(InProcessTarget().send(spec, events.build(spec, arguments, "direct")))


def search(root, query, **more):
    result = call("search_v1", repoRoot=root, query=query, **more)
    assert result["ok"], result
    return result


def places(result):
    return [(match["path"], match["line"]) for match in result["matches"]]


def overwrite(root, path, content):
    result = call(
        "apply_patch_v1",
        schemaVersion=1,
        idempotencyKey=uuid.uuid4().hex,
        repoRoot=root,
        files=[{"path": path, "mode": "replace_full", "content": content}],
    )
    assert result["ok"], result


def test_a_cursor_goes_on_in_its_own_revision(workspaces, root):
    workspaces.create(root, {"a": b"x\nx\nx\n", "b": b"x\n"})
    first = search(root, "x", limit=2)
    overwrite(root, "a", "gone\n")
    rest = search(root, "x", limit=10, cursor=first["nextCursor"])
    assert places(first) + places(rest) == [("a", 1), ("a", 2), ("a", 3), ("b", 1)]
    assert rest["revision"] == first["revision"]
    assert rest["nextCursor"] is None
    assert places(search(root, "x")) == [("b", 1)]
    assert places(search(root, "x", revision=first["revision"])) == [*places(first), *places(rest)]
    assert places(search(root, "x", cursor=first["nextCursor"], revision=first["revision"])) == (
        places(rest)
    )


def test_a_page_that_has_had_its_time_says_so_and_goes_on(workspaces, root, monkeypatch):
    workspaces.create(root, {f"d/{n}": b"x\n" for n in range(5)})
    seconds = iter(range(0, 10_000, 5))
    monkeypatch.setattr(pipeline, "now_ms", lambda: next(seconds) * 1_000)
    found, cursor, pages = [], {}, 0
    while True:
        result = search(root, "x", limit=50, **cursor)
        found += places(result)
        pages += 1
        assert result["truncated"] == bool(result["nextCursor"])
        if not result["nextCursor"]:
            break
        cursor = {"cursor": result["nextCursor"]}
    assert found == [(f"d/{n}", 1) for n in range(5)]
    assert pages > 1


def test_an_answer_fits_an_agent_whatever_the_lines_hold(workspaces, root):
    line = '"\\' * 100 + "\n"
    workspaces.create(root, {"quotes": (line * 60).encode(), "z": b"x"})
    found, cursor = [], {}
    while True:
        result = search(root, '"', limit=50, **cursor)
        assert len(json.dumps(json.dumps(result))) <= 24_000
        found += places(result)
        assert result["truncated"] == bool(result["nextCursor"])
        if not result["nextCursor"]:
            break
        cursor = {"cursor": result["nextCursor"]}
    assert found == [("quotes", n) for n in range(1, 61)]


def test_files_up_to_two_megabytes_are_searched(workspaces, root):
    workspaces.create(root, {"fits": b"x" * 2_000_000, "over": b"x" * 2_000_001})
    result = search(root, "x")
    assert [(m["path"], m["column"], len(m["preview"])) for m in result["matches"]] == [
        ("fits", 1, 200)
    ]
    assert result["skipped"] == {"binary": 0, "tooLarge": 1, "lineTooLong": 0}
    assert result["filesSearched"] == 1


def test_a_search_reads_each_object_once_and_writes_nothing(workspaces, root, aws_calls):
    workspaces.create(root, {"a/1": b"x", "a/2": b"y", "b/3": b"x"})
    aws_calls.clear()
    assert places(search(root, "x", glob="a/*")) == [("a/1", 1)]
    # The head; the root, its directory a, and two files.
    assert sorted(aws_calls) == ["BatchGetItem", *["GetObject"] * 4]


def test_bytes_that_are_no_text_elsewhere_are_shown_as_they_are(workspaces, root):
    workspaces.create(root, {"latin": b"caf\xe9 \x1b[31m\n", "utf8": "café\n".encode()})
    result = search(root, "café")
    assert [m["preview"] for m in result["matches"]] == ["café \x1b[31m", "café"]


@pytest.mark.parametrize("query", ["(secret", "secret(?=x)", r"(secret)\1", r"\pL{9}secret"])
def test_a_refused_pattern_is_repeated_nowhere(workspaces, root, query, capfd):
    workspaces.create(root, {"a": b"x"})
    result = call("search_v1", repoRoot=root, query=query, mode="regex")
    assert result["error"]["code"] == "VALIDATION"
    assert result["error"]["details"]["issues"][0]["path"] == "/query"
    said = "".join(capfd.readouterr()) + json.dumps(result)
    assert "secret" not in said


def test_another_tools_cursor_is_refused(workspaces, root):
    workspaces.create(root, {"a": b"x", "b": b"x"})
    cursor = call("list_files_v1", repoRoot=root, limit=1)["nextCursor"]
    result = call("search_v1", repoRoot=root, query="x", cursor=cursor)
    assert result["error"]["details"]["issues"][0] == {
        "path": "/cursor",
        "problem": "belongs to another tool, query, mode, glob or caseSensitive",
        "expected": {"from": "nextCursor of the page before"},
    }


def test_a_function_of_bedrock_says_of_each_argument_what_the_contract_says():
    spec = registry.find("search_v1")
    said = bedrock_function.emit(spec)["description"]
    for name, field in spec.input_schema["properties"].items():
        assert field["description"] in said, name
