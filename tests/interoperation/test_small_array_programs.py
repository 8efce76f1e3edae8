"""Small programs over arrays of other libraries do what they do undecorated: values, kinds, dtypes, errors, writes.

One file: a table of programs.
"""

from __future__ import annotations

import importlib
import importlib.util
import warnings

import autoloop as al
import numpy as np
import pytest
from each_case import each

names = pytest.importorskip("array_api_compat").array_namespace


def dask_array(value):
    return importlib.import_module("dask.array").from_array(np.array(value), chunks=2 if np.ndim(value) else -1)


def torch_tensor(value):
    return importlib.import_module("torch").tensor(value)


def strict_array(value):
    return importlib.import_module("array_api_strict").asarray(np.array(value))


LIBRARIES = {"dask.array": dask_array, "torch": torch_tensor, "array_api_strict": strict_array}
V = np.array([3.0, -1.0, 4.0, 1.5, -9.0])
M = np.arange(12.0).reshape(3, 4) - 5
I = np.array([3, 1, 4, 1, 5])
B = np.array([True, False, True, True, False])
F = np.array([1.5, 2.5, -3.5, 4.0, 7.0], np.float32)
C = np.array([1 + 2j, 3 - 1j, 0.5j])
Z = np.array(2.5)
E = np.zeros((0, 3))
PROGRAMS = []


def program(*values):
    def added(f):
        PROGRAMS.append((f, values))
        return f

    return added


@program(V)
def sum_elements(x):
    t = 0.0
    for i in range(len(x)):
        t = t + x[i]
    return t


@program(V)
def iter_rows(x):
    t = 0
    for v in x:
        t = t + v
    return t


@program(M)
def iter_matrix(m):
    out = []
    for row in m:
        out.append(row * 2)
    return out


@program(V)
def while_halve(x):
    n = 0
    while names(x).max(names(x).abs(x)) > 1:
        x = x / 2
        n += 1
    return x, n


@program(V)
def break_loop(x):
    for i in range(10):
        if x[0] > 10:
            break
        x = x * 1.5
    return x, i


@program(V)
def for_else(x):
    for i in range(4):
        if x[i] > 100:
            break
    else:
        return x * 0
    return x


@program(V)
def continue_loop(x):
    t = x[0] * 0
    for i in range(5):
        if x[i] < 0:
            continue
        t = t + x[i]
    return t


@program(V)
def early_return(x):
    for i in range(5):
        if x[i] < 0:
            return i, x[i]
    return -1, x[0]


@program(V)
def buf_zeros(x):
    xp = names(x)
    buf = xp.zeros(5, dtype=x.dtype)
    for i in range(5):
        buf[i] = x[i] * 2
    return buf


@program(V)
def buf_zeros_like(x):
    xp = names(x)
    buf = xp.zeros_like(x)
    for i in range(5):
        buf[i] = x[4 - i]
    return buf


@program(V)
def buf_empty_slice(x):
    xp = names(x)
    buf = xp.ones((2, 5), dtype=x.dtype)
    buf[0] = x
    buf[1, 1:3] = x[:2]
    return buf


@program(V)
def buf_while(x):
    xp = names(x)
    buf = xp.zeros(8, dtype=x.dtype)
    i = 0
    while i < 8 and x[0] < 1000:
        buf[i] = x[0]
        x = x * 3
        i += 1
    return buf, i


@program(V)
def copy_then_write(x):
    y = x + 0
    y[1] = 7.0
    return y


@program(V)
def write_arg(x):
    x[1] = 7.0
    return x


@program(V)
def aug_arg(x):
    x += 1
    return x


@program(V)
def aug_local(x):
    y = x * 1
    y += 1
    z = y
    z *= 2
    return y, z


@program(V)
def returned_two_views(x):
    y = x * 2
    return y, y[1:], y[::2]


@program(M)
def reductionames(m):
    xp = names(m)
    return xp.sum(m), xp.sum(m, axis=0), xp.mean(m, axis=1), xp.max(m), xp.min(m, axis=1), xp.prod(m[:1, :3])


@program(M)
def reductions_keep(m):
    xp = names(m)
    return xp.sum(m, axis=1, keepdims=True), xp.max(m, axis=0, keepdims=True), m - xp.mean(m, axis=0, keepdims=True)


@program(B)
def bools(b):
    xp = names(b)
    return xp.any(b), xp.all(b), ~b, b & (b ^ b), xp.sum(b), xp.astype(b, xp.float64)


@program(V)
def masked_write(x):
    y = x * 1
    y[y < 0] = 0.0
    return y


@program(F)
def f32_sum_mean(x):
    xp = names(x)
    return xp.sum(x), xp.mean(x), xp.cumulative_sum(x), xp.exp(x), xp.sqrt(xp.abs(x))


@program(C)
def complex_loop(c):
    n = 0
    while n < 3:
        c = c * c
        n += 1
    return c


@program(E)
def empty_loop(e):
    t = 0.0
    for row in e:
        t = t + row[0]
    return t


