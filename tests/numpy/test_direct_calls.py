"""Generated code calls NumPy's functions themselves: what it writes is their call, and gives what NumPy gives."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from api import direct_calls, emit
from each_case import each

X = np.random.default_rng(0).uniform(0.5, 1.0, (3, 4))
V, W = X[0].copy(), X[1].copy()
SQUARE = X[:, :3] + np.eye(3)
COUNTS = np.array([1, 3, 1, 0])

#: what NumPy's functions call in the end
INTERP, CORRELATE = (f"np._core.multiarray.{name}(" for name in ("interp", "correlate"))
#: what is called, and how; an argument that is not written down leaves the call to the kernel
CALLS = {
    INTERP: [
        lambda v: np.interp(v, [0.0, 1.0], [2.0, 3.0]), lambda v: np.interp(v, V[:1], W[:1], left=v[0]),
        lambda v: np.interp(v, [0.6, 0.7], [2.0, 3.0], right=5.0), lambda v: np.interp(v * X, [0.6, 0.7], [2, 3]),
        lambda v: np.interp(v, [0.6, 0.7], [2.0, 3.0], 1.0, v[0]),
    ],
    "np.interp(": [
        lambda v: np.interp(v[0], [0.6, 0.7], [2.0, 3.0]), lambda v: np.interp(v, [0.6, 0.7], [2.0j, 3.0]),
    ],
    CORRELATE: [lambda v, mode=mode: np.convolve(v, W[:2], mode) for mode in ("full", "same", "valid")],
    "np.convolve(": [lambda v, mode=mode: np.convolve(W[:2], v, mode) for mode in ("full", "same", "valid")],
    "np.correlate(": [lambda v, mode=mode: np.correlate(v, W[:2], mode) for mode in ("full", "same", "valid")],
    "np.digitize(": [lambda v: np.digitize(v, [0.6, 0.8]), lambda v: np.digitize(v, [0.6, 0.8], right=True)],
    "np.linspace(": [lambda v: np.linspace(v[0], v[1], 5), lambda v: np.linspace(v[0], 2, 1)],
    "np.fft.fft(": [lambda v: np.fft.fft(v), lambda v: np.fft.fft(v, 7, norm="ortho")],
    "np.fft.ifft(": [lambda v: np.fft.ifft(v, 3)],
    "np.fft.rfft(": [lambda v: np.fft.rfft(v)],
    "np.fft.irfft(": [lambda v: np.fft.irfft(v, 6, 0, "forward")],
    "np.median(": [
        lambda v: np.median(v), lambda v: np.median(v * X, 1), lambda v: np.median(v * X, (0, 1), keepdims=True),
    ],
    "np.nanmedian(": [lambda v: np.nanmedian(v * X, 0)],
    "np.percentile(": [
        lambda v: np.percentile(v, 30), lambda v: np.percentile(v * X, 30, axis=1, keepdims=True),
        lambda v: np.percentile(v * X, 30.5, axis=(1,), method="nearest"),
    ],
    "np.quantile(": [lambda v: np.quantile(v * X, 0.25, axis=(0, 1)), lambda v: np.quantile(v, 1)],
    "np.nanquantile(": [lambda v: np.nanquantile(v, 0.5)],
    " ** 2": [lambda v: v**2, np.square],
    " ** 0.5": [lambda v: v**0.5, np.sqrt],
    " ** -1": [lambda v: v**-1, np.reciprocal],
    "np.sqrt(": [lambda v: np.sqrt(v[0])],
    "[::-1]": [lambda v: np.flip(v) + 1, lambda v: np.flip(v * X, 0)],
    "[:, ::-1]": [lambda v: np.flip(v * X, -1), lambda v: np.fliplr(v * X)],
    "[::-1, ::-1]": [lambda v: np.flip(v * X)],
    "np.unique(": [lambda v: np.unique(np.round(v, 1)), lambda v: np.unique(v * X)],
}  # fmt: skip
#: of integers, of matrices
COUNTED = {"np.bincount(": [np.bincount, lambda n: np.bincount(n, minlength=9), lambda n: np.bincount(n, V, 2)]}
FACTORS = {
    "np.linalg.svd(": [np.linalg.svd, lambda a: np.linalg.svd(a[:, :2]), lambda a: np.linalg.svd(a[:2], False)],
    "np.linalg.eigh(": [np.linalg.eigh, lambda a: np.linalg.eigh(a, "U")],
    "np.linalg.eigvalsh(": [np.linalg.eigvalsh],
    "np.linalg.qr(": [np.linalg.qr],
}
ALL = [
    (call, f, x)
    for table, x in ((CALLS, V), (COUNTED, COUNTS), (FACTORS, SQUARE))
    for call, forms in table.items()
    for f in forms
]


@each(ALL, lambda call, f, x: call)
def test_numpys_function_is_called_by_generated_code(call, f, x):
    ours = al.function(lambda x: f(x), executor="sequential")
    found, wanted = ours(x), f(x)
    assert call in emit(ours.get_concrete_function(x).runner.graph).source
    for one, other in zip(
        found if isinstance(wanted, tuple) else [found], wanted if isinstance(wanted, tuple) else [wanted], strict=True
    ):
        assert type(one) is type(other) and one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "call, f", [
        ("np.unique(", lambda v: np.unique(v, return_counts=True)[1]),
        ("np.percentile(", lambda v: np.percentile(v, [30, 40])),
        ("np.percentile(", lambda v: np.percentile(v, 30, weights=W, method="inverted_cdf")),
        ("np.linspace(", lambda v: np.linspace(v[0], v[1], 5, dtype=np.float32)),
    ],
)  # fmt: skip
def test_what_a_call_would_not_say_is_left_to_the_kernel(call, f):
    ours = al.function(lambda v: f(v), executor="sequential")
    found, wanted = ours(V), f(V)
    assert call not in emit(ours.get_concrete_function(V).runner.graph).source
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


def test_a_length_that_depends_on_values_is_still_that_of_a_vector():
    @al.function
    def counted(places, n):
        for _ in range(n):
            places = np.bincount((places + 3) % 8, minlength=4)
        return places

    def plain(places, n):
        return counted.python_function(places, n)

    for n in (2, np.int64(2)):
        np.testing.assert_array_equal(counted(COUNTS, n), plain(COUNTS, n))


def test_a_numpy_without_the_function_inside_is_called_by_its_name():
    assert direct_calls.inside("interp", "np.interp") == "np._core.multiarray.interp"
    assert direct_calls.inside("no such function", "np.interp") == "np.interp"
