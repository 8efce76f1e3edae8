"""Mistakes in functions of NumPy's arrays: the error is of plain Python's type, at the user's line, in its words."""

import math
import re
import traceback

import autoloop as al
import numpy as np
import pytest
from each_case import each

X, M, N, T = np.arange(6.0), np.arange(12.0).reshape(3, 4), np.int64(9), np.float64(2.5)
FROZEN = np.arange(4.0)
FROZEN.flags.writeable = False


def unset_in_a_loop(n):
    for i in range(n - 9):
        y = i
    return y


def compared(x):
    if x > 3:
        return 1
    return 2


def looped(x):
    while x:
        x = x - 1
    return x


def assigned(x, index, value):
    x[index] = value


def added(x, value):
    x += value


def deleted(x):
    del x[0]


def unpacked(x):
    a, b = x
    return a


def assigned_if(n, x, index, value):
    if n > 3:
        x[index] = value


def assigned_in_a_loop(n, x, index, value):
    for _ in range(n):
        x[index] = value


def chosen_of_a_loop(x, n):
    found = []
    for i in range(n):
        found.append(i)
    return found[x]


#: (what is wrong, its arguments)
MISTAKES = [
    (lambda x, m: x + m, X, M),
    (lambda x, m: m @ x, X, M),
    (lambda x: x[7], X),
    (lambda x, n: x[n], X, N),
    (lambda x, n: [x[i] for i in range(n)], X, N),
    (lambda x: x[0, 0], X),
    (lambda x: x["a"], X),
    (lambda x: assigned(x, 1.5, 2), X),
    (lambda x: assigned(x, 0, 1), FROZEN),
    (lambda x: assigned(x, 0, [1, 2]), X),
    (lambda x: assigned(x, slice(3), x[:2]), X),
    (lambda x: assigned(x, 0, x[:1]), X),
    (lambda x: assigned(x * 1, 0, x[:1]), X),
    (lambda x: assigned(x * 1j, 0, x[:1]), X),
    (lambda x: assigned(x * 1, 0, [x[0]]), X),
    (lambda x: assigned(x * 1, 9, x[:1]), X),
    (lambda m: assigned((m * 1)[0], 1, m[0, :1]), M),
    (lambda m: assigned(m * 1, 0, [m[0]]), M),
    (lambda x: assigned((x * 1).flat, 0, x[:1]), X),
    (lambda x: assigned((x * 1j).flat, 0, x[:2]), X),
    (lambda x: assigned((x * 1j).flat, 0, [x[0]]), X),
    (lambda x, n: assigned_if(n, x * 1, 0, x[:1]), X, N),
    (lambda x, n: assigned_if(n, x * 1j, 0, x[:1]), X, N),
    (lambda x, n: assigned_in_a_loop(n, x * 1j, 0, x[:1]), X, N),
    (lambda x, n: assigned_if(n, (x * 1).flat, 0, x[:1]), X, N),
    (lambda x: added(x, 0.5), np.arange(4)),
    (lambda x: x.foo, X),
    (lambda x: x(3), X),
    (lambda x: x.sum()(), X),
    (lambda t: int(t)(1), T),
    (lambda x: x.append(3), X),
    (lambda x: np.foo(x), X),
    (lambda x: np.sum(x, axs=0), X),
    (lambda x: x.sum(axis=1), X),
    (lambda x: np.sort(x, axis=3), X),
    (lambda m: m.reshape(5, 3), M),
    (lambda m: m.reshape(2, -1, -1), M),
    (lambda m: m.shape[2], M),
    (lambda m: np.concatenate([m, np.ones(3)]), M),
    (lambda m: np.linalg.inv(m), M),
    (lambda x: np.linalg.inv(x), X),
    (lambda x: np.einsum("ij,jk", x, x), X),
    (lambda x: np.where(x > 1, x), X),
    (lambda x: x.astype("floaat"), X),
    (lambda x: np.array([[1, 2], [3]]) + x, X),
    (compared, X),
    (looped, X),
    (lambda x: int(x), X),
    (lambda x: float(x), X),
    (lambda x: math.sqrt(x), X),
    (lambda t: math.sqrt(-t), T),
    (lambda t: len(t), T),
    (lambda x: len(x[0]), X),
    (lambda t: range(t), T),
    (lambda t: "abc"[t], T),
    (chosen_of_a_loop, np.arange(1), N),
    (lambda t: [0] * t, T),
    (lambda n: np.zeros(3 - n), N),
    (lambda n: 1 // int(n - 9), N),
    (lambda x: x + "x", X),
    (lambda x: missing_name + x, X),  # noqa: F821
    (lambda x: {}["k"], X),
    (unset_in_a_loop, N),
    (deleted, X),
    (unpacked, X),
    (lambda x: np.sin([x, x[0]]), X),
    (lambda x: np.add.reduce([x, x[0]]), X),
    (lambda x: x + [x, x[0]], X),
    (lambda t: t // (t * 1j), T),
    (lambda t: 2.5 % (t * 1j), T),
    (lambda t: divmod(t * 1j, 2), T),
    (lambda t: divmod(2, t * 1j), T),
    (lambda x: divmod(x, x * 1j), X),
    (lambda t: divmod(complex(t), 2), T),
    (lambda t: divmod(float(t), None), T),
    (lambda t: divmod("%s", float(t)), T),
    (lambda t: divmod(7, float(t) - 2.5), T),
    (lambda t: complex(t, np.asarray(t * 1j)), T),
    (lambda t: complex(t, "1"), T),
    (lambda t: complex(t, None), T),
    (lambda t: math.factorial(np.asarray(t)), T),
    (lambda t: math.gcd(np.asarray(t), 2), T),
]
#: none of the user's words
OURS = ("autoloop_runtime", "Index[", "TensorArray", "Methods.", "Tracer", "tensor of shape", "getitem", "set_item")


@each(MISTAKES, lambda f, *given: f"{f.__name__} in line {f.__code__.co_firstlineno}")
def test_a_mistake_is_told_in_the_words_of_plain_python(f, *given):
    with pytest.raises(Exception) as plain:
        f(*[np.array(one) if one is not FROZEN and one.ndim else one for one in given])
    with pytest.raises(type(plain.value)) as ours:
        al.function(f, executor="sequential")(
            *[np.array(one) if one is not FROZEN and one.ndim else one for one in given]
        )
    said, words = str(ours.value), str(plain.value).strip().rstrip(".")
    assert words in said and not [one for one in OURS if one in said], (said, words)
    frames = traceback.extract_tb(ours.value.__traceback__)
    assert not [one.filename for one in frames if "autoloop" in one.filename.replace(__file__, "")]


@pytest.mark.parametrize("assign", [assigned_if, assigned_in_a_loop])
def test_a_mistake_that_is_not_reached(assign):
    def f(n, x):
        y, z = x * 1, x * 1j
        assign(n, y, 0, x[:1])
        assign(n, z, 0, x[:1])
        assign(n, y.flat, 0, x[:1])
        return y

    assert al.function(f, executor="sequential")(np.int64(0), X).tolist() == X.tolist()


def test_what_cannot_be_called():
    with pytest.raises(TypeError, match=r"^'numpy\.ndarray' object is not callable"):
        al.function(lambda x: x(3))(X)


def test_lists_whose_elements_have_other_shapes():
    def parts(x, n):
        found = []
        for i in range(n):
            found.append(x[: i + 1] * 1)
        return found

    with pytest.raises(ValueError, match=r"the elements of a list that grows in a loop must have one shape: element 1"):
        al.function(parts, executor="sequential")(X, al.constant(3))
    made = al.function(parts, executor="sequential")(X, np.int64(3))  # which plain Python makes
    assert [one.tolist() for one in made] == [one.tolist() for one in parts(X, np.int64(3))]


def test_arguments_of_methods():
    with pytest.raises(TypeError) as plain:
        X.dot(1, 2, 3)
    with pytest.raises(TypeError, match=re.escape(str(plain.value))):
        al.function(lambda x: x.dot(1, 2, 3))(X)
