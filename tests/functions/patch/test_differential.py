"""Random files and real `git diff` output, clean and mangled: right or refused, never wrong.

2 000 diffs, and 20 000 in the long run. `git apply` gets every clean one, and its result is ours
wherever it applies one at the stated place. Where GNU patch is installed it is asked as well. Of
the mangled ones a share goes to both, as a check that the samples are hard: there the answer is
what the change was before its diff was damaged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

from functions.apply_patch.engine import Before, FileChange, plan_request
from tests.functions.patch import references
from tests.functions.patch.references import GIT, GNU
from tests.functions.patch.samples import Sample, mangled, samples

USUAL = 2_000
LONG = 20_000
ASKED = 5
"""Every so manieth mangled sample goes to the other programs too."""


def sizes(share: float):
    """Parametrise a test with its share of the samples: the usual run and the long one."""
    return pytest.mark.parametrize(
        "count",
        [
            pytest.param(round(share * USUAL), id=f"of {USUAL}"),
            pytest.param(round(share * LONG), id=f"of {LONG}", marks=pytest.mark.long),
        ],
    )


def ours(sample: Sample) -> references.Verdict:
    before = Before(None, kind="missing") if sample.before is None else Before(sample.before)
    entry = FileChange(sample.path, "unified_diff", sample.patch)
    plan = plan_request(lambda _path: before, [entry])
    if not plan.writes:
        assert plan.conflicts or plan.invalid
        return "refused"
    return "right" if plan.writes[0].data == sample.after else "wrong"


def judged(found: Iterable[Sample]) -> Counter[references.Verdict]:
    """Our verdicts; fails at the first wrong one."""
    counts: Counter[references.Verdict] = Counter()
    for sample in found:
        result = ours(sample)
        assert result != "wrong", sample
        counts[result] += 1
    return counts


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    """`count` samples with clean diffs, half with one line of context and half with three."""
    kept: dict[int, list[Sample]] = {}

    def make(count: int) -> list[Sample]:
        if count not in kept:
            work = tmp_path_factory.mktemp("clean")
            kept[count] = [
                *samples("one", count // 2, work, "-U1"),
                *samples("three", count - count // 2, work, "-U3"),
            ]
        return kept[count]

    return make


@sizes(0.4)
def test_clean_diffs_give_what_git_makes_of_them(clean, tmp_path, count):
    for context, half in enumerate((clean(count)[: count // 2], clean(count)[count // 2 :])):
        work = tmp_path / str(context)
        references.apply_all(GIT, half, work)
        for sample in half:
            assert references.found(work, sample) == sample.after
    assert judged(clean(count))["refused"] <= 0.01 * count


@sizes(0.4)
def test_clean_diffs_are_sound_to_gnu_patch_too(clean, tmp_path, count):
    if not references.has_gnu_patch():
        pytest.skip("GNU patch is not installed; git has judged the same samples")
    for context, half in enumerate((clean(count)[: count // 2], clean(count)[count // 2 :])):
        work = tmp_path / str(context)
        references.apply_all(GNU, half, work)
        for sample in half:
            # GNU patch removes what it empties.
            assert references.found(work, sample) == (sample.after or None)


@sizes(0.5)
def test_mangled_diffs_are_recovered_or_refused_never_misapplied(tmp_path, count):
    half = count // 2
    found = [
        *mangled(samples("one", half, tmp_path / "m", "-U1"), "mangled one"),
        *mangled(samples("three", count - half, tmp_path / "m", "-U3"), "mangled three"),
    ]
    placed_by_text = [sample for sample in found if "@@ ... @@" in sample.patch]
    numbered = [sample for sample in found if "@@ ... @@" not in sample.patch]
    assert judged(numbered)["refused"] <= 0.05 * count
    assert judged(placed_by_text)["right"]  # many are ambiguous: the files repeat themselves
    asked = found[::ASKED]
    git = Counter(references.verdict(GIT, sample, tmp_path / "git") for sample in asked)
    assert git["right"] < 0.6 * len(asked)  # the samples are hard
    if references.has_gnu_patch():
        gnu = Counter(references.verdict(GNU, sample, tmp_path / "gnu") for sample in asked)
        assert gnu["right"] < 0.95 * len(asked)


@pytest.mark.parametrize("mangle", [False, True], ids=["clean", "mangled"])
@sizes(0.05)
def test_diffs_without_context_are_right_or_refused(tmp_path, count, mangle):
    found = samples("bare", count, tmp_path, "-U0")
    counts = judged(mangled(found, "bare") if mangle else found)
    assert counts["right"]
    assert counts["refused"]
