"""Samples of ``np.linalg`` and of NumPy's products."""

from __future__ import annotations

import numpy as np

_rng = np.random.default_rng(6)
TALL = _rng.normal(size=(4, 3))
WIDE = _rng.normal(size=(2, 4))
SQUARE = _rng.normal(size=(3, 3)) + 2 * np.eye(3)
STACK = _rng.normal(size=(2, 3, 3))
VECTOR = _rng.uniform(0.3, 0.9, 3)
LONG = _rng.normal(size=4)
SIX = _rng.normal(size=(6, 6))
#: a second one, for complex matrices that move with a real one
OTHER = _rng.normal(size=(4, 4))
_l = np.linalg


def _complex(x):
    """A complex matrix that moves with the real ``x``."""
    rows, columns = x.shape[-2:]
    return x * (1 + 0.3j) + 1j * OTHER[:rows, :columns]


def _hermitian(x):
    return x + np.conj(np.matrix_transpose(x))


def _rebuilt(factors):
    """What does not depend on the signs and phases of factors."""
    u, s, vh = factors
    k = s.shape[-1]
    u, vh = u[..., :k], vh[..., :k, :]
    return [np.real((u * (s * s)[..., None, :]) @ vh), np.imag(u @ vh), s]


def _projections(vectors, *columns):
    parts = [vectors[..., :, c, None] * np.conj(vectors[..., None, :, c]) for c in columns]
    return [np.real(p) for p in parts] + [np.imag(p) for p in parts]


def _complement(q, k):
    rest = q[..., k:]
    return np.real(rest @ np.conj(np.matrix_transpose(rest)))


