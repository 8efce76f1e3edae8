"""Products of matrices as they are cut for processors with few and many vector registers, wide and narrow ones."""

from __future__ import annotations

import numpy as np
import pytest
from api import gemm, host, matmul
from each_case import each
from native_checks import compile_native, graph_of
from optimisation import translated

OLD_MASKS = gemm.machine_of(host().features).old_masks
MACHINES = {
    "few": gemm.Machine(128, 16, False, OLD_MASKS),
    "many": gemm.Machine(128, 32, False, OLD_MASKS),
    "wide": gemm.Machine(256, 16, False, OLD_MASKS),
}
#: rows, inner extent, columns: of a tile or less, with rows and columns left over, in several parts of the inner extent
SIZES = [(3, 5, 70), (5, 8, 3), (33, 50, 45), (40, 17, 64)]


@each([("few", "f4"), ("many", "f4"), ("wide", "f4"), ("few", "i4"), ("wide", "f8")])
def test_products_are_numpys(name, dtype):
    rng = np.random.default_rng(3)
    pairs = [[rng.integers(-9, 9, shape).astype(dtype) for shape in ((m, k), (k, n))] for m, k, n in SIZES]
    pairs.append([np.ascontiguousarray(pairs[2][0].T).T, pairs[2][1]])
    values = [x for pair in pairs for x in pair]
    with pytest.MonkeyPatch.context() as patch, translated():
        patch.setattr(gemm, "machine_of", lambda features: MACHINES[name])
        patch.setattr(gemm, "INNER", 16)
        run = compile_native(graph_of(lambda *xs: [matmul(a, b) for a, b in zip(xs[::2], xs[1::2])], *values))
    for got, (a, b) in zip(run(values), pairs):
        np.testing.assert_array_equal(got, a @ b)  # whole numbers: no sum is rounded