@program(V)
def concat_stack(x):
    xp = names(x)
    return xp.concat([x, x[:2]]), xp.stack([x, x], axis=1), xp.expand_dims(x, axis=0), xp.flip(x), xp.roll(x, 1)


@program(V)
def dict_state(x):
    s = {"x": x, "n": 0}
    for i in range(3):
        s["x"] = s["x"] * 2
        s["n"] += 1
    return s


@program(V)
def tuple_state(x):
    pair = (x, x * 0)
    n = 0
    while n < 4:
        pair = (pair[1] + x, pair[0] - 1)
        n += 1
    return pair


@program(V)
def list_grow(x):
    out = []
    while x[0] < 50:
        x = x * 2
        out.append(x)
    return out


@program(V)
def list_grow_stack(x):
    xp = names(x)
    out = []
    for i in range(4):
        x = x + 1
        out.append(x)
    return xp.stack(out)


@program(V)
def cond_branch(x):
    if x[0] > 0:
        y = x * 2
    else:
        y = x - 1
    return y


@program(V)
def cond_types(x):
    if x[0] > 0:
        y = 1
    else:
        y = x
    return y


@program(V)
def clip_round(x):
    xp = names(x)
    return xp.clip(x, -1.0, 2.0), xp.round(x), xp.floor(x), xp.sign(x), xp.maximum(x, x * 0)


@program(I)
def astype_mul(k):
    xp = names(k)
    return xp.astype(k, xp.float32) * xp.asarray(2.0, dtype=xp.float32), xp.sum(xp.astype(k, xp.float64))


@program(V)
def same_back(x):
    y = x
    return y is x, y


@program(V)
def linspace_arange(x):
    xp = names(x)
    return (
        xp.arange(5, dtype=x.dtype) * x,
        xp.linspace(0, 1, 5, dtype=x.dtype) + x,
        xp.eye(5, dtype=x.dtype) @ x,
        xp.full(5, 2.0, dtype=x.dtype) * x,
    )


@program(V)
def default_dtypes(x):
    xp = names(x)
    return xp.zeros(2), xp.arange(3), xp.asarray(1.5), xp.ones((2, 2)), xp.asarray([1, 2])


@program(V)
def row_in_loop_write2d(x):
    xp = names(x)
    buf = xp.zeros((3, 5), dtype=x.dtype)
    for i in range(3):
        buf[i, :] = x * i
    return buf


@program(V)
def alias_write(x):
    y = x * 1
    z = y[1:4]
    z[0] = 100.0
    return y, z


@program(V)
def alias_write_loop(x):
    y = x * 1
    last = y
    for i in range(3):
        y[i] = y[i] + 1
    return last


@program(V)
def int_index_from_array(x):
    xp = names(x)
    k = xp.argmax(x)
    return x[int(k)], int(k)


@program(V)
def tensor_index(x):
    xp = names(x)
    k = xp.argmax(x)
    return x[k]


@program(M)
def triangles(m):
    xp = names(m)
    return xp.tril(m), xp.triu(m, k=1), xp.squeeze(m[:1], axis=0), xp.broadcast_to(m[0], (2, 4))


@program(M)
def unary_chain(m):
    xp = names(m)
    return xp.tanh(m), xp.sin(m) + xp.cos(m), xp.log1p(xp.abs(m)), xp.expm1(m / 10), xp.square(m)


@program(V)
def raises_value(x):
    if x[0] > 0:
        raise ValueError("positive")
    return x


@program(V)
def asserted(x):
    assert x[0] > 100, "small"
    return x


@program(V)
def numbers_of_a_list(x):
    found = []
    while x[0] < 50:
        x = x * 2
        found.append(x[0])
    return np.array(found), np.mean(found), np.abs(found), np.max(found)


@program(V)
def rows_of_a_list(x):
    found = []
    while x[0] < 50:
        x = x * 2
        found.append(x)
    return np.array(found), np.stack(found)


@program(V)
def floats_of_a_list(x):
    found = []
    while x[0] < 50:
        x = x * 2
        found.append(float(x[0]))
    return found, np.sort(np.array(found))


@program(V)
def numpys_buffer(x):
    buf, i = np.zeros((8, 5)), 0
    while x[0] < 50:
        x = x * 2
        buf[i, :] = x
        i += 1
    return buf, i, buf.sum()


@program(V)
def numpys_buffer_of_numbers(x):
    buf, ints, same = np.zeros(3), np.zeros(3, int), None
    same = buf
    for i in range(3):
        buf[i] = float(x[i])
        ints[i] = x[i]
    return same, ints, np.linalg.norm(buf), np.sort(buf)


@program(V)
def numpys_of_theirs(x):
    y = np.asarray(x * 2)
    y[0] = 7.0
    return y, np.array([x[0], x[1]]), np.float64(x[0]), np.sum([x[0], x[1]])


