"""Samples of ``scipy.linalg``, whose functions are reached from converted code."""

from __future__ import annotations

import autoloop as al
import numpy as np

try:
    import scipy.linalg as sl
except ImportError:
    sl = None
_rng = np.random.default_rng(9)
SQUARE = _rng.normal(size=(3, 3)) + 2 * np.eye(3)
VECTOR = _rng.uniform(0.3, 0.9, 3)
OTHER = _rng.normal(size=(3, 3))


def _systems(a, b):
    several = np.stack([b, b * b], 1)
    symmetric = a @ a.T + np.eye(3)
    return [
        sl.solve(a, b), sl.solve(a, several), sl.solve(a, b, transposed=True), sl.solve(symmetric, b, assume_a="pos"),
        sl.solve(symmetric, several, assume_a="sym", lower=True), sl.solve(a, b, assume_a="gen"),
    ]  # fmt: skip


def _triangular(a, b):
    several = np.stack([b, b * b], 1)
    return [
        sl.solve_triangular(a, b), sl.solve_triangular(a, several, 1), sl.solve_triangular(a, b, trans="C", lower=True),
        sl.solve_triangular(a, several, "T", True, True), sl.solve_triangular(a, b, 0, unit_diagonal=True),
        np.real(sl.solve_triangular(a * (1 + 0.3j), b, 1)), np.imag(sl.solve_triangular(a * (1 + 0.3j), several, 2)),
    ]  # fmt: skip


def _factors(a, b):
    symmetric = a @ a.T + np.eye(3)
    factor = sl.cho_factor(symmetric)
    below = sl.cho_factor(symmetric, lower=True)
    lu = sl.lu_factor(a)
    several = np.stack([b, b * b], 1)
    return [
        sl.cholesky(symmetric), sl.cholesky(symmetric, True), factor[0], below[0], sl.cho_solve(factor, b),
        sl.cho_solve(below, several), lu[0], sl.lu_solve(lu, b), sl.lu_solve(lu, several, 1),
        sl.lu_solve(lu, b, trans=2),
    ]  # fmt: skip


def _exponentials(a, b):
    turned = sl.expm(a * (0.3 + 0.2j) + 1j * OTHER)
    return [sl.expm(a), sl.expm(np.stack([a, a * a]) * 0.3) * b, np.real(turned), np.imag(turned)]


def _inverses(a, b):
    return [sl.inv(a) @ b, sl.det(a), sl.norm(a), sl.norm(b, 2), sl.norm(b * 0), np.real(sl.det(a * (1 + 0.3j)))]


def _decompositions(a, b):
    symmetric, tall = a @ a.T + np.eye(3), np.concatenate([a, a[:1] * b])
    u, s, vh = sl.svd(a)
    values, vectors = sl.eigh(symmetric)
    (q, r), (full, _) = sl.qr(tall, mode="economic"), sl.qr(a)
    w, v = sl.eig(a * (1 + 0.3j))
    return [
        u * s @ (b[:, None] * vh), sl.svd(tall, full_matrices=False)[1], sl.svd(tall)[0][:, :3] ** 2, sl.svdvals(tall),
        sl.svd(a, compute_uv=False), values, vectors**2, sl.eigvalsh(symmetric), sl.eigh(symmetric, eigvals_only=True),
        np.abs(q), r**2, full @ full.T, np.abs(w), np.abs(v), np.sort(np.abs(sl.eigvals(a))),
    ]  # fmt: skip


def _elsewhere(a, b):
    return [
        sl.block_diag(a, b, a[:2]), sl.toeplitz(b), sl.toeplitz(b, r=b[:2]), sl.circulant(b), sl.hankel(b, b),
        sl.diagsvd(b, 3, 4), sl.convolution_matrix(b, 4, mode="same"),
    ]  # fmt: skip


PROGRAMS = {
    "scipy, inverses": _inverses,
    "scipy, decompositions": _decompositions,
    "scipy, elsewhere": _elsewhere,
    "scipy, systems": _systems,
    "scipy, triangular": _triangular,
    "scipy, factors": _factors,
    "scipy, exponentials": _exponentials,
}
GRADIENTS = {} if sl is None else {name: (al.convert(f), SQUARE, VECTOR) for name, f in PROGRAMS.items()}
