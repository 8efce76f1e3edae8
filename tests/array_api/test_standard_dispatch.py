"""Libraries that dispatch on the array API take tensors and give tensors."""

from __future__ import annotations

import os
import subprocess
import sys

import autoloop as al
import numpy as np
import pytest

#: with each call as it is written for both namespaces; ``x``, ``y``: 20 floats, ``m``: 6 x 4, ``p``: positive
SCIPY = """
special.expit(x); special.erf(x); special.gammaln(p); special.ndtr(x); special.xlogy(p, p); special.logit(p / 9)
special.i0(x); special.entr(p); special.log_ndtr(x); special.softmax(x); special.gammainc(p, p)
stats.skew(x); stats.kurtosis(x); stats.gmean(p); stats.hmean(p); stats.sem(x)
stats.describe(x).variance; stats.moment(x, 3); stats.entropy(p); stats.jarque_bera(x).statistic; stats.kstat(x, 2)
stats.ttest_1samp(x, 0.1).pvalue; stats.ttest_ind(x, y).pvalue; stats.ttest_rel(x, y).statistic; stats.circmean(p)
stats.power_divergence(p, lambda_=0.5).statistic; stats.chisquare(p).pvalue; stats.pmean(p, 2)
stats.combine_pvalues(p / 9).statistic; stats.tmin(x); stats.differential_entropy(x); stats.circvar(p)
signal.detrend(x); signal.convolve(x, y); signal.fftconvolve(x, y); signal.correlate(x, y); signal.oaconvolve(x, y)
signal.medfilt(x, 3); signal.upfirdn(y, x, 2); signal.wiener(x, 3); signal.lfilter(y, y, x)
fft.fft(x); fft.rfft(x); fft.irfftn(m); fft.dct(x); fft.fftshift(x); fft.fft2(m)
"""
PROGRAM = """
import numpy as np, autoloop as al
from scipy import fft, signal, special, stats
rng = np.random.default_rng(0)
arrays = dict(x=rng.standard_normal(20), y=rng.standard_normal(20), m=rng.random((6, 4)), p=rng.random(20) + 0.1)
tensors = {name: al.asarray(array) for name, array in arrays.items()}
for line in CALLS.replace(chr(10), ";").split(";"):
    if line.strip():
        ours, theirs = (eval(line.strip(), globals(), values) for values in (tensors, arrays))
        assert isinstance(ours, al.Tensor), (line, type(ours))
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9, err_msg=line)
print("all the same")
"""


def test_scipy_takes_tensors():
    pytest.importorskip("scipy", minversion="1.16")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", f"CALLS = {SCIPY!r}\n{PROGRAM}"],
        env={**os.environ, "SCIPY_ARRAY_API": "1"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout == "all the same\n", done.stderr[-2000:]


@pytest.mark.nightly
def test_scikit_learn_takes_tensors():
    pytest.importorskip("sklearn", minversion="1.6")
    program = """
import numpy as np, autoloop as al, sklearn
from sklearn import decomposition, metrics, preprocessing
from sklearn.metrics import pairwise
x = np.random.default_rng(0).random((6, 4))
t = al.asarray(x)
with sklearn.config_context(array_api_dispatch=True):
    for of in (
        decomposition.PCA(2, svd_solver="full").fit_transform, preprocessing.KernelCenterer().fit_transform,
        pairwise.linear_kernel, pairwise.polynomial_kernel, pairwise.additive_chi2_kernel,
    ):
        ours = of(t[:4])
        assert isinstance(ours, al.Tensor), type(ours)
        np.testing.assert_allclose(ours, of(x[:4]), rtol=1e-9, atol=1e-12)
    for score in (metrics.mean_squared_error, metrics.mean_absolute_error, metrics.max_error):
        np.testing.assert_allclose(score(t[:, 0], t[:, 1]), score(x[:, 0], x[:, 1]))
    labels = np.array([0, 1, 1, 0, 1, 1])
    found = metrics.confusion_matrix(al.asarray(labels), al.asarray(labels[::-1].copy()))
    np.testing.assert_array_equal(found, metrics.confusion_matrix(labels, labels[::-1]))
print("all the same")
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env={**os.environ, "SCIPY_ARRAY_API": "1"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout == "all the same\n", done.stderr[-2000:]


def test_array_api_compat_knows_the_namespace():
    compat = pytest.importorskip("array_api_compat")
    x = al.asarray([[1.0, 2.0]])
    assert compat.is_array_api_obj(x) and compat.array_namespace(x, al.ones(1)) is al
    assert compat.device(x) == "cpu" and compat.to_device(x, "cpu") is x and compat.size(x) == 2
    assert not compat.is_numpy_array(x) and not compat.is_lazy_array(x)


def test_functions_of_any_namespace_take_symbolic_tensors():
    def standardised(x):
        xp = x.__array_namespace__()
        return (x - xp.mean(x, axis=0)) / xp.std(x, axis=0, correction=1)

    x = np.random.default_rng(0).random((6, 4))
    for f in (standardised, al.function(standardised)):
        np.testing.assert_allclose(f(al.asarray(x)), (x - x.mean(0)) / x.std(0, ddof=1))
