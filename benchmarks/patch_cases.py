"""Requests that end in CONFLICT, made from real code, each with what its author meant.

Either the file is not what the author saw, or the diff is not what the author meant to send. Kinds
and weights follow what public reports of patch tools complain of: replays first, then stale and
misremembered context, then ambiguous places; the rest is rare.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import replace

from benchmarks.patch_stories import (
    Case,
    Edit,
    HunkText,
    Line,
    Story,
    applied,
    changed,
    diff_text,
    indent_of,
    joined,
)
from functions.apply_patch.engine import FileChange

# The file is not what the author saw.


def _foreign(
    told: Story, make: Callable[[str], list[str]], most: int = 1, *, inserts: bool = False
) -> Case:
    """Someone else changes lines that the diff shows as context.

    What `inserts` comes between two lines of context: beside the author's own lines, nobody could
    say which come first.
    """
    rng, foreign = told.rng, []
    for edit in rng.sample(told.edits, rng.randint(1, len(told.edits))):
        around = [edit.start - 2, edit.end]
        near = around if inserts else [*around, edit.start - 1, edit.end + 1]
        near = [at for at in near if told.seen[at].strip()]
        foreign += [
            Edit(at, at + 1, tuple(make(told.seen[at])))
            for at in rng.sample(near, min(most, len(near)))
        ]
    case = told.send(told.hunks(), applied(told.seen, foreign))
    return replace(case, meant={told.path: joined(applied(told.seen, [*told.edits, *foreign]))})


def stale_line(told: Story) -> Case:
    return _foreign(told, lambda line: [changed(line, told.rng)])


def stale_lines(told: Story) -> Case:
    return _foreign(told, lambda line: [changed(line, told.rng)], most=3)


def line_came(told: Story) -> Case:
    new = f"log({told.rng.random():.4f})"
    return _foreign(told, lambda line: [line, indent_of(line) + new], inserts=True)


def line_went(told: Story) -> Case:
    return _foreign(told, lambda _line: [])


def already_applied(told: Story) -> Case:
    done = told.rng.sample(told.edits, told.rng.randint(1, len(told.edits)))
    return told.send(told.hunks(), applied(told.seen, done))


# The diff is not what the author meant to send.


def _miswritten(told: Story, damage: Callable[[list[Line]], list[Line]]) -> Case:
    hunks = told.hunks()
    hit = range(len(hunks)) if told.rng.random() < 0.3 else [told.rng.randrange(len(hunks))]
    hunks = [
        replace(hunk, body=damage(hunk.body)) if i in hit else hunk for i, hunk in enumerate(hunks)
    ]
    return told.send(hunks)


def _one_old_line(told: Story, spoil: Callable[[str], str]) -> Case:
    def damage(body: list[Line]) -> list[Line]:
        old = [i for i, (tag, text) in enumerate(body) if tag != "+" and text.strip()]
        at = told.rng.choice(old or [0])
        return [(t, spoil(x) if i == at else x) for i, (t, x) in enumerate(body)]

    return _miswritten(told, damage)


def _every_line(told: Story, spoil: Callable[[str], str]) -> Case:
    return _miswritten(told, lambda body: [(tag, spoil(text)) for tag, text in body])


def misremembered(told: Story) -> Case:
    return _one_old_line(told, lambda line: changed(line, told.rng))


def misspelt(told: Story) -> Case:
    def spoil(line: str) -> str:
        at = told.rng.randrange(len(indent_of(line)), len(line))
        return line[:at] + line[at + 1 :]

    return _one_old_line(told, spoil)


def indentation(told: Story) -> Case:
    shift = told.rng.choice(["more", "less", "half", "tabs"])

    def spoil(line: str) -> str:
        indent = indent_of(line)
        rest = line[len(indent) :]
        if not rest:
            return line
        if shift == "more":
            return "    " + line
        if shift == "less":
            return line.removeprefix("    ")
        return ("\t" if shift == "tabs" else "  ") * (len(indent) // 4) + rest

    return _every_line(told, spoil)


def inner_blanks(told: Story) -> Case:
    return _one_old_line(
        told, lambda line: indent_of(line) + re.sub(r" ?([=,+(]) ?", r"\1", line.strip())
    )


def line_numbers(told: Story) -> Case:
    style = told.rng.choice(["{}| {}", "{:>6}\t{}", "{:4}: {}"])
    also_new = told.rng.random() < 0.5
    first = told.rng.randint(1, 900)

    def damage(body: list[Line]) -> list[Line]:
        return [
            (tag, text if tag == "+" and not also_new else style.format(first + i, text))
            for i, (tag, text) in enumerate(body)
        ]

    return _miswritten(told, damage)


def html_escaped(told: Story) -> Case:
    quote = told.rng.random() < 0.5
    return _every_line(told, lambda line: html.escape(line, quote=quote))


def backslashes(told: Story) -> Case:
    return _every_line(told, lambda line: line.replace('"', '\\"').replace("'", "\\'"))


def letter_case(told: Story) -> Case:
    return _one_old_line(told, str.lower)


def cut_short(told: Story) -> Case:
    return _one_old_line(
        told, lambda line: line[: max(len(indent_of(line)) + 3, len(line) * 2 // 3)]
    )


def smart_quotes(told: Story) -> Case:
    def spoil(line: str) -> str:
        line = re.sub(r'"([^"]*)"', "\u201c\\1\u201d", line)
        return re.sub(r"'([^']*)'", "\u2018\\1\u2019", line)

    return _every_line(told, spoil)


def plain_quotes(told: Story) -> Case:
    """The file has typographic characters, the diff has none."""
    rng, edit = told.rng, told.rng.choice(told.edits)
    remark = "  # " + rng.choice(["\u201cso\u201d", "it\u2019s", "a \u2013 b", "wait\u2026"])
    seen, edits = list(told.seen), list(told.edits)
    at = rng.choice([edit.start - 1, edit.start, edit.end])
    seen[at] += remark
    if at == edit.start < edit.end and edit.new:
        changed_line = replace(edit, new=(edit.new[0] + remark, *edit.new[1:]))
        edits[edits.index(edit)] = changed_line
    plain = str.maketrans(
        {"\u201c": '"', "\u201d": '"', "\u2019": "'", "\u2013": "-", "\u2026": "..."}
    )
    mended = Story(rng, told.path, seen, edits)
    return _every_line(mended, lambda line: line.translate(plain))


def elided(told: Story) -> Case:
    """Context left out, three dots in its place."""
    hunks = told.hunks(5)

    def damage(body: list[Line]) -> list[Line]:
        first = next(i for i, (tag, _) in enumerate(body) if tag != " ")
        if first < 3:
            return body
        return [body[0], (" ", indent_of(body[1][1]) + "..."), *body[first - 1 :]]

    return told.send([replace(hunk, body=damage(hunk.body)) for hunk in hunks])


def one_after_the_other(told: Story) -> Case:
    """The second of two near hunks shows what the first makes of the file."""
    return _two_hunks(told, sequential=True)


def overlap(told: Story) -> Case:
    """Two hunks, each with context that the other changes."""
    return _two_hunks(told, sequential=False)


def _two_hunks(told: Story, *, sequential: bool) -> Case:
    first = told.edits[0]
    at = first.end + told.rng.randint(1, 2)
    second = Edit(at, at + 1, (changed(told.seen[at], told.rng),))
    both = Story(told.rng, told.path, told.seen, [first, second])
    upper = replace(both, edits=[first]).hunks(3)
    if not sequential:
        lower = replace(both, edits=[second]).hunks(3)
        return both.send([*upper, *lower])
    after = applied(told.seen, [first])
    moved = len(first.new) - (first.end - first.start)
    later = Edit(at + moved, at + moved + 1, second.new)
    lower = Story(told.rng, told.path, after, [later]).hunks(3)
    return both.send([*upper, *lower])


def target_as_context(told: Story) -> Case:
    """A line as it should become, marked as if it were there."""

    def damage(body: list[Line]) -> list[Line]:
        pairs = [i for i in range(len(body) - 1) if body[i][0] == "-" and body[i + 1][0] == "+"]
        if not pairs:
            return body
        at = pairs[0]
        return [*body[:at], (" ", body[at + 1][1]), *body[at + 2 :]]

    return _miswritten(told, damage)


def wrong_scope(told: Story) -> Case:
    hunks = [replace(hunk, header="@@ def no_such_function():") for hunk in told.hunks()]
    return told.send(hunks)


# The diff does not say where.


def ambiguous(told: Story) -> Case:
    """One line without context that the file has several times; the number or heading may help."""
    rng, lines = told.rng, told.seen
    counts: dict[str, list[int]] = {}
    for i, line in enumerate(lines):
        if line.strip() and 1 < i < len(lines) - 2:
            counts.setdefault(line, []).append(i)
    places = [found for found in counts.values() if len(found) > 1]
    if not places:
        return Case("", [], {})
    at = rng.choice(rng.choice(places))
    edit = Edit(at, at + 1, (f"{indent_of(lines[at])}chosen({rng.random():.4f})",))
    style = rng.random()
    if style < 0.5:
        near = at + 1 + rng.choice([0, 0, -2, -1, 1, 2])
        header = f"@@ -{near},1 +{near},1 @@"
    elif style < 0.85:
        heading = next(
            (
                x.strip()
                for x in lines[at::-1]
                if re.match(r"\s*(def|class) ", x) and len(indent_of(x)) < len(indent_of(lines[at]))
            ),
            "",
        )
        header = f"@@ -1,1 +1,1 @@ {heading}"
    else:
        header = "@@ ... @@"
    told = replace(told, edits=[edit])
    return told.send([HunkText(header, [("-", lines[at]), ("+", edit.new[0])])])


def unanchored(told: Story) -> Case:
    """Only added lines: below a line that is numbered, or below a scope that is named."""
    rng, lines = told.rng, told.seen
    scopes = [i for i, line in enumerate(lines) if re.match(r"\s*(def|class) .*:$", line)]
    at = told.edits[0].start
    header = f"@@ -{at},0 +{at + 1},2 @@"
    if scopes and rng.random() < 0.4:
        at = rng.choice(scopes) + 1
        header = f"@@ {lines[at - 1].strip()}"
    new = tuple(f"{indent_of(lines[at])}added_{n} = {rng.random():.4f}" for n in range(2))
    told = replace(told, edits=[Edit(at, at, new)])
    return told.send([HunkText(header, [("+", line) for line in new])])


# The path is not right.


def wrong_path(told: Story) -> Case:
    """The name misspelt, or, less often, the directory."""
    case, rng = told.send(told.hunks()), told.rng
    folder, _, name = told.path.rpartition("/")
    if rng.random() < 0.7:
        stem = name.removesuffix(".py")
        at = rng.randrange(len(stem))
        short = stem[:at] + stem[at + 1 :]
        bad = f"{folder}/{rng.choice([stem + 's', short or 'x', stem.title()])}.py"
    else:
        bad = f"src/{name}"
    diff = diff_text(bad, told.hunks())
    return replace(case, entries=[FileChange(bad, "unified_diff", diff)])


def file_exists(told: Story) -> Case:
    """A diff that creates a file which is there."""
    new = applied(told.seen, told.edits)[:60]
    text = "\n".join(
        [
            "--- /dev/null",
            f"+++ b/{told.path}",
            f"@@ -0,0 +1,{len(new)} @@",
            *("+" + x for x in new),
        ]
    )
    entry = FileChange(told.path, "unified_diff", text + "\n")
    return Case("", [entry], {told.path: joined(told.seen)}, {told.path: joined(new)})


def leaves_content(told: Story) -> Case:
    """A diff that deletes a file whose head alone was seen."""
    gone = told.seen[:40]
    text = "\n".join(
        [
            f"--- a/{told.path}",
            "+++ /dev/null",
            f"@@ -1,{len(gone)} +0,0 @@",
            *("-" + x for x in gone),
        ]
    )
    entry = FileChange(told.path, "unified_diff", text + "\n")
    return Case("", [entry], {told.path: joined(told.seen)}, {told.path: None})
