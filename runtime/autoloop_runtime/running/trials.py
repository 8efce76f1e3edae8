"""Trials: whether machine code is faster than what ran before it, seen by calls of both in turns.

What a trial shows holds for calls like those that were tried. Where machine code has lost it is kept, and where calls
come to take much longer (a loop that runs a thousand times as often) there is another trial: of few iterations machine
code gains nothing, of many a lot.
"""

from __future__ import annotations

from math import inf
from typing import Any

from .rival import GROWN, MOST_GROWN, PLAIN, TRIALS

#: calls of each kind after which a trial of short ones ends, which a busy machine may stretch
OF_SHORT = 12
#: seconds of calls in one way that tell enough
ENOUGH = 1e-3
#: what ``PLAIN`` is where machine code is compared with the mean of all calls before
PLAIN_OF_MEAN = 0.1
#: machine code of which this much takes longer is slower, whatever the noise
LOST = 0.5
#: calls of each kind after which another trial ends, whatever they were
OF_MIXED = 32


class Trial:
    """Calls with one set of shapes.

    Attributes
    ----------
    before, native : list of float
        Seconds that calls took without and with machine code.
    most : float
        Seconds above which a call is none of those that were tried last.
    """

    def __init__(self) -> None:
        self.before: list[float] = []
        self.native: list[float] = []
        self.most = inf
        #: the code that has lost, how often, and how many calls of another kind there were since
        self._lost: Any = None
        self._losses = self._grown = 0

    def usual(self, mean: float) -> float:
        """Return seconds of a call without machine code, which in the *mean* took so long before it was there."""
        return min(self.before, default=mean)

    def enough(self) -> float:
        """Return seconds after which machine code is known to be faster; 0 if it is not known how long it takes."""
        return min(self.native, default=0.0) / PLAIN

    def is_plainly_less(self, seconds: float, others: float) -> bool:
        """Return whether a time is shorter than another, whatever the noise."""
        return seconds <= PLAIN * others

    def is_won(self, mean: float) -> bool | None:
        """Return whether machine code is faster; None as long as that is open."""
        if not self.native:
            return None
        if self._losses:
            return self._is_won_again()
        native, before, plain = min(self.native), self.usual(mean), PLAIN if self.before else PLAIN_OF_MEAN
        if native <= plain * before:
            return True
        count = len(self.before)
        if count < TRIALS or (sum(self.before) < ENOUGH and count < OF_SHORT and native * LOST < before):
            return None
        return native <= before

    def _is_won_again(self) -> bool | None:
        """Return what another trial shows: calls may be of several kinds then, so that what counts are their sums."""
        count = len(self.before)
        if count < TRIALS or len(self.native) < count:
            return None
        if sum(seconds > self.most for seconds in self.before) < TRIALS and count < OF_MIXED:
            return None
        # each without the longest: something else may have had the processor meanwhile
        return sum(sorted(self.native)[: count - 1]) <= sum(sorted(self.before)[: count - 1])

    def lose(self, code: Any, mean: float) -> None:
        """Keep the code that has lost."""
        self._lost, self.most = code, GROWN * self.usual(mean)
        self._losses, self._grown = self._losses + 1, 0

    def again(self) -> Any:
        """Note a call that took longer than ``most``; return the code if it is to have another trial, which begins."""
        self._grown += 1
        if self._lost is None or self._grown < MOST_GROWN << (self._losses - 1):
            return None
        code, self._lost, self.before, self.native = self._lost, None, [], []
        return code
