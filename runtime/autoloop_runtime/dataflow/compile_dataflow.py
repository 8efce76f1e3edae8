"""The way through lowering and the scheduler; it is loaded by the first graph that takes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MethodType
from typing import TYPE_CHECKING, Any

from ..analysis.ownership import Ownership, find_owned
from ..base.forks import undivided
from ..base.fp_warnings import asked
from ..ir.graph import Graph
from ..ir.tensor import Tensor
from ..passes.given_places import with_given_places
from ..passes.rewrite import detached
from .executable import Executable
from .flat_graph import FlatNode, Kind, started_late
from .lowering import lower

if TYPE_CHECKING:
    from .faster_kernels import Source
    from .memory_limit import MemoryLimit


def compile_dataflow(
    graph: Graph, fetches: Sequence[Tensor], feeds: Sequence[Tensor],
    faster: Callable[[], Source | None] | None = None,
) -> Callable[..., list[Any]]:  # fmt: skip
    """Return a function ``run(values, state, timeout=None)`` that gives ``fetches`` for the values of ``feeds``; of a
    graph that is given inputs to write to, these are its outputs and inputs.

    When runs have taken long, later ones have the kernels of the source that ``faster`` gives.

    Raises
    ------
    ValueError
        See ``lowering.lower``.
    """
    owned = Ownership()
    if graph.donated:
        graph = _written_in_place(graph)
        fetches, feeds, owned = graph.outputs, graph.inputs, find_owned(graph)
    lowered = lower(graph, fetches, feeds)
    if started_late(lowered):
        with undivided():
            from .started_together import with_starts_together

        lowered = with_starts_together(lowered)
    return Executable(lowered, graph.donated, owned, faster).run


def seen_of(run: Callable[..., Any]) -> str:
    """Return one line of what the last run was like that was traced, and of how others differ, of what
    ``compile_dataflow`` gave."""
    assert isinstance(run, MethodType) and isinstance(run.__self__, Executable)
    seen = run.__self__.seen
    plan = run.__self__.plan
    return seen and f"{seen}{_untraced(plan.nodes, run.__self__.seen_by is plan)}"


def _untraced(nodes: Sequence[FlatNode], is_same: bool) -> str:
    """Return how many of the steps, of runs that nobody traces, are of several kernels; ``is_same``: in those that
    are traced, too."""
    loops = [(node.value.overlaps, node.value.is_native) for node in nodes if node.kind is Kind.WHOLE]
    counts = [
        (sum([node.kind is Kind.BATCH for node in nodes]), "batch", "batches"),
        (loops.count((False, False)), "loop run as one", "loops run as one"),
        (loops.count((True, False)), "loop run in stages", "loops run in stages"),
        (loops.count((True, True)), "loop moved in native memory", "loops moved in native memory"),
    ]
    found = [f"{count} {one if count == 1 else many}" for count, one, many in counts if count]
    return f"; {'as ' if is_same else ''}without a trace: {', '.join(found)}" if found else ""


def limit_of(count: int) -> MemoryLimit:
    """Return a limit of so many bytes, to be shared by runs."""
    with undivided():
        from .memory_limit import MemoryLimit

    return MemoryLimit(count)


def _written_in_place(graph: Graph) -> Graph:
    """Return a graph that does the same as ``graph``, which is given arrays to write to, and copies none of them."""
    with undivided():
        from ..passes.parts_in_place import with_parts_in_place
        from .part_kernels import with_part_kernels
        from .reads_first import with_reads_first

    made = graph
    # where floating-point errors are asked for, each operation may fail: then nothing is written before its time
    first = () if asked() else (with_given_places,)
    for change in (*first, with_part_kernels, with_parts_in_place, with_reads_first):
        made = change(made)
        made.donated = graph.donated
    if made is graph:
        return graph
    made = detached(made)
    made.donated = graph.donated
    return made
