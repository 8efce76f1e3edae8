"""What batches in machine code make for each other travels as one array for each dtype, and is what it was."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from api import (
    Executable,
    Graph,
    Ownership,
    SeededExecutor,
    TensorShape,
    batches,
    lower,
    machine_kernels,
    packed_bundles,
    set_outputs,
    with_joined_steps,
)
from executors import needs_native
from flow import call
from test_batches import SLOW, lowered_of
from test_machine_kernels import at_once, kernels_of  # noqa: F401

FORMS = (
    (np.dtype(np.float64), ()), (np.dtype(np.int32), (3,)), (np.dtype(np.float64), (2, 2)), (np.dtype(np.bool_), ()),
)  # fmt: skip
VALUES = (np.float64(0.5), np.arange(3, dtype=np.int32), np.arange(4.0).reshape(2, 2), np.True_)


def same(found, want):
    for one, other in zip(found, want, strict=True):
        assert type(one) is type(other) and one.dtype == other.dtype and np.array_equal(one, other)


def test_values_come_out_as_they_were():
    layout = packed_bundles.layout_of(FORMS)
    bundle = packed_bundles.Packed(layout, layout.packed(VALUES))
    assert [len(array) for array in bundle.arrays] == [5, 3, 1]
    same(bundle.values(), VALUES)
    same(packed_bundles.unpacked(bundle), VALUES)
    arrays = {"p": bundle.arrays}
    same([eval(layout.source("p", k), arrays) for k in range(len(VALUES))], VALUES)
    assert all(one.base is None or one.base.base is None for one in bundle.values() if type(one) is np.ndarray)
    assert not any(np.shares_memory(one, array) for one in bundle.values() for array in bundle.arrays)
    again = packed_bundles.Layout(FORMS)
    assert again.packed(bundle) is bundle.arrays
    same(packed_bundles.Packed(again, again.packed(bundle.values())).values(), VALUES)
    without_axes = (np.array(0.5), *VALUES[1:])  # a number is often an array without axes
    same(packed_bundles.Packed(layout, layout.packed(without_axes)).values(), VALUES)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.complex64, bool])
def test_numbers_of_one_dtype_come_out_as_they_were(dtype):
    values = tuple(np.array([0, 1, 3]).astype(dtype))
    layout = packed_bundles.layout_of(((np.dtype(dtype), ()),) * 3)
    assert layout.is_row
    same(packed_bundles.Packed(layout, layout.packed(values)).values(), values)


@pytest.mark.parametrize("values", [VALUES[:3], (np.float32(0.5), *VALUES[1:]), (*VALUES[:3], np.ones(1, bool)), 7])
def test_what_is_something_else_is_not_packed(values):
    assert packed_bundles.layout_of(FORMS).packed(values) is None


def test_large_values_and_objects_are_not_packed():
    assert packed_bundles.layout_of(((np.dtype(float), (200,)), (np.dtype(float), ()))) is None
    assert packed_bundles.layout_of(((np.dtype(object), ()), (np.dtype(float), ()))) is None
    assert packed_bundles.layout_of(((np.dtype(float), (0,)), (np.dtype(float), ()))) is None


def mixed(n, x, part):
    """Numbers, small arrays and truths beside what takes long, and such as need it."""

    def body(i, y, a, b, c, d, e, z):
        y = call(SLOW, y)
        z = z * 0.5 + y[i % 3] * 2.0
        a, b = b * 0.5 + al.cast(i, al.float64), a - 1.0
        c, d = al.logical_xor(c, i % 2 == 0), d * 3 - i
        return i + 1, y, a, b, c, d, al.reshape(part, (2, 2)) + e * 0.5 + z, z + a

    start = [al.constant(0), x, x[0], x[1], x[2] > 0, n * 7, al.reshape(part, (2, 2)), x[2] * 2.0]
    return al.while_loop(lambda i, *_: i < n, body, start)


def lowered_mixed():
    graph = Graph(ordered=True)
    with graph.as_default():
        given = [
            graph.parameter(np.dtype(np.int32), TensorShape(())), graph.parameter(np.dtype(float), TensorShape((3,))),
            graph.parameter(np.dtype(float), TensorShape((4,))),
        ]  # fmt: skip
        set_outputs(graph, list(mixed(*given)))
    return lower(graph, graph.outputs, graph.inputs)


def feeds(n):
    return [np.int32(n), np.array([0.3, -2.0, 5.0]), np.linspace(-1, 1, 4)]


def packing(executable):
    """The batches of a plan that are given packed bundles, or give some."""
    values = [node.value for node in executable.plan.nodes if node.kind.name == "BATCH"]
    return [one for one in values if one.packs]


@needs_native
def test_every_order_gives_what_single_steps_give(at_once):  # noqa: F811
    lowered = lowered_mixed()
    executable = Executable(lowered, faster=machine_kernels.machine_kernels)
    for n in (3, 0, 1, 6):
        want = SeededExecutor(lowered).run(feeds(n))
        for threads in (1, 2):
            for one, other in zip(executable.run(feeds(n), threads=threads), want, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12)
                assert one.dtype == other.dtype and np.shape(one) == np.shape(other)
        stepping = SeededExecutor(lowered)
        stepping.plan = executable.plan
        for stepping.seed in range(10):
            for one, other in zip(stepping.run(feeds(n)), want, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12)
    assert len(packing(executable)) >= 2


@needs_native
@pytest.mark.parametrize("threads", [1, 2])
def test_where_machine_code_cannot_go_on_python_does(threads, at_once, monkeypatch):  # noqa: F811
    """The failure is that of the kernel, in its iteration; and the next run goes well."""
    monkeypatch.setattr(Executable, "_overlapped_loops", lambda *_: None)  # in native memory nothing is packed

    def program(n):
        x = al.constant(np.arange(8.0))

        def body(i, s, t, u, y, z):
            return i + 1, s * 0.5 + x[i], t + s, u - t * 0.25, call(SLOW, y), call(SLOW, z)

        start = [al.constant(0), *[al.constant(k, al.float64) for k in (1.0, 2.0, 0.0)]]
        return al.while_loop(lambda i, *_: i < n, body, [*start, n, n])

    lowered = lowered_of(program, "int32")
    executable = Executable(lowered, faster=machine_kernels.machine_kernels)
    for n in (3, 8, 20, 5, 20, 8):
        if n == 20:
            with pytest.raises(IndexError) as failure:
                executable.run([np.int32(n)], threads=threads)
            assert "iteration 8 of" in failure.value.__notes__[-1]
        else:
            found = executable.run([np.int32(n)], threads=threads)
            np.testing.assert_allclose(found, SeededExecutor(lowered).run([np.int32(n)]), rtol=1e-12)
    assert packing(executable)


@needs_native
def test_whoever_is_no_machine_code_takes_values_out(at_once, monkeypatch):  # noqa: F811
    """Machine code is made of one batch only: others are given what it has packed."""
    made, real = [], machine_kernels.MachineKernels._make

    def one_only(self, kinds, is_shared):
        real(self, kinds, is_shared)
        batches = [key for key in self._made if len(key) > 1]
        for key in batches[1:]:
            del self._made[key]
        made.append(batches)

    for which in (0, 1):
        make = lambda self, kinds, *rest, k=which: one_only(self, kinds[k:] + kinds[:k], *rest)
        monkeypatch.setattr(machine_kernels.MachineKernels, "_make", make)
        lowered = lowered_mixed()
        executable = Executable(lowered, faster=machine_kernels.machine_kernels)
        for n in (3, 4, 0, 5):
            for one, other in zip(executable.run(feeds(n)), SeededExecutor(lowered).run(feeds(n)), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12)
        assert len(packing(executable)) == 1
    assert len(made[0]) >= 2


@needs_native
def test_arrays_that_come_out_are_the_caller_s_own(at_once):  # noqa: F811
    def program(x, w, n, a, b):
        i, y = 0, x
        while i < n:
            x, y = np.tanh(x @ w), w @ y
            a, b = a * 0.5 + i, b * a - a
            i += 1
        return x, y, a, b, i

    rng = np.random.default_rng(1)
    w, a, b = rng.normal(size=(130, 130)) / 11, rng.normal(size=8), rng.normal(size=8)
    f = al.function(program, executor="dataflow")
    for n in (3, 4, 4):
        found, want = f(w, w, np.int64(n), a, b), program(w, w, np.int64(n), a, b)
        for one, other in zip(found, want):
            np.testing.assert_allclose(one, other, rtol=1e-9)
            assert type(one) is type(other)
        found[2][0] = 7
        assert not np.shares_memory(found[2], found[3])
    assert kernels_of(f, w, w, np.int64(3), a, b)


def test_without_machine_code_nothing_is_packed():
    joined = with_joined_steps(lowered_mixed(), Ownership())[0]
    batches = [node.value for node in joined.nodes if node.kind.name == "BATCH"]
    assert batches and not any(one.packs for one in batches)


@needs_native
@pytest.mark.parametrize("threads", [1, 2])
def test_what_joins_many_numbers_is_machine_code_that_is_given_them_packed(threads, at_once, monkeypatch):  # noqa: F811
    monkeypatch.setattr(batches, "LONG", 20_000.0)

    def program(x):
        ends = []
        for k in range(200):
            ends.append(al.reduce_sum(al.sin(x * (0.1 + k / 100)) * 0.5))
        return [al.stack(ends)]

    lowered = lowered_of(program, "float64", shape=[50])
    executable, x = Executable(lowered, faster=machine_kernels.machine_kernels), np.linspace(-1.0, 1.0, 50)
    want = np.stack([np.sum(np.sin(x * (0.1 + k / 100)) * 0.5) for k in range(200)])
    for _ in range(4):
        [found] = executable.run([x], threads=threads)
        np.testing.assert_allclose(found, want, rtol=1e-12, atol=1e-12)
        assert type(found) is np.ndarray and found.dtype == want.dtype and found.shape == want.shape
    joining = [one for one in packing(executable) if len(one.members) == 1]
    assert len(joining) == 1 and len(joining[0].doors.bundles) > 1
    assert joining[0]._machine is not None and joining[0]._walk is None  # nobody has taken them out
