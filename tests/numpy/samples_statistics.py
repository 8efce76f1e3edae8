"""Samples of NumPy's statistics: order, averages, counting, interpolation, differences, and what passes over nan."""

from __future__ import annotations

import numpy as np

_rng = np.random.default_rng(8)
A = _rng.normal(0, 1, (3, 4, 5))
ROW = _rng.normal(0, 1, 7)
SHORT = _rng.uniform(0.5, 1.5, 4)
GAPS = A.copy()
GAPS[0, 1, 2] = GAPS[2, 3, :2] = np.nan
UP = np.array([-1.5, -0.2, 0.4, 1.1, 1.9])

METHODS = [
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull",
    "linear", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest",
]  # fmt: skip
_REDUCED = ("{f}(x)", "{f}(x, 0)", "{f}(cube, axis=(0, -1))", "{f}(cube, axis=-1, keepdims=True)", "{f}(a=v)",
            "{f}(x, axis=5)", "{f}([x[0], y[1]], axis=0)", "{f}(x, axis=0, out=y[0])")  # fmt: skip
_GAPS = ("{f}(np.where(b, x, np.nan))", "{f}(np.where(b, x, np.nan), 1)", "{f}(np.where(x > 1, x, np.nan), (0, 1))")
_DTYPED = ("{f}(x, 0, np.float64)", "{f}(x, dtype=np.float32)")
_MASKED = ("{f}(x, 0, where=b)",)
_INITIAL = ("{f}(x, where=b, initial=2)", "{f}(x, axis=0, initial=1)")
_QUANTILES = (
    "{f}(x, {q})", "{f}(x, {q}, 1)", "{f}(v, [{q}, {q}])", "{f}(cube, np.array([{q}, 0]), (0, 2), keepdims=True)",
    "{f}(x, {q}, None, None, True, 'hazen', True)", "{f}(x, [[{q}], [0.2]], axis=0)", "{f}(x, t)",
    "{f}(x, {q}, out=y[0])",
    "{f}(v, {q}, method='inverted_cdf', weights=w)", "{f}(x, {q}, 0, weights=[1, 2], method='inverted_cdf')",
    "{f}(x, {q}, weights=y)", "{f}(x, 200)", "{f}(x, {q}, method='none')", "{f}(x, n)", "{f}([x[0], y[0]], {q})",
    *(f"{{f}}(cube, {{q}}, 1, method='{m}')" for m in METHODS),
)  # fmt: skip
_ALONG = ("{f}(x)", "{f}(x, 0)", "{f}(cube, axis=1)", "{f}(x, axis=7)")


def _calls(f: str, *families: tuple[str, ...], q: str = "") -> list[str]:
    return [call.format(f=f, q=q) for family in families for call in family]


_BINS = (
    "{f}(x)", "{f}(x, 5)", "{f}(x, [0, 1, 2.5])", "{f}(x, w[[3, 0, 1, 2]])", "{f}(x, 4, (-1, 2))",
    "{f}(x, bins=3, range=(0.0, 1.5))",
    "{f}(x, bins=3, range=(t, 2.5))", "{f}(x, 'sqrt')", "{f}(x, bins='sturges')", "{f}(v, 3, weights=w)", "{f}(x, 0)",
    "{f}(x, 2.5)", "{f}(x, [3, 1])", "{f}(x, 3, (2, 1))", "{f}(x, weights=v)", "{f}([x[0], x[1]], 2)", "{f}(j)",
)  # fmt: skip
_SLID = ("{f}(v, w)", "{f}(x[0], w, 'full')", "{f}(w, x[0], mode='same')", "{f}(v, i, 'valid')", "{f}(v, w, 'none')",
         "{f}(v, w, 'v')", "{f}(v, v[:0])", "{f}(2, v)", "{f}([v[0], v[1]], w)", "{f}(v[:2], w, 'same')",
         "{f}(x, v)")  # fmt: skip