GRADIENTS = {
    "svd, thin": (lambda x, y: [*_l.svd(x, False), *_l.svd(y, full_matrices=False)], TALL, WIDE),
    "svd, full": (lambda x, y: [*_rebuilt(_l.svd(x)), _complement(_l.svd(x).U, 3), *_rebuilt(_l.svd(y)),
                                *_l.svd(x[:3])], TALL, WIDE),
    "svd, values": (lambda x, y: [_l.svd(x, compute_uv=False), _l.svdvals(y), _l.svd(x).S], TALL, STACK),
    "svd, complex": (lambda x, y: [*_rebuilt(_l.svd(_complex(x), False)), *_rebuilt(_l.svd(_complex(y))),
                                   _l.svdvals(_complex(y))], TALL, WIDE),
    "svd, hermitian": (lambda x: [*_rebuilt(_l.svd(_hermitian(x), hermitian=True)),
                                  _l.svd(_hermitian(x), True, False, True)], SQUARE),
    "eigh": (lambda x, y: [*_l.eigh(_hermitian(x)), *_l.eigh(_hermitian(y), UPLO="U"), _l.eigvalsh(_hermitian(x)),
                           _l.eigvalsh(_hermitian(y), "U")], SQUARE, STACK),
    "eigh, complex": (lambda x: [_l.eigh(_hermitian(_complex(x))).eigenvalues, _l.eigvalsh(_hermitian(_complex(x))),
                                 *_projections(_l.eigh(_hermitian(_complex(x)))[1], 0, 2)], SQUARE),
    "eig": (lambda x: [_l.eig(_complex(x)).eigenvalues, _l.eigvals(_complex(x)),
                       *_projections(_l.eig(_complex(x))[1], 0, 1)], SQUARE),
    "qr": (lambda x, y: [*_l.qr(x), *_l.qr(y), *_l.qr(y.T, mode="reduced"), _l.qr(x, "r"), _l.qr(y, mode="r")],
           TALL, WIDE),
    "qr, complete": (lambda x, y: [_l.qr(x, "complete").R, _l.qr(x, "complete")[0][:, :3],
                                   _complement(_l.qr(x, "complete")[0], 3), *_l.qr(y, "complete")], TALL, WIDE),
    "qr, complex": (lambda x, y: [*_l.qr(_complex(x)), *_l.qr(_complex(y)), _l.qr(_complex(y), "r")], TALL, WIDE),
    "lstsq": (lambda a, b: [part for part in _l.lstsq(a, b) if part.dtype.kind == "f"], TALL, LONG),
    "lstsq, of several": (lambda a, b: [_l.lstsq(a, np.stack([b, b * b], 1), rcond=None)[0],
                                        _l.lstsq(WIDE, a[:2] * b[:2, None], -1)[0],
                                        _l.lstsq(a.T, b[:3])[0]], TALL, LONG),
    "lstsq, complex": (lambda a, b: [*_l.lstsq(_complex(a), b)[:2], _l.lstsq(_complex(a).T, b[:3])[0]], TALL, LONG),
    "pinv": (lambda x, y: [_l.pinv(x), _l.pinv(y, 1e-9), _l.pinv(_hermitian(x[:3]), hermitian=True),
                           _l.pinv(_complex(x), rtol=None)], TALL, WIDE),
    "slogdet": (lambda x: [_l.slogdet(x).logabsdet, *_l.slogdet(_complex(x))], STACK[0]),
    "determinants": (lambda x, y: [_l.det(x), _l.det(_complex(x)), _l.det(y)], STACK, SIX),
    "solutions": (lambda a, b: [_l.solve(a, b), _l.solve(a, np.stack([b, b * b], 1)), _l.inv(a),
                                _l.solve(_complex(a[0]), b)], STACK, VECTOR),
    "solutions of tensors": (lambda x: [_l.tensorsolve(x.reshape([3, 2, 6]), x[0].reshape([3, 2])),
                                        _l.tensorsolve(x.reshape([2, 6, 3]), x[1], axes=(0,)),
                                        _l.tensorinv(x.reshape([6, 2, 3]), ind=1)], SIX),
    "cholesky factors": (lambda x: [_l.cholesky(x @ x.T), _l.cholesky(x @ x.T, upper=True),
                                    _l.cholesky(_complex(x) @ np.conj(_complex(x).T))], SQUARE),
    "conditions": (lambda x: [_l.cond(x, p) for p in (None, 1, -1, 2, -2, np.inf, -np.inf, "fro", "nuc")], SQUARE),
    "powers of matrices": (lambda x: [_l.matrix_power(x, n) for n in (0, 1, 2, 3, 5, -2)], STACK),
    "chains": (lambda x, y: [_l.multi_dot([x, SQUARE, x.T, TALL]), _l.multi_dot([LONG, x, y]),
                             _l.multi_dot([x, SQUARE, y])], TALL, VECTOR),
    "the array API's products": (lambda x, y: [
        _l.matmul(x, y), _l.outer(y, y * y), _l.cross(x, y), _l.cross(x, SQUARE, axis=0), _l.vecdot(x, y),
        _l.vecdot(x, x * x, axis=0), _l.tensordot(x, SQUARE, axes=1), _l.diagonal(x, offset=1), _l.trace(x, offset=-1),
        _l.matrix_transpose(x), np.matrix_transpose(x),
    ], SQUARE, VECTOR),
    "products of vectors": (lambda x, y: [
        np.cross(x, y), np.cross(x, y[:, None], 1, 0, axisc=0), np.kron(x, y), np.kron(x, x), np.inner(x, y),
        np.inner(x, y[0]), np.vdot(x, x * x), np.vecdot(x, y), np.vecdot(x, x * x, axis=0), np.dot(x, y),
        np.outer(x, y), np.tensordot(x, x, axes=([0], [1])), np.vdot(_complex(x), x),
    ], SQUARE, VECTOR),
    "einsum, diagonals": (lambda x, y: [
        np.einsum("ii", x), np.einsum("ii->i", x * x), np.einsum("iij,j->i", x[..., None] * y, y),
        np.einsum(x, [0, 1], y, [1], [0]), np.einsum(x, [0, 0]), np.einsum("...j,j", x, y),
        np.einsum("iij->j", x[..., None] * y),
    ], SQUARE, VECTOR),
}  # fmt: skip
if hasattr(np, "matvec"):
    GRADIENTS["matvec, vecmat"] = (
        lambda x, y: [
            np.matvec(x, y),
            np.vecmat(y, x),
            np.matvec(STACK, y),
            np.vecmat(x, STACK[0]),
            np.vecmat(_complex(x), x),
        ],
        SQUARE,
        VECTOR,
    )
