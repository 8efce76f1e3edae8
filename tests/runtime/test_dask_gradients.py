"""Gradients of loops over Dask's arrays: the same numbers, and what the way forward saves stays on the workers."""

from __future__ import annotations

from collections import Counter

import autoloop as al
import numpy as np
import pytest
from api import Statistics, dask_engine, loop_recovery
from dask_programs import F8, on_chunks, program, run
from each_case import each
from flow import call

da = pytest.importorskip("dask.array")
X = np.linspace(0.1, 1.0, 12)
#: chunks that were computed, by their shape
CHUNKS = Counter()


def seen(block):
    CHUNKS[block.shape] += 1
    return block * 0.5


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": ":0"}
    with distributed.Client(processes=False, **options) as made:
        yield made


def steps(x, n):
    for _ in range(n):
        x = 1.01 * np.sin(x)
    return (x * x).sum()


def shrinks(x, least):
    while (x * x).sum() > least:
        x = 0.9 * np.sin(x)
    return (x * x).sum()


PROGRAMS = {"counted": (steps, np.int64(9)), "while": (shrinks, np.float64(0.3))}


def same(f, option, gradient_memory):
    both = al.value_and_grad(al.function(f, gradient_memory=gradient_memory))
    found = both(da.from_array(X, chunks=4), option)
    assert isinstance(found[1], da.Array)
    for a, b in zip(found, both(X, option)):
        np.testing.assert_allclose(np.asarray(a), b, rtol=1e-9)


@each([(name, memory) for name in sorted(PROGRAMS) for memory in (None, "checkpoint", 3)])
def test_gradients_are_numpys(name, gradient_memory):
    same(*PROGRAMS[name], gradient_memory)


@pytest.mark.parametrize("gradient_memory", [None, 3])
def test_gradients_on_a_cluster(cluster, gradient_memory):
    same(*PROGRAMS["counted"], gradient_memory)


def test_what_is_kept_in_a_list_is_computed_once():
    op = on_chunks(seen)
    CHUNKS.clear()

    def build(x):
        def body(i, x, rows):
            y = call(op, x)
            return i + 1, x + 1.0, rows.write(i, y)

        rows = al.TensorArray(F8, size=20)
        _, x, rows = al.while_loop(lambda i, x, rows: i < 20, body, [al.constant(0), x, rows])
        # both read what was written
        _, total = al.while_loop(
            lambda i, t: i < 20, lambda i, t: (i + 1, t + rows.read(i)), [al.constant(0), al.zeros_like(x)]
        )
        return [total, rows.stack()]

    told = Statistics()
    total, rows = run(program(build, ("x", F8, (12,))), [da.from_array(X, chunks=4)], statistics=told)
    expected = np.stack([(X + k) * 0.5 for k in range(20)])
    np.testing.assert_allclose(rows, expected)
    np.testing.assert_allclose(total, expected.sum(0))
    assert CHUNKS[(4,)] == 20 * 3
    assert told.fetches == 0


def halved(x, least):
    rounds = 0
    while True:
        x = x * 0.5
        rounds += 1
        if x.max() < least:
            break
    return x, rounds


def test_a_condition_is_fetched_once(cluster, monkeypatch):
    """Also at anchors, and where the loop is left in its first iteration."""
    f, told = al.function(halved), []
    monkeypatch.setattr(loop_recovery, "FIRST", 4)
    monkeypatch.setattr(loop_recovery, "SHARE", 0)
    monkeypatch.setattr(dask_engine, "Statistics", lambda: told.append(Statistics()) or told[-1])
    for most, expected in ((0.9, 1), (500.0, 10)):
        told.clear()
        assert f(da.from_array(np.array([0.3, most]), chunks=1), 0.5)[1] == expected
        assert sum(one.fetches for one in told) == expected


def relaxed(x, b, n):
    for _ in range(n):
        x = x * 0.5 + b
    return (x * x).sum()


def test_sums_over_the_way_back_are_written_by_templates(monkeypatch):
    """They are one task a chunk and iteration, with what they are made of."""
    both, told = al.value_and_grad(al.function(relaxed), argnums=1), []
    monkeypatch.setattr(dask_engine, "Statistics", lambda: told.append(Statistics()) or told[-1])
    x, n = da.from_array(X, chunks=4), np.int64(30)
    for found, wanted in zip(both(x, x + 1, n), both(X, X + 1, n), strict=True):
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-9)
    ways = [one for one in told if one.iterations]
    assert len(ways) == 2
    assert all(one.written + one.reused == one.submissions for one in ways)


def with_a_branch_that_gives_nothing(x, w):
    s = 0.1 * w.sum()
    for row in x:
        s = s + np.sin(row * w).sum()
        if s > 0.5:
            continue
    return s


def test_loops_over_rows_may_end_with_a_branch_that_gives_nothing():
    """That raised an ``IndexError``: the branch has no outputs."""
    rows, w = np.linspace(-1.0, 1.0, 12).reshape(4, 3), np.array([0.3, -0.2, 0.5])
    want = al.grad(with_a_branch_that_gives_nothing, (0, 1))(rows, w)
    got = al.grad(with_a_branch_that_gives_nothing, (0, 1))(da.from_array(rows, chunks=2), w)
    for mine, other in zip(got, want):
        np.testing.assert_allclose(np.asarray(mine), np.asarray(other))
