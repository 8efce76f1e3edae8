"""The scheduler's own threads, with all that runs have, in orders that are drawn by seeds and can be done again."""

from __future__ import annotations

import contextvars
import itertools
from collections import deque

import autoloop as al
import numpy as np
import pytest
from api import EAGER, Executable, Plan, SeededExecutor, State, Weight, call_kernel, machine_kernels, workers
from each_case import each
from executors import needs_native
from flow import call, priced, probe
from joined_programs import (
    BUILDS,
    LARGE,
    SLOW,
    fails_before_a_loop,
    fails_in_a_turn,
    fails_in_what_waits,
    joined,
    loop_of_batches,
    made,
    numbers,
    untaken_loop_of_batches,
)
from taking_turns import Stuck, Turns, by_die, known_locks, point
from test_batches import lowered_of
from test_machine_kernels import at_once  # noqa: F401

THREADS = 3


class Threads:
    """Runs of a plan by ``SharedRun`` whose workers take turns.

    Every step is worth a thread: so the order is the die's as far as data lets it.
    """

    def __init__(self, plan, each_step=True):
        self.plan = plan
        for step in [step for frame in plan.frames for step in frame.steps]:
            if step.call is not None and each_step:
                step.weight = Weight.HEAVY

    def begins(self, it, step):
        """Called when a kernel begins."""

    def run(self, seed, feeds, interrupted=0):
        """The results, or the failure; nothing of the run is left. ``interrupted``: which kernel Ctrl-C comes in."""
        outcome, tokens, begun = [], State(self.plan), itertools.count(1)
        turns = Turns(by_die(seed))

        def call(it, step, state, watch, run):
            point()
            if next(begun) == interrupted:
                raise KeyboardInterrupt
            self.begins(it, step)
            out = call_kernel(it, step, state, watch, run)
            point()
            return out

        def whole():
            run = workers.SharedRun(tokens, EAGER, None, THREADS)
            try:
                run.run(list(feeds))
                outcome.append(tokens.results)
            except (Exception, KeyboardInterrupt) as error:
                outcome.append(error)
            assert run.stopped and not run.present and not run.heavy and not run.waiting
            assert not run.loops._inside

        def workers_come(run, count):
            for _ in range(count):
                turns.start(run.assist)

        with known_locks(), pytest.MonkeyPatch.context() as patch:
            patch.setattr(workers, "call", call)
            patch.setattr(workers, "call_workers", workers_come)
            patch.setattr(workers.CriticalPaths, "took", lambda *_: None)  # times are not the die's
            turns.start(lambda: contextvars.Context().run(whole))
            turns.run()
        [found] = outcome
        if not isinstance(found, BaseException):
            assert tokens.finished and list(tokens.iterations()) == [tokens.root]
        tokens.close()
        return found


SEEDS = [range(3), pytest.param(range(500), marks=pytest.mark.nightly)]


@pytest.mark.parametrize("seeds", SEEDS, ids=len)
@pytest.mark.parametrize("build", [*BUILDS, *LARGE], ids=lambda f: f.__name__)
def test_orders_of_threads_give_the_answer_of_single_steps(build, seeds):
    for window in (1, 3):
        lowered = made(build, window)
        want = SeededExecutor(lowered).run([np.int32(3)])
        for plan in (joined(lowered), Plan(lowered)):
            threads = Threads(plan)
            for seed in seeds:
                assert threads.run(seed, [np.int32(3)]) == want, f"window {window}, seed {seed}"


@pytest.mark.parametrize("seeds", SEEDS, ids=len)
@pytest.mark.parametrize("build", [fails_in_a_turn, fails_in_what_waits, fails_before_a_loop], ids=lambda f: f.__name__)
def test_orders_of_threads_tell_the_first_failure(build, seeds):
    for light, long in ((0, 1), (1, 1), (2, 1)):
        told = set()
        lowered = lowered_of(lambda n, light=light, long=long: build(n, 2, light, long), "int32")
        for plan in (joined(lowered), Plan(lowered)):
            threads = Threads(plan)
            for seed in seeds:
                error = threads.run(seed, [np.int32(3)])
                told.add((type(error), str(error), *error.__notes__[-1:]))
        assert len(told) == 1 and {type for type, *_ in told} < {IndexError, ZeroDivisionError}


