"""Chains of operations on large arrays, block by block and on several threads: the same bits, and nothing hangs."""

from __future__ import annotations

import random
import threading
import unittest.mock

import autoloop as al
import numpy as np
import pytest
from api import Between, compile_graph, config, emit, in_blocks, optimize, sizes
from api import block_chains as chains
from api import block_loop as blocks
from each_case import each
from examples import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_programs import Program, assert_same, interpret, outcome

SHAPE = (600, 500)


def double(x, out):
    np.add(x, x, out=out)


def check_block_by_block(seed):
    """A random program means the same with all its arrays taken for large ones, in blocks of an element or two."""
    program = Program(random.Random(seed))
    expected = outcome(lambda values: interpret(program.graph, values), program.values)
    with (
        unittest.mock.patch.multiple(chains, MIN_ELEMENTS=1, MIN_COST=0),
        unittest.mock.patch.multiple(sizes, LARGE=1),
        unittest.mock.patch.multiple(blocks, BLOCK_BYTES=8, BLOCKS_PER_THREAD=1),
    ):
        compiled = compile_graph(optimize(program.graph))
        assert_same(outcome(compiled, program.values), expected)


@settings(max_examples=examples(30), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 1 << 30))
def test_random_programs_mean_the_same_block_by_block(seed):
    check_block_by_block(seed)


@pytest.mark.nightly
@pytest.mark.parametrize("batch", range(10))
def test_many_random_programs_mean_the_same_block_by_block(batch):
    for seed in range(100 * batch, 100 * batch + 100):
        check_block_by_block(seed)


def wave(x, y, n):
    i = al.constant(0)
    while i < n:
        z = np.sin(x) * 0.5 + y * al.cast(i, al.float32)
        x = np.where(z[0, 0] > 100, z, 1 / (1 + np.exp(-z)) - x)
        i += 1
    return x, x > 0.25


@each([1, 2, 3])
def test_the_bits_are_those_of_whole_arrays(threads):
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal(SHAPE).astype(np.float32) for _ in range(2))
    expected = x
    for i in range(3):
        z = np.sin(expected) * np.float32(0.5) + y * np.float32(i)
        expected = 1 / (1 + np.exp(-z)) - expected
    config.set_num_threads(threads)
    try:
        f = al.function(wave, executor="sequential")
        got, mask = f(x, y.T.copy().T, np.int32(3))  # the second one is not contiguous
    finally:
        config.set_num_threads(None)
    np.testing.assert_array_equal(got.numpy(), expected)
    np.testing.assert_array_equal(mask.numpy(), expected > np.float32(0.25))


def test_the_code_is_a_function_of_a_block():
    f = al.function(lambda x: np.tanh(x * 2.0 + 1.0) - x, autograph=False)
    source = emit(f.get_concrete_function(np.zeros(SHAPE, np.float32)).runner.graph).source
    lines = source[source.index("def chain") :].splitlines()
    assert lines[:7] == [
        "def chain(x_1, subtract_out, between):",
        "    np.multiply(x_1, float32_2, out=between)",
        "    np.add(between, float32_1, out=between)",
        "    np.tanh(between, out=between)",
        "    np.subtract(between, x_1, out=subtract_out)",
        "",
        "def run(x):",
    ]
    assert lines[7] == "    between = Between(np.float32)"
    assert "in_blocks(chain, (x,), (), (np.empty((600, 500), np.float32),), between)" in lines[8]


def test_a_failure_in_one_block_is_the_callers_and_the_next_call_works(two_threads):
    x, out = np.arange(1 << 20, dtype=np.float32), np.empty(1 << 20, np.float32)

    def fail(x, out):
        if x[0] >= 1 << 19:
            raise FloatingPointError(f"at {x[0]:.0f}")
        double(x, out)

    for _ in range(20):
        with pytest.raises(FloatingPointError, match="at "):
            in_blocks(fail, [x], [], [out], Between())
    np.testing.assert_array_equal(in_blocks(double, [x], [], [out], Between()), x + x)


