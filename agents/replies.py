"""The one JSON value in a model's reply: alone, in a code fence, or among prose.

Nothing is guessed: a reply with two different values, or with braces outside its value, is refused,
as is everything that contracts/strict_json.py refuses. Messages never quote the reply.
"""

from __future__ import annotations

import json
import re
from typing import Any

from contracts import strict_json

REPLY_MAX_CHARACTERS = 2_000_000
_FENCE = re.compile(r"```[\w-]*[ \t]*\r?\n(.*?)\r?\n?```", re.DOTALL)
# Only the end of a value is asked of it; what it holds is read strictly afterwards.
_SPANS = json.JSONDecoder(parse_int=str, parse_float=str)


class ReplyError(ValueError):
    """The reply holds no usable JSON value; the message says why."""


def value_in(reply: str, schema: dict[str, Any]) -> Any:
    """The value in a reply. `schema` tells whether an object, an array or else is looked for.

    Raises ReplyError.
    """
    if len(reply) > REPLY_MAX_CHARACTERS:
        raise ReplyError(f"longer than {REPLY_MAX_CHARACTERS} characters")
    text = reply.removeprefix("\ufeff").strip()
    kind = schema.get("type")
    try:
        if kind in {"string", "integer", "number", "boolean", "null"}:
            fenced = _FENCE.findall(text)
            return strict_json.parse(fenced[0] if len(fenced) == 1 else text)
        opening, closing = ("[", "]") if kind == "array" else ("{", "}")
        if opening not in text:
            if text[:1] in {"[", "{"}:
                return strict_json.parse(text)  # whole, but of another type: the type says so
            raise ReplyError(f"there is no JSON {'array' if opening == '[' else 'object'} in it")
        if text[0] in "[{" and text[0] != opening:
            return strict_json.parse(text)
        return _only(_spans(text, opening, closing))
    except strict_json.StrictJsonError as error:
        raise ReplyError(str(error)) from None


def _spans(text: str, opening: str, closing: str) -> list[str]:
    """The values in a text, one after the other, with nothing but prose between them."""
    found, at = [], 0
    while (start := text.find(opening, at)) >= 0:
        _refuse_stray(text[at:start], closing)
        try:
            _, at = _SPANS.raw_decode(text, start)
        except RecursionError:
            raise ReplyError(f"nested deeper than {strict_json.DEPTH_MAX}") from None
        except json.JSONDecodeError as error:
            raise ReplyError(
                f"not JSON at line {error.lineno}, column {error.colno}: {error.msg}"
            ) from None
        found.append(text[start:at])
    _refuse_stray(text[at:], closing)
    return found


def _refuse_stray(prose: str, closing: str) -> None:
    if closing in prose:
        raise ReplyError(f"there is a stray {closing} outside the JSON value")


def _only(spans: list[str]) -> Any:
    value = strict_json.parse(spans[0])
    # Compared as text: to Python 1, 1.0 and True are the same.
    told = json.dumps(value, sort_keys=True)
    for span in spans[1:]:
        if json.dumps(strict_json.parse(span), sort_keys=True) != told:
            raise ReplyError("there are two different JSON values in it; send one")
    return value
