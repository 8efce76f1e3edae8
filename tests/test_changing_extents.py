"""Arrays whose shapes change from call to call: after a few traces one serves all, and gives what plain Python does."""

from __future__ import annotations

import warnings

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import needs_native


def looped(x):
    s, out = 0.0, np.zeros(len(x))
    for i in range(1, len(x)):
        s = s * 0.5 + x[i]
        out[i] = s + out[i - 1]
    return out, s, len(x), x.shape


def decided(x):
    if len(x) > 4:
        return x[: len(x) // 2] * 2
    return x[1:] - 1


def written(x):
    x[1:-1] = x[2:] + x[:-2]
    return x


def ordered(x):
    return x[:, None] * x, (x[:, None] + x).T, np.outer(x, x).sum(0)


def shared(x):
    y = x * 2
    return y, y[1:], x, x[::2], y.sum(), x.size, x.dtype


def counted_up(x):
    while x.sum() < 4 * len(x) - 40:  # for some lengths it is the argument itself that is given
        x = x + 1
    return x


def either(x):
    return x[1:] if x.sum() < 10 else x * 2


def same(got, want):
    assert type(got) is type(want)
    if isinstance(want, tuple):
        assert len(got) == len(want)
        for one, other in zip(got, want):
            same(one, other)
    elif isinstance(want, np.ndarray):
        assert got.flags.writeable == want.flags.writeable and got.strides == want.strides
        np.testing.assert_array_equal(got, want)
    else:
        assert got == want


def arrays_in(result):
    return [one for one in (result if isinstance(result, tuple) else (result,)) if isinstance(one, np.ndarray)]


@each([looped, decided, written, ordered, shared, counted_up, either])
def test_one_trace_serves_all_shapes(f):
    decorated = al.function(f, executor="sequential")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in [5, 7, 6, *range(2, 20), 1, 0]:
            x, y = np.arange(n) / 4, np.arange(n) / 4
            got, want = decorated(x), f(y)
            same(got, want)
            same(x, y)
            ours, theirs = [x, *arrays_in(got)], [y, *arrays_in(want)]
            assert [[np.shares_memory(a, b) for b in ours] for a in ours] == [
                [np.shares_memory(a, b) for b in theirs] for a in theirs
            ]
    assert decorated.tracing_count == 6  # of three lengths, of all, of 1 and of 0


def listed(x):
    return [x[k] for k in range(x.shape[0])]  # as many leaves as elements


def flat(x):
    return x.reshape(-1), np.ascontiguousarray(x)  # the very memory of x


def laid_out(x):
    return x.strides


@each([listed, flat, laid_out])
def test_where_extents_must_be_known_each_shape_has_its_trace(f):
    decorated = al.function(f, executor="sequential")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n in range(2, 8):
            x = np.arange(2.0 * n).reshape(n, 2)
            got, want = decorated(x), f(x)
            assert [np.shares_memory(one, x) for one in arrays_in(got)] == [
                np.shares_memory(one, x) for one in arrays_in(want)
            ]
            np.testing.assert_equal(got, want)


def test_what_stays_is_known_and_numbers_that_change_along_are_inputs():
    def f(x, n, m):
        return x[:n].sum() * m, x.shape[1] + n

    decorated = al.function(f, executor="sequential")
    for n in range(2, 12):
        x = np.arange(3.0 * n).reshape(n, 3)
        same(decorated(x, n - 1, 2), f(x, n - 1, 2))
    assert decorated.tracing_count == 4


def test_arrays_in_another_order_and_large_ones_are_traced_for_themselves():
    decorated = al.function(lambda a: a * 2, executor="sequential")
    for n in range(2, 8):
        for a in (np.ones((n, 3)), np.ones((3, n)).T, np.ones((n, 6))[:, ::2]):
            assert decorated(a).strides == (a * 2).strides
    large = al.function(lambda x: x + 1, executor="sequential")
    for n in range(5):
        large(np.zeros((1 << 17) + n))
    assert large.tracing_count == 5


def test_errors_are_those_of_the_shapes_of_the_call():
    def f(x, y):
        return x + y, x[4]

    decorated = al.function(f, executor="sequential")
    for n in range(5, 10):
        decorated(np.ones(n), np.ones(n))
    for n, m, kind in ((3, 3, IndexError), (7, 8, ValueError)):
        with pytest.raises(kind) as ours:
            decorated(np.ones(n), np.ones(m))
        with pytest.raises(kind) as theirs:
            f(np.ones(n), np.ones(m))
        assert str(ours.value).split("\n")[0] == str(theirs.value)
    assert decorated.tracing_count == 4


def rows(x, y):
    x[0] = x[-1]
    return x * y, x.sum(0)


def taller(x, y):
    return np.concatenate([x, y], 1), x.T @ y, np.zeros((len(y), 3)) + 1


def vectors(*lengths):
    return tuple([np.arange(1.0, n + 1) / 4 for n in lengths])


def matrices(*shapes):
    return tuple([np.arange(1.0, n * m + 1).reshape(n, m) / 4 for n, m in shapes])


#: functions, what gives their arguments, and what it is asked for
OF_ALL_SIZES = {
    "one": (looped, vectors, [(n,) for n in (5, 7, 6, 64, 2, 300, 1, 0, 3, 2000, 9)]),
    "parts": (written, vectors, [(n,) for n in (5, 7, 6, 64, 2, 300, 1, 0, 3, 2000, 9)]),
    "two alike": (rows, matrices, [((n, 3), (n, 3)) for n in (5, 7, 6, 64, 2, 300, 1, 9)]),
    "two": (
        rows,
        matrices,
        [((n, m), (n, m)) for n, m in ((5, 3), (7, 4), (6, 6), (64, 2), (2, 64), (3, 300), (8, 1))],
    ),
    "one of them": (rows, matrices, [((n, 3), (1, 3)) for n in (5, 7, 6, 64, 2, 300, 1, 9)]),
    "joined": (taller, matrices, [((n, 2), (n, 3)) for n in (5, 7, 6, 64, 2, 300, 9, 3)]),
    "large": (
        lambda x: (x[:, None] * x, np.zeros(len(x) * 512) + 1),
        vectors,
        [(n,) for n in (5, 7, 6, 200, 70, 400, 2)],
    ),
}


@needs_native
@each(OF_ALL_SIZES, one_in=2)
def test_calls_of_all_sizes_go_straight_to_machine_code(name):
    """After growth and shrinking, also of arrays in another order, and of the same array twice."""
    f, make, kinds = OF_ALL_SIZES[name]
    decorated = al.function(f, executor="native")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(12):
            for given in kinds[:4]:
                decorated(*make(*given))
        for given in [*kinds, *kinds[::-1]]:
            ours, theirs = make(*given), make(*given)
            for mine, other in [(ours, theirs), (ours[:1] * len(ours), theirs[:1] * len(theirs))]:
                compared(decorated, f, mine, other)
            compared(decorated, f, [in_another_order(x) for x in ours], [in_another_order(x) for x in theirs])


def in_another_order(x):
    return np.asfortranarray(x) if x.ndim > 1 else x[::-1]


def compared(decorated, f, mine, other):
    try:
        want = f(*other)
    except (ValueError, IndexError) as raised:
        with pytest.raises(type(raised)):
            decorated(*mine)
        return
    got = decorated(*mine)
    assert type(got) is type(want)
    for one, another in zip([*arrays_in(got), *mine], [*arrays_in(want), *other], strict=True):
        assert one.shape == another.shape and one.dtype == another.dtype
        np.testing.assert_allclose(one, another, rtol=1e-14)


@needs_native
def test_one_machine_code_is_entered_with_all_sizes():
    """No call of another size goes the usual way, where traces are looked for."""
    decorated = al.function(lambda x, y: (x + y, (x * y).sum()), executor="native")
    for n in [5, 7, 6, *[64, 20] * 30]:
        decorated(*vectors(n, n))
    call = decorated.entry.__globals__["_autoloop_call"]
    assert "machine" in call.__code__.co_names
    refused = []
    call.__globals__["otherwise"] = lambda args, kwargs: refused.append(args[0].shape)
    for n in (2, 3, 5, 700, 1, 0):
        decorated(*vectors(n, n))
    decorated(*vectors(5, 6))
    decorated(np.ones((4, 4)), np.ones((4, 4)))
    assert refused == [(1,), (0,), (5,), (4, 4)]


def test_traces_for_all_shapes_run_in_machine_code_of_all_sizes():
    pytest.importorskip("llvmlite")
    decorated = al.function(looped, executor="native")
    for n in range(2, 30):
        x = np.arange(n) / 4
        np.testing.assert_allclose(decorated(x)[0], looped(x)[0])
    assert decorated.tracing_count == 4
