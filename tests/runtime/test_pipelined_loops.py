"""Loops whose recurrences feed each other, in stages that hand values on: which ones are, and that nothing but time
shows it."""

from __future__ import annotations

import _thread
import random
import sys
import threading
import time
import weakref

import autoloop as al
import numpy as np
import pytest
from api import (
    EAGER,
    OPAQUE,
    Arguments,
    Executable,
    Fails,
    Graph,
    Kind,
    MemoryLimit,
    Unwanted,
    lower,
    pipeline_runs,
    set_outputs,
)
from flow import call, heavy, node_by_node, probe
from test_split_loops import BOTH, HALF, LONG, assert_as_by_nodes, executable_of, loop, sure


def stages(executable):
    """How many stages each loop has that is in stages."""
    found = [node.value for node in executable.plan.nodes if node.kind is Kind.WHOLE]
    return sorted([len(one.stages) for one in found if one.overlaps and not one.is_native])


def fed(a, b):
    return call(BOTH, b, a)


FED = lambda i, a, b: (sure(a), fed(a, b))


@pytest.mark.parametrize(
    ("build", "count"),
    [
        (lambda x: loop(FED, x, x + 1.0), [2]),
        (lambda x: loop(FED, x, x, n=0), [2]),
        (lambda x: loop(FED, x, x, n=1), [2]),
        (lambda x: loop(FED, x, x, parallel_iterations=2), [2]),
        (lambda x: loop(FED, x, x, parallel_iterations=1), []),
        (lambda x: loop(FED, x, x)[2:], [2]),
        (lambda x: loop(FED, x, x)[1:2], []),  # the second one is not wanted, and not there
        (lambda x: loop(FED, HALF, HALF), [2]),
        (lambda x: loop(lambda i, a, b: (d := sure(a), fed(d, b)), x, x), [2]),  # of the same iteration
        (lambda x: loop(lambda i, a, b, c: (sure(a), fed(a, b), fed(b, c)), x, x, x), [3]),
        (lambda x: loop(lambda i, a, b, c: (sure(a), fed(a, b), fed(a, c)), x, x, x), [3]),
        (lambda x: loop(lambda i, a, b, c: (sure(a), sure(b), fed(a - b, c)), x, x, x), [3]),
        (lambda x: loop(lambda i, a, b, c: (sure(a), fed(a, b), sure(c)), x, x, x), [2]),  # and one beside it
        (lambda x: loop(lambda i, a, b, c, d: (sure(a), fed(a, b), sure(c), fed(c, d)), x, x, x, x), [2, 2]),
        # light ones, of what the first or both have
        (lambda x: loop(lambda i, a, b, s: (sure(a), fed(a, b), s * 0.5 + a), x, x, x), [2]),
        (lambda x: loop(lambda i, a, b, s: (sure(a), fed(a, b), s * 0.5 + b - a), x, x, x), [2]),
        (lambda x: loop(lambda i, a, b, s: (sure(a) + s, fed(a, b) - s, s * 0.5), x, x, x), [2]),
        (lambda x: loop(lambda i, a, b, last: (sure(a), fed(last, b), a), x, x, x), [2]),
        (lambda x: loop(lambda i, a, b: (sure(a) + al.cast(i, al.float64), fed(a, b)), x, x), [2]),
        # one that does not come of itself, which is never waited for
        (lambda x: loop(lambda i, a, b: (sure(a), fed(sure(a * 0.5), b)), x, x), [3]),
        (lambda x: loop(lambda i, a, b: (sure(a), fed(sure(sure(a)), b)), x, x), [4]),
        (lambda x: loop(lambda i, a, b: (sure(al.cast(i, al.float64)), fed(a, b)), x, x), [2]),
        # two that could run side by side in a circle, or need each other
        (lambda x: loop(lambda i, a, b: (call(BOTH, sure(a), sure(a)), fed(a, b)), x, x), []),
        (lambda x: loop(lambda i, a, b: (call(BOTH, a, b), fed(a, b)), x, x), []),
        # branches
        (lambda x: loop(lambda i, a, b: (al.cond(i % 2 == 0, lambda: sure(a), lambda: a), fed(a, b)), x, x), [2]),
        (lambda x: loop(lambda i, a, b: (sure(a), al.cond(i % 2 == 0, lambda: fed(a, b), lambda: b + a)), x, x), [2]),
        (lambda x: loop(lambda i, a, b: (sure(a), al.cond(a < 1.5, lambda: fed(a, b), lambda: b + 1.0)), x, x), [2]),
        # who makes the condition decides for all
        (lambda x: loop(FED, x, x, condition=lambda i, a, b: a < 1.9), [2]),
        (lambda x: loop(FED, x, x, condition=lambda i, a, b: a < 0.0), [2]),
        (lambda x: loop(lambda i, a, b: (sure(a), fed(a, b) + al.cast(i, al.float64)), x, x,
                        condition=lambda i, a, b: (i < 30) & (a < 1.99)), [2]),
        (lambda x: loop(lambda i, a, b, c: (d := sure(a), fed(d, b), fed(b, c)), x, x, x,
                        condition=lambda i, a, b, c: b > -3.0), [2]),  # two of them in a circle, one after the other
        (lambda x: loop(lambda i, a, b, c: (sure(a), fed(a, b), fed(b, c)), x, x, x,
                        condition=lambda i, a, b, c: b > -3.0), []),
        (lambda x: loop(FED, x, x, condition=lambda i, a, b: b > -3.0), []),
        # in other loops and branches
        (lambda x: loop(lambda i, z, y: (sum(loop(FED, z, z)[1:], z), sure(y)), x, x, n=3), [2]),
        (lambda x: al.cond(x > 1.0, lambda: loop(FED, x, x)[1:], lambda: [x, x]), [2]),
        (lambda x: loop(FED, *loop(FED, x, x)[1:]), [2, 2]),
    ],
)  # fmt: skip
def test_which_have_stages(build, count):
    executable = executable_of(build, "float64")
    assert stages(executable) == count
    for value in (0.75, 1.25):
        assert_as_by_nodes(executable, np.float64(value))


