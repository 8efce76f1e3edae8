"""Samples of ``scipy.special``."""

from __future__ import annotations

import autoloop as al
import numpy as np

try:
    import scipy.special as s
except ImportError:
    s = None
_rng = np.random.default_rng(8)
X = _rng.uniform(0.3, 0.8, (2, 3))
Y = _rng.uniform(1.2, 2.8, (2, 3))
HALF = _rng.uniform(-0.8, -0.2, 3)
_of_one = (
    "erf erfc erfcx erfi erfinv erfcinv dawsn ndtr log_ndtr ndtri gamma gammaln loggamma rgamma psi expit log_expit "
    "logit entr exprel exp10 cosm1 sindg cosdg spence exp1 expi ellipk ellipe j0 j1 y0 y1 i0 i1 i0e i1e k0 k1 k0e k1e "
    "expm1 log1p exp2 cbrt sici shichi fresnel round gammasgn"
).split()
_of_two = "beta betaln poch binom xlogy xlog1py rel_entr kl_div huber pseudo_huber boxcox".split()


def _several(result):
    return list(result) if isinstance(result, tuple) else [result]


def _each(x):
    return [part for name in _of_one for part in _several(getattr(s, name)(x))]


def _each_of_two(x, y):
    return [part for name in _of_two for part in (getattr(s, name)(y, x[0]), getattr(s, name)(x, y))]


@al.convert
def _composed(x, y):
    weighted = s.logsumexp(x, b=-y, axis=0, return_sign=True)
    return [
        s.logsumexp(x), s.logsumexp(x, 1), s.logsumexp(x, axis=(0, 1), b=y, keepdims=True), weighted[0], s.softmax(x),
        s.softmax(x, axis=1), s.log_softmax(x), s.log_softmax(x, 0), s.comb(y + 2, x), s.perm(y + 2, x),
        s.comb(y + 2, x, repetition=True), s.polygamma(0, x), 0.1 * s.polygamma(2, y), s.polygamma([[1], [0]], y),
        s.multigammaln(y + 2, 2),
    ]  # fmt: skip


GRADIENTS = {
    "special, of one": (_each, X),
    "special, below 0": (lambda v: [s.erf(v), s.gamma(v), s.j1(v), s.i0e(v), s.i1e(v), s.expit(v), s.exprel(v)], HALF),
    "special, of two": (_each_of_two, X, Y),
    "special, with an order": (lambda x: [
        s.betainc(1.5, 2, x), s.betaincc(2, 1.5, x), s.betaincinv(1.5, 2.0, x), s.gammainc(1.5, x), s.gammaincc(2, x),
        s.gammaincinv(1.5, x), s.gammainccinv(1.5, x), s.expn(2, x), s.jv(1.5, x), s.yv(0, x), s.iv(2, x), s.kv(1, x),
        s.ive(0.5, x), s.kve(1.5, x), s.hyp1f1(1.2, 2.1, x), s.hyp2f1(1, 2.0, 3.5, x / 2), s.hyp0f1(1.3, x),
        s.jv(np.array([0, 1, 2]), x), s.hankel1(1, x) * 0.1, s.hankel2(0.5, x) * 0.1,
    ], X),
    "special, of complex numbers": (lambda x: [
        s.erf(x * (1 + 0.5j)), s.expm1(x * 1j), s.log1p(x * 1j), s.hankel1(1, x * (1 + 0.5j)) * 0.1,
        s.jv(1, x * (1 + 0.5j)), s.dawsn(x + 0.5j), s.xlogy(x + 1j, x * 1j + 1),
    ], X[:1]),
    "special, composed": (_composed, X, Y),
}  # fmt: skip
if s is None:
    GRADIENTS = {}
