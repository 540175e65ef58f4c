"""Random files and real `git diff` output, clean and mangled: right or refused, never wrong.

`TOOLGATE_PATCH_SAMPLES` sets the number of samples of each kind (default 300). Every fifth sample
also goes to `git apply` and GNU patch, as a check of the samples and as a yardstick.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from functions.apply_patch.engine import Before, plan_request

SAMPLES = int(os.environ.get("TOOLGATE_PATCH_SAMPLES", "300"))
PATH = "src/file.txt"
QUIET = {
    **os.environ,
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
}

COMMON = ["", "", "}", "a", "b", "return x", "    pass", "end"]
TRAPS = [
    "form\ffeed", "lone\rreturn", "line\u2028separator", "next\x85line", "tab\there",
    "blanks at end  ",
    "-- a comment", "++ counter", "- item", "+ item", "--- a/x", "+++ b/x", "---", "===", "-- ",
    "@@ -1 +1 @@", "@@ -1,2 +1,2 @@ x", "diff --git a/x b/x", "Index: x", "*** End Patch",
    "*** 1,2 ****", "\\ No newline at end of file", "```", "```sh", "EOF", "<<<<<<< HEAD",
    " leading blank", "\t", "  ", "é ü ß", "日本語",
]  # fmt: skip


@dataclass(frozen=True)
class Sample:
    before: bytes
    after: bytes
    patch: str


def random_lines(rng: random.Random) -> list[str]:
    pools = (COMMON, TRAPS, [f"line {n}" for n in range(60)])
    weights = rng.choice([(3, 1, 3), (1, 3, 2), (5, 1, 0), (1, 1, 8)])
    count = rng.choice([rng.randint(0, 6), rng.randint(5, 40), rng.randint(30, 120)])
    return [rng.choice(rng.choices(pools, weights)[0]) for _ in range(count)]


def edited(lines: list[str], rng: random.Random) -> list[str]:
    lines = list(lines)
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, len(lines))
        lines[at : at + rng.randint(0, 3)] = random_lines(rng)[: rng.randint(0, 3)]
    return lines


def encoded(lines: list[str], end: str, *, terminated: bool, bom: bool) -> bytes:
    text = "".join(line + end for line in lines)
    if lines and not terminated:
        text = text.removesuffix(end)
    return (("\ufeff" if bom and text else "") + text).encode()


def make_sample(rng: random.Random, work: Path, contexts: Sequence[str]) -> Sample:
    """A change to a random file and what `git diff` says about it."""
    while True:
        lines, end = random_lines(rng), rng.choice(["\n", "\n", "\r\n"])
        if rng.random() < 0.1:  # mixed endings
            lines, end = [line + rng.choice(["", "\r"]) for line in lines], "\n"
        bom = rng.random() < 0.05
        terminated = rng.random() < 0.75
        before = encoded(lines, end, terminated=terminated, bom=bom)
        stays = terminated if rng.random() < 0.8 else not terminated
        after = encoded(edited(lines, rng), end, terminated=stays, bom=bom)
        if before != after:
            break
    for side, data in (("a", before), ("b", after)):
        (work / side / "src").mkdir(parents=True, exist_ok=True)
        (work / side / PATH).write_bytes(data)
    context = rng.choice(contexts)
    command = [
        "git",
        "diff",
        "--no-index",
        "--no-prefix",
        "--text",
        context,
        f"a/{PATH}",
        f"b/{PATH}",
    ]
    run = subprocess.run(command, cwd=work, env=QUIET, capture_output=True, check=False)
    assert run.returncode == 1, run.stderr
    return Sample(before, after, run.stdout.decode())


# Each mangling damages a diff as models and transports do, and leaves one sensible reading.


def wrong_counts(sample: Sample, rng: random.Random) -> str:
    def header(match: re.Match[str]) -> str:
        old, new = rng.randint(1, 30), rng.randint(1, 30)
        return f"@@ -{match[1]},{old} +{match[2]},{new} @@"

    return re.sub(
        r"^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@", header, sample.patch, flags=re.MULTILINE
    )


def stale_numbers(sample: Sample, rng: random.Random) -> str:
    shift = 1_000 + rng.randint(0, 9)  # past the end: no number can point at a place by accident

    def header(match: re.Match[str]) -> str:
        return f"@@ -{int(match[1]) + shift}{match[2]} +{int(match[3]) + shift}"

    return re.sub(r"^@@ -(\d+)(,\d+)? \+(\d+)", header, sample.patch, flags=re.MULTILINE)


def stripped_blanks(sample: Sample, _rng: random.Random) -> str:
    return re.sub(r"^ (\r?)$", r"\1", sample.patch, flags=re.MULTILINE)


def lf_only(sample: Sample, _rng: random.Random) -> str:
    both = sample.before, sample.after
    whole = all(text.count(b"\r\n") == text.count(b"\n") for text in both)
    shows = b"\r\n" in sample.before  # else nothing tells that the ending was CRLF
    return sample.patch.replace("\r\n", "\n") if whole and shows else sample.patch


def crlf_patch(sample: Sample, _rng: random.Random) -> str:
    fills = not sample.before  # then the endings are the patch's own
    has_cr = b"\r\n" in sample.before + sample.after
    return sample.patch if fills or has_cr else sample.patch.replace("\n", "\r\n")


def bare_context(sample: Sample, rng: random.Random) -> str:
    def line(match: re.Match[str]) -> str:
        return match[0][rng.randint(0, 1) :]

    return re.sub(r"^ [a-z}].*$", line, sample.patch, flags=re.MULTILINE)


def no_header(sample: Sample, _rng: random.Random) -> str:
    at = sample.patch.find("\n@@ ")
    return sample.patch[at + 1 :] if sample.before and sample.after else sample.patch


def fenced(sample: Sample, _rng: random.Random) -> str:
    end = "" if sample.patch.endswith("\n") else "\n"
    return f"Here is the patch:\n\n```diff\n{sample.patch}{end}```\nDone.\n"


def cut_newline(sample: Sample, _rng: random.Random) -> str:
    return sample.patch if sample.patch.endswith("\r\n") else sample.patch.removesuffix("\n")


MANGLINGS = [
    wrong_counts,
    stale_numbers,
    stripped_blanks,
    bare_context,
    lf_only,
    no_header,
    crlf_patch,
    cut_newline,
    fenced,
]


def mangled(sample: Sample, rng: random.Random) -> Sample:
    chosen = set(rng.sample(MANGLINGS, rng.randint(1, 3)))
    for mangle in MANGLINGS:  # in this order: a fence goes round everything else
        if mangle in chosen:
            sample = replace(sample, patch=mangle(sample, rng))
    return sample


@dataclass(frozen=True)
class Entry:
    path: str
    mode: str
    content: str


def verdict(sample: Sample) -> str:
    """`right`, `refused` or `wrong`."""
    plan = plan_request(
        lambda _path: Before(sample.before), [Entry(PATH, "unified_diff", sample.patch)]
    )
    if not plan.writes:
        assert plan.conflicts or plan.invalid
        return "refused"
    return "right" if plan.writes[0].data == sample.after else "wrong"


def reference_verdict(sample: Sample, work: Path, command: list[str]) -> str:
    target = work / PATH
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(sample.before)
    run = subprocess.run(
        command, cwd=work, env=QUIET, input=sample.patch.encode(), capture_output=True, check=False
    )
    if run.returncode:
        return "refused"
    now = target.read_bytes() if target.exists() else b""  # GNU patch removes what it empties
    return "right" if now == sample.after else "wrong"


GIT_APPLY = ["git", "apply", "--whitespace=nowarn", "-p1", "-"]
GNU_PATCH = ["patch", "-p1", "-f", "-s", "-r", "-", "--no-backup-if-mismatch", "--binary"]


def survey(
    seed: str, work: Path, *, mangle: bool, contexts: Sequence[str] = ("-U1", "-U3")
) -> tuple[Counter[str], Counter[str], Counter[str]]:
    ours: Counter[str] = Counter()
    git: Counter[str] = Counter()
    gnu: Counter[str] = Counter()
    has_gnu = shutil.which("patch") is not None
    for number in range(SAMPLES):
        rng = random.Random(f"{seed} {number}")
        sample = make_sample(rng, work, contexts)
        if mangle:
            sample = mangled(sample, rng)
        result = verdict(sample)
        ours[result] += 1
        assert result != "wrong", (seed, number, sample)
        if number % 5 == 0:
            git[reference_verdict(sample, work / "git", GIT_APPLY)] += 1
            if has_gnu:
                gnu[reference_verdict(sample, work / "gnu", GNU_PATCH)] += 1
    return ours, git, gnu


def test_clean_git_diffs_apply_as_git_applies_them(tmp_path):
    ours, git, gnu = survey("clean", tmp_path, mangle=False)
    assert git["right"] == sum(git.values())  # the samples are sound
    assert gnu["right"] == sum(gnu.values())
    assert ours["refused"] <= 0.01 * SAMPLES


def test_mangled_git_diffs_are_recovered_or_refused_never_misapplied(tmp_path):
    ours, git, gnu = survey("mangled", tmp_path, mangle=True)
    assert ours["refused"] <= 0.05 * SAMPLES
    assert git["right"] < 0.6 * sum(git.values())  # the samples are hard
    assert gnu["right"] < 0.95 * sum(gnu.values()) or not gnu


@pytest.mark.parametrize("mangle", [False, True])
def test_diffs_without_context_are_right_or_refused(tmp_path, mangle):
    ours, _git, _gnu = survey("bare", tmp_path, mangle=mangle, contexts=["-U0"])
    assert ours["right"]
    assert ours["refused"]
