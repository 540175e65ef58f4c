"""How often each kind of conflicting request comes, and samples of all of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from benchmarks import patch_cases as kinds
from benchmarks.patch_stories import Case, Story, sources, story

MIX: dict[Callable[[Story], Case], int] = {
    kinds.already_applied: 15,
    kinds.stale_line: 12,
    kinds.stale_lines: 4,
    kinds.line_came: 6,
    kinds.line_went: 4,
    kinds.misremembered: 7,
    kinds.misspelt: 5,
    kinds.indentation: 8,
    kinds.inner_blanks: 2,
    kinds.line_numbers: 4,
    kinds.html_escaped: 4,
    kinds.backslashes: 3,
    kinds.smart_quotes: 2,
    kinds.plain_quotes: 3,
    kinds.letter_case: 1,
    kinds.cut_short: 2,
    kinds.elided: 4,
    kinds.one_after_the_other: 2,
    kinds.overlap: 2,
    kinds.target_as_context: 1,
    kinds.wrong_scope: 1,
    kinds.ambiguous: 8,
    kinds.unanchored: 4,
    kinds.wrong_path: 3,
    kinds.file_exists: 2,
    kinds.leaves_content: 1,
}
"""How often each kind comes, in parts of the sum."""


def cases(seed: str, per_kind: int) -> Iterator[Case]:
    """`per_kind` candidates of each kind; whether each really is a conflict is for the engine."""
    corpus = sources()
    for kind in MIX:
        for number in range(per_kind):
            rng = random.Random(f"{seed} {kind.__name__} {number}")
            case = kind(story(rng, corpus))
            if rng.random() < 0.15:
                case = _accompanied(case, rng, corpus)
            yield replace(case, kind=kind.__name__)


def _accompanied(case: Case, rng: random.Random, corpus: Sequence[tuple[str, list[str]]]) -> Case:
    """The same case beside an entry that fits and has to be sent again."""
    other = story(rng, [one for one in corpus if one[0] not in case.files])
    beside = other.send(other.hunks(3))
    return Case(
        "",
        [*beside.entries, *case.entries],
        {**beside.files, **case.files},
        {**beside.meant, **case.meant},
    )
