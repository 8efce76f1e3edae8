"""Ctrl-C, and signal handlers that call what they interrupt: at every point of a call, and at random moments."""

from __future__ import annotations

import signal

import pytest
import test_reentrance as reentrance
from forking import run_with
from stepping import at_step, interrupted, left_locked, steps_of
from test_reentrance import no_deadlock, settings  # noqa: F401  (fixtures)
from workers import scaled

pytestmark = [pytest.mark.nightly, reentrance.pytestmark]

RANDOM = """
import random, gc
numbers = random.Random(SEED)
every = Everything()
every.use(6)
def late(*_): raise KeyboardInterrupt
signal.signal(signal.SIGALRM, late)
came = 0
alone = threading.active_count()
while came < COUNT:
    try:
        # what comes while an object is being finalized Python only prints: so again, until it is heard
        signal.setitimer(signal.ITIMER_REAL, 1e-4 + numbers.random() * 0.05, 2.0)
        try:
            every.use(6)  # CPython 3.11 covers no jump back to the first instruction behind a try
            while True: every.use(6)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        came += 1
    # what was underway is over, and everything works
    gc.collect()
    every.use(6)
    found = []
    def look():
        for kind in forks.KINDS:
            for lock in kind.living():
                if lock.acquire(timeout=5.0): lock.release()
                else: found.append(kind.name)
    thread = threading.Thread(target=look); thread.start(); thread.join()
    assert not found, found
from autoloop_runtime.base import threads
from autoloop_runtime.dataflow import workers
assert not threads._pool.calls and not threads._pool.shared and not workers._blas.users
print(came, "interrupts")
"""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@reentrance.cases
def test_every_point(make, executor, settings, printed):  # noqa: F811
    call, check, restore = make(executor)
    restore()
    call()
    total = steps_of(call)
    stopped = entered = 0
    for step in range(1, total + 1):
        stopped += interrupted(call, step)
        restore()
        more = []
        results = [at_step(call, step, lambda: more.append(call()))[0]]
        check(results + more)
        entered += len(more)
        restore()
    assert left_locked() == []
    assert stopped and entered
    printed(f"{stopped} interrupts, {entered} handlers at {total} points")


def test_at_random_moments(tmp_path, printed):
    signal.alarm(0)  # of the fixture: the other process has a limit of its own
    count = scaled(300)
    out = run_with(RANDOM.replace("COUNT", str(count)).replace("SEED", "0"), tmp_path, timeout=60 + 20 * count)
    assert out.strip() == f"{count} interrupts"
    printed(out.strip())
