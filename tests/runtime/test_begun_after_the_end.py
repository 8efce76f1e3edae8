"""No kernel begins once a run is to end, but for one of each thread that had seen before that it may.

Those are counted: for how long a thread waits for a processor then is not ours to say.
"""

from __future__ import annotations

import itertools
import os
import sys
import time

import autoloop as al
import numpy as np
import pytest
from api import DEADLINE, CoreRun, Executable, Kind, Until, core_code
from api import core_workers as cw
from api import token_core as tc
from each_case import each
from executors import needs_native
from flow import call, counted, heavy, priced, probe, scalar
from test_batches import lowered_of as loops_of
from test_token_core import lowered_of

sys.path.append(os.path.join(os.path.dirname(__file__), "model"))
from core_model import given, tables_of  # noqa: E402

#: the kernels that Python has to call
CALLED = {"none": lambda name: False, "light": lambda name: name == "light", "all": lambda name: True}


def nest(begins):
    """Two loops without an end in a loop; each kernel tells of itself when it ``begins``."""

    def told(x, *_):
        begins()
        return x

    light, long = probe(told, "light"), heavy(told, "long")

    def program(g, window):
        def inner(g, name, x):
            body = lambda g, j, c, d: [call(long, call(light, c)), call(light, call(light, d))]
            return counted(g, 1 << 40, body, [x, x], window=window, name=name)[1]

        outer = lambda g, i, a, b: [inner(g, "one", a), inner(g, "other", b)]
        return counted(g, 2, outer, [scalar(g)] * 2, window=window)

    return lowered_of(program, 4)


@needs_native
@each(itertools.product(CALLED, (1, 2)))
def test_nothing_begins_in_native_memory_once_the_time_is_over(called, threads):
    """Each worker looks at the time itself, and needs nobody who has the interpreter's lock for that."""
    end, late = time.monotonic() + 3600.0, []
    lowered, feeds = nest(lambda: late.append(0) if time.monotonic() > end else None)
    tables = tables_of(lowered, 2, CALLED[called])
    tables.words[tc.SLICE] = 3600 * 10**9  # nobody comes back for anything else
    end = time.monotonic() + 0.01
    run = CoreRun(tables, core_code.entered(cw.core), threads, Until(lambda: time.monotonic() > end, end))
    assert run.run(given(lowered, feeds)) is None
    assert run._m[tc.STOPPED] and not run._m[tc.FAILED]
    assert len(late) <= threads


@needs_native
@each(itertools.product(CALLED, (1, 2)))
def test_nothing_begins_in_native_memory_once_a_run_is_not_wanted(called, threads):
    unwanted, begun, late = [], [], []

    def begins():
        begun.append(0)
        if words[tc.STOPPED]:
            late.append(0)
        if len(begun) == 50:
            unwanted.append(True)

    lowered, feeds = nest(begins)
    tables = tables_of(lowered, 2, CALLED[called])
    tables.words[tc.SLICE] = 0
    run = CoreRun(tables, core_code.entered(cw.core), threads, unwanted)
    words = run.values.words
    assert run.run(given(lowered, feeds)) is None
    assert len(late) <= threads


@each(itertools.product((True, False), (1, 2)))
def test_nothing_begins_once_the_time_is_over(is_heavy, threads):
    """Where loops move their tokens, and where they are one step, which asks in each iteration: also in the first ones,
    for which there is no code yet."""
    late, before = [], []

    def told(x):
        late.extend([0] * (time.monotonic() > DEADLINE.get()))
        return x + 1

    own = probe(told, traits=priced(1e8 if is_heavy else 100.0))
    body = lambda i, s, t: (i + 1, call(own, call(own, s)), call(own, call(own, t)))
    looped = lambda n: al.while_loop(lambda i, *_: i < n, body, (0, 1, 1))
    executable = Executable(loops_of(looped, "int32"))
    assert any(node.kind is Kind.WHOLE for node in executable.plan.nodes) is not is_heavy
    for _ in range(3):
        with pytest.raises(TimeoutError, match="AL603"):
            executable.run([np.int32(2**31 - 1)], threads=threads, timeout=0.01)
        before.append(len(late))
        late.clear()
    assert max(before) <= (threads if is_heavy else 4)


def test_the_first_iterations_of_a_loop_that_is_one_step_ask_whether_the_time_is_over():
    begun = []

    def slow(x):
        begun.append(0)
        while time.monotonic() < DEADLINE.get():  # it takes all the time that there is
            pass
        return x

    own = probe(slow, traits=priced(100.0))
    looped = lambda n: al.while_loop(lambda i, _: i < n, lambda i, s: (i + 1, call(own, s)), (0, 1))
    executable = Executable(loops_of(looped, "int32"))
    assert [node.kind for node in executable.plan.nodes].count(Kind.WHOLE) == 1
    with pytest.raises(TimeoutError) as found:
        executable.run([np.int32(2**31 - 1)], timeout=0.02)
    assert len(begun) <= 1 and f"'while' is in iteration {len(begun)} [AL603]" in str(found.value)
