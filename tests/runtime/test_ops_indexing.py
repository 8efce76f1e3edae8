"""Indexing as NumPy has it, gather and scatter: values, static shapes, errors, slopes.

One file: one notation, read and written.
"""

from __future__ import annotations

import re
from itertools import product

import autoloop as al
import numpy as np
import pytest
from api import Graph, Index, Tensor, TensorShape, constant, dtypes, ops
from api import parse_index as parse
from each_case import each
from examples import examples
from executors import EXECUTORS
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from ops_checks import check_gradient, check_static

X = np.random.default_rng(0).normal(size=(3, 4, 5))
MASK = np.array([True, False, True])
INDICES = [
    0, -1, (1, 2), (1, 2, 3), slice(1, 3), slice(None, None, -1), (slice(None), 1), (..., 2), (None, 1, ...),
    (slice(0, 10, 2), slice(-3, None)), [0, 2], (slice(None), [1, 1, 0]), ([0, 1], [2, 3]), ([[0], [1]], [2, 3]),
    (0, slice(None), [1, 2]), ([0, 1], slice(None), [2, 3]), (slice(None), [0, 1], [2, 3]), (0, [1, 2], None),
    MASK, (slice(None), np.array([True, False, True, True])), (MASK, 0), X > 0, (MASK, slice(1, 3), [1, 2]),
    (), ..., None, np.array([2, 0], np.uint8), (0, ..., 0), (None, None, [0, 1]), True, False, (None, np.True_),
    (0, slice(None), True), (True, [0, 1], slice(None), [2, 3]), (slice(None), [1, 0], None, 0), (..., [1], slice(1)),
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_getitem(index):
    f = lambda x: x[index]
    (y,) = check_static(f, X)
    np.testing.assert_array_equal(y.numpy(), X[index])
    check_gradient(f, X[:, :, :])


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_set_item(index):
    value = np.random.default_rng(1).normal(size=np.shape(X[index]))
    f = lambda x, v: ops.set_item(x, index, v)
    (y,) = check_static(f, X, value)
    expected = X.copy()
    expected[index] = value
    np.testing.assert_array_equal(y.numpy(), expected)
    if repr(index) != repr((slice(None), [1, 1, 0])):  # which names a place twice
        check_gradient(f, X, value, blurs=["exact", "extents unknown"])


@settings(max_examples=examples(80), deadline=None)
@given(data=st.data())
def test_basic_and_advanced_indices(data):
    shape = data.draw(hnp.array_shapes(max_dims=4, max_side=4))
    x = np.arange(np.prod(shape)).reshape(shape)
    if data.draw(st.booleans()):
        index = data.draw(hnp.basic_indices(shape, allow_newaxis=True))
    else:
        index = data.draw(hnp.integer_array_indices(shape))
    (y,) = check_static(lambda v: v[index], x)
    np.testing.assert_array_equal(y.numpy(), x[index])


@settings(max_examples=examples(80), deadline=None)
@given(data=st.data())
def test_mixed_indices(data):
    x = np.arange(3 * 4 * 5 * 2).reshape(3, 4, 5, 2)
    entries = []
    for extent in x.shape[: data.draw(st.integers(1, 4))]:
        entries.append(data.draw(st.one_of(
            st.integers(-extent, extent - 1),
            st.sampled_from([slice(None), slice(1, None), slice(None, None, -2)]),
            st.lists(st.integers(0, extent - 1), min_size=2, max_size=2).map(np.array),
        )))  # fmt: skip
    for place in data.draw(st.lists(st.integers(0, 4), max_size=1)):
        entries.insert(place, None)
    index = tuple(entries)
    (y,) = check_static(lambda v: v[index], x)
    np.testing.assert_array_equal(y.numpy(), x[index])


def test_tensors_in_brackets():
    x = X

    def f(x, i, j, v, mask):
        return (
            x[i],
            x[i, j],
            x[i:j],
            x[:, i:],
            x[v],
            x[:, v],
            x[mask],
            x[i, :, v],
            x[::-i],
            x[j - 1 : i : -1],
            x[i, ..., j],
        )

    i, j, v = np.int32(1), np.int64(3), np.array([0, 2], np.int32)
    got = check_static(f, x, i, j, v, MASK)
    for g, e in zip(got, f(x, i, j, v, MASK)):
        np.testing.assert_array_equal(g.numpy(), e)


def test_gradient_with_tensor_indices():
    def f(x):
        i, v = ops.identity(constant(1)), ops.identity(constant([0, 1, 1]))
        return x[i], x[v], x[i:, v], ops.set_item(x, (i, v[1]), 7.0)

    check_gradient(f, X, blurs=["exact", "extents unknown"])


def test_static_shapes():
    graph = Graph()
    x = graph.parameter(dtypes.float32, TensorShape([None, 3, 4]))
    i = graph.parameter(dtypes.int32, TensorShape([]))
    v = graph.parameter(dtypes.int32, TensorShape([None, 2]))
    m = graph.parameter(dtypes.bool_, TensorShape([None]))
    with graph.as_default():
        assert x[i].shape == [3, 4]
        assert x[i:].shape == [None, 3, 4]
        assert x[:, i:].shape == [None, None, 4]
        assert x[:, 1:].shape == [None, 2, 4]
        assert x[:0].shape == [0, 3, 4]
        assert x[v].shape == [None, 2, 3, 4]
        assert x[:, v[0]].shape == [None, 2, 4]
        assert x[m].shape == [None, 3, 4]
        assert x[..., None].shape == [None, 3, 4, 1]
        assert x[:, i, v].shape == [None, None, 2]
        assert x[i, :, v].shape == [None, 2, 3]
        assert x[::-1].shape == [None, 3, 4]
        assert ops.set_item(x, i, 0).shape == x.shape
        assert ops.gather(x, v, 1).shape == [None, None, 2, 4]
        assert ops.boolean_mask(x, m).shape == [None, 3, 4]


@pytest.mark.parametrize("index,match", [
    (7, "index 7 is out of bounds for axis 0 with size 3"), ((0, -5), "index -5.*axis 1.*size 4"),
    ([0, 3], "index 3.*size 3"), ((0, 0, 0, 0), "too many"), ((..., ...), "ellipsis"),
    (np.zeros(2, bool), "boolean index did not match.* along axis 0; size of axis is 3 but .* boolean axis is 2"),
    ((0, np.ones((4, 6), bool)), "did not match indexed array along axis 2; size of axis is 5"),
    (([0, 1], [0, 1, 2]), "shape mismatch: indexing arrays could not be broadcast together"),
    (1.5, "only integers, slices .* are valid indices"), ("a", "only integers"), (object(), "only integers"),
    (X[0], r"arrays used as indices must be of integer \(or boolean\) type"),

])  # fmt: skip
def test_index_errors(index, match):
    with pytest.raises(IndexError, match=match):
        Tensor(X)[index]
    graph = Graph()
    p = graph.parameter(dtypes.float64, TensorShape(X.shape))
    with graph.as_default(), pytest.raises(IndexError, match=match):
        p[index]


def places(x, v, n):
    return x[v]


def list_of_places(x, v, n):
    x[[v]] = 1


def beginning(x, v, n):
    x[v:] = 1


def unread_end(x, v, n):
    x[:v]


def no_step(x, v, n):
    x[n:n:0]


def no_step_of_the_run(x, v, n):
    x[:: n - n]


@each([places, list_of_places, beginning, unread_end, no_step, no_step_of_the_run])
def test_what_is_no_index_is_said_in_numpys_words(function):
    given = np.arange(6.0), np.float64(2.5), np.int64(3)
    with pytest.raises((IndexError, TypeError, ValueError)) as plain:
        function(*given)
    with pytest.raises(plain.type) as ours:
        al.function(function)(*given)
    assert str(ours.value).startswith(str(plain.value))


@st.composite
def mixed_indices(draw, shape):
    """An index expression of ints, slices, new axes, an ellipsis, and arrays of ints and booleans that broadcast."""
    common = draw(hnp.array_shapes(min_dims=0, max_dims=2, min_side=1, max_side=3))
    entries, axis = [], 0
    while axis < len(shape):
        kinds = ["int", "slice", "array", "mask", "bool", "new", "stop"]
        kind = draw(st.sampled_from(kinds if shape[axis] else ["slice", "new", "stop"]))
        if kind == "stop":
            break
        if kind == "int":
            entries.append(draw(st.integers(-shape[axis], shape[axis] - 1)))
        elif kind == "slice":
            entries.append(draw(st.slices(shape[axis])))
        elif kind == "array":
            ends = st.sampled_from([1, None])
            sides = tuple([draw(ends) or side for side in common])
            entries.append(draw(hnp.arrays(np.int64, sides, elements=st.integers(-shape[axis], shape[axis] - 1))))
        elif kind == "mask":
            count = min(draw(st.integers(1, 2)), len(shape) - axis)
            entries.append(draw(hnp.arrays(bool, shape[axis : axis + count])))
            axis += count - 1
        elif kind == "bool":
            entries.append(draw(st.booleans()))
        else:
            entries.append(None)
        axis += kind not in ("bool", "new")
    if draw(st.booleans()):
        entries.append(...)
    return entries[0] if len(entries) == 1 and draw(st.booleans()) else tuple(entries)


def _outcome(f, *args):
    try:
        return f(*args)
    except (IndexError, ValueError) as error:
        return type(error)


@settings(max_examples=examples(150), deadline=None)
@given(data=st.data())
def test_mixed_indices_as_in_numpy(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=4))
    x = np.arange(np.prod(shape, dtype=int), dtype=float).reshape(shape)
    index = data.draw(mixed_indices(shape))
    entries = list(index) if isinstance(index, tuple) else [index]
    arrays = [e for e in entries if isinstance(e, np.ndarray)]

    def picked(v, *given_arrays):  # arrays come as inputs, so that only a run knows them
        rest = iter(given_arrays)
        made = [next(rest) if isinstance(e, np.ndarray) else e for e in entries]
        return v[tuple(made) if isinstance(index, tuple) else made[0]]

    expected = _outcome(lambda: x[index])
    if isinstance(expected, type):
        assert _outcome(lambda: Tensor(x)[index]) is expected
        with pytest.raises(expected):
            check_static(picked, x, *arrays)
        return
    np.testing.assert_array_equal(Tensor(x)[index].numpy(), expected, strict=True)
    (y,) = check_static(picked, x, *arrays)
    np.testing.assert_array_equal(y.numpy(), expected)
    weights = np.cos(np.arange(expected.size, dtype=float)).reshape(np.shape(expected))
    slopes = np.zeros(shape)
    np.add.at(slopes, index, weights)
    found = al.grad(lambda v: ops.sum(v[index] * weights))(x)
    np.testing.assert_allclose(found, slopes, rtol=1e-12, atol=1e-12)
    written = x.copy()
    written[index] = weights
    np.testing.assert_array_equal(ops.set_item(x, index, weights).numpy(), written)