SAMPLES = {
    "np.median": _calls("np.median", _REDUCED, _GAPS, ("{f}(x, None, None, True, True)",)),
    "np.nanmedian": _calls("np.nanmedian", _REDUCED, _GAPS, ("{f}(x, 1, None, False, True)",)),
    **{f"np.{f}": _calls(f"np.{f}", _QUANTILES, q="0.3") for f in ("quantile", "nanquantile")},
    **{f"np.{f}": _calls(f"np.{f}", _QUANTILES, q="30") for f in ("percentile", "nanpercentile")},
    **{f"np.{f}": _calls(f"np.{f}", ("{f}(cube, 2)", "{f}(x, (0, 1), 1)", "{f}(x, 3, None)",
        "{f}(v, kth=[1, 2], axis=-1)",
                                     "{f}(v, 9)", "{f}(v, 1, -1, 'introselect')", "{f}(v, 1, order='a')",
                                     "{f}([v[0], v[1]], 1)"))
       for f in ("partition", "argpartition")},
    "np.lexsort": ["np.lexsort((v, w))", "np.lexsort([v, w])", "np.lexsort(x)", "np.lexsort(keys=(x, j), axis=0)",
                   "np.lexsort((v, w), 3)"],
    **{f"np.{f}": _calls(f"np.{f}", _REDUCED, _GAPS, _DTYPED, _MASKED, _INITIAL) for f in ("nansum", "nanprod")},
    **{f"np.{f}": _calls(f"np.{f}", _REDUCED, _GAPS, _MASKED, _INITIAL) for f in ("nanmax", "nanmin")},
    "np.nanmean": _calls("np.nanmean", _REDUCED, _GAPS, _DTYPED, _MASKED),
    **{f"np.{f}": _calls(f"np.{f}", _REDUCED, _GAPS, _DTYPED, _MASKED,
                         ("{f}(x, 1, None, None, 1, True)", "{f}(x, ddof=1, correction=1)", "{f}(x, correction=1)",
                          "{f}(x, 1, mean=np.nanmean(x, 1, keepdims=True))")) for f in ("nanvar", "nanstd")},
    **{f"np.{f}": _calls(f"np.{f}", _ALONG, _GAPS[:2], ("{f}(x, 1, keepdims=True)", "{f}(np.where(x > 9, x, np.nan))",
                                                        "{f}(x, out=y)")) for f in ("nanargmax", "nanargmin")},
    **{f"np.{f}": _calls(f"np.{f}", _ALONG, _GAPS[:2], ("{f}(x, 1, np.float32)", "{f}(x, out=y)"))
       for f in ("nancumsum", "nancumprod")},
    "np.average": [
        "np.average(x)", "np.average(x, 1)", "np.average(cube, (0, 2), keepdims=True)", "np.average(v, weights=w)",
        "np.average(x, 1, i)", "np.average(x, None, np.abs(y))", "np.average(x, 1, i, True)",
        "np.average(x, returned=True)",
        "np.average(v, weights=[0, 0, 0, 0])", "np.average(x, weights=i)", "np.average(x, 1, v)",
        "np.average(cube, (0, 1), np.ones((2, 3)))", "np.average([v[0], v[1]])", "np.average(x, 4)",
    ],
    "np.cov": [
        "np.cov(x)", "np.cov(v)", "np.cov(v, w)", "np.cov(x, y, False)", "np.cov(x, None, True, True)",
        "np.cov(x, ddof=0)",
        "np.cov(x, rowvar=False, dtype=np.float64)", "np.cov(x, fweights=i)", "np.cov(x, aweights=[0.5, 1, 2])",
        "np.cov(x, fweights=i + 1, aweights=[0.5, 1, 2], ddof=2)", "np.cov(x, fweights=-i)",
        "np.cov(x, fweights=i / 3)",
        "np.cov(x, aweights=v)", "np.cov(cube)", "np.cov(x, ddof=0.5)", "np.cov(z)", "np.cov([v, w])", "np.cov(v[:1])",
    ],
    "np.corrcoef": ["np.corrcoef(cube[0])", "np.corrcoef(v, w)", "np.corrcoef(cube[0], None, False)", "np.corrcoef(v)",
                    "np.corrcoef(cube[0], dtype=np.float64)", "np.corrcoef(cube)"],
    "np.digitize": ["np.digitize(x, [0, 1, 2.5])", "np.digitize(x, w[[3, 0, 1, 2]], True)",
        "np.digitize(0.3, bins=[1, 0], right=True)",
                    "np.digitize(x, x[0])", "np.digitize(x, 3)"],
    "np.bincount": ["np.bincount(i)", "np.bincount(i, None, 5)", "np.bincount(i, [0.5, 1, 2])",
        "np.bincount(i, weights=y[0])",
                    "np.bincount(i, minlength=5)", "np.bincount(-i)", "np.bincount(j)", "np.bincount(v)",
                    "np.bincount(b[0])",
                    "np.bincount([n, 2, n])", "np.bincount(i, minlength=-1)"],
    "np.histogram": _calls("np.histogram", _BINS, ("{f}(x, 3, None, True)", "{f}(v, 3, (0, 2), True, w)")),
    "np.histogram_bin_edges": _calls("np.histogram_bin_edges", _BINS),
    "np.histogram2d": [
        "np.histogram2d(v, w)", "np.histogram2d(v, w, 3)", "np.histogram2d(v, w, (2, 3), weights=w)",
        "np.histogram2d(v, w, [0, 1, 3])", "np.histogram2d(v, w, [[0, 1, 3], 2], [[0, 1], [0, 2]], True)",
        "np.histogram2d(v, i)", "np.histogram2d(v, w, [3])", "np.histogram2d(v, w, (2, 2), density=True)",
    ],
    "np.histogramdd": [
        "np.histogramdd(x)", "np.histogramdd(x, 2)", "np.histogramdd(x, (2, 3, 2), weights=[1, 2])",
        "np.histogramdd([v, w], bins=[[0, 1, 2], 2], density=True)", "np.histogramdd(x, (2, 3))",
        "np.histogramdd(m[:, :2], 2, [(-1, 1), None], True)", "np.histogramdd(v, 3)",
    ],
    "np.interp": [
        "np.interp(x, [0, 1, 3], [1, 2, 0])", "np.interp(x, w[[3, 0, 1, 2]], w)",
        "np.interp(0.3, i[1:], v[:2], -5, 7.5)",
        "np.interp(v, [0, 1, 3], z[0])", "np.interp(x, [0, 1], [t, 2], left=n)", "np.interp(x, i, i, period=2.5)",
        "np.interp(v, i, i, period=0)", "np.interp(v, i, v)", "np.interp(v, x, x, period=2)",
    ],
    "np.convolve": _calls("np.convolve", _SLID), "np.correlate": _calls("np.correlate", _SLID),
    "np.diff": [
        "np.diff(x)", "np.diff(x, 2)", "np.diff(x, 1, 0)", "np.diff(cube, axis=1, n=2)", "np.diff(x, 0)", "np.diff(b)",
        "np.diff(v, prepend=0)", "np.diff(x, 1, 0, y[:1], x)", "np.diff(v, append=w)", "np.diff(x, -1)", "np.diff(t)",
        "np.diff(x, axis=3)", "np.diff([v[0], w[1]])",
    ],
    "np.ediff1d": ["np.ediff1d(x)", "np.ediff1d(v, v[0], w)", "np.ediff1d(j, to_end=[1, 2])",
        "np.ediff1d(j, to_begin=0.5)",
                   "np.ediff1d([v[0], w[1]], 3)"],
    "np.trapezoid": [
        "np.trapezoid(x)", "np.trapezoid(v, w)", "np.trapezoid(x, None, 0.5, 0)", "np.trapezoid(x, x=i, axis=1)",
        "np.trapezoid(x, y, axis=0)", "np.trapezoid(y=x, dx=2)", "np.trapezoid(x, v)", "np.trapezoid(x, axis=2)",
    ],
    "np.gradient": [
        "np.gradient(x)", "np.gradient(v)", "np.gradient(x, 0.5)", "np.gradient(x, 2, t)",
        "np.gradient(x, [0, 1, 3], axis=1)",
        "np.gradient(m, i * i + i, [0, 1, 2], edge_order=2)", "np.gradient(v, axis=0, edge_order=2)",
        "np.gradient(cube, axis=(0, 2))", "np.gradient(v, 1, 2)", "np.gradient(v[:1])", "np.gradient(v, i)",
        "np.gradient(v, edge_order=3)", "np.gradient(x, i, axis=-1)", "np.gradient(x, axis=5)",
    ],
    "np.unwrap": ["np.unwrap(x * 4)", "np.unwrap(cube * 4, 2.0, 1)", "np.unwrap(j, period=4)", "np.unwrap(v, period=7)",
                  "np.unwrap(j, period=3)", "np.unwrap(p=x, axis=0)", "np.unwrap(j.astype('i1'), period=4)"],
}  # fmt: skip

