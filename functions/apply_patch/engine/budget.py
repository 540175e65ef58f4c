"""What one request may cost, as a count of steps: the same request always gets equally far.

Everything whose cost depends on what files and patches hold says beforehand what it is about to
cost. A step is about what comparing two lines in Python costs; the whole is a few seconds on a
small Lambda.
"""

from __future__ import annotations

REQUEST_STEPS = 3_000_000
_CELLS_A_STEP = 6


class OutOfBudgetError(Exception):
    """The step that was asked for would cost more than is left."""


class Budget:
    """Steps that a request has left, shared by all its files and its report."""

    def __init__(self, steps: int = REQUEST_STEPS) -> None:
        """Start with `steps`."""
        self.left = steps

    def spend(self, steps: int) -> None:
        """Take `steps` off. Raises OutOfBudgetError, and takes nothing, if so many are not left."""
        if steps > self.left:
            raise OutOfBudgetError
        self.left -= steps


def ratio_steps(one: str, other: str) -> int:
    """What `SequenceMatcher.ratio` of two texts costs at worst."""
    return 10 + len(one) * len(other) // _CELLS_A_STEP


def quick_ratio_steps(one: str, other: str) -> int:
    """What `SequenceMatcher.quick_ratio` of two texts costs."""
    return 5 + (len(one) + len(other)) // 8
