"""Samples of NumPy's functions that make arrays of extents, numbers and other arrays."""

from __future__ import annotations

import autoloop as al
import numpy as np
from api import NUMPY_FUNCTIONS

_MADE = (
    "{f}(3)",
    "{f}((2, 3))",
    "{f}(n)",
    "{f}((2, n))",
    "{f}([n, 2], np.float32)",
    "{f}(shape=2, dtype=int)",
    "{f}(3, 'i4', 'C')",
    "{f}(n, order='F')",
    "{f}(n, device='cpu')",
    "{f}(n, like=v)",
    "{f}(-1)",
)
_LIKE = (
    "{f}(x)",
    "{f}(x, np.float32)",
    "{f}(x, dtype=int, order='K')",
    "{f}(a=x, shape=(4,))",
    "{f}(x, None, 'K', True, 3)",
    "{f}(x, order='F')",
    "{f}([v, w])",
    "{f}(x, device='cpu')",
    "{f}(2.5)",
    "{f}(x, subok=False)",
    "{f}(x, shape=(n, 2))",
)
_WINDOW = ("{f}(5)", "{f}(M=4)", "{f}(1)", "{f}(0)", "{f}(n)")


def _calls(f: str, family: tuple[str, ...]) -> list[str]:
    return [call.format(f=f) for call in family]


