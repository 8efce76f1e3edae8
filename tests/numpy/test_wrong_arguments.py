"""Arguments that NumPy refuses, or that tensors do not hold: the same type of error, or a refusal that says why."""

from __future__ import annotations

import operator
import warnings
from itertools import product

import autoloop as al
import numpy as np
import pytest
from executors import EXECUTORS
from left_to_python import refused_or_plain
from random_expressions import compiled

X = np.arange(6.0).reshape(2, 3)

#: what NumPy refuses -> its words
REFUSED_BY_NUMPY = [
    (lambda x: np.sum(x, axis=True), "an integer is required"),
    (lambda x: x.argsort(axis=True), "an integer is required"),
    (lambda x: np.sum(x, axis=[0]), "cannot be interpreted as an integer"),
    (lambda x: np.cumsum(x, axis=(0,)), "cannot be interpreted as an integer"),
    (lambda x: np.sort(x, axis=()), "cannot be interpreted as an integer"),
    (lambda x: np.take(x, [0], axis=[0]), "cannot be interpreted as an integer"),
    (lambda x: np.max(x, keepdims="yes"), "cannot be interpreted as an integer"),
    (lambda x: np.round(x, 1.5), "cannot be interpreted as an integer"),
    (lambda x: np.put_along_axis(x, np.array([[0], [1]]), 2.0, None), "`indices` must have a single dimension"),
    (lambda x: np.diag(x, k=1.5), "cannot be interpreted as an integer"),
    (lambda x: np.eye(x.astype(int)[0, 0] - 1), "negative dimensions are not allowed"),
    (lambda x: np.eye(x.astype(int)[0, 2], k=1.5), "cannot be interpreted as an integer"),
    (lambda x: np.eye(x.astype(int)[0, 2], order="Z"), "order must be one of"),
    (lambda x: x[:1, :1].item(None), "cannot be interpreted as an integer"),
    (lambda x: x.item(1.0), "cannot be interpreted as an integer"),
    (lambda x: x.item(True), "an integer is required"),
    (lambda x: x.item(x[0, 0]), "cannot be interpreted as an integer"),
    (lambda x: np.zeros_like(x, subok="foo"), "cannot be interpreted as an integer"),
    (lambda x: np.array(x, ndmin=1.5), "integer argument expected, got float"),
    (lambda x: np.array(x, order=1.5), "order must be str, not float"),
    (lambda x: np.sort(x, order="f0"), "Cannot specify order when the array has no fields"),
    (lambda x: np.require(x, requirements=1.5), "not iterable"),
    (lambda x: np.require(x, requirements=(0,)), "no attribute 'upper'"),
    (lambda x: np.append(x, x, axis=True), "an integer is required"),
    (lambda x: np.vecdot(x, x, axis=True), "an integer is required"),
    (lambda x: np.vecdot(x, x, keepdims=1j), "'keepdims' must be a boolean"),
    (lambda x: np.fft.fft(x, n=True), "an integer is required"),
    (lambda x: np.einsum("ij,kj", x, x, optimize=2), "has no len"),
    (lambda x: np.cross(x, x, axis=(0,)), "cannot be interpreted as an integer"),
    (lambda x: np.sum(x, where=np.array(1)), "Cannot cast scalar from"),
    (lambda x: np.sort(x, kind=2), "sort kind must be str"),
    (lambda x: np.std(x, ddof=[]), "truth value of an empty array"),
    (lambda x: np.vander(x[0], N=-7), "negative dimensions are not allowed"),
    (lambda x: x.astype(float, subok=[]), "cannot be interpreted as an integer"),
    (lambda x: x.copy(order="Z"), "order must be one of"),
    (lambda x: np.sum(x, dtype=">f8"), "only select the general DType"),
    (lambda x: np.fromiter((row for row in x), float), "setting an array element with a sequence."),
    (lambda x: +(x > 1), "ufunc 'positive' did not contain a loop"),
    (lambda x: +(x[0, 0] > 1), "ufunc 'positive' did not contain a loop"),
    (lambda x: list("abc")[(slice(x.astype(int)[0, 1]),)], "list indices must be integers or slices, not tuple"),
    (lambda x: x.reshape(1, x.astype(int)[0, 2] + 2, 2).reshape(3, 2) + 1, "cannot reshape array of size 6 into shape"),
    (lambda x: x.reshape(x.astype(int)[0, 2] + 2, 2).reshape([6]) * 2, "cannot reshape array of size 6 into shape"),
    (lambda x: np.triu_indices_from((x[0], x[1])), "'tuple' object has no attribute 'ndim'"),
    (lambda x: np.take_along_axis(x, [[0, x.astype(int)[0, 1]]], 1), "'list' object has no attribute 'dtype'"),
    (lambda x: np.astype(int(x[0, 1]), "f4"), "'int' object has no attribute 'astype'"),
    (lambda x: np.split([x[0], x[1]], 2), "'list' object has no attribute 'shape'"),
    (lambda x: np.isfortran(int(x[0, 1])), "'int' object has no attribute 'flags'"),
    (lambda x: int(x[0, 1]).tolist(), "'int' object has no attribute 'tolist'"),
    (lambda x: float(x[0, 1]).item(), "'float' object has no attribute 'item'"),
    (lambda x: np.add.at([x[0], x[1]], 0, 1), "first operand must be array"),
    (lambda x: np.piecewise(x, [x < 0, x[0, 1] > 2], [1, 2]), "inhomogeneous shape"),
    (lambda x: np.mgrid[0 : x.astype(int)[0, 0] - 2, 0:2], "negative dimensions are not allowed"),
    (lambda x: np.array_repr(int(x[0, 1])), "'int' object has no attribute 'size'"),
    (lambda x: np.histogram2d(x[0], x[1], (None, 2)), "'<' not supported between instances of 'NoneType' and 'int'"),
    (lambda x: np.sum(x, keepdims=np.True_), "cannot be interpreted as an integer"),
    (lambda x: np.vecdot(x, x, keepdims=np.True_), "'keepdims' must be a boolean"),
    (lambda x: np.identity(x.astype(int)[0, 0] - 1), "negative dimensions are not allowed"),
    (lambda x: np.resize(x, x.astype(int)[0, 0] - 1), "all elements of `new_shape` must be non-negative"),
    (lambda x: np.resize(x, (x.astype(int)[0, 0] - 1, x.astype(int)[0, 0] - 1)), "must be non-negative"),
    (lambda x: np.pad(x[0, :1], (x.astype(int)[0, 1] - 2, 3)), "index can't contain negative values"),
    (lambda x: np.pad(x, x.astype(np.uint8)[0, 2]), "`pad_width` must be of integral type."),
    (lambda x: np.pad(x[0, 0], x[0, 1]), "`pad_width` must be of integral type."),
    (lambda x: np.int8([x.astype(np.int8)[0, 0], 300]), "Python integer 300 out of bounds for int8"),
    (lambda x: x[0, 1].mT, "'numpy.float64' object has no attribute 'mT'"),
    (lambda x: x[0, 1][0], "invalid index to scalar variable."),
    (lambda x: x[x[0, 1] :], "slice indices must be integers or None or have an __index__ method"),
    (lambda x: x[x[0, 1, ...] :], "only integer scalar arrays can be converted to a scalar index"),
    (lambda x: x[: np.array(2.0)], "only integer scalar arrays can be converted to a scalar index"),
    (lambda x: x[: x[0]], "only integer scalar arrays can be converted to a scalar index"),
    (lambda x: x[None:"a"], "slice indices must be integers or None or have an __index__ method"),
    (lambda x: x[x[0, 1]], "only integers, slices"),
    (lambda x: x.__setitem__(x[0, 1], 2), "only integers, slices"),
    (lambda x: list(x[0, 1, ...]), "iteration over a 0-d array"),
    (lambda x: min(x[0, 1, ...]), "iteration over a 0-d array"),
    (lambda x: list(x[0, 1]), "'numpy.float64' object is not iterable"),
    (lambda x: max(x[0, 1]), "'numpy.float64' object is not iterable"),
    (lambda x: operator.setitem(int(x[0, 1]), 0, 1), "'int' object does not support item assignment"),
    (lambda x: int(x[0, 1]).foo, "'int' object has no attribute 'foo'"),
    (lambda x: int(complex(x[0, 1])), "a string, a bytes-like object or a real number, not 'complex'"),
    (lambda x: int(x[0, 1]) // (x[0, 1] * 1j), "unsupported operand type"),
]
#: dtypes that tensors do not have
HOLD, ORDER = "tensors hold numbers, nothing of dtype", "tensors have this machine's byte order"
REFUSED_BY_US = [
    (lambda x: x.astype(object), HOLD),
    (lambda x: x.astype("U3"), HOLD),
    (lambda x: np.zeros_like(x, dtype="M8[s]"), HOLD),
    (lambda x: np.ones(x.astype(int)[0, 2], dtype=object), HOLD),
    (lambda x: np.array(x, dtype="m8[s]"), HOLD),
    (lambda x: np.fabs(x, dtype=object), HOLD),
    (lambda x: al.cast(x, object), HOLD),
    (lambda x: np.asarray(x, dtype=">i4"), ORDER),
    (lambda x: np.vstack((x, x), dtype=">f8"), ORDER),
    (lambda x: x.astype(">f4"), ORDER),
]


def test_scalars_and_lists_of_scalars_are_cast_as_numpy_casts_them():
    one = X[0] * (2 + 0j)
    for f in (
        lambda c: np.interp(c[1], [0, 1], [0, 2]),
        lambda c: np.interp([c[1], 1], [0, 1], [0, 2]),
        lambda c: np.interp([1.0], [0, c[1]], [0, 2]),
        lambda c: np.bincount([0, 1], weights=[1, c[1]]),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
            refused_or_plain(f, "Cannot cast array data", one)
    for f in (lambda c: np.interp(c, [0, 1], [0, 2]), lambda c: np.bincount([0, 1, 1], weights=c)):
        with pytest.raises(TypeError, match="Cannot cast array data"):
            al.function(f)(one)


#: None, given where nothing given means another thing
OF_NONE = [
    lambda x: np.where(x > 2, None, None),
    lambda x: np.where(x > 2, x, None),
    lambda x: np.where(x > 2, None, x),
    lambda x: np.sum(x, initial=None),
    lambda x: x.max(initial=None),
    lambda x: x.std(ddof=None),
    lambda x: np.var(x, correction=None),
    lambda x: np.nan_to_num(x, nan=None),
    lambda x: np.moveaxis(x, 0, None),
    lambda x: np.array(x, ndmin=None),
    lambda x: np.diff(x, prepend=None),
    lambda x: np.searchsorted(x[0], x, side=None),
    lambda x: x.astype("f4", subok=None),
    lambda x: np.vecdot(x, x, keepdims=None),
    lambda x: np.vecdot(x, x, casting=None),
    lambda x: np.sin(x, signature=None),
    lambda x: np.add.reduce(x, keepdims=None),
    lambda x: np.histogram(x, None),
    lambda x: np.equal(x, None),
    lambda x: np.logical_and(x, None),
]


def test_what_is_no_integer_numpy_alone_knows():
    for f in (
        lambda n: np.tri(n, 1.5),
        lambda n: np.tril_indices(n, m=1.5),
        lambda n: np.triu_indices(n, k=1.5),
        lambda n: np.triu_indices(n, m=1.5),
        lambda n: np.tri(n, k=n * 0.5),
    ):
        refused_or_plain(f, "must be an integer|NumPy alone knows", np.array(3))


def test_of_two_faults_numpy_says_which_is_first():
    of_ints, two = X.astype(int), np.ones(2)
    for f in (lambda x, y: np.clip(x, 0, y, out=x), lambda x, y: x.clip(0, y, out=x)):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".* runs as plain Python")
            with pytest.raises(TypeError, match="Cannot cast ufunc 'clip'"):
                al.function(f)(of_ints, two)
        with pytest.raises(ValueError, match="broadcast"):
            al.function(f)(X, two)


def test_none_given_and_nothing_given_are_two_things():
    for f in OF_NONE:
        refused_or_plain(f, "what None for|an operand is None", X)
    for f in (lambda x: np.where(x > 2), lambda x: np.clip(x, None, None), lambda x: np.sort(x, axis=None)):
        np.testing.assert_array_equal(al.function(f, executor="sequential")(X), f(X))


#: dtypes that a result has, whatever it is computed in
OF_DTYPES = [
    lambda x: np.nanprod(x, dtype=bool),
    lambda x: np.nancumsum(x, 1, bool),
    lambda x: np.nancumprod(x, dtype=bool),
    lambda x: np.linalg.trace(x, dtype=bool),
    lambda x: np.nancumsum(x, 0, np.float32),
    lambda x: np.var(x, dtype=complex),
    lambda x: np.std(x, 1, dtype=complex),
]


def test_a_dtype_asked_for_is_the_results():
    for f in OF_DTYPES:
        plain, ours = f(X), al.function(f)(X)
        assert plain.dtype == ours.dtype
        np.testing.assert_array_equal(plain, ours)


def test_booleans_are_computed_with_in_the_dtype_asked_for():
    for f in (
        lambda b: np.subtract(b, b[::-1], dtype=np.float64),
        lambda b: np.subtract.outer(b, b, dtype=int),
        lambda b: np.negative(b, dtype=np.float32),
    ):
        plain, ours = f(X > 1), al.function(f)(X > 1)
        assert plain.dtype == ours.dtype
        np.testing.assert_array_equal(plain, ours)


#: what ours refuses, too, for another reason, in another order or of another type: NumPy is asked
IN_NUMPYS_WORDS = [
    lambda x: np.fft.fftn(x, axes=2),
    lambda x: np.fft.ifftn(x, axes=1),
    lambda x: np.fft.irfft2(x, axes=2),
    lambda x: np.fft.fftn(x, s=2),
    lambda x: np.transpose(x, axes=2),
    lambda x: x.transpose(2),
    lambda x: x.transpose(0, 0),
    lambda x: x.transpose(0, 5),
    lambda x: np.permute_dims(x, (0, -2)),
    lambda x: np.split(x, 2, axis=-7),
    lambda x: np.array_split(x, 2, axis=7),
    lambda x: np.bincount(x[0].astype(int), weights="foo"),
    lambda x: np.fromiter(x[0], float, count=1.5),
    lambda x: np.fromiter([x[0, 0], x[0, 1]], float, count=1.5),
    lambda x: np.vecdot(x, x, axes=()),
    lambda x: np.vecdot(x, x, axes=2),
    lambda x: np.matvec(x, x[0], axes=()),
    lambda x: x.dot(1, 2, 3),
    lambda x: x.reshape(-1, -1),
    lambda x: np.repeat(x, -1),
    lambda x: np.tile(x, -1),
    lambda x: x.repeat(2, axis=3),
    lambda x: np.broadcast_to(x, (2, 2, 3)).fill(1),
    lambda x: np.zeros_like(x, shape=-x.shape[0]),
    lambda x: x + np.zeros(2),
    lambda x: np.concatenate([x, x[0]]),
]


def test_of_faults_numpy_is_asked_and_what_was_written_before_stays():
    for f in IN_NUMPYS_WORDS:
        outcomes = []
        for decorate in (lambda g: g, lambda g: al.function(g, executor="sequential")):
            x = X.copy()

            def written(x, f=f):
                x[0, 0] = 9.0
                return f(x)

            with pytest.raises(Exception) as raised:  # noqa: PT011
                decorate(written)(x)
            outcomes.append((raised.type, str(raised.value), x.tolist()))
        assert outcomes[0] == outcomes[1]


def test_errors_of_what_only_the_run_knows_are_not_numpys_of_other_values():
    # of two values in the same place NumPy says two things, or nothing: the answer is not of this call
    for f in (
        lambda x, n: x.reshape(n, 7, -1),
        lambda x, n: np.split(x, [n, 2], axis=3),
        lambda x, n: np.linalg.inv(x[:, :2] * n) @ np.ones(3),
    ):
        with pytest.raises((ValueError, IndexError, TypeError)) as plain:
            f(X, 2)
        with pytest.raises(plain.type), warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".* runs as plain Python")
            al.function(f)(X, np.int64(2))


