"""Arrays of other libraries that come back in another shape: staged, and an argument's memory if plain Python's are."""

from __future__ import annotations

import warnings

import autoloop as al
import numpy as np
import pytest
from each_case import each

pytest.importorskip("array_api_compat")
V = np.arange(8.0).reshape(4, 2)


def reshaped(x):
    return x.reshape(8)


def ravelled(x):
    return x.ravel()


def turned(x):
    return x.T.reshape(8)


def a_part(x):
    return x.reshape(8)[2:]


def in_steps(x):
    return x.reshape(-1)[None].reshape(2, 2, 2)[0]


def two(x):
    return x.reshape(8)[2:], x.ravel()


def of_a_loop(x):
    i = 0
    while i < 3:
        x = x + 1.0
        i += 1
    return x.reshape(8), x.reshape(2, 4)


def ravelled_and_reshaped(x):
    return x.ravel().reshape(2, 4)


def written_to(x):
    y = x.reshape(8)
    y += 1.0
    return y


def chosen(x):
    y = x.reshape(8)
    if x.sum() > 3:
        y = y * 2
    return y


def several(result):
    return result if isinstance(result, tuple) else (result,)


def held(*arrays):
    return [np.asarray(one).tolist() for one in arrays]


@each([reshaped, ravelled, turned, a_part, in_steps, two, of_a_loop])
def test_lazy_ones_are_staged(f):
    da = pytest.importorskip("dask.array")
    x = da.from_array(V, chunks=2)
    try:
        want = several(f(x))
    except NotImplementedError as limit:
        assert "reshape" in str(limit)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = several(al.function(f)(x))
    assert [type(one) for one in got] == [type(one) for one in want]
    assert held(*got) == held(*want)


def test_those_of_the_standard_are_staged():
    xs = pytest.importorskip("array_api_strict")

    def f(x):
        xp = x.__array_namespace__()
        y = xp.reshape(x, (8,))
        return y, xp.reshape(y * 2, (2, 4))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = al.function(f)(xs.asarray(V))
    assert held(*got) == held(*f(xs.asarray(V)))


@each([reshaped, ravelled, turned, a_part, in_steps, two, of_a_loop, ravelled_and_reshaped, written_to, chosen])
def test_they_share_memory_as_in_plain_python(f):
    torch = pytest.importorskip("torch")
    wide = np.arange(16.0).reshape(4, 4)
    made = [lambda: torch.tensor(V), lambda: torch.tensor(V.T.copy()).T, lambda: torch.tensor(wide)[:, ::2]]
    decorated = al.function(f)
    for make in made:
        found = []
        for function in (f, decorated):
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", ".* runs as plain Python")
                result = several(function(x := make()))
            before = held(x, *result)
            for one in result:
                one += 100
            found.append((before, held(x, *result)))
        assert found[0] == found[1]


@each([reshaped, turned, a_part, in_steps, of_a_loop])
def test_tensors_are_staged(f):
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = several(al.function(f)(torch.tensor(V)))
    assert held(*got) == held(*several(f(torch.tensor(V))))


def cut(x, y, n):
    return x[:n] + y


def cut_in_a_loop(x, y, n):
    z = y
    for k in range(n):
        z = x[k:] + z
    return z


def chosen_by_a_mask(x, y, n):
    for _ in range(n):
        z = x[x > 0.5]
        x = z + y
    return x


@each([cut, cut_in_a_loop, chosen_by_a_mask])
def test_what_does_not_fit_is_told_at_the_line_in_plain_pythons_words(f):
    da = pytest.importorskip("dask.array")
    given = da.ones(6, chunks=2), da.ones(5, chunks=2), np.int64(4)
    with pytest.raises(ValueError, match="could not be broadcast") as want:
        f(*given)
    with pytest.raises(ValueError, match="could not be broadcast") as got:
        al.function(f)(*given)
    assert str(got.value).rstrip() == str(want.value)
    line = next(one.lineno for one in want.traceback if one.name == f.__name__)
    assert (f.__name__, line) in [(one.name, one.lineno) for one in got.traceback]


def set_to(f):
    """Return a function that writes to what another gives, and gives the argument besides."""

    def set_(x):
        y = f(x)
        y[0] = 7.0
        return x, y

    return set_


