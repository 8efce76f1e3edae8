"""Bundles that machine code makes for machine code: one array for each dtype, in place of a tuple of objects.

A bundle between batches is a token of many small values. As a tuple each of them is an object, which machine code has
to look at and to make, in ten times what it takes to compute the value. Packed, the values lie side by side. Whoever
is no machine code takes them out as they would have been; so whether a bundle is packed is asked when it is there, and
nobody needs to know who has made it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..base.dataclass import dataclass
from .flat_graph import Port

#: bytes of a value, at most: it is copied each time
MOST = 1024
NUMBERS = "biufc"
#: the dtype and shape of a value
Form = tuple[np.dtype[Any], tuple[int, ...]]
Bundles = Sequence[tuple[tuple[Port, ...], "Layout"]]


class Layout:
    """Where the values of a bundle lie.

    Parameters
    ----------
    forms : sequence of (dtype, tuple of int)
        Of each value.

    Attributes
    ----------
    forms : tuple
    dtypes, lengths : list
        Of each array.
    places : list of (int, int, int)
        The array that each value lies in, where it begins there, and how many elements it has.
    is_row : bool
        Whether all are numbers of one dtype, which then lie in their order.
    """

    def __init__(self, forms: Sequence[Form]) -> None:
        self.forms = tuple(forms)
        self.dtypes = list(dict.fromkeys([dtype for dtype, _ in forms]))
        self.lengths = [0] * len(self.dtypes)
        self.places: list[tuple[int, int, int]] = []
        for dtype, shape in forms:
            which, size = self.dtypes.index(dtype), int(np.prod(shape, dtype=np.int64))
            self.places.append((which, self.lengths[which], size))
            self.lengths[which] += size
        self.is_row = len(self.dtypes) == 1 and not any(shape for _, shape in forms)

    def source(self, arrays: str, k: int) -> str:
        """Return the expression of a value, as an object of its own; ``arrays``: that of the arrays."""
        (which, start, size), shape = self.places[k], self.forms[k][1]
        if not shape:
            return f"{arrays}[{which}][{start}]"
        part = f"{arrays}[{which}][{start}:{start + size}]"
        return f"{part}.copy()" if len(shape) == 1 else f"{part}.copy().reshape({shape})"

    def packed(self, values: Any) -> tuple[Any, ...] | None:
        """Return the arrays of a bundle that somebody else has made; None if values are not what was said."""
        if type(values) is Packed:
            if values.layout.forms == self.forms:
                return values.arrays
            values = values.values()
        if type(values) is not tuple or len(values) != len(self.forms):
            return None
        arrays = tuple(map(np.empty, self.lengths, self.dtypes))
        for value, (dtype, shape), (which, start, size) in zip(values, self.forms, self.places):
            if getattr(value, "dtype", None) != dtype or value.shape != shape:
                return None
            arrays[which][start : start + size] = value.ravel()
        return arrays


@lru_cache(maxsize=256)
def layout_of(forms: tuple[Form, ...]) -> Layout | None:
    """Return how a bundle of such values is packed; None if it is not."""
    sizes = [int(np.prod(shape, dtype=np.int64)) * dtype.itemsize for dtype, shape in forms]
    known = all(dtype.kind in NUMBERS and dtype.isnative for dtype, _ in forms)
    return Layout(forms) if known and max(sizes, default=0) <= MOST and all(sizes) else None


class Packed:
    """A bundle that is packed; nobody writes to its arrays."""

    __slots__ = ("arrays", "layout")

    def __init__(self, layout: Layout, arrays: tuple[Any, ...]) -> None:
        self.layout, self.arrays = layout, arrays

    def values(self) -> tuple[Any, ...]:
        """Return its values, as objects of their own."""
        if self.layout.is_row:  # who joins a thousand sums has to wait for this, and no other thread has a part in it
            return tuple(self.arrays[0])
        made = []
        for (_, shape), (which, start, size) in zip(self.layout.forms, self.layout.places):
            array = self.arrays[which]
            made.append(array[start : start + size].copy().reshape(shape) if shape else array[start])
        return tuple(made)


def unpacked(token: Any) -> Any:
    """Return the values of a bundle as a tuple; anything else as it is."""
    return token.values() if type(token) is Packed else token


@dataclass(frozen=True)
class MachinePart:
    """What does a batch, or iterations of a loop, otherwise.

    Attributes
    ----------
    kernel : callable
        Is given the arrays of ``given``, and the values of ``inputs``; gives those of ``results``, and the arrays of
        ``made``; or None, and has done nothing.
    inputs, results : sequence of Port
    given, made : sequence of (ports, Layout)
        Bundles that are packed, by what is in them.
    times : sequence of float
        What each of its calls takes, if it calls NumPy's functions, which hand over the interpreter.
    """

    kernel: Callable[..., Any]
    inputs: Sequence[Port]
    results: Sequence[Port] = ()
    given: Bundles = ()
    made: Bundles = ()
    times: Sequence[float] = ()
