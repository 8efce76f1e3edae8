"""Gradients of whole graphs that were run: calls of functions, and loops outside any function.

A graph whose run is recorded is *split*. Its forward half gives, besides its results, the values that its backward
half takes: what the backward half asks of the forward graph is worked out as for a loop body (``BackwardGraph``). Both
halves are ordinary graphs, made once per graph and set of sources.

Machine code neither gives nor takes a stack of saved values. Where it is to run both ways, and nobody notices that the
graph runs twice, the call itself saves nothing: what runs it anyway runs it, and the way back is the two halves joined
to one graph, which takes the inputs of the call and computes it *again*.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..analysis.inside import nodes_inside
from ..analysis.observable import may_repeat
from ..base.contexts import undisturbed
from ..base.dataclass import dataclass
from ..base.dtypes import variant
from ..base.forks import Kind, in_child, is_mine
from ..base.fp_warnings import asked
from ..collections.variables import READ, Variable
from ..ir.graph import Graph
from ..ir.stages import Stage, come_to
from ..ir.tensor import Tensor
from ..ops.identities import IDENTITY
from ..running.automatic import Automatic
from ..running.prepare import prepare, set_outputs
from ..running.runner import Runner
from ..running.tier_up import MOST_SHAPES, Shapes
from .activity import Key, Marks, is_differentiable, needed, reached
from .copying import absorbed
from .rematerialize import BackwardGraph, Definition
from .undoing import Undoing
from .walk import Adjoints, Walk

#: held while a graph is split, which adds nodes to it
_lock = Kind("gradients.calls", "the graph that another thread was splitting is put back as it was").lock()
#: how the graphs were that are being split; guarded by ``_lock``
_underway: list[Undoing] = []


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
    graph : Graph
        What was split.
    outputs : tuple of Tensor
        Its results.
    saved : tuple of Tensor
        What the forward half gives besides them.
    backward : Graph
        Takes a gradient for each of ``given``, then the saved values; gives the gradients of ``sources``.
    given : tuple of int
        The outputs that can have a gradient.
    sources : tuple of Key
        The sources that can get one.
    marks : Marks
        Where the sources show up in it.
    """

    graph: Graph
    outputs: tuple[Tensor, ...]
    saved: tuple[Tensor, ...]
    backward: Graph
    given: tuple[int, ...]
    sources: tuple[Key, ...]
    marks: Marks

    @property
    def forward(self) -> Graph:
        """Gives ``outputs``, then the saved values; made when it is used, as other splits extend the graph."""
        made = copy.copy(self.graph)  # shares the nodes; the optimiser copies them
        made.outputs = [*self.outputs, *self.saved]
        return made

    def connected(self, wanted: Sequence[int]) -> list[bool]:
        """Return for each of ``sources``: whether a differentiable path leads to it from one
        of the outputs ``wanted``."""
        inside = needed(self.graph, [self.outputs[k] for k in wanted])
        found = self.marks.among(inside)
        return [x in inside or x in found for x in self.sources]

    def joined(self) -> Graph:
        """Return both halves as one graph, from a gradient for each of ``given`` and the inputs."""
        return undisturbed(self._joined)  # no graph stays current after Ctrl-C

    def _joined(self) -> Graph:
        made = Graph("gradient", ordered=True)
        made.gradient_memory = self.graph.gradient_memory
        with made.as_default():
            gradients = [made.parameter(t.dtype, t.shape, "gradient") for t in self.backward.inputs[: len(self.given)]]
            inputs = [made.parameter(t.dtype, t.shape, "again") for t in self.graph.inputs]
            results = absorbed(self.forward, inputs)
            made.outputs = absorbed(self.backward, [*gradients, *results[len(self.outputs) :]])
        made.outputs = made.outputs[: len(self.sources)]
        return made


@dataclass(frozen=True)
class Way:
    """How a graph is run forward, and back.

    Attributes
    ----------
    split : Split
    outputs : tuple of Tensor
        What the forward run gives.
    forward : Runner
    graph : Graph
        Takes a gradient for each of ``split.given``, then what is kept: the saved values, or the inputs if it computes
        everything again. Gives the gradients of ``split.sources``.
    backward : Runner
    again : bool
    """

    split: Split
    outputs: tuple[Tensor, ...]
    forward: Runner
    graph: Graph
    backward: Runner
    again: bool

    def back(self) -> Runner:
        """Return what runs ``graph`` now: one operation after the other where floating-point errors are asked for."""
        return prepare(self.graph, "dataflow") if asked() else self.backward


