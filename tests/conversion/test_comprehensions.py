"""Comprehensions, generator expressions and unpacking over arrays of known length: Python's answer."""

from __future__ import annotations

from itertools import product

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import INTERPRETED, spread_each

V = np.array([1.0, 2.5, 3.0])
LOG: list = []


def noted(value):
    LOG.append(1)
    return value


SAME = {
    "any": lambda v: any(x > 2 for x in v),
    "any, none": lambda v: any(x > 20 for x in v),
    "all": lambda v: all(x > 2 for x in v),
    "all, yes": lambda v: all(x > 0 for x in v),
    "any over positions": lambda v: any(v[i] > v[i + 1] for i in range(2)),
    "any of a list": lambda v: any([x > 2 for x in v]),
    "any of pairs": lambda v: any(a * b > 8.9 for a in v for b in v),
    "any with a condition": lambda v: any(x > 2.7 for x in v if x < 2.9),
    "all with conditions": lambda v: all(x > 2 for x in v if x > 1 if x < 3),
    "any of enumerate": lambda v: any(x < i + 1 for i, x in enumerate(v)),
    "any of Python": lambda v: any(i > 1 for i in range(3)) and v[0] > 0,
    "any stops": lambda v: any(v[k] > 0 for k in np.argsort(v, kind="stable") * 4),
    "all stops": lambda v: all(v[k] < 0 for k in np.argsort(v, kind="stable") * 4),
    "list": lambda v: [x * 2 for x in v],
    "list of lists": lambda v: [[a * b for a in v] for b in v],
    "list of pairs": lambda v: [a - b for a in v for b in v],
    "list from a generator": lambda v: list(x * 2 for x in v),
    "tuple": lambda v: tuple(x * 2 for x in v),
    "ternary": lambda v: [x if x > 1 else -x for x in v],
    "logic": lambda v: [x > 1 and x < 3 for x in v],
    "chain": lambda v: [1 < x < 3 for x in v],
    "not": lambda v: [not x > 1 for x in v],
    "enumerate": lambda v: [i * x for i, x in enumerate(v)],
    "zip": lambda v: [a * b for a, b in zip(v, v, strict=True)],
    "reversed": lambda v: [x + 1 for x in reversed(v)],
    "dict": lambda v: {i: x for i, x in enumerate(v)},
    "sum": lambda v: sum(x * 2 for x in v),
    "sum of a list": lambda v: sum([x for x in v]),
    "sum with a start": lambda v: sum((x for x in v), 10.0),
    "sum with a condition": lambda v: sum(x for x in v if x > 1),
    "count": lambda v: sum(1 for x in v if x > 1),
    "max": lambda v: max(x * 2 for x in v),
    "min": lambda v: min(-x for x in v),
    "max by key": lambda v: max(v, key=lambda x: -x),
    "min by key": lambda v: min((x for x in v), key=lambda x: (x - 2.6) ** 2),
    "max of unordered": lambda v: max(x for x in v * np.nan),
    "max with a default": lambda v: max((i for i in range(0)), default=7),
    "sorted": lambda v: sorted(-x for x in v),
    "sorted array": lambda v: sorted(-v),
    "sorted, the other way": lambda v: sorted((x for x in v), reverse=True),
    "starred": lambda v: [*v, *(x for x in v)],
    "starred call": lambda v: max(*v),
    "next": lambda v: next(x for x in v),
    "set": lambda v: len(set(1 for x in v)),
    "array": lambda v: np.array([x * 2 for x in v]),
    "rows": lambda v: [r.sum() for r in np.outer(v, v)],
    "a condition of Python": lambda v: [i * v[i] for i in range(3) if i != 1],
    "a helper": lambda v: [helper(x) for x in v],
    "in a loop": lambda v: in_a_loop(v),
}
# Lists whose length the run tells have no machine code.
GROW = {
    "list with a condition": lambda v: [x for x in v if x > 1],
    "list with conditions": lambda v: [x * 2 for x in v if x > 1 if x < 3],
    "list of none": lambda v: [x for x in v if x > 100],
    "list of pairs with a condition": lambda v: [a + b for a in v for b in v if a < b],
    "list from a generator with a condition": lambda v: list(x for x in v if x > 1),
    "max with a condition": lambda v: max(x for x in v if x < 3),
    "length": lambda v: len([x for x in v if x > 1]),
}


def helper(x):
    if x > 2:
        return x * 10
    return x


def in_a_loop(v):
    s = 0.0
    i = 0
    while s < 20:
        s += sum(x for x in v if x > i)
        if any(x > s for x in v):
            s += 1
        i += 1
        if i > 3:
            break
    return s


def plain(value):
    """A result with its scalars as Python's, and arrays as lists."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(plain, value))
    if isinstance(value, str | type(None)):
        return value
    return np.asarray(value).tolist()


@spread_each([(name,) for name in SAME])
def test_it_is_pythons_answer(name, executor):
    with np.errstate(all="ignore"):
        np.testing.assert_equal(plain(al.function(SAME[name], executor=executor)(V)), plain(SAME[name](V)))


@each(product(GROW, INTERPRETED))
def test_it_is_pythons_answer_of_unknown_length(name, executor):
    assert plain(al.function(GROW[name], executor=executor)(V)) == plain(GROW[name](V))


@each([*SAME, *GROW])
def test_converted_but_not_staged_it_is_python(name):
    f = (SAME | GROW)[name]
    np.testing.assert_equal(plain(al.convert(f)(V)), plain(f(V)))


def test_python_values_are_asked_for_only_as_python_asks():
    f = al.convert(lambda xs: (any(noted(x) > 1 for x in xs), all(noted(x) < 2 for x in xs if x != 1)))
    LOG.clear()
    assert f([1, 2, 3, 4]) == (True, False)
    assert len(LOG) == 3


def test_late_binding_stays_pythons():
    def f(v):
        functions = [lambda: x for x in v]
        kept = [x for x in v if x > 1]
        return [g() for g in functions], len(kept)

    made, count = al.function(f)(V)
    assert plain(made) == [3.0, 3.0, 3.0] and int(count) == 2


REFUSED = [
    (
        lambda v: {k: x for k, x in enumerate(np.arange(2000) * v[0])},
        "of 2000 elements would be written out 2000 times",
    ),
    (lambda v: [x for x in v[0]], "'numpy.float64' object is not iterable"),
]
#: of arrays plain Python makes those
REFUSED_OF_TENSORS = [
    (lambda v: {x: 3 for x in al.range(al.cast(v[0], al.int32))}, "cannot run over a tensor whose length only"),
    (lambda v: {x: 3 for x in range(al.cast(v[0], al.int32))}, "cannot run over a range with tensor bounds whose"),
    (lambda v: {x for x in v}, "which of them are equal only the run can tell"),
    (lambda v: {x: 1 for x in v}, "an element of a set, or a key of a dict, is a tensor here"),
    (lambda v: len(set(v)), "which of them are equal only the run can tell"),
]


@each([(f, V, words) for f, words in REFUSED] + [(f, al.constant(V), words) for f, words in REFUSED_OF_TENSORS])
def test_what_the_run_would_have_to_say_is_refused(f, v, words):
    with pytest.raises(TypeError) as caught:
        al.function(f, executor="native")(v)
    assert words in str(caught.value)
    assert caught.traceback[-1].path.samefile(__file__)
