"""Arrays taken apart by targets, items of Python's sequences at places of the run, keys that only the run knows."""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from types import SimpleNamespace

import autoloop as al
import numpy as np
import pytest
from each_case import each
from left_to_python import refused_or_plain
from numpys_examples import difference

M = np.arange(8.0).reshape(4, 2)
I = np.array([2, 0, 1])  # noqa: E741
TABLE = (1.5, 2.5, 3.5)


# -- arrays taken apart ----------------------------------------------------------------------------------------


def an_attribute(m):
    x, y = m.T
    return x - y


def a_call(m):
    slope, intercept = np.polyfit(m[:, 0], m[:, 1], 1)
    low, high = np.percentile(m, [5, 95])
    return slope, intercept, low, high


def several_targets(m):
    p = x, y = m.T
    u, v = q = m.T * 2
    return p, x, y, u, v, q


def a_conditional(m):
    x, *rest = m if m.ndim == 2 else m.T
    a, b = (whole := m.T)
    return x, rest, a, b, whole


def in_a_comprehension(m):
    pairs = [(i, x) for i, (x, y) in enumerate(m)]
    return [x * y for x, y in m], pairs, {i: x for i, x in enumerate(m[0])}, [x for x, y in m if y > 2]


def in_a_generator(m):
    return sum(x * y for x, y in m), all(x < y for x, y in m), max(x - y for x, y in zip(m[0], m[1]))


def in_a_loop(m):
    total = 0
    for i, j in np.argwhere(m > 2):
        total += i * j
    return total


def by_map(m):
    x, y = map(np.sum, m.T)
    return x, y, min(map(abs, m[0])), sum(map(abs, m[0])), sorted(map(abs, m[0]))


def beside_texts(m):
    found = {}
    for name, row in zip(["a", "b"], m):
        found[name] = row
    return found, dict(zip("ab", m[0])), dict(enumerate(m[0])), [(n, x) for n, x in zip([1, 2.5], m[0])]


def reduced(m):
    return functools.reduce(lambda total, x: total * 2 + x, m[0], 1), functools.reduce(lambda a, b: a + b, m)


TAKEN_APART = [
    an_attribute, a_call, several_targets, a_conditional, in_a_comprehension, in_a_generator, in_a_loop, by_map,
    beside_texts, reduced,
]  # fmt: skip


@pytest.mark.parametrize("f", TAKEN_APART, ids=lambda f: f.__name__)
def test_an_array_taken_apart_is_as_in_python(f):
    assert difference(f(M), al.function(f)(M)) == ""


# -- items at places of the run --------------------------------------------------------------------------------


class Holder:
    """A list in a class."""

    weights = [1, 2, 3]


def of_all_sequences(i):
    made = []
    for k in range(3):
        made.append(k * 2)
    other = made
    return other[i[0]], list(range(4))[i[0]], sorted([3, 1, 2])[i[1]], range(5, 20, 3)[i[0]], TABLE[i[2]]


def of_an_argument(i, values=(1.0, 2.0, 4.0)):
    total = 0.0
    for k in i:
        total += values[k] + Holder.weights[k]
    return total


def of_a_row_before(i):
    before = list(range(len(i) + 1))
    for x in i:
        now = [x + 1]
        for j, y in enumerate(i):
            now.append(min(before[j] + abs(x - y), before[j + 1] + 1, now[j] + 1))
        before = now
    return before[-1]


def of_a_list_that_grew(i):
    found = []
    for k in i:
        if k > 0:
            found.append(k)
    return found[::-1], found[1:], found[:1], sorted(range(int(i[0])))


@each([of_all_sequences, of_an_argument, of_a_row_before, of_a_list_that_grew])
def test_an_item_at_a_place_of_the_run_is_as_in_python(f):
    assert difference(f(I), al.function(f)(I)) == ""


# -- keys that only the run knows ------------------------------------------------------------------------------


def stored(i):
    d = {}
    d[int(i[0])] = 1
    return d


