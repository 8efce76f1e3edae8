"""How machine code fails, refuses, stops, and is shared between threads."""

from __future__ import annotations

import importlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from api import (
    TensorArray,
    call,
    compile_graph,
    compiling,
    cond,
    current_graph,
    failed_runs,
    native,
    native_call,
    while_loop,
)
from each_case import each
from native_checks import compile_native, graph_of


def failure(run, values):
    with pytest.raises(Exception) as caught:
        run(list(values))
    return type(caught.value), str(caught.value), caught.value.__notes__


def assert_fails_alike(build, *values):
    """Machine code raises what generated Python raises: type, message, line, iterations of the loops around."""
    graph = graph_of(build, *values)
    found = failure(compile_native(graph), values)
    assert found == failure(compile_graph(graph), values)
    return found


def counted(n, step, *start):
    return while_loop(lambda i, *_: i < n, lambda i, *v: (i + 1, *step(i, *v)), (0, *start))


# -- failures -----------------------------------------------------------------------------------------------


def test_an_index_out_of_range_names_the_iteration():
    kind, _, notes = assert_fails_alike(
        lambda x, n: counted(n, lambda i, s: (s + x[i],), 0.0), np.ones(5, np.float32), np.int32(8)
    )
    assert kind is IndexError
    assert "iteration 5 of the loop" in notes[0] and "test_native_failures.py" in notes[0]


def waiting(x, i):
    """What fails is not needed for the result, which only waits for it."""
    with current_graph().control_dependencies([x[i]]):
        return x * 2.0


def waiting_in_a_loop(x, i):
    return counted(np.int32(4), lambda k, s: (s + waiting(x, i + k)[0],), np.float32(0.0))[1]


@each([waiting, waiting_in_a_loop])
def test_what_is_only_waited_for_fails_too(build):
    kind, _, _ = assert_fails_alike(build, np.ones(5, np.float32), np.int32(7))
    assert kind is IndexError
    values = [np.ones(5, np.float32), np.int32(0)]
    graph = graph_of(build, *values)
    np.testing.assert_array_equal(compile_native(graph)(values)[0], compile_graph(graph)(values)[0])


def test_all_loops_around_are_named():
    def build(x, n):
        return counted(n, lambda i, x: (counted(n, lambda j, x: (call("set_item", x, i + j, 1.0),), x)[1],), x)

    _, _, notes = assert_fails_alike(build, np.ones(5, np.float32), np.int32(4))
    assert "iteration 3 of the loop" in notes[0] and "iteration 2 of the loop" in notes[0]


def array_of_three():
    return TensorArray(np.float32, 3, element_shape=[])


@pytest.mark.parametrize(
    "build, values",
    [
        (lambda x, i: call("gather", x, i), (np.ones(5, np.float32), np.array([0, 4, 5]))),
        (lambda x, i: x[i], (np.ones(5, np.float32), np.array([0, -6]))),
        (lambda x, y: x**y, (np.int32(4), np.int32(-1))),
        (lambda x, y: x**y, (np.arange(3), np.array([1, 2, -1]))),
        (lambda i, v: array_of_three().write(i, v).stack(), (np.int32(-1), np.float32(1))),
        (lambda i, v: array_of_three().write(2, v).write(i, v).stack(), (np.int32(2), np.float32(1))),
        (lambda i, v: array_of_three().write(0, v).read(i), (np.int32(3), np.float32(1))),
        (lambda i, v: TensorArray(np.float32).write(0, v).read(i), (np.int32(1), np.float32(1))),
        (lambda i, v: TensorArray(np.float32).write(0, v).write(i, v).stack(), (np.int32(0), np.float32(1))),
    ],
)
def test_kernels_say_what_is_wrong(build, values):
    assert_fails_alike(build, *values)


def test_an_element_that_was_not_written_is_zero():
    values = np.int32(0), np.float32(1)
    graph = graph_of(lambda i, v: TensorArray(np.float32, 2).write(i, v).read(1) + 2.0, *values)
    assert compile_native(graph)(list(values)) == compile_graph(graph)(list(values)) == [2.0]


#: more bytes than an int of C can count
MANY = (1 << 31) + 8


@pytest.mark.parametrize("index", [MANY, -MANY - 1])
@pytest.mark.parametrize(
    "build",
    [
        lambda x, i: x[i],
        lambda x, i: call("gather", x, i),
        lambda x, i: call("gather", x, call("stack", [i, i])),
        lambda x, i: counted(3, lambda k, s: (s + x[i + k],), np.int8(0)),
    ],
)
def test_an_index_out_of_range_of_a_very_large_array(build, index):
    """The array is looked at where it is: its pages of zeros are not even made."""
    x, i = np.zeros(MANY, np.int8), np.int64(index)
    graph = graph_of(build, x, i)
    with pytest.raises(IndexError, match=f"index {index} is out of bounds for axis 0 with size {MANY}"):
        compile_native(graph)([x, i])


