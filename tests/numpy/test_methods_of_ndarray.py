"""Tensors have all of ndarray's methods and attributes, each with ndarray's own parameters."""

from __future__ import annotations

import inspect
import pickle
import warnings
from contextlib import suppress

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import EXECUTORS
from left_to_python import refused_or_plain

PUBLIC = [name for name in dir(np.ndarray) if not name.startswith("_")]
#: what ndarray's methods hand on by name only in their signatures; ours say it
COLLECTED = {"keepdims", "initial", "where", "mean"}
#: what newer versions of NumPy take besides, which leaves a call to plain Python
LATER = {"descending"}
OF_THE_STANDARD = {"device", "to_device"}
#: methods that take more than their signatures say: several choices one by one, ``v=``, ``b=``, ``out``
LOOSER = {"choose", "conj", "conjugate", "dot", "searchsorted"}
X = np.array([[3.0, -1.0, 2.5], [0.5, 4.0, -2.0]])


def _signature(f):
    try:
        return inspect.signature(f)
    except ValueError:
        return pytest.skip("an older NumPy, whose methods do not say their parameters")


def _seen(parameters):
    """What a caller sees of each parameter; those given by place only have no name that matters."""
    return [
        (None if p.kind is p.POSITIONAL_ONLY else p.name, p.kind.name, p.kind is p.VAR_POSITIONAL or repr(p.default))
        for p in parameters
        if p.name not in {"self", *COLLECTED, *LATER} and p.kind is not p.VAR_KEYWORD
    ]


@each([n for n in PUBLIC if n not in OF_THE_STANDARD | LOOSER])
def test_tensors_have_it_with_the_same_parameters(name):
    theirs, ours = getattr(np.ndarray, name), getattr(al.Tensor, name)
    assert callable(theirs) == callable(ours)
    if callable(theirs):
        expected, found = _signature(theirs).parameters, inspect.signature(ours).parameters
        assert _seen(found.values()) == _seen(expected.values())
        for keyword in COLLECTED & set(expected):
            assert found[keyword] == expected[keyword] or found[keyword].kind is inspect.Parameter.KEYWORD_ONLY or (
                found[keyword].replace(annotation=inspect.Parameter.empty) == expected[keyword]
            )  # fmt: skip


@each(["nbytes", "itemsize", "size", "ndim"])
def test_a_value_says_how_large_it_is(name):
    assert getattr(al.constant(X), name) == getattr(X, name)


def test_strides_are_those_of_an_array_that_is_gone_on_with():
    t = al.constant(X)
    assert al.constant(1.0).strides == () and t.numpy().strides == X.strides and not hasattr(t, "strides")
    for step in (t[::-1], t + 1):  # as_strided would read beside the copy that it is given
        with pytest.raises(AttributeError, match=r"a copy.*x = t.numpy\(\), ask x.strides"):
            np.lib.stride_tricks.as_strided(step[1:], (2, 2), (-step.strides[0], 8))


def test_a_value_has_bytes_that_cannot_be_written_to(tmp_path):
    t = al.constant(X)
    assert t.tobytes() == X.tobytes() and t.tobytes("F") == X.tobytes("F")
    assert bytes(t.data) == X.tobytes() and t.data.readonly
    assert not t.flags.writeable and t.ctypes.shape[:] == [2, 3]
    assert np.shares_memory(t.base, t.numpy())
    assert not any(one.base.flags.writeable for one in (t[1:], t + 1, t[1:] * 2, t.T) if one.base is not None)
    assert np.array_equal(pickle.loads(t.dumps()), X)
    t.tofile(tmp_path / "raw")
    t.dump(str(tmp_path / "pickle"))
    assert (tmp_path / "raw").read_bytes() == X.tobytes()
    assert np.array_equal(np.load(tmp_path / "pickle", allow_pickle=True), X)


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (lambda x: x.sort(), "x.sort() changes x in place, which tensors do not; write x = numpy.sort(x)"),
        (lambda x: x.fill(2), "numpy.full_like"),
        (lambda x: x.put([0], 1), "autoloop.set_item"),
        (lambda x: x.partition(1), "numpy.partition"),
        (lambda x: x.resize(3), "numpy.resize"),
        (lambda x: x.setfield(1, "i4"), "x.view(dtype)"),
        (lambda x: x.setflags(write=False), "a copy"),
        (lambda x: x.byteswap(True), "x = x.byteswap()"),
        (lambda x: x.reshape(6, copy=False), "reshape does not take the argument 'copy'"),
    ],
)
def test_what_writes_in_place_is_refused_by_name(write, words):
    with pytest.raises(TypeError) as caught:
        write(al.constant(X))
    assert words in str(caught.value)


