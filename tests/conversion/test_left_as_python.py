"""What conversion leaves as Python on purpose: it works there, and a tensor that decides gets advice."""

from __future__ import annotations

import collections
import contextlib
import functools
import math
import re
import statistics
import warnings

import autoloop as al
import numpy as np
import pytest

X = np.array([1, 5, 3])

# -- it stays as it is ---------------------------------------------------------------------------------------


def comprehensions(n):
    squares = [i * i + n for i in range(4) if i != 2]
    return squares, {i: i * n for i in range(3)}, len({i for i in range(3)}), sum(i * n for i in range(4))


def match_on_python_values(n):
    total = n
    for command in ["up", ("by", 3), {"set": 7}, [1, 2, 3], None]:
        match command:
            case "up":
                total += 1
            case ("by", step):
                total += step
            case {"set": value, **rest} if not rest:
                total += value
            case [first, *more]:
                total += first + len(more)
            case _:
                total *= 2
    return total


def with_statements(n):
    i = 0
    while i < n:
        with contextlib.nullcontext(2) as step, contextlib.nullcontext():
            i += step
    return i


def deletions(n):
    d = {"a": 1, "b": 2}
    while n > 0:
        step = 1
        n -= step
        del step
    del d["a"]
    return n, d


def imports(n):
    i = 0
    while i < n:
        from math import floor as down

        i += math.floor(1.5) + down(1.2)
    return i


def class_definitions(n):
    i = 0
    while i < n:

        class Step:
            size = 2

            def __call__(self, i):
                return i + self.size

        i = Step()(i)
    return i


def generators(n):
    def steps():
        for i in range(3):
            if i != 1:
                yield i * n

    s = 0
    for step in steps():
        s += step
    return s, [one + 1 for one in steps()], next(steps())


def except_groups(n):
    s = 0
    for i in range(3):
        try:
            if i == 1:
                raise ExceptionGroup("g", [ValueError(i)])
            s += n
        except* ValueError as group:
            s += len(group.exceptions)
    return s


def visible_names(n):
    for i in range(2):
        m = n + i
        names = sorted(locals())
    return names, m


@pytest.mark.parametrize(
    "function",
    [
        comprehensions,
        match_on_python_values,
        with_statements,
        deletions,
        imports,
        class_definitions,
        generators,
        except_groups,
        visible_names,
    ],
)
def test_works_with_tensors_inside(function):
    result, structure = al.nest.flatten(al.function(function)(al.constant(3))), function(3)
    assert [one.numpy() if hasattr(one, "numpy") else one for one in result] == al.nest.flatten(structure)


# -- a tensor that decides gets advice -------------------------------------------------------------------------


def set_with_a_condition(x):
    return {i for i in range(5) if i < x[0]}


def list_with_a_walrus(x):
    return [y for i in range(5) if (y := i + 1) < x[0]]


def generator_expression(x):
    return next(i for i in range(5) if i > x[0] if locals())


def matched(x):
    match ((x[0], 1), 2):
        case ((3, y) | (y, 3), 2):
            return y
    return 2


def loop_around_a_group(x):
    i = 0
    while i < x[0]:
        try:
            i += 1
        except* ValueError:
            i += 2
    return i


def branch_with_locals(x):
    if x[0] > 2:
        return len(locals())
    return 2


def jump_out_of_finally(x):
    i = 0
    while i < x[0]:
        with contextlib.suppress(KeyError):
            i += 1
        if i > 1:
            return i
        try:
            i += 1
        finally:
            if i > 5:
                x = x + 1
    return i


def two_jumps_and_a_finally(x):
    try:
        return x[0]
    finally:
        if x[0] > 2:
            return x[1]


def generator(x):
    def count():
        i = 0
        while i < x[0]:
            yield i
            i += 1

    s = 0
    for one in count():
        s += one
    return s


def expression_with_locals(x):
    return x[0] > 0 and locals()


def walrus_in_and(x):
    return {"a": x[0] > 5 and (y := x[0]) > 6 and y}


def larger(a, b):
    if a > b:
        return a
    return b


def a_librarys_own_code(x):
    return statistics.fmean([x[0], x[1]])


def called_by_a_library(x):
    return collections.defaultdict(functools.partial(larger, x[0], x[1]))["k"]


ADVICE = [
    (set_with_a_condition, "The condition of a set or dict comprehension, and of one that sets a name by `:=`, stays"),
    (list_with_a_walrus, "The condition of a set or dict comprehension, and of one that sets a name by `:=`, stays"),
    (
        generator_expression,
        "The condition of a generator expression that looks at its variables, or stands in a comprehension",
    ),
    (matched, "A `match` whose patterns have alternatives inside"),
    (loop_around_a_group, "This `while` loop stays Python, because it holds `except*`: move that to a function"),
    (branch_with_locals, "This `if` stays Python, because it holds `locals()`"),
    (expression_with_locals, "This expression stays Python: it holds `locals()`"),
    (walrus_in_and, "An expression that sets a name by `:=` in a part that may be left out stays Python"),
    (two_jumps_and_a_finally, "stays Python: put the jumps behind the `try` statement"),
    (generator, "A generator stays Python: let 'count' return a list"),
    (
        a_librarys_own_code,
        "'statistics.fmean' is a library's own code, which is not converted",
    ),
    (called_by_a_library, "'larger' is not converted, because converted code did not call it itself"),
]


