"""NumPy's products of vectors, matrices and tensors, and chains of them."""

from __future__ import annotations

import builtins
import operator
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.dtypes import of_numbers
from ...base.stand_ins import UnknownExtent
from ...ir.tensor import Tensor
from .. import composed, contractions, dots, linalg
from ..arithmetic import multiply
from ..array import expand_dims, moveaxis, reshape, squeeze, swapaxes
from ..creation import eye
from ..elementwise import conjugated
from ..extents import axis_of
from ..joining import stack
from ..linalg import matmul
from ..operands import as_dtype
from ..reducing import sum as total
from ..shape_queries import dim, size
from .counterparts import NO_VALUE, as_operand, as_operands, counterpart, known, refused, unsupported
from .numpys_warnings import warn_as_numpy

#: for axes that are numbers, in the order that NumPy gives the axes of a result which is not said
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


# -- sums of products -------------------------------------------------------------------------------------


@counterpart(np.einsum)
def einsum(*operands: Any, out: Any = None, optimize: Any = False, **kwargs: Any) -> Tensor:
    """Return ``np.einsum``, of an equation or of lists of axes; how it is found is ours to choose."""
    unsupported(np.einsum, out=out)
    dtype = kwargs.pop("dtype", None)
    for argument in kwargs:
        if argument not in ("order", "casting"):
            raise TypeError(f"einsum() got an unexpected keyword argument {argument!r}")
        if kwargs[argument] not in ("K", "safe"):
            refused(np.einsum, argument, "cast the operands instead" if argument == "casting" else None)
    equation, given = _equation_and(operands)
    tensors = as_operands(*map(as_operand, given))  # Python's numbers are no weaker than arrays here
    if dtype is not None:
        for x in tensors:
            if not np.can_cast(x.dtype, dtype, "safe"):
                raise TypeError(
                    f"einsum: dtype {x.dtype} cannot be cast to {np.dtype(dtype)} according to the rule 'safe'"
                )
        tensors = [as_dtype(x, of_numbers(dtype)) for x in tensors]
    return contractions.einsum(equation, *tensors)


