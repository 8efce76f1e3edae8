"""Every order in which the kernels of small graphs can begin and end: one answer, and nothing lost, doubled or kept."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest
from api import EAGER, Graph, Lowered, Plan, State, TensorShape, call_kernel, lower
from each_case import each
from explorer import Wrong
from flow import ADD, EQUAL, LESS, MOD, MUL, branch, call, const, counted, failing, loop, scalar
from frames_model import Model

WINDOWS = (1, 2, 3)


def chain(g, window):
    """A counter that runs ahead of a chain."""
    return counted(g, 3, lambda g, i, x: [call(ADD, x, i)], [scalar(g)], window=window)


def with_branch(g, window):
    """A branch in a loop."""

    def body(g, i, x):
        odd = call(EQUAL, call(MOD, i, const(g, 2)), const(g, 1))
        return branch(g, odd, lambda g: call(ADD, g.capture(x), const(g, 5)), lambda g: g.capture(x))

    return counted(g, 3, body, [scalar(g)], window=window)


def nested(g, window):
    """A loop in a loop, which it takes an invariant of."""
    x = scalar(g)

    def body(g, i, s):
        inner = counted(
            g, 2, lambda g, j, t: [call(ADD, t, g.capture(x))], [s], window=window,
            name="inner",
        )  # fmt: skip
        return [inner[1]]

    return counted(g, 2, body, [const(g, 0)], window=window)


def untaken(g, window):
    """A loop in a branch that is taken in one iteration of three."""

    def inner(g, x):
        return counted(g, 2, lambda g, j, t: [call(ADD, t, j)], [g.capture(x)], window=window, name="inner")[1]

    def body(g, i, x):
        once = call(EQUAL, i, const(g, 1))
        return branch(g, once, lambda g: inner(g, x), lambda g: g.capture(x))

    return counted(g, 3, body, [scalar(g)], window=window)


def no_trip(g, window):
    """A loop that never runs, and one behind it."""
    i, x = loop(
        g, lambda g, i, x: call(LESS, x, i), lambda g, i, x: [i, call(ADD, x, i)], [const(g, 0), scalar(g)],
        window=window,
    )  # fmt: skip
    return (i, *counted(g, 2, lambda g, j, y: [call(ADD, y, j)], [x], window=window))


def swapped(g, window):
    """Variables that change places, one of them for nothing but its arrival."""
    x = scalar(g)
    return counted(g, 3, lambda g, i, a, b: [call(ADD, b, i), a], [x, const(g, 7)], window=window)


def several_entries(g, window):
    """Values that enter a loop one after the other, one of them an invariant."""
    x = scalar(g)
    a, b = call(ADD, x, x), call(MUL, x, x)
    return counted(g, 2, lambda g, i, y: [call(ADD, y, g.capture(b))], [a], window=window)


def arrays(g, window):
    """Values that may be large: each is let go of where it was used last."""
    x = g.parameter(np.dtype(np.float64), TensorShape([None]), "x")
    return counted(g, 2, lambda g, i, y, z: [call(ADD, y, z), call(MUL, z, z)], [x, x], window=window)


def products(g, window):
    """``nested``, with more to do in the middle."""
    x = scalar(g)

    def body(g, i, s):
        return counted(
            g, 2, lambda g, j, t: [call(ADD, t, call(MUL, g.capture(i), g.capture(x)))], [s], window=window,
            name="inner",
        )[1:]  # fmt: skip

    return counted(g, 2, body, [const(g, 0)], window=window)


def three_deep(g, window):
    """A loop in a loop in a loop."""

    def middle(g, i, s):
        return counted(g, 2, lambda g, j, t: inner(g, t), [s], window=window, name="middle")[1:]

    def inner(g, t):
        return counted(g, 1, lambda g, k, u: [call(ADD, u, k)], [call(ADD, t, t)], window=window, name="inner")[1:]

    return counted(g, 2, middle, [scalar(g)], window=window)


GRAPHS = {
    chain: [3, 4], with_branch: [3, 6], nested: [2, 4], untaken: [3, 2], no_trip: [0, 2, 2], swapped: [3, 9, 2],
    several_entries: [2, 4], arrays: [2, 3, 1],
}  # fmt: skip
LARGE = {products: [2, 2], three_deep: [2, 16]}


def made(build: Any, window: int) -> tuple[Lowered, list[Any]]:
    graph = Graph()
    outs = build(graph, window)
    return lower(graph, outs, graph.inputs), [1] * len(graph.inputs)


def one_answer(build: Any, window: int, want: list[int], state: type[State] = State) -> int:
    """Explore with three workers; gives how many states there are."""
    explored = Model(*made(build, window), 3, state).explored()
    assert [end.tokens.results for end in explored.finals] == [want]
    return explored.states


@each([(build, window) for build in GRAPHS for window in WINDOWS])
def test_every_order_gives_one_answer(build, window):
    assert one_answer(build, window, GRAPHS[build]) >= 20


@pytest.mark.nightly
@each([(build, window) for build in LARGE for window in WINDOWS])
def test_every_order_of_larger_graphs_gives_one_answer(build, window):
    assert one_answer(build, window, LARGE[build]) > 200


# -- failures ---------------------------------------------------------------------------------------------


def fails_in_two_chains(g, window):
    """Two chains that fail in different iterations, the one that stands behind in an earlier one."""
    x = scalar(g)
    at = lambda i, k: branch(
        g, call(EQUAL, i, const(g, k)), lambda g: call(failing(f"at {k}"), g.capture(i)), lambda g: g.capture(i)
    )[0]

    def body(sub, i, a, b):
        nonlocal g
        g = sub
        return [call(ADD, a, at(i, 2)), call(ADD, b, at(i, 1))]

    return counted(g, 3, body, [x, x], window=window)


def fails_inside_and_behind(g, window):
    """A failure in a loop in a loop, another one behind all of it, which does not wait for it."""
    x = scalar(g)

    def body(g, i, s):
        return counted(
            g, 2, lambda g, j, t: [call(failing("inside"), call(ADD, t, j))], [s], window=window, name="inner"
        )[1:]

    _, y = counted(g, 2, body, [x], window=window)
    return y, call(failing("behind"), x)


@each([(fails_in_two_chains, "at 1"), (fails_inside_and_behind, "inside")])
def test_the_failure_that_is_told_is_the_first_and_all_before_it_has_run(build, told):
    for window in (1, 2):
        model = Model(*made(build, window), 3)
        finals = model.explored().finals
        assert {str(end.failure.error) for end in finals} == {told}
        before = []
        for end in finals:
            first = min([model.order(name) for name in end.done if model.node(name).op.name == "failing"])
            before.append(frozenset([name for name in end.done if model.order(name) < first]))
        assert len(set(before)) == 1 and len(before[0]) > 1


def arrays_in(tokens: State) -> list[Any]:
    """The arrays that wait in it for who will use them."""
    values = [
        value
        for it in tokens.iterations()
        for value in (*it.values, *it.frame.template, *[value for _, value in it.frame.waiting])
    ]
    return [value for value in values if isinstance(value, np.ndarray)]


def begun(plan: Plan, count: int, ended: int) -> tuple[State, list[Any]]:
    """A run in which so many kernels have ended, and what is ready then; nobody else holds its arrays."""
    tokens, ready = State(plan), []
    tokens.start([np.array([1]) for _ in range(count)], ready, None)
    for _ in range(ended):
        it, step = ready.pop()
        tokens.complete(it, step, call_kernel(it, step, EAGER, None), ready, None)
    return tokens, ready


@each([(build, window) for build in (chain, nested, untaken, arrays) for window in (1, 3)])
def test_a_run_that_is_given_up_anywhere_holds_nothing(build, window):
    lowered, feeds = made(build, window)
    plan = Plan(lowered)
    gc.disable()
    try:
        for ended in range(100):
            tokens, ready = begun(plan, len(feeds), ended)
            if not ready:
                break
            held = list(map(weakref.ref, arrays_in(tokens)))
            assert held
            tokens.close()
            ready.clear()
            assert not [one for one in held if one() is not None]
        assert ended > 5
    finally:
        gc.enable()


# -- what the checks are worth ----------------------------------------------------------------------------


class ForgetsWhatWaits(State):
    """A token that waited for room in the window is not sent on."""

    def _retire(self, it, stack, settle):
        if it.frame.waiting:
            it.frame.waiting.pop()
        super()._retire(it, stack, settle)


class SendsTwice(State):
    """What waited is sent on, and goes on waiting."""

    def _retire(self, it, stack, settle):
        kept = list(it.frame.waiting)
        super()._retire(it, stack, settle)
        it.frame.waiting += kept


class OpensTooWide(State):
    """One more iteration than the window."""

    def _open(self, it, plan, stack):
        frame = super()._open(it, plan, stack)
        frame.window += 1
        return frame


class NeverCloses(State):
    """A frame that is over is not counted down where it was entered."""

    def _retire(self, it, stack, settle):
        before = len(settle)
        super()._retire(it, stack, settle)
        del settle[before:]


class CountsEntriesTwice(State):
    """A token that enters counts for two."""

    def _enter(self, it, what, arg, value, stack, settle):
        before = len(settle)
        super()._enter(it, what, arg, value, stack, settle)
        settle += settle[before:]


class KeepsValues(State):
    """Inputs stay in their slots."""

    def complete(self, it, step, out, light, heavy):
        if step.blank:
            it.values[step.first : step.last] = (out,) * len(step.blank)
        super().complete(it, step, out, light, heavy)


class PassesBy(State):
    """An iteration begins with what another order would not give it."""

    def complete(self, it, step, out, light, heavy):
        super().complete(it, step, out + (it.frame.live > 1) if it.index else out, light, heavy)


@each([
    (ForgetsWhatWaits, chain, "not as on the way"),
    (SendsTwice, chain, "not as on the way"),
    (OpensTooWide, chain, "more iterations than the window"),
    (NeverCloses, nested, "pop from empty list"),
    (CountsEntriesTwice, several_entries, "an iteration that is over"),
    (KeepsValues, arrays, "kept after its last use"),
    (PassesBy, swapped, "not as on the way"),
], one_in=3)  # fmt: skip
def test_a_state_that_is_wrong_is_found(wrong, build, told):
    with pytest.raises(Wrong, match=told):
        one_answer(build, 2, GRAPHS[build], wrong)
