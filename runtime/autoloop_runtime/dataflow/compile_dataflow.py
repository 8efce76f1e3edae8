"""The way through lowering and the scheduler; it is loaded by the first graph that takes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..analysis.ownership import find_owned
from ..ir.graph import Graph
from ..ir.tensor import Tensor
from .executable import Executable
from .lowering import lower


def compile_dataflow(graph: Graph, fetches: Sequence[Tensor], feeds: Sequence[Tensor]) -> Callable[..., list[Any]]:
    """Return a function ``run(values, state, timeout=None)`` that gives ``fetches`` for the values of ``feeds``.

    Raises
    ------
    ValueError
        See ``lowering.lower``.
    """
    wanted = find_owned(graph).in_place if graph.donated else {}
    return Executable(lower(graph, fetches, feeds), graph.donated, wanted).run
