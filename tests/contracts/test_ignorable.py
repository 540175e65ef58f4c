"""The table of unseen characters against what Python's own Unicode data implies about it."""

from __future__ import annotations

import sys
import unicodedata

from contracts.ignorable import without_ignorable

EVERY = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF]


def dropped(characters: list[str]) -> list[str]:
    return [c for c in characters if not without_ignorable(c)]


def test_every_format_character_and_variation_selector_is_dropped():
    unseen = [
        c
        for c in EVERY
        if unicodedata.category(c) == "Cf" or "VARIATION SELECTOR" in unicodedata.name(c, "")
    ]
    assert len(unseen) > 400
    assert dropped(unseen) == unseen


def test_fillers_and_joiners_of_other_categories_are_dropped():
    odd = [c for c in dropped(EVERY) if unicodedata.category(c) not in {"Cf", "Cn"}]
    selectors = [c for c in odd if "VARIATION SELECTOR" in unicodedata.name(c)]
    assert len(selectors) == 3 + 16 + 240 + ("\u180f" in selectors)
    others = "".join(c for c in odd if c not in selectors)
    assert others == "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"


def test_code_points_that_are_reserved_for_unseen_characters_are_dropped():
    # The property has 4174 code points, of which a format character is one only if it is unseen.
    reserved = [c for c in dropped(EVERY) if unicodedata.category(c) == "Cn"]
    assert len(reserved) >= 3_700
    assert {"\u2065", "\ufff0", "\ufff8", "\U000e0000", "\U000e0fff"} <= set(reserved)
    assert {ord(c) >> 12 for c in reserved} == {0x2, 0xF, 0xE0}


def test_text_that_is_seen_stays():
    for text in ("plain.txt", "caf\u00e9/\u4e2d\u6587", "\U0001f600", "\u0301", "\u2800", "\u00a0"):
        assert without_ignorable(text) == text
    assert without_ignorable(".g\u034f\ufe0fit") == ".git"
