"""The passes in their order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ..ir.graph import Graph
from ..ir.stages import Stage, come_to
from .cse import eliminate_common
from .fold import fold
from .invariant import hoist_invariants
from .outliving import copy_outliving
from .prune import prune
from .rewrite import detached
from .strength import reduce_strength
from .strictness import keep_failures

Pass = Callable[[Graph], Graph]

#: what ``optimize`` does, first to last; each is a pure function of a graph with ``inputs`` and ``outputs``
PASSES: tuple[Pass, ...] = (keep_failures, prune, fold, reduce_strength, hoist_invariants, eliminate_common, prune)


def optimize(graph: Graph, donated: Mapping[int, int] = MappingProxyType({})) -> Graph:
    """Return ``graph``, of which inputs are ``donated``, after all passes; the given graph is not changed, nor does a
    later change of it change the result."""
    come_to(graph, Stage.STRUCTURED)
    made: dict[Pass, Graph] = {}
    for transform in PASSES:
        if made.get(transform) is not graph:  # else the passes since it last ran have left nothing for it
            graph = made[transform] = transform(graph)
        come_to(graph, Stage.STRUCTURED)
    graph = detached(copy_outliving(graph, donated))
    come_to(graph, Stage.OPTIMISED)
    return graph
