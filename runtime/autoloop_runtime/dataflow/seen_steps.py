"""What a trace shows of a step that is several kernels: each of them, with a share of its time by what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..base.profiler import Slice, TracedRun
from .batch_doors import ALWAYS, ENDS
from .execution_plan import MISSING
from .flat_graph import FlatNode, Kind, Lowered, nanoseconds
from .loop_turns import condition_of

#: nanoseconds of a kernel beside another one, at least
LEAST = 1.0
#: loops around a kernel with their iterations, innermost first
Around = tuple[tuple[str, int], ...]


def is_seen_joined(graph: Lowered, nodes: Sequence[FlatNode]) -> bool:
    """Return whether runs that are traced go by the steps of others: where there are loops whose tokens are moved in
    native memory, and a trace can tell of all kernels, also of several that are one step, which have run, and in which
    iterations.

    Parameters
    ----------
    graph : Lowered
        With a node for each kernel, in the same places.
    nodes : sequence of FlatNode
        Those of the steps.
    """
    has_cores = any(node.kind is Kind.WHOLE and node.value.is_native for node in nodes)
    return has_cores and all(_is_told(graph, node) for node in nodes)


def _is_told(graph: Lowered, node: FlatNode) -> bool:
    if node.kind is Kind.WHOLE:
        return bool(node.value.is_native) and all(_is_told(graph, one) for one in node.value.steps())
    if node.kind is not Kind.BATCH:
        return True
    # of a branch in it nobody knows which side was taken
    nodes, members = node.value.lowered.nodes, node.value.members
    condition = condition_of(nodes, members)
    return all(nodes[k].inputs[1] == condition for k in members if nodes[k].kind is Kind.SWITCH)


class SeenStep:
    """What is shown of a step.

    Parameters
    ----------
    graph : Lowered
        See ``is_seen_joined``.
    flat : FlatNode
        The step.
    """

    __slots__ = ("_all", "_first")

    def __init__(self, graph: Lowered, flat: FlatNode) -> None:
        members, last = (flat.index,), None
        if flat.kind is Kind.BATCH:
            members, last = flat.value.members, condition_of(flat.value.lowered.nodes, flat.value.members)
        kernels = [graph.nodes[k] for k in members if graph.nodes[k].kind is Kind.KERNEL]
        self._all = list(_shared(kernels))
        #: those of a turn that run in the last iteration
        self._first = self._all if last is None else list(_shared([one for one in kernels if one.index <= last[0]]))

    def slices(
        self, times: tuple[int, int], thread: int, around: Around, run: TracedRun, held: bool, is_last: bool
    ) -> list[Slice]:
        """Return the slices of one call of it.

        Parameters
        ----------
        times : (int, int)
            When it began and ended.
        is_last : bool
            It is a turn, and the loop has ended.
        """
        start, end = times
        length, found = end - start, list[Slice]()
        for node, share in self._first if is_last else self._all:
            until = times[0] + int(length * share)
            name = "" if node.op is None else node.op.name
            found.append((node.name, name, thread, start, until, around, run, node, held))
            start = until
        return found


def _shared(kernels: Sequence[FlatNode]) -> Iterable[tuple[FlatNode, float]]:
    """Yield kernels, and which share of the time of all of them is over when each has ended."""
    costs = [max(nanoseconds(node), LEAST) for node in kernels]
    over, total = 0.0, sum(costs)
    for k, (node, cost) in enumerate(zip(kernels, costs), 1):
        over += cost
        yield node, 1.0 if k == len(kernels) else over / total


def is_last(flat: FlatNode, made: Any) -> bool:
    """Return whether a turn, of which tokens have been ``made``, has found that the loop has ended."""
    if flat.kind is not Kind.BATCH or flat.value.doors.predicate is None or type(made) is not tuple:
        return False
    sides = [(side, token is not MISSING) for side, token in zip(flat.value.doors.sides, made) if side != ALWAYS]
    return any((side == ENDS) is there for side, there in sides)
