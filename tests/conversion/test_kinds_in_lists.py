"""Growing lists whose elements are numbers of several types: each is what plain Python leaves."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import EXECUTORS
from left_to_python import refused_or_plain
from short_bodies import differences, made

X = np.array([1.0, 2.0, 3.0, 4.0])
_COLLECT = (
    "o = [0]\nfor v in x:\n    if v > 2:\n        o.append(v)\n    elif v > 1:\n        o.append(2.5)\n"
    "    else:\n        o.append(True)\n"
)
# Bodies of functions of ``x``.
WHILE = "i = 0\nwhile x[i] < 3:\n    "
COLLECTED = [
    f"o = [True]\n{WHILE}o.append(2); i += 1\nreturn o",
    f"o = [np.float32(3)]\n{WHILE}o.append(1); i += 1\nreturn o",
    f"o = [1]\n{WHILE}o.append(2.5); i += 1\nreturn o, o[0], o[-1]",
    f"o = []\n{WHILE}o.append(1 if x[i] < 2 else 2.5); i += 1\nreturn o",
    f"o = []\n{WHILE}o.append(1); o.append(x[i]); o.append(np.float32(i)); i += 1\nreturn o",
    f"o = [1, 2]\n{WHILE}o[0] = 2.5; o.append(i); i += 1\nreturn o",
    f"o = [x[0]]\n{WHILE}o.append(1j); i += 1\nreturn o",
    f"o = [[1, 2.5]]\n{WHILE}o.append([i, True]); i += 1\nreturn o",
    f"o = []\n{WHILE}o.append(np.asarray(x[i])); o.append(x[i]); i += 1\nreturn o",
    f"d = {{'a': [1]}}\n{WHILE}d['a'].append(x[i]); i += 1\nreturn d",
    "o = [1]\nwhile o[-1] < x[2]:\n    o.append(o[-1] * 1.5)\nreturn o",
    "o = [0]\nwhile len(o) < x[3]:\n    o.append(o[-1] + 1)\no.append(2.5)\nreturn o",
    "o = []\nfor v in x:\n    if v > 2:\n        o.append(v > 3)\n    else:\n        o.append(False)\nreturn o",
    "o = [1]\nif x[0] > 1:\n    o.append(2.5)\nreturn o",
    "o = [1]\nfor v in x:\n    if v > 1:\n        o = [v]\n    else:\n        o.append(True)\nreturn o",
    "y = 0.1 if x[0] > 1 else np.float32(2)\nreturn y",
]
READ = [
    "return o, o[1], o[2] * 2, len(o), o[1:]",
    "return sum(o), sum(o, 0.5), any(o), all(o), 2.5 in o, 17 in o",
    "return max(o), min(o)",
    "s = 0\nfor v in o:\n    s += v\nreturn s, [2 * v for v in o], [v for v in o if v > 1]",
    "return np.array(o, dtype=float), np.asarray(o, np.float32), np.array(o, 'f4')",
    "o[0] = 1j; o.pop(); o.insert(1, np.float32(7)); o.reverse()\nreturn o, o[1], o[-1]",
    "p = [3j]\nfor v in x:\n    p.append(v)\nreturn o + p",
    "return f'{o}', str(o), repr(o)",
    "print(o)\nreturn 0",
]
# What NumPy makes an array of another dtype of in some runs.
ARRAYS = [
    ("return np.array(o)", _COLLECT),
    ("return np.sum(o), np.mean(o)", _COLLECT),
    ("return np.array(o)", "o = [0]\nfor i in range(3):\n    if x[i] > 1:\n        o.append(o[-1] + x[i])\n"),
    ("return np.array(o)", "o = []\nfor v in x:\n    if v > 2:\n        o.append(1)\n"),
]


ARGUMENTS = [(X,), (X[::-1].copy(),), (X - 9,)]


def test_elements_keep_their_types():
    assert differences(COLLECTED, ARGUMENTS, EXECUTORS, "x") == []


def test_what_is_read_of_them():
    assert differences([_COLLECT + body for body in READ], ARGUMENTS, EXECUTORS, "x") == []


def test_arrays_of_them_have_numpys_dtype_or_are_refused():
    for body, collected in ARRAYS:
        assert differences([collected + body], [(X,), (X - 9,)], ["auto", "sequential", "dataflow"], "x") == []
        for effect in ("print(1)\n", "x[0] = x[0] + 0\n"):  # that must not be done twice
            with pytest.raises(TypeError, match="NumPy makes an array of another dtype than .* in this run"):
                al.function(made(effect + collected + body, "x"))(X - 9)


@each(["auto", "sequential", "dataflow"])  # of native the graph was asked for
def test_what_was_drawn_before_is_drawn_again_by_plain_python(executor):
    bodies = [
        "m = g.normal()\nreturn np.array([x * m * k for k in range(4) if x[k] > n]), g.random()",
        "m = g.permutation(4)\nreturn np.array([k for k in range(4) if x[k] > n]), m",
        "x = x * 1\ng.shuffle(x)\nfor k in range(4): x = x + g.normal()\nreturn np.array([x for k in x if k > n])",
    ]
    for body in bodies:
        for make in (np.random.default_rng, np.random.RandomState):
            f = made(body.replace("random()", "normal()"), "g, x, n")
            decorated = al.function(f, executor=executor)
            mine, theirs = make(3), make(3)
            for n in (1.5, 99.0, 2.5, 99.0, 99.0):
                np.testing.assert_equal(decorated(mine, X, n), f(theirs, X, n))
            assert mine.normal() == theirs.normal()


_FEW = "o = []\nfor v in x:\n    if v > 2:\n        o.append({})\nreturn "
_OF_FEW = [
    "np.stack(o)", "np.stack(o, axis=-1)", "np.concatenate(o)", "np.array(o)", "np.asarray(o, np.float32)",
    "np.sum(o, axis=0)", "np.max(o)", "np.add(o, 1), np.sqrt(o)", "np.shape(o), np.size(o)", "np.array(o).T",
    "np.shape(x[x > 2]), np.size(x[x > 2])", "np.shape([x[x > 2]] * 2), np.size((x[x > 2], x[x > 2]))",
]  # fmt: skip


@each(["x * v", "v", "1"])
def test_functions_of_lists_that_may_be_empty(element):
    bodies = [_FEW.format(element) + one for one in _OF_FEW]
    assert differences(bodies, [(X,), (X - 9,)], ["auto", "sequential", "dataflow"], "x") == []


def test_a_list_that_is_empty_in_some_calls():
    f = made(_FEW.format("x * v") + "np.array(o)", "x")
    decorated, slope = al.function(f), al.grad(al.function(made(_FEW.format("x * v") + "np.sum(np.array(o))", "x")))
    for x in (X, X, X, X - 9, X, X - 9, X - 9, X):
        assert decorated(x).shape == f(x).shape
        if len(f(x)):
            assert slope(x).shape == x.shape
            continue
        with pytest.raises(TypeError, match="NumPy makes an array of another shape than .* in this run"):
            slope(x)


@each([
    ("return sorted(o)", r"sorted\(\.\.\.\) of the list 'o', .* needs numbers of one type"),
    ("return max(o, default=0)", r"max\(\.\.\., default=\.\.\.\) of the list 'o', .* needs numbers of one type"),
    ("p = [o]\nfor v in x:\n    p.append(o)\nreturn p", "holds numbers of several types and is put into another list"),
    ("o = ['a']\nif x[0] < 9:\n    o.append(7)\n    o.append('f')\nreturn o", "append texts to one, and numbers to"),
    ("o.append('a')\nfor v in x: o.append(v)\nreturn o", "append texts to one, and numbers to another"),
    ("o = []\nfor v in x:\n    o.append(v)\n    o.append(x)\nreturn o", "must have one shape in a loop on tensors"),
])  # fmt: skip
def test_what_needs_one_type_is_refused(body, words):
    refused_or_plain(made(_COLLECT + body, "x"), words, X)


def test_ints_that_no_float_is_equal_to_are_for_plain_python():
    body = "o = [0]\nwhile len(o) < x[3]:\n    o.append(2**53 + len(o))\no.append(2.5)\nreturn o"
    f = made(body, "x")
    assert al.function(f)(X) == f(X)
    with pytest.raises(OverflowError, match="an int too large for a list of floats"):
        al.function(f).get_concrete_function(X)(X)


def test_of_one_array_in_a_list_nothing_is_compared():
    f = made("return max([x * k for k in range(4) if x[k] > x[3] - 1])", "x")
    refused_or_plain(f, r"max\(\) of arrays, of which only the run knows how many", np.arange(4.0))


def stacked(x):
    rows = []
    for k in range(len(x)):
        if x[k] > 100:
            rows.append(x)
    return np.stack(rows)


def joined(x):
    rows = []
    for k in range(len(x)):
        if x[k] > 100:
            rows.append(x)
    return np.concatenate(rows)


EMPTY = [(stacked, "need at least one array to stack"), (joined, "need at least one array to concatenate")]


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_list_that_stays_empty_raises_what_numpy_raises_of_none(executor):
    for f, words in EMPTY[: 1 if executor == "native" else None]:  # machine code joins no list of unknown length
        decorated = al.function(f, executor=executor)
        with pytest.raises(ValueError, match=words):
            decorated(np.array([1.0, 2.0]))
        np.testing.assert_array_equal(decorated(np.array([1.0, 200.0])), f(np.array([1.0, 200.0])))


def begun_with_another(x):
    kept, i = [np.array([1])], 0
    while i < x.sum():
        kept.append(np.array([1.5]))
        i += 4
    return kept


def another_at_each_turn(x):
    one, kept, i = np.array([1]), [], 0
    while i < x.sum():
        kept.append(one)
        one, i = one * 1.5, i + 4
    return kept, one


def of_two_lists(x):
    kept, more, i = [], [], 0
    while i < x.sum():
        kept.append(np.array([1]) + i)
        more.append(np.array([1.5]) + i)
        i += 4
    longer = kept + more
    kept.extend(more)
    return longer, kept


def of_a_dict(x):
    kept, i = {"a": [(1, np.array([True]))]}, 0
    while i < x.sum():
        kept["a"].append((2, x))
        i += 4
    return kept


@pytest.mark.filterwarnings("ignore:.*runs as plain Python")
@pytest.mark.parametrize("program", (begun_with_another, another_at_each_turn, of_two_lists, of_a_dict))
def test_arrays_of_several_dtypes_keep_theirs(program):
    function = al.function(program)
    assert [repr(function(X)), repr(function(X))] == [repr(program(X))] * 2


def test_tensors_of_several_dtypes_are_refused():
    with pytest.raises(TypeError, match="of dtype float64: the value for .* has dtype int64; use cast"):
        al.function(begun_with_another)(al.asarray(X))
