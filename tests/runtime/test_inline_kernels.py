"""What generated loops and batches write in Python's words in place of calls of kernels: the same values and dtypes."""

from __future__ import annotations

import operator

import autoloop as al
import numpy as np
import pytest
from api import Executable, Graph, batch_step, loop_walk, lower

DTYPES = ["float64", "float32", "float16", "int64", "int32", "int8", "uint8", "complex64"]
SIGNS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "ge", "eq", "ne"]
N = np.int32(3)


def same(one, other):
    assert one.dtype == other.dtype and np.shape(one) == np.shape(other) and type(one) is type(other)
    assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


def ran(build, *values):
    """What a graph gives; it has a loop that is run as one, and batches."""
    graph = Graph("inline")
    with graph.as_default():
        given = [graph.parameter(v.dtype, al.TensorShape(np.shape(v)), f"x{k}") for k, v in enumerate(values)]
        executable = Executable(lower(graph, build(*given), given))
    executable.run(values)
    return executable.run(values), executable


def looped(n, step, x):
    """``step`` in each iteration; gives what the last one made of ``x``."""
    first = step(x)
    return al.while_loop(lambda i, _: i < n, lambda i, _: (i + 1, step(x)), [al.constant(0), first])[1]


@pytest.fixture(autouse=True)
def no_walks(monkeypatch):
    """Functions are generated for the first run."""
    monkeypatch.setattr(batch_step, "FIRST", 0)
    monkeypatch.setattr(loop_walk, "FIRST", 0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sign", SIGNS)
def test_operators_beside_arrays(sign, dtype):
    if dtype == "complex64" and sign in ("floordiv", "mod", "lt", "ge"):
        pytest.skip("not defined")
    f, x = getattr(operator, sign), np.array([3, 1, 0, 2, 5], dtype)
    for number in (np.array(2, dtype)[()], np.array(3, dtype)[()]):

        def build(x, y, n, number=number):
            known, inside = al.constant(number), looped(n, lambda x: f(x, y), x)
            return [f(x, known), f(known, x), f(x, y), f(y, x), inside, looped(n, lambda x: f(known, x), x)]

        with np.errstate(all="ignore"):
            found, _ = ran(build, x, number, N)
            for one, other in zip(found, [f(x, number), f(number, x)] * 2 + [f(x, number), f(number, x)], strict=True):
                same(one, other)


def test_numbers_that_come_as_arrays_without_axes():
    x = np.arange(5.0)
    found, _ = ran(lambda x, y, n: [x * y + 1.0, y * y, looped(n, lambda x: x * y, x)], x, np.array(0.5), N)
    for one, other in zip(found, [x * 0.5 + 1.0, np.float64(0.25), x * 0.5], strict=True):
        same(one, other)


PARTS = {
    "element": lambda x, k: x[0, 2],
    "row": lambda x, k: x[1],
    "last": lambda x, k: x[-1, -1],
    "by a number": lambda x, k: x[k],
    "by two": lambda x, k: x[k, 1],
    "slice": lambda x, k: x[0:2, 1],
    "steps": lambda x, k: x[::-1, ::2],
    "to a number": lambda x, k: x[:k],
    "dots": lambda x, k: x[..., 1],
    "all dots": lambda x, k: x[0, 1, ...],
    "new axis": lambda x, k: x[None, 0],
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_arrays(name):
    part, x, k = PARTS[name], np.arange(12.0).reshape(3, 4), np.int64(1)
    found, _ = ran(lambda x, k, n: [part(x, k) * 2, part(x, k), looped(n, lambda x: part(x, k), x)], x, k, N)
    want = part(x, k)[()] if np.ndim(part(x, k)) == 0 else part(x, k)
    for one, other in zip(found, [want * 2, want, want], strict=True):
        same(one, other)


def test_a_place_that_is_not_there_is_told_with_its_line():
    x = np.arange(3.0)
    with pytest.raises(IndexError, match="iteration 3") as caught:
        f = al.function(lambda x, n: al.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + x[i]), [0, x[0]])[1],
                        autograph=False, executor="dataflow")  # fmt: skip
        f(x, np.int32(5))
    assert "out of bounds" in str(caught.value)


@pytest.mark.parametrize("source", ["bool", "int8", "int64", "uint64", "float16", "float32", "float64"])
@pytest.mark.parametrize("to", ["float16", "float32", "float64", "int64", "complex128"])
def test_conversions_of_numbers(source, to):
    largest = {"int64": 2**53 + 1, "uint64": 2**64 - 2**10}
    for number in [0, 1, 77, largest.get(source, 3)]:
        x = np.array(number, source)[()]
        found, _ = ran(lambda x, n: [al.cast(x, to), looped(n, lambda x: al.cast(x, to), x)], x, N)
        with np.errstate(all="ignore"):
            for one in found:
                same(one, x.astype(to))


def test_nobody_calls_for_an_element():
    """Of what is read element by element nothing but NumPy's own is called."""
    x = np.arange(12.0).reshape(3, 4)
    _, executable = ran(lambda x, n: [looped(n, lambda x: x[0, 1] + x[1, 2] * al.cast(n, al.float64), x)], x, N)
    (loop,) = [node.value._run for node in executable.plan.nodes if node.kind.name == "WHOLE"]
    assert not [name for name in loop.__globals__ if name[0] == "k" and name[1:].isdigit()]