def test_elements_are_pythons_numbers_by_place():
    t = al.constant(X)
    assert type(t.item(4)) is float and t.item(4) == 4.0 and t.item(1, 2) == -2.0 and t.item((0, 1)) == -1.0
    assert t.tolist() == X.tolist()


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda x: x.item(), ValueError, "can only convert an array of size 1 to a Python scalar"),
        (lambda x: x.item(1, 1, 1), ValueError, "incorrect number of indices for array"),
        (lambda x: x[0].mT, ValueError, "matrix transpose with ndim < 2 is undefined"),
        (lambda x: x.astype(np.int8, casting="safe"), TypeError, "according to the rule 'safe'"),
        (lambda x: x.view(np.complex128), ValueError, "its size must be a divisor of the total size in bytes"),
        (lambda x: x[0, 0].view(np.int8), ValueError, "Changing the dtype of a 0d array is only supported"),
        (lambda x: x.getfield(np.int32, 6), ValueError, "at offset 6"),
    ],
)
def test_errors_are_numpys(ask, error, words):
    for given in (lambda: ask(X), lambda: ask(al.constant(X)), lambda: al.function(ask)(X)):
        with pytest.raises(error) as caught:
            given()
        assert words in str(caught.value) or "offset" in words


def test_lists_of_elements_need_a_known_shape():
    @al.function(input_signature=[al.TensorSpec([None], al.float64)])
    def f(x):
        return x.tolist()

    with pytest.raises(TypeError, match=r"tolist\(\) needs a known shape"):
        f(al.constant(X[0]))
    with pytest.warns(UserWarning, match=r"runs as plain Python.* tolist\(\) needs a known shape"):
        assert f(X[0]) == X[0].tolist()


def test_a_copy_is_a_tensor_of_its_own():
    t = al.constant(X)
    assert t.copy() is not t and np.array_equal(t.copy().numpy(), X)


def test_methods_that_numpy_has_no_longer_are_not_there():
    with pytest.raises(AttributeError):
        al.constant(X).itemset(0, 1.0)


@each(["float32", "int32", "bool", "complex64", "uint8"])
def test_elements_and_lists_are_numbers_as_plain_python_has_them(dtype):
    def f(x):
        return x.item(1, 2), x[0, 0].item(), x.tolist(), x.item(1) / 3

    x = np.array(X > 0 if dtype == "bool" else np.abs(X)).astype(dtype)
    found, plain = al.function(f)(x), f(x)
    assert repr(found) == repr(plain)


def test_iterators_that_need_to_know_more():
    for f, message in [
        (lambda x: list(np.nditer(x)), "numpy.nditer takes tensors in a given order only, numpy.nditer"),
        (lambda x: list(np.nditer(x, ["multi_index"], order="C")), "numpy.nditer does not take the argument 'flags'"),
        (lambda x: np.broadcast(x[x > 1], x[0]).shape, "numpy.broadcast: the shapes must be known while the graph is"),
        (lambda x: np.cross(x[0, : int(x[0, 0])], x[0]), "numpy.cross: the length of the vectors must be known"),
        (lambda x: np.isfortran(x), "numpy.isfortran: what lies where in memory is not known"),
    ]:
        refused_or_plain(f, message, np.ones((2, 3)))


def test_numpys_own_warnings_stand_at_the_line():
    def crossed(x):
        return np.cross(x, x + 1)

    def fixed(x):
        return np.fix(x * 1.5)

    def heard(f):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            with suppress(ValueError):  # of vectors of two elements, from NumPy 2.5 on
                f(np.ones(2))
        return [(one.category, str(one.message), one.filename, one.lineno) for one in found]

    for f in (crossed, fixed):
        assert heard(al.function(f)) == heard(f)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_views_of_other_dtypes_are_written_through(executor: str) -> None:
    def halves(m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        high, whole = m.getfield(np.int32, 4), m.view(np.int64)
        high[0] = 7
        whole[1, 0] = -1
        for i in range(3):
            if m[1].sum() != 0:
                high[1, i] += i
        m.view(np.uint8)[0, 3] = 255
        return high, whole

    left, right = np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3)
    given, expected = al.function(halves, executor=executor)(left), halves(right)
    np.testing.assert_array_equal(left.view(np.int64), right.view(np.int64))
    for one, other in zip(given, expected):
        assert one.dtype == other.dtype and np.shares_memory(one, left)
        np.testing.assert_array_equal(one, other)


def test_elements_of_long_doubles_are_numpys_scalars():
    x = np.arange(3).astype(np.longdouble) / 3
    for f in (lambda x: x.item(1), lambda x: x.tolist(), lambda x: x.max().item()):
        with pytest.warns(UserWarning, match=r"item\(\) and tolist\(\) give elements"):
            assert repr(al.function(f)(x)) == repr(f(x))
