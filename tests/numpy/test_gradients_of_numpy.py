"""The gradients of NumPy's and SciPy's functions: all that JAX has a derivative of, and at night all of the table.

Of a function that has samples in the table the first one that moves is taken; others stand below.
"""

from __future__ import annotations

import ast
from functools import cache

import pytest
from derivatives import FLAT, NONE, gradient
from each_case import each
from sample_calls import DTYPES, REFUSED, WORKS, Outcome, Sample, pool, samples
from table import named

#: what ``jax.numpy``, its ``linalg`` and its ``fft`` have a derivative of
NUMPY = """
abs absolute acos acosh add amax amin angle append apply_along_axis apply_over_axes arccos arccosh arcsin arcsinh
arctan arctan2 arctanh around array array_split asarray asin asinh astype atan atan2 atanh atleast_1d atleast_2d
atleast_3d average bincount block broadcast_arrays broadcast_to cbrt choose clip column_stack compress concat
concatenate conj conjugate convolve copy copysign corrcoef correlate cos cosh cov cross cumprod cumsum cumulative_prod
cumulative_sum deg2rad degrees delete diag diagflat diagonal diff divide divmod dot dsplit dstack ediff1d einsum exp
exp2 expand_dims expm1 extract fabs flip fliplr flipud float_power fmax fmin fmod frexp full full_like geomspace
gradient heaviside histogram histogram2d hsplit hstack hypot i0 imag inner insert interp kron ldexp linspace log log10
log1p log2 logaddexp logaddexp2 logspace matmul matrix_transpose matvec max maximum mean median meshgrid min minimum
mod modf moveaxis multiply nan_to_num nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod
nanquantile nanstd nansum nanvar negative outer pad partition percentile permute_dims piecewise place polyadd polyder
polydiv polyfit polyint polymul polysub polyval poly positive pow power prod ptp put put_along_axis quantile rad2deg
radians ravel real reciprocal remainder repeat reshape resize roll rollaxis rot90 select sin sinc sinh sort
sort_complex split sqrt square squeeze stack std subtract sum swapaxes take take_along_axis tan tanh tensordot tile
trace transpose trapezoid tril trim_zeros triu true_divide union1d unique unstack unwrap vander var vdot vecdot vecmat
vectorize vsplit vstack where
linalg.cholesky linalg.cond linalg.cross linalg.det linalg.diagonal linalg.eigh linalg.eigvalsh linalg.inv
linalg.lstsq linalg.matmul linalg.matrix_norm linalg.matrix_power linalg.matrix_transpose linalg.multi_dot linalg.norm
linalg.outer linalg.pinv linalg.qr linalg.slogdet linalg.solve linalg.svd linalg.svdvals linalg.tensordot
linalg.tensorinv linalg.tensorsolve linalg.trace linalg.vecdot linalg.vector_norm
fft.fft fft.fft2 fft.fftn fft.fftshift fft.hfft fft.ifft fft.ifft2 fft.ifftn fft.ifftshift fft.ihfft fft.irfft
fft.irfft2 fft.irfftn fft.rfft fft.rfft2 fft.rfftn
"""
#: what ``jax.scipy.special`` and ``jax.scipy.linalg`` have a derivative of; orders, which have none here, are numbers
SCIPY = """
special.betainc(1.5,2,v/4) special.betaln(v,w) special.beta(v,w) special.digamma(v) special.entr(v) special.erf(v)
special.erfc(v) special.erfinv(v/4) special.exp1(v) special.expi(v) special.expit(v) special.expn(2,v) special.gamma(v)
special.gammainc(1.5,v) special.gammaincc(1.5,v) special.gammaln(v) special.hyp1f1(1.2,2.1,v) special.i0(v)
special.hyp2f1(1,2.0,3.5,v/4) special.i0e(v) special.i1(v) special.i1e(v) special.kl_div(v,w) special.log_ndtr(v)
special.log_softmax(x,axis=1) special.logit(v/4) special.logsumexp(x,axis=0) special.logsumexp(x,b=y)
special.multigammaln(v+2,2) special.ndtr(v) special.ndtri(v/4) special.poch(v,w) special.polygamma(1,v)
special.rel_entr(v,w) special.softmax(x,axis=0) special.spence(v) special.xlog1py(v,w) special.xlogy(v,w)
special.zeta(2.5,v) special.jv(1,v) special.factorial(3)*v special.fresnel(v) special.sici(v)
linalg.block_diag(m,s) linalg.cho_solve((linalg.cholesky((s+s.T)/2),False),i*t) linalg.cholesky((s+s.T)/2)
linalg.det(m) linalg.eigh((s+s.T)/2) linalg.expm(m/3) linalg.inv(m) linalg.lu_solve(linalg.lu_factor(m),i*t)
linalg.qr(m) linalg.solve(m,i*t) linalg.solve_triangular(m,i*t,lower=True) linalg.svd(m)
linalg.toeplitz(v,w) linalg.lu(m)
"""
#: they change an argument and give nothing: what became of it is what moves
IN_PLACE = {
    "np.place": "(np.place(x, b, v), x)[1] * x", "np.put": "(np.put(x, i, v), x)[1] * x",
    "np.put_along_axis": "(np.put_along_axis(x, j[:, :1] % 3, t, 1), x)[1] * x",
}  # fmt: skip
#: the derivative is zero wherever there is one, JAX's too
STEPS = ("np.around", "np.heaviside")


