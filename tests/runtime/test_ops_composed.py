"""Functions made of others, against NumPy's, called through NumPy's names."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from api import Tensor, constant, ops
from executors import needs_native
from ops_checks import check_gradient, check_static

X, Y = (np.random.default_rng(i).normal(size=(2, 3)) for i in range(2))
RANKED = ["exact", "extents unknown", "first unknown"]

CALLS = [
    (np.logaddexp, (X, Y)), (np.isclose, (X, X + 1e-9)), (np.allclose, (X, X + 1e-9)), (np.allclose, (X, Y)),
    (np.count_nonzero, (X > 0,)), (np.diff, (X,)), (np.vstack, ([X, Y[0]],)), (np.hstack, ([X, Y],)),
    (np.hstack, ([X[0], Y[0]],)), (np.inner, (X, Y)), (np.vdot, (X, Y)), (np.average, (X,)), (np.ptp, (X,)),
    (np.cross, (X, Y)), (np.array_equal, (X, X)), (np.array_equal, (X, Y)), (np.array_equal, (X, X[0])),
    (np.nonzero, (X > 0,)), (np.meshgrid, (X[0], Y[:, 0])), (np.atleast_1d, (X,)),
]  # fmt: skip


@pytest.mark.parametrize("f,args", CALLS, ids=[f.__name__ for f, _ in CALLS])
def test_numpys_names(f, args):
    ours = f(*[[Tensor(v) for v in a] if isinstance(a, list) else Tensor(a) for a in args])
    theirs = f(*args)
    if not isinstance(ours, (tuple, list)):
        ours, theirs = [ours], [theirs]
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(np.asarray(a), b, rtol=1e-12)


@pytest.mark.parametrize("f,arrays", [
    (ops.logaddexp, [X, Y]), (ops.diff, [X]), (lambda x: ops.diff(x, 2, 0), [np.arange(8.0).reshape(4, 2) ** 2]),
    (lambda x, y: ops.vstack([x, y[0]]), [X, Y]), (lambda x, y: ops.hstack([x, y]), [X, Y]), (ops.inner, [X, Y]),
    (ops.vdot, [X, Y]), (lambda x, w: ops.average(x, 1, w), [X, Y[0] ** 2]), (ops.ptp, [X]), (ops.cross, [X, Y]),
    (lambda x, y: ops.meshgrid(x, y, indexing="ij"), [X[0], Y[0, :2]]),
    (lambda x, w: ops.average(x, None, w), [X, Y**2]),
])  # fmt: skip
def test_static_shapes_and_slopes(f, arrays):
    check_static(f, *arrays, blurs=RANKED)
    check_gradient(f, *arrays, blurs=RANKED)


def test_corners():
    inf, nan = np.inf, np.nan
    assert ops.logaddexp(constant(inf), constant(inf)).numpy() == inf
    assert ops.logaddexp(constant(-inf), constant(-inf)).numpy() == -inf
    assert ops.logaddexp(constant(1000.0), constant(0.0)).numpy() == 1000
    assert ops.isclose(constant([inf, nan, 1.0]), [inf, nan, inf]).numpy().tolist() == [True, False, False]
    assert ops.isclose(constant([nan]), [nan], equal_nan=True).numpy().all()
    assert ops.count_nonzero(constant([0, 2])).dtype == "int64"
    assert ops.diff(constant([True, False, False])).numpy().tolist() == [True, False]
    assert ops.hstack(constant([1, 2])).numpy().tolist() == [1, 2]
    assert ops.vdot(constant([1j]), constant([1j])).numpy() == 1
    assert ops.inner(constant(2), constant([1, 2])).numpy().tolist() == [2, 4]
    with pytest.raises(ValueError, match="indexing"):
        ops.meshgrid([1], [2], indexing="xx")


@needs_native
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_shares_of_no_elements_are_none(shape, dtype):
    x = np.zeros(shape, dtype)
    for f in (al.softmax, al.log_softmax):
        for executor in ("sequential", "native"):
            made = al.function(f, executor=executor, autograph=False)(al.constant(x))
            assert made.numpy().shape == shape and made.dtype == dtype
