"""Arrays that are more than numbers in a grid are refused by name, or left to plain Python."""

from __future__ import annotations

import pickle
import sys
import types
import warnings
from collections import UserDict
from contextlib import nullcontext
from fractions import Fraction

import autoloop as al
import numpy as np
import pytest
from autoloop.operators.mutation.heap_snapshot import MOST_NUMBERS
from each_case import each
from left_to_python import refused_or_plain
from written_out import program


class Sub(np.ndarray):
    """A subclass of the user's."""


class Labelled:
    """What pandas and xarray have: values behind labels."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)

    def __reduce__(self):
        return labelled, (type(self).__name__, self.values)

    def to_numpy(self):
        return self.values


Labelled.__module__ = "pandas.core.series"


class Several(Labelled):
    """What a Dataset of xarray's is: labelled arrays by their names, none of which is its values."""

    to_numpy = property()


Several.__module__ = "xarray.core.dataset"


def labelled(name, values):
    return globals()[name](values)


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
    (Several([1.0]), "a xarray.Several, which holds several arrays with labels; give those that are needed, x['name']"),
]  # fmt: skip


#: what has labels is plain Python's, see ``test_arrays_of_other_libraries``
WITHOUT_LABELS = [one for one in STRANGE if not isinstance(one[0], Labelled)]


@pytest.mark.parametrize(("value", "words"), WITHOUT_LABELS, ids=lambda v: type(v).__name__)
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


def test_a_value_of_many_lines_is_shown_in_one():
    with pytest.raises(TypeError) as caught:
        al.constant(np.ma.ones((3, 3)))
    assert "a masked array" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(("value", "words"), [s for s in STRANGE if not isinstance(s[0], np.generic)])
def test_refused_where_it_meets_a_staged_value(value, words):
    data = pickle.dumps(value)  # what the function finds, and does not make, may change: plain Python runs it

    @al.function(executor="native")
    def added(y):
        return y + pickle.loads(data)

    is_bytes = value.__class__ is np.ndarray and value.dtype.kind == "S"
    with pytest.raises(TypeError) as caught:
        added(np.ones(1))
    assert ("an operand is of dtype |S1, of which a graph computes nothing" if is_bytes else words) in str(caught.value)
    at_the_line = any("y + pickle" in str(entry.statement) for entry in caught.traceback)
    assert at_the_line or "test_kinds_of_arrays.py:" in str(caught.value)


def test_what_meets_a_staged_value_and_is_no_array_of_numbers_is_for_plain_python():
    for make in (lambda: np.zeros(2, object), lambda: np.array([Fraction(1, 3), 2]), lambda: Fraction(1, 2)):
        refused_or_plain(lambda x, make=make: make() + x, "Python objects|of type Fraction", np.arange(2.0))


def test_text_is_refused_as_an_array_and_taken_as_a_string():
    f = al.function(lambda x, text: (x + 1, text))
    with pytest.raises(TypeError, match="argument 'text' is an array of text"):
        f(np.ones(2), np.array(["a"]))
    assert f(np.ones(2), "a")[1] == "a"


class Fitted:
    """What libraries have: numbers behind attributes and methods that no graph sees change."""

    def __init__(self, values):
        self.coef_ = np.array(values)

    def total(self):
        return self.coef_.sum()


class Curve(Fitted):
    """One that is called."""

    def __call__(self, x):
        return x * float(self.coef_[0])


class Indexed(Fitted):
    """One with items."""

    def __getitem__(self, k):
        return self.coef_[k]

    def __setitem__(self, k, value):
        self.coef_[k] = value

    def __iadd__(self, other):
        self.coef_ += other
        return self


class Extended(Indexed):
    """The user's own, of a class of the library's."""


