"""Calling machine code that is made for each set of values that decide shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..analysis.failure import can_fail
from ..analysis.observable import has_effect, is_pure
from ..ir.failures import annotate
from ..ir.graph import PARAMETER, Graph
from ..ir.run_state import EAGER, RunState
from ..ir.tensor import Tensor
from .native_function import write_function
from .typing.deciding_values import Deciding, is_few
from .typing.facts import Shape
from .typing.refusal import NativeRefusal

Run = Callable[..., list[Any]]
Make = Callable[[Graph, Sequence[Shape], Mapping[Tensor, Any]], Run]
#: of so many sets of values that decide shapes the code is kept
MOST_SIZES = 64


class Decided:
    """The machine code of a graph for inputs of certain shapes, one piece for each set of values that decide others.

    Two threads may at worst have the same code made twice.

    Parameters
    ----------
    graph : Graph
    shapes : sequence of tuple of int
    ways : sequence of Deciding
        Which values are constants in the code, those that are tried first first.
    make : callable
        Makes the code.
    """

    def __init__(self, graph: Graph, shapes: Sequence[Shape], ways: Sequence[Deciding], make: Make) -> None:
        self._graph = graph
        self._shapes = shapes
        self._ways = list(ways)
        self._make = make
        self._made: dict[tuple[Deciding, tuple[Any, ...]], Run] = {}

    def __call__(self, values: Sequence[Any], state: RunState = EAGER) -> list[Any]:
        """Run."""
        way = self._ways[0]
        try:
            key = way.values(values)
            runnable = self._made.get((way, key))
            if runnable is None:
                runnable = self._make(self._graph, self._shapes, way.known(key))
        except NativeRefusal:
            failed = failure(self._graph, values)
            if failed is not None:
                raise failed from None
            if len(self._ways) == 1:
                raise
            self._ways = self._ways[1:]
            return self(values, state)
        if (way, key) not in self._made:
            if len(self._made) >= MOST_SIZES:
                self._made.pop(next(iter(self._made), key), None)
            self._made[way, key] = runnable
        return runnable(values, state)


def is_hopeless(graph: Graph, shapes: Sequence[Shape], ways: Sequence[Deciding]) -> bool:
    """Return whether no values that decide shapes would help: two sets of them that have nothing in common are refused
    with the same words."""
    told = []
    for first, step in ((2, 1), (7, 3)):
        way = ways[-1]
        try:
            write_function(graph, shapes, frozenset(), way.known(way.values(way.samples(first, step))))
        except NativeRefusal as refusal:
            told.append(refusal.told)
        else:
            return False
    return len({*told}) == 1


def failure(graph: Graph, arguments: Sequence[Any]) -> BaseException | None:
    """Return what a run for ``arguments`` raises; None unless numbers alone say so, and nothing comes before it."""
    known: dict[Tensor, Any] = {t: v for t, v in zip(graph.inputs, arguments) if t.shape.rank == 0 and is_few(t)}
    for node in graph.nodes:
        if node.op is PARAMETER:
            continue
        if not is_pure(node) or any(t not in known for t in node.inputs):
            if node.subgraphs or has_effect(node) or can_fail(node):
                return None
            continue
        try:
            with np.errstate(all="ignore"):
                made = node.op.kernel(*[known[t] for t in node.inputs], **node.attrs)
        except Exception as error:
            return annotate(error, node)
        if all(map(is_few, node.outputs)):
            known.update(zip(node.outputs, node.op.results(made, len(node.outputs))))
    return None
