"""Items of lists, tuples, ranges, text and dicts that only the run can choose."""

from __future__ import annotations

import re
from typing import Any

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import EXECUTORS, INTERPRETED, needs_native
from left_to_python import refused_or_plain
from written_out import differences, failures, outcome, program

K = {"k": np.array([2, -3, 1]), "y": np.array([2.0, 0.5])}
#: computed in all executors
ITEMS = [
    "range(10)[k[0]]", "range(3, 30, 4)[k[1]]", "range(9, 0, -2)[int(k[0])]", "range(k[0])[-1]", "range(k[0])[k[2]]",
    "range(k[0], 10, 3)[k[2]]", "tuple(range(2))[k[2]]", "[1, 2, 3][k[0]]", "(1.5, 2.5, 3.5)[k[1]]",
    "[[1, 2], [3, 4], [5, 6]][k[0]]", "[np.zeros(2), np.ones(2)][k[2]]", "b'abc'[k[0]]", "k.tolist()[k[0]]",
    "list(y)[k[2]]", "{0: 1, 1: 2, 2: 3}[k[0]]", "{2.0: 1.5, 1: 2.5}[k[0]]", "{'a': 0, 2: 7, None: 1}[int(k[0])]",
    "{0: (1, 2.5), 2: (3, 4.5)}[y[0]]", "{0: 1, 2: 3}.get(k[0])", "{0: 1, 2: 3}.get(k[1], 7)", "{}.get(k[0], 1)",
    "[5, 2, 7, 2].index(k[0])", "(1, 2.0, 3).index(y[0])", "range(10).index(k[0])", "range(k[0]).index(1)",
    "[5, 2, 7, 2].count(k[0])", "(1, 2).count(y[1])", "range(5).count(k[0])", "range(k[0]).count(5)", "[].count(k[0])",
    "[k[1], k[0]].index(2)", "[k[0], k[0], 2].count(k[0])", "len(range(k[0], 20, 3))", "len(range(k[0]))",
    "k[0] in range(10)", "k[0] in range(int(k[0]))", "1 in range(k[0])", "y[1] in range(5)", "k[0] in {1: 2}",
    "range(k[0]).start", "range(k[0]).stop", "range(1, k[0], 2).step", "range(k[0]) == range(2)",
    "range(k[0])[1:][0]", "len(range(5, k[0], -1)[::2])", "range(9, k[0], -2)[-2:].stop", "1 in range(k[0])[::-1]",
    "range(k[0])[::-1] == range(1, -1, -1)", "range(k[0], 20, 3)[:-2:2].index(8)", "range(k[0], 9)[k[2]:].start",
    "range(k[0]) == range(1)", "range(k[0], 9, 3) == range(2, 10, 3)", "range(k[0]) == [0, 1]",
]  # fmt: skip
#: those of other lengths or text
TEXTS = [
    "['a', 'b', 'c'][k[0]]", "('x', 'yy', 'z')[k[1]]", "'abc'[k[0]]", "'abc'[k[1]]", "{0: 'no', 2: 'yes'}[k[0]]",
    "[1, 2.5, 3][k[0]]", "[1, 2.5, True][k[2]]", "(1, np.float32(2.5))[k[2]]", "{0: 1.5, 2: 3}[k[0]] + 1",
    "[[1, 2.0], [2.5, 3]][k[2]]", "f\"{'abc'[k[2]]}!\"", "sorted(range(k[0]))", "sorted(k[k > 0])", "sorted(y[y > 5])",
    "len(sorted(k[k > 0]))", *[f"list(range(k[0], 20, 3)[{part}])" for part in (
        "1:", ":2", "::-1", "-2:", ":-9", "9:", "-9:3", "3:1", "4::-2", "-1:0:-3", ":k[0]", "k[1]:", "k[1]::-1",
    )], "[k[k > 0], k[:0], k][k[0]]", "[k[k > 0], k[k < 0], k][k[1]]", "(y, y[:1], y[0])[k[2]]",
    "{1: k[k > 0], 2: k[k < 0]}[k[0]]", "[(y, y[y > 1]), (y, y), (y, y * 2)][k[0]][1]",
    "[y[0], 0.0, 1].index(max([y[0], 0.0]))", "[1, 2, 3].count(max([y[0], 0.0]))", "max([y[0], 0]) in [y[0], 3]",
    "([max([y[0], 0.0]), 1] == [y[0], 1], (max([y[0], 0]), 1) != (2, 1), [max([y[0], 0])] < [y[1]])",
]  # fmt: skip


@each(EXECUTORS)
def test_items(executor):
    assert not differences([*ITEMS, *(TEXTS if executor in INTERPRETED else [])], executor, K)


@each(EXECUTORS)
def test_what_is_not_there(executor):
    texts = ["range(2)[k[0]]", "range(k[0])[5]", "range(k[0])[-3]", "[1, 2][k[0]]", "{0: 1}[k[0]]", "{}[k[0]]"]
    texts += ["[1, 2].index(k[1])", "(1, 2).index(y[1])", "range(5).index(k[1])", "range(k[0]).index(7)"]
    texts += ["[].index(k[0])", "[1, 2, 3][y[0]]", "(1, 2, 3)[k > 0]", "range(3)[y[0]]", "'abc'[k[0] > 1]"]
    texts += ["list(range(k[0])[1.5:])", "list(range(k[0])[y[0]:])", "range(k[0])[::0]"]
    assert not failures(texts, executor, K)
    if executor in INTERPRETED:
        assert not failures(
            ["'abc'[k[0] + 5]", "['a', 'b'][k[0]]", "[k[k > 0], k][k[0]]", "(y, k[:1] * 1.5)[k[1]]"], executor, K
        )


