"""Functions of large packages: what is in reach is looked at once, and arrays beside those they may be parts of."""

import linecache
import sys
import types

import autoloop as al
import numpy as np
import pytest
from autoloop.state import overlaps, reached_code

MODULE = """
import numpy as np
table = np.arange({k}.0, {k} + 4.0)

def g(x):
    import math, json, {others}
    return x + table[0]
"""
TOP = """
def f(x):
    for one in parts:
        x = one(x)
    return x
"""


def module(name, text, **held):
    made = sys.modules[name] = types.ModuleType(name)
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    vars(made).update(held, __package__=name, __file__=name)
    exec(compile(text, name, "exec"), vars(made))
    return made


@pytest.fixture
def world():
    names = []

    def made(count):
        names.extend(f"package_{count}_{k}" for k in range(-1, count))
        others = ", ".join(f"package_{count}_{k}" for k in range(count))
        parts = [module(f"package_{count}_{k}", MODULE.format(k=k, others=others)).g for k in range(count)]
        return module(f"package_{count}_-1", TOP, parts=tuple(parts)).f

    yield made
    for name in names:
        sys.modules.pop(name, None)


def test_modules_are_looked_at_once_for_what_is_known_of_names(world, monkeypatch):
    counts, ask = [], reached_code.names_of_state

    def counted(*args):
        counts[-1] += 1
        return ask(*args)

    monkeypatch.setattr(reached_code, "names_of_state", counted)
    for count in (8, 32):
        counts.append(0)
        assert al.function(world(count))(np.zeros(2)).tolist() == [sum(range(count))] * 2
    assert counts[1] < 6 * counts[0]


def test_arrays_are_compared_with_those_near_them(monkeypatch):
    counts, ask = [0], overlaps.overlap
    buffer = np.zeros(4000)
    arrays = [buffer[10 * k : 10 * k + 10] for k in range(400)]
    leaves = [*arrays, buffer[5:15], arrays[7], buffer[40:50][::2]]

    def counted(*args):
        counts[0] += 1
        return ask(*args)

    monkeypatch.setattr(overlaps, "overlap", counted)
    made = overlaps.Relations(leaves, 1, [], [overlaps.Place("value", None, one, "x") for one in leaves[1:]])
    assert counts[0] < 1000
    assert made.first[401] == 7 and made.parts[402][0] == 4


def test_arrays_are_parts_of_others_as_they_come(monkeypatch):
    monkeypatch.setattr(overlaps, "_FEW", 2)
    rng = np.random.default_rng(3)
    for _ in range(20):
        buffer = np.zeros(30)
        leaves = [buffer[a : a + n] for a, n in zip(rng.integers(0, 25, 12), rng.integers(1, 6, 12))]
        places = [overlaps.Place("value", None, one, "x") for one in leaves[1:]]
        spans, every = overlaps.Relations(leaves.copy(), 1, [], places.copy()), overlaps._Spans.near
        overlaps._Spans.near = lambda self, array: self.every()
        try:
            plain = overlaps.Relations(leaves.copy(), 1, [], places.copy())
        finally:
            overlaps._Spans.near = every
        assert spans.first == plain.first and spans.parts == plain.parts
