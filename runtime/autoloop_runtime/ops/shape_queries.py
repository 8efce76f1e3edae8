"""What is known of a tensor's shape, and the rest of it as a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dtypes
from ..base.shapes import SCALAR, TensorShape
from ..ir.apply import apply
from ..ir.argument_types import ArrayLike, DTypeLike
from ..ir.convert import as_constant, convert_to_tensor
from ..ir.op import ruled_in
from ..ir.tensor import Tensor
from ..ir.traits import DESCRIBING, NO_GRADIENT
from .define import primitive, public
from .extents import product

__all__ = ["rank", "shape", "size"]

SHAPE = primitive(
    "shape",
    lambda x, dtype: (dtype, TensorShape([x.shape.rank])),
    lambda x, dtype: np.array(x.shape, dtype),
    NO_GRADIENT,
    traits=DESCRIBING,
    entries=lambda node, ask: None if node.inputs[0].shape.rank is None else node.inputs[0].shape.known,
    code_of=lambda node: f"np.array({{0}}.shape, {dtypes.dtype_name(node.attrs['dtype'])})",
)

SIZE = primitive(
    "size", lambda x, dtype: (dtype, SCALAR), lambda x, dtype: dtype.type(x.size), NO_GRADIENT, traits=DESCRIBING,
    code_of=lambda node: f"{dtypes.dtype_name(node.attrs['dtype'])}({{0}}.size)",
)  # fmt: skip

RANK = primitive("rank", lambda x: (dtypes.int32, SCALAR), lambda x: np.int32(x.ndim), NO_GRADIENT, traits=DESCRIBING)

ruled_in("shape_rules", SHAPE, SIZE)


@public()
def shape(x: ArrayLike, dtype: DTypeLike = dtypes.int32, name: str | None = None) -> Tensor:
    """Return the shape of ``x`` as a vector.

    Parameters
    ----------
    x : tensor-like
    dtype : dtype-like
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.shape([[1, 2, 3]]))
    Tensor([1 3], shape=(2,), dtype=int32)
    """
    x, dtype = convert_to_tensor(x), dtypes.as_dtype(dtype)
    if x.shape.is_fully_defined():
        return as_constant(np.array(x.shape.as_tuple(), dtype), name)
    return apply(SHAPE, [x], {"dtype": dtype}, name)


@public()
def size(x: ArrayLike, dtype: DTypeLike = dtypes.int32, name: str | None = None) -> Tensor:
    """Return the number of elements of ``x``.

    Parameters
    ----------
    x : tensor-like
    dtype : dtype-like
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.size([[1, 2, 3]]))
    Tensor(3, shape=(), dtype=int32)
    """
    x, dtype = convert_to_tensor(x), dtypes.as_dtype(dtype)
    known = product(x.shape.known) if x.shape.rank is not None else None
    if known is not None:
        return as_constant(dtype.type(known), name)
    return apply(SIZE, [x], {"dtype": dtype}, name)


@public()
def rank(x: ArrayLike, name: str | None = None) -> Tensor:
    """Return the number of dimensions of ``x``.

    Parameters
    ----------
    x : tensor-like
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.rank([[1, 2]]))
    Tensor(2, shape=(), dtype=int32)
    """
    x = convert_to_tensor(x)
    if x.shape.rank is not None:
        return as_constant(np.int32(x.shape.rank), name)
    return apply(RANK, [x], None, name)


def shape_of(x: Tensor) -> Any:
    """Return the shape of ``x``: static if fully known, else a tensor."""
    return x.shape if x.shape.is_fully_defined() else shape(x)


def dim(x: Tensor, axis: int) -> Any:
    """Return the extent of ``x`` along ``axis``: an int where known, else a scalar tensor."""
    known = x.shape.known[axis] if x.shape.rank is not None else None
    return shape(x)[axis] if known is None else known
