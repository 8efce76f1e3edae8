"""Operators of arrays, scalars and numbers with objects of the user's: which of the two is asked, and with what."""

from __future__ import annotations

from collections import deque, namedtuple

import autoloop as al
import numpy as np
import pytest
from each_case import each
from written_out import alike, outcome, program


class Unit:
    """One that NumPy does not let go first: each element of an array is asked."""

    def __init__(self, v=2.0):
        self.v = v

    def __add__(self, other):
        return "add", type(other).__name__

    def __radd__(self, other):
        return "radd", type(other).__name__, np.ndim(other)

    def __rmul__(self, other):
        return Unit(self.v * other)

    def __rmatmul__(self, other):
        return "rmatmul", type(other).__name__

    def __gt__(self, other):
        return "gt", np.ndim(other)

    def __eq__(self, other):
        return "eq", np.ndim(other) if not isinstance(other, Unit) else other.v == self.v

    def __repr__(self):
        return f"Unit({self.v!r})"


class Higher(Unit):
    __array_priority__ = 10


class Lower(Unit):
    __array_priority__ = -10


class OptsOut(Unit):
    __array_ufunc__ = None


class Asked(Unit):
    def __array_ufunc__(self, ufunc, method, *inputs, **named):
        return ufunc.__name__, method, [np.shape(one) for one in inputs], sorted(named)


class Values(Unit):
    """What is an array to NumPy, and none to Python's numbers."""

    def __array__(self, dtype=None, copy=None):
        return np.array([1.0, 2.0, 3.0])


class Whole(int):
    def __add__(self, other):
        return "added"

    def __radd__(self, other):
        return "radded"


class Row(tuple):
    def __radd__(self, other):
        return "radded"


class Listed(list):
    """One that leaves its operators to lists."""


Point = namedtuple("Point", "a b c")
OBJECTS = {
    "U": Unit(), "H": Higher(), "L": Lower(), "N": OptsOut(), "A": Asked(), "V": Values(), "W": Whole(2),
    "R": Row((1.0, 2.0, 3.0)), "P": Point(1.0, 2.0, 3.0), "D": deque([1, 2]), "S": Listed([1, 2]), "T": range(3),
}  # fmt: skip
COUNTED = "k, s = 0, 0.0\nfor _ in range(n):\n    k += 1\n    s += 0.5\nreturn "
OPERATED = """
x + O; O + x; x * O; x @ O; x < O; x == O; x[0] + O; n + O; n * O; O * n; n == O; n < O; n @ O; k + O; O + k; s + O
O * k; k * O; s == O; s < O; x[:0] + O; np.add(x, O); np.asarray(x[0]) + O; sum([x, O])
"""
CHANGED = "x += O\nreturn x", "y = x[0]\ny += O\nreturn y", "s = 0.0\nfor _ in range(n): s += O\nreturn s"
PLACES = [one.strip() for one in OPERATED.replace("\n", ";").split(";") if one.strip()]
TEXTS = [*((COUNTED if {"k", "s"} & set(one.split()) else "return ") + one for one in PLACES), *CHANGED]
#: what differs for sequences, and for what is an array to NumPy only
FEW = [COUNTED + one for one in ("n * O", "O * n", "k * O", "n @ O", "s + O", "s == O", "x == O")]


def form(value):
    if isinstance(value, Exception):
        return type(value)
    return type(value), getattr(value, "dtype", None), getattr(value, "shape", None), str(value)


@each(OBJECTS)
def test_objects_of_the_users_are_asked_as_numpy_and_python_ask_them(name):
    for text in TEXTS if name in "UNAW" else TEXTS[::3] + FEW:
        plain = program(text.replace("O", name), ["x", "n"], **OBJECTS)
        given = np.array([0.5, -1.0, 2.0]), np.int64(3)
        wanted, ours = outcome(plain, *given), outcome(al.function(plain, executor="sequential"), *given)
        assert form(ours) == form(wanted), text


@each(["(1, 2) + U", "'a' + U", "[1] * U", "sum([U, U])"])
def test_a_sequence_is_asked_after_the_other_operand(text):
    plain = program(f"return {text}, x[0] > 0", ["x"], **OBJECTS)
    assert repr(outcome(al.function(plain), np.ones(2))) == repr(outcome(plain, np.ones(2)))


def test_what_an_object_makes_of_a_scalar_is_in_the_graph():
    f = al.function(program("y = U\nfor _ in range(n): y = x[0] * y\nreturn y.v", ["x", "n"], **OBJECTS))
    for start in (0.5, 3.0):
        given = f(np.array([start]), np.int64(3))
        assert type(given) is float and given == 2 * start**3
    assert f.tracing_count == 1


class Sequence:
    """One that NumPy makes an array of, element by element."""

    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, k):
        return self.values[k]


BESIDE_ARRAYS = (
    "u + O, O + u", "f * O, f / O", "b | O", "np.add(u, O)", "np.maximum(O, f)", "u @ O",
    "np.where(b, O, u)", "np.hypot(f, O)", "u == O", "np.stack([u, O])", "np.power(u, O)", "[O] + u",
)  # fmt: skip


@each([("R", range(3)), ("D", deque([1, 2, 3])), ("F", deque([1.5, 2.0, 3.0])), ("S", Sequence([1, 2, 3]))])
def test_sequences_of_all_kinds_have_the_dtypes_that_numpy_gives_them(name, value):
    given = np.array([1, 2, 3], np.uint8), np.arange(3, dtype=np.float32), np.array([True, False, True])
    for text in BESIDE_ARRAYS[: 2 if name == "F" else None]:
        f = program(text.replace("O", name), ["u", "f", "b"], **{name: value})
        assert alike(outcome(f, *given), outcome(al.function(f, executor="sequential"), *given)), text


def test_tensors_let_a_class_answer_that_none_of_them_holds():
    t, unit = al.ones(2), Unit()
    assert t + unit == ("radd", "Tensor", 1)
    assert t @ unit == ("rmatmul", "Tensor")
    assert (t < unit, t == unit) == (("gt", 1), ("eq", 1))
    assert isinstance((t * unit).v, al.Tensor)
    assert al.function(lambda t: (t + unit)[0])(t) == "radd"
    for operated in (lambda: t - unit, lambda: t == object(), lambda: t + [object()], lambda: t == [object()]):
        with pytest.raises(TypeError, match="cannot be converted to a tensor, which holds numbers"):
            operated()
