"""TensorArrays: functional values, rules of writing and reading, loops, gradients, threads."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from api import (
    SCALAR,
    UNKNOWN,
    ArraySpec,
    ArrayValue,
    Graph,
    TensorArray,
    TensorShape,
    composite_of,
    cond,
    constant,
    dtypes,
    nest,
    ops,
    run_now,
    while_loop,
)
from each_case import each
from examples import examples
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, rule
from ops_checks import check_gradient, computed


def filled(*values, **options):
    array = TensorArray(dtypes.float32, len(values), **options)
    for i, v in enumerate(values):
        array = array.write(i, v)
    return array


def filled64(*values, **options):
    return TensorArray(dtypes.float64, len(values), **options).write(0, values[0])


# -- values -----------------------------------------------------------------------------------------------


def test_writing_gives_a_new_array():
    a = TensorArray(dtypes.float32, 3, element_shape=[])
    b = a.write(0, 1.0)
    c, d = b.write(1, 2.0), b.write(1, 5.0)
    assert a.stack().numpy().tolist() == [0, 0, 0]
    assert b.stack().numpy().tolist() == [1, 0, 0]
    assert c.stack().numpy().tolist() == [1, 2, 0]
    assert d.stack().numpy().tolist() == [1, 5, 0]
    assert b.read(1).numpy() == 0 and c.read(1).numpy() == 2


@each([{}, {"element_shape": [2]}, {"infer_shape": False}, {"dynamic_size": True}])
def test_stacks_do_not_change_afterwards(options):
    a = TensorArray(dtypes.float32, 2, **options).write(0, [1.0, 2.0])
    rows = a.write(1, [3.0, 4.0]).stack().numpy()
    first = a.gather([0]).numpy()
    other = a.write(1, [5.0, 6.0])
    assert rows.tolist() == [[1, 2], [3, 4]] and first.tolist() == [[1, 2]]
    assert other.stack().numpy().tolist() == [[1, 2], [5, 6]]
    if options.get("dynamic_size"):
        assert other.write(4, [7.0, 8.0]).stack().shape == [5, 2]
        assert rows.tolist() == [[1, 2], [3, 4]]


def test_every_way_of_writing_and_reading():
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    a = TensorArray(dtypes.float32, 3).unstack(x)
    np.testing.assert_array_equal(a.stack().numpy(), x)
    np.testing.assert_array_equal(a.read(2).numpy(), x[2])
    np.testing.assert_array_equal(a.gather([2, 0, 2]).numpy(), x[[2, 0, 2]])
    np.testing.assert_array_equal(a.concat().numpy(), x.reshape(-1))
    b = TensorArray(dtypes.float32, 4).scatter([3, 1], x[:2])
    np.testing.assert_array_equal(b.stack().numpy(), [[0, 0], x[1], [0, 0], x[0]])
    c = TensorArray(dtypes.float32, 2, infer_shape=False).split(x, [1, 2])
    assert c.read(0).shape == [1, 2] and c.read(1).shape == [2, 2]
    np.testing.assert_array_equal(c.concat().numpy(), x)
    assert a.size().numpy() == 3 and a.size().dtype == "int32"
    assert a.identity().flow is a.flow
    assert a.gather([]).shape == [0, 2]


def test_unstack_does_not_copy():
    x = np.ones((4, 3), np.float32)
    t = constant(x)
    stacked = TensorArray(dtypes.float32, 4).unstack(t).stack()
    assert stacked.value is t.value or stacked.value.base is t.value


def test_attributes():
    a = TensorArray("float64", 2, element_shape=[None, 3], name="rows")
    assert a.dtype == "float64" and a.element_shape == [None, 3] and a.dynamic_size is False and a.handle is None
    assert a.flow.dtype == dtypes.variant and a.flow.shape == [] and repr(a).startswith("<TensorArray 'rows'")
    assert TensorArray("int32").dynamic_size and not TensorArray("int32", 0).dynamic_size
    a.close()
    a.mark_used()
    assert TensorArray("float64", flow=a.flow, dynamic_size=False, element_shape=[None, 3]).size().numpy() == 2


def test_growing():
    a = TensorArray(dtypes.int32)
    for i in range(20):
        a = a.write(i, i)
    assert a.stack().numpy().tolist() == list(range(20))
    assert a.write(25, 1).size().numpy() == 26
    assert TensorArray(dtypes.int32, 1, dynamic_size=True).unstack([1, 2, 3]).size().numpy() == 3


# -- rules ------------------------------------------------------------------------------------------------


def test_an_index_is_written_once():
    a = filled(1.0, 2.0)
    with pytest.raises(ValueError, match="index 1 was written before"):
        a.write(1, 3.0)
    with pytest.raises(ValueError, match="index 0"):
        a.unstack([1.0, 2.0])
    with pytest.raises(ValueError, match="twice"):
        TensorArray(dtypes.float32, 3).scatter([1, 1], [1.0, 2.0])


def test_clear_after_read():
    a = filled(1.0, 2.0, clear_after_read=True)
    assert a.read(0).numpy() == 1
    with pytest.raises(ValueError, match="index 0 was read before"):
        a.read(0)
    with pytest.raises(ValueError, match="index 0 was read before"):
        a.stack()
    with pytest.raises(ValueError, match="index 0 was read before"):
        run_now(lambda: (lambda a: a.read(0) + a.read(0))(filled(1.0, clear_after_read=True)))
    check_gradient(lambda x: filled64(x, clear_after_read=True).read(0) * 2, 1.0, blurs=["exact"])
    assert filled(1.0).read(0).numpy() == filled(1.0).read(0).numpy()


def test_unwritten_elements():
    a = TensorArray(dtypes.float32, 3)
    with pytest.raises(ValueError, match="index 1 was not written.*element_shape"):
        a.read(1)
    with pytest.raises(ValueError, match="index 0 was not written"):
        a.stack()
    assert a.write(0, [1.0, 2.0]).read(1).numpy().tolist() == [0, 0]
    assert TensorArray(dtypes.float32, 2, element_shape=[2]).read(1).numpy().tolist() == [0, 0]
    b = TensorArray(dtypes.float32, 2, infer_shape=False).write(0, 1.0)
    with pytest.raises(ValueError, match="index 1"):
        b.stack()


@each([(-1, "-1 is negative"), (3, "3 is out of range for size 3")])
def test_indices_out_of_range(index, match):
    a = TensorArray(dtypes.float32, 3, element_shape=[])
    for f in (lambda: a.write(index, 1.0), lambda: a.read(index), lambda: a.gather([index]),
              lambda: a.scatter([index], [1.0])):  # fmt: skip
        with pytest.raises(IndexError, match=match):
            f()
    with pytest.raises(IndexError):
        TensorArray(dtypes.float32, 3, dynamic_size=True).write(-1, 1.0)
    with pytest.raises(IndexError):
        TensorArray(dtypes.float32, 3, dynamic_size=True, element_shape=[]).read(3)


def test_wrong_elements():
    a = TensorArray(dtypes.float32, 3)
    for value in (constant(1), np.ones(2), "a", 1j, constant(1.0, "float64")):
        with pytest.raises((TypeError, OverflowError), match="float32"):
            a.write(1, value)
    b = a.write(0, [1.0, 2.0])
    with pytest.raises(ValueError, match=r"index 1 has shape \(3,\), the elements have shape \(2,\)"):
        b.write(1, [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="shape"):
        TensorArray(dtypes.float32, 2, element_shape=[2], infer_shape=False).write(0, 1.0)
    with pytest.raises(ValueError, match="different shapes"):
        TensorArray(dtypes.float32, 2, infer_shape=False).write(0, [1.0]).write(1, [1.0, 2.0]).stack()
    with pytest.raises(ValueError, match="scalars"):
        filled(1.0, 2.0).concat()
    with pytest.raises(ValueError, match="rows"):
        a.unstack(1.0)
    with pytest.raises(ValueError, match="size 3"):
        a.unstack([1.0, 2.0])
    with pytest.raises(ValueError, match="add up"):
        TensorArray(dtypes.float32, 2, infer_shape=False).split([1.0, 2.0], [1, 2])


def test_wrong_arguments():
    a = TensorArray(dtypes.float32, 3)
    for f in (lambda: a.write(0.5, 1.0), lambda: TensorArray(dtypes.float32, 1.5), lambda: a.gather([[0]]),
              lambda: a.gather(0.5)):  # fmt: skip
        with pytest.raises(TypeError):
            f()
    with pytest.raises(ValueError):
        a.read([0])
    with pytest.raises(ValueError):
        TensorArray(dtypes.float32, 3, handle=1)
    with pytest.raises(ValueError, match="negative"):
        TensorArray(dtypes.float32, -1)


def test_shapes_found_at_run_time():
    graph = Graph()
    x, y = (graph.parameter(dtypes.float32, UNKNOWN) for _ in range(2))
    with graph.as_default():
        a = TensorArray(dtypes.float32, 2).write(0, x).write(1, y)
        rows = a.stack()
    assert rows.shape.rank is None or rows.shape[0] == 2
    (value,) = computed(graph, [rows], [np.ones(2, np.float32)] * 2)
    assert value.shape == (2, 2)
    with pytest.raises(ValueError, match=r"index 1 has shape \(3,\).*\(2,\)"):
        computed(graph, [rows], [np.ones(2, np.float32), np.ones(3, np.float32)])


def test_static_shapes():
    graph = Graph()
    n = graph.parameter(dtypes.int32, SCALAR)
    with graph.as_default():
        a = TensorArray(dtypes.float32, 4).write(n, ops.ones([2]))
        assert a.element_shape == [2] and a.read(0).shape == [2] and a.stack().shape == [4, 2]
        assert a.gather([0, 1, 2]).shape == [3, 2] and a.concat().shape == [None]
        assert TensorArray(dtypes.float32, n, element_shape=[3]).stack().shape == [None, 3]
        b = TensorArray(dtypes.float32, 4, infer_shape=False).write(0, ops.ones([2]))
        assert b.read(0).shape.rank is None


# -- structures, loops, branches -------------------------------------------------------------------------------


def test_a_composite():
    a = TensorArray(dtypes.float32, 2, element_shape=[3])
    assert nest.flatten([a, 1]) == [a, 1]
    (flow,), structure = nest.flatten_with_structure(a, True)
    again = nest.unflatten(structure, [flow])
    assert flow is a.flow and again.element_shape == [3] and again.stack().shape == [2, 3]
    other = TensorArray(dtypes.float32, 2, element_shape=[3], name="b")
    assert nest.structure_of(a, True) == nest.structure_of(other, True)
    assert composite_of(a).invariants(a, None) == [TensorShape([])]


def test_in_loops():
    def body(i, a):
        return i + 1, a.write(i, ops.cast(i * i, dtypes.float32))

    _, a = while_loop(lambda i, a: i < 5, body, (0, TensorArray(dtypes.float32, 5)))
    assert a.stack().numpy().tolist() == [0, 1, 4, 9, 16]
    _, a = while_loop(lambda i, a: i < 5, body, (0, TensorArray(dtypes.float32)))
    assert a.stack().numpy().tolist() == [0, 1, 4, 9, 16]
    _, a = while_loop(lambda i, a: i < 0, body, (0, TensorArray(dtypes.float32, 3)))
    assert a.stack().numpy().tolist() == [0, 0, 0]  # the element shape is known from the trace


def test_in_branches():
    graph = Graph(ordered=True)
    p = graph.parameter(dtypes.bool_, SCALAR)
    with graph.as_default():
        a = TensorArray(dtypes.float32, 2, element_shape=[])
        b = cond(p, lambda: a.write(0, 1.0), lambda: a.write(1, 2.0))
        assert isinstance(b, TensorArray)


def test_an_array_shared_by_branches_of_different_shapes_is_found_out():
    value = ArrayValue.empty(ArraySpec(dtypes.float32, UNKNOWN, False, False, True), 1).write(0, np.ones(2, np.float32))
    for f in (lambda s: value.read(0, s), value.stack):
        with pytest.raises(ValueError, match=r"declared to have shape \(3,\), but have shape \(2,\)"):
            f(TensorShape([3]))


# -- gradients --------------------------------------------------------------------------------------------


def test_gradients():
    def arrays(x, v):
        a = TensorArray(dtypes.float64, 3).unstack(x)
        b = TensorArray(dtypes.float64, 4, element_shape=[2]).scatter([3, 1], x[:2]).write(0, v * v)
        c = TensorArray(dtypes.float64, 2, infer_shape=False).split(x, [1, 2])
        return a.read(1), a.gather([2, 0, 2]), b.stack(), b.read(0) * v, c.read(1) * 2.0, c.concat(), a.concat()

    x, v = np.random.default_rng(0).normal(size=(3, 2)), np.array([0.5, -1.0])
    check_gradient(arrays, x, v, blurs=["exact", "extents unknown"])


def test_gradient_of_rows_before_later_writes():
    def f(x):
        a = TensorArray(dtypes.float64, 2, dynamic_size=True).unstack(x).write(2, x[0] * 3.0)
        return a.stack()

    check_gradient(f, [[1.0, 2.0], [3.0, 4.0]])


# -- many versions, many threads -------------------------------------------------------------------------------


class Versions(RuleBasedStateMachine):
    """Any tree of versions agrees with dicts that are copied."""

    pairs = Bundle("pairs")
    shape = TensorShape(())

    @rule(target=pairs, size=st.integers(0, 4), declared=st.booleans(), grows=st.booleans(), infer=st.booleans())
    def make(self, size, declared, grows, infer):
        shape = SCALAR if declared else UNKNOWN
        return ArrayValue.empty(ArraySpec(dtypes.int32, shape, grows, False, infer), size), {}, size

    @rule(target=pairs, pair=pairs, index=st.integers(-1, 6), item=st.integers(1, 9))
    def write(self, pair, index, item):
        value, model, size = pair
        if index < 0 or (index >= size and not value.spec.dynamic_size):
            with pytest.raises(IndexError):
                value.write(index, np.int32(item))
            return pair
        if index in model:
            with pytest.raises(ValueError):
                value.write(index, np.int32(item))
            return pair
        return value.write(index, np.int32(item)), {**model, index: item}, max(size, index + 1)

    @rule(target=pairs, pair=pairs, items=st.lists(st.integers(1, 9), max_size=5))
    def unstack(self, pair, items):
        value, model, size = pair
        rows = np.array(items, np.int32)
        if (len(items) != size and not value.spec.dynamic_size) or any(i in model for i in range(len(items))):
            with pytest.raises(ValueError):
                value.unstack(rows)
            return pair
        return value.unstack(rows), {**model, **dict(enumerate(items))}, max(size, len(items))

    @rule(pair=pairs)
    def look(self, pair):
        value, model, size = pair
        assert value.size == size
        expected = [model.get(i, 0) for i in range(size)]
        assert value.stack(self.shape).tolist() == expected
        assert [int(value.read(i, self.shape)) for i in range(size)] == expected
        assert value.gather(list(range(size)), self.shape).tolist() == expected


Versions.TestCase.settings = settings(max_examples=examples(60), stateful_step_count=20, deadline=None)
TestVersions = Versions.TestCase


def test_versions_in_threads():
    base = ArrayValue.empty(ArraySpec(dtypes.int32, SCALAR, False, False, True), 200)
    for i in range(100):
        base = base.write(i, np.int32(i))
    wrong = []

    def work(k):
        value = base
        for i in range(100, 200):
            value = value.write(i, np.int32(i * k))
            if int(value.read(i, SCALAR)) != i * k or base.stack(SCALAR)[i] != 0:
                wrong.append((k, i))
        if value.stack(SCALAR).tolist() != [*range(100), *[i * k for i in range(100, 200)]]:
            wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_writing_in_a_chain_takes_constant_time():
    counted = ArrayValue.empty(ArraySpec(dtypes.float32, TensorShape([4]), True, False, True), 0)
    buffers = set()
    for i in range(300):
        counted = counted.write(i, np.full(4, i, np.float32))
        buffers.add(id(counted._buffer))
    assert len(buffers) == 1  # never copied because of a version
    assert counted.stack(UNKNOWN).shape == (300, 4)
    assert "300 elements" in repr(counted)


@each([[3, 1], [1, 3]])
def test_pieces_of_different_lengths_are_not_broadcast(lengths):
    array = TensorArray(dtypes.float64, size=2)
    with pytest.raises(ValueError, match=r"index 1 has shape .*infer_shape=False"):
        array.split(np.arange(4.0), lengths)
    loose = TensorArray(dtypes.float64, size=2, infer_shape=False).split(np.arange(4.0), lengths)
    assert [len(loose.read(i).numpy()) for i in range(2)] == lengths
