"""Tracing the two sides of a staged branch, and building the conditional of what they leave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autoloop_runtime.analysis.failure import can_fail
from autoloop_runtime.analysis.inside import nodes_inside
from autoloop_runtime.base import nest
from autoloop_runtime.ir.array_storage import Block
from autoloop_runtime.ir.graph import Graph, current_graph
from autoloop_runtime.ir.structured import finish_cond, subgraph
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import number_of

from ...errors import NeverReturnsError
from .branch_merge import NEVER, Ends, Merge, is_made_in
from .instances import apart
from .linked_arrays import arrays_left, link_together
from .list_lengths import as_growing
from .staged_blocks import is_run_time_error, raise_at_run_time, staged_block, telling
from .staged_values import certain
from .twins import Twins, watch

Side = Callable[[], tuple[Any, ...]]


def staged_branch(
    test: Tensor, then: Side, orelse: Side, names: Sequence[str], what: str, made: Twins | None = None
) -> tuple[Any, ...]:
    """Build a conditional whose sides give one value per name.

    Parameters
    ----------
    test : Tensor
        A boolean scalar; a tensor leaves tensors where the sides leave Python numbers.
    then, orelse : callable
        Trace one side each.
    names : sequence of str
        The variables, for messages.
    what : str
        How messages call the two sides, with a place for the name.
    made : list, optional
        Gets the objects that are made of what the sides leave, and which of theirs each may be, for ``twins.watch``.
    """
    graph = current_graph() or test.graph
    assert graph is not None
    if told := telling():
        then, orelse, names = told.with_clock(then), told.with_clock(orelse), (*names, "the iterations")
    count = len(names)
    scope = graph.unique_name("cond")
    graphs = (subgraph(graph, f"{scope}/then"), subgraph(graph, f"{scope}/else"))
    blocks = [Block(sub) for sub in graphs]
    ends: list[Ends] = [{}, {}]
    values = [_trace(*one) for one in zip(graphs, (then, orelse), blocks, ends, strict=True)]
    if all(value is NEVER for value in values):
        finish_cond(graph, scope, test, graphs[0], [], graphs[1], [])
        raise NeverReturnsError
    sides = [value if value is not NEVER else (NEVER,) * count for value in values]
    for index, sub in enumerate(graphs):
        with sub.as_default():
            sides[index] = tuple(map(as_growing, names, sides[index], sides[1 - index]))
    number = number_of((test,))
    merges = [Merge(name, a, b, what, number, graphs, ends) for name, a, b in zip(names, *sides, strict=True)]
    tensors = []
    for index, sub in enumerate(graphs):
        with sub.as_default():
            tensors.append([one for merge in merges for one in merge.tensors(index)])
    if not tensors[0] and _may_raise(graphs):
        tensors = [[sub.capture(test.plain)] for sub in graphs]  # a result for what is raised in the branches
    outputs = finish_cond(graph, scope, test, graphs[0], tensors[0], graphs[1], tensors[1])
    remaining = list(outputs)
    twins: Twins = [] if made is None else made
    results = tuple(merge.value(remaining, twins) for merge in merges)
    if made is None:
        watch(twins)
    link_together([pair for merge in merges for pair in merge.made])
    for block in blocks:
        block.lose()
    if told:
        told.passed(results[-1])
        results = results[:-1]
    return results


def _may_raise(graphs: Sequence[Graph]) -> bool:
    """Return whether something in these graphs may raise that is no effect, and of which nothing else would be left."""
    return any(not (node.op.effect or node.subgraphs) and can_fail(node) for node in nodes_inside(*graphs))


def _trace(graph: Graph, side: Side, block: Block, ends: Ends) -> Any:
    with graph.as_default(), staged_block(), block:
        try:
            left = tuple(map(apart, side()))
            values = nest.map_structure(lambda leaf: certain(leaf) if is_made_in(graph, leaf) else leaf, left)
            for array in arrays_left(values):
                if array.storage.lost:
                    ends[id(array)] = (array, array.storage.lost)
                    continue
                array.storage.close()
                ends[id(array)] = (array, array.current())
            return values
        except BaseException as error:
            if not is_run_time_error(error):
                raise
            raise_at_run_time(error)
            return NEVER