#: some of these give the very array that they are given, some a new one
HANDED_ON = [
    lambda x: x.reshape(x.shape), lambda x: x.reshape(4, -1), lambda x: np.reshape(x, (4, 2)), lambda x: x[:],
    lambda x: x[:, 0:2], lambda x: x.transpose(0, 1), lambda x: x.swapaxes(0, 0), lambda x: np.moveaxis(x, 0, 0),
    lambda x: x.astype(float), lambda x: x.squeeze(), lambda x: np.atleast_1d(x), lambda x: x.real, lambda x: x.copy(),
    lambda x: np.pad(x, 0), lambda x: np.concatenate([x]), lambda x: np.where(True, x, x), lambda x: np.rot90(x, 4),
    lambda x: np.flip(x, ()), lambda x: np.roll(x, 0), lambda x: x.T.T, lambda x: x.reshape(-1).reshape(-1),
    lambda x: np.ravel(x), lambda x: x * 1, lambda x: np.broadcast_to(x, (4, 2)),
    lambda x: np.take(x, [0, 1, 2, 3], axis=0),
    lambda x: np.delete(x, [], axis=0), lambda x: np.delete(x, [0], axis=0),
]  # fmt: skip


@each(HANDED_ON)
def test_lazy_ones_that_are_handed_on_are_the_same_array(f):
    """What was written to ``x.reshape(x.shape)`` was not written to ``x``, nor to one result if it was another."""
    da = pytest.importorskip("dask.array")

    def two(x):
        return x, f(x), f(x)

    def one_twice(x):
        y = f(x)
        return y, [y], x

    for g in (set_to(f), two, one_twice):
        found = []
        for function in (g, al.function(g)):
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore" if g not in (two, one_twice) else "error", ".* runs as plain Python")
                result = function(x := da.from_array(V, chunks=2))
            x[1] = 5.0
            flat = al.nest.flatten(result)
            found.append(([[one is other for other in (x, *flat)] for one in flat], held(x, *flat)))
        assert found[0] == found[1]


def turned_in_a_loop(x):
    u, v, k = x * 1.0, x + 1.0, 0
    while k < x.max() and k < 3:
        k += 1
        u = np.flip(v)
        u = u[::-1]
        u[:] = u
    return x, u


def test_what_a_loop_turns_is_no_other_result():
    da = pytest.importorskip("dask.array")
    x = da.from_array(V, chunks=2)
    assert held(*al.function(turned_in_a_loop)(x)) == held(*turned_in_a_loop(x))


IMAGINARY = [
    lambda x: x.imag, lambda x: np.imag(x), lambda x: x[:0].imag, lambda x: x.sum().imag, lambda x: x.conj().imag,
    lambda x: (x * 1j).imag, lambda x: x.imag + x.sum(axis=0).imag,
]  # fmt: skip


@each(IMAGINARY)
def test_imaginary_parts_of_lazy_reals_are_lazy(f):
    """Of an attribute they were NumPy's, as only the shape takes part."""
    da = pytest.importorskip("dask.array")
    x = da.from_array(V, chunks=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = al.function(f)(x)
    assert (type(got), got.dtype, got.shape) == (da.Array, f(x).dtype, f(x).shape)
    assert held(got) == held(f(x))


def asked_in_a_branch(x, c):
    other, r = ~c, 0
    if c:
        r = 2
    return r, c, other, c * 2, c + x


def asked_in_a_loop(x, c):
    other, i = ~c, 0
    while c and i < 3:
        i += 1
    return i, c, other, float(c) + 1, c.astype(float)


@each([(f, value) for f in (asked_in_a_branch, asked_in_a_loop) for value in (False, True)])
def test_what_is_made_of_an_argument_that_is_asked_for_its_truth_is_lazy(f, value):
    """It was NumPy's: the argument itself counted as a number."""
    da = pytest.importorskip("dask.array")
    x, c = da.ones((4, 2), chunks=2), da.from_array(np.array(value))
    want, got = f(x, c), al.function(f)(x, c)
    assert [(type(one), held(one)) for one in got] == [(type(one), held(one)) for one in want]


def test_dasks_cholesky_factor_is_the_upper_one():
    da = pytest.importorskip("dask.array")
    m = da.from_array(np.array([[4.0, 1.0], [1.0, 3.0]]), chunks=2)
    with pytest.warns(UserWarning, match="gives the upper factor"):
        found = al.function(lambda x: np.linalg.cholesky(x))(m)
    assert np.array_equal(found.compute(), np.linalg.cholesky(m).compute())
    found = al.function(lambda x: np.linalg.cholesky(x), executor="dataflow")(m)
    assert np.array_equal(found.compute(), np.linalg.cholesky(m.compute()))
