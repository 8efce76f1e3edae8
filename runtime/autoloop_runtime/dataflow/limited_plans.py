"""Runs under a limit to memory that move tokens in native memory all the same: where it is known before how much that
may take, with as many iterations at once as there is room for.

Of what such a loop holds each value is in a slot of an iteration, or waits for the next one, or has left it, or is what
a worker is making; so so much at most for each iteration that may be there, and so much besides.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from ..analysis.ownership import Ownership
from ..analysis.sizes import bytes_of
from ..base.dataclass import replace
from . import token_core as tc
from .core_memory import whole_lines
from .core_tables import LoopTables
from .execution_plan import Plan
from .flat_graph import FlatNode, Kind, Lowered
from .memory_limit import Budget
from .token_forms import TokenForm


class Needs:
    """How many bytes a loop may take at once.

    Attributes
    ----------
    each : int
        For each iteration that is there.
    besides : int or float
        Besides; infinitely many if that is not known.
    """

    def __init__(self, tables: LoopTables) -> None:
        steps = tables.called.values()
        self.each = sum([_bytes(form) for forms in tables.forms.values() for form in forms])
        made = max([sum(map(_bytes, one.outputs)) for one in steps], default=0)
        ends = [form for _, form in tables.later.values()]
        # what leaves it is copied for Python; buffers are made several at a time, at most as many as there are at first
        self.besides: float = tables.memory + int(tables.words[tc.WORKERS]) * (tables.scratch + made)
        self.besides += sum(map(_bytes, [*tables.entering, *ends, *tables.leaving, *tables.leaving]))
        # what kernels of Python's make and need is not known, nor how many iterations there are of loops in it
        if tables.is_shared or len(tables.inside) > 1:
            self.besides = inf

    def window(self, most: int, window: int) -> int:
        """Return how many iterations there may be so that no more than ``most`` bytes are taken, ``window`` at most; 0
        if there is no room for one."""
        room = most - self.besides
        return 0 if room < self.each else int(min(window, room // max(self.each, 1)))


def limited(graph: Lowered, steps: Lowered, owned: Ownership, budget: Budget) -> Plan | None:
    """Return the plan of runs under a limit; None if each kernel has to be a step.

    Parameters
    ----------
    graph, steps : Lowered
        With a node for each kernel, and as runs go without a limit.
    """
    nodes, has_cores = list(steps.nodes), False
    if sum([_beside(graph, node) for node in nodes]) > budget.ahead:
        return None
    for k, node in enumerate(nodes):
        if node.kind is Kind.WHOLE:
            narrowed = node.value.narrowed(budget)
            if narrowed is None:
                return None
            nodes[k], has_cores = replace(node, value=narrowed), True
    return Plan(replace(steps, nodes=tuple(nodes)), owned, None, graph) if has_cores else None


def _beside(graph: Lowered, node: FlatNode) -> float:
    """Return how many bytes a step may make that is several kernels and no loop."""
    if node.kind is Kind.WHOLE:
        return 0 if node.value.overlaps else inf
    return sum(_made_by(graph, node)) if node.kind is Kind.BATCH else 0


def _made_by(graph: Lowered, batch: FlatNode) -> Iterator[float]:
    for k in batch.value.members:
        source = graph.nodes[k].source
        if graph.nodes[k].kind is Kind.KERNEL and source is not None:
            for tensor in source.outputs:
                size = bytes_of(tensor)
                yield inf if size is None else size


def _bytes(form: TokenForm | None) -> int:
    return 0 if form is None else whole_lines(max(form.bytes, 1))
