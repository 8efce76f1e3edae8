"""Forward mode: tangents computed beside the values, so nothing has to be saved.

No op has a forward rule. Its reverse rule is linear in the gradient it is given, and the transpose of that linear
function is the forward rule: the reverse walk over the few nodes that the reverse rule builds (J. Townsend, "A new
trick for calculating Jacobian vector products", 2017). Loops get their tangents as further loop variables, branches as
further results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .. import ops
from ..analysis.needed import needed_nodes
from ..base import nest
from ..base.callbacks import watched
from ..collections import accumulators
from ..collections.variables import Variable
from ..ir.array_storage import give_in_place_of
from ..ir.convert import convert_to_tensor
from ..ir.graph import PARAMETER, Graph, Node, current_graph
from ..ir.number_operators import carried, number_type
from ..ir.stages import Stage, come_to
from ..ir.structured import COND, WHILE, LoopVar, StructureError
from ..ir.tensor import Tensor
from ..ir.tracers import Kind, kind_of, marked
from ..ir.traits import NO_GRADIENT
from ..running.prepare import prepare, run_graph, set_outputs
from . import rewriting
from .activity import Key, Marks, is_differentiable, reached, reached_in_branch, reached_in_loop
from .rematerialize import sorted_nodes
from .walk import Adjoints, Walk, apply_rule, nothing


class Pushforward:
    """Tangents of the tensors of one graph, built into it.

    Attributes
    ----------
    tangents : dict
        Of the tensors (or sources) that have one that is not zero.
    """

    def __init__(self, graph: Graph, reached: set[Tensor], marks: Marks, tangents: dict[Key, Tensor]) -> None:
        self.graph = graph
        self.reached = reached
        self.marks = marks
        self.tangents = tangents

    def of(self, tensor: Tensor) -> Tensor | None:
        """Return the tangent of ``tensor``; ``None`` if it is zero."""
        return self.tangents.get(self.marks.key(tensor))

    def run(self) -> None:
        """Find the tangents of all nodes there are."""
        with rewriting.building(self.graph):
            for node in list(self.graph.nodes):
                if node.op.vjp is NO_GRADIENT or not any(t in self.reached for t in node.outputs):
                    continue
                if node.op is WHILE:
                    self._while(node)
                elif node.op is COND:
                    self._cond(node)
                elif accumulators.is_sum(node):
                    self._sum(node)
                else:
                    self._plain(node)
        # the tangents of what goes into a loop were built after the loop
        self.graph.nodes = sorted_nodes(self.graph.nodes)

    def _sum(self, node: Node) -> None:
        total = accumulators.tangent(node, [self.of(t) for t in node.inputs])
        if total is not None:
            self.tangents[node.outputs[0]] = total

    def _plain(self, node: Node) -> None:
        graph, first = self.graph, len(self.graph.nodes)
        inputs, outputs = node.operands, node.results
        stand_ins = [_stand_in(t) if t in self.reached else None for t in outputs]
        made = [(t, g) for t, g in zip(outputs, stand_ins) if g is not None]
        given = [self.of(t) for t in inputs]
        parts = apply_rule(node, stand_ins, outputs, inputs)
        rule = graph.nodes[first:]
        marks = Marks((), ())
        walk = Walk(graph, reached(rule, [g for _, g in made], marks), marks, Adjoints())
        for part, tangent in zip(parts, given):
            if tangent is not None:
                walk.add_to(part, tangent)
        walk.run(rule)
        totals = [(t, walk.adjoints.total(g)) for t, g in made]
        self.tangents.update((t, total) for t, total in totals if total is not None)
        new = graph.nodes[first:]
        found = needed_nodes([total for _, total in totals if total is not None], among=frozenset(new))
        kept = [node for node in new if node in found]
        real = {g: t for t, g in made}
        # what still refers to a stand-in asks for its shape, which is that of the output
        graph.nodes[first:] = [
            one if real.keys().isdisjoint(one.inputs) else one.instead(inputs=[real.get(t, t) for t in one.inputs])
            for one in kept
        ]

    def _while(self, node: Node) -> None:
        body: Graph = node.attrs["body"]
        variables, inside = reached_in_loop(node, self.reached, self.marks)
        moving = sorted(variables)
        names, shapes = node.attrs["names"], node.attrs["invariants"]
        loop_vars = [
            LoopVar(f"tangent_{names[k]}", _or_zero(self.of(node.inputs[k]), node.inputs[k]), shapes[k]) for k in moving
        ]
        captured = list(zip(node.inputs, body.inputs))[node.attrs["n_vars"] :]

        def step(parameters: Sequence[Tensor]) -> list[Tensor]:
            tangents: dict[Key, Tensor] = {body.inputs[k]: p for k, p in zip(moving, parameters)}
            self._enter(body, captured, tangents)
            inner = Pushforward(body, inside, self.marks, tangents)
            inner.run()
            return [_or_zero(inner.of(body.outputs[k]), body.outputs[k]) for k in moving]

        first = rewriting.add_variables(node, loop_vars, step)
        outputs = node.now.outputs
        self.tangents.update((outputs[k], outputs[first + i]) for i, k in enumerate(moving))

    def _cond(self, node: Node) -> None:
        branches = (node.attrs["then"], node.attrs["else"])
        inner = []
        for branch in branches:
            tangents: dict[Key, Tensor] = {}
            self._enter(branch, list(zip(node.inputs[1:], branch.inputs)), tangents)
            inside = reached_in_branch(node, branch, self.reached, self.marks)
            inner.append(Pushforward(branch, inside, self.marks, tangents))
            inner[-1].run()
        for k, output in enumerate(node.outputs):
            found = [p.of(b.outputs[k]) for p, b in zip(inner, branches)]
            if output not in self.reached or all(one is None for one in found):
                continue
            values = []
            for branch, tangent in zip(branches, found):
                with rewriting.building(branch):
                    values.append(_or_zero(tangent, branch.outputs[k]))
            position = rewriting.add_result(node, values[0], values[1])
            self.tangents[output] = node.now.outputs[position]

    def _enter(self, graph: Graph, captured: Iterable[tuple[Tensor, Tensor]], tangents: dict[Key, Tensor]) -> None:
        """Add the tangents of what ``graph`` has captured, and of the sources that show up in it."""
        for outer, inner in captured:
            tangent = self.of(outer)
            if tangent is not None:
                tangents[inner] = graph.capture(tangent)
        for key in self.marks.inside(graph):
            if key in self.tangents:
                tangents[key] = graph.capture(self.tangents[key])


def _or_zero(tangent: Tensor | None, like: Tensor) -> Tensor:
    return nothing(like) if tangent is None else tangent


def _stand_in(like: Tensor) -> Tensor:
    """Return a gradient to give to a rule; nothing that is kept depends on its value."""
    graph = current_graph()
    assert graph is not None
    node = Node(graph, PARAMETER, (), {}, [(like.dtype, like.shape)], "stand_in", ())
    return node.outputs[0]


def tangents(ys: Sequence[Tensor], xs: Sequence[Tensor], directions: Sequence[Tensor]) -> list[Tensor | None]:
    """Return the derivatives of ``ys`` when each of ``xs`` moves in its direction.

    ``xs`` are of the current graph, the others may also be of one around it, or values.
    """
    graph = current_graph()
    assert graph is not None
    ys, directions = [graph.capture(y) for y in ys], [graph.capture(d) for d in directions]
    marks = Marks([graph], xs)
    push = Pushforward(graph, reached(graph.nodes, xs, marks), marks, dict(zip(xs, directions)))
    push.run()
    graph.root.strict = False
    come_to(graph, Stage.DIFFERENTIATED)
    return [push.of(y) for y in ys]


def jvp(f: Callable[..., Any], primals: Sequence[Any], directions: Sequence[Any]) -> tuple[Any, Any]:
    """Return the value of ``f`` and its derivative in a direction, computed together (forward mode).

    Parameters
    ----------
    f : callable
    primals : sequence
        Its arguments: structures of floating tensors.
    directions : sequence
        In the structures of ``primals``.

    Returns
    -------
    value, derivative
        Both in the structure that ``f`` returns; a result without derivative (an integer) gets zeros. Takes no more
        memory for a loop of many iterations than for one of few. Outside a function ``f`` is traced and run at once.

    Examples
    --------
    >>> value, slope = al.jvp(lambda x: x * x, (al.constant(3.0),), (al.constant(1.0),))
    >>> print(value, slope)
    Tensor(9.0, shape=(), dtype=float32) Tensor(6.0, shape=(), dtype=float32)
    """
    leaves, structure = nest.flatten_with_structure(list(primals))
    moves, found = nest.flatten_with_structure(list(directions))
    if found != structure:
        raise StructureError(
            f"the directions must have the structure of the arguments, {structure}, not {found} [AL404]"
        )
    xs = [carried(x) if number_type(x) in (float, complex) else convert_to_tensor(x) for x in leaves]
    kinds = [kind_of((x,)) for x in leaves]
    vs = [convert_to_tensor(v, x.dtype) if not isinstance(v, Tensor) else v for x, v in zip(xs, moves)]
    for x, v in zip(xs, vs):
        if x.dtype.kind not in "fc":
            raise TypeError(f"jvp needs floating arguments, got dtype {x.dtype} [AL401]")
        if v.dtype != x.dtype or not v.shape.is_compatible_with(x.shape):
            raise TypeError(
                f"an argument has shape {x.shape} and dtype {x.dtype}, its direction {v.shape} and {v.dtype} [AL404]"
            )
    if current_graph() is not None:
        return _jvp(f, structure, [ops.identity(x) for x in xs], vs, kinds, leaves)
    graph = Graph(ordered=True)
    with watched(f, primals), graph.as_default():
        inside = [graph.parameter(t.dtype, t.shape) for t in (*xs, *vs)]
        answer = _jvp(f, structure, inside[: len(xs)], inside[len(xs) :], kinds)
        parts, form = nest.flatten_with_structure(answer)
        set_outputs(graph, [convert_to_tensor(part) for part in parts])
    results = run_graph(graph, prepare(graph), [*xs, *vs])
    made: tuple[Any, Any] = nest.unflatten(form, [marked(kind_of((p,)), r) for p, r in zip(parts, results)])
    return made


def _jvp(
    f: Callable[..., Any], structure: Any, xs: list[Tensor], vs: list[Tensor], kinds: Sequence[Kind],
    arrays: Sequence[Any] = (),
) -> tuple[Any, Any]:  # fmt: skip
    primals = list(map(marked, kinds, xs))
    give_in_place_of(arrays, primals)
    # what is no array has no memory to note that in: the caller gets what was given, as soon as this is over
    same = [pair for pair in zip(primals, arrays) if isinstance(pair[1], Variable)]
    with watched(f, arrays, same=same):
        value = f(*nest.unflatten(structure, primals))
    leaves, form = nest.flatten_with_structure(value)
    ys = [convert_to_tensor(y) for y in leaves]
    wanted = [y for y in ys if is_differentiable(y)]
    found = dict(zip(wanted, tangents(wanted, xs, vs)))
    moved = [ops.zeros_like(y) if found.get(y) is None else found[y] for y in ys]
    given = [kind_of((y,)) for y in leaves]
    return nest.unflatten(form, map(marked, given, ys)), nest.unflatten(form, map(marked, given, moved))
