"""Short loops inside one another: written out they multiply, and so they are loops of the graph from some size on."""

import autoloop as al
import numpy as np
import pytest
from api import count_nodes
from autoloop.operators.constructs import long_ranges
from autoloop.operators.staging import maybe_same
from executors import EXECUTORS
from test_long_ranges import outcome, same


def life(g):
    n, m = g.shape
    for _ in range(3):
        out = np.zeros_like(g)
        for i in range(n):
            for j in range(m):
                around = 0
                for a in (-1, 0, 1):
                    for b in (-1, 0, 1):
                        if a or b:
                            around += g[(i + a) % n, (j + b) % m]
                out[i, j] = 1 if around == 3 or (around == 2 and g[i, j]) else 0
        g = out
    return g


def shortest_ways(g):
    d = np.where(g > 0, g, 9.0)
    for k in range(len(d)):
        for i in range(len(d)):
            for j in range(len(d)):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]
    return d


def differ(g):
    for i in range(4):
        for j in range(5):
            for k in range(j + 1, 6):
                if g[i, j] + g[j, i] == g[i, k] * 3:
                    return False
    return True


def told_apart(g):
    """Ints that Python counts, lists, and a name that is born inside."""
    count, seen = 0, []
    for i in range(6):
        for j in range(6):
            for k in range(5):
                count += 1
                last = g[i, j] * k + count
                if k == j:
                    seen.append(last)
    return count, last, len(seen), seen[3]


def islands(g):
    """A stack in nested loops."""
    label, current = np.zeros_like(g), 0
    for i in range(4):
        for j in range(3):
            if g[i, j] and not label[i, j]:
                current += 1
                stack = [(i, j)]
                while stack:
                    a, b = stack.pop()
                    if 0 <= a < 4 and 0 <= b < 3 and g[a, b] and not label[a, b]:
                        label[a, b] = current
                        stack.append((a + 1, b))
                        stack.append((a, b + 1))
                        stack.append((a - 1, b))
    return label, current


BOARD = (np.random.default_rng(5).random((6, 6)) < 0.4).astype(np.int64)
NESTS = (life, shortest_ways, differ, told_apart)


@pytest.mark.parametrize("most", [-1, long_ranges.MOST_SHORT, 10**6])
@pytest.mark.parametrize("f", NESTS, ids=[f.__name__ for f in NESTS])
def test_the_result_does_not_depend_on_what_is_decided(f, most, monkeypatch):
    monkeypatch.setattr(long_ranges, "MOST_SHORT", most)
    if most < 0:
        monkeypatch.setattr(long_ranges, "MOST", most)
    board = BOARD[:4, :4] if most == 10**6 and f in (life, shortest_ways) else BOARD
    assert same(outcome(f, board), outcome(al.function(f, executor="sequential"), board))


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("f", (life, shortest_ways), ids=lambda f: f.__name__)
def test_nests_of_short_loops_are_small_graphs(f, executor):
    decorated = al.function(f, executor=executor)
    assert same(outcome(f, BOARD), outcome(decorated, BOARD))
    assert count_nodes(decorated.get_concrete_function(BOARD).graph) < 1_500  # of 6,000 and 1,900 written out


def test_pairs_of_lists_that_may_be_one_are_noted_once(monkeypatch):
    noted, most = maybe_same.end_block, [0]

    def end_block(before, inside):
        own = noted(before, inside)
        most[0] = max(most[0], len(before) + len(own))
        return own

    monkeypatch.setattr("autoloop.operators.staging.taken_containers.end_block", end_block)
    assert same(outcome(islands, BOARD), outcome(al.function(islands, executor="sequential"), BOARD))
    assert most[0] < 100  # they doubled with each turn of the outer loops
