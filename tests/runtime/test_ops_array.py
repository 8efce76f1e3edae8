"""Creation and manipulation: values, static shapes with dynamic arguments, slopes."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from api import Graph, Tensor, TensorShape, constant, dtypes, known_int, ops
from each_case import each
from executors import EXECUTORS
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from ops_checks import check_gradient, check_static

X = np.random.default_rng(0).normal(size=(2, 3, 4))


def cases():
    yield "reshape", lambda x: ops.reshape(x, [4, -1]), lambda x: x.reshape(4, -1)
    yield "reshape twice", lambda x: ops.reshape(ops.ravel(x), TensorShape([2, 12])), lambda x: x.reshape(2, 12)
    yield "reshape dynamic", lambda x: ops.reshape(x, [ops.shape(x)[0], -1]), lambda x: x.reshape(2, 12)
    yield "ravel", ops.ravel, np.ravel
    yield "flatten", ops.flatten, np.ravel
    yield "expand_dims", lambda x: ops.expand_dims(x, 1), lambda x: np.expand_dims(x, 1)
    yield "expand_dims many", lambda x: ops.expand_dims(x, (0, -1)), lambda x: np.expand_dims(x, (0, -1))
    yield "squeeze", lambda x: ops.squeeze(x[:, :1], 1), lambda x: np.squeeze(x[:, :1], 1)
    yield "squeeze all", lambda x: ops.squeeze(x[:1, :1]), lambda x: np.squeeze(x[:1, :1])
    yield "transpose", ops.transpose, np.transpose
    yield "transpose axes", lambda x: ops.transpose(x, [1, 2, 0]), lambda x: np.transpose(x, [1, 2, 0])
    yield "transpose perm", lambda x: ops.transpose(x, perm=[0, 2, 1]), lambda x: np.transpose(x, [0, 2, 1])
    yield "flip", ops.flip, np.flip
    yield "flip axis", lambda x: ops.flip(x, -1), lambda x: np.flip(x, -1)
    yield "roll", lambda x: ops.roll(x, 1, 0), lambda x: np.roll(x, 1, 0)
    yield "roll flat", lambda x: ops.roll(x, -5), lambda x: np.roll(x, -5)
    yield "roll many", lambda x: ops.roll(x, [1, 2], (0, 2)), lambda x: np.roll(x, (1, 2), (0, 2))
    yield "concat", lambda x: ops.concat([x, x * 2], 1), lambda x: np.concatenate([x, x * 2], 1)
    yield "concat last", lambda x: ops.concat([x, x[..., :1]], -1), lambda x: np.concatenate([x, x[..., :1]], -1)
    yield "stack", lambda x: ops.stack([x, x * 2], 1), lambda x: np.stack([x, x * 2], 1)
    yield "stack last", lambda x: ops.stack([x, x * 2], -1), lambda x: np.stack([x, x * 2], -1)
    yield "unstack", lambda x: ops.unstack(x, 3, 1), lambda x: [x[:, i] for i in range(3)]
    yield "unstack some", lambda x: ops.unstack(x, 3, 1)[1], lambda x: x[:, 1]
    yield "split", lambda x: ops.split(x, 2, 2), lambda x: np.split(x, 2, 2)
    yield "split sizes", lambda x: ops.split(x, [1, 3], 2)[1] * 2, lambda x: x[..., 1:] * 2
    yield "tile", lambda x: ops.tile(x, [1, 2, 3]), lambda x: np.tile(x, [1, 2, 3])
    yield "repeat", lambda x: ops.repeat(x, 2, 1), lambda x: np.repeat(x, 2, 1)
    yield "repeat each", lambda x: ops.repeat(x, [1, 0, 2], 1), lambda x: np.repeat(x, [1, 0, 2], 1)
    yield "repeat flat", lambda x: ops.repeat(x, 2), lambda x: np.repeat(x, 2)
    yield "pad", lambda x: ops.pad(x, [(1, 0), (0, 2), (1, 1)]), lambda x: np.pad(x, [(1, 0), (0, 2), (1, 1)])
    yield "broadcast_to", lambda x: ops.broadcast_to(x, [5, 2, 3, 4]), lambda x: np.broadcast_to(x, (5, 2, 3, 4))
    yield "tril", lambda x: ops.tril(x, 1), lambda x: np.tril(x, 1)
    yield "triu", ops.triu, np.triu
    yield "diagonal", lambda x: ops.diagonal(x, 1), lambda x: np.diagonal(x, 1, -2, -1)
    yield "diagonal below", lambda x: ops.diagonal(x, -1), lambda x: np.diagonal(x, -1, -2, -1)
    yield "trace", ops.trace, lambda x: np.trace(x, 0, -2, -1)
    yield "zeros_like", ops.zeros_like, np.zeros_like
    yield "ones_like", ops.ones_like, np.ones_like
    yield "full_like", lambda x: ops.full_like(x, 3), lambda x: np.full_like(x, 3)


CASES = list(cases())
NEED_RANK = {"tile", "repeat", "repeat each", "pad"}


@pytest.mark.parametrize("name,f,reference", CASES, ids=[c[0] for c in CASES])
def test_forms(name, f, reference):
    got = check_static(f, X)
    expected = reference(X)
    expected = expected if isinstance(expected, list) else [expected]
    for g, e in zip(got, expected):
        np.testing.assert_array_equal(g.numpy(), e)
    blurs = ["exact", "extents unknown", "first unknown"] + ([] if name in NEED_RANK else ["rank unknown"])
    check_gradient(f, X[:, :, :] if "split" in name or "reshape" in name or "broadcast" in name else X, blurs=blurs)


@pytest.mark.parametrize("f,reference", [
    (lambda x: ops.swapaxes(x, 0, 2), lambda x: np.swapaxes(x, 0, 2)),
    (lambda x: ops.moveaxis(x, 0, -1), lambda x: np.moveaxis(x, 0, -1)),
    (lambda x: ops.moveaxis(x, (0, 1), (2, 0)), lambda x: np.moveaxis(x, (0, 1), (2, 0))),
])  # fmt: skip
def test_moving_axes(f, reference):
    blurs = ["exact", "extents unknown"]
    (y,) = check_static(f, X, blurs=blurs)
    np.testing.assert_array_equal(y.numpy(), reference(X))
    check_gradient(f, X, blurs=blurs)
    with pytest.raises(ValueError, match="rank"):
        check_static(f, X, blurs=["rank unknown"])


@each(["reflect", "SYMMETRIC", "edge", "wrap"])
def test_pad_modes(mode):
    f = lambda x: ops.pad(x, [(1, 2), (0, 1)], mode)
    (y,) = check_static(f, X[0], blurs=["exact"])
    np.testing.assert_array_equal(y.numpy(), np.pad(X[0], [(1, 2), (0, 1)], mode.lower()))
    check_gradient(f, X[0], blurs=["exact"])


def test_padding_may_be_another_at_each_end():
    for widths in (2, (2, 1), ((1, 0), (0, 2))):
        for values in ((0, 0), (3, 4), ((1, 2), (3, 4)), [5], np.array([1, 2])):
            theirs = np.pad(X[0], widths, constant_values=values)
            np.testing.assert_array_equal(ops.pad(constant(X[0]), widths, constant_values=values).numpy(), theirs)
    with Graph(), pytest.raises(ValueError, match="several constant_values need paddings that are known"):
        n = al.placeholder("int32", ())
        ops.pad(X[0], [[0, n], [n, 0]], constant_values=(1, 2))


def test_pad_forms():
    x = constant([[1, 2]])
    assert ops.pad(x, 1, constant_values=7).numpy().tolist() == [[7] * 4, [7, 1, 2, 7], [7] * 4]
    assert ops.pad(x, (0, 1)).shape == [2, 3]
    assert ops.pad(x, constant([[0, 1], [1, 0]])).numpy().tolist() == [[0, 1, 2], [0, 0, 0]]
    f = lambda v, c: ops.pad(v, [(1, 0)], constant_values=c)
    check_gradient(f, [1.0, 2.0], 3.0, blurs=["exact", "extents unknown"])
    with pytest.raises(ValueError, match="pairs"):
        ops.pad(x, [(1, 1)] * 3)


def test_scalars():
    for f in (ops.transpose, ops.flip, lambda x: ops.tile(x, []), lambda x: ops.broadcast_to(x, []), ops.squeeze):
        (y,) = check_static(f, np.float64(2))
        assert y.numpy() == 2 and isinstance(y.numpy(), np.generic)
    assert ops.stack([1.0, 2.0]).numpy().tolist() == [1, 2]
    assert ops.unstack(constant([1, 2]))[1].numpy() == 2
    with pytest.raises(ValueError, match="stack"):
        ops.concat([1, 2])


# -- shapes as arguments ----------------------------------------------------------------------------------


def test_dynamic_extents():
    x = np.zeros((2, 3))

    def f(x, n):
        s = ops.shape(x)
        return (
            ops.zeros([n, 3]), ops.ones(s), ops.full([s[0], n], 7), ops.reshape(x, [n, -1]), ops.tile(x, [n, 1]),
            ops.broadcast_to(x, [n, 2, 3]), ops.range(n), ops.zeros(ops.stack([n, 4])), ops.eye(n),
            ops.zeros(ops.concat([s, [2]], 0)), ops.one_hot([0, 1], n), ops.zeros(n),
        )  # fmt: skip

    got = check_static(f, x, np.int32(3))
    assert [g.shape.as_list() for g in got] == [
        [3, 3], [2, 3], [2, 3], [3, 2], [6, 3], [3, 2, 3], [3], [3, 4], [3, 3], [2, 3, 2], [2, 3], [3],
    ]  # fmt: skip


def test_partial_knowledge_of_shapes():
    graph = Graph()
    x = graph.parameter(dtypes.float32, TensorShape([None, 3]))
    n = graph.parameter(dtypes.int32, TensorShape([]))
    with graph.as_default():
        s = ops.shape(x)
        assert ops.zeros([n, 3]).shape == [None, 3]
        assert ops.zeros(s).shape == [None, 3]
        assert ops.zeros([s[1], s[0]]).shape == [3, None]
        assert ops.zeros(ops.concat([s, [2]], 0)).shape == [None, 3, 2]
        assert ops.zeros(ops.cast(s, "int64")[::-1]).shape == [3, None]
        assert ops.zeros(s[:1]).shape == [None]
        assert ops.reshape(x, [-1]).shape == [None]
        assert ops.reshape(ops.zeros([4, 3]), [n, 6]).shape == [2, 6]
        assert known_int(s[1]) == 3
        assert ops.shape(ops.zeros([2, 3])).constant_value().tolist() == [2, 3]
        assert ops.rank(x).constant_value() == 2
        assert ops.size(ops.zeros([2, 3])).constant_value() == 6
        assert ops.concat([x, x], 0).shape == [None, 3]
        assert ops.concat([x, x], 1).shape == [None, 6]
        assert ops.broadcast_to(x, [n, n, 3]).shape == [None, None, 3]
        assert ops.range(n).shape == [None]
        assert ops.range(2, 9, 3).shape == [3]
        assert ops.expand_dims(x, -1).shape == [None, 3, 1]


def test_shape_dtypes():
    x = ops.zeros([2, 3])
    assert ops.shape(x).dtype == ops.size(x).dtype == ops.rank(x).dtype == "int32"
    assert ops.shape(x, "int64").dtype == "int64"
    for f in (ops.shape, ops.size, ops.rank):
        check_static(f, np.zeros((2, 3)))


@pytest.mark.parametrize("make,match", [
    (lambda: ops.zeros([-1]), "negative"),
    (lambda: ops.zeros([1.5]), "integers"),
    (lambda: ops.zeros([True]), "integers"),
    (lambda: ops.zeros(constant([1.0])), "float32"),
    (lambda: ops.zeros(constant([[1]])), "vector"),
    (lambda: ops.reshape(constant([1, 2, 3]), [2, -1]), "reshape.*(3,)"),
    (lambda: ops.reshape(constant([1, 2, 3]), [2]), "reshape.*(3,)"),
    (lambda: ops.reshape(constant([1, 2, 3]), [-1, -1]), "one -1"),
    (lambda: ops.squeeze(constant([1, 2]), 0), "squeeze"),
    (lambda: ops.transpose(ops.zeros([2, 3]), [0]), "permutation"),
    (lambda: ops.concat([ops.zeros([2, 3]), ops.zeros([3, 2])], 0), r"concat.*\(2, 3\).*\(3, 2\)"),
    (lambda: ops.stack([ops.zeros([2]), ops.zeros([3])]), r"stack.*\(2,\).*\(3,\)"),
    (lambda: ops.split(ops.zeros([5]), 2), "split"),
    (lambda: ops.split(ops.zeros([5]), [2, 2]), "split"),
    (lambda: ops.unstack(ops.zeros([3]), 2), "unstack"),
    (lambda: ops.broadcast_to(ops.zeros([3]), [2]), "broadcast_to"),
    (lambda: ops.concat([]), "at least one"),
    (lambda: ops.tril(ops.zeros([3])), "rank 2"),
    (lambda: ops.range(0, 5, 0), "zero"),
    (lambda: ops.pad(ops.zeros([3]), [(1, 1)], "odd"), "mode"),
])  # fmt: skip
def test_mistakes(make, match):
    with pytest.raises((ValueError, TypeError), match=match):
        make()


# -- creation ---------------------------------------------------------------------------------------------


@each((args,) for args in ((5,), (2, 7), (2, 9, 3), (9, 2, -3), (2, 2), (0.0, 1.0, 0.25), (1, 0, -0.3)))
def test_range(args):
    y = ops.range(*args)
    np.testing.assert_allclose(y.numpy(), np.arange(*args), rtol=1e-6)
    assert y.dtype == ("int32" if all(isinstance(a, int) for a in args) else "float32")
    graph = Graph()
    with graph.as_default():
        assert ops.range(*args).shape == y.shape
    check_static(lambda n: ops.range(n), np.int64(4))
    assert ops.range(3, dtype="float64").dtype == "float64"
    assert ops.arange(constant(2), 5).numpy().tolist() == [2, 3, 4]
    assert ops.range(constant(np.int8(-128)), np.int8(127)).shape == [255]


def test_creation():
    assert ops.zeros([2, 2]).dtype == "float32" and ops.ones(3, "int64").dtype == "int64"
    assert ops.full([2], 7).dtype == "int32" and ops.full([2], 1.5, "float64").numpy().tolist() == [1.5, 1.5]
    np.testing.assert_array_equal(ops.eye(2, 3, 1).numpy(), np.eye(2, 3, 1))
    np.testing.assert_allclose(ops.linspace(0.0, 1.0, 5).numpy(), np.linspace(0, 1, 5))
    check_static(lambda a, b: ops.linspace(a, b, 4), 0.0, 1.0)
    check_gradient(lambda a, b: ops.linspace(a, b, 4), 0.5, 2.0)
    check_gradient(lambda v: ops.full([2, 3], v), 0.5)
    big = ops.zeros([1 << 9, 1 << 9])
    assert big.shape == [512, 512] and not big.numpy().any()
    with pytest.raises(TypeError):
        ops.zeros([2], "int32") + ops.full([2], 0.5, "int32")
    graph = Graph()
    with graph.as_default():
        assert ops.zeros([2]).op.type == "Const" and ops.zeros([1 << 20]).op.type == "fill"


def test_one_hot():
    assert ops.one_hot([0, 2, 5], 3).numpy().tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 0]]
    assert ops.one_hot([0, 1], 3, axis=0).shape == [3, 2]
    assert ops.one_hot([[0, 1]], 3, on_value=5, off_value=-1).numpy().tolist() == [[[5, -1, -1], [-1, 5, -1]]]
    assert ops.one_hot([0], 2).dtype == "float32" and ops.one_hot([0], 2, dtype="int32").dtype == "int32"


def test_diag():
    for k in (-1, 0, 2):
        f = lambda v: ops.diag(v, k)
        (y,) = check_static(f, np.array([1.0, 2.0, 3.0]), blurs=["exact", "extents unknown"])
        np.testing.assert_array_equal(y.numpy(), np.diag([1.0, 2.0, 3.0], k))
        check_gradient(f, [1.0, 2.0], blurs=["exact", "extents unknown"])
        check_gradient(lambda m: ops.diag(m, k), X[0], blurs=["exact", "extents unknown"])


@settings(max_examples=40, deadline=None)
@given(x=hnp.arrays(np.int32, hnp.array_shapes(max_dims=4, max_side=4)), data=st.data())
def test_reshape_and_transpose_agree_with_numpy(x, data):
    axes = data.draw(st.permutations(range(x.ndim)))
    (y,) = check_static(lambda v: ops.transpose(ops.reshape(v, x.shape), axes), x)
    np.testing.assert_array_equal(y.numpy(), x.transpose(axes))


def test_tensors_in_lists():
    a = Tensor(np.float32(1))
    assert ops.concat([[a, 2.0], [3.0]]).numpy().tolist() == [1, 2, 3]
    assert ops.stack([a, 2]).dtype == "float32"
    assert ops.concat([constant([1]), constant([2.5])]).dtype == "float64"
    assert ops.concat(ops.ones([2, 3])).shape == [6]


@each(EXECUTORS)
def test_filled_tensors_begin_at_a_line_of_the_cache_and_arrays_own_their_memory(executor):
    def count(zeros):
        x = zeros((1000, 100), np.int32)
        for i in range(al.constant(3)):
            x += i
        return x

    tensors = [al.function(lambda: count(al.zeros), executor=executor)().numpy() for _ in range(4)]
    assert all(t.ctypes.data % 64 == 0 for t in tensors) and tensors[0].tolist() == [[3] * 100] * 1000
    made = al.function(lambda: count(np.zeros), executor=executor)()
    assert made.base is None and made.tolist() == [[3] * 100] * 1000
