"""New tensors made by counting: ranges, and matrices that come of comparing them."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes
from ..base.shapes import TensorShape
from ..ir.apply import apply
from ..ir.argument_types import ArrayLike, DTypeLike
from ..ir.convert import convert_to_tensor, is_number
from ..ir.op import ruled_in
from ..ir.standard_protocols import check_device
from ..ir.tensor import Tensor
from ..ir.traits import OPAQUE, Memory
from .array import expand_dims, reshape
from .define import primitive, public
from .direct_calls import written
from .dtype_rules import inexact
from .logic import equal
from .operands import cast, is_tensor, operands
from .reducing import sum
from .selection import where
from .shape_queries import dim

__all__ = ["arange", "eye", "linspace", "one_hot", "range"]


def _count(start: Any, limit: Any, delta: Any) -> int:
    if delta == 0:
        raise ValueError("range: delta must not be zero [AL212]")
    distance = limit - start
    if isinstance(delta, float) and not math.isfinite(distance / delta):
        raise ValueError(  # in NumPy's words
            "arange: cannot compute length" if math.isnan(distance / delta) else "Maximum allowed size exceeded"
        )
    count: int = math.ceil(distance / delta) if isinstance(delta, float) else -(-distance // delta)
    return builtins.max(0, count)


def _range_infer(start: Tensor, limit: Tensor, delta: Tensor) -> Any:
    for what, t in (("start", start), ("limit", limit), ("delta", delta)):
        if t.shape.rank not in (0, None):
            raise ValueError(f"range: {what} must be a scalar, got shape {t.shape} [AL212]")
    values = [t.constant_value() for t in (start, limit, delta)]
    if builtins.any(v is None for v in values):
        return start.dtype, TensorShape([None])
    return start.dtype, TensorShape([_count(*[v.item() for v in values if v is not None])])


def _range_kernel(start: Any, limit: Any, delta: Any) -> Any:
    first, step = start.item(), delta.item()
    count = _count(first, limit.item(), step)
    if start.dtype.kind in "iu":
        return start + np.arange(count).astype(start.dtype) * delta
    return (first + np.arange(count) * step).astype(start.dtype)


def _range_vjp(g: Tensor, outputs: Sequence[Tensor], inputs: Any, attrs: Any) -> Any:
    """Return each number moves with the start, and with the step as often as it was added; the limit only cuts off."""
    y = outputs[0]
    if y.dtype.kind != "f":
        return [None, None, None]
    counts = cast(range(dim(y, 0)), y.dtype)
    return [sum(g), None, sum(g * counts)]


RANGE = primitive(
    "range", _range_infer, _range_kernel, _range_vjp, traits=OPAQUE.but(memory=Memory.FRESH, rematerialise=True)
)


def _whole(start: Any, limit: Any, delta: Any) -> tuple[Any, Any]:
    """Return the start and limit of integers that begin, or end, at floats: as many as there are of floats."""
    if not builtins.all(map(is_number, (start, limit, delta))):
        return start, limit
    if not math.isfinite(start + limit):
        raise ValueError(f"range: there are no integers from {start} to {limit} [AL212]")
    if delta != int(delta):
        raise ValueError(f"range: steps of {delta} give no integers; leave dtype out, or give a whole number [AL212]")
    first = math.trunc(start)
    return first, first + math.ceil((limit - start) / delta) * int(delta) if delta else limit


@public(name="range")
def range(
    start: ArrayLike,
    limit: ArrayLike | None = None,
    delta: ArrayLike = 1,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Return numbers from ``start`` up to, not including, ``limit`` in steps of ``delta``.

    Parameters
    ----------
    start : scalar tensor-like
        The limit, and the start is 0, when it is the only one given.
    limit, delta : scalar tensor-like, optional
    dtype : dtype-like, optional
        By default the promoted dtype of the arguments; int32 for Python ints.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.range(2, 8, 3))
    Tensor([2 5], shape=(2,), dtype=int32)
    """
    if limit is None:
        start, limit = 0, start
    if dtype is not None and dtypes.as_dtype(dtype).kind in "iu":
        start, limit = _whole(start, limit, delta)
    parts = operands("range", start, limit, delta)
    if dtype is not None:
        parts = [cast(p, dtype) for p in parts]
    if parts[0].dtype.kind not in "iuf":
        raise TypeError(f"range: the arguments must be real numbers, got dtype {parts[0].dtype} [AL212]")
    return apply(RANGE, parts, None, name)


def arange(
    start: ArrayLike,
    stop: ArrayLike | None = None,
    step: ArrayLike = 1,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    device: str | None = None,
) -> Tensor:
    """Return the same as ``range``, with NumPy's names.

    Parameters
    ----------
    start : number or scalar tensor
        The first value, or the end, where it is the only one.
    stop : number or scalar tensor, optional
        The end, which is not reached.
    step : number or scalar tensor
    dtype : dtype-like, optional
    name : str, optional
    device : "cpu", optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.arange(2, 8, 3))
    Tensor([2 5], shape=(2,), dtype=int32)
    """
    check_device(device, "arange")
    return range(start, stop, step, dtype, name)


