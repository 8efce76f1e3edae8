"""Which arrays those are handles of that the sides of a branch leave."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.ir.array_storage import Storage, kept, one_of_several
from autoloop_runtime.ir.graph import is_around
from autoloop_runtime.ir.tracers import ArrayTracer

from .standins import Maybe, opened


def arrays_left(values: Any) -> Iterator[ArrayTracer]:
    """Yield the arrays in a structure."""
    for leaf in nest.flatten(values):
        if isinstance(leaf, Maybe):
            yield from arrays_left(opened(leaf).value)
        elif isinstance(leaf, ArrayTracer):
            yield leaf


def link(made: Storage, handles: Iterable[Any]) -> None:
    """Note that an array is one of those that the sides have left."""
    made.handles = tuple([(handle, True) for handle in handles])
    for handle, _ in made.handles:
        if isinstance(handle, np.ndarray) and handle.ndim:
            made.stands_for(handle)
        elif every := [] if (storage := kept(handle)) is None else storage.origins():
            made.perhaps(*[one for one in every if is_around(one.graph)])
            made.stands_for(*[array for one in every for array in one.own_sources])


def link_together(every: Iterable[tuple[Storage, tuple[Any, Any]]]) -> None:
    """Note which arrays may be one, because a side leaves one under several names: those chosen, of what."""
    left: dict[Storage, list[Storage]] = {}
    for made, handles in every:
        for handle in handles:
            if (storage := kept(handle)) is not None and not is_around(storage.graph):
                one_of_several(made, left.setdefault(storage, []))