@needs_native
@pytest.mark.parametrize("seeds", SEEDS, ids=len)
@pytest.mark.parametrize("build", [numbers, loop_of_batches, untaken_loop_of_batches], ids=lambda f: f.__name__)
def test_orders_of_threads_give_that_answer_in_machine_code(build, seeds, at_once):  # noqa: F811
    """And while faster kernels take the places of others, between any two runs."""
    lowered = made(build, 3)
    executable = Executable(lowered, faster=machine_kernels.machine_kernels)
    want = SeededExecutor(lowered).run([np.int32(3)])
    plans = [executable.plan]
    for _ in range(3):
        executable.run([np.int32(3)])
        plans += [executable.plan] if executable.plan is not plans[-1] else []
    assert len(plans) == 2
    for plan in plans:
        threads = Threads(plan)
        for seed in seeds:
            for one, other in zip(threads.run(seed, [np.int32(3)]), want, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12)


@each([(build, kernel) for build in (*BUILDS, fails_before_a_loop) for kernel in (1, 2, 4)])
def test_wherever_ctrl_c_comes_nothing_is_left(build, kernel):
    given = (5, 1) if build is fails_before_a_loop else ()
    threads = Threads(joined(lowered_of(lambda n: build(n, 3, *given), "int32")))
    for seed in range(3):
        assert isinstance(threads.run(seed, [np.int32(3)], kernel), KeyboardInterrupt)


# -- a counter beside what takes long ---------------------------------------------------------------------

COUNT = probe(lambda i: i + 1, "count", traits=priced(50.0))


class Leads(Threads):
    """How far the counter is ahead of the oldest iteration when what takes long begins, at least; only the latter's
    kernels are worth a thread, and others go on while they run."""

    def __init__(self, window):
        def program(n):
            body = lambda i, x, y: (call(COUNT, i), call(SLOW, x), call(SLOW, y))
            return al.while_loop(lambda i, *_: i < 20, body, [al.constant(0), n, n + 1], parallel_iterations=window)

        super().__init__(Plan(lowered_of(program, "int32")), each_step=False)
        self.window, self.least = window, window

    def begins(self, it, step):
        if step.flat.op is not None and step.flat.op.name == "count":
            self.counter = it.index
        elif step.weight:
            if 0 < it.index < 20 - self.window:
                self.least = min(self.least, self.counter - it.frame.oldest.index)
            for _ in range(60):  # others go on meanwhile, if they have anything to do
                point()


def least_lead(window):
    leads = Leads(window)
    for seed in range(3):
        leads.counter = -1
        assert leads.run(seed, [np.int32(3)]) == [20, 23, 24]
    return leads.least


@each([2, 6])
def test_a_counter_never_starves_behind_what_takes_long(window):
    """Whenever such a kernel begins it is as far ahead as the window lets it, but for what it is at."""
    assert least_lead(window) >= window - 2


def test_if_what_takes_long_were_first_it_would(monkeypatch):
    """What that is worth."""
    real = workers.SharedRun._take

    def take(self, light, member, own):
        if (self.heavy or own) and not self.stopped:
            light, kept = deque(), light
            found = real(self, light, member, own)
            self.heavy.extend(kept)
            kept.clear()
            return found
        return real(self, light, member, own)

    monkeypatch.setattr(workers.SharedRun, "_take", take)
    monkeypatch.setattr(workers, "PATIENCE", 0)
    assert least_lead(6) < 6 - 2


# -- what they are worth ----------------------------------------------------------------------------------


def leaves_without_a_word(self, member):
    if member:
        self.present -= 1
        self.openings += 1


def test_some_order_finds_a_caller_that_is_not_woken(monkeypatch):
    monkeypatch.setattr(workers.SharedRun, "_leave", leaves_without_a_word)
    threads = Threads(joined(made(BUILDS[0], 3)))
    with pytest.raises(Stuck):
        for seed in range(100):
            threads.run(seed, [np.int32(3)])
