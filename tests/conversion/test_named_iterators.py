"""Iterators of which one sees how far a loop has run them: right, or left to plain Python where only the run knows."""

import itertools

import autoloop as al
import numpy as np
import pytest
from left_to_python import refused_or_plain

LEFT = "is left by a loop when a tensor says so"


def total(q, x):
    t = 0.0
    for v in q:
        if t + v > 2 * x[0]:
            break
        t += v
    return t + sum(q)


def of_array(x):
    return total(iter(x), x)


def of_range(x):
    q = iter(range(5))
    return total(q, x)


def of_generator(x):
    q = (v * 2 for v in [1.0, 2.0, 3.0])
    return total(q, x)


def of_map(x):
    q = map(lambda v: v + x[0], [1, 2, 3])
    return total(q, x)


def inside_another(x):
    q = iter([1.0, 2.0, 3.0])
    t = 0.0
    for v, w in zip(q, [1, 2, 3]):
        if t > x[0]:
            break
        t += v * w
    return t, list(q)


def beside_an_array(x):
    q = iter(range(10))
    t = 0.0
    for v, w in zip(q, range(int(x[0]))):
        t += v * w
    return t + next(q)


def beside_a_short_array(x):
    q = iter(range(10))
    t = 0.0
    for v, w in zip(q, x):
        t += v * w
    for w, v in zip(x, q):
        t += v * w
    return t + next(q), [*q]


def run_over_twice(x):
    q = reversed(x)
    t = 0.0
    for v in q:
        t += v
    for v in q:
        t += 10 * v
    return t


def counted_in_a_branch(x):
    c = itertools.count()
    t = 0
    for v in x:
        if v > 1:
            t += next(c)
    return t


def changing(x):
    n = 0

    def numbers():
        nonlocal n
        for k in range(4):
            n += 1
            yield k

    t = 0.0
    for v in numbers():
        if t > x[0]:
            break
        t += v
    return t, n


def asked_in_a_loop(x):
    def sums():
        t = 0
        while True:
            t += yield t

    q, t = sums(), 0
    next(q)
    for k in range(int(x[2])):
        t = q.send(k + 1)
    return t


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (of_array, f"the iterator 'q' {LEFT}"), (of_range, f"the range_iterator 'q' {LEFT}"),
        (of_map, f"the map 'q' {LEFT}"),
        (inside_another, f"the list_iterator 'q' {LEFT}"),
        (beside_an_array, "the range_iterator 'q' runs side by side with a tensor"),
        (run_over_twice, "a reversed tensor was run over before"),
        (counted_in_a_branch, "the count 'c' is advanced in a loop or branch on tensors"),
        (asked_in_a_loop, "the generator 'q' is advanced in a loop or branch on tensors"),
        (changing, "the generator 'numbers' sets 'n', as often as only the run knows"),
    ],
)  # fmt: skip
def test_what_only_the_run_knows_plain_python_runs(f, words):
    refused_or_plain(f, words, np.arange(3.0))


def test_a_generator_expression_that_the_run_leaves_is_refused():
    refused_or_plain(of_generator, "the generator expression was left when a tensor said so", np.arange(3.0))


KEPT = iter(range(9))


def kept(x):
    t = 0
    while t < x[1]:
        t += 1 + next(KEPT)
    return t


def test_an_iterator_from_outside_is_refused_before_it_moves():
    with pytest.raises(TypeError, match="the range_iterator 'KEPT' is advanced in a loop or branch on tensors"):
        al.function(kept, executor="native")(np.arange(3.0))
    assert next(KEPT) == 0


def advancing(x, it):
    t = 0
    for v in x:
        if v > 0:
            t += next(it)
    return t


def test_plain_python_advances_what_it_is_given_and_is_told_of_once():
    decorated = al.function(advancing)
    with pytest.warns(UserWarning, match="the list_iterator is advanced") as told:
        assert [decorated(np.arange(3.0), iter([1, 2])) for _ in range(3)] == [3, 3, 3]
    assert len(told) == 1


def unnamed(x):
    t = 0.0
    for k, (v, w) in enumerate(zip(x, x * 2)):
        if v > 1:
            break
        t += v * w + k
    for v in reversed(x):
        t += v
    for v in (2 * one for one in [1.0, 2.0, 3.0]):
        if t > v:
            break
        t += v
    return t


def named_to_the_end(x):
    q = iter([1.0, 2.0, 3.0])
    t = 0.0
    for v in q:
        if v < x[0]:
            t += v
    for v in q:
        t += 100 * v
    return t


def left_by_python(x):
    q = iter([1.0, 2.0, 3.0])
    t = 0.0
    for v in q:
        t += v * x[1]
        if v > 1:
            break
    return t, list(q)


@pytest.mark.parametrize("f", [unnamed, named_to_the_end, left_by_python, beside_a_short_array])
def test_the_others_run_as_in_python(f):
    x = np.array([2.5, 1.5, 0.5])
    assert al.function(f)(x) == f(x)
