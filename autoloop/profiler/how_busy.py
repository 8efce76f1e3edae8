"""How many kernels ran at once, and what else was going on, over any parts of a trace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

Part = tuple[int, int]


def joined(parts: Iterable[Part]) -> list[Part]:
    """Return parts of the time, of which none touches another, that are together what ``parts`` are."""
    made: list[Part] = []
    for start, end in sorted(parts):
        if made and start <= made[-1][1]:
            if end > made[-1][1]:
                made[-1] = made[-1][0], end
        elif end > start:
            made.append((start, end))
    return made


def length(parts: Iterable[Part]) -> int:
    """Return how long parts of the time are together."""
    return sum([end - start for start, end in parts])


class Level:
    """A number that changes from time to time, such as that of the kernels that run.

    Parameters
    ----------
    times : sequence of int
        When it changes, in order.
    values : sequence of float
        To what.
    """

    def __init__(self, times: Sequence[int], values: Sequence[float]) -> None:
        self._times = np.array([*times, max([*times[-1:], 0]) + 1], np.float64)
        steps = np.diff(self._times) * np.array(values, np.float64)
        self._sums = np.concatenate([[0.0], np.cumsum(steps)])

    def mean(self, parts: Sequence[Part]) -> float:
        """Return what it was on average in parts of the time."""
        whole = length(parts)
        if not whole:
            return 0.0
        bounds = np.array(parts, np.float64)
        sums = np.interp(bounds, self._times, self._sums)
        return float(np.sum(sums[:, 1] - sums[:, 0])) / whole


def at_once(parts: Sequence[Part]) -> Level:
    """Return how many of such parts of the time there are at once."""
    times = np.array([t for part in parts for t in part], np.int64)
    changes = np.tile([1, -1], len(parts))
    order = np.argsort(times, kind="stable")
    return Level(times[order].tolist(), np.cumsum(changes[order]).tolist())
