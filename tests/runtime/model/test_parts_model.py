"""Every order in which parts of a graph can begin and end that are handed out in native memory: one answer."""

from __future__ import annotations

import itertools

import numpy as np
from api import Executable, Graph, lower, overlapped_parts
from core_model import CoreModel
from each_case import each
from flow import call, heavy, scalar

TWICE = heavy(lambda x, *_: x * 2 + 1, "twice")
SUM = heavy(lambda x, *others: x + sum(others), "sum")


def several_chains(g, x, y):
    return [call(TWICE, call(TWICE, one)) for one in (x, y, x)]


def that_meet(g, x, y):
    ends = [call(TWICE, one) for one in (x, y, x)]
    return [call(SUM, *ends), ends[1]]


def that_part_again(g, x, y):
    middle = call(SUM, call(TWICE, x), y)
    return [call(TWICE, middle), call(SUM, middle, x)]


GRAPHS = {one.__name__: one for one in (several_chains, that_meet, that_part_again)}


@each(itertools.product(GRAPHS, (1, 2, 3)))
def test_every_order_gives_one_answer(name, workers):
    graph = Graph()
    inputs = [scalar(graph, "x"), scalar(graph, "y")]
    lowered = lower(graph, GRAPHS[name](graph, *inputs), inputs)
    model = CoreModel(overlapped_parts.entered(lowered), [np.int64(3), np.int64(5)], workers)
    found = model.explored()
    wanted = Executable(lowered).run([np.int64(3), np.int64(5)])
    assert found.finals
    for final in found.finals:
        assert list(model.results(final)) == wanted
