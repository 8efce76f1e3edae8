"""Machine code: what is computed of an array and assigned to a part of it, element by element as it is computed."""

from __future__ import annotations

import linecache

import autoloop as al
import numpy as np
import pytest
from api import host, write_function
from each_case import each

pytest.importorskip("llvmlite")


def overlapping(x, m, other, i):
    x[1:] = x[:-1] * 2.0 + 1.0
    x[:4] = x[4:8] - x[0]
    x[::2] = x[1::2] * x[::2]
    x[::-1] = x + 1.0
    x[2:5] = np.where(x[3:6] > 1.0, x[2:5], x[0:3] + other[0, 0])
    m[1:-1, 1:-1] = 0.25 * (m[:-2, 1:-1] + m[2:, 1:-1] + m[1:-1, :-2] + m[1:-1, 2:])
    m[:] = m.T * 0.5 + m
    m[:, ::-1] = m - other
    m[2] = m[3] * 0.5 + m[2]
    m[:, 3:5] = m[:, 5:7] + m[:, 1:3]
    m[:, 3:5] = m[:, 4:6] + 1.0
    m[other > 0.5] = 0.125
    m[None, 4:, 1] = m[4:, 2] + m[4:, 1]


def of_one_place(x, m, other, i):
    m[:, i] = m[:, i - 1] * 0.5 + m[:, i]
    m[:, i] = m[:, i - 9] * 0.5 + 1.0
    m[i] = m[i - 1] + m[:, i]
    m[i - 1, 1:] = m[i - 1, :-1] * 0.5
    m[i, 3:] = m[i - 1, 3:] * 0.5 + m[0, 3:]
    m[:] = np.minimum(m, np.add.outer(m[:, i], m[i, :]))
    m[:] = m[i] * 0.5 + m[:, :1]
    other[1:, i] = m[:-1, i] - other[1:, i]


def in_loops(x, m, other, i):
    for k in range(1, 9):
        m[:, k] = m[:, k] * 0.5 + m[:, k - 1] * 0.25
        other[k - 1] = np.sqrt(other[k] * other[k]) + m[k]
    for k in range(-9, -1):
        m[1:-1, k] = m[1:-1, k + 1] - m[2:, k] * 0.5
        kept = m[:, k] * 2.0
        m[:, k + 1] = 3.0
        other[:, k] = kept
    for k in range(7, i, -1):
        x[k : k + 2] = x[k - 1 : k + 1] * 0.5


def given():
    rng = np.random.default_rng(5)
    return rng.random(10), rng.random((9, 9)), rng.random((9, 9))


@each([overlapping, of_one_place, in_loops])
def test_parts_become_what_numpy_makes_of_them(function):
    decorated = al.function(function, executor="native")
    for i in range(9) if function is of_one_place else (0, 3):
        ours, plain = given(), given()
        function(*plain, np.int64(i))
        decorated(*ours, np.int64(i))
        for got, want in zip(ours, plain):
            np.testing.assert_allclose(got, want, rtol=1e-14, err_msg=f"i = {i}")


@each([9, -9, -10])
def test_a_place_that_is_not_there_is_told_before_anything_is_written(i):
    ours, plain = given(), given()
    messages = []
    for function, args in ((of_one_place, plain), (al.function(of_one_place, executor="native"), ours)):
        with pytest.raises(IndexError) as raised:
            function(*args, np.int64(i))
        messages.append(str(raised.value))
    assert messages[0] == messages[1]
    for got, want in zip(ours, plain):
        np.testing.assert_array_equal(got, want)


def kept_beside(x, m, other, i):
    part = m[1, 1:4] + other[3, :3]
    m[1, 2] = 0.5
    other[3, :3] += part
    whole = m.T * 2.0
    m[:3, i] = 7.0
    other[:] = whole - other
    other[i - 9] = x[0]


def taking_the_place_of_what_is_not_stored(x, m, other, i):
    kept = x * 3.0
    kept[:] = x
    x += 1.0
    m[0] = kept[:9]
    x[i * 20] = 1.0


@each([(f, i) for f in (kept_beside, taking_the_place_of_what_is_not_stored) for i in (0, -1)])
def test_what_was_written_before_a_failure_is_where_the_caller_looks_for_it(case, i):
    ours, plain = given(), given()
    for function, args in ((case, plain), (al.function(case, executor="native"), ours)):
        if i < 0:
            with pytest.raises(IndexError):
                function(*args, np.int64(i))
        else:
            function(*args, np.int64(i))
    for got, want in zip(ours, plain):
        np.testing.assert_allclose(got, want, rtol=1e-14)


def into_parts(a, b, k):
    b[1:-1] = a[2:] + a[:-2]
    b[:, k] = b[:, k - 1] * 2.0 + a[:, k]
    a[:] = np.minimum(a, np.add.outer(a[:, k], a[k]))
    for j in range(1, 300):
        b[:, j] = b[:, j - 1] * a[:, j - 1] + a[:, j]
        a[j, :-1] = np.sqrt(b[j, 1:])


def branches(a, b, k):
    if k > 1:
        a *= 2.0
        b -= a
    else:
        a += b * b
        if k == 0:
            b += np.sqrt(a) + a
        else:
            b *= 3.0


def parts_of_complex_numbers(a, b, k):
    a.real[:] = 3.0
    a.imag[:] = b.real
    b.imag[:] = a.real
    b.real[:] = k
    b.imag *= 2.0


def parts_with_names(a, b, k):
    part = a[1:]
    part[k] = 3.0
    part[k + 1] += part[0]
    for i in range(k):
        b[2:][i] = a[i] + 1.0
        back = b[::-1]
        back[i] += 2.0
        back[1:][i + 1] = k


