"""New tensors: filled, counted, and what is known of a tensor's shape."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes
from ..base.shapes import SCALAR, TensorShape
from ..ir.apply import apply
from ..ir.convert import as_constant, convert_to_tensor
from ..ir.numpy_arguments import Counterpart
from ..ir.op import call
from ..ir.tensor import NUMPY_FUNCTIONS, Tensor
from ..ir.traits import DESCRIBING, MADE, NO_GRADIENT, OPAQUE, Memory, Price
from .define import Function, dim, inexact, is_tensor, is_weak, op_of, operands, primitive, public
from .elementwise import cast
from .extents import extents, product

#: filled tensors up to this many elements are constants, larger ones are made when they are needed
CONSTANT_LIMIT = 1 << 16

# -- filled -----------------------------------------------------------------------------------------------


def _fill_infer(value: Tensor, *dims: Tensor, known: Any) -> Any:
    if value.shape.rank not in (0, None):
        raise ValueError(f"full: the value must be a scalar, got shape {value.shape}")
    return value.dtype, TensorShape(known)


def _fill_kernel(value: Any, dims: Any = None, *, known: Any) -> Any:
    shape = tuple(known if dims is None else dims.tolist())
    if not value:
        return np.zeros(shape, value.dtype)[()]
    return np.full(shape, value, value.dtype)[()]


FILL = primitive(
    "fill", _fill_infer, _fill_kernel,
    lambda g, outputs, inputs, attrs: [call("sum", g), *[None] * (len(inputs) - 1)],
    traits=OPAQUE.but(memory=Memory.FRESH, rematerialise=True),
)  # fmt: skip


def _checked_extents(shape: Any, name: str) -> Any:
    dims = extents(shape, name)
    if dims.known is not None:
        for d in dims.known:
            if d is not None and d < 0:
                raise ValueError(f"{name}: a dimension cannot be negative, got {list(dims.known)}")
    return dims


@public(name="full")
def full(shape: Any, fill_value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Return a tensor with all elements equal.

    Parameters
    ----------
    shape : ints, tensor, or a list that mixes them
    fill_value : scalar tensor-like
    dtype : dtype-like, optional
        By default that of ``fill_value``.
    name : str, optional
    """
    if dtype is not None and is_weak(fill_value):
        plain = fill_value.item() if isinstance(fill_value, np.generic) else fill_value
        value = convert_to_tensor(plain, dtype)
    else:
        value = convert_to_tensor(fill_value)
        value = value if dtype is None else cast(value, dtype)
    dims = _checked_extents(shape, "full")
    # a tensor stays an input even where its value is known: somebody may differentiate with regard to it, or feed it
    known = None if is_tensor(fill_value) else value.constant_value()
    if not dims.inputs and known is not None and known.ndim == 0 and math.prod(dims.known) <= CONSTANT_LIMIT:
        array = _fill_kernel(known[()], known=dims.known)
        if array.ndim:
            array.flags.writeable = False
        return as_constant(array, name)
    return apply(FILL, [value, *dims.inputs], {"known": dims.known}, name)


