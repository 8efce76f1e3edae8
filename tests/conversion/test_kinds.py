"""What a decorated function gives is of the kind that the undecorated one gives: array, NumPy scalar, Python number."""

from __future__ import annotations

import math
from itertools import product

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import INTERPRETED, spread_each

X = np.array([1.5, -2.0, 3.0], np.float32)
W = np.array([[1, 2, 3], [4, 5, 6]])


def operators(x, n):
    return x * 2, x @ x, -x, x > 0, x[0], x[n - n], x[:2], abs(x), 2 - x, x // 2, x**2, (x > 0) & (x < 2), divmod(x, 2)


def methods(x, n):
    return x.sum(), x.mean(), x.T, x.reshape(3, 1), x.astype(np.float64), x.max(), x.min()


def functions(x, n):
    return np.sin(x), np.where(x > 0, x, n), np.stack([x, x]), np.maximum(x, 0), np.sum(x), np.sin(n), np.array([n, 1])


def numbers(x, n):
    k = int(n)
    return k, k + 1, k / 2, k // 2, k % 2, k**2, -k, k > 2, not k, float(k), bool(k), k and 2.5, k == 3, divmod(k, 2)


def numbers_and_arrays(x, n):
    k = float(n) / 4
    return (
        k * x,
        x + int(n),
        k * x[0],
        x[0] > k,
        k + np.float32(1),
        W * k,
        round(k),
        round(k, 1),
        abs(k),
        True + (k > 0),
    )


def counted(x, n):
    i, total = 0, 0.0
    while i < n:
        total = total + x[i]
        i += 1
    return total, i


def only_numbers(x, n):
    i, s, big = 0, 0.0, 1
    while i < n:
        i += 1
        s += 0.1
        big *= 1000003
    return i, s, big, i / 2


def rows(x, n):
    s, c = 0.0, 0
    for v in x:
        if v > 1:
            s += v
            c += 1
    return s, c


def ranges(x, n):
    total, last = 0, None
    for i in range(1, n * 3, 2):
        total += i * i
        last = i
    return total, last


def lists(x, n):
    out, numbers = [], []
    k = 0.5
    for i in range(n):
        out.append(x[i] * k)
        numbers.append(i * k)
        k *= 2
    return out, numbers, len(out), np.array(out), sum(numbers), max(numbers)


def branches(x, n):
    if x.sum() > 0:
        y, k, z = x, n + 1, 1
    else:
        y, k, z = x * 2, n, 2
    return y, k, z, 1.5 if n > 2 else 2.5, x[0] if n > 2 else x[1]


def widened(x, n):
    a = W[0]
    m = np.int32(1)
    for i in range(n):
        a = a * 0.5
        m = m + np.int64(i)
    return a, m


def becomes_a_float(x, n):
    i = 0
    k = 10
    while i < n:
        k = k / 2
        i += 1
    return k


def types(x, n):
    k = int(n)
    return (
        isinstance(x, np.ndarray), isinstance(x[0], np.float32), isinstance(k, int), isinstance(k, float),
        type(k) is int, type(x) is np.ndarray, isinstance(k > 1, bool), type(x[0]) is np.float32,
        isinstance(n, np.integer),
    )  # fmt: skip


def of_math(x, n):
    k = float(n)
    return math.sqrt(k), math.floor(k / 2), math.sin(x[0]), math.pow(k, 2), math.ceil(k / 2)


def optional(x, n):
    best = where = None
    for i, v in enumerate(x):
        if best is None or v > best:
            best, where = v, i
    return best, where


def early(x, n):
    for i in range(n):
        if x[i] < 0:
            return i, x[i]
    return -1, x[0]


def texts(x, n):
    k = float(n)
    return f"{k} {x[0]:.2f} {n}", str(k), [k], str([x[0], k])


def shapes(x, n):
    return x.shape, x.shape[0], len(x), x.ndim, x.size


def unknown_shapes(x, n):
    m = x[x > 0]
    return m.shape, m.size * 2, len(m), m.shape[0] / 2


def grown(x, n):
    m = x
    i = 0
    while i < n:
        m = np.concatenate([m, x])
        i += 1
    return m


def beside_complex_numbers(x, n):
    y = x.astype(np.float32)
    return 1j == x[0], 1j != x[0], x[0] == 1j, 1j == y[0], 1j == n, 0j == x.sum(), 1j * x[0], 1 == x[0]


PROGRAMS = (
    operators, methods, functions, numbers, numbers_and_arrays, counted, only_numbers, rows, ranges, lists, branches,
    widened, becomes_a_float, types, of_math, optional, early, shapes, grown,
)  # fmt: skip


def described(value):
    if isinstance(value, tuple | list):
        return type(value), [described(one) for one in value]
    return type(value), getattr(value, "dtype", None), getattr(value, "shape", None)


def alike(found, expected):
    if isinstance(expected, tuple | list):
        return all(map(alike, found, expected))
    if isinstance(expected, str):
        return found == expected
    return np.allclose(found, expected, rtol=1e-6)


