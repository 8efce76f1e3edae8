"""``np.pad`` in all its modes: elements of the array by their places, or what is computed of its edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base import dtypes, nest
from ...base.stand_ins import UnknownExtent
from ...ir.convert import as_constant, has_tensor
from ...ir.tensor import Tensor
from ...ir.traits import NO_GRADIENT
from .. import array, broadcasting, gathering, joining, repeating, rounding
from ..operands import as_dtype, fitted, is_tensor
from ..shape_queries import dim
from .axes_of_numpy import part, rank_of, spread_along
from .checked_operands import long_enough
from .counterparts import as_operand, counterpart, known, refused
from .library_rows import library

#: which arguments each mode has
_ARGUMENTS: dict[str, tuple[str, ...]] = {
    "empty": (), "edge": (), "wrap": (), "constant": ("constant_values",), "linear_ramp": ("end_values",),
    "maximum": ("stat_length",), "mean": ("stat_length",), "median": ("stat_length",), "minimum": ("stat_length",),
    "reflect": ("reflect_type",), "symmetric": ("reflect_type",),
}  # fmt: skip
_STATISTICS: dict[str, Callable[..., Any]] = {
    "maximum": np.max, "minimum": np.min, "mean": np.mean, "median": np.median,
}  # fmt: skip

_padded_places = library(
    "padded_places", lambda n, pair, mode: np.pad(np.arange(n), pair, mode), lambda *_, **__: [None], NO_GRADIENT,
    dtype=lambda *_, **__: dtypes.int64,
)  # fmt: skip


_EMPTY = "can't extend empty axis {} using modes other than 'constant' or 'empty'"
_NOT_WHOLE = "`pad_width` must be of integral type."


def _in_pairs(given: Any, rank: int, whole: bool = False) -> list[Any]:
    """Return a pair for each axis, as NumPy reads one number, a pair, or pairs; they may hold tensors."""
    if isinstance(given, dict):
        from_axes = [(0, 0)] * rank
        for axis, one in given.items():
            from_axes[axis] = one if isinstance(one, (tuple, list)) else (one, one)
        given = from_axes
    if has_tensor(given):
        if whole and any(is_tensor(one) and as_operand(one).dtype.kind != "i" for one in nest.flatten(given)):
            raise TypeError(_NOT_WHOLE)
        return _staged_pairs(given, rank)
    found = np.asarray(given)
    if whole and found.dtype.kind != "i":
        raise TypeError(_NOT_WHOLE)
    if whole and found.min() < 0:
        raise ValueError("index can't contain negative values")
    return list(np.broadcast_to(found, (rank, 2)).tolist())


def _staged_pairs(given: Any, rank: int) -> list[Any]:
    x: Any = given if isinstance(given, (list, tuple)) else as_operand(given)
    if not isinstance(x, (list, tuple)):
        x = broadcasting.broadcast_to(x, [rank, 2])
        return [(x[a, 0], x[a, 1]) for a in range(rank)]
    rows = [list(one) if isinstance(one, (list, tuple)) else one for one in x]
    if not any(isinstance(one, list) for one in rows):
        rows = [rows]
    rows = [(one * 2 if len(one) == 1 else one) if isinstance(one, list) else [one, one] for one in rows]
    if len(rows) not in (1, rank) or any(len(one) != 2 for one in rows):
        raise ValueError(f"a number, a pair, or {rank} pairs are needed")
    return [tuple(one) for one in (rows * rank if len(rows) == 1 else rows)]


def _ends(x: Tensor, axis: int, left: Any, right: Any) -> Tensor:
    """Return an array with what is before and after it along an axis, each in the dtype of the array."""
    parts = [as_dtype(p, x.dtype) if p is not None else None for p in (left, x, right)]
    return joining.concat([p for p in parts if p is not None], axis)


def _as_constant_of(value: Any, dtype: Any) -> Tensor:
    """Return what NumPy's scalars are in an array: what does not fit is an error in signed integers, else it wraps."""
    number = as_operand(value)
    return fitted(number, dtype) if dtype.kind == "i" and number.dtype.kind != "c" else as_dtype(number, dtype)


def _spread(value: Any, x: Tensor, axis: int, width: Any) -> Any:
    """Return one value, or a slice of extent 1, so often along an axis; None for not at all."""
    if isinstance(width, int) and width == 0:
        return None
    extents = [width if a == axis else dim(x, a) for a in range(len(x.shape))]
    return broadcasting.broadcast_to(_as_constant_of(value, x.dtype), extents)


def _by_places(x: Tensor, axis: int, pair: tuple[int, int], mode: str) -> Any:
    extent = dim(x, axis)
    if isinstance(extent, int):
        numbers: Any = np.arange(extent)
        return gathering.gather(x, as_constant(np.pad(numbers, pair, mode)), axis)  # type: ignore[call-overload]
    return gathering.gather(x, _padded_places(extent, pair=pair, mode=mode), axis)


