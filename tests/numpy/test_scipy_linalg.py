"""``scipy.linalg`` in decorated functions: plain against decorated, and what is refused."""

from __future__ import annotations

import linecache
import re
import warnings
from itertools import product

import autoloop as al
import numpy as np
import pytest
from each_case import each
from left_to_python import refused_or_plain
from samples_scipy_linalg import PROGRAMS, SQUARE, VECTOR

sl = pytest.importorskip("scipy.linalg")


@each(product(PROGRAMS, ["auto", "dataflow"]))
def test_plain_against_decorated(name, executor):
    found = al.function(PROGRAMS[name], executor=executor)(SQUARE, VECTOR)
    for one, wanted in zip(found, PROGRAMS[name](SQUARE, VECTOR), strict=True):
        assert np.asarray(one).dtype == np.asarray(wanted).dtype
        np.testing.assert_allclose(one, wanted, rtol=1e-11)


def test_in_a_loop():
    def walk(a, b, n):
        lu = sl.lu_factor(a)
        for _ in range(n):
            b = sl.lu_solve(lu, b) + sl.expm(a * 0.1) @ b
        return b

    np.testing.assert_allclose(al.function(walk)(SQUARE, VECTOR, np.int64(4)), walk(SQUARE, VECTOR, 4), rtol=1e-11)


@pytest.mark.parametrize(
    ("f", "error", "message"),
    [
        (lambda a: sl.solve_triangular(a[:2], VECTOR), ValueError, "expected square matrix"),
        (lambda a: sl.cholesky(-a @ a.T), np.linalg.LinAlgError, None),  # whose words are those of SciPy's version
        (lambda a: sl.expm(a[0]), np.linalg.LinAlgError, "The input array must be at least two-dimensional"),
        (lambda a: sl.expm(a[:2]), np.linalg.LinAlgError, "Last 2 dimensions of the array must be square"),
        (lambda a: sl.cholesky(a * np.nan), ValueError, "must not contain infs or NaNs"),
    ],
)
def test_what_is_refused(f, error, message):
    if message is None:
        with pytest.raises(error) as plain:
            f(SQUARE)
        message = re.escape(str(plain.value))
    with pytest.raises(error, match=message):
        al.function(f)(SQUARE)


def test_arguments_that_are_not_supported():
    for f, words in (
        (lambda a: sl.solve(a, VECTOR, overwrite_a=True), "does not take the argument 'overwrite_a'"),
        (lambda a: sl.solve(a, VECTOR, assume_a="banded"), "the argument 'assume_a'.*it is found out"),
        (lambda a: sl.inv(a, True), "inv does not take the argument 'overwrite_a'"),
    ):
        refused_or_plain(f, words, SQUARE)


_RNG = np.random.default_rng(0)
#: the names in the calls: matrices that are general, positive, tall, complex, of ints, float32, singular, with nan
GIVEN = {"m": _RNG.random((3, 3)) + 2 * np.eye(3), "r": _RNG.random((4, 3)), "b": _RNG.random(3), "b4": _RNG.random(4)}
GIVEN |= {"s": GIVEN["m"] @ GIVEN["m"].T, "z": GIVEN["m"] + 1j * _RNG.random((3, 3)), "i": np.array([[2, 1], [1, 3]])}
GIVEN |= {"f": GIVEN["m"].astype("f4"), "one": np.ones((3, 3)), "nan": GIVEN["m"] * np.nan, "c": GIVEN["b"] + [3, 0, 0]}
CALLS = """inv(m) inv(i) inv(f) inv(z) inv(one) inv(nan) inv(r) inv(b) inv(m,check_finite=False) det(m) det(f) det(i)
det(z) det(r) qr(m) qr(r) qr(r,mode='economic') qr(r,mode='r') qr(m,pivoting=True) rq(m) svd(r) svd(r,full_matrices=0)
svd(r,compute_uv=False) svd(f) svd(nan) svdvals(r) eigh(s) eigh(s,eigvals_only=True) eigh(s,subset_by_index=[0,1])
eigh(i) eigh(nan) eigh(z+z.conj().T) eigvalsh(s) eig(m) eig(z) eigvals(m) lstsq(r,b4) lstsq(m,b) lu(m) lu(m,permute_l=1)
lu(r) logm(s) sqrtm(s) norm(m) norm(b,1) norm(m,'fro') norm(m,axis=0) norm(m,2) norm(nan) norm(f) pinv(r) pinvh(s)
block_diag(m,r) block_diag(i,b) toeplitz(b) toeplitz(b,b) toeplitz(z[0]) toeplitz(i[0],[2,5,6]) circulant(b) hankel(b)
solve_banded((1,1),m,b) solveh_banded(s[:2],b) solve_toeplitz(c,b) solve_circulant(c,b) schur(m) hessenberg(m) polar(m)
null_space(one) orth(m) khatri_rao(m,m) companion(b) leslie(b,b[:2]) matrix_balance(m) subspace_angles(r,r)
issymmetric(s) ishermitian(m) bandwidth(m) cosm(m) sinm(m) tanm(m) coshm(m) expm_frechet(m,m) expm_cond(m)
fractional_matrix_power(s,0.5) signm(m) funm(m,np.exp) solve_sylvester(m,m,m) solve_continuous_lyapunov(m,m)
solve_discrete_lyapunov(m*0.1,m) solve_continuous_are(m,m,s,s) eig_banded(s[:2]) eigh_tridiagonal(b,b[:2])
eigvalsh_tridiagonal(b,b[:2]) ldl(s) qr_multiply(m,b) cholesky_banded(s[:2]) diagsvd(b,3,3) fiedler(b)
convolution_matrix(b,3) orthogonal_procrustes(m,m) cossin(sl.qr(sl.block_diag(m,m[:1,:1]))[0],p=2,q=2)""".split()


