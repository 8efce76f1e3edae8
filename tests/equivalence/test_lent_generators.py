"""Random generators are lent to a trace: each call draws from its own, whichever it is, and there is one trace."""

from __future__ import annotations

import copy
import gc
import random
import threading

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import EXECUTORS
from harness import alike

MADE = [np.random.default_rng, np.random.RandomState, random.Random]


def state_of(generator):
    if isinstance(generator, random.Random):
        return generator.getstate()
    if isinstance(generator, np.random.RandomState):
        return str(generator.get_state())
    return str(generator.bit_generator.state)


def until(generator, most):
    total, turns = most.copy() * 0, 0
    while total < most:
        step = generator.uniform(0, 1)
        total += step * step
        turns += 1
    return total, turns


@each([(make, executor) for make in MADE for executor in EXECUTORS])
def test_each_call_draws_from_its_own(make, executor):
    f = al.function(until, executor=executor)
    for seed in (1, 2, 1, 3):
        ours, plain = make(seed), make(seed)
        for most in (np.float64(3), np.float64(5)):
            assert f(ours, most) == until(plain, most)
            assert state_of(ours) == state_of(plain)
    assert f.tracing_count == 1


class Walk:
    def __init__(self, seed):
        self.generator, self.place = np.random.default_rng(seed), np.zeros(2)

    def step(self, n):
        for _ in range(n):
            self.place += self.generator.normal(size=2)
        return self.place.sum()


def test_instances_with_generators_of_their_own_share_a_trace():
    made = type("Made", (Walk,), {"step": al.function(Walk.step)})
    counts = []
    for seed in (1, 2, 3):
        ours, plain = made(seed), Walk(seed)
        for n in (2, 3):
            assert ours.step(np.int64(n)) == plain.step(np.int64(n))
        assert alike([ours.place], [plain.place])
        counts.append(ours.step.tracing_count)
    assert counts[1:] == [0, 0]


class Holder:
    generator = None


def kept(rng, holder):
    holder.generator = rng
    return rng.random()


def given_back(rng, holder):
    return rng, rng.random()


def listed(rng, holder):
    found = [rng, rng]
    return found[0].random(), found[1] is rng


def bits(rng, holder):
    return np.random.Generator(rng.bit_generator).random(), rng.bit_generator.state["state"]["state"] % 7


def shown(rng, holder):
    return repr(rng), rng.random()


def identified(rng, holder):
    return id(rng), rng.random()


def copied(rng, holder):
    return copy.deepcopy(rng).random(), rng.random()


def spawned(rng, holder):
    return [child.random() for child in rng.spawn(2)], rng.random()


def in_place(rng, holder):
    x = np.arange(5)
    rng.shuffle(x)
    return rng.permuted(x, out=x), x


def defaulted(rng, holder, other=None):
    if other is None:
        other = rng
    return other.random(), rng.random()


def asked(rng, holder):
    name = "random"
    return getattr(rng, name)()


def in_closure(rng, holder):
    draw = lambda: rng.random()  # noqa: E731
    total = 0.0
    while total < 2:
        total += draw()
    return total


PROGRAMS = [kept, given_back, listed, bits, shown, identified, copied, spawned, in_place, defaulted, asked, in_closure]


@pytest.mark.filterwarnings("ignore:.* runs as plain Python")
@each(PROGRAMS)
def test_what_else_is_done_with_them_is_as_plain(program):
    f = al.function(program)
    for seed in (1, 2):
        ours, plain = np.random.default_rng(seed), np.random.default_rng(seed)
        holders = Holder(), Holder()
        for _ in range(2):
            found, expected = f(ours, holders[0]), program(plain, holders[1])
            if program in (shown, identified):
                assert found[0] == (repr(ours) if program is shown else id(ours))
                found, expected = found[1:], expected[1:]
            if program is given_back:
                assert found[0] is ours
                found, expected = found[1:], expected[1:]
            np.testing.assert_array_equal(np.ravel(np.array(found, object)), np.ravel(np.array(expected, object)))
            assert (holders[0].generator is ours) == (holders[1].generator is plain)
            assert state_of(ours) == state_of(plain)


def both(one, other):
    return one.random() - other.random(), one is other


def test_two_may_be_one():
    f = al.function(both)
    a, b = np.random.default_rng(1), np.random.default_rng(2)
    p, q = np.random.default_rng(1), np.random.default_rng(2)
    for _ in range(2):
        assert f(a, b) == both(p, q)
        assert f(a, a) == both(p, p)
        assert f(b, a) == both(q, p)


def test_threads_draw_each_from_its_own():
    f, found = al.function(until), {}
    begin = threading.Barrier(4)

    def work(seed):
        rng = np.random.default_rng(seed)
        begin.wait()
        found[seed] = [f(rng, np.float64(200 + k)) for k in range(20)]

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    for seed in range(4):
        rng = np.random.default_rng(seed)
        assert found[seed] == [until(rng, np.float64(200 + k)) for k in range(20)]


def fails(rng, n):
    total = 0.0
    for _ in range(n):
        total += rng.normal()
    return np.zeros(3)[n] + rng.random() * total


@each(EXECUTORS)
def test_a_run_that_raises_lets_go_of_them(executor):
    f = al.function(fails, executor=executor)
    for n in (1, 5, 2, 7, 1):
        ours, plain = np.random.default_rng(n), np.random.default_rng(n)
        if n < 3:
            assert f(ours, np.int64(n)) == fails(plain, np.int64(n))
        else:
            with pytest.raises(IndexError):
                f(ours, np.int64(n))
    rng = np.random.default_rng(4)
    f(rng, np.int64(1))
    gc.collect()
    assert not [one for one in gc.get_referrers(rng) if isinstance(one, dict) and one is not globals()]


def test_gradients_draw_from_the_generator_of_the_call():
    def noisy(x, rng):
        return np.sum(x * rng.normal(size=3))

    slope = al.function(al.grad(noisy))
    for seed in (1, 2):
        ours, plain = np.random.default_rng(seed), np.random.default_rng(seed)
        np.testing.assert_array_equal(slope(np.ones(3), ours), plain.normal(size=3))
        assert state_of(ours) == state_of(plain)


def of_library(rng):
    return sorted(rng.random(3)), next(iter([rng])).random(), stats.norm.rvs(size=2, random_state=rng).sum()


def of_library_alone(rng):
    return stats.norm.rvs(size=2, random_state=rng).sum()


def of_library_in_a_loop(rng):
    total = 0.0
    while total < rng.uniform(2, 3):
        total += abs(stats.norm.rvs(random_state=rng))
    return total


def of_library_from_a_global(rng):
    return stats.norm.rvs(size=2, random_state=SHARED).sum() + rng.random()


SHARED = np.random.default_rng(5)


def test_a_library_draws_from_the_generator_of_the_call():
    """It draws while tracing: that is undone, and plain Python runs the function."""
    global SHARED, stats
    stats = pytest.importorskip("scipy.stats")
    for program in (of_library, of_library_alone, of_library_in_a_loop, of_library_from_a_global):
        f, others = al.function(program), [np.random.default_rng(5), np.random.default_rng(5)]
        with pytest.warns(UserWarning, match="runs as plain Python.*random numbers"):
            for seed in (1, 2, 1):
                ours, plain = np.random.default_rng(seed), np.random.default_rng(seed)
                for _ in range(2):
                    SHARED = others[0]
                    found = f(ours)
                    SHARED = others[1]
                    assert found == program(plain)
                    assert state_of(ours) == state_of(plain)
    assert state_of(others[0]) == state_of(others[1]) != state_of(np.random.default_rng(5))
