"""Tensors of arrays that are computed later: what is made of them stays there, too, until somebody asks for values."""

from __future__ import annotations

import contextlib
import copy
import pickle

import autoloop as al
import numpy as np
import pytest
from each_case import each

V = np.arange(1.0, 10.0).reshape(3, 3) + np.eye(3)


@contextlib.contextmanager
def lazy():
    """Return what makes an array of Dask's, and the keys of what was fetched."""
    dask, da = pytest.importorskip("dask"), pytest.importorskip("dask.array")
    pytest.importorskip("array_api_compat")
    fetched = []

    def scheduler(graph, keys, **options):
        fetched.append(keys)
        return dask.get(graph, keys, **options)

    with dask.config.set(scheduler=scheduler):
        yield (lambda value: da.from_array(value, chunks=2)), fetched


def same(want, got):
    for one, other in zip(al.nest.flatten(want), al.nest.flatten(got), strict=True):
        assert isinstance(other, al.Tensor)
        assert (other.dtype, other.shape) == (one.dtype, one.shape)
        np.testing.assert_allclose(np.asarray(other), np.asarray(one), rtol=1e-12)


def checked(f):
    """Check that a function gives the same of an array that is there and of one that is not, and fetches nothing."""
    with lazy() as (made, fetched):
        got = f(made(V))
        assert not fetched
        same(f(V), got)
        assert fetched


@each([
    al.constant, al.convert_to_tensor, al.asarray, lambda x: al.constant(x, al.float64, (9,)),
    lambda x: al.asarray(x, dtype=al.float32), lambda x: al.convert_to_tensor([x, x]),
    lambda x: al.constant([x[0], x[1]]),
    lambda x: al.sum(al.constant(x), 0), lambda x: al.constant(x) * al.constant(x), lambda x: al.constant(x) @ V - 1,
    lambda x: al.constant(x)[1:, al.newaxis], lambda x: al.split(al.constant(x), 3)[1],
    lambda x: [row + 1 for row in al.constant(x)], lambda x: al.constant(x).T, lambda x: np.sin(al.constant(x)),
    lambda x: al.concat([al.constant(x), al.constant(V)], 0), lambda x: al.while_loop(
        lambda k, s: k < 3, lambda k, s: (k + 1, s * 2.0), (0, al.constant(x)))[1],
])  # fmt: skip
def test_what_is_asked_to_be_a_tensor_stays_where_it_is(f):
    checked(f)


def written(x):
    array = al.TensorArray(al.float64, 4)
    for k in range(3):
        array = array.write(k, x[k])
    array = array.write(3, V[0])
    return array.read(1), array.stack(), array.gather([2, 0]), array.concat()


def in_rows(x):
    array = al.TensorArray(al.float64, 3, infer_shape=False)
    return array.unstack(x).stack(), array.scatter([2, 0, 1], x).stack(), array.split(x, [1, 0, 2]).concat()


@each([written, in_rows])
def test_elements_of_tensor_arrays(f):
    checked(f)


def test_a_tensor_does_not_change_with_the_array():
    with lazy() as (made, fetched):
        x = made(V)
        t = al.constant(x)
        x[0] = 100.0
        assert not fetched and "of dask.array" in repr(t)
        same(al.constant(V), t)


def test_values_are_fetched_where_they_are_asked_for():
    with lazy() as (made, fetched):
        t = al.constant(made(V))
        for ask in (lambda: t.numpy(), lambda: np.asarray(t), lambda: float(al.sum(t)), lambda: bool(al.all(t > 0)),
                    lambda: t.tolist(), lambda: pickle.loads(pickle.dumps(t)).numpy()):  # fmt: skip
            fetched.clear()
            ask()
            assert fetched
        assert copy.deepcopy(t) is t
        assert isinstance(t.numpy(), np.ndarray) and not t.numpy().flags.writeable
        assert float(al.cond(al.sum(t) > 3, lambda: t[0, 0], lambda: t[1, 1])) == 2.0


def test_decorated_functions_go_on_with_them():
    with lazy() as (made, fetched):

        @al.function
        def halved(x):
            k = 0
            while k < 3:
                x = x / 2
                k += 1
            return x

        halved(al.constant(V)), halved(al.constant(V))
        with pytest.warns(UserWarning, match="'x' is a tensor that holds an array"):  # and so is what it gives
            got = halved(al.constant(made(V)))
        assert isinstance(got, al.Tensor) and not fetched
        np.testing.assert_array_equal(got, V / 8)


def test_variables_refuse_them_by_name():
    with lazy() as (made, fetched):
        v = al.Variable(V, name="weights")
        for change in (v.assign, v.assign_add, al.Variable):
            with pytest.raises(
                TypeError, match=r"variable '.*' holds its value in this process's memory.*compute.*AL322"
            ):
                change(made(V))
        assert not fetched


@each([
    lambda y, x: al.sum(y * x), lambda y, x: al.sum(al.exp(y / x) @ x), lambda y, x: al.mean(al.where(x > 3, y, x * y)),
    lambda y, x: al.sum(al.concat([y, x * y], 0)[1:4]), lambda y, x: al.max(y * x, axis=0),
    lambda y, x: al.sum(al.matmul(x, y) ** 2, axis=(0, 1)), lambda y, x: al.sum(al.log(y * x)),
    lambda y, x: al.sum(al.reshape(y, (9,)) * al.reshape(al.transpose(x), (9,))),
    lambda y, x: al.sum(al.sqrt(y * y * x)),
])  # fmt: skip
def test_gradients_of_tapes(f):
    def slopes(x):
        y = al.constant(V)
        with al.GradientTape(persistent=True) as tape:
            x = al.constant(x)
            tape.watch([x, y])
            z = f(y, x)
        return tape.gradient(z, [x, y]), z

    checked(slopes)