def test_index_errors_at_run_time():
    graph = Graph()
    p = graph.parameter(dtypes.float64, TensorShape([None]))
    i = graph.parameter(dtypes.int32, TensorShape([]))
    with graph.as_default():
        made = [p[i], ops.gather(p, i), ops.set_item(p, i, 0.0), ops.take(p, i)]
    for t in made:
        values = [np.zeros(2), np.int32(5)] if t.op.type != "set_item" else [np.zeros(2), np.float64(0), np.int32(5)]
        with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 2"):
            t.op.op.kernel(*values, **t.op.attrs)


@each([1.5, "a", constant(1.5), slice(0.5, None), [0.5], slice("a", None), {}])
def test_no_index(index):
    plain = index.numpy() if isinstance(index, Tensor) else index
    error = _outcome(lambda: X[plain]) if not isinstance(index, slice) else TypeError
    with pytest.raises(error):
        Tensor(X)[index]


def test_index_objects():
    a, inputs = parse((1, slice(None, constant(3)), ..., None))
    b, _ = parse((1, slice(None, 3), ..., None))
    assert a == b and hash(a) == hash(b) and not inputs  # what is known is no input
    assert a != Index((1,)) and a != 3
    assert a.source([]) == "1, :3, ..., None"
    graph = Graph()
    i = graph.parameter(dtypes.int32, TensorShape([]))
    c, inputs = parse((i, slice(i, None, 2)))
    assert inputs == [i, i] and c.source(["p", "q"]) == "p, q::2"
    assert Index(()).source([]) == "()"
    x = np.arange(12).reshape(3, 4)
    for index, _ in (parse((1, ..., None)), parse(slice(None, None, -1)), parse(())):
        np.testing.assert_array_equal(eval(f"x[{index.source([])}]", {"x": x}), x[index.resolve(())])
    assert repr(c) == "Index[input0, input1::2]"


