"""Tokens that are moved in native memory, by Python and by machine code, beside ``State``."""

from __future__ import annotations

import itertools
import os
import random
import sys
import threading

import numpy as np
import pytest
from api import (
    CoreRun,
    Executable,
    Graph,
    RunState,
    SeededExecutor,
    Watch,
    core_code,
    core_runs,
    core_workers,
    gone_on,
    lower,
    one_thread,
    reached,
)
from api import core_workers as cw
from api import token_core as tc
from each_case import each
from executors import needs_native
from flow import ADD, EQUAL, MOD, branch, call, const, counted, heavy, scalar

sys.path.append(os.path.join(os.path.dirname(__file__), "model"))
from core_model import CoreModel, given, tables_of  # noqa: E402

WINDOWS = (1, 3, 10)
TWICE = heavy(lambda x, *_: (x * 2 + 1) % 1009, "twice")
THRICE = heavy(lambda x, *_: (x * 3 + 2) % 1013, "thrice")


def chains(g, window):
    return counted(g, 12, lambda g, i, a, b: [call(TWICE, a), call(THRICE, b)], [scalar(g)] * 2, window=window)


def pipeline(g, window):
    body = lambda g, i, a, b, c: [call(TWICE, a), call(THRICE, call(ADD, a, b)), call(TWICE, call(ADD, b, c))]
    return counted(g, 12, body, [scalar(g)] * 3, window=window)


def register(g, window):
    """A value of three iterations ago."""
    return counted(g, 12, lambda g, i, a, b, c: [call(TWICE, c), a, b], [scalar(g)] * 3, window=window)


def many_variables(g, window):
    body = lambda g, i, *values: [call(TWICE if k % 2 else THRICE, call(ADD, v, i)) for k, v in enumerate(values)]
    return counted(g, 6, body, [scalar(g)] * 9, window=window)


def stacked(g, window):
    """Two loops in a loop, one of which takes what the other gives, and values that do not change in it."""
    x = scalar(g, "z")

    def body(g, i, a, b):
        first = lambda g, j, c, d: [call(TWICE, call(ADD, c, g.capture(i))), call(THRICE, d)]
        _, a, c = counted(g, 3, first, [a, b], window=window, name="first")
        second = lambda g, j, d: [call(THRICE, call(ADD, d, call(ADD, g.capture(c), g.capture(x))))]
        return [a, counted(g, 2, second, [b], window=window, name="second")[1]]

    return counted(g, 5, body, [scalar(g), scalar(g, "y")], window=window)


def seldom(g, window):
    """A loop in a branch that is taken in one iteration of three, beside another chain."""

    def inner(g, x, i):
        body = lambda g, j, t: [call(TWICE, call(ADD, t, g.capture(i)))]
        return counted(g, 3, body, [g.capture(x)], window=window, name="inner")[1]

    def body(g, i, x, y):
        once = call(EQUAL, call(MOD, i, const(g, 3)), const(g, 1))
        return [
            branch(g, once, lambda g: inner(g, x, i), lambda g: g.capture(x))[0],
            call(THRICE, y),
        ]  # fmt: skip

    return counted(g, 7, body, [scalar(g), scalar(g, "y")], window=window)


def three_deep(g, window):
    """Two loops in a loop in a loop."""

    def chain(g, op, x):
        return counted(g, 3, lambda g, k, c: [call(op, c)], [x], window=window)[1]

    inner = lambda g, j, a, b: [chain(g, TWICE, a), chain(g, THRICE, b)]
    outer = lambda g, i, a, b: counted(g, 2, inner, [a, b], window=window)[1:]
    return counted(g, 4, outer, [scalar(g), scalar(g, "y")], window=window)


#: the kernels that Python has to call
CALLED = {
    "none": lambda name: False,
    "heavy": lambda name: name == "twice",
    "light": lambda name: name in ("add", "less"),
    "all": lambda name: True,
}
PROGRAMS = (chains, pipeline, register, many_variables, stacked, seldom)


def lowered_of(program, window):
    g = Graph()
    outs = program(g, window)
    inputs = list({t.op.name: t for t in g.inputs}.values())
    return lower(g, list(outs), inputs), [np.int64(5 + k) for k in range(len(inputs))]


