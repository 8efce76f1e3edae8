"""NumPy's norms, of vectors and of matrices, and the singular values that some of them are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.shapes import TensorShape
from ..ir.apply import apply_several
from ..ir.convert import convert_to_tensor
from ..ir.numpy_arguments import Counterpart
from ..ir.numpy_protocols import NUMPY_FUNCTIONS
from ..ir.tensor import Tensor
from ..ir.traits import OPAQUE
from .arithmetic import abs as absolute
from .array import expand_dims, moveaxis, squeeze
from .define import primitive
from .dtype_rules import inexact
from .extents import axes_of
from .linalg import matmul, transposed
from .logic import not_equal
from .operands import as_dtype, cast, is_tensor
from .reducing import sum as total
from .reductions import max as greatest
from .reductions import min as least
from .reductions import norm
from .selection import where

# -- singular values --------------------------------------------------------------------------------------


def _svd_infer(x: Tensor) -> Any:
    real = np.empty(0, x.dtype).real.dtype
    if x.shape.rank is None:
        return [(x.dtype, x.shape), (real, x.shape), (x.dtype, x.shape)]
    *stack, rows, columns = x.shape.known
    least = None if rows is None or columns is None else min(rows, columns)
    shapes = [[*stack, rows, least], [*stack, least], [*stack, least, columns]]
    return [(d, TensorShape(s)) for d, s in zip((x.dtype, real, x.dtype), shapes)]


def _svd_kernel(x: Any) -> Any:
    return tuple(np.linalg.svd(x, full_matrices=False))


def _svd_vjp(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    """Return the VJP of J. Townsend, "Differentiating the singular value decomposition", 2016."""
    u, s, vh = outputs
    of_u, of_s, of_vh = g
    found = None if of_s is None else matmul(u * expand_dims(cast(of_s, u.dtype), -2), vh)
    if of_u is None and of_vh is None:
        return [found]
    if u.dtype.kind == "c":
        raise TypeError(
            "the singular vectors of a complex matrix have no gradient, as their phase is anybody's: there are first "
            "derivatives of its norms, in reverse mode"
        )
    across, down = expand_dims(s, -2), expand_dims(s, -1)
    gaps = across * across - down * down
    apart = not_equal(gaps, 0)
    factors = where(apart, 1 / where(apart, gaps, 1), 0)
    v = transposed(vh)
    parts = [] if found is None else [found]
    if of_u is not None:
        inner = matmul(transposed(u), of_u)
        away = of_u - matmul(u, inner)
        parts.append(matmul(matmul(u, factors * (inner - transposed(inner))) * across + away / across, vh))
    if of_vh is not None:
        of_v = transposed(of_vh)
        inner = matmul(vh, of_v)
        away = of_v - matmul(v, inner)
        parts.append(matmul(u, matmul(down * (factors * (inner - transposed(inner))), vh) + transposed(away) / down))
    return [sum(parts[1:], parts[0])]


SVD = primitive(
    "svd",
    _svd_infer,
    _svd_kernel,
    _svd_vjp,
    several=True,
    traits=OPAQUE.but(price=lambda x: 50_000.0, raises=np.linalg.LinAlgError, blas=True),
)


def _singular_values(x: Tensor) -> Tensor:
    values: Tensor = apply_several(SVD, [x])[1]
    return values


# -- norms ------------------------------------------------------------------------------------------------

#: order -> what it makes of the sums of the absolute values along one axis, and which of the two that is
_SUMS = {1: (greatest, 0), -1: (least, 0), np.inf: (greatest, 1), -np.inf: (least, 1)}
_OF_SINGULAR_VALUES = {2: greatest, -2: least, "nuc": total}


def _floats(x: Any) -> Tensor:
    x = convert_to_tensor(x)
    return as_dtype(x, inexact(x.dtype)[0])


def _checked(ord: Any) -> Any:
    if is_tensor(ord):
        raise TypeError("numpy.linalg.norm: ord must be a Python number or string, not a tensor")
    return ord


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    """Return ``np.linalg.norm``."""
    x, ord = _floats(x), _checked(ord)
    rank = x.shape.rank
    if rank is None:
        raise ValueError("numpy.linalg.norm: the rank of the operand must be known; declare it with set_shape")
    if axis is None and (ord is None or (rank == 2 and ord in ("f", "fro")) or (rank == 1 and ord == 2)):
        return norm(x, None, None, bool(keepdims))
    axes = axes_of(axis, rank, "numpy.linalg.norm") or ()
    if len(axes) == 1:
        return _vectors(x, ord, axes, bool(keepdims))
    if len(axes) == 2:
        return _matrices(x, ord, axes, bool(keepdims))
    raise ValueError("Improper number of dimensions to norm.")


def _vectors(x: Tensor, ord: Any, axes: tuple[int, ...] | None, keepdims: bool) -> Any:
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order {ord!r} for vectors")
    return norm(x, ord, axes, keepdims)


def _matrices(x: Tensor, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    if ord in (None, "fro", "f"):
        return norm(x, None, axes, keepdims)
    if ord in _OF_SINGULAR_VALUES:
        values = _singular_values(moveaxis(x, axes, (-2, -1)))
        found = _OF_SINGULAR_VALUES[ord](values, -1)
        return expand_dims(found, tuple(sorted(axes))) if keepdims else found
    if ord not in _SUMS:
        raise ValueError(f"Invalid norm order {ord!r} for matrices.")
    chosen, along = _SUMS[ord]
    found = chosen(total(absolute(x), axes[along], True), axes[1 - along], True)
    return found if keepdims else squeeze(found, axes)


def _vector_norm(x: Any, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Any:
    """Return ``np.linalg.vector_norm``: along several axes, of all their elements."""
    x = _floats(x)
    axes = None if axis is None else axes_of(axis, x.shape.rank, "numpy.linalg.vector_norm")
    return _vectors(x, _checked(ord), axes, bool(keepdims))


def _matrix_norm(x: Any, *, keepdims: Any = False, ord: Any = "fro") -> Any:
    """Return ``np.linalg.matrix_norm``: of the last two axes."""
    return _norm(x, ord, (-2, -1), keepdims)


def _svdvals(x: Any) -> Any:
    return _singular_values(_floats(x))


for _theirs, _ours in (
    (np.linalg.norm, _norm),
    (np.linalg.vector_norm, _vector_norm),
    (np.linalg.matrix_norm, _matrix_norm),
    (np.linalg.svdvals, _svdvals),
):
    NUMPY_FUNCTIONS[_theirs] = Counterpart(_theirs, _ours)
