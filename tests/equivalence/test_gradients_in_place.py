"""Derivatives of programs that write in place are those of the same programs written with new arrays.

``grad`` differentiates a copy: the caller's array holds afterwards what it held before.
"""

import autoloop as al
import numpy as np
import pytest
from each_case import each


def filled(x, n):
    out = np.zeros(4)
    for k in range(n):
        out[k] = np.sin(x[k]) * x[k + 1]
    return out.sum()


def filled_anew(x, n):
    return (np.sin(x[:n]) * x[1 : n + 1]).sum()


def own_argument(x, n):
    for k in range(n):
        x[k] = x[k] * x[k + 1]
    return x.sum()


def own_argument_anew(x, n):
    return (x[:n] * x[1 : n + 1]).sum() + x[n:].sum()


def exchanged(x, n):
    u, v = x * 1.0, np.zeros(5)
    for _ in range(n):
        v[1:-1] = u[2:] * u[:-2]
        u, v = v, u
    return u.sum()


def exchanged_anew(x, n):
    u, v = x * 1.0, x * 0.0
    for _ in range(n):
        u, v = np.concatenate([v[:1], u[2:] * u[:-2], v[-1:]]), u
    return u.sum()


def through_views(x, n):
    y = x.copy()
    inner, odd = y[1:-1], y[1::2]
    for _ in range(n):
        inner *= x[2:]
        odd += y[:1] * x[0]
    return (y**2).sum()


def through_views_anew(x, n):
    y = x
    for _ in range(n):
        y = np.concatenate([y[:1], y[1:-1] * x[2:], y[-1:]])
        y = y + np.array([0.0, 1.0, 0.0, 1.0, 0.0]) * y[0] * x[0]
    return (y**2).sum()


def masked(x, n):
    y = x * x
    for k in range(n):
        y[x > 0.5 + 0.1 * k] *= x[0]
    y[x < 0.4] = 1.0
    return y.sum()


def masked_anew(x, n):
    y = x * x
    for k in range(n):
        y = np.where(x > 0.5 + 0.1 * k, y * x[0], y)
    return np.where(x < 0.4, 1.0, y).sum()


def added(x, n):
    a, b = np.ones(5), x.copy()
    for _ in range(n):
        a += b * a
        b -= 0.1 * a
    return (a * b).sum()


def added_anew(x, n):
    a, b = x * 0 + 1, x
    for _ in range(n):
        a = a + b * a
        b = b - 0.1 * a
    return (a * b).sum()


def by_functions(x, n):
    y = np.zeros(5)
    for _ in range(n):
        np.add(y, x, out=y)
        np.multiply(y, x, out=y, where=x > 0.4)
        np.copyto(y[:2], x[2:4])
    np.add.at(y, [0, 0, 1], x[:3])
    return (y * y).sum()


def by_functions_anew(x, n):
    y = x * 0
    for _ in range(n):
        y = y + x
        y = np.where(x > 0.4, y * x, y)
        y = np.concatenate([x[2:4], y[2:]])
    y = y + np.concatenate([x[:1] + x[1:2], x[2:3], np.zeros(3)])
    return (y * y).sum()


def branched(x, n):
    y = x.copy()
    for k in range(n):
        if x[k] > 0.4:
            y[k] = y[k + 1] * x[k]
        else:
            y[k + 1] += y[k] ** 2
    return y.sum()


def branched_anew(x, n):
    y = [x[j] for j in range(5)]
    for k in range(3):
        high = x[k] > 0.4
        y[k], y[k + 1] = np.where(high, y[k + 1] * x[k], y[k]), np.where(high, y[k + 1], y[k + 1] + y[k] ** 2)
    return y[0] + y[1] + y[2] + y[3] + y[4]


PAIRS = [
    (filled, filled_anew), (own_argument, own_argument_anew), (exchanged, exchanged_anew),
    (through_views, through_views_anew), (masked, masked_anew), (added, added_anew),
    (by_functions, by_functions_anew), (branched, branched_anew),
]  # fmt: skip
X = np.array([0.31, 0.72, 0.46, 0.93, 0.58])


def differences(f, n):
    """Return the derivatives by central differences of the plain function."""
    found = np.zeros(5)
    for k in range(5):
        step = np.zeros(5)
        step[k] = 1e-6
        found[k] = (f(X + step, n) - f(X - step, n)) / 2e-6
    return found


@each([3, np.int64(3)])
def test_first_derivatives(count):
    for f, anew in PAIRS:
        expected = differences(f, count)
        for g in (al.grad(al.function(f)), al.function(al.grad(f)), al.grad(f)):
            x = X.copy()
            np.testing.assert_allclose(g(x, count), expected, rtol=1e-6, atol=1e-8, err_msg=f.__name__)
            assert x.tolist() == X.tolist(), f.__name__
        value, slope = al.value_and_grad(al.function(anew))(X.copy(), count)
        np.testing.assert_allclose(value, f(X.copy(), count), rtol=1e-12, err_msg=f.__name__)
        np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-8, err_msg=f.__name__)


def second(f, count):
    """Return the derivative of what the first derivatives make together."""
    weights = np.array([1.0, -2.0, 0.5, 3.0, 1.5])
    return al.grad(al.function(lambda x: (al.grad(f)(x, count) * weights).sum()))