LIBRARY = sys.modules["fitting"] = types.ModuleType("fitting")
LIBRARY.__file__ = "/usr/lib/python3/site-packages/fitting.py"
Fitted.__module__ = Curve.__module__ = Indexed.__module__ = "fitting"
LIBRARY.Indexed = Indexed  # of which pickles can be made, not of the others
LIBRARY.standard = Curve([2.0])
V = [1.0, 2.0, 3.0]
#: an expression of such an object ``G`` -> what makes one
FOUND = {
    "G.coef_[0] * x": lambda: Fitted(V), "G.total() * x": lambda: Fitted(V), "G.coef_.sum() + x": lambda: Curve(V),
    "G(2.0) * x": lambda: Curve(V), "G[1] * x": lambda: Indexed(V), "G.total() - x": lambda: Extended(V),
    "G.sum() * x": lambda: np.ma.array(V, mask=[0, 0, 1]), "G.item(0) * x": lambda: np.array(V).view(Sub),
    "G.A1[0] * x": lambda: np.array([V]).view(np.matrix), "G.f0[0] * x": lambda: np.rec.fromarrays([V]),
    "G[0] * x": lambda: np.rec.fromarrays([V])[0], "G(2.0) - x": lambda: np.poly1d(V),
    "G.update(a=x[0]) or G['a']": lambda: UserDict(a=3.0),
}  # fmt: skip
WAYS_TO_IT = {"G": ("x",), "o.found": ("x", "o"), "d['found'][0]": ("x", "d"), "g": ("x", "g")}


def _changed(found):
    if isinstance(found, np.ndarray) and found.dtype.names:
        found = found["f0"]
    if isinstance(found, UserDict):
        found["a"] += 1
    elif isinstance(found, np.void):
        found[0] += 1
    else:
        (found if isinstance(found, np.ndarray) else getattr(found, "coef", getattr(found, "coef_", None)))[:1] += 1


@each(FOUND)
def test_what_may_change_unseen_plain_python_asks(text):
    for way, names in WAYS_TO_IT.items():
        outcomes = []
        for decorated in (False, True):
            found = FOUND[text]()
            if names[-1] in "dg" and isinstance(found, np.ndarray | np.void):
                continue  # which is refused by name
            f = program(text.replace("G", way), names, G=found)
            others = {"o": types.SimpleNamespace(found=found), "d": {"found": [found]}, "g": found}
            called = al.function(f) if decorated else f
            results = []
            for k in range(3):
                if decorated and not k:
                    with pytest.warns(UserWarning, match="unseen|by record.__getattribute__"):
                        results.append(called(np.ones(2), *[others[name] for name in names[1:]]))
                else:
                    results.append(called(np.ones(2), *[others[name] for name in names[1:]]))
                _changed(found)
            outcomes.append([(type(one), np.asarray(one).tolist()) for one in results])
        assert not outcomes or outcomes[0] == outcomes[1], way


#: what makes an object -> how a caller changes it
MADE = {
    "Fitted([1.0])": _changed, "np.poly1d([1.0, 2.0])": _changed, "np.ma.array([1.0, 2.0], mask=[0, 1])": _changed,
    "np.matrix([[1.0]])": _changed, "np.ones(2).view(Sub)": _changed, "np.rec.fromarrays([[1.0]])": _changed,
    "UserDict(a=1.0)": _changed, "np.array([[1], [1, 2]], dtype=object)": lambda made: made[0].append(5),
    "np.array(['a', 'b'])": lambda made: made.put(0, "z"), "np.zeros(2, '>f8')": _changed,
    "np.zeros(2, np.longdouble)": _changed,
}  # fmt: skip
LEFT = (
    "return {}", "return [{}, x]", "o.v = {}\nreturn o.v", "o.d.append({})\nreturn o.d[-1]",
    "v = {}\nif x[0] > 0: x[0] += 1\nreturn v",
)  # fmt: skip


@each(MADE)
def test_what_a_function_makes_is_a_new_one_at_each_call(text):
    for way in LEFT:
        outcomes = []
        for decorated in (False, True):
            f = program(way.replace("{}", text), ["o", "x"], Fitted=Fitted, Sub=Sub, UserDict=UserDict)
            called = al.function(f) if decorated else f
            o, found = types.SimpleNamespace(v=None, d=[]), []
            for _ in range(2):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # plain Python runs what makes objects of a library
                    made = called(o, np.ones(2))
                made = made[0] if type(made) is list else made
                found.append((type(made), repr(vars(made) if isinstance(made, Fitted) else made)))
                MADE[text](made)
            outcomes.append(found)
        assert outcomes[0] == outcomes[1], way


