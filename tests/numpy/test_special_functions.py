"""``scipy.special`` in decorated functions: every element-wise function, those written in Python, what is refused."""

from __future__ import annotations

import warnings

import autoloop as al
import numpy as np
import pytest
from each_case import each
from left_to_python import refused_or_plain

special = pytest.importorskip("scipy.special")

_rng = np.random.default_rng(0)
X, Y = _rng.uniform(0.3, 0.8, (2, 3)), _rng.uniform(1.2, 2.8, (2, 3))
#: those of spheroidal waves take minutes where they are not defined
UFUNCS = {
    f.__name__: f
    for name, f in vars(special).items()
    if isinstance(f, np.ufunc) and not name.startswith(("obl_", "pro_")) and f.__name__ != "round"
}


def _operands(f, dtype):
    """Operands that the plain function takes; some take an order first that is an integer."""
    given = [x.astype(dtype) for x in (X, Y, X + 1, Y * 0.3, X, Y, X)][: f.nin]
    try:
        f(*given)
    except TypeError:
        given[0] = np.array([1, 2, 1])
    return given


def _same(found, wanted):
    for one, expected in zip(*[v if isinstance(v, tuple) else (v,) for v in (found, wanted)], strict=True):
        one = np.asarray(one)
        assert one.dtype == expected.dtype and one.shape == expected.shape
        np.testing.assert_allclose(one, expected, rtol=1e-14 if expected.dtype.itemsize > 4 else 1e-6)


@each([np.float64, np.float32, np.int32], one_in=3)
def test_every_function_of_elements(dtype):
    for f in UFUNCS.values():
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # SciPy's, on orders that it cuts off
            given = _operands(f, dtype)
            wanted = f(*given)
            _same(al.function(lambda *xs, f=f: f(*xs), executor="sequential")(*given), wanted)
            _same(f(*[al.constant(x) for x in given]), wanted)


def _loop(x, n):
    total = x * 0
    i = 0
    while i < n:
        total = total + special.erf(x) * special.expit(x - i) + special.jv(i, x)
        i += 1
    return total


@each(["auto", "sequential", "dataflow"])
def test_in_a_loop(executor):
    np.testing.assert_allclose(al.function(_loop, executor=executor)(X, np.int64(4)), _loop(X, 4), rtol=1e-13)


def test_machine_code():
    pytest.importorskip("llvmlite")
    f = al.function(lambda x: special.erf(x) * special.expit(x) + special.expm1(x), executor="native")
    np.testing.assert_allclose(f(X), special.erf(X) * special.expit(X) + special.expm1(X), rtol=1e-14)
    gamma = al.function(lambda x: special.gamma(x), executor="native")
    np.testing.assert_array_equal(gamma(X), special.gamma(X))


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: special.logsumexp(x),
        lambda x, y: special.logsumexp(x, 1),
        lambda x, y: special.logsumexp(x * 1000, axis=(0, 1), keepdims=True),
        lambda x, y: special.logsumexp(x, b=y, axis=0),
        lambda x, y: special.logsumexp(x, b=y - 2, return_sign=True),
        lambda x, y: special.logsumexp([x, y], axis=0),
        lambda x, y: special.softmax(x),
        lambda x, y: special.softmax(x * 1000, axis=1),
        lambda x, y: special.log_softmax(x, axis=0),
        lambda x, y: special.log_softmax(x),
        lambda x, y: special.comb(y + 2, x),
        lambda x, y: special.comb(y, 2, repetition=True),
        lambda x, y: special.comb(x, 3),
        lambda x, y: special.perm(y + 2, x),
        lambda x, y: special.polygamma(0, x),
        lambda x, y: special.polygamma(n=3, x=x),
        lambda x, y: special.polygamma([[1], [0]], x),
        lambda x, y: special.multigammaln(y + 3, 2),
        lambda x, y: special.zeta(y, x),
        lambda x, y: special.zeta(y),
    ],
)
def test_those_written_in_python(f):
    _same(al.function(f)(X, Y), f(X, Y))


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: special.comb(x, 2, exact=True), "scipy.special.*comb does not take the argument 'exact'"),
        (lambda x: special.gamma(x, where=x > -9), "gamma does not take the argument 'where'"),
        (lambda x: special.polygamma(x, 2.0), "the argument 'n' must be known while the graph is built"),
    ],
)
def test_what_is_not_supported(f, message):
    refused_or_plain(f, message, X)


