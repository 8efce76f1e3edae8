"""What Python takes of ``__len__``, ``__bool__`` and their like: a number, or an iterator, of its own."""

from __future__ import annotations

import autoloop as al
import numpy as np
from each_case import each
from written_out import outcome


class Sample:
    """Says what it is asked by what its array holds."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def __len__(self):
        return self.values.sum()

    def __bool__(self):
        return self.values.any()

    def __int__(self):
        return self.values[0]

    __float__ = __complex__ = __index__ = __int__


class Counted(Sample):
    """Is true if it has a length, which is Python's in some runs only."""

    def __len__(self):
        if self.values[0] > 0:
            return self.values.sum()
        return 2

    def __bool__(self):
        return len(self) > 1

    def __iter__(self):
        return iter(self.values)


class NoIterator(Sample):
    def __iter__(self):
        return self.values


def rounds(sample):
    k = 0
    while sample and k < 3:
        k += 1
    return k


ASKED = [
    lambda s: (len(s), np.zeros(len(s))), lambda s: (bool(s), not s), lambda s: 1 if s else 2, lambda s: s and 3,
    lambda s: [v for v in [s] if v], lambda s: int(s), lambda s: float(s), lambda s: complex(s), rounds,
]  # fmt: skip
ITERATED = [lambda s: [v for v in s], lambda s: list(zip(s, range(2), strict=False))]
CASES = [(Sample, asked) for asked in ASKED] + [(Counted, asked) for asked in ASKED[:2]]
CASES += [(kind, iterated) for kind in (Counted, NoIterator) for iterated in ITERATED]
VALUES = [[1, 2], [1, -3], [1.5, 2.0], [True, True]]


@each(CASES)
def test_as_python_asks(kind, asked):
    decorated = al.function(asked, executor="sequential")
    for values in VALUES:
        sample = kind(values)
        expected, found = outcome(asked, sample), outcome(decorated, sample)
        if isinstance(expected, Exception):
            assert type(found) is type(expected) and str(expected) in str(found)
        else:
            assert repr(found) == repr(expected)
