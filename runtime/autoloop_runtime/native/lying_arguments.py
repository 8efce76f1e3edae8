"""Large arguments that do not lie in C order: there is machine code for how they lie, rather than copies of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .typing.facts import Shape
from .typing.refusal import NativeRefusal

#: arrays of so many bytes are copied: that takes less time than to make code does, in thousands of calls
MOST_COPIED = 1 << 18
#: for so many ways in which the arguments lie there is code
MOST_WAYS = 8


class Lying:
    """The code for arguments that lie otherwise than in C order, by the strides of these.

    Parameters
    ----------
    make : callable
        Makes what runs calls with such arguments; it takes their strides, in elements, by which input they are.
    """

    def __init__(self, make: Callable[[Mapping[int, Shape]], Any]) -> None:
        self._make = make
        #: None where there is no such code; only added to: two threads may at worst have the same made twice
        self._made: dict[tuple[tuple[int, Shape], ...], Any] = {}

    def run_for(self, odd: Sequence[tuple[int, Any]]) -> Any:
        """Return what runs a call in which inputs are such arrays; None where copies of these are better, or all that
        can be done."""
        key = tuple([(k, lies) for k, array in odd if (lies := _lies(array)) is not None])
        if not key:
            return None
        if key not in self._made:
            if len(self._made) >= MOST_WAYS:
                return None
            self._made[key] = self._made_for(key)
        return self._made[key]

    def _made_for(self, key: tuple[tuple[int, Shape], ...]) -> Any:
        try:
            return self._make(dict(key))
        except NativeRefusal:
            return None


def _lies(array: Any) -> Shape | None:
    """Return the strides, in elements, of an array that is better not copied."""
    if type(array) is not np.ndarray or array.nbytes <= MOST_COPIED or not array.flags.aligned:
        return None
    size = array.dtype.itemsize
    return None if any(step % size for step in array.strides) else tuple([step // size for step in array.strides])
