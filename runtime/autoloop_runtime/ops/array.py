"""The same elements in another shape, and axes in another order."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.shapes import TensorShape
from ..base.stand_ins import UnknownExtent
from ..ir.apply import apply
from ..ir.argument_types import ArrayLike, Axes, DimsLike
from ..ir.convert import convert_to_tensor
from ..ir.node import Node
from ..ir.op import ruled_in
from ..ir.tensor import Tensor
from ..ir.traits import MADE, RESHAPING, VIEWING
from .define import primitive, public
from .extents import axes_of, axis_of, extents, product
from .shape_queries import shape_of

__all__ = ["expand_dims", "flatten", "flip", "moveaxis", "ravel", "reshape", "roll", "squeeze", "swapaxes", "transpose"]


def _reshape_infer(x: Tensor, *dims: Tensor, known: Any) -> Any:
    if known is None:
        return x.dtype, TensorShape(None)
    if known.count(-1) > 1 or any(d is not None and d < -1 for d in known):
        raise _negative(known)
    out = [None if d == -1 else d for d in known]
    total = product(x.shape.known) if x.shape.rank is not None else None
    if total is None:
        return x.dtype, TensorShape(out)
    unknown = [i for i, d in enumerate(out) if d is None]
    rest = product([d for d in out if d is not None])
    assert rest is not None
    if (not unknown and rest != total) or (len(unknown) == 1 and (total % rest if rest else total)):
        raise ValueError(f"reshape: a tensor of shape {x.shape} cannot have the shape {list(known)} [AL206]")
    if len(unknown) == 1 and rest:
        out[unknown[0]] = total // rest
    return x.dtype, TensorShape(out)


def _negative(known: Any) -> ValueError:
    return ValueError(f"reshape: shape {list(known)} may have one -1 and no other negative number [AL206]")


def _reshape_kernel(x: Any, dims: Any = None, *, known: Any) -> Any:
    if dims is None and known and min(known) < -1:  # some versions of NumPy take it for -1
        raise _negative(known)
    return x.reshape(known if dims is None else dims.tolist())[()]


RESHAPE = primitive(
    "reshape", _reshape_infer, _reshape_kernel,
    lambda g, outputs, inputs, attrs: [reshape_like(g, inputs[0]), *[None] * (len(inputs) - 1)],
    strict=True, extents=("known", 1), traits=RESHAPING,
)  # fmt: skip


@public()
def reshape(x: ArrayLike, shape: DimsLike, name: str | None = None, *, copy: bool | None = None) -> Tensor:
    """Return ``x`` in another shape with the same number of elements.

    Parameters
    ----------
    x : tensor-like
    shape : ints, tensor, or a list that mixes them
        One entry may be -1: it follows from the others.
    name : str, optional
    copy : bool, optional
        Of no matter: values do not change.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.reshape([1, 2, 3, 4], (2, 2)))
    Tensor([[1 2]
     [3 4]], shape=(2, 2), dtype=int32)
    """
    dims = extents(shape, "reshape")
    return apply(RESHAPE, [convert_to_tensor(x), *dims.inputs], {"known": dims.known}, name)


def reshape_like(g: Tensor, x: Tensor) -> Tensor:
    """Return ``g`` in the shape of ``x``."""
    known = x.shape.known if x.shape.rank is not None else ()
    if list(known).count(None) == 1 and 0 not in known:  # the others tell it: its shape need not be kept
        return reshape(g, [-1 if n is None else n for n in known])
    return reshape(g, shape_of(x))


@public()
def ravel(x: ArrayLike, name: str | None = None) -> Tensor:
    """Return ``x`` as a vector.

    Parameters
    ----------
    x : tensor-like
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.ravel([[1, 2], [3, 4]]))
    Tensor([1 2 3 4], shape=(4,), dtype=int32)
    """
    return reshape(x, [-1], name)


def flatten(x: ArrayLike, name: str | None = None) -> Tensor:
    """Return the same as ``ravel``.

    Parameters
    ----------
    x : tensor-like
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.flatten([[1, 2], [3, 4]]))
    Tensor([1 2 3 4], shape=(4,), dtype=int32)
    """
    return ravel(x, name)


public()(flatten)


def _expand_infer(x: Tensor, axis: Any) -> Any:
    if x.shape.rank is None:
        return x.dtype, x.shape
    rest = iter(x.shape.known)
    full = len(x.shape) + len(axis)
    where = axes_of(axis, full, "expand_dims") or ()
    return x.dtype, TensorShape([1 if i in where else next(rest) for i in range(full)])


def _expand_vjp(g: Tensor, outputs: Any, inputs: Any, attrs: Any) -> Any:
    return [squeeze(g, attrs["axis"])]


EXPAND = primitive(
    "expand_dims", _expand_infer, lambda x, axis: np.expand_dims(x, axis), _expand_vjp, strict=True, traits=RESHAPING
)


@public(numpy=np.expand_dims)
def expand_dims(x: ArrayLike, axis: Axes = 0, name: str | None = None) -> Tensor:
    """Return ``x`` with new axes of extent 1.

    Parameters
    ----------
    x : tensor-like
    axis : int or tuple of int
        Where the new axes are in the result.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.expand_dims([1, 2], 0))
    Tensor([[1 2]], shape=(1, 2), dtype=int32)
    """
    x = convert_to_tensor(x)
    if axis is None:
        raise TypeError("'NoneType' object cannot be interpreted as an integer")
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    rank = None if x.shape.rank is None else x.shape.rank + count
    return apply(EXPAND, [x], {"axis": axes_of(axis, rank, "expand_dims")}, name)


def _squeeze_infer(x: Tensor, axis: Any) -> Any:
    dims = x.shape
    if dims.rank is None or (axis is None and None in dims.known):
        return x.dtype, TensorShape(None)
    if axis is None:
        return x.dtype, TensorShape([d for d in dims if d != 1])
    where = axes_of(axis, len(dims), "squeeze") or ()
    for a in where:
        if dims.known[a] not in (1, None):
            raise ValueError(f"squeeze: axis {a} of a tensor of shape {dims} is not 1 [AL206]")
    return x.dtype, TensorShape([d for i, d in enumerate(dims) if i not in where])


SQUEEZE = primitive(
    "squeeze", _squeeze_infer, lambda x, axis: np.squeeze(x, axis)[()],
    lambda g, outputs, inputs, attrs: [reshape_like(g, inputs[0])], traits=RESHAPING,
)  # fmt: skip


@public()
def squeeze(x: ArrayLike, axis: Axes | None = None, name: str | None = None) -> Tensor:
    """Return ``x`` without axes of extent 1.

    Parameters
    ----------
    x : tensor-like
    axis : int or tuple of int, optional
        Only these; a ``ValueError`` if one has another extent. By default all of extent 1.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.squeeze([[1, 2]]))
    Tensor([1 2], shape=(2,), dtype=int32)
    """
    x = convert_to_tensor(x)
    axis = None if axis is None else axes_of(axis, x.shape.rank, "squeeze")
    return apply(SQUEEZE, [x], {"axis": axis}, name)


def _transpose_infer(x: Tensor, axes: Any) -> Any:
    if x.shape.rank is None:
        return x.dtype, TensorShape(None if axes is None else [None] * len(axes))
    order = tuple(range(len(x.shape)))[::-1] if axes is None else axes
    if sorted(order) != list(range(len(x.shape))):
        raise ValueError(f"transpose: axes {order} are no permutation of those of a tensor of shape {x.shape} [AL206]")
    return x.dtype, TensorShape([x.shape.known[a] for a in order])


def _transpose_vjp(g: Tensor, outputs: Any, inputs: Any, attrs: Any) -> Any:
    axes = attrs["axes"]
    return [transpose(g, None if axes is None else np.argsort(axes).tolist())]


TRANSPOSE = primitive(
    "transpose",
    _transpose_infer,
    lambda x, axes: x.transpose(axes) if x.ndim or axes else x,
    _transpose_vjp,
    strict=True,
    traits=VIEWING,
)


@public(numpy=np.transpose, aliases=("permute_dims",))
def transpose(x: ArrayLike, axes: Axes | None = None, name: str | None = None, *, perm: Axes | None = None) -> Tensor:
    """Return ``x`` with its axes in another order.

    Parameters
    ----------
    x : tensor-like
    axes : sequence of int, optional
        By default reversed.
    name : str, optional
    perm : sequence of int, optional
        TensorFlow's name for ``axes``.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.transpose([[1, 2], [3, 4]]))
    Tensor([[1 3]
     [2 4]], shape=(2, 2), dtype=int32)
    """
    x = convert_to_tensor(x)
    axes = perm if axes is None else axes
    if axes is not None:
        axes = axes_of(axes, x.shape.rank, "transpose")
    return apply(TRANSPOSE, [x], {"axes": axes}, name)


@public(numpy=np.swapaxes)
def swapaxes(x: ArrayLike, axis1: int, axis2: int, name: str | None = None) -> Tensor:
    """Return ``x`` with two axes exchanged.

    Parameters
    ----------
    x : tensor-like
    axis1, axis2 : int
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.swapaxes([[1, 2], [3, 4]], 0, 1))
    Tensor([[1 3]
     [2 4]], shape=(2, 2), dtype=int32)
    """
    x = convert_to_tensor(x)
    order = list(range(needed_rank(x, "swapaxes")))
    a, b = axis_of(axis1, len(order), "swapaxes"), axis_of(axis2, len(order), "swapaxes")
    order[a], order[b] = order[b], order[a]
    return transpose(x, order, name)


@public(numpy=np.moveaxis)
def moveaxis(x: ArrayLike, source: Axes, destination: Axes, name: str | None = None) -> Tensor:
    """Return ``x`` with axes moved to other places; the rest keep their order.

    Parameters
    ----------
    x : tensor-like
    source, destination : int or sequence of int
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> al.moveaxis(al.zeros((2, 3, 4)), 0, -1).shape
    TensorShape([3, 4, 2])
    """
    x = convert_to_tensor(x)
    rank = needed_rank(x, "moveaxis")
    source, destination = (list(axes) if isinstance(axes, range) else axes for axes in (source, destination))
    moved, places = axes_of(source, rank, "moveaxis") or (), axes_of(destination, rank, "moveaxis") or ()
    order = [a for a in range(rank) if a not in moved]
    for place, axis in sorted(zip(places, moved)):
        order.insert(place, axis)
    return transpose(x, order, name)


def needed_rank(x: Tensor, name: str) -> int:
    """Return the rank of ``x``; ``ValueError`` if it is unknown."""
    if x.shape.rank is None:
        raise UnknownExtent(f"{name}: the rank of the tensor must be known; declare it with set_shape")
    return x.shape.rank


def _flip_vjp(g: Tensor, outputs: Any, inputs: Any, attrs: Any) -> Any:
    return [flip(g, attrs["axis"])]


def _flip_code(node: Node) -> str | None:
    """Return the index that ``np.flip`` makes, at seven times the cost."""
    axes, rank = node.attrs["axis"], node.inputs[0].shape.rank
    if not rank:
        return None
    turned = range(rank) if axes is None else axes
    entries = ["::-1" if axis in turned else ":" for axis in range(1 + max(turned, default=0))]
    return f"{{0}}[{', '.join(entries)}]"


FLIP = primitive(
    "flip", lambda x, axis: (x.dtype, x.shape), lambda x, axis: np.flip(x, axis), _flip_vjp, traits=VIEWING,
    code_of=_flip_code,
)  # fmt: skip


@public(numpy=np.flip, aliases=("reverse",))
def flip(x: ArrayLike, axis: Axes | None = None, name: str | None = None) -> Tensor:
    """Return ``x`` with its elements in reverse order along axes.

    Parameters
    ----------
    x : tensor-like
    axis : int or tuple of int, optional
        All axes by default.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.flip([1, 2, 3]))
    Tensor([3 2 1], shape=(3,), dtype=int32)
    """
    x = convert_to_tensor(x)
    return apply(FLIP, [x], {"axis": axes_of(axis, x.shape.rank, "flip")}, name)


def _roll_kernel(x: Any, shift: Any, axis: Any) -> Any:
    return np.roll(x, shift if np.ndim(shift) == 0 else tuple(shift), axis)


def _roll_vjp(g: Tensor, outputs: Any, inputs: Any, attrs: Any) -> Any:
    return [roll(g, -inputs[1], attrs["axis"]), None]


ROLL = primitive("roll", lambda x, shift, axis: (x.dtype, x.shape), _roll_kernel, _roll_vjp, traits=MADE)


@public(numpy=np.roll)
def roll(x: ArrayLike, shift: ArrayLike, axis: Axes | None = None, name: str | None = None) -> Tensor:
    """Return ``x`` with its elements moved along axes; what leaves at one end comes in at the other.

    Parameters
    ----------
    x : tensor-like
    shift : int, tensor, or one per axis
    axis : int or tuple of int, optional
        By default the flattened tensor is rolled.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.roll([1, 2, 3], 1))
    Tensor([3 1 2], shape=(3,), dtype=int32)
    """
    x = convert_to_tensor(x)
    if axis is not None:
        places = axes_of(axis, x.shape.rank, "roll", repeated=True) or ()
        axis = places if isinstance(axis, (tuple, list)) else places[0]
    return apply(ROLL, [x, convert_to_tensor(shift)], {"axis": axis}, name)


ruled_in("views", TRANSPOSE, EXPAND, SQUEEZE, RESHAPE, FLIP, ROLL)
