"""Printing, assertions, errors and the user's own functions."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest
from api import OPS, Graph, TensorShape, constant, dtypes, ops
from ops_checks import check_gradient, check_static, computed


def test_print(capsys):
    x = constant([1.0, 2.5])
    ops.print("x =", x, [x[0], 2], {"k": constant(3)}, (None, "s"), sep=" | ", end="!\n")
    assert capsys.readouterr().out == "x = | [1.  2.5] | [1.0, 2] | {'k': 3} | (None, 's')!\n"
    ops.print()
    assert capsys.readouterr().out == "\n"
    ops.print(x, output_stream=sys.stderr)
    ops.print("a", output_stream="stderr")
    assert capsys.readouterr().err == "[1.  2.5]\na\n"


def test_print_to_files(tmp_path):
    path = tmp_path / "log"
    ops.print(constant(1), output_stream=f"file://{path}")
    with path.open("a") as file:
        ops.print(constant(2), output_stream=file)
    assert path.read_text() == "1\n2\n"
    with pytest.raises(ValueError, match="output_stream"):
        ops.print(1, output_stream="nowhere")


def test_effects_are_ordered_by_tokens(capsys):
    graph = Graph(ordered=True)
    p = graph.parameter(dtypes.int32, TensorShape([]))
    with graph.as_default():
        ops.print("first", p)
        q = ops.py_function(lambda v: v + 1, [p], dtypes.int32)
        ops.assert_true(q > 0)
        ops.print("second", q)
    effects = [n for n in graph.nodes if n.op.effect]
    assert [n.op.name for n in effects] == ["print", "py_function", "assert", "print"]
    for before, after in zip(effects, effects[1:]):
        assert after.inputs[-1] is before.outputs[-1]
    (value, _) = computed(graph, [q, graph.token], [np.int32(4)])
    assert value == 5
    assert capsys.readouterr().out == "first 4\nsecond 5\n"


def test_format():
    (s,) = check_static(lambda x, y: ops.format_string("{:.2f} {!r:>4}|{{}}", x, y), np.float32(1.23456), np.int32(7))
    assert str(s.numpy()) == "1.23    7|{}"
    assert ops.format_string("none").numpy() == "none"


def test_print_through(capsys):
    x = constant([1, 2, 3, 4])
    y = ops.Print(x, [x[0]], "x:")
    assert y.numpy().tolist() == [1, 2, 3, 4]
    ops.Print(x, [x, x[1]])
    ops.Print(x, [x], summarize=-1)
    assert capsys.readouterr().err == "x:[1]\n[1 2 3...][2]\n[1 2 3 4]\n"
    graph = Graph()
    p = graph.parameter(dtypes.int32, TensorShape([]))
    with graph.as_default():
        q = ops.Print(p, [p], first_n=2)
    for i in range(4):
        computed(graph, [q], [np.int32(i)])
    assert capsys.readouterr().err == "[0]\n[1]\n"
    check_gradient(lambda v: ops.Print(v, [v], "", 0) * 2, [1.0, 2.0])


def test_assertions():
    ops.assert_true(constant([True, True]))
    ops.Assert(constant(1) > 0, ["fine"])
    with pytest.raises(AssertionError, match="^$"):
        ops.assert_true(constant(False))
    with pytest.raises(AssertionError, match=r"^bad 3 \[1\]$"):
        ops.assert_true(constant([True, False]), "bad", constant(3), [constant(1)])
    with pytest.raises(AssertionError, match=r"assertion failed: x 7"):
        ops.Assert(constant(0), ["x", constant(7)])


def test_raising():
    with pytest.raises(KeyError, match="3"):
        ops.raise_error(lambda v: KeyError(int(v)), constant(3))


# -- the user's own functions -----------------------------------------------------------------------------


def test_py_function_gets_arrays_and_gives_tensors():
    seen = []

    def f(a, b):
        seen.append((type(a), type(b), a.flags.writeable))
        return a * b

    y = ops.py_function(f, [constant([1.0, 2.0]), 3.0], dtypes.float32)
    assert y.numpy().tolist() == [3, 6] and y.dtype == "float32"
    assert seen == [(np.ndarray, np.ndarray, False)]


def test_py_function_results():
    x = constant([1.0, 2.0])
    a, b = ops.py_function(lambda v: (v + 1, int(v.sum())), [x], [dtypes.float32, dtypes.int64])
    assert a.numpy().tolist() == [2, 3] and b.numpy() == 3 and b.dtype == "int64"
    (c,) = ops.py_function(lambda v: [v], [x], [dtypes.float32])
    assert c.shape == [2]
    assert ops.py_function(lambda v: None, [x], []) is None
    assert ops.py_function(lambda v: None, [x], None) is None
    assert ops.py_function(lambda: 2, [], dtypes.float32).dtype == "float32"
    assert ops.py_function(lambda: np.float64(2), [], dtypes.float32).dtype == "float32"
    assert ops.py_function(lambda: [1.5, 2], [], dtypes.float64).numpy().tolist() == [1.5, 2]
    assert ops.py_function(lambda: constant(2.0), [], dtypes.float32).numpy() == 2
    assert ops.py_function(lambda: "text", [], dtypes.string).numpy() == "text"
    (s,) = check_static(lambda v: ops.py_function(np.cumsum, [v], v.dtype), np.array([1.0, 2.0]))
    assert s.numpy().tolist() == [1, 3]


@pytest.mark.parametrize("result,types,error,match", [
    (lambda: np.ones(2), dtypes.float32, TypeError, "float64.*float32"),
    (lambda: 1.5, dtypes.int32, TypeError, "int32"),
    (lambda: None, dtypes.int32, TypeError, "None"), (lambda: 1, [dtypes.int32] * 2, ValueError, "1 values"),
    (lambda: (1, 2, 3), [dtypes.int32] * 2, ValueError, "3 values"), (lambda: 300, dtypes.uint8, OverflowError, "300"),
    (lambda: "a", dtypes.int32, TypeError, "int32"),
])  # fmt: skip
def test_py_function_checks_its_results(result, types, error, match):
    with pytest.raises(error, match=match):
        ops.py_function(result, [], types)


def test_py_function_in_a_graph_has_unknown_shape():
    graph = Graph()
    with graph.as_default():
        y = ops.py_function(lambda: np.ones(3), [], dtypes.float64)
        assert y.shape.rank is None
        y.set_shape([3])
    assert y.op.declared[0] == [3]


def test_writing_is_in_one_piece(capsys):
    threads = [threading.Thread(target=lambda: [ops.print("abc", 1, [2]) for _ in range(50)]) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert set(capsys.readouterr().out.splitlines()) == {"abc 1 [2]"}


def test_every_effect_says_so():
    for name in ("print", "print_through", "assert", "raise", "py_function", "random_normal_process"):
        assert OPS[name].effect
    assert not OPS["random_normal"].effect
