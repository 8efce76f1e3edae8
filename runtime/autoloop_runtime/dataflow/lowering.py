"""From the structured graph to the flat dataflow graph that the scheduler runs.

``while_loop`` and ``cond`` leave one node with sub-graphs; here they become Enter, Merge, LoopCond, Switch,
NextIteration and Exit around the nodes of those sub-graphs, and only what the fetches need.

Sub-graphs nest without limit, so nothing here recurses: the functions that descend are generators which yield
the next one down, and ``_drive`` runs them from an explicit stack.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis.needed import Needed
from ..ir.checks import CHECK_PROMISE
from ..ir.graph import CONST, PARAMETER, Graph, Node
from ..ir.stages import Stage, come_to
from ..ir.structured import COND, WHILE
from ..ir.tensor import Tensor
from .flat_graph import Kind, Lowered, Port
from .flat_writer import Context, Env, FlatWriter, Task
from .lower_loops import LoopLowering


def lower(
    graph: Graph, fetches: Sequence[Tensor], feeds: Sequence[Tensor] = (), *, keep_variables: bool = False
) -> Lowered:
    """Return the flat graph that computes ``fetches``.

    Parameters
    ----------
    graph : Graph
        The graph that the fetches belong to.
    fetches : sequence of Tensor
        What to compute; a concrete tensor is its own value.
    feeds : sequence of Tensor
        Tensors whose values the caller supplies; what only they would have needed is not computed.
    keep_variables : bool
        Keep the Merge, Switch, NextIteration and Exit of loop variables that never change, and the Exit of those that
        nobody fetches. The result is the same, the picture is the one in the books, and every iteration moves one
        token more.

    Raises
    ------
    ValueError
        If a placeholder is needed and not fed, or a tensor belongs to another graph.
    """
    for tensor in (*fetches, *feeds):
        if tensor.node is not None and tensor.node.graph is not graph:
            raise ValueError(
                f"tensor {tensor.name!r} does not belong to this graph and cannot be fetched or fed [AL501]"
            )
    flat = _Lowering(Needed(fetches, feeds), feeds, keep_variables).run(graph, fetches)
    come_to(flat, Stage.LOWERED)
    return flat


class _Lowering:
    """One graph that is lowered, with everything inside it."""

    def __init__(self, needed: Needed, feeds: Sequence[Tensor], keep_variables: bool) -> None:
        self._needed = needed
        self._feeds = feeds
        self._writer = FlatWriter()
        self._loops = LoopLowering(self._writer, needed, keep_variables, self._graph)

    def run(self, graph: Graph, fetches: Sequence[Tensor]) -> Lowered:
        """Lower ``graph`` and everything inside it."""
        root = Context(0)
        env: Env = {}
        feeds = []
        for tensor in self._feeds:
            env[tensor] = self._writer.add(Kind.FEED, tensor.op.name, (), root, source=tensor.op)
            feeds.append(env[tensor][0])
        for tensor in fetches:
            if tensor.node is None:
                env[tensor] = self._writer.add(Kind.CONST, "Const", (), root, value=tensor.value)
        _drive(self._graph(graph, env, root))
        ports = tuple([env[t] for t in fetches])
        return Lowered(tuple(self._writer.nodes), tuple(self._writer.frames), tuple(feeds), ports)

    def _graph(self, graph: Graph, env: Env, context: Context) -> Task:
        needed = self._needed
        for node in graph.nodes:
            if node not in needed.nodes:
                continue
            if node.op is WHILE:
                yield self._loops.lower(node, env, context)
            elif node.op is COND:
                yield self._cond(node, env, context)
            elif not any(t in env for t in node.outputs):
                self._plain(node, env, context)
            else:
                self._partly_fed(node, env, context)
            for index, shape in node.declared.items():
                tensor = node.outputs[index]
                if tensor in needed.tensors:
                    env[tensor] = self._writer.check(
                        CHECK_PROMISE, env[tensor], context, node, tensor=tensor.name, shape=shape
                    )

    def _plain(self, node: Node, env: Env, context: Context) -> None:
        """Lower a constant or a kernel."""
        if node.op is CONST:
            made = self._writer.add(Kind.CONST, node.name, (), context, source=node, value=node.attrs["value"])
            controls = [env[t] for t in node.control_inputs]
            env[node.outputs[0]] = self._writer.token(made, context, node.name, controls) if controls else made
            return
        if node.op is PARAMETER:
            raise ValueError(f"placeholder {node.outputs[0].name!r} needs a value: feed it [AL505]")
        index, _ = self._writer.add(
            Kind.KERNEL, node.name, tuple([env[t] for t in node.inputs]), context,
            controls=[env[t] for t in node.control_inputs],
            source=node, op=node.op, attrs=node.attrs, outputs=len(node.outputs),
        )  # fmt: skip
        for i, tensor in enumerate(node.outputs):
            env[tensor] = (index, i)

    def _partly_fed(self, node: Node, env: Env, context: Context) -> None:
        """Fed outputs stay as they are; the node runs if another output is wanted."""
        if any(t in self._needed.tensors and t not in env for t in node.outputs):
            fed = {t: env[t] for t in node.outputs if t in env}
            self._plain(node, env, context)
            env.update(fed)

    def _cond(self, node: Node, env: Env, context: Context) -> Task:
        name, tensor = node.name, node.inputs[0]
        predicate = self._writer.predicate(tensor, env[tensor], context, node, f"the condition of {name!r}")
        if node.control_inputs:
            predicate = self._writer.token(predicate, context, name, [env[t] for t in node.control_inputs])
        pivots: list[int] = []

        def pivot(side: int) -> Port:
            if not pivots:
                both = (predicate, predicate)
                pivots.append(self._writer.add(Kind.SWITCH, f"{name}/pivot", both, context, source=node, outputs=2)[0])
            return pivots[0], side

        then = _Branch(node.attrs["then"], 1, Context(context.frame, lambda: pivot(1)))
        orelse = _Branch(node.attrs["else"], 0, Context(context.frame, lambda: pivot(0)))
        for i, outer in enumerate(node.inputs[1:]):
            users = [b for b in (then, orelse) if b.graph.inputs[i] in self._needed.tensors]
            if not users:
                continue
            port = env[outer]
            at_rest = self._writer.is_resting(port)
            if not at_rest:
                port = self._writer.add(
                    Kind.SWITCH, f"{name}/Switch", (port, predicate), context, source=node, outputs=2
                )
            for branch in users:
                branch.env[branch.graph.inputs[i]] = port if at_rest else (port[0], branch.side)
        for branch in (then, orelse):
            yield self._graph(branch.graph, branch.env, branch.context)
        for k, output in enumerate(node.outputs):
            if output in self._needed.tensors and output not in env:
                arms = [self._writer.token(b.env[b.graph.outputs[k]], b.context, name) for b in (then, orelse)]
                env[output] = self._writer.add(Kind.MERGE, f"{name}/Merge", tuple(arms), context, source=node)


class _Branch:
    """One side of a Cond while it is lowered; ``side`` is the Switch output that leads to it."""

    def __init__(self, graph: Graph, side: int, context: Context) -> None:
        self.graph = graph
        self.side = side
        self.context = context
        self.env: Env = {}


def _drive(task: Task) -> None:
    """Run a generator that yields generators, depth first, without recursion."""
    stack = [task]
    while stack:
        below = next(stack[-1], None)
        if below is None:
            stack.pop()
        else:
            stack.append(below)
