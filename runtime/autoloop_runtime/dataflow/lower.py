"""Structured graph to flat graph.

Sub-graphs nest without limit, so nothing here recurses: the functions that descend are generators which yield
the next one down, and ``_drive`` runs them from an explicit stack.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any

from ..analysis.needed import Needed
from ..base.dataclass import replace
from ..base.dtypes import bool_, variant
from ..base.shapes import SCALAR, TensorShape
from ..ir.checks import CHECK_INVARIANT, CHECK_PREDICATE, CHECK_PROMISE
from ..ir.graph import CONST, PARAMETER, Graph, Node
from ..ir.op import Op
from ..ir.structured import COND, WHILE
from ..ir.tensor import Tensor
from .flat_graph import FlatNode, FrameInfo, Kind, Lowered, Port

Task = Generator["Task", None, None]
#: where each tensor of one sub-graph instance comes from
Env = dict[Tensor, Port]


class Context:
    """The place that nodes are put in: a frame, and the pivot that tells when they may run.

    The pivot is made when first needed; the outermost context has none, there everything may run at once.
    """

    __slots__ = ("_make", "_pivot", "frame")

    def __init__(self, frame: int, make: Callable[[], Port] | None = None) -> None:
        self.frame = frame
        self._make = make
        self._pivot: Port | None = None

    def pivot(self) -> Port | None:
        """Return the port whose token says that this iteration or branch is live."""
        if self._pivot is None and self._make is not None:
            self._pivot = self._make()
        return self._pivot


class Emitter:
    """Builds the nodes of one ``Lowered``."""

    def __init__(self, needed: Needed, feeds: Sequence[Tensor], keep_variables: bool) -> None:
        self.needed = needed
        self.feeds = feeds
        self.keep_variables = keep_variables
        self.nodes: list[FlatNode] = []
        self.frames = [FrameInfo(0, -1, "", None, 1)]
        self._names: dict[str, int] = {}

    def run(self, graph: Graph, fetches: Sequence[Tensor]) -> Lowered:
        """Emit ``graph`` and everything inside it."""
        root = Context(0)
        env: Env = {}
        feeds = []
        for tensor in self.feeds:
            env[tensor] = self._add(Kind.FEED, tensor.op.name, (), root, source=tensor.op)
            feeds.append(env[tensor][0])
        for tensor in fetches:
            if tensor.node is None:
                env[tensor] = self._add(Kind.CONST, "Const", (), root, value=tensor.value)
        _drive(self._graph(graph, env, root))
        ports = tuple([env[t] for t in fetches])
        return Lowered(tuple(self.nodes), tuple(self.frames), tuple(feeds), ports)

    # -- nodes --------------------------------------------------------------------------------------------

    def _add(
        self,
        kind: Kind,
        name: str,
        inputs: tuple[Port, ...],
        context: Context,
        controls: Iterable[Port] = (),
        source: Node | None = None,
        op: Op | None = None,
        attrs: Mapping[str, Any] | None = None,
        outputs: int = 1,
        constant: bool = False,
        value: Any = None,
    ) -> Port:
        """Return a new node; one that would get no token at all waits for the pivot of its context."""
        controls = tuple([p for p in controls if self.nodes[p[0]].kind is not Kind.CONST])
        waits = kind in (Kind.KERNEL, Kind.SWITCH, Kind.IDENTITY)
        if waits and all(self._resting(p) for p in (*inputs, *controls)):
            pivot = context.pivot()
            controls += () if pivot is None else (pivot,)
        index = len(self.nodes)
        self.nodes.append(
            FlatNode(index, kind, self._unique(name), inputs, controls, context.frame, source,
                     op, attrs or {}, outputs, constant, value)
        )  # fmt: skip
        return index, 0

    def _unique(self, name: str) -> str:
        count = self._names.get(name, 0)
        self._names[name] = count + 1
        return name if count == 0 else self._unique(f"{name}_{count}")

    def _resting(self, port: Port) -> bool:
        return self.nodes[port[0]].resting

    def _token(self, port: Port, context: Context, name: str, controls: Sequence[Port] = ()) -> Port:
        """Return ``port``, through an Identity if its value is at rest or has to wait for ``controls``."""
        if not controls and not self._resting(port):
            return port
        return self._add(Kind.IDENTITY, f"{name}/Identity", (port,), context, controls)

    def _check(self, op: Op, port: Port, context: Context, node: Node, **attrs: Any) -> Port:
        return self._add(Kind.KERNEL, f"{node.name}/{op.name}", (port,), context, source=node, op=op, attrs=attrs)

    def _predicate(self, tensor: Tensor, port: Port, context: Context, node: Node, what: str) -> Port:
        if tensor.dtype == bool_ and tensor.shape == SCALAR:
            return port
        return self._check(CHECK_PREDICATE, port, context, node, what=what)

    # -- graphs -------------------------------------------------------------------------------------------

    def _graph(self, graph: Graph, env: Env, context: Context) -> Task:
        needed = self.needed
        for node in graph.nodes:
            if node not in needed.nodes:
                continue
            if node.op is WHILE:
                yield self._while(node, env, context)
            elif node.op is COND:
                yield self._cond(node, env, context)
            elif not any(t in env for t in node.outputs):
                self._plain(node, env, context)
            else:
                self._partly_fed(node, env, context)
            for index, shape in node.declared.items():
                tensor = node.outputs[index]
                if tensor in needed.tensors:
                    env[tensor] = self._check(
                        CHECK_PROMISE, env[tensor], context, node, tensor=tensor.name, shape=shape
                    )

    def _plain(self, node: Node, env: Env, context: Context) -> None:
        """Lower a constant or a kernel."""
        if node.op is CONST:
            made = self._add(Kind.CONST, node.name, (), context, source=node, value=node.attrs["value"])
            controls = [env[t] for t in node.control_inputs]
            env[node.outputs[0]] = self._token(made, context, node.name, controls) if controls else made
            return
        if node.op is PARAMETER:
            raise ValueError(f"placeholder {node.outputs[0].name!r} needs a value: feed it")
        index, _ = self._add(
            Kind.KERNEL, node.name, tuple([env[t] for t in node.inputs]), context,
            controls=[env[t] for t in node.control_inputs],
            source=node, op=node.op, attrs=node.attrs, outputs=len(node.outputs),
        )  # fmt: skip
        for i, tensor in enumerate(node.outputs):
            env[tensor] = (index, i)

    def _partly_fed(self, node: Node, env: Env, context: Context) -> None:
        """Fed outputs stay as they are; the node runs if another output is wanted."""
        if any(t in self.needed.tensors and t not in env for t in node.outputs):
            fed = {t: env[t] for t in node.outputs if t in env}
            self._plain(node, env, context)
            env.update(fed)

    # -- loops --------------------------------------------------------------------------------------------

    def _unchanging(self, node: Node, variables: Sequence[int]) -> set[int]:
        """Return loop variables that the body returns as they are: they enter as invariants, and need no Exit."""
        cond, body = node.attrs["cond"], node.attrs["body"]
        if self.keep_variables:
            return set()
        found = {
            k for k in variables if body.outputs[k] is body.inputs[k] and self._keeps_invariant(node, k, node.inputs[k])
        }
        if len(cond.outputs) > 1:
            found.discard(node.attrs["token"])
        # one variable at least must carry the iterations
        return found - {variables[0]} if len(found) == len(variables) else found

    def _while(self, node: Node, env: Env, context: Context) -> Task:
        attrs, name = node.attrs, node.name
        cond, body = attrs["cond"], attrs["body"]
        variables = sorted(self.needed.variables[node])
        fixed = self._unchanging(node, variables)
        moving = [k for k in variables if k not in fixed]
        frame = len(self.frames)
        self.frames.append(FrameInfo(frame, context.frame, name, node, attrs["parallel_iterations"]))
        inside = Context(frame)

        held = self._invariant_positions(node, fixed)
        merges = self._enter_variables(node, moving, held, env, context, inside)
        rest = self._enter_invariants(node, held, env, inside)
        cond_env: Env = {cond.inputs[k]: port for k, port in (rest | merges).items()}
        first_merge = merges[moving[0]]
        in_cond = Context(frame, lambda: first_merge)
        yield self._graph(cond, cond_env, in_cond)
        predicate = self._loop_predicate(node, cond_env[cond.outputs[0]], in_cond)
        loop_cond = self._add(Kind.LOOP_COND, f"{name}/LoopCond", (predicate,), inside, source=node)

        switched = dict(merges)
        if len(cond.outputs) > 1 and attrs["token"] in switched:
            switched[attrs["token"]] = cond_env[cond.outputs[1]]
        switches = {
            k: self._add(Kind.SWITCH, f"{name}/Switch", (port, loop_cond), inside, source=node, outputs=2)[0]
            for k, port in switched.items()
        }
        body_env: Env = {body.inputs[k]: port for k, port in rest.items()}
        body_env |= {body.inputs[k]: (switch, 1) for k, switch in switches.items()}
        in_body = Context(
            frame, lambda: (self._add(Kind.SWITCH, f"{name}/pivot", (loop_cond, loop_cond), inside, outputs=2)[0], 1)
        )
        yield self._graph(body, body_env, in_body)
        for k in moving:
            self._next_iteration(node, k, merges[k], body_env, in_body)
        for k in moving:
            output = node.outputs[k]
            if output in self.needed.tensors and output not in env:
                env[output] = self._add(Kind.EXIT, f"{name}/Exit", ((switches[k], 0),), inside, source=node)
        controls = [env[t] for t in node.control_inputs]
        for k in fixed:
            if node.outputs[k] not in env:
                source = env[node.inputs[k]]
                env[node.outputs[k]] = self._token(source, context, name, controls) if controls else source

    def _loop_predicate(self, node: Node, port: Port, in_cond: Context) -> Port:
        """Return the condition; where it is at rest a kernel asks it, so that no endless loop is without kernels,
        between
        which a run can be stopped."""
        tensor, what = node.attrs["cond"].outputs[0], f"the condition of the loop {node.name!r}"
        if self._resting(port):
            return self._check(CHECK_PREDICATE, port, in_cond, node, what=what)
        return self._predicate(tensor, port, in_cond, node, what)

    def _invariant_positions(self, node: Node, fixed: set[int]) -> list[int]:
        """Return the inputs that every iteration sees: captured tensors and variables that never change."""
        cond, body, needed = node.attrs["cond"], node.attrs["body"], self.needed.tensors
        candidates = (*sorted(fixed), *range(node.attrs["n_vars"], len(node.inputs)))
        return [i for i in candidates if cond.inputs[i] in needed or body.inputs[i] in needed]

    def _enter_variables(
        self, node: Node, moving: Sequence[int], held: Sequence[int], env: Env, context: Context, inside: Context
    ) -> dict[int, Port]:
        """Make Enter and Merge of each loop variable; the NextIteration input is added when it exists."""
        name = node.name
        controls = [env[t] for t in node.control_inputs]
        sources = {k: env[node.inputs[k]] for k in moving}
        if controls or all(self._resting(env[node.inputs[i]]) for i in (*moving, *held)):
            # the frame is opened by a token, so one must exist
            for k in moving if controls else moving[:1]:
                sources[k] = self._token(sources[k], context, name, controls)
        merges = {}
        for k, port in sources.items():
            port = self._checked_variable(node, k, node.inputs[k], port, context, entry=True)
            enter = self._add(Kind.ENTER, f"{name}/Enter", (port,), inside, source=node)
            merges[k] = self._add(Kind.MERGE, f"{name}/Merge", (enter,), inside, source=node)
        return merges

    def _enter_invariants(self, node: Node, held: Sequence[int], env: Env, inside: Context) -> dict[int, Port]:
        """Return a constant Enter for each position of ``held``; constants are at rest everywhere anyway."""
        found = {}
        for position in held:
            port = env[node.inputs[position]]
            if self.nodes[port[0]].kind is not Kind.CONST:
                port = self._add(Kind.ENTER, f"{node.name}/Enter", (port,), inside, source=node, constant=True)
            found[position] = port
        return found

    def _next_iteration(self, node: Node, k: int, merge: Port, body_env: Env, in_body: Context) -> None:
        tensor: Tensor = node.attrs["body"].outputs[k]
        port = self._checked_variable(node, k, tensor, body_env[tensor], in_body, entry=False)
        port = self._token(port, in_body, node.name)
        back = self._add(Kind.NEXT_ITERATION, f"{node.name}/NextIteration", (port,), in_body, source=node)
        old = self.nodes[merge[0]]
        self.nodes[merge[0]] = replace(old, inputs=(*old.inputs, back))

    def _checked_variable(self, node: Node, k: int, tensor: Tensor, port: Port, context: Context, entry: bool) -> Port:
        """Return ``port``, checked against the shape invariant unless the static shape proves it."""
        if self._keeps_invariant(node, k, tensor):
            return port
        return self._check(
            CHECK_INVARIANT, port, context, node,
            variable=node.attrs["names"][k], loop=node.name, shape=node.attrs["invariants"][k], entry=entry,
        )  # fmt: skip

    @staticmethod
    def _keeps_invariant(node: Node, k: int, tensor: Tensor) -> bool:
        """Return whether ``tensor``, a value of loop variable ``k``, needs no check of its shape at run time."""
        shape: TensorShape = node.attrs["invariants"][k]
        return tensor.dtype == variant or tensor.shape.is_subsumed_by(shape)

    # -- branches -----------------------------------------------------------------------------------------

    def _cond(self, node: Node, env: Env, context: Context) -> Task:
        name, tensor = node.name, node.inputs[0]
        predicate = self._predicate(tensor, env[tensor], context, node, f"the condition of {name!r}")
        if node.control_inputs:
            predicate = self._token(predicate, context, name, [env[t] for t in node.control_inputs])
        pivots: list[int] = []

        def pivot(side: int) -> Port:
            if not pivots:
                both = (predicate, predicate)
                pivots.append(self._add(Kind.SWITCH, f"{name}/pivot", both, context, source=node, outputs=2)[0])
            return pivots[0], side

        then = _Branch(node.attrs["then"], 1, Context(context.frame, lambda: pivot(1)))
        orelse = _Branch(node.attrs["else"], 0, Context(context.frame, lambda: pivot(0)))
        for i, outer in enumerate(node.inputs[1:]):
            users = [b for b in (then, orelse) if b.graph.inputs[i] in self.needed.tensors]
            if not users:
                continue
            port = env[outer]
            at_rest = self._resting(port)
            if not at_rest:
                port = self._add(Kind.SWITCH, f"{name}/Switch", (port, predicate), context, source=node, outputs=2)
            for branch in users:
                branch.env[branch.graph.inputs[i]] = port if at_rest else (port[0], branch.side)
        for branch in (then, orelse):
            yield self._graph(branch.graph, branch.env, branch.context)
        for k, output in enumerate(node.outputs):
            if output in self.needed.tensors and output not in env:
                arms = [self._token(b.env[b.graph.outputs[k]], b.context, name) for b in (then, orelse)]
                env[output] = self._add(Kind.MERGE, f"{name}/Merge", tuple(arms), context, source=node)


class _Branch:
    """One side of a Cond while it is emitted; ``side`` is the Switch output that leads to it."""

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