@spread_each(
    product(PROGRAMS, [np.int64(3), np.int32(2)]), always=("auto",),
    name=lambda program, count, executor: f"{program.__name__}, {count!r}, {executor}",
)  # fmt: skip
def test_results_are_of_the_kind_that_plain_python_gives(program, count, executor):
    expected = program(X.copy(), count)
    found = al.function(program, executor=executor)(X.copy(), count)
    assert described(found) == described(expected)
    assert alike(found, expected), (found, expected)


@each(product([texts, unknown_shapes, beside_complex_numbers], INTERPRETED))
def test_what_has_no_machine_code_is_of_the_same_kind(program, executor):
    found, expected = al.function(program, executor=executor)(X, np.int64(3)), program(X, np.int64(3))
    assert found == expected and described(found) == described(expected)


def test_what_a_tensor_takes_part_in_is_a_tensor():
    @al.function
    def f(x, t):
        return x * t, al.sin(x), x + 1, np.add(x, t), np.sin(t), x[t > 0]

    kinds = [al.Tensor, al.Tensor, np.ndarray, al.Tensor, al.Tensor, np.ndarray]
    assert [type(one) for one in f(X, al.constant([1.0, -1.0, 2.0]))] == kinds


def test_numbers_that_a_tensor_decides_on_are_tensors():
    @al.function
    def f(x, t):
        i, s = 0, 0.5
        while i < t:
            i += 1
            s = s * 2
            x = x * s
        return i, s, i + 1, s > 1, x

    *found, x = f(X, al.constant(2))
    assert [type(one) for one in found] == [al.Tensor] * 4 and type(x) is np.ndarray and x.dtype == np.float32
    assert [one.dtype for one in found] == [np.int64, np.float64, np.int64, np.bool_]
    assert [one.item() for one in found] == [2, 2.0, 3, True]


def test_an_undecorated_function_of_arrays_stays_with_numpy():
    assert type(al.convert(counted)(X, 3)[0]) is np.float32


def test_results_are_arrays_of_the_callers_own():
    @al.function
    def f(x):
        y = x * 2
        return y, y + 0, x * 2, np.full(3, x[0]), x

    x = X.copy()
    for _ in range(2):
        *found, same = f(x)
        for one in found:
            one[:] = 0
        assert same is x and x.tolist() == X.tolist()
    assert f(x)[0].tolist() == (X * 2).tolist()


@each([lambda f: f, al.function])
def test_derivatives_are_of_the_kind_of_the_arguments(decorate):
    def f(w, x):
        return np.sum(np.sin(w * x))

    f = decorate(f)
    value, (dw, dx) = al.value_and_grad(f, (0, 1))(np.float64(2), np.array([1.0, 2.0]))
    assert [type(one) for one in (value, dw, dx)] == [np.float64, np.float64, np.ndarray]
    assert type(al.jacobian(f, 1)(np.float64(2), np.ones(2))) is np.ndarray
    assert type(al.grad(f)(al.constant(2.0), X)) is al.Tensor
    value, slope = al.jvp(f, (np.float64(2), np.ones(2)), (np.float64(1), np.ones(2)))
    assert type(value) is type(slope) is np.float64
    value, back = al.vjp(f, np.float64(2), np.ones(2))
    assert [type(one) for one in back(1.0)] == [np.float64, np.ndarray]


def test_a_derivative_that_is_differentiated_again_is_no_array():
    y = al.constant(3.0, al.float64)
    slope = al.grad(lambda a, b: al.grad(lambda v: v**b)(a), 1)(np.float64(2), y)
    np.testing.assert_allclose(slope, 2.0**2 * (1 + 3 * np.log(2)))


@each([lambda f: f, al.function])
def test_maps_and_scans_of_arrays_are_arrays(outer):
    maps = outer(
        lambda x: (al.map_fn(np.sin, x), al.scan(lambda a, v: a + v, x), al.vectorized_map(lambda v: v * 2, x))
    )
    assert [type(one) for one in maps(X)] == [np.ndarray] * 3
    assert [type(one) for one in maps(al.constant(X))] == [al.Tensor] * 3
    assert type(al.map_fn(lambda v: al.sin(v), X)) is al.Tensor


def test_what_python_refuses_of_numbers():
    for f, message in (
        (lambda x: int(1j * float(x)), "a real number, not 'complex'"),
        (lambda x: int(x) & 1.5, "unsupported operand type(s) for &: 'int' and 'float'"),
        (lambda x: (1j * int(x)) < 2, "'<' not supported between instances of 'complex' and 'int'"),
        (lambda x: ~float(x), "bad operand type for unary ~: 'float'"),
        (lambda x: round(1j * int(x)), "type complex doesn't define __round__ method"),
    ):
        with pytest.raises(TypeError) as plain:
            f(np.float64(2))
        assert message in str(plain.value)
        with pytest.raises(TypeError) as staged:
            al.function(f)(np.float64(2))
        assert message in str(staged.value)


def test_a_number_of_an_array_has_one_element():
    with pytest.raises(TypeError, match="can be converted to Python scalars"):
        al.function(lambda x: float(x))(X)
    assert type(al.function(lambda x: float(x.reshape(())), autograph=True)(X[:1])) is float