def _equation_and(operands: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    """Return the equation and the operands; ``operands`` may be ``x, [0, 1], y, [1, 2], [0, 2]``."""
    if not operands:
        raise ValueError("must specify the einstein sum subscripts string and at least one operand, or at least one "
                         "operand and its corresponding subscripts list")  # fmt: skip
    if isinstance(operands[0], str):
        return operands[0], operands[1:]
    left = ",".join([_labels(axes) for axes in operands[1::2]])
    given = operands[: len(operands) // 2 * 2 : 2]
    return (f"{left}->{_labels(operands[-1])}" if len(operands) % 2 else left), given


def _labels(axes: Any) -> str:
    return "".join(["..." if axis is Ellipsis else _LETTERS[operator.index(axis)] for axis in axes])


@counterpart(np.einsum_path)
def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: Any = False) -> Any:
    """Return ``np.einsum_path``, of the shapes alone."""
    equation, given = _equation_and(operands)
    shapes = [as_operand(x).shape for x in given]
    if not builtins.all(shape.is_fully_defined() for shape in shapes):
        raise UnknownExtent("numpy.einsum_path: the shapes of the operands must be known; declare them with set_shape")
    empty = [np.broadcast_to(np.zeros(()), shape.as_tuple()) for shape in shapes]
    return np.einsum_path(equation, *empty, optimize=optimize, einsum_call=einsum_call)


# -- products of vectors ----------------------------------------------------------------------------------


@counterpart(np.cross)
def cross(a: Any, b: Any, axisa: Any = -1, axisb: Any = -1, axisc: Any = -1, axis: Any = None) -> Tensor:
    """Return ``np.cross``: of vectors of three elements, or of two."""
    if axis is not None:
        axisa = axisb = axisc = operator.index(axis)
    a, b = as_operands(a, b)
    a = moveaxis(a, known(np.cross, axisa=axisa), -1)
    b = moveaxis(b, known(np.cross, axisb=axisb), -1)
    extents = [x.shape.known[-1] for x in (a, b)]
    if None in extents:
        raise UnknownExtent("numpy.cross: the length of the vectors must be known; declare it with set_shape")
    if extents != [3, 3]:
        first, second = (np.ones(extent) for extent in extents)
        warn_as_numpy(np.cross, first, second)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said just now
            np.cross(first, second)  # raises: for two elements from NumPy 2.5 on
    a1, a2, *a3 = (a[..., i] for i in range(extents[0]))
    b1, b2, *b3 = (b[..., i] for i in range(extents[1]))
    last: Tensor = a1 * b2 - a2 * b1
    if not (a3 or b3):
        return last
    if not b3:
        parts = [-a3[0] * b2, a3[0] * b1, last]
    elif not a3:
        parts = [a2 * b3[0], -a1 * b3[0], last]
    else:
        parts = [a2 * b3[0] - a3[0] * b2, a3[0] * b1 - a1 * b3[0], last]
    return moveaxis(stack(parts, -1), -1, known(np.cross, axisc=axisc))


def _arrays(a: Any, b: Any) -> list[Tensor]:
    """Return operands in their common dtype; Python numbers count as the arrays that NumPy makes of them."""
    return as_operands(as_operand(a), as_operand(b))


@counterpart(np.dot)
def dot(a: Any, b: Any, out: Any = None) -> Tensor:
    """Return ``np.dot``."""
    unsupported(np.dot, out=out)
    first, second = _arrays(a, b)
    return dots.dot(first, second)


@counterpart(np.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Tensor:
    """Return ``np.tensordot``."""
    first, second = _arrays(a, b)
    return dots.tensordot(first, second, axes)


@counterpart(np.outer)
def outer(a: Any, b: Any, out: Any = None) -> Tensor:
    """Return ``np.outer``."""
    unsupported(np.outer, out=out)
    first, second = _arrays(a, b)
    return linalg.outer(first, second)


@counterpart(np.kron)
def kron(a: Any, b: Any) -> Tensor:
    """Return ``np.kron``: all products, in blocks."""
    a, b = _arrays(a, b)
    count = max(len(a.shape), len(b.shape))
    if not count:
        return multiply(a, b)
    a, b = (expand_dims(x, tuple(range(count - len(x.shape)))) if len(x.shape) < count else x for x in (a, b))
    shape: list[Any] = [dim(a, i) * dim(b, i) for i in range(count)]
    spread = expand_dims(a, tuple(range(1, 2 * count, 2))) * expand_dims(b, tuple(range(0, 2 * count, 2)))
    return reshape(spread, shape)


@counterpart(np.inner)
def inner(a: Any, b: Any, /) -> Tensor:
    """Return ``np.inner``."""
    first, second = _arrays(a, b)
    if 0 in (first.shape.rank, second.shape.rank):
        return dots.dot(first, second)  # which adds the products to zeros
    return composed.inner(first, second)


@counterpart(np.vdot)
def vdot(a: Any, b: Any, /) -> Tensor:
    """Return ``np.vdot``."""
    a, b = _arrays(a, b)
    counts = [x.shape.num_elements() for x in (a, b)]
    extent = -1 if None not in counts and counts[0] == counts[1] else size(a, np.int64)
    return matmul(conjugated(reshape(a, [-1])), reshape(b, [extent]))


def _last_axes(operand: Any, places: Any, count: int) -> Any:
    """Move the axes ``places`` of an operand to the end; ``count`` of them are worked on."""
    if places is None:
        if operand.shape.rank is not None and operand.shape.rank < count:
            raise ValueError(f"an operand has {operand.shape.rank} dimensions, {count} are needed")
        return operand
    places = places if isinstance(places, (tuple, list)) else (places,)
    return moveaxis(operand, tuple(places), tuple(range(-count, 0)))


def _axes_given(axes: Any, axis: Any) -> Any:
    """Return the axes of both operands and of the result, each None for the last."""
    if axes is not NO_VALUE and axis is not NO_VALUE:
        raise TypeError("cannot specify both 'axis' and 'axes'")
    if axis is not NO_VALUE:
        place = operator.index(axis)
        return [place, place, ()]
    if axes is NO_VALUE:
        return [None, None, ()]
    places = list(axes)
    if len(places) == 2:
        places.append(())
    if len(places) != 3:
        raise ValueError("axes should be a list with an entry for all 3 inputs and outputs; entries for outputs can "
                         "only be omitted if none of them has core axes.")  # fmt: skip
    return places


def _vectors(ufunc: Any, x: Any, places: Any) -> Any:
    """Return an operand whose last axis is that of the vectors."""
    if not len(x.shape):
        raise ValueError(f"{ufunc.__name__}: Input operand 0 does not have enough dimensions (has 0, needs 1)")
    return _last_axes(x, places, 1)


def vecdot(
    x1: Any, x2: Any, /, *, axes: Any = NO_VALUE, axis: Any = NO_VALUE, keepdims: Any = False
) -> Tensor:  # fmt: skip
    """Return ``np.vecdot``: the sums of the products of vectors, those of ``x1`` conjugated."""
    x1, x2 = as_operands(x1, x2)
    first, second, _ = _axes_given(axes, axis)
    a, b = _vectors(np.vecdot, x1, first), _vectors(np.vecdot, x2, second)
    _fitting(np.vecdot, a, b, -1, -1)
    if max(len(a.shape), len(b.shape)) == 1:
        made = matmul(conjugated(a), b)
    else:
        made = total(conjugated(a) * b, -1)
        made = as_dtype(made, x1.dtype)
    if not keepdims:
        return made
    place = -1 if first is None else first if isinstance(first, int) else first[0]
    return expand_dims(made, axis_of(place, len(x1.shape), "numpy.vecdot") if first is not None else -1)


def matvec(x1: Any, x2: Any, /, *, axes: Any = NO_VALUE) -> Tensor:
    """Return ``np.matvec``: products of matrices and vectors."""
    x1, x2 = as_operands(x1, x2)
    first, second, last = _axes_given(axes, NO_VALUE)
    a, b = _last_axes(x1, first, 2), _vectors(np.matvec, x2, second)
    _fitting(np.matvec, a, b, -1, -1)
    made = matmul(a, b) if len(b.shape) == 1 else squeeze(matmul(a, expand_dims(b, -1)), -1)
    return made if last == () else moveaxis(made, -1, _single(last))


def vecmat(x1: Any, x2: Any, /, *, axes: Any = NO_VALUE) -> Tensor:
    """Return ``np.vecmat``: products of vectors, conjugated, and matrices."""
    x1, x2 = as_operands(x1, x2)
    first, second, last = _axes_given(axes, NO_VALUE)
    a, b = _vectors(np.vecmat, x1, first), _last_axes(x2, second, 2)
    _fitting(np.vecmat, a, b, -1, -2)
    made = matmul(conjugated(a), b) if len(a.shape) == 1 else squeeze(matmul(expand_dims(conjugated(a), -2), b), -2)
    return made if last == () else moveaxis(made, -1, _single(last))


def _single(place: Any) -> Any:
    return place[0] if isinstance(place, (tuple, list)) else place


def _fitting(ufunc: Any, a: Any, b: Any, of_a: int, of_b: int) -> None:
    left, right = a.shape.known[of_a], b.shape.known[of_b]
    if None not in (left, right) and left != right:
        raise ValueError(
            f"{ufunc.__name__}: Input operand 1 has a mismatch in its core dimension 0 (size {right} is different from "
            f"{left})"
        )


for _name, _ours in (("vecdot", vecdot), ("matvec", matvec), ("vecmat", vecmat)):
    counterpart(getattr(np, _name, None))(_ours)  # the last two are new in NumPy 2.2


# -- chains of products -----------------------------------------------------------------------------------


def multiplied(matrices: Sequence[Any]) -> Any:
    """Return the product of matrices, in the order that takes the fewest multiplications if all extents are known."""
    extents = [matrices[0].shape.known[0], *[x.shape.known[1] for x in matrices]]
    count = len(matrices)
    if None in extents or count < 3:
        made = matrices[0]
        for x in matrices[1:]:
            made = _paired(made, x)
        return made
    cost: dict[tuple[int, int], tuple[int, int]] = {(i, i): (0, i) for i in range(count)}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            cost[i, j] = min(
                (cost[i, k][0] + cost[k + 1, j][0] + extents[i] * extents[k + 1] * extents[j + 1], k)
                for k in range(i, j)
            )

    def between(i: int, j: int) -> Any:
        if i == j:
            return matrices[i]
        k = cost[i, j][1]
        return _paired(between(i, k), between(k + 1, j))

    return between(0, count - 1)


def _paired(a: Any, b: Any) -> Any:
    """Return the product of two matrices, in the dtype of the two."""
    a, b = as_operands(a, b)
    return matmul(a, b)


def power(x: Tensor, n: int) -> Any:
    """Return the product of ``n`` matrices ``x``, in about ``2 log2(n)`` steps, as NumPy does."""
    if n == 0:
        unit = eye(dim(x, -1), dtype=x.dtype)
        return unit if len(x.shape) == 2 else as_dtype(x * 0, x.dtype) + unit
    if n <= 3:
        made = x
        for _ in range(n - 1):
            made = matmul(made, x)
        return made
    square, product = x, None
    while True:
        n, bit = divmod(n, 2)
        if bit:
            product = square if product is None else matmul(product, square)
        if not n:
            assert product is not None
            return product
        square = matmul(square, square)


@counterpart(np.matrix_transpose, np.linalg.matrix_transpose)
def matrix_transpose(x: Any, /) -> Tensor:
    """Return the last two axes exchanged."""
    x = as_operand(x)
    if len(x.shape) < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {len(x.shape)}")
    return swapaxes(x, -1, -2)
