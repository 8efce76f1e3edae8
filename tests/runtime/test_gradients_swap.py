"""``swap_memory=True``: saved values leave memory past a budget, and nothing else changes."""

from __future__ import annotations

import errno
import gc
import os
import subprocess
import sys
import tempfile

import autoloop as al
import numpy as np
import pytest
from api import SwapStack, swap

X = np.linspace(0.5, 1.0, 1000, dtype=np.float32)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(swap, "BLOCK", 40_000)
    monkeypatch.setattr(swap, "_space", swap._Space())  # what other tests have left is not counted
    yield
    al.config.set_swap_budget(None)
    gc.collect()
    assert swap._space.resident == 0
    assert swap._space.file.blocks == 0
    assert swap._space.file._descriptor == -1


def loss(swapped, n=200):
    def f(a, x):
        for _ in al.range(n):
            al.set_loop_options(swap_memory=swapped)
            x = al.sin(x) * a
        return al.reduce_sum(x)

    # machine code has files of its own
    return al.function(al.value_and_grad(f, (0, 1)), executor="sequential")


def test_the_values_are_the_same_bit_for_bit():
    expected = al.nest.flatten(loss(False)(X, X))
    for budget in (0, 100_000, 10**9):
        al.config.set_swap_budget(budget)
        for found, e in zip(al.nest.flatten(loss(True)(X, X)), expected):
            np.testing.assert_array_equal(found, e)


def test_past_the_budget_values_go_to_a_file_that_has_no_name(monkeypatch):
    sizes = []
    write = swap._File.write

    def watched(self, block):
        write(self, block)
        sizes.append((block.place, swap._space.resident))
        assert not [n for n in os.listdir(tempfile.gettempdir()) if n.startswith("autoloop-swap-")]

    monkeypatch.setattr(swap._File, "write", watched)
    al.config.set_swap_budget(100_000)
    loss(True)(X, X)
    assert len(sizes) >= 15
    assert max(resident for _, resident in sizes) <= 150_000


def test_nested_loops_and_other_values_than_arrays():
    def f(x, w, swapped):
        for i in al.range(6):
            al.set_loop_options(swap_memory=swapped)
            for _ in al.range(i):
                al.set_loop_options(swap_memory=swapped)
                x = al.tanh(al.tanh(x @ w) @ w) + al.cast(i, al.float32) * al.sum(x)
        return al.sum(x)

    rng = np.random.default_rng(0)
    x, w = [rng.normal(size=(40, 40)).astype(np.float32) * 0.1 for _ in range(2)]
    al.config.set_swap_budget(0)
    grads = [al.function(al.grad(lambda x, w: f(x, w, s), (0, 1)))(x, w) for s in (False, True)]
    for a, b in zip(*grads):
        np.testing.assert_array_equal(a, b)


def test_a_full_disk_is_reported_and_the_next_run_works(monkeypatch):
    def full(self, data, at):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    al.config.set_swap_budget(0)
    f = loss(True)
    with monkeypatch.context() as m:
        m.setattr(swap._File, "_write", full)
        with pytest.raises(OSError, match="No space left.*set_swap_budget") as caught:
            f(X, X)
    assert caught.value.errno == errno.ENOSPC
    del caught
    np.testing.assert_allclose(f(X, X)[0], loss(False)(X, X)[0], rtol=1e-6)


def test_a_stack_reads_in_any_order():
    al.config.set_swap_budget(0)
    stack = SwapStack()
    items = [np.full(1000, k, np.float32) if k % 3 else np.float32(k) for k in range(100)]
    for item in items:
        stack.append(item)
    order = np.random.default_rng(0).permutation(100)
    for k in [*order, *range(99, -1, -1)]:
        np.testing.assert_array_equal(stack[np.int64(k)], items[k])
    assert len(stack) == 100
    assert len(SwapStack(stack[:50])) == 50


def test_loops_whose_saved_values_are_small_need_no_stack_that_leaves_memory():
    def stacks_of(x):
        def f(x):
            for _ in al.range(9):
                al.set_loop_options(swap_memory=True)
                x = al.sin(x) * x
            return al.sum(x)

        graph = al.function(al.grad(f)).get_concrete_function(x).runner.graph
        loops = [node.attrs["body"] for node in graph.nodes if node.op.name == "While"]
        return {node.op.name for body in loops for node in body.nodes if node.op.name.endswith("Push")}

    assert stacks_of(np.float32(0.5)) == stacks_of(X[:63]) == {"StackPush"}
    assert stacks_of(X[:64]) == {"SwapPush"}
    assert stacks_of(al.TensorSpec([None], al.float32)) == {"SwapPush"}


def test_what_was_read_before_its_block_was_written_out_is_read_again():
    stack = SwapStack()
    items = [np.full(1000, k, np.float32) for k in range(45)]
    for item in items[:22]:
        stack.append(item)
    assert stack[3] is items[3] and stack[21] is items[21]  # in memory
    al.config.set_swap_budget(0)
    for item in items[22:]:
        stack.append(item)
    assert swap._space.file.blocks == 4
    for k in (3, 21, 44, 0, 39):
        np.testing.assert_array_equal(stack[k], items[k])


def test_the_budget_is_checked():
    with pytest.raises(TypeError, match="number of bytes"):
        al.config.set_swap_budget(1.5)
    with pytest.raises(ValueError, match="negative"):
        al.config.set_swap_budget(-1)
    assert al.config.get_swap_budget() > 0


SCRIPT = """
import resource, sys
import autoloop as al
import numpy as np

x = np.linspace(0.5, 1.0, 1000)
a = np.full_like(x, 1.0 + 1e-6)


def loss(a, x):
    for _ in al.range(200_000):
        al.set_loop_options(swap_memory=True)
        x = al.sin(x) * a
    return al.sum(x)


al.config.set_swap_budget(100 << 20)
if sys.platform == "linux":  # pages of a file that is mapped are none of it: the kernel takes them when it needs them
    resource.setrlimit(resource.RLIMIT_DATA, (400 << 20, 400 << 20))
value, gradient = al.function(al.value_and_grad(loss), executor=sys.argv[1])(a, x)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
if sys.platform == "linux":  # where that begins with what the process had that started this one
    with open("/proc/self/status") as status:
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) // 1024
print(repr(float(value)), repr(float(gradient.sum())), peak)
"""


@pytest.mark.nightly
def test_more_saved_values_than_memory(tmp_path):
    # 200,000 states of 8 kB: 1.6 GB
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(tmp_path)}
    printed = []
    for executor in ("auto", "sequential"):
        done = subprocess.run([sys.executable, str(script), executor], env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        *values, peak = map(float, done.stdout.split())
        assert (executor == "auto" or peak < 400) and os.listdir(tmp_path) == ["script.py"]
        printed.append(values)
    np.testing.assert_allclose(*printed, rtol=1e-9)
    x = np.linspace(0.5, 1.0, 1000)
    for _ in range(200_000):
        x = np.sin(x) * (1.0 + 1e-6)
    np.testing.assert_allclose(printed[0][0], x.sum(), rtol=1e-9)
