"""Machine code that is called with the objects of a call themselves does what other ways do."""

from __future__ import annotations

import copy
import signal
import sys
import threading
import time

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import needs_native
from test_fast_path import (
    A,
    F,
    I,
    Kind,
    Stop,
    Sub,
    add,
    both,
    described,
    failing,
    is_on_it,
    listed,
    nothing,
    often,
    outside,
    swapped,
    told,
    written,
)


def two_of_each(x, y):
    return x * 2, (x * 2).sum(), y + 1, x + 1


def turned(x):
    return (x + 1).T


def numbers(x, n):
    i, s = 0, 0.5
    while i < n:
        i, s = i + 1, s + x[i]
    return i, s


def counts(values, many):
    for v in values:
        many[v] += 1


def sorts(x, y):
    x[:] = np.sort(x)
    y[0] = x[1]
    return y


def filled(x, n):
    for i in range(n):
        x[i] = 1.0 / (i + 1)
    return x.sum()


def inverse(x):
    return np.linalg.inv(x)


def chosen(x, y):
    if y > 0:
        x = x * 2
    return x


def labelled(x, y):
    return {"sum": x + y, "of": [2, x]}


def with_constants(x, y):
    return x + y, None, 3, "a", (x * y).sum(), -0.0


def tail(x):
    return x[1:]


def of_two_types(x, n):
    s = 0.0
    for i in range(n):
        s = s + x * i
    return s


def is_large(x):
    return float(x.sum()) > 1


WORLD = [np.arange(3.0)]


def from_the_world(x):
    return x * WORLD[0]


def into_the_world(x):
    x[0] += WORLD[0][1]
    WORLD[0][2] = x[0]
    return x


class Counter:
    def __init__(self):
        self.weights, self.calls = np.arange(3.0), 0

    @al.function(executor="native")
    def weighed(self, x):
        self.calls += 1
        return x * self.weights


#: the function, its arguments, and whether its machine code is called with these
ENTERED = {
    "scalars": Kind(add, (F(1), F(2))),
    "arrays": Kind(add, (A(3.0), A(3.0))),
    "tensors": Kind(add, (al.constant(1), al.constant(2))),
    "a list": Kind(lambda x, y: [x + y, y + 1], (A(3.0), F(1))),
    "four results": Kind(two_of_each, (A(3.0), I(1))),
    "in another order": Kind(turned, (A(6.0).reshape(2, 3),)),
    "Python's numbers": Kind(numbers, (A(5.0), I(3))),
    "complex numbers": Kind(add, (np.complex128(1j), A(3.0) + 1j)),
    "truth values": Kind(lambda x, y: (x and y, y), (np.True_, np.True_)),
    "half numbers": Kind(add, (np.float16(1), A(3, dtype=np.float16))),
    "Python numbers": Kind(add, (1.5, A(3.0))),
    "an argument in a list": Kind(listed, (A(3.0), F(1))),
    "globals": Kind(outside, (F(9),)),
    "an argument that is written to": Kind(written, (A(3.0), F(1))),
    "two arrays that are written to": Kind(swapped, (A(3.0), A(3.0))),
    "what may turn out not to be there": Kind(counts, (A(3) % 2, A(3))),
    "sorted": Kind(sorts, (A(3.0)[::-1].copy(), A(3.0))),
    "written and given": Kind(filled, (A(5.0), I(4))),
    "a constant": Kind(nothing, (A(3.0),)),
    "what raises": Kind(failing, (F(1), F(1)), straight=False),
    "an argument or another array": Kind(chosen, (A(3.0), F(1))),
    "the argument itself": Kind(chosen, (A(3.0), F(-1))),
    "a dict": Kind(labelled, (A(3.0), F(1))),
    "constants beside": Kind(with_constants, (A(3.0), F(1))),
    "a view": Kind(tail, (A(3.0),)),
    "a number of two types": Kind(of_two_types, (F(3), I(4))),
    "of the other type": Kind(of_two_types, (F(3), I(0))),
    "a truth value of Python's": Kind(is_large, (A(3.0),)),
    "an array of the world": Kind(from_the_world, (A(3.0),)),
    "what raises in a kernel": Kind(inverse, (np.eye(3),)),
}


