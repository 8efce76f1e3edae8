"""A run asks after each kernel whether its time is over, and nothing that may be endless lies between two of them."""

from __future__ import annotations

import signal
import time

import autoloop as al
import autoloop.compat.v1 as tf
import numpy as np
import pytest
from api import SCALAR, Executable, Graph, Kind, SeededExecutor, Watch, lower
from each_case import each
from flow import branch, call, loop, priced, probe
from test_batches import lowered_of as loops_of
from test_interleavings import PROGRAMS, N, X, lowered_of


def swapped(g, p, q):
    return [q, p]


def chosen(g, p, q):
    return [*branch(g, q, lambda g: g.capture(p), lambda g: g.capture(q)), p]


def inside(g, p, q):
    return [p, loop(g, lambda g, p: p, lambda g, p: [p], [q])[0]]


@each([
    (lambda g, p, q: p, lambda g, p, q: [p, q]),
    (lambda g, p, q: p, swapped),
    (lambda g, p, q: p, chosen),
    (lambda g, p, q: p, inside),
    (lambda g, p, q: chosen(g, p, q)[0], swapped),
])  # fmt: skip
def test_a_loop_that_only_hands_its_condition_on_stops_when_the_time_is_over(cond, body):
    graph = Graph()
    yes = graph.parameter(np.dtype(bool), SCALAR, "yes")
    run = Executable(lower(graph, loop(graph, cond, body, [yes, yes]), [yes])).run
    with pytest.raises(TimeoutError):
        run([np.True_], timeout=0.02)
    assert run([np.False_], timeout=10.0) == [np.False_] * 2


@each([(program, threads) for program in PROGRAMS for threads in (1, 2)])
def test_the_time_is_asked_after_each_step(program, threads):
    lowered = lowered_of(program, 3)
    by_hand = SeededExecutor(lowered, whole=True)
    by_hand.run([N, X])
    asked, expired = [], Watch.expired
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Watch, "expired", lambda self: bool(asked.append(0)) or expired(self))
        Executable(lowered).run([N, X], threads=threads, timeout=60.0)
    assert len(asked) >= len(by_hand.order)


def test_a_loop_that_is_one_step_is_asked_in_each_iteration():
    body = lambda i, s: (i + 1, s * 3 % 11)
    looped = lambda n: al.while_loop(lambda i, _: i < n, body, (al.constant(0), al.constant(1)))
    lowered = loops_of(looped, "int32")
    executable = Executable(lowered)
    assert [node.kind for node in executable.plan.nodes].count(Kind.WHOLE) == 1
    asked, expired = [], Watch.expired
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Watch, "expired", lambda self: bool(asked.append(0)) or expired(self))
        for threads in (1, 2):
            want = executable.run([np.int32(60)], threads=threads)
            asked.clear()
            for _ in range(2):
                assert executable.run([np.int32(60)], threads=threads, timeout=60.0) == want
            assert len(asked) >= 60
    for threads in (1, 2):
        with pytest.raises(TimeoutError, match=r"longer than 0.02 s:\n  'while' is in iteration \d+ \[AL603\]"):
            executable.run([np.int32(2**31 - 1)], threads=threads, timeout=0.02)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("is_one", [True, False])
def test_a_loop_in_a_loop_that_is_one_step_tells_how_far_both_are(threads, is_one):
    """Its own, or that of a step of a loop whose tokens are moved."""
    inner = lambda n, i, s: al.while_loop(lambda k, _: k < n, lambda k, s: (k + 1, s * 3 % 11), (0, s + i))[1]

    def looped(n):
        heavy = lambda s: s if is_one else call(probe(lambda s: s, traits=priced(1e8)), s)
        body = lambda i, s, t: (i + 1, inner(n, i, heavy(s)), heavy(t))
        return al.while_loop(lambda i, *_: i < n, body, (al.constant(0), al.constant(1), al.constant(1)))

    executable = Executable(loops_of(looped, "int32"))
    [whole] = [node for node in executable.plan.nodes if node.kind is Kind.WHOLE]
    assert bool(whole.frame) is not is_one
    executable.run([np.int32(1)], threads=threads)
    told = r"longer than 0.1 s:\n  'while' is in iteration 0\n  'while/body/while' is in iteration \d+ \[AL603\]"
    with pytest.raises(TimeoutError, match=told):
        executable.run([np.int32(2**31 - 1)], threads=threads, timeout=0.1)


def test_a_loop_whose_iterations_take_long_is_asked_after_each_kernel():
    """What looks like milliseconds."""
    seen, asked, expired = [], [], Watch.expired
    slow = probe(lambda x: seen.append(x) or x + 1, traits=priced(1e7))
    body = lambda i: call(slow, call(slow, i))
    executable = Executable(loops_of(lambda n: al.while_loop(lambda i: i < n, body, [al.constant(0)]), "int32"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Watch, "expired", lambda self: bool(asked.append(0)) or expired(self))
        executable.run([np.int32(8)], timeout=60.0)
    assert len(asked) >= len(seen) == 8


def test_a_loop_over_arrays_of_any_extents_is_asked_after_each_kernel():
    """They may take any time."""
    body = lambda i, x: (i + 1, al.tanh(al.sin(al.cos(x))))
    looped = lambda x: al.while_loop(lambda i, _: i < 10, body, (al.constant(0), x))
    asked, expired = [], Watch.expired
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Watch, "expired", lambda self: bool(asked.append(0)) or expired(self))
        for shape, is_known in ((5,), True), ((None,), False):
            executable = Executable(loops_of(looped, "float64", shape=shape))
            assert [node.kind for node in executable.plan.nodes].count(Kind.WHOLE) == 1
            asked.clear()
            executable.run([np.ones(5)], timeout=60.0)
            assert (len(asked) < 30) is is_known


def endless(kind):
    """A session, and what it would compute for years."""
    with tf.Graph().as_default() as graph:
        step = lambda x: tf.tanh(tf.matmul(x, tf.constant(np.full((60, 60), 0.01, np.float32))))
        steps = {"a counter": [], "numbers": [lambda x: x * 0.5 + 1.0], "one chain": [step], "two": [step] * 2}[kind]
        x = tf.constant(np.ones((60, 60), np.float32) if step in steps else np.float32(1))
        body = lambda i, *xs: [i + 1, *[step(x) for step, x in zip(steps, xs)]]
        made = tf.while_loop(lambda i, *_: i < 1 << 30, body, [tf.constant(0), *[x] * len(steps)])
    return tf.Session(graph=graph), made


def interrupted(session, made):
    """Run until Ctrl-C comes; gives how many seconds it went on after that."""
    with pytest.raises(KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        session.run(made)
    return time.monotonic()


def out_of_time(session, made):
    """The same of the end of its time."""
    with pytest.raises(TimeoutError):
        session.run(made, timeout=0.02)
    return time.monotonic()


@each([(kind, how) for kind in ("a counter", "numbers", "one chain", "two") for how in (interrupted, out_of_time)])
def test_a_run_ends_within_ten_milliseconds(kind, how):
    """The best of some runs: a busy machine lets a thread wait for longer than that."""

    if how is interrupted and not hasattr(signal, "setitimer"):
        pytest.skip("needs interval timers")
    session, made = endless(kind)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler) if how is interrupted else None
    late = []
    try:
        while not late or (min(late) > 0.01 and len(late) < 100):
            begin = time.monotonic()
            late.append(how(session, made) - begin - 0.02)
    finally:
        if before is not None:
            signal.signal(signal.SIGALRM, before)
    assert min(late) < 0.01
