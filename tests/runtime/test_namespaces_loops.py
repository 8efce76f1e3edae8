"""Loops, what they collect, and their gradients over arrays of other libraries: the same as over NumPy's."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from api import Executable, in_namespace, lower, namespace_of
from test_namespaces_every_op import LIBRARIES, nothing_is_computed

_rng = np.random.default_rng(5)
X, W = _rng.normal(0, 0.5, 4), _rng.normal(0, 0.4, (4, 4))
ROWS = _rng.normal(0, 1, (5, 4))


def recurrent(x, w):
    for _ in range(12):
        x = np.tanh(w @ x) + 0.1 * x
    return (x * x).sum()


def until_small(x, w):
    n = 0
    while np.abs(x).sum() > 0.05:
        x = 0.5 * x - 0.1 * (w @ x)
        n += 1
    return (x * x).sum() * n


def collected(x, w):
    seen = []
    for i in range(6):
        x = np.sin(w @ x)
        if i % 2 == 0:
            seen.append(x * i)
    return (np.stack(seen) ** 2).sum()


def branched(x, w):
    total = 0.0
    for i in range(9):
        if x.sum() > 0:
            x = x * 0.7 - 0.2
        else:
            x = x + w[i % 4]
        total = total + x[i % 4] * i
    return total + (x * x).sum()


def nested(x, w):
    total = x.sum()
    for i in range(4):
        y = x * i
        j = 0
        while y.sum() * y.sum() < 30 and j < 7:
            y = y * 1.4 + 0.3 * w[j % 4]
            j += 1
        total = total + np.sqrt((y * y).sum() + 1)
    return total


def written(x, w):
    made = al.TensorArray(al.float64, 5)
    for i in al.range(5):
        made = made.write(i, w @ x + al.cast(i, al.float64))
    return al.sum(made.stack() ** 2) + al.sum(made.read(2))


def mapped(x, w):
    rows = al.map_fn(lambda row: al.sin(row) * x, w)
    states = al.scan(lambda s, row: al.tanh(s * 0.5 + row), w, x)
    return al.sum(rows * states)


def many_rows(x, w):
    return al.sum(al.vectorized_map(lambda row: al.tanh(row @ w) * x, w))


def remembered(x, w):
    @al.remat
    def step(x):
        return np.tanh(w @ x) * 1.1

    for _ in range(5):
        x = step(x)
    return (x * x).sum()


def swapped(x, w):
    def body(i, x):
        return i + 1, al.tanh(al.linalg.matmul(w, x)) * 1.2

    _, x = al.while_loop(lambda i, x: i < 6, body, (al.constant(0), x), swap_memory=True)
    return al.sum(x * x)


def twice(x, w):
    return (al.grad(recurrent)(x, w) ** 2).sum()


PROGRAMS = {
    f.__name__: f
    for f in (
        recurrent,
        until_small,
        collected,
        branched,
        nested,
        written,
        mapped,
        many_rows,
        remembered,
        swapped,
        twice,
    )
}
EAGER = [name for name in LIBRARIES if name != "dask"]


def over(library, f, *arrays):
    """What ``f`` gives over arrays of a library: as NumPy's, the arrays, and over NumPy's own."""
    of, back = LIBRARIES[library]
    given = [of(x) for x in arrays]
    function = al.function(f, executor="dataflow").get_concrete_function(*arrays)
    graph = function.runner.graph
    namespace = namespace_of(given[0])
    run = Executable(in_namespace(lower(graph, graph.outputs, graph.inputs), namespace)).run
    made = [run(given, threads=threads) for threads in (1, 2)]
    plain = Executable(lower(graph, graph.outputs, graph.inputs)).run(list(arrays))
    return [[back(one) if namespace.holds(one) else one for one in several] for several in made], made[0], plain


@pytest.mark.parametrize("library", EAGER)
@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name, library):
    found, theirs, expected = over(library, PROGRAMS[name], X, W)
    assert isinstance(theirs[0], type(LIBRARIES[library][0](X)))
    for several in found:
        for made, there in zip(several, expected, strict=True):
            np.testing.assert_allclose(made, there, rtol=1e-12)


@pytest.mark.parametrize("library", EAGER)
@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients(name, library):
    found, theirs, expected = over(library, al.grad(PROGRAMS[name], (0, 1)), X, W)
    assert all(isinstance(one, type(LIBRARIES[library][0](X))) for one in theirs)
    for several in found:
        for made, there in zip(several, expected, strict=True):
            np.testing.assert_allclose(made, there, rtol=1e-10, atol=1e-13)


#: those that decide nothing by their arrays: nothing of them is computed before somebody asks
UNDECIDED = ("recurrent", "collected", "written", "mapped", "many_rows", "remembered", "swapped", "twice")


@pytest.mark.parametrize("name", UNDECIDED)
def test_values_and_gradients_that_are_computed_later(name):
    of, back = LIBRARIES["dask"]
    given, f = [of(X), of(W)], PROGRAMS[name]
    graph = al.function(al.value_and_grad(f, (0, 1)), executor="dataflow").get_concrete_function(X, W).runner.graph
    lowered = lower(graph, graph.outputs, graph.inputs)
    with nothing_is_computed():
        made = Executable(in_namespace(lowered, namespace_of(given[0]))).run(given)
    assert all(isinstance(one, type(given[0])) for one in made)
    for one, there in zip(made, Executable(lowered).run([X, W]), strict=True):
        np.testing.assert_allclose(back(one), there, rtol=1e-10, atol=1e-13)
