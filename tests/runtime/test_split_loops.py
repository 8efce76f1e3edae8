"""Loops that are split into one for each recurrence: which ones are, and that nothing but time shows it."""

from __future__ import annotations

import random

import autoloop as al
import numpy as np
import pytest
from api import OPAQUE, Executable, Fails, Graph, Kind, MemoryLimit, Price, lower, set_outputs
from flow import call, heavy, node_by_node, probe

LONG = OPAQUE.but(price=lambda *_, **__: 1e9, fails=Fails.NEVER)
#: what takes long and gives a value whatever it is given
SURE = probe(lambda x: x * 0.5 + 1.0, "sure", traits=LONG)
BOTH = probe(lambda x, y: x * 0.5 - y, "both", traits=LONG)


def executable_of(build, *given):
    graph = Graph(ordered=True)
    with graph.as_default():
        inputs = [graph.parameter(np.dtype(dtype), al.TensorShape([])) for dtype in given]
        set_outputs(graph, [al.convert_to_tensor(one) for one in build(*inputs)])
    return Executable(lower(graph, graph.outputs, graph.inputs))


def split(executable):
    """How many loops there are that are worth a thread each."""
    whole = [node.value for node in executable.plan.nodes if node.kind is Kind.WHOLE]
    return sum([one.is_heavy and not one.overlaps for one in whole])


def loop(body, *start, n=7, condition=None, **options):
    condition = condition or (lambda i, *_: i < n)
    return al.while_loop(condition, lambda i, *rest: (i + 1, *body(i, *rest)), [al.constant(0), *start], **options)


def sure(x):
    return call(SURE, x)


def assert_as_by_nodes(executable, *given):
    want = node_by_node(executable.lowered).run(list(given))
    for threads in (1, 2, 3):
        got = executable.run(list(given), threads=threads)
        assert list(map(repr, got)) == list(map(repr, want))


TWO = lambda i, a, b: (sure(a), sure(sure(b)))
EACH = lambda i, a, b: (sure(a), sure(b))
MORE = lambda i, a, b, c: (sure(a), sure(sure(b)), c * 0.5)
#: at rest
HALF = al.constant(0.5, al.float64)


@pytest.mark.parametrize(
    ("build", "count"),
    [
        (lambda x: loop(TWO, x, x + 1.0), 2),
        (lambda x: loop(TWO, x, x + 1.0)[1:2], 0),  # the other one is not wanted, and not there
        (lambda x: loop(TWO, x, x + 1.0, n=0), 2),
        (lambda x: loop(lambda i, a, b, c: (sure(a), sure(b), c * 0.5 + 1.0), x, x, x), 2),
        (lambda x: loop(lambda i, a, b, c: (sure(a), sure(b), c + a), x, x, x), 2),  # goes with the first
        # light ones that both need are made in both
        (lambda x: loop(lambda i, a, b, c: (sure(a) + c, sure(b) - c, c * 0.5), x, x, x), 2),
        (lambda x: loop(lambda i, a, b: (sure(a), sure(b) + al.cast(i, al.float64)), x, x), 2),
        (lambda x: loop(lambda i, a, b: (al.cond(i % 2 == 0, lambda: sure(a), lambda: a - 1.0), sure(b)), x, x), 2),
        (lambda x: loop(lambda i, a, b, c: (sure(a), sure(b), sure(c)), x, x, x), 3),
        (lambda x: loop(lambda i, a, b, c: (call(BOTH, a, c), sure(b), sure(c)), x, x, x), 1),  # two of them in stages
        (lambda x: loop(lambda i, a, b: (call(BOTH, a, b), sure(b)), x, x), 0),
        (lambda x: loop(lambda i, a, b: (sure(b), sure(a)), x, x), 0),  # by turns
        (lambda x: loop(TWO, x, x, parallel_iterations=1), 0),
        (lambda x: loop(TWO, x, x, condition=lambda i, a, b: a < 1.9), 0),  # the condition waits for one
        (lambda x: loop(lambda i, s, a, b: (s + x, sure(a), sure(b)), x, x, x, condition=lambda i, s, *_: s < 9.0), 2),
        (lambda x: loop(lambda i, a: loop(TWO, a, a)[1:2], x), 0),
        (lambda x: loop(lambda i, a, c: [loop(TWO, a, a)[1] + (d := loop(TWO, a, c))[1], d[2]], x, x, n=2), 2),
        (lambda x: [sum(loop(TWO, *loop(TWO, x, x)[1:])[1:], x)], 4),
    ],
)  # fmt: skip
def test_which_are_split(build, count):
    executable = executable_of(build, "float64")
    assert split(executable) == count
    assert_as_by_nodes(executable, np.float64(0.75))


