"""Which of the kernels that are ready goes first: pipelines fill as by hand, on a clock of the test's own."""

from __future__ import annotations

import numpy as np
from api import EAGER, ByPath, CriticalPaths, Executable, Graph, State, Weight, call_kernel, lower
from each_case import each
from flow import ADD, LESS, call, const, counted, heavy, loop, priced, probe, scalar
from virtual_workers import Newest, VirtualWorkers

#: nanoseconds that a kernel takes where nothing else is said
UNIT = 1_000_000


def kernels(count, price=UNIT):
    return [probe(lambda x, *_: x, f"k{j}", traits=priced(price)) for j in range(count)]


def looped(body, variables, window, n=60):
    graph = Graph()
    x = scalar(graph)
    outs = counted(graph, n, body, [x] * variables, window=window)[1:]
    return Executable(lower(graph, list(outs), [x]))


def chains(count, window):
    ops = kernels(count)
    return looped(lambda g, i, *values: [call(op, v) for op, v in zip(ops, values)], count, window)


def layers(count, window):
    """Each layer takes what the one below it had in the iteration before."""
    ops = kernels(count)
    body = lambda g, i, *v: [call(op, v[j], *v[max(0, j - 1) : j]) for j, op in enumerate(ops)]
    return looped(body, count, window)


def layers_at_once(count, window):
    """Each layer takes what the one below it has just made."""
    ops = kernels(count)

    def body(g, i, *values):
        made = []
        for op, value in zip(ops, values):
            made.append(call(op, value, *made[-1:]))
        return made

    return looped(body, count, window)


def beside_a_counter(window):
    """A chain, and something for each number of the counter."""
    chain, side = kernels(2)
    return looped(lambda g, i, v, s: [call(chain, v), call(ADD, s, call(side, i))], 2, window)


def forked(window):
    """One value of the iteration, four kernels of it, and then the next iteration."""
    ops = kernels(4)

    def body(g, i, v):
        first, *rest = [call(op, v) for op in ops]
        for one in rest:
            first = call(ADD, first, one)
        return [first]

    return looped(body, 1, window)


def long_and_short(window):
    """Ten kernels in a row, and ten that nobody waits for."""
    graph = Graph()
    x = y = scalar(graph)
    long, short = kernels(2)
    for _ in range(10):
        y = call(long, y)
    return Executable(lower(graph, [y, *[call(short, x) for _ in range(10)]], [x]))


def nested(window):
    """A loop of five kernels in each iteration, beside one kernel; the next iteration waits for both."""
    inner, side = kernels(2)

    def body(g, i, v):
        again = counted(g, 5, lambda h, j, w: [call(inner, w)], [v])[1]
        others = [call(side, v) for _ in range(5)]
        for other in others:
            again = call(ADD, again, other)
        return [again]

    return looped(body, 1, window, n=12)


def gained(executable, taking=(), workers=2, ready=None):
    """How many times faster several workers are than one, in a second run: the first one learns."""
    units = [dict(enumerate(taking)).get(j, 1) for j in range(10)]
    of = lambda step: UNIT * units[int(step.flat.op.name[1:])]
    work = 0

    def duration(step, it):
        nonlocal work
        work += of(step)
        return of(step)

    machine = VirtualWorkers(executable, duration, workers)
    machine.run([1], None if ready is None else ready())
    work = 0
    took = machine.run([1], None if ready is None else ready())
    return work / took


@each([
    (make(count, window), taking)
    for window in (4, 10, 32)
    for make, count, taking in [
        (layers, 2, ()), (layers, 3, ()), (layers, 4, ()), (layers_at_once, 2, ()), (layers_at_once, 3, ()),
        (layers_at_once, 4, ()), (chains, 2, ()), (chains, 3, ()), (chains, 4, ()), (chains, 5, ()),
        (chains, 3, (3, 2, 1)), (chains, 3, (1, 2, 3)), (chains, 4, (1, 1, 1, 3)), (chains, 4, (3, 1, 1, 1)),
    ]
])  # fmt: skip
def test_two_workers_are_nearly_twice_as_fast(executable, taking):
    assert gained(executable, taking) >= 1.95


@each([
    (beside_a_counter, (), 1.95),
    (forked, (3, 1, 1, 1), 1.95),
    (forked, (1, 1, 1, 3), 1.95),
    (long_and_short, (), 1.95),
    (nested, (), 1.9),
])  # fmt: skip
def test_what_is_long_begins_first(make, taking, least):
    assert gained(make(32), taking) >= least


