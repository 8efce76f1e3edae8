"""Samples of NumPy's reductions, running sums and sorting."""

from __future__ import annotations

import autoloop as al
import numpy as np

_REDUCED = (
    "{f}(x)",
    "{f}(x, 0)",
    "{f}(x, axis=-1, keepdims=True)",
    "{f}(a=x, axis=1)",
    "{f}(x, axis=5)",
    "{f}(empty, 0)",
    "{f}([x[0], x[1]], axis=0)",
    "{f}(x, axis=0, out=y[0])",
    "{f}(3)",
    "{f}(t)",
    "{f}(x, n - 2)",
)
_AXES = (
    "{f}(x, axis=(0, 1))",
    "{f}(cube, axis=(0, -1))",
    "{f}(cube, (2, 0), keepdims=True)",
    "{f}(x, axis=())",
    "{f}(x, axis=(0, 0))",
    "{f}(empty)",
)
_PLACES = ("{f}(x, None, None, None, True)", "{f}(x, 1, None, None, False)")
_WIDE = ("{f}(x, dtype=np.float32)", "{f}(x, 1, np.float64)", "{f}(x, dtype=int)")
_BEGUN = (
    "{f}(x, where=b, initial=2)",
    "{f}(x, axis=0, where=b, initial=1)",
    "{f}(x, 0, initial=3)",
    "{f}(empty, 0, initial=7.0)",
    "{f}(-x * 0.0, 0, initial=-0.0)",
    "{f}(-x * 0.0, 0, where=b, initial=-0.0)",
    "{f}([x * 1e100, x * 1e100, x * 1e100, x * 1e100], 0, initial=1e-300)",
    "{f}([[1.0, 1.0]] * 64, 0, initial=1e16)",
)
_MASKED = ("{f}(x, where=b)", "{f}(x, axis=1, keepdims=True, where=b)", "{f}(x, 0, where=[True, False, True])")
_SPREAD = (
    "{f}(x, ddof=1)",
    "{f}(x, 0, None, None, 1, True)",
    "{f}(x, axis=1, correction=1)",
    "{f}(x, correction=1, ddof=1)",
    "{f}(x, axis=0, ddof=2)",
    "{f}(x, axis=0, mean=np.mean(x, axis=0, keepdims=True))",
)
_RUNNING = (
    "{f}(x)",
    "{f}(x, 0)",
    "{f}(x, axis=-1)",
    "{f}(v)",
    "{f}(x, 0, np.float64)",
    "{f}(x, dtype=np.float32)",
    "{f}(x, 0, None, y)",
    "{f}(x, 3)",
    "{f}(a=x, axis=1)",
    "{f}([v[0], v[1]])",
    "{f}(x, n)",
)
_CUMULATIVE = ("{f}(v)", "{f}(x, axis=0)", "{f}(x, axis=1, include_initial=True)", "{f}(v, dtype=np.float64)", "{f}(x)")
_SORTED = (
    "{f}(x)",
    "{f}(x, 0)",
    "{f}(x, axis=None)",
    "{f}(x, 0, 'stable')",
    "{f}(x, kind='heapsort')",
    "{f}(x, stable=True)",
    "{f}(x, 0, 'stable', None)",
    "{f}(x, kind='quicksort', stable=True)",
    "{f}(x, kind='none')",
    "{f}(x, order='f')",
    "{f}(z)",
    "{f}(x, axis=7)",
    "{f}([v[1], v[0]])",
)


def _calls(f: str, *families: tuple[str, ...]) -> list[str]:
    return [call.format(f=f) for family in families for call in family]


SAMPLES = {
    "np.sum": _calls("np.sum", _REDUCED, _AXES, _PLACES, _WIDE, _BEGUN, _MASKED),
    "np.prod": _calls("np.prod", _REDUCED, _AXES, _PLACES, _WIDE, _BEGUN, _MASKED),
    "np.max": _calls("np.max", _REDUCED, _AXES, ("{f}(x, 0, None, True)",), _BEGUN, _MASKED),
    "np.min": _calls("np.min", _REDUCED, _AXES, ("{f}(x, 0, None, True)",), _BEGUN, _MASKED),
    "np.amax": _calls("np.amax", _REDUCED, _AXES, _BEGUN),
    "np.amin": _calls("np.amin", _REDUCED, _AXES, _BEGUN),
    "np.ptp": _calls("np.ptp", _REDUCED, _AXES),
    "np.argmax": _calls("np.argmax", _REDUCED, ("{f}(x, (0, 1))", "{f}(x, keepdims=True)", "{f}(z, 1)")),
    "np.argmin": _calls("np.argmin", _REDUCED, ("{f}(x, (0, 1))", "{f}(x, keepdims=True)", "{f}(z, 1)")),
    "np.any": _calls("np.any", _REDUCED, _AXES, _MASKED),
    "np.all": _calls("np.all", _REDUCED, _AXES, _MASKED),
    "np.count_nonzero": _calls("np.count_nonzero", _AXES, ("{f}(x)", "{f}(x, 0)", "{f}(b, axis=1, keepdims=True)")),
    "np.mean": _calls("np.mean", _REDUCED, _AXES, _PLACES, _WIDE, _MASKED),
    "np.var": _calls("np.var", _REDUCED, _AXES, _WIDE, _MASKED, _SPREAD),
    "np.std": _calls("np.std", _REDUCED, _AXES, _WIDE, _MASKED, _SPREAD),
    "np.cumsum": _calls("np.cumsum", _RUNNING),
    "np.cumprod": _calls("np.cumprod", _RUNNING),
    "np.cumulative_sum": _calls("np.cumulative_sum", _CUMULATIVE),
    "np.cumulative_prod": _calls("np.cumulative_prod", _CUMULATIVE),
    "np.sort": _calls("np.sort", _SORTED),
    "np.argsort": _calls("np.argsort", _SORTED),
    "np.sort_complex": ["np.sort_complex(x)", "np.sort_complex(a=z)", "np.sort_complex(v)"],
}

_X = np.array([[0.3, 1.7, -0.6], [0.9, -1.2, 2.2]])
_MASK = np.array([[True, False, True], [True, True, False]])

GRADIENTS = {
    "numpy, from an initial value": (
        lambda x, s: [np.max(x, 0, initial=1.5), np.min(x, initial=s[0]), np.max(x, initial=5.0) * x], _X, _X[0] - 3,
    ),
    "numpy, begun from a value": (
        lambda x, s: [np.sum(x, 0, initial=s[0]), np.prod(x, initial=s[1], keepdims=True)], _X, _X[0] - 3,
    ),
    "numpy, where": (lambda x: [
        np.sum(x, 0, where=_MASK), np.prod(x, where=_MASK), np.mean(x, 1, where=_MASK), np.var(x, where=_MASK, ddof=1),
        np.std(x, 0), np.max(x, 0, where=_MASK, initial=-9.0),
    ], _X),
    "numpy, complex order": (lambda x: np.sort(al.complex(x, x * x), 0), _X),
}  # fmt: skip
WITHOUT_GRADIENTS = {
    "numpy, complex order": (lambda x: [
        f(al.complex(x, x), 0) for f in (np.argmax, np.argmin, np.argsort, np.max, np.min)
    ], _X),
}  # fmt: skip
