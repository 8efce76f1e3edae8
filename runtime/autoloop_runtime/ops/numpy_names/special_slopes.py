"""The derivatives of SciPy's special functions, with regard to each argument."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ..arithmetic import abs as absolute
from ..arithmetic import sign
from ..logic import equal, less, less_equal
from ..powers import exp, expm1, log, log1p, sigmoid, sqrt
from ..powers import pow as power
from ..selection import where
from ..trigonometry import cos, sin, sinh

#: the same functions, on tensors; filled while modules are imported, where their rows are made
ROWS: dict[str, Callable[..., Any]] = {}

_SQRT_PI = math.sqrt(math.pi)
_SQRT_TAU = math.sqrt(2 * math.pi)
_DEGREE = math.pi / 180


def _f(name: str, *inputs: Any) -> Any:
    return ROWS[name](*inputs)


def _polynomial(x: Any, coefficients: Sequence[float]) -> Any:
    """Return a polynomial, its constant first."""
    made: Any = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        made = made * x + c
    return made


def _chosen(is_first: Any, x: Any, first: Callable[[Any], Any], other: Callable[[Any], Any], edge: float) -> Any:
    """Return one function of ``x`` or another one; both are smooth at ``edge``, which the one not chosen is given."""
    return where(is_first, first(where(is_first, x, edge)), other(where(is_first, edge, x)))


def _near_zero(x: Any, radius: float, series: Callable[[Any], Any], elsewhere: Callable[[Any], Any]) -> Any:
    """Return a function whose formula divides by ``x``, and near 0 loses all digits, by its series there.

    What is constant at 0 alone would have the right value there, and wrong derivatives.
    """
    return _chosen(less(absolute(x), radius), x, series, elsewhere, radius)


#: of exprel'(x), sin(x) / x and sinh(x) / x in x², -log(1 + x) / x, and the derivatives of K and E
_OF_EXPREL = [1 / (math.factorial(k) * (k + 2)) for k in range(18)]
_OF_SINH = [1 / math.factorial(2 * k + 1) for k in range(9)]
_OF_SIN = [(-1) ** k * c for k, c in enumerate(_OF_SINH)]
_OF_SPENCE = [(-1) ** (k + 1) / (k + 1) for k in range(18)]
_OF_ELLIPK = [math.pi / 2 * n * (math.comb(2 * n, n) / 4**n) ** 2 for n in range(1, 20)]
_OF_ELLIPE = [c / (1 - 2 * n) for n, c in enumerate(_OF_ELLIPK, 1)]
#: of erfcx'(x) and dawsn'(x) in 1 / (2 x²), where x is large: products of the odd numbers
_OF_DAWSN = [float(math.prod(range(1, 2 * n + 2, 2))) for n in range(9)]
_OF_ERFCX = [(-1) ** n * c for n, c in enumerate(_OF_DAWSN)]


def _exprel_slope(x: Any) -> Any:
    return _near_zero(x, 0.5, lambda x: _polynomial(x, _OF_EXPREL), lambda x: (exp(x) - expm1(x) / x) / x)


def _sin_ratio(x: Any) -> Any:
    return _near_zero(x, 0.5, lambda x: _polynomial(x * x, _OF_SIN), lambda x: sin(x) / x)


def _sinh_ratio(x: Any) -> Any:
    return _near_zero(x, 0.5, lambda x: _polynomial(x * x, _OF_SINH), lambda x: sinh(x) / x)


def _spence_slopes(y: Any, x: Any) -> Any:
    # 1 + (x - 1) has lost the digits of a small x
    near = less(absolute(x - 1), 0.1)
    return (_chosen(near, x, lambda x: _polynomial(x - 1, _OF_SPENCE), lambda x: -log(x) / (x - 1), 1.1),)


def _ellipk_slopes(y: Any, m: Any) -> Any:
    def formula(m: Any) -> Any:
        return (_f("ellipe", m) / (1 - m) - _f("ellipk", m)) / (2 * m)

    return (_near_zero(m, 0.1, lambda m: _polynomial(m, _OF_ELLIPK), formula),)


def _ellipe_slopes(y: Any, m: Any) -> Any:
    def formula(m: Any) -> Any:
        return (_f("ellipe", m) - _f("ellipk", m)) / (2 * m)

    return (_near_zero(m, 0.1, lambda m: _polynomial(m, _OF_ELLIPE), formula),)


def _far_out(x: Any, is_far: Any, factor: float, coefficients: Sequence[float], formula: Callable[[Any], Any]) -> Any:
    """Return a derivative whose formula subtracts equal numbers where ``x`` is large: there its asymptotic series."""

    def series(x: Any) -> Any:
        inverse = 1 / x
        return factor * inverse * inverse * _polynomial(inverse * inverse / 2, coefficients)

    return _chosen(is_far, x, series, formula, _FAR)


_FAR = 20.0


def _erfcx_slopes(y: Any, x: Any) -> Any:
    def formula(x: Any) -> Any:
        return 2 * x * _f("erfcx", x) - 2 / _SQRT_PI

    if x.dtype.kind == "c":
        return (formula(x),)
    return (_far_out(x, less(_FAR, x), -1 / _SQRT_PI, _OF_ERFCX, formula),)


def _dawsn_slopes(y: Any, x: Any) -> Any:
    def formula(x: Any) -> Any:
        return 1 - 2 * x * _f("dawsn", x)

    if x.dtype.kind == "c":
        return (formula(x),)
    return (_far_out(x, less(_FAR, absolute(x)), -0.5, _OF_DAWSN, formula),)


def _log_ndtr_slopes(y: Any, x: Any) -> Any:
    if x.dtype.kind == "c":
        return (exp(-x * x / 2 - y) / _SQRT_TAU,)
    root = math.sqrt(0.5)
    below = less(x, 0)
    of_lower = 2 * root / _SQRT_PI / _f("erfcx", -root * where(below, x, 0))
    return (where(below, of_lower, exp(-x * x / 2) / (_SQRT_TAU * _f("ndtr", where(below, 0, x)))),)


def _rgamma_slopes(y: Any, x: Any) -> Any:
    if x.dtype.kind == "c":
        return (-y * _f("psi", x),)

    def reflected(x: Any) -> Any:
        turned, across = 180 * x, 1 - x
        waves = _f("cosdg", turned) - _f("psi", across) * _f("sindg", turned) / math.pi
        return _f("gamma", across) * waves

    # psi has poles where 1 / gamma is 0
    return (_chosen(less(x, 0.5), x, reflected, lambda x: -_f("rgamma", x) * _f("psi", x), 0.5),)


def _expn_slopes(y: Any, n: Any, x: Any) -> Any:
    # SciPy knows no orders below 0
    is_first, is_zeroth = equal(n, 1), equal(n, 0)
    is_low = less(n, 2)
    safe = where(is_low, x, 1)
    of_first = exp(-safe) / safe
    low = where(is_zeroth, of_first * (1 + 1 / safe), where(is_first, of_first, math.nan))
    return (-where(is_low, low, _f("expn", where(is_low, 1, n - 1), x)),)


def _beside(name: str, of_lower: float, of_upper: float, by_value: Callable[..., Any] | None = None) -> Any:
    """Return the derivative of a Bessel function out of its neighbours of the next orders."""

    def slope(y: Any, v: Any, x: Any) -> Any:
        made = of_lower * _f(name, v - 1, x) + of_upper * _f(name, v + 1, x)
        return (made if by_value is None else made + by_value(y, x),)

    return slope


def _digamma_slopes(y: Any, x: Any) -> Any:
    if x.dtype.kind == "c":
        raise TypeError(
            "scipy.special.digamma of complex numbers has no derivative, as SciPy's zeta takes real ones [AL405]"
        )
    return (_f("zeta", 2.0, x),)


def _beta_slopes(y: Any, a: Any, b: Any) -> Any:
    of_both = _f("psi", a + b)
    return y * (_f("psi", a) - of_both), y * (_f("psi", b) - of_both)


def _binomial_slopes(y: Any, n: Any, k: Any) -> Any:
    between = _f("psi", n - k + 1)
    return y * (_f("psi", n + 1) - between), y * (between - _f("psi", k + 1))


def _beta_density(a: Any, b: Any, x: Any) -> Any:
    return exp(_f("xlogy", a - 1, x) + _f("xlog1py", b - 1, -x) - _f("betaln", a, b))


def _gamma_density(a: Any, x: Any) -> Any:
    return exp(_f("xlogy", a - 1, x) - x - _f("gammaln", a))


def _huber_slopes(y: Any, d: Any, r: Any) -> Any:
    within = less_equal(absolute(r), d)
    return where(within, 0, absolute(r) - d), where(within, r, d * sign(r))


def _pseudo_huber_slopes(y: Any, d: Any, r: Any) -> Any:
    ratio = r / d
    root = sqrt(1 + ratio * ratio)
    return 2 * y / d - r * ratio / root, r / root


def _boxcox_slopes(y: Any, x: Any, p: Any) -> Any:
    of_log = log(x)
    return power(x, p - 1), of_log * of_log * _exprel_slope(p * of_log)


def _confluent_slopes(y: Any, a: Any, b: Any, x: Any) -> Any:
    return (a / b * _f("hyp1f1", a + 1, b + 1, x),)


def _hypergeometric_slopes(y: Any, a: Any, b: Any, c: Any, x: Any) -> Any:
    return (a * b / c * _f("hyp2f1", a + 1, b + 1, c + 1, x),)


#: how many arguments, the first ones, have no derivative in terms of other functions
ORDERS = {
    "zeta": 1, "betainc": 2, "betaincc": 2, "betaincinv": 2, "gammainc": 1, "gammaincc": 1, "gammaincinv": 1,
    "gammainccinv": 1, "expn": 1, "jv": 1, "yv": 1, "iv": 1, "kv": 1, "ive": 1, "kve": 1, "hankel1": 1, "hankel2": 1,
    "hyp1f1": 2, "hyp2f1": 3, "hyp0f1": 1,
}  # fmt: skip
#: name -> ``slopes(y, *inputs)``, with regard to the others
SLOPES: dict[str, Callable[..., Any]] = {
    # error functions and the normal distribution
    "erf": lambda y, x: (2 / _SQRT_PI * exp(-x * x),),
    "erfc": lambda y, x: (-2 / _SQRT_PI * exp(-x * x),),
    "erfcx": _erfcx_slopes,
    "erfi": lambda y, x: (2 / _SQRT_PI * exp(x * x),),
    "erfinv": lambda y, x: (_SQRT_PI / 2 * exp(y * y),),
    "erfcinv": lambda y, x: (-_SQRT_PI / 2 * exp(y * y),),
    "dawsn": _dawsn_slopes,
    "ndtr": lambda y, x: (exp(-x * x / 2) / _SQRT_TAU,),
    "log_ndtr": _log_ndtr_slopes,
    "ndtri": lambda y, x: (_SQRT_TAU * exp(y * y / 2),),
    # gamma and its kin
    "gamma": lambda y, x: (y * _f("psi", x),),
    "gammaln": lambda y, x: (_f("psi", x),),
    "loggamma": lambda y, x: (_f("psi", x),),
    "rgamma": _rgamma_slopes,
    "psi": _digamma_slopes,
    "zeta": lambda y, x, q: (-x * _f("zeta", x + 1, q),),
    "beta": _beta_slopes,
    "betaln": lambda y, a, b: (_f("psi", a) - _f("psi", a + b), _f("psi", b) - _f("psi", a + b)),
    "betainc": lambda y, a, b, x: (_beta_density(a, b, x),),
    "betaincc": lambda y, a, b, x: (-_beta_density(a, b, x),),
    "betaincinv": lambda y, a, b, x: (1 / _beta_density(a, b, y),),
    "gammainc": lambda y, a, x: (_gamma_density(a, x),),
    "gammaincc": lambda y, a, x: (-_gamma_density(a, x),),
    "gammaincinv": lambda y, a, x: (1 / _gamma_density(a, y),),
    "gammainccinv": lambda y, a, x: (-1 / _gamma_density(a, y),),
    "poch": lambda y, a, m: (y * (_f("psi", a + m) - _f("psi", a)), y * _f("psi", a + m)),
    "binom": _binomial_slopes,
    # logarithms, entropies and losses
    "expit": lambda y, x: (y * (1 - y),),
    "log_expit": lambda y, x: (sigmoid(-x),),
    "logit": lambda y, x: (1 / (x * (1 - x)),),
    "xlogy": lambda y, a, b: (log(b), a / b),
    "xlog1py": lambda y, a, b: (log1p(b), a / (1 + b)),
    "entr": lambda y, x: (-log(x) - 1,),
    "rel_entr": lambda y, a, b: (log(a / b) + 1, -a / b),
    "kl_div": lambda y, a, b: (log(a / b), 1 - a / b),
    "huber": _huber_slopes,
    "pseudo_huber": _pseudo_huber_slopes,
    "boxcox": _boxcox_slopes,
    "exprel": lambda y, x: (_exprel_slope(x),),
    "exp10": lambda y, x: (y * math.log(10),),
    "exp2": lambda y, x: (y * math.log(2),),
    "expm1": lambda y, x: (y + 1,),
    "log1p": lambda y, x: (1 / (1 + x),),
    "cbrt": lambda y, x: (1 / (3 * y * y),),
    "cosm1": lambda y, x: (-sin(x),),
    "sindg": lambda y, x: (_DEGREE * cos(_DEGREE * x),),
    "cosdg": lambda y, x: (-_DEGREE * sin(_DEGREE * x),),
    "spence": _spence_slopes,
    # integrals
    "exp1": lambda y, x: (-exp(-x) / x,),
    "expi": lambda y, x: (exp(x) / x,),
    "expn": _expn_slopes,
    "ellipk": _ellipk_slopes,
    "ellipe": _ellipe_slopes,
    # Bessel functions
    "j0": lambda y, x: (-_f("j1", x),),
    "j1": lambda y, x: ((_f("j0", x) - _f("jv", 2.0, x)) / 2,),
    "y0": lambda y, x: (-_f("y1", x),),
    "y1": lambda y, x: ((_f("y0", x) - _f("yv", 2.0, x)) / 2,),
    "i0": lambda y, x: (_f("i1", x),),
    "i1": lambda y, x: ((_f("i0", x) + _f("iv", 2.0, x)) / 2,),
    "i0e": lambda y, x: (_f("i1e", x) - sign(x) * y,),
    "i1e": lambda y, x: ((_f("i0e", x) + _f("ive", 2.0, x)) / 2 - sign(x) * y,),
    "k0": lambda y, x: (-_f("k1", x),),
    "k1": lambda y, x: (-(_f("k0", x) + _f("kv", 2.0, x)) / 2,),
    "k0e": lambda y, x: (y - _f("k1e", x),),
    "k1e": lambda y, x: (y - (_f("k0e", x) + _f("kve", 2.0, x)) / 2,),
    "jv": _beside("jv", 0.5, -0.5),
    "yv": _beside("yv", 0.5, -0.5),
    "iv": _beside("iv", 0.5, 0.5),
    "kv": _beside("kv", -0.5, -0.5),
    "ive": _beside("ive", 0.5, 0.5, lambda y, x: -sign(x) * y),
    "kve": _beside("kve", -0.5, -0.5, lambda y, x: y),
    "hankel1": _beside("hankel1", 0.5, -0.5),
    "hankel2": _beside("hankel2", 0.5, -0.5),
    # hypergeometric functions
    "hyp1f1": _confluent_slopes,
    "hyp2f1": _hypergeometric_slopes,
    "hyp0f1": lambda y, v, x: (_f("hyp0f1", v + 1, x) / v,),
}
#: of those with several results: name -> ``slopes(ys, x)``, one for each
SEVERAL: dict[str, Callable[..., Any]] = {
    "sici": lambda ys, x: (_sin_ratio(x), cos(x) / x),
    "shichi": lambda ys, x: (_sinh_ratio(x), (exp(x) + exp(-x)) / (2 * x)),
    "fresnel": lambda ys, x: (sin(math.pi / 2 * x * x), cos(math.pi / 2 * x * x)),
}
#: steps, and functions of whole numbers
FLAT = frozenset(("gammasgn", "round"))
