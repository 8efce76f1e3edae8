"""Instances of dataclasses: attributes that are no fields, comparisons, copies, as in plain Python."""

import copy
import dataclasses
import functools
import itertools

import autoloop as al
import numpy as np
import pytest
from each_case import each
from left_to_python import refused_or_plain

INTERPRETED = itertools.cycle(["sequential", "auto", "dataflow"])


@dataclasses.dataclass
class Twice:
    a: object = 1.0
    b: object = 2.0
    unset: object = dataclasses.field(init=False)

    def __post_init__(self):
        self.twice = self.a * 2

    @functools.cached_property
    def heavy(self):
        return self.a * 100


def made(p, x):
    return Twice(x[0]), [{"k": Twice(x)}]


def made_in_a_loop(p, x):
    q, i = Twice(x[0]), 0
    while i < x[1]:
        q = Twice(q.a + 1)
        i += 1
    return q.twice, q


def changed_in_a_loop(p, x):
    q, i = Twice(x[0]), 0
    while i < x[1]:
        q.twice = q.twice + 1
        i += 1
    return q


def born_in_a_branch(p, x):
    q = Twice(x[0])
    if x[1] > 1:
        q = Twice(x[1])
        q.more = 4.0
    else:
        q.more = x[1]
    return q


def read(p, x):
    return p.twice * p.a + x


def written(p, x):
    p.twice = p.twice + 1
    p.born = p.a
    return p


def written_in_a_branch(p, x):
    if x[1] > 1:
        p.twice = p.twice + p.a
    return p, p.twice


def replaced(p, x):
    return dataclasses.replace(p, a=x[0])


def cached(p, x):
    return p.heavy + x


@dataclasses.dataclass(order=True)
class Ordered:
    a: object
    b: object = 0
    name: str = dataclasses.field(default="", compare=False)

    def __post_init__(self):
        if self.a > 1.5:
            self.b = self.b + 1

    def __copy__(self):
        return Ordered(self.a * 2 if self.a > 1 else self.a, self.b)


@functools.total_ordering
class Total:
    def __init__(self, a):
        self.a = a

    def __eq__(self, other):
        return self.a == other.a

    def __lt__(self, other):
        return self.a < other.a


def compared(p, x):
    q, r, found = Ordered(x[0], 1.0), Ordered(x[1], 1.0, "r"), 0
    if q == r:
        found += 1
    if q < r:
        found += 2
    if q >= Ordered(x[0], 1.0, "q"):
        found += 4
    return found, q != r, q <= r, q == p, [q == one for one in (r, q)], r in [q]


def totally_ordered(p, x):
    q, r, found = Total(x[0]), Total(x[1]), 0
    if q <= r:
        found += 1
    if q > r:
        found += 2
    return found, q >= r, q != r


def changed_by_a_branch(p, x):
    q = Ordered(x[1], 1.0)
    return dataclasses.replace(q, a=x[0] + x[1]), copy.copy(q), copy.deepcopy(q)


def described(value):
    if dataclasses.is_dataclass(value):
        return type(value).__name__, {name: described(one) for name, one in vars(value).items()}
    if isinstance(value, (list, tuple)):
        return [described(one) for one in value]
    if isinstance(value, dict):
        return {name: described(one) for name, one in value.items()}
    return type(value).__name__, np.asarray(value).tolist()


@each(
    [
        made, made_in_a_loop, changed_in_a_loop, born_in_a_branch, read, written, written_in_a_branch, replaced, cached,
        compared, totally_ordered, changed_by_a_branch,
    ]
)  # fmt: skip
def test_instances_of_dataclasses(f):
    decorated = al.function(f, executor=next(INTERPRETED))
    plain = Twice(np.float64(1.5))
    given = copy.deepcopy(plain)
    for number in (2.0, 0.0, 2.0):
        x = np.array([1.0, number])
        assert described(decorated(given, x)) == described(f(plain, x))
        assert described(given) == described(plain)


def test_generated_methods_are_called_what_the_user_calls_them():
    words = r"'__gt__' of 'Ordered', which is generated .* write it out in the class, .* \(test_dataclasses.py:"
    refused_or_plain(lambda x: max([Ordered(v, 1.0) for v in x]).a, words, np.arange(3.0))
    words = r"text is made of a value .* \(test_dataclasses.py:"
    refused_or_plain(lambda x: max([Ordered(v) for v in x], key=lambda p: p.a).a, words, np.arange(3.0))


def test_a_function_that_a_text_defines_is_called_by_its_name():
    known = {}
    exec("def chosen(x):\n    return 1 if x[0] > 1 else 2", known)
    with pytest.warns(UserWarning) as told:
        assert al.function(known["chosen"])(np.arange(2.0)) == 2
    assert ["no source text for 'chosen'" in str(one.message) for one in told] == [True]


@dataclasses.dataclass
class Told:
    """Fields that are properties: what they give lies elsewhere, and who sets one is told."""

    rate: object
    source: object
    _source: object = dataclasses.field(init=False, repr=False, default=None)

    def __init__(self, rate, source):
        self.told = []
        self.rate, self._source = rate, source

    @property
    def rate(self):
        return self._rate

    @rate.setter
    def rate(self, value):
        self.told.append(type(value).__name__)
        self._rate = value

    @property
    def source(self):
        return self._source


def drawn_and_set(told, x):
    for _ in range(3):
        if x.sum() > 2:
            told.rate = told.rate + told.source.normal()
    return x * told.rate


@each(["auto", "sequential", "dataflow"])
def test_fields_that_are_properties(executor):
    f = al.function(drawn_and_set, executor=executor)
    ours, theirs = (Told(np.float64(1.5), np.random.default_rng(0)) for _ in range(2))
    for k in range(3):
        x = np.full(3, k / 1.0)
        assert np.array_equal(f(ours, x), drawn_and_set(theirs, x))
        assert (ours.rate, ours.told) == (theirs.rate, theirs.told)
        assert ours.source.bit_generator.state == theirs.source.bit_generator.state
