"""Text that a model wrote, made harmless and visible for a terminal and for a page alike. Pure.

Whatever moves a cursor, turns text around, or is there without being seen becomes a sign of its
own: an escape character is shown as `⟨ESC⟩`, a right-to-left override as `⟨U+202E⟩`.
"""

from __future__ import annotations

import json
import re
import unicodedata

from contracts.ignorable import without_ignorable

BLANKS_MAX = 64
"""A longer run of blanks is counted: text far to the right is text that nobody reads."""
MARKS_MAX = 4
"""More marks than this on one letter cover their neighbours."""

_ASCII_NAMES = (
    "NUL SOH STX ETX EOT ENQ ACK BEL BS TAB LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN "
    "EM SUB ESC FS GS RS US"
)
_ASCII_TABLE = {code: f"\u27e8{name}\u27e9" for code, name in enumerate(_ASCII_NAMES.split())}
_ASCII_TABLE[0x7F] = "\u27e8DEL\u27e9"
_ASCII_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_BLANKS = re.compile(rf"[ \t]{{{BLANKS_MAX + 1},}}")
_UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})
_BRAILLE_BLANK = "\u2800"
"""A sign of a script that is drawn as nothing."""
_OURS = frozenset({"\u27e8", "\u27e9"})
"""What our own signs are made of: spelled out, so that nobody can forge one."""
_ONE_WRITING = frozenset({"BOPOMOFO", "CJK", "HANGUL", "HIRAGANA", "KATAKANA", "LATIN"})
"""Scripts that people do write together, and that do not look alike."""


class Shown(str):
    """Text that `visible` has seen, or a sentence of ours whose foreign parts it has seen."""

    __slots__ = ()


def visible(text: str, *, keep: str = "") -> Shown:
    """The text with a sign in place of everything that is unseen or obeyed.

    It is one line, for line breaks get a sign, too; `keep` names controls to leave as they are, for
    texts of files. What has been made visible stays as it is.
    """
    if isinstance(text, Shown):
        return text
    if text.isascii():
        if _ASCII_CONTROL.search(text):
            text = text.translate(_without(_ASCII_TABLE, keep))
    else:
        text = _of_unicode(text, keep)
    return Shown(_BLANKS.sub(lambda run: f"\u27e8{len(run[0])} blanks\u27e9", text))


def escaped(text: str) -> str:
    """JSON text that means the same, with JSON's own escapes for what is unseen or obeyed."""
    signs = {0x7F: "\\u007f"}
    for character in set(text):
        if not character.isascii() and _is_unseen(character):
            signs[ord(character)] = json.dumps(character)[1:-1]
    return text.translate(signs)


def concerns(path: str) -> list[Shown]:
    """What may deceive the eye in a path, in sentences; nothing for an ordinary one."""
    found = []
    scripts = {_script(c): c for c in reversed(path) if c.isalpha()}
    if len(scripts) > 1 and not set(scripts) <= _ONE_WRITING:
        odd = [c for name, c in scripts.items() if name != "LATIN"]
        named = ", ".join(sorted({f"{c} is {unicodedata.name(c, _code(c))}" for c in odd}))
        alphabets = ", ".join(sorted(name.capitalize() for name in scripts))
        found.append(f"This path mixes letters of {alphabets}, which may look alike: {named}.")
    marks = sorted({c for c in path if not c.isascii() and unicodedata.category(c)[0] in "PS"})
    if marks:
        named = ", ".join(f"{visible(c)} is {unicodedata.name(c, _code(c))}" for c in marks)
        found.append(f"This path has signs that may look like others: {named}.")
    if visible(path) != path and not marks:
        found.append("This path holds characters that cannot be seen; they are shown by code.")
    if unicodedata.normalize("NFKC", path) != path:
        found.append("This path can be written in another way that looks the same.")
    return [Shown(sentence) for sentence in found]


def _of_unicode(text: str, keep: str) -> str:
    table: dict[int, str] = dict(_ASCII_TABLE)
    marks = []
    for character in set(text):
        if character.isascii():
            continue
        if _is_unseen(character) or character in _OURS:
            table[ord(character)] = _code(character)
        elif unicodedata.category(character) in {"Mn", "Me"}:
            marks.append(character)
    text = text.translate(_without(table, keep))
    if not marks:
        return text
    one = f"[{''.join(map(re.escape, marks))}]"
    heaps = re.compile(f"({one}{{{MARKS_MAX}}})({one}+)")
    return heaps.sub(lambda heap: heap[1] + "".join(map(_code, heap[2])), text)


def _without(table: dict[int, str], keep: str) -> dict[int, str]:
    return {code: sign for code, sign in table.items() if chr(code) not in keep}


def _is_unseen(character: str) -> bool:
    """Whether a character beyond ASCII is obeyed, or there without being seen."""
    if unicodedata.category(character) in _UNSEEN or character == _BRAILLE_BLANK:
        return True
    return not without_ignorable(character)


def _code(character: str) -> str:
    return f"\u27e8U+{ord(character):04X}\u27e9"


def _script(character: str) -> str:
    return unicodedata.name(character, "UNKNOWN").split(" ", 1)[0]
