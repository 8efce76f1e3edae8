"""Under a limit to memory what runs ahead waits, somebody always goes on, and results are the same."""

from __future__ import annotations

import threading
import time
import weakref

import autoloop as al
import numpy as np
import pytest
from api import ELEMENTS, Executable, Graph, MemoryLimit, Op, TensorShape, config, lower
from each_case import each
from flow import ADD, const, counted, heavy, priced, probe, scalar
from flow import call as node
from test_interleavings import PROGRAMS, N, X, lowered_of

LARGE = ELEMENTS.but(price=priced(1e9).price)


@pytest.fixture(autouse=True)
def no_limit():
    yield
    config.set_memory_limit(None)


class Meter:
    """The bytes of the arrays that ``made`` has been told of and somebody still holds, and the most there were."""

    def __init__(self):
        self.held, self.lock, self.most = {}, threading.Lock(), 0

    def made(self, array):
        with self.lock:
            key = len(self.held)
            self.held[key] = weakref.ref(array), array.nbytes
            self.most = max(self.most, sum(size for reference, size in self.held.values() if reference() is not None))
        return array


def ahead(meter, n, size, window, traits=LARGE, takes=lambda x: 0.0):
    """A loop that makes an array in each iteration, which a chain goes through one after the other: the lowered graph.

    The counter runs ahead, and so does what makes the arrays.
    """
    kind = np.dtype(np.float64)
    shape = TensorShape([size])
    make = Op("make", lambda i: (kind, shape), lambda i: meter.made(np.full(size, float(i))), traits=traits)
    double = Op("double", lambda x: (kind, shape), lambda x: meter.made(x * 2), traits=traits)
    total = heavy(lambda s, x: s * 3 % 1009 + int(x[0]) + len(x) * (x[0] == x[-1]) + takes(x) * 0)
    graph = Graph()
    _, s = counted(
        graph, n, lambda g, i, s: [node(total, s, node(double, node(make, i)))], [scalar(graph)], window=window
    )
    return lower(graph, [s], graph.inputs)


def filled(lowered, meter, limit, threads):
    """What a run gives, and the most bytes that there were."""
    meter.held.clear()
    meter.most = 0
    config.set_memory_limit(limit)
    return Executable(lowered).run([np.int64(1)], threads=threads), meter.most