def test_orders_have_no_derivative_and_say_so():
    def value(v, x):
        return np.sum(special.jv(v, x))

    order = np.array([0.5, 1.5, 2.0])
    with pytest.raises(TypeError, match=r"scipy\.special\.jv has no derivative with regard to its argument 1"):
        al.function(al.grad(value))(order, X)
    slope = np.asarray(al.function(al.grad(value, 1))(order, X))
    np.testing.assert_allclose(slope, special.jvp(order, X), rtol=1e-12)
    np.testing.assert_allclose(al.grad(value, 1)(order, X), slope)


def _twice(f, x):
    slope = al.grad(lambda x: f(x))
    return slope(x), al.grad(slope)(x)


@each(
    [
        # the derivatives are of these series at 0: what is constant there has none
        ("exprel", special.exprel, 0.0, 1 / 2, 1 / 3),
        ("exprel_near", special.exprel, 1e-9, 1 / 2, 1 / 3),
        ("spence", special.spence, 1.0, -1.0, 1 / 2),
        ("spence_near", special.spence, 1 + 1e-9, -1.0, 1 / 2),
        ("ellipk", special.ellipk, 0.0, np.pi / 8, np.pi * 9 / 64),
        ("ellipk_near", special.ellipk, 1e-9, np.pi / 8, np.pi * 9 / 64),
        ("ellipe", special.ellipe, 0.0, -np.pi / 8, -np.pi * 3 / 64),
        ("boxcox", lambda p: special.boxcox(np.e, p), 0.0, 1 / 2, 1 / 3),
        ("boxcox_near", lambda p: special.boxcox(np.e, p), 1e-9, 1 / 2, 1 / 3),
        ("sici", lambda x: special.sici(x)[0], 1e-7, 1.0, -1e-7 / 3),
        # and these where the formula subtracts equal numbers
        ("spence_small", special.spence, 1e-12, np.log(1e-12), 1e12),
        ("log_ndtr", special.log_ndtr, -1e6, 1e6, -1.0),
        ("erfcx", special.erfcx, 1e6, -1e-12 / np.sqrt(np.pi), 2e-18 / np.sqrt(np.pi)),
        ("dawsn", special.dawsn, -1e6, -0.5e-12, -1e-18),
        # or multiplies a zero by a pole, or asks for an order below 0
        ("rgamma", special.rgamma, 0.0, 1.0, 2 * np.euler_gamma),
        ("rgamma_2", special.rgamma, -2.0, 2.0, -4 * (1.5 - np.euler_gamma)),
        ("expn_1", lambda x: special.expn(1, x), 2.0, -np.exp(-2) / 2, np.exp(-2) * 3 / 4),
        ("expn_0", lambda x: special.expn(0, x), 2.0, -np.exp(-2) * 3 / 4, np.exp(-2) * 5 / 4),
    ],
    lambda name, *_: name,
)
def test_derivatives_where_their_formulas_lose_all_digits(name, f, x, first, second):
    np.testing.assert_allclose(_twice(f, x), (first, second), rtol=1e-6)


def test_derivatives_in_single_precision_where_formulas_subtract():
    x = np.float32([-1000.0, -30.0, -1.0, 0.0, 2.0])
    slope = al.grad(lambda x: np.sum(special.log_ndtr(x)))
    assert slope(x).dtype == np.float32
    np.testing.assert_allclose(slope(x), slope(x.astype(float)), rtol=1e-5)


def test_what_has_no_derivative_in_the_table_is_refused_by_gradients_only():
    with pytest.raises(LookupError, match="operation 'special_struve'.* has no gradient"):
        al.function(al.grad(lambda x: np.sum(special.struve(1, x))))(X)
    with pytest.raises(TypeError, match="digamma of complex numbers has no derivative"):
        al.function(al.grad(lambda x: np.sum(special.psi(x * 1j).real)))(X)
