"""Gradients of whole graphs that were run: calls of functions, and loops outside any function.

A graph whose run is recorded is *split*. Its forward half gives, besides its results, the values that its backward
half takes: what the backward half asks of the forward graph is worked out as for a loop body (``BackwardGraph``). Both
halves are ordinary graphs, made once per graph and set of sources.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

from ..base.dataclass import dataclass
from ..base.forks import Kind, in_child, is_mine
from ..ir.graph import Graph
from ..ir.tensor import Tensor
from ..ops.elementwise import IDENTITY
from ..running.prepare import Runner, prepare, set_outputs
from .activity import Key, Marks, is_differentiable, needed, reached
from .rematerialize import BackwardGraph, Definition
from .undoing import Undoing
from .walk import Adjoints, Walk

#: held while a graph is split, which adds nodes to it
_lock = Kind("gradients.calls", "the graph that another thread was splitting is put back as it was").lock()
#: how the graphs were that are being split; guarded by ``_lock``
_underway: list[Undoing] = []

#: key of ``Graph.collections``: [(executor, sources, outputs, Split or None), ...]
_SPLITS = "gradient: splits"


class BackwardFunction(BackwardGraph):
    """The backward counterpart of a whole graph.

    Attributes
    ----------
    taken : list of Tensor
        Tensors of the forward graph whose values are parameters here, in their order.
    """

    parent: None

    def __init__(self, forward: Graph) -> None:
        super().__init__("gradient", None, forward)
        self.ordered = True
        self.taken: list[Tensor] = []

    def is_free(self, tensor: Tensor) -> bool:
        return False

    def outside(self, tensor: Tensor) -> Tensor | None:
        return None

    def price(self, tensor: Tensor) -> int:
        # what the caller has passed or gets is there anyway
        at_hand = tensor in set(self.forward.inputs) | set(self.forward.outputs)
        return 0 if at_hand else super().price(tensor)

    def saved(self, tensor: Tensor) -> Definition:
        self.taken.append(tensor)
        return IDENTITY, (self.parameter(tensor.dtype, tensor.shape, "saved"),), {}


@dataclass(frozen=True)
class Split:
    """A graph in two halves.

    Attributes
    ----------
    outputs : tuple of Tensor
        What the forward half gives: what was asked for, then the saved values.
    forward : Runner
    backward_graph : Graph
        Takes a gradient for each of ``given``, then the saved values; gives the gradients of ``sources``.
    backward : Runner
    given : tuple of int
        The outputs that can have a gradient.
    sources : tuple of Key
        The sources that can get one.
    graph : Graph
        What was split.
    marks : Marks
        Where the sources show up in it.
    """

    outputs: tuple[Tensor, ...]
    forward: Runner
    backward_graph: Graph
    backward: Runner
    given: tuple[int, ...]
    sources: tuple[Key, ...]
    graph: Graph
    marks: Marks

    @property
    def saved(self) -> int:
        """The number of saved values."""
        return len(self.backward_graph.inputs) - len(self.given)

    def connected(self, wanted: Sequence[int]) -> list[bool]:
        """For each of ``sources``: whether a differentiable path leads to it from one of the outputs ``wanted``."""
        inside = needed(self.graph, [self.outputs[k] for k in wanted])
        found = self.marks.among(inside)
        return [x in inside or x in found for x in self.sources]


def split(graph: Graph, outputs: Sequence[Tensor], executor: str, sources: Sequence[Key]) -> Split | None:
    """The halves of ``graph`` for gradients of ``outputs`` with regard to ``sources``; ``None`` if there are none."""
    with _lock:
        known = graph.collections.setdefault(_SPLITS, [])
        for with_executor, with_sources, with_outputs, made in known:
            if with_executor == executor and _same(with_sources, sources) and _same(with_outputs, outputs):
                found: Split | None = made
                return found
        before = Undoing(graph)
        _underway.append(before)
        try:
            found = _split(graph, outputs, executor, sources)
            known.append((executor, tuple(sources), tuple(outputs), found))
        except BaseException:
            before.undo()
            raise
        finally:
            _underway.remove(before)
        return found


@in_child
def _take_back() -> None:
    """What another thread was splitting nobody will ever finish."""
    if not is_mine(_lock):
        for before in reversed(_underway):
            before.undo()
        _underway.clear()


def _same(a: Sequence[Key], b: Sequence[Key]) -> bool:
    return len(a) == len(b) and all(x is y for x, y in zip(a, b))


def _split(graph: Graph, outputs: Sequence[Tensor], executor: str, sources: Sequence[Key]) -> Split | None:
    marks = Marks([graph], sources)
    tensors = [x for x in sources if isinstance(x, Tensor) and x.graph is graph]
    found = reached(graph.nodes, tensors, marks)
    given = [k for k, t in enumerate(outputs) if t in found and is_differentiable(t)]
    if not given:
        return None
    backward = BackwardFunction(graph)
    walk = Walk(graph, found, marks, Adjoints())
    with backward.as_default():
        for k in given:
            walk.add(outputs[k], backward.parameter(outputs[k].dtype, outputs[k].shape, "gradient"))
        walk.run(graph.nodes)
        totals = [(x, walk.adjoints.total(x)) for x in sources]
    results = [(x, backward.capture(g)) for x, g in totals if g is not None]
    backward.finish([g for _, g in results])
    set_outputs(backward, [g for _, g in results])
    forward = copy.copy(graph)  # shares the nodes; the optimiser copies them
    forward.outputs = [*outputs, *backward.taken]
    return Split(
        tuple(forward.outputs), prepare(forward, executor), backward, prepare(backward, executor), tuple(given),
        tuple([x for x, _ in results]), graph, marks,
    )  # fmt: skip
