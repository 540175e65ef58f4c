"""Why two lines that should be one differ, in a word a model can act on."""

from __future__ import annotations

import html
import re
from typing import Literal

Kind = Literal[
    "content",
    "indentation",
    "trailing-whitespace",
    "inner-whitespace",
    "typographic-characters",
    "html-escaping",
    "line-number-prefix",
    "letter-case",
    "missing-in-file",
    "extra-in-file",
    "past-end",
]

_MAX_LENGTH = 10_000
_LINE_NUMBER = re.compile(r"\s{0,8}\d{1,7}(?:\t| {0,3}[|:→] ?)")
_TYPOGRAPHIC = str.maketrans(
    {
        "\u2018": "'",
        "\u2019": "'",
        "\u201a": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u201e": '"',
        "\u00ab": '"',
        "\u00bb": '"',
        "\u2010": "-",
        "\u2011": "-",
        "\u2012": "-",
        "\u2013": "-",
        "\u2014": "-",
        "\u2212": "-",
        "\u00a0": " ",
        "\u2009": " ",
        "\u202f": " ",
        "\u3000": " ",
        "\u2026": "...",
        "\u200b": "",
        "\ufeff": "",
    }
)


def kind_of_difference(expected: str, actual: str) -> Kind:
    """What sets `actual`, the file's line, apart from `expected`, the patch's."""
    if max(len(expected), len(actual)) > _MAX_LENGTH:
        return "content"
    if expected.rstrip() == actual.rstrip():
        return "trailing-whitespace"
    if expected.strip() == actual.strip():
        return "indentation"
    if "".join(expected.split()) == "".join(actual.split()):
        return "inner-whitespace"
    one, other = expected.strip(), actual.strip()
    if one.translate(_TYPOGRAPHIC) == other.translate(_TYPOGRAPHIC):
        return "typographic-characters"
    if html.unescape(one) == html.unescape(other):
        return "html-escaping"
    if without_line_number(expected).strip() == other:
        return "line-number-prefix"
    if one.casefold() == other.casefold():
        return "letter-case"
    return "content"


def without_line_number(line: str) -> str:
    """`line` as it was before somebody numbered it, as far as that shows."""
    return _LINE_NUMBER.sub("", line, count=1)


def loosely(line: str) -> str:
    """`line` without what `kind_of_difference` has a name for. For finding, never for placing."""
    line = html.unescape(without_line_number(line)).translate(_TYPOGRAPHIC)
    return "".join(line.split()).casefold()
