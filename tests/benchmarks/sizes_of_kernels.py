"""How large the kernels are that ``kernels.py`` measures: what makes their arguments, and two sizes of each.

The functions themselves are those of ``tests/equivalence``. Counts of turns that do not say how large an array is are
NumPy's integers, as there; what the body unpacks or makes arrays of are Python's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "equivalence"))

import kernels_in_place
import kernels_of_applications

T, F = np.int64, np.float64
FUNCTIONS = {
    function.__name__: function
    for module in (kernels_in_place, kernels_of_applications)
    for function, _ in module.KERNELS
}
#: the classes whose geometric means are told
DENSE, STENCIL, SCAN = "factors and triangular loops", "stencils", "scans, tables and bits"
PRODUCT, ELEMENTS, NETWORK = "matrix products", "statistics and element-wise", "neural networks"


@dataclass(frozen=True)
class Sized:
    """What is measured of a kernel.

    Attributes
    ----------
    kind : str
        The class that it counts in.
    make : callable
        Gives the arguments of a generator of random numbers and the numbers of a size.
    small, middle : tuple of int
        Sizes with which NumPy takes about 5 to 10 and 50 to 500 milliseconds.
    tiny : tuple of int
        One that is over at once, to see that all runs.
    """

    kind: str
    make: Callable[..., tuple[Any, ...]]
    small: tuple[int, ...]
    middle: tuple[int, ...]
    tiny: tuple[int, ...]

    def arguments(self, size: str) -> tuple[Any, ...]:
        """Return the arguments of size ``"S"``, ``"M"`` or ``"tiny"``; the same each time."""
        numbers = {"S": self.small, "M": self.middle, "tiny": self.tiny}[size]
        return self.make(np.random.default_rng(7), *numbers)


def definite(rng, n):
    """A matrix that has all factors."""
    return kernels_in_place.definite(n)(rng)


def sparse_rows(rng, rows, each):
    """The rows of a matrix with about ``each`` elements in a row, and a vector."""
    ends = np.concatenate(([0], np.cumsum(rng.integers(1, 2 * each, rows))))
    return ends, rng.integers(0, rows, ends[-1]), rng.random(ends[-1]), rng.random(rows)


def on_circle(rng, count):
    """Points in the plane around 0, on both sides of the unit circle."""
    return rng.uniform(0.5, 1.5, count) * np.exp(2j * np.pi * rng.random(count))


SIZES = {
    # factors and triangular loops: n rows
    "cholesky": Sized(DENSE, lambda rng, n: (definite(rng, n),), (100,), (400,), (5,)),
    "durbin": Sized(DENSE, lambda rng, n: (rng.random(n) / n,), (1800,), (8000,), (5,)),
    "gramschmidt": Sized(DENSE, lambda rng, n: (rng.random((n + n // 4, n)),), (80,), (240,), (5,)),
    "lu": Sized(DENSE, lambda rng, n: (definite(rng, n),), (70,), (280,), (5,)),
    "ludcmp": Sized(DENSE, lambda rng, n: (definite(rng, n), rng.random(n)), (70,), (280,), (4,)),
    "symm": Sized(
        DENSE, lambda rng, n: (F(1.5), F(1.2), *rng.random((3, n, n))), (52,), (160,), (4,)
    ),
    "syr2k": Sized(
        DENSE, lambda rng, n: (F(1.5), F(1.2), *rng.random((3, n, n))), (48,), (140,), (4,)
    ),
    "syrk": Sized(DENSE, lambda rng, n: (F(1.5), F(1.2), *rng.random((2, n, n))), (72,), (220,), (4,)),
    "trisolv": Sized(DENSE, lambda rng, n: (definite(rng, n), np.zeros(n), rng.random(n)), (4000,), (16_000,), (5,)),
    "trmm": Sized(DENSE, lambda rng, n: (F(1.5), *rng.random((2, n, n))), (80,), (260,), (4,)),
    # stencils: turns, then points along an axis
    "adi": Sized(STENCIL, lambda rng, t, n: (T(t), n, rng.random((n, n))), (8, 100), (25, 250), (2, 5)),
    "cavity_flow": Sized(
        STENCIL,
        lambda rng, t, inner, n: (
            T(t), T(inner), np.zeros((n, n)), np.zeros((n, n)), F(0.001), 2 / (n - 1), 2 / (n - 1), np.zeros((n, n)),
        ),
        (20, 25, 41), (50, 50, 101), (2, 2, 5),
    ),
    "channel_flow": Sized(STENCIL, lambda rng, n: (*rng.random((2, n, n)), F(0.01)), (600,), (1500,), (5,)),
    "fdtd_2d": Sized(
        STENCIL,
        lambda rng, t, n: (T(t), *rng.random((3, n, n)), rng.random(t)),
        (160, 100), (160, 400), (2, 5),
    ),
    "hdiff": Sized(
        STENCIL,
        lambda rng, n, k: (rng.random((n + 4, n + 4, k)), rng.random((n, n, k)), rng.random((n, n, k))),
        (110, 64), (256, 128), (1, 2),
    ),
    "heat_3d": Sized(STENCIL, lambda rng, t, n: (T(t), *rng.random((2, n, n, n))), (60, 30), (60, 70), (2, 4)),
    "jacobi_1d": Sized(STENCIL, lambda rng, t, n: (T(t), *rng.random((2, n))), (1000, 2000), (3000, 20_000), (2, 6)),
    "jacobi_2d": Sized(STENCIL, lambda rng, t, n: (T(t), *rng.random((2, n, n))), (150, 104), (150, 400), (2, 5)),
    "seidel_2d": Sized(STENCIL, lambda rng, t, n: (T(t), n, rng.random((n, n))), (6, 60), (12, 150), (2, 4)),
    "vadv": Sized(
        STENCIL,
        lambda rng, n, k: (rng.random((n, n, k)), rng.random((n, n, k)), rng.random((n + 1, n, k)), 0.3),
        (100, 50), (160, 160), (2, 3),
    ),
    # scans, tables and bits
    "crc16": Sized(SCAN, lambda rng, n: (rng.integers(0, 256, n, dtype=np.uint8),), (5000,), (60_000,), (6,)),
    "deriche": Sized(
        SCAN, lambda rng, high, wide: (F(0.25), rng.random((high, wide))), (300, 500), (1400, 2200), (4, 5)
    ),
    "floyd_warshall": Sized(SCAN, lambda rng, n: (rng.integers(1, 50, (n, n), dtype=np.int32),), (240,), (600,), (5,)),
    "nussinov": Sized(SCAN, lambda rng, n: (n, rng.integers(0, 4, n)), (45,), (110,), (5,)),
    # matrix products
    "atax": Sized(PRODUCT, lambda rng, m, n: (rng.random((m, n)), rng.random(n)), (4000, 2800), (9000, 8000), (4, 3)),
    "bicg": Sized(
        PRODUCT,
        lambda rng, m, n: (rng.random((m, n)), rng.random(m), rng.random(n), np.zeros(m), np.zeros(n)),
        (2400, 1800), (8000, 8000), (3, 4),
    ),
    "contour_integral": Sized(
        PRODUCT,
        lambda rng, slabs, n, count: (slabs, rng.random((slabs, n, n)), on_circle(rng, count), rng.random((n, 3))),
        (2, 50, 64), (4, 150, 64), (2, 3, 3),
    ),
    "doitgen": Sized(
        PRODUCT,
        lambda rng, rows, columns, n: (rows, columns, rng.random((rows, columns, n)), rng.random((n, n))),
        (60, 64, 64), (150, 150, 128), (2, 3, 4),
    ),
    "gemm": Sized(
        PRODUCT,
        lambda rng, m, k, n: (F(1.5), F(1.2), rng.random((m, n)), rng.random((m, k)), rng.random((k, n))),
        (480, 520, 560), (1200, 1200, 1200), (3, 2, 4),
    ),
    "gemver": Sized(PRODUCT, lambda rng, n: (F(1.5), rng.random((n, n)), *rng.random((6, n))), (1600,), (5000,), (4,)),
    "gesummv": Sized(PRODUCT, lambda rng, n: (0.7, 1.3, *rng.random((2, n, n)), rng.random(n)), (2000,), (5000,), (4,)),
    "k2mm": Sized(
        PRODUCT,
        lambda rng, n: (0.7, 1.3, *rng.random((2, n, n)), rng.random((n, n // 2)), rng.random((n, n // 2))),
        (500,), (1100,), (4,),
    ),
    "k3mm": Sized(PRODUCT, lambda rng, n: tuple(rng.random((4, n, n))), (400,), (1000,), (4,)),
    "mvt": Sized(PRODUCT, lambda rng, n: (*rng.random((4, n)), rng.random((n, n))), (3300,), (10_000,), (4,)),
    "scattering_self_energies": Sized(
        PRODUCT,
        lambda rng, k, e, q, n: (
            rng.integers(0, 2, (2, q)), rng.random((2, 2, n, n)), rng.random((k, e, n, n)), rng.random((q, 2, n, n)),
            np.zeros((k, e, n, n)),
        ),
        (4, 48, 8, 8), (6, 100, 20, 12), (2, 2, 2, 2),
    ),
    "spmv": Sized(PRODUCT, sparse_rows, (5000, 8), (60_000, 12), (3, 2)),
    # statistics and element-wise
    "azimuthal_integration": Sized(
        ELEMENTS, lambda rng, n, bins: (*rng.random((2, n)), bins), (20_000, 500), (200_000, 500), (9, 4)
    ),
    "correlation": Sized(ELEMENTS, lambda rng, m, n: (rng.random((m, n)),), (800, 400), (1400, 900), (6, 4)),
    "covariance": Sized(ELEMENTS, lambda rng, m, n: (rng.random((m, n)), F(m)), (800, 400), (1400, 900), (6, 4)),
    "histogram": Sized(
        ELEMENTS, lambda rng, n, bins: (rng.random(n), np.zeros(bins), T(bins)), (20_000, 50), (500_000, 100), (9, 4)
    ),
    "mandelbrot": Sized(
        ELEMENTS, lambda rng, wide, high, t: (wide, high, T(t)), (120, 100, 150), (400, 300, 150), (6, 5, 5)
    ),
    "nbody": Sized(
        ELEMENTS,
        lambda rng, n, t: (rng.random((n, 1)), rng.random((n, 3)), rng.random((n, 3)), T(t), F(0.01)),
        (64, 120), (340, 60), (4, 2),
    ),
    "stockham": Sized(
        ELEMENTS,
        lambda rng, radix, stages: (radix, stages, rng.random(radix**stages) + 1j, np.zeros(radix**stages, complex)),
        (2, 16), (2, 19), (2, 3),
    ),
    # neural networks: images, pixels along an axis, channels
    "conv2d": Sized(
        NETWORK,
        lambda rng, count, n, few, many: (rng.random((count, n, n, few)), rng.random((2, 2, few, many))),
        (4, 36, 3, 16), (8, 100, 3, 16), (1, 5, 2, 3),
    ),
    "lenet": Sized(
        NETWORK,
        lambda rng, count, n, many: (
            rng.random((count, n, n, 1)), rng.random((2, 2, 1, many)), rng.random(many),
            rng.random(((n - 1) // 2 * ((n - 1) // 2) * many, 10)),
        ),
        (4, 35, 6), (16, 85, 6), (1, 7, 2),
    ),
    "mlp": Sized(
        NETWORK,
        lambda rng, count, n: (
            rng.random((count, n)), rng.random((n, 2 * n)), rng.random(2 * n), rng.random((2 * n, 10)), rng.random(10),
        ),
        (128, 900), (256, 1800), (2, 4),
    ),
    "resnet": Sized(
        NETWORK,
        lambda rng, count, n, many, few: (
            rng.random((count, n, n, many)), rng.random((1, 1, many, few)), rng.random((2, 2, few, few)),
            rng.random((1, 1, few, many)),
        ),
        (2, 22, 16, 4), (8, 48, 32, 8), (1, 4, 2, 2),
    ),
    "softmax": Sized(
        NETWORK, lambda rng, a, b, c: (rng.random((a, b, c)),), (40, 100, 512), (160, 160, 800), (2, 3, 4)
    ),
}  # fmt: skip