#: arguments of odd types and shapes, of which NumPy makes something, or nothing
ODD = """
np.inner(0, x); np.inner(x, x[0, 0]); np.choose(x > 1, [x[0], x[1]], mode="clip")
np.choose(x > 1, [x[0], x[1]], mode="wrap")
np.astype(x > 1, None); np.resize(x, ()); np.sum(x, where=x); np.std(x, where=x); x.any(where=x)
x.min(where=x, initial=2)
np.nansum(x, where=x); np.var(x, ddof=np.nan); np.fromiter(x, float); np.fromiter([x[0], x[1]], float)
np.maximum.reduceat(x[0], np.ones(2)); [a * b for a, b in np.broadcast(2j, x[0])]; np.cov(x, aweights=np.ones(5))
[a * b for a, b in np.broadcast(x, 1.5)]; np.sum(x, where=[1, 0, 1])
"""


def test_of_odd_arguments_numpy_has_the_word():
    for line in filter(None, map(str.strip, ODD.replace("\n", ";").split(";"))):
        f, outcomes = compiled(f"def program(x):\n    return {line}\n"), []
        for g in (f, al.function(f, executor="sequential")):
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                try:
                    outcomes.append(repr(g(X)))
                except Exception as error:
                    outcomes.append(type(error))
        assert outcomes[0] == outcomes[1], line


