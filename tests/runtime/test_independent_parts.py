"""What is torn apart to be run beside each other: which parts, that each can be run as one, and that results stay."""

from __future__ import annotations

import random

import pytest
from api import Executable, batches, independent_parts, lower
from examples import examples
from flow import node_by_node
from hypothesis import given, settings
from hypothesis import strategies as st
from random_programs import Program
from test_batches import outcome


class Graph:
    """Kernels in an order in which they can be run, each of which takes 1."""

    def __init__(self):
        self.before, self.times = {}, {}

    def add(self, *before, time=1.0):
        k = len(self.before)
        self.before[k], self.times[k] = list(before), time
        return k

    def chain(self, length, *before):
        for _ in range(length):
            before = [self.add(*before)]
        return before[0]

    def diamonds(self, length, start):
        for _ in range(length):
            start = self.add(self.add(start), self.add(start))
        return start

    def parts(self, least, most=1000):
        found = independent_parts(list(self.before), self.times, self.before, least, most)
        assert sorted([k for part in found for k in part]) == list(self.before)
        assert can_be_run(found, self.before)
        return found


def can_be_run(parts, before):
    """Whether no part waits for what waits for it."""
    of = {k: place for place, part in enumerate(parts) for k in part}
    waits = {place: {of[there] for k in part for there in before[k]} - {place} for place, part in enumerate(parts)}
    while waits:
        free = [place for place, there in waits.items() if not there & set(waits)]
        if not free:
            return False
        for place in free:
            del waits[place]
    return True


def lengths(parts):
    return sorted(map(len, parts))


def test_chains_with_a_common_end_and_beginning_are_parts():
    graph = Graph()
    first = graph.add()
    graph.add(*[graph.chain(10, first) for _ in range(4)])
    assert lengths(graph.parts(10)) == [1, 1, 10, 10, 10, 10]


def test_small_chains_are_put_together():
    graph = Graph()
    graph.add(*[graph.chain(2) for _ in range(100)])
    assert lengths(graph.parts(10)) == [1, 4, *[14] * 14]


@pytest.mark.parametrize("threads", [2, 3, 4])
def test_large_parts_come_first_and_small_ones_last_so_that_threads_end_together(threads):
    graph = Graph()
    graph.add(*[graph.chain(10) for _ in range(1000)], time=0.0)
    parts = [len(part) for part in graph.parts(40, most=500) if len(part) > 1]
    assert sum(parts) == 10_000 and len(parts) <= 40  # each has to be handed out
    assert parts[0] == 320 and len(set(parts)) <= 4  # each size is compiled by itself
    assert parts == sorted(parts, reverse=True) and parts[-1] <= parts[0] / 4
    busy = [0] * threads
    for part in parts:
        busy[busy.index(min(busy))] += part
    assert max(busy) - min(busy) <= parts[0] / 4


def test_what_is_put_together_is_of_whole_chains():
    graph = Graph()
    rows = [graph.add() for _ in range(40)]
    for _ in range(9):
        rows = [graph.add(k) for k in rows]
    assert lengths(graph.parts(50, most=45)) == [40] * 10


def test_what_forks_and_joins_again_is_not_torn():
    graph = Graph()
    first = graph.add()
    graph.add(*[graph.diamonds(30, graph.add(first)) for _ in range(2)])
    assert lengths(graph.parts(40)) == [1, 1, 91, 91]
    graph = Graph()
    graph.diamonds(60, graph.add())
    assert len(graph.parts(40)) == 1


def test_rows_that_are_wide_are_torn():
    graph = Graph()
    row = [graph.add() for _ in range(40)]
    for _ in range(3):
        row = [graph.add(row[k - 1], row[k], row[(k + 1) % 40]) for k in range(40)]
    parts = graph.parts(10)
    assert len(parts) == 16 and set(map(len, parts)) == {10}


def test_rows_that_are_narrow_are_one_part():
    graph = Graph()
    row = [graph.add() for _ in range(8)]
    for _ in range(20):
        row = [graph.add(*row) for _ in range(8)]
    assert len(graph.parts(10)) == 1


@settings(max_examples=examples(80), deadline=None)
@given(st.integers(2, 40), st.sampled_from([3, 10, 40]), st.integers(1, 3), st.randoms(use_true_random=False))
def test_no_part_waits_for_what_waits_for_it(count, near, most, choices):
    graph = Graph()
    for k in range(count):
        before = {choices.randrange(max(0, k - near), k) for _ in range(choices.randrange(most + 1))} if k else set()
        graph.add(*sorted(before), time=choices.choice([0.0, 1.0, 5.0]) * (20 if k > count * 2 // 3 else 1))
    graph.parts(choices.choice([1.0, 3.0, 8.0, 30.0, 60.0]), choices.choice([5, 1000]))


@pytest.mark.parametrize("seed", range(12))
def test_what_is_torn_gives_what_it_gave(seed, monkeypatch):
    torn = []
    note = lambda *given: torn.append(independent_parts(*given)) or torn[-1]
    program = Program(random.Random(seed), effects=False, size=14)
    lowered = lower(program.graph, program.graph.outputs, program.graph.inputs)
    want = outcome(lambda values: node_by_node(lowered).run(values, threads=1), program.values)
    monkeypatch.setattr(batches, "LONG", 150.0)
    monkeypatch.setattr(batches, "independent_parts", note)
    executable = Executable(lowered)
    for threads in (1, 2):
        found = outcome(lambda values: executable.run(values, threads=threads), program.values)  # noqa: B023
        assert repr(found) == repr(want)
    assert torn or seed, "nothing was long enough"
