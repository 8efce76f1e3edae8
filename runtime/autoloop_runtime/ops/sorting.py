"""Order: sorting, ranking and searching.

The attribute ``kind`` is NumPy's, "stable" or what it is by default: then equal elements stand where NumPy's code puts
them, which is where no other code does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base import dtypes
from ..base.shapes import TensorShape
from ..ir.apply import apply
from ..ir.argument_types import ArrayLike, Axis
from ..ir.convert import convert_to_tensor
from ..ir.op import Taking, ruled_in
from ..ir.prices import Price
from ..ir.tensor import Tensor
from ..ir.traits import MADE, NO_GRADIENT, NO_RULE, OPAQUE
from .array import ravel
from .define import primitive, public
from .direct_calls import calls
from .dtype_rules import ordered, ruled
from .extents import axis_of
from .gathering import take_along_axis
from .operands import as_dtype, cast, operands

__all__ = ["argsort", "bincount", "searchsorted", "sort", "top_k", "unique"]


def _sort_kernel(x: Any, axis: int, descending: bool, kind: Any) -> Any:
    out = np.sort(x, axis, kind)
    return np.flip(out, axis) if descending else out


def _sort_in_place(x: Any, axis: int, descending: bool, kind: Any) -> Any:
    x.sort(axis, kind)
    if descending:
        x[...] = np.flip(x, axis)
    return x


def _argsort_kernel(x: Any, axis: int, descending: bool, kind: Any) -> Any:
    if not descending:
        return np.argsort(x, axis, kind)
    # equal elements keep their order in both directions
    last = x.shape[axis] - 1
    return np.flip(last - np.argsort(np.flip(x, axis), axis=axis, kind="stable"), axis)


def _sort_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    order = apply(ARGSORT, [inputs[0]], {**attrs, "kind": "stable"})
    return [take_along_axis(g, argsort(order, attrs["axis"]), attrs["axis"])]


def _code(function: str) -> Callable[[Any], str | None]:
    """Return what writes NumPy's function for an ascending order."""
    write = calls(function, "axis", "kind")
    return lambda node: None if node.attrs["descending"] else write(node)


SORT = primitive(
    "sort",
    lambda x, axis, descending, kind: (x.dtype, x.shape),
    _sort_kernel,
    _sort_vjp,
    traits=MADE.but(price=Price.FUNCTION),
    code_of=_code("np.sort"),
    taking=Taking(_sort_in_place, (0,), is_update=True, beside=True),
)
ARGSORT = primitive(
    "argsort",
    lambda x, axis, descending, kind: (dtypes.int64, x.shape),
    _argsort_kernel,
    NO_GRADIENT,
    traits=MADE.but(price=Price.FUNCTION),
    code_of=_code("np.argsort"),
)


def _sortable(x: Any, axis: Any, name: str) -> tuple[Tensor, int]:
    tensor = convert_to_tensor(x)
    ruled(ordered, name, tensor.dtype)
    if axis is None:
        return ravel(tensor), 0
    return tensor, axis_of(axis, tensor.shape.rank, name)


@public()
def sort(
    x: ArrayLike, axis: Axis = -1, descending: bool = False, name: str | None = None, *, stable: bool = True
) -> Tensor:
    """Return ``x`` sorted along an axis; nan goes last (first if ``descending``).

    Parameters
    ----------
    x : tensor-like
    axis : int or None
        ``None`` sorts the flattened tensor.
    descending : bool
    name : str, optional
    stable : bool
        Of no matter: equal elements keep their order in any case.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.sort([3, 1, 2]))
    Tensor([1 2 3], shape=(3,), dtype=int32)
    """
    tensor, axis = _sortable(x, axis, "sort")
    return apply(SORT, [tensor], {"axis": axis, "descending": bool(descending), "kind": "stable"}, name)


@public()
def argsort(
    x: ArrayLike, axis: Axis = -1, descending: bool = False, name: str | None = None, *, stable: bool = True
) -> Tensor:
    """Return the indices that sort ``x`` along an axis, int64; equal elements keep their order.

    Parameters
    ----------
    x : tensor-like
    axis : int or None
        ``None`` sorts the flattened tensor.
    descending : bool
    name : str, optional
    stable : bool
        Of no matter: equal elements keep their order in any case.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.argsort([3, 1, 2]))
    Tensor([1 2 0], shape=(3,), dtype=int64)
    """
    tensor, axis = _sortable(x, axis, "argsort")
    return apply(ARGSORT, [tensor], {"axis": axis, "descending": bool(descending), "kind": "stable"}, name)


class TopK(NamedTuple):
    """The largest elements and where they were."""

    values: Tensor
    indices: Tensor


