"""Generated Python fails as the graph does: at the operation, its line and its iterations."""

from __future__ import annotations

import ast
import random

import numpy as np
import pytest
from api import (
    Op,
    TensorShape,
    apply,
    call,
    control_flow,
    dtypes,
    emit,
    gradients,
    optimize,
)
from graphs import run, traced
from random_programs import Program, interpret
from test_codegen import N, X, code


def _line_of(error):
    """The innermost line of this file in the traceback, as text."""
    lines = []
    entry = error.__traceback__
    while entry is not None:
        if entry.tb_frame.f_code.co_filename == __file__:
            lines.append(entry.tb_lineno)
        entry = entry.tb_next
    with open(__file__) as file:
        return file.readlines()[lines[-1] - 1].strip()


def test_a_failure_names_operation_line_and_iterations():
    def inner(j, s, x):
        return j + 1, s + x[j] * 2.0

    def body(i, x):
        _, s = control_flow.while_loop(lambda j, s: j < i, lambda j, s: inner(j, s, x), (0, 0.0), name="inner")
        return i + 1, x + s

    graph = traced(lambda x: control_flow.while_loop(lambda i, x: i < 9, body, (0, x), name="outer")[1], X)
    for version in (graph, optimize(graph)):
        with pytest.raises(IndexError) as caught:
            run(version, np.ones(4, np.float32))
        (note,) = caught.value.__notes__
        assert "(getitem)" in note and "iteration 4 of the loop 'outer/body/inner'" in note
        assert note.index("iteration 4") < note.index("iteration 5 of the loop 'outer'")
        assert _line_of(caught.value) == "return j + 1, s + x[j] * 2.0"


def test_a_failure_in_a_nested_expression_is_the_inner_operations():
    graph = traced(lambda x, y: call("tanh", x + y) * 2.0, X, ("y", dtypes.float32, [None]))
    assert "return [np.tanh(x + y) * float32_2]" in code(graph)
    with pytest.raises(ValueError, match="broadcast") as caught:
        run(graph, np.ones(2, np.float32), np.ones(3, np.float32))
    assert "(add)" in caught.value.__notes__[0]


def test_a_loop_variable_must_keep_its_invariant():
    grow = Op("grow", lambda x: (x.dtype, TensorShape(None)), lambda x: np.concatenate([x, x]))

    def body(i, x):
        y = apply(grow, [x])
        y.set_shape([2])
        return i + 1, y

    def build(x):
        return control_flow.while_loop(lambda i, x: i < 3, body, (0, x), (TensorShape([]), TensorShape([2])))[1]

    with pytest.raises(ValueError, match=r"set_shape promised shape \(2,\).* has shape \(4,\)") as caught:
        run(traced(build, ("x", dtypes.float32, [2])), np.ones(2, np.float32))
    assert "iteration 0" in caught.value.__notes__[0]


def test_an_entry_value_must_fit_the_invariant():
    def build(x):
        return control_flow.while_loop(
            lambda i, x: i < 3, lambda i, x: (i + 1, x + 1.0), (0, x), (TensorShape([]), TensorShape([2]))
        )[1]

    graph = traced(build, X)
    assert run(graph, np.zeros(2, np.float32))[0].tolist() == [3, 3]
    with pytest.raises(ValueError, match="variable 'x' of the loop 'while' has shape .*shape_invariants="):
        run(graph, np.ones(3, np.float32))


def test_a_condition_must_be_a_scalar():
    graph = traced(lambda p: control_flow.cond(p, lambda: np.int32(1), lambda: np.int32(2)), ("p", dtypes.bool_, None))
    assert run(graph, np.array(True)) == [1]
    with pytest.raises(ValueError, match="must be a scalar"):
        run(graph, np.array([True, False]))


def test_a_placeholder_that_is_no_input_is_refused():
    graph = traced(lambda n: n + 1, N)
    graph.inputs = []
    with pytest.raises(ValueError, match="feed it"):
        emit(graph)


def test_emitted_source_is_valid_and_names_everything_it_uses():
    for seed in range(20):
        emitted = emit(optimize(Program(random.Random(seed)).graph))
        tree = ast.parse(emitted.source)
        loaded = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        defined = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
        arguments = {a.arg for a in ast.walk(tree) if isinstance(a, ast.arg)}
        assert loaded - stored - arguments - defined <= set(emitted.namespace) | {"abs", "max", "min", "range"}
        assert not stored & set(emitted.namespace)


def test_checkpoints_are_kept_when_they_are_due():
    def slope(x, n):
        options = {"gradient_memory": 3}
        y = control_flow.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, call("sin", y) * y), (0, x), **options)[1]
        return [y, *gradients(call("sum", y), [x])]

    graph = optimize(traced(slope, ("x", dtypes.float64, [1000]), N))
    made = code(graph)
    assert "if i == checkpoints_y.due:\n            checkpoints_y.add(i, y)" in made
    assert "if done == checkpoints.due:\n                checkpoints.add(done, y_1)" in made
    assert "AddCheckpoint(" not in made
    for n in (0, 1, 5, 40):
        values = [np.linspace(0.5, 1.0, 1000), np.int32(n)]
        for found, expected in zip(run(graph, *values), interpret(graph, values)):
            np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_what_a_gradient_needs_is_appended():
    def slope(x, n):
        with_n = control_flow.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, call("sin", y) * y), (0, x))[1]
        return [with_n, *gradients(call("sum", with_n), [x])]

    graph = optimize(traced(slope, ("x", dtypes.float64, [3]), N))
    assert ".append(y)" in code(graph) and "StackPush(" not in code(graph)
    for n in (0, 1, 5):
        values = [np.array([0.5, -0.25, 1.5]), np.int32(n)]
        np.testing.assert_allclose(run(graph, *values), interpret(graph, values), rtol=1e-15)
        np.testing.assert_array_equal(run(graph, *values), run(graph, *values))  # each run has a list of its own
