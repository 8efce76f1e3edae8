"""More of the same elements: tiling, repeating and padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.shapes import Dim, TensorShape
from ..base.stand_ins import UnknownExtent
from ..ir.apply import apply
from ..ir.argument_types import ArrayLike, Axis, DimsLike
from ..ir.convert import as_constant, convert_to_tensor
from ..ir.op import ruled_in
from ..ir.tensor import Tensor
from ..ir.traits import MADE, Fails
from .array import needed_rank, ravel, reshape, reshape_like
from .creation import range as counted
from .define import primitive, public
from .extents import Extents, axis_of, extents, product
from .gathering import gather
from .indexing import index_add
from .operands import operands
from .reducing import sum as total
from .shape_queries import dim, shape

__all__ = ["pad", "repeat", "tile"]


def _tile_infer(x: Tensor, *multiples: Tensor, known: Any) -> Any:
    if known is None or x.shape.rank is None:
        return x.dtype, TensorShape(None)
    if len(known) > len(x.shape):
        have: tuple[Dim, ...] = (1,) * (len(known) - len(x.shape)) + x.shape.known
    else:
        have, known = x.shape.known, (1,) * (len(x.shape) - len(known)) + known
    return x.dtype, TensorShape([product([h, k]) for h, k in zip(have, known)])


def _tile_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    x, known = inputs[0], attrs["known"]
    if known is None or x.shape.rank is None:
        raise UnknownExtent("the gradient of tile needs the ranks of its arguments")
    rank = max(len(known), x.shape.rank)
    pairs: list[Any] = []
    for axis in range(-rank, 0):
        inside = axis + len(known) >= 0
        count = known[axis] if inside else 1
        pairs += [inputs[1][axis] if count is None else count, dim(x, axis) if axis + x.shape.rank >= 0 else 1]
    spread = reshape(g, pairs)
    collected = total(spread, axis=tuple(range(0, 2 * rank, 2)))
    return [reshape_like(collected, x), *[None] * (len(inputs) - 1)]


def _tile_kernel(x: Any, multiples: Any = None, *, known: Any) -> Any:
    return np.tile(x, known if multiples is None else multiples.tolist())[()]


TILE = primitive("tile", _tile_infer, _tile_kernel, _tile_vjp, extents=("known", 1), traits=MADE)


@public(numpy=np.tile)
def tile(x: ArrayLike, multiples: DimsLike, name: str | None = None) -> Tensor:
    """Return ``x`` repeated as a whole along its axes.

    Parameters
    ----------
    x : tensor-like
    multiples : ints, tensor, or a list that mixes them
        How often, for each axis.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.tile([1, 2], 2))
    Tensor([1 2 1 2], shape=(4,), dtype=int32)
    """
    counts = extents(multiples, "tile")
    return apply(TILE, [convert_to_tensor(x), *counts.inputs], {"known": counts.known}, name)


def _repeat_infer(x: Tensor, repeats: Tensor, axis: int) -> Any:
    if x.shape.rank is None:
        return x.dtype, x.shape
    axis = axis_of(axis, x.shape.rank, "repeat")
    count, extent = repeats.constant_value(), x.shape.known[axis]
    total: Dim = None
    if count is not None and count.ndim:
        total = int(count.sum()) if count.size != 1 or extent == 1 else product([extent, int(count[0])])
    elif count is not None:
        total = product([extent, int(count)])
    return x.dtype, TensorShape([*x.shape.known[:axis], total, *x.shape.known[axis + 1 :]])


def _repeat_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    x, repeats = inputs
    axis = axis_of(attrs["axis"], needed_rank(x, "repeat"), "repeat")
    source = repeat(counted(dim(x, axis)), repeats, 0)
    return [index_add(shape(x), (slice(None),) * axis + (source,), g, static=x.shape), None]


REPEAT = primitive(
    "repeat",
    _repeat_infer,
    lambda x, repeats, axis: np.repeat(x, repeats, axis),
    _repeat_vjp,
    traits=MADE.but(fails=Fails.MAYBE),
)


def _check_count(repeats: Any) -> None:
    """Raise as NumPy does of an array without axes that holds no integer; a scalar, which a kernel gets, may be any."""
    if isinstance(repeats, np.ndarray):
        is_one = not repeats.ndim
    else:
        is_one = getattr(repeats, "is_scalar", True) is False and repeats.shape.rank == 0
    if is_one:
        np.repeat(np.zeros(1), np.zeros((), repeats.dtype))


@public(numpy=np.repeat)
def repeat(x: ArrayLike, repeats: ArrayLike, axis: Axis | None = None, name: str | None = None) -> Tensor:
    """Return ``x`` with each element repeated along an axis.

    Parameters
    ----------
    x : tensor-like
    repeats : int, or integers one per element
    axis : int, optional
        By default the tensor is flattened first.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.repeat([1, 2], 2))
    Tensor([1 1 2 2], shape=(4,), dtype=int32)
    """
    _check_count(repeats)
    x = convert_to_tensor(x)
    if axis is None or x.shape.rank == 0:
        x, axis = ravel(x), 0 if axis is None else axis
    return apply(REPEAT, [x, convert_to_tensor(repeats)], {"axis": axis_of(axis, x.shape.rank, "repeat")}, name)


def _pad_infer(x: Tensor, value: Tensor, *pads: Tensor, known: Any) -> Any:
    if x.shape.rank is None:
        return x.dtype, x.shape
    if known is None:
        return x.dtype, TensorShape([None] * len(x.shape))
    pairs = [known[2 * i : 2 * i + 2] for i in range(len(known) // 2)]
    if len(pairs) != len(x.shape):
        raise ValueError(f"pad: {len(pairs)} pairs of paddings for a tensor of shape {x.shape} [AL206]")
    out = [None if d is None or None in p else d + sum(p) for d, p in zip(x.shape, pairs)]
    return x.dtype, TensorShape(out)


def _pad_kernel(x: Any, value: Any, pads: Any = None, *, known: Any) -> Any:
    widths = np.reshape(known if pads is None else pads, (-1, 2)).tolist()
    if any(min(w) < 0 for w in widths):
        raise ValueError("index can't contain negative values")
    out = np.full([d + sum(w) for d, w in zip(x.shape, widths)], value, x.dtype)
    out[tuple([slice(w[0], w[0] + d) for d, w in zip(x.shape, widths)])] = x
    return out


def _pad_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    x, known = inputs[0], attrs["known"]
    where = []
    for axis in range(needed_rank(x, "pad")):
        start = None if known is None else known[2 * axis]
        start = inputs[2][2 * axis] if start is None else start
        where.append(slice(start, start + dim(x, axis)))
    inside = g[tuple(where)]
    return [inside, total(g) - total(inside), *[None] * (len(inputs) - 2)]


PAD = primitive("pad", _pad_infer, _pad_kernel, _pad_vjp, extents=("known", 2), traits=MADE)

#: TensorFlow's and NumPy's names of the modes -> NumPy's
_PAD_MODES = {"constant": "constant", "reflect": "reflect", "symmetric": "symmetric", "edge": "edge", "wrap": "wrap"}


@public()
def pad(
    x: ArrayLike, paddings: ArrayLike, mode: str = "constant", constant_values: ArrayLike = 0, name: str | None = None
) -> Tensor:
    """Return ``x`` with elements added at the ends of its axes.

    Parameters
    ----------
    x : tensor-like
    paddings : sequence of pairs, or a tensor of shape (rank, 2)
        How many before and after, for each axis; one pair or one int holds for all axes.
    mode : {"constant", "reflect", "symmetric", "edge", "wrap"}
        In any case.
    constant_values : scalar tensor-like, or pairs of numbers
        What is before and after, for each axis; one pair holds for all axes.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.pad([1, 2], [[1, 2]]))
    Tensor([0 1 2 0 0], shape=(5,), dtype=int32)
    """
    if mode.lower() not in _PAD_MODES:
        raise ValueError(f"pad: mode must be one of {', '.join(_PAD_MODES)}, got {mode!r} [AL210]")
    x = convert_to_tensor(x)
    widths = _paddings(x, paddings)
    if isinstance(constant_values, (list, tuple, np.ndarray)) and np.ndim(constant_values):
        return _padded_with_each(x, widths, constant_values)
    if mode.lower() == "constant":
        x, value = operands("pad", x, constant_values)
        return apply(PAD, [x, value, *widths.inputs], {"known": widths.known}, name)
    if widths.known is None or None in widths.known:
        raise UnknownExtent(f"pad: mode {mode!r} needs paddings that are known while the graph is built")
    for axis in range(len(widths.known) // 2):
        extent = x.shape.known[axis] if x.shape.rank is not None else None
        if extent is None:
            raise UnknownExtent(f"pad: mode {mode!r} needs a known shape, got {x.shape}")
        pair = (widths.known[2 * axis] or 0, widths.known[2 * axis + 1] or 0)
        if pair != (0, 0):
            source = np.pad(np.arange(extent), pair, _PAD_MODES[mode.lower()])  # type: ignore[call-overload]
            x = gather(x, as_constant(source), axis)
    return x


def _padded_with_each(x: Tensor, widths: Extents, values: Any) -> Tensor:
    """Return ``x`` padded with another number at each end: axis by axis, of which later ones have the corners."""
    rank = needed_rank(x, "pad")
    if widths.known is None or None in widths.known:
        raise UnknownExtent("pad: several constant_values need paddings that are known while the graph is built")
    numbers = np.broadcast_to(np.asarray(values), (rank, 2)).ravel().tolist()
    for end, (width, number) in enumerate(zip(widths.known, numbers)):
        if width:
            there = [0] * (2 * rank)
            there[end] = width
            x = pad(x, [there[2 * axis : 2 * axis + 2] for axis in range(rank)], constant_values=number)
    return x


def _paddings(x: Tensor, paddings: Any) -> Extents:
    if isinstance(paddings, Tensor):
        return extents(reshape(paddings, [-1]), "pad")
    if isinstance(paddings, np.ndarray):
        paddings = paddings.tolist()
    if not isinstance(paddings, (list, tuple)):
        paddings = [(paddings, paddings)] * needed_rank(x, "pad")
    elif not isinstance(paddings[0], (list, tuple, np.ndarray, Tensor)):
        paddings = [tuple(paddings)] * needed_rank(x, "pad")
    return extents([w for pair in paddings for w in pair], "pad")


ruled_in("joining_rules", PAD, TILE, REPEAT)