@public()
def zeros(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Any:
    """Return a tensor of zeros.

    Parameters
    ----------
    shape : ints, tensor, or a list that mixes them
    dtype : dtype-like
    name : str, optional
    """
    return full(shape, 0, dtype, name)


@public()
def ones(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Any:
    """Return a tensor of ones.

    Parameters
    ----------
    shape : ints, tensor, or a list that mixes them
    dtype : dtype-like
    name : str, optional
    """
    return full(shape, 1, dtype, name)


@public(numpy=np.full_like)
def full_like(x: Any, fill_value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Return a tensor of the shape (and, by default, dtype) of ``x`` with all elements equal.

    Parameters
    ----------
    x : tensor-like
    fill_value : scalar tensor-like
    dtype : dtype-like, optional
    name : str, optional
    """
    x = convert_to_tensor(x)
    return full(shape(x), fill_value, x.dtype if dtype is None else dtype, name)


@public(numpy=np.zeros_like)
def zeros_like(x: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Return zeros in the shape (and, by default, dtype) of ``x``.

    Parameters
    ----------
    x : tensor-like
    dtype : dtype-like, optional
    name : str, optional
    """
    return full_like(x, 0, dtype, name)


@public(numpy=np.ones_like)
def ones_like(x: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Return ones in the shape (and, by default, dtype) of ``x``.

    Parameters
    ----------
    x : tensor-like
    dtype : dtype-like, optional
    name : str, optional
    """
    return full_like(x, 1, dtype, name)


# -- counted ----------------------------------------------------------------------------------------------


def _count(start: Any, limit: Any, delta: Any) -> int:
    if delta == 0:
        raise ValueError("range: delta must not be zero")
    distance = limit - start
    count: int = math.ceil(distance / delta) if isinstance(delta, float) else -(-distance // delta)
    return builtins.max(0, count)


def _range_infer(start: Tensor, limit: Tensor, delta: Tensor) -> Any:
    for what, t in (("start", start), ("limit", limit), ("delta", delta)):
        if t.shape.rank not in (0, None):
            raise ValueError(f"range: {what} must be a scalar, got shape {t.shape}")
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
    return [call("sum", g), None, call("sum", g * counts)]


RANGE = primitive(
    "range", _range_infer, _range_kernel, _range_vjp, traits=OPAQUE.but(memory=Memory.FRESH, rematerialise=True)
)


@public(name="range")
def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str | None = None) -> Any:
    """Return numbers from ``start`` up to, not including, ``limit`` in steps of ``delta``.

    Parameters
    ----------
    start : scalar tensor-like
        The limit, and the start is 0, when it is the only one given.
    limit, delta : scalar tensor-like, optional
    dtype : dtype-like, optional
        By default the promoted dtype of the arguments; int32 for Python ints.
    name : str, optional
    """
    if limit is None:
        start, limit = 0, start
    parts = operands("range", start, limit, delta)
    if dtype is not None:
        parts = [cast(p, dtype) for p in parts]
    if parts[0].dtype.kind not in "iuf":
        raise TypeError(f"range: the arguments must be real numbers, got dtype {parts[0].dtype}")
    return apply(RANGE, parts, None, name)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None, name: str | None = None) -> Any:
    """Return the same as ``range``, with NumPy's names."""
    return range(start, stop, step, dtype, name)


public(name="arange")(arange)


def _linspace_infer(start: Tensor, stop: Tensor, num: int) -> Any:
    if start.shape.rank not in (0, None) or stop.shape.rank not in (0, None):
        raise ValueError(f"linspace: the ends must be scalars, got shapes {start.shape} and {stop.shape}")
    return start.dtype, TensorShape([num])


def _linspace_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    weight = linspace(0.0, 1.0, attrs["num"], dtype=g.dtype)
    return [call("sum", g * (1 - weight)), call("sum", g * weight)]


LINSPACE = primitive(
    "linspace", _linspace_infer,
    lambda start, stop, num: np.linspace(start, stop, num, dtype=start.dtype), _linspace_vjp,
    traits=OPAQUE.but(memory=Memory.FRESH),
)  # fmt: skip


@public(numpy=np.linspace)
def linspace(start: Any, stop: Any, num: int = 50, dtype: Any = None, name: str | None = None) -> Any:
    """Return ``num`` evenly spaced numbers from ``start`` to ``stop``, both included.

    Parameters
    ----------
    start, stop : scalar tensor-like
    num : int
    dtype : dtype-like, optional
    name : str, optional
    """
    ends = operands("linspace", start, stop)
    if dtype is None:
        both_python = is_weak(start) and is_weak(stop)
        dtype = dtypes.float32 if both_python else inexact(ends[0].dtype)[0]
    ends = [cast(e, dtype) for e in ends]
    return apply(LINSPACE, ends, {"num": int(num)}, name)


@public()
def eye(n: int, m: int | None = None, k: int = 0, dtype: Any = dtypes.float32, name: str | None = None) -> Any:
    """Return a matrix with ones on a diagonal and zeros elsewhere.

    Parameters
    ----------
    n : int or scalar tensor
        Rows.
    m : int or scalar tensor, optional
        Columns, by default ``n``.
    k : int
        Which diagonal; 0 is the main one.
    dtype : dtype-like
    name : str, optional
    """
    rows = call("expand_dims", range(n), 1)
    columns = range(n if m is None else m)
    return cast(call("equal", columns - rows, k), dtype, name)


@public()
def one_hot(
    indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, axis: int = -1,
    dtype: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
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
    """
    indices = convert_to_tensor(indices)
    on, off = operands("one_hot", 1 if on_value is None else on_value, 0 if off_value is None else off_value)
    if dtype is not None or (on_value is None and off_value is None):
        dtype = dtypes.float32 if dtype is None else dtypes.as_dtype(dtype)
        on, off = cast(on, dtype), cast(off, dtype)
    spread = call("expand_dims", indices, axis)
    places = range(cast(depth, indices.dtype))
    if axis not in (-1, indices.shape.rank):
        places = call("reshape", places, [-1] + [1] * (len(indices.shape) - axis))
    return call("where", call("equal", spread, places), on, off, name=name)


# -- shapes -----------------------------------------------------------------------------------------------

SHAPE = primitive(
    "shape",
    lambda x, dtype: (dtype, TensorShape([x.shape.rank])),
    lambda x, dtype: np.array(x.shape, dtype),
    NO_GRADIENT,
    traits=DESCRIBING,
)
SIZE = primitive(
    "size", lambda x, dtype: (dtype, SCALAR), lambda x, dtype: dtype.type(x.size), NO_GRADIENT, traits=DESCRIBING
)
RANK = primitive("rank", lambda x: (dtypes.int32, SCALAR), lambda x: np.int32(x.ndim), NO_GRADIENT, traits=DESCRIBING)


@public()
def shape(x: Any, dtype: Any = dtypes.int32, name: str | None = None) -> Any:
    """Return the shape of ``x`` as a vector.

    Parameters
    ----------
    x : tensor-like
    dtype : dtype-like
    name : str, optional
    """
    x, dtype = convert_to_tensor(x), dtypes.as_dtype(dtype)
    if x.shape.is_fully_defined():
        return as_constant(np.array(x.shape.as_tuple(), dtype), name)
    return apply(SHAPE, [x], {"dtype": dtype}, name)


@public()
def size(x: Any, dtype: Any = dtypes.int32, name: str | None = None) -> Any:
    """Return the number of elements of ``x``.

    Parameters
    ----------
    x : tensor-like
    dtype : dtype-like
    name : str, optional
    """
    x, dtype = convert_to_tensor(x), dtypes.as_dtype(dtype)
    known = product(x.shape.known) if x.shape.rank is not None else None
    if known is not None:
        return as_constant(dtype.type(known), name)
    return apply(SIZE, [x], {"dtype": dtype}, name)


@public()
def rank(x: Any, name: str | None = None) -> Any:
    """Return the number of dimensions of ``x``.

    Parameters
    ----------
    x : tensor-like
    name : str, optional
    """
    x = convert_to_tensor(x)
    if x.shape.rank is not None:
        return as_constant(np.int32(x.shape.rank), name)
    return apply(RANK, [x], None, name)


def _int_where_known(f: Function, known: Function) -> Function:
    def of(x: Any) -> Any:
        x = convert_to_tensor(x)
        return known(x) if x.shape.is_fully_defined() else f(x)

    return of


# NumPy's own give Python numbers, which `if np.ndim(x) == 2` relies on while a graph is built
for _theirs, _ours in (
    (np.shape, _int_where_known(shape, lambda x: x.shape.as_tuple())),
    (np.size, _int_where_known(size, lambda x: x.size)),
    (np.ndim, lambda x: rank(x) if x.shape.rank is None else x.shape.rank),
):
    NUMPY_FUNCTIONS[_theirs] = Counterpart(_theirs, _ours)


# -- triangles and diagonals ------------------------------------------------------------------------------


def _matrix(x: Tensor) -> Any:
    if x.shape.rank is not None and x.shape.rank < 2:
        raise ValueError(f"a tensor of rank 2 or more is needed, got shape {x.shape}")
    return x.dtype, x.shape


def _triangle(name: str, kernel: Any, doc: str) -> Any:
    op = primitive(
        name, lambda x, k: _matrix(x), lambda x, k: kernel(x, k),
        lambda g, outputs, inputs, attrs: [f(g, attrs["k"])], traits=MADE,
    )  # fmt: skip

    @public(name=name, numpy=kernel)
    def f(x: Any, k: int = 0, name: str | None = None) -> Any:
        return apply(op, [convert_to_tensor(x)], {"k": int(k)}, name)

    f.__doc__ = f"{doc}\n\nParameters\n----------\nx : tensor-like\nk : int\n    The diagonal.\nname : str, optional\n"
    return f


tril = _triangle("tril", np.tril, "``x`` with the elements above the ``k``-th diagonal set to zero.")
triu = _triangle("triu", np.triu, "``x`` with the elements below the ``k``-th diagonal set to zero.")


def _diagonal_infer(x: Tensor, k: int) -> Any:
    _matrix(x)
    if x.shape.rank is None:
        return x.dtype, x.shape
    rows, columns = x.shape.known[-2:]
    count = None
    if rows is not None and columns is not None:
        count = builtins.max(0, builtins.min(rows, columns - k) if k >= 0 else builtins.min(rows + k, columns))
    return x.dtype, TensorShape([*x.shape.known[:-2], count])


def _diagonal_places(count: int, k: int) -> Any:
    steps = np.arange(count)
    return (..., steps + builtins.max(-k, 0), steps + builtins.max(k, 0))


def _embed_kernel(d: Any, dims: Any = None, *, known: Any, k: int) -> Any:
    out = np.zeros(tuple(known if dims is None else dims.tolist()), d.dtype)
    out[_diagonal_places(d.shape[-1], k)] = d
    return out


DIAGONAL = primitive(
    "diagonal", _diagonal_infer, lambda x, k: np.diagonal(x, k, -2, -1).copy(),
    lambda g, outputs, inputs, attrs: [_embedded(g, shape(inputs[0]), attrs["k"])], traits=MADE.but(price=Price.PICK),
)  # fmt: skip
EMBED = primitive(
    "embed_diagonal", lambda d, *dims, known, k: (d.dtype, TensorShape(known)), _embed_kernel,
    lambda g, outputs, inputs, attrs: [diagonal(g, attrs["k"]), *[None] * (len(inputs) - 1)], traits=MADE,
)  # fmt: skip


def _embedded(d: Tensor, dims: Any, k: int) -> Any:
    places = extents(dims, "diag")
    return apply(EMBED, [d, *places.inputs], {"known": places.known, "k": k})


@public()
def diagonal(x: Any, k: int = 0, name: str | None = None) -> Any:
    """Return the ``k``-th diagonal of the last two axes.

    Parameters
    ----------
    x : tensor-like of rank 2 or more
    k : int
    name : str, optional
    """
    return apply(DIAGONAL, [convert_to_tensor(x)], {"k": int(k)}, name)


@public(numpy=np.diag)
def diag(x: Any, k: int = 0, name: str | None = None) -> Any:
    """Return the matrix with the vector ``x`` on its ``k``-th diagonal; the diagonal of a matrix ``x``.

    Parameters
    ----------
    x : tensor-like of rank 1 or 2
    k : int
    name : str, optional
    """
    x = convert_to_tensor(x)
    if x.shape.rank == 2:
        return diagonal(x, k, name)
    if x.shape.rank != 1:
        raise ValueError(f"diag: a vector or a matrix is needed, got shape {x.shape}")
    extent = size(x) if x.shape.known[0] is None else x.shape.known[0]
    extent = extent + builtins.abs(k)
    return _embedded(x, [extent, extent], k)


@public()
def trace(x: Any, name: str | None = None) -> Any:
    """Return the sum of the main diagonal of the last two axes.

    Parameters
    ----------
    x : tensor-like of rank 2 or more
    name : str, optional
    """
    return call("sum", diagonal(x), -1, name=name)


def _numpy_diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return ``np.diagonal``, which is of the first two axes."""
    a = convert_to_tensor(a)
    if a.shape.rank != 2 or (axis1 % 2, axis2 % 2) != (0, 1):
        a = call("moveaxis", a, (axis1, axis2), (-2, -1))
    return diagonal(a, offset)


def _numpy_trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return call("sum", _numpy_diagonal(a, offset, axis1, axis2), -1)


NUMPY_FUNCTIONS[np.diagonal] = Counterpart(np.diagonal, _numpy_diagonal)
NUMPY_FUNCTIONS[np.trace] = Counterpart(np.trace, _numpy_trace)

# -- the primitives of functions that a maker made --------------------------------------------------------

TRIL = op_of(tril)
TRIU = op_of(triu)
