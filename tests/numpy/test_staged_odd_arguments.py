"""Numbers that only the run knows, and lists of them, given for arguments that take others: what NumPy says of them."""

from __future__ import annotations

import warnings

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import EXECUTORS
from random_expressions import compiled

#: of an array ``x``, an int ``k``, a float ``q`` and a complex number ``c`` that the run makes
ODD = """
np.isfortran(a=k); np.hsplit(ary=[k, k], indices_or_sections=[1]); np.tril_indices_from(arr=tuple(x), k=1)
np.take_along_axis(arr=tuple(x), indices=np.array([[0], [1]]), axis=1); np.apply_over_axes(np.sum, k, 0)
np.apply_over_axes(np.sum, tuple(x), axes=0); np.apply_over_axes(np.sum, x, None); np.zeros_like(x, subok=q)
np.linalg.tensorinv(k); np.linalg.tensorinv(x[0, 0], 1); np.polyder(k, 0); np.trim_zeros(k); np.trim_zeros(q, "f")
np.matvec([q, q], x[0]); np.eye(3, 4, q); np.eye(k, 4, x[0, 0]); np.eye(k, k=c); np.indices([q]); np.indices([x[0, 1]])
np.mask_indices(q, np.triu); np.result_type(tuple(x), 2); np.result_type(x, tuple(x)); np.can_cast(np.int8, k)
np.can_cast(tuple(x), np.int16); np.can_cast(np.int8, to=q); np.promote_types(x.dtype, tuple(x)); np.dtype([q])
np.issubdtype(tuple(x), np.floating); np.issubdtype(k, np.floating); np.astype(x, tuple(x)); x.astype([k, k])
np.fromiter((i for i in (1, 2)), dtype=k); np.fromiter((i for i in (1, 2)), dtype=tuple(x)); np.zeros(2, dtype=k)
np.fromfunction(lambda a, b: a == b, (3, 3), dtype=k); np.vectorize(lambda a: a * 2, otypes=[k])(x)
np.vectorize(lambda a: a * 2, otypes="ddd")(x); np.pad(x[0], (2, 1), constant_values=[k, k, k]); np.sum(x, dtype=q)
np.linalg.matrix_rank([k, q]); np.linalg.matrix_rank(x[0]); np.array_split(tuple(x), [1, 2], axis=1)
[one for one in np.nditer([q], order="C")]; np.unravel_index([3], (2, 3), order=k); np.ogrid[0 : q * 1j]
np.mgrid[0 : x[0, 1] > 0]; np.nanquantile(x[:0], q / 9, method="none"); np.polyval(x[0, : k - 2], 2)
np.histogramdd(c, 2); np.format_float_positional(c); np.format_float_scientific([k, k]); np.arange([q], 10, 2)
np.interp(0.3, [0, 1], [1, 2], -5, c); np.array_repr(x, 10, c); np.array_str(x, precision=k > 1)
np.choose([0, 1], x[0, 0]); np.poly(k); np.poly(x[0, 0])
np.ravel_multi_index(q, (2, 2)); np.array(x, out=np.zeros((2, 3)))
np.require(x, out=np.zeros((2, 3))); np.iterable(x, out=np.zeros(2)); np.broadcast(x, x, out=np.zeros(2))
np.cos(x, out=np.zeros(2)); np.cos(x, out=np.zeros(())); np.add(x, k, out=np.zeros(2))
np.add(x, x, out=np.zeros((2, 2))); np.matmul(x, x.T, out=np.zeros(())); np.add.reduce(x, out=np.zeros(9))
x.sum(0, out=np.zeros(9)); x.dot(x.T, np.zeros(9)); np.cos(x[:, :k], out=np.zeros(2)); np.isscalar(x, axis=1)
np.block([x, x], axis=1); np.shape(x, k, k); np.select(x[0, 0], [x]); np.select([x > 1], [x], 2.5)
np.polyval([1, 2], x, out=np.zeros((2, 3))); x.item(k + 9); x.item(-9); x[0].item(k + 9); x.flat[k + 9]; x.flat[-k - 9]
np.choose(k + 9, [x[:0], x[:0]]); np.choose(k + 9, [x, x]); np.sort_complex(x.astype(np.longdouble))
np.linalg.tensorsolve(x[:, :2].astype(np.float16).reshape(2, 2, 1), [k, k])
"""


def _outcome(f):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of what plain Python runs
        try:
            made = f(np.array([[3.0, 1.0, 2.5], [0.5, 4.0, 2.0]]), np.int64(2), np.float64(1.5))
        except Exception as error:
            return type(error), str(error)
    return repr(made), type(made)


@each([line.strip() for line in ODD.replace("\n", ";").split(";") if line.strip()], one_in=2)
def test_odd_numbers_of_the_run_are_numpys_to_judge(line):
    f = compiled(f"def program(x, n, r):\n    k, q, c = int(n), float(r), complex(r)\n    return {line}\n")
    assert _outcome(al.function(f)) == _outcome(f)


#: calls whose operands have extents that the run knows, and do not fit
PRODUCTS = (
    "np.dot(x[:n], x)", "x.dot(x[n:])", "np.inner(x[:n], x)", "np.vdot(x[:n], x)", "np.dot(m[:, :n], x)",
    "np.dot(m[:, :n], m[1:])",
    "np.linalg.multi_dot([m, m[:n]])",
)  # fmt: skip


@pytest.mark.parametrize("executor", EXECUTORS)
def test_products_say_what_numpy_says(executor):
    x, m = np.arange(4.0), np.arange(12.0).reshape(3, 4)
    for line in PRODUCTS:
        f = compiled(f"def program(x, m, n):\n    return {line}\n")
        with pytest.raises(ValueError, match="shape") as plain:
            f(x, m, 1)
        with pytest.raises(ValueError, match="shape") as ours:
            al.function(f, executor=executor)(x, m, np.int64(1))
        assert str(ours.value) == str(plain.value)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_products_of_what_the_run_cuts(executor):
    def f(x, m, n):
        total, i = 0.0, 1
        while i < n:
            total = total + np.dot(x[:i], x[-i:]) + np.dot(m[:, :i], x[:i]).sum() + np.inner(x[:i], x[:i])
            i = i + 1
        return total

    given = np.arange(4.0), np.arange(12.0).reshape(3, 4)
    assert al.function(f, executor=executor)(*given, np.int64(4)) == f(*given, 4)
    g = al.grad(lambda x, n: np.dot(x[:n], x[1 : n + 1]))
    np.testing.assert_allclose(g(given[0], np.int64(3)), [1.0, 2.0, 4.0, 2.0])
