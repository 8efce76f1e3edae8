"""Small graphs for the tests of lowering and scheduler: primitives of their own, loops and branches by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from api import COND, OPAQUE, SCALAR, WHILE, Executable, Graph, Lowered, Op, Tensor, TensorShape, Traits, dtypes


def same(x: Tensor, *_: Tensor, **__: Any) -> Any:
    return x.dtype, x.shape


def boolean(*_: Tensor, **__: Any) -> Any:
    return dtypes.bool_, SCALAR


ADD = Op("add", same, lambda a, b: a + b)
MUL = Op("multiply", same, lambda a, b: a * b)
LESS = Op("less", boolean, lambda a, b: a < b)
MOD = Op("mod", same, lambda a, b: a % b)
EQUAL = Op("equal", boolean, lambda a, b: a == b)
GROW = Op("grow", lambda x: (x.dtype, TensorShape([None])), lambda x: np.concatenate([x, x]))


def probe(kernel: Callable[..., Any], name: str = "probe", **options: Any) -> Op:
    """A primitive that gives what its first input is, and does what the test wants."""
    return Op(name, same, kernel, **options)


def priced(nanoseconds: float) -> Traits:
    """The traits of an op of which only that is known."""
    return OPAQUE.but(price=lambda *_, **__: nanoseconds)


def heavy(kernel: Callable[..., Any], name: str = "heavy", **options: Any) -> Op:
    """The same, worth another thread."""
    return probe(kernel, name, traits=priced(1e9), **options)


def failing(message: str) -> Op:
    def kernel(x: Any) -> Any:
        raise ZeroDivisionError(message)

    return probe(kernel, "failing")


def call(op: Op, *inputs: Tensor, **attrs: Any) -> Tensor:
    """A node of the graph of the first input; its first output."""
    graph = next(t.graph for t in inputs if t.graph is not None)
    return graph.add(op, inputs, attrs).outputs[0]


def scalar(graph: Graph, name: str = "x", dtype: str = "int64") -> Tensor:
    return graph.parameter(np.dtype(dtype), SCALAR, name)


def const(graph: Graph, value: Any) -> Tensor:
    return graph.constant(np.asarray(value)[()])


def loop(
    graph: Graph,
    cond: Callable[..., Any],
    body: Callable[..., Any],
    inits: Sequence[Tensor],
    invariants: Sequence[TensorShape] | None = None,
    window: int = 10,
    name: str = "while",
    token: int | None = None,
) -> tuple[Tensor, ...]:
    """A While node; ``cond(graph, *vars)`` and ``body(graph, *vars)`` build the sub-graphs."""
    shapes = list(invariants or [t.shape for t in inits])
    scope = graph.unique_name(name)
    subs = []
    for part in ("cond", "body"):
        sub = Graph(f"{scope}/{part}", graph)
        for tensor, shape in zip(inits, shapes):
            sub.parameter(tensor.dtype, shape)
        subs.append(sub)
    for sub, build in zip(subs, (cond, body)):
        outputs = build(sub, *sub.inputs)
        sub.outputs = [sub.capture(t) for t in (outputs if isinstance(outputs, (list, tuple)) else [outputs])]
    captured = _line_up(subs, len(inits))
    attrs = {
        "cond": subs[0], "body": subs[1], "n_vars": len(inits), "names": tuple([f"v{i}" for i in range(len(inits))]),
        "invariants": tuple(shapes), "parallel_iterations": window, "token": token,
        "specs": [(t.dtype, s) for t, s in zip(inits, shapes)],
    }  # fmt: skip
    return graph.add(WHILE, [*inits, *captured], attrs, scope=scope).outputs


def branch(
    graph: Graph, pred: Tensor, then: Callable[[Graph], Any], orelse: Callable[[Graph], Any], name: str = "cond"
) -> tuple[Tensor, ...]:
    """A Cond node; the branches capture what they use with ``graph.capture``."""
    scope = graph.unique_name(name)
    subs = [Graph(f"{scope}/{part}", graph) for part in ("then", "else")]
    for sub, build in zip(subs, (then, orelse)):
        outputs = build(sub)
        sub.outputs = [sub.capture(t) for t in (outputs if isinstance(outputs, (list, tuple)) else [outputs])]
    captured = _line_up(subs, 0)
    specs = [(a.dtype, a.shape.most_general(b.shape)) for a, b in zip(subs[0].outputs, subs[1].outputs)]
    return graph.add(COND, [pred, *captured], {"then": subs[0], "else": subs[1], "specs": specs}, scope=scope).outputs


def _line_up(subs: Sequence[Graph], leading: int) -> list[Tensor]:
    outer: dict[Tensor, None] = {}
    for sub in subs:
        outer.update((o, None) for o, _ in sub.captured_inputs())
    for sub in subs:
        known = dict(sub.captured_inputs())
        sub.inputs = [
            *sub.inputs[:leading],
            *(known[o] if o in known else sub.parameter(o.dtype, o.shape) for o in outer),
        ]
    return list(outer)


def counted(graph: Graph, n: int, body: Callable[..., Any], inits: Sequence[Tensor], **options: Any) -> Any:
    """``for i in range(n)``: a loop whose first variable is the counter."""
    return loop(
        graph,
        lambda g, i, *_: call(LESS, i, const(g, n)),
        lambda g, i, *rest: [call(ADD, i, const(g, 1)), *body(g, i, *rest)],
        [const(graph, 0), *inits],
        **options,
    )


def called_parts(run):
    """What loops that are run as one call in place of several kernels."""
    loops = [node.value._run for node in run.plan.nodes if node.kind.name == "WHOLE" and node.value._run is not None]
    return [one for loop in loops for name, one in loop.__globals__.items() if name[0] == "p" and name[1:].isdigit()]


def node_by_node(lowered: Lowered) -> Executable:
    """What runs a graph with a step for each kernel."""
    made = Executable(lowered)
    made._ways.plan = made._ways.node_by_node()
    return made
