"""The checkpoints of one loop variable, as a value of the graph.

Two kinds keep the same promise: a store knows the value at the beginning of some *segments*, each ``interval``
iterations long. ``Growing`` has all segments and makes them longer as there are more iterations; ``Limited`` has
segments of fixed length, and keeps a limited number of them.

A store is added to in place: the loop that adds to it is the only one to hold it. ``rewound`` makes a new one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes, slots
from ..applying import apply
from ..dtypes import DType
from ..registry import Op, call, register
from ..shapes import SCALAR, TensorShape
from ..tensor import Tensor
from .schedule import make_room, places


class NoCheckpoints:
    """The store before the first iteration; immutable."""

    __slots__ = ()
    dtype = dtypes.variant
    shape = ()
    interval = 1


class Growing(NoCheckpoints):
    """The values at iterations 0, k, 2k, ...; at most 2k of them, so that n iterations take O(sqrt(n)) memory."""

    __slots__ = ("interval", "values")

    def __init__(self) -> None:
        self.interval = 1
        self.values: list[Any] = []

    def add(self, iteration: int, value: Any) -> None:
        """Take note of the value at the beginning of an iteration."""
        if iteration % self.interval:
            return
        self.values.append(value)
        if len(self.values) > 2 * self.interval:
            self.interval *= 2
            del self.values[1::2]

    def value(self, segment: int) -> Any:
        """The value at the beginning of a segment."""
        return self.values[segment]


class Limited(NoCheckpoints):
    """The values at the beginning of at most ``most`` segments of ``interval`` iterations.

    Attributes
    ----------
    segments, levels, values : list
        Of each checkpoint: which segment begins with it, see ``make_room``, and the value.
    planned : frozenset of int or None
        The segments to keep, once it is known how far the loop will run.
    """

    __slots__ = ("interval", "levels", "most", "planned", "segments", "values")

    def __init__(self, most: int, interval: int) -> None:
        self.most = most
        self.interval = interval
        self.segments: list[int] = []
        self.levels: list[int] = []
        self.values: list[Any] = []
        self.planned: frozenset[int] | None = None

    def add(self, iteration: int, value: Any) -> None:
        """Take note of the value at the beginning of an iteration."""
        segment, within = divmod(iteration, self.interval)
        if within:
            return
        level = 0
        if self.planned is not None:
            if segment not in self.planned:
                return
        elif len(self.values) == self.most:
            leaving, level = make_room(self.levels)
            for kept in (self.segments, self.levels, self.values):
                del kept[leaving]
        self.segments.append(segment)
        self.levels.append(level)
        self.values.append(value)

    def latest(self, segment: int) -> int:
        """The last segment up to the given one whose beginning is kept."""
        return next(s for s in reversed(self.segments) if s <= segment)

    def value(self, segment: int) -> Any:
        """The value at the beginning of a segment that is kept."""
        return self.values[self.segments.index(segment)]

    def rewound(self, segment: int) -> Limited:
        """What is still needed when the segments behind the given one are done."""
        made = Limited(self.most, self.interval)
        count = sum(s <= segment for s in self.segments)
        made.segments, made.levels, made.values = self.segments[:count], self.levels[:count], self.values[:count]
        made.planned = places(made.segments[-1], segment, self.most - count)
        return made


_NONE = NoCheckpoints()


def _add(store: Any, iteration: Any, value: Any, most: int | None) -> NoCheckpoints:
    made: Growing | Limited = store
    if store is _NONE:
        made = Growing() if most is None else Limited(most, most)
    made.add(int(iteration), value)
    return made


def _get(store: Any, segment: Any, dtype: DType, shape: TensorShape) -> Any:
    return store.value(int(segment))


def _add_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    _, iteration, value = inputs
    # in a limited store the value may be there for the second time
    before = g if attrs["most"] is None else slots.without(g, iteration)
    return [before, None, slots.element(g, iteration, value)]


def _get_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    iteration = call("multiply", inputs[1], interval(inputs[0]))
    return [slots.single(iteration, g), None]


def _variant(*_: Tensor, **__: Any) -> Any:
    return dtypes.variant, SCALAR


def _number(*_: Tensor) -> Any:
    return dtypes.int64, SCALAR


_EMPTY = register(Op("NoCheckpoints", _variant, lambda: _NONE))
_ADD = register(Op("AddCheckpoint", _variant, _add, _add_vjp))
_GET = register(Op("GetCheckpoint", lambda *_, dtype, shape: (dtype, shape), _get, _get_vjp))
_INTERVAL = register(Op("Interval", _number, lambda store: np.int64(store.interval), lambda *_: [None]))
_LATEST = register(
    Op("LatestCheckpoint", _number, lambda store, s: np.int64(store.latest(int(s))), lambda *_: [None, None])
)
_REWIND = register(
    Op("RewindCheckpoints", _variant, lambda store, s: store.rewound(int(s)), lambda g, *_: [g, None])
)  # fmt: skip


def empty() -> Tensor:
    """A store without checkpoints."""
    made: Tensor = apply(_EMPTY, [])
    return made


def add(store: Tensor, iteration: Tensor, value: Tensor, most: int | None) -> Tensor:
    """``store`` with the value at the beginning of an iteration, if it is to be kept; ``most`` is None: it grows."""
    made: Tensor = apply(_ADD, [store, iteration, value], {"most": most})
    return made


def get(store: Tensor, segment: Tensor, like: Tensor) -> Tensor:
    """The value at the beginning of a segment; it has the dtype and static shape of ``like``."""
    made: Tensor = apply(_GET, [store, segment], {"dtype": like.dtype, "shape": like.shape})
    return made


def interval(store: Tensor) -> Tensor:
    """The number of iterations in a segment."""
    made: Tensor = apply(_INTERVAL, [store])
    return made


def latest(store: Tensor, segment: Tensor) -> Tensor:
    """The last segment up to ``segment`` that a limited store has."""
    made: Tensor = apply(_LATEST, [store, segment])
    return made


def rewound(store: Tensor, segment: Tensor) -> Tensor:
    """A limited store without what lies behind ``segment``, and with a plan of what to keep on the way to it."""
    made: Tensor = apply(_REWIND, [store, segment])
    return made
