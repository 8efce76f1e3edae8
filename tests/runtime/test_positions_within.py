"""Elements of arrays that a loop's counter names are there if it goes no further: nothing fails in such loops."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from api import WHILE, can_fail, can_fail_in, dtypes, nodes_inside
from executors import needs_native
from test_batches import lowered_of
from test_machine_kernels import at_once as at_once
from test_overlapped_loops import runs as runs

RANDOM = np.random.default_rng(7)
XS = (RANDOM.standard_normal((60, 128, 128)) / 11).astype(np.float32)
W = (RANDOM.standard_normal((128, 128)) / 11).astype(np.float32)


def counted(start, holds, step, at=lambda x, i: x[i], rows=6, dtype=None):
    """Whether the part may be missing that an iteration takes of an array of so many rows."""

    def build(x):
        body = lambda i, s: (i + step, s + al.sum(at(x, i)))
        return al.while_loop(lambda i, _: holds(i), body, [al.constant(start, dtype), al.constant(0.0, x.dtype)])[1]

    lowered = lowered_of(build, "float32", shape=(rows, 4))
    loop = lowered.frames[1].source
    assert loop.op is WHILE
    parts = [node for node in nodes_inside(loop.attrs["body"]) if node.op.name == "getitem"]
    assert parts and all(map(can_fail, parts))
    return any(can_fail_in(node, loop) for node in parts)


def test_counters_that_stay_within():
    assert not counted(0, lambda i: i < 6, 1)
    assert not counted(2, lambda i: i <= 5, 1)
    assert not counted(5, lambda i: i >= 0, -1)
    assert not counted(-6, lambda i: i < 0, 1)
    assert not counted(0, lambda i: i != 6, 2)
    assert not counted(0, lambda i: i < 6, 4, rows=5)
    assert not counted(0, lambda i: i < 4, 1, lambda x, i: x[i, i])
    assert not counted(0, lambda i: i < 6, 1, lambda x, i: x[i, 1:3])
    assert not counted(0, lambda i: i < 6, 1, lambda x, i: x[al.cast(i, al.int64)])
    assert not counted(9, lambda i: i < 6, 1)


def test_counters_that_do_not():
    assert counted(0, lambda i: i < 7, 1)
    assert counted(0, lambda i: i <= 6, 1)
    assert counted(5, lambda i: i >= -7, -1)
    assert counted(0, lambda i: i < 5, 1, lambda x, i: x[i, i])
    assert counted(0, lambda i: i < 6, 1, lambda x, i: x[i + 1])
    assert counted(0, lambda i: i < 6, 1, lambda x, i: x[::i])
    assert counted(0, lambda i: i < 200, 100, rows=100, dtype=dtypes.int8)  # wraps round


def layers(xs, w):
    h = g = np.zeros((128, 128), np.float32)
    for x in xs:
        g = np.tanh(h @ w + g @ w)
        h = np.tanh(x @ w + h @ w)
    return g


def backwards(xs, w):
    start = np.zeros((128, 128), np.float32)
    body = lambda k, g, h: (k - 1, al.tanh(h @ w + g @ w), al.tanh(xs[k] * xs[k, 0] + h @ w))
    return al.while_loop(lambda k, *_: k >= 0, body, (al.constant(len(xs) - 1), start, start))[1]


@needs_native
@pytest.mark.parametrize("program", [layers, backwards])
def test_such_loops_move_their_tokens_in_native_memory(program, runs):
    f = al.function(program, executor="dataflow")
    wanted = program(XS, W) if program is layers else al.function(program, executor="sequential")(XS, W)
    for _ in range(6):
        np.testing.assert_allclose(f(XS, W), wanted, rtol=1e-4, atol=1e-5)
    assert runs and None not in runs, "it was run otherwise"


@needs_native
def test_a_row_too_far_is_told_as_before(runs):
    def program(xs, w, n):
        h = g = np.zeros((128, 128), np.float32)
        k = 0
        while k < n:
            g = np.tanh(h @ w + g @ w)
            h = np.tanh(xs[k] + h @ w)
            k += 1
        return g

    f = al.function(program, executor="dataflow")
    for _ in range(6):
        np.testing.assert_allclose(f(XS, W, np.int64(60)), program(XS, W, 60), rtol=1e-4, atol=1e-5)
    with pytest.raises(IndexError):
        f(XS, W, np.int64(61))
    np.testing.assert_allclose(f(XS, W, np.int64(60)), program(XS, W, 60), rtol=1e-4, atol=1e-5)
