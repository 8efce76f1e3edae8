"""How much is written out of a long ``for`` before it is a loop of the graph."""

import autoloop as al
import numpy as np
import pytest
from api import nodes_inside
from test_long_ranges import nested, triangle


def size_of(f, *args):
    return sum(1 for _ in nodes_inside(al.function(f).get_concrete_function(*args).graph))


def cube(x):
    out = np.zeros((20, 20, 20))
    for i in range(20):
        for j in range(20):
            for k in range(20):
                out[i, j, k] = np.cosh(x[i] * x[j] + x[k]) + np.sin(x[i] - x[k]) * x[j]
    return out


def late(x):
    """What a loop does to its variables is only seen when it has made some turns."""
    kept, total = 0, 0.0
    for k in range(400):
        if k == 2:
            kept = x[1]
        if k > 3:
            total = total + np.cosh(kept * x[0]) * 0.01
        else:
            total = total + np.cosh(x[1]) + np.sinh(x[0]) + np.cos(x[2]) + np.sin(x[1])
    return total, kept


def from_a_number(x):
    y = 0
    for k in range(300):
        y = y * 0.5 + x[k % 3] + np.cosh(k * 0.001) + np.sin(y)
    return y


def one_behind(x):
    y, z = x[0], 0
    for _ in range(300):
        y, z = y * 0.5 + np.cosh(z * 0.001) + np.sin(y), y
    return y


def wider(x):
    y = x[:1]
    for k in range(300):
        y = y * 0.5 + x + np.cosh(k * 0.001) + np.sin(y)
    return y


def test_what_is_written_out_of_loops_inside_loops_is_little():
    """One turn of each: what is multiplied shows that it is long."""
    x = np.linspace(0.0, 1.0, 20)
    graph = al.function(cube).get_concrete_function(x).graph
    assert sum(node.op.name == "cosh" for node in nodes_inside(graph)) == 2**3
    np.testing.assert_array_equal(al.function(cube, executor="sequential")(x), cube(x))


@pytest.mark.parametrize("f", [late, from_a_number, one_behind, wider])
def test_loops_that_settle_late_are_of_the_graph_too(f):
    x = np.array([0.1, 0.2, 0.3])
    assert size_of(f, x) < 150
    given, plain = al.function(f, executor="sequential")(x), f(x)
    for one, other in zip(np.atleast_1d(given), np.atleast_1d(plain), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_loops_that_grow_by_themselves_are_of_the_graph():
    for f in (triangle, nested):
        assert size_of(f, np.eye(60)) < 1_000
        assert size_of(f, np.eye(60)) < 1.2 * size_of(f, np.eye(40))


def scaled(x, unroll):
    for k in range(12):
        al.set_loop_options(unroll=unroll)
        x = x * 0.5 + k
    return x


def rows_of(x):
    total = 0.0
    for row in x:
        al.set_loop_options(unroll=True)
        total = total + row
    return total


def test_the_user_decides():
    x = np.array([1.0, 2.0])
    for unroll, said in ((True, "unrolled"), (False, "converted"), (None, "unrolled")):
        assert np.array_equal(al.function(scaled)(x, unroll), scaled(x, unroll))
        loops = al.explain(scaled, x, unroll).loops
        assert said in str(loops[0 if len(loops) == 1 else -1]) and loops[0].count == 12
    assert "unrolled" in str(al.explain(rows_of, x)) and al.function(rows_of)(x) == rows_of(x)