@public()
def top_k(x: ArrayLike, k: int = 1, sorted: bool = True, name: str | None = None) -> TopK:
    """Return the ``k`` largest elements along the last axis, largest first, and their indices (int32).

    Parameters
    ----------
    x : tensor-like
    k : int
    sorted : bool
        They always are.
    name : str, optional

    Returns
    -------
    tuple of Tensor
        ``values`` and ``indices``.

    Examples
    --------
    >>> values, indices = al.top_k([3, 1, 2], 2)
    >>> print(values, indices)
    Tensor([3 2], shape=(2,), dtype=int32) Tensor([0 2], shape=(2,), dtype=int32)
    """
    x = convert_to_tensor(x)
    extent = x.shape.known[-1] if x.shape.rank else None
    if extent is not None and k > extent:
        raise ValueError(f"top_k: k is {k}, but the last axis of shape {x.shape} has only {extent} elements [AL206]")
    order = argsort(x, -1, descending=True)[..., :k]
    return TopK(take_along_axis(x, order, -1), cast(order, dtypes.int32, name=name))


def _search_infer(a: Tensor, v: Tensor, *sorter: Tensor, side: str) -> Any:
    if a.shape.rank not in (1, None):
        raise ValueError(f"searchsorted: the sorted sequence must be a vector, got shape {a.shape} [AL209]")
    return dtypes.int64, v.shape


def _search_kernel(a: Any, v: Any, *sorter: Any, side: Any) -> Any:
    # a sorter is looked at only where the search comes by
    return np.searchsorted(a, v, side, *sorter)


SEARCHSORTED = primitive("searchsorted", _search_infer, _search_kernel, NO_GRADIENT, traits=OPAQUE)


@public()
def searchsorted(
    sorted_sequence: ArrayLike, values: ArrayLike, side: str = "left", name: str | None = None, *,
    sorter: ArrayLike | None = None,
) -> Tensor:  # fmt: skip
    """Return where ``values`` would go into a sorted vector, int64.

    Parameters
    ----------
    sorted_sequence : tensor-like
        A vector in ascending order.
    values : tensor-like
    side : {"left", "right"}
        Before or after elements that are equal.
    name : str, optional
    sorter : tensor-like of integers, optional
        The indices that sort ``sorted_sequence``, which then need not be sorted.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.searchsorted([1, 3, 5], [3, 4]))
    Tensor([1 2], shape=(2,), dtype=int64)
    """
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side must be 'left' or 'right', got {side!r} [AL210]")
    a, v = operands("searchsorted", sorted_sequence, values)
    order = [] if sorter is None else [_sorter(convert_to_tensor(sorter))]
    return apply(SEARCHSORTED, [a, v, *order], {"side": side}, name)


def _sorter(x: Tensor) -> Tensor:
    if x.dtype.kind not in "iu" or x.shape.rank not in (1, None):
        raise TypeError(f"searchsorted: sorter must be a vector of integers, got {x.dtype} of shape {x.shape} [AL211]")
    return as_dtype(x, dtypes.int64)


UNIQUE = primitive(
    "unique", lambda x: (x.dtype, TensorShape([None])), np.unique, NO_RULE, traits=OPAQUE.but(price=Price.FUNCTION)
)


@public()
def unique(x: ArrayLike, name: str | None = None) -> Tensor:
    """Return the distinct elements of ``x``, in ascending order.

    Parameters
    ----------
    x : tensor-like
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.unique([3, 1, 3]))
    Tensor([1 3], shape=(2,), dtype=int32)
    """
    return apply(UNIQUE, [convert_to_tensor(x)], None, name)


@public()
def bincount(x: ArrayLike, minlength: int = 0, name: str | None = None, *, weights: ArrayLike | None = None) -> Tensor:
    """Return how often each of 0, 1, 2, ... occurs in a vector of integers; int32.

    Parameters
    ----------
    x : tensor-like of integers
    minlength : int
        The least number of counts.
    name : str, optional
    weights : tensor-like, optional
        What each counts, instead of 1; the result is float64 then.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.bincount([0, 2, 2]))
    Tensor([1 0 2], shape=(3,), dtype=int32)
    """
    if weights is not None:
        return convert_to_tensor(np.bincount(convert_to_tensor(x), convert_to_tensor(weights), minlength))
    return apply(BINCOUNT, [as_dtype(convert_to_tensor(x), dtypes.int64)], {"minlength": int(minlength)}, name)


BINCOUNT = primitive(
    "bincount", lambda x, minlength: (dtypes.int32, TensorShape([None])),
    lambda x, minlength: np.bincount(x, minlength=minlength).astype(np.int32), NO_GRADIENT, traits=OPAQUE,
)  # fmt: skip


ruled_in("sorting_rules", SORT, ARGSORT, SEARCHSORTED)