def called(text: str) -> Sample:
    used = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    return Sample(text.partition("(")[0], text, tuple([name for name in pool() if name in used]))


@cache
def tried() -> dict[str, list[Sample]]:
    """Return the samples of each function, those of its other names as well."""
    of_value: dict[object, list[Sample]] = {}
    for one in samples():
        of_value.setdefault(named(one.function), []).append(one)
    found = {name: of_value.get(named(name), []) for name in (f"np.{name}" for name in NUMPY.split())}
    return {**found, **{name: [called(text)] for name, text in IN_PLACE.items()}}


def first_that_moves(
    function: str, order: int = 1, way: str = "sequential", dtype: str = DTYPES[0]
) -> tuple[str, Outcome]:
    """Return the first call whose gradient says something, and what it says."""
    last = ("", Outcome("no sample"))
    for one in tried()[function]:
        last = (one.text, gradient(one, dtype, order, way))
        if last[1].status not in (NONE, FLAT) or (function in STEPS and last[1].status == FLAT):
            break
    return last


@each(tried(), one_in=4)
def test_what_has_a_derivative_in_jax_has_one_here(function):
    text, made = first_that_moves(function)
    assert made.status == (FLAT if function in STEPS else WORKS), (text, made.words)


@each(SCIPY.split(), one_in=2)
def test_what_has_a_derivative_in_jaxs_scipy_has_one_here(text):
    pytest.importorskip("scipy")
    made = gradient(called(text))
    assert made.status == WORKS, made


@pytest.mark.nightly
@each(tried())
def test_second_derivatives_and_those_of_the_tape(function):
    """A tape sees no function that asks nobody, and arrays that are written to are not tensors."""
    for order, way in ((2, "sequential"), (1, "tape"), (2, "tape"), (1, "dataflow")):
        text, made = first_that_moves(function, order, way)
        allowed = (WORKS, FLAT, NONE, REFUSED) if way == "tape" else (WORKS, FLAT, NONE)
        assert made.status in allowed, (text, order, way, made.words)


@pytest.mark.nightly
@each(tried())
def test_derivatives_of_complex_numbers(function):
    text, made = first_that_moves(function, dtype="complex128")
    is_refused = made.status == REFUSED and ("has no order" in made.words or "numpy.poly of" in made.words)
    assert is_refused or made.status in (WORKS, FLAT, NONE), (text, made.words)


KNOWN = [
    "np.polymul(v, w)", "np.polymul(v - v[0], v)", "np.poly(v)", "np.poly(m)", "np.poly(z[0])", "np.roots(v)",
    "np.roots([0, t, 1, 0])", "np.nanstd(np.where(b, x, np.nan), 1)",
]  # fmt: skip


@each(KNOWN)
def test_the_tape_sees_what_follows_from_values_that_are_known(text):
    assert gradient(called(text), way="tape").status == WORKS


def test_what_has_no_derivative_says_so():
    for text, words in {
        "np.power.reduce(v)": "numpy.power.reduce has no derivative here",
        "np.hypot.accumulate(v)": "numpy.hypot.accumulate has no derivative here",
        "np.maximum.reduceat(v, [0, 2])": "numpy.maximum.reduceat has no derivative here",
        "v.byteswap()": "of type 'byteswap' has no gradient", "np.linalg.qr(m, 'raw')": "type 'qr_raw' has no gradient",
    }.items():  # fmt: skip
        made = gradient(called(text))
        assert made.status == REFUSED and words in made.words, made
    for text in ("t.item()", "v.tolist()"):
        made = gradient(called(text), way="tape")
        assert made.status == REFUSED and "of a tensor that is being differentiated" in made.words, made


@pytest.mark.nightly
@each(SCIPY.split())
def test_second_derivatives_of_scipys(text):
    pytest.importorskip("scipy")
    assert gradient(called(text), order=2).status == WORKS
