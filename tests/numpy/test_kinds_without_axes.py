"""What has no axes is an array, a scalar or a Python number, as NumPy has it."""

from __future__ import annotations

import linecache

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import EXECUTORS

#: of a matrix ``x``, its element ``A`` and that element as an array ``Z``
EXPRESSIONS = """
np.asarray(A); np.array(A); np.array(1.5 * A); np.copy(A); A.copy(); Z.copy(); np.array(A, dtype=np.float32)
np.array(3); np.where(A > 1, 1, 2); np.where(A > 1, A, 0) + 1; np.where(Z > 1, A, 0)[()]
np.where(A > 1, 1, 2).item(); np.asarray(Z); np.broadcast_to(A, ()); np.full((), A); np.full_like(A, 2)
np.zeros_like(Z); np.select([A > 1], [A], 0); np.zeros(()) + A; x[0, 0]; x[0, 0, ...]; A[...]; A[()]; Z[...]
Z[()]; x[0][1]; x.item(0); Z.item(); x[0][np.asarray(1)]; np.take(x, 1); np.squeeze(x[:1, :1])
np.squeeze([A]); np.reshape([[A]], ())
x[:1, :1].squeeze(); x[:1, :1].reshape(()); np.squeeze(x[:1, :1]) + 1; Z.reshape(()); Z.T; A.T; Z.real
np.imag(Z); A.real; np.real(A); Z.astype('i4'); A.astype('i4'); Z.conj(); np.conj(Z); -Z; Z * 2; Z > 1; abs(Z)
np.sin(Z); Z.sum(); Z.round(); Z.clip(0, 1); np.clip(Z, 0, 1); np.nan_to_num(Z); np.real_if_close(A); np.i0(A)
np.fix(Z); np.tensordot(x, x); np.cov(x[0]); np.corrcoef(x[0]); np.isin(A, x); np.dot(x[0], x[0]); x[0] @ x[0]
np.trace(x); np.einsum('i,i->', x[0], x[0]); np.linalg.norm(x); np.median(x); np.percentile(x, 30); np.std(x)
np.interp(A, x[0], x[1]); np.searchsorted(x[0], A); np.count_nonzero(x); np.any(x); x.argmax()
np.linalg.matrix_rank(x); np.linalg.matrix_rank(x[0]); np.piecewise(A, [A > 1], [1.0, 2.0])
np.apply_along_axis(np.sum, 0, x[0]); np.vectorize(lambda t: t + 1)(A); np.float32(Z); np.ndim(A); np.size(A)
np.shape(A); np.iscomplexobj(A); np.array_equal(x, x); np.allclose(x, x); np.isscalar(A); np.isscalar(Z)
isinstance(Z, np.ndarray); isinstance(A, np.ndarray); isinstance(A, float); len(x); x.size; Z.ndim; x.nbytes
f'{Z}'; repr(Z); str(A); repr([Z, A]); divmod(Z, 1); round(A, 1); float(Z); int(Z); Z.tolist()
np.asfortranarray(A); (A > 1) ** 2; (Z > 1) ** 2; (np.asarray(A > 1)) ** 2; (x > 1) ** 2; (A > 1) ** 3
np.real(int(A)); np.imag(int(A)); np.real(float(A)); np.imag(float(A)); np.real(bool(A)); np.imag(bool(A))
np.real(complex(A)); np.imag(complex(A)); np.isreal(int(A)); np.isreal(complex(A)); np.squeeze(int(A))
np.transpose(float(A)); np.real_if_close(int(A)); np.angle(int(A)); np.fix(int(A)); np.round(int(A)); np.abs(int(A))
np.asarray_chkfinite(int(A)); np.clip(int(A), 0, 1); np.real([A]); np.conj(int(A))
max(Z, x[0, 1, ...]); min([x[0, 1, ...], Z]); max(Z, np.array(2.0), key=lambda z: -z); max(Z, A - 1); max(Z + 1, Z)
sorted([x[0, 1, ...], Z]); np.unique_inverse(int(A)); np.unique(A, return_inverse=True); np.fft.fftn(A)
np.block(A); np.block([A, 1.0])
np.broadcast_arrays(int(A), 1.5); np.broadcast_arrays(float(A), A); np.broadcast_arrays(x[0], int(A))
"""


def compiled(expression):
    source = f"def program(x):\n    A = x[0, 0]\n    Z = np.asarray(A)\n    return {expression}\n"
    filename = f"<kind of {expression}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    namespace = {"np": np, "__name__": "program"}
    exec(compile(source, filename, "exec"), namespace)
    return namespace["program"]


def described(value):
    if isinstance(value, (list, tuple)):
        return [type(value), *map(described, value)]
    return type(value), getattr(value, "dtype", None), np.shape(value), repr(value)


@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning")
def test_kinds_are_numpys():
    wrong = []
    for expression in filter(None, EXPRESSIONS.replace("\n", ";").split(";")):
        program, x = compiled(expression.strip()), np.array([[1.5, 2.0, 3.0], [4.0, 5.0, 7.0]])
        wanted, got = described(program(x)), described(al.function(program, executor="sequential")(x))
        if wanted != got:
            wrong.append((expression, wanted, got))
    assert not wrong


def kept(x, n):
    zero, count = np.zeros(()), np.asarray(n)
    i = 0
    while i < n:
        zero += x[i]
        count = np.where(x[i] > 1, count + 1, count)
        i += 1
    side = np.asarray(x[0]) if x[1] > 1 else np.asarray(x[1])
    return zero, count, side, x[0] if x[1] > 1 else x[1]


@each(EXECUTORS)
def test_a_loop_and_a_branch_keep_the_kind(executor):
    x, f = np.array([1.5, 2.0, 0.5]), al.function(kept, executor=executor)
    for n in (0, 3):
        assert described(kept(x, np.int64(n)))[:2] == described(f(x, np.int64(n)))[:2]
        assert described(kept(x, np.int64(n)))[3:] == described(f(x, np.int64(n)))[3:]


def test_what_is_returned_can_be_written_to():
    made = al.function(lambda x: np.asarray(x[0] * 2))(np.ones(3))
    made[...] = 5
    assert made == 5 and isinstance(made, np.ndarray)


def asked(c):
    s = c
    for _ in range(3):
        s = s * 2
    return (c, [c], s, c**2, c + 1, type(c).__name__, isinstance(c, np.ndarray), c[()], c[...], c.T, c.reshape(1))


@each(EXECUTORS)
def test_an_argument_without_axes_is_what_it_is(executor):
    f = al.function(asked, executor=executor)
    for value in (np.array(True), np.True_, np.array(2.5), np.float64(2.5)):
        assert described(f(value)) == described(asked(value))
