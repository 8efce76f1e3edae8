"""Gradients of loops through the rows of Dask's arrays go by chunks: there are as many tasks as chunks, not as rows."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from each_case import each

da = pytest.importorskip("dask.array")
pytest.importorskip("array_api_compat")
dask = pytest.importorskip("dask")
X = np.random.default_rng(3).random((8, 3))
W = np.array([1.0, 0.5, 0.3])


def forbidden(*args, **kwargs):
    raise AssertionError("something was computed")


def flat(found):
    return [one for part in found for one in (flat(part) if isinstance(part, tuple) else [part])]


def tasks_of(*arrays):
    return len({key for one in arrays for key in dict(one.__dask_graph__())})


def check(f, chunks=(3, 2), transform=al.value_and_grad):
    """Compare value and gradients by both arguments of NumPy's arrays and of Dask's; nothing is computed before."""
    both = transform(al.function(f), argnums=(0, 1))
    wants = flat(both(X, W))
    with dask.config.set(scheduler=forbidden):
        gots = flat(both(da.from_array(X, chunks=chunks), W))
    for want, got, value in zip(wants, gots, dask.compute(*gots, scheduler="sync"), strict=True):
        assert isinstance(got, da.Array)
        assert got.dtype == value.dtype == want.dtype
        np.testing.assert_allclose(value, want, rtol=1e-12, atol=1e-14)
    return gots


def logistic(x, w):
    return al.map_fn(lambda row: np.log1p(np.exp(-(row @ w))), x).sum()


def vectorized(x, w):
    return al.vectorized_map(lambda row: np.where(row > 0.5, row * w, -row), x).sum()


def recurrent(x, w):
    return (al.scan(lambda h, row: np.tanh(h * w + row), x, np.zeros(3)) ** 2).sum()


def from_the_first_row(x, w):
    return (al.scan(lambda h, row: np.tanh(h * w + row), x) ** 2).sum()


def backwards(x, w):
    return (al.scan(lambda h, row: np.tanh(h * w + row), x, reverse=True) ** 2).sum()


def folded(x, w):
    return al.foldr(lambda h, row: np.tanh(h * w + row), x, w).sum()


def of_two(x, w):
    a, b = al.scan(lambda s, row: (np.tanh(s[0] * w + row), s[1] * 0.5 + row.sum() * s[0][0]), x, (w, w[0]))
    return (a**2).sum() + np.sin(b).sum()


def own_loss(x, w):
    total = 0.0
    for row in x:
        total = total + np.log1p(np.exp(-(row @ w)))
    return total


def one_after_the_other(x, w):
    for row in x:
        w = w - 0.1 * (row @ w - 1.0) * row
    return (w * w).sum()


def halved(x, w):
    def f(row):
        n, t = 0, 0.0
        while row.max() > 0.2:
            row = row * (w * 0.5)
            n += 1
            t = t + row[0]
        return t * row.sum()

    return al.map_fn(f, x).sum()


def of_a_scan(x, w):
    states = al.scan(lambda h, row: np.tanh(h * w + row), x, np.zeros(3))
    return al.map_fn(lambda h: (h @ w) ** 2, states).mean()


PROGRAMS = {
    f.__name__: f
    for f in (
        logistic, vectorized, recurrent, from_the_first_row, backwards, folded, of_two, own_loss, one_after_the_other,
        halved, of_a_scan,
    )
}  # fmt: skip


@each(sorted(PROGRAMS), one_in=3)
def test_values_are_numpys(name):
    check(PROGRAMS[name])


@each([((1, 3),), ((8, 3),), (((1, 4, 3), 2),), (((0, 5, 0, 3), 3),)], one_in=2)
def test_chunks_of_all_lengths(chunks):
    _, by_x, _ = check(recurrent, chunks)
    assert by_x.chunks[0] == tuple([n for n in da.from_array(X, chunks=chunks).chunks[0] if n])


def test_no_rows():
    both = al.value_and_grad(al.function(recurrent), argnums=(0, 1))
    wants, gots = flat(both(X[:0], W)), flat(both(da.from_array(X[:0], chunks=(3, 3)), W))
    for want, got in zip(wants, gots, strict=True):
        np.testing.assert_array_equal(np.asarray(got), want)


def test_tasks_are_as_many_as_chunks():
    counts = {}
    for n in (300, 600):
        for f in (logistic, recurrent, own_loss):
            both = al.value_and_grad(al.function(f), argnums=(0, 1))
            counts[f, n] = tasks_of(*flat(both(da.ones((n, 3), chunks=(n // 3, 3)), W)))
        assert counts[logistic, n] < 50
        assert counts[recurrent, n] < 70
        assert counts[own_loss, n] < 50
    assert all(counts[f, 300] == counts[f, 600] for f in (logistic, recurrent, own_loss))


def test_what_stays_of_rows_is_the_carry_of_each_chunk():
    by_w = al.grad(al.function(folded), argnums=1)(da.ones((600, 3), chunks=(200, 3)), W)
    sizes = {}

    class Sizes(pytest.importorskip("dask.callbacks").Callback):
        def _posttask(self, key, result, *_):
            parts = result if isinstance(result, tuple) else (result,)
            sizes[key] = sum(getattr(part, "nbytes", 0) for part in parts)

    with Sizes():
        dask.compute(by_w, scheduler="sync")
    made = [size for key, size in sizes.items() if str(key[0] if isinstance(key, tuple) else key).startswith("fold")]
    assert len(made) > 6
    assert max(made) < 100


def test_numerically():
    f = al.function(of_a_scan)
    slope = np.asarray(al.grad(f, argnums=1)(da.from_array(X, chunks=(3, 3)), W))
    for k, step in enumerate(np.eye(3) * 1e-6):
        found = (f(X, W + step) - f(X, W - step)) / 2e-6
        np.testing.assert_allclose(slope[k], found, rtol=1e-6)


def slopes(x, w):
    return (al.grad(lambda v: recurrent(x, v))(w) ** 2).sum() + (al.grad(lambda y: logistic(y, w))(x) ** 2).sum()


def trained(x, w):
    for _ in range(3):
        w = w - 0.1 * al.grad(lambda v: logistic(x, v))(w)
    return (w * w).sum()


def in_a_loop(x, w):
    s = w
    for _ in range(4):
        s = al.foldl(lambda h, row: h * 0.5 + row * w, x, s) / 2
    return s.sum()


def by_a_tape(x, w):
    with al.GradientTape() as tape:
        tape.watch(w)
        y = recurrent(x, w)
    return (tape.gradient(y, w) ** 2).sum()


@each(["slopes", "trained", "in_a_loop", "by_a_tape"], one_in=2)
def test_gradients_inside_and_of_gradients(name):
    made = check({"slopes": slopes, "trained": trained, "in_a_loop": in_a_loop, "by_a_tape": by_a_tape}[name], (3, 3))
    assert tasks_of(*made) < 260


def test_forward_mode():
    @al.function
    def product(x, w, v):
        return al.jvp(al.grad(lambda u: recurrent(x, u)), (w,), (v,))

    given = W, np.array([1.0, 0.0, 0.0])
    for want, got in zip(product(X, *given), product(da.from_array(X, chunks=(3, 3)), *given), strict=True):
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-12)


def test_values_from_outside():
    scale = al.constant(W)

    def f(x, w):
        return al.map_fn(lambda row: (row * scale).sum() * w, x).sum()

    both = al.value_and_grad(al.function(f), argnums=(0, 1))
    for want, got in zip(flat(both(X, W)), flat(both(da.from_array(X, chunks=(3, 3)), W)), strict=True):
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-12)

    @al.function
    def by_scale(x, w):
        (found,) = al.gradients(f(x, w), [scale])
        return found

    got = by_scale(da.from_array(X, chunks=(3, 3)), W)
    np.testing.assert_allclose(np.asarray(got), np.asarray(by_scale(X, W)), rtol=1e-12)


def test_what_is_read_otherwise_after_the_gradient():
    def f(x, w):
        def body(i, h, out):
            h = np.tanh(h * w + x[i])
            return i + 1, h, out.write(i, h)

        i, h, out = al.while_loop(lambda i, h, out: i < 8, body, (0, w, al.TensorArray(np.float64, 8)))
        (slope,) = al.gradients(out.stack().sum(), [w])
        return slope.sum() + h.sum() + out.read(2).sum() + i

    want = al.function(f)(X, W)
    np.testing.assert_allclose(np.asarray(al.function(f)(da.from_array(X, chunks=(3, 3)), W)), want, rtol=1e-12)