def test_the_messages_are_pythons():
    for text, message in [
        ("range(2)[k[0]]", "range object index out of range"), ("[1].index(k[1])", "not in list"),
        ("(1, 2).index(k[1])", "not in tuple"), ("range(k[0]).index(7)", "7 is not in range"),
        ("for _ in range(k[0]): range(k[0]).index(7)\nreturn k", "the number is not in range"),
        ("[k[0]].index(7)", "7 is not in list"),
        ("{0: 1}[k[0]]", "np.int64(2)"), ("{0: 1}[int(k[0])]", "2"), ("'abc'[k[0] + 5]", "string index out of range"),
    ]:  # fmt: skip
        assert message in str(outcome(al.function(program(text, ["k"])), K["k"])), text


@pytest.mark.parametrize("executor", INTERPRETED)
def test_what_a_list_does_not_have_is_named_with_its_elements_as_the_run_knows_them(executor: Any) -> None:
    """Messages named the stand-ins of the trace, and a text was asked for an item of it."""
    for item in ("[y[1]]", "[y[:1]]", "(y[1], 1, k[:2])", "{'a': [k[0]]}", "f'{k[0]}'", "[1 if y[1] > 0 else 1.5, n]"):
        lines = f"n = 0\nwhile n < k[0]:\n    n = n + 1 + [[9], [2, 1]].index({item})\nreturn n"
        f = program(lines, ["k", "y"])
        g = al.function(f, executor=executor)
        for y in (np.array([1.5]), np.array([2.5])):
            given = K["k"], np.append(y, y * 2)
            told = [(type(made), str(made)) for made in (outcome(one, *given) for one in (f, g, g))]
            assert told[1] == told[2] == told[0], item


def test_parts_and_places_of_lists_are_for_plain_python():
    for text, message in [
        ("[[1, 2], [3]][k[0]]", "a tensor cannot choose an element of this list: its elements must be text, or"),
        ("[np.sin, np.cos][k[2]](k)", "a tensor cannot choose an element of this list: its elements must be text, or"),
        ("[k, k * 1.5][k[2]]", "must return the same dtypes"),
        ("k if k[0] > 1 else k * 1.5", "must return the same dtypes"),
        ("[1, 2, 3][:k[0]]", "a part of a list at a place that only the run knows: take it of"),
        ("'abc'[k[2]:]", "np.array(...)[i:j]"), ("sum(range(9)[k[2]:])", "np.array(...)[i:j]"),
        ("len(range(k[0])[::k[2]])", "a range is taken in steps that only the run knows"),
        ("x = k\nreturn x[range(k[0])]", "an array would hold a range with tensor bounds"),
        ("{'a': 1}[str(k[0])]", "which key of a dict this is only the run knows"),
        ("{2: 1}[k]", "which key of a dict this is only the run knows"),
        ("[1, 2].index(k[0], 1)", "index() takes no bounds for what only the run knows: give it a part of the list"),
        ("d = [1, 2]\nd[k[2]:] = [1]\nreturn d", "which place of a list gets a value here only the run knows"),
        ("d = [1, 2, 3]\nd[k[0]] = 1\nreturn d", "which place of a list gets a value here only the run knows"),
    ]:  # fmt: skip
        refused_or_plain(program(text, ["k"]), re.escape(message), K["k"])


@needs_native
def test_a_table_in_a_loop():
    def walk(start, n):
        following, k, path = {0: 3, 3: 1, 1: 2, 2: 0}, start, 0
        for i in range(n):
            k = following[int(k)]
            path = path * 10 + k + range(5)[i % 5]
        return path

    given = np.int64(3), np.int64(8)
    for executor in EXECUTORS:
        assert al.function(walk, executor=executor)(*given) == walk(*given)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_truth_value_is_the_place_0_or_1_of_a_list(executor: Any, count: int) -> None:
    def f(n: Any, p: float) -> Any:
        b, i, grown, inside = False, 0, [], 0.0
        while i < n[0]:
            b = not b
            grown.append(p * i)
            inside = (p, p + 1)[b]
            i += 1
        grown.append(p)
        return [1, 2][b], (p, p + 1)[not b], [[1, 2], [3, 4]][b], range(5, 7)[b], inside, grown[b]

    n = np.array([count])
    made = al.function(f, executor=executor)(n, 0.5)
    assert made == f(n, 0.5)
    assert [type(one) for one in made] == [type(one) for one in f(n, 0.5)]


def test_a_truth_value_of_numpy_is_no_place_of_a_list() -> None:
    def f(x: Any) -> Any:
        return [1, 2][x[0] > 0]

    with pytest.raises(TypeError):
        f(np.ones(2))
    with pytest.raises(TypeError):
        al.function(f)(np.ones(2))
