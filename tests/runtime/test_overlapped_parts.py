"""Kernels outside of loops that are handed out in native memory, beside NumPy."""

from __future__ import annotations

import signal
import threading

import autoloop as al
import numpy as np
import pytest
from api import Executable, Ownership, background, config, executable, faster_kernels, machine_kernels, overlapped_parts
from executors import needs_native
from test_machine_kernels import at_once as at_once
from test_middling_kernels import by_hand, chains, lowered_of, numbers
from test_overlapped_loops import flat
from test_overlapped_loops import runs as runs


def arrays(x):
    """Chains that end in arrays, of which the last is large."""
    return [al.sum(chains(60, 4)(x)), *[al.sin(al.sin(x[:40]) * (0.5 + k)) for k in range(12)]]


def joined(x):
    """Sums that wait for all chains, in two rounds."""
    total = al.sum(chains(40, 6)(x))
    return al.sum(chains(40, 6)(x * 0.1 + total * 0.001)), total


def with_others(x):
    """What comes before, is fetched on the way, and comes behind; a table."""
    table = np.linspace(0, 1, 8_000, dtype=np.float32)
    y = al.cast(x, al.float32) + table
    ends = chains(40, 5)(y)
    return ends, al.cumsum(ends)[-1], y[0], x


def numbers_and_booleans(x):
    """Parts that give several kinds."""
    found = []
    for k in range(100):
        y = al.cos(al.exp(x * (0.01 * k)) + 0.5)
        found.append((al.sum(y), al.max(y), al.all(y < 3.0), al.cast(al.sum(y), al.float64)))
    return [al.stack(one) for one in zip(*found)]


PROGRAMS = [chains(40, 5), arrays, joined, with_others, numbers_and_booleans]


@needs_native
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_they_give_what_others_give(program, threads, runs):
    al.config.set_num_threads(threads)
    x = numbers(8_000)
    wanted = flat(al.function(program, executor="sequential", autograph=False)(x))
    f = al.function(program, executor="dataflow", autograph=False)
    for _ in range(5):
        for a, b in zip(flat(f(x)), wanted, strict=True):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
    assert runs and None not in runs, "no run of that kind"


def one_chain(x):
    for k in range(200):
        x = al.sin(x) * (0.5 + 0.001 * k)
    return al.sum(x)


def large_results(x):
    return [al.sin(x) * (0.5 + k) for k in range(200)]


def by_places(x):
    """What can fail is told in program order."""
    k = al.cast(x[0] + 1.0, al.int32)
    return [al.sum(al.sin(al.sin(x))[k + j]) for j in range(100)]


@pytest.mark.parametrize(
    ("program", "is_one"),
    [(chains(40, 5), True), (chains(4, 2), False), (one_chain, False), (large_results, False),
     (chains(40, 5, 3), False), (by_places, None)],
    ids=["many", "few", "one chain", "large results", "in a loop", "can fail"],
)  # fmt: skip
def test_which_graphs_have_them(program, is_one):
    lowered = lowered_of(program, numbers(8_000))
    parts = overlapped_parts.OverlappedParts(lowered, Ownership(), None, None)
    if is_one is None:
        assert all(node.op.name != "getitem" for form in parts.forms for node in form.nodes)
    else:
        assert bool(parts.forms) is is_one


def test_most_parts_are_of_one_kind():
    parts = overlapped_parts.OverlappedParts(lowered_of(chains(200, 4), numbers(4_000)), Ownership(), None, None)
    kinds = {form.kind for form in parts.forms}
    assert len(parts.forms) > 16 and len(kinds) <= 3
    assert sum(len({form.kind: form for form in parts.forms}[kind].nodes) for kind in kinds) < 300


@needs_native
def test_a_run_with_a_timeout_goes_kernel_by_kernel(runs):
    lowered = lowered_of(chains(40, 5), numbers(8_000))
    executable = Executable(lowered)
    with pytest.raises(TimeoutError):
        executable.run([numbers(8_000)], timeout=1e-9)
    assert not runs
    np.testing.assert_allclose(executable.run([numbers(8_000)])[0], by_hand(numbers(8_000), 40, 5), rtol=1e-4)


@needs_native
def test_several_threads_call_them_at_once(runs):
    f = al.function(chains(40, 5), executor="dataflow", autograph=False)
    for _ in range(5):
        f(numbers(8_000))
    runs.clear()
    found = []
    threads = [
        threading.Thread(target=lambda k=k: found.append((k, [f(numbers(8_000) + k) for _ in range(20)])))
        for k in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and len(runs) == 80 and None not in runs
    for k, results in found:
        for one in results:
            np.testing.assert_allclose(one, by_hand(numbers(8_000) + np.float32(k), 40, 5), rtol=1e-4, atol=1e-3)


@needs_native
def test_an_interrupt_ends_them_and_the_next_call_works(runs):
    f = al.function(chains(300, 10), executor="dataflow", autograph=False)
    x = numbers(20_000)
    for _ in range(4):
        wanted = f(x)
    timer = threading.Timer(0.05, signal.raise_signal, [signal.SIGINT])
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        while True:
            f(x)
    timer.join()
    np.testing.assert_allclose(f(x), wanted, rtol=1e-4)


@needs_native
def test_large_graphs_are_looked_at_on_another_thread(runs, monkeypatch):
    monkeypatch.setattr(faster_kernels, "background", background)  # nobody waits for it
    looked, init = [], overlapped_parts.OverlappedParts.__init__

    def noted(self, *args):
        looked.append((threading.current_thread().name, config.get_num_threads()))
        init(self, *args)

    monkeypatch.setattr(overlapped_parts.OverlappedParts, "__init__", noted)
    x, lowered = numbers(4_000), lowered_of(chains(260, 4), numbers(4_000))
    assert len(lowered.nodes) >= executable.MANY
    run = Executable(lowered, faster=machine_kernels.machine_kernels)
    config.set_num_threads(2)
    for _ in range(6):
        np.testing.assert_allclose(run.run([x])[0], by_hand(x, 260, 4), rtol=1e-4, atol=1e-3)
        background.wait(60)
    assert looked == [("autoloop background", 2)]
    assert runs and None not in runs, "nobody has gone on with what was found"


@needs_native
def test_what_fails_while_a_large_graph_is_looked_at_is_done_without(runs, monkeypatch):
    def fails(self, *_):
        raise MemoryError

    monkeypatch.setattr(overlapped_parts.OverlappedParts, "__init__", fails)
    x = numbers(4_000)
    run = Executable(lowered_of(chains(260, 4), x), faster=machine_kernels.machine_kernels)
    for _ in range(3):
        np.testing.assert_allclose(run.run([x])[0], by_hand(x, 260, 4), rtol=1e-4, atol=1e-3)
    assert not runs and run._faster is None
