"""How arrays lie in memory: what of that their users can see."""

from __future__ import annotations

from typing import Any

import numpy as np


class Lying(tuple[tuple[int, ...], bool, bool, bool, bool]):
    """How an array lies in memory; ``NamedTuple`` would compile code at every start.

    Attributes
    ----------
    strides : tuple of int
        The bytes from one element to the next along each axis.
    writeable, owndata, aligned : bool
        NumPy's flags.
    is_alone : bool
        Whether it has no base.
    """

    __slots__ = ()

    @property
    def strides(self) -> tuple[int, ...]:
        return self[0]

    @property
    def writeable(self) -> bool:
        return self[1]

    @property
    def owndata(self) -> bool:
        return self[2]

    @property
    def aligned(self) -> bool:
        return self[3]

    @property
    def is_alone(self) -> bool:
        return self[4]


def lying(array: np.ndarray[Any, Any]) -> Lying:
    """Return how a real array lies in memory."""
    flags = array.flags
    return Lying((array.strides, flags.writeable, flags.owndata, flags.aligned, array.base is None))
