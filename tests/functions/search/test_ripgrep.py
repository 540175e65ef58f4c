"""Search finds what ripgrep finds, line by line, in this project's own files and in odd ones."""

from __future__ import annotations

import subprocess

import pytest

from benchmarks.search import Query, found_by_ripgrep, found_by_us, ripgrep
from benchmarks.stores import Memory
from functions._runtime.workspace import ObjectCache
from toolgate.project import ROOT as PROJECT

ODD = {
    "odd/crlf.txt": b"alpha\r\nbeta\r\nalpha beta\r\n",
    "odd/lone-cr.txt": b"alpha\rbeta\nalpha\n",
    "odd/form-feed.txt": b"alpha\x0cbeta\n\x0c\nalpha\n",
    "odd/separator.txt": "alpha\u2028beta\nalpha\n".encode(),
    "odd/no-newline.txt": b"beta\nalpha",
    "odd/empty.txt": b"",
    "odd/newlines.txt": b"\n\n\n",
    "odd/latin-1.txt": b"caf\xe9 alpha\nbeta\n",
    "odd/long.txt": b"x" * 50_000 + b"alpha" + b"y" * 50_000 + b"\nalpha\n",
    "odd/a b/[slug] \xc3\xbc.txt".encode("latin-1").decode("latin-1"): b"alpha\n",
}
QUERIES = [
    *(
        Query(text, text)
        for text in ("alpha", "idempotencyKey", "def ", "a.b", "(", "\\n", "$", "é")
    ),
    *(
        Query(pattern, pattern, regex=True)
        for pattern in (
            "^alpha$",
            "alpha$",
            "^$",
            r"^\s+def \w+",
            "[A-Z]{5,}_[A-Z]+",
            "(foo|bar|baz)+",
            r"\bkey\b",
            r"\d{4}-\d\d-\d\d",
            "(a+)+$",
            "a.*b.*c.*d",
            "x{10}y*",
            "[^\x01-\x7f]",
            "(?i)TODO|fixme",
            r"\.$",
            "^.{200,}$",
        )
    ),
]


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """The same text files on disk and in a workspace."""
    if ripgrep() is None:
        pytest.fail("ripgrep is missing: requirements-extras.txt brings it")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "contracts", "functions", "docs", "tests/cases", "tests/golden"],
        cwd=PROJECT,
        capture_output=True,
        check=True,
    ).stdout.decode()
    files = {path: (PROJECT / path).read_bytes() for path in listed.split("\0") if path}
    files = {path: data for path, data in (files | ODD).items() if b"\0" not in data}
    top = tmp_path_factory.mktemp("tree")
    for path, data in files.items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_bytes(data)
    memory = Memory()
    memory.fill(files)
    return top, memory.workspace("search@1.0.0", ObjectCache()).snapshot()


@pytest.mark.long
@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
def test_search_finds_the_lines_that_ripgrep_finds_each_once_and_in_order(tree, query):
    top, snapshot = tree
    found = list(found_by_us(snapshot, query))
    theirs = found_by_ripgrep(ripgrep(), top, query)
    differing = {path for path, _ in theirs ^ set(found)}
    assert not {path for path in differing if not _reads_otherwise(top / path, query)}
    assert len(found) == len(set(found))
    assert found == sorted(found, key=lambda match: (match[0].encode(), match[1]))


def _reads_otherwise(path, query):
    """What the two mean differently: Latin-1 is text here, and a lone CR ends no line here."""
    data = path.read_bytes()
    if not query.pattern.isascii() or "x7f" in ascii(query.pattern):
        return not _is_utf8(data)
    return query.pattern.endswith("$") and b"\r" in data.replace(b"\r\n", b"\n")


def _is_utf8(data):
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
