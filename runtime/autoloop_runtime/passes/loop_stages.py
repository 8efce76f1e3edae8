"""A graph cut before and after each of its loops, so that whoever runs it stands between iterations.

What runs in between are graphs of their own: the nodes before the first loop, the loop as ``resume`` gives it, the
nodes between it and the next one. Each node is in one of them, in the order of the graph, so effects keep theirs. A
branch in which there is a loop is cut, too, as is the body of a loop, for those who want to stand inside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from ..analysis.inside import loops_inside
from ..base.dataclass import dataclass
from ..ir.graph import CONST, PARAMETER, Graph, Node
from ..ir.structured import COND, WHILE
from ..ir.tensor import Tensor
from .resume import Resumable, resumable
from .rewrite import gathered


@dataclass(frozen=True, eq=False)
class Cut:
    """A graph, and what it is done by, one after the other."""

    graph: Graph
    stages: Sequence[Stage]


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
        What there is while it runs, but for what can be made again, and is taken by it or after it; without its own
        variables. Made again is what the nodes before the first loop of all give, and what a body is given.
    inside : (Cut, Cut) or None
        Its condition and its body, if there are loops in that.
    """

    node: Node
    loop: Resumable
    ends: frozenset[Tensor]
    holds: Sequence[Tensor]
    inside: tuple[Cut, Cut] | None

    @property
    def names(self) -> Sequence[str]:
        """What the user calls its variables."""
        return [self.node.attrs["names"][k] for k in self.loop.variables]


@dataclass(frozen=True, eq=False)
class BranchPart:
    """A branch with loops in it.

    Attributes
    ----------
    node : Node
        Of the whole graph.
    sides : (Cut, Cut)
        What is done where its condition holds, and where not.
    ends, holds
        As of a loop.
    """

    node: Node
    sides: tuple[Cut, Cut]
    ends: frozenset[Tensor]
    holds: Sequence[Tensor]


Stage: TypeAlias = "Part | LoopPart | BranchPart"


def cut_at_loops(graph: Graph, is_whole: bool = True) -> Cut:
    """Return what ``graph`` is done by; *whole* is the graph of a function, in others what they have made is held."""
    runs: list[list[Node]] = [[]]
    for node in graph.nodes:
        if has_loops(node):
            runs += [[node], []]
        elif node.op is not CONST and node.op is not PARAMETER:
            runs[-1].append(node)
    needed: list[set[Tensor]] = [set(graph.outputs)]  # after the last, before it, ...
    for nodes in reversed(runs):
        made = {t for node in nodes for t in node.outputs}
        needed.append((needed[-1] - made) | set(taken_by(nodes)))
    needed.reverse()
    again = {*graph.inputs, *(t for node in runs[0] for t in node.outputs if is_whole)}
    stages: list[Stage] = []
    for nodes, before, after in zip(runs, needed, needed[1:]):
        ends = frozenset(before - after)
        if not nodes or not has_loops(nodes[0]):
            takes, gives = taken_by(nodes), [t for node in nodes for t in node.outputs if t in after]
            stages.append(Part(gathered(graph, nodes, takes, gives), takes, gives, ends))
            continue
        (node,) = nodes
        later = after - set(node.outputs)
        if node.op is WHILE:
            stages.append(_loop_part(graph, node, ends, later, again))
        else:
            holds = _in_order(graph, (later | {*node.inputs}) - again)
            sides = cut_at_loops(node.attrs["then"], False), cut_at_loops(node.attrs["else"], False)
            stages.append(BranchPart(node, sides, ends, holds))
    return Cut(graph, stages)


def _loop_part(graph: Graph, node: Node, ends: frozenset[Tensor], later: set[Tensor], again: set[Tensor]) -> LoopPart:
    loop = _with_effects(resumable(node))
    inside = None
    if loops_inside(node.attrs["body"]):
        inside = cut_at_loops(node.attrs["cond"], False), cut_at_loops(node.attrs["body"], False)
    holds = _in_order(graph, (later | {node.inputs[k] for k in loop.captured}) - again)
    return LoopPart(node, loop, ends, holds, inside)


def has_loops(node: Node) -> bool:
    """Return whether a node is a loop, or a branch with one in it."""
    return node.op is WHILE or (node.op is COND and bool(loops_inside(*node.subgraphs)))


def follow_one_another(graph: Graph) -> bool:
    """Return whether there are outermost loops, and each needs the one before: nothing is lost if that has to end."""
    after: set[Tensor] | None = None
    for node in graph.nodes:
        if has_loops(node):
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


def taken_by(nodes: Iterable[Node]) -> list[Tensor]:
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
