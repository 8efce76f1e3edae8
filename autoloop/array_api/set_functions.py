"""The distinct elements of a tensor; every nan is one of its own."""

from __future__ import annotations

from typing import NamedTuple

from autoloop_runtime import ops
from autoloop_runtime.base import dtypes
from autoloop_runtime.ir.argument_types import ArrayLike
from autoloop_runtime.ir.array_kinds import computing
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.tensor import Tensor


class UniqueAll(NamedTuple):
    """The distinct elements, where each is first, which of them each element is, and how often each is there."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """The distinct elements, and how often each is there."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """The distinct elements, and which of them each element is."""

    values: Tensor
    inverse_indices: Tensor


class _Groups(NamedTuple):
    """The elements of a vector in ascending order: which comes when, and which is the first of its equals."""

    order: Tensor
    elements: Tensor
    is_first: Tensor


def _groups(x: ArrayLike) -> _Groups:
    flat = ops.ravel(convert_to_tensor(x))
    order = _order(flat)
    elements = ops.take(flat, order)
    first = ops.ones_like(elements[:1], dtypes.bool_)
    return _Groups(order, elements, ops.concat([first, ops.not_equal(elements[1:], elements[:-1])]))


def _order(x: Tensor) -> Tensor:
    """Return the indices that sort a vector.

    Complex numbers are sorted by their real parts, equal ones by the imaginary; those with a nan come last.
    """
    if x.dtype.kind != "c":
        return ops.argsort(x)
    order = ops.argsort(ops.imag(x))
    order = ops.take(order, ops.argsort(ops.real(ops.take(x, order))))
    return ops.take(order, ops.argsort(ops.cast(ops.isnan(ops.take(x, order)), dtypes.int8)))


def _positions(groups: _Groups) -> Tensor:
    return ops.nonzero(groups.is_first)[0]


def _counts(groups: _Groups, positions: Tensor) -> Tensor:
    return ops.diff(positions, append=ops.shape(groups.elements, dtypes.int64))


def _inverse(groups: _Groups, x: ArrayLike) -> Tensor:
    ranks = ops.cumsum(ops.cast(groups.is_first, dtypes.int64)) - 1
    return ops.reshape(ops.take(ranks, ops.argsort(groups.order)), ops.shape(x))


@computing
def unique_all(x: ArrayLike) -> UniqueAll:
    """Return the distinct elements of ``x`` in ascending order, and all about where they are.

    Parameters
    ----------
    x : tensor-like

    Returns
    -------
    UniqueAll
        ``values``, ``indices`` of the first of each, ``inverse_indices`` in the shape of ``x``, ``counts``; int64.

    Examples
    --------
    >>> print(al.unique_all(al.constant([3, 1, 3])).counts)
    Tensor([1 2], shape=(2,), dtype=int64)
    """
    groups = _groups(x)
    places = _positions(groups)
    return UniqueAll(
        ops.take(groups.elements, places), ops.take(groups.order, places), _inverse(groups, x), _counts(groups, places)
    )


@computing
def unique_counts(x: ArrayLike) -> UniqueCounts:
    """Return the distinct elements of ``x`` in ascending order, and how often each is there.

    Parameters
    ----------
    x : tensor-like

    Returns
    -------
    UniqueCounts
        ``values`` and ``counts``, int64.

    Examples
    --------
    >>> print(al.unique_counts(al.constant([3, 1, 3])).counts)
    Tensor([1 2], shape=(2,), dtype=int64)
    """
    groups = _groups(x)
    places = _positions(groups)
    return UniqueCounts(ops.take(groups.elements, places), _counts(groups, places))


@computing
def unique_inverse(x: ArrayLike) -> UniqueInverse:
    """Return the distinct elements of ``x`` in ascending order, and which of them each element is.

    Parameters
    ----------
    x : tensor-like

    Returns
    -------
    UniqueInverse
        ``values``, and ``inverse_indices`` in the shape of ``x``, int64.

    Examples
    --------
    >>> print(al.unique_inverse(al.constant([3, 1, 3])).inverse_indices)
    Tensor([1 0 1], shape=(3,), dtype=int64)
    """
    groups = _groups(x)
    return UniqueInverse(ops.take(groups.elements, _positions(groups)), _inverse(groups, x))


@computing
def unique_values(x: ArrayLike) -> Tensor:
    """Return the distinct elements of ``x`` in ascending order.

    Parameters
    ----------
    x : tensor-like

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.unique_values(al.constant([3, 1, 3])))
    Tensor([1 3], shape=(2,), dtype=int32)
    """
    groups = _groups(x)
    return ops.take(groups.elements, _positions(groups))
