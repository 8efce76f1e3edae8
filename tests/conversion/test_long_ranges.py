"""A long ``for`` over a Python range is a loop of the graph, with the result that it has written out."""

import autoloop as al
import numpy as np

LONG = 4_000


def decayed(x):
    for k in range(LONG):
        x = x * 0.99 + k
    return x


def filled(x):
    out = np.zeros(LONG)
    for k in range(LONG):
        out[k] = x[k % 3] * k
    return out


def grid(x):
    for k in range(100):
        for j in range(100):
            x[(k + j) % 3] += j * 0.5
    return x


def left(x):
    total = x.sum()
    for k in range(LONG, 0, -1):
        if k % 2:
            continue
        total = total * 0.5 + k
        if k < 10:
            break
    return total


def nothing_for_the_run(x):
    count = 0
    for k in range(LONG):
        count += k
    return count * x


def listed(x):
    made = []
    for k in range(2_600):
        made.append(x[k % 3] + k)
    return made[-1], len(made)


def looked_up(x):
    names = {k: k % 5 for k in range(2_600)}
    total = x[0]
    for k in range(2_600):
        total = total + names[k] * x[1]
    return total


def settled(x):
    norm, turns = 0, -1
    for turns in range(300):
        x = x * 0.9 + np.sin(x) * 0.01
        new = np.sqrt(x @ x)
        if abs(new - norm) < 1e-7:
            break
        norm = new
    return norm, turns


def found(x):
    for k in range(300):
        x = x - 0.1 * (x**3 - x - 2) / (3 * x**2 + 1)
        if abs(x - 1.5213797068045676).max() < 1e-3:
            return x, k
    return x * 0, -1


def not_found(x):
    for k in range(2, 300, 2):
        y = np.sin(x) * k + np.cos(x)
        if y.sum() > 1e9:
            z = y
            break
    else:
        z = x
    return y, z, k


def in_place(x):
    row = x[1:]
    for k in range(300):
        row += np.sin(row) * 0.1
        x[k % 3] *= 0.999
        if x.sum() > 8:
            break
    return row, k


LEFT_BY_A_TENSOR = (settled, found, not_found, in_place)


def test_one_that_a_tensor_ends():
    for f in LEFT_BY_A_TENSOR:
        given, plain = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0])
        decorated = al.function(f, executor="sequential")
        for wanted, made in zip(f(plain), decorated(given), strict=True):
            assert type(made) is type(wanted)
            np.testing.assert_allclose(made, wanted, rtol=1e-12)
        np.testing.assert_allclose(given, plain, rtol=1e-12)
        assert "a long Python range" in str(al.explain(f, np.ones(3)))


def test_the_same_as_written_out():
    for f in (decayed, filled, grid, left, nothing_for_the_run, listed, looked_up):
        given, plain = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0])
        decorated = al.function(f, executor="sequential")
        wanted, found = f(plain), decorated(given)
        assert type(found) is type(wanted) and np.array_equal(given, plain)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_it_is_a_loop_of_the_graph():
    for f in (decayed, filled, grid, left):
        said = str(al.explain(f, np.ones(3)))
        assert "a long Python range" in said
        assert len(al.function(f).get_concrete_function(np.ones(3)).graph.nodes) < 2_000
    assert "a long Python range" not in str(al.explain(nothing_for_the_run, np.ones(3)))


def test_derivatives_of_it():
    def mean(x):
        for k in range(LONG):
            x = x * 0.999 + 0.001 * k
        return x.sum()

    np.testing.assert_allclose(al.grad(mean)(np.ones(2)), np.full(2, 0.999**LONG))
