"""A ``While`` node becomes Enter, Merge, LoopCond, Switch, NextIteration and Exit around its sub-graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..analysis.needed import Needed
from ..analysis.passed_on import is_fixed
from ..base.dataclass import replace
from ..base.dtypes import variant
from ..base.shapes import TensorShape
from ..ir.checks import CHECK_INVARIANT, CHECK_PREDICATE
from ..ir.graph import PARAMETER, Graph, Node
from ..ir.structured import COND, WHILE
from ..ir.tensor import Tensor
from .flat_graph import FrameInfo, Kind, Port
from .flat_writer import Context, Env, FlatWriter, Task


class LoopLowering:
    """Opens up loops.

    Parameters
    ----------
    writer : FlatWriter
    needed : Needed
    keep_variables : bool
        See ``lowering.lower``.
    lower_graph : callable
        Lowers a sub-graph.
    """

    def __init__(
        self, writer: FlatWriter, needed: Needed, keep_variables: bool,
        lower_graph: Callable[[Graph, Env, Context], Task],
    ) -> None:  # fmt: skip
        self._writer = writer
        self._needed = needed
        self._keep_variables = keep_variables
        self._lower_graph = lower_graph

    def lower(self, node: Node, env: Env, context: Context) -> Task:
        """Open up a loop in ``context``; ``env`` gets its results."""
        attrs, name = node.attrs, node.name
        cond, body = attrs["cond"], attrs["body"]
        variables = sorted(self._needed.variables[node])
        fixed = self._unchanging(node, variables)
        moving = [k for k in variables if k not in fixed]
        frame = len(self._writer.frames)
        self._writer.frames.append(FrameInfo(frame, context.frame, name, node, attrs["parallel_iterations"]))
        inside = Context(frame)

        held = self._invariant_positions(node, fixed)
        merges = self._enter_variables(node, moving, held, env, context, inside)
        rest = self._enter_invariants(node, held, env, inside)
        self._writer.frames[frame] = replace(self._writer.frames[frame], values=rest | merges)
        cond_env: Env = {cond.inputs[k]: port for k, port in (rest | merges).items()}
        first_merge = merges[moving[0]]
        in_cond = Context(frame, lambda: first_merge)
        yield self._lower_graph(cond, cond_env, in_cond)
        predicate = self._loop_predicate(node, cond_env[cond.outputs[0]], in_cond)
        loop_cond = self._writer.add(Kind.LOOP_COND, f"{name}/LoopCond", (predicate,), inside, source=node)

        switched = dict(merges)
        if len(cond.outputs) > 1 and attrs["token"] in switched:
            switched[attrs["token"]] = cond_env[cond.outputs[1]]
        switches = {
            k: self._writer.add(Kind.SWITCH, f"{name}/Switch", (port, loop_cond), inside, source=node, outputs=2)[0]
            for k, port in switched.items()
        }
        body_env: Env = {body.inputs[k]: port for k, port in rest.items()}
        body_env |= {body.inputs[k]: (switch, 1) for k, switch in switches.items()}
        in_body = Context(
            frame,
            lambda: (self._writer.add(Kind.SWITCH, f"{name}/pivot", (loop_cond, loop_cond), inside, outputs=2)[0], 1),
        )
        yield self._lower_graph(body, body_env, in_body)
        for k in moving:
            self._next_iteration(node, k, merges[k], body_env, in_body)
        for k in moving:
            output = node.outputs[k]
            if output not in env and (output in self._needed.tensors or self._keep_variables):
                env[output] = self._writer.add(Kind.EXIT, f"{name}/Exit", ((switches[k], 0),), inside, source=node)
        controls = [env[t] for t in node.control_inputs]
        for k in fixed:
            if node.outputs[k] not in env:
                source = env[node.inputs[k]]
                env[node.outputs[k]] = self._writer.token(source, context, name, controls) if controls else source

    def _unchanging(self, node: Node, variables: Sequence[int]) -> set[int]:
        """Return loop variables that the body returns as they are: they enter as invariants, and need no Exit."""
        cond = node.attrs["cond"]
        if self._keep_variables:
            return set()
        found = {k for k in variables if is_fixed(node, k) and self._keeps_invariant(node, k, node.inputs[k])}
        if len(cond.outputs) > 1:
            found.discard(node.attrs["token"])
        # one variable at least must carry the iterations
        return found - {variables[0]} if len(found) == len(variables) else found

    def _loop_predicate(self, node: Node, port: Port, in_cond: Context) -> Port:
        """Return the condition; where nothing may have computed it a kernel asks it, so that no endless loop is without
        kernels, between which a run can be stopped."""
        tensor, what = node.attrs["cond"].outputs[0], f"the condition of the loop {node.name!r}"
        if self._writer.is_resting(port) or _is_only_handed_on(node):
            return self._writer.check(CHECK_PREDICATE, port, in_cond, node, what=what)
        return self._writer.predicate(tensor, port, in_cond, node, what)

    def _invariant_positions(self, node: Node, fixed: set[int]) -> list[int]:
        """Return the inputs that every iteration sees: captured tensors and variables that never change."""
        cond, body, needed = node.attrs["cond"], node.attrs["body"], self._needed.tensors
        candidates = (*sorted(fixed), *range(node.attrs["n_vars"], len(node.inputs)))
        return [i for i in candidates if cond.inputs[i] in needed or body.inputs[i] in needed]

    def _enter_variables(
        self, node: Node, moving: Sequence[int], held: Sequence[int], env: Env, context: Context, inside: Context
    ) -> dict[int, Port]:
        """Make Enter and Merge of each loop variable; the NextIteration input is added when it exists."""
        name = node.name
        controls = [env[t] for t in node.control_inputs]
        sources = {k: env[node.inputs[k]] for k in moving}
        if controls or all(self._writer.is_resting(env[node.inputs[i]]) for i in (*moving, *held)):
            # the frame is opened by a token, so one must exist
            for k in moving if controls else moving[:1]:
                sources[k] = self._writer.token(sources[k], context, name, controls)
        merges = {}
        for k, port in sources.items():
            port = self._checked_variable(node, k, node.inputs[k], port, context, entry=True)
            enter = self._writer.add(Kind.ENTER, f"{name}/Enter", (port,), inside, source=node)
            merges[k] = self._writer.add(Kind.MERGE, f"{name}/Merge", (enter,), inside, source=node)
        return merges

    def _enter_invariants(self, node: Node, held: Sequence[int], env: Env, inside: Context) -> dict[int, Port]:
        """Return a constant Enter for each position of ``held``; constants are at rest everywhere anyway."""
        found = {}
        for position in held:
            port = env[node.inputs[position]]
            if self._writer.nodes[port[0]].kind is not Kind.CONST:
                port = self._writer.add(Kind.ENTER, f"{node.name}/Enter", (port,), inside, source=node, constant=True)
            found[position] = port
        return found

    def _next_iteration(self, node: Node, k: int, merge: Port, body_env: Env, in_body: Context) -> None:
        tensor: Tensor = node.attrs["body"].outputs[k]
        port = self._checked_variable(node, k, tensor, body_env[tensor], in_body, entry=False)
        port = self._writer.token(port, in_body, node.name)
        back = self._writer.add(Kind.NEXT_ITERATION, f"{node.name}/NextIteration", (port,), in_body, source=node)
        old = self._writer.nodes[merge[0]]
        self._writer.nodes[merge[0]] = replace(old, inputs=(*old.inputs, back))

    def _checked_variable(self, node: Node, k: int, tensor: Tensor, port: Port, context: Context, entry: bool) -> Port:
        """Return ``port``, checked against the shape invariant unless the static shape proves it."""
        if self._keeps_invariant(node, k, tensor):
            return port
        return self._writer.check(
            CHECK_INVARIANT, port, context, node,
            variable=node.attrs["names"][k], loop=node.name, shape=node.attrs["invariants"][k], entry=entry,
        )  # fmt: skip

    @staticmethod
    def _keeps_invariant(node: Node, k: int, tensor: Tensor) -> bool:
        """Return whether ``tensor``, a value of loop variable ``k``, needs no check of its shape at run time."""
        shape: TensorShape = node.attrs["invariants"][k]
        return tensor.dtype == variant or tensor.shape.is_subsumed_by(shape)


def _is_only_handed_on(node: Node) -> bool:
    """Return whether a loop may go on without a kernel that has computed its condition."""
    cond, body = node.attrs["cond"], node.attrs["body"]
    tensor = cond.outputs[0]
    for k, variable in enumerate(cond.inputs[: node.attrs["n_vars"]]):
        if variable is tensor:
            tensor = body.outputs[k]
    return tensor.op.op in (PARAMETER, COND, WHILE)