def test_what_takes_longer_than_any_circle_and_needs_no_iteration_before_is_no_stage():
    """Iterations of it can run side by side; in a stage they would be waited for."""
    longer = probe(lambda x: x * 0.5, traits=OPAQUE.but(price=lambda *_, **__: 2e9, fails=Fails.NEVER))
    assert not stages(
        executable_of(lambda x: loop(lambda i, a, b: (sure(a), fed(call(longer, a), b)), x, x), "float64")
    )


def test_what_may_fail_has_no_stages():
    failing = heavy(lambda x, y: x * y)
    assert not stages(executable_of(lambda x: loop(lambda i, a, b: (sure(a), call(failing, b, a)), x, x), "float64"))


def test_stacked_layers_give_what_numpy_gives_and_hold_nothing():
    rng, count = np.random.default_rng(0), 6
    a, b, v, w = [(rng.standard_normal((192, 192)) / 14).astype(np.float32) for _ in range(4)]
    graph = Graph(ordered=True)
    with graph.as_default():
        places = [graph.parameter(one.dtype, al.TensorShape(one.shape)) for one in (a, b, v, w)]
        body = lambda i, x, y: (al.tanh(x @ places[2]), al.tanh(y @ places[3] + x))
        set_outputs(graph, loop(body, *places[:2], n=count, parallel_iterations=4)[1:])
    executable = Executable(lower(graph, graph.outputs, graph.inputs))
    assert stages(executable) == [2]
    for _ in range(3):
        got = executable.run([a, b, v, w], threads=2)
    held = [weakref.ref(one) for one in got]
    for _ in range(count):
        a, b = np.tanh(a @ v), np.tanh(b @ w + a)
    assert np.array_equal(got[0], a) and np.array_equal(got[1], b)
    del got
    assert not any(reference() is not None for reference in held)


def lasting(count=20, **options):
    """A loop in stages, and what each has been given in which order."""
    seen, lock = [], threading.Lock()

    def noted(name):
        def kernel(x, *_):
            with lock:
                seen.append((name, float(x)))
            return x + 1.0

        return probe(kernel, name, traits=LONG)

    first, second = noted("first"), noted("second")
    body = lambda i, a, b: (call(first, a), call(second, b, a))
    return executable_of(lambda x: loop(body, x, x, n=count, **options), "float64"), seen


