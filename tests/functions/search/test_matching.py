from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from functions.search import matching
from functions.search.matching import PROGRAM_MAX, Hit, PatternError, matcher
from functions.search.text import PREVIEW_MAX_CHARACTERS, preview, readable


def hits(query, data, *, regex=False, case=True, after=0):
    text = readable(data)
    found = matcher(query, regex=regex, case_sensitive=case).search(text, after)
    return [(line, hit.column, hit.preview) for line, hit in found if hit]


def lines_of(data):
    """Git's lines, without their endings, by other means than the product's."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    *ended, last = text.split("\n")
    return [line.removesuffix("\r") for line in ended] + ([last] if last else [])


ATOMS = ["a", "b", "é", "k", ".", "[ab]", "[^a]", "^", "$", r"\b", r"\B", r"\s", r"\D", "(?i:K)"]
PATTERNS = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map("|".join),
        inner.map(lambda p: f"(?:{p})?"),
        inner.map(lambda p: f"(?:{p}){{0,2}}"),
        inner.map(lambda p: f"(?s:{p})"),
        inner.map(lambda p: f"(?-m:{p})"),
    ),
    max_leaves=6,
)
DATA = st.one_of(
    st.text("abék \r\n\U0001f600", max_size=40).map(str.encode),
    st.lists(st.sampled_from([b"a", b"b", b"\xe9", b"\n", b"\r\n", b"K"]), max_size=30).map(
        b"".join
    ),
)


@settings(max_examples=150)
@given(pattern=PATTERNS, data=DATA, part=st.sampled_from([1, 5, 1000]), after=st.integers(0, 5))
def test_a_pattern_finds_what_it_finds_in_each_line_alone(pattern, data, part, after):
    # Python's own engine is the oracle, and only here: these patterns are ours and small. Older
    # ones of it find no \B in an empty text.
    oracle = pattern.replace(r"\B", r"(?:\B|(?<!\w)(?!\w))")
    expected = [
        (number, found.start() + 1, line)
        for number, line in enumerate(lines_of(data), 1)
        if number > after and (found := re.search(oracle, line, re.ASCII))
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "PART_MAX_BYTES", part)
        matcher.cache_clear()
        assert hits(pattern, data, regex=True, after=after) == expected
    matcher.cache_clear()


@given(query=st.text("ab.*é\r", min_size=1, max_size=3), data=DATA)
def test_a_text_is_found_where_it_stands(query, data):
    expected = [
        (number, line.index(query) + 1, line)
        for number, line in enumerate(lines_of(data), 1)
        if query in line
    ]
    assert hits(query, data) == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"\Ab", [2]),
        (r"b\z", [2, 3]),
        (r"(?-m)^a", [1, 3]),
        (r"(?-m:a$)", [1]),
        (r"a\C*b", [3]),
        (r"a\nb", []),
        (r"a[\s\S]*b", [3]),
        (r"^$", [4]),
        (r"x*", [1, 2, 3, 4]),
        (r"\Q.\E", []),
    ],
)
def test_every_line_is_a_text_of_its_own(pattern, expected):
    assert [line for line, *_ in hits(pattern, b"a\nb\nab\n\n", regex=True)] == expected


def test_an_empty_file_has_no_line():
    assert hits("x*", b"", regex=True) == []
    assert [line for line, *_ in hits("x*", b"\n", regex=True)] == [1]


def test_a_cr_before_lf_is_no_part_of_the_line_and_any_other_is():
    data = b"one\r\ntw\ro\r\nend\r"
    assert hits(r"e$", data, regex=True) == [(1, 3, "one")]
    assert hits("\r", data) == [(2, 3, "tw\ro"), (3, 4, "end\r")]


def test_columns_count_characters_whatever_the_encoding():
    assert hits("b", "é\U0001f600b".encode()) == [(1, 3, "é\U0001f600b")]
    assert hits("é", b"caf\xe9") == [(1, 4, "café")]


@pytest.mark.parametrize(("query", "line"), [("STRASSE", 1), ("é", 2), ("\u017f", 1)])
def test_case_is_folded_for_all_letters(query, line):
    assert [n for n, *_ in hits(query, "strasse\nÉ\n".encode(), case=False)][:1] == [line]
    assert hits(query, "strasse\nÉ\n".encode()) == []


def test_a_binary_file_has_nul_in_its_first_8000_bytes():
    assert readable(b"a" * 7_999 + b"\0") is None
    assert readable(b"a" * 8_000 + b"\0") == b"a" * 8_000 + b"\0"


@given(line=st.text("ab", max_size=600), start=st.integers(0, 600), length=st.integers(0, 300))
def test_a_preview_is_short_and_holds_the_match(line, start, length):
    start = min(start, len(line))
    end = min(start + length, len(line))
    marked = line[:start] + "X" * (end - start) + line[end:]
    first, shown = preview(marked, start, end)
    assert len(shown) == min(PREVIEW_MAX_CHARACTERS, len(marked))
    assert shown == marked[first : first + len(shown)]
    assert shown.count("X") == min(end - start, PREVIEW_MAX_CHARACTERS)


def test_nested_repetition_is_harmless():
    line = b"a" * 100_000 + b"!\n"
    started = time.process_time()
    assert hits("(a+)+$", line, regex=True) == []
    assert hits("(a|aa)+$", line * 3 + b"aa", regex=True) == [(4, 1, "aa")]
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("a(?=b)", "look-around and other (? groups are not in RE2's syntax"),
        ("(?<!a)b", "look-around and other (? groups are not in RE2's syntax"),
        (r"(a)\1", "an escape is not in RE2's syntax; back-references do not exist"),
        ("a)", "a parenthesis closes what was never opened"),
        ("a)(", "a parenthesis closes what was never opened"),
        ("[a", "a bracket is not closed"),
        ("[b-a]", "a character class names no characters"),
        ("*a", "a repetition has nothing to repeat"),
        ("a**", "a repetition stands behind another one"),
        ("a{1001}", "a repetition is over 1000, nested ones multiplied, or backwards"),
        ("a\\", "a backslash ends it"),
        ("(?P<a", "a group's name is not in RE2's syntax"),
        (r"\pL{1000}", "the pattern is too large"),
        (r"\pL{3}", "the pattern is too large"),
        ("a\nb", "a line break: a match lies within one line"),
    ],
)
def test_a_pattern_that_cannot_be_searched_for_is_refused_in_words_of_ours(pattern, problem, capfd):
    with pytest.raises(PatternError) as caught:
        matcher(pattern, regex=True, case_sensitive=True)
    assert caught.value.problem == problem
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("character", ["a", "K", "\U0001f600", "中", "\u13a0", "ß"])
def test_the_longest_text_is_not_too_large_a_pattern(character):
    found = matcher(character * 200, regex=False, case_sensitive=False)
    assert [hit for _, hit in found.search((character * 201).encode())] == [
        Hit(1, character * 200, 1)
    ]


def test_a_line_is_too_long_only_for_a_pattern_that_could_take_seconds_on_it():
    text = b"a" * 300_000 + b"\n" + b"b" * 300_000
    large = matcher(r"(?:\w|.){0,120}!", regex=True, case_sensitive=True)
    assert large._compiled.programsize > PROGRAM_MAX // 2
    assert large.too_long(text)
    assert not large.too_long(text.replace(b"a", b"a\n").replace(b"b", b"b\n"))
    for query, regex in ((r"\w+\(", True), ("a" * 200, False)):
        assert not matcher(query, regex=regex, case_sensitive=True).too_long(b"a" * 2_000_000)