_UP = UP + np.array([0.1, 0.0, -0.05, 0.1, 0.0])
_PLACES = np.array([0, 2, 1, 2])
GRADIENTS = {
    "numpy, quantiles": (lambda x, q: [
        *[np.quantile(x, q, 1, method=m) for m in ("hazen",
        "averaged_inverted_cdf")], np.quantile(x, 0.3), np.percentile(x, q * 100, (0, 2)),
        np.quantile(x, 0.4, keepdims=True), np.percentile(x, 20.0, 0), np.median(x), np.median(x,
        (0, 1), keepdims=True),
        np.quantile(x, 0.4, 1, method="inverted_cdf", weights=SHORT),
    ], A, np.array([0.22, 0.57])),
    "numpy, quantiles without nan": (lambda x, q: [
        f for y in (np.where(np.isnan(GAPS), np.nan, x),) for f in (
            np.nanquantile(y, q, 1), np.nanquantile(y, 0.3, (0, 2), method="hazen"), np.nanpercentile(y, 30.0),
            np.nanpercentile(y, q * 100, 0), np.nanmedian(y, 2), np.nanmedian(y),
    )], A, np.array([0.22, 0.57])),
    "numpy, partly in order": (lambda x: [np.partition(x, 2), np.partition(x, (1, 2), 1), np.partition(x, 3, None)], A),
    "numpy, passing over nan": (lambda x: [
        f(y) for y in (np.where(np.isnan(GAPS), np.nan, x),) for f in (
            np.nansum, lambda y: np.nanprod(y, 1), lambda y: np.nanmean(y, 0), lambda y: np.nanvar(y, (0, 1), ddof=1),
            lambda y: np.nanstd(y, 2, keepdims=True), lambda y: np.nanmax(y, 1),
            np.nanmin, lambda y: np.nancumsum(y, 1),
            lambda y: np.nancumprod(y, 0),
    )], A),
    "numpy, averages": (lambda x, w: [
        np.average(x, 1), np.average(x, 1, w), np.average(x, (0, 1), w * np.ones((3, 1)), True)[0],
        np.cov(x[0]), np.cov(x[0], x[1], False, aweights=w), np.corrcoef(x[0]), np.cov(x[0][0]), np.ptp(x, 1),
    ], A, SHORT),
    "numpy, counted": (lambda x, w: [
        np.bincount(_PLACES, w, 5), np.histogram(x, _UP, weights=np.ones(7) * w[0])[0],
        np.histogram(ROW[:4], _UP, weights=w)[0], np.histogram(x, 3)[1], np.histogram(ROW[:4], 3,
        (-1, w[1]), weights=w),
        np.histogramdd(np.stack([ROW[:4], SHORT], 1), (3, [0.0, 0.9, 1.6]), weights=w)[0],
        np.histogram(w, 3, density=True),
        np.histogram2d(x, x * x, 2)[1:], np.histogram2d(w, w, [_UP, 2], density=True)[2],
    ], ROW, SHORT),
    "numpy, between points": (lambda x, xp, fp: [
        np.interp(x, xp, fp), np.interp(x[0], xp, fp, fp[0] * 2, fp[1]), np.interp(x, xp, fp, period=2.3),
        np.interp(x, xp, fp + 1j * fp**2),
    ], ROW, _UP, SHORT[[0, 1, 2, 3, 0]] ** 2),
    "numpy, slid along": (lambda a, v: [
        *[f(*pair, mode) for f in (np.convolve, np.correlate) for mode in ("same",
        "valid") for pair in ((a, v), (v, a))],
        np.convolve(a, v), np.correlate(a + 1j, v * 1j + a[0], "full"), np.convolve(v * 1j + a[0], a, "same"),
    ], ROW, SHORT),
    "numpy, differences": (lambda x, t: [
        np.diff(x, 2), np.diff(x, 1, 0, x[:1] * 2), np.ediff1d(x, t), np.trapezoid(x), np.trapezoid(x, t, axis=1),
        np.trapezoid(x, dx=t[0]), np.gradient(x, axis=1), np.gradient(x[0], np.cumsum(t), 1.0, edge_order=2),
        np.gradient(x, t[1], axis=0), np.unwrap(x * 4, axis=1), np.cumulative_sum(x, axis=1, include_initial=True),
        np.cumulative_prod(t),
    ], A, SHORT),
}  # fmt: skip
