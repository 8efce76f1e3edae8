"""Gradients of loops in less memory: save the loop variables now and then, run the iterations between again.

The number of iterations is not known beforehand, so the forward loop keeps *checkpoints* of its variables, and gives
some up when there are too many: online checkpointing as in P. Stumm and A. Walther, "New algorithms for optimal online
checkpointing", SIAM J. Sci. Comput. 32(2), 2010. By default their number and the interval between them grow together,
so that n iterations take O(sqrt(n)) memory (T. Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016) and
each iteration runs twice.

The backward loop goes over the *segments* between checkpoints, from the last. A segment is a loop of its own, a copy of
the forward loop that starts at the checkpoint, and its gradient is the ordinary one.

With a limited number of checkpoints not every segment begins with one (``collections.checkpoint_schedule`` says which).
Then a *replay*, one more copy of the loop, runs from the last checkpoint before the segment to its beginning; it keeps
checkpoints, too, where those behind have become free. How long its segments are is then known beforehand: as many
iterations as there are checkpoints, or more where all that they compute is small, for a segment costs time of its own.

``s``
    the number of the segment;
``k``
    the interval: segment ``s`` begins with iteration ``s * k`` and has ``k`` iterations, the last one maybe fewer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import ops
from ..analysis.observable import effects
from ..analysis.passed_on import is_fixed
from ..analysis.sizes import bytes_of
from ..base import dtypes
from ..base.shapes import SCALAR
from ..collections import checkpoint_store as stores
from ..ir.convert import as_constant
from ..ir.graph import CONST, PARAMETER, Graph, Node
from ..ir.structured import COND, LoopOptions, LoopVar, finish_while, subgraph
from ..ir.tensor import Tensor
from . import rewriting
from .activity import Marks, reached
from .copying import copied
from .extension import extension
from .reversal import Reversal, count_down, fitting
from .walk import Adjoints, Walk, nothing

#: bytes that a segment may have computed, if that is more iterations than there are checkpoints
SEGMENT = 1 << 16
#: bytes of memory that a value takes beside those of its elements
_OBJECT = 32


def apply_to(plan: Reversal) -> bool:
    """Return whether the loop is to be run again rather than to save its values.

    The derivative of a gradient goes through the checkpoints themselves; there the values are saved.
    """
    count = original_variables(plan.node)
    return mode(plan.node) != "save" and all(k < count for k in plan.moving)


def mode(node: Node) -> Any:
    """Return how the loop keeps what its gradient needs: ``"save"``, ``"checkpoint"``, or the number of checkpoints."""
    own = node.attrs.get("gradient_memory")
    default = node.graph.root.gradient_memory
    return own if own is not None else "save" if default is None else default


class Rerun:
    """A copy of the loop ``node`` that runs some of its iterations again, built into ``graph``.

    Parameters
    ----------
    states : sequence of Tensor
        The variables of the loop at the beginning.
    first, last : Tensor
        The iteration it starts with, and the one before which it ends.
    kept : sequence of Tensor
        A store for each variable that changes, to be added to; none: nothing is kept.

    Attributes
    ----------
    node : Node
        The copy. Its variables are the number of the next iteration, then those of the original, then the stores.
    """

    def __init__(
        self, graph: Graph, node: Node, states: Sequence[Tensor], first: Tensor, last: Tensor,
        kept: Sequence[Tensor] = (),
    ) -> None:  # fmt: skip
        node = node.now
        self.graph = graph
        self.original = node
        body: Graph = node.attrs["body"]
        count = original_variables(node)
        copy, of = copied(body, body.outputs[:count], graph)
        done = copy.parameter(dtypes.int64, SCALAR, "done")
        variables = [of[p] for p in body.inputs[:count]]
        held = [copy.parameter(dtypes.variant, SCALAR, "checkpoints") for _ in kept]
        captured = body.inputs[node.attrs["n_vars"] :]
        for outer, inner in zip(node.inputs[node.attrs["n_vars"] :], captured):
            self._capture(copy, outer, of[inner])
        copy.inputs = [done, *variables, *held, *[of[p] for p in captured]]
        inside = {p.op for p in copy.inputs}
        copy.nodes = [n for n in copy.nodes if n.op is not PARAMETER or n in inside]
        with copy.as_default():
            moving = [v for k, v in enumerate(variables) if not is_fixed(node, k)]
            noted = [stores.add(store, done, v, limit(node), segment_length(node)) for store, v in zip(held, moving)]
            results = [ops.add(done, 1), *copy.outputs, *noted]
        names, shapes = node.attrs["names"], node.attrs["invariants"]
        loop_vars = [LoopVar("done", first, SCALAR)]
        loop_vars += [LoopVar(names[i], state, shapes[i]) for i, state in enumerate(states)]
        loop_vars += [LoopVar("checkpoints", store, SCALAR) for store in kept]
        self.node = self._loop(copy, loop_vars, last, results)

    def _capture(self, copy: Graph, outer: Tensor, parameter: Tensor) -> None:
        """Let ``parameter`` of the copy be the one for ``outer``, a tensor outside of the original loop."""
        here = self.graph.capture(outer)
        known = copy.captures.get(here)
        if known is not None and known.op.op is PARAMETER and known is not parameter:
            here = ops.identity(here)
        copy.captures = {o: i for o, i in copy.captures.items() if i is not parameter}
        copy.captures[here] = parameter

    def _loop(self, copy: Graph, loop_vars: Sequence[LoopVar], last: Tensor, results: Sequence[Tensor]) -> Node:
        node = self.original
        scope = self.graph.unique_name("segment")
        cond = subgraph(self.graph, f"{scope}/cond", [(v.init.dtype, v.invariant, v.name) for v in loop_vars])
        with cond.as_default():
            pred = ops.less(cond.inputs[0], last)
        options = LoopOptions(node.attrs["parallel_iterations"], None, True, node.attrs["swap_memory"], "save")
        outputs = finish_while(self.graph, scope, loop_vars, cond, pred, copy, results, options, node.location)
        return outputs[0].op


def _leading(plan: Reversal) -> int:
    """Return the variable whose store is asked what all stores know: one that has to be there anyway."""
    changing = (k for k in range(original_variables(plan.node)) if not is_fixed(plan.node, k))
    return plan.moving[0] if plan.moving else next(changing, 0)


def _segment(plan: Reversal, body: Graph, s: Tensor, held: Sequence[Tensor]) -> tuple[Node, list[Tensor]]:
    """Return segment ``s`` of a loop, in the body of the loop over segments, and what becomes of the stores.

    ``held`` has the stores of the variables that change, if the number of checkpoints is limited.
    """
    node, count = plan.node, original_variables(plan.node)
    moving = [k for k in range(count) if not is_fixed(node, k)]
    with body.as_default():
        given = list(held) or [body.capture(_store(node, k)) for k in moving]
        leading = given[moving.index(_leading(plan))] if given else body.capture(_store(node, 0))
        k = stores.interval(leading)
        trips = ops.cast(rewriting.trips_of(node), dtypes.int64)
        start = ops.multiply(s, k)
        length = ops.minimum(k, ops.subtract(trips, start))
        found = stores.latest(leading, s) if held else s
        states = [body.capture(node.inputs[i]) for i in range(count)]
        for i, store in zip(moving, given):
            states[i] = stores.get(store, found, node.attrs["body"].inputs[i])
        left: list[Tensor] = []
        if held:
            kept = [stores.rewound(store, s) for store in held]
            replay = Rerun(body, node, states, ops.multiply(found, k), start, kept).node
            for i in moving:
                states[i] = replay.outputs[1 + i]
            left = list(replay.outputs[1 + count :])
        return Rerun(body, node, states, as_constant(np.int64(0)), length).node, left


def limit(node: Node) -> int | None:
    """Return how many checkpoints the loop may keep, ``None`` if that depends on the number of its iterations."""
    chosen = mode(node)
    return chosen if isinstance(chosen, int) else None


def segment_length(node: Node) -> int:
    """Return how many iterations a segment has if the number of checkpoints is limited; otherwise they begin with 1."""
    most = limit(node)
    if most is None:
        return 1
    body: Graph = node.attrs["body"]
    known = extension(body)
    if known.length is None:
        count = _computed(body, body.inputs[: original_variables(node)])
        known.length = most if count is None else max(most, SEGMENT // max(count, 1))
    return known.length


def _computed(graph: Graph, given: Sequence[Tensor] = ()) -> int | None:
    """Return bytes of ``given`` and of all that ``graph`` computes, in the branches of conditionals too; ``None``:
    unknown."""
    nodes = [node for node in graph.nodes if node.op not in (PARAMETER, CONST)]
    total = 0
    for tensor in (*given, *(t for node in nodes for t in node.outputs)):
        size = bytes_of(tensor)
        if size is None or tensor.dtype.kind not in "biufc":
            return None
        total += size + _OBJECT
    for node in nodes:
        for branch in node.subgraphs:
            inside = _computed(branch) if node.op is COND else None
            if inside is None:
                return None
            total += inside
    return total


def _segments(plan: Reversal) -> Tensor:
    """Return the number of segments of a loop, a tensor of the graph where the backward loop goes."""
    graph, node = plan.graph, plan.node
    store = _store(node, _leading(plan))
    with graph.as_default():
        trips = ops.cast(rewriting.trips_of(node), dtypes.int64)
        k = stores.interval(store)
        count: Tensor = ops.floor_divide(ops.subtract(ops.add(trips, k), 1), k)
    return count


def original_variables(node: Node) -> int:
    """Return the number of loop variables that the loop had before gradients added theirs."""
    known = extension(node.attrs["body"])
    if known.original is None:
        known.original = node.now.attrs["n_vars"]
    return known.original


def _store(node: Node, k: int) -> Tensor:
    """Return the checkpoints of variable ``k``, a result of the loop ``node``."""
    body: Graph = node.attrs["body"]
    known = extension(body)
    if known.stores is None:
        count, counter = original_variables(node), rewriting.trip_counter(node)
        most, interval = limit(node), segment_length(node)
        names = node.attrs["names"][:count]
        with rewriting.before(node):
            held = [LoopVar(f"checkpoints_{name}", stores.empty(), SCALAR) for name in names]

        def step(current: Sequence[Tensor]) -> list[Tensor]:
            n = body.inputs[counter]
            return [stores.add(store, n, p, most, interval) for store, p in zip(current, body.inputs)]

        known.stores = rewriting.add_variables(node, held, step)
    return node.now.outputs[known.stores + k]


def _refuse_effects(node: Node) -> None:
    """Raise ``ValueError`` if running the body of ``node`` again would be noticed."""
    inner = next((found for graph in node.subgraphs[::-1] for found in effects(graph)), None)
    if inner is not None:
        where = f" at {inner.location[-1]}" if inner.location else ""
        raise ValueError(
            f"gradient_memory={mode(node)!r} runs the loop's body again, which has an effect: {inner.name!r} "
            f"({inner.op.name}){where}; move it out of the loop (read variables before it), or leave out "
            f"gradient_memory [AL109]"
        )


def backward(plan: Reversal, gradients: Sequence[Tensor | None], walk: Walk) -> None:
    """Build the loop over the segments, and hand out the gradients of the inputs of the forward loop."""
    node, graph, moving = plan.node, plan.graph, plan.moving
    _refuse_effects(node)
    count = _segments(plan)
    scope = graph.unique_name(f"{node.name.rpartition('/')[2]}/gradient")
    loop = [LoopVar("s", ops.subtract(count, 1), SCALAR), *plan.variables(gradients)]
    if limit(node) is not None:
        kept = [k for k in range(original_variables(node)) if not is_fixed(node, k)]
        loop += [LoopVar("checkpoints", _store(node, k), SCALAR) for k in kept]
    body = subgraph(graph, f"{scope}/body", [(v.init.dtype, v.invariant, v.name) for v in loop])
    behind, last = 1 + len(moving), 1 + len(moving) + len(plan.collected)
    s, entering, sinks, held = body.inputs[0], body.inputs[1:behind], body.inputs[behind:last], body.inputs[last:]
    segment, left = _segment(plan, body, s, held)
    states = segment.inputs[1:]
    marks = Marks([body], walk.marks.sources)
    sources = [states[k] for k in range(original_variables(node)) if plan.inner[k] in plan.reached]
    sources += [body.capture(t) for t, p in zip(plan.outer, plan.inner) if p in plan.reached and not _moves(node, p)]
    places = [body.capture(plan.outer[i.inner]) if isinstance(i.inner, int) else i.inner for i in plan.collected]
    # a tensor that enters the loop in two places has one sum in a segment
    running = dict(reversed(list(zip(places, sinks))))
    inner = Walk(body, reached(body.nodes, sources, marks), marks, Adjoints(running))
    with body.as_default():
        for k, g in zip(moving, entering):
            inner.add(segment.outputs[1 + k], g)
        inner.run([segment])
        results = [ops.subtract(s, 1)]
        for k, g in zip(moving, entering):
            leaving = inner.adjoints.total(states[k])
            results.append(fitting(nothing(states[k]) if leaving is None else leaving, g.shape))
        for place, sink in zip(places, sinks):
            results.append(inner.adjoints.sinks[place] if running[place] is sink else sink)
        results += left
    # a segment that runs ahead keeps what it saves until the ones behind it are gone back through: no memory is bounded
    plan.hand_out(walk, count_down(plan, scope, body, loop, results, at_once=1))


def _moves(node: Node, parameter: Tensor) -> bool:
    """Return true for the parameter of a loop variable that changes."""
    body: Graph = node.attrs["body"]
    k = next((k for k in range(original_variables(node)) if body.inputs[k] is parameter), None)
    return k is not None and not is_fixed(node, k)
