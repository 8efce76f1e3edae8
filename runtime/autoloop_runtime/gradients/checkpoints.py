"""Gradients of loops in less memory: save the loop variables now and then, run the iterations between again.

The number of iterations is not known beforehand, so the forward loop keeps *checkpoints* of its variables at an
interval that it doubles, dropping every other one, whenever there are too many: online checkpointing as in P. Stumm and
A. Walther, "New algorithms for optimal online checkpointing", SIAM J. Sci. Comput. 32(2), 2010, with one level only. By
default the interval grows with the number of checkpoints, so that n iterations take O(sqrt(n)) memory (T. Chen et al.,
"Training Deep Nets with Sublinear Memory Cost", 2016); each iteration runs twice.

The backward loop goes over the *segments* between checkpoints, from the last. A segment is a loop of its own, a copy of
the forward loop that starts at the checkpoint, and its gradient is the ordinary one.

``s``
    the number of the segment;
``k``
    the interval: segment ``s`` begins with iteration ``s * k`` and has ``k`` iterations, the last one maybe fewer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes, slots
from ..applying import apply
from ..dtypes import DType
from ..graph import PARAMETER, Graph, Node
from ..registry import Op, call, register
from ..shapes import SCALAR, TensorShape
from ..structured import LoopOptions, LoopVar, finish_while, subgraph
from ..tensor import Tensor
from ..values import as_constant
from . import rewriting
from .copying import copied
from .reach import Marks, reached
from .reversal import Reversal, count_down, fitting, is_fixed
from .walk import Adjoints, Walk, nothing

_ORIGINAL = "gradient: variables of the loop itself"  # [their number]
_STORES = "gradient: checkpoints"  # [position of the first store]


class Checkpoints:
    """The values of one loop variable at iterations 0, k, 2k, ...; ``most`` of them, or a number that grows with k."""

    __slots__ = ("interval", "most", "values")
    dtype = dtypes.variant
    shape = ()

    def __init__(self, most: int | None) -> None:
        self.most = most
        self.interval = 1
        self.values: list[Any] = []

    def add(self, iteration: int, value: Any) -> None:
        """Take note of the value at the beginning of an iteration."""
        if iteration % self.interval:
            return
        self.values.append(value)
        if len(self.values) > (self.most or 2 * self.interval):
            self.interval *= 2
            del self.values[1::2]


_NONE = Checkpoints(1)


def _add(store: Any, iteration: Any, value: Any, most: int | None) -> Checkpoints:
    made: Checkpoints = Checkpoints(most) if store is _NONE else store
    made.add(int(iteration), value)
    return made


def _get(store: Checkpoints, segment: Any, dtype: DType, shape: TensorShape) -> Any:
    return store.values[int(segment)]


def _add_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    return [g, None, slots.element(g, inputs[1], inputs[2])]


def _get_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    iteration = call("multiply", inputs[1], apply(_INTERVAL, [inputs[0]]))
    return [slots.single(iteration, g), None]


_EMPTY = register(Op("NoCheckpoints", lambda: (dtypes.variant, SCALAR), lambda: _NONE))
_ADD = register(Op("AddCheckpoint", lambda *_, most: (dtypes.variant, SCALAR), _add, _add_vjp))
_GET = register(Op("GetCheckpoint", lambda *_, dtype, shape: (dtype, shape), _get, _get_vjp))
_INTERVAL = register(Op("Interval", lambda store: (dtypes.int64, SCALAR), lambda store: np.int64(store.interval)))


def apply_to(plan: Reversal) -> bool:
    """True if the loop is to be run again rather than to save its values.

    The derivative of a gradient goes through the checkpoints themselves; there the values are saved.
    """
    count = original_variables(plan.node)
    return mode(plan.node) != "save" and all(k < count for k in plan.moving)


def mode(node: Node) -> Any:
    """How the loop keeps what its gradient needs: ``"save"``, ``"checkpoint"``, or the number of checkpoints."""
    own = node.attrs.get("gradient_memory")
    default = node.graph.root.collections.get("gradient_memory", ["save"])[0]
    return default if own is None else own


class Segment:
    """One segment of the loop ``node``, built into ``graph``, the body of the loop over segments.

    Attributes
    ----------
    node : Node
        The copy of the loop. Its variables are the number of iterations done, then those of the original.
    """

    def __init__(self, graph: Graph, node: Node, s: Tensor) -> None:
        self.graph = graph
        self.original = node
        body: Graph = node.attrs["body"]
        count = original_variables(node)
        first = _stores(node)
        trips, stores = rewriting.trips_of(node), node.outputs[first : first + count]
        with graph.as_default():
            k = apply(_INTERVAL, [stores[0]])
            start = call("multiply", s, k)
            length = call("minimum", k, call("subtract", call("cast", trips, dtypes.int64), start))
            states = [self._state(i, stores[i], s) for i in range(count)]
            copy, of = copied(body, body.outputs[:count], graph)
            done = copy.parameter(dtypes.int64, SCALAR, "done")
            captured = body.inputs[node.attrs["n_vars"] :]
            for outer, inner in zip(node.inputs[node.attrs["n_vars"] :], captured):
                self._capture(copy, outer, of[inner])
            copy.inputs = [done, *[of[p] for p in body.inputs[:count]], *[of[p] for p in captured]]
            self.node = self._loop(node, copy, states, length)

    def _state(self, i: int, store: Tensor, s: Tensor) -> Tensor:
        """The value of variable ``i`` at the beginning of the segment."""
        body: Graph = self.original.attrs["body"]
        if is_fixed(self.original, i):
            return self.graph.capture(self.original.inputs[i])
        spec = {"dtype": body.inputs[i].dtype, "shape": body.inputs[i].shape}
        state: Tensor = apply(_GET, [store, s], spec)
        return state

    def _capture(self, copy: Graph, outer: Tensor, parameter: Tensor) -> None:
        """Let ``parameter`` of the copy be the one for ``outer``, a tensor outside of the original loop."""
        here = self.graph.capture(outer)
        known = copy.captures.get(here)
        if known is not None and known.op.op is PARAMETER and known is not parameter:
            here = call("identity", here)
        copy.captures = {o: i for o, i in copy.captures.items() if i is not parameter}
        copy.captures[here] = parameter

    def _loop(self, node: Node, copy: Graph, states: Sequence[Tensor], length: Tensor) -> Node:
        names, shapes = node.attrs["names"], node.attrs["invariants"]
        loop_vars = [LoopVar("done", as_constant(np.int64(0)), SCALAR)]
        loop_vars += [LoopVar(names[i], state, shapes[i]) for i, state in enumerate(states)]
        scope = self.graph.unique_name("segment")
        cond = subgraph(self.graph, f"{scope}/cond", [(v.init.dtype, v.invariant, v.name) for v in loop_vars])
        with cond.as_default():
            pred = call("less", cond.inputs[0], length)
        with copy.as_default():
            results = [call("add", copy.inputs[0], 1), *copy.outputs]
        options = LoopOptions(node.attrs["parallel_iterations"], None, True, node.attrs["swap_memory"], "save")
        outputs = finish_while(self.graph, scope, loop_vars, cond, pred, copy, results, options, node.location)
        return outputs[0].op


def _segments(graph: Graph, node: Node) -> Tensor:
    """The number of segments of the loop ``node``, a tensor of ``graph``, which sees the results of ``node``."""
    first = _stores(node)
    with graph.as_default():
        trips = call("cast", rewriting.trips_of(node), dtypes.int64)
        k = apply(_INTERVAL, [node.outputs[first]])
        count: Tensor = call("floor_divide", call("subtract", call("add", trips, k), 1), k)
    return count


def original_variables(node: Node) -> int:
    """The number of loop variables that the loop had before gradients added theirs."""
    known = node.attrs["body"].collections.setdefault(_ORIGINAL, [])
    if not known:
        known.append(node.attrs["n_vars"])
    found: int = known[0]
    return found


def _stores(node: Node) -> int:
    """The position of the checkpoints of the first variable among the results of ``node``; the others follow."""
    body: Graph = node.attrs["body"]
    known = body.collections.setdefault(_STORES, [])
    if not known:
        count, counter = original_variables(node), rewriting.trip_counter(node)
        chosen = mode(node)
        most = chosen if isinstance(chosen, int) else None
        with rewriting.before(node):
            empty = apply(_EMPTY, [])
        names = [f"checkpoints_{name}" for name in node.attrs["names"][:count]]

        def step(stores: Sequence[Tensor]) -> list[Tensor]:
            n = body.inputs[counter]
            return [apply(_ADD, [s, n, p], {"most": most}) for s, p in zip(stores, body.inputs)]

        known.append(rewriting.add_variables(node, [LoopVar(name, empty, SCALAR) for name in names], step))
    found: int = known[0]
    return found


def _refuse_effects(node: Node) -> None:
    """``ValueError`` if running the body of ``node`` again would be noticed."""
    todo = [node.attrs["cond"], node.attrs["body"]]
    while todo:
        for inner in todo.pop().nodes:
            todo.extend(inner.subgraphs)
            if inner.op.effect:
                where = f" at {inner.location[-1]}" if inner.location else ""
                raise ValueError(
                    f"gradient_memory='checkpoint' runs the loop's body again, which has an effect: {inner.name!r} "
                    f"({inner.op.name}){where}; move it out of the loop (read variables before it), or leave out "
                    f"gradient_memory"
                )


def backward(plan: Reversal, gradients: Sequence[Tensor | None], walk: Walk) -> None:
    """Build the loop over the segments, and hand out the gradients of the inputs of the forward loop."""
    node, graph, moving = plan.node, plan.graph, plan.moving
    _refuse_effects(node)
    count = _segments(graph, node)
    scope = graph.unique_name(f"{node.name.rpartition('/')[2]}/gradient")
    loop = [LoopVar("s", call("subtract", count, 1), SCALAR), *plan.variables(gradients)]
    body = subgraph(graph, f"{scope}/body", [(v.init.dtype, v.invariant, v.name) for v in loop])
    s, entering, sinks = body.inputs[0], body.inputs[1 : 1 + len(moving)], body.inputs[1 + len(moving) :]
    segment = Segment(body, node, s)
    states = segment.node.inputs[1:]
    marks = Marks(body, walk.marks.sources)
    sources = [states[k] for k in range(original_variables(node)) if plan.inner[k] in plan.reached]
    sources += [body.capture(t) for t, p in zip(plan.outer, plan.inner) if p in plan.reached and not _moves(node, p)]
    places = [body.capture(plan.outer[i.inner]) if isinstance(i.inner, int) else i.inner for i in plan.collected]
    # a tensor that enters the loop in two places has one sum in a segment
    running = dict(reversed(list(zip(places, sinks))))
    inner = Walk(body, reached(body.nodes, sources, marks), marks, Adjoints(running))
    with body.as_default():
        for k, g in zip(moving, entering):
            inner.add(segment.node.outputs[1 + k], g)
        inner.run([segment.node])
        results = [call("subtract", s, 1)]
        for k, g in zip(moving, entering):
            leaving = inner.adjoints.total(states[k])
            results.append(fitting(nothing(states[k]) if leaving is None else leaving, g.shape))
        for place, sink in zip(places, sinks):
            results.append(inner.adjoints.sinks[place] if running[place] is sink else sink)
    plan.hand_out(walk, count_down(plan, scope, body, loop, results))


def _moves(node: Node, parameter: Tensor) -> bool:
    """True for the parameter of a loop variable that changes."""
    body: Graph = node.attrs["body"]
    k = next((k for k in range(original_variables(node)) if body.inputs[k] is parameter), None)
    return k is not None and not is_fixed(node, k)
