"""JSON text read strictly: what two parsers could read differently is refused, never guessed.

Duplicate keys, NaN and Infinity, numbers no double can hold, over-long integers, too deep nesting,
too much text, a byte order mark and anything after the value are errors.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

TEXT_MAX_CHARACTERS = 32_000_000
DEPTH_MAX = 64
DIGITS_MAX = 19

# Possessive: a string is read once, whatever it holds and whether or not it ends.
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_NO_BRACKETS = re.compile(r"[^\[\]{}]++")


class StrictJsonError(ValueError):
    """The text is not usable JSON; the message says why, without quoting it."""


def parse(text: str) -> Any:
    """The value that `text` holds. Raises StrictJsonError."""
    if len(text) > TEXT_MAX_CHARACTERS:
        raise StrictJsonError(f"longer than {TEXT_MAX_CHARACTERS} characters")
    if _too_deep(text):
        raise StrictJsonError(f"nested deeper than {DEPTH_MAX}")
    try:
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_float,
            parse_constant=_constant,
        )
    except json.JSONDecodeError as error:
        raise StrictJsonError(
            f"not JSON at line {error.lineno}, column {error.colno}: {error.msg}"
        ) from None


def _too_deep(text: str) -> bool:
    """Whether brackets outside strings nest too deep; the parser would recurse on each.

    Counting all brackets first is quick and settles nearly every text.
    """
    if text.count("[") + text.count("{") <= DEPTH_MAX:
        return False
    depth = 0
    for bracket in _NO_BRACKETS.sub("", _STRING.sub("", text)):
        if bracket in "[{":
            depth += 1
            if depth > DEPTH_MAX:
                return True
        else:
            depth -= 1
    return False


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise StrictJsonError("an object has the same key twice")
    return made


def _integer(digits: str) -> int:
    if len(digits.removeprefix("-")) > DIGITS_MAX:
        raise StrictJsonError(f"an integer has more than {DIGITS_MAX} digits")
    return int(digits)


def _float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise StrictJsonError("a number is too large")
    return number


def _constant(name: str) -> Any:
    raise StrictJsonError(f"{name} is not JSON")
