"""The memory of a run in native memory, which the next run of the same loop goes on with."""

from __future__ import annotations

import threading
import weakref

import autoloop as al
import numpy as np
import pytest
from api import CoreRun, Executable, core_code, core_runs, core_workers, forks, kept_memory, machine_kernels, workers
from api import token_core as tc
from executors import needs_native
from test_machine_kernels import at_once as at_once
from test_middling_kernels import chains, numbers
from test_middling_kernels import lowered_of as lowered_program
from test_overlapped_loops import runs as runs
from test_token_core import chains as two_chains
from test_token_core import given, lowered_of, tables_of


@pytest.fixture
def tables():
    lowered, feeds = lowered_of(two_chains, 4)
    return tables_of(lowered, 3), given(lowered, feeds)


def run_of(tables, threads=3):
    return CoreRun(tables, core_code.entered(core_workers.core), threads)


@needs_native
def test_a_worker_that_comes_too_late_is_not_in_the_next_run(tables):
    tables, args = tables
    first = run_of(tables)
    wanted = first.run(args)
    core_runs.keep_memory(first)
    second = run_of(tables)
    assert second._m is first._m
    assert first._from_outside(core_workers.JOIN) == 0
    first._end(0)
    assert not second._m[tc.STOPPED]
    first.left_alone()
    assert second._m[tc.OPENINGS] == 2
    late = threading.Thread(target=first.assist)
    late.start()
    late.join()
    assert not second._m[tc.PRESENT]
    assert second.run(args) == wanted
    assert second._from_outside(core_workers.JOIN) == 0  # it is over


@needs_native
def test_two_runs_at_a_time_have_memory_of_their_own(tables):
    tables, args = tables
    one, other = run_of(tables), run_of(tables)
    assert one._m is not other._m
    assert one.run(args) == other.run(args)
    for run in (one, other, run_of(tables)):
        core_runs.keep_memory(run)
    assert len(tables.kept) == kept_memory.MOST_KEPT


@needs_native
def test_in_a_child_memory_of_the_parent_is_not_used(tables, monkeypatch):
    tables, args = tables
    first = run_of(tables, 1)  # a worker that came late would wait for the lock for ever
    wanted = first.run(args)
    core_runs.keep_memory(first)
    first._m[tc.LOCK] = 1  # somebody who is not there any more
    monkeypatch.setattr(kept_memory, "generation", lambda: forks.generation() + 1)
    second = run_of(tables)
    assert second._m is not first._m and second.run(args) == wanted


@needs_native
def test_a_run_that_has_failed_leaves_no_memory(tables):
    tables, args = tables
    assert run_of(tables).run([np.float64(1), *args[1:]]) is None
    assert not tables.kept


@needs_native
@pytest.mark.parametrize("count", [1, 2])
def test_what_a_run_was_given_and_gave_is_its_own(count, at_once, runs):
    def program(x):
        y = chains(40, 5)(x)
        return al.sin(x[:50]) + y[0], y

    f = al.function(program, executor="dataflow", autograph=False)
    al.config.set_num_threads(count)
    for _ in range(4):
        f(numbers(8_000))
    runs.clear()
    first = [np.asarray(one) for one in f(numbers(8_000))]
    kept = [one.copy() for one in first]
    x = numbers(8_000) * 0.5
    held = weakref.ref(x)
    second = f(x)
    del x
    assert held() is None, "its argument is held"
    assert len(runs) == 2 and None not in runs
    for a, b, c in zip(first, kept, second, strict=True):
        np.testing.assert_array_equal(a, b)
        assert not np.array_equal(a, np.asarray(c))


@needs_native
def test_where_nothing_is_beside_such_a_loop_the_calling_thread_begins_it_alone(at_once, runs, monkeypatch):
    shared, init = [], workers.SharedRun.__init__
    monkeypatch.setattr(workers.SharedRun, "__init__", lambda self, *args: (shared.append(1), init(self, *args))[1])
    al.config.set_num_threads(2)
    lowered = lowered_program(chains(40, 5), numbers(8_000))
    run = Executable(lowered, faster=machine_kernels.machine_kernels)
    for _ in range(4):
        run.run([numbers(8_000)])
    shared.clear()
    runs.clear()
    assert run.run([numbers(8_000)]) and len(runs) == 1
    assert not shared