#: shapes that only the run knows, and of which the operand says what they have to be
@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_shape_of_the_run_has_to_fit(executor):
    for f, right, wrong in (
        (lambda x, n: x.ravel().reshape(n), 6, 5),
        (lambda x, n: x.reshape(n, 2) * 2, 3, 2),
        (lambda x, n: x.reshape(3, n) * 2, 2, 3),
        (lambda x, n: x.reshape(n, 3) * 2, -1, 3),
        (lambda x, n: np.full(n, [1.0, 2.0]) * 2, 2, 3),
        (lambda x, n: np.full((2, n), x) + 1, 3, 1),
        (lambda x, n: np.broadcast_to([1, 2], (n,)) * 2, 2, 1),
        (lambda x, n: (x.reshape(n, 3), x + 1)[1], 2, 3),
    ):
        decorated = al.function(f, executor=executor)
        for n in (right, wrong, right):
            if n == right:
                np.testing.assert_array_equal(decorated(X, np.int64(n)), f(X, n))
                continue
            with pytest.raises(ValueError, match="reshape|broadcast"):
                decorated(X, np.int64(n))


def test_what_ours_refuses_and_numpy_takes_is_left_to_plain_python():
    for f in (
        lambda x: np.cumulative_sum(x, axis=(0,)),
        lambda x: np.cumulative_prod(x[0], axis=(0,)),
        lambda x: np.unstack(x, axis=(0,)),
        lambda x: np.arange(x[0, 0], stop=1j),
        lambda x: np.einsum("ij", x, dtype=int),
    ):
        refused_or_plain(f, "integer|NumPy alone knows|real numbers|cannot be cast", X)


