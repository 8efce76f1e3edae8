"""What loops over Dask's arrays read of NumPy's: numbers where an array says no more, and else a key of its own."""

from __future__ import annotations

import pickle
import zlib

import autoloop as al
import numpy as np
import pytest
from api import chunk_programs, read_arrays, task_templates

da = pytest.importorskip("dask.array")
pytest.importorskip("array_api_compat")
spec = pytest.importorskip("dask._task_spec")


def weighed(x, w, mask, rounds):
    for _ in range(rounds):
        x = np.tanh(x @ w) * mask
    return x


def larger(x, bound, rounds):
    for _ in range(rounds):
        x = np.where(x > bound, bound, x * 1.5)
    return x + bound


def given(rows=64, width=16):
    random = np.random.default_rng(0)
    return random.random((rows, width)), random.random((width, width)) / width


@pytest.mark.parametrize(
    "mask",
    [np.full((64, 16), 0.5), np.broadcast_to(np.float64(-0.0), (64, 16)), np.full((64, 16), np.nan), given()[0]],
    ids=["one number", "strides of none", "nan", "numbers"],
)
def test_read_arrays_give_the_same(mask):
    x, w = given()
    wanted = weighed(x, w, mask, 3)
    found = al.function(weighed)(da.from_array(x, chunks=(16, -1)), w, mask, np.int64(3)).compute()
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
@pytest.mark.parametrize("bound", ["f4", "f8", "i4"])
def test_the_dtype_is_that_of_arrays(dtype, bound):
    x, bound = (8 * given(128)[0]).astype(dtype), np.full((128, 16), 3, bound)
    f = al.function(larger)
    try:
        wanted = f(x, bound, np.int64(2))
    except TypeError:  # the loop's x would change its dtype
        with pytest.raises(TypeError):
            f(da.from_array(x, chunks=(16, -1)), bound, np.int64(2))
        return
    found = f(da.from_array(x, chunks=(16, -1)), bound, np.int64(2)).compute()
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


def test_an_array_that_is_changed_between_two_calls_is_read_anew():
    x, w = given()
    f, lazy = al.function(weighed), da.from_array(x, chunks=(16, -1))
    for scale in (1.0, 2.0):
        w *= scale
        mask = np.full(x.shape, scale)
        np.testing.assert_allclose(f(lazy, w, mask, np.int64(2)).compute(), weighed(x, w, mask, 2))


def test_a_program_holds_what_all_its_tasks_read_once():
    values = [np.arange(1000.0) for _ in range(4)]
    tasks = {f"d{k}": spec.DataNode(f"d{k}", value) for k, value in enumerate(values)}
    tasks |= {f"t{k}": spec.Task(f"t{k}", np.add, spec.TaskRef("x"), spec.TaskRef(f"d{k}")) for k in range(4)}
    made = chunk_programs.program(tasks, [f"t{k}" for k in range(4)], ["x"])
    assert len(zlib.decompress(made.data)) < 10_000 < sum(value.nbytes for value in values)
    for one in pickle.loads(pickle.dumps(made))(1.0):
        np.testing.assert_array_equal(one, values[0] + 1)


def loss(w, x, y):
    z = x @ w
    return np.log1p(np.exp(-np.abs(z))).mean() + np.maximum(z, 0).mean() - (y * z).mean()


def trained(x, y, w, rounds):
    for _ in range(rounds):
        w = w - 0.5 * al.grad(loss)(w, x, y)
    return w


def test_a_gradient_of_a_mean_sends_nothing_as_large_as_the_data(monkeypatch):
    x = np.random.default_rng(0).random((40_000, 4))
    y, w = (x[:, 0] > 0.5) * 1.0, np.zeros(4)
    sizes, plain = [], task_templates.Template.used

    def used(self, *args):
        made = plain(self, *args)
        sizes.append(len(pickle.dumps(list(made[0].values()))))
        return made

    monkeypatch.setattr(task_templates.Template, "used", used)
    given = da.from_array(x, chunks=(10_000, -1)).persist(), da.from_array(y, chunks=10_000).persist()
    found = al.function(trained)(*given, w, np.int64(24)).compute()
    np.testing.assert_allclose(found, al.function(trained)(x, y, w, np.int64(24)), rtol=1e-10)
    assert 0 < max(sizes) < y.nbytes / 4


def raised(x, power, rounds):
    for _ in range(rounds):
        x = x**power
    return x


def test_powers_by_an_array_are_no_square_roots():
    x, power = given()[0] - 0.5, np.full((64, 16), 0.5)
    x[0], x[1] = -np.inf, -0.0
    with np.errstate(invalid="ignore"):
        wanted = raised(x, power, 2)
        found = al.function(raised)(da.from_array(x, chunks=(16, -1)), power, np.int64(2)).compute()
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found[:2]), np.signbit(wanted[:2]))


def faded(x, w, bound, rounds):
    for _ in range(rounds):
        w = w * 0.5
        x = np.minimum(x * 0.5 + w, bound)
    return x


def test_arrays_of_one_iteration_are_let_go_of(monkeypatch):
    counts, plain = [], read_arrays.ReadArrays.of

    def of(self, *args):
        made = plain(self, *args)
        counts.append(len(self._sent))
        return made

    monkeypatch.setattr(read_arrays.ReadArrays, "of", of)
    x = given()[0]
    w, bound, rounds = x + 1, 1 - x / 2, np.int64(60)
    found = al.function(faded)(da.from_array(x, chunks=(16, -1)), w, bound, rounds).compute()
    np.testing.assert_allclose(found, faded(x, w, bound, 60))
    assert counts and max(counts) <= read_arrays.AGE + 4
