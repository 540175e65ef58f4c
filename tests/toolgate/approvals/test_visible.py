"""Hostile text is seen and obeyed by nobody, whoever wrote it."""

from __future__ import annotations

import json
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate.approvals.visible import concerns, escaped, visible


@pytest.mark.parametrize(
    ("hostile", "seen"),
    [
        ("\x1b[2J\x1b[31mred", "⟨ESC⟩[2J⟨ESC⟩[31mred"),
        ("a\rb\nc\td\0e\x7f", "a⟨CR⟩b⟨LF⟩c⟨TAB⟩d⟨NUL⟩e⟨DEL⟩"),
        ("\x9b31m", "⟨U+009B⟩31m"),
        ("ab\u202egpj.exe", "ab⟨U+202E⟩gpj.exe"),
        ("\u2066x\u2069", "⟨U+2066⟩x⟨U+2069⟩"),
        ("pay\u200bpal\ufeff", "pay⟨U+200B⟩pal⟨U+FEFF⟩"),
        ("a\u2028b\u2029c", "a⟨U+2028⟩b⟨U+2029⟩c"),
        ("x\U000e0041\U000e007f", "x⟨U+E0041⟩⟨U+E007F⟩"),
        ("lone \ud800", "lone ⟨U+D800⟩"),
        ("a\u00a0b \u3164c \ue000d", "a⟨U+00A0⟩b ⟨U+3164⟩c ⟨U+E000⟩d"),
        ("v\ufe0f\U000e0100", "v⟨U+FE0F⟩⟨U+E0100⟩"),
        ("e" + "\u0301" * 6, "e" + "\u0301" * 4 + "⟨U+0301⟩⟨U+0301⟩"),
        ("key" + " " * 500 + "payload", "key⟨500 blanks⟩payload"),
        ("plain text, naïve 日本語 👍", "plain text, naïve 日本語 👍"),
    ],
)  # fmt: skip
def test_what_is_unseen_or_obeyed_gets_a_sign(hostile, seen):
    assert visible(hostile) == seen


def test_a_sign_cannot_be_forged():
    assert visible("⟨U+202E⟩") == "⟨U+27E8⟩U+202E⟨U+27E9⟩"


def test_what_is_visible_stays_as_it_is():
    once = visible("\x1b⟨")
    assert visible(once) is once


def test_tabs_and_line_breaks_stay_where_they_are_wanted():
    assert visible("a\tb\n\x1b", keep="\t\n") == "a\tb\n⟨ESC⟩"


@given(st.text(st.characters()))
def test_no_text_leaves_anything_that_cannot_be_seen(text):
    unseen = [c for c in visible(text) if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}]
    assert unseen == []


@pytest.mark.parametrize("text", ["x" * 1_000_000, "\u202e\x1b" * 500_000, "e\u0301" * 500_000])
def test_a_megabyte_is_quick(text):
    began = time.process_time()
    visible(text)
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("src/\u0430pp.py", " is CYRILLIC SMALL LETTER A"),
        ("\u03bfrders/v1.py", " is GREEK SMALL LETTER OMICRON"),
        ("a\u2215b", " is DIVISION SLASH"),
        ("a\u200bb", "cannot be seen"),
        ("\uff46oo", "another way that looks the same"),
    ],
)
def test_a_path_that_deceives_the_eye_is_told_in_words(path, said):
    assert any(said in sentence for sentence in concerns(path))


@pytest.mark.parametrize(
    "path", [".github/workflows/ci.yml", "docs/日本語/かな.md", "русский/файл", "café/naïve.md"]
)
def test_an_ordinary_path_raises_no_concern(path):
    assert concerns(path) == []


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[31m",
        "\x7f",
        "\x9b31m",
        "a\u202eb",
        "\ufeff",
        "\U000e0041",
        "caf\u00e9 \u8a9e",
        "\u3164",
    ],
)
def test_json_that_is_printed_means_the_same_and_acts_on_nothing(text):
    printed = escaped(json.dumps({"text": text}, ensure_ascii=False, indent=2))
    assert json.loads(printed) == {"text": text}
    assert visible(printed, keep="\n") == printed
    assert ("\u00e9" in printed) is ("\u00e9" in text)