def test_what_numpy_refuses_is_refused_with_its_words():
    for f, words in REFUSED_BY_NUMPY:
        with pytest.raises((TypeError, ValueError, AttributeError, LookupError, OverflowError), match=words) as plain:
            f(X)
        with pytest.raises(plain.type, match=words):
            al.function(f)(X)


#: arguments of odd types that NumPy takes, for what it alone knows
TAKEN_BY_NUMPY = [
    lambda x: np.zeros(x.astype(int)[0, 2], dtype=[]),
    lambda x: np.mean(x, where=2),
    lambda x: np.var(x, mean=1j),
    lambda x: np.argmax(x, keepdims="yes"),
    lambda x: np.ravel(x, order="f"),
    lambda x: np.histogram(x, bins=True),
    lambda x: np.take(x, [9], mode=1),
    lambda x: np.linalg.matrix_rank(x, tol=[0.1]),
]


def test_what_numpy_takes_for_what_it_alone_knows_is_left_to_plain_python():
    for f in TAKEN_BY_NUMPY:
        refused_or_plain(f, "NumPy alone knows", X)
    count = al.function(lambda t: np.fromiter([t, 2.0], float, count=-7))(X[0, 1])
    assert count.shape == (0,)


def test_dtypes_that_tensors_do_not_have_are_refused():
    for f, words in REFUSED_BY_US:
        refused_or_plain(f, words, X)


