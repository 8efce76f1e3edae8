"""``sorted`` and ``list.sort`` of what only the run can compare."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import nest
from autoloop_runtime.base.stand_ins import UnknownWhileTracing
from autoloop_runtime.ir.array_storage import taken_from
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.number_operators import number_type
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import ArrayTracer, Kind, join, kind_of, marked, number_of

from ...left_to_python import leave_unknown, refuse_unknown
from ..staging.raising import Raising, raise_unless
from ..staging.staged_values import is_staged, kind_of_all, stands_for

_ADVICE = "use array functions, such as np.argsort or np.lexsort"


def sorted_by(made: list[Any], key: Callable[[Any], Any] | None, reverse: Any) -> list[Any]:
    """Return ``sorted`` of a Python list whose length is known.

    Parameters
    ----------
    made : list
        What is sorted.
    key : callable, optional
        Converted.
    reverse : bool

    Raises
    ------
    TypeError
        If only the run could compare the keys, and a graph cannot; or if which element stands where were of several
        types.
    """
    keys = made if key is None else [key(one) for one in made]
    if not any(map(is_staged, nest.flatten(keys))):
        order: Any = sorted(range(len(made)), key=keys.__getitem__, reverse=reverse)
        return [made[place] for place in order]
    if is_staged(reverse):
        raise TypeError(
            "sorted(..., reverse=...) needs to know while the graph is built whether to turn the order [AL020]"
        )
    order, number = _order(keys, reverse), number_of(nest.flatten(keys))
    return [_gathered(made, ops.getitem(order, place), number) for place in range(len(made))]


def first_of(made: list[Any], keys: list[Any], reverse: bool) -> Any:
    """Return the first element of what `sorted_by` would give."""
    return _gathered(made, ops.getitem(_order(keys, reverse), 0), number_of(nest.flatten(keys)))


def _order(keys: list[Any], reverse: bool) -> Tensor:
    """Return the places of keys in their order; equal ones keep theirs."""
    columns = _columns(keys)
    if kind_of(nest.flatten(keys)) is not Tensor:
        for column in columns:
            refuse_nan(column)
    if reverse:
        columns = [ops.flip(column) for column in columns]
    order = ops.argsort(columns[0]) if len(columns) == 1 else _lexsorted(columns)
    return ops.subtract(len(keys) - 1, ops.flip(order)) if reverse else order


def refuse_nan(values: Tensor) -> None:
    """Let the run raise if there is a nan among what is sorted: Python's order depends on its algorithm then."""
    if values.dtype.kind == "f":
        text = "sorted(...) of numbers with nan among them is in no order that a graph knows: use np.sort [AL019]"
        raise_unless(ops.logical_not(ops.any(ops.isnan(values))), Raising(ValueError, lambda: ValueError(text)))


def _lexsorted(columns: list[Tensor]) -> Tensor:
    """Return the order by the first column, that of equal ones by the next."""
    order = ops.argsort(columns[-1])
    for column in columns[-2::-1]:
        order = ops.gather(order, ops.argsort(ops.gather(column, order)))
    return order


def _columns(keys: list[Any]) -> list[Tensor]:
    """Return the keys as columns of numbers: one, or as many as the tuples have that they are."""
    rows = [one if type(one) is tuple else (one,) for one in keys]
    if len(set(map(len, rows))) > 1 or len({type(one) is tuple for one in keys}) > 1:
        raise UnknownWhileTracing(
            f"keys of several lengths are compared here, of which only the run knows the values: {_ADVICE}"
        )
    made = []
    for column in zip(*rows, strict=True):
        if not all(is_staged(one) or isinstance(one, np.ndarray | np.generic | bool | int | float) for one in column):
            raise UnknownWhileTracing(f"what only the run knows is sorted here by more than numbers: {_ADVICE}")
        tensor = convert_to_tensor(list(column))
        if tensor.shape.rank != 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
            )
        if tensor.dtype.kind == "c":
            raise TypeError("'<' not supported between instances of 'complex' and 'complex'")
        made.append(tensor)
    return made


def _gathered(made: list[Any], place: Tensor, number: Kind) -> Any:
    """Return the element at a place that the run knows, which is of one type wherever that is."""
    if all(type(one) is tuple and len(one) == len(made[0]) for one in made):
        return tuple([_gathered(list(column), place, number) for column in zip(*made, strict=True)])
    kinds = {(stands_for(one) if is_staged(one) else type(one), getattr(one, "shape", ())) for one in made}
    if len(kinds) > 1 or not (is_staged(made[0]) or isinstance(made[0], np.ndarray | np.generic | bool | int | float)):
        names = " and ".join(sorted({kind.__name__ for kind, _ in kinds}))
        refuse_unknown(
            f"which element stands where only the run knows, and the elements are not alike ({names})",
            "make them numbers of one type, float(x), or sort places by np.argsort",
        )
    is_number = not any(map(is_staged, made)) and number_type(made[0]) is not None
    tensor = convert_to_tensor(np.asarray(made) if is_number else made)
    kind = number if number_type(made[0]) is not None else kind_of_all(made)
    return taken_from(marked(kind, ops.getitem(tensor, place)), made)


def sorted_tensor(values: Tensor, kind: Kind, reverse: bool) -> Any:
    """Return ``sorted`` of a tensor: a list where its length is known, of elements that are a ``kind``."""
    if values.dtype.kind == "c":
        leave_unknown("sorted() of complex numbers, which NumPy orders by their parts")
    if kind is not Tensor:
        refuse_nan(values)
    # equal elements, 0.0 and -0.0, keep their order in both directions
    made = ops.flip(ops.sort(ops.flip(values))) if reverse else ops.sort(values)
    made = marked(join(kind, ArrayTracer), made)
    known = made.shape.rank == 1 and made.shape.as_list()[0] is not None
    return [marked(kind, ops.getitem(made, place)) for place in range(made.shape.as_list()[0])] if known else made
