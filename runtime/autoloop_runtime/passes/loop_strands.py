"""A graph cut into strands: its outermost loops, each by itself, and what nodes there are before, between and after.

Two loops neither of which needs the other are in flight together. Each is a graph of its own, so that somebody can
stand between its iterations wherever the others are. Nodes that need the same loops are one strand.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..base.dataclass import dataclass
from ..ir.graph import CONST, PARAMETER, Graph, Node
from ..ir.tensor import Tensor
from .loop_stages import has_loops, taken_by
from .rewrite import gathered


@dataclass(frozen=True, eq=False)
class Strand:
    """A part of a graph.

    Attributes
    ----------
    graph : Graph
        Takes ``takes`` and gives ``gives``.
    takes, gives : sequence of Tensor
        Of the whole graph.
    is_loop : bool
        It is a loop, or a branch with one in it.
    """

    graph: Graph
    takes: Sequence[Tensor]
    gives: Sequence[Tensor]
    is_loop: bool


def strands_of(graph: Graph) -> list[Strand]:
    """Return the strands of a graph, each behind those that it needs."""
    #: by what makes a value: the loops that it needs
    needed: dict[Node, frozenset[Node]] = {}
    groups: dict[frozenset[Node] | Node, list[Node]] = {}
    for node in graph.nodes:
        if node.op is CONST or node.op is PARAMETER:
            continue
        before = frozenset().union(*[needed.get(t.op, ()) for t in (*node.inputs, *node.control_inputs)])
        is_loop = has_loops(node)
        needed[node] = before | {node} if is_loop else before
        groups.setdefault(node if is_loop else before, []).append(node)
    wanted = [set(taken_by(nodes)) for nodes in groups.values()]
    found = []
    for k, nodes in enumerate(groups.values()):
        later = set(graph.outputs).union(*wanted[:k], *wanted[k + 1 :])
        takes, gives = taken_by(nodes), [t for node in nodes for t in node.outputs if t in later]
        found.append(Strand(gathered(graph, nodes, takes, gives), takes, gives, has_loops(nodes[0])))
    return found