def is_entered(f):
    """Whether the newest fast path of ``f`` calls machine code."""
    return "machine" in f.entry.__globals__["_autoloop_call"].__code__.co_names


@needs_native
@pytest.mark.filterwarnings("ignore:.* runs as plain Python", "ignore:.* was traced")
@each(ENTERED)
def test_machine_code_looks_at_what_it_is_called_with(name):
    kind = ENTERED[name]
    f, args = al.function(kind.f, executor="native"), kind.args
    expected = al.function(kind.f)
    often(f, args)
    assert is_on_it(f) and is_entered(f) >= kind.straight
    for turn in range(3):
        assert told(f, args, {}) == told(expected, args, {}), turn
    arrays = [k for k, one in enumerate(args) if type(one) is np.ndarray]
    for k in arrays:
        for other in others_of(args[k]):
            given = (*args[:k], other, *args[k + 1 :])
            assert told(f, given, {}) == told(expected, given, {}), other
    assert is_entered(f) >= kind.straight
    assert told(f, args, {}) == told(expected, args, {})
    assert told(f, (*args, 1), {}) == told(expected, (*args, 1), {})


@needs_native
@pytest.mark.filterwarnings("ignore:.* runs as plain Python", "ignore:.* was traced")
@pytest.mark.parametrize("f", [from_the_world, into_the_world])
def test_machine_code_looks_at_what_it_finds_in_the_world(f):
    decorated = al.function(f, executor="native")

    def outcome(f, array):
        WORLD[0], x = copy.deepcopy((array, A(3.0)))
        return described(f(x)), described(x), described(WORLD[0])

    def of_itself(f):
        WORLD[0] = A(3.0)
        return described(f(WORLD[0])), described(WORLD[0])

    def of_a_part(f):
        WORLD[0] = A(6.0)[::2]
        return described(f(WORLD[0].base[1:4])), described(WORLD[0].base)

    for _ in range(10):
        assert outcome(decorated, A(3.0)) == outcome(f, A(3.0))
    assert is_entered(decorated)
    for other in [*others_of(A(3.0)), A(3.0, dtype=np.float32), A(4.0)[:3], A(6.0).reshape(2, 3)[1], A(3) + 1j]:
        if type(other) is Sub or (f is into_the_world and other.dtype.kind == "c"):
            continue  # which plain Python does
        assert outcome(decorated, other) == outcome(f, other), other
        assert outcome(decorated, A(3.0)) == outcome(f, A(3.0))
    for shared in (of_itself, of_a_part):
        assert shared(decorated) == shared(f)
    assert outcome(decorated, A(3.0)) == outcome(f, A(3.0))


@needs_native
@pytest.mark.filterwarnings("ignore:.* was traced")
def test_machine_code_of_a_method_changes_the_instance():
    counters = Counter(), Counter()
    for k in range(20):
        for one in counters:
            assert one.weighed(A(3.0)).tolist() == [0.0, 1.0 * one.weights[1], 2.0 * one.weights[2]]
            one.weights = one.weights + 1.0
    assert [one.calls for one in counters] == [20, 20]
    assert all(is_entered(one.weighed.function) for one in counters)


@needs_native
@pytest.mark.auto
def test_what_only_plain_python_gives_is_given_where_machine_code_was_settled(monkeypatch):
    """A number of more than 64 bits: the call is made again."""

    def powers(n):
        t = 1
        for _ in range(n):
            t = t * 3
        return t

    f = al.function(powers)
    f(I(5))
    automatic_of(f, I(5)).settled = code_of(f, I(5))
    often(f, (I(5),), count=100)
    assert is_entered(f)
    assert [f(I(n)) for n in (5, 100, 6)] == [3**5, 3**100, 3**6]


def automatic_of(f, *args):
    return f.get_concrete_function(*args).runner.automatic._only


def code_of(f, *args):
    tier_up = f.get_concrete_function(*args).runner.automatic._tier_up
    tier_up._make(automatic_of(f, *args).shapes)
    return tier_up.find(automatic_of(f, *args).shapes)


