"""Functions with loops of their own that ``map_fn`` and its like call for each row, inside a loop of the graph."""

from __future__ import annotations

import warnings

import autoloop as al
import numpy as np
from each_case import each

X = np.random.default_rng(3).random((7, 2)) * 3


def halved(row):
    while row.max() > 1.0:
        row = row / 2
    return row


def mapped(rows):
    return al.map_fn(halved, rows)


def mapped_at_once(rows):
    return al.vectorized_map(halved, rows)


def scanned(rows):
    return al.scan(lambda state, row: halved(state + row), rows, np.ones(2))


def folded(rows):
    return al.foldr(lambda state, row: halved(state) + row, rows, np.ones(2)) + rows


def chosen(rows):
    return al.cond(rows.max() > 1.0, lambda: halved(rows) + 1, lambda: rows + 2)


def looped(rows):
    return al.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, halved(y) + rows), (0, rows))[1]


def scanned_by_hand(rows, state):
    made = []
    for row in rows:
        state = halved(state + row)
        made.append(state)
    return np.stack(made)


def folded_by_hand(rows):
    state = np.ones(2)
    for row in rows[::-1]:
        state = halved(state) + row
    return state + rows


def looped_by_hand(rows):
    y = rows
    for _ in range(3):
        y = halved(y) + rows
    return y


PLAIN = {
    mapped: lambda rows: np.stack([halved(row) for row in rows]),
    mapped_at_once: lambda rows: np.stack([halved(row) for row in rows]),
    scanned: lambda rows: scanned_by_hand(rows, np.ones(2)),
    folded: folded_by_hand,
    chosen: lambda rows: halved(rows) + 1 if rows.max() > 1.0 else rows + 2,
    looped: looped_by_hand,
}


def grown(x, made):
    """Return results of which a run says whether they are one array."""
    s, n = x * 0, 0
    best = s
    while s.max() < 9.0:
        s = s + made(x)
        n += 1
        if s.max() < 5.0:
            best = s
    return s, best, n


@each([(executor, transform) for executor in ("auto", "dataflow", "sequential") for transform in PLAIN])
def test_rows_with_loops_of_their_own(executor, transform):
    want = grown(X, PLAIN[transform])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = al.function(lambda x: grown(x, transform), executor=executor)(X)
    np.testing.assert_allclose(np.asarray(got[0]), want[0])
    np.testing.assert_allclose(np.asarray(got[1]), want[1])
    assert got[2] == want[2]
    assert (got[0] is got[1]) == (want[0] is want[1])
