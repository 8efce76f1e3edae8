"""The gradient of a ``While`` is a ``While``.

Iteration t of the backward loop undoes iteration t of the forward loop, from the last one to 0. Its loop variables are

``t``
    the number of the iteration;
one gradient per *active* variable of the forward loop
    one that depends on a source, and on which a result with a gradient depends; entering the backward iteration t it
    is the gradient of the variable's value after iteration t, leaving it that of the value before;
one accumulator per captured tensor (or variable read inside) that depends on a source.

What the backward body needs of the forward body is worked out by ``BackwardGraph``; the values that must be saved
go to stacks, which the forward loop gets as further variables, so that it still runs once.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..graph import CONST, Graph, Node, current_graph
from ..registry import call
from ..shapes import SCALAR, TensorShape
from ..structured import LoopOptions, LoopVar, finish_while, subgraph
from ..tensor import Tensor
from . import rewriting, stacks
from .reach import needed_in_loop, reached_in_loop
from .residuals import CHEAP, BackwardGraph, Definition
from .walk import Adjoints, Collected, Walk, nothing


class BackwardBody(BackwardGraph):
    """The body of the backward loop of ``node``; its first parameter is the number of the iteration."""

    def __init__(self, name: str, parent: Graph, node: Node) -> None:
        super().__init__(name, parent, node.attrs["body"])
        self.loop = node
        self.t = self.parameter(rewriting.trips_of(node).dtype, SCALAR, "t")
        count = node.attrs["n_vars"]
        # the loop gets more variables while this graph is finished, which moves the captured tensors
        self._variables = {p: k for k, p in enumerate(self.forward.inputs[:count])}
        self._captured = dict(zip(self.forward.inputs[count:], node.inputs[count:]))
        #: tensor -> the loop variables whose next value it is
        self._results: dict[Tensor, list[int]] = {}
        for k, tensor in enumerate(self.forward.outputs):
            self._results.setdefault(tensor, []).append(k)
        self._invariant: dict[Tensor, bool] = {}

    def is_free(self, tensor: Tensor) -> bool:
        return self._counts(tensor) or self._is_invariant(tensor)

    def stand_in(self, tensor: Tensor) -> Tensor:
        if self._counts(tensor):
            return self._count(self._variables[tensor])
        return self.capture(self._hoisted(tensor))

    def outside(self, tensor: Tensor) -> Tensor | None:
        k = self._variables.get(tensor)
        if k is None:
            return self._captured.get(tensor)
        return self.loop.inputs[k] if _is_fixed(self.loop, k) else None

    def alias(self, tensor: Tensor, asked: set[Tensor]) -> Tensor | None:
        return next(
            (self.forward.inputs[k] for k in self._results.get(tensor, ()) if self.forward.inputs[k] in asked), None
        )

    def saved(self, tensor: Tensor) -> Definition:
        stack = rewriting.stack_of(self.loop, tensor)
        return stacks.READ, (stack, self.t), {"dtype": tensor.dtype, "shape": tensor.shape}

    def saved_alias(self, tensor: Tensor, other: Tensor) -> Definition:
        stack = rewriting.complete_stack_of(self.loop, self._variables[other])
        with self.as_default():
            after = call("add", self.t, 1)
        return stacks.READ, (stack, after), {"dtype": tensor.dtype, "shape": tensor.shape}

    # -- counters -----------------------------------------------------------------------------------------

    def _counts(self, tensor: Tensor) -> bool:
        """True for a loop variable that grows by a known step."""
        k = self._variables.get(tensor)
        return k is not None and rewriting.constant_step(self.loop, k) is not None

    def _count(self, k: int) -> Tensor:
        """The value of counter ``k`` in iteration t."""
        step, start = rewriting.constant_step(self.loop, k), self.loop.inputs[k]
        with self.as_default():
            n = call("cast", self.t, start.dtype)
            if step != 1:
                n = call("multiply", n, step)
            known = start.constant_value()
            count: Tensor = n if known is not None and known == 0 else call("add", start, n)
        return count

    # -- what is the same in every iteration ----------------------------------------------------------------

    def _is_invariant(self, tensor: Tensor) -> bool:
        known = self._invariant.get(tensor)
        if known is None:
            node = tensor.op
            if tensor in self._variables or tensor in self._captured:
                known = self.outside(tensor) is not None
            elif node.op is CONST:
                known = True
            elif node.subgraphs or node.op.effect or node.op.stateful or node.op.name in CHEAP:
                known = False  # cheap ones are computed again in each iteration, or hoisted by the optimiser
            else:
                known = bool(node.inputs) and all(self._is_invariant(t) for t in node.inputs)
            self._invariant[tensor] = known
        return known

    def _hoisted(self, tensor: Tensor) -> Tensor:
        """An invariant tensor of the forward body as a tensor outside the backward loop."""
        parent = self.parent
        assert parent is not None
        node, outer = tensor.op, self.outside(tensor)
        if outer is not None:
            return parent.capture(outer)
        if node.op is CONST:
            return self.constant_in(parent, tensor)
        made = parent.add(node.op, [self._hoisted(t) for t in node.inputs], node.attrs, location=node.location)
        return made.outputs[tensor.index]


def backward(node: Node, gradients: Sequence[Tensor | None], walk: Walk) -> None:
    """Build the backward loop of ``node`` and hand out the gradients of its inputs."""
    graph = current_graph()
    assert graph is not None
    variables, reached = reached_in_loop(node, walk.reached, walk.marks)
    given = {k for k, g in enumerate(gradients) if g is not None and k in variables}
    if not given:
        return
    wanted, inside = needed_in_loop(node, given)
    moving = [k for k in sorted(wanted & variables) if not _is_fixed(node, k)]
    for k in given:
        if _is_fixed(node, k):
            walk.add(node.inputs[k], gradients[k])
    relevant = reached & inside
    pairs = [
        (outer, inner) for k, (outer, inner) in enumerate(zip(node.inputs, node.attrs["body"].inputs))
        if outer in walk.reached and inner in relevant and (k >= node.attrs["n_vars"] or _is_fixed(node, k))
    ]  # fmt: skip
    collected = walk.collected(pairs, [node.attrs["body"]])
    scope = graph.unique_name(f"{node.name.rpartition('/')[2]}/gradient")
    body = BackwardBody(f"{scope}/body", graph, node)
    trips = graph.capture(rewriting.trips_of(node))
    loop = [LoopVar("t", call("subtract", trips, 1), SCALAR)]
    loop += [_gradient_variable(node, k, gradients[k]) for k in moving]
    totals = [nothing(item.outer) if item.running is None else item.running for item in collected]
    loop += [LoopVar("total", total, total.shape) for total in totals]
    for v in loop[1:]:
        body.parameter(v.init.dtype, v.invariant, v.name)
    results = _body(node, body, moving, collected, walk, reached)
    finals = _close(graph, scope, node, body, loop, results)
    for k, g in zip(moving, finals[1:]):
        walk.add(node.inputs[k], g)
    walk.hand_out(collected, finals[1 + len(moving) :])


def _is_fixed(node: Node, k: int) -> bool:
    """True for a loop variable that no iteration changes."""
    body = node.attrs["body"]
    return body.outputs[k] is body.inputs[k]


def _gradient_variable(node: Node, k: int, g: Tensor | None) -> LoopVar:
    invariant: TensorShape = node.attrs["invariants"][k]
    if g is None:
        g = nothing(node.outputs[k])
    return LoopVar(f"gradient_{node.attrs['names'][k]}", _fitting(g, invariant), invariant)


def _fitting(g: Tensor, shape: TensorShape) -> Tensor:
    if not g.shape.is_subsumed_by(shape):
        g = call("ensure_shape", g, shape)
    return g


def _body(
    node: Node, body: BackwardBody, moving: Sequence[int], collected: Sequence[Collected], walk: Walk,
    reached: set[Tensor],
) -> list[Tensor]:  # fmt: skip
    """Fill the backward body; gives the next values of its loop variables."""
    forward = body.forward
    entering, sinks = body.inputs[1 : 1 + len(moving)], body.inputs[1 + len(moving) :]
    adjoints = Adjoints({item.inner: sink for item, sink in zip(collected, sinks)})
    inner = Walk(forward, reached, walk.marks, adjoints)
    with body.as_default():
        for k, g in zip(moving, entering):
            inner.add(forward.outputs[k], g)
        inner.run(forward.nodes)
        results = [call("subtract", body.t, 1)]
        for k, g in zip(moving, entering):
            leaving = adjoints.total(forward.inputs[k])
            results.append(_fitting(nothing(forward.inputs[k]) if leaving is None else leaving, g.shape))
        results += [adjoints.sinks[item.inner] for item in collected]
    results = [body.capture(r) for r in results]
    body.finish(results)
    return results


def _close(
    graph: Graph, scope: str, node: Node, body: Graph, loop: Sequence[LoopVar], results: Sequence[Tensor]
) -> list[Tensor]:
    """Make the backward loop of its finished body."""
    cond = subgraph(graph, f"{scope}/cond", [(v.init.dtype, v.invariant, v.name) for v in loop])
    with cond.as_default():
        pred = call("greater_equal", cond.inputs[0], 0)
    options = LoopOptions(node.attrs["parallel_iterations"], None, True, node.attrs["swap_memory"])
    return finish_while(graph, scope, loop, cond, pred, body, results, options, node.location)