@pytest.mark.parametrize(
    ("build", "count"),
    [
        (lambda x: al.cond(x > 1.0, lambda: loop(TWO, x, HALF)[1:], lambda: [x, x]), 2),
        (lambda x: al.cond(x > 1.0, lambda: loop(TWO, x, x)[1:], lambda: [x, x]), 2),
        (lambda x: al.cond(x > 1.0, lambda: loop(MORE, x, x, HALF)[1:], lambda: [x, x, x]), 2),
        (lambda x: al.cond(x > 1.0, lambda: loop(TWO, al.constant(0.25, al.float64), HALF)[1:], lambda: [x, x]), 2),
        (lambda x: loop(lambda i, a, b: [sum(loop(EACH, a, x)[1:], a), sure(b)], x, x, n=2), 2),
        (lambda x: loop(lambda i, a, b: [sum(loop(EACH, a, HALF)[1:], a), sure(b)], x, x, n=2), 2),
        (lambda x: loop(lambda i, a, b: [sum(loop(EACH, a, a + x)[1:], a), sure(b)], x, x, n=2), 2),
        (lambda x: loop(TWO, x, HALF), 2),
        # what takes long before the loop, as a start or in each iteration
        (lambda x: loop(TWO, sure(x), HALF), 2),
        (lambda x: loop(TWO, sure(x), sure(sure(x))), 2),
        (lambda x: loop(lambda i, a, b, w=sure(x), v=sure(x + 1.0): (sure(a) * w, sure(b) * v), x, HALF), 2),
        (lambda x: loop(lambda i, a, b, w=sure(x): [sum(loop(EACH, w, HALF)[1:], a), b * 0.5], x, x, n=2), 2),
        (lambda x: loop(TWO, al.constant(0.25, al.float64), HALF), 2),
    ],
)
def test_what_begins_with_what_is_at_rest_runs_where_and_as_often_as_the_loop_does(build, count):
    """What begins with a constant ran in a branch that was not taken, and what it gave was the result; in a loop the
    run did not go on."""
    executable = executable_of(build, "float64")
    assert split(executable) == count
    for value in (0.75, 1.25):
        assert_as_by_nodes(executable, np.float64(value))


def test_what_may_fail_or_shows_is_not_split():
    """Of several failures that of the first iteration is raised; what does more than compute shows when it runs."""
    failing, foreign = heavy(lambda x: x), probe(lambda x: x, traits=LONG.but(price=Price.FOREIGN))
    for op in (failing, foreign):
        body = lambda i, a, b, op=op: (sure(a), call(op, b))
        assert not split(executable_of(lambda x, body=body: loop(body, x, x), "float64"))


@pytest.mark.parametrize(("fails", "count"), [(Fails.NEVER, 2), (Fails.MAYBE, 0)])
def test_what_stands_for_several_kernels_gives_a_value_if_they_do(fails, count):
    inner = Graph()
    one = probe(lambda x: x + 1.0, traits=OPAQUE.but(fails=fails))
    inner.outputs = [call(one, inner.parameter(np.dtype("float64"), al.TensorShape([])))]
    region = probe(lambda x: x + 1.0, traits=OPAQUE.but(price=lambda *_, **__: 1.0), stands_for=inner)
    executable = executable_of(lambda x: loop(lambda i, a, b: (sure(a), call(region, sure(b))), x, x), "float64")
    assert split(executable) == count
    assert_as_by_nodes(executable, np.float64(0.75))


def test_runs_that_are_limited_or_ask_for_errors_have_one_loop():
    seen = []
    op = probe(lambda x: (seen.append(x), x + 1.0)[1], traits=LONG)
    executable = executable_of(lambda x: loop(lambda i, a, b: (call(op, a), call(op, b)), x, x * 10.0), "float64")
    order = lambda **options: (seen.clear(), executable.run([np.float64(1)], threads=1, **options), list(seen))[2]
    assert split(executable) == 2 and order() == [*range(1, 8), *range(10, 17)]
    in_turn = lambda found: [sorted(found[k : k + 2]) for k in range(0, 14, 2)] == [[k, k + 9] for k in range(1, 8)]
    assert in_turn(order(memory=MemoryLimit(1 << 20)))
    with np.errstate(over="raise"):
        assert in_turn(order())


@pytest.mark.parametrize("seed", range(30))
def test_random_loops_give_what_they_give_node_by_node(seed):
    check_random(random.Random(seed))


def check_random(draw):
    heavy_ones, light_ones = draw.randint(2, 4), draw.randint(0, 3)
    count = heavy_ones + light_ones
    plans = []
    for k in range(count):
        others = [j for j in range(count) if j != k and draw.random() < (0.12 if k < heavy_ones else 0.2)]
        plans.append((k < heavy_ones, others, draw.choice(["plain", "twice", "counter", "branch"])))
    ends_early, window, n = draw.random() < 0.3, draw.choice([1, 2, 3, 10]), draw.randint(0, 6)
    wanted = [k for k in range(count + 1) if draw.random() < 0.7] or [0]
    begins = [draw.choice(["given", "at rest", "late"]) for _ in range(count)]
    where = draw.choice(["", "branch", "loop"])
    captures = [draw.random() < 0.2 for _ in range(count)]

    def new(i, values, k, late):
        is_heavy, others, how = plans[k]
        x = values[k]
        for j in others:
            x = call(BOTH, x, values[j]) if is_heavy and j % 2 else x - values[j] * 0.25
        if captures[k]:
            x = x + late
        step = sure if is_heavy else lambda v: v * 0.5 + 1.0
        if how == "branch":
            return al.cond(i % 2 == 0, lambda: step(x), lambda: x * 0.25)
        x = step(x)
        return step(x) if how == "twice" else x + al.cast(i, al.float64) if how == "counter" else x

    def looped(x):
        goes_on = lambda i, *values: (i < n) & (values[-1] < 3.0) if ends_early else i < n
        late = sure(x * 3.0)
        body = lambda i, *values: [new(i, values, k, late) for k in range(count)]
        kinds = {"given": lambda k: x * (k + 1.0), "at rest": lambda _: HALF, "late": lambda k: sure(x * (k + 1.0))}
        start = [kinds[how](k) for k, how in enumerate(begins)]
        made = loop(body, *start, condition=goes_on, parallel_iterations=window)
        return [al.cast(made[k], al.float64) for k in wanted]

    def build(x):
        if where == "branch":
            return al.cond(x > 0.5, lambda: looped(x), lambda: [x * 1.0] * len(wanted))
        if where == "loop":
            body = lambda _, *values: looped(sum(values) * 0.25)
            return loop(body, *[x * 1.0] * len(wanted), n=2)
        return looped(x)

    executable = executable_of(build, "float64")
    assert_as_by_nodes(executable, np.float64(draw.random()))
    return split(executable)