VALUES = [2.7, -2.7, np.float64(2.7), True, 300, -1, 2**40, 1e10, float("nan"), float("inf"), 1j, np.complex64(2 + 1j),
          [1.5, 300.0], [1.5, 2.5], np.array([2.9, 1.1]), np.array([2**40, 1])]  # fmt: skip


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@each(product(["bool", "int8", "uint8", "int32", "int64", "float32", "float64", "complex64"], VALUES))
def test_set_item_casts_as_numpys_assignment(dtype, value):
    a = np.zeros(2, dtype)
    try:
        with np.errstate(all="ignore"):
            a[:] = value
    except (TypeError, ValueError, OverflowError) as refused:
        with pytest.raises(type(refused), match=re.escape(str(refused))):
            ops.set_item(Tensor(np.zeros(2, dtype)), slice(None), value)
        return
    (y,) = check_static(lambda t: ops.set_item(t, slice(None), value), np.zeros(2, dtype))
    assert y.dtype == dtype
    np.testing.assert_array_equal(y.numpy(), a)


def test_set_item_warns_of_imaginary_parts_that_are_lost():
    for x in (np.zeros(2), constant(np.zeros(2))):
        with pytest.warns(np.exceptions.ComplexWarning, match="discards the imaginary part"):
            if isinstance(x, np.ndarray):
                x[0] = np.array([1j])[0]
            else:
                ops.set_item(x, 0, constant(1j))