def counted(i):
    counts = defaultdict(int)
    for k in range(2):
        counts[i[k]] += 1
    return counts


def added(i):
    seen = set()
    seen.add(i[0])
    return len(seen)


def joined(i):
    seen = {1}
    seen.update([i[0]])
    return len(seen)


KEYS = "which of them are equal only the run can tell"
UNLIKE = "which element stands where only the run knows, and the elements are not alike"
REFUSED = [
    (lambda i: {2: 5}.pop(i[0], None), KEYS),
    (lambda i: {2: 5}.setdefault(i[0], 9), KEYS),
    (lambda i: {i[0]: 1}, KEYS),
    (lambda i: len({i[0], i[0]}), KEYS),
    (lambda i: {2, 3}.issuperset(i), KEYS),
    (lambda i: Counter({1: 2})[i[0]], KEYS),
    (stored, KEYS),
    (counted, KEYS),
    (added, KEYS),
    (joined, KEYS),
    (lambda i: sum(zip(i, [3, 1, 2])), "are tuples, which only the run could compare or add"),
    (lambda i: sorted([i[0], 2.5, 1]), UNLIKE),
    (lambda i: sorted(i, key=lambda e: -e, reverse=i[0]), "needs to know while the graph is built whether to turn"),
]


def of_objects(i):
    found = [SimpleNamespace(v=one) for one in i]
    found.sort(key=lambda one: one.v)
    return [one.v for one in found]


@each([lambda i: sorted([i[0], 2.5, 1]), of_objects])
def test_what_no_run_can_sort_plain_python_sorts(f):
    with pytest.warns(UserWarning, match=UNLIKE):
        found = al.function(f)(I)
    assert difference(f(I), found) == ""


@each(
    [
        (lambda i: [1, 2, 3][: i[0]], "a part of a list at a place that only the run knows"),
        (lambda i: sorted([i[0], "x"]), "is sorted here by more than numbers"),
        (lambda i: sorted([i[0], (i[1], 2)]), "keys of several lengths are compared here"),
    ]
)
def test_what_plain_python_makes_of_them(f, words):
    refused_or_plain(f, words, I)


def test_keys_of_the_run_are_refused():
    for f, words in REFUSED:
        i = al.constant(I) if words in (KEYS, UNLIKE) else I  # of arrays plain Python knows the keys, and the order
        with pytest.raises(TypeError, match=words):
            al.function(f, executor="native")(i)


def test_keys_of_python_are_left_alone():
    def f(x):
        d = {"a": x, 1: 2}
        s = {1, 2} | {3}
        s.update([4], (5,))
        s.discard(1)
        return d.get("a"), d.get("b", 3), d.pop(1), s, s.union([7]), {2, 3}.issuperset([2])

    assert repr(al.function(f)(M)) == repr(f(M))


# -- lists of arrays given to NumPy ----------------------------------------------------------------------------


class Rows:
    """An object that holds a list of arrays."""


def lists_by_name(m):
    rows, holder = [row * 2 for row in m], Rows()
    holder.rows = rows
    return np.mean(rows, axis=0), np.max(rows), np.sum(holder.rows), np.linalg.norm((rows, rows)[0])


def lists_of_calls(m):
    return np.transpose(np.nonzero(m)), np.mean(list(m)), np.std([*m], axis=0), np.sum(sorted(m[0]))


def arrays_as_lists(m):
    cube = m.reshape(2, 2, 2)
    return np.vstack(cube), np.hstack(cube), np.dstack(cube), np.column_stack(cube)


@each([lists_by_name, lists_of_calls, arrays_as_lists])
def test_lists_of_arrays_given_to_numpy_are_as_in_numpy(f):
    assert difference(f(M), al.function(f)(M)) == ""


def test_a_loop_without_elements_leaves_its_variables_alone():
    def f(m):
        total = 0
        for row in m:
            total = total + row
        return total

    assert type(al.function(f)(np.zeros((0, 3)))) is int
