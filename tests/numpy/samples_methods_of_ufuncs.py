"""Samples of the methods of NumPy's ufuncs."""

from __future__ import annotations

import numpy as np

_REDUCED = (
    "{f}(x)",
    "{f}(x, 1)",
    "{f}(x, axis=None)",
    "{f}(x, axis=0, keepdims=True)",
    "{f}(x, 0, None, None, True)",
    "{f}(cube, (0, 2))",
    "{f}(x, 5)",
    "{f}(empty, 0)",
)
_SUMS = ("{f}(x, dtype=np.float32)", "{f}(x, initial=2)", "{f}(x, axis=0, where=b)", "{f}(x, out=y)")
_RUNNING = ("{f}(x)", "{f}(x, 1)", "{f}(v, axis=0)", "{f}(x, 0, np.float64)", "{f}(x, out=y)")
_AT_PLACES = ("{f}(v, [0, 2])", "{f}(x, [0, 1, 0], axis=1)", "{f}(x, i[1:], 0, np.float64)", "{f}(v, [0, 9])")
_OUTER = ("{f}(v, w)", "{f}(x, v)", "{f}(v, 2)", "{f}(v, w, dtype=np.float64)", "{f}(2, x)")


def _calls(f: str, *families: tuple[str, ...]) -> list[str]:
    return [call.format(f=f) for family in families for call in family]


SAMPLES = {
    "ufunc.reduce": [
        *_calls("np.add.reduce", _REDUCED, _SUMS),
        *_calls("np.multiply.reduce", _REDUCED, _SUMS),
        *_calls("np.maximum.reduce", _REDUCED),
        *_calls("np.logical_and.reduce", _REDUCED),
        *_calls("np.logical_or.reduce", _REDUCED),
        *_calls("np.minimum.reduce", _REDUCED),
        *_calls("np.subtract.reduce", _REDUCED[:4]),
        *_calls("np.bitwise_xor.reduce", _REDUCED[:4]),
        "np.sin.reduce(x)",
        *_calls("np.logaddexp.reduce", _REDUCED[:4]),
    ],
    "ufunc.accumulate": [
        *_calls("np.add.accumulate", _RUNNING),
        *_calls("np.multiply.accumulate", _RUNNING),
        *_calls("np.maximum.accumulate", _RUNNING),
        *_calls("np.minimum.accumulate", _RUNNING),
        "np.exp.accumulate(v)",
    ],
    "ufunc.reduceat": [*_calls("np.add.reduceat", _AT_PLACES), *_calls("np.maximum.reduceat", _AT_PLACES)],
    "ufunc.outer": [
        *_calls("np.multiply.outer", _OUTER),
        *_calls("np.subtract.outer", _OUTER),
        *_calls("np.greater.outer", _OUTER[:3]),
        "np.exp.outer(v, w)",
    ],
    "ufunc.at": ["np.add.at(x, (0, 1), 2)", "np.add.at(v, i, v[:3])"],
}

_X = np.random.default_rng(17).uniform(0.3, 0.8, (2, 3))
_PLACES = np.array([0, 1, 0])


def _reduced(x):
    return [
        np.subtract.reduce(x, 1), np.divide.reduce(x, keepdims=True), np.hypot.reduce(x, axis=None),
        np.logaddexp.reduce(x, (0, 1)), np.logaddexp2.reduce(x, -1), np.fmax.reduce(x), np.fmin.reduce(x, 1),
    ]  # fmt: skip


GRADIENTS = {
    "methods of ufuncs, reduced": (_reduced, _X),
    "methods of ufuncs, running": (lambda x: [
        np.subtract.accumulate(x, 1), np.maximum.accumulate(x, 1), np.minimum.accumulate(x),
        np.fmax.accumulate(x, 0) * x,
    ], _X),
    "methods of ufuncs, in parts": (lambda x: np.add.reduceat(x, _PLACES, 1) * x, _X),
}  # fmt: skip