def others_of(array):
    """Arrays of the same dtype and shape that lie otherwise."""
    yield np.flip(np.flip(array).copy())
    yield np.asfortranarray(array)
    unaligned = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    unaligned[...] = array
    yield unaligned
    yield array.copy().view(Sub)


@needs_native
def test_results_of_machine_code_are_new():
    f = al.function(two_of_each, executor="native")
    x = A(3.0)
    first = often(f, (x, I(1)))
    kept = copy.deepcopy(first)
    again = f(x, I(1))
    assert is_entered(f) and described(first) == described(kept) == described(again)
    for one in again:
        assert all(one is not other for other in (*first, x))
    for one in (again[0], again[3]):
        one[:] = -1
        assert one.flags.owndata and not np.may_share_memory(one, x)
    assert described(f(x, I(1))) == described(kept)


@needs_native
def test_what_machine_code_fails_for_is_told_again_and_again():
    def root(x):
        return np.linalg.inv(x)

    f = al.function(root, executor="native")
    often(f, (np.eye(3),))
    assert is_entered(f)
    for _ in range(3):
        with pytest.raises(np.linalg.LinAlgError, match="Singular"):
            f(np.zeros((3, 3)))
        assert f(np.eye(3)).tolist() == np.eye(3).tolist()
    with np.errstate(all="raise"), pytest.raises(np.linalg.LinAlgError):
        f(np.zeros((3, 3)))


def turns(x, n):
    i = 0
    while i < n:
        x, i = x * 0.5 + 1.0, i + 1
    return x


@needs_native
def test_machine_code_that_is_called_while_it_runs():
    """Threads, and a signal handler, call what is running; one call that is stopped leaves nothing behind."""
    f, wrong = al.function(turns, executor="native"), []
    often(f, (F(1), I(3)))
    assert is_entered(f)

    def many(k):
        for turn in range(200):
            args = F(k), I(turn * 20)
            if f(*args) != turns(*args):
                wrong.append(args)

    threads = [threading.Thread(target=many, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    inside = []

    def handler(*_):
        inside.append(f(F(3), I(5)))
        raise Stop

    before = signal.signal(signal.SIGALRM, handler)
    try:
        for _ in range(2):
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            with pytest.raises(Stop):
                f(F(1), I(1 << 60))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert inside == [turns(F(3), I(5))] * 2 and f(F(3), I(5)) == inside[0]


@needs_native
def test_machine_code_gives_references_back():
    f = al.function(sorts, executor="native")
    x, y = A(3.0), A(3.0)
    often(f, (x, y))
    g = al.function(both, executor="native")
    often(g, (F(1), x))
    assert is_entered(f) and is_entered(g)
    dtype = x.dtype
    counts_before = [sys.getrefcount(one) for one in (x, y, None, dtype, NotImplemented)]
    for _ in range(1000):
        f(x, y)
        g(F(1), x)
        f(x, x[:])
    counts_after = [sys.getrefcount(one) for one in (x, y, None, dtype, NotImplemented)]
    assert all(abs(one - other) < 200 for one, other in zip(counts_before, counts_after))


@needs_native
@pytest.mark.auto
@pytest.mark.filterwarnings("ignore:.* runs as plain Python")
def test_calls_go_to_machine_code_once_that_is_settled():
    """Also where they had a fast path to what ran before; what machine code refuses goes there again."""
    f, values, begin = al.function(counts), A(3000) % 3, time.monotonic()
    while not is_entered(f) and time.monotonic() - begin < 30:
        many = np.zeros(3, np.int64)
        f(values, many)
        assert many.tolist() == [1000] * 3
    assert is_entered(f)
    values[5] = 7
    for _ in range(3):
        mine, theirs = np.zeros(3, np.int64), np.zeros(3, np.int64)
        assert told(f, (values, mine), {}) == told(counts, (values, theirs), {})
        assert mine.tolist() == theirs.tolist()
    values[5] = 2
    f(values, mine)
    assert mine.tolist() == [1000] * 3