def fits(n, bytes_of_each, limit):
    meter = Meter()
    lowered = ahead(meter, n, bytes_of_each // 8, window=n)
    for threads in (1, 2, 4):
        result, most = filled(lowered, meter, limit, threads)
        # a thread that has been stopped may still hold what the kernel that it ran has needed
        assert most <= limit + bytes_of_each * (threads - 1)
        yield result


def test_a_loop_that_would_fill_memory_runs_in_a_small_part_of_it():
    meter = Meter()
    lowered = ahead(meter, 50, 1 << 17, window=50)
    want, most = filled(lowered, meter, None, 1)
    assert most >= 50 << 20
    assert list(fits(50, 1 << 20, 4 << 20)) == [want] * 3


def test_what_lets_go_of_arrays_is_waited_for():
    """A kernel that makes no array, but has one, was nobody to wait for: all others were made meanwhile."""
    meter, begun = Meter(), []

    def takes(x):
        begun.append(len(meter.held))
        time.sleep(0.002)  # others could make dozens of arrays
        return float(x[0])

    lowered = ahead(meter, 30, 1 << 17, window=30, takes=takes)
    for threads in (2, 4):
        _, most = filled(lowered, meter, 4 << 20, threads)
        assert most <= (4 + threads - 1) << 20
    assert len(begun) == 60


@pytest.mark.nightly
def test_four_gigabytes_in_a_sixteenth_of_them():
    results = list(fits(512, 8 << 20, 256 << 20))
    assert results[0] == results[1] == results[2]


def test_with_room_what_runs_ahead_does_so():
    meter = Meter()
    _, most = filled(ahead(meter, 50, 1 << 17, window=50), meter, 64 << 20, 4)
    assert 2 << 20 < most <= 64 << 20


def test_lines_of_light_kernels_are_gone_through_one_after_the_other():
    """A thousand lines of exp and sum: their arrays are too small for threads, and together are not. Without a limit
    they are batches, with one each kernel is counted."""
    graph, meter = Graph(), Meter()
    kind, shape = np.dtype(np.float64), TensorShape([2048])
    make = Op("make", lambda i: (kind, shape), lambda i: meter.made(np.full(2048, float(i))), traits=ELEMENTS)
    take = probe(lambda s, x: s + int(x[0]))
    x = scalar(graph)
    outs = [node(take, x, node(make, node(ADD, x, const(graph, k)))) for k in range(1000)]
    lowered = lower(graph, outs, [x])
    want, most = filled(lowered, meter, None, 1)
    assert most <= 4 * 8 * 2048
    for threads in (1, 3):
        assert filled(lowered, meter, 1 << 18, threads) == (want, 8 * 2048)


@each([(program, threads) for program in PROGRAMS for threads in (1, 2, 4)])
def test_without_any_room_programs_go_on_in_order(program, threads):
    lowered = lowered_of(program, 10)
    want = Executable(lowered).run([N, X], threads=1)
    config.set_memory_limit(0)
    for a, b in zip(want, Executable(lowered).run([N, X], threads=threads), strict=True):
        np.testing.assert_array_equal(a, b)


@each([1, 2, 4])
def test_a_failure_ends_a_run_that_waits_for_room(threads):
    graph, meter = Graph(), Meter()
    kind, shape = np.dtype(np.float64), TensorShape([1 << 17])

    def kernel(i):
        if i == 7:
            raise LookupError("on purpose")
        return meter.made(np.full(1 << 17, float(i)))

    make = Op("make", lambda i: (kind, shape), kernel, traits=LARGE)
    total = heavy(lambda s, x: s + int(x[0]))
    _, s = counted(graph, 20, lambda g, i, s: [node(total, s, node(make, i))], [scalar(graph)], window=20)
    config.set_memory_limit(1 << 20)
    executable = Executable(lower(graph, [s], graph.inputs))
    with pytest.raises(LookupError):
        executable.run([np.int64(0)], threads=threads)
    assert not [array for array, _ in meter.held.values() if array() is not None]


def test_what_is_over_is_not_counted_any_more():
    memory = MemoryLimit(1 << 20)
    meter = Meter()
    executable = Executable(ahead(meter, 20, 1 << 14, window=20))
    for _ in range(3):
        executable.run([np.int64(1)], threads=2, memory=memory)
        assert memory.live() == 0
    array = np.ones(100)
    assert memory.note(array[10:]) == 720 and memory.note(array) == 800
    assert memory.live() == 800
    del array
    assert memory.live() == 0


def test_an_array_that_leaves_while_another_comes_is_taken_off_once():
    memory = MemoryLimit(1 << 20)
    first, second = np.ones(100), np.ones(200)

    class Held(dict):
        """What another thread does just when an array has left it."""

        def left(self):
            if memory.live() == 0:
                memory.note(second)

        def pop(self, key):
            found = super().pop(key)
            self.left()
            return found

        def __delitem__(self, key):
            super().__delitem__(key)
            self.left()

    memory._held = Held()
    memory.note(first)
    del first
    assert memory.live() == second.nbytes


def test_two_threads_that_note_an_array_at_once_count_it_once():
    memory, array = MemoryLimit(1 << 20), np.ones(100)

    class Arrays(dict):
        """Another thread notes the array just when this one has asked whether it is there."""

        def __contains__(self, key):
            found = super().__contains__(key)
            if not found and not memory._held:
                memory._arrays = dict()
                memory.note(array)
                self.update(memory._arrays)
                memory._arrays = self
            return found

    memory._arrays = Arrays()
    memory.note(array)
    assert memory.live() == array.nbytes
    other = np.ones(10)
    memory.note(other)
    array = None
    assert memory.live() == other.nbytes


def test_a_session_has_a_limit_of_its_own():
    graph = Graph()
    with graph.as_default():
        n = al.compat.v1.placeholder(al.int32, [])
        total = al.while_loop(
            lambda i, s: i < n, lambda i, s: (i + 1, s + al.sum(al.exp(al.ones([300, 300]) * al.cast(i, al.float32)))),
            (al.constant(0), al.constant(0.0)), parallel_iterations=20,
        )[1]  # fmt: skip
    with al.Session(graph, memory_limit=1 << 19) as session, al.Session(graph) as free:
        assert session.run(total, {n: 20}) == free.run(total, {n: 20})
    for what in (-1, 1.5, True):
        with pytest.raises((ValueError, TypeError), match="memory limit"):
            al.Session(graph, memory_limit=what)
        with pytest.raises((ValueError, TypeError), match="memory limit"):
            config.set_memory_limit(what)
    assert config.get_memory_limit() is None
