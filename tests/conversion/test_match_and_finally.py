"""``match`` on values, and jumps out of ``finally``, where a tensor decides."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import spread


@dataclasses.dataclass
class Point:
    x: float
    y: float


def values(x):
    match x:
        case 1:
            return 10
        case 2 | 3:
            return 20
        case _:
            return 30


def bound(x):
    match x:
        case 1:
            r = 5
        case y if y > 2:
            r = y * 10
        case y:
            r = y - 1
    return r, y if x != 1 else 0


def bound_alternative(x):
    match x:
        case 1 | 3 as y:
            x = y * 2
        case None:
            x = 7
    return x


def guarded(x):
    match x:
        case 1 if x > 5:
            return 1
        case 2 | 3 if (y := x * 2) > 5:
            return y
        case _ if x > 3:
            return -x
    return 0


def subject_once(x):
    n = 0
    match n := n + x:
        case 4:
            n += 100
        case 5:
            n += 200
        case x if x > 1:
            n += x
    return n


def in_a_loop(x):
    s = 0
    for i in range(4):
        match x + i:
            case 3:
                s += 1
                continue
            case 5:
                break
        s += 100
    return s


def structures(x):
    s = 0
    for command in ("a", ("by", x), {"set": x}, [x, 2, 3], Point(x, 2), None):
        match command:
            case "a":
                s += 1
            case ("by", step):
                s += step
            case {"set": value}:
                s += value * 3
            case [first, *more]:
                s += first * len(more)
            case Point(x=px, y=2):
                s -= px
            case _:
                s = s * 2
    return s


def python_class(x):
    match ("go", 3):
        case (str(), int() as k):
            x = x + k
    return x


def leaves_finally(x):
    try:
        x = x + 1
    finally:
        if x > 2:
            return x
    return -x


def breaks_finally(x):
    while x < 10:
        try:
            x = x + 1
        finally:
            if x > 5:
                break
    return x


def continues_finally(x):
    for _ in range(5):
        try:
            x = x + 1
        finally:
            if x > 5:
                continue
        x = x * 2
    return x


def always_leaves(x):
    if x > 2:
        try:
            x = x * 2
        finally:
            return x  # noqa: B012
    return -x


def swallows(x):
    try:
        if x is not None:
            raise KeyError("python")
    finally:
        if x > 2:
            return x
    return -x


def handled_before(x):
    while x < 6:
        try:
            x = x + 1
            {}["a"]
        except KeyError:
            x = x + 1
        else:
            x = x + 100
        finally:
            if x > 4:
                break
        x = x + 2
    return x


SAME = [values, bound, bound_alternative, guarded, subject_once, in_a_loop, structures, python_class, leaves_finally]
SAME += [breaks_finally, continues_finally, always_leaves, swallows, handled_before]


def outcome(f, x):
    try:
        made = f(x)
    except Exception as error:
        return type(error), str(error)
    return [float(one) for one in (made if isinstance(made, tuple) else (made,))]


@spread("f", [(f,) for f in SAME], [f.__name__ for f in SAME])
def test_it_is_pythons_answer(f, executor):
    decorated = al.function(f, executor=executor)
    assert [outcome(decorated, np.int64(x)) for x in range(7)] == [outcome(f, np.int64(x)) for x in range(7)]


@each(SAME)
def test_not_staged_it_is_python(f):
    for x in (0, 1, 2, 3, 4, 5, 6, 1.5):
        assert outcome(al.convert(f), x) == outcome(f, x)


def number_class(x):
    match x:
        case float():
            return 1
    return 2


def array_class(x):
    match ("a", x):
        case (str(), np.ndarray()):
            return 1
    return 2


def local_class(x):
    kind = float
    match x:
        case 3 | kind():
            return 1
    return 2


@each([number_class, array_class, local_class])
def test_a_tensor_is_asked_for_the_class_of_what_it_stands_for(f):
    for x in (np.float64(2), np.int64(2), np.ones(1), 2.5):
        assert outcome(al.function(f), x) == outcome(f, x)


def test_a_tensor_has_no_attributes_of_the_class_of_what_it_stands_for():
    def f(x):
        match x:
            case np.ndarray(ndim=1):
                return 1
        return 2

    with pytest.raises(TypeError, match="asks a tensor here for the class of a number or an array") as caught:
        al.function(f)(al.constant(np.arange(3.0)))
    assert caught.traceback[-1].path.samefile(__file__) and "match" in str(caught.traceback[-1].statement)
    with pytest.warns(UserWarning, match="asks a tensor here for the class of a number or an array"):
        assert al.function(f)(np.arange(3.0)) == 1


def test_a_staged_raise_cannot_be_swallowed():
    def f(x):
        try:
            if x > 1:
                raise KeyError("x")
        finally:
            if x > 2:
                return x
        return -x

    with pytest.raises(NotImplementedError) as caught:
        al.function(f)(al.constant(2.0))
    assert "cannot be caught by an `except` in the converted function" in str(caught.value)
    with pytest.warns(UserWarning, match="cannot be caught by an `except` in the converted function"):
        assert al.function(f)(np.float64(3)) == 3  # plain Python swallows it


# -- a loop that may return, and a `return` behind it, in a statement that stays ---------------------------------------


def in_finally(x, held):
    try:
        for v in held:
            if v < 0:
                return x * 0
        return x * 2
    finally:
        LEFT.append(1)


def in_except(x, held):
    try:
        for v in held:
            if v < 0:
                return x * 0
        y = x * 2
        return y
    except KeyError:
        return x


def in_with(x, held):
    with contextlib.suppress(KeyError):
        for v in held:
            if v < 0:
                return x * 0
        if x > 1:
            return x * 2
        return x * 3


def in_else(x, held):
    try:
        for v in held:
            if v < 0:
                return x * 0
        else:
            return x * 2
    finally:
        LEFT.append(1)


def in_two(x, held):
    try:
        try:
            for v in held:
                if v < 0:
                    return x * 0
            return x * 2
        finally:
            LEFT.append(1)
    finally:
        LEFT.append(2)


def behind_a_branch(x, held):
    try:
        if x > 1:
            if held[0] > 1:
                return x * 5
        return x * 2
    finally:
        LEFT.append(1)


LEFT = []


@pytest.mark.filterwarnings("ignore:in_(with|else) runs as plain Python")  # which may give None, too
@each([in_finally, in_except, in_with, in_else, in_two, behind_a_branch])
def test_a_return_behind_a_loop_that_may_return_gives_its_value(f):
    for x, values in itertools.product((1.0, 3.0), ([1, 2], [2], [1, -1])):
        for given, held in ((x, values), (np.float64(x), values), (np.float64(x), np.array(values, float))):
            outcomes = []
            for called in (f, al.function(f)):
                LEFT.clear()
                outcomes.append((called(given, held), [*LEFT]))
            assert outcomes[0] == outcomes[1]
