"""Operations that draw random numbers in a session (1.x): each begins anew in every session, and goes on run by run."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np

from ..base.shapes import TensorShape
from ..ir.apply import apply
from ..ir.op import Op, numpys_alone, register
from ..ir.run_state import RunState, Storage, Stored
from ..ir.tensor import Tensor
from ..ir.traits import NO_GRADIENT, OPAQUE
from ..ops.extents import extents
from . import philox_numbers as philox


class Draws(Stored):
    """What is drawn by an operation: a session has how far it has come.

    Parameters
    ----------
    seeds : pair of ints, optional
        Of the graph and of the operation; by default others in each session.
    """

    def __init__(self, seeds: tuple[int, int] | None) -> None:
        self._seeds = seeds
        #: of what runs outside of sessions; its value: the seeds, and the number of the next group
        self.own_storage = Storage()

    def taken(self, state: RunState, groups: int) -> tuple[tuple[int, int], int]:
        """Take groups of the stream; return the seeds, and the number of the first."""
        storage = state.storage(self)
        with storage.lock:
            while True:
                changes, known = storage.changes, storage.value
                if known is None:
                    known = (self._seeds or (secrets.randbits(64), secrets.randbits(64))), 0
                if storage.exchange(changes, (known[0], known[1] + groups)):
                    found: tuple[tuple[int, int], int] = known
                    return found


_WAYS: dict[str, tuple[philox.Draw, int]] = {  # which nothing changes after the import
    "RandomUniform": (philox.uniform, philox.RESERVED), "RandomUniformInt": (philox.integers, philox.RESERVED),
    "RandomStandardNormal": (philox.normal, philox.RESERVED), "TruncatedNormal": (philox.truncated, philox.RESERVED),
}  # fmt: skip


def _spec(*inputs: Tensor, known: Any, dtype: Any, **_: Any) -> Any:
    return dtype, TensorShape(known)


def _draw(*inputs: Any, known: Any, dtype: Any, draws: Draws, way: str, state: RunState) -> Any:
    values = list(inputs)
    shape = tuple(known) if known is not None and None not in known else tuple(values.pop().tolist())
    count, (draw, reserved) = int(np.prod(shape)), _WAYS[way]
    seeds, first = draws.taken(state, count * reserved)
    return draw(seeds, first, count, dtype, *values).reshape(shape)[()]


def _order_spec(rows: Tensor, draws: Draws) -> Any:
    return np.dtype(np.int32), TensorShape([None])


def _order(rows: Any, *, draws: Draws, state: RunState) -> Any:
    seeds, first = draws.taken(state, -(-int(rows) // 4))
    return philox.order(seeds, first, int(rows), np.int32)


def _categories_spec(logits: Tensor, count: Tensor, dtype: Any, draws: Draws) -> Any:
    known = count.constant_value()
    rows = None if logits.shape.rank is None else logits.shape[0]
    return dtype, TensorShape([rows, None if known is None else int(known)])


def _categories(logits: Any, count: Any, *, dtype: Any, draws: Draws, state: RunState) -> Any:
    seeds, first = draws.taken(state, len(logits) * -(-int(count) // 4) * 4 * 2)
    return philox.categories(seeds, first, logits, int(count), dtype)


def _op(name: str, spec: Any, kernel: Any) -> Op:
    return register(Op(name, spec, kernel, NO_GRADIENT, traits=OPAQUE, effect=True, stateful=True))


DRAW = _op("random_seeded", _spec, _draw)
ORDER = _op("random_order", _order_spec, _order)
CATEGORIES = _op("random_categories", _categories_spec, _categories)


def drawn(way: str, shape: Any, dtype: Any, seeds: tuple[int, int] | None, name: str | None, *bounds: Tensor) -> Tensor:
    """Return numbers of the distribution ``way``."""
    dims = extents(shape, way)
    attrs = {"known": dims.known, "dtype": dtype, "draws": Draws(seeds), "way": way}
    return apply(DRAW, [*bounds, *dims.inputs], attrs, name or way)


numpys_alone("NumPy's generators draw arrays of NumPy's", DRAW, ORDER, CATEGORIES)
