"""Patch text to `Patch`: unified diffs as git, GNU diff and models write them, and V4A.

A hunk whose header counts fit its body is taken by them, so `--- x` and `+++ y` inside it are
content. Any other hunk is recounted: it runs to the next line that can only be structure. Header
counts are never used to splice. Reading is linear in the text.
"""

from __future__ import annotations

from .body import has_cr
from .envelope import Envelope, unwrap
from .hunk import Hunk, Patch, Unusable
from .paths import canonical, same_file
from .sections import Section, read_sections

_MULTIPLE_FILES = (
    "The diff has sections for several files or operations. Send one entry per file, each with its "
    "own diff."
)
_TWO_NAMES = (
    "The header names two different files. An entry changes one path; to rename, delete the old "
    "file in one entry and create the new one in another."
)


def parse_patch(text: str, path: str, root: str | None = None) -> Patch:
    """Read `text` as a change to the one file `path`.

    `root` is the repository's absolute path: headers may name the file below it. Raises Unusable.
    """
    envelope = unwrap(text)
    sections = read_sections(envelope)
    _check_one_file(sections, path, root)
    return _merge(sections, envelope)


def _check_one_file(sections: list[Section], path: str, root: str | None) -> None:
    files = set()
    for section in sections:
        if section.named_unclearly and not section.names:
            raise Unusable("PATH_MISMATCH", _mismatch(path), section.line)
        fitting = [_fits(name, line, path, root) for name, line in section.names]
        if not all(fitting):
            line = section.names[fitting.index(False)][1]
            if len(sections) > 1:
                raise Unusable("MULTIPLE_FILES", _MULTIPLE_FILES, line)
            if any(fitting):
                raise Unusable("RENAME_UNSUPPORTED", _TWO_NAMES, line)
            raise Unusable("PATH_MISMATCH", _mismatch(path), line)
        if section.names:
            files.add(canonical(section.names[-1][0], root))
    if len(files) > 1 or len({section.intent for section in sections}) > 1:
        raise Unusable("MULTIPLE_FILES", _MULTIPLE_FILES, sections[-1].line)


def _mismatch(path: str) -> str:
    return f"The diff's header names another file than 'path' ({path}). Make them the same."


def _fits(name: str, line: int, path: str, root: str | None) -> bool:
    try:
        return same_file(name, path, root)
    except Unusable as error:
        raise Unusable(error.code, error.hint, line) from None


def _merge(sections: list[Section], envelope: Envelope) -> Patch:
    intent = sections[0].intent if sections else "modify"
    found = [hunk for section in sections for hunk in section.hunks]
    if intent == "create":
        _check_creation(found)
    hunks = tuple(hunk for hunk in found if hunk.changes)
    modes = [s.executable for s in sections if s.executable is not None]
    nothing_else = intent == "modify" and not modes
    if nothing_else and not found:
        raise Unusable(
            "NO_HUNKS",
            "The diff has no hunk. Send '@@ -N,N +N,N @@' and the changed lines below it.",
        )
    if nothing_else and not hunks:
        raise Unusable(
            "NO_CHANGES",
            "No hunk adds or removes anything. Mark changed lines with '-' and '+'.",
            found[0].header_line,
        )
    if len(sections) > 1 and (idle := [s for s in sections if s.asks_nothing]):
        raise Unusable("JUNK", "This file header has no hunk below it.", idle[0].line)
    return Patch(
        intent=intent,
        hunks=hunks,
        executable=modes[-1] if modes else None,
        unconditional=any(section.unconditional for section in sections),
        has_cr=has_cr(envelope.lines[envelope.start : envelope.stop]),
        notes=(*envelope.notes, *_notes(sections, found)),
    )


def _check_creation(hunks: list[Hunk]) -> None:
    for hunk in hunks:
        stray = next((line for line in hunk.lines if line.tag != "+"), None)
        if stray is None:
            continue
        if not hunk.header:
            raise Unusable(
                "BAD_ADD_LINE", "Every line of an added file starts with '+'.", stray.number
            )
        raise Unusable(
            "CREATE_WITH_CONTEXT",
            "A diff that creates a file has only '+' lines. To change a file, name it in '---'.",
            stray.number,
        )


def _notes(sections: list[Section], hunks: list[Hunk]) -> list[str]:
    notes = []
    if any(section.recounted for section in sections):
        notes.append("hunk header counts were wrong and have been ignored")
    if any(hunk.loose for hunk in hunks):
        notes.append("context lines without their leading blank accepted")
    if any(not hunk.changes for hunk in hunks):
        notes.append("hunks without a change skipped")
    return notes