def test_set_item_checks_what_it_stores():
    x = constant([1, 2, 3])
    assert ops.set_item(x, 0, 5).numpy().tolist() == [5, 2, 3]
    assert ops.set_item(x, 0, True).numpy().tolist() == [1, 2, 3]
    assert ops.set_item(x, slice(0, 2), np.int64(4)).numpy().tolist() == [4, 4, 3]
    assert ops.set_item(ops.ones([2]), 0, constant(3)).numpy().tolist() == [3, 1]
    assert ops.set_item(constant([True, False]), 1, True).numpy().tolist() == [True, True]
    with pytest.raises(ValueError, match="shape"):
        ops.set_item(x, slice(0, 2), constant([1, 2, 3]))
    with pytest.raises(TypeError, match="set_item"):
        x[0] = 5
    base = np.zeros(3)
    t = constant(base)
    ops.set_item(t, 0, 1.0)
    assert t.numpy().tolist() == [0, 0, 0] and base.tolist() == [0, 0, 0]


# -- gather and scatter ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("indices", [1, [2, 0, 2], [[0, 1], [1, -1]], np.zeros((0,), np.int64)], ids=repr)
def test_gather(axis, indices):
    f = lambda x: ops.gather(x, indices, axis)
    (y,) = check_static(f, X)
    np.testing.assert_array_equal(y.numpy(), np.take(X, indices, axis))
    check_gradient(f, X, blurs=["exact", "extents unknown"] + (["rank unknown"] if axis >= 0 else []))


