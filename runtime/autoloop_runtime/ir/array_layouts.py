"""How arrays lie in memory: what of that their users can see."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Lying(NamedTuple):
    """How an array lies in memory.

    Attributes
    ----------
    strides : tuple of int
        The bytes from one element to the next along each axis.
    writeable, owndata, aligned : bool
        NumPy's flags.
    is_alone : bool
        Whether it has no base.
    """

    strides: tuple[int, ...]
    writeable: bool
    owndata: bool
    aligned: bool
    is_alone: bool


def lying(array: np.ndarray[Any, Any]) -> Lying:
    """Return how a real array lies in memory."""
    flags = array.flags
    return Lying(array.strides, flags.writeable, flags.owndata, flags.aligned, array.base is None)
