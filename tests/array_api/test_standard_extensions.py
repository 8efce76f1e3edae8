"""The extensions of the array API: linear algebra and Fourier transforms give what NumPy gives."""

from __future__ import annotations

from itertools import product

import autoloop as al
import numpy as np
import pytest
from each_case import each
from test_standard_values import COMPLEX, FLOATS, NUMBERS, REAL, check, same, sample

MATRICES = {
    "cholesky": lambda xp, x: xp.linalg.cholesky(x),
    "upper cholesky": lambda xp, x: xp.linalg.cholesky(x, upper=True),
    "det": lambda xp, x: xp.linalg.det(x),
    "diagonal": lambda xp, x: xp.linalg.diagonal(x, offset=1),
    "eigh": lambda xp, x: xp.linalg.eigh(x).eigenvalues,
    "eigvalsh": lambda xp, x: xp.linalg.eigvalsh(x),
    "inv": lambda xp, x: xp.linalg.inv(x),
    "matrix_rank": lambda xp, x: xp.linalg.matrix_rank(x),
    "matrix_power": lambda xp, x: [xp.linalg.matrix_power(x, n) for n in (0, 1, 3, -1)],
    "pinv": lambda xp, x: xp.linalg.pinv(x),
    "qr": lambda xp, x: xp.matmul(*xp.linalg.qr(x)),
    "slogdet": lambda xp, x: list(xp.linalg.slogdet(x)),
    "solve": lambda xp, x: [xp.linalg.solve(x, x[0, 0]), xp.linalg.solve(x, x[0]), xp.linalg.solve(x, x)],
    "svd": lambda xp, x: xp.linalg.svd(x).S,
    "svdvals": lambda xp, x: xp.linalg.svdvals(x),
    "trace": lambda xp, x: xp.linalg.trace(x, offset=1, dtype=xp.complex128),
    "norms": lambda xp, x: [
        xp.linalg.matrix_norm(x, ord=ord, keepdims=keepdims)
        for ord in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)
        for keepdims in (False, True)
    ],
    "vector norms": lambda xp, x: [
        xp.linalg.vector_norm(x, ord=ord, axis=axis, keepdims=axis == 0)
        for ord in (0, 1, 2, 3, 0.5, -1, np.inf, -np.inf)
        for axis in (None, 0, -1)
    ],
}


@each(product(MATRICES, FLOATS))
def test_linear_algebra(name, dtype):
    x = sample(dtype, (2, 3, 3))
    x = (x @ np.conj(np.swapaxes(x, -1, -2)) + 3 * np.eye(3)).astype(dtype)
    ours, theirs = MATRICES[name](al, al.asarray(x)), MATRICES[name](np, x)
    for one, other in zip(ours, theirs) if isinstance(theirs, list) else [(ours, theirs)]:
        other = np.asarray(other)
        assert one.dtype == other.dtype and one.shape == other.shape
        wide = 2e-3 if dtype in ("float32", "complex64") else 1e-9
        np.testing.assert_allclose(one.numpy(), other, rtol=wide, atol=wide * np.abs(other).max())


def test_factors_have_the_standard_s_names_and_make_the_matrix():
    x = al.asarray(sample("float64", (2, 4, 3)))
    q, r = al.linalg.qr(x, mode="complete")
    assert (q.shape, r.shape) == ((2, 4, 4), (2, 4, 3)) and al.linalg.qr(x)._fields == ("Q", "R")
    u, s, vh = al.linalg.svd(x, full_matrices=False)
    assert al.linalg.svd(x)._fields == ("U", "S", "Vh") and al.linalg.svd(x).U.shape == (2, 4, 4)
    np.testing.assert_allclose((u * s[:, None, :]) @ vh, x.numpy(), atol=1e-12)
    np.testing.assert_allclose(q @ r, x.numpy(), atol=1e-12)
    square = al.linalg.matmul(al.matrix_transpose(x), x)
    values, vectors = al.linalg.eigh(square)
    assert al.linalg.eigh(square)._fields == al.linalg.eig(square)._fields == ("eigenvalues", "eigenvectors")
    np.testing.assert_allclose(square @ vectors, vectors * values[:, None, :], atol=1e-9)
    values, vectors = al.linalg.eig(square)
    assert values.dtype == vectors.dtype == al.linalg.eigvals(square).dtype == al.complex128
    np.testing.assert_allclose(al.cast(square, al.complex128) @ vectors, vectors * values[:, None, :], atol=1e-9)
    assert al.linalg.slogdet(square)._fields == ("sign", "logabsdet")
    assert int(al.linalg.matrix_rank(x[0], rtol=al.asarray(0.999))) == 1
    np.testing.assert_allclose(al.linalg.pinv(x, rtol=0.5), np.linalg.pinv(x.numpy(), rtol=0.5), atol=1e-12)