#: two faults at once: a place that is not there, and a value that does not fit
PLACES = ["x[3]", "x[-5]", "x[0, 0]", "x[..., 5]", "x[None, 3]", "x[[True, False]]", "x[[0, 7]]", "x.flat[3]",
          "x.flat[-5]", "x.flat[0]", "x.flat[[0, 9]]", "x[len(x)]", "x[3:]"]  # fmt: skip
VALUES = ["450", "-1", "2**70", "None", "'a'", "1 + 2j", "np.nan", "np.arange(4)", "[1, 2, 3, 4]", "[[1], [2, 3]]"]


def test_of_two_faults_numpys_is_told():
    wrong = []
    for place, value in product(PLACES, VALUES):
        f = compiled(f"def program(x):\n    {place} = {value}\n    return x\n")
        found = [_raised(g, np.array([1, 2, 3], np.uint8)) for g in (f, al.function(f, executor="sequential"))]
        if found[0] is not found[1]:
            wrong.append((place, value, *found))
    assert not wrong


#: a dtype that the result is not cast to, and a shape that does not fit
CASTS = ["x /= y", "x += y", "np.add(x, y, out=x)", "np.add(x[:2], y, x)", "x[:2] /= y", "x @= y",
         "np.add(x, y, out=x, casting='unsafe')", "np.add(x, y[:2], out=x, dtype='f8')", "np.arctan2(x, y, out=x)",
         "np.equal(x, y, out=x)", "np.fmod(y, x, out=x)"]  # fmt: skip


