"""Products of matrices as they are cut for processors with few and many vector registers, wide and narrow ones."""

from __future__ import annotations

import numpy as np
import pytest
from api import gemm, host, machine_kernels, machine_steps, matmul, products
from each_case import each
from native_checks import compile_native, graph_of
from optimisation import translated
from test_machine_kernels import piece_of

FAR, ALONE = 1 << 15, 1 << 21
OLD_MASKS = gemm.machine_of(host().features).old_masks
MACHINES = {
    "few": gemm.Machine(128, 16, False, OLD_MASKS),
    "many": gemm.Machine(128, 32, False, OLD_MASKS),
    "wide": gemm.Machine(256, 16, False, OLD_MASKS),
}
#: rows, inner extent, columns: of a tile or less, with rows and columns left over, in several parts of the inner extent
SIZES = [(3, 5, 70), (5, 8, 3), (33, 50, 45), (40, 17, 64), (40, 33, 200)]


@each([
    ("few", "f4", FAR, ALONE), ("many", "f4", FAR, ALONE), ("wide", "f4", FAR, ALONE), ("few", "i4", FAR, ALONE),
    ("wide", "f8", FAR, ALONE), ("many", "f4", 0, ALONE), ("many", "f8", 0, 0), ("wide", "f4", 0, 0),
])  # fmt: skip
def test_products_are_numpys(name, dtype, near, shared):
    """Right matrices of up to ``near`` bytes are left where they are; threads share what takes so many steps."""
    rng = np.random.default_rng(3)
    pairs = [[rng.integers(-9, 9, shape).astype(dtype) for shape in ((m, k), (k, n))] for m, k, n in SIZES]
    pairs.append([np.ascontiguousarray(pairs[2][0].T).T, pairs[2][1]])
    values = [x for pair in pairs for x in pair]
    with pytest.MonkeyPatch.context() as patch, translated():
        patch.setattr(gemm, "machine_of", lambda features: MACHINES[name])
        patch.setattr(gemm, "INNER", 16)
        patch.setattr(gemm, "NEAR", near)
        patch.setattr(products, "SHARED_WORK", shared)
        run = compile_native(graph_of(lambda *xs: [matmul(a, b) for a, b in zip(xs[::2], xs[1::2])], *values))
    for got, (a, b) in zip(run(values), pairs):
        np.testing.assert_array_equal(got, a @ b)  # whole numbers: no sum is rounded


@each([
    ("few", "f4", ALONE), ("many", "f4", 0), ("wide", "f4", ALONE), ("few", "i4", ALONE), ("wide", "f8", 0),
    ("many", "f8", ALONE),
])  # fmt: skip
def test_right_matrices_are_turned_square_by_square(name, dtype, shared):
    """As they are copied; those that are no whole squares beforehand."""
    rng, sizes = (
        np.random.default_rng(4),
        [(33, 64, 48), (40, 40, 208), (5, 16, 16), (3, 24, 72), (40, 33, 64), (1, 64, 64)],
    )
    pairs = [[rng.integers(-9, 9, shape).astype(dtype) for shape in ((m, k), (n, k))] for m, k, n in sizes]
    values = [x for pair in pairs for x in pair]
    with pytest.MonkeyPatch.context() as patch, translated():
        patch.setattr(gemm, "machine_of", lambda features: MACHINES[name])
        patch.setattr(gemm, "INNER", 16)
        patch.setattr(gemm, "LARGE", shared)
        patch.setattr(products, "SHARED_WORK", shared)
        run = compile_native(graph_of(lambda *xs: [matmul(a, b.T) for a, b in zip(xs[::2], xs[1::2])], *values))
    for got, (a, b) in zip(run(values), pairs):
        np.testing.assert_array_equal(got, a @ b.T)


@pytest.mark.parametrize(("is_shared", "threads", "count"), [(False, 1, 1), (False, 2, 0), (True, 2, 1)])
def test_large_products_are_blas_where_it_has_threads_for_them(is_shared, threads, count, monkeypatch):
    monkeypatch.setattr(machine_kernels, "blas_threads", lambda most: min(most, threads))
    monkeypatch.setattr(machine_steps.background, "submit", lambda job: job() or True)
    x = np.random.default_rng(1).standard_normal((80, 80)).astype(np.float32)
    piece, source = piece_of(lambda x: x @ x, x), machine_kernels.machine_kernels()
    source.kernels([piece], 100.0, is_shared)
    made = source.kernels([piece], 100.0, is_shared)
    assert len(made) == count
    for kernel in made.values():
        np.testing.assert_allclose(kernel(x), x @ x, rtol=2e-5, atol=1e-4)