#: what changes an object of a library in a loop or branch of the graph
IN_LOOPS = (
    "f = Indexed([1.0, 2.0])\nfor k in range(n): f[0] = f[0] * 2\nreturn f[0] * x",
    "f = Indexed([1.0, 2.0])\nfor k in range(n): f += 1\nreturn f[0] * x",
    "f = Fitted([1.0, 2.0])\nfor k in range(n): f.coef_[1] += 1\nreturn f.total() * x",
    "f = Fitted([1.0, 2.0])\nif x[0] > 5: f.coef_ = 3 * f.coef_\nreturn f.total() * x",
    "f = UserDict(a=1)\nfor k in range(n): f['a'] += 1\nreturn f['a'] * x",
    "f = np.poly1d([1.0, 2.0])\nfor k in range(n): f.coeffs[0] += 1\nreturn f(x)",
    "f = np.zeros(2, '>f8')\nf[:] = x\nreturn f",
    "f = np.zeros(2, '>f8')\nfor k in range(n): f[0] += k\nreturn f",
)  # fmt: skip


@each(IN_LOOPS)
def test_what_changes_objects_of_a_library_in_loops_is_done_as_often(text):
    f = program(text, ["x", "n"], Fitted=Fitted, Indexed=Indexed, UserDict=UserDict)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # by plain Python, where no graph can
        given = al.function(f)(np.ones(2), np.int64(3))
    wanted = f(np.ones(2), np.int64(3))
    assert given.dtype == wanted.dtype and given.tolist() == wanted.tolist()
    if "Fitted" not in text and "f[0] * 2" not in text:  # which graphs can
        with pytest.raises(TypeError, match="in place in a loop or branch|another byte order"):
            al.function(f)(al.ones(2), al.constant(3))


ORDERED = "which NumPy orders by their parts|complex128 has no order"
#: what graphs do not hold as NumPy does, made in the function -> why
NO_TENSORS = {
    "o = np.arange(3).astype('>i4')\nif n > 1: r = o\nelse: r = o * 2\nreturn r": "another byte order",
    "o = np.arange(3).astype('>i4')\nfor k in range(n): o = o[::-1]\nreturn o": "another byte order",
    "for k in range(n): r = np.zeros(3, '>f8')\nreturn r": "another byte order",
    "r = np.arange(3).astype('>i4')\nreturn r[:n], r * n, np.repeat(r, n)": "another byte order",
    "return (np.arange(3).astype('>f8'), np.arange(3))[n - 1]": "another byte order",
    "r = 0\nfor k in range(n): r = np.array(['a', 'b'])\nreturn r": "of dtype <U1 in one run and a number in another",
    "r = np.array(['a'])\nif x[0] > 0: r = 2.5\nreturn r": "of dtype <U1 in one run and a number in another",
    "r = 0\nfor k in range(n): r = np.timedelta64(k, 'D')\nreturn r": "numpy.timedelta64 of what only the run knows",
    "return np.datetime64(int(n), 's')": "numpy.datetime64 of what only the run knows",
    "return np.void(int(n))": "numpy.void of what only the run knows",
    "return np.object_(int(n))": "numpy.object_ of what only the run knows",
    "return np.where(x[0] > 0, 'p', 'q')": "a numpy.str_",
    "return np.choose(n - 1, ['p', 'q'])": "a numpy.str_",
    "return np.take(['p', 'q'], n - 1)": "a numpy.str_",
    "return sorted(x * 1j)": ORDERED,
    "return max(x * 1j)": ORDERED,
}


@each(NO_TENSORS)
def test_what_is_made_and_tensors_cannot_stand_for_is_left_to_plain_python(text):
    refused_or_plain(program(text, ["x", "n"]), NO_TENSORS[text], np.arange(2.0), np.int64(2))


@each(["sorted(n)", "sorted(np.asarray(x[0]))", "sorted(x[0] * 2)"])
def test_what_has_no_axes_is_not_sorted(text):
    f = program(text, ["x", "n"])
    with pytest.raises(TypeError) as plain:
        f(np.arange(2.0), np.int64(2))
    with warnings.catch_warnings(), pytest.raises(TypeError, match=str(plain.value)):
        warnings.simplefilter("ignore")  # plain Python says so
        al.function(f)(np.arange(2.0), np.int64(2))