@pytest.mark.parametrize("window", [2, 3, 7])
def test_no_more_iterations_are_live_than_may_be(window):
    executable, seen = lasting(parallel_iterations=window)
    assert stages(executable) == [2]
    for threads in (2, 3):
        seen.clear()
        executable.run([np.float64(0)], threads=threads)
        over = {"first": -1.0, "second": -1.0}
        for name, n in seen:
            over[name] = n
            assert over["first"] - over["second"] <= window
        assert over == {"first": 19.0, "second": 19.0}


def test_a_pipeline_ends_if_no_worker_comes(monkeypatch):
    executable, seen = lasting(parallel_iterations=4)
    want = executable.run([np.float64(0)], threads=1)
    monkeypatch.setattr(pipeline_runs, "call_workers", lambda work, count: None)
    seen.clear()
    assert executable.run([np.float64(0)], threads=2) == want
    assert len(seen) == 40


def test_workers_go_to_others_who_call(monkeypatch):
    executable, _ = lasting(200, parallel_iterations=4)
    want = executable.run([np.float64(0)], threads=1)
    monkeypatch.setattr(pipeline_runs, "TURN", 0.0)
    monkeypatch.setattr(pipeline_runs, "others_call", lambda work: True)
    for _ in range(5):
        assert executable.run([np.float64(0)], threads=2) == want


def test_runs_that_are_limited_traced_or_ask_for_errors_have_one_loop(tmp_path):
    executable, seen = lasting()
    in_order = [(name, float(n)) for n in range(20) for name in ("first", "second")]
    order = lambda **options: (seen.clear(), executable.run([np.float64(0)], threads=1, **options), sorted(seen))[2]
    assert order(memory=MemoryLimit(1 << 20)) == sorted(in_order)
    with np.errstate(over="raise"):
        assert order() == sorted(in_order)
    with al.profiler.trace(str(tmp_path / "trace.json")) as trace:
        executable.run([np.float64(0)], threads=2)
    del trace
    assert "loop run in stages" not in executable.seen


# -- the end ----------------------------------------------------------------------------------------------


def test_a_time_limit_ends_all_stages_and_tells_how_far_they_are():
    # an iteration asks often enough
    less = LONG.but(price=lambda *_, **__: 2e5)
    ops = probe(lambda x: x * 0.5, traits=less), probe(lambda x, y: x * 0.5 - y, traits=less)
    body = lambda i, a, b: (call(ops[0], a), call(ops[1], b, a))
    executable = executable_of(lambda x: loop(body, x, x, condition=lambda i, a, b: a < 9.0), "float64")
    assert stages(executable) == [2]
    for threads in (1, 2):
        begun = time.monotonic()
        with pytest.raises(TimeoutError, match=r"'while' is in iteration \d+"):
            executable.run([np.float64(0)], threads=threads, timeout=0.05)
        assert time.monotonic() - begun < 2.0


@pytest.mark.parametrize("who", [0, 1])
def test_ctrl_c_ends_all_stages(who):
    """Whether the main thread is in a kernel or sleeps."""
    held, count = [True], [0, 0]

    def kernel(k):
        def of(x, *_):
            count[k] += 1
            if held and k == who and count[k] == 5:
                _thread.interrupt_main()
            return x * 0.5

        return probe(of, f"of{k}", traits=LONG)

    ops = [kernel(0), kernel(1)]
    body = lambda i, a, b: (call(ops[0], a), call(ops[1], b, a))
    executable = executable_of(lambda x: loop(body, x, x, condition=lambda i, a, b: i < 200_000), "float64")
    assert stages(executable) == [2]
    with pytest.raises(KeyboardInterrupt):
        executable.run([np.float64(0)], threads=2)
    assert max(count) < 200_000


@pytest.mark.parametrize("who", [0, 1])
def test_what_fails_though_it_was_said_not_to_ends_all_stages_at_its_place(who):
    def kernel(k):
        def of(x, *_):
            if k == who and x == 6.0:
                raise ZeroDivisionError("so")
            return x + 1.0

        return probe(of, f"of{k}", traits=LONG)

    ops = [kernel(0), kernel(1)]
    body = lambda i, a, b: (call(ops[0], a), call(ops[1], b, a))
    executable = executable_of(lambda x: loop(body, x, x, condition=lambda i, a, b: i < 1000), "float64")
    for threads in (1, 2, 3):
        with pytest.raises(ZeroDivisionError, match="so") as caught:
            executable.run([np.float64(0)], threads=threads)
        assert any("iteration 6" in note for note in caught.value.__notes__)
    assert executable_of(lambda x: loop(FED, x, x), "float64").run([np.float64(0)], threads=2)


