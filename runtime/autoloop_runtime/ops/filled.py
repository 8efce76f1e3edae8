"""Tensors with all elements equal."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base.aligned_memory import MOST, aligned_empty
from ..base.dtypes import as_dtype, complex_of, float32
from ..base.shapes import TensorShape
from ..ir.apply import apply
from ..ir.argument_types import ArrayLike, DimsLike, DTypeLike
from ..ir.convert import as_constant, convert_to_tensor, is_number
from ..ir.op import ruled_in
from ..ir.standard_protocols import check_device
from ..ir.tensor import Tensor
from ..ir.traits import OPAQUE, Memory
from .define import primitive, public
from .extents import extents
from .operands import assigned, is_tensor, stored
from .reducing import sum
from .shape_queries import shape

__all__ = ["full", "full_like", "ones", "ones_like", "zeros", "zeros_like"]

#: filled tensors up to this many elements are constants, larger ones are made when they are needed
CONSTANT_LIMIT = 1 << 16


def _fill_infer(value: Tensor, *dims: Tensor, known: Any, aligned: bool = False) -> Any:
    if value.shape.rank not in (0, None):
        raise ValueError(f"full: the value must be a scalar, got shape {value.shape} [AL209]")
    return value.dtype, TensorShape(known)


def _fill_kernel(value: Any, dims: Any = None, *, known: Any, aligned: bool = False) -> Any:
    shape = tuple(known if dims is None else dims.tolist())
    if aligned and shape:
        made = aligned_empty(shape, value.dtype)
        made.fill(value)
        return made
    if not value and not any(value.tobytes()):  # memory the system fills when it is touched; -0.0 is not zero bits
        made = np.zeros(shape, value.dtype)
    else:
        made = np.full(shape, value, value.dtype)
    return made if shape else made[()]  # of an array that would be a view, which does not own its memory


FILL = primitive(
    "fill", _fill_infer, _fill_kernel,
    lambda g, outputs, inputs, attrs: [sum(g), *[None] * (len(inputs) - 1)],
    extents=("known", 1), traits=OPAQUE.but(memory=Memory.FRESH, rematerialise=True),
)  # fmt: skip


def _checked_extents(shape: Any, name: str) -> Any:
    dims = extents(shape, name)
    if dims.known is not None:
        for d in dims.known:
            if d is not None and d < 0:
                raise ValueError(f"{name}: a dimension cannot be negative, got {list(dims.known)} [AL208]")
    return dims


@public(name="full", aliases=("fill",))
def full(
    shape: DimsLike, fill_value: ArrayLike, dtype: DTypeLike | None = None, name: str | None = None, *,
    device: str | None = None,
) -> Tensor:  # fmt: skip
    """Return a tensor with all elements equal.

    Parameters
    ----------
    shape : ints, tensor, or a list that mixes them
    fill_value : scalar tensor-like
    dtype : dtype-like, optional
        By default that of ``fill_value``.
    name : str, optional
    device : str, optional
        Only "cpu".

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.full((2, 2), 7))
    Tensor([[7 7]
     [7 7]], shape=(2, 2), dtype=int32)
    """
    check_device(device, "full")
    if dtype is None and is_number(fill_value) and isinstance(fill_value, complex):
        dtype = complex_of(float32)  # as wide as the default of floats
    if is_number(fill_value) or dtype is None:
        value = convert_to_tensor(fill_value, dtype)
    else:
        value = assigned("full", fill_value, as_dtype(dtype))
    dims = _checked_extents(shape, "full")
    # a tensor stays an input even where its value is known: somebody may differentiate with regard to it, or feed it
    known = None if is_tensor(fill_value) else value.constant_value()
    if not dims.inputs and known is not None and known.ndim == 0 and math.prod(dims.known) <= CONSTANT_LIMIT:
        array = _fill_kernel(known[()], known=dims.known)
        if array.ndim:
            array.flags.writeable = False
        return as_constant(array, name)
    attrs = {"known": dims.known}
    if is_number(fill_value) and (dims.inputs or math.prod(dims.known) * value.dtype.itemsize <= MOST):
        attrs["aligned"] = True  # a tensor to its end, of which nobody asks who owns its memory
    return apply(FILL, [value, *dims.inputs], attrs, name)


@public()
def zeros(
    shape: DimsLike, dtype: DTypeLike | None = None, name: str | None = None, *, device: str | None = None
) -> Tensor:
    """Return a tensor of zeros.

    Parameters
    ----------
    shape : ints, tensor, or a list that mixes them
    dtype : dtype-like, optional
        By default float32.
    name : str, optional
    device : str, optional
        Only "cpu".

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.zeros((2, 2)))
    Tensor([[0. 0.]
     [0. 0.]], shape=(2, 2), dtype=float32)
    """
    return full(shape, 0, float32 if dtype is None else dtype, name, device=device)


@public()
def ones(
    shape: DimsLike, dtype: DTypeLike | None = None, name: str | None = None, *, device: str | None = None
) -> Tensor:
    """Return a tensor of ones.

    Parameters
    ----------
    shape : ints, tensor, or a list that mixes them
    dtype : dtype-like, optional
        By default float32.
    name : str, optional
    device : str, optional
        Only "cpu".

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.ones((2, 2)))
    Tensor([[1. 1.]
     [1. 1.]], shape=(2, 2), dtype=float32)
    """
    return full(shape, 1, float32 if dtype is None else dtype, name, device=device)


@public()
def full_like(
    x: ArrayLike, fill_value: ArrayLike, dtype: DTypeLike | None = None, name: str | None = None, *,
    device: str | None = None,
) -> Tensor:  # fmt: skip
    """Return a tensor of the shape (and, by default, dtype) of ``x`` with all elements equal.

    Parameters
    ----------
    x : tensor-like
    fill_value : scalar tensor-like
    dtype : dtype-like, optional
    name : str, optional
    device : str, optional
        Only "cpu".

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.full_like(al.ones(2), 7))
    Tensor([7. 7.], shape=(2,), dtype=float32)
    """
    x = convert_to_tensor(x)
    wanted = x.dtype if dtype is None else as_dtype(dtype)
    return full(
        shape(x), stored(fill_value, wanted) if is_number(fill_value) else fill_value, wanted, name, device=device
    )


@public()
def zeros_like(
    x: ArrayLike, dtype: DTypeLike | None = None, name: str | None = None, *, device: str | None = None
) -> Tensor:
    """Return zeros in the shape (and, by default, dtype) of ``x``.

    Parameters
    ----------
    x : tensor-like
    dtype : dtype-like, optional
    name : str, optional
    device : str, optional
        Only "cpu".

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.zeros_like([1, 2]))
    Tensor([0 0], shape=(2,), dtype=int32)
    """
    return full_like(x, 0, dtype, name, device=device)


@public()
def ones_like(
    x: ArrayLike, dtype: DTypeLike | None = None, name: str | None = None, *, device: str | None = None
) -> Tensor:
    """Return ones in the shape (and, by default, dtype) of ``x``.

    Parameters
    ----------
    x : tensor-like
    dtype : dtype-like, optional
    name : str, optional
    device : str, optional
        Only "cpu".

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.ones_like([1, 2]))
    Tensor([1 1], shape=(2,), dtype=int32)
    """
    return full_like(x, 1, dtype, name, device=device)


ruled_in("filling_rules", FILL)
