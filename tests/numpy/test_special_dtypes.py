"""Functions of ``scipy.special`` that SciPy writes in Python have its dtypes, also of integers and Python numbers."""

import autoloop as al
import numpy as np
import pytest

sp = pytest.importorskip("scipy.special")

FUNCTIONS = {
    "softmax": lambda x: sp.softmax(x),
    "log_softmax": lambda x: sp.log_softmax(x, axis=0),
    "weak_weights": lambda x: sp.logsumexp(x, b=2),
    "weights": lambda x: sp.logsumexp(x, b=x, axis=0, keepdims=True),
    "weak_second": lambda x: sp.zeta(x, 2),
    "weak_first": lambda x: sp.zeta(2, x),
    "digamma": lambda x: sp.polygamma(0, x),
    "trigamma": lambda x: sp.polygamma(1, x),
    "repeated": lambda x: sp.comb(x, 2, repetition=True),
    "repeated_of_fractions": lambda x: sp.comb(x * 0.25 - 1, 2, repetition=True),
    "none_repeated": lambda x: sp.comb(x, 0, repetition=True),
    "weights_of_float32": lambda x: sp.logsumexp(x, b=np.float32(2)),
    "weak_fraction": lambda x: sp.zeta(x, 2.5),
    "weak_fraction_first": lambda x: sp.zeta(2.5, x),
    "soft": lambda x: sp.softplus(x) if hasattr(sp, "softplus") else x,
    "multivariate": lambda x: sp.multigammaln(x + 1, 2),
    "multivariate_of_one": lambda x: sp.multigammaln(x, d=np.int64(1)),
    "beyond_its_bounds": lambda x: sp.multigammaln(x, 3),
    "fraction_of_axes": lambda x: sp.multigammaln(x, 2.5),
    # of scalars
    "scalar_combinations": lambda x: sp.comb(x[0], x[2]),
    "scalar_permutations": lambda x: sp.perm(x[0], x[2]),
    "scalar_repeated": lambda x: sp.comb(x[0] - x[0], x[1] - x[1], repetition=True),
    "scalar_sum": lambda x: sp.logsumexp(x[0], axis=()),
    "scalar_sum_with_axes": lambda x: sp.logsumexp(x[0], keepdims=True),
    "scalar_trigamma": lambda x: sp.polygamma(1, x[0]),
    "zeta": sp.zeta,
    "scalar_digamma": lambda x: sp.polygamma(0, x[0]),
    "log1p": sp.log1p,
    "log1p_where_it_is_small": lambda x: sp.log1p((x - 3) * 1e-3),
}
DTYPES = [np.float16, np.float32, np.float64, np.int8, np.uint8, np.int64, bool, np.complex64]


def outcome(f, x):
    try:
        return f(x)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")
def test_dtypes_and_values_are_scipys(name):
    for dtype in DTYPES:
        x = np.array([2, 1, 3, 3]).astype(dtype)
        wanted, found = outcome(FUNCTIONS[name], x), outcome(al.function(FUNCTIONS[name]), x)
        if isinstance(wanted, tuple):
            assert found == wanted, dtype
        else:
            assert type(found) is type(wanted), dtype
            assert found.dtype == wanted.dtype, dtype
            np.testing.assert_allclose(found, wanted, rtol=20 * np.finfo(wanted.dtype).eps)


@pytest.mark.parametrize("executor", ["auto", "sequential", "dataflow"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_sums_of_exponentials_keep_all_digits_and_what_is_not_finite(executor):
    """Whatever is small beside the largest, infinite, or adds up to 0."""
    some = [0.0, 1.0, -1.0, 1000.0, -1000.0, np.inf, -np.inf, np.nan, 1e308, -1e308, 1e-300]
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.choice(some, (2000, 3)), [[-1e-20, -40.0, -41.0], [0.0, 0.0, -745.0]]])
    weights = rng.choice([0.0, 1.0, -1.0, -2.0, np.inf, np.nan, 1e300], x.shape)
    for program in (
        lambda x, w: sp.logsumexp(x, axis=1),
        lambda x, w: sp.logsumexp(x, axis=1, return_sign=True),
        lambda x, w: sp.logsumexp(x, axis=1, b=w),
        lambda x, w: sp.logsumexp(x, axis=1, b=w, return_sign=True),
    ):
        with np.errstate(all="ignore"):
            wanted = program(x, weights)
        found = al.function(program, executor=executor)(x, weights)
        np.testing.assert_allclose(found, wanted, rtol=1e-14)


def test_derivatives_of_sums_of_exponentials_where_several_are_largest():
    x, weights = np.array([0.5, 0.5, -1.0]), np.array([2.0, -1.0, 0.5])
    share = sp.softmax(x)
    slope = al.grad(lambda x: sp.logsumexp(x))
    np.testing.assert_allclose(slope(x), share, rtol=1e-14)
    np.testing.assert_allclose(al.jacobian(slope)(x), np.diag(share) - np.outer(share, share), rtol=1e-14)
    parts = np.exp(x) / np.sum(weights * np.exp(x))
    np.testing.assert_allclose(al.grad(lambda w: sp.logsumexp(x, b=w))(weights), parts, rtol=1e-14)
    np.testing.assert_allclose(al.grad(lambda x: sp.logsumexp(x, b=weights))(x), weights * parts, rtol=1e-14)
