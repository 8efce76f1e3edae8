"""What holds of a graph at each stage: after every pass, of programs and gradients, and that each rule can fail."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from api import PASSES, Graph, Stage, TensorShape, cond, gradients, ops, set_outputs, verify, while_loop
from random_programs import Program


def verified(graph: Graph) -> Graph:
    """``graph`` after all passes, each of which gave what holds at its stage."""
    assert verify(graph, Stage.STRUCTURED) == []
    for k, transform in enumerate(PASSES, 1):
        graph = transform(graph)
        assert verify(graph, Stage.STRUCTURED if k < len(PASSES) else Stage.OPTIMISED) == [], transform
    return graph


@pytest.mark.parametrize("seed", range(40))
def test_every_pass_keeps_what_holds(seed: int) -> None:
    verified(Program(random.Random(seed)).graph)


def _loop(x: Any) -> Any:
    return while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, ops.sin(s) * x), (0, x))[1]


def _branch(x: Any) -> Any:
    return cond(ops.sum(x) < 1.0, lambda: x * x, lambda: _loop(x))


def _deep(x: Any) -> Any:
    return while_loop(lambda i, s: ops.sum(s) < 9.0, lambda i, s: (i + 1, s + _branch(s) + 1.0), (0, x))[1]


def graph_of(build: Callable[[Any], Any], orders: int = 0) -> Graph:
    graph = Graph(ordered=True)
    with graph.as_default():
        x = graph.parameter(np.dtype(np.float64), TensorShape([4]), "x")
        y = build(x)
        for _ in range(orders):
            (y,) = gradients(y, [x])
        set_outputs(graph, [y])
    return graph


@pytest.mark.parametrize("orders", [0, 1, 2])
@pytest.mark.parametrize("build", [_loop, _branch, _deep])
def test_gradients_keep_what_holds(build: Callable[[Any], Any], orders: int) -> None:
    verified(graph_of(build, orders))


def _node(graph: Graph, name: str) -> Any:
    return next(n for n in graph.nodes if n.op.name == name)


def _of_loop(graph: Graph, **changes: Any) -> None:
    node = _node(graph, "While")
    graph.exchange(node, node.instead(attrs={**node.attrs, **changes}))


def _without_inputs(graph: Graph) -> None:
    node = _node(graph, "While")
    graph.exchange(node, node.instead(inputs=node.inputs[:-1]))


def _other_dtype(graph: Graph) -> None:
    node = _node(graph, "While")
    graph.exchange(node, node.instead(inputs=(graph.constant(np.float32(0.0)), *node.inputs[1:])))


def _other_predicate(graph: Graph) -> None:
    outputs = _node(graph, "While").attrs["cond"].outputs
    outputs[0] = _node(graph, "While").attrs["cond"].inputs[0]


def _fewer_results(graph: Graph) -> None:
    _node(graph, "Cond").attrs["then"].outputs.pop()


def _unread(graph: Graph) -> None:
    graph.constant(np.float32(0.0))


BROKEN: list[tuple[Callable[[Any], Any], Callable[[Graph], None], str]] = [
    (_loop, lambda g: g.nodes.reverse(), "read after it was made"),
    (_loop, lambda g: g.nodes.append(g.nodes[-1]), "stands in its graph once"),
    (_loop, lambda g: g.inputs.append(g.inputs[0]), "parameters, each once"),
    (_loop, lambda g: g.inputs.append(g.outputs[0]), "parameters, each once"),
    (_loop, lambda g: _of_loop(g, names=("i",)), "says as much of each variable"),
    (_loop, _without_inputs, "hands all inputs to both graphs"),
    (_loop, _other_predicate, "a predicate is a boolean"),
    (_branch, _fewer_results, "a branch takes the captured values"),
    (_loop, _unread, "a node is read"),
]


@pytest.mark.parametrize(("build", "spoil", "says"), BROKEN)
def test_every_rule_can_fail(build: Callable[[Any], Any], spoil: Callable[[Graph], None], says: str) -> None:
    graph = verified(graph_of(build))
    spoil(graph)
    assert any(says in fault for fault in verify(graph, Stage.OPTIMISED))


def test_a_variable_of_another_dtype_is_found() -> None:
    graph = graph_of(_loop)
    _other_dtype(graph)
    graph.nodes.insert(0, graph.nodes.pop())
    assert any("has one dtype" in fault for fault in verify(graph, Stage.STRUCTURED))


def test_an_effect_without_its_token_is_found() -> None:
    graph = graph_of(lambda x: (ops.print(x), x * 2.0)[1])
    node = next(n for n in graph.nodes if n.op.effect)
    assert verify(graph, Stage.STRUCTURED) == []
    graph.exchange(node, node.instead(inputs=node.inputs[:-1]))
    assert any("takes a token last" in fault for fault in verify(graph, Stage.STRUCTURED))


@pytest.mark.parametrize("what", ["op", "inputs", "outputs", "attrs", "control_inputs", "name", "location", "graph"])
def test_a_node_is_immutable(what: str) -> None:
    node = _node(graph_of(_loop), "While")
    before = getattr(node, what)
    with pytest.raises(AttributeError, match=f"is immutable: its {what} cannot be set"):
        setattr(node, what, before)
    with pytest.raises(AttributeError, match=f"is immutable: its {what} cannot be deleted"):
        delattr(node, what)
    assert getattr(node, what) is before
    with pytest.raises(AttributeError):
        node.more = 1


def test_what_a_node_refers_to_is_immutable() -> None:
    node = _node(graph_of(_loop), "While")
    with pytest.raises(TypeError, match="does not support item assignment"):
        node.attrs["n_vars"] = 1
    assert all(isinstance(getattr(node, part), tuple) for part in ("inputs", "outputs", "control_inputs", "location"))


@pytest.mark.parametrize("orders", [1, 2])
@pytest.mark.parametrize("build", [_loop, _branch, _deep])
def test_gradients_leave_the_nodes_that_were_there_as_they_were(build: Callable[[Any], Any], orders: int) -> None:
    graph = Graph(ordered=True)
    with graph.as_default():
        x = graph.parameter(np.dtype(np.float64), TensorShape([4]), "x")
        y = build(x)
        node = y.op
        held = (node.op, node.inputs, node.outputs, node.attrs, dict(node.attrs))
        for _ in range(orders):
            (dy,) = gradients(y, [x])
            (y2,) = gradients(dy, [x])
    assert (node.op, node.inputs, node.outputs, node.attrs, dict(node.attrs)) == held
    # who holds the result asks it, and is told of the node that computes it now
    assert y.op is node.now is not node
    assert y.op in graph.nodes and node not in graph.nodes
    assert y.op.outputs[y.index] is y and len(y.op.outputs) > len(node.outputs)
    assert y2.op is y2.op.now
