"""Random changes of random files as `git diff` shows them, clean and mangled as models mangle them.

A sample knows its own answer: the bytes that whoever made the diff had in mind.
"""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.functions.patch.references import QUIET

COMMON = ["", "", "}", "a", "b", "return x", "    pass", "end"]
TRAPS = [
    "form\ffeed", "\f", "lone\rreturn", "\rat the head", "vertical\vtab", "file\x1cseparator",
    "line\u2028separator", "paragraph\u2029separator", "next\x85line", "tab\there",
    "blanks at end  ",
    "-- a comment", "++ counter", "- item", "+ item", "--- a/x", "+++ b/x", "---", "===", "-- ",
    "@@ -1 +1 @@", "@@ -1,2 +1,2 @@ x", "diff --git a/x b/x", "Index: x", "*** End Patch",
    "*** 1,2 ****", "\\ No newline at end of file", "```", "```sh", "EOF", "<<<<<<< HEAD",
    " leading blank", "\t", "  ", "é ü ß", "日本語",
]  # fmt: skip


@dataclass(frozen=True)
class Sample:
    """One file's change."""

    path: str
    before: bytes | None
    """None: the diff creates the file."""
    after: bytes | None
    """What is meant; None: the diff deletes the file."""
    patch: str


def _random_lines(rng: random.Random) -> list[str]:
    pools = (COMMON, TRAPS, [f"line {n}" for n in range(60)])
    weights = rng.choice([(3, 1, 3), (1, 3, 2), (5, 1, 0), (1, 1, 8)])
    count = rng.choice([rng.randint(0, 6), rng.randint(5, 40), rng.randint(30, 120)])
    return [rng.choice(rng.choices(pools, weights)[0]) for _ in range(count)]


def _edited(lines: list[str], rng: random.Random) -> list[str]:
    lines = list(lines)
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, len(lines))
        lines[at : at + rng.randint(0, 3)] = _random_lines(rng)[: rng.randint(0, 3)]
    return lines


def _encoded(lines: list[str], end: str, *, terminated: bool, bom: bool) -> bytes:
    text = "".join(line + end for line in lines)
    if lines and not terminated:
        text = text.removesuffix(end)
    return (("\ufeff" if bom and text else "") + text).encode("utf-8", "surrogateescape")


def _change(rng: random.Random) -> tuple[bytes | None, bytes | None]:
    """The bytes of a file before and after an edit; rarely, one side has no file."""
    while True:
        lines, end = _random_lines(rng), rng.choice(["\n", "\n", "\r\n"])
        if rng.random() < 0.1:  # mixed endings; unterminated, the last line may end in a lone CR
            lines, end = [line + rng.choice(["", "\r"]) for line in lines], "\n"
        if lines and rng.random() < 0.05:  # bytes that are not UTF-8
            lines[rng.randrange(len(lines))] = "caf\udce9\udcff"
        bom = rng.random() < 0.05
        terminated = rng.random() < 0.75
        before = _encoded(lines, end, terminated=terminated, bom=bom)
        stays = terminated if rng.random() < 0.8 else not terminated
        after = _encoded(_edited(lines, rng), end, terminated=stays, bom=bom)
        if before != after:
            break
    if after and rng.random() < 0.03:
        return None, after
    if before and rng.random() < 0.03:
        return before, None
    return before, after


def samples(seed: str, count: int, work: Path, context: str, batch: int = 250) -> Iterator[Sample]:
    """`count` changes with the diffs that git makes of them, a few hundred from each `git diff`.

    Left out: a change whose diff is not text, for no model could send it; and one that brings LF
    into a CRLF file by a diff without any CR, for it stays CRLF by our policy.
    """
    made = 0
    for start in range(0, 10 * count, batch):
        changes = {}
        for number in range(start, start + batch):
            changes[number] = _change(random.Random(f"{seed} {number}"))
        for path, patch in _git_diff(work / f"{seed} {context} {start}", changes, context):
            before, after = changes[int(path.split("/")[0])]
            if _only_crlf(before) and not _only_crlf(after) and "\r\n" not in patch:
                continue
            yield Sample(path, before, after, patch)
            made += 1
            if made == count:
                return


def _only_crlf(text: bytes | None) -> bool:
    return text is not None and text.count(b"\r\n") == text.count(b"\n") > 0


