"""Every order in which kernels of small loops can begin and end whose tokens are moved in native memory: one answer."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from api import Executable, Graph, core_kernels, lower
from api import token_core as tc
from core_model import CoreModel
from each_case import each
from explorer import Wrong
from flow import ADD, call, counted, heavy, scalar
from test_frames_model import chain, nested, products, swapped, three_deep, untaken, with_branch

TWICE = heavy(lambda x, *_: x * 2 + 1, "twice")
THRICE = heavy(lambda x, *_: x * 3, "thrice")


def two_heavy(g, window):
    """Two chains of heavy kernels with a counter."""
    return counted(g, 3, lambda g, i, a, b: [call(TWICE, a), call(THRICE, b)], [scalar(g)] * 2, window=window)


def pipeline(g, window):
    """A chain that another feeds."""
    body = lambda g, i, a, b: [call(TWICE, a), call(THRICE, call(ADD, a, b))]
    return counted(g, 3, body, [scalar(g)] * 2, window=window)


def with_capture(g, window):
    """A loop that takes a value that does not change, and hands one on."""
    x, y = scalar(g), scalar(g, "y")
    body = lambda g, i, a, b: [call(TWICE, call(ADD, b, g.capture(y))), call(THRICE, a)]
    return counted(g, 2, body, [x, y], window=window)


def side_by_side(g, window):
    """Two loops in a loop, one of which takes a value that is made in the middle, and is the same in all it does."""

    def body(g, i, s, t):
        a = counted(g, 2, lambda g, j, u: [call(TWICE, u)], [s], window=window, name="inner")[1]
        other = lambda g, j, u: [call(ADD, call(THRICE, u), g.capture(s))]
        return [a, counted(g, 1, other, [t], window=window, name="other")[1]]

    return counted(g, 2, body, [scalar(g), scalar(g, "y")], window=window)


PROGRAMS = {one.__name__: one for one in (chain, with_branch, swapped, two_heavy, pipeline, with_capture)}
#: the kernels that Python has to call
CALLED = {
    "none": lambda name: False,
    "some": lambda name: name in ("twice", "add"),
    "others": lambda name: name not in ("twice", "add"),
    "all": lambda name: True,
}


def lowered_of(build, window):
    g = Graph()
    outs = build(g, window)
    inputs = list({t.op.name: t for t in g.inputs}.values())
    return lower(g, list(outs), inputs), [np.int64(3 + k) for k in range(len(inputs))]


@each(itertools.product(CALLED, PROGRAMS, (1, 2, 3), (1, 2, 3)), parts=4, one_in=4)
def test_every_order_gives_one_answer(called, name, window, workers):
    lowered, feeds = lowered_of(PROGRAMS[name], window)
    model = CoreModel(lowered, feeds, workers, CALLED[called])
    found = model.explored()
    wanted = Executable(lowered).run(feeds)
    assert found.finals
    for final in found.finals:
        assert list(model.results(final)) == wanted


#: loops in loops: one in a branch that is not always taken, one that takes what does not change in the one around it
NESTS = {one.__name__: one for one in (nested, untaken, products, side_by_side, three_deep)}


def one_answer(called, name, window, workers):
    lowered, feeds = lowered_of(NESTS[name], window)
    model = CoreModel(lowered, feeds, workers, CALLED[called])
    found = model.explored()
    wanted = Executable(lowered).run(feeds)
    assert found.finals
    for final in found.finals:
        assert list(model.results(final)) == wanted
    return found.states


@each(
    [("none", "untaken", 2, 2), ("some", "nested", 2, 2), ("all", "three_deep", 2, 2), ("some", "side_by_side", 1, 1)]
)
def test_every_order_in_loops_in_loops_gives_one_answer(called, name, window, workers):
    assert one_answer(called, name, window, workers) > 20


@pytest.mark.nightly
@each(itertools.product(CALLED, ("nested", "untaken"), (1, 2, 3), (1, 2, 3)), parts=4)
def test_every_order_in_loops_in_loops_gives_one_answer_for_three_workers(called, name, window, workers):
    assert one_answer(called, name, window, workers) > 20


LARGER = ("products", "side_by_side", "three_deep")
#: with three workers; two loops side by side have too many states with a window of two then
OF_THREE = [*itertools.product(CALLED, LARGER, [1], [3]), *itertools.product(CALLED, LARGER[::2], [2], [3])]


@pytest.mark.nightly
@each([*itertools.product(CALLED, LARGER, (1, 2), (1, 2)), *OF_THREE], parts=4)
def test_every_order_in_larger_loops_in_loops_gives_one_answer(called, name, window, workers):
    assert one_answer(called, name, window, workers) > 20


def not_counted(m, buffer):
    """A use that is not noted."""


def no_window(m, it, edges, buffer):
    """An iteration that does not wait."""
    f, index = m[it + tc.WITHIN], m[it + tc.INDEX] + 1
    return tc.iteration_at(m, f, index) if index <= m[f + tc.F_NEWEST] else tc.begin_iteration(m, f)


def never_settled(m, w, it):
    """An iteration that never ends."""
    tc.deliver(m, w)


def doubled(m, w, it, edges, buffer, push=tc.push):
    """A token that is there twice."""
    push(m, w, it, edges, buffer)
    push(m, w, it, edges, buffer)


def kept(m, f, values):
    """What is the same in every iteration, and held for ever."""


def never_ended(m, w, f):
    """A frame that nobody is told of that it has ended."""
    m[f + tc.F_OLDEST] = m[f + tc.F_NEWEST] + 1


def at_an_address(address, byte=tc.byte):
    assert address, "there is no value"
    return byte(address)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("use", not_counted),
        ("drop", not_counted),
        ("following", no_window),
        ("settle", never_settled),
        ("push", doubled),
    ],
    ids=lambda one: getattr(one, "__name__", one),
)
def test_what_is_wrong_is_found(monkeypatch, name, other):
    for module in (tc, core_kernels):
        if hasattr(module, name):
            monkeypatch.setattr(module, name, other)
    monkeypatch.setattr(tc, "byte", at_an_address)
    with pytest.raises(Wrong):
        CoreModel(*lowered_of(two_heavy, 2), 2).explored()


@pytest.mark.parametrize(
    ("name", "other"),
    [("use", not_counted), ("let_go", kept), ("retire", never_ended), ("following", no_window)],
    ids=lambda one: getattr(one, "__name__", one),
)
def test_what_is_wrong_in_loops_in_loops_is_found(monkeypatch, name, other):
    monkeypatch.setattr(tc, name, other)
    monkeypatch.setattr(tc, "byte", at_an_address)
    with pytest.raises(Wrong):
        CoreModel(*lowered_of(products, 1), 1, CALLED["some"]).explored()
