"""Operations that machine code has NumPy's kernels do: values, failures, stopping, and when ``auto`` leaves them."""

from __future__ import annotations

import signal
import threading

import autoloop as al
import numpy as np
import pytest
from api import NativeRefusal

pytest.importorskip("llvmlite")


def ordered(x, n):
    for _ in range(n):
        x = x[np.argsort(x)] * 0.5 + x
    return x


def interpolated(x, n):
    grid = np.linspace(0, 1, 4)
    for k in range(n):
        x = np.interp(x, grid, grid**2) + k
    return x


def transformed(x, n):
    z = x.astype(complex)
    for _ in range(n):
        z = np.fft.fft(z)[::-1] / len(x)
    return z, np.fft.rfft(x)


def one_number(x, n):
    total = 0.0
    for k in range(n):
        total += np.median(x[k:]) * np.percentile(x, 10.0 * k)
    return total


def several_results(x, n):
    a = np.outer(x[:3], x[:3]) + np.eye(3)
    for _ in range(n):
        w, u = np.linalg.eigh(a)
        a = u * w
    return a, w


def of_parts(x, n):
    a = np.repeat(x, 4).reshape(-1, 4)
    for k in range(n):
        a = a + np.argsort(a[::-1, 1:3].T, axis=1).sum() + np.argsort(a.T[k]).sum()
    return a


def without_elements(x, n):
    for _ in range(n):
        x = x + np.argsort(x[:0]).size
    return x, np.argsort(x[:0])


def small_numbers(x, n):
    y = (x * 10).astype(np.int8)
    for _ in range(n):
        y = y[np.argsort(y > 2)] + np.argsort(y).astype(np.int8)
    return y, y > 1


def drawn_numbers(x, n):
    for k in range(n):
        if RNG.random() < 0.6:
            x = x + RNG.normal(0.5, 0.1) * RNG.integers(3)
    return x


def drawn_arrays(x, n):
    for k in range(n):
        x = np.where(x > 0, x + RNG.standard_normal(len(x)), RNG.permutation(x)) + RNG.normal(x, 0.1 * k)
    return x, RNG.choice(x)


def drawn_in_turn(x, n):
    np.random.seed(3)
    for k in range(n):
        x = x * np.random.rand() if np.random.randint(2) else x + np.random.uniform(-1, 1, 5)
    return x


#: a generator that traces of functions look up by each run
RNG = np.random.default_rng(3)


def several(results):
    return results if isinstance(results, tuple) else (results,)


PROGRAMS = [
    ordered, interpolated, transformed, one_number, several_results, of_parts, without_elements, small_numbers,
    drawn_numbers, drawn_arrays, drawn_in_turn,
]  # fmt: skip


@pytest.mark.parametrize("function", PROGRAMS)
def test_values_are_those_of_plain_numpy(function):
    x = np.array([0.3, 0.9, 0.1, 0.3, 0.7])
    run = al.function(function, executor="native")
    for _ in range(3):
        before = RNG.bit_generator.state
        wanted, after = several(function(x, 3)), RNG.bit_generator.state
        RNG.bit_generator.state = before
        found = several(run(x, 3))
        assert RNG.bit_generator.state == after
        for ours, plain in zip(found, wanted, strict=True):
            assert type(ours) is type(plain)
            np.testing.assert_allclose(ours, plain, rtol=1e-12, strict=True)
        x = x * 0.9 + 0.01


def test_what_a_kernel_raises_is_told_as_everywhere():
    def solved(x, n):
        for k in range(n):
            x = x - k * np.linalg.svd(x)[1]
            x = np.where(k == 1, np.nan, x)
        return x

    def failure(executor):
        with pytest.raises(np.linalg.LinAlgError) as caught:
            al.function(solved, executor=executor)(np.eye(2), np.int64(5))
        return str(caught.value), caught.value.__notes__, [str(t.path) for t in caught.traceback][-1:]

    assert failure("native") == failure("sequential")
    assert "iteration 2 of the loop" in failure("native")[1][0]


def spread(x, n):
    for k in range(n):
        x = x + RNG.normal(x, 1.0 - k)
    return x


def numbers_of_another(x, n):
    for _ in range(n):
        x = x + RNG.random()
    return x


