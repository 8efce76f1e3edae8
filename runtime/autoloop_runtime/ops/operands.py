"""Values as operands: tensors of one dtype, by the promotion of ``base.dtypes``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes
from ..base.dtypes import DType
from ..ir.apply import apply
from ..ir.argument_types import ArrayLike, DTypeLike
from ..ir.convert import as_constant, convert_to_tensor, to_array
from ..ir.tensor import Tensor
from ..ir.traits import ELEMENTS, NO_TEMPLATE
from .define import primitive, public

__all__ = ["cast"]


def _cast_kernel(x: Any, dtype: Any) -> Any:
    if x.dtype.kind == "c" and dtype.kind != "c":
        x = x.real
    return x.astype(dtype)


def _cast_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    source = inputs[0].dtype
    return [cast(g, source) if dtypes.is_inexact(source) and dtypes.is_inexact(g.dtype) else None]


CAST = primitive(
    "cast", lambda x, dtype: (dtype, x.shape), _cast_kernel, _cast_vjp, traits=ELEMENTS,
    llvm=NO_TEMPLATE, entries=lambda node, ask: ask(node.inputs[0]),
)  # fmt: skip


@public(numpy=getattr(np, "astype", None), aliases=("astype",))
def cast(x: ArrayLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """Return ``x`` with its elements converted to ``dtype``.

    Floats are truncated towards zero on the way to integers; integers that do not fit wrap; a complex number
    loses its imaginary part on the way to a real one.

    Parameters
    ----------
    x : tensor-like
    dtype : dtype-like
    name : str, optional
    """
    x, dtype = convert_to_tensor(x), dtypes.as_dtype(dtype)
    return x if x.dtype == dtype else apply(CAST, [x], {"dtype": dtype}, name)


def as_dtype(tensor: Tensor, dtype: DType) -> Tensor:
    """Return ``tensor`` cast to ``dtype`` if it has another (strings have one dtype, whatever their length)."""
    if tensor.dtype == dtype or tensor.dtype.kind == dtype.kind == "U":
        return tensor
    return cast(tensor, dtype)


def is_tensor(value: Any) -> bool:
    """Return true for a tensor, and for what stands for one (variables)."""
    return isinstance(value, Tensor) or hasattr(value, "__autoloop_tensor__")


def is_weak(value: Any) -> bool:
    """Return true for numbers that take the dtype of what they meet: Python's and NumPy scalars."""
    return isinstance(value, (bool, int, float, complex, np.number, np.bool_))


def _weak_sample(value: Any) -> Any:
    """Return a number with the kind of ``value`` if it is weak (a number, or nested lists of Python numbers)."""
    if is_weak(value):
        return value.item() if isinstance(value, np.generic) else value
    if isinstance(value, (list, tuple)) and value:
        samples = [_weak_sample(v) for v in value]
        if not any(s is None or isinstance(v, np.generic) for s, v in zip(samples, value)):
            return max(samples, key=lambda s: _KINDS.index(type(s)))
    return None


_KINDS = (bool, int, float, complex)
_NUMBERS = frozenset(_KINDS)


def operands(name: str, *values: Any) -> list[Tensor]:
    """Return the operands of a binary (or n-ary) op as tensors of one dtype.

    Raises
    ------
    TypeError
        If their dtypes have no common one.
    OverflowError
        If a Python int does not fit the dtype of the tensor it meets.
    """
    first, last = values[0], values[-1]
    if isinstance(first, Tensor):
        if all(isinstance(v, Tensor) and v.dtype == first.dtype for v in values):
            return list(values)
        if len(values) == 2 and type(last) in _NUMBERS:
            return list(_with_number(name, first, last))
    elif len(values) == 2 and type(first) in _NUMBERS and isinstance(last, Tensor):
        return list(_with_number(name, last, first))[::-1]
    weak = [None if isinstance(v, Tensor) else _weak_sample(v) for v in values]
    tensors = [convert_to_tensor(v) if w is None else None for v, w in zip(values, weak)]
    dtype = None
    try:
        for tensor in tensors:
            if tensor is not None:
                dtype = tensor.dtype if dtype is None else _promote(dtype, tensor.dtype)
        if dtype is None:
            dtype = dtypes.DEFAULTS[max((type(w) for w in weak), key=_KINDS.index)]
        for sample in weak:
            if sample is not None:
                dtype = dtypes.promote_weak(dtype, sample)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None
    out = []
    for value, tensor in zip(values, tensors):
        if tensor is None:
            plain = value.item() if isinstance(value, np.generic) else value
            out.append(as_constant(to_array(plain, dtype)))
        else:
            out.append(as_dtype(tensor, dtype))
    return out


def _with_number(name: str, tensor: Tensor, number: Any) -> tuple[Tensor, Tensor]:
    """Return a tensor and a Python number as tensors of one dtype."""
    try:
        dtype = dtypes.promote_weak(tensor.dtype, number)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None
    return as_dtype(tensor, dtype), as_constant(to_array(number, dtype))


def _promote(a: DType, b: DType) -> DType:
    return a if a.kind == b.kind == "U" else dtypes.promote(a, b)