def _git_diff(
    work: Path, changes: dict[int, tuple[bytes | None, bytes | None]], context: str
) -> Iterator[tuple[str, str]]:
    for number, sides in changes.items():
        for side, data in zip("ab", sides, strict=True):
            (work / side / str(number)).mkdir(parents=True)
            if data is not None:
                (work / side / _path(number)).write_bytes(data)
    command = ["git", "diff", "--no-index", "--no-prefix", "--text", "--no-renames", context]
    run = subprocess.run(
        [*command, "a", "b"], cwd=work, env=QUIET, capture_output=True, check=False
    )
    assert run.returncode == 1, run.stderr
    # Content never stands in the first column, so these are the headers.
    starts = [found.start() for found in re.finditer(rb"^diff --git ", run.stdout, re.MULTILINE)]
    for start, stop in zip(starts, [*starts[1:], len(run.stdout)], strict=True):
        number = re.match(rb"diff --git [ab]/(\d+)/", run.stdout[start:stop])
        assert number
        try:
            yield _path(int(number[1])), run.stdout[start:stop].decode()
        except UnicodeDecodeError:
            continue


def _path(number: int) -> str:
    return f"{number}/file.txt"


# Each mangling damages a diff as models and transports do, and leaves one sensible reading.


def _wrong_counts(sample: Sample, rng: random.Random) -> str:
    def header(match: re.Match[str]) -> str:
        old, new = rng.randint(1, 30), rng.randint(1, 30)
        return f"@@ -{match[1]},{old} +{match[2]},{new} @@"

    return re.sub(
        r"^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@", header, sample.patch, flags=re.MULTILINE
    )


def _stale_numbers(sample: Sample, rng: random.Random) -> str:
    shift = 1_000 + rng.randint(0, 9)  # past the end: no number can point at a place by accident

    def header(match: re.Match[str]) -> str:
        return f"@@ -{int(match[1]) + shift}{match[2]} +{int(match[3]) + shift}"

    return re.sub(r"^@@ -(\d+)(,\d+)? \+(\d+)", header, sample.patch, flags=re.MULTILINE)


def _no_numbers(sample: Sample, _rng: random.Random) -> str:
    return re.sub(r"^@@ -.*?@@", "@@ ... @@", sample.patch, flags=re.MULTILINE)


def _stripped_blanks(sample: Sample, _rng: random.Random) -> str:
    return re.sub(r"^ (\r?)$", r"\1", sample.patch, flags=re.MULTILINE)


def _trailing_blanks(sample: Sample, _rng: random.Random) -> str:
    # No file has these blanks, so they cannot make the line another one.
    return re.sub(r"^( [a-z}]\S*)(\r?)$", r"\1 \t \2", sample.patch, flags=re.MULTILINE)


def _lf_only(sample: Sample, _rng: random.Random) -> str:
    both = [side or b"" for side in (sample.before, sample.after)]
    whole = all(text.count(b"\r\n") == text.count(b"\n") for text in both)
    shows = b"\r\n" in both[0]  # else nothing tells that the ending was CRLF
    half = any(text.endswith(b"\r") for text in both)  # a CR that no file says is an ending
    fair = whole and shows and not half
    return sample.patch.replace("\r\n", "\n") if fair else sample.patch


def _crlf_patch(sample: Sample, _rng: random.Random) -> str:
    fills = not sample.before  # then the endings are the patch's own
    has_cr = b"\r\n" in (sample.before or b"") + (sample.after or b"")
    return sample.patch if fills or has_cr else sample.patch.replace("\n", "\r\n")


def _bare_context(sample: Sample, rng: random.Random) -> str:
    def line(match: re.Match[str]) -> str:
        return match[0][rng.randint(0, 1) :]

    return re.sub(r"^ [a-z}].*$", line, sample.patch, flags=re.MULTILINE)


def _no_header(sample: Sample, _rng: random.Random) -> str:
    at = sample.patch.find("\n@@ ")
    return sample.patch[at + 1 :] if sample.before and sample.after else sample.patch


def _fenced(sample: Sample, _rng: random.Random) -> str:
    end = "" if sample.patch.endswith("\n") else "\n"
    return f"Here is the patch:\n\n```diff\n{sample.patch}{end}```\nDone.\n"


def _cut_newline(sample: Sample, _rng: random.Random) -> str:
    # Never between CR and LF: what is left would say that the line ends in a lone CR.
    return sample.patch if sample.patch.endswith("\r\n") else sample.patch.removesuffix("\n")


MANGLINGS = [
    _wrong_counts,
    _stale_numbers,
    _no_numbers,
    _stripped_blanks,
    _trailing_blanks,
    _bare_context,
    _lf_only,
    _no_header,
    _crlf_patch,
    _cut_newline,
    _fenced,
]


def mangled(found: Sequence[Sample] | Iterator[Sample], seed: str) -> Iterator[Sample]:
    """Each sample with one to three kinds of damage."""
    for sample in found:
        rng = random.Random(f"{seed} {sample.path}")
        chosen = set(rng.sample(MANGLINGS, rng.randint(1, 3)))
        damaged = sample
        for mangle in MANGLINGS:  # in this order: a fence goes round everything else
            if mangle in chosen:
                damaged = replace(damaged, patch=mangle(damaged, rng))
        yield damaged