def with_orders(model, seed, moves=-1):
    """The results of a run of a model by workers who begin and end in an order drawn by ``seed``; after so many
    ``moves`` Python goes on."""
    draw = random.Random(seed)
    model.put_back(model.first)
    m, busy = model.m, set[int]()
    while not m[tc.OVER]:
        if not moves:
            return gone_on(model.run, RunState(), Watch(None, None), one_thread.by_itself_from)
        moves -= 1
        free = [k for k in range(model.workers) if k not in busy]
        count = model.ready() if free else 0
        if not (count or busy):
            break
        if count and (not busy or draw.random() < 0.6):
            worker = draw.choice(free)
            model.begun(worker, draw.randrange(count))
            busy.add(worker)
        else:
            worker = draw.choice(sorted(busy))
            busy.remove(worker)
            model.ended(worker)
        for f in model.live.frames():
            assert m[f + tc.F_NEWEST] - m[f + tc.F_OLDEST] < m[f + tc.F_WINDOW]
    assert m[tc.OVER] and not m[tc.FAILED]
    return list(model.run._results())


#: of each program, window, and choice of kernels that Python calls; 10,800 orders in a long run
SEEDS = 150


@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(SEEDS), marks=pytest.mark.nightly)], ids=len)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
@pytest.mark.parametrize("called", CALLED)
def test_orders_give_the_answer_of_the_readable_scheduler(program, called, seeds):
    for window in WINDOWS:
        lowered, feeds = lowered_of(program, window)
        wanted = SeededExecutor(lowered).run(feeds)
        model = CoreModel(lowered, feeds, 3, CALLED[called])
        model.first = model.start()
        for seed in seeds:
            assert with_orders(model, seed) == wanted, f"window {window}, seed {seed}"


@each([*itertools.product(CALLED, PROGRAMS, WINDOWS, [0]), *itertools.product(["none"], PROGRAMS, [10], [1, 3])])
def test_python_goes_on_from_wherever_a_run_is(called, program, window, narrower):
    """Also if it may have fewer iterations at once than loops say, as under a limit to memory."""
    lowered, feeds = lowered_of(program, window)
    wanted = SeededExecutor(lowered).run(feeds)
    model = CoreModel(lowered, feeds, 3, CALLED[called])
    core_runs.narrow(model.run, narrower)
    model.first = model.start()
    for seed in range(6):
        assert with_orders(model, seed, 5 + 13 * seed) == wanted, f"seed {seed}"


def oldest(tokens):
    """The oldest iteration of each loop that is not over, and of those in it."""
    found = []

    def tell(it):
        for frame in it.children.values():
            found.append(f"  {frame.plan.name!r} is in iteration {frame.oldest.index}")
            tell(frame.oldest)

    tell(tokens.root)
    return found


@each(itertools.product((stacked, seldom), (1, 3)))
def test_it_is_told_how_far_loops_are_as_python_would(program, window):
    lowered, feeds = lowered_of(program, window)
    model, depths = CoreModel(lowered, feeds, 2), set[int]()
    model.first = model.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(one_thread, "by_itself_from", lambda tokens, *_: oldest(tokens))
        for moves in range(1, 25):
            found = with_orders(model, 0, moves)
            assert reached(model.run) == found
            depths.add(len(found))
    assert len(depths) > 1


@pytest.fixture(scope="module")
def enter():
    return core_code.entered(cw.core)


@needs_native
@each(itertools.product(PROGRAMS, CALLED, WINDOWS, (1, 2, 4)), one_in=4)
def test_machine_code_gives_that_answer(program, called, window, threads):
    lowered, feeds = lowered_of(program, window)
    tables = tables_of(lowered, 4, CALLED[called])
    for _ in range(3):
        assert list(CoreRun(tables, core_code.entered(cw.core), threads).run(given(lowered, feeds))) == Executable(
            lowered
        ).run(feeds)


@needs_native
def test_loops_in_loops_in_loops_have_room(enter):
    """Also where Python calls some of the kernels."""
    for called in ("none", "heavy"):
        lowered, feeds = lowered_of(three_deep, 10)
        tables = tables_of(lowered, 2, CALLED[called])
        assert tables.words.size < 120_000
        assert list(CoreRun(tables, enter, 2).run(given(lowered, feeds))) == Executable(lowered).run(feeds)


@needs_native
@pytest.mark.nightly
@pytest.mark.parametrize("program", [stacked, seldom], ids=lambda p: p.__name__)
def test_five_thousand_runs_of_loops_in_a_loop_give_that_answer(program, enter):
    """In whatever order threads come: a busy machine stops them anywhere."""
    for called, window in itertools.product(CALLED, WINDOWS):
        lowered, feeds = lowered_of(program, window)
        tables, wanted = tables_of(lowered, 4, CALLED[called]), SeededExecutor(lowered).run(feeds)
        for k in range(420):
            found = CoreRun(tables, enter, 1 + k % 4).run(given(lowered, feeds))
            assert found is not None and list(found) == wanted, f"{called}, window {window}, run {k}"


