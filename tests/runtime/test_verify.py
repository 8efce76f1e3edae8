"""What holds of a graph at each stage: after every pass, of programs and gradients, and that each rule can fail.

``conftest`` has the whole suite's graphs verified, wherever one comes to a stage.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import autoloop.compat.v1 as v1
import numpy as np
import pytest
from api import (
    PASSES,
    Graph,
    Kind,
    Lowered,
    Stage,
    TensorShape,
    cond,
    extension_rules,
    flat_rules,
    gradients,
    lower,
    ops,
    optimize,
    replace,
    set_outputs,
    verify,
    verifying,
    watch,
    while_loop,
)  # fmt: skip
from random_programs import Program


def verified(graph: Graph) -> Graph:
    """``graph`` after all passes, and lowered; each of them gave what holds at its stage."""
    stages: list[Stage] = []

    def look(graph: Any, stage: Stage) -> None:
        stages.append(stage)
        assert verify(graph, stage) == []

    with watch(look):
        made = optimize(graph)
        lower(made, made.outputs, made.inputs)
    assert stages == [Stage.STRUCTURED] * (1 + len(PASSES)) + [Stage.OPTIMISED, Stage.LOWERED]
    return made


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


def _stale(graph: Graph) -> None:
    _node(graph, "While").instead()


def _foreign(graph: Graph) -> None:
    graph.nodes.insert(0, Graph().constant(np.float32(0.0)).op)


def _adopted(graph: Graph) -> None:
    _node(graph, "While").attrs["body"].parent = Graph()


def _version(graph: Graph) -> None:
    other = Graph()
    other.lineage = graph.lineage
    _node(graph, "While").attrs["body"].parent = other


def _dropped_result(graph: Graph) -> None:
    graph.outputs.clear()


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
    (_loop, _stale, "which result it is"),
    (_loop, _foreign, "or an earlier version"),
    (_loop, _adopted, "or an earlier version"),
    (_loop, _version, "the very graph it stands in"),
    (_branch, _dropped_result, "a result of a conditional is read"),
]


@pytest.mark.parametrize(("build", "spoil", "says"), BROKEN)
def test_every_rule_can_fail(build: Callable[[Any], Any], spoil: Callable[[Graph], None], says: str) -> None:
    graph = verified(graph_of(build))
    spoil(graph)
    found = verify(graph, Stage.OPTIMISED)
    assert found and any(says in fault for fault in found)


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


#: rules whose broken graphs have tests of their own, above
ALONE = ["has one dtype", "takes a token last"]


def test_each_rule_is_spoiled_here() -> None:
    spoiled = [*(says for *_, says in BROKEN), *ALONE]
    assert all(any(says in rule.says for says in spoiled) for rule in verifying.RULES)


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


def test_who_holds_results_and_operations_of_a_loop_may_go_on_using_them() -> None:
    graph = v1.Graph()
    with graph.as_default(), v1.Session() as session:
        x = v1.placeholder(np.float64, [])
        i, y = v1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, x))
        operation = y.op
        first = v1.gradients(y, x)[0]
        assert session.run([y, first, i], {x: 2.0}) == [16.0, 32.0, 3]
        second, again = v1.gradients(first, x)[0], v1.gradients(y, x)[0]
        assert session.run([y, first, second, again, i], {x: 2.0}) == [16.0, 32.0, 48.0, 32.0, 3]
        assert session.run(operation, {x: 2.0}) is None and operation.outputs == (i, y)
        with graph.control_dependencies([operation]):
            assert session.run(x * 3.0, {x: 2.0}) == 6.0
        assert graph.get_operation_by_name(operation.name) is y.op is not operation


# -- the flat form ------------------------------------------------------------------------------------------


def _flat(build: Callable[[Any], Any]) -> Lowered:
    made = verified(graph_of(build))
    return lower(made, made.outputs, made.inputs)


def _with(flat: Lowered, of: Kind, **changes: Any) -> Lowered:
    """``flat`` with the first node of a kind changed."""
    node = next(n for n in flat.nodes if n.kind is of)
    nodes = list(flat.nodes)
    nodes[node.index] = replace(node, **changes)
    return replace(flat, nodes=tuple(nodes))


FLAT: list[tuple[Callable[[Lowered], Lowered], str]] = [
    (lambda f: replace(f, fetches=((len(f.nodes), 0),)), "an output that there is"),
    (lambda f: _with(f, Kind.KERNEL, inputs=((0, 5),)), "an output that there is"),
    (lambda f: replace(f, nodes=f.nodes[::-1]), "numbered in order"),
    (lambda f: _with(f, Kind.KERNEL, name=f.nodes[0].name), "a name is given once"),
    (lambda f: _with(f, Kind.SWITCH, inputs=((0, 0),)), "as many inputs and outputs"),
    (lambda f: _with(f, Kind.KERNEL, op=None), "an op if it is a kernel"),
    (lambda f: _with(f, Kind.EXIT, frame=0), "through Enter and Exit"),
    (lambda f: _with(f, Kind.SWITCH, inputs=((0, 0), (0, 0)), controls=()), "through Enter and Exit"),
    (lambda f: _with(f, Kind.KERNEL, inputs=(), controls=()), "gets a token"),
    (lambda f: _with(f, Kind.NEXT_ITERATION, kind=Kind.IDENTITY), "Enter and NextIteration"),
    (lambda f: _with(f, Kind.LOOP_COND, kind=Kind.IDENTITY), "has one condition"),
    (lambda f: replace(f, feeds=()), "nothing else, is a Feed"),
]


@pytest.mark.parametrize(("spoil", "says"), FLAT)
def test_every_rule_of_the_flat_form_can_fail(spoil: Callable[[Lowered], Lowered], says: str) -> None:
    flat = _flat(_loop)
    assert verify(flat, Stage.LOWERED) == []
    assert any(says in fault for fault in verify(spoil(flat), Stage.LOWERED))


def test_each_rule_of_the_flat_form_is_spoiled_here() -> None:
    assert all(any(says in rule.says for _, says in FLAT) for rule in flat_rules.FLAT_RULES)


# -- gradients ----------------------------------------------------------------------------------------------


def _differentiated(build: Callable[[Any], Any]) -> Graph:
    graph = graph_of(build, 1)
    assert verify(graph, Stage.DIFFERENTIATED) == []
    return graph


def _known(graph: Graph, name: str, part: str) -> Any:
    return _node(graph, name).attrs[part].record(extension_rules.Extension)


def _lost_counter(graph: Graph) -> None:
    _known(graph, "While", "body").trips = 99


def _no_counter(graph: Graph) -> None:
    _known(graph, "While", "body").trips = 1


def _lost_store(graph: Graph) -> None:
    _known(graph, "While", "body").stores = _node(graph, "While").attrs["n_vars"] - 1
    _known(graph, "While", "body").original = 2


def _no_stack(graph: Graph) -> None:
    known = _known(graph, "While", "body")
    known.saved = dict.fromkeys(known.saved, 0)


def _foreign_stack(graph: Graph) -> None:
    known = _known(graph, "While", "body")
    known.saved = {graph.inputs[0]: position for position in known.saved.values()}


def _foreign_result(graph: Graph) -> None:
    _known(graph, "Cond", "then").results[graph.inputs[0]] = 0


def _placeholder(graph: Graph) -> None:
    node = graph.outputs[0].op
    graph.exchange(node, node.instead(extension_rules.PLACEHOLDER))


GRADIENTS: list[tuple[Callable[[Any], Any], Callable[[Graph], None], str]] = [
    (_loop, _lost_counter, "among its variables"), (_loop, _no_counter, "among its variables"),
    (_loop, _lost_store, "among its variables"), (_loop, _no_stack, "its own, and handed out"),
    (_loop, _foreign_stack, "its own, and handed out"), (_branch, _foreign_result, "its own, and handed out"),
    (_loop, _placeholder, "defined in the end"),
]  # fmt: skip


@pytest.mark.parametrize(("build", "spoil", "says"), GRADIENTS)
def test_every_rule_of_gradients_can_fail(
    build: Callable[[Any], Any], spoil: Callable[[Graph], None], says: str
) -> None:
    graph = _differentiated(build)
    spoil(graph)
    assert any(says in fault for fault in verify(graph, Stage.DIFFERENTIATED))


def test_each_rule_of_gradients_is_spoiled_here() -> None:
    assert all(any(says in rule.says for *_, says in GRADIENTS) for rule in extension_rules.EXTENSION_RULES)


def test_a_stage_of_which_nobody_has_said_anything_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifying, "_rules", [])
    with pytest.raises(LookupError, match="nobody has said what holds of a graph that is lowered"):
        verify(Graph(), Stage.LOWERED)


def test_the_suite_is_told_of_a_graph_that_breaks_a_rule(every_stage: list[str]) -> None:
    graph = graph_of(_loop)
    graph.nodes.append(graph.nodes[-1])
    with pytest.raises(AssertionError, match="a node stands in its graph once"):
        optimize(graph)
    assert "stands in its graph once" in every_stage[0]
    every_stage.clear()
