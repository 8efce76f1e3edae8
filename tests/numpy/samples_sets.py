"""Samples of NumPy's sets and polynomials."""

from __future__ import annotations

from typing import Any

import numpy as np
from api import NUMPY_FUNCTIONS

_rng = np.random.default_rng(22)
ROW = _rng.uniform(0.2, 0.9, 4)
POINTS = _rng.uniform(-0.9, 0.9, (2, 3))
_NAN = "np.array([1.0, np.nan, 2, np.nan])"
_TWO = ("{f}(v, w)", "{f}(x, y)", "{f}([v[0], 1, 1], v)", "{f}(v, [])", "{f}(i, j)", "{f}(v, i)", "{f}(t, v)")


def _calls(f: str, *calls: str) -> list[str]:
    return [call.format(f=f) for call in calls]


_SERIES = ("{f}(x, [1.0, 2, 3, 0.5])", "{f}(x, v)", "{f}(v, x)", "{f}(v, cube[0], False)", "{f}(0.5, v)",
"{f}(x, c=[3])",
           "{f}(v, w, tensor=False)", "{f}([v[0], 2], [1, 2])", "{f}(t, i)", "{f}(x, i)")  # fmt: skip
SAMPLES = {
    "np.unique": [
        "np.unique(x)", "np.unique(x, True)", "np.unique(x, return_inverse=True)", "np.unique(v, True, True, True)",
        "np.unique(x > 1, return_counts=True)", "np.unique(np.concatenate([x, x]), axis=0)",
        "np.unique(cube, True, True, True, 1)",
        f"np.unique({_NAN} + t)", f"np.unique({_NAN} + t, equal_nan=False)", "np.unique([v[0], 1, 1])",
        "np.unique(x, axis=5)",
        "np.unique(ar=j, return_counts=True, axis=-1)",
    ],
    "np.unique_all": ["np.unique_all(x)", "np.unique_all(x=j)", "np.unique_all(x).counts"],
    "np.unique_counts": ["np.unique_counts(x)", "np.unique_counts(v).values"],
    "np.unique_inverse": ["np.unique_inverse(x)", "np.unique_inverse(j).inverse_indices"],
    "np.unique_values": ["np.sort(np.unique_values(x))", "np.sort(np.unique_values(i))"],
    "np.union1d": _calls("np.union1d", *_TWO),
    "np.intersect1d": _calls("np.intersect1d", *_TWO, "{f}(v, w, return_indices=True)", "{f}(v, w, True, True)",
                             "{f}(x, y, False, True)"),
    "np.setdiff1d": _calls("np.setdiff1d", *_TWO, "{f}(v, w, True)", "{f}(x, y, assume_unique=True)"),
    "np.setxor1d": _calls("np.setxor1d", *_TWO, "{f}(v, w, True)"),
    "np.isin": _calls("np.isin", *_TWO, "{f}(x, [1, 2.5])", "{f}(x, v, invert=True)",
        "{f}(j, i, False, True, kind='table')",
                      "{f}(v, w, True, kind='sort')", "{f}(v, w, kind='no')"),
    "np.polyval": ["np.polyval([1, 2, 3], x)", "np.polyval(v, w)", "np.polyval(v, 2)", "np.polyval([v[0], 1], t)",
        "np.polyval(i, x)",
                   "np.polyval(p=[2], x=v)", "np.polyval([], v)", "np.polyval(np.poly1d([1, 2]), x)",
                   "np.poly1d([1, 2])(x)"],
    "np.polyadd": ["np.polyadd(v, w)", "np.polyadd(v, [1, 2])", "np.polyadd([1], v)", "np.polyadd(2, i)"],
    "np.polysub": ["np.polysub(v, w)", "np.polysub(i, [1, 2])", "np.polysub([1], i)", "np.polysub(2, i)"],
    "np.polymul": ["np.polymul(v, w)", "np.polymul(v, [1, 2])", "np.polymul([0, 0, 1], i)", "np.polymul(2, v)",
        "np.polymul(v - v[0], v)"],
    "np.polydiv": ["np.polydiv(v, [1, 2])", "np.polydiv(v, w[:2])", "np.polydiv([1, 2], v)",
        "np.polydiv([1.0, 3, 2], [t, t])",
                   "np.polydiv(v, v)"],
    "np.polyder": ["np.polyder(v)", "np.polyder(v, 2)", "np.polyder(p=i, m=0)", "np.polyder(v, -1)",
        "np.polyder(v, 9)"],
    "np.polyint": ["np.polyint(v)", "np.polyint(v, 2)", "np.polyint(i, m=2, k=[1, t])", "np.polyint(v, 3, 5)",
        "np.polyint(v, -1)",
                   "np.polyint(v, 2, [1, 2, 3])", "np.polyint(v, 3, [1, 2])"],
    "np.poly": ["np.poly(v)", "np.poly(m)", "np.poly([1, t])", "np.poly(x)", "np.poly([])", "np.poly(z[0])"],
    "np.roots": ["np.roots(v)", "np.roots(x)", "np.roots([1, 2, 1])"],
    "np.polyfit": ["np.polyfit(v, w, 1)", "np.polyfit([0, 1, 2, 3], v, 2)",
        "np.polyfit([0, 1, 2, 3], v, deg=1, w=[1, 2, 1, 1])",
                   "np.polyfit([0.0, 1, 2], np.stack([v[:3], w[:3]], 1), 1)",
                   "np.polyfit([0, 1, 2, 3], v, 1, full=True)",
                   "np.polyfit([0, 1, 2, 3.5], v, 1, cov=True)",
                   "np.polyfit([0, 1, 2, 3.5], v, 1, None, False, None, 'unscaled')",
                   "np.polyfit(v, i, 1)", "np.polyfit(x, v, 1)", "np.polyfit(v, w, -1)", "np.polyfit(v, w, 1, w=[2.0])",
                   "np.polyfit(v, w, 3, cov=True)"],
    **{f"np.polynomial.{module}.{name}": _calls(f"np.polynomial.{module}.{name}", *_SERIES) for module, name in (
        ("polynomial", "polyval"), ("chebyshev", "chebval"), ("legendre", "legval"), ("hermite", "hermval"),
        ("hermite_e", "hermeval"), ("laguerre", "lagval"),
    )},
    "np.polynomial.polynomial.polyvalfromroots": [
        f"np.polynomial.polynomial.polyvalfromroots({given})"
        for given in ("x, [-1, 0, 1]", "v, i", "v, m", "v[:3], m, tensor=False", "v, w[0]", "2.5, v", "x, v, False")
    ],
}  # fmt: skip