def test_other_orders_are_not_as_fast():
    """The tests above would hold of any order if nothing depended on it."""
    slow = [gained(long_and_short(0), ready=Newest), gained(chains(4, 32), (1, 1, 1, 3), ready=Newest)]
    assert max(slow) < 1.6


def test_what_kernels_take_is_learnt():
    graph = Graph()
    x = scalar(graph)
    short, long = kernels(2)
    outs = [call(op, x) for op in (long, short, short, short)]
    machine = VirtualWorkers(
        Executable(lower(graph, outs, [x])), lambda step, it: UNIT * (3 if step.flat.op is long else 1)
    )
    assert [machine.run([1]) / UNIT for _ in range(3)] == [4, 3, 3]


def test_how_often_loops_run_is_learnt():
    graph = Graph()
    x, n = scalar(graph), scalar(graph, "n")
    chain, other = kernels(2)
    body = lambda g, i, v: [call(ADD, i, const(g, 1)), call(chain, v)]
    looping = loop(graph, lambda g, i, v: call(LESS, i, g.capture(n)), body, [const(graph, 0), x])[1]
    y = x
    for _ in range(20):
        y = call(other, y)
    plan = Executable(lower(graph, [looping, y], [x, n])).plan
    found = []
    for _ in range(2):
        tokens, light, ready = State(plan), [], []
        tokens.start([1, 100], light, ready)
        while light:
            it, step = light.pop(0)
            tokens.complete(it, step, call_kernel(it, step, EAGER, None), light, ready)
        paths = CriticalPaths.of(plan)
        found.append({step.flat.op.name: paths.left(it, step) for it, step in ready})
        plan.frames[1].trips = 100
        paths.ran()
    assert found[0]["k1"] == found[1]["k1"] == 20 * UNIT
    assert found[0]["k0"] < 20 * UNIT and found[1]["k0"] == 100 * UNIT


def test_a_thread_stays_with_what_it_has_made_while_nothing_is_much_longer():
    graph = Graph()
    x = scalar(graph)
    ops = [probe(lambda v, *_: v, f"p{k}", traits=priced(k * UNIT)) for k in (100, 101, 200)]
    plan = Executable(lower(graph, [call(op, x) for op in ops], [x])).plan
    tokens, ready = State(plan), []
    tokens.start([1], [], ready)
    hundred, little_more, double = sorted(ready, key=lambda item: item[1].flat.op.name)
    waiting = ByPath(CriticalPaths.of(plan))
    waiting.append(little_more, 2)
    assert waiting.take([hundred], 1) is hundred  # what it has just made
    waiting.append(hundred, 1)
    assert waiting.take([], 1) is hundred  # what it had made before
    assert waiting.take([], 1) is little_more  # what somebody else has made
    waiting.append(double, 2)
    assert waiting.take([hundred], 1) is double
    assert list(waiting) == [hundred]


def test_many_that_are_ready_are_taken_in_order():
    graph = Graph()
    x = scalar(graph)
    prices = [int(p) for p in np.random.default_rng(0).permutation(50) + 130]
    outs = [call(probe(lambda v: v, f"p{p}", traits=priced(p * 1000.0)), x) for p in prices]
    machine = VirtualWorkers(Executable(lower(graph, outs, [x])), lambda step, it: 1, workers=1)
    machine.run([1])
    assert [int(name[1:]) for name, _ in machine.order] == sorted(prices, reverse=True)


def test_a_long_loop_that_is_run_as_one_is_shared_out():
    """It was the first of what one thread kept for itself, and all of that waited for it."""
    graph = Graph()
    x = scalar(graph)
    slow = probe(lambda v: v)
    (a,) = counted(graph, 2000, lambda g, i, v: [call(slow, v)], [x])[1:]
    outs = [a, *[call(heavy(lambda v: v), x) for _ in range(2)]]
    executable = Executable(lower(graph, outs, [x]))
    whole = next(step for step in executable.plan.steps.values() if step.flat.kind.name == "WHOLE")
    assert whole.weight == Weight.LIGHT
    assert executable.run([3], threads=2) == [3] * 3
    CriticalPaths.of(executable.plan).took(whole, 10**9)
    assert executable.run([3], threads=2) == [3] * 3
    assert whole.weight == Weight.HEAVY
    assert executable.run([3], threads=2) == [3] * 3
