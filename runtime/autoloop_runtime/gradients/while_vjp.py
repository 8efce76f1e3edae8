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

from .. import ops
from ..analysis.induction import constant_step
from ..analysis.observable import is_barrier
from ..analysis.passed_on import is_fixed
from ..base.shapes import SCALAR
from ..collections import saved_stacks as stacks
from ..ir.graph import CONST, Graph, Node
from ..ir.structured import LoopVar
from ..ir.tensor import Tensor
from . import checkpoints, rewriting
from .activity import Marks
from .rematerialize import BackwardGraph, Definition
from .reversal import Reversal, count_down, fitting, plan_reversal
from .walk import Adjoints, Walk, nothing


class BackwardBody(BackwardGraph):
    """The body of the backward loop of ``node``; its first parameter is the number of the iteration."""

    def __init__(self, name: str, parent: Graph, node: Node) -> None:
        super().__init__(name, parent, node.attrs["body"])
        self._loop = node
        self.t = self.parameter(rewriting.trips_of(node).dtype, SCALAR, "t")
        node = self.loop
        count = node.attrs["n_vars"]
        # more variables move the captured tensors
        self._variables = {p: k for k, p in enumerate(self.forward.inputs[:count])}
        self._captured = dict(zip(self.forward.inputs[count:], node.inputs[count:]))
        #: tensor -> the loop variables whose next value it is
        self._results: dict[Tensor, list[int]] = {}
        for k, tensor in enumerate(self.forward.outputs):
            self._results.setdefault(tensor, []).append(k)
        self._invariant: dict[Tensor, bool] = {}

    @property
    def loop(self) -> Node:
        """The forward loop, which gets more variables while this graph is finished."""
        return self._loop.now

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
        return self.loop.inputs[k] if is_fixed(self.loop, k) else None

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
            after = ops.add(self.t, 1)
        return stacks.READ, (stack, after), {"dtype": tensor.dtype, "shape": tensor.shape}

    # -- counters -----------------------------------------------------------------------------------------

    def _counts(self, tensor: Tensor) -> bool:
        """Return true for a loop variable that grows by a known step."""
        k = self._variables.get(tensor)
        return k is not None and constant_step(self.loop, k, rewriting.FIXED) is not None

    def _count(self, k: int) -> Tensor:
        """Return the value of counter ``k`` in iteration t."""
        step, start = constant_step(self.loop, k, rewriting.FIXED), self.loop.inputs[k]
        with self.as_default():
            n = ops.cast(self.t, start.dtype)
            assert step is not None
            if step != 1:
                n = ops.multiply(n, step)
            known = start.fixed_value()
            count: Tensor = n if known is not None and known == 0 else ops.add(start, n)
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
            elif is_barrier(node) or node.op.traits.rematerialise:
                known = False  # cheap ones are computed again in each iteration, or hoisted by the optimiser
            else:
                known = bool(node.inputs) and all(self._is_invariant(t) for t in node.inputs)
            self._invariant[tensor] = known
        return known

    def _hoisted(self, tensor: Tensor) -> Tensor:
        """Return an invariant tensor of the forward body as a tensor outside the backward loop."""
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
    plan = plan_reversal(node, gradients, walk)
    if plan is None:
        return
    if checkpoints.apply_to(plan):
        checkpoints.backward(plan, gradients, walk)
        return
    graph = plan.graph
    scope = graph.unique_name(f"{node.name.rpartition('/')[2]}/gradient")
    body = BackwardBody(f"{scope}/body", graph, node)
    trips = graph.capture(rewriting.trips_of(node))
    loop = [LoopVar("t", ops.subtract(trips, 1), SCALAR), *plan.variables(gradients)]
    for v in loop[1:]:
        body.parameter(v.init.dtype, v.invariant, v.name)
    results = _body(body, plan, walk.marks)
    plan.hand_out(walk, count_down(plan, scope, body, loop, results))


def _body(body: BackwardBody, plan: Reversal, marks: Marks) -> list[Tensor]:
    """Fill the backward body; gives the next values of its loop variables."""
    forward, moving = body.forward, plan.moving
    entering, sinks = body.inputs[1 : 1 + len(moving)], body.inputs[1 + len(moving) :]
    places = [plan.inner[i.inner] if isinstance(i.inner, int) else i.inner for i in plan.collected]
    adjoints = Adjoints(dict(zip(places, sinks)))
    inner = Walk(forward, plan.reached, marks, adjoints)
    with body.as_default():
        for k, g in zip(moving, entering):
            inner.add(forward.outputs[k], g)
        inner.run(forward.nodes)
        results = [ops.subtract(body.t, 1)]
        for k, g in zip(moving, entering):
            leaving = adjoints.total(forward.inputs[k])
            results.append(fitting(nothing(forward.inputs[k]) if leaving is None else leaving, g.shape))
        results += [adjoints.sinks[place] for place in places]
    results = [body.capture(r) for r in results]
    body.finish(results)
    return results
