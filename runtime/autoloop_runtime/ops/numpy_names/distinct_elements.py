"""Sets of elements: what is distinct, and what two have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base import dtypes
from ...base.shapes import TensorShape
from ...ir.apply import apply_several
from ...ir.op import numpys_alone
from ...ir.tensor import Tensor
from ...ir.traits import NO_GRADIENT
from .. import array, complex_numbers, gathering, indexing, joining, logic, shape_queries, sorting
from ..define import primitive
from ..operands import as_dtype
from .axes_of_numpy import axis_in
from .counterparts import as_operand, copied_operands, counterpart, known
from .library_rows import LIBRARY, library

#: where an axis is given; it was another in some versions of NumPy
_INVERSE_RANK = np.unique(np.ones((2, 2)), return_inverse=True, axis=0)[1].ndim


def _infer(x: Tensor, axis: Any, parts: tuple[bool, bool, bool], equal_nan: bool, in_order: bool) -> Any:
    rank = x.shape.rank
    if axis is not None:
        values = None if rank is None else [None if a == axis else d for a, d in enumerate(x.shape.known)]
        inverse = TensorShape(
            [x.shape.known[axis]] if _INVERSE_RANK == 1 and rank is not None else [None] * _INVERSE_RANK
        )
    else:
        values, inverse = [None], x.shape
    one = (dtypes.int64, TensorShape([None]))
    others = [one, (dtypes.int64, inverse), one]
    return [(x.dtype, TensorShape(values)), *[spec for spec, wanted in zip(others, parts) if wanted]]


def _kernel(x: Any, axis: Any, parts: tuple[bool, bool, bool], equal_nan: bool, in_order: bool) -> Any:
    more: dict[str, Any] = {} if in_order else {"sorted": False}
    made: Any = _numpys(x, *parts, axis=axis, equal_nan=equal_nan, **more)
    return made if isinstance(made, tuple) else (made,)


def _vjp(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    """Return the gradient of each element that was met first."""
    x, axis = inputs[0], attrs["axis"]
    if g[0] is None:
        return [None]
    first = (
        outputs[1] if attrs["parts"][0] else apply_several(DISTINCT, [x], {**attrs, "parts": (True, False, False)})[1]
    )
    if axis is None:
        flat = array.ravel(x)
        return [
            array.reshape(
                indexing.index_add(shape_queries.shape(flat), first, g[0], static=flat.shape), shape_queries.shape(x)
            )
        ]
    return [indexing.index_add(shape_queries.shape(x), (slice(None),) * axis + (first,), g[0], static=x.shape)]


def _code(node: Any) -> str | None:
    attrs = node.attrs
    plain = attrs["axis"] is None and attrs["in_order"] and attrs["equal_nan"] and not any(attrs["parts"])
    return "(np.unique({0}),)" if plain else None


DISTINCT = primitive("numpy_unique", _infer, _kernel, _vjp, several=True, traits=LIBRARY, code_of=_code)


def _unique(
    x: Tensor, axis: Any = None, parts: Any = (False,) * 3, equal_nan: bool = True, in_order: bool = True
) -> Any:
    attrs = {"axis": axis, "parts": parts, "equal_nan": equal_nan, "in_order": in_order}
    return apply_several(DISTINCT, [x], attrs)


@counterpart(np.unique)
def unique(
    ar: Any, return_index: Any = False, return_inverse: Any = False, return_counts: Any = False, axis: Any = None, *,
    equal_nan: Any = True, sorted: Any = True,
) -> Any:  # fmt: skip
    """Return ``np.unique``."""
    x = as_operand(ar)
    along = None if axis is None else axis_in(np.unique, x, axis)
    parts = (bool(return_index), bool(return_inverse), bool(return_counts))
    made = _unique(x, along, parts, bool(equal_nan), bool(sorted))
    return tuple(made) if any(parts) else made[0]


def _distinct(theirs: Any, x: Any, parts: tuple[bool, bool, bool]) -> Any:
    made = _unique(as_operand(x), None, parts, False)
    return type(theirs(np.zeros(1)))(*made)


@counterpart(np.unique_all)
def unique_all(x: Any) -> Any:
    """Return ``np.unique_all``."""
    return _distinct(np.unique_all, x, (True, True, True))


@counterpart(np.unique_counts)
def unique_counts(x: Any) -> Any:
    """Return ``np.unique_counts``."""
    return _distinct(np.unique_counts, x, (False, False, True))


@counterpart(np.unique_inverse)
def unique_inverse(x: Any) -> Any:
    """Return ``np.unique_inverse``."""
    return _distinct(np.unique_inverse, x, (False, True, False))


@counterpart(np.unique_values)
def unique_values(x: Any) -> Any:
    """Return ``np.unique_values``."""
    in_order = "sorted" not in _PARAMETERS  # before it could be left out, they were
    return _unique(as_operand(x), None, (False,) * 3, False, in_order)[0]


_numpys: Any = np.unique
_PARAMETERS = _numpys.__wrapped__.__code__.co_varnames


def _flat(*values: Any) -> list[Tensor]:
    """Return operands as vectors of their common dtype."""
    flat = [array.ravel(as_operand(value)) for value in values]
    common = np.result_type(*[x.dtype for x in flat])
    return [as_dtype(x, common) for x in flat]


@counterpart(np.union1d)
def union1d(ar1: Any, ar2: Any) -> Any:
    """Return ``np.union1d``."""
    return _unique(joining.concat([array.ravel(one) for one in copied_operands(ar1, ar2)], 0))[0]


def _order(x: Tensor) -> Any:
    """Return the indices that sort a vector; complex numbers by their real parts first."""
    if x.dtype.kind == "c":
        return np.lexsort((complex_numbers.imag(x), complex_numbers.real(x)))
    return sorting.argsort(x)


_isin = library(
    "isin", lambda x, among, assume_unique, invert, kind: np.isin(x, among, assume_unique, invert, kind=kind), "same",
    NO_GRADIENT, dtype=lambda *_, **__: dtypes.bool_,
)  # fmt: skip

AMONG = _isin.op


@counterpart(np.isin, getattr(np, "in1d", None))
def isin(element: Any, test_elements: Any, assume_unique: Any = False, invert: Any = False, *, kind: Any = None) -> Any:
    """Return ``np.isin``."""
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    return _isin(element, test_elements, assume_unique=bool(assume_unique), invert=bool(invert), kind=kind)


@counterpart(np.setdiff1d)
def setdiff1d(ar1: Any, ar2: Any, assume_unique: Any = False) -> Any:
    """Return ``np.setdiff1d``."""
    first, second = as_operand(ar1), as_operand(ar2)
    first = array.ravel(first) if assume_unique else _unique(first)[0]
    return first[_isin(first, second, assume_unique=False, invert=True, kind=None)]


@counterpart(np.setxor1d)
def setxor1d(ar1: Any, ar2: Any, assume_unique: Any = False) -> Any:
    """Return ``np.setxor1d``."""
    first, second = as_operand(ar1), as_operand(ar2)
    if not assume_unique:
        first, second = _unique(first)[0], _unique(second)[0]
    every = joining.concat(_flat(first, second), 0)
    every = gathering.gather(every, _order(every))
    changes = every[1:] != every[:-1]
    ends = as_operand([True])
    changes = joining.concat([ends, changes, ends], 0)
    return every[
        logic.logical_and(changes[1:], changes[:-1])[: shape_queries.dim(every, 0)]
    ]  # of nothing are both ends


@counterpart(np.intersect1d)
def intersect1d(ar1: Any, ar2: Any, assume_unique: Any = False, return_indices: Any = False) -> Any:
    """Return ``np.intersect1d``."""
    first, second = as_operand(ar1), as_operand(ar2)
    places: list[Tensor] = []
    if assume_unique:
        first, second = array.ravel(first), array.ravel(second)
    else:
        wanted = (bool(return_indices), False, False)
        (first, *before), (second, *after) = _unique(first, parts=wanted), _unique(second, parts=wanted)
        places = [*before, *after]
    every = joining.concat(_flat(first, second), 0)
    order = _order(every)
    every = gathering.gather(every, order)
    twice = every[1:] == every[:-1]
    common = every[:-1][twice]
    if not known(np.intersect1d, return_indices=return_indices):
        return common
    here, there = order[:-1][twice], order[1:][twice] - as_dtype(shape_queries.size(first), dtypes.int64)
    if places:
        here, there = gathering.gather(places[0], here), gathering.gather(places[1], there)
    return common, here, there


numpys_alone("it is a function of NumPy's alone", DISTINCT)