def test_take():
    (y,) = check_static(lambda x: ops.take(x, [5, -1]), X)
    np.testing.assert_array_equal(y.numpy(), np.take(X, [5, -1]))
    assert np.take(Tensor(X), [0], axis=2).shape == [3, 4, 1]
    with pytest.raises(TypeError, match="float"):
        ops.gather(Tensor(X), [0.5])
    with pytest.raises(IndexError, match="size 3"):
        ops.gather(Tensor(X), [3])


def test_take_along_axis():
    order = np.argsort(X, 1)
    f = lambda x: ops.take_along_axis(x, order, 1)
    (y,) = check_static(f, X)
    np.testing.assert_array_equal(y.numpy(), np.take_along_axis(X, order, 1))
    check_gradient(f, X)


def test_gather_nd_and_scatter():
    points = np.array([[0, 1], [2, 3], [0, 1]])
    f = lambda x: ops.gather_nd(x, points)
    (y,) = check_static(f, X)
    np.testing.assert_array_equal(y.numpy(), X[points[:, 0], points[:, 1]])
    check_gradient(f, X)
    g = lambda u: ops.scatter(points, u, [3, 4, 5])
    updates = np.random.default_rng(0).normal(size=(3, 5))
    (z,) = check_static(g, updates)
    expected = np.zeros((3, 4, 5))
    np.add.at(expected, (points[:, 0], points[:, 1]), updates)
    np.testing.assert_array_equal(z.numpy(), expected)
    check_gradient(g, updates)
    assert ops.scatter([[0], [0]], [1, 2], [2]).numpy().tolist() == [3, 0]
    assert ops.gather_nd(Tensor(X), [0, 1]).shape == [5]
    for call, match in [
        (lambda: ops.scatter([[0]], [1, 2], [2]), "updates"),
        (lambda: ops.gather_nd(Tensor(X), [[0] * 4]), "4 entries"),
        (lambda: ops.scatter([[0, 0]], [1], [2]), "2 entries"), (lambda: ops.gather_nd(Tensor(X), 0), "scalar"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=match):
            call()
    with pytest.raises(IndexError):
        ops.scatter([[5]], [1], [2])


def test_scatter_into():
    points, x, u = np.array([[0], [2]]), np.ones((3, 2)), np.array([[2.0, 3.0], [4.0, 5.0]])
    for f, expected in [
        (lambda x, u: ops.scatter_update(x, points, u), [[2, 3], [1, 1], [4, 5]]),
        (lambda x, u: ops.scatter_add(x, points, u), [[3, 4], [1, 1], [5, 6]]),
    ]:
        (y,) = check_static(f, x, u)
        assert y.numpy().tolist() == expected
        check_gradient(f, x, u)


def test_masks():
    x = np.arange(6).reshape(3, 2)
    (y,) = check_static(lambda v: ops.boolean_mask(v, MASK), x)
    np.testing.assert_array_equal(y.numpy(), x[MASK])
    assert ops.boolean_mask(x, [True, False], axis=1).shape == [3, 1]
    (z,) = check_static(ops.argwhere, x > 2)
    np.testing.assert_array_equal(z.numpy(), np.argwhere(x > 2))
    assert z.dtype == "int64"
    for a, b in zip(np.where(Tensor(x) > 2), np.where(x > 2)):
        np.testing.assert_array_equal(a.numpy(), b)
    with pytest.raises(TypeError, match="boolean"):
        ops.boolean_mask(x, [1, 0, 1])


def test_index_add():
    assert ops.index_add([3], [0, 0, 2], constant([1, 2, 3])).numpy().tolist() == [3, 0, 3]
    check_gradient(lambda v: ops.index_add([4], [0, 0, 2], v), [1.0, 2.0, 3.0])
    check_gradient(lambda v: ops.index_add([4, 2], 1, v), [1.0, 2.0])


@each(EXECUTORS)
def test_addends_are_added_one_after_another(executor):
    def added(a, i, v):
        np.add.at(a, i, v)
        np.subtract.at(a, i[:4], v[:4])
        for k in range(2):
            np.add.at(a, i[k:], v[k:] / 3)
        return a

    rng = np.random.default_rng(0)
    a, v = (rng.normal(size=size).astype(np.float32) for size in (5, 30))
    i = rng.integers(-5, 5, 30)
    np.testing.assert_array_equal(al.function(added, executor=executor)(a.copy(), i, v), added(a.copy(), i, v))


def test_addends_are_numbers_of_their_own_dtype():
    def added(a, x):
        np.add.at(a, [0, 0, 1], 0.1)
        np.multiply.at(a, [0, 0, 1], float(x))
        return a

    a = np.linspace(1, 2, 3, dtype=np.float32)
    np.testing.assert_array_equal(al.function(added)(a.copy(), np.array(0.3)), added(a.copy(), np.array(0.3)))


@each(EXECUTORS)
def test_where_an_index_is_out_of_range_nothing_is_changed(executor):
    def added(a, i, v):
        np.add.at(a, i, v)

    def written(a, i, v):
        a[i] = v

    for plain in (added, written):
        a = np.arange(3.0)
        with pytest.raises(IndexError):
            al.function(plain, executor=executor)(a, np.array([0, 2, 9]), np.ones(3))
        assert a.tolist() == [0, 1, 2]


# -- order ------------------------------------------------------------------------------------------------


@each(product([0, -1, None], [False, True]))
def test_sort(axis, descending):
    f = lambda x: ops.sort(x, axis, descending)
    (y,) = check_static(f, X)
    expected = np.sort(X, axis)
    expected = np.flip(expected, -1 if axis is None else axis) if descending else expected
    np.testing.assert_array_equal(y.numpy(), expected)
    check_gradient(f, X)
    ties = np.array([2, 1, 2, 1, 3])
    (order,) = check_static(lambda x: ops.argsort(x, -1, descending), ties)
    assert order.numpy().tolist() == ([4, 0, 2, 1, 3] if descending else [1, 3, 0, 2, 4])
    assert order.dtype == "int64"


def test_top_k():
    values, indices = ops.top_k(constant([[1.0, 3.0, 2.0, 3.0]]), 3)
    assert values.numpy().tolist() == [[3, 3, 2]] and indices.numpy().tolist() == [[1, 3, 2]]
    assert indices.dtype == "int32"
    check_gradient(lambda x: ops.top_k(x, 2).values, X)
    with pytest.raises(ValueError, match="k is 9"):
        ops.top_k(Tensor(X), 9)


def test_search():
    a = np.array([1.0, 2.0, 2.0, 3.0])
    for side in ("left", "right"):
        (y,) = check_static(lambda v: ops.searchsorted(a, v, side), np.array([0.0, 2.0, 9.0]))
        np.testing.assert_array_equal(y.numpy(), np.searchsorted(a, [0, 2, 9], side))
    assert ops.unique(constant([3, 1, 3])).numpy().tolist() == [1, 3]
    assert ops.bincount([0, 2, 2], 4).numpy().tolist() == [1, 0, 2, 0]
    with pytest.raises(ValueError, match="vector"):
        ops.searchsorted(np.zeros((2, 2)), 1.0)
    with pytest.raises(ValueError, match="side"):
        ops.searchsorted(a, 1.0, "middle")
    with pytest.raises(TypeError, match="sorter must be"):
        ops.searchsorted(a, 1.0, sorter=[0.0, 1.0, 2.0, 3.0])
    for sorter, words in ([0, 1], "sorter.size"), ([-1, -2, -3, -4], "out of range"):
        with pytest.raises(ValueError, match=words):
            ops.searchsorted(a, 1.0, sorter=sorter)
