"""State that a graph cannot carry is refused: what happens once, at tracing, must not pass for each time."""

from __future__ import annotations

import collections
import functools

import autoloop as al
import numpy as np
import pytest


def set_in_a_loop(n):
    seen = set()
    for i in range(n):
        seen.add("some")
    return len(seen)


def set_in_a_branch(n):
    seen = {1}
    if n > 2:
        seen.add(2)
    return len(seen)


def counter(n):
    counts = collections.Counter()
    for _ in range(n):
        counts["a"] += 1
    return counts["a"]


def deque(n):
    out = collections.deque()
    for i in range(n):
        out.appendleft(i)
    return len(out)


def new_keys(n):
    out = {}
    for i in range(n):
        out["some"] = i
    return len(out)


def tuple_that_grows(n):
    out = ()
    for i in range(n):
        out = out + (i,)
    return out


def method_under_a_name(n):
    out = []
    add = out.append
    for i in range(n):
        add(i)
    return out


def append_to(out, x):
    out.append(x)


def partial(n):
    out = []
    add = functools.partial(append_to, out)
    for i in range(n):
        add(i)
    return out


def default_argument(n):
    def add(x, out=[]):  # noqa: B006
        out.append(x)
        return out

    for i in range(n):
        add(i)
    return add(n)


def iterator(n):
    items = iter([1, 2, 3, 4])
    s = 0
    for _ in range(n):
        s += next(items)
    return s


def generator(n):
    def count():
        i = 0
        while True:
            yield i
            i += 1

    items = count()
    s = 0
    for _ in range(n):
        s += next(items)
    return s


def numpy_random_numbers(n):
    generator = np.random.Generator(np.random.PCG64(1))  # one of `default_rng` is made by each run
    s = 0.0
    for _ in range(n):
        s += generator.normal()
    return s


def operand_with_effect(n):
    out = []

    def f():
        out.append(1)
        return True

    return n > 5 and f()


CHANGED = "is changed in place in a loop or branch on tensors"
REFUSED = [
    (set_in_a_loop, "the set 'seen' changes in a loop on tensors"),
    (set_in_a_branch, "'seen' at the end of the main and the else branch of an `if` on a tensor differ"),
    (counter, f"the Counter 'counts' {CHANGED}"),
    (deque, "deque([*]) after; to collect values use a list: append, insert and pop work at any place"),
    (new_keys, "all keys must be there before the loop"),
    (tuple_that_grows, "to collect values use a list and append"),
    (method_under_a_name, f"the list 'add' {CHANGED}"),
    (partial, f"the list 'add' {CHANGED}"),
    (default_argument, f"the list 'add[0]' {CHANGED}"),
    (iterator, "the list_iterator 'items' is advanced in a loop or branch on tensors"),
    (generator, "the generator 'items' is advanced in a loop or branch on tensors"),
    (numpy_random_numbers, "the Generator 'generator' is asked for random numbers"),
    (operand_with_effect, "an operand of `and` that a tensor decides on changes 'out'"),
]


@pytest.mark.parametrize(("function", "message"), REFUSED, ids=[f.__name__ for f, _ in REFUSED])
def test_refused_with_the_name(function, message):
    with pytest.raises(TypeError) as caught:
        al.function(function)(al.constant(3))
    assert message in str(caught.value)


def swap(a, i, j):
    a[i], a[j] = a[j], a[i]


def partition(a):
    first = 0
    for i in range(len(a)):
        if a[i] < 0:
            a[first] = a[i]
            first += 1
    return first


class Writer:
    def put(self, a, value):
        a[0] = value


def total_of_changed(a):
    a[0] = 0
    return np.sum(a)


def swapped(a, i, j):
    a[i], a[j] = a[j], a[i]
    return a


def counted(a, n):
    for i in range(n):
        a[i] = i


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda x: swap(x, 0, 1), "'swap' sets elements of 'a' and does not return it"),
        (lambda x: partition(a=x), "'partition' sets elements of 'a'"),
        (lambda x: Writer().put(x, 1), "'put' sets elements of 'a'"),
    ],
)
def test_elements_of_tensors_set_for_a_caller_who_would_not_see_it(change, name):
    with pytest.raises(TypeError, match=name):
        al.function(change)(al.constant([3, 1, 2]))


def test_elements_of_arrays_set_for_a_caller():
    def f(x):
        table, pair = np.zeros(3, int), [x[0], x[1]]
        counted(table, 3)
        swap(pair, 0, 1)
        swap(x, 0, 1)
        fresh = np.arange(3)
        swap(fresh, x[1] - 1, 1)
        Writer().put(table, x[0])
        return swapped(x, 0, 2), total_of_changed(x), table, pair, partition(x), fresh

    x, y = np.array([3, 1, 2]), np.array([3, 1, 2])
    for found, expected in zip(al.function(f)(x), f(y), strict=True):
        assert np.array_equal(found, expected)
    assert x.tolist() == y.tolist()


def test_what_was_changed_is_put_back():
    out = []

    def f(n):
        add = functools.partial(append_to, out)
        if n > 2:
            add(1)
        return n

    with pytest.raises(TypeError, match="'add' is changed in place"):
        al.function(f)(al.constant(3))
    assert out == []


class Shy:
    """Whoever looks at more than its attributes is found out."""

    __slots__ = ("__dict__", "a", "unset")

    def __init__(self):
        self.a = 1

    def __getattr__(self, name):
        raise RuntimeError(name)


class ShyList(list):
    def __iter__(self):
        raise RuntimeError

    copy = __len__ = __getitem__ = __iter__


class ShyIterator:
    def __next__(self):
        raise RuntimeError

    __length_hint__ = __next__


def test_looking_for_changes_has_no_effects():
    shy, items, iterator = Shy(), ShyList([1]), ShyIterator()

    def f(n):
        if n > 2:
            n = n + shy.a + (0 if (items, iterator) else 1)
        return n

    assert int(al.function(f)(al.constant(3))) == 4
