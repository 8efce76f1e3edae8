"""Machine code: what masks select as arrays that go on, and results of as many elements as there turn out to be."""

from __future__ import annotations

import linecache
import math

import autoloop as al
import numpy as np
import pytest
from api import native_call
from each_case import each
from executors import EXECUTORS
from hypothesis import HealthCheck, settings
from hypothesis import given as drawn
from hypothesis import strategies as st

pytest.importorskip("llvmlite")


def alone(x, a, m, k):
    """As results, each of its own number of elements."""
    return (
        x[m],
        x[~m][::-1],
        x[:k],
        a[a > 0],
        a[m],
        a[a[:, 0] > 0, :],
        np.flatnonzero(m),
        np.nonzero(a),
        np.where(x > 0),
    )


def put_together(x, a, m, k):
    some, rest = x[m], x[~m]
    both = np.concatenate([some, x, rest])
    return (
        np.sort(some), np.argsort(rest, kind="stable"), np.cumsum(some), both, np.append(rest, 2.5), np.diff(both),
        np.stack([some, -some]), np.stack([some, some * 2], axis=1), a[m].T,
        np.hstack([x[:k], some]), a[m] @ a[:, :3].T[:3], np.vstack([a[m], a[:k]]), np.cumprod(a[m], axis=0),
    )  # fmt: skip


def counted(x, a, m, k):
    some = x[m]
    return (
        np.arange(len(some)), np.zeros_like(some) + some, np.ones((some.size, 2)), np.full(some.shape, 3),
        np.arange(2 * m.sum() + 1), np.arange(len(some) - 3), x[np.flatnonzero(m)], np.take(x, np.nonzero(m)[0]),
        np.argwhere(a > 0), np.compress(m, x), np.extract(m, x), np.flip(some), np.zeros(len(x[:k])),
    )  # fmt: skip


def reduced(x, a, m, k):
    some = a[m]
    return (
        some.sum(axis=0), some.sum(), np.sort(x[m])[:2].sum(), x[m] @ x[m], len(np.flatnonzero(m)), np.any(some > 1),
        x[m].max() if m.any() else 0.0, x[m][0] if m.any() else 1.0, (x[m] - x[m].sum()).prod(), x[m][:k].sum(),
    )  # fmt: skip


def assigned(x, a, m, k):
    x[m] = np.sort(x[m])[::-1]
    a[a > 0] = np.cumsum(a[a > 0])
    x[~m] = x[~m][::-1]
    some = x[m]
    x[m] = 0.0
    return some


def in_loops(x, a, m, k):
    total = 0.0
    for i in range(3):
        near = x > i - 1
        if near.any():
            total += np.sort(x[near])[0] + len(np.flatnonzero(near & m))
        x[near] = x[near][::-1] / 2
    return total


PROGRAMS = [alone, put_together, counted, reduced, assigned, in_loops]


def given(n, chosen, dtype="float64"):
    rng = np.random.default_rng(n)
    x, a = (rng.integers(-12, 12, n) / 4).astype(dtype), (rng.integers(-12, 12, (n, 3)) / 4).astype(dtype)
    return x, a, {"none": np.zeros, "all": np.ones}.get(chosen, lambda n, _: rng.random(n) < 0.5)(n, bool)


def differs(program, decorated, arguments, k):
    ours, plain = ([one.copy() for one in arguments] for _ in range(2))
    wants, found = program(*plain, np.int64(k)), decorated(*ours, np.int64(k))
    return apart([found, *ours], [wants, *plain])


def apart(found, wants):
    if isinstance(wants, list | tuple):
        assert len(found) == len(wants)
        return next(filter(None, map(apart, found, wants)), "")
    form = [(type(one), np.shape(one), np.asarray(one).dtype) for one in (found, wants)]
    return "" if form[0] == form[1] and np.allclose(found, wants, 1e-12) else f"{found!r} for {wants!r}"


@each([(p, e) for p in PROGRAMS for e in EXECUTORS if e == "native" or p is alone])
def test_as_plain_numpy(program, executor):
    decorated = al.function(program, executor=executor)
    for n, chosen, k in ((9, "some", 4), (9, "none", -2), (9, "all", 9), (1, "all", 0), (1, "none", 3), (0, "all", 1)):
        said = differs(program, decorated, given(n, chosen), k)
        assert not said, (n, chosen, k, said)