_SERIES_FUNCTIONS = [
    np.polynomial.polynomial.polyval, np.polynomial.chebyshev.chebval, np.polynomial.legendre.legval,
    np.polynomial.hermite.hermval, np.polynomial.hermite_e.hermeval, np.polynomial.laguerre.lagval,
]  # fmt: skip


def _staged(function: Any) -> Any:
    """Return what converted code calls: these functions do not ask their arguments."""
    return NUMPY_FUNCTIONS[function]


_TWICE = np.array([0, 1, 1, 3, 2])
GRADIENTS = {
    "numpy, sets": (lambda v, x: [
        np.unique(v[_TWICE] ** 2), np.unique(v[_TWICE], True)[0], np.unique(x, axis=0), np.unique_values(v),
        np.union1d(v, x * x), np.intersect1d(v[_TWICE], v[:3]), np.setdiff1d(v * v, v[:2] ** 2),
        np.setxor1d(v, v[1:] * 1.0),
    ], ROW, POINTS),
    "numpy, polynomials": (lambda c, x: [
        np.polyval(c, x), np.polyadd(c, x[0]), np.polysub(c[:2], c), np.polymul(c, x[0]),
        np.polydiv(c, x[0, :2] + 2.0)[0],
        np.polyder(c, 2), np.polyint(c, 2, c[0]), np.polyfit(x[0] * 0.2 + np.arange(3.0), c[:3], 1),
        np.polyfit(np.array([0.0, 1, 2, 4]), c, 2, w=c * c), np.polyfit(np.array([0.0, 1, 2, 4]), c, 1, cov=True)[1],
    ], ROW, POINTS),
    "numpy, series": (lambda c, x: [_staged(f)(x, c) for f in _SERIES_FUNCTIONS], ROW, POINTS),
}  # fmt: skip
