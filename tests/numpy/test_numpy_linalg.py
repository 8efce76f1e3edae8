"""``np.linalg`` and ``np.fft`` in loops: every executor, gradients, failures, extents that are not known."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from each_case import each
from left_to_python import refused_or_plain

_rng = np.random.default_rng(0)
SQUARE = _rng.normal(size=(3, 3)) + 2 * np.eye(3)
TALL = _rng.normal(size=(5, 3))
PYTHON = ("auto", "sequential", "dataflow")


def _loop(x, n):
    total = 0.0
    factors = np.linalg.svd(x)
    for i in range(n):
        factors = np.linalg.svd(x + i, full_matrices=False)
        q, r = np.linalg.qr(x)
        sign, size = np.linalg.slogdet(x)
        total = total + np.sum(factors.S) + sign * size + np.linalg.norm(np.fft.rfft(q[:, 0])) + r[0, 0]
        x = x * 1.01
    return total, factors


@each(PYTHON)
def test_in_a_loop(executor):
    total, factors = al.function(_loop, executor=executor)(SQUARE, np.int64(4))
    wanted, wanted_factors = _loop(SQUARE, 4)
    np.testing.assert_allclose(total, wanted, rtol=1e-12)
    assert type(factors) is type(wanted_factors)
    np.testing.assert_allclose(factors.S, wanted_factors.S, rtol=1e-12)


def _value(x, n):
    total = 0.0
    for _ in range(n):
        w, v = np.linalg.eigh(x @ x.T)
        q, r = np.linalg.qr(x)
        spectrum = np.fft.fft(q[:, 0] * w)
        total = total + np.sum(np.real(spectrum * np.conj(spectrum)) ** 2) + np.linalg.norm(np.linalg.pinv(x), "nuc")
        total = total + r[1, 2] * v[0, 0] ** 2
        x = x * 1.1
    return total


@each(PYTHON)
def test_gradients_in_a_loop(executor):
    way, step = _rng.normal(size=(3, 3)), 1e-6
    slope = al.function(al.grad(_value), executor=executor)(SQUARE, np.int64(3))
    wanted = (_value(SQUARE + step * way, 3) - _value(SQUARE - step * way, 3)) / (2 * step)
    np.testing.assert_allclose(np.sum(np.asarray(slope) * way), wanted, rtol=1e-6)


@each(PYTHON)
def test_a_matrix_that_becomes_singular(executor):
    def inverted(x, n):
        for _ in range(n):
            x = np.linalg.inv(x)
            x = x * 0
        return x

    with pytest.raises(np.linalg.LinAlgError, match=r"Singular matrix") as failure:
        al.function(inverted, executor=executor)(SQUARE, np.int64(3))
    assert "in iteration 1 of the loop" in "".join(failure.value.__notes__)


def test_eigenvalues_of_real_matrices_are_of_the_dtype_of_their_values():
    for f in (np.linalg.eig, np.linalg.eigvals):
        words = rf"numpy.linalg.{f.__name__} of a real matrix gives real or complex numbers"
        refused_or_plain(lambda x, f=f: f(x), words, SQUARE)
    turned = np.array([[0.0, -1.0], [1.0, 0.0]])
    for x in (turned, turned @ turned):
        found = np.asarray(np.linalg.eigvals(al.constant(x)))
        assert found.dtype == np.linalg.eigvals(x).dtype and np.array_equal(found, np.linalg.eigvals(x))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.linalg.svd(x, full_matrices=False),
        lambda x: np.linalg.svd(x),
        lambda x: np.linalg.qr(x),
        lambda x: np.linalg.pinv(x),
        lambda x: np.linalg.lstsq(x, x[:, 0]),
        lambda x: np.fft.rfft(x),
        lambda x: np.fft.irfft(x, axis=0),
        lambda x: np.fft.fft2(x, (4, 6)),
        lambda x: np.fft.fftshift(x),
        lambda x: np.kron(x, x),
        lambda x: np.linalg.multi_dot([x.T, x, x.T]),
        lambda x: np.linalg.matrix_power(x.T @ x, 0),
        lambda x: np.einsum("ij,ij->i", x, x),
    ],
)
def test_extents_that_are_not_known(f):
    decorated = al.function(f, input_signature=[al.TensorSpec([None, None], al.float64)])
    for x in (TALL, TALL.T):
        found, wanted = decorated(x), f(x)
        for one, expected in zip(*[v if isinstance(v, tuple) else (v,) for v in (found, wanted)], strict=True):
            np.testing.assert_allclose(np.asarray(one), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: al.grad(lambda x: np.sum(np.linalg.qr(x)[0]))(x), "numpy.linalg.qr: a gradient needs the extents"),
        (lambda x: al.grad(lambda x: np.sum(np.linalg.qr(x, "complete")[0]))(x), "qr: a gradient needs the extents"),
        (
            lambda x: al.grad(lambda x: np.sum(np.linalg.svd(x)[0]))(x),
            "svd: a gradient of full_matrices=True needs the",
        ),
        (lambda x: al.grad(lambda x: np.sum(np.linalg.lstsq(x, x[:, 0])[0]))(x), "lstsq: a gradient needs the extents"),
        (lambda x: al.grad(lambda x: np.sum(abs(np.fft.rfft(x))))(x), "rfft: a gradient needs the extent of the axis"),
        (lambda x: al.grad(lambda x: np.sum(np.fft.irfft(x)))(x), "irfft: a gradient needs the extent of the axis"),
        (lambda x: np.linalg.pinv(x, rtol=None), "pinv: rtol=None needs the extents of the matrix"),
        (lambda x: np.linalg.tensorinv(x, 1), "tensorinv: the shape of the operand must be known"),
        (lambda x: np.linalg.tensorsolve(x, x[0]), "tensorsolve: the shape of the operand must be known"),
        (lambda x: np.einsum_path("ij,ij", x, x), "einsum_path: the shapes of the operands must be known"),
    ],
)
def test_what_needs_extents_says_so(f, message):
    with pytest.raises(ValueError, match=message):
        al.function(f, input_signature=[al.TensorSpec([None, None], al.float64)])(al.constant(TALL))


@pytest.mark.parametrize(
    ("f", "error", "message"),
    [
        (lambda x: np.linalg.cross(x[:, :2], x[:, :2]), ValueError, "must be .arrays of. 3-dimensional vectors, but"),
        (lambda x: np.linalg.outer(x, x), ValueError, "Input arrays must be one-dimensional, but they are x1.ndim=2"),
        (lambda x: np.linalg.matrix_power(x.T @ x, 1.5), TypeError, "exponent must be an integer"),
        (lambda x: np.linalg.tensorinv(x, 0), ValueError, "Invalid ind argument"),
        (lambda x: np.linalg.eigh(x.T @ x, "X"), ValueError, "UPLO argument must be 'L' or 'U'"),
        (lambda x: np.linalg.qr(x, "bad"), ValueError, "Unrecognized mode 'bad'"),
        (lambda x: np.linalg.pinv(x, 1e-3, rtol=1e-3), ValueError, "`rtol` and `rcond` can't be both set"),
        (lambda x: np.linalg.matrix_rank(x, 1e-3, rtol=1e-3), ValueError, "`tol` and `rtol` can't be both set"),
        (lambda x: np.linalg.multi_dot([x]), ValueError, "Expecting at least two arrays"),
        (lambda x: np.linalg.multi_dot([x, x[None], x]), np.linalg.LinAlgError, "3-dimensional array given"),
        (lambda x: np.linalg.lstsq(x[None], x), np.linalg.LinAlgError, "Array must be two-dimensional"),
        (lambda x: np.linalg.lstsq(x, x[0]), np.linalg.LinAlgError, "Incompatible dimensions"),
        (lambda x: np.linalg.tensorsolve(x, x[0]), np.linalg.LinAlgError, "Input arrays must satisfy the requirement"),
        (lambda x: np.linalg.det(x), np.linalg.LinAlgError, "Last 2 dimensions of the array must be square"),
        (lambda x: np.linalg.svd(x[0]), np.linalg.LinAlgError, "1-dimensional array given. Array must be at least two"),
        (
            lambda x: np.linalg.inv((x.T @ x).astype(np.float16)),
            TypeError,
            "array type float16 is unsupported in linalg",
        ),
        (
            lambda x: np.linalg.matrix_transpose(x[0]),
            ValueError,
            "array must be at least 2-dimensional, but it is 1",
        ),
        (lambda x: np.fft.fft(x, norm="bad"), ValueError, "Invalid norm value bad"),
        (lambda x: np.fft.fftn(x, (2, 2), (0,)), ValueError, "Shape and axes have different lengths"),
        (lambda x: np.fft.fft(x, 0), ValueError, "Invalid number of FFT data points"),
        (lambda x: np.einsum(), ValueError, "must specify the einstein sum subscripts string and at least one operand"),
        (lambda x: np.einsum("ij", x, other=1), TypeError, "unexpected keyword argument 'other'"),
        (
            lambda x: np.einsum("ij,j", x, x[0], dtype=int),
            TypeError,
            "could not be cast .* according to the rule 'safe'",
        ),
        (lambda x: np.vecdot(x, x, axis=0, axes=[0, 0, ()]), TypeError, "cannot specify both 'axis' and 'axes'"),
        (lambda x: np.vecdot(x, x, axes=[0]), ValueError, "axes should be a list with an entry for all 3 inputs"),
        (
            lambda x: np.vecdot(x, x[0, :2]),
            ValueError,
            "has a mismatch in its core dimension 0.* .size 2 is",
        ),
        (lambda x: np.vecdot(x, x[0, 0]), ValueError, "does not have enough dimensions .has 0, "),
    ],
)
def test_what_is_refused(f, error, message):
    with pytest.raises(error, match=message):
        al.function(f)(TALL)


def test_arguments_that_are_not_supported():
    refused_or_plain(lambda x: np.einsum("ij", x, order="F"), "einsum does not take the argument 'order'", TALL)
    words = "'axes'.*move the axes of the operands instead"
    refused_or_plain(lambda x: np.matmul(x, x.T, axes=[0, 1, 2]), words, TALL)
