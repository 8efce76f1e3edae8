"""A long ``for`` over a Python range is a loop of the graph, with the result that it has written out."""

import copy
import warnings

import autoloop as al
import numpy as np
import pytest
from autoloop.operators.constructs import long_ranges
from executors import EXECUTORS

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


def keyed(x):
    made = {}
    for k in range(2_600):
        made[k] = x[k % 3] + k
    return made[2_599], len(made)


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
        z = x + 1
    return y.sum(), z, k


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
    for f in (decayed, filled, grid, left, nothing_for_the_run, looked_up):
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


def timed(x, n):
    t, z, flips = 0.0, 1 + 0j, 1.0
    for k in range(n):
        x = x + 0.01 * np.sin(t) * x
        t, z, flips = t + 0.01, z * 0.99j, -flips
    return x, t, z, flips


def counted(x, n):
    out, place = np.zeros(2 * n), 0
    for k in range(n):
        if k % 2 == 0:
            out[place] = x[k % 3]
            place += 1
        out[place] += np.sin(x[0] * k)
        place += 1
    return out[:place], place


def halved(x, n):
    rate, best = 0.5, 1e9
    for k in range(n):
        x = x - rate * 2 * x + 0.1 * np.sin(x) * np.cos(x)
        if k % 10 == 9:
            rate *= 0.9
        if (x**2).sum() < best:
            best = (x**2).sum()
    return x, rate, best


def lost(x, n):
    """What the run would say of the rate has another type."""
    history, rate = [], 1.5
    for k in range(n):
        x = x + np.sin(x) * np.cos(x) - 0.1 * x
        history.append(x[0] * rate)
        if k == n - 1:
            rate = 2
    return history[-1], len(history), rate, history


def recorded(x, n):
    losses, path, pairs = [], [x.copy()], []
    for k in range(n):
        x = x * 0.99 + np.sin(x) * 0.1 - np.cos(x) * 0.01
        losses.append(float((x**2).sum()))
        path.append(x)
        pairs.append((k, x[0], x.max()))
    return losses, path[0], np.array(path), pairs, len(losses)


def changed(x, n):
    losses = []
    for k in range(n):
        x = x * 0.99 + np.sin(x) * 0.1 - np.cos(x) * 0.01
        losses.append(x[0])
        if x[0] > 0.5:
            losses[-1] *= 2
    return losses


def sizes(x, n):
    """An int is a size: that has to be known, so the trace is made again with all written out."""
    size = 1
    for k in range(n):
        x = x + np.sin(x) * np.cos(x) * np.tanh(x) - 0.1 * x
        size = min(size + 1, 4)
    return x, np.zeros((size, 2)), size


def beyond(x, n):
    a, b = 0, 1
    for k in range(n):
        a, b = b, a + b
        x = x * 0.5 + np.sin(x) * np.cos(x)
    return x, a


CARRIED = (timed, counted, halved, lost, recorded, changed, sizes, beyond)


def same_kinds(one, other):
    if isinstance(other, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same_kinds, one, other))
    return type(one) is type(other) and bool(np.allclose(one, other, rtol=1e-12, atol=1e-12))


def test_numbers_and_lists_that_change_are_as_written_out():
    for f in CARRIED:
        for executor in EXECUTORS:
            if f is changed and executor == "native":  # which does not count what such a list holds
                continue
            for n in (2, 7, 400):
                decorated = al.function(f, executor=executor)
                for _ in range(2):
                    found, wanted = decorated(np.arange(3.0), n), f(np.arange(3.0), n)
                    assert same_kinds(found, wanted), (f.__name__, executor, n, found, wanted)
    for f in (timed, counted, halved, recorded):
        assert "a long Python range" in str(al.explain(f, np.arange(3.0), 400)), f.__name__


def test_a_short_list_grows_in_the_graph_if_the_user_says_so():
    def filled_up(x):
        made = []
        for k in range(12):
            al.set_loop_options(unroll=False)
            made.append(x[k % 3] * k)
        return made

    x = np.arange(3.0)
    assert same_kinds(al.function(filled_up)(x), filled_up(x))
    assert "a long Python range" in str(al.explain(filled_up, x))


def test_lists_of_the_caller_grow():
    def added(x, n, kept):
        for k in range(n):
            x = x * 0.99 + np.sin(x) * 0.1 - np.cos(x) * 0.01
            kept.append(x.sum())
        return kept

    f, ours, plain = al.function(added), [1.0], [1.0]
    for _ in range(2):
        assert f(np.arange(3.0), 400, ours) is ours
        added(np.arange(3.0), 400, plain)
        assert same_kinds(ours, plain)


def test_derivatives_of_it():
    def mean(x):
        for k in range(LONG):
            x = x * 0.999 + 0.001 * k
        return x.sum()

    np.testing.assert_allclose(al.grad(mean)(np.ones(2)), np.full(2, 0.999**LONG))


