"""Pages over real objects, in memory: wherever a page ends, the next one goes on exactly there."""

from __future__ import annotations

import io
import itertools
import threading
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.errors import DeadlineError
from contracts.search.v1 import Skipped
from functions._runtime.workspace import FileWrite, ObjectCache, Snapshot
from functions._runtime.workspace.edits import change_tree
from functions._runtime.workspace.heads import Head
from functions._runtime.workspace.objects import (
    EMPTY_TREE,
    SUBMODULE,
    SYMLINK,
    TreeEntry,
    decode_tree,
    encode_tree,
    frame,
    object_id,
)
from functions._runtime.workspace.store import ObjectStore
from functions.search import matching
from functions.search.matching import matcher
from functions.search.paging import fill
from functions.search.question import Place
from functions.search.reading import AHEAD, BytesSpentError, steps


class Bucket:
    """The objects of a workspace, and a note of every one that was asked for."""

    def __init__(self, files, links=()):
        change = change_tree(lambda _: {}, EMPTY_TREE, [FileWrite(p, d) for p, d in files.items()])
        framed = {EMPTY_TREE: frame("tree", b""), **change.blobs, **change.trees}
        self.root = change.root
        for name, mode, target in links:
            tree = decode_tree(framed[self.root].partition(b"\0")[2])
            blob = frame("blob", target)
            tree[name] = TreeEntry(mode, object_id(blob))
            top = frame("tree", encode_tree(tree))
            self.root = object_id(top)
            framed |= {object_id(blob): blob, self.root: top}
        self.objects = {f"{oid[:2]}/{oid[2:]}": data for oid, data in framed.items()}
        self.asked: list[str] = []
        self.at_once, self.most_at_once = 0, 0
        self._lock = threading.Lock()

    def get_object(self, Bucket, Key):  # noqa: N803
        with self._lock:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            self.asked.append(Key)
        data = self.objects[Key]
        with self._lock:
            self.at_once -= 1
        return {"Body": io.BytesIO(data), "ContentLength": len(data)}

    def snapshot(self, clock=lambda: None):
        class Clock:
            def check(self):
                clock()

        store = ObjectStore(s3=self, bucket="bucket", prefix="", clock=Clock(), cache=ObjectCache())
        return Snapshot(Head(1, self.root), store, Clock())


class Expiring:
    """A clock that is up after so many looks at it."""

    def __init__(self, looks):
        self._looks = itertools.count(looks, -1)

    def __call__(self):
        if next(self._looks) <= 0:
            raise DeadlineError("time is up")


def forever():
    return


def page(bucket, place, *, query="a", glob="**", limit=50, looks=None, answer_max=24_000, **sizes):
    clock = forever if looks is None else Expiring(looks)
    found = matcher(query, regex=False, case_sensitive=True)
    with closing(steps(bucket.snapshot(clock), glob, place.after, **sizes)) as read:
        return fill(read, found, place, limit=limit, check=clock, answer_max=answer_max)


def whole(files, query="a", file_max=2_000_000):
    """What a search finds, by going through everything at once."""
    for path in sorted(files, key=str.encode):
        data = files[path]
        if b"\0" in data or len(data) > file_max:
            continue
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = data.decode("latin-1")
        for number, line in enumerate(text.split("\n"), 1):
            if query in line:
                yield path, number, line.index(query) + 1


def places(matches):
    return [(match.path, match.line, match.column) for match in matches]


NAMES = st.sampled_from(["a", "a-b", "a.b", "b", "é"])
FILES = st.dictionaries(
    st.lists(NAMES, min_size=1, max_size=3).map("/".join),
    st.one_of(
        st.lists(st.sampled_from([b"a", b"xa", b"x", b"", b"\xe9a", b"\r"]), max_size=6).map(
            b"\n".join
        ),
        st.sampled_from([b"a\0", b"a" * 41, b"a\n" * 10]),
    ),
    max_size=10,
).map(
    # A path that is a directory of another one cannot be a file.
    lambda files: {p: d for p, d in files.items() if not any(o.startswith(p + "/") for o in files)}
)


