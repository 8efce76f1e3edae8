"""Machine code whose long loops several threads work on."""

from __future__ import annotations

import ctypes
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from api import call, config, default_cache, thread_pool
from children import run_imported
from native_checks import check, compile_native, graph_of

X = np.linspace(-3, 3, 300_007, dtype=np.float32)
#: rows that are cut unevenly, and columns where there are too few rows
PRODUCTS = [(100, 150, 201), (67, 400, 100), (3, 700, 1100)]


@pytest.fixture
def threads():
    yield config.set_num_threads
    config.set_num_threads(None)


def waves(x):
    return call("add", call("multiply", call("sin", x), 0.5), call("tanh", x))


def results(graph, values, threads, counts=(1, 2, 3)):
    run, found = compile_native(graph), []
    for count in counts:
        threads(count)
        found.append(run(values)[0])
    return found


def test_every_number_of_threads_gives_the_same_bits(threads):
    first, *others = results(graph_of(waves, X), [X], threads)
    np.testing.assert_allclose(first, np.sin(X) * 0.5 + np.tanh(X), rtol=1e-5, atol=1e-6)
    for other in others:
        np.testing.assert_array_equal(first, other)


def test_rows_and_broadcast_operands(threads):
    x, y = X[:300_000].reshape(600, 500), X[:600].reshape(600, 1)
    threads(2)
    check(
        lambda x, y: call("exp", call("multiply", call("transpose", x, axes=(1, 0)), call("sin", y))), x.T.copy().T, y.T
    )


@pytest.mark.parametrize("name", ["sum", "max", "argmax", "mean"])
def test_rows_that_are_reduced(name, threads):
    x = X[:300_000].reshape(3, 200, 500)
    graph = graph_of(lambda x: call(name, waves(x), axis=(-1,) if name != "argmax" else -1), x)
    first, *others = results(graph, [x], threads)
    y = np.sin(x) * 0.5 + np.tanh(x)
    if name == "argmax":  # which of several elements that nearly are the largest is a matter of the last bit
        found, expected = np.take_along_axis(y, first[..., None], axis=-1)[..., 0], y.max(axis=-1)
    else:
        found, expected = first, getattr(np, name)(y, axis=-1)
    np.testing.assert_allclose(found, expected, rtol=1e-4 if name != "argmax" else 1e-6, atol=1e-5)
    for other in others:
        np.testing.assert_array_equal(first, other)


@pytest.mark.parametrize("sizes", PRODUCTS, ids=str)
def test_products_in_pieces(sizes, threads):
    m, k, n = sizes
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((m, k)), rng.standard_normal((k, n))
    first, *others = results(graph_of(lambda a, b: call("matmul", a, b), a, b), [a, b], threads)
    np.testing.assert_allclose(first, a @ b, rtol=1e-10, atol=1e-10)
    for other in others:
        np.testing.assert_array_equal(first, other)


def test_calls_from_several_threads_at_once(threads):
    run = compile_native(graph_of(waves, X))
    threads(2)
    want = run([X])[0]
    with ThreadPoolExecutor(4) as pool:
        for got in pool.map(lambda _: run([X])[0], range(16)):
            np.testing.assert_array_equal(got, want)


def owned_share():
    """The function that shares jobs, and the type of what does pieces of them."""
    shared = thread_pool.pool(default_cache())
    task_type = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    share = ctypes.CFUNCTYPE(ctypes.c_void_p, task_type, ctypes.c_void_p, *[ctypes.c_int64] * 3)(shared.address)
    return shared, share, task_type


@pytest.mark.parametrize("rounds, piece", [(2, 1), (255, 1), (256, 1), (1000, 3), (5001, 7)])
@pytest.mark.parametrize("cost", [1, 1_000_000])
def test_each_round_is_done_once_and_pieces_are_cut_the_same(rounds, piece, cost, threads):
    shared, share, task_type = owned_share()
    done = []
    task = task_type(lambda frame, first, count: done.append((first, count)))
    for helpers in (1, 2, 3, 5):
        shared.use(helpers)
        for _ in range(3):
            del done[:]
            share(task, None, rounds, piece, cost)
            assert sorted(done) == [(at, min(piece, rounds - at)) for at in range(0, rounds, piece)]
    shared.use(1)


def test_a_helper_that_the_system_keeps_waiting_is_done_without_for_a_while(threads):
    shared, share, task_type = owned_share()
    owner, done, begun = threading.get_ident(), [], threading.Event()

    @task_type
    def slow(frame, first, count):
        done.append((first, threading.get_ident() == owner))
        if done[-1][1]:
            begun.wait(0.5)
        else:
            begun.set()
            time.sleep(0.3)

    @task_type
    def quick(frame, first, count):
        done.append((first, threading.get_ident() == owner))
        time.sleep(0.001)

    shared.use(2)
    for _ in range(20):  # helpers of before may be done without, too
        del done[:]
        share(slow, None, 2, 1, 1_000_000)
        if begun.is_set():
            break
    assert {mine for _, mine in done} == {True, False}
    del done[:]
    for _ in range(8):
        share(quick, None, 2, 1, 1_000_000)
    assert all(mine for _, mine in done) and len(done) == 16


SCRIPT = """
import os, sys, warnings
import numpy as np
import autoloop_runtime.ops
from autoloop_runtime.base import config
from autoloop_runtime.ir.op import call
from native_checks import compile_native, graph_of
config.set_num_threads(3)
x = np.linspace(-3, 3, 300_007, dtype=np.float32)
run = compile_native(graph_of(lambda x: call("exp", call("sin", x)), x))
want = run([x])[0]
warnings.simplefilter("ignore")  # of forks where there are threads
child = os.fork()
same = np.array_equal(run([x])[0], want)
if not child:
    os._exit(0 if same else 3)
assert os.waitpid(child, 0)[1] == 0 and same
print("the same in both")
"""


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="there is no fork")
def test_a_forked_process_has_threads_of_its_own():
    assert run_imported(SCRIPT) == "the same in both\n"
