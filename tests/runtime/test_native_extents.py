"""One machine code for all extents of arguments, where the trace did not know them: the values those of plain NumPy."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from api import NativeRefusal, native_call
from each_case import each

pytest.importorskip("llvmlite")


def elements(x, y):
    return x * y + x, x.sum(), len(x), np.where(x > 1, x, y).max(), x[1:] - x[:-1], np.zeros(len(x)), x[::-1] * 2


def written(x, y):
    s, out = 0.0, np.zeros(len(x))
    for i in range(1, len(x)):
        s = s * 0.5 + x[i]
        out[i] = s + out[i - 1] * y[-i]
    y[:] = out
    x[1:] = x[:-1]
    if len(x) > 4:
        out *= s
    return out


def in_place(a, b):
    for _ in range(2):
        b[1:-1, 1:-1] = 0.5 * (a[1:-1, :-2] + a[2:, 1:-1])
        a[1:-1, 1:-1] = b[1:-1, 1:-1] * a.T[1:-1, 1:-1]
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] -= a[i, :j] @ b[:j, j]
    return a[0] @ b[:, 0]


def matrices(a, b):
    top = np.max(a, axis=-1, keepdims=True)
    e = np.exp(a - top)
    made = np.ones((a.shape[1], b.shape[0]))
    made[:] = b.T
    y = a * 1
    for _ in range(2):
        y = y * a + b
    return e / e.sum(-1, keepdims=True), a @ b, a.T + 1, made, a.sum(0), a.mean(1), a[:, None] * b, y, a.shape


def joined(x, y):
    return np.stack([x, y]), np.concatenate([x, y]), x + y


def first(a):
    return np.zeros(a.shape) + a[0]


def placed(a):
    a[0, 1] = 3
    return a


def reshaped(a):
    return a.reshape(-1) * 2  # of a shape that nothing tells before the run


@pytest.fixture
def compiled(monkeypatch):
    """What code was made for: the shapes, None where an extent comes with the call."""
    made = []
    make = native_call.make

    def noted(graph, shapes, known=None):
        runnable = make(graph, shapes, known)
        made.append([tuple([None if type(n) is not int else n for n in shape]) for shape in shapes])
        return runnable

    monkeypatch.setattr(native_call, "make", noted)
    return made


def outcome(f, arguments):
    arguments = [one.copy() for one in arguments]
    try:
        with np.errstate(all="ignore"):
            return f(*arguments), arguments
    except NativeRefusal:  # which is said where nothing of such a shape can be
        raise
    except Exception as error:
        return type(error), str(error)


def of_sizes(f, ranks, sizes):
    """Call machine code of one trace of ``f`` with arguments of each of the sizes, and compare with plain Python."""
    native = al.function(
        f, executor="native", input_signature=[al.TensorSpec([None] * rank, al.float64) for rank in ranks]
    )
    for shapes in sizes:
        arguments = [np.random.default_rng(len(shapes)).random(shape) + 0.5 for shape in shapes]
        want = outcome(f, arguments)
        try:
            got = outcome(native, arguments)
        except NativeRefusal:
            assert isinstance(want[0], type), shapes
            continue
        if isinstance(want[0], type):
            assert got[0] is want[0]
            continue
        alike(got, want, shapes)
    assert native.tracing_count == 1


def alike(got, want, case):
    assert type(got) is type(want), case
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for one, other in zip(got, want):
            alike(one, other, case)
    elif isinstance(want, np.ndarray):
        assert got.shape == want.shape and got.dtype == want.dtype, case
        np.testing.assert_allclose(got, want, rtol=1e-12)
    else:
        assert got == pytest.approx(want, rel=1e-12), case


SIZES = [5, 3, 2, 7, 1, 0, 4, 300]


@each([elements, written])
def test_vectors_of_any_length(f):
    of_sizes(f, (1, 1), [((n,), (n,)) for n in SIZES])


@each([in_place, matrices])
def test_matrices_of_any_size(f):
    of_sizes(f, (2, 2), [((n, n), (n, n)) for n in SIZES[:-1]])


@each([first, placed])
def test_numbers_that_are_indices_are_checked_beside_extents_of_the_run(f):
    of_sizes(f, (2,), [((n, m),) for n in (3, 4, 0, 1) for m in (2, 3)])


def test_what_does_not_fit_is_an_error_and_what_broadcasts_does():
    of_sizes(joined, (1, 1), [((n,), (m,)) for n in (3, 5, 2, 1, 0) for m in (3, 1, 0, 4)])


def test_one_code_serves_all_lengths_after_the_first(compiled):
    of_sizes(written, (1, 1), [((n,), (n,)) for n in range(2, 42)])
    assert compiled == [[(2,), (2,)], [(3,), (3,)], [(None,), (None,)]]


def test_which_extents_are_equal_and_which_are_one_makes_classes(compiled):
    of_sizes(matrices, (2, 2), [((n, n), (n, n)) for n in range(2, 9)])
    of_sizes(joined, (1, 1), [((n,), (m,)) for n in (3, 5, 7, 9) for m in (n, 1, 2)])
    assert compiled[2:3] == [[(None, None), (None, None)]] and len(compiled) == 7


def test_where_there_is_none_each_shape_has_its_own(compiled):
    of_sizes(reshaped, (2,), [((n, n + 1),) for n in range(2, 6)])
    assert compiled == [[(2, 3)], [(3, 4)], [(4, 5)], [(5, 6)]]
