"""What Python or NumPy says of values or types in a branch is said only if that is taken, whoever asks them."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from each_case import each
from left_to_python import refused_or_plain
from written_out import program

FAILING = [
    "max([])", "min(())", "(1, 2)[x]", "x[0] + 'a'", "'a' + n", "x.item(0) + 'a'", "x[0] < 'a'",
    "x * None", "round(x)", "[1, 2][x[0]]", "(1, 2)[x.mean()]", "'abc'[x[0]]", "range(3)[x[0]]",
]  # fmt: skip


@each(FAILING)
def test_it_belongs_to_the_run_of_the_branch(text):
    plain = program(f"if x[0] > 1:\n    return {text}\nreturn 0", ["x", "n"])
    decorated = al.function(plain)
    assert decorated(np.arange(3.0), np.int64(2)) == plain(np.arange(3.0), np.int64(2)) == 0
    with pytest.raises((TypeError, ValueError)) as expected:
        plain(np.arange(3.0) + 2, np.int64(2))
    with pytest.raises((TypeError, ValueError)) as found:
        decorated(np.arange(3.0) + 2, np.int64(2))
    assert str(found.value).splitlines()[0] == str(expected.value)


def test_what_cannot_be_built_is_refused_whichever_branch_it_stands_in():
    plain = program("if n > 5:\n    return [0] * n\nreturn 0", ["x", "n"])
    for n in (2, 7):
        refused_or_plain(plain, "cannot be repeated as often as only the run knows", np.arange(3.0), np.int64(n))
    plain = program("d = {}\nif n > 5:\n    d['a'] = x\nreturn d", ["x", "n"])
    with pytest.raises(TypeError, match=r"which keys a dict has must not depend on the run: set d\['a'\] before"):
        al.function(plain)(np.arange(3.0), al.constant(2))
    with pytest.raises(TypeError, match=r"cannot run program: the dict 'd' has other keys.*set d\['a'\] before"):
        al.function(plain, executor="native")(np.arange(3.0), np.int64(2))


@each(
    [
        "for k in range(n):\n    if b <= 1: s = k\n    b = np.stack([b, b])\nreturn 1",
        "s = 0\nfor k in range(n):\n    s += 1 if b else 2\n    b = np.append(b, b)\nreturn s",
        "while not b:\n    b = np.append(b, b)\nreturn b",
        "for k in range(n):\n    for e in b:\n        pass\n    b = np.sum(b)\nreturn 1",
        "b = b[x > n]\ns = b and 5\nreturn 1",
        "if x[x > n]:\n    return 1\nreturn 2",
    ]
)
def test_arrays_whose_shape_the_run_tells_decide_if_they_have_one_element(body):
    plain = program(f"b = np.array(b)\n{body}", ["x", "b", "n"])
    for b in (0, [0], [1]):
        for n in (1, 2, 4):
            args = np.arange(4.0), np.array(b), np.int64(n)
            found = [outcome_of(f, *args) for f in (plain, al.function(plain))]
            assert repr(found[0]) == repr(found[1])


def outcome_of(f, *args):
    try:
        return f(*args)
    except TypeError as error:
        return type(error)
    except (ValueError, IndexError) as error:
        return type(error), str(error).split(" (its shape")[0]
