"""Functions of NumPy's that take functions are given decorated ones."""

from __future__ import annotations

import autoloop as al
import numpy as np
from each_case import each

A, M = np.linspace(-1, 1, 7), np.arange(1.0, 7).reshape(2, 3)


def padded(vector, pad_width, iaxis, kwargs):
    vector[: pad_width[0]] = kwargs.get("padder", 10)
    vector[-pad_width[1] :] = kwargs.get("padder", 10)


#: what is done with a function
USES = {
    "vectorize": (lambda x: x * x if x > 0 else -x, lambda f: np.vectorize(f)(A)),
    "vectorize of rows": (lambda v: v.sum(), lambda f: np.vectorize(f, signature="(n)->()")(M)),
    "frompyfunc": (lambda x: x + 1, lambda f: np.frompyfunc(f, 1, 1)(A).astype(float)),
    "apply_along_axis": (lambda row: row / row.sum(), lambda f: np.apply_along_axis(f, 1, M)),
    "apply_over_axes": (lambda a, axis: np.sum(a, axis=axis), lambda f: np.apply_over_axes(f, M, [0, 1])),
    "piecewise": (lambda x: x * 2, lambda f: np.piecewise(A, [A < 0, A >= 0], [f, 1.0])),
    "fromfunction": (lambda i, j: i + 2.0 * j, lambda f: np.fromfunction(f, (3, 2))),
    "fromiter": (lambda x: x**2, lambda f: np.fromiter((f(k) for k in range(5)), float)),
    "pad": (padded, lambda f: [np.pad(M, 2, f), np.pad(M, 1, f, padder=3.0)]),
    "chebinterpolate": (lambda x: x**2, lambda f: np.polynomial.chebyshev.chebinterpolate(f, 3)),
}


@each(USES)
def test_numpys_functions_call_decorated_ones(name):
    f, use = USES[name]
    wanted = use(f)
    ours = al.function(f)
    for _ in range(2):
        for found, one in zip(use(ours), wanted, strict=True):
            assert np.asarray(found).dtype == np.asarray(one).dtype and np.allclose(found, one, rtol=1e-12)
