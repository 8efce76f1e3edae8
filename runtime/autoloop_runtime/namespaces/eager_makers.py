"""Arrays that are made of few numbers, diagonals, and the same elements again, for other libraries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.dtypes import int64
from ..ops.creation import LINSPACE, RANGE
from ..ops.diagonals import DIAGONAL, EMBED, TRIL, TRIU
from ..ops.filled import FILL
from ..ops.repeating import PAD, REPEAT, TILE
from .eager_scatters import with_last
from .eager_shapes import extents, part, shape_of
from .foreign_rows import Call, computed


@computed(FILL, hosts=slice(1, None))
def _fill(call: Call, value: Any, dims: Any = None, *, known: Any, aligned: bool = False) -> Any:
    shape = extents(known, dims)
    return call.xp.asarray(call.xp.broadcast_to(value, shape), copy=True) if shape else value


@computed(RANGE, LINSPACE, hosts=slice(0, None))
def _of_numbers(call: Call, *numbers: Any, **attrs: Any) -> Any:
    return call.namespace.asarray(call.op.kernel(*numbers, **attrs))


@computed(TRIL, TRIU, when="both")
def _triangle(call: Call, x: Any, k: int) -> Any:
    return (call.xp.tril if call.op is TRIL else call.xp.triu)(x, k=k)


@computed(DIAGONAL, needs="linalg.diagonal")
def _diagonal(call: Call, x: Any, k: int) -> Any:
    return call.xp.linalg.diagonal(x, offset=k)


@computed(EMBED, hosts=slice(1, None))
def _embed(call: Call, d: Any, dims: Any = None, *, known: Any, k: int) -> Any:
    shape = extents(known, dims)
    steps = np.arange(d.shape[-1])
    numbers = np.arange(math.prod(shape)).reshape(shape)[..., steps + max(-k, 0), steps + max(k, 0)]
    zeros = call.xp.reshape(call.zeros(shape), (-1,))
    made = with_last(call, zeros, call.namespace.asarray(numbers.reshape(-1)), call.xp.reshape(d, (-1,)))
    return call.xp.reshape(made, shape)


# -- the same elements again --------------------------------------------------------------------------------


@computed(TILE, when="both", hosts=slice(1, None))
def _tile(call: Call, x: Any, multiples: Any = None, *, known: Any) -> Any:
    counts: Sequence[int] = extents(known, multiples)
    shape = shape_of(call, x)
    counts = (*(1,) * (len(shape) - len(counts)), *counts)
    x = call.xp.reshape(x, (*(1,) * (len(counts) - len(shape)), *shape))
    for axis, count in enumerate(counts):
        if count != 1:
            x = call.xp.concat([x] * count, axis=axis) if count else part(x, axis, slice(0, 0))
    return x


@computed(REPEAT, hosts=slice(1, 2))
def _repeat(call: Call, x: Any, repeats: Any, axis: int) -> Any:
    axis %= len(x.shape)
    places = np.repeat(np.arange(shape_of(call, x)[axis]), repeats)
    return call.xp.take(x, call.made(places, int64), axis=axis)


@computed(PAD, when="both", hosts=slice(2, None))
def _pad(call: Call, x: Any, value: Any, pads: Any = None, *, known: Any) -> Any:
    widths = np.reshape(known if pads is None else pads, (-1, 2)).tolist()
    if any(min(w) < 0 for w in widths):
        raise ValueError("index can't contain negative values")
    x, value = call.namespace.of(x), call.namespace.of(value)
    for axis, pair in enumerate(widths):
        shape = shape_of(call, x)
        beside = [call.xp.broadcast_to(value, (*shape[:axis], w, *shape[axis + 1 :])) for w in pair]
        parts = [p for p, w in ((beside[0], pair[0]), (x, 1), (beside[1], pair[1])) if w]
        x = call.xp.concat(parts, axis=axis) if len(parts) > 1 else x
    return x