class Recorded:
    """What is made of a graph for recorded runs; only added to under ``_lock``.

    Attributes
    ----------
    variables : tuple of Variable
        Those that are read in it.
    """

    def __init__(self, split: Split, runner: Runner) -> None:
        self.split = split
        self.variables = tuple(dict.fromkeys(_read_in(split.graph)))
        #: what runs the graph when nobody records
        self._runner = runner
        self._apart: Way | None = None
        self._again: Way | None = None
        collections = any(t.dtype == variant for t in split.saved)
        at_the_door = (*split.graph.inputs, *split.outputs)
        self._may_repeat = (
            runner.asked in ("auto", "native") and collections and not any(t.dtype == variant for t in at_the_door)
            and may_repeat(split.graph) and all(v.graph is None for v in self.variables)
        )  # fmt: skip
        #: shapes of the inputs -> those of the results that can have a gradient
        self._given: dict[Shapes, Shapes] = {}

    def way(self, values: Sequence[Any]) -> Way:
        """Return the way for inputs of these values.

        Machine code computes again what it cannot save. ``auto`` saves values until machine code has been made of both
        ways; it never goes back, unless that turns out not to be faster.
        """
        again = self._may_repeat and (self._runner.asked == "native" or self._is_native(values))
        return self._made_again() if again else self._made_apart()

    def ran(self, values: Sequence[Any], results: Sequence[Tensor]) -> None:
        """Note what the values of a run were like."""
        if self._may_repeat and len(self._given) < MOST_SHAPES:
            shapes = tuple([np.shape(v) for v in values])
            if shapes not in self._given:
                self._given[shapes] = tuple([results[k].shape.as_tuple() for k in self.split.given])

    def _is_native(self, values: Sequence[Any]) -> bool:
        """Return whether machine code runs, or is tried for, the graph and its joined halves."""
        shapes: Shapes = tuple([np.shape(v) for v in values])
        forward, given = self._runner.run, self._given.get(shapes)
        if given is None or not isinstance(forward, Automatic):
            return False
        if self._again is None:
            halves = self._made_apart()
            tried = [r.run for r in (halves.forward, halves.backward) if isinstance(r.run, Automatic)]
            if not any(run.is_declined for run in tried):
                return False  # they have not run for as long as machine code takes to make
        back = self._made_again().backward.run
        ready = isinstance(back, Automatic) and back.in_machine_code(given + shapes)
        return bool(forward.in_machine_code(shapes)) and bool(ready)

    def _made_apart(self) -> Way:
        with _lock:
            if self._apart is None:
                split, executor = self.split, self._runner.asked
                forward, backward = (prepare(graph, executor) for graph in (split.forward, split.backward))
                outputs = (*split.outputs, *split.saved)
                self._apart = Way(split, outputs, forward, split.backward, backward, again=False)
            return self._apart

    def _made_again(self) -> Way:
        with _lock:
            if self._again is None:
                joined = self.split.joined()
                backward = prepare(joined, self._runner.asked)
                self._again = Way(self.split, self.split.outputs, self._runner, joined, backward, again=True)
            return self._again


def _read_in(graph: Graph) -> Iterator[Variable]:
    return (node.attrs["variable"] for node in nodes_inside(graph) if node.op is READ)


class _Splits(list[tuple[tuple[Key, ...], tuple[Tensor, ...], Split | None, dict[int, Recorded]]]):
    """How a graph was split: sources, outputs, the halves, and identity of a runner -> what was made for it."""

    def copy(self) -> _Splits:
        return _Splits(self)


def recorded(graph: Graph, outputs: Sequence[Tensor], runner: Runner, sources: Sequence[Key]) -> Recorded | None:
    """Return ``graph``, which ``runner`` runs, for gradients of ``outputs`` by ``sources``;
    ``None`` if there are none."""
    with _lock:
        split, made = _halves(graph, outputs, sources)
        if split is None:
            return None
        known = made.get(id(runner))
        if known is None:  # it has the runner, so that no other one gets its id
            known = made[id(runner)] = Recorded(split, runner)
        return known


def _halves(
    graph: Graph, outputs: Sequence[Tensor], sources: Sequence[Key]
) -> tuple[Split | None, dict[int, Recorded]]:
    """Return the split, the same one each time, and what was made of it for each runner."""
    known = graph.record(_Splits)
    found: Split | None
    runners: dict[int, Recorded]
    for with_sources, with_outputs, found, runners in known:
        if _same(with_sources, sources) and _same(with_outputs, outputs):
            return found, runners
    before = Undoing(graph)
    _underway.append(before)
    try:
        found, runners = undisturbed(_split, graph, outputs, sources), {}  # no graph stays current after Ctrl-C
        known.append((tuple(sources), tuple(outputs), found, runners))
    except BaseException:
        before.undo()
        raise
    finally:
        _underway.remove(before)
    return found, runners


@in_child
def _take_back() -> None:
    """Take back what another thread was splitting, which nobody will ever finish."""
    if not is_mine(_lock):
        for before in reversed(_underway):
            before.undo()
        _underway.clear()


def _same(a: Sequence[Key], b: Sequence[Key]) -> bool:
    return len(a) == len(b) and all(x is y for x, y in zip(a, b))


def _split(graph: Graph, outputs: Sequence[Tensor], sources: Sequence[Key]) -> Split | None:
    """Return the halves of ``graph``; ``None`` if no gradient leads from ``outputs`` to ``sources``."""
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
    for one in (graph, backward):
        come_to(one, Stage.DIFFERENTIATED)
    found_for = tuple([x for x, _ in results])
    return Split(graph, tuple(outputs), tuple(backward.taken), backward, tuple(given), found_for, marks)