@pytest.mark.parametrize(("function", "advice"), ADVICE, ids=[function.__name__ for function, _ in ADVICE])
def test_advice(function, advice):
    with pytest.raises(TypeError) as caught:
        al.function(function)(al.constant(X))
    assert advice in str(caught.value)
    assert "is symbolic" in str(caught.value) and "Decorate" not in str(caught.value)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda x: np.poly1d(x)(2.0), "use np.polyval(coefficients, x)"),
        (lambda x: np.polyval(np.poly1d([1.0, 2.0]), x), "give its coefficients, p.coeffs"),
        (lambda x: np.polynomial.Polynomial(x), "np.polyval(coefficients[::-1], x)"),
        (lambda x: np.lib.stride_tricks.as_strided(x, (2,), (8,)), "use slices, np.reshape or"),
        (lambda x: np.ma.masked * x, "np.where(mask, fill, x)"),
        (lambda x: np.asmatrix(x), "use an array of two axes"),
        (lambda x: np.bmat([[x], [x * 2]]), "np.bmat on tensors"),
        (lambda x: np.bmat(x), "use np.block, an array of two axes"),
        (lambda x: np.rec.array([x, x]), "use an array for each field"),
        (lambda x: np.testing.assert_allclose(x, x), "write `assert np.allclose(x, y)`"),
    ],
)
def test_what_to_write_in_place_of_numpys_own_classes(f, words):
    with pytest.raises(TypeError) as caught:
        al.function(f, executor="native")(X)
    assert words in str(caught.value)
    with pytest.warns(UserWarning, match=f"runs as plain Python, .*{re.escape(words)}"):
        np.testing.assert_array_equal(al.function(f)(X), f(X))


def test_a_finally_without_a_jump_is_no_obstacle():
    assert int(al.function(jump_out_of_finally)(X)) == jump_out_of_finally(X)


def test_what_our_own_functions_make_graphs_of_plain_python_cannot_run_either():
    x = np.array([[1.0, 0, -2], [1, 0, -1]])
    for f in (
        lambda x: al.map_fn(lambda r: np.roots(r), x),
        lambda x: al.cond(x[0, 0] > 0, lambda: np.roots(x[0]), lambda: x[0]),
    ):
        with warnings.catch_warnings(), pytest.raises(TypeError, match="^numpy.roots needs coefficients that are"):
            warnings.simplefilter("error")
            al.function(f)(x)
    each = al.function(lambda x: al.nest.map_structure(lambda r: np.roots(r), [x[0]]))  # which only calls it
    with pytest.warns(UserWarning, match="plain Python, at each call: numpy.roots needs"):
        assert np.allclose(each(x)[0], np.roots(x[0]))


def test_who_asks_for_the_graph_alone_is_not_told_of_plain_python():
    f, x = al.function(lambda x: np.roots(x)), np.array([1.0, 0, -2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(TypeError, match="has no graph: numpy.roots needs coefficients"):
            f.get_concrete_function(x)
        assert "numpy.roots needs coefficients" in str(al.explain(f, x))
    with pytest.warns(UserWarning, match="plain Python, at each call: numpy.roots needs"):
        f(x)


def test_a_number_that_is_an_array_before_a_loop_is_plain_pythons():
    def f(x, n, p=None):
        p, k = x * 2, 0
        while k < n and x[0] < 1:
            p, k = 2, k + 1
        return p

    for x in (np.zeros(3), np.ones(3)):
        with pytest.warns(UserWarning, match="loop variable 'p' has shape"):
            found = al.function(f)(x, np.int64(2))
        assert type(found) is type(f(x, 2)) and np.array_equal(found, f(x, 2))
    with pytest.raises(ValueError, match="loop variable 'p' has shape"):
        al.function(f)(al.constant(np.zeros(3)), np.int64(2))


def test_what_may_be_a_scalar_or_an_array_is_not_changed_in_place():
    def program(s, a, n):
        for _ in range(n):
            s -= a
            a = np.ones(1)
        return s

    def anew(s, a, n):
        for _ in range(n):
            s = s - a
            a = np.ones(1)
        return s

    s = np.float64(3)
    words = "only the run tells whether this is a scalar, for which an augmented"
    with pytest.warns(UserWarning, match=words):
        assert al.function(program)(s, s, np.int64(2)).tolist() == [-1.0]
    assert program(s, s, 2).tolist() == al.function(anew)(s, s, np.int64(2)).tolist() == [-1.0]


class Weights:
    w = np.ones(3)


ORDER = {"s": 0.5, "n": 1}
U = np.zeros(3)


def add(array, v):
    array += v


def in_place_beside_what_only_plain_python_does(x):
    if U[0] < 2:
        del ORDER["s"]
        ORDER["s"] = 1.5
        add(Weights.w, x)


def test_an_array_that_a_trace_takes_as_a_constant_is_not_changed_for_nobody():
    decorated = al.function(in_place_beside_what_only_plain_python_does)
    with pytest.warns(UserWarning, match="stand in another order"):
        decorated(np.ones(3))
    decorated(np.ones(3))
    assert Weights.w.tolist() == [3, 3, 3] and [*ORDER] == ["n", "s"]


def test_an_array_in_a_partial_is_changed_in_place_at_each_call():
    given = np.ones(3)
    held = functools.partial(np.asarray, given)

    def f(x):
        array = held()
        array += x
        return array

    decorated = al.function(f)
    for k in range(3):
        assert decorated(np.ones(3)) is given
        assert given.tolist() == [2 + k] * 3
