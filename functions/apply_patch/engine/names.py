"""Names that a missing file may have been meant to have."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher
from operator import itemgetter

from .budget import Budget, OutOfBudgetError, quick_ratio_steps, ratio_steps

_SHOWN = 3
_COMPARED = 5  # names that are compared in full
_LENGTH = 200
_RATIO = 0.6


def similar_paths(path: str, beside: Iterable[str], budget: Budget) -> tuple[str, ...]:
    """The paths among `beside` whose last component is most like that of `path`, at most 3.

    Empty when the budget is used up.
    """
    try:
        return _similar_paths(path, beside, budget)
    except OutOfBudgetError:
        return ()


def _similar_paths(path: str, beside: Iterable[str], budget: Budget) -> tuple[str, ...]:
    wanted = _name(path)
    matcher = SequenceMatcher(None, "", wanted, autojunk=False)
    rough = []
    for other in beside:
        name = _name(other)
        budget.spend(quick_ratio_steps(wanted, name))
        matcher.set_seq1(name)
        if matcher.real_quick_ratio() >= _RATIO and (quick := matcher.quick_ratio()) >= _RATIO:
            rough.append((-quick, other))
    close = []
    for _, other in sorted(rough, key=itemgetter(0))[:_COMPARED]:
        name = _name(other)
        budget.spend(ratio_steps(wanted, name))
        matcher.set_seq1(name)
        if (ratio := matcher.ratio()) >= _RATIO:
            close.append((-ratio, other))
    return tuple(other for _, other in sorted(close, key=itemgetter(0))[:_SHOWN])


def _name(path: str) -> str:
    return path.rpartition("/")[2][:_LENGTH].casefold()