WITHOUT_GRADIENTS = {
    "ranks": (lambda x: [_l.matrix_rank(x), _l.matrix_rank(x, tol=3.0), _l.matrix_rank(x[0, 0])], STACK),
}
SAMPLES = {
    "np.linalg.cholesky": ["np.linalg.cholesky(s)", "np.linalg.cholesky(s, upper=True)", "np.linalg.cholesky(x)",
                           "np.linalg.cholesky(-s)", "np.linalg.cholesky(s * (1 + 0j))", "np.linalg.cholesky(v)"],
    "np.linalg.cond": ["np.linalg.cond(m)", "np.linalg.cond(m, 1)", "np.linalg.cond(m, p=-2)", "np.linalg.cond(x)",
                       "np.linalg.cond(m * 0, 'fro')", "np.linalg.cond(m, -np.inf)", "np.linalg.cond(x, 1)"],
    "np.linalg.cross": ["np.linalg.cross(x, y)", "np.linalg.cross(m, s, axis=0)", "np.linalg.cross(cube, cube, axis=1)",
                        "np.linalg.cross(v, w)"],
    "np.linalg.det": ["np.linalg.det(m)", "np.linalg.det(a=m)", "np.linalg.det(x)", "np.linalg.det(j[:, :2])",
                      "np.linalg.det(cube[..., :3])", "np.linalg.det(z[:, :2])"],
    "np.linalg.diagonal": ["np.linalg.diagonal(x)", "np.linalg.diagonal(cube, offset=1)", "np.linalg.diagonal(v)"],
    "np.linalg.eig": ["np.linalg.eig(m * (1 + 0j))", "np.linalg.eig(a=m + 1j * s)", "np.linalg.eig(m)"],
    "np.linalg.eigh": ["np.linalg.eigh(s)", "np.linalg.eigh(m, 'U')", "np.linalg.eigh(m, UPLO='l')",
                       "np.linalg.eigh(x)", "np.linalg.eigh(s, 'X')", "np.linalg.eigh(s)[0]",
                       "np.linalg.eigh(s).eigenvalues"],
    "np.linalg.eigvals": ["np.linalg.eigvals(m * (1 + 0j))", "np.linalg.eigvals(m)", "np.linalg.eigvals(x + 0j)"],
    "np.linalg.eigvalsh": ["np.linalg.eigvalsh(s)", "np.linalg.eigvalsh(m, 'U')", "np.linalg.eigvalsh(a=m, UPLO='L')",
                           "np.linalg.eigvalsh(cube[..., :3])"],
    "np.linalg.inv": ["np.linalg.inv(m)", "np.linalg.inv(a=s)", "np.linalg.inv(m * 0)", "np.linalg.inv(x)",
                      "np.linalg.inv(x[:, :2])", "np.linalg.inv(cube[..., :3])", "np.linalg.inv(v)"],
    "np.linalg.lstsq": ["np.linalg.lstsq(m[:, :2], i)", "np.linalg.lstsq(m[:, :2], s, rcond=None)",
                        "np.linalg.lstsq(m[:2], x, -1)", "np.linalg.lstsq(x, y, None)", "np.linalg.lstsq(s, x)"],
    "np.linalg.matmul": ["np.linalg.matmul(x, m)", "np.linalg.matmul(x, y)", "np.linalg.matmul(cube, v)"],
    "np.linalg.matrix_norm": ["np.linalg.matrix_norm(x)", "np.linalg.matrix_norm(cube, keepdims=True, ord=1)",
                              "np.linalg.matrix_norm(x, ord='nuc')", "np.linalg.matrix_norm(x, ord=2)"],
    "np.linalg.matrix_power": ["np.linalg.matrix_power(m, 3)", "np.linalg.matrix_power(m, n=-2)",
                               "np.linalg.matrix_power(x[:, :2], 0)", "np.linalg.matrix_power(j[:, :2], 5)",
                               "np.linalg.matrix_power(m, 1.5)", "np.linalg.matrix_power(x, 2)"],
    "np.linalg.matrix_rank": ["np.linalg.matrix_rank(x)", "np.linalg.matrix_rank(cube, 3.0)",
                              "int(np.linalg.matrix_rank(v))", "np.linalg.matrix_rank(s, hermitian=True, rtol=1e-3)",
                              "np.linalg.matrix_rank(A=m, tol=None)", "np.linalg.matrix_rank(m * 0)"],
    "np.linalg.matrix_transpose": ["np.linalg.matrix_transpose(x)", "np.linalg.matrix_transpose(cube)",
                                   "np.linalg.matrix_transpose(v)"],
    "np.matrix_transpose": ["np.matrix_transpose(x)", "np.matrix_transpose(cube)"],
    "np.linalg.multi_dot": ["np.linalg.multi_dot([x, m, s])", "np.linalg.multi_dot((i, m, s, i))",
                            "np.linalg.multi_dot([x, m], out=None)", "np.linalg.multi_dot([x])",
                            "np.linalg.multi_dot([x, x.T, x, m])", "np.linalg.multi_dot([x, cube])"],
    "np.linalg.norm": [
        "np.linalg.norm(x)", "np.linalg.norm(v)", "np.linalg.norm(cube)", "np.linalg.norm(x, 1)",
        "np.linalg.norm(x, ord=-np.inf)", "np.linalg.norm(x, 'nuc')", "np.linalg.norm(x, 2, (0, 1), True)",
        "np.linalg.norm(cube, axis=-1)", "np.linalg.norm(cube, 'fro', (0, 2))", "np.linalg.norm(x, 0, axis=1)",
        "np.linalg.norm(cube, -2, axis=(1, 2), keepdims=True)", "np.linalg.norm(v, 3)", "np.linalg.norm(x, 3)",
        "np.linalg.norm(v, -1)", "np.linalg.norm(v, np.inf)", "np.linalg.norm(v, 0.5)", "np.linalg.norm(z, 1, 1)",
    ],
    "np.linalg.outer": ["np.linalg.outer(v, w)", "np.linalg.outer(v, x)"],
    "np.linalg.pinv": ["np.linalg.pinv(x)", "np.linalg.pinv(m[:, :2], 1e-3)", "np.linalg.pinv(s, hermitian=True)",
                       "np.linalg.pinv(a=m, rtol=None)", "np.linalg.pinv(m, rcond=1e-3, rtol=1e-3)",
                       "np.linalg.pinv(cube, rtol=0.1)"],
    "np.linalg.qr": ["np.linalg.qr(x)", "np.linalg.qr(m[:, :2], 'complete')", "np.linalg.qr(m[:, :2]).R",
                     "np.linalg.qr(cube, mode='r')", "np.linalg.qr(m, 'raw')", "np.linalg.qr(m, 'bad')",
                     "np.linalg.qr(z)[0]"],
    "np.linalg.slogdet": ["np.linalg.slogdet(m)", "np.linalg.slogdet(a=m * (1 + 1j))", "np.linalg.slogdet(x)",
                          "np.linalg.slogdet(m).sign", "np.linalg.slogdet(m * 0)"],
    "np.linalg.solve": ["np.linalg.solve(m, i)", "np.linalg.solve(a=m, b=s)", "np.linalg.solve(m * 0, i)",
                        "np.linalg.solve(cube[..., :3], x[0, :2])", "np.linalg.solve(x[:, :2], x)",
                        "np.linalg.solve(m, v)", "np.linalg.solve(x, v)", "np.linalg.solve(m, m * 1j)"],
    "np.linalg.svd": ["np.linalg.svd(m)", "np.linalg.svd(x, False)", "np.linalg.svd(x, full_matrices=True).S",
                      "np.linalg.svd(cube, compute_uv=False)", "np.linalg.svd(s, True, True, True)",
                      "np.linalg.svd(s, compute_uv=False, hermitian=True)", "np.linalg.svd(v)"],
    "np.linalg.svdvals": ["np.linalg.svdvals(x)", "np.linalg.svdvals(cube)"],
    "np.linalg.tensordot": ["np.linalg.tensordot(x, m, axes=1)", "np.linalg.tensordot(x, y, axes=([0, 1], [0, 1]))",
                            "np.linalg.tensordot(x, y)"],
    "np.linalg.tensorinv": ["np.linalg.tensorinv(m.reshape(3, 3, 1), 1)", "np.linalg.tensorinv(m.reshape(1, 3, 3))",
                            "np.linalg.tensorinv(m.reshape(3, 1, 3), ind=0)", "np.linalg.tensorinv(cube)"],
    "np.linalg.tensorsolve": ["np.linalg.tensorsolve(m.reshape(3, 3, 1), i)",
                              "np.linalg.tensorsolve(m.reshape(3, 1, 3), i, axes=(1,))",
                              "np.linalg.tensorsolve(cube, x)"],
    "np.linalg.trace": ["np.linalg.trace(x)", "np.linalg.trace(cube, offset=1)",
                        "np.linalg.trace(x, dtype=np.float32)"],
    "np.linalg.vecdot": ["np.linalg.vecdot(x, y)", "np.linalg.vecdot(x, y, axis=0)", "np.linalg.vecdot(z, x)"],
    "np.linalg.vector_norm": ["np.linalg.vector_norm(x)", "np.linalg.vector_norm(x, axis=1, keepdims=True, ord=1)",
                              "np.linalg.vector_norm(cube, axis=(0, 2))", "np.linalg.vector_norm(v, ord=-np.inf)"],
    "np.einsum": ["np.einsum('ij,kj', x, y)", "np.einsum('ij->j', x)", "np.einsum('ii', x[:, :2])",
                  "np.einsum('ii->i', m)", "np.einsum(x, [0, 1], y, [2, 1], [0, 2])", "np.einsum('...i,i', x, i)",
                  "np.einsum(x, [0, 1])", "np.einsum(x, [26, 25])", "np.einsum('ij,jk->ik', x, m, optimize=True)",
                  "np.einsum('ij->i', x, dtype=np.float64)", "np.einsum('ij', x, out=y)", "np.einsum('ij,ij', x, m)",
                  "np.einsum('i', x)", "np.einsum(x, [0, ...], [..., 0])"],
    "np.einsum_path": ["np.einsum_path('ij,jk,kl->il', x, m, s)", "np.einsum_path('ij,jk', x, m, optimize='optimal')"],
    "np.kron": ["np.kron(x, y)", "np.kron(v, x)", "np.kron(t, v)", "np.kron(cube, b)", "np.kron(a=v, b=w)",
                "np.kron(x, 2)"],
    "np.cross": ["np.cross(x, y)", "np.cross(m, s, axis=0)", "np.cross(m, s, 0, 1, 0)", "np.cross(x[:, :2], y)",
                 "np.cross(x, y[:, :2], axisc=0)", "np.cross(x[:, :2], y[:, :2])", "np.cross(v, w)"],
    "np.inner": ["np.inner(x, y)", "np.inner(v, w)", "np.inner(cube, v)", "np.inner(t, v)", "np.inner(x, v)",
                 "np.inner(x, 2)"],
    "np.vdot": ["np.vdot(x, y)", "np.vdot(z, x)", "np.vdot(v, w)", "np.vdot(v[0], 2)"],
    "np.vecdot": ["np.vecdot(x, y)", "np.vecdot(x, y, axis=0)", "np.vecdot(z, x, keepdims=True)", "np.vecdot(x, v)",
                  "np.vecdot(x, y, axes=[0, 0, ()])"],
    "np.dot": ["np.dot(x, m)", "np.dot(v, w)", "np.dot(cube, v)", "np.dot(t, x)", "np.dot(x, y)", "np.dot(a=x, b=m)",
               "np.dot(x, 2)", "np.dot(2.0, x)", "np.dot(x, m, out=x)"],
    "np.matmul": ["np.matmul(x, m)", "x @ m", "np.matmul(cube, v)", "np.matmul(x, y)", "np.matmul(v, t)"],
    "np.outer": ["np.outer(v, w)", "np.outer(x, v)", "np.outer(a=v, b=t)", "np.outer(x, 2)",
                 "np.outer(v, w, out=x)"],
    "np.tensordot": ["np.tensordot(x, m, 1)", "np.tensordot(x, y)", "np.tensordot(x, y, axes=[1, 1])",
                     "np.tensordot(cube, x, ([0, 1], [0, 1]))", "np.tensordot(v, w, 0)", "np.tensordot(x, v)"],
}  # fmt: skip
if hasattr(np, "matvec"):
    SAMPLES["np.matvec"] = ["np.matvec(x, i)", "np.matvec(cube, v)", "np.matvec(x, v)"]
    SAMPLES["np.vecmat"] = ["np.vecmat(i, m)", "np.vecmat(x, m)", "np.vecmat(z, m)", "np.vecmat(v, m)"]
