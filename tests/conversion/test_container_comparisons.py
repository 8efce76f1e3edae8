"""Lists, tuples and dicts of numbers of a run are compared element by element, as Python compares them."""

from __future__ import annotations

import collections
import types
from typing import Any

import autoloop as al
import numpy as np
import pytest
from executors import EXECUTORS

Pair = collections.namedtuple("Pair", "a b")
X = np.arange(4.0)


def equal(n: Any) -> Any:
    return [n] == [3], (n, 1) != (3, 1), {"a": [n, 2]} == {"a": [3, 2]}, {"a": n} == {"b": 3}, Pair(n, 2) == (3, 2)


def of_other_kinds(n: Any) -> Any:
    return [n] == (n,), [n] == 3, [n] == ["a"], (n, None) == (3, None), (True, n) == (1, 3), [n] == [n, n], [] == [n]


def ordered(n: Any) -> Any:
    return (n, 1) < (3, 2), (n,) < (3, 2), (3, 2) <= (n,), () < (n,), [n, 2] > [n], ((n, 1), 2) >= ((n, 2), 3)


def of_arrays(n: Any) -> Any:
    y = X + n
    return [y] == [y], [y, 1] == [y, 2], [len(y), y] == [3, X]


def held(n: Any) -> Any:
    return (n, 2) in [(3, 2), (1, 1)], 3 in [n, 2], [n] in [[4], [2]], (n, 2) not in ((3, 1),), (n, 2) in {(3, 2): 1}


def named(n: Any) -> Any:
    a, b, c = [n, 1], [3, 1], {"a": n}
    d = list(a)
    return a == b, a != d, a is d, a < b, c == {"a": 3}, 3 in a, [c == {"a": k} for k in range(2)], a >= [n]


def searched(n: Any) -> Any:
    a = [(n, 1), (2, 2), (n, 1)]
    return a.count((3, 1)), a.index((n, 1)), (2, 2) in a, max((n, n), (n, n + 1)), min([(n, n + 2), (n, n)])


def chained(n: Any) -> Any:
    return (1, 2) < (n, 3) < (9, 9), [k for k in range(3)] == [0, 1, n - 1]


def looped(n: Any) -> Any:
    found = 0
    for i in range(n):
        if [i, 1] == [2, 1]:
            found += 1
        if (i, 1) < (2, 2):
            found += 10
        if {"a": i} != {"a": 1}:
            found += 100
        if (i % 2, i) in [(0, 2), (1, 1)]:
            found += 1000
    return found


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("f", [equal, of_other_kinds, ordered, of_arrays, held, named, searched, chained, looped])
def test_they_compare_as_in_python(f: Any, executor: str) -> None:
    decorated = al.function(f, executor=executor)
    for n in (np.int64(3), np.int64(2), 3):
        assert repr(decorated(n)) == repr(f(n))


def test_a_tensor_among_the_elements_makes_the_answer_a_tensor() -> None:
    made = al.function(lambda n: ([n] == [3], (n, 1) < (3, 1)))(al.constant(3))
    assert all(isinstance(one, al.Tensor) for one in made)
    assert [bool(one) for one in made] == [True, False]


def test_dicts_have_no_order_and_neither_have_numbers_and_texts() -> None:
    for f in (lambda n: {"a": n} < {"a": 3}, lambda n: [n] < ["a"]):
        with pytest.raises(TypeError, match="not supported between|did not contain a loop|UFuncNoLoop|'<'"):
            al.function(f)(np.int64(3))


def test_arrays_among_the_elements_are_refused_as_by_numpy() -> None:
    with pytest.raises(ValueError, match="truth value"):
        al.function(lambda n: [X + n] == [X])(np.int64(3))


def compared_by_names(n: Any) -> Any:
    def made(n: Any) -> Any:
        return [n, 1]

    one, other = made(n), made(3)
    return one == other


def compared_namespaces(n: Any) -> Any:
    one, other = types.SimpleNamespace(v=n, w=1), types.SimpleNamespace(v=3, w=1)
    return one == other, [one] != [other], n * 2 if one == other else n


@pytest.mark.parametrize("function", [compared_by_names, compared_namespaces])
def test_what_only_python_compares_is_compared_by_plain_python(function: Any) -> None:
    with pytest.warns(UserWarning, match="objects of Python's own that are compared ask their values"):
        f = al.function(function)
        for n in (np.int64(3), np.int64(4)):
            assert f(n) == function(n)
    with pytest.raises(TypeError, match="stays Python unless one is written out"):
        al.function(function)(al.constant(3))
