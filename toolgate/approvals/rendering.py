"""What a call would do, as blocks for a person to read. Pure: stored arguments in, blocks out.

Everything in the arguments is there: what a tool's view does not know is shown as JSON. `title`
(unless it is a path), `label`, `said` and `warnings` are our words; every other text is the
agent's own, and not to be trusted.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from toolgate.approvals.lines import Line, changed, of_json, sent_diff, whole
from toolgate.approvals.visible import Shown, concerns, visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from toolgate.approvals.client import Before, Released, Statement

PATCH, WRITE, RELEASE = "apply_patch", "write_file", "release.publish"
FILES_COUNTED = 10_000
"""Above it the API stops counting."""
REVISION_SHOWN = 12
"""Characters of a revision in a sentence."""
_NAMES = {
    "repoRoot": "Workspace",
    "expectedRevision": "At revision",
    "name": "Release",
    "version": "Version",
    "revision": "Revision",
    "overwrite": "Overwrite",
}
_NEEDED = {
    "unified_diff": ("path", "content"),
    "replace_full": ("path", "content"),
    "delete": ("path",),
    "move": ("path", "newPath"),
}
"""The fields of each kind of change."""


@dataclass(frozen=True)
class Fact:
    """A name of ours for a value of the agent's."""

    name: str
    value: Shown


@dataclass(frozen=True)
class Passage:
    """Lines that belong together, under a title of ours."""

    title: str
    lines: Sequence[Line]

    @property
    def added(self) -> int:
        """How many lines are new."""
        return sum(line.kind == "added" for line in self.lines)

    @property
    def removed(self) -> int:
        """How many lines go."""
        return sum(line.kind == "removed" for line in self.lines)


@dataclass(frozen=True)
class Row:
    """One row of a workspace's history."""

    revision: Shown
    tool: Shown
    by: Shown
    at: str
    message: Shown
    paths: tuple[Shown, ...]
    more: int


@dataclass(frozen=True, kw_only=True)
class Block:
    """One thing to read.

    `title` names what it is about: our words, or a path of the agent's if `is_path`. `said` are
    sentences of ours, `warnings` are those that must not be missed.
    """

    title: str
    is_path: bool = False
    label: str = ""
    said: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    rows: tuple[Row, ...] = ()
    passages: tuple[Passage, ...] = ()


@dataclass(frozen=True)
class Questions:
    """What else must be known to show a call: files by path, and what is released."""

    paths: tuple[str, ...] = ()
    revision: bool = False


def questions(statement: Statement) -> Questions:
    """What to ask the API for before `blocks`."""
    args = statement.args
    if statement.tool == PATCH:
        replaced = [one["path"] for one in _files(args) if one["mode"] == "replace_full"]
        return Questions(tuple(dict.fromkeys(replaced)))
    if statement.tool == WRITE and isinstance(args.get("path"), str):
        return Questions((args["path"],))
    return Questions(revision=statement.tool == RELEASE)


def blocks(
    statement: Statement,
    before: Mapping[str, Before],
    released: Released | None,
) -> list[Block]:
    """The call, to be read from top to bottom. `before` and `released` answer `questions`."""
    args = dict(statement.args)
    if statement.tool == PATCH and _is_patch(args):
        files = args.pop("files")
        pinned = isinstance(args.get("expectedRevision"), str)
        return [
            _facts("The change", args, _pinned(pinned=pinned)),
            *(_file(one, before, pinned=pinned) for one in files),
        ]
    if statement.tool == WRITE and {"path", "content"} <= args.keys():
        one = {"mode": "replace_full", "path": args.pop("path"), "content": args.pop("content")}
        if _is_change(one):
            facts = _facts("The change", args, _pinned(pinned=False))
            return [facts, _file(one, before, pinned=False)]
    if statement.tool == RELEASE:
        return [_facts("The release", args, ()), *_history(released)]
    return [_json("The arguments", statement.args)]


def _pinned(*, pinned: bool) -> tuple[str, ...]:
    if pinned:
        return ("It is made on this revision or not at all: what you see is what will be.",)
    return ("It names no revision: files may change before it is made.",)


def _facts(title: str, args: dict[str, Any], said: tuple[str, ...]) -> Block:
    plain = {name: value for name, value in args.items() if isinstance(value, str | bool | int)}
    rest = {name: value for name, value in args.items() if name not in plain}
    order = sorted(plain, key=lambda name: (name not in _NAMES, [*_NAMES, name].index(name)))
    facts = tuple(Fact(_NAMES.get(name, visible(name)), _word(plain[name])) for name in order)
    passages = (Passage("Other arguments", of_json(rest)),) if rest else ()
    return Block(title=title, said=said, facts=facts, passages=passages)


