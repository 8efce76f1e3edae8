"""The derivatives of SciPy's special functions, with regard to each argument."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..arithmetic import abs as absolute
from ..arithmetic import sign
from ..logic import equal, less_equal
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


def _at_zero(x: Any, value: float, elsewhere: Callable[[Any], Any]) -> Any:
    """Return a function of ``x``, whose formula divides by it, with its value at 0."""
    here = equal(x, 0)
    return where(here, value, elsewhere(where(here, 1, x)))


def _beside(name: str, of_lower: float, of_upper: float, by_value: Callable[..., Any] | None = None) -> Any:
    """Return the derivative of a Bessel function out of its neighbours of the next orders."""

    def slope(y: Any, v: Any, x: Any) -> Any:
        made = of_lower * _f(name, v - 1, x) + of_upper * _f(name, v + 1, x)
        return (made if by_value is None else made + by_value(y, x),)

    return slope


def _digamma_slopes(y: Any, x: Any) -> Any:
    if x.dtype.kind == "c":
        raise TypeError("scipy.special.digamma of complex numbers has no derivative, as SciPy's zeta takes real ones")
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
    flat = equal(p, 0)
    safe = where(flat, 1, p)
    return power(x, p - 1), where(flat, of_log * of_log / 2, (power(x, p) * of_log - y) / safe)


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
    "erfcx": lambda y, x: (2 * x * y - 2 / _SQRT_PI,),
    "erfi": lambda y, x: (2 / _SQRT_PI * exp(x * x),),
    "erfinv": lambda y, x: (_SQRT_PI / 2 * exp(y * y),),
    "erfcinv": lambda y, x: (-_SQRT_PI / 2 * exp(y * y),),
    "dawsn": lambda y, x: (1 - 2 * x * y,),
    "ndtr": lambda y, x: (exp(-x * x / 2) / _SQRT_TAU,),
    "log_ndtr": lambda y, x: (exp(-x * x / 2 - y) / _SQRT_TAU,),
    "ndtri": lambda y, x: (_SQRT_TAU * exp(y * y / 2),),
    # gamma and its kin
    "gamma": lambda y, x: (y * _f("psi", x),),
    "gammaln": lambda y, x: (_f("psi", x),),
    "loggamma": lambda y, x: (_f("psi", x),),
    "rgamma": lambda y, x: (-y * _f("psi", x),),
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
    "exprel": lambda y, x: (_at_zero(x, 0.5, lambda x: (exp(x) - expm1(x) / x) / x),),
    "exp10": lambda y, x: (y * math.log(10),),
    "cosm1": lambda y, x: (-sin(x),),
    "sindg": lambda y, x: (_DEGREE * cos(_DEGREE * x),),
    "cosdg": lambda y, x: (-_DEGREE * sin(_DEGREE * x),),
    "spence": lambda y, x: (_at_zero(x - 1, -1.0, lambda d: -log1p(d) / d),),
    # integrals
    "exp1": lambda y, x: (-exp(-x) / x,),
    "expi": lambda y, x: (exp(x) / x,),
    "expn": lambda y, n, x: (-_f("expn", n - 1, x),),
    "ellipk": lambda y, m: ((_f("ellipe", m) / (1 - m) - y) / (2 * m),),
    "ellipe": lambda y, m: ((y - _f("ellipk", m)) / (2 * m),),
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
    "sici": lambda ys, x: (_at_zero(x, 1.0, lambda x: sin(x) / x), cos(x) / x),
    "shichi": lambda ys, x: (_at_zero(x, 1.0, lambda x: sinh(x) / x), (exp(x) + exp(-x)) / (2 * x)),
    "fresnel": lambda ys, x: (sin(math.pi / 2 * x * x), cos(math.pi / 2 * x * x)),
}
#: steps, and functions of whole numbers
FLAT = frozenset(("gammasgn", "round"))
