"""Messages about single expressions and about functions themselves, by table."""

from __future__ import annotations

import bisect
import itertools
import json
import linecache
import re

import autoloop as al
import autoloop.compat.v1 as v1
import numpy as np
import pytest
from each_case import each
from executors import EXECUTORS

N = al.constant(3)
X = np.array([1.0, 2.0])


def concatenated(n):
    out = []
    for _ in range(n):
        out.append(al.zeros([2, 2]))
    return np.concatenate(out, axis=1)


def other_structure(n):
    out, pairs = [], []
    for i in range(n):
        out.append(i)
        pairs.append((i, i))
    out.extend(pairs)
    return out


def list_sorted(n):
    out = []
    for i in range(n):
        out.append(i)
    out.sort()
    return out


def list_iterated(n):
    out = []
    for i in range(n):
        out.append(i)
    return [*out]


def list_of_pairs(n):
    out = []
    for i in range(n):
        out.append((i, i))
    return out + al.zeros([2])


def optional_and(n):
    best = None
    for i in range(n):
        best = i
    return best and best + 1


def optional_set(n):
    best = None
    for i in range(n):
        best = i
    best.size = 3
    return best


def none_or_nothing(n):
    if n > 1:
        y = None
    elif n > 0:
        y = n
    if n > 5:
        z = y
    else:
        z = 1
    return z


def raises_text(n):
    if n > 1:
        raise "text"
    return n


def unset(n):
    if n > 5:
        y = n
    return y


EXPRESSIONS = [
    (lambda n: len(n), TypeError, "a tensor without dimensions has no len()"),
    (
        lambda n: sorted(al.range(n), key=lambda v: -v),
        TypeError,
        "sorted(..., key=...) needs a number of elements that is known",
    ),
    (lambda n: tuple(range(n)), TypeError, "tuple(...) needs a number of elements that is known: use list(...)"),
    (lambda n: [][n], IndexError, "list index out of range"),
    (lambda n: ["a", None][n], TypeError, "a tensor cannot choose an element of this list: its elements must be"),
    (lambda n: list(enumerate(n)), TypeError, "runs over the rows of a tensor; this one has no dimensions"),
    (lambda n: list(enumerate(filter(None, range(n)))), TypeError, "has no length to count or pair its elements by"),
    (lambda n: 3 in enumerate(range(n)), TypeError, "`in` does not work on an enumerate over tensors"),
    (lambda n: list(range(n, 5, 0)), ValueError, "range() arg 3 must not be zero"),
    (lambda n: list(range(n * 1.5)), TypeError, "the stop of range must be an integer, got a tensor of dtype float64"),
    (lambda n: list(range(al.stack([n, n]))), TypeError, "the stop of range must be a scalar, got shape (2,)"),
    (lambda n: [0] * n, TypeError, "a list cannot be repeated as often as a tensor says: use autoloop.zeros([n])"),
    (lambda n: n * [0], TypeError, "a list cannot be repeated as often as a tensor says"),
    (concatenated, TypeError, "np.concatenate of the list 'out', which grows in a loop, works along axis 0 only"),
    (other_structure, TypeError, "the list 'out' cannot be extended by 'pairs', whose elements have another structure"),
    (list_sorted, TypeError, "the list 'out' grows in a loop on tensors, where `sort` does not work"),
    (list_iterated, TypeError, "the list 'out' grows in a loop on tensors: run over it with a `for` statement"),
    (optional_and, TypeError, "`best and ...` would be None if 'best' is: write `best is not None and ...`"),
    (optional_set, TypeError, "setting 'size' would change 'best', of which only the run tells whether it is None"),
    (raises_text, TypeError, "exceptions must derive from BaseException"),
    (unset, UnboundLocalError, "cannot access local variable 'y' where it is not associated with a value"),
]


@pytest.mark.parametrize(("function", "kind", "text"), EXPRESSIONS, ids=[text[:30] for _, _, text in EXPRESSIONS])
def test_message(function, kind, text):
    with pytest.raises(kind) as caught:
        al.function(function)(N)
    assert text in str(caught.value)


def made(text, name, filename):
    namespace = {}
    exec(compile(text, filename, "exec"), namespace)
    return namespace[name]


