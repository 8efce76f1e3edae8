"""All that threads can do between each other's locks in a run whose tokens are moved in native memory: nobody waits for
ever, however it ends."""

from __future__ import annotations

import itertools

import pytest
from api import core_workers as cw
from api import token_core as tc
from core_workers_model import Waiting
from each_case import each
from explorer import Wrong
from flow import EQUAL, branch, call, const, counted, scalar
from test_core_model import CALLED, THRICE, TWICE, lowered_of

ENDS = {"runs on": {}, "time": {"timed": True}, "Ctrl-C": {"interrupts": 2}, "others call": {"others": True}}


def chains(g, turns):
    """Two chains of heavy kernels."""
    return counted(g, turns, lambda g, i, a, b: [call(TWICE, a), call(THRICE, b)], [scalar(g)] * 2, window=2)


def seldom(g, turns):
    """A loop in a branch that is taken in one iteration, beside a chain."""

    def inner(g, x):
        return counted(g, 2, lambda g, j, t: [call(TWICE, t)], [g.capture(x)], window=2, name="inner")[1]

    def body(g, i, a, b):
        once = call(EQUAL, i, const(g, 1))
        return [*branch(g, once, lambda g: inner(g, a), lambda g: g.capture(a))[:1], call(THRICE, b)]

    return counted(g, turns, body, [scalar(g)] * 2, window=2)


def states(program, turns, members, called, end):
    lowered, feeds = lowered_of(program, turns)
    return Waiting(lowered, feeds, members, CALLED[called], **ENDS[end]).explored().states


@each([("runs on", "none"), ("time", "none"), ("Ctrl-C", "some")])
def test_nobody_waits_for_ever(end, called):
    assert states(chains, 1, 1, called, end) > 100


#: all with two threads, three iterations of chains; with three threads two iterations, and of the larger loop, whose
#: states are five times as many, how it ends early. Seven minutes of one processor.
LONGER = [
    *itertools.product([chains], [3], [1], CALLED, ENDS),
    *itertools.product([seldom], [2], [1], CALLED, ENDS),
    *itertools.product([chains], [2], [2], CALLED, ENDS),
    *itertools.product([seldom], [2], [2], ["none", "some"], ["time", "Ctrl-C"]),
]


@pytest.mark.nightly
@each(LONGER, parts=8)
def test_nobody_waits_for_ever_in_longer_runs(program, turns, members, called, end):
    assert states(program, turns, members, called, end) > 400


def asleep(m, w, why):
    """Who leaves does not look whether the caller waits."""
    m[w + tc.W_BUSY] = 0
    m[tc.PRESENT] -= 1 if m[w + tc.W_ME] else 0
    m[tc.WAITING] = int(not m[w + tc.W_ME] and m[tc.PRESENT] > 0)
    return why if m[w + tc.W_ME] or m[tc.WAITING] or why != cw.IDLE else cw.TIME


@pytest.mark.parametrize(("name", "other"), [("leave", asleep), ("join", lambda m: m[tc.AREAS])])
def test_what_is_wrong_is_found(monkeypatch, name, other):
    monkeypatch.setattr(cw, name, other)
    with pytest.raises(Wrong, match="for ever|same words|not counted"):
        states(chains, 1, 1, "none", "runs on")