def _outcome(f, given):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return f(*given)
        except Exception as error:
            return error


def _alike(plain, ours):
    if type(plain) is not type(ours):
        return False
    if isinstance(plain, Exception):
        return str(plain) in str(ours)
    if isinstance(plain, (tuple, list)):
        return len(plain) == len(ours) and all(map(_alike, plain, ours))
    if isinstance(plain, np.ndarray):
        if plain.dtype != ours.dtype or plain.shape != ours.shape or plain.strides != ours.strides:
            return False
    return bool(np.allclose(plain, ours, rtol=1e-5 if np.result_type(plain).char in "fF" else 1e-10, equal_nan=True))


@pytest.mark.parametrize("first", [0, *[pytest.param(k, marks=pytest.mark.nightly) for k in (1, 2, 3)]])
def test_calls_as_scipy_gives_them(first):
    wrong = []
    for call in CALLS[first::4]:
        names = [name for name in GIVEN if re.search(rf"\b{name}\b", call)]
        source = f"def called({', '.join(names)}):\n    return sl.{call}\n"
        linecache.cache[f"<{call}>"] = (len(source), None, source.splitlines(True), f"<{call}>")
        space = {"sl": sl, "np": np}
        exec(compile(source, f"<{call}>", "exec"), space)
        given = [GIVEN[name] for name in names]
        plain, ours = (_outcome(f, given) for f in (space["called"], al.function(space["called"])))
        if not _alike(plain, ours):
            wrong.append((call, plain, ours))
    assert not wrong


def test_calls_in_loops_are_made_by_all_executors():
    def walk(m, b, n):
        for k in range(n):
            b = sl.inv(m) @ b + sl.svdvals(sl.toeplitz(b)) * (k + sl.bandwidth(m)[0])
        return b, sl.issymmetric(m)

    given = GIVEN["m"], GIVEN["b"], np.int64(3)
    for executor in ("auto", "dataflow", "sequential"):
        made, symmetric = al.function(walk, executor=executor)(*given)
        np.testing.assert_allclose(made, walk(*given)[0], rtol=1e-11)
        assert symmetric is False


def test_what_scipy_gives_must_not_depend_on_values():
    f = al.function(lambda m: sl.sqrtm(m))
    np.testing.assert_allclose(f(GIVEN["s"]), sl.sqrtm(GIVEN["s"]))
    np.testing.assert_allclose(f(-GIVEN["s"]), sl.sqrtm(-GIVEN["s"]))  # of a run without loops Python has the last word

    def roots(m, n):
        k = 0
        while k < n:
            m, k = sl.sqrtm(m), k + 1
        return m

    with pytest.raises(TypeError, match=r"sqrtm gave complex128\[3, 3\], but float64\[3, 3\] for other values when it"):
        al.function(roots)(-GIVEN["s"], np.int64(2))
    words = "must know the shapes of its arguments while it is traced"
    refused_or_plain(lambda m: sl.schur(m[:, m[0] > 0]), words, GIVEN["m"])
    with pytest.raises(TypeError, match="schur has no derivative with these arguments; numpy.linalg may have one"):
        al.grad(al.function(lambda m: np.sum(sl.schur(m)[0])))(GIVEN["m"])
