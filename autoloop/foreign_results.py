"""What the caller gets of a graph that ran over arrays of another library: theirs where they come of theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.ir.foreign_values import Theirs
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import ArrayTracer, Kind, ZeroDimArray
from autoloop_runtime.namespaces import namespace_of

#: what is no array of another library
_OWN = (np.ndarray, np.generic, bool, int, float, complex, str)


def all_handed(
    theirs: Theirs, kinds: Sequence[Kind], plain: Sequence[Callable[[Any], Any]], leaves: Sequence[Any],
    tensors: Sequence[Tensor], value: Any,
) -> list[Callable[[Any], Any]]:  # fmt: skip
    """Return what makes of each output what the caller gets.

    Parameters
    ----------
    theirs : Theirs
    kinds : sequence
    plain : sequence of callable
        What does so of NumPy's values.
    leaves : sequence
        What the outputs stand for.
    tensors : sequence of Tensor
    value : structure
        The result.
    """
    whole = set(map(id, nest.flatten(value)))
    parts = [leaf is not None and id(leaf) not in whole for leaf in leaves]
    return [_handed(theirs, *each) for each in zip(kinds, tensors, parts, plain, strict=True)]


def _handed(
    theirs: Theirs, kind: Kind, tensor: Tensor, is_part: bool, plain: Callable[[Any], Any]
) -> Callable[[Any], Any]:  # fmt: skip
    """Return the same of one output: what the library has made without a look at any array is computed as NumPy's, and
    is its own now. What is *part* of a list, or of a number of which the run tells the type, is that as it was made:
    these have to say what of it the caller gets."""
    if is_part and kind is Tensor:
        return plain
    if kind is Tensor and theirs.namespace.is_elsewhere:
        return lambda value: plain(value) if isinstance(value, _OWN) else value
    if kind not in (ArrayTracer, ZeroDimArray):
        return lambda value: plain(value if isinstance(value, _OWN) else np.asarray(value))
    if tensor.dtype.kind in "biufc" and theirs.of(tensor):
        asarray: Callable[[Any], Any] = theirs.namespace.asarray
        return lambda value: asarray(value) if isinstance(value, _OWN) else value
    if theirs.of(tensor) is False:  # of numbers that were taken of theirs, or by an index that is
        return lambda value: plain(value if isinstance(value, _OWN) else np.asarray(value))
    return lambda value: plain(value) if isinstance(value, _OWN) else value


def as_theirs(like: Any, result: Any) -> Any:
    """Return a result that was computed over NumPy's arrays as one of the library of which there is an array among
    others, which it is *like*."""
    namespace = next((found for one in nest.flatten(like) if (found := namespace_of(one)) is not None), None)
    if namespace is None:
        return result
    return nest.map_structure(
        lambda one: namespace.asarray(one) if isinstance(one, (np.ndarray, np.generic)) else one, result
    )