def test_a_cast_is_refused_before_a_shape():
    for text, dtypes in product(CASTS, [("i4", "f8"), ("i8", "i8"), ("f4", "c16"), ("?", "f8"), ("f4", "f8")]):
        f = compiled(f"def program(x, y):\n    {text}\n")
        given = [np.array([1, 2, 3]).astype(dtypes[0]), np.arange(1, 5).astype(dtypes[1])]
        found = [_raised(g, *given) for g in (f, al.function(f, executor="sequential"))]
        assert found[0] is found[1] is not None, (text, dtypes, found)


def _raised(f, *given):
    try:
        f(*given)
    except Exception as error:
        return type(error)
    return None


#: what NumPy makes of an index or value in a way of its own
AS_NUMPY_DOES = [
    *[f"return x.flat[{index}]" for index in ("True", "False", "1.5", "[1.5, 2]", "(True,)", "np.True_", "None")],
    *[f"x.flat[{index}] = 9" for index in ("True", "np.array(True)", "...", "()", "1.5", "[True, False, True]")],
    "y = x[x >= 0]; return y.flat[True]", "x.flat = [7, 8]", "return x.flat[...]", "x.flat[[0, 9]] = 'a'",
    "x.fill([1, 2])", "x.fill([5])", "x.fill(np.array([3]))", "x.fill(x[:1])", "x.fill(range(2))", "x.fill(None)",
    "x[0] = range(2)",
    "np.place(x, x > 0, np.array(3.7))", "np.place(x, x > 0, np.float64(3.7))", "np.putmask(x, x > 0, np.array(3.7))",
    "np.put(x, [0, 1], [])", "x[x > 9] = None", "x[[0, 7]] = [1, 2, 3, 4]", "x[[0, 7]] = None",
    "return np.insert(x, 9, 450)", "return np.insert(x, [1, 9], [7, 450])", "return np.insert(x, 1, 450)",
    "return np.insert(x, x[0] * 3, 450)", "return np.insert(x, [7, 1], [1, 2, 3])", "return np.insert(x, 3, [1, 2])",
    "return float((x + 1j)[0]), int((x + 2j)[0])", "return np.full_like(x > 1, 2**70)",
    "x.shape = (3, 1); return x", "y = x + 1; y.resize(1, 3); return y", "x.setflags(write=False); x[0] = 1",
    "return np.random.default_rng(1).choice(x, 2)", "return range(int(x[1]))", "return [range(x[1], 9), x + 1]",
]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_what_numpy_alone_can_tell_is_as_it_says(dtype):
    for line in AS_NUMPY_DOES:
        f, outcomes = compiled(f"def program(x):\n    {line}\n"), []
        for g in (f, al.function(f, executor="sequential")):
            x = np.array([1, 2, 3], dtype)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    outcomes.append((repr(g(x)), repr(x)))
                except Exception as error:
                    outcomes.append((type(error), repr(x)))
        assert outcomes[0] == outcomes[1], line
