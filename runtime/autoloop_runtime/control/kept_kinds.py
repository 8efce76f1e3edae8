"""Functions of functions over rows: on the user's arrays the function sees arrays, and what it gives is of its kind."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from ..base import nest
from ..base.forks import undivided
from ..base.parsing import signature_of
from ..ir.graph import current_graph
from ..ir.tensor import Tensor
from ..ir.tracers import ArrayTracer, Kind, kind_of, marked

F = TypeVar("F", bound=Callable[..., Any])


def keeps_kinds(transform: F) -> F:
    """Let ``transform(fn, elems, [initializer], ...)`` give arrays where it is given arrays and ``fn`` gives such;
    arrays of Dask's are gone through by chunks."""
    signature = signature_of(transform)

    @functools.wraps(transform)
    def keeping(fn: Any, *args: Any, **kwargs: Any) -> Any:
        graph = current_graph()
        given = signature.bind_partial(fn, *args, **kwargs).arguments
        if graph is None and callable(fn) and "dask.array" in sys.modules and "elems" in given:
            with undivided():
                from .chunked_rows import by_chunks, holds_lazy
            if holds_lazy(given["elems"]):
                return by_chunks(keeping, given)
        values = nest.flatten([given.get("elems"), given.get("initializer")])
        if not callable(fn) or (graph is not None and not graph.ordered) or kind_of(values, ArrayTracer) is Tensor:
            return transform(fn, *args, **kwargs)
        kinds: list[list[Kind]] = []

        def of_arrays(*rows: Any) -> Any:
            made = fn(*nest.map_structure(lambda row: marked(ArrayTracer, row), rows))
            kinds.append([kind_of((leaf,), ArrayTracer) for leaf in nest.flatten(made)])
            return made

        leaves, structure = nest.flatten_with_structure(transform(of_arrays, *args, **kwargs))
        every = kinds[-1] if kinds and len(kinds[-1]) == len(leaves) else [Tensor] * len(leaves)
        return nest.unflatten(structure, map(marked, every, leaves))

    vars(keeping)["__signature__"] = signature
    return keeping  # type: ignore[return-value]