MET = {
    "G + x[:1].astype(int)": lambda: np.array(["2020-01-01"], "M8[D]"), "G * x": lambda: np.array([1, 2.5], object),
    "if x[0] > 0: G[0] = 'b'\nreturn G.copy()": lambda: np.array(["a", "c"]),
    "for k in range(int(x[0])): G[k] = x[0]\nreturn G[0]": lambda: np.zeros(3, "f8, i4"),
    "G[0] += x[0]\nreturn G[0] * x": lambda: np.arange(3, dtype=">i4"),
}  # fmt: skip


@each(MET)
def test_arrays_of_the_world_that_tensors_cannot_stand_for_are_left_to_plain_python(text):
    found = [MET[text](), MET[text]()]
    plain, ours = (program(text, ["x"], G=one) for one in found)
    ours = al.function(ours)
    for start in (1.0, 2.0):
        wanted = plain(np.full(2, start))
        with (
            pytest.warns(
                UserWarning,
                match="array 'G' of dtype|'G', of dtype .*, another|what has the item|ndarray 'G' is|do not hold",
            )
            if start == 1
            else nullcontext()
        ):
            given = ours(np.full(2, start))
        assert type(given) is type(wanted) and given.dtype == wanted.dtype and given.tolist() == wanted.tolist()
        assert found[0].tolist() == found[1].tolist()


def test_a_large_array_of_which_values_are_needed_is_asked_at_each_call():
    sizes = np.ones(MOST_NUMBERS + 1, np.int8)
    f = al.function(program("[x] * int(S[0])", ["x"], S=sizes))
    with pytest.warns(UserWarning, match="runs as plain Python, at each call: .*as often as only the run knows"):
        assert len(f(np.ones(1))) == 1
    sizes[0] = 3
    assert len(f(np.ones(1))) == 3


def test_elements_that_are_no_python_numbers_are_left_to_python():
    for text in ("x.tolist()", "x.item(0)", "x[0].item()"):
        for dtype in (np.longdouble, np.clongdouble):
            if np.dtype(dtype).itemsize > 8 * (1 + (dtype is np.clongdouble)):
                f, given = program(text, ["x"]), np.ones(2, dtype)
                with pytest.warns(UserWarning, match="runs as plain Python, at each call: .*no Python numbers: write"):
                    assert repr(al.function(f)(given)) == repr(f(given))
        assert al.function(program(text, ["x"]))(np.ones(2)) == program(text, ["x"])(np.ones(2))


def test_what_a_library_holds_itself_and_values_are_no_state():
    f = al.function(program("x * S(2.0) + N.bit_count()", ["x"], S=LIBRARY.standard, N=np.int64(3)))
    assert f(np.ones(2)).tolist() == [6.0, 6.0] and f.tracing_count == 1


def test_memory_maps_are_arrays(tmp_path):
    mapped = np.memmap(tmp_path / "raw", np.float64, "w+", shape=(3,))
    mapped[:] = 2.0
    f = al.function(lambda x: x * 3)
    assert f(mapped).tolist() == [6.0] * 3 == f(np.full(3, 2.0)).tolist()
    assert f.tracing_count == 1
    assert al.function(lambda x: x)(mapped) is mapped
    text = "x[0] = 7\nreturn isinstance(x, np.memmap), type(x[1:]), type(x.copy())"
    assert al.function(program(text, ["x"]))(mapped) == (False, np.ndarray, np.ndarray)
    mapped.flush()
    assert np.fromfile(tmp_path / "raw").tolist() == [7.0, 2.0, 2.0]


def test_other_byte_orders_are_arrays():
    f = al.function(lambda x: x * 3)
    with pytest.warns(UserWarning, match="give a copy"):
        assert f(np.arange(3, dtype=">f8")).tolist() == [0.0, 3.0, 6.0]
    assert f(np.arange(3.0)).dtype.isnative and f.tracing_count == 1
