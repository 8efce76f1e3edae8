"""Machine code whose long loops several threads work on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from api import call, config
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
