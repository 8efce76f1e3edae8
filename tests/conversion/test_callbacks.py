"""Named functions, handed to a function that calls them, are converted as those are that are called by name."""

from __future__ import annotations

import functools
import warnings
from itertools import product

import autoloop as al
import numpy as np
import pytest
from autoloop.compat import v1
from each_case import each
from executors import needs_native

EXECUTORS = ("auto", "dataflow", "sequential")
X = np.float32([1, -2, 3])


def size(x):
    if x > 0:
        return x
    return -x


def larger(a, x):
    if x > a:
        return x
    return a


def goes_on(i, x):
    if x > 20:
        return False
    return i < 5


def step(i, x):
    if i % 2 == 0:
        x = x + 1
    else:
        x = x * 3
    return i + 1, x


def one_way():
    if al.constant(2.0) > 1:
        return al.constant(1.0)
    return al.constant(0.0)


class Size:
    def of(self, x):
        return size(x)

    @staticmethod
    def static(x):
        if x > 0:
            return x
        return -x

    def __call__(self, x):
        if x > 0:
            return x
        return -x


CALLS = {
    "map_fn": (lambda x: al.map_fn(size, x), np.abs(X)),
    "map_fn, by keyword": (lambda x: al.map_fn(elems=x, fn=size), np.abs(X)),
    "map_fn of a method": (lambda x: al.map_fn(Size().of, x), np.abs(X)),
    "map_fn of a static method": (lambda x: al.map_fn(Size.static, x), np.abs(X)),
    "map_fn of an object": (lambda x: al.map_fn(Size(), x), np.abs(X)),
    "map_fn of a partial": (lambda x: al.map_fn(functools.partial(larger, 2.0), x), np.float32([2, 2, 3])),
    "vectorized_map": (lambda x: al.vectorized_map(size, x), np.abs(X)),
    "scan": (lambda x: al.scan(larger, x), np.float32([1, 1, 3])),
    "foldl": (lambda x: al.foldl(larger, x), 3),
    "foldr": (lambda x: al.foldr(larger, x, 4.0), 4),
    "while_loop": (lambda x: al.while_loop(goes_on, step, [0, x[0]])[1], 21),
    "while_loop, by keyword": (lambda x: al.while_loop(body=step, cond=goes_on, loop_vars=[0, x[0]])[1], 21),
    "cond": (lambda x: al.cond(x[0] > 0, one_way, false_fn=one_way), 1),
    "case": (lambda x: al.case([(x[0] > 5, one_way)], default=one_way), 1),
    "switch_case": (lambda x: al.switch_case(al.constant(1), {0: one_way, 1: one_way}), 1),
    "map_structure": (lambda x: al.nest.map_structure(size, [x[0], x[1]])[1], 2),
    "1.x map_fn": (lambda x: v1.map_fn(size, x), np.abs(X)),
    "1.x while_loop": (lambda x: v1.while_loop(goes_on, step, [0, x[0]])[1], 21),
    "functools.reduce": (lambda x: functools.reduce(larger, [x[0], x[1], x[2]]), 3),
}


@each(product(CALLS, EXECUTORS))
def test_named_functions_are_converted_where_they_are_handed_on(call, executor):
    f, expected = CALLS[call]
    np.testing.assert_array_equal(al.function(f, executor=executor)(al.constant(X)), expected)


def test_outside_of_conversion_nothing_changes():
    np.testing.assert_array_equal(al.map_fn(lambda x: al.where(x > 0, x, -x), al.constant(X)), np.abs(X))
    with pytest.raises(TypeError, match="symbolic"):
        al.map_fn(size, al.constant(X))


def test_what_is_not_to_be_converted_is_handed_on_as_it_is():
    seen = []

    @al.do_not_convert
    def plain(x):
        seen.append(type(x).__name__)
        return x * 2

    @al.function
    def f(x):
        return al.map_fn(plain, x), al.map_fn(al.abs, x), al.map_fn(g, x)

    @al.function
    def g(x):
        return -x

    doubled, positive, negative = f(al.constant(X))
    np.testing.assert_array_equal([doubled, positive, negative], [X * 2, np.abs(X), -X])
    assert seen == ["Tensor"]
    assert al.do_not_convert(len) is len and al.do_not_convert(np.exp) is np.exp  # nothing is to be marked


def elements_of_two_types(x):
    return np.vectorize(lambda v: 1 if v > 2 else 0.5)(x)


def rows_of_two_types(x):
    return np.apply_along_axis(lambda v: 1 if v[0] > 2 else 0.5, 1, x[:, None])


@pytest.mark.parametrize("x", [np.array([1.5, 3.0]), np.array([3.0, 1.5])])
@pytest.mark.parametrize("f", [elements_of_two_types, rows_of_two_types])
def test_the_first_result_decides_the_dtype_of_all(f, x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # plain Python runs it
        made = al.function(f)(x)
    assert made.dtype == f(x).dtype
    np.testing.assert_array_equal(made, f(x))


@needs_native
@pytest.mark.parametrize("f", [elements_of_two_types, rows_of_two_types])
def test_machine_code_is_refused_where_the_first_result_decides_the_dtype(f):
    with pytest.raises(TypeError, match="has a type that only the run knows, which is that of all"):
        al.function(f, executor="native")(np.array([1.5, 3.0]))