def parts_changed_in_loops(a, b, k):
    inner, back, first = a[1:-1], b[::-1], b[0:1]
    for i in range(k):
        inner[i] += inner[i + 1] * 0.5
        inner *= 0.5
    for i in range(k):
        for j in range(k):
            if a[0].sum() > j:
                back[j] -= back[i + 1]
            else:
                back[i] = a[j]
    i = 0
    while first.sum() < 100:
        first += i
        i += 1
    for i in range(k):
        first[:] = first + inner[i]
    back[0] = 3.0


@each([branches, parts_of_complex_numbers, parts_with_names, parts_changed_in_loops], one_in=2)
def test_it_is_what_numpy_makes(function):
    for k in range(3):
        made = [np.arange(n, 6.0 + n) + 0.5j * (function is not branches) for n in (1, 3)]
        if function is parts_changed_in_loops:
            made = [np.multiply.outer(one.real, one.real) for one in made]
        ours, plain = ([one.copy() for one in made] for _ in range(2))
        function(*plain, np.int64(k))
        al.function(function, executor="native")(*ours, np.int64(k))
        np.testing.assert_allclose(ours, plain, rtol=1e-14)


@each([into_parts, branches, parts_of_complex_numbers, parts_with_names, parts_changed_in_loops])
def test_no_array_is_made_for_what_is_written(function):
    a = np.ones((300, 300), complex if function is parts_of_complex_numbers else float)
    graph = al.function(function, executor="native").get_concrete_function(a, a.copy(), np.int64(3)).runner.graph
    graph.donated = {0: 0, 1: 1}
    assert write_function(graph, [a.shape, a.shape, ()], host().features).scratch < a.nbytes / 4


@each([(200, []), (28, ["unroll.disable"]), (10, ["unroll.disable", 'vectorize.enable", i1 true'])])
def test_vectors_are_of_elements_side_by_side(rounds, told):
    """Not of those of several rows, which LLVM would gather once it has written out the rounds of a short row."""

    def added(x, y):
        x[1:-1, 1:-1] += y
        return x

    x, y = np.zeros((12, rounds + 2)), np.ones((10, rounds))
    graph = al.function(added, executor="native").get_concrete_function(x, y).runner.graph
    lines = write_function(graph, [x.shape, y.shape], host().features).ir.splitlines()
    assert sum('vectorize.enable", i1 false' in line for line in lines) == 1  # one line for all loops over rows
    hints = ("unroll.disable", 'vectorize.enable", i1 true')
    assert [hint for hint in hints if any(hint in line for line in lines)] == told


def with_more_axes_than_their_place(x, y, n):
    x[:] = y[1:]
    x += np.arange(4)
    x[1:] = np.arange(3)[None, None]
    for _ in range(n):
        x[:] = y[1:] * x
        x[1:] = (y[None, :1, 1:] + y[None, 1:, 1:]) * 0.5
        x[[2, 0]] = y[1:, :2] - x[1]
        x[x > 9] = x[:1] * n


@each([(x, y) for x in ("f8", "i8", "c16") for y in ("f8", "i8", "f4")])
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_leading_axes_of_one_element_are_left_out(x, y):
    made = np.array([[1.5, 2.0, 3.0, 4.0], [4.5, 5.0, 6.0, 7.0]]).astype(y)
    plain, ours = (np.array([7, 8, 9, 1], x) for _ in range(2))
    f = with_more_axes_than_their_place if x != "c16" else with_more_axes_of_complex_numbers
    f(plain, made, np.int64(2))
    al.function(f, executor="native")(ours, made, np.int64(2))
    np.testing.assert_allclose(ours, plain, rtol=1e-14)


def with_more_axes_of_complex_numbers(x, y, n):
    x[:] = y[1:]
    x[1:] = (y[:1, 1:] + y[1:, 1:] * x[1:])[None]


def test_values_without_axes_have_parts():
    def f(s, n):
        a, b, c, d = np.asarray(s * 2), np.asarray(s * 3), np.asarray(s > 1), np.asarray(s * 4)
        a[a > 1] = 7
        b[True] = n
        c[s > 0] = s < 0
        for k in range(n):
            a[a > k] = k
            d[d > 9] = np.array([0.5]) * s
        return a, b, c, d, np.piecewise(s, [s > 2, s < 2], [1, 2])

    for s in (np.float64(2.5), np.float64(-0.25)):
        for ours, plain in zip(al.function(f, executor="native")(s, np.int64(3)), f(s, 3), strict=True):
            assert (type(ours), ours.dtype) == (type(plain), plain.dtype)
            np.testing.assert_array_equal(ours, plain, strict=True)
    with pytest.raises(NotImplementedError, match="an index makes an array of a value without axes"):
        al.function(lambda s: s[True], executor="native")(np.float64(2.5))


@each(["x[x > 0] = x[:1, None]", "s = np.asarray(x[0]); s[s > 0] = x[:2]"])
def test_what_numpy_does_not_assign_to_what_a_mask_selects_is_refused(statement):
    text = f"def f(x):\n    {statement}\n    return x\n"
    linecache.cache["<refused>"] = (len(text), None, text.splitlines(True), "<refused>")
    exec(compile(text, "<refused>", "exec"), names := {"np": np})
    with pytest.raises((TypeError, ValueError)):
        names["f"](np.ones(3))
    words = "to what a mask selects|requires a 0 or 1-dimensional input, input has 2 dimensions"
    with pytest.raises((NotImplementedError, TypeError), match=words):
        al.function(names["f"], executor="native")(np.ones(3))