public(name="arange")(arange)


def _linspace_infer(start: Tensor, stop: Tensor, num: int) -> Any:
    if start.shape.rank not in (0, None) or stop.shape.rank not in (0, None):
        raise ValueError(f"linspace: the ends must be scalars, got shapes {start.shape} and {stop.shape} [AL212]")
    return start.dtype, TensorShape([num])


def _linspace_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    weight = linspace(0.0, 1.0, attrs["num"], dtype=g.dtype)
    return [sum(g * (1 - weight)), sum(g * weight)]


LINSPACE = primitive(
    "linspace", _linspace_infer,
    lambda start, stop, num: np.linspace(start, stop, num, dtype=start.dtype), _linspace_vjp,
    traits=OPAQUE.but(memory=Memory.FRESH),
    # of other dtypes NumPy would have to be told
    code_of=lambda node: written("np.linspace", 2, node.attrs["num"]) if node.inputs[0].dtype == "float64" else None,
)  # fmt: skip


@public()
def linspace(
    start: ArrayLike, stop: ArrayLike, num: int = 50, dtype: DTypeLike | None = None, name: str | None = None, *,
    device: str | None = None, endpoint: bool = True,
) -> Tensor:  # fmt: skip
    """Return ``num`` evenly spaced numbers from ``start`` to ``stop``, both included.

    Parameters
    ----------
    start, stop : scalar tensor-like
    num : int
    dtype : dtype-like, optional
    name : str, optional
    device : str, optional
        Only "cpu".
    endpoint : bool
        Whether ``stop`` is the last of the numbers; otherwise it would be the next one.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.linspace(0.0, 1.0, 3))
    Tensor([0.  0.5 1. ], shape=(3,), dtype=float32)
    """
    check_device(device, "linspace")
    ends = operands("linspace", start, stop)
    if dtype is None:
        both_python = is_number(start) and is_number(stop)
        width = dtypes.float32 if both_python else inexact(ends[0].dtype)[0]
        dtype = dtypes.complex_of(width) if both_python and ends[0].dtype.kind == "c" else width
    ends = [cast(e, dtype) for e in ends]
    if endpoint:
        return apply(LINSPACE, ends, {"num": int(num)}, name)
    return apply(LINSPACE, ends, {"num": int(num) + 1})[:-1]


@public()
def eye(
    n: int, m: int | None = None, k: int = 0, dtype: DTypeLike | None = None, name: str | None = None, *,
    device: str | None = None,
) -> Tensor:  # fmt: skip
    """Return a matrix with ones on a diagonal and zeros elsewhere.

    Parameters
    ----------
    n : int or scalar tensor
        Rows.
    m : int or scalar tensor, optional
        Columns, by default ``n``.
    k : int
        Which diagonal; 0 is the main one.
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
    >>> print(al.eye(2))
    Tensor([[1. 0.]
     [0. 1.]], shape=(2, 2), dtype=float32)
    """
    check_device(device, "eye")
    extents = [n, n if m is None else m]
    if not any(is_tensor(extent) for extent in extents) and min(extents) < 0:
        raise ValueError(f"eye: negative dimensions are not allowed, got {extents} [AL208]")
    rows = expand_dims(range(n), 1)
    columns = range(extents[1])
    return cast(equal(columns - rows, k), dtypes.float32 if dtype is None else dtype, name)


@public()
def one_hot(
    indices: ArrayLike, depth: ArrayLike, on_value: ArrayLike | None = None, off_value: ArrayLike | None = None,
    axis: int = -1, dtype: DTypeLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return ``on_value`` at the places that ``indices`` name along a new axis, ``off_value`` elsewhere.

    Parameters
    ----------
    indices : tensor-like of integers
        Out of range: no place at all.
    depth : int or scalar tensor
        The extent of the new axis.
    on_value, off_value : scalar tensor-like, optional
        By default 1 and 0.
    axis : int
        Where the new axis goes.
    dtype : dtype-like, optional
        By default that of the values, or float32.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.one_hot([0, 2], 3))
    Tensor([[1. 0. 0.]
     [0. 0. 1.]], shape=(2, 3), dtype=float32)
    """
    indices = convert_to_tensor(indices)
    on, off = operands("one_hot", 1 if on_value is None else on_value, 0 if off_value is None else off_value)
    if dtype is not None or (on_value is None and off_value is None):
        dtype = dtypes.float32 if dtype is None else dtypes.as_dtype(dtype)
        on, off = cast(on, dtype), cast(off, dtype)
    spread = expand_dims(indices, axis)
    places = range(cast(depth, indices.dtype))
    if axis not in (-1, indices.shape.rank):
        places = reshape(places, [-1] + [1] * (len(indices.shape) - axis))
    return where(equal(spread, places), on, off, name=name)


ruled_in("views", RANGE, LINSPACE)
