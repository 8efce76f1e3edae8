"""Programs of a few lines: decorated they give what plain Python gives, in value and kind, or raise what it raises."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from executors import EXECUTORS, spread_each
from left_to_python import refused_or_plain
from short_bodies import is_of_machine_code, is_same, made, outcome

X = np.arange(1.0, 7.0)
ODD = np.array([3.0, np.nan, 1.0, -np.inf, -0.0, 0.0])


# Bodies of functions of ``x`` and ``n``, and the arguments that they are called with.
WITHOUT_ATTRIBUTES = [
    "return x.name", "return x.op", "return x.node", "return x[0].name", "return x.graph", "return x.numpy()",
    "return x.get_shape()", "return x.set_shape", "return x.foo", "return x[0].foo", "return x.__round__()",
    "i = 0\nwhile x[i] < n:\n    i += 1\nreturn i.name",
]  # fmt: skip
OTHERS = [
    "r = Record()\nr.name = x\nr.op = n\nreturn r.name, r.op",
    "return x[0].__round__(), x[1].__round__(1), x.astype(np.float32)[0].__round__(), x.astype(int)[2].__round__(-1)",
    "return np.roll(x, (1, 1), axis=(0, 0)), np.roll(x.reshape(2, 3), (1, 2, 1), axis=(0, 0, 1))",
]
# Numbers in one run, arrays in another.
ACCUMULATED = [
    "y = 0.0\ni = 0\nwhile x[i] < n:\n    y = y + x\n    i += 1\nreturn y",
    "y = 0.5\nfor i in range(n):\n    y += x\nreturn y, n",
    "y, z = 1, 0\nfor i in range(n):\n    y *= x.reshape(2, 3)\n    z = z + y\nreturn y, z",
    "y = 0\nfor i in range(n):\n    y = y + np.outer(x, x)\n    if x[i] > 1:\n        break\nreturn y",
    "y = 0 if n > 0 else x * 1\nif n > 1:\n    y = 3\nreturn [y]",
    "return x[:2].copy() if n > 1 else float(x[1])",
    "y = 2\nfor i in range(2):\n    if n > i:\n        y = y * x\nreturn y",
]
# What is computed of these.
OF_EITHER = [
    "y = 0\nif n > 1:\n    y = x\nreturn y + 1, 2.0 * y, -y, y > 1, y + x, y - y, abs(y), np.sqrt(y)",
    "y = 0.0\nfor i in range(n):\n    y = y + x\nreturn y * 2 + 1, y + np.float64(3), np.sum(y), y + x, y + x[:, None]",
    "y = 0.0\nfor i in range(n):\n    y = y + x\nz = y\ny = y / (n + 1)\ny = y + x\nreturn y, z",
    "y = 0.0\nfor i in range(n):\n    y = y + x\nfor i in range(n):\n    y = y + x\nreturn y",
    "y = 2\nfor i in range(n):\n    y = y * x\nreturn 8 // y, 1 / y, y ** 2, divmod(y, 2), np.exp(y)",
    "y = 0.0 if n > 1 else x\nz = x if n > 0 else 3.0\nreturn y + z, y * z, y < z, z - y",
]
# What loops make of these while nothing tells which they are.
IN_LOOPS = [
    "y = 0.0\ni = 0\nwhile i < n:\n    y = y * 0.5 + x\n    i += 1\nreturn y",
    "y = 0.0\nfor i in range(n):\n    y = np.sin(-y) + np.maximum(y, x) + y * y + x\nreturn y",
    "m = np.inf\nfor i in range(n):\n    m = np.minimum(m, np.where(x > i, m, x))\nreturn m",
]
# What is a number or an array, and nothing is carried that tells, or gives another dtype of each.
REFUSED = [
    "y = 0\nif n > 1:\n    y = x\ny += 1\nreturn y", "y = 0.0\nfor i in range(n):\n    y = y + x\ny /= n\nreturn y",
    "y = 0\nif n > 1:\n    y = x\nreturn np.sum(y)", "y = 0\nif n > 1:\n    y = x\nreturn y + np.float32(1)",
    "y = 0.0\nif n > 1:\n    y = x\nreturn y + x.astype('f')", "y = 0\nif n > 1:\n    y = x\nreturn np.add(y, 1)",
    "y = 0.0\nfor i in range(n):\n    if i > 0:\n        y = y + x\nreturn y + 1",
    "y = 0.0\nfor i in range(n):\n    if i > 0:\n        y = y + x\nreturn -y",
    "y = 0.0\nfor i in range(n):\n    if i > 0:\n        y = y + x\nreturn np.sqrt(y)",
    "y = 0.0\nfor i in range(n):\n    if i > 0:\n        y = y + x\nreturn y",
    "y = 0.0\nif n > 1:\n    y = x\nfor i in range(n):\n    y = y + 1\nreturn y",
]  # fmt: skip
SAID = (
    ", and operator 'add' gives", "changed in place", "a function of arrays gives something else", "np.sum", "np.add",
    "gives something else of each: let it be an array from the beginning", "operator 'neg'",
    "only its iterations tell: let it be an array before the loop",
)  # fmt: skip
PRODUCTS = [
    "return np.dot(x, n), np.dot(n, x.reshape(2, 3)), np.dot(x.reshape(6, 1, 1), n)",
    "return np.inner(n, x.astype(np.float32)), x.reshape(1, 6).dot(n), np.dot(x.astype(np.complex64), n)",
]
LIMITS = [
    "return np.finfo(x).eps", "return np.iinfo(x.astype(int)).max", "return np.finfo(x[0]).eps, np.finfo(x.dtype).max",
    "return sorted(np.where(x > 2, x, -0.0 * n), reverse=True), sorted(x * 0, reverse=True)",
]  # fmt: skip
# What a branch computes that may not be taken, and what a loop computes that may not have a turn.
RAISING = [
    "np.uint64(-7)", "np.int8(200)", "int('a')", "None.foo", "x.foo", "x + np.ones(4)", "np.ones((2, 3)) @ x",
    "x.reshape(4, 4)", "np.concatenate([x, np.ones((2, 2))])", "len(3)", "np.zeros(-1)", "np.ones(2, 'u1') + 300",
    "10.0**400", "math.exp(1000)", "np.linalg.inv(np.zeros((2, 2)))", "np.linalg.inv(x)", "np.stack([])", "'a' + 1",
    "int(np.nan)", "int(np.inf)", "np.int64(2**70)", "chr(-1)", "(3).foo", "np.sum(x, axis=5)", "x.sum(axis=3)", "~x",
    "np.broadcast_to(x, (4,))", "x.take(20)", "[][0]", "1 // 0", "np.dtype('foo')",
]  # fmt: skip
BLOCKS = ("if x[0] > n:\n    {}\nreturn x", "i = 0\nwhile x[i] > n + i:\n    {}\n    i += 1\nreturn i")
TABLE = [
    *((one, X, np.int64(n)) for n in (0, 1, 3) for one in (*ACCUMULATED, *OF_EITHER, *IN_LOOPS)),
    *((one, X, 3) for one in (*WITHOUT_ATTRIBUTES, *OTHERS)),
    *((one, X, np.int64(3)) for one in LIMITS),
    ("return sorted(x, reverse=True)", np.array([0.0, -0.0, 1.0, -0.0, 0.0]), 0),
    *((one, ODD, n) for one in PRODUCTS for n in (0, -0.0, -1, np.float64(-2))),
]


@spread_each(TABLE, always=("auto",))
def test_they_do_what_plain_python_does(body, x, n, executor):
    f = made(body)
    wanted, decorated = outcome(f, x, n), al.function(f, executor=executor)
    for _ in range(2):
        found = outcome(decorated, x, n)
        assert is_same(found, wanted) or is_of_machine_code(found), (found, wanted)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_what_is_not_reached_does_not_raise(executor):
    """The executors take turns: the exception is an operation like others."""
    for k, one in enumerate(RAISING):
        if k % len(EXECUTORS) != EXECUTORS.index(executor):
            continue
        f = made(BLOCKS[k // len(EXECUTORS) % 2].format(one))
        decorated = al.function(f, executor=executor)
        for n in np.float64(3), np.float64(0):
            wanted, found = outcome(f, X, n), outcome(decorated, X, n)
            assert is_same(found, wanted), (one, n, found, wanted)


def test_what_a_rule_has_to_know_plain_python_knows():
    f = made("for k in range(1, n):\n    x = np.linspace(-n, x == x, 3)\nreturn x[:, [0]]")
    words = "the rank of the operand must be known"
    with pytest.warns(UserWarning, match=words):
        found = al.function(f)(X, np.array(3))
    np.testing.assert_array_equal(found, f(X, np.array(3)), strict=True)
    with pytest.raises((TypeError, ValueError), match=words):
        al.function(f, executor="native")(X, np.array(3))


def test_what_is_a_number_or_an_array_is_refused_where_that_matters():
    for body in REFUSED:
        with pytest.raises(TypeError, match="'y' is a Python number in one run and an array in another") as caught:
            al.function(made(body), executor="native")(X, np.int64(0))
        said = str(caught.value)
        assert "let it be an array" in said or "only arrays are changed in place: write y = y + ..." in said
        assert any(one in said for one in SAID), said


def test_what_a_decorated_function_gives_another_is_a_number_or_an_array():
    @al.function
    def inner(x, n):
        y = 0.0
        for _ in range(n):
            y = y + x
        return y

    def outer(x, n):
        return inner(x, n) + 1

    for n in np.int64(0), np.int64(2):
        assert outcome(al.function(outer), X, n) == outcome(outer, X, n)


def test_limits_of_arrays_are_refused_and_masks_that_are_none_left_to_numpy():
    limits = al.function(made("return np.finfo(x).eps + n"))
    for n, words in ((1, "not inexact"), (al.constant(1.0), r"takes a dtype, not an array: write np.finfo\(x.dtype\)")):
        with pytest.raises(ValueError, match=words):
            limits(X, n)
    for body in ("return x.sum(where=None)", "return np.sum(x + n, where=None)", "return x.prod(where=None)"):
        refused_or_plain(made(body), "what None for 'where' means NumPy alone knows", X, np.int64(1))


def test_a_number_that_may_be_an_array_without_elements_is_left_to_plain_python():
    """Such an array has no place for the number: to take its first element raised IndexError."""

    def program(c, d, n):
        for _ in range(n):
            d = np.logical_or(True, c) & c[1:]
        return np.subtract(c, d)

    c = np.array([3], "int32")
    with pytest.warns(UserWarning, match="'d' is a Python number in one run and an array in another"):
        for n in (np.array(3), np.array(0)):
            got, want = al.function(program)(c, 0, n), program(c, 0, n)
            assert got.dtype == want.dtype and got.tolist() == want.tolist()
