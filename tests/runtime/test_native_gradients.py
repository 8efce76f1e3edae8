"""Machine code takes the gradients, of any order and however values are kept, of the loops that it takes.

One file: the same loops, whichever way their values are kept.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import subprocess
import sys
import tempfile

import autoloop as al
import numpy as np
import pytest
from api import NativeRefusal, swap
from api import swap_file as swapped
from autoloop.differentiation import gradients, value_and_grad
from gradient_checks import slopes
from optimisation import translated
from test_gradients_loops import PROGRAMS, A, X

pytest.importorskip("llvmlite")
pytestmark = pytest.mark.usefixtures("code_is_kept")
#: the shapes or sizes in these depend on values: refused forward, too
REFUSED = {"array_split_and_joined", "shape_that_changes", "rank_that_is_unknown"}
#: running the body again would be noticed
EFFECTS = {"array_read_once"}
#: order of the derivative and ``gradient_memory``
KINDS = {
    "first": (1, None), "second": (2, None), "third": (3, None), "first, growing": (1, "checkpoint"),
    "second, growing": (2, "checkpoint"), "first, limited": (1, 2), "second, limited": (2, 3),
}  # fmt: skip
TAKEN = sorted(PROGRAMS.keys() - REFUSED)


def derivatives(f, order):
    """All gradients of ``f`` of that order, with those that are not there left out."""
    for _ in range(order - 1):
        f = slopes(f)

    def g(*xs):
        return [found for found in gradients(f(*xs), list(xs)) if found is not None]

    return g


def compare(name, kind):
    f, arrays = PROGRAMS[name]
    arrays = [np.asarray(a, float) for a in arrays]
    order, memory = KINDS[kind]
    made = [
        al.function(derivatives(f, order), autograph=False, executor=executor, gradient_memory=memory)
        for executor in ("native", "sequential")
    ]
    # what those of the first order are made of, and more of it; limits have test_the_same_checkpoints_are_kept
    with translated(order > 1 or isinstance(memory, int)):
        again, found, expected = made[0](*arrays), made[0](*arrays), made[1](*arrays)
    assert len(found) == len(expected) > 0
    for first, second, right in zip(again, found, expected):
        np.testing.assert_allclose(first, right, rtol=1e-11, atol=1e-13)
        np.testing.assert_array_equal(first, second)


def pairs():
    """Every program with every kind; most are for the night, every third program with one kind is there in the day."""
    for k, name in enumerate(TAKEN):
        for j, kind in enumerate(KINDS):
            if KINDS[kind][1] is None or name not in EFFECTS:
                rare = k % 3 or (k // 3 + j) % len(KINDS)
                yield pytest.param(name, kind, marks=[pytest.mark.nightly] if rare else [])


@pytest.mark.parametrize("name, kind", list(pairs()))
def test_as_generated_python_gives_them(name, kind):
    compare(name, kind)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_is_refused_forward(name):
    f, arrays = PROGRAMS[name]
    with pytest.raises(NativeRefusal, match="executor='native' cannot take"):
        al.function(f, autograph=False, executor="native")(*[np.asarray(a, float) for a in arrays])


M = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2]])
#: operations that gradients, or derivatives of gradients, of others are made of
OPS = {
    "trace": lambda x, m: al.trace(m), "diagonal": lambda x, m: al.diagonal(m, 1), "diag": lambda x, m: al.diag(x, -1),
    "take_along_axis": lambda x, m: al.take_along_axis(m, al.constant([[0, 2, 2], [1, -1, 1]]), 1),
    "top_k": lambda x, m: al.top_k(x, 2)[0], "sort": lambda x, m: al.sort(m, axis=0),
    "inner": lambda x, m: al.inner(x, x),
    "einsum": lambda x, m: al.einsum(",ij,->j", x[0], m, x[1]), "scalars": lambda x, m: al.einsum(",->", x[0], x[2]),
}  # fmt: skip


@pytest.mark.parametrize("order", [1, 2])
def test_operations(order):
    def f(x, m):
        return [g for op in OPS.values() for g in derivatives(lambda *v: al.sum(al.exp(op(*v))), order)(x, m)]

    with translated(order > 1):
        native, python = (al.function(f, autograph=False, executor=e)(X[:3], M) for e in ("native", "sequential"))
    assert len(native) == len(python) >= len(OPS)
    for found, expected in zip(native, python):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


def test_an_index_of_a_gradient_that_is_out_of_range():
    @al.function(executor="native")
    def f(x, k):
        return al.grad(lambda x: al.sum(al.take_along_axis(x, k, 0) ** 2))(x)

    np.testing.assert_array_equal(f(X, np.array([1, 1, -1])), np.array([0, 4, 0, 2]) * X)
    with pytest.raises(IndexError, match="index 4 is out of bounds"):
        f(X, np.array([1, 4]))


def appending(x, a, n):
    made = []
    for i in range(n):
        if x[i % 4] > 0.6:
            made.append(x * a[i % 4])
        x = np.sin(x) * a
    return np.sum(made[-1] * x)


def reading_back(x, a, n):
    rows = al.TensorArray(al.float64, 0, dynamic_size=True)
    for i in al.range(n):
        rows = rows.write(i, x * a[i % 4])
        x = al.sin(x) + rows.read(i // 2)
    return al.sum(x)


def arrays_in_arrays(x, a, n):
    out = al.TensorArray(al.float64, 4)
    for i in al.range(4):
        inner = al.TensorArray(al.float64, 3)
        for j in al.range(3):
            inner = inner.write(j, x * a[j] * al.cast(i + n, al.float64))
        out = out.write(i, al.sum(inner.stack(), axis=0))
    return al.sum(al.square(out.stack()))


def own_gradient(x, a, n):
    @al.custom_gradient
    def clipped(v):
        return al.sin(v), lambda g: al.clip(g, -0.5, 0.5)

    for _ in al.range(n):
        x = clipped(x) * a
    return al.sum(x)


GROWING = [
    pytest.param(f, memory, marks=[pytest.mark.nightly] if k and k % 2 == j else [])
    for k, f in enumerate([appending, reading_back, arrays_in_arrays, own_gradient])
    for j, memory in enumerate([None, 3])
]


@pytest.mark.parametrize("f, memory", GROWING)
def test_collections_that_grow(f, memory):
    made = [
        al.function(value_and_grad(f, (0, 1)), executor=e, gradient_memory=memory) for e in ("native", "sequential")
    ]
    for n in (5, 17):
        with translated(memory is not None):  # loops that run once more
            found, expected = (al.nest.flatten(g(X, A, np.int32(n))) for g in made)
        for x, e in zip(found, expected):
            np.testing.assert_allclose(x, e, rtol=1e-12)


def recurrence(a, x, n):
    i = 0
    while i < n:
        x = al.sin(x) * a
        i += 1
    return al.sum(x)


@pytest.mark.parametrize("most", [2, 3, 10])
def test_the_same_checkpoints_are_kept(most):
    # fewer steps than checkpoints, as many, and so many that the plan has several levels
    a, x = np.linspace(0.9, 1.1, 5), np.linspace(0.5, 1.0, 5)
    native, python = (
        al.function(value_and_grad(recurrence, (0, 1)), executor=executor, gradient_memory=most)
        for executor in ("native", "sequential")
    )
    for n in (0, 1, 2, most, most + 1, 7 * most, 300, 1111):
        with translated(most < 10):  # the same code with another number in it
            found, expected = native(a, x, np.int32(n)), python(a, x, np.int32(n))
        for g, e in zip((found[0], *found[1]), (expected[0], *expected[1])):
            np.testing.assert_allclose(g, e, rtol=1e-12)


def test_the_checkpoints_of_two_gradients_of_one_loop_do_not_meet():
    @al.function(gradient_memory=2, executor="native")
    def both(x):
        i, u, v = 0, x, x * 2.0
        while i < 9:
            u, v = al.sin(v), al.cos(u) * v
            i += 1
        first, second = gradients(al.sum(u), [x])[0], gradients(al.sum(v * v), [x])[0]
        return first, second, gradients(al.sum(u) + al.sum(v * v), [x])[0]

    first, second, total = both(X)
    np.testing.assert_allclose(first + second, total, rtol=1e-12)


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="needs /proc")
@pytest.mark.parametrize("memory, most", [(4, 4e6), ("checkpoint", 12e6)])
def test_checkpoints_bound_the_memory(memory, most):
    a, x = np.ones(4000), np.linspace(0.5, 1.0, 4000)
    run = al.function(value_and_grad(recurrence), executor="native", gradient_memory=memory)
    run(a, x, np.int32(1))
    with open("/proc/self/statm") as file:
        before = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak starts anew
    run(a, x, np.int32(2000))
    with open("/proc/self/status") as file:
        (peak,) = [int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM")]
    assert peak - before < most  # all of them would be 64 MB


def test_an_error_in_a_segment_that_runs_again_is_at_the_users_line():
    table = np.linspace(0.5, 1.0, 8)

    def look_up(x, table, n):
        i = 0
        while i < n:
            x = x * table[i]
            i += 1
        return x

    run = al.function(value_and_grad(look_up), executor="native", gradient_memory=3)
    assert run(np.float64(1.0), table, np.int32(8))[1] == pytest.approx(table.prod())
    with pytest.raises(IndexError, match="index 8 is out of bounds") as caught:
        run(np.float64(1.0), table, np.int32(9))
    assert "iteration 8" in "".join(caught.value.__notes__)
    assert any(entry.name == "look_up" for entry in caught.traceback)
    assert run(np.float64(1.0), table, np.int32(8))[1] == pytest.approx(table.prod())


def test_a_table_that_somebody_still_needs_is_copied():
    # the gradient of the inner loop's values is used twice: as it is, and with more added to it
    def f(x, a):
        def body(i, x, s):
            y = al.while_loop(lambda j, y: j < i, lambda j, y: (j + 1, al.tanh(y) * a), (0, x))[1]
            return i + 1, y, s + al.sum(gradients(al.sum(y * y), [a])[0] ** 2)

        return al.while_loop(lambda i, *_: i < 4, body, (0, x, al.constant(0.0, dtype=al.float64)))[2]

    for order in (1, 2):
        made = [al.function(derivatives(f, order), autograph=False, executor=e) for e in ("native", "sequential")]
        with translated(order > 1):
            results = [g(X, A) for g in made]
        for found, expected in zip(*results):
            np.testing.assert_allclose(found, expected, rtol=1e-11)


# -- swap_memory ----------------------------------------------------------------------------------------------


@pytest.fixture
def small_stacks(monkeypatch):
    """Stacks count from a few values on; in the end nothing of them is left."""
    monkeypatch.setattr(swapped, "SMALLEST", 4000)
    yield swapped.space
    al.config.set_swap_budget(None)
    assert not swapped.space.stacks


def swapping(x, w):
    for i in al.range(40):
        al.set_loop_options(swap_memory=True)
        for _ in al.range(i % 5):
            al.set_loop_options(swap_memory=True)
            x = al.tanh(x @ w)
        x = x + al.sin(x)
    return al.sum(x)


W = np.random.default_rng(1).normal(size=(6, 6)) * 0.3


def test_stacks_that_leave_memory(small_stacks, monkeypatch):
    sizes = []
    monkeypatch.setattr(swapped, "reserve", lambda f, count, was=swapped.reserve: (sizes.append(count), was(f, count)))
    expected = al.function(value_and_grad(swapping, (0, 1)), executor="sequential")(W, W)
    native = al.function(value_and_grad(swapping, (0, 1)), executor="native")
    for budget, leaves in ((None, False), (8_000, True), (0, True)):
        al.config.set_swap_budget(budget)
        sizes.clear()
        found = native(W, W)
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
        for g, e in zip(found[1], expected[1]):
            np.testing.assert_allclose(g, e, rtol=1e-11)
        assert bool(sizes) == leaves
        assert not [n for n in os.listdir(tempfile.gettempdir()) if n.startswith("autoloop-swap-")]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_who_forks_in_the_middle_has_results_in_one_process_only(small_stacks, monkeypatch):
    """As a signal handler may; both go on, with one file, and what the child writes its parent does not see."""
    native = al.function(value_and_grad(swapping, (0, 1)), executor="native")
    expected = native(W, W)
    al.config.set_swap_budget(0)
    grow, grown, pids = swapped.space.grow, [], []

    def forking(*words):
        place = grow(*words)
        grown.append(place)
        if len(grown) == 1:
            pids.append(os.fork())
            if not pids[0]:
                for mapped in swapped.space.stacks.values():
                    ctypes.memset(mapped.address, 255, mapped.count)  # NaN
        return place

    monkeypatch.setattr(swapped.space, "grow", forking)
    try:
        found = native(W, W)
    except RuntimeError as error:
        told = str(error)
        os._exit(0 if "forked while machine code ran" in told and "Fork outside of graphs" in told else 1)
    except BaseException:
        os._exit(2)
    if not pids[0]:
        os._exit(3)
    assert os.waitpid(pids[0], 0)[1] == 0 and len(grown) > 1
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize("executor", ["native", "sequential", "dataflow"])
def test_a_full_disk_is_an_error_at_the_users_line(small_stacks, monkeypatch, executor):
    native = al.function(value_and_grad(swapping, (0, 1)), executor=executor)

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    al.config.set_swap_budget(0)
    with monkeypatch.context() as m:
        m.setattr(swapped, "reserve", full)
        m.setattr(swap, "BLOCK", 4000)
        m.setattr(swap._File, "_write", full)
        with pytest.raises(OSError, match="No space left.*saving values of a loop.*set_swap_budget") as caught:
            native(W, W)
    assert caught.value.errno == errno.ENOSPC
    assert any(entry.name == "swapping" for entry in caught.traceback)
    assert np.isfinite(native(W, W)[0])


def test_what_interrupts_the_making_of_a_file_is_raised(small_stacks, monkeypatch):
    def interrupted(descriptor, count):
        raise KeyboardInterrupt

    al.config.set_swap_budget(0)
    native = al.function(value_and_grad(swapping, (0, 1)), executor="native")
    with monkeypatch.context() as m:
        m.setattr(swapped, "reserve", interrupted)
        with pytest.raises(KeyboardInterrupt):
            native(W, W)
    assert np.isfinite(native(W, W)[0])


def test_a_file_is_there_before_it_is_written_to(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    with open(tmp_path / "file", "w+b", buffering=0) as file:
        swapped.reserve(file.fileno(), 2_500_000)
        assert os.fstat(file.fileno()).st_size == 2_500_000


INTERRUPTED = """
import faulthandler, signal, sys, time
import numpy as np
import autoloop as al
from autoloop_runtime.native.kernels import swap_file as swapped