def test_what_failed_may_be_looked_at_after_the_call(monkeypatch):
    """A traceback may keep operands: their memory lives as long as they do."""
    seen, look = [], failed_runs._seen
    monkeypatch.setattr(failed_runs, "_seen", lambda *args: seen.append(look(*args)) or seen[-1])

    def build(x, i):
        y = x * 2.0 + 1.0
        return call("gather", call("concat", [y, y[::-1]], 0), i)

    run = compile_native(graph_of(build, np.ones(5000), np.int64(0)))
    with pytest.raises(IndexError):
        run([np.ones(5000), np.int64(10000)])
    for _ in range(20):
        run([np.zeros(5000), np.int64(7)])
    (operand,) = [array for array in seen if array.size == 10000]
    assert (operand == 3.0).all() and not operand.flags.writeable


def test_assertions_and_raised_errors():
    def asserts(x, n):
        def step(i):
            call("assert_true", call("all", x[i] > 0), "row", i, "of", x)
            return ()

        return counted(n, step)

    kind, message, _ = assert_fails_alike(asserts, np.array([[1, 2], [3, -1]], np.float32), np.int32(2))
    assert kind is AssertionError and message.startswith("row 1 of [[")

    def raises(n):
        def wrong():
            call("raise_error", lambda i: ValueError(f"number {i}"), n)
            return n

        return cond(n > 3, wrong, lambda: n)

    assert assert_fails_alike(raises, np.int32(5))[:2] == (ValueError, "number 5")
    assert compile_native(graph_of(raises, np.int32(2)))([np.int32(2)])[0] == 2


def test_the_next_call_works_after_a_failure():
    graph = graph_of(lambda x, i: x[i], np.ones(5, np.float32), np.int32(0))
    run = compile_native(graph)
    for _ in range(3):
        with pytest.raises(IndexError):
            run([np.ones(5, np.float32), np.int32(5)])
        assert run([np.ones(5, np.float32), np.int32(-5)])[0] == 1


# -- refusals -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "build, example, words",
    [
        (lambda x: call("expm1", call("cast", x, np.complex64)), np.ones(3, np.float32), ["complex64"]),
        (lambda x: call("print", x) or x, np.ones(3, np.float32), ["print"]),
        (lambda x: call("unique", x), np.ones(3, np.float32), ["depends on values"]),
        (
            lambda n: TensorArray(np.float32, n[0]).stack(),
            np.ones(1, np.int32),
            ["size of the TensorArray is not fixed"],
        ),
        (lambda n: TensorArray(np.float32).write(n, 1.0).stack(), np.int32(3), ["behind the end of a TensorArray"]),
    ],
)
def test_refusals_name_the_operation_and_the_line(build, example, words):
    graph = graph_of(build, example)
    with pytest.raises(native.NativeRefusal) as caught:
        compile_native(graph)([example])
    message = str(caught.value)
    assert "native" in message and "test_native_failures.py:" in message
    assert all(word in message for word in words)
    assert isinstance(caught.value, NotImplementedError)


def test_a_loop_variable_that_changes_its_shape_is_refused():
    def build(x):
        grow = lambda i, x: (i + 1, call("concat", [x, x[:1]], 0))  # noqa: E731
        return while_loop(lambda i, x: i < 3, grow, (0, x), shape_invariants=[[], [None]])[1]

    with pytest.raises(native.NativeRefusal, match=r"changes its shape from \(4,\) to \(5,\)"):
        compile_native(graph_of(build, np.ones(4, np.float32)))


def test_without_llvmlite_the_message_says_what_to_install(monkeypatch):
    graph = graph_of(lambda x: x + 1.0, np.float32(1))
    compiling.host.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(importlib.util, "find_spec", lambda name: None)
        with pytest.raises(ImportError, match=r"autoloop\[native\]") as caught:
            compile_native(graph)
    assert isinstance(caught.value, NotImplementedError)
    assert compile_native(graph)([np.float32(1)])[0] == 2


def test_importing_the_runtime_does_not_import_llvmlite():
    code = "import sys, autoloop; assert not {'llvmlite', 'scipy'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


# -- running ------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
def test_a_signal_stops_a_loop_that_would_not_end():
    run = compile_native(graph_of(lambda x: while_loop(lambda y: y > x, lambda y: y * 1.0, (1.0,)), np.float32(0)))
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        start = time.perf_counter()
        with pytest.raises(KeyboardInterrupt):
            run([np.float32(0)])
        assert time.perf_counter() - start < 5
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert run([np.float32(1)])[0] == 1


def test_other_threads_run_meanwhile():
    run = compile_native(
        graph_of(lambda x, n: counted(n, lambda i, x: (call("sin", x),), x), np.float32(1), np.int32(1))
    )
    thread = threading.Thread(target=run, args=([np.float32(1), np.int32(3_000_000)],))
    thread.start()
    counts = 0
    while thread.is_alive():
        counts += 1
    assert counts > 1000


def test_many_threads_may_call_at_once():
    def build(x, n):
        return counted(n, lambda i, x: (call("concat", [x[1:], x[:1]], 0),), x)[1]

    run = compile_native(graph_of(build, np.ones(50, np.float32), np.int32(1)))
    wrong = []

    def work(seed):
        x = np.random.default_rng(seed).standard_normal(50).astype(np.float32)
        for n in range(200):
            if not np.array_equal(run([x, np.int32(n)])[0], np.roll(x, -n)):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_a_function_gives_its_memory_back():
    graph = graph_of(lambda x: x + 1.0, np.ones(4, np.float32))
    runnable = native_call.make(graph, [(4,)])
    for _ in range(100):
        runnable([np.ones(4, np.float32)])
    assert len(runnable._free) == 1
