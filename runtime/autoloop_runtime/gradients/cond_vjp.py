"""The gradient of a ``Cond`` is a ``Cond`` on the same predicate.

Each branch of it undoes one branch of the forward node. What it needs of that branch is computed again where that is
cheap, else handed out by the forward node as a further result.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.graph import Graph, Node, current_graph
from ..ir.structured import finish_cond
from ..ir.tensor import Tensor
from ..ops.identities import IDENTITY
from . import rewriting
from .activity import Marks, needed, reached_in_branch
from .rematerialize import BackwardGraph, Definition
from .walk import Adjoints, Collected, Walk, nothing


class BackwardBranch(BackwardGraph):
    """The backward counterpart of one branch of ``node``."""

    def __init__(self, name: str, parent: Graph, node: Node, forward: Graph) -> None:
        super().__init__(name, parent, forward)
        self._node = node
        self._positions = {p: i for i, p in enumerate(forward.inputs)}

    @property
    def conditional(self) -> Node:
        """The forward conditional, which gets more results while this graph is finished."""
        return self._node.now

    def is_free(self, tensor: Tensor) -> bool:
        return tensor in self._positions

    def stand_in(self, tensor: Tensor) -> Tensor:
        return self.capture(self.conditional.inputs[1 + self._positions[tensor]])

    def outside(self, tensor: Tensor) -> Tensor | None:
        position = self._positions.get(tensor)
        return None if position is None else self.conditional.inputs[1 + position]

    def saved(self, tensor: Tensor) -> Definition:
        return IDENTITY, (rewriting.result_of(self.conditional, self.forward, tensor),), {}


def backward(node: Node, gradients: Sequence[Tensor | None], walk: Walk) -> None:
    """Build the backward conditional of ``node`` and hand out the gradients of its captured tensors."""
    graph = current_graph()
    assert graph is not None
    given = [(k, g) for k, g in enumerate(gradients) if g is not None]
    scope = graph.unique_name(f"{node.name.rpartition('/')[2]}/gradient")
    sides = []
    for side in ("then", "else"):
        forward: Graph = node.attrs[side]
        reached = reached_in_branch(node, forward, walk.reached, walk.marks)
        relevant = needed(forward, [forward.outputs[k] for k, _ in given])
        branch = BackwardBranch(f"{scope}/{side}", graph, node, forward)
        sides.append((branch, reached, relevant))
    passing = [
        {k for k, p in enumerate(b.forward.inputs) if p in reached and p in relevant} for b, reached, relevant in sides
    ]
    pairs = [
        (outer, position) for position, outer in enumerate(node.inputs[1:])
        if outer in walk.reached and any(position in side for side in passing)
    ]  # fmt: skip
    collected = walk.collected(pairs, [t for _, _, relevant in sides for t in relevant])
    if not collected:
        return
    results = [_fill(branch, reached, given, collected, walk.marks) for branch, reached, _ in sides]
    (then, _, _), (otherwise, _, _) = sides
    pred = graph.capture(node.inputs[0])
    totals = finish_cond(graph, scope, pred, then, results[0], otherwise, results[1], node.location)
    walk.hand_out(collected, totals)


def _fill(
    branch: BackwardBranch, reached: set[Tensor], given: Sequence[tuple[int, Tensor]],
    collected: Sequence[Collected], marks: Marks,
) -> list[Tensor]:  # fmt: skip
    """Build one backward branch; gives the gradients of what is ``collected``."""
    forward = branch.forward
    places = [forward.inputs[item.inner] if isinstance(item.inner, int) else item.inner for item in collected]
    with branch.as_default():
        adjoints = Adjoints(
            {p: branch.capture(item.running) for p, item in zip(places, collected) if item.running is not None}
        )
        inner = Walk(forward, reached, marks, adjoints)
        for k, g in given:
            inner.add(forward.outputs[k], branch.capture(g))
        inner.run(forward.nodes)
        results = []
        for place, item in zip(places, collected):
            total = adjoints.total(place) if item.running is None else adjoints.sinks[place]
            results.append(nothing(item.outer) if total is None else total)
    results = [branch.capture(r) for r in results]
    branch.finish(results)
    return results