class Stop(BaseException):
    pass

def stop(*_):
    raise Stop

def loss(a, x):
    for _ in al.range(100):
        al.set_loop_options(swap_memory=True)
        x = al.sin(x) * a
    return al.sum(x * x)

def run():
    return [np.asarray(v).tolist() for v in g(np.float64(1.01), np.linspace(0, 1, 2000))]

def check(where):
    assert not swapped.space.stacks and run() == expected, where

faulthandler.enable()
told = []
sys.unraisablehook = told.append
al.config.set_swap_budget(0)
swapped.SMALLEST = 4096
g = al.function(al.value_and_grad(loss), executor="native")
expected = run()
signal.signal(signal.SIGALRM, stop)
signal.signal(signal.SIGINT, signal.default_int_handler)

# at any moment
begin = time.perf_counter()
run()
whole = time.perf_counter() - begin
for k in range(12):
    begin = time.perf_counter()
    try:
        signal.setitimer(signal.ITIMER_REAL, whole * (k + 1) / 12)
        while time.perf_counter() < begin + 10 and not told:  # Python drops what is raised in a ``__del__``
            run()
        assert [t.object.__name__ for t in told] == ["__del__"], told
        told.clear()
    except Stop:
        pass
    check(k)

# at each step of what Python is asked
def interrupt_at(wanted):
    steps, skipped = 0, False
    def trace(frame, event, _):
        nonlocal steps, skipped
        if frame.f_globals.get("__name__") != swapped.__name__:
            return None
        frame.f_trace_opcodes = True
        if event in ("call", "opcode"):
            steps += 1
            if steps == wanted:
                skipped = frame.f_code.co_name == "__del__"  # Python itself drops what is raised there
                if not skipped:
                    signal.raise_signal(signal.SIGINT)
        return trace
    sys.settrace(trace)
    try:
        run()
    except KeyboardInterrupt:
        return 0
    finally:
        sys.settrace(None)
    assert skipped or wanted == 0 or steps < wanted, wanted  # a run may take fewer steps than the first
    return steps

count = interrupt_at(0)
assert count > 300, count
for wanted in range(1, count, max(1, count // 30)):
    interrupt_at(wanted)
    check(wanted)
assert not told, [(t.exc_value, t.object) for t in told]
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
def test_a_signal_at_any_step_is_raised_and_nothing_breaks(tmp_path):
    """In a process of its own: what breaks here is the process."""
    path = tmp_path / "program.py"
    path.write_text(INTERRUPTED)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, str(path)], env=env, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr[-4000:]