def with_kernel(kernel):
    """A loop of two chains, one of which calls ``kernel``."""
    own = heavy(kernel, "own")
    program = lambda g, window: counted(
        g, 40, lambda g, i, a, b: [call(TWICE, a), call(own, b)], [scalar(g)] * 2, window=window
    )
    lowered, feeds = lowered_of(program, 4)
    return tables_of(lowered, 2), given(lowered, feeds)


@needs_native
def test_a_kernel_that_gives_what_was_not_said_ends_the_run(enter):
    count = [0]

    def wrong(x):
        count[0] += 1
        return x if count[0] < 5 else np.float32(x)  # which is not what was said

    tables, args = with_kernel(wrong)
    for threads in (1, 2):
        count[0] = 0
        run = CoreRun(tables, enter, threads)
        assert run.run(args) is None
        assert run.is_left and run.otherwise and not run.failures and not run._m[tc.PRESENT]


@needs_native
def test_a_run_that_nobody_wants_ends(enter):
    unwanted = []
    begun = []

    def slow(x):
        begun.append(x)
        if len(begun) == 3:
            unwanted.append(True)
        return x

    tables, args = with_kernel(slow)
    tables.words[tc.SLICE] = 0
    assert CoreRun(tables, enter, 2, unwanted).run(args) is None
    assert len(begun) < 40


@needs_native
def test_an_interrupt_ends_a_run(enter):
    tables, args = with_kernel(lambda x: x)
    tables.words[tc.SLICE] = 0
    for threads in (1, 2):
        run = CoreRun(tables, enter, threads)
        heed = run._heed

        def interrupted(w, why, run=run, heed=heed):
            words = run.values.words
            is_caller = threading.current_thread() is threading.main_thread()
            if words[words[tc.ROOT] + tc.F_OLDEST] and is_caller:
                raise KeyboardInterrupt
            return heed(w, why)

        run._heed = interrupted
        with pytest.raises(KeyboardInterrupt):
            run.run(args)
        assert not run._m[tc.PRESENT]


def test_who_leaves_wakes_the_caller_though_another_has_its_place():
    lowered, feeds = lowered_of(chains, 4)
    model = CoreModel(lowered, feeds, 2)
    model.start()
    m, run = model.m, model.run
    m[tc.SPIN] = 0
    w = run._core(0, cw.JOIN)
    m[tc.WAITING] = 1
    why = run._core(w, cw.LEAVE)  # something is ready
    assert run._core(0, cw.JOIN) == w
    run._heed(w, run._core(w, cw.WORK))  # it does not know that the caller has not been told yet
    assert not m[tc.WAITING]
    run._heed(w, why)
    assert run._wake.acquire(blocking=False), "the caller waits for ever"


@needs_native
def test_values_of_another_kind_are_not_taken(enter):
    tables, args = with_kernel(lambda x: x)
    assert CoreRun(tables, enter, 1).run([np.float64(1) if k else arg for k, arg in enumerate(args)]) is None


@needs_native
def test_in_a_forked_child_a_run_is_given_up(enter):
    tables, args = with_kernel(lambda x: x)
    run = CoreRun(tables, enter, 2)
    assert run._take_in(args)
    run._m[tc.LOCK] = run._m[tc.PRESENT] = 1  # somebody who is not there any more
    run.left_alone()
    run._drain(int(run._m[tc.AREAS]))
    assert run._m[tc.FAILED] and not run._m[tc.PRESENT]


def test_only_so_many_buffers_are_made():
    tables, args = with_kernel(lambda x: x)
    run = CoreRun(tables, lambda _, w, what, number, address: cw.core(run._m, w, what, number, address), 1)
    run._m[tc.SPIN] = 0
    assert run.run(args) is not None
    assert run._m[tc.UNUSED] < run._m[tc.LIMIT]


@pytest.mark.parametrize(("ready", "over"), [(1, 0), (0, 0), (1, 1)])
def test_who_goes_to_others_though_something_is_ready_has_another_called(ready, over):
    """Those that stay may be in a loop that ends only when that is done."""
    m, w = [0] * 4096, 2048
    m[w + core_workers.W_ME] = m[w + core_workers.W_BUSY] = m[core_workers.PRESENT] = 1
    m[core_workers.READY], m[core_workers.OVER] = ready, over
    is_called = ready > over
    assert core_workers.leave(m, w, core_workers.IDLE) == core_workers.IDLE + is_called * core_workers.AGAIN
    assert (m[core_workers.PRESENT], m[core_workers.OPENINGS]) == (0, not is_called)