def test_the_caller_does_not_wait_for_workers_that_are_busy(two_threads):
    x = np.ones(1 << 20, np.float32)
    started, go_on = threading.Event(), threading.Event()

    def busy(x, out):
        started.set()
        assert go_on.wait(10)

    others = [threading.Thread(target=in_blocks, args=(busy, [x], [], [np.empty_like(x)], Between())) for _ in range(2)]
    for thread in others:
        thread.start()
    assert started.wait(10)
    try:
        assert in_blocks(double, [x], [], [np.empty_like(x)], Between()).sum() == 1 << 21
    finally:
        go_on.set()
        for thread in others:
            thread.join()


def test_blocks_run_on_as_many_threads_as_are_allowed():
    x, seen = np.ones(1 << 20, np.float32), set()

    def note(x, out):
        seen.add(threading.get_ident())
        double(x, out)

    config.set_num_threads(1)
    try:
        in_blocks(note, [x], [], [np.empty_like(x)], Between())
    finally:
        config.set_num_threads(None)
    assert seen == {threading.get_ident()}


@pytest.mark.auto
def test_auto_prefers_blocks_on_threads_to_whole_arrays_on_threads(two_threads):
    f = al.function(lambda x: np.sin(x) * 0.5 + np.tanh(x) * 0.25, autograph=False)
    explained = al.explain(f, np.zeros(1_000_000, np.float32))
    assert explained.executor == "sequential" and "block by block" in str(explained)


@each([(1, 40, 50), (3, 1, 70_000), (4, 5, 6, 7), (0, 5), (2, 0), (100_000,)], lambda *shape: str(shape))
def test_blocks_of_arrays_that_do_not_lie_in_a_row(*shape):
    """Their elements are read where they lie: no array is copied, and each block holds at most so many bytes."""
    whole, seen = np.arange(np.prod(shape, dtype=int) * 2.0).reshape(*shape, 2), []

    def noted(x, y, out, between):
        assert between.shape == out.shape == x.shape and np.shares_memory(x, whole) == (x.size > 0)
        seen.append(out.size)
        np.multiply(x, 2, out=between)
        np.add(between, y, out=out)

    with unittest.mock.patch.multiple(blocks, BLOCK_BYTES=8 * 64):
        made = in_blocks(noted, [whole[..., 0], whole[..., 1]], [], [np.empty(shape)], Between(np.float64))
    np.testing.assert_array_equal(made, whole[..., 0] * 2 + whole[..., 1])
    assert sum(seen) == made.size and max(seen, default=0) <= 64


def _beside(a, b):
    t = a[:-1] * 2  # computed with what follows the write, over as many elements
    np.exp(a, out=a)
    return t + np.exp(b[:-1]) + np.sin(b[:-1])


def _two_results(a, b):
    t = np.sin(b[:, :]) + np.exp(a)  # over the part of b
    a[:, :] += np.sin(t) * np.sin(b)  # with b
    b[:, :] = np.exp(a) + t
    return t


def _beside_in_a_loop(a, b):
    for _ in range(3 * (b[0, 0] < 5)):
        t = a[1:] * b[1:]
        np.tanh(a, out=a)
        b[1:] -= np.sin(t) * np.exp(b[:-1])
        b[:-1] += np.exp(b[1:] - 1) * np.sin(a[:-1])
    return b


def _spread(a, b):
    b **= a[0]
    np.copyto(a, b * 2, where=np.sin(a) > a[::-1])
    a[:, 1:] -= a[:, 1:] * np.exp(b[:, :-1])
    return np.abs(a) ** b[3, 4], (a - b.mean(axis=0)) * (a - b.mean(axis=0))


@each([_beside, _two_results, _beside_in_a_loop, _spread])
def test_arrays_are_written_to_when_all_have_read_them(program):
    def arguments():
        return np.linspace(0.1, 0.9, 600 * 500).reshape(SHAPE), np.linspace(0.3, 0.8, 600 * 500).reshape(SHAPE).copy()

    theirs, ours = arguments(), arguments()
    expected, found = program(*theirs), al.function(program, executor="sequential")(*ours)
    for a, b in zip((expected, *theirs), (found, *ours), strict=True):
        np.testing.assert_array_equal(a, b)