def triangle(a):
    for i in range(1, a.shape[0]):
        for j in range(i):
            a[i, j] = (a[i, j] - a[i, :j] @ a[j, :j]) / a[j, j]
        a[i, i] -= a[i, :i] @ a[i, :i]


def nested(a):
    total = np.zeros(a.shape[1])
    for i in range(a.shape[0] - 1, -1, -1):
        for j in range(i + 1, a.shape[0]):
            for k in range(i, j):
                total = np.maximum(total, a[i] * a[j] - a[k])
    return total


def of_a_generator(a):
    rng = np.random.default_rng(a.shape[0])
    made = np.empty(40)
    for i in range(40):
        made[i] = a[rng.integers(0, 3, 2), 0].sum()
    return made


def of_an_iterator(a):
    items, total = iter([row * k for k, row in enumerate(a)] * 40), np.zeros(a.shape[1])
    for i in range(40):
        total = total + next(items) * i
    return total, next(items)


class Counted:
    def __init__(self):
        self.turns, self.kept = 0, None

    def hit(self, row):
        self.turns, self.kept = self.turns + 1, row


def of_an_object(a):
    counted = Counted()
    for i in range(40):
        counted.hit(a[i % 2] * i + a[0])
    return np.zeros(counted.turns), counted.kept


def one_of_two(a):
    one, other = np.zeros(3), np.ones(3)
    held = one
    for i in range(40):
        held = one if i % 3 else other
        a[i % 2] *= 0.9
    held[0] = 5.0
    return one, other


def with_what_python_counts(a):
    turns, names = 0, {}
    for i in range(40):
        turns += i % 2
        names[i] = a[i % 2] * turns
    return np.zeros(turns), names[39]


def raising(a):
    for i in range(40):
        a[i % 2] += i
        if i == 37:
            raise KeyError(i)
    return a


def beyond(a):
    for i in range(40):
        a[i] *= 2.0


def set_late(a):
    for i in range(40):
        if i > 20:
            late = a[i % 2] * i
    return late


def caught(a):
    total = 0.0
    for i in range(40):
        try:
            total = total + a[i, 0]
        except IndexError:
            total = total - 1.0
    return total


def left_by_both(a):
    for i in range(40):
        a[0] = a[0] * 0.9 + 0.01 * i
        if i == 30 or a[0, 0] > 100:
            return a[0], i
    return a[1], -1


DECIDED = (
    triangle, nested, of_a_generator, of_an_iterator, of_an_object, one_of_two, with_what_python_counts, raising,
    beyond, set_late, caught, left_by_both,
)  # fmt: skip


def outcome(f, a):
    given = copy.deepcopy(a)
    try:
        return f(given), given
    except Exception as error:
        return (type(error), error.args), given


def same(one, other):
    if isinstance(one, tuple):
        return type(other) is tuple and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray | np.generic):
        return type(one) is type(other) and one.dtype == other.dtype and np.allclose(one, other, rtol=1e-12)
    return type(one) is type(other) and one == other


@pytest.mark.parametrize("most", [-1, long_ranges.MOST, 10**6])
@pytest.mark.parametrize("f", DECIDED, ids=[f.__name__ for f in DECIDED])
def test_the_result_does_not_depend_on_what_is_decided(f, most, monkeypatch):
    monkeypatch.setattr(long_ranges, "MOST", most)
    monkeypatch.setattr(long_ranges, "LEAST", 1 if most < 0 else long_ranges.LEAST)
    a = np.random.default_rng(3).random((9, 3) if f is nested else (9, 9)) + np.eye(9, 3 if f is nested else 9)
    assert same(outcome(f, a), outcome(al.function(f, executor="sequential"), a))


def test_what_would_be_written_out_very_much_is_left_to_python():
    given = np.array([1.0, 2.0, 3.0])
    why = r"of 2,600 iterations, for what 'made' holds .*unroll=True"
    with pytest.warns(
        UserWarning, match=rf"plain Python, at each call: a `for` loop would be written out, .*{why}"
    ) as told:
        decorated = al.function(keyed, executor="sequential")
        for _ in range(2):
            found = decorated(given)
            assert np.array_equal(found[0], keyed(given)[0]) and found[1] == 2_600
    assert len(told) == 1

    with pytest.warns(UserWarning, match=why) as told:  # a derivative needs the graph
        found = al.grad(lambda x: keyed(x)[0].sum())(given)
    assert len(told) == 1 and told[0].filename == __file__
    assert told[0].lineno == keyed.__code__.co_firstlineno + 2
    assert found.shape == (3,)

    def meant(x):
        made = []
        for k in range(2_600):
            al.set_loop_options(unroll=True)
            made.append(x[k % 3] + k)
        return made[-1]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert al.function(meant, executor="sequential")(given) == meant(given)
