"""Parts of variables changed in place of the whole (1.x): ``scatter_add`` and its like, each one change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..ir.apply import apply
from ..ir.convert import convert_to_tensor
from ..ir.op import Op, numpys_alone, register
from ..ir.run_state import RunState
from ..ir.tensor import Tensor
from ..ir.traits import NO_GRADIENT, OPAQUE
from .variables import Variable, checked


class Way(NamedTuple):
    """What an update does with a copy of the value: where indices repeat, one after the other."""

    name: str
    change: Callable[[Any, Any, Any], None]


def _put(array: Any, where: Any, updates: Any) -> None:
    array[where] = updates


def _divide(array: Any, where: Any, updates: Any) -> None:
    if array.dtype.kind in "iu":  # as C++ does: towards zero
        array[where] = np.trunc(array[where] / updates).astype(array.dtype)
    else:
        np.divide.at(array, where, updates)


UPDATE = Way("update", _put)
ADD = Way("add", np.add.at)
SUBTRACT = Way("sub", np.subtract.at)
MULTIPLY = Way("mul", np.multiply.at)
DIVIDE = Way("div", _divide)
LEAST = Way("min", np.minimum.at)
GREATEST = Way("max", np.maximum.at)


def _scatter(indices: Any, updates: Any, *, variable: Variable, state: RunState, way: Way, nd: bool) -> Any:
    storage = state.storage(variable)
    with storage.lock:
        while True:
            changes, before = storage.changes, storage.value
            if before is None:
                raise RuntimeError(f"variable {variable.name!r} is not initialised in this session [AL911]")
            value = np.array(before)
            where = _places(np.asarray(indices), value.shape, nd, variable)
            way.change(value, where, updates)
            if storage.exchange(changes, checked(value, variable)):
                return value


def _places(indices: Any, shape: tuple[int, ...], nd: bool, variable: Variable) -> Any:
    """Return what indexes an array of this shape; no index is negative."""
    columns = np.moveaxis(indices, -1, 0) if nd else indices[None]
    for extent, column in zip(shape, columns):
        if column.size and not (column.min() >= 0 and column.max() < extent):
            bad = column[(column < 0) | (column >= extent)].flat[0]
            raise IndexError(
                f"index {bad} is out of range for an axis of {extent} of variable {variable.name!r} [AL911]"
            )
    return tuple(columns) if nd else indices


def _spec(indices: Tensor, updates: Tensor, variable: Variable, way: Way, nd: bool) -> Any:
    return variable.dtype, variable.shape


SCATTER = register(
    Op("ScatterVariable", _spec, _scatter, NO_GRADIENT, traits=OPAQUE, effect=True, stateful=True)
)  # fmt: skip


def scatter(variable: Variable, indices: Any, updates: Any, way: Way, name: str | None, nd: bool = False) -> Tensor:
    """Return the new value of a variable, after rows (elements, of ``nd``) of it are changed.

    Raises
    ------
    TypeError
        If the indices are no integers, or the updates have another dtype.
    ValueError
        If the shapes do not go together.
    """
    places = convert_to_tensor(indices)
    if places.dtype.kind not in "iu":
        raise TypeError(f"scatter_{way.name}: indices must be integers, got {places.dtype} [AL911]")
    values = convert_to_tensor(updates, None if hasattr(updates, "dtype") else variable.dtype)
    if values.dtype != variable.dtype:
        raise TypeError(
            f"scatter_{way.name}: variable {variable.name!r} has dtype {variable.dtype}, updates {values.dtype}"
        )
    inner, outer = variable.shape, places.shape
    if not nd and inner.rank is not None and outer.rank is not None and values.shape.rank != 0:
        wanted = outer.concatenate(inner[1:])
        if not wanted.is_compatible_with(values.shape):
            raise ValueError(
                f"scatter_{way.name}: updates of shape {values.shape} must have shape {wanted}, or be a scalar [AL911]"
            )
    return apply(SCATTER, [places, values], {"variable": variable, "way": way, "nd": nd}, name or f"scatter_{way.name}")


numpys_alone("a variable holds an array of NumPy's", SCATTER)
