"""Many runs at once share the workers of the pool."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from api import Executable, Graph, lower, workers
from flow import call, const, heavy
from test_scheduler_threads import LONG, quiet_pool, sums

RUNS = 8
MANY = 64


class Shares:
    """Kernels that are counted for their run where a worker of the pool calls them.

    Who has called a run stays in the first of its kernels that it comes to, until workers have called ``total`` of all
    runs together; they begin when everybody is there.
    """

    def __init__(self, runs, total):
        self.counts, self.total, self.lock = [0] * runs, total, threading.Lock()
        self.there, self.begun, self.over = set(), threading.Event(), threading.Event()

    def kernel_of(self, run, caller):
        def kernel(x, *_):
            if threading.get_ident() == caller:
                with self.lock:
                    self.there.add(run)
                    if len(self.there) == len(self.counts):
                        self.begun.set()
                assert self.over.wait(LONG)
            elif not self.over.is_set():
                assert self.begun.wait(LONG)
                with self.lock:
                    self.counts[run] += 1
                    if sum(self.counts) >= self.total:
                        self.over.set()
            return x

        return kernel


def lines(kernel, count):
    """Kernels that do not need each other, more than twice as many as its share: a thread that the system holds up does
    not count."""
    graph = Graph()
    return lower(graph, [call(heavy(kernel), const(graph, k)) for k in range(count)])


def share_out(monkeypatch, turn=0.0, runs=RUNS, each=400):
    """How many kernels workers have called of each run."""
    monkeypatch.setattr(workers, "TURN", turn)
    shares = Shares(runs, runs * each)

    def run(k):
        Executable(lines(shares.kernel_of(k, threading.get_ident()), each * 5 // 2)).run(
            [], threads=3, timeout=4 * LONG
        )

    with ThreadPoolExecutor(runs) as pool:
        list(pool.map(run, range(runs)))
    quiet_pool()
    return shares.counts


@pytest.mark.parametrize("runs", [RUNS, pytest.param(MANY, marks=pytest.mark.nightly)])
def test_no_run_waits_for_three_times_its_share(monkeypatch, runs):
    counts = share_out(monkeypatch, runs=runs, each=400 if runs == RUNS else 50)
    assert min(counts) * 3 >= sum(counts) / runs, counts


def test_whoever_comes_back_goes_on_where_the_last_one_left(monkeypatch):
    """Workers change runs after each kernel, and leave the light ones that they have made ready to others."""
    monkeypatch.setattr(workers, "TURN", 0.0)
    executable = sums(12)
    want = {x: executable.run([x], threads=1) for x in range(64)}
    with ThreadPoolExecutor(64) as pool:
        got = list(pool.map(lambda x: executable.run([x], threads=3, timeout=LONG), range(64)))
    assert got == list(want.values())
    quiet_pool()


@pytest.mark.parametrize("runs", [RUNS, pytest.param(MANY, marks=pytest.mark.nightly)])
def test_without_turns_some_would_have_nothing(monkeypatch, runs):
    """What the first test is worth."""
    assert min(share_out(monkeypatch, LONG, runs, 400 if runs == RUNS else 50)) == 0
