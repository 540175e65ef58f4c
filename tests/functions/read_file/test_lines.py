"""Whatever a file holds, its pages are the whole of it, and each fits an answer."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from functions.read_file import lines
from functions.read_file.lines import decode, excerpt

SMALL = 7
DATA = st.one_of(
    st.lists(
        st.sampled_from(
            ["\n", "\r\n", "\r", "a", "é", "\U0001f600", '"', "\x01", "x" * 9, "\u2028"]
        ),
        max_size=30,
    ).map(lambda parts: "".join(parts).encode()),
    st.lists(st.sampled_from([b"\xe9", b"\n", b"\r\n", b"abc", b"\x85"]), max_size=20).map(
        b"".join
    ),
)


def pages(text, max_lines):
    place, found = (1, 1), []
    while True:
        page = excerpt(text, *place, max_lines)
        assert page.text or not page.truncated
        found.append(page)
        if not page.truncated:
            return found
        place = (page.next_line, page.next_column)


def place_of(text, offset):
    """Line and column of a place, by other means than the product's."""
    if offset == len(text):
        return len(text.split("\n")) + (text[-1:] not in {"", "\n"}), 1
    before = text[:offset].split("\n")
    return len(before), len(before[-1]) + 1


@settings(max_examples=150, deadline=None)
@given(data=DATA, max_lines=st.integers(1, 4), bytes_max=st.sampled_from([8, 14, 1_000]))
@example(data=b"", max_lines=1, bytes_max=14)
@example(data=b"a\r\nb", max_lines=1, bytes_max=14)
@example(data=b"x" * 7 + b"\n" + b"x" * 8, max_lines=4, bytes_max=14)
def test_all_pages_together_are_the_whole_text(data, max_lines, bytes_max):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "EXCERPT_MAX_CHARACTERS", SMALL)
        patch.setattr(lines, "EXCERPT_MAX_JSON_BYTES", bytes_max)
        patch.setattr(lines, "_BLOCK", 5)
        text, _ = decode(data)
        found = pages(text, max_lines)
        assert "".join(page.text for page in found) == text
        offset = 0
        for page in found:
            offset += len(page.text)
            assert len(page.text) <= SMALL
            assert len(json.dumps(page.text, ensure_ascii=False).encode()) <= bytes_max
            assert page.text[:-1].count("\n") < max_lines
            assert (page.next_line, page.next_column) == place_of(text, offset)
            assert page.line_count == found[-1].next_line - 1


@settings(max_examples=100, deadline=None)
@given(data=DATA, line=st.integers(1, 9), column=st.integers(1, 12))
def test_a_page_begins_at_its_place_or_at_the_next_line(data, line, column):
    text, _ = decode(data)
    ended = [f"{one}\n" for one in text.split("\n")[:-1]] + [text.split("\n")[-1]]
    rest = "".join([ended[line - 1][column - 1 :], *ended[line:]] if line <= len(ended) else [])
    assert excerpt(text, line, column, 2_000).text == rest


def test_a_line_is_cut_only_where_it_fits_no_answer():
    fits, over = "x" * 19_999 + "\n", "y" * 20_000 + "\n"
    first, second, third = pages(fits + over, 2_000)
    assert first.text == fits
    assert (second.text, second.next_line, second.next_column) == ("y" * 20_000, 2, 20_001)
    assert (third.text, third.next_line, third.next_column) == ("\n", 3, 1)


@pytest.mark.parametrize("character", ["\x01", "\U0001f600", "\\"])
def test_an_answer_is_64_kilobytes_of_json_at_the_most(character):
    text = character * 50_000
    found = pages(text, 1)
    for page in found:
        size = len(json.dumps(page.text, ensure_ascii=False).encode())
        assert size <= 64_000
        assert size > 63_990 or len(page.text) == 20_000 or not page.truncated
    assert "".join(page.text for page in found) == text


def test_a_place_among_millions_of_lines_is_found_by_counting():
    text = "\n" * 5_000_000
    assert excerpt(text, 4_999_999, 1, 1) == ("\n", 5_000_000, 5_000_000, 1, True)
    assert excerpt(text, 40_000_000, 40_000_000, 1) == ("", 5_000_000, 5_000_001, 1, False)
