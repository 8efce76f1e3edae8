"""Arrays that are more than numbers in a grid are refused by name; those of other libraries are taken over."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest


class Sub(np.ndarray):
    """A subclass of the user's."""


class Labelled:
    """What pandas and xarray have: values behind labels."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


Labelled.__module__ = "pandas.core.series"


class Foreign:
    """An array of another library, known by DLPack only."""

    device = (1, 0)

    def __init__(self, values):
        self.values = np.asarray(values)

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device


class OnAnotherDevice(Foreign):
    device = (2, 0)


class Unreadable(Foreign):
    def __dlpack__(self, **options):
        raise BufferError("bfloat16")


STRANGE = [
    (np.ma.array([1.0, 2.0], mask=[0, 1]), "a masked array, whose mask would be lost"),
    (np.ones((1, 2)).view(np.matrix), "a numpy.matrix, whose operators mean other things"),
    (np.ones(3).view(Sub), "test_kinds_of_arrays.Sub, which is a subclass of numpy.ndarray"),
    (np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]), "a structured array (fields a, b)"),
    (np.array(["2020-01-01"], "M8[D]"), "an array of dates (dtype datetime64[D])"),
    (np.timedelta64(3, "s"), "an array of time differences (dtype timedelta64[s])"),
    (np.array([1, None], dtype=object), "an array of Python objects"),
    (np.array([b"a"]), "an array of bytes"),
    (np.zeros(2, "V4"), "an array of raw bytes (dtype |V4)"),
    (np.array(["a"], np.dtypes.StringDType()), "an array of text"),
    (Labelled([1.0]), "a pandas.Labelled, whose labels would be lost; give its values, x.to_numpy()"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "words"), STRANGE, ids=lambda v: type(v).__name__)
def test_refused_by_name_at_the_call(value, words):
    @al.function
    def doubled(x, others):
        return x * 2

    for args, argument in (((value, []), "x"), ((1.0, [np.ones(2), value]), "others")):
        for _ in range(2):  # the second time, too
            with pytest.raises(TypeError) as caught:
                doubled(*args)
            assert words in str(caught.value) and f"doubled: argument '{argument}" in str(caught.value)
    doubled(np.ones(2), [])


@pytest.mark.parametrize(("value", "words"), [s for s in STRANGE if not isinstance(s[0], np.generic)])
def test_refused_where_it_meets_a_staged_value(value, words):
    @al.function
    def added(y):
        return y + value

    if value.__class__ is np.ndarray and value.dtype.kind == "S":
        words = "ufunc 'add' did not contain a loop"
    with pytest.raises(TypeError) as caught:
        added(np.ones(1))
    assert words in str(caught.value)
    assert any("y + value" in str(entry.statement) for entry in caught.traceback)


def test_text_is_refused_as_an_array_and_taken_as_a_string():
    f = al.function(lambda x, text: (x + 1, text))
    with pytest.raises(TypeError, match="argument 'text' is an array of text"):
        f(np.ones(2), np.array(["a"]))
    assert f(np.ones(2), "a")[1] == "a"


def test_memory_maps_are_arrays(tmp_path):
    mapped = np.memmap(tmp_path / "raw", np.float64, "w+", shape=(3,))
    mapped[:] = 2.0
    f = al.function(lambda x: x * 3)
    assert f(mapped).tolist() == [6.0] * 3 == f(np.full(3, 2.0)).tolist()
    assert f.tracing_count == 1


def test_other_byte_orders_are_arrays():
    f = al.function(lambda x: x * 3)
    with pytest.warns(UserWarning, match="give a copy"):
        assert f(np.arange(3, dtype=">f8")).tolist() == [0.0, 3.0, 6.0]
    assert f(np.arange(3.0)).dtype.isnative and f.tracing_count == 1


def test_arrays_of_other_libraries_are_taken_over_through_dlpack():
    f = al.function(lambda x, rest: (x * 2, rest["a"] + 1))
    for start in (0.0, 5.0):
        values = np.arange(start, start + 3)
        doubled, more = f(Foreign(values), {"a": Foreign(values)})
        assert type(doubled) is np.ndarray and doubled.tolist() == (values * 2).tolist()
        assert more.tolist() == (values + 1).tolist()
    assert f.tracing_count == 1
    same = al.function(lambda x: x)(given := Foreign(np.ones(3)))
    assert np.shares_memory(same, given.values)


@pytest.mark.parametrize(
    ("given", "words"),
    [(OnAnotherDevice([1.0]), "on another device; move it to the CPU"),
     (Unreadable([1.0]), r"that NumPy cannot take over \(bfloat16\)")],
)  # fmt: skip
def test_what_cannot_be_taken_over_is_refused(given, words):
    with pytest.raises(TypeError, match=f"argument 'x' is a test_kinds_of_arrays.*{words}"):
        al.function(lambda x: x * 2)(given)


def test_tensors_are_handed_on_through_dlpack():
    t = al.constant(np.arange(6.0).reshape(2, 3))
    found = np.from_dlpack(t)
    assert np.array_equal(found, t.numpy()) and not found.flags.writeable
    assert t.__dlpack_device__() == (1, 0) == np.ones(2).__dlpack_device__()
    assert np.from_dlpack(al.constant(2.5)).shape == ()


def test_who_cannot_be_told_that_tensors_are_not_written_to_gets_a_copy():
    t = al.constant(np.arange(3.0))

    class Older(Foreign):
        def __dlpack__(self, **options):
            return t.__dlpack__()

    theirs = np.from_dlpack(Older(0.0))
    assert theirs.tolist() == [0.0, 1.0, 2.0]
    assert not np.shares_memory(theirs, t.numpy())
    with pytest.raises(BufferError, match="a tensor cannot be written to"):
        t.__dlpack__(copy=False)


def test_a_symbolic_tensor_has_no_memory_to_hand_on():
    with pytest.raises(TypeError, match=r"x.__dlpack__\(\) asks for an array of another library of"):
        al.function(lambda x: np.from_dlpack(x))(np.ones(2))