def test_second_derivatives():
    for f, anew in PAIRS:
        x = X.copy()
        ours, theirs = second(f, np.int64(3))(x), second(anew, np.int64(3))(X.copy())
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12, err_msg=f.__name__)
        assert x.tolist() == X.tolist(), f.__name__


def both_written(x, y):
    y += x
    x *= 2
    return (x * y).sum()


def test_what_is_differentiated_is_a_copy_and_nothing_else():
    for g in (al.grad(al.function(both_written)), al.function(al.grad(both_written))):
        x, y = np.ones(3), np.full(3, 2.0)
        assert g(x, y).tolist() == [8.0] * 3
        assert (x.tolist(), y.tolist()) == ([1.0] * 3, [3.0] * 3)
        assert g(x, x).tolist() == [6.0] * 3  # which the other is not
        assert x.tolist() == [2.0] * 3
    (value, slopes), x, y = al.value_and_grad(al.function(both_written), (0, 1))(np.ones(3), y), np.ones(3), y
    assert value == 24.0 and [one.tolist() for one in slopes] == [[10.0] * 3, [2.0] * 3]
    assert y.tolist() == [3.0] * 3


def test_what_a_decorated_function_makes_of_what_is_differentiated_around_it_keeps_its_derivative():
    inner = al.function(filled)
    np.testing.assert_allclose(al.grad(lambda x: inner(x, 3) * 2)(X.copy()), 2 * differences(filled, 3), rtol=1e-6)
    with al.GradientTape() as tape:
        x = al.constant(X)
        tape.watch(x)
        y = inner(x, 3)
    np.testing.assert_allclose(tape.gradient(y, x), differences(filled, 3), rtol=1e-6)


class Kept:
    last = None


def test_what_is_left_in_objects_is_of_plain_kinds_while_somebody_differentiates():
    kept = Kept()

    @al.function
    def loss(x):
        out = np.zeros(2)
        out[0] = x[0] ** 2
        kept.last = out
        return out.sum()

    slope = al.grad(lambda x: loss(x))(X.copy())
    np.testing.assert_allclose(slope, [2 * X[0], 0, 0, 0, 0])
    assert type(kept.last) is np.ndarray
    assert kept.last.tolist() == [X[0] ** 2, 0]


def ways(f):
    """Return what gives the derivatives of a function, and of one that calls it decorated, in all ways there are."""
    d = al.function(f)
    units = np.eye(5)
    return {
        "jacobian": lambda x: al.jacobian(d)(x, 3),
        "vjp": lambda x: al.vjp(lambda v: d(v, 3), x)[1](1.0)[0],
        "vjp, not decorated": lambda x: al.vjp(lambda v: f(v, 3), x)[1](1.0)[0],
        "jvp": lambda x: [al.jvp(lambda v: d(v, 3), [x], [unit])[1] for unit in units],
        "grad around it": lambda x: al.grad(lambda v: d(v * 1.0, 3) + 0)(x),
        "value_and_grad around it": lambda x: al.value_and_grad(lambda v: d(v, 3))(x)[1],
    }


def test_arrays_are_references_to_all_who_differentiate():
    for f, _ in PAIRS:
        expected = differences(f, 3)
        for name, way in ways(f).items():
            x = X.copy()
            np.testing.assert_allclose(way(x), expected, rtol=1e-6, atol=1e-8, err_msg=f"{f.__name__}, {name}")
            assert x.tolist() == X.tolist(), f.__name__


@al.function
def doubled(x):
    x *= 2
    return x, x[1:], x.T, x.sum()


def test_an_array_that_is_written_to_is_not_read_afterwards_as_it_was():
    held = {"by name": doubled}
    without_lines = eval("lambda x: held['by name'](x)[3] + x.sum()", {"held": held})
    for way in (al.grad, al.jacobian):
        for f in (lambda x: doubled(x)[3] + x.sum(), lambda x: held["by name"](x)[3] + x.sum()):
            np.testing.assert_array_equal(way(f)(X.copy()), np.full(5, 4.0))
        with pytest.raises(TypeError, match="read after a decorated function has written to it"):
            way(without_lines)(X.copy())
    for k, expected in enumerate((2 * np.eye(5), 2 * np.eye(5)[1:], 2 * np.eye(5))):
        np.testing.assert_array_equal(al.jacobian(lambda x, k=k: doubled(x)[k])(X.copy()), expected)


def test_a_variable_that_is_kept_by_what_is_differentiated_is_kept_itself():
    class Box:
        def __init__(self):
            self.kept, self.log, self.v = None, [], al.Variable(np.ones(2))

    def loss_of(box):
        def loss(v):
            box.kept, box.pair = v, (v, 1)
            box.log.append(v)
            return (v * v).sum()

        return loss

    def keeps(box):
        gradient = al.grad(loss_of(box))(box.v)
        box.kept.assign_add(gradient)
        return gradient

    @al.function
    def moves(box):
        moved = al.jvp(loss_of(box), [box.v], [np.ones(2)])[1] * np.full(2, 0.5)
        box.kept.assign_add(moved)
        return moved

    for keep in (keeps, al.function(keeps), moves):
        box = Box()
        for k in (1, 3):
            np.testing.assert_array_equal(keep(box), np.full(2, 2.0 * k))
        assert box.kept is box.v and box.pair[0] is box.v and [one is box.v for one in box.log] == [True, True]
        np.testing.assert_array_equal(box.v.numpy(), np.full(2, 9.0))
