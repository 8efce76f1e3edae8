"""Loops whose first turn computes in other dtypes than later ones: with ints, or a Python number, as NumPy has them."""

import warnings

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import EXECUTORS, INTERPRETED, needs_native
from short_bodies import differences, made

WHILE = "i = 0\nwhile i < n:\n    {}\n    i += 1\n"
ARRAYS = [
    np.array([100, -128, 7], np.int8), np.array([200, 255, 7], np.uint8), np.array([True, False, True]),
    np.array([30000, 3, -5], np.int16), np.array([1.5, 2, 300], np.float16), np.array([1.5, 2, 300], np.float32),
    np.array([2**63, 5, 1], np.uint64), np.arange(3), np.array([1 + 2j, 2, 3], np.complex64),
]  # fmt: skip
BODIES = [
    "x = (x + x) * 1", "x = x + x.dtype.type(1)\n    x = x // 2 if x.dtype.kind in 'iub' else x * np.float64(2)",
    "x = (x * 100) * 3\n    x = x + np.int32(1)", "x = x * x\n    x = x + np.float32(0.5)",
    "x = x.sum() * x + 0.5", "t = x.copy()\n    t[0] = 1\n    x = t + 0.5", "t = np.zeros_like(x)\n    x = t + x * 0.5",
    "x = x * x.itemsize * np.float64(0.5)", "x = (x - x[0]) * np.float64(1.5)",
]  # fmt: skip
# What the body leaves beside it, whose kind and dtype the first turn makes, too.
BESIDE = [
    "z = x\n" + WHILE.format("z = x * 1\n    x = x + 0.5") + "return x, z",
    "z = x\n" + WHILE.format("z, x = x, z * np.float64(3)") + "return x, z",
    "c = ''\n" + WHILE.format("c = str(x.dtype)\n    x = x * np.float64(1.5)") + "return x, c",
    "c = 0\n" + WHILE.format("c += x.nbytes\n    x = x * np.float64(1.5)") + "return x, c",
    "d = {'x': x}\n" + WHILE.format("d['x'] = d['x'] * d['x'] * np.float64(0.5)") + "return d",
    "for i in range(n):\n    x = x * x * np.float64(0.5)\n    if i > 1:\n        break\nelse:\n    x = x + 1\nreturn x",
    "i = 0\nwhile i < n and (x + x).sum() < 1e30:\n    x = x + 0.5\n    i += 1\nreturn x, i",
    "i = 0\nwhile True:\n    x = x * x * np.float64(0.5)\n    i += 1\n    if i >= n:\n        break\nreturn x, i",
]
# A Python number before the first turn.
NUMBERS = [
    "s = 100\n" + WHILE.format("s = s * 2 + x") + "return s",
    "s = 1.0\n" + WHILE.format("s = s / 3 * 7 + x") + "return s",
    "s = 1\n" + WHILE.format("s = -s // 2 + x") + "return s", "s = True\n" + WHILE.format("s = s + s + x") + "return s",
    "s = 2\n" + WHILE.format("s = s * 2**62 * 4 % 1000 + x") + "return s",
]  # fmt: skip


def turned(bodies):
    return [WHILE.format(body) + "return x" for body in bodies]


def of_all(executor, given):
    with warnings.catch_warnings(action="ignore"):
        assert differences([*turned(BODIES), *BESIDE], given, [executor]) == []


@each(EXECUTORS)
def test_the_first_turn_computes_in_its_own_dtypes(executor):
    k = EXECUTORS.index(executor)
    of_all(executor, [(ARRAYS[(0, 2, 5, 1)[k]], np.int64(1 + k % 2))])


@pytest.mark.nightly
@each(EXECUTORS)
def test_it_does_of_all_dtypes(executor):
    of_all(executor, [(x, np.int64(n)) for x in ARRAYS for n in (1, 3)])


def test_so_it_does_of_numbers():
    given = [(x, np.int64(n)) for x, n in ((ARRAYS[0], 1), (ARRAYS[5], 2), (ARRAYS[7], 1))]
    with warnings.catch_warnings(action="ignore"):
        assert differences(NUMBERS, given, INTERPRETED) == []


def test_without_a_turn_all_is_as_it_was():
    with warnings.catch_warnings(action="ignore"):
        given = [(x, np.int64(0)) for x in ARRAYS[:1]]
        assert differences([*turned(BODIES), *BESIDE, *NUMBERS], given, INTERPRETED) == []


def test_derivatives_are_those_of_all_turns():
    f = made(WHILE.format("x = (x - x[0]) * (x * x) * np.float64(0.5) + x") + "return x.sum()")
    x = np.array([0.5, 0.25, 0.75], np.float32)
    found = al.grad(al.function(f))(x, np.int64(2))
    wanted = al.grad(al.function(f))(x.astype(float), np.int64(2))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@needs_native
def test_machine_code_refuses_a_run_without_a_turn():
    f = al.function(made(WHILE.format("x = (x + x) * np.float64(0.5)") + "return x"), executor="native")
    f(ARRAYS[0], np.int64(1))
    with pytest.raises(
        TypeError, match="'x' is an array of int8 before the loop and an array of float64 after its first"
    ):
        f(ARRAYS[0], np.int64(0))
    f = al.function(made(NUMBERS[1]), executor="native")
    with pytest.raises(
        TypeError, match="'s' is a Python number before the loop and an array of float32 after its first"
    ):
        f(ARRAYS[5], np.int64(0))


def test_what_does_the_same_steps_stays_a_loop_without_a_first_turn(monkeypatch):
    asked = []
    monkeypatch.setattr("autoloop.operators.staging.first_turns.OtherFirstTurn.__init__", lambda *_: asked.append(1))
    for body in ("x = x * 0.5 + 1", "x = np.sqrt(x[::-1]) / 3", "s = s + x[0] * x"):
        f = made("s = 0\n" + WHILE.format(body) + "return x, s")
        for x in (ARRAYS[1], ARRAYS[5], ARRAYS[7]):
            al.function(f)(x, np.int64(2))
    assert not asked


def test_where_something_was_done_before_and_there_is_no_turn_it_says_what_to_do():
    @al.function
    def f(n, p, q):
        p *= 0.5
        for _ in range(n):
            q = np.tanh(q * q[0] + q.sum()) + np.float64(0.1)
        return p, q

    given = np.ones(3), np.ones(3, np.float32)
    assert f(np.int64(2), *given)[1].dtype == np.float64
    with pytest.raises(TypeError, match=r"q = q.astype\(np.float64\) \[AL020\]"):
        f(np.int64(0), *given)