@each([(d, n) for d, n in (("float32", 6), ("int64", 5), ("complex128", 4), ("bool", 5))])
def test_of_other_dtypes(dtype, n):
    def f(x, a, m, k):
        return x[m], a[m], np.concatenate([x[m], x]), np.nonzero(x), np.flatnonzero(a[:, 0]), x[:k], a[:, :k]

    assert not differs(f, al.function(f, executor="native"), given(n, "some", dtype), 2)


def test_memory_of_results_is_theirs():
    def f(x, m, k):
        return x[m], x[:k]

    x = np.arange(5.0)
    for one in al.function(f, executor="native")(x, x > 1, np.int64(3))[:1]:
        assert one.flags.owndata and one.flags.c_contiguous and one.nbytes == 24


@each([
    (lambda x, m: x[m] + x[~m], ValueError, r"operands could not be broadcast together with shapes \(2,\) \(3,\)"),
    (lambda x, m: x[m][3], IndexError, "index 3 is out of bounds"),
    (lambda x, m: x[x > 9].max(), ValueError, "zero-size array"),
    (lambda x, m: np.zeros(m.sum() - 4), ValueError, "negative dimensions"),
    (lambda x, m: x.__setitem__(m, x[:3] * 1), ValueError, "cannot assign 3 input values to the 2 output values"),
    (lambda x, m: x.__setitem__(m, x[~m] * 1), ValueError, "cannot assign 3 input values to the 2 output values"),
    (lambda x, m: np.stack([x[m], x[~m]]), ValueError, "must have the same shape"),
])  # fmt: skip
def test_what_fails(f, kind, words):
    x = np.arange(5.0)
    with pytest.raises(kind, match=words):
        al.function(f, executor="native")(x, x > 2)
    assert np.array_equal(x, np.arange(5.0))


PIECES = st.lists(
    st.sampled_from(["x[m]", "x[:k]", "x[k:][::-1]", "x[x > 0]", "a[m][:, 1]", "x", "x[~m][:k]"]), min_size=1
)
USES = st.sampled_from(["np.sort({})", "np.cumsum({})", "{}[::-1]", "{} * 2", "np.flatnonzero({})", "{}[{} > 0]"])


@drawn(pieces=PIECES.filter(lambda p: len(p) < 5), use=USES, k=st.integers(-4, 8), size=st.tuples(
    st.sampled_from([0, 1, 2, 7]), st.sampled_from(["some", "none", "all"])
))  # fmt: skip
@settings(max_examples=15, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
def test_pieces_side_by_side(pieces, use, k, size):
    text = f"def f(x, a, m, k):\n    y = np.concatenate([{', '.join(pieces)}])\n    return {use.replace('{}', 'y')}\n"
    linecache.cache["<selected>"] = (len(text), None, text.splitlines(True), "<selected>")
    exec(compile(text, "<selected>", "exec"), names := {"np": np})
    assert not differs(names["f"], al.function(names["f"], executor="native"), given(*size), k), text


class _Guarded:
    """NumPy, of which arrays of any values have some elements more behind them."""

    def __init__(self):
        self.made = []

    def __getattr__(self, name):
        return getattr(np, name)

    def empty(self, shape, dtype):
        whole = np.full(math.prod((shape,) if isinstance(shape, int) else shape) + 4, 7, dtype)
        self.made.append(whole)
        return whole[:-4].reshape(shape)


@each([
    lambda x: x[np.triu(np.ones((3, 3)), 1) > 0],
    lambda x: (x[np.array([True, False, False])], x[0][np.array([True, True, False])]),
    lambda x: x[np.array([True, False, False]), 1:],
    lambda x: (x[:, np.array([True, False, False])], x[:, [False, True, False]] + x),
    lambda x: (np.argwhere(np.eye(3) > 0) + x[0, 0], np.flatnonzero([1, 0, 0]) * x[0, 0]),
    lambda x: x[np.array([False, False, False])],
])  # fmt: skip
def test_behind_what_a_known_mask_selects_nothing_is_written(f):
    guarded, x = _Guarded(), np.arange(9.0).reshape(3, 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native_call, "np", guarded)
        found = al.function(f, executor="native")(x)
    assert not apart(found, f(x))
    assert guarded.made and all((whole[-4:] == 7).all() for whole in guarded.made)
