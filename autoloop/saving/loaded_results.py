"""Results that are more than one value of a graph: lists of which the run knows the length, views of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.base.shapes import TensorShape
from autoloop_runtime.collections.tensor_array import TensorArray

from ..operators.staging.growing_list import GrowingList
from ..operators.staging.mixed_numbers import MixedNumber
from ..operators.staging.optional import MaybeNone


class Axes(tuple[int, ...]):
    """An order of axes, which makes a view of an array."""

    __slots__ = ()


def is_basic(entry: Any) -> bool:
    """Return whether an entry of an index makes a view, and is known."""
    if isinstance(entry, slice):
        return all(one is None or type(one) is int for one in (entry.start, entry.stop, entry.step))
    return entry is None or entry is Ellipsis or type(entry) is int


def viewed(array: Any, views: Sequence[Any], is_writeable: bool) -> Any:
    """Return the view of an array that indices and orders of axes make, one after the other."""
    for view in views:
        array = array.transpose(tuple(view)) if type(view) is Axes else array[view]
    if views and not is_writeable and hasattr(array, "freeze"):
        array.freeze(True)
    return array


def growing_list(name: str, kinds: Any, specs: Sequence[tuple[np.dtype[Any], TensorShape]]) -> Callable[[Any], Any]:
    """Return what makes a list of the values of its arrays.

    Parameters
    ----------
    name : str
        What messages call it.
    kinds : object
        What each leaf of an element is to the user, in the structure of an element.
    specs : sequence of (dtype, shape)
        Of each leaf of an element.
    """
    flat, structure = nest.flatten_with_structure(kinds)

    def made(flows: Sequence[Any]) -> Any:
        arrays = [
            TensorArray(dtype, dynamic_size=True, flow=flow, element_shape=shape)
            for (dtype, shape), flow in zip(specs, flows)
        ]
        return GrowingList(name, arrays, structure, flat)

    return made


def mixed_number(types: frozenset[int], carrier: np.dtype[Any]) -> Callable[[Any], Any]:
    """Return what makes a number of which the run knows the type of its value and of what says that."""
    return lambda parts: MixedNumber(types, carrier, *parts)


def maybe_none(name: str) -> Callable[[Any], Any]:
    """Return what makes a value, or None, of it and of what says which."""
    return lambda parts: MaybeNone(name, *parts)