#: those that are one expression, and what they are given
EXPRESSIONS = [
    (lambda x: x[1:3], V),
    (lambda m: m.T, M),
    (lambda m: (m[1], names(m).reshape(m, (4, 3)), names(m).permute_dims(m, (1, 0))), M),
    (lambda m: (names(m).argmax(m, axis=1), names(m).argmin(m)), M),
    (lambda m: (names(m).std(m), names(m).var(m, axis=0), names(m).std(m, axis=1, correction=1)), M),
    (lambda k: (k + 1, k * 2, k - k, -k, k ** 2), I),
    (lambda k: k / 2, I),
    (lambda k: (k // 2, k % 3), I),
    (lambda k: (-k // 2, -k % 3), I),
    (lambda k: (names(k).sum(k), names(k).cumulative_sum(k), names(k).max(k)), I),
    (lambda k: names(k).mean(k), I),
    (lambda b, x: (names(x).where(b, x, -x), names(x).where(x > 0, x, names(x).zeros_like(x))), B, V),
    (lambda x, b: x[b], V, B),
    (lambda x: (x * 2, x + 1.5, x / 3, x ** 2, 1 / x), F),
    (lambda x, y: x + y, F, V),
    (lambda x, k: x * k, F, I),
    (lambda k, x: k * x, I, V),
    (lambda c: (c * 2, names(c).abs(c), names(c).real(c), names(c).imag(c), names(c).conj(c), names(c).sum(c)), C),
    (lambda z: (z + 1, z * z, names(z).exp(z)), Z),
    (lambda z: (float(z), int(z), bool(z)), Z),
    (lambda x: (float(x[0]) + 1, int(x[2]), [float(v) for v in x]), V),
    (lambda e: (e + 1, names(e).sum(e), names(e).sum(e, axis=0), e.shape), E),
    (lambda m, v: (m + v, m * v[None, :], m[:, :1] * v, m - 1), M, V[:4]),
    (lambda m, v: (m @ v, m @ m.T, names(m).matmul(m, v), names(m).tensordot(m, v, axes=1)), M, V[:4]),
    (lambda m: (m[0, 1], m[-1], m[:, ::2], m[1:, -2:], m[..., 0], m[None].shape), M),
    (lambda m: m[::-1], M),
    (lambda x, k: (names(x).take(x, k), names(x).sort(x), names(x).argsort(x)), V, I % 5),
    (lambda x, k: x[k], V, I % 5),
    (lambda x: x * 2 if x[0] > 0 and x[1] < 0 else x, V),
    (lambda x: (x > 1, x == x, x != 0, (x > 0) & (x < 3)), V),
    (lambda k: names(k).astype(k, names(k).float64) / 2, I),
    (lambda x: (x.shape, x.ndim, len(x), x.shape[0] * 2), V),
    (lambda m: (m.ndim, m.T.shape), M),
    (lambda x: (min(x[0], x[1]), max(x[0], 2.0)), V),
    (lambda x: sum(x[i] for i in range(5)), V),
    (lambda x: (abs(x), -x, +x, abs(x[1])), V),
    (lambda x: (names(x).isnan(x / 0), names(x).isfinite(x), names(x).isinf(x / 0 * 0)), V),
    (lambda x: (names(x).logical_and(x > 0, x < 4), names(x).logical_not(x > 0), names(x).any(x > 3)), V),
    (lambda x: (names(x).linalg.vector_norm(x), names(x).linalg.outer(x, x), names(x).vecdot(x, x)), V),
    (lambda x: f'{float(x[0]):.2f}', V),
    (lambda x: x[10], V),
    (lambda x: x + x[:2], V),
]  # fmt: skip
PROGRAMS += [(f, values) for f, *values in EXPRESSIONS]


def written_under_another_name(x):
    b = np.zeros(5)
    b += x
    return b


def written_to_a_part(x):
    b = np.zeros(7)
    b[1:6] *= x
    return b


def written_out(x):
    b = np.zeros(5)
    return np.add(b, x, out=b)


def written_as_elements(x):
    b = np.zeros(5)
    b[:] = x + 1
    return b


PROGRAMS += [(f, [V]) for f in (written_under_another_name, written_to_a_part, written_out, written_as_elements)]


def told(value):
    if isinstance(value, (list, tuple)):
        return [type(value), *map(told, value)]
    if isinstance(value, dict):
        return {key: told(one) for key, one in value.items()}
    if hasattr(value, "dtype"):
        array = np.asarray(value)
        return type(value), str(value.dtype), array.shape, np.array2string(array, precision=9)
    return type(value), repr(value)


def outcome(f, values, theirs):
    given = list(map(theirs, values))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return told(f(*given)), told(given)
        except Exception as error:
            return type(error), told(given)


def with_libraries():
    for name in LIBRARIES:
        if importlib.util.find_spec(name.partition(".")[0]) is not None:
            yield from ((name, *one) for one in PROGRAMS)


@each(with_libraries(), lambda name, f, values: f"{name}, {f.__name__}", parts=4, one_in=3)
def test_a_program_does_what_it_does_undecorated(name, f, values):
    theirs = LIBRARIES[name]
    assert outcome(al.function(f), values, theirs) == outcome(f, values, theirs)