def test_functions_without_a_readable_source():
    with pytest.raises(OSError, match="no source text for 'f' in '<none>'"):
        al.to_code(made("def f(n):\n    return n\n", "f", "<none>"))
    changed = made("\ndef f(n):\n    return n\n", "f", "<changed>")
    for lines, text in (
        (["\n", "def g(n):\n", "    return n\n"], "line 2 of '<changed>' no longer holds 'f'"),
        (["\n", "def f(n:\n"], "cannot parse the source of 'f'"),
    ):
        linecache.cache["<changed>"] = (1, None, lines, "<changed>")
        with pytest.raises(OSError, match=text):
            al.to_code(changed)
    with pytest.raises(TypeError, match="to_code needs a Python function, got"):
        al.to_code(len)


def test_lambdas_that_cannot_be_told_apart():
    one = made("f = lambda n: n\n", "f", "<lambda file>")
    linecache.cache["<lambda file>"] = (1, None, ["x = 1\n"], "<lambda file>")
    with pytest.raises(OSError, match="cannot tell which lambda on line 1 of '<lambda file>' is meant"):
        al.to_code(one)


def test_wrong_calls():
    concrete = al.function(lambda n: n + 1).get_concrete_function(N)
    with pytest.raises(TypeError, match="takes 1 tensors, got 2"):
        concrete(N, N)
    with pytest.raises(TypeError, match="a function is needed, got 3 of type int"):
        al.grad(3)
    with al.Graph():
        with pytest.raises(ValueError, match="Variable v does not exist, or was not created with tf.get_variable"):
            with v1.variable_scope("", reuse=True):
                v1.get_variable("v", [])
        with pytest.raises(ValueError, match=r"Shape of a new variable .w. must be fully defined"):
            v1.get_variable("w")


def accumulated_while(x):
    return list(itertools.takewhile(lambda one: one < 2, x))


def place_by_bisection(x):
    return bisect.bisect(x, 1.5)


def as_json(x):
    return json.dumps({"a": float(x[0])})


@pytest.mark.parametrize(
    ("f", "words", "in_a_warning"),
    [
        (
            accumulated_while,
            "What is called here, or calls what it is given, is not converted",
            "is a library's own|wants to know a value",
        ),
        (
            place_by_bisection,
            "What is called here, or calls what it is given, is not converted",
            "is a library's own|wants to know a value",
        ),
        (
            as_json,
            "Object of type Tensor is not JSON serializable",
            "'json.dumps' is a library's own, which computes with values",
        ),
    ],
)
def test_a_library_that_wants_values_is_named(f, words, in_a_warning):
    with pytest.raises(TypeError) as info:
        al.function(f)(al.constant(X))
    assert words in str(info.value)
    assert "Tracer" not in str(info.value)
    assert info.traceback[-1].name == f.__name__ or f is as_json
    with pytest.warns(UserWarning, match=in_a_warning):
        assert al.function(f)(X) == f(X)


def sum_of_elements(x, n):
    total = 0.0
    for i in range(n):
        total += x[i]
    return total


def sum_of_reciprocals(x, n):
    total, i = 0.0, 0
    while i < n:
        total += 1.0 / int(x[i])
        i += 1
    return total


def sum_of_a_triangle(x, n):
    total = 0.0
    for i in range(n):
        for j in range(n):
            total += x[i + j]
    return total


@each([
    (f, at, executor) for executor in EXECUTORS for f, at in (
        (sum_of_elements, (60,)), (sum_of_reciprocals, (59,)), (sum_of_a_triangle, (11, 49)),
    )
], lambda f, at, executor: f"{f.__name__} {executor}")  # fmt: skip
def test_iterations_are_counted_from_the_first_of_the_users_loop_though_some_are_written_out(f, at, executor):
    x = np.ones(60)
    x[59] = 0
    with pytest.raises((IndexError, ZeroDivisionError)) as caught:
        al.function(f, executor=executor)(x, 50 if len(at) == 2 else 300)
    assert re.findall(r"iteration (\d+) of", "".join(caught.value.__notes__)) == [str(k) for k in reversed(at)]
