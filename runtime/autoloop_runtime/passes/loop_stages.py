"""A graph cut before and after each of its outermost loops, so that whoever runs it stands between iterations.

What runs in between are graphs of their own: the nodes before the first loop, the loop as ``resume`` gives it, the
nodes between it and the next one. Each node is in one of them, in the order of the graph, so effects keep theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from ..base.dataclass import dataclass
from ..ir.graph import CONST, PARAMETER, Graph, Node
from ..ir.structured import WHILE
from ..ir.tensor import Tensor
from .resume import Resumable, resumable
from .rewrite import gathered


@dataclass(frozen=True, eq=False)
class Part:
    """Nodes between two loops.

    Attributes
    ----------
    graph : Graph
        Takes ``takes`` and gives ``gives``.
    takes, gives : sequence of Tensor
        Of the whole graph.
    ends : frozenset of Tensor
        What nobody takes after it.
    """

    graph: Graph
    takes: Sequence[Tensor]
    gives: Sequence[Tensor]
    ends: frozenset[Tensor]


@dataclass(frozen=True, eq=False)
class LoopPart:
    """An outermost loop.

    Attributes
    ----------
    node : Node
        Of the whole graph.
    loop : Resumable
    ends : frozenset of Tensor
        What nobody takes after it, of what there was before.
    holds : sequence of Tensor
        What there is while it runs, but for what the nodes before the first loop give, which can be made again, and is
        taken by it or after it; without its own variables.
    """

    node: Node
    loop: Resumable
    ends: frozenset[Tensor]
    holds: Sequence[Tensor]

    @property
    def names(self) -> Sequence[str]:
        """What the user calls its variables."""
        return [self.node.attrs["names"][k] for k in self.loop.variables]


Stage: TypeAlias = "Part | LoopPart"


def loop_stages(graph: Graph) -> list[Stage]:
    """Return what ``graph`` is done by, one after the other."""
    runs: list[list[Node]] = [[]]
    for node in graph.nodes:
        if node.op is WHILE:
            runs += [[node], []]
        elif node.op is not CONST and node.op is not PARAMETER:
            runs[-1].append(node)
    needed: list[set[Tensor]] = [set(graph.outputs)]  # after the last, before it, ...
    for nodes in reversed(runs):
        made = {t for node in nodes for t in node.outputs}
        needed.append((needed[-1] - made) | set(_taken(nodes)))
    needed.reverse()
    first = {*graph.inputs, *(t for node in runs[0] for t in node.outputs)}
    stages: list[Stage] = []
    for nodes, before, after in zip(runs, needed, needed[1:]):
        ends = frozenset(before - after)
        if nodes and nodes[0].op is WHILE:
            (node,) = nodes
            loop = _with_effects(resumable(node))
            later = (after - set(node.outputs)) | {node.inputs[k] for k in loop.captured}
            holds = _in_order(graph, later - first)
            stages.append(LoopPart(node, loop, ends, holds))
            continue
        takes, gives = _taken(nodes), [t for node in nodes for t in node.outputs if t in after]
        stages.append(Part(gathered(graph, nodes, takes, gives), takes, gives, ends))
    return stages


def follow_one_another(graph: Graph) -> bool:
    """Return whether there are outermost loops, and each needs the one before: nothing is lost if that has to end."""
    after: set[Tensor] | None = None
    for node in graph.nodes:
        if node.op is WHILE:
            if after is not None and after.isdisjoint(node.inputs):
                return False
            after = set(node.outputs)
        elif after is not None and not after.isdisjoint((*node.inputs, *node.control_inputs)):
            after.update(node.outputs)
    return after is not None


def _with_effects(made: Resumable) -> Resumable:
    """Have a loop give the token of its effects, too: what is not wanted is not done."""
    (node,) = [one for one in made.graph.nodes if one.op is WHILE]
    if node.attrs["token"] is not None:
        made.graph.outputs.append(node.outputs[node.attrs["token"]])
    return made


def _taken(nodes: Iterable[Node]) -> list[Tensor]:
    """Return what nodes take that others make, but for constants, each once."""
    made: set[Tensor] = set()
    found: dict[Tensor, None] = {}
    for node in nodes:
        found.update((t, None) for t in (*node.inputs, *node.control_inputs) if t not in made and t.op.op is not CONST)
        made.update(node.outputs)
    return list(found)


def _in_order(graph: Graph, tensors: Iterable[Tensor]) -> list[Tensor]:
    """Return tensors in the order of the graph, but for constants."""
    wanted = {t for t in tensors if t.op.op is not CONST}
    return [t for node in graph.nodes for t in node.outputs if t in wanted]