@pytest.mark.parametrize("function", [spread, numbers_of_another])
def test_what_a_generator_raises_is_told_as_everywhere_and_nothing_is_drawn_twice(function, monkeypatch):
    x = np.ones(3)

    def failure(executor):
        generator = np.random.default_rng(3)
        monkeypatch.setitem(globals(), "RNG", generator)
        run = al.function(function, executor=executor)
        run(x, np.int64(1))
        if function is numbers_of_another:
            monkeypatch.setitem(globals(), "RNG", None)
        with pytest.raises((ValueError, AttributeError)) as caught:
            run(x, np.int64(5))
        return type(caught.value), str(caught.value), caught.value.__notes__, generator.bit_generator.state

    assert failure("native") == failure("sequential")


def test_what_may_be_given_up_does_not_draw_before():
    def broadcast(x, n):
        for _ in range(n):
            x = x + RNG.random()
        kept = x[x > 1]
        return kept * x[x > 2]

    with pytest.raises(NativeRefusal, match="draws random numbers"):
        al.function(broadcast, executor="native")(np.ones(3), np.int64(2))


def test_calls_of_several_threads_have_their_own_arrays():
    run = al.function(ordered, executor="native")
    given = [np.random.default_rng(k).random(50) for k in range(4)]
    wanted, found = [ordered(x, 200) for x in given], {}
    run(given[0], 200)

    def work(k):
        found[k] = all(np.array_equal(run(given[k], 200), wanted[k]) for _ in range(5))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == dict.fromkeys(range(4), True)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")
@pytest.mark.parametrize("kind", [KeyboardInterrupt, ValueError])
def test_a_signal_handler_ends_the_run(kind):
    def stop(*_):
        raise kind

    run = al.function(ordered, executor="native")
    x = np.linspace(0, 1, 64)
    run(x, np.int64(1))
    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        with pytest.raises(kind):
            run(x, np.int64(10**8))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    np.testing.assert_array_equal(run(x, np.int64(2)), ordered(x, 2))


def test_auto_leaves_what_would_mostly_be_called():
    def busy(x, n):
        for _ in range(n):
            for _ in range(50):
                x = np.sin(x) * 0.5 + x[0] * 0.1
            x = x[np.argsort(x)]
        return x

    def why(function):
        return al.function(function).get_concrete_function(np.ones(4), np.int64(9)).runner.reason

    assert "would call NumPy" in why(ordered)
    assert "would call NumPy" not in why(busy)


def test_loops_whose_values_leave_memory_call_kernels():
    def ordered_sum(swapped, a, x):
        for _ in al.range(9):
            al.set_loop_options(swap_memory=swapped)
            x = al.sin(x) * a + al.cast(np.argsort(x), al.float64) * 1e-3
        return al.sum(x)

    def gradients(swapped):
        f = al.value_and_grad(lambda a, x: ordered_sum(swapped, a, x), (0, 1))
        return al.nest.flatten(al.function(f, executor="native")(x, x))

    x = np.linspace(1, 0.5, 50)
    al.config.set_swap_budget(0)
    try:
        for swapped, kept in zip(gradients(True), gradients(False), strict=True):
            np.testing.assert_array_equal(swapped, kept)
    finally:
        al.config.set_swap_budget(None)


def test_a_kernel_that_writes_where_an_array_lies_is_called_there():
    def first(a, m, n):
        a.partition(3)
        b = np.partition(a, 5)
        for i in range(n):
            m[i, ::2].partition(2)
            m.T[i].partition(1)
            m += 1
        return a[:4], b

    def given():
        rng = np.random.default_rng(2)
        return rng.random(20), np.asfortranarray(rng.random((8, 8)))

    f, ours, plain = al.function(first, executor="native"), given(), given()
    for _ in range(2):
        got = f(*ours, np.int64(3))
        want = first(*plain, 3)
        for one, other in zip((*got, *ours), (*want, *plain), strict=True):
            np.testing.assert_array_equal(one, other)
        assert np.shares_memory(got[0], ours[0])
    with pytest.raises(ValueError, match="out of bounds"):
        al.function(lambda a: a.partition(99), executor="native")(ours[0])
