"""Norms have NumPy's bits where NumPy's kernels run: of parts that lie apart, and in whatever order elements lie."""

import autoloop
import numpy as np
import pytest

_NORM = np.linalg.norm
PROGRAMS = {
    "a column": lambda x: _NORM(x[:, 2]),
    "a column, of order 2": lambda x: _NORM(x[:, 2], 2),
    "backwards": lambda x: _NORM(x[::-1, 1]),
    "transposed": lambda x: _NORM(x.T, "fro"),
    "transposed and backwards": lambda x: _NORM(x.T[::-1]),
    "a part": lambda x: _NORM(x[::2, ::3], keepdims=True),
}


@pytest.mark.parametrize("executor", ["sequential", "dataflow"])
@pytest.mark.parametrize("dtype", ["f", "d"])
def test_norms_of_parts_have_numpys_bits(executor, dtype):
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal((300, 7)).astype(dtype) for _ in range(8)]
    for name, plain in PROGRAMS.items():
        decorated = autoloop.function(plain, executor=executor)
        for x in arrays:
            for one in (x, np.asfortranarray(x)):
                np.testing.assert_array_equal(decorated(one), plain(one), name, strict=True)
