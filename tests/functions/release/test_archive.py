"""The zip follows from the files alone, keeps all of them, and no link in it leads out."""

from __future__ import annotations

import io
import random
import zipfile
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.release_publish.archive import Member, link_that_leaves, pack

MEMBERS = [
    Member("a.txt", "file", b"one\r\ntwo"),
    Member("bin/run", "executable", b"#!/bin/sh\n"),
    Member("bin/run.link", "symlink", b"run"),
    Member("caf\u00e9/[slug] + page.tsx", "file", bytes(range(256))),
    Member("empty", "file", b""),
]
PINNED = "140766fb4da0a6cfabc291e8240277bd2097067b62320076ffbf4a8c94683ecc"


def opened(data: bytes) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(data))


def test_every_file_is_in_it_byte_for_byte_with_its_mode():
    archive = opened(pack(MEMBERS))
    assert archive.testzip() is None
    found = {i.filename: (i.external_attr >> 16, archive.read(i)) for i in archive.infolist()}
    modes = {"file": 0o100644, "executable": 0o100755, "symlink": 0o120777}
    assert found == {member.path: (modes[member.kind], member.data) for member in MEMBERS}


def test_entries_stand_in_byte_order_of_paths():
    names = ["b", "a/z", "a.x", "a", "\u00e9", "Z"]
    members = [Member(name, "file", b"") for name in names]
    expected = sorted(names, key=lambda name: name.encode())
    assert opened(pack(members)).namelist() == expected


def test_its_bytes_are_the_pinned_ones():
    assert sha256(pack(MEMBERS)).hexdigest() == PINNED


@given(
    st.dictionaries(
        st.text(st.characters(min_codepoint=33, exclude_categories=("Cs",)), min_size=1),
        st.binary(max_size=40),
        max_size=6,
    ),
    st.integers(),
)
def test_the_order_in_which_files_come_changes_nothing(files, seed):
    members = [Member(path, "file", data) for path, data in files.items()]
    shuffled = random.Random(seed).sample(members, len(members))
    assert pack(shuffled) == pack(members)


def links(**targets):
    made = [Member(path.replace("__", "/"), "symlink", t) for path, t in targets.items()]
    return [*made, Member("d/e/f", "file", b"")]


@pytest.mark.parametrize(
    "members",
    [
        links(a=b"d/e/f"),
        links(a=b"./d//e/../e/f"),
        links(a=b"d/e/f", b=b"a"),
        links(d__x=b"../d/e"),
        links(d__e__up=b"../.."),
        links(a=b"not/there/yet"),
        links(a=b"d", b=b"a/e"),
    ],
)
def test_a_link_that_stays_inside_is_taken(members):
    assert link_that_leaves(members) is None


@pytest.mark.parametrize(
    ("members", "path"),
    [
        (links(a=b"/etc/passwd"), "a"),
        (links(a=b".."), "a"),
        (links(d__x=b"../../x"), "d/x"),
        (links(a=b"d/../../x"), "a"),
        (links(a=b""), "a"),
        (links(a=b"..\\x"), "a"),
        (links(a=b"C:/x"), "a"),
        (links(a=b"b", b=b"a"), "a"),
        (links(a=b"a"), "a"),
        # Where names fold, q/B is q/b, which leads up.
        ([*links(q__b=b"..", esc=b"q/B/../etc"), Member("q/etc", "file", b"")], "esc"),
        # Read as text, w stays inside; followed through z, it does not.
        (links(d__e__z=b"../..", w=b"d/e/z/.."), "w"),
    ],
)
def test_a_link_that_leaves_or_circles_is_found(members, path):
    assert link_that_leaves(members) == path
