"""The checkpoints of one loop variable, as a value of the graph.

Two kinds keep the same promise: a store knows the value at the beginning of some *segments*, each ``interval``
iterations long. ``Growing`` has all segments and makes them longer as there are more iterations; ``Limited`` has
segments of fixed length, and keeps a limited number of them.

A store is added to in place: the loop that adds to it is the only one to hold it. ``rewound`` makes a new one. It is
shown every iteration in turn, and says which it is waiting for, so that the others cost a comparison of numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import ops
from ..base import dtypes
from ..base.dtypes import DType
from ..base.shapes import SCALAR, TensorShape
from ..ir.apply import apply
from ..ir.op import Appending, Op, register, ruled_in
from ..ir.tensor import Tensor
from ..ir.traits import BOOKKEEPING, NO_GRADIENT, OPAQUE
from . import adjoint_table
from .checkpoint_schedule import make_room, places


class NoCheckpoints:
    """The store before the first iteration; immutable."""

    __slots__ = ()
    dtype = dtypes.variant
    shape = ()
    interval = 1


class Growing(NoCheckpoints):
    """The values at iterations 0, k, 2k, ...; at most 2k of them, so that n iterations take O(sqrt(n)) memory.

    ``due`` is the iteration whose value is kept next.
    """

    __slots__ = ("due", "interval", "values")

    def __init__(self) -> None:
        self.interval = 1
        self.due = 0
        self.values: list[Any] = []

    def add(self, iteration: int, value: Any) -> None:
        """Take note of the value at the beginning of an iteration."""
        if iteration != self.due:
            return
        self.values.append(value)
        if len(self.values) > 2 * self.interval:
            self.interval *= 2
            del self.values[1::2]
        self.due = len(self.values) * self.interval

    def value(self, segment: int) -> Any:
        """Return the value at the beginning of a segment."""
        return self.values[segment]


class Limited(NoCheckpoints):
    """The values at the beginning of at most ``most`` segments of ``interval`` iterations.

    Attributes
    ----------
    segments, levels, values : list
        Of each checkpoint: which segment begins with it, see ``make_room``, and the value.
    planned : frozenset of int or None
        The segments to keep, once it is known how far the loop will run.
    due : int
        The iteration whose value is kept next, -1 if there is none.
    """

    __slots__ = ("due", "interval", "levels", "most", "planned", "segments", "values")

    def __init__(self, most: int, interval: int) -> None:
        self.most = most
        self.interval = interval
        self.segments: list[int] = []
        self.levels: list[int] = []
        self.values: list[Any] = []
        self.planned: frozenset[int] | None = None
        self.due = 0

    def add(self, iteration: int, value: Any) -> None:
        """Take note of the value at the beginning of an iteration."""
        if iteration != self.due:
            return
        level = 0
        if self.planned is None and len(self.values) == self.most:
            leaving, level = make_room(self.levels)
            for kept in (self.segments, self.levels, self.values):
                del kept[leaving]
        self.segments.append(iteration // self.interval)
        self.levels.append(level)
        self.values.append(value)
        self._look_ahead()

    def _look_ahead(self) -> None:
        """Find out what is kept after the last segment there is."""
        last = self.segments[-1]
        if self.planned is None:
            self.due = (last + 1) * self.interval
        else:
            following = [s for s in self.planned if s > last]
            self.due = min(following) * self.interval if following else -1

    def latest(self, segment: int) -> int:
        """Return the last segment up to the given one whose beginning is kept."""
        return next(s for s in reversed(self.segments) if s <= segment)

    def value(self, segment: int) -> Any:
        """Return the value at the beginning of a segment that is kept."""
        return self.values[self.segments.index(segment)]

    def rewound(self, segment: int) -> Limited:
        """Return what is still needed when the segments behind the given one are done."""
        made = Limited(self.most, self.interval)
        count = sum(s <= segment for s in self.segments)
        made.segments, made.levels, made.values = self.segments[:count], self.levels[:count], self.values[:count]
        made.planned = places(made.segments[-1], segment, self.most - count)
        made._look_ahead()
        return made


_NONE = NoCheckpoints()


def _begun(most: int | None, interval: int) -> Growing | Limited:
    return Growing() if most is None else Limited(most, interval)


def _add(store: Any, iteration: Any, value: Any, most: int | None, interval: int) -> NoCheckpoints:
    made: Growing | Limited = _begun(most, interval) if store is _NONE else store
    if iteration == made.due:
        made.add(int(iteration), value)
    return made


def _get(store: Any, segment: Any, dtype: DType, shape: TensorShape) -> Any:
    return store.value(int(segment))


def _add_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    _, iteration, value = inputs
    # in a limited store the value may be there for the second time
    before = g if attrs["most"] is None else adjoint_table.without(g, iteration)
    return [before, None, adjoint_table.element(g, iteration, value)]


def _get_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    iteration = ops.multiply(inputs[1], interval(inputs[0]))
    return [adjoint_table.single(iteration, g), None]


def _variant(*_: Tensor, **__: Any) -> Any:
    return dtypes.variant, SCALAR


def _number(*_: Tensor) -> Any:
    return dtypes.int64, SCALAR


EMPTY = register(Op("NoCheckpoints", _variant, lambda: _NONE, NO_GRADIENT, traits=BOOKKEEPING))
REWIND = register(
    Op("RewindCheckpoints", _variant, lambda store, s: store.rewound(int(s)), lambda g, *_: [g, None], traits=OPAQUE)
)  # fmt: skip
#: never in a graph: how a loop that keeps checkpoints begins
_BEGUN = Op("Checkpoints", _variant, _begun)
ADD = register(
    Op(
        "AddCheckpoint",
        _variant,
        _add,
        _add_vjp,
        appends=Appending(EMPTY, _BEGUN, sources=(REWIND,), waits=True),
        positions=slice(1, 2),
        traits=BOOKKEEPING,
    )
)
GET = register(Op("GetCheckpoint", lambda *_, dtype, shape: (dtype, shape), _get, _get_vjp, traits=OPAQUE))
INTERVAL = register(
    Op("Interval", _number, lambda store: np.int64(store.interval), lambda *_: [None], traits=BOOKKEEPING)
)
LATEST = register(
    Op(
        "LatestCheckpoint",
        _number,
        lambda store, s: np.int64(store.latest(int(s))),
        lambda *_: [None, None],
        traits=OPAQUE,
    )
)


def empty() -> Tensor:
    """Return a store without checkpoints."""
    made: Tensor = apply(EMPTY, [])
    return made


def add(store: Tensor, iteration: Tensor, value: Tensor, most: int | None, interval: int = 1) -> Tensor:
    """Return ``store`` with the value at the beginning of an iteration, if it is to be kept.

    ``most`` is None: it grows. Otherwise it is how many are kept, and ``interval`` is the length of the segments of a
    store that begins here.
    """
    made: Tensor = apply(ADD, [store, iteration, value], {"most": most, "interval": interval})
    return made


def get(store: Tensor, segment: Tensor, like: Tensor) -> Tensor:
    """Return the value at the beginning of a segment; it has the dtype and static shape of ``like``."""
    made: Tensor = apply(GET, [store, segment], {"dtype": like.dtype, "shape": like.shape})
    return made


def interval(store: Tensor) -> Tensor:
    """Return the number of iterations in a segment."""
    made: Tensor = apply(INTERVAL, [store])
    return made


def latest(store: Tensor, segment: Tensor) -> Tensor:
    """Return the last segment up to ``segment`` that a limited store has."""
    made: Tensor = apply(LATEST, [store, segment])
    return made


def rewound(store: Tensor, segment: Tensor) -> Tensor:
    """Return a limited store without what lies behind ``segment``, and with a plan of what to keep on the way to it."""
    made: Tensor = apply(REWIND, [store, segment])
    return made


ruled_in("checkpoint_stack", ADD, INTERVAL, LATEST, REWIND, GET)
ruled_in("saved_values", EMPTY)
