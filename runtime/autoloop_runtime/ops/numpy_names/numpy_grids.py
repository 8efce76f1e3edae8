"""NumPy's indices: of grids, triangles and diagonals, and between one index and several."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from ...base.dtypes import of_numbers
from ...base.stand_ins import UnknownWhileTracing
from ...ir.tensor import Tensor
from ...ir.tracers import ArrayTracer, ZeroDimArray, kind_of, marked
from ...ir.traits import NO_GRADIENT
from .. import array as arrays
from .. import creation
from ..broadcasting import broadcast_to
from ..composed import meshgrid
from ..composed import nonzero as places_of
from ..filled import ones
from ..joining import stack, unstack
from ..logic import logical_not
from ..operands import as_dtype, cast, is_tensor
from ..shape_queries import dim
from .counterparts import as_operand, counterpart, known, unsupported, whole
from .library_rows import library
from .numpy_creation import arange

_INT = np.dtype(np.int64)


def _vector(extent: Any) -> Tensor:
    return creation.range(0, as_operand(extent, np.int64))


def _below(n: Any, m: Any, k: Any) -> Tensor:
    """Return true at and below a diagonal."""
    rows, columns = (_vector(whole(np.tri, "M", one)) for one in (n, n if m is None else m))
    return arrays.expand_dims(rows, 1) + as_operand(whole(np.tri, "k", k), np.int64) >= columns


@counterpart(np.tri)
def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = float, *, like: Any = None) -> Tensor:
    """Return ``np.tri``."""
    unsupported(np.tri, like=like)
    return cast(_below(N, M, k), of_numbers(dtype))


@counterpart(np.tril_indices)
def tril_indices(n: Any, k: Any = 0, m: Any = None) -> Any:
    """Return ``np.tril_indices``."""
    return places_of(_below(n, m, k))


@counterpart(np.triu_indices)
def triu_indices(n: Any, k: Any = 0, m: Any = None) -> Any:
    """Return ``np.triu_indices``."""
    return places_of(logical_not(_below(n, m, as_operand(whole(np.triu_indices, "k", k), np.int64) - 1)))


def _extents(theirs: Any, arr: Any) -> tuple[Any, Any]:
    x = as_operand(arr)
    if x.shape.rank != 2:
        raise ValueError(f"{theirs.__name__}: input array must be 2-d")
    return dim(x, 0), dim(x, 1)


@counterpart(np.tril_indices_from)
def tril_indices_from(arr: Any, k: Any = 0) -> Any:
    """Return ``np.tril_indices_from``."""
    n, m = _extents(np.tril_indices_from, arr)
    return tril_indices(n, k, m)


@counterpart(np.triu_indices_from)
def triu_indices_from(arr: Any, k: Any = 0) -> Any:
    """Return ``np.triu_indices_from``."""
    n, m = _extents(np.triu_indices_from, arr)
    return triu_indices(n, k, m)


@counterpart(np.mask_indices)
def mask_indices(n: Any, mask_func: Any, k: Any = 0) -> Any:
    """Return ``np.mask_indices``."""
    extent = whole(np.mask_indices, "n", n)
    return places_of(mask_func(ones([extent, extent], np.int64), k) != 0)


@counterpart(np.diag_indices)
def diag_indices(n: Any, ndim: Any = 2) -> Any:
    """Return ``np.diag_indices``."""
    return (arange(n),) * known(np.diag_indices, ndim=ndim)


@counterpart(np.diag_indices_from)
def diag_indices_from(arr: Any) -> Any:
    """Return ``np.diag_indices_from``."""
    x = as_operand(arr)
    if not len(x.shape) >= 2:
        raise ValueError("input array must be at least 2-d")
    extents = x.shape.as_tuple()
    if len(set(extents)) != 1:
        raise ValueError("All dimensions of input must be of equal length")
    return diag_indices(extents[0], len(extents))


@counterpart(np.indices)
def indices(dimensions: Any, dtype: Any = int, sparse: Any = False) -> Any:
    """Return ``np.indices``."""
    extents = [whole(np.indices, "dimensions", one) if is_tensor(one) else one for one in dimensions]
    vectors = [as_dtype(_vector(one), of_numbers(dtype)) for one in extents]
    if not sparse:
        return stack(meshgrid(*vectors, indexing="ij"))
    count = len(vectors)
    return tuple([arrays.reshape(one, [-1 if k == place else 1 for k in range(count)])
                  for place, one in enumerate(vectors)])  # fmt: skip


_unravel = library(
    "unravel_index", lambda places, shape, order: np.stack(np.unravel_index(places, shape, order)),
    lambda places, shape, order: [len(shape), *places.shape.known], NO_GRADIENT, dtype=lambda *_, **__: _INT,
)  # fmt: skip
_ravel_multi = library(
    "ravel_multi_index", lambda rows, dims, mode, order: np.ravel_multi_index(tuple(rows), dims, mode, order),
    lambda rows, dims, mode, order: rows.shape.known[1:], NO_GRADIENT, dtype=lambda *_, **__: _INT,
)  # fmt: skip


@counterpart(np.unravel_index)
def unravel_index(indices: Any, shape: Any, order: Any = "C") -> Any:
    """Return ``np.unravel_index``."""
    extents = known(np.unravel_index, shape=shape)
    extents = tuple(extents) if isinstance(extents, (list, tuple)) else (extents,)
    return tuple(unstack(_unravel(indices, shape=extents, order=order)))


@counterpart(np.ravel_multi_index)
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: Any = "C") -> Any:
    """Return ``np.ravel_multi_index``."""
    rows = as_operand(list(multi_index) if isinstance(multi_index, tuple) else multi_index)
    if rows.shape.rank == 0:
        raise UnknownWhileTracing("numpy.ravel_multi_index takes arrays; what it says of a number NumPy alone knows")
    extents = tuple(known(np.ravel_multi_index, dims=dims))
    return _ravel_multi(rows, dims=extents, mode=mode, order=order)


@counterpart(np.ndenumerate)
def ndenumerate(arr: Any) -> Iterator[Any]:
    """Return an iterator over the indices and elements of an array of known shape."""
    x = as_operand(arr)
    if kind_of((arr,)) is not Tensor and not isinstance(x, ArrayTracer):
        x = marked(ZeroDimArray, x)  # NumPy makes an array of a list, or of a number of Python's
    if not x.shape.is_fully_defined():
        raise UnknownWhileTracing(f"numpy.ndenumerate: the shape must be known while the graph is built, got {x.shape}")
    return map(functools.partial(_numbered, x), list(np.ndindex(*x.shape.as_tuple())))


def _numbered(x: Tensor, place: tuple[int, ...]) -> tuple[tuple[int, ...], Any]:
    return place, x[place]  # as it is when the iterator comes to it


@counterpart(np.ndindex)
def ndindex(*shape: Any) -> Iterator[Any]:
    """Return an iterator over the indices of a known shape."""
    return np.ndindex(*known(np.ndindex, shape=shape))


@counterpart(np.nditer)
def nditer(
    op: Any, flags: Any = None, op_flags: Any = None, op_dtypes: Any = None, order: Any = "K", casting: Any = "safe",
    op_axes: Any = None, itershape: Any = None, buffersize: Any = 0,
) -> Iterator[Any]:  # fmt: skip
    """Return an iterator over the elements of an array, or of several side by side, in an order that is said.

    That in memory, which NumPy takes by itself, is not known; and elements cannot be written to.
    """
    unsupported(
        np.nditer, flags=flags, op_flags=op_flags, op_dtypes=op_dtypes, casting=casting, op_axes=op_axes,
        itershape=itershape, buffersize=buffersize,
    )  # fmt: skip
    if order not in ("C", "F"):
        raise UnknownWhileTracing(
            "numpy.nditer takes tensors in a given order only, numpy.nditer(x, order='C'): that in memory is not known"
        )
    several = isinstance(op, (list, tuple)) and len(op) > 1
    parts = broadcast(*op) if isinstance(op, (list, tuple)) else broadcast(op)

    def step(place: tuple[int, ...]) -> Any:
        elements = tuple([_part(x, place) for x in parts.operands])
        return elements if several else elements[0]

    return map(step, parts.places(order))


def _part(x: Tensor, place: tuple[int, ...]) -> Any:
    """Return an element, of an array as ``nditer`` gives it: a view without axes, which sees what is written later."""
    return marked(ZeroDimArray, x[(*place, ...)]) if isinstance(x, ArrayTracer) else x[place]


class Broadcast:
    """What ``np.broadcast`` gives: the common shape of arrays, and their elements side by side.

    Parameters
    ----------
    operands : sequence of Tensor
        Broadcast to that shape.
    """

    def __init__(self, operands: Sequence[Tensor], shape: tuple[int, ...]) -> None:
        self.operands, self.shape = operands, shape
        self.nd = self.ndim = len(shape)
        self.size = int(np.prod(shape))
        self.numiter = len(operands)
        #: NumPy's is an iterator, which gives its elements once, as they are when it comes to them
        self._steps = map(functools.partial(_side_by_side, operands), self.places())

    def places(self, order: str = "C") -> list[tuple[int, ...]]:
        """Return the indices of all elements."""
        every = list(np.ndindex(*(self.shape if order == "C" else self.shape[::-1])))
        return every if order == "C" else [place[::-1] for place in every]

    def __iter__(self) -> Iterator[Any]:
        return self._steps


def _side_by_side(operands: Sequence[Tensor], place: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple([x[place] for x in operands])


@counterpart(np.broadcast)
def broadcast(*args: Any) -> Broadcast:
    """Return ``np.broadcast``, of arrays of known shapes."""
    of_tensors = kind_of(args) is Tensor
    operands = [as_operand(one) if of_tensors or isinstance(one, Tensor) else np.asarray(one) for one in args]
    if not of_tensors:  # among them are arrays of Python's numbers
        operands = [x if isinstance(x, (ArrayTracer, np.ndarray)) else marked(ZeroDimArray, x) for x in operands]
    shapes = [x.shape for x in operands if isinstance(x, Tensor)]
    unknown = next((shape for shape in shapes if not shape.is_fully_defined()), None)
    if unknown is not None:
        raise UnknownWhileTracing(f"numpy.broadcast: the shapes must be known while the graph is built, got {unknown}")
    shape = np.broadcast_shapes(*[tuple(x.shape) for x in operands])
    return Broadcast([_seen_in(x, shape) for x in operands], shape)


def _seen_in(x: Tensor | np.ndarray[Any, Any], shape: tuple[int, ...]) -> Any:
    """Return an operand in the common shape: of an array a view."""
    return (
        np.broadcast_to(x, shape)
        if isinstance(x, (ArrayTracer, np.ndarray))
        else marked(type(x), broadcast_to(x, shape))
    )


@counterpart(np.nested_iters)
def nested_iters(
    op: Any, axes: Any, flags: Any = None, op_flags: Any = None, op_dtypes: Any = None, order: Any = "K",
    casting: Any = "safe", buffersize: Any = 0,
) -> NoReturn:  # fmt: skip
    """Refuse, as ``nditer`` does."""
    raise UnknownWhileTracing("numpy.nested_iters takes no tensors: write the loops")
