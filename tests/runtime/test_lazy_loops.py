"""``while_loop`` and its like over Dask's arrays outside of decorated functions: NumPy's values, computed later."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from each_case import each

da = pytest.importorskip("dask.array")
pytest.importorskip("array_api_compat")
dask = pytest.importorskip("dask")
V = np.arange(8.0).reshape(4, 2)


def counted(x):
    return al.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + x), (0, x))


def captured(x):
    return al.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, al.matmul(s, al.transpose(x)) @ x), (0, V))


def asked(x):
    return al.while_loop(lambda s: al.sum(s) < 300, lambda s: s * 2, (x,))


def branching(x):
    def body(i, s):
        return i + 1, al.cond(al.reduce_sum(s) > 50, lambda: s - x, lambda: s + x * 2)

    return al.while_loop(lambda i, s: i < 4, body, (0, x))


def over_numpys_rows(x):
    return al.foldl(lambda s, v: s + v * x, np.arange(3.0), x)


def structured(x):
    return al.while_loop(lambda p: p["n"] < 2, lambda p: {"n": p["n"] + 1, "x": [p["x"][0] / 2]}, [{"n": 0, "x": [x]}])


def leaves_of(value):
    return al.nest.flatten(value)


@each([counted, captured, asked, branching, over_numpys_rows, structured])
def test_they_stay_lazy(f):
    wants, gots = leaves_of(f(V)), leaves_of(f(da.from_array(V, chunks=2)))
    assert any(type(one) is da.Array for one in gots)
    for want, got in zip(wants, gots, strict=True):
        assert (got.dtype, tuple(got.shape)) == (want.dtype, tuple(want.shape))
        assert type(got) is (da.Array if want.ndim else al.Tensor)
        np.testing.assert_array_equal(np.asarray(got), np.asarray(want))


def test_conditions_alone_are_fetched():
    fetched = []

    def scheduler(graph, keys, **options):
        fetched.append(keys)
        return dask.get(graph, keys, **options)

    x = da.from_array(V, chunks=2)
    with dask.config.set(scheduler=scheduler):
        _, made = counted(x)
        assert not fetched
        (made,) = asked(x)
        assert fetched
    np.testing.assert_array_equal(made, asked(V)[0])


def test_what_is_not_taken():
    x = da.from_array(V, chunks=2)
    with pytest.raises(NotImplementedError, match=r"length of chunks is not known.*AL622"):
        counted(x[x[:, 0] > 2])
    with pytest.raises(ValueError, match="AL108"):
        al.while_loop(lambda s: s < 3, lambda s: s, (x,))
    y = al.constant(V)
    with al.GradientTape() as tape:  # a tape follows tensors
        tape.watch(y)
        _, made = al.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * x), (0, y))
    np.testing.assert_array_equal(tape.gradient(made, y), V**3)