@settings(max_examples=80, deadline=None)
@given(
    files=FILES,
    limit=st.integers(1, 4),
    looks=st.one_of(st.none(), st.integers(1, 30)),
    answer_max=st.sampled_from([1, 1_300, 24_000]),
    call_max=st.sampled_from([1, 60, 1_000]),
)
def test_all_pages_together_are_the_whole_search(files, limit, looks, answer_max, call_max):
    bucket, found, place = Bucket(files), [], Place()
    while place is not None:
        try:
            one = page(
                bucket,
                place,
                limit=limit,
                looks=looks,
                answer_max=answer_max,
                call_max=call_max,
                file_max=40,
            )
        except DeadlineError:
            looks += 1  # nothing was gained, so the caller repeats the call
            continue
        assert len(one.matches) <= limit
        assert one.place is None or one.place > place
        found += places(one.matches)
        place = one.place
    assert found == list(whole(files, file_max=40))


def test_a_call_fetches_no_more_than_it_may_and_goes_on():
    files = {f"{n:02}": b"%09da" % n for n in range(25)}
    bucket, place, found = Bucket(files), Place(), []
    for number in range(3):
        bucket.asked.clear()
        one = page(bucket, place, call_max=105, file_max=10)
        assert {_key(data) for data in files.values()} & set(bucket.asked) == {
            _key(files[f"{n:02}"]) for n in range(number * 10, min(number * 10 + 10, 25))
        }
        assert (one.searched, one.place is None) == ((10, False) if number < 2 else (5, True))
        found, place = found + places(one.matches), one.place
    assert place is None
    assert found == list(whole(files))


def _key(data):
    oid = object_id(frame("blob", data))
    return f"{oid[:2]}/{oid[2:]}"


def test_files_are_fetched_ahead_but_in_order_and_few_at_once():
    files = {f"{n:03}": b"%d" % n for n in range(100)}
    bucket = Bucket(files)
    with closing(steps(bucket.snapshot(), "**", b"")) as read:
        first = next(read)
        assert len(bucket.asked) <= 1 + AHEAD
        rest = list(read)
    assert [step.path for step in (first, *rest)] == [path.encode() for path in sorted(files)]
    assert [step.data for step in (first, *rest)] == [files[path] for path in sorted(files)]
    assert bucket.most_at_once <= AHEAD


def test_the_bytes_that_may_be_fetched_bound_what_is_on_its_way():
    files = {f"{n:03}": b"%03d" % n for n in range(20)}
    bucket = Bucket(files)
    with pytest.raises(BytesSpentError):
        list(steps(bucket.snapshot(), "**", b"", file_max=10, call_max=24))
    # The tree, and files as long as one more of 10 bytes would still have fitted: 3 * 5 + 10 > 24.
    assert len(bucket.asked) == 1 + 5


def test_links_and_submodules_are_not_searched():
    links = [(b"link", SYMLINK, b"file-a"), (b"module", SUBMODULE, b"a")]
    bucket = Bucket({"file-a": b"a"}, links)
    one = page(bucket, Place())
    assert places(one.matches) == [("file-a", 1, 1)]
    assert (one.searched, one.binary, one.too_large) == (1, 0, 0)
    assert _key(b"file-a") not in bucket.asked


def test_directories_without_a_match_are_passed_page_by_page():
    bucket = Bucket({f"d{number:02}/x": b"a" for number in range(60)} | {"z/y": b"a"})
    place, pages, found = Place(), 0, []
    while place is not None:
        one = page(bucket, place, glob="**/y", looks=40)
        found, place, pages = found + places(one.matches), one.place, pages + 1
    assert found == [("z/y", 1, 1)]
    assert pages > 3


def test_without_time_for_a_single_step_the_call_is_answered_timeout():
    with pytest.raises(DeadlineError):
        page(Bucket({"x": b"a"}), Place(), looks=1)


def test_files_that_are_not_searched_are_counted():
    bucket = Bucket({"large": b"a" * 41, "binary": b"a\0", "file": b"a"})
    one = page(bucket, Place(), file_max=40)
    assert (one.searched, one.skipped) == (1, Skipped(binary=1, too_large=1, line_too_long=0))
    assert places(one.matches) == [("file", 1, 1)]


def test_a_line_too_long_for_the_pattern_is_no_file_too_large(monkeypatch):
    monkeypatch.setattr(matching, "LINE_COST", 4)
    matching.matcher.cache_clear()
    one = page(Bucket({"line": b"aaaaa", "lines": b"aaaa\naaaa"}), Place())
    matching.matcher.cache_clear()
    assert (one.searched, one.skipped) == (1, Skipped(binary=0, too_large=0, line_too_long=1))
