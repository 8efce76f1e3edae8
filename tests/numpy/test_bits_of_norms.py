"""Norms have NumPy's bits where NumPy's kernels run: of parts that lie apart, and in whatever order elements lie."""

import autoloop
import numpy as np
import pytest
from executors import needs_native

_NORM = np.linalg.norm
PROGRAMS = {
    "a column": lambda x: _NORM(x[:, 2]),
    "a column, of order 2": lambda x: _NORM(x[:, 2], 2),
    "backwards": lambda x: _NORM(x[::-1, 1]),
    "transposed": lambda x: _NORM(x.T, "fro"),
    "transposed and backwards": lambda x: _NORM(x.T[::-1]),
    "a part": lambda x: _NORM(x[::2, ::3], keepdims=True),
    "along an axis": lambda x: _NORM(x[:, ::2], axis=0),
    "of rows": lambda x: _NORM(x.T, 2, 1),
}


def numbers(rng, dtype):
    """300 times 7, of complex ones both parts."""
    x = rng.standard_normal((300, 7))
    return (x if dtype in "fd" else x + 1j * rng.standard_normal((300, 7))).astype(dtype)


@pytest.mark.parametrize("executor", ["sequential", "dataflow"])
@pytest.mark.parametrize("dtype", ["f", "d", "F", "D"])
def test_norms_of_parts_have_numpys_bits(executor, dtype):
    rng = np.random.default_rng(0)
    arrays = [numbers(rng, dtype) for _ in range(8)]
    for name, plain in PROGRAMS.items():
        decorated = autoloop.function(plain, executor=executor)
        for x in arrays:
            for one in (x, np.asfortranarray(x)):
                np.testing.assert_array_equal(decorated(one), plain(one), name, strict=True)


@needs_native
@pytest.mark.parametrize("dtype", ["F", "D"])
def test_norms_of_complex_numbers_in_machine_code(dtype):
    z = numbers(np.random.default_rng(1), dtype)
    for name, plain in PROGRAMS.items():
        found = autoloop.function(plain, executor="native")(z)
        np.testing.assert_allclose(found, plain(z), 1e-6 if dtype == "F" else 1e-14, err_msg=name, strict=True)


@pytest.mark.parametrize("dtype", ["F", "D"])
def test_norms_of_complex_numbers_by_chunks(dtype):
    da = pytest.importorskip("dask.array")
    z = numbers(np.random.default_rng(1), dtype)
    found = autoloop.function(PROGRAMS["transposed"])(da.from_array(z, chunks=(100, 3)))
    np.testing.assert_allclose(found.compute(), np.linalg.norm(z), 1e-5 if dtype == "F" else 1e-14, strict=True)


def test_the_gradient_of_a_complex_norm():
    z = numbers(np.random.default_rng(1), "D")
    direction = numbers(np.random.default_rng(2), "D")
    slope = (np.linalg.norm(z + 1e-6 * direction) - np.linalg.norm(z - 1e-6 * direction)) / 2e-6
    found = np.asarray(autoloop.grad(lambda x: np.linalg.norm(x))(z))
    np.testing.assert_allclose((found.conj() * direction).real.sum(), slope, 1e-7)
    np.testing.assert_allclose(found, np.asarray(autoloop.grad(lambda x: autoloop.norm(x))(z)), 1e-14)


@pytest.mark.parametrize("norm", [np.linalg.norm, np.linalg.vector_norm])
@pytest.mark.parametrize("axis", [[0], [0, 1]])
def test_axes_in_a_list_are_numpys_error(norm, axis):
    decorated = autoloop.function(lambda x: norm(x, axis=axis))
    with pytest.raises(TypeError, match="'axis' must be None, an integer or a tuple of integers"):
        decorated(np.ones((2, 3)))