def test_matrices_without_elements():
    x = al.zeros((2, 0, 3))
    assert al.linalg.matrix_norm(x, ord=2).numpy().tolist() == [0, 0]
    assert float(al.linalg.vector_norm(x, ord=al.inf)) == 0 and al.linalg.svdvals(x).shape == (2, 0)
    assert al.linalg.inv(al.zeros((0, 3, 3))).shape == (0, 3, 3)


@each(NUMBERS)
def test_products(dtype):
    for a, b in (((3,), (3,)), ((2, 3), (3,)), ((2, 1, 2, 3), (4, 3, 5)), ((0, 3), (3, 0))):
        check(lambda xp, x, y: xp.matmul(x, y), sample(dtype, a), sample(dtype, b))
    for axes in (0, 1, 2, ((0,), (1,)), ((1, 0), (0, 1))):
        check(lambda xp, x: xp.tensordot(x, x, axes=axes), sample(dtype, (3, 3)))
    for a, b, axis in (((2, 3), (3,), -1), ((3, 2), (2, 3, 1), -2), ((2, 0), (0,), -1)):
        check(lambda xp, x, y: xp.vecdot(x, y, axis=axis), sample(dtype, a), sample(dtype, b))
    check(lambda xp, x, y: xp.linalg.cross(x, y), sample(dtype, (2, 3)), sample(dtype, (2, 3), 1))
    check(lambda xp, x: xp.linalg.cross(x, x[::-1], axis=-2), sample(dtype, (3, 2)))
    check(lambda xp, x: xp.linalg.outer(x, x), sample(dtype, (3,)))


@each(["fft", "ifft", "hfft", "ihfft", "rfft", "irfft"])
def test_transforms_along_an_axis(name):
    for dtype in REAL if name in ("rfft", "ihfft") else COMPLEX:
        for n in (None, 3, 6):
            for norm in ("backward", "ortho", "forward"):
                check(lambda xp, x: getattr(xp.fft, name)(x, n=n, axis=0, norm=norm), sample(dtype, (4, 5)))


@each(["fftn", "ifftn", "rfftn", "irfftn"])
def test_transforms_along_axes(name):
    for dtype in REAL if name == "rfftn" else COMPLEX:
        for s, axes in ((None, None), ((3, 4), (0, 1)), ((3,), (1,)), (None, (0,)), ((3, 4), None)):
            theirs = (0, 1) if s == (3, 4) else axes  # NumPy warns of axes that are not said
            check(
                lambda xp, x: getattr(xp.fft, name)(x, s=s, axes=axes if xp is al else theirs),
                sample(dtype, (4, 5)),
            )


def test_frequencies():
    check(lambda xp, x: [xp.fft.fftshift(x), xp.fft.ifftshift(x, axes=(0,))], sample("float64", (4, 5)))
    for f in ("fftfreq", "rfftfreq"):
        same(getattr(al.fft, f)(5, d=0.5, dtype=al.float64), getattr(np.fft, f)(5, d=0.5))
        with pytest.raises(ValueError, match="fftfreq: there is no device 'gpu'"):
            getattr(al.fft, f)(5, device="gpu")