def _word(value: Any) -> Shown:
    return visible(value if isinstance(value, str) else json.dumps(value))


def _file(one: dict[str, Any], before: Mapping[str, Before], *, pinned: bool) -> Block:
    mode, path = one["mode"], one["path"]
    rest = {name: value for name, value in one.items() if name not in {"mode", *_NEEDED[mode]}}
    others = (Passage("Other arguments", of_json(rest)),) if rest else ()
    facts: tuple[Fact, ...] = ()
    warnings = concerns(path)
    if mode == "unified_diff":
        label, said, passages = _patched(one["content"])
    elif mode == "replace_full":
        label, said, passages = _replaced(one["content"], before.get(path), pinned=pinned)
    elif mode == "delete":
        label, said, passages = "Deleted", ("The file is deleted.",), ()
    else:
        target = one["newPath"]
        label, said, passages = "Moved", ("The file is moved, with its bytes as they are.",), ()
        facts = (Fact("To", visible(target)),)
        warnings += [Shown(w.replace("This path", "The new path", 1)) for w in concerns(target)]
    return Block(
        title=visible(path),
        is_path=True,
        label=label,
        said=said,
        warnings=tuple(warnings),
        facts=facts,
        passages=(*passages, *others),
    )


_View = tuple[str, tuple[str, ...], tuple[Passage, ...]]
"""What is done to a file in a word, in sentences, and to the letter."""


def _patched(diff: str) -> _View:
    lines = sent_diff(diff)
    header = [line.text for line in takewhile(lambda line: line.kind != "hunk", lines)]
    label = "Changed by a diff"
    if "--- /dev/null" in header:
        label = "Created by a diff"
    elif "+++ /dev/null" in header:
        label = "Deleted by a diff"
    said = "The diff is as the agent sent it; where its line numbers are wrong, its context counts."
    return label, (said,), (Passage("Diff", lines),)


def _replaced(content: str, found: Before | None, *, pinned: bool) -> _View:
    text = Passage("The whole new text", whole(content))
    state = found.get("state") if found else None
    if found is None or state in {None, "unread"}:
        why = f": {visible(found['text'])}" if found and "text" in found else ""
        said = Shown(f"What it holds now could not be read{why}.")
        return "Written whole", (said,), (text,)
    if state == "missing":
        return "Created", ("There is no such file yet.",), (text,)
    if state == "text":
        if found["text"] == content:
            return "Unchanged", ("The file holds exactly this text already.",), (text,)
        diff = Passage("Difference", changed(found["text"], content))
        revision = visible(found.get("revision", "")[:REVISION_SHOWN])
        said = Shown(f"Compared with revision {revision}…; most equal lines are left out.")
        return "Replaced", (said,), (diff,) if pinned else (diff, text)
    now = {"binary": "is no text", "too_large": "is too large to be compared"}
    said = Shown(f"What is there now {now.get(str(state), 'is no ordinary file')}.")
    return "Replaced", (said,), (text,)


def _history(released: Released | None) -> list[Block]:
    if released is None:
        said = "What the revision holds could not be read."
        return [Block(title="What is released", warnings=(said,))]
    count = released["fileCount"]
    files = f"more than {FILES_COUNTED:,}" if count > FILES_COUNTED else f"{count:,}"
    rows = tuple(
        Row(
            revision=visible(str(row["revision"])),
            tool=visible(str(row["tool"])),
            by=visible(str(row["by"])),
            at=str(row["at"]),
            message=visible(str(row["message"])),
            paths=tuple(visible(str(path)) for path in row["paths"]),
            more=int(row["more"]),
        )
        for row in released["log"]
    )
    said = f"The revision holds {files} file{'' if count == 1 else 's'}."
    newest = f"Its newest {len(rows)} changes, the last one first." if len(rows) > 1 else ""
    return [Block(title="What is released", said=tuple(filter(None, (said, newest))), rows=rows)]


def _json(title: str, value: Any) -> Block:
    return Block(
        title=title,
        said=("This tool has no view of its own: these are its arguments as JSON.",),
        passages=(Passage("JSON", of_json(value)),),
    )


def _is_patch(args: dict[str, Any]) -> bool:
    files = args.get("files")
    return isinstance(files, list) and all(map(_is_change, files))


def _is_change(one: Any) -> bool:
    if not isinstance(one, dict) or one.get("mode") not in _NEEDED:
        return False
    return all(isinstance(one.get(name), str) for name in _NEEDED[one["mode"]])


def _files(args: dict[str, Any]) -> list[dict[str, Any]]:
    return args["files"] if _is_patch(args) else []
