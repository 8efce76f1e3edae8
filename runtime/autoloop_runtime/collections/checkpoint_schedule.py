"""Which checkpoints to keep when their number is limited: pure numbers, no tensors.

*Steps* are gone back through one at a time, the last first; each needs the state at its beginning. The state at step 0
is always kept. On the way forward, when nobody knows yet how many steps there will be, ``make_room`` decides: Q. Wang,
P. Moin and G. Iaccarino, "Minimal repetition dynamic checkpointing algorithm for unsteady adjoint calculation", SIAM J.
Sci. Comput. 31(4), 2009. When steps are run again between two known ones, ``places`` does: A. Griewank and A. Walther,
"Algorithm 799: revolve", ACM TOMS 26(1), 2000.
"""

from __future__ import annotations

from math import comb


def make_room(levels: list[int]) -> tuple[int, int]:
    """Return which of the kept checkpoints goes so that the next step can be kept.

    Parameters
    ----------
    levels : list of int
        Of the checkpoints, in their order, at least two; the first is never given up.

    Returns
    -------
    position, level
        Of the one to forget, and the level of the new one.
    """
    highest = levels[-1]
    for k in range(len(levels) - 2, 0, -1):
        if levels[k] < highest:
            return k, 0
        highest = max(highest, levels[k])
    return len(levels) - 1, levels[-1] + 1


def places(first: int, last: int, free: int) -> frozenset[int]:
    """Return the steps at whose beginning to keep the state when running from ``first`` to ``last``.

    Parameters
    ----------
    first, last : int
        The step whose state is kept, and the one that is gone back through next; after it the others follow.
    free : int
        How many more states can be kept.
    """
    found = []
    while free and first < last:
        first += _stride(last - first + 1, free + 1)
        found.append(first)
        free -= 1
    return frozenset(found)


def _stride(steps: int, slots: int) -> int:
    """Return how many steps to run before the next state is kept, so that the fewest are run in all.

    With ``slots`` states, the one at the beginning included, ``comb(slots + r, r)`` steps can be gone back through such
    that none is run more than ``r`` times.
    """
    r = 1
    while comb(slots + r, r) < steps:
        r += 1
    least = comb(slots + r - 2, slots) if r > 1 else 0
    return max(1, least, steps - comb(slots - 1 + r, r))
