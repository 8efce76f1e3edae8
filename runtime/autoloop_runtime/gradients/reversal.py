"""What all backward loops have in common: which gradients they carry and collect, and how they count down."""

from __future__ import annotations

from collections.abc import Sequence

from .. import ops
from ..analysis.passed_on import is_fixed
from ..base.dataclass import dataclass
from ..base.shapes import TensorShape
from ..collections import adjoint_table
from ..ir.graph import Graph, Node, current_graph
from ..ir.structured import LoopOptions, LoopVar, finish_while, subgraph
from ..ir.tensor import Tensor
from ..ops.index import Index, Input
from ..ops.indexing import GETITEM
from .activity import needed_in_loop, reached_in_loop
from .rematerialize import sorted_nodes
from .walk import Collected, Walk, nothing

#: ``x[i]``
ROW = Index([Input(0)])


@dataclass(frozen=True)
class Reversal:
    """What the backward loop of ``node`` is to do.

    Attributes
    ----------
    loop : Node
        The forward loop when this was made; ``node`` is the one that has its place now.
    graph : Graph
        Where the backward loop goes.
    moving : list of int
        The variables with a gradient that changes from iteration to iteration.
    collected : list of Collected
        What the iterations add to. ``inner`` is a position among the inputs, or a source that shows up in the body.
    reached : set of Tensor
        The tensors of the body that depend on a source.
    outer, inner : tuple of Tensor
        The inputs of the loop and of its body, before the loop gets more variables.
    """

    loop: Node
    graph: Graph
    moving: list[int]
    collected: list[Collected]
    reached: set[Tensor]
    outer: tuple[Tensor, ...]
    inner: tuple[Tensor, ...]

    @property
    def node(self) -> Node:
        """The forward loop, with the variables that it has now."""
        return self.loop.now

    def variables(self, gradients: Sequence[Tensor | None]) -> list[LoopVar]:
        """Return the loop variables on entry: the gradients of the moving ones, then the sums."""
        names, shapes = self.node.attrs["names"], self.node.attrs["invariants"]
        made = []
        for k in self.moving:
            g = gradients[k]
            g = nothing(self.node.outputs[k]) if g is None else g
            made.append(LoopVar(f"gradient_{names[k]}", fitting(g, shapes[k]), shapes[k]))
        totals = [nothing(item.outer) if item.running is None else item.running for item in self.collected]
        return made + [LoopVar("total", total, total.shape) for total in totals]

    def hand_out(self, walk: Walk, finals: Sequence[Tensor]) -> None:
        """Take over the final values of all loop variables, the counter first."""
        for k, g in zip(self.moving, finals[1:]):
            start = self.node.inputs[k]  # its shape may say more than that of the variable
            walk.add(start, fitting(g, start.shape) if g.dtype == start.dtype else g)
        walk.hand_out(self.collected, finals[1 + len(self.moving) :])


def plan_reversal(node: Node, gradients: Sequence[Tensor | None], walk: Walk) -> Reversal | None:
    """Return what the backward loop of ``node`` must do; ``None`` if there is nothing to do.

    The gradient of a variable that no iteration changes is handed on at once.
    """
    graph = current_graph()
    assert graph is not None
    variables, reached = reached_in_loop(node, walk.reached, walk.marks)
    given = {k for k, g in enumerate(gradients) if g is not None and k in variables}
    if not given:
        return None
    wanted, inside = needed_in_loop(node, given)
    for k in given:
        if is_fixed(node, k):
            walk.add(node.inputs[k], gradients[k])
    relevant = reached & inside
    body, count = node.attrs["body"], node.attrs["n_vars"]
    pairs = [
        (outer, position)
        for position, (outer, inner) in enumerate(zip(node.inputs, body.inputs))
        if outer in walk.reached and inner in relevant and (position >= count or is_fixed(node, position))
    ]
    moving = [k for k in sorted(wanted & variables) if not is_fixed(node, k)]
    collected = walk.collected(pairs, inside)
    return Reversal(node, graph, moving, collected, reached, tuple(node.inputs), tuple(body.inputs))


def fitting(g: Tensor, shape: TensorShape) -> Tensor:
    """Return ``g``, checked at run time to fit ``shape`` if that is not known."""
    if not g.shape.is_subsumed_by(shape):
        g = ops.ensure_shape(g, shape)
    return g


def count_down(
    plan: Reversal, scope: str, body: Graph, loop: Sequence[LoopVar], results: Sequence[Tensor],
    at_once: int | None = None,
) -> list[Tensor]:  # fmt: skip
    """Make a loop of a finished body, which runs while its first variable is not negative; gives its results.

    ``at_once`` is its ``parallel_iterations``, by default those of the loop it is the reversal of.
    """
    for v, parameter, result in zip(loop, body.inputs, results):
        if parameter is result and v.init.node is not None and v.init.node.op is adjoint_table.FROM_ROWS:
            _read_rows(body, parameter, v.init.node.inputs[0])
    cond = subgraph(plan.graph, f"{scope}/cond", [(v.init.dtype, v.invariant, v.name) for v in loop])
    with cond.as_default():
        pred = ops.greater_equal(cond.inputs[0], 0)
    attrs = plan.node.attrs
    window = attrs["parallel_iterations"] if at_once is None else at_once
    options = LoopOptions(window, None, True, attrs["swap_memory"], "save")
    return finish_while(plan.graph, scope, loop, cond, pred, body, results, options, plan.node.location)


def _read_rows(body: Graph, table: Tensor, rows: Tensor) -> None:
    """Let ``body`` take the rows of a tensor themselves, rather than entries of a table made of them.

    ``table`` is its parameter for a table that no iteration changes: the gradient of a TensorArray that was stacked
    after the loop, which holds a row for every index that the loop wrote.
    """
    for node in [n for n in body.nodes if n.op is adjoint_table.GET and n.inputs[0] is table]:
        body.exchange(node, node.instead(GETITEM, (body.capture(rows), node.inputs[1]), {"index": ROW}))
    body.nodes = sorted_nodes(body.nodes)  # what stands for the rows in the body, a constant maybe, was made last
