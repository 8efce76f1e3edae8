"""Products, contractions and systems: values, static shapes, slopes."""

from __future__ import annotations

import numpy as np
import pytest
from api import Tensor, constant, ops
from ops_checks import check_gradient, check_static

RANKED = ["exact", "extents unknown", "first unknown"]


def sample(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize("a,b", [
    ((2, 3), (3, 4)), ((3,), (3,)), ((3,), (3, 4)), ((2, 3), (3,)), ((5, 2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)),
    ((1, 2, 3), (5, 3, 4)), ((3,), (5, 3, 4)), ((5, 2, 3), (3,)), ((0, 3), (3, 2)),
])  # fmt: skip
def test_matmul(a, b):
    x, y = sample(*a), sample(*b, seed=1)
    (z,) = check_static(ops.matmul, x, y)
    np.testing.assert_array_equal(z.numpy(), x @ y)
    check_gradient(ops.matmul, x, y, blurs=RANKED)


def test_matmul_forms():
    x, y = sample(3, 2), sample(4, 3)
    z = ops.matmul(Tensor(x), Tensor(y), transpose_a=True, transpose_b=True)
    np.testing.assert_allclose(z.numpy(), x.T @ y.T)
    assert (constant([[1, 2]]) @ constant([[3], [4]])).numpy().tolist() == [[11]]
    assert (np.ones((1, 2), np.float32) @ constant([[3.0], [4.0]])).dtype == "float32"
    assert (constant([1.0, 2.0]) @ constant(np.ones(2))).dtype == "float64"
    with pytest.raises(ValueError, match=r"\(2, 3\).*\(2, 3\)"):
        ops.matmul(ops.zeros([2, 3]), ops.zeros([2, 3]))
    with pytest.raises(ValueError, match="axis"):
        ops.matmul(ops.zeros([2, 3]), 2.0)
    f = lambda a: ops.real(ops.matmul(ops.cast(a, "complex128") * (1 + 2j), ops.complex(a, a * 3)))
    check_gradient(f, sample(2, 2), blurs=RANKED)


@pytest.mark.parametrize("a,b", [((3,), (3,)), ((2, 3), (3, 4)), ((), (2,)), ((2, 3), (4, 3, 5)), ((3,), (4, 3, 5))])
def test_dot(a, b):
    x, y = sample(*a), sample(*b, seed=1)
    (z,) = check_static(ops.dot, x, y, blurs=RANKED)
    np.testing.assert_allclose(z.numpy(), np.dot(x, y))
    check_gradient(ops.dot, x, y, blurs=RANKED)


def test_outer():
    x, y = sample(3), sample(2, 2)
    (z,) = check_static(ops.outer, x, y)
    np.testing.assert_allclose(z.numpy(), np.outer(x, y))
    check_gradient(ops.outer, x, y)


@pytest.mark.parametrize("axes", [0, 1, 2, ([0, 1], [1, 0]), (1, 0)])
def test_tensordot(axes):
    x, y = sample(3, 4, 3), sample(3 if axes in (1, (1, 0)) else 4, 3, 2, seed=1)
    if axes == 2:
        y = sample(4, 3, 2, seed=1)
    if axes == (1, 0):
        y = sample(4, 3, 2, seed=1)
    (z,) = check_static(lambda a, b: ops.tensordot(a, b, axes), x, y, blurs=RANKED)
    np.testing.assert_allclose(z.numpy(), np.tensordot(x, y, axes))


def test_tensordot_does_not_broadcast():
    with pytest.raises(ValueError, match=r"tensordot: shape-mismatch for sum: axis 1 of shape \(2, 1\) against axis 0"):
        ops.tensordot(sample(2, 1), sample(3, 2), 1)


@pytest.mark.parametrize("equation,shapes", [
    ("ij,jk->ik", [(2, 3), (3, 4)]), ("ij,jk", [(2, 3), (3, 4)]), ("i,i->", [(3,), (3,)]), ("ij->ji", [(2, 3)]),
    ("ij->", [(2, 3)]), ("ij->j", [(2, 3)]), ("bij,bjk->bik", [(2, 3, 4), (2, 4, 2)]), ("i,j->ij", [(2,), (3,)]),
    ("ij,j,i->", [(2, 3), (3,), (2,)]), ("...ij,...jk->...ik", [(2, 3, 4), (4, 2)]), ("ij, k -> k", [(2, 3), (2,)]),
    ("ij,ij->ij", [(2, 3), (2, 1)]), ("...i->i...", [(2, 3, 4)]), ("...i", [(2, 3)]),
])  # fmt: skip
def test_einsum(equation, shapes):
    xs = [sample(*s, seed=i) for i, s in enumerate(shapes)]
    f = lambda *v: ops.einsum(equation, *v)
    blurs = RANKED if "." in equation else [*RANKED, "rank unknown"]
    (y,) = check_static(f, *xs, blurs=blurs)
    np.testing.assert_allclose(y.numpy(), np.einsum(equation, *xs), atol=1e-14)
    check_gradient(f, *xs, blurs=RANKED)


def test_einsum_mistakes():
    x = Tensor(sample(2, 3))
    assert ops.einsum("ii", Tensor(np.eye(3))).numpy() == 3
    with pytest.raises(ValueError, match="labels"):
        ops.einsum("ijk->i", x)
    with pytest.raises(ValueError, match="'j'.*3 and 2"):
        ops.einsum("ij,jk->ik", x, x)
    with pytest.raises(ValueError, match="2 tensors"):
        ops.einsum("ij,jk", x)
    check_gradient(lambda v: ops.einsum("ii->i", v), np.eye(2))


def test_large_einsum_uses_the_same_numbers():
    a, b = sample(40, 50), sample(50, 60)
    np.testing.assert_allclose(ops.einsum("ij,jk->ik", a, b).numpy(), a @ b, rtol=1e-10)


def positive(n, *batch):
    m = sample(*batch, n, n)
    return m @ np.swapaxes(m, -1, -2) + n * np.eye(n)


@pytest.mark.parametrize("batch", [(), (2,)])
def test_systems(batch):
    a = positive(3, *batch)
    for name in ("inv", "det"):
        (y,) = check_static(getattr(ops, name), a)
        np.testing.assert_array_equal(y.numpy(), getattr(np.linalg, name)(a))
        check_gradient(getattr(ops, name), a, blurs=RANKED, rtol=1e-4)
    b = sample(*batch, 3, 2)
    (x,) = check_static(ops.solve, a, b)
    np.testing.assert_allclose(a @ x.numpy(), b, atol=1e-12)
    check_gradient(ops.solve, a, b, blurs=RANKED, rtol=1e-4)
    check_static(ops.cholesky, a)
    # the factor is a function of the symmetric part
    check_gradient(lambda m: ops.cholesky((m + ops.swapaxes(m, -1, -2)) / 2), a, blurs=RANKED, rtol=1e-4)


def test_systems_of_vectors_and_integers():
    a, b = positive(3), sample(3)
    (x,) = check_static(ops.solve, a, b)
    np.testing.assert_allclose(a @ x.numpy(), b)
    check_gradient(ops.solve, a, b, blurs=RANKED)
    assert ops.inv(constant([[2, 0], [0, 4]])).numpy().tolist() == [[0.5, 0], [0, 0.25]]
    with pytest.raises(ValueError, match="square"):
        ops.inv(ops.zeros([2, 3]))
    with pytest.raises(ValueError, match="solve"):
        ops.solve(ops.eye(3), ops.zeros([2]))
    with pytest.raises(np.linalg.LinAlgError):
        ops.inv(ops.zeros([2, 2]))


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_determinants_of_singular_matrices(rows):
    x = np.arange(2.0 * rows * rows).reshape(2, rows, rows) * (rows > 1)
    x[1] = 0
    check_gradient(ops.det, x, blurs=["exact", "first unknown"])


def test_the_gradient_of_a_large_determinant_needs_the_inverse():
    check_gradient(ops.det, np.eye(4) + 0.1, blurs=["exact", "extents unknown"])
    with pytest.raises(np.linalg.LinAlgError):
        check_gradient(ops.det, np.ones((4, 4)), blurs=["exact"])