SAMPLES = {
    "np.zeros": _calls("np.zeros", _MADE),
    "np.ones": _calls("np.ones", _MADE),
    "np.empty": [
        "np.empty(3).shape",
        "np.empty((2, n)).shape",
        "np.empty(n, dtype=np.float32).dtype",
        "np.empty(n, dtype=np.int16) * 0",
    ],
    "np.full": [
        "np.full(3, t)",
        "np.full((2, n), 5)",
        "np.full(n, 2.5)",
        "np.full(n, 2, dtype=float)",
        "np.full(shape=2, fill_value=v[0])",
        "np.full((2, 4), v)",
        "np.full(n, 2, None, 'F')",
        "np.full(n, True)",
        "np.full(-1, t)",
    ],
    "np.zeros_like": _calls("np.zeros_like", _LIKE),
    "np.ones_like": _calls("np.ones_like", _LIKE),
    "np.empty_like": [
        "np.empty_like(x).shape",
        "np.empty_like(x, np.float32).shape",
        "np.empty_like(x, shape=(4,)).shape",
    ],
    "np.full_like": [
        "np.full_like(x, 2)",
        "np.full_like(x, t)",
        "np.full_like(x, 2.5)",
        "np.full_like(x, 2, np.float32)",
        "np.full_like(a=x, fill_value=1, shape=(2,))",
        "np.full_like(x, x[0])",
        "np.full_like(x, 1, None, 'K', True)",
        "np.full_like(x, 1, order='F')",
    ],
    "np.arange": [
        "np.arange(n)",
        "np.arange(1, n)",
        "np.arange(n, 10, 2)",
        "np.arange(t)",
        "np.arange(0, t, 0.1)",
        "np.arange(n, dtype=np.float32)",
        "np.arange(0, step=2, stop=n)",
        "np.arange(n, 0, -1)",
        "np.arange(n, device='cpu')",
        "np.arange(3, n, 0)",
        "np.arange(v[0])",
    ],
    "np.eye": [
        "np.eye(3)",
        "np.eye(n)",
        "np.eye(n, 4, 1)",
        "np.eye(N=n, M=None, k=-1, dtype=int)",
        "np.eye(n, order='F')",
        "np.eye(2, n, dtype=np.float32)",
    ],
    "np.identity": ["np.identity(3)", "np.identity(n)", "np.identity(n=n, dtype=np.int8)"],
    "np.tri": ["np.tri(3)", "np.tri(n)", "np.tri(n, 4, 1)", "np.tri(N=n, M=2, k=-1, dtype=int)"],
    "np.array": [
        "np.array(x)",
        "np.array([v, w])",
        "np.array([t, 1])",
        "np.array([v[0], 2], dtype=np.float32)",
        "np.array(x, None, copy=True, order='C', subok=False, ndmin=3)",
        "np.array([[t, t], [1, 2]])",
        "np.array(x, order='F')",
        "np.array([t, n])",
        "np.array([x, v])",
        "np.array(x, like=x)",
        "np.array((t, 2j))",
    ],
    "np.asarray": [
        "np.asarray(x)",
        "np.asarray([v, w], np.float32)",
        "np.asarray(x, dtype=int)",
        "np.asarray(x, copy=True)",
        "np.asarray(x, order='F')",
        "np.asarray(x, None, 'C', device='cpu')",
    ],
    "np.asanyarray": ["np.asanyarray(x)", "np.asanyarray([v, w], np.float32)", "np.asanyarray(x, copy=True)"],
    "np.ascontiguousarray": [
        "np.ascontiguousarray(x)",
        "np.ascontiguousarray([v, w], np.float32)",
        "np.ascontiguousarray(t)",
    ],
    "np.asfortranarray": ["np.asfortranarray(x)", "np.asfortranarray([v, w], np.float32)"],
    "np.asarray_chkfinite": [
        "np.asarray_chkfinite(x)",
        "np.asarray_chkfinite([v, w], np.float64)",
        "np.asarray_chkfinite(np.log(v * 0))",
    ],
    "np.require": ["np.require(x)", "np.require(x, np.float32, ['C'])", "np.require(x, requirements='F')"],
    "np.copy": [
        "np.copy(x)",
        "np.copy([v, w])",
        "np.copy(a=x, order='C')",
        "np.copy(x, 'F')",
        "np.copy(x, subok=True)",
    ],
    "np.linspace": [
        "np.linspace(0, t)",
        "np.linspace(t, 3, 4)",
        "np.linspace(0, n, 5)",
        "np.linspace(0, t, 4, False)",
        "np.linspace(0, t, num=4, retstep=True)",
        "np.linspace(0, t, 4, dtype=np.float32)",
        "np.linspace(v, w, 3)",
        "np.linspace(v, 1, 3, axis=1)",
        "np.linspace(0, n, 4, dtype=int)",
        "np.linspace(t, 1, n)",
        "np.linspace(t, 1, 1)",
        "np.linspace(t, 1, 4, True, True)",
        "np.linspace(t, 1, -2)",
        "np.linspace(v[0], v[1], 3)",
    ],
    "np.logspace": [
        "np.logspace(0, t)",
        "np.logspace(0, t, 4, False)",
        "np.logspace(t, 2, 3, base=2.0)",
        "np.logspace(v, w, 3)",
        "np.logspace(0, t, 3, dtype=np.float32)",
    ],
    "np.geomspace": [
        "np.geomspace(1, n)",
        "np.geomspace(t, 8, 4)",
        "np.geomspace(t, 8, 4, endpoint=False)",
        "np.geomspace(v, w, 3)",
        "np.geomspace(1, n, 3, dtype=int)",
    ],
    "np.indices": [
        "np.indices((2, 3))",
        "np.indices((2, n))",
        "np.indices(dimensions=(2, n), dtype=float)",
        "np.indices((2, n), sparse=True)",
    ],
    "np.fromfunction": [
        "np.fromfunction(lambda a, c: a + c * t, (2, 3))",
        "np.fromfunction(lambda a, c: a == c, (3, 3), dtype=int)",
        "np.fromfunction(lambda a: a + x[0, 0], (3,))",
    ],
    "np.fromiter": ["np.fromiter([t, 2.0], float)", "np.fromiter((k for k in (1, 2, 3)), dtype=int)"],
    "np.diag_indices": ["np.diag_indices(3)", "np.diag_indices(n, 2)"],
    "np.diag_indices_from": ["np.diag_indices_from(m)", "np.diag_indices_from(arr=x)"],
    "np.tril_indices": ["np.tril_indices(3)", "np.tril_indices(n)", "np.tril_indices(n, 1, 4)"],
    "np.triu_indices": ["np.triu_indices(3)", "np.triu_indices(n)", "np.triu_indices(n=n, k=1, m=4)"],
    "np.tril_indices_from": ["np.tril_indices_from(m)", "np.tril_indices_from(arr=x, k=1)"],
    "np.triu_indices_from": ["np.triu_indices_from(m)", "np.triu_indices_from(arr=x, k=-1)"],
    "np.mask_indices": ["np.mask_indices(3, np.triu)", "np.mask_indices(n, np.triu, 1)"],
    "np.unravel_index": [
        "np.unravel_index(i, (2, 3))",
        "np.unravel_index(n, shape=(2, 3))",
        "np.unravel_index(i + 9, (2, 3))",
        "np.unravel_index(i, (2, 3), order='F')",
    ],
    "np.ravel_multi_index": [
        "np.ravel_multi_index((i, i), (3, 4))",
        "np.ravel_multi_index((i, i), dims=(2, 2), mode='clip')",
        "np.ravel_multi_index((i, i), (2, 4), mode=('wrap', 'clip'), order='F')",
        "np.ravel_multi_index((i, i), (2, 2))",
    ],
    "np.bartlett": _calls("np.bartlett", _WINDOW),
    "np.blackman": _calls("np.blackman", _WINDOW),
    "np.hamming": _calls("np.hamming", _WINDOW),
    "np.hanning": _calls("np.hanning", _WINDOW),
    "np.kaiser": ["np.kaiser(5, 14)", "np.kaiser(M=n, beta=8.6)", "np.kaiser(5, t)", "np.kaiser(1, 2)"],
    "np.vectorize": [
        "np.vectorize(lambda a, c: a + c if a > c else a - c)(x, y)",
        "np.vectorize(lambda a: a * 2, otypes=[float])(v)",
        "np.vectorize(lambda a: (a, a + 1))(x)",
        "np.vectorize(lambda a, c: a if a > c else c)(x, y[0])",
        "np.vectorize(lambda a: a, signature='(i)->(i)')(v)",
    ],
    "np.frompyfunc": ["np.frompyfunc(lambda a: a + 1, 1, 1)(2)", "np.frompyfunc(lambda a: a + 1, 1, 1)(v)"],
    "np.apply_along_axis": [
        "np.apply_along_axis(lambda r: r.sum(), 1, x)",
        "np.apply_along_axis(np.sort, 0, x)",
        "np.apply_along_axis(func1d=np.cumsum, axis=-1, arr=x)",
        "np.apply_along_axis(lambda r, k: r[k], 0, x, 1)",
    ],
    "np.apply_over_axes": ["np.apply_over_axes(np.sum, cube, [0, 2])", "np.apply_over_axes(func=np.sum, a=x, axes=0)"],
    "np.ndindex": [
        "[k for k in np.ndindex(2, 3)]",
        "[x[k] for k in np.ndindex(x.shape)]",
        "[k for k in np.ndindex(n)]",
    ],
    "np.ndenumerate": ["[q for k, q in np.ndenumerate(x)]", "[k for k, q in np.ndenumerate(x)]"],
    "np.nditer": [
        "[q + 1 for q in np.nditer(x)]",
        "[q + 1 for q in np.nditer(x, order='C')]",
        "[q for q in np.nditer(x, order='F')]",
        "[a * b for a, b in np.nditer([x, y[0]], order='C')]",
        "[q for q in np.nditer(x, flags=['multi_index'])]",
    ],
    "np.nested_iters": ["np.nested_iters(x, [[0], [1]])"],
    "np.broadcast": [
        "np.broadcast(x, y).shape",
        "np.broadcast(x, y[0]).nd",
        "np.broadcast(x[:, :1], y[0]).size",
        "[a * b for a, b in np.broadcast(x, y[0])]",
        "np.broadcast(x, 2, v[0]).numiter",
        "np.broadcast(x, v)",
    ],
    "np.array2string": ["np.array2string(x)", "np.array2string(v, precision=2, separator=', ', suppress_small=True)"],
    "np.array_repr": ["np.array_repr(x)", "np.array_repr(v, 10, 2, True)"],
    "np.array_str": ["np.array_str(x)", "np.array_str(v, precision=1)"],
    "np.format_float_positional": ["np.format_float_positional(t)", "np.format_float_positional(x[0, 0], 3, trim='-')"],
    "np.format_float_scientific": ["np.format_float_scientific(t)", "np.format_float_scientific(x[0, 0], 3, False)"],
}
NOT_APPLICABLE = {
    **dict.fromkeys(
        (
            "np.fromfile",
            "np.fromregex",
            "np.genfromtxt",
            "np.load",
            "np.loadtxt",
            "np.save",
            "np.savetxt",
            "np.savez",
            "np.savez_compressed",
        ),
        "files",
    ),
    **dict.fromkeys(
        ("np.fromstring",),
        "text",
    ),
    **dict.fromkeys(
        (
            "np.busday_count",
            "np.busday_offset",
            "np.datetime_as_string",
            "np.datetime_data",
            "np.is_busday",
            "np.isnat",
        ),
        "dates",
    ),
    **dict.fromkeys(
        (
            "np.get_include",
            "np.info",
            "np.show_config",
            "np.show_runtime",
            "np.get_printoptions",
            "np.set_printoptions",
            "np.printoptions",
            "np.getbufsize",
            "np.setbufsize",
            "np.geterr",
            "np.seterr",
            "np.geterrcall",
            "np.seterrcall",
        ),
        "settings and information",
    ),
    **dict.fromkeys(("np.asmatrix", "np.bmat"), "matrices, a subclass of arrays"),
    **dict.fromkeys(("np.frombuffer", "np.from_dlpack"), "memory of others"),
}


@al.convert
def _windows(x, y):
    return [np.kaiser(5, x * 9), np.kaiser(4, y), np.i0(x), np.i0(x * 30) * 1e-9, np.i0(-y)]


GRADIENTS = {
    "numpy, windows": (_windows, np.array(0.7), np.array(1.4)),
    "numpy, spaced": (
        lambda x, y: [
            np.linspace(x, y, 3),
            np.linspace(x, y[0], 4, False, axis=-1),
            np.geomspace(x, y, 3, axis=1),
            np.logspace(x, y, 2, base=2.0),
        ],
        np.array([0.3, 0.7]),
        np.array([1.3, 2.7]),
    ),
    "numpy, checked": (lambda x: NUMPY_FUNCTIONS[np.asarray_chkfinite](x) * x, np.array([0.3, 0.7])),
}
