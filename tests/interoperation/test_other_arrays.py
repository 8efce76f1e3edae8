"""Arrays of the array API standard's reference: a loop over them runs as a graph, and theirs comes back."""

from __future__ import annotations

import warnings

import autoloop as al
import numpy as np
import pytest

xs = pytest.importorskip("array_api_strict")


def theirs(values):
    return xs.asarray(np.asarray(values))


def kind_and_values(result):
    if isinstance(result, (tuple, list)):
        return type(result), [kind_and_values(one) for one in result]
    return type(result), np.asarray(result).tolist()


def same(f, *values, is_graph=True):
    """Check that a decorated function gives what the undecorated one gives, of arrays made anew for each."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        decorated = al.function(f)
        given = [theirs(one) if isinstance(one, list) else one for one in values]
        again = [theirs(one) if isinstance(one, list) else one for one in values]
        assert kind_and_values(decorated(*given)) == kind_and_values(f(*again))
        assert kind_and_values(given) == kind_and_values(again)
    left = [str(one.message) for one in said if "runs as plain Python" in str(one.message)]
    assert bool(left) != is_graph, left
    return decorated


def settled(x):
    xp = x.__array_namespace__()
    turns = 0
    while xp.max(xp.abs(x)) > 1:
        x = x / 2.0
        turns += 1
    return x, turns


def test_a_loop_runs_as_a_graph_and_theirs_comes_back():
    f = same(settled, [10.0, 3.0])
    f(theirs([5.0, 1.0]))
    assert f.tracing_count == 1
    f(np.array([5.0, 1.0]))
    assert f.tracing_count == 2  # NumPy's is another kind
    assert "array_api_strict" in str(al.explain(f, theirs([5.0, 1.0])))


def conjugate_gradients(a, b):
    xp = b.__array_namespace__()
    x = xp.zeros_like(b)
    direction = residual = b - a @ x
    size = xp.vecdot(residual, residual)
    while xp.sqrt(size) > 1e-9:
        image = a @ direction
        step = size / xp.vecdot(direction, image)
        x = x + step * direction
        residual = residual - step * image
        smaller = xp.vecdot(residual, residual)
        direction = residual + (smaller / size) * direction
        size = smaller
    return x


def test_functions_written_for_the_standard():
    def made(x):
        xp = x.__array_namespace__()
        is_real = x.dtype == xp.float64, xp.isdtype(x.dtype, "real floating")
        return xp.zeros(3), xp.ones(2, dtype=x.dtype), xp.asarray([1, 2]), xp.zeros_like(x), xp.pi, is_real

    def many(x):
        xp = x.__array_namespace__()
        y = xp.concat([xp.where(x > 1.0, x, -x), xp.asarray([0.0, 1.0, 2.0])])
        size = xp.mean(y) + xp.std(y) + xp.max(y) + xp.linalg.vector_norm(y)
        return xp.reshape(xp.stack([y, y]), (3, 4)), size, xp.argmax(y), xp.sort(y), xp.take(y, xp.asarray([0, 1]))

    same(conjugate_gradients, [[1.1, 0.1], [0.1, 2.1]], [1.0, 2.0])
    same(made, [1.0, 2.0])
    same(many, [1.0, 2.0, 3.0])


def test_a_cast_that_is_written_is_no_promotion():
    def cast(k):
        xp = k.__array_namespace__()
        total = xp.sum(k, dtype=xp.float64) / 2 + xp.sum(xp.astype(k, xp.float64) * 2.0)
        while total > 1.0:
            total = xp.sum(xp.astype(k, xp.float64) / 2) / (total + 8.0)
        return xp.astype(k, xp.float64) / 2, xp.astype(k, xp.float32) * 2.0, total, xp.cumulative_sum(k, dtype=xp.int64)

    for executor in ("auto", "dataflow"):
        k = xs.asarray([3, 5, 1])
        assert kind_and_values(al.function(cast, executor=executor)(k)) == kind_and_values(cast(k))
    same(cast, [3, 5, 1])
    with pytest.raises(TypeError, match="AL613"):
        al.function(lambda k, x: k + x, executor="dataflow")(xs.asarray([3]), xs.asarray([1.0]))
    same(lambda k: k.__array_namespace__().sum(k, dtype=k.__array_namespace__().float64), [3, 5, 1])


def test_gradients_come_in_their_kind():
    def energy(x, w):
        while (x * x)[0] > 0.5:
            x = x * w
        return (x * x)[0]

    x, w = [1.0, 2.0], [0.5, 0.6]
    expected = al.value_and_grad(energy, (0, 1))(np.array(x), np.array(w))
    for f in (energy, al.function(energy)):
        value, slopes = al.value_and_grad(f, (0, 1))(theirs(x), theirs(w))
        assert type(value) is type(slopes[0]) is type(slopes[1]) is type(theirs(x))
        assert np.allclose(np.asarray(value), expected[0])
        assert all(np.allclose(np.asarray(one), other) for one, other in zip(slopes, expected[1]))


def test_derivatives_that_are_constants_or_are_pulled_back():
    x, kind = theirs([1.0, 2.0]), type(theirs([0.0]))
    slope = al.grad(lambda x: np.sum(2.0 * x))(x)
    value, pull = al.vjp(lambda x: x * x, x)
    many = al.jacobian(lambda x: x * 2.0)(x), al.hessian_vector_product(lambda x: np.sum(x**2), x, x), value, *pull(x)
    for found, expected in zip((slope, *many), ([2, 2], [[2, 0], [0, 2]], [2, 4], [1, 4], [2, 8])):
        assert type(found) is kind and np.asarray(found).tolist() == expected


def test_traces_that_are_asked_for():
    x = theirs([10.0, 3.0])
    f = al.function(settled)
    concrete = f.get_concrete_function(x)
    assert kind_and_values(concrete(x)) == kind_and_values(settled(x)) and f.tracing_count == 1
    assert "float64[2] of array_api_strict" in str(al.explain(f, x))


def test_structures_and_the_same_array_again():
    def both(pair, x):
        return pair[0] + x, {"given": pair[1]}, pair[1] is x, pair[0] is x

    x = theirs([1.0, 2.0])
    found = al.function(both)((theirs([3.0, 4.0]), x), x)
    assert found[1]["given"] is x and found[2] is True and found[3] is False


def test_what_is_an_element_or_changes_in_place():
    def total(x):
        made = 0.0
        for i in range(3):
            made += x[i]
        return made

    def swapped(x):
        y = x + 0.0
        first = y[0]
        y[0] = y[1]
        return first, y

    def alias(x):
        made = x[0] + x[1]
        other = made
        made += 1.0
        return made, other

    def written(x):
        x[0] = 9.0
        return x

    same(total, [1.0, 2.0, 3.0])
    for f in (swapped, alias, written):
        same(f, [1.0, 2.0, 3.0], is_graph=False)


def test_what_changes_in_place_in_a_loop_for_all_that_hold_it():
    def held(x):
        size, best, i = x[0] * 1.0, x[1] * 1.0, 0
        while i < 3:
            size += 1.0
            if i == 0:
                best = size
            i += 1
        return size, best

    def listed(x):
        size, made, i = x[0] * 1.0, [], 0
        while i < 3:
            size += 1.0
            made.append(size)
            i += 1
        return made

    def given(x):
        def more(value):
            value += 1.0
            return value

        size = x[0] * 1.0
        return more(size), size

    def vectors(x):
        one, i = x * 1.0, 0
        part, last = one[1:], one
        while i < 3 and one[0] < 100:
            last = one
            one += 1.0
            i += 1
        return one, part, last

    for f in (held, listed, given):
        same(f, [3.0, 4.0], is_graph=False)
    same(vectors, [3.0, 4.0])


def test_questions_that_are_theirs_to_answer():
    for f in (lambda x: isinstance(x, np.ndarray), lambda x: type(x).__name__):
        same(f, [1.0], is_graph=False)


def test_executors():
    x = theirs([3.0, 1.0])
    for executor in ("native", "sequential"):
        with pytest.raises(
            TypeError, match=r"needs NumPy's arrays, and argument 'x' is an array of array_api_strict.*AL614"
        ):
            al.function(settled, executor=executor)(x)
    assert kind_and_values(al.function(settled, executor="dataflow")(x)) == kind_and_values(settled(x))

    @al.function(executor="dataflow")
    def written(x):
        x[0] = 9.0
        return x

    with pytest.raises(TypeError, match=r"cannot run written over arrays of array_api_strict.*is written to.*AL615"):
        written(x)
    assert x[0] == 3.0


def test_functions_of_numpys_make_numpys_arrays():
    total = np.array([1.0, 2.0, 3.0])
    for f in (
        lambda x: np.where(x > 1.0, x, 0.0),
        lambda x: np.zeros_like(x),
        lambda x: np.sum(x),
        lambda x: np.concatenate([x, x]),
        lambda x: np.stack((x, x)),
        lambda x: np.clip(x, 0.0, 1.0),
        lambda x: np.linalg.norm(x),
        lambda x: np.sort(x),
        lambda x: np.exp(x),
        lambda x: np.add(total, x),
        lambda x: np.add.reduce(x),
        lambda x: np.asarray(x),
        lambda x: total * x,
        lambda x: np.float64(2) * x,
        lambda x: np.sqrt(2.0) * x,
        lambda x: total @ x,
        lambda x: total < x,
        lambda x: total.dot(x),
        lambda x: np.array([x[0], x[1]]),
        lambda x: np.einsum("i,i", x, x),
    ):
        same(f, [1.0, 2.0, 3.0], is_graph=False)
    same(lambda x: (np.shape(x), np.ndim(x)), [1.0, 2.0, 3.0])
    same(lambda x: (total[x > 1.0], total * float(x[0])), [1.0, 2.0, 3.0])  # as plain Python's, these are NumPy's
    f = al.function(lambda x: np.where(x > 1.0, x, 0.0))
    with pytest.warns(UserWarning, match=r"np.where of an array of array_api_strict gives NumPy's.*write xp.f"):
        assert type(f(theirs([1.0, 2.0]))) is np.ndarray
    f = al.function(lambda x: np.where(x > 1.0, x, 0.0), executor="dataflow")
    assert type(f(theirs([1.0, 2.0]))) is type(theirs([1.0]))


def test_what_an_array_has():
    def has(x):
        i = 0
        while i < 3:
            if hasattr(x, "shape"):
                x = x + 1.0
            i += 1
        return hasattr(x, "__array_namespace__"), hasattr(x, "__len__"), getattr(x, "shape", ()), x

    same(has, [1.0, 2.0, 3.0])
    same(lambda x: (hasattr(x, "dtype"), hasattr(x, "__no_name__")), [1.0])
    same(lambda x: hasattr(x, "flags"), [1.0], is_graph=False)


def test_the_namespace_by_array_api_compat():
    compat = pytest.importorskip("array_api_compat")

    def settled(x, y):
        xp = compat.array_namespace(x, y)
        while xp.max(xp.abs(x)) > 1.0:
            x = x / y
        return x, xp.sum(x)

    same(settled, [3.0, 9.0], [2.0, 2.0])
    same(lambda x: compat.get_namespace(x, 2.0, None).exp(x), [1.0])
    same(lambda x: compat.array_namespace(x, api_version="2024.12").exp(x), [1.0])