def test_a_loop_that_nobody_waits_for_ends():
    executable, seen = lasting()
    (step,) = [node.value for node in executable.plan.nodes if node.kind is Kind.WHOLE and node.value.overlaps]
    args = Arguments([np.int32(0), np.float64(0), np.float64(0)], 2)
    args.unwanted.append(True)
    with pytest.raises(Unwanted) as caught:
        step(EAGER, args)
    assert not seen and "is in iteration 0" in step.reached(caught.value)[0]


def test_in_a_child_the_caller_goes_on_if_it_was_alone():
    run = pipeline_runs.PipelineRun(2, 1, 0, 2, 1)
    run.left_alone()
    assert run.run([iter_of(run, 3)]) == [(3,)]
    run = pipeline_runs.PipelineRun(2, 1, 0, 2, 1)
    run._present = 1
    run.left_alone()
    with pytest.raises(RuntimeError, match="AL606"):
        run.run([iter_of(run, 3)])


def iter_of(run, count):
    for n in range(count):
        while not run.turns[0].begins(n):
            yield run.turns[0]
    return (count,)


# -- any order --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(25))
def test_random_loops_give_what_they_give_node_by_node(seed, monkeypatch):
    check_random(random.Random(seed), monkeypatch)


@pytest.mark.nightly
def test_many_random_loops(monkeypatch):
    kinds = [bool(check_random(random.Random(seed), monkeypatch)) for seed in range(1000, 1600)]
    assert sum(kinds) > 150


def check_random(draw, monkeypatch):
    """A chain of recurrences with light ones between them, conditions of values, branches; threads that are switched
    often, and stages that are taken in any order."""
    heavy_ones, light_ones = draw.randint(2, 4), draw.randint(0, 3)
    count = heavy_ones + light_ones
    order = draw.sample(range(count), count)
    plans = []
    for k in range(count):
        others = [j for j in range(count) if order[j] < order[k] and draw.random() < 0.5]
        plans.append((k < heavy_ones, others, draw.choice(["plain", "twice", "counter", "branch", "new", "new"])))
    window, n, first = draw.choice([2, 2, 3, 10]), draw.randint(0, 9), order.index(0)
    ends_early = draw.random() < 0.3
    wanted = [k for k in range(count + 1) if draw.random() < 0.8] or [count]

    def build(x):
        def body(i, *values):
            new = list[object](values)
            for k in sorted(range(count), key=order.__getitem__):
                is_heavy, others, how = plans[k]
                y = values[k]
                for j in others:
                    other = new[j] if how == "new" else values[j]
                    y = call(BOTH, y, other) if is_heavy and j % 2 else y - other * 0.25
                step = sure if is_heavy else lambda v: v * 0.5 + 1.0
                if how == "branch":
                    new[k] = al.cond(i % 3 != 0, lambda y=y, step=step: step(y), lambda y=y: y * 0.25)
                    continue
                y = step(y)
                new[k] = step(y) if how == "twice" else y + al.cast(i, al.float64) if how == "counter" else y
            return new

        goes_on = lambda i, *values: (i < n) & (values[first] < 1.8) if ends_early else i < n
        start = [x * float(k + 1) if k % 3 else al.constant(0.5, al.float64) for k in range(count)]
        made = loop(body, *start, condition=goes_on, parallel_iterations=window)
        return [made[k] for k in wanted]

    executable = executable_of(build, "float64")
    value = np.float64(draw.random())
    want = list(map(repr, node_by_node(executable.lowered).run([value])))
    interval = sys.getswitchinterval()
    monkeypatch.setattr(pipeline_runs.PipelineRun, "_next", lambda run: drawn(run, draw))
    try:
        sys.setswitchinterval(1e-6)
        for threads in (1, 2, 2, 3):
            assert list(map(repr, executable.run([value], threads=threads))) == want
    finally:
        sys.setswitchinterval(interval)
    return stages(executable)


def drawn(run, draw):
    """Any of the stages that need not wait."""
    if run._stopped or not run._ready:
        return None
    return run._ready.pop(draw.randrange(len(run._ready)))