def _reflected_oddly(x: Tensor, axis: int, pair: tuple[int, int], mode: str) -> Any:
    """Return an array reflected at its edges, which its reflection passes through.

    What is added is a sum of one element and the two edges, each so many times: NumPy says how often.
    """
    extent = dim(x, axis)
    if not isinstance(extent, int):
        raise UnknownExtent(f"numpy.pad: mode {mode!r} with reflect_type 'odd' needs a known shape, got {x.shape}")
    numbers, rows = np.arange(extent), np.eye(extent, dtype=np.int64)
    places = np.pad(numbers, pair, mode)  # type: ignore[call-overload]
    shares: Any = np.pad(rows, [pair, (0, 0)], mode, reflect_type="odd")  # type: ignore[call-overload]
    inner = (places > 0) & (places < extent - 1)
    sign = np.where(inner, shares[np.arange(len(places)), places], 0)
    first, last = shares[:, 0], shares[:, -1] if extent > 1 else 0 * shares[:, 0]

    def weight(counts: Any) -> Tensor:
        return spread_along(as_constant(counts.astype(x.dtype)), axis, len(x.shape))

    picked = gathering.gather(x, as_constant(places), axis)
    return weight(first) * part(x, axis, 0, 1) + weight(last) * part(x, axis, -1) + weight(sign) * picked


def _of_statistics(x: Tensor, axis: int, pair: tuple[int, int], mode: str, lengths: Any) -> Tensor:
    sides = []
    for side, (width, length) in enumerate(zip(pair, lengths)):
        extent = dim(x, axis)
        if length is None or (isinstance(extent, int) and length > extent):
            length = extent
        if mode in ("maximum", "minimum") and length == 0:
            raise ValueError("stat_length of 0 yields no value for padding")
        near: Any = part(x, axis, 0, length) if side == 0 else part(x, axis, extent - length, None)
        value = _STATISTICS[mode](near, axis=axis, keepdims=True)
        if x.dtype.kind in "iu" and value.dtype.kind == "f":
            value = rounding.rint(value)
        sides.append(_spread(as_dtype(value, x.dtype), x, axis, width))
    return _ends(x, axis, *sides)


def _ramped(x: Tensor, axis: int, pair: tuple[int, int], ends: Any) -> Tensor:
    sides: list[Any] = []
    for side, (width, end) in enumerate(zip(pair, ends)):
        if width == 0:
            sides.append(None)
            continue
        edge = part(x, axis, 0, 1) if side == 0 else part(x, axis, -1)
        kind = np.result_type(x.dtype, np.float64) if x.dtype.kind != "c" else x.dtype
        start, stop = as_operand(end, kind), as_dtype(edge, kind)
        steps = spread_along(as_constant(np.arange(width).astype(kind)), axis, len(x.shape))
        ramp = steps * ((stop - start) / as_operand(float(width), kind)) + start
        if x.dtype.kind in "iu":
            ramp = rounding.floor(ramp)
        sides.append(array.flip(ramp, axis) if side else ramp)
    return _ends(x, axis, *sides)


def _arguments(mode: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    if callable(mode):
        refused(np.pad, "mode", "join what is to be added instead: numpy.concatenate((before, x, after))")
    if mode not in _ARGUMENTS:
        raise ValueError(f"mode '{mode}' is not supported")
    others = set(kwargs) - set(_ARGUMENTS[mode])
    if others:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {others}")
    return kwargs


@counterpart(np.pad)
def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """Return ``np.pad``."""
    given = _arguments(mode, kwargs)
    x = as_operand(array)
    rank = rank_of(np.pad, x)
    pairs = _in_pairs(pad_width, rank, True)
    if not rank:
        return x
    if mode != "constant":
        pairs = [known(np.pad, pad_width=tuple(pair)) for pair in pairs]
    if mode in ("constant", "empty"):
        values = given.get("constant_values", 0)
        if not isinstance(values, (list, tuple)) and np.ndim(values) == 0:
            return repeating.pad(x, pairs, "constant", _as_constant_of(values, x.dtype))
    extra = next(iter(given.values()), None)
    default = {"constant": 0, "linear_ramp": 0}.get(mode)
    many = [(None, None)] * rank if extra is None and default is None else None
    if many is None and mode not in ("reflect", "symmetric"):
        many = _in_pairs(default if extra is None else extra, rank)
    for axis, pair in enumerate(pairs):
        left, right = pair
        if mode == "constant":
            assert many is not None
            x = _ends(x, axis, _spread(many[axis][0], x, axis, left), _spread(many[axis][1], x, axis, right))
            continue
        if pair == (0, 0):
            continue
        x = long_enough(x, axis, 1, _EMPTY.format(axis))
        if mode == "linear_ramp":
            assert many is not None
            x = _ramped(x, axis, pair, many[axis])
        elif mode in _STATISTICS:
            assert many is not None
            x = _of_statistics(x, axis, pair, mode, many[axis])
        elif given.get("reflect_type") == "odd":
            x = _reflected_oddly(x, axis, pair, mode)
        else:
            x = _by_places(x, axis, pair, mode)
    return x
