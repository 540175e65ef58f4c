from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from functions._runtime.workspace.edits import FileWrite, change_tree
from functions._runtime.workspace.names import decode
from functions._runtime.workspace.objects import (
    DIRECTORY,
    EMPTY_TREE,
    FILE,
    SYMLINK,
    MalformedObjectError,
    TreeEntry,
    decode_tree,
    encode_tree,
    frame,
    in_order,
    object_id,
    open_object,
    payload_size,
)

if TYPE_CHECKING:
    from pathlib import Path

BLOB = object_id(frame("blob", b""))


def git(directory: Path, *arguments: str) -> str:
    env = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(directory)}
    run = subprocess.run(
        ["git", *arguments], cwd=directory, env=env, capture_output=True, check=True
    )
    return run.stdout.decode().strip()


FILES = {
    b"README.md": (b"# Title\n", 0o644),
    b"bin/run": (b"#!/bin/sh\n", 0o755),
    b"bin-tools/a": (b"sorts before bin/ as a name, after it as a directory\n", 0o644),
    b"bin.txt": (b"x", 0o644),
    b"caf\xe9.txt": (b"latin-1 name\n", 0o644),
    b"empty": (b"", 0o644),
    b"deep/er/and/deeper/file.py": (b"print('\xc3\xa9')\r\n", 0o644),
    b"logo.png": (b"\x89PNG\x00\xff", 0o644),
    "snö ☃/[slug]/+page.svelte".encode(): (b"no newline", 0o644),
}


def test_tree_id_equals_what_git_writes_in_a_sha256_repository(tmp_path: Path):
    git(tmp_path, "init", "-q", "--object-format=sha256")
    for name, (data, mode) in FILES.items():
        path = tmp_path / decode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(mode)
    (tmp_path / "link").symlink_to(decode(b"../elsewhere/caf\xe9"))
    git(tmp_path, "add", "-A")

    writes = [FileWrite(decode(n), d, mode == 0o755) for n, (d, mode) in FILES.items()]
    link = TreeEntry(SYMLINK, object_id(frame("blob", b"../elsewhere/caf\xe9")))
    base = {object_id(frame("tree", t)): t for t in [encode_tree({b"link": link})]}
    change = change_tree(lambda oid: decode_tree(base[oid]), next(iter(base)), writes)

    assert change.root == git(tmp_path, "write-tree")
    blob = git(tmp_path, "rev-parse", ":bin/run")
    assert change.blobs[blob] == b"blob 10\0#!/bin/sh\n"


def test_empty_tree_has_gits_id(tmp_path: Path):
    git(tmp_path, "init", "-q", "--object-format=sha256")
    assert git(tmp_path, "write-tree") == EMPTY_TREE


def test_tree_survives_encoding_and_decoding():
    tree = {b"a": TreeEntry(DIRECTORY, BLOB), b"a.b": TreeEntry(FILE, BLOB)}
    assert decode_tree(encode_tree(tree)) == tree
    assert [name for name, _ in in_order(tree)] == [b"a.b", b"a"]


ENTRY = bytes.fromhex(BLOB)


@pytest.mark.parametrize(
    "payload",
    [
        b"100644 a",
        b"100644 a\0" + ENTRY[:31],
        b"100600 a\0" + ENTRY,
        b"100644 \0" + ENTRY,
        b"100644 ..\0" + ENTRY,
        b"100644 a/b\0" + ENTRY,
        b"100644 b\0" + ENTRY + b"100644 a\0" + ENTRY,
        b"100644 a\0" + ENTRY + b"100644 a\0" + ENTRY,
        b"040000 a\0" + ENTRY,
    ],
)
def test_tree_that_git_would_not_write_is_refused(payload: bytes):
    with pytest.raises(MalformedObjectError):
        decode_tree(payload)


def test_object_is_refused_when_its_bytes_or_kind_are_not_what_was_asked_for():
    framed = frame("blob", b"hello")
    oid = object_id(framed)
    assert open_object(oid, "blob", framed) == b"hello"
    assert payload_size(framed) == 5
    with pytest.raises(MalformedObjectError, match="id"):
        open_object(oid, "blob", framed + b"!")
    with pytest.raises(MalformedObjectError, match="no tree"):
        open_object(oid, "tree", framed)
    with pytest.raises(MalformedObjectError):
        payload_size(b"no header here, only text and text and text")
