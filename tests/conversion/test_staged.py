"""The same functions as plain Python on numbers and as graphs on tensors."""

from __future__ import annotations

import copy
import sys
from functools import cache
from pathlib import Path

import attribute_programs
import autoloop as al
import construction_programs
import iterable_programs
import list_programs
import numpy as np
import optional_programs
import overloaded_programs
import pytest
import staged_programs
import state_programs
from each_case import each
from executors import INTERPRETED, spread_each

CASES = [
    *staged_programs.CASES,
    *list_programs.CASES,
    *iterable_programs.CASES,
    *state_programs.CASES,
    *optional_programs.CASES,
    *overloaded_programs.CASES,
    *attribute_programs.CASES,
    *construction_programs.CASES,
]
if sys.version_info >= (3, 12):
    path = Path(__file__).with_name("new_syntax.txt")
    namespace = {"__name__": "new_syntax"}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    CASES += namespace["CASES"]


def plain(value):
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return np.asarray(value).tolist()


def alike(one, other):
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return one == (pytest.approx(other, rel=1e-5) if isinstance(other, float) else other)


def outcome(function, arguments):
    try:
        return plain(function(*arguments))
    except Exception as error:
        return type(error), str(error).splitlines()[0] if isinstance(error, NameError) else None


@cache
def staged(function, executor):
    """One function for all arguments it is tried with: those of one kind are given to one graph."""
    return al.function(function, executor=executor)


def named(function, tries, executor):
    return f"{function.__name__} with {executor}"


# by turns of functions, not of their arguments: most of the time is that of their traces
@spread_each(CASES, INTERPRETED, always=("auto",), name=named)
def test_same_on_tensors(function, tries, executor):
    for arguments in tries:
        expected = outcome(function, copy.deepcopy(arguments))
        result = outcome(staged(function, executor), [al.constant(one) for one in arguments])
        assert alike(result, expected), (arguments, result, expected)


def test_prints_once_per_iteration_in_order(capsys):
    def shout(n):
        i = 0
        while i < n:
            print("i is", i, f"{i:3d}|")
            i += 1
        print("done")

    al.function(shout)(al.constant(2))
    assert capsys.readouterr().out == "i is 0   0|\ni is 1   1|\ndone\n"


def test_loop_options_relax_a_shape_and_bound_the_iterations():
    def doubled(n):
        x = al.constant([1.0])
        i = 0
        while i < n:
            al.set_loop_options(shape_invariants=[(x, [None])], maximum_iterations=3)
            x = al.concat([x, x], 0)
            i += 1
        return x

    f = al.function(doubled)
    assert [f(al.constant(n)).shape for n in (0, 2, 9)] == [(1,), (4,), (8,)]


def test_python_recursion_is_unrolled():
    def power(n, x):
        if n == 0:
            return x
        return power(n - 1, x * 2)

    assert int(al.function(power)(5, al.constant(3))) == 96


def filled(out, n):
    for i in range(n):
        out.append(i)


def test_a_list_that_grows_under_a_second_name_is_given_back_or_refused_and_not_lost():
    def alias(n):
        out = other = []
        for i in range(n):
            out.append(i)
        return other

    def helper(n):
        out = []
        filled(out, n)
        return out

    def length(n):
        out = []
        filled(out, n)
        return len(out)

    def loop(n):
        out = []
        count = 0
        filled(out, n)
        for _ in out:
            count += 1
        return count

    for function in (alias, helper):
        assert list(map(int, al.function(function)(al.constant(3)))) == [0, 1, 2]
    for function in (length, loop):
        with pytest.raises(TypeError, match="has grown in a loop or branch on tensors, where it is called 'out'"):
            al.function(function)(al.constant(3))


def test_zip_checks_lengths_when_strict():
    def dot(x, y):
        total = 0.0
        for a, b in zip(x, y, strict=True):
            total += a * b
        return total

    f = al.function(dot, input_signature=[al.TensorSpec([None], al.float32)] * 2)
    assert float(f([1.0, 2], [3.0, 4])) == 11
    with pytest.raises(ValueError, match=r"zip\(\) argument 2 is shorter than argument 1"):
        f([1.0, 2], [3.0])
    with pytest.raises(ValueError, match=r"zip\(\) argument 2 is"):
        al.function(dot)(al.ones([2]), al.ones([3]))


@pytest.mark.parametrize("executor", ["dataflow", "sequential", "native"])
@pytest.mark.parametrize(("low", "high"), [(1, 6), (6, 1), (-3, 3), (0, 0)])
def test_a_range_that_is_a_tensor_of_unknown_length(executor, low, high):
    if executor == "native":
        pytest.importorskip("llvmlite")

    def loops(low, high):
        total = al.constant(0)
        for i in al.range(low, high):
            total = total * 3 + i
            for j in al.range(high, low, -2):
                total += j
        for place, i in enumerate(al.range(al.cast(high, al.int64))):
            total += place * al.cast(i, al.int32)
        return total

    want = 0
    for i in range(low, high):
        want = want * 3 + i + sum(range(high, low, -2))
    want += sum(place * i for place, i in enumerate(range(high)))
    assert al.function(loops, executor=executor)(al.constant(low), al.constant(high)).numpy() == want


@each(["dataflow", "sequential"])
def test_the_numbers_of_a_range_have_the_dtype_of_its_bounds(executor):
    def squares(n):
        total = al.constant(0, al.int64)
        for i in range(n):
            total += i * i
        for i in al.range(2, n, 3):
            total += i * i
        return total

    n = 2000
    want = sum(i * i for i in range(n)) + sum(i * i for i in range(2, n, 3))
    assert want > 2**31 and al.function(squares, executor=executor)(np.int64(n)) == want


@each(["dataflow", "sequential"])
def test_a_numpy_scalar_that_meets_no_tensor_keeps_its_dtype(executor):
    def hashes(n):
        h, total = np.int64(17), np.float64(0)
        i = 0
        while i < n:
            h = h * 3 if h % 5 == 0 else h * 31 + 7
            for _ in range(2):
                total = total + 0.1
            i += 1
        return h, total

    h, total = al.function(hashes, executor=executor)(np.int64(12))
    want = hashes(12)
    assert (type(h), type(total)) == (np.int64, np.float64)
    assert h == want[0] and total == want[1]


def test_a_numpy_scalar_has_its_own_dtype_beside_a_tensor():
    @al.function
    def descend(x, n):
        rate, total = np.float64(0.5), np.float64(0)
        for i in range(n):
            x = x - rate * x
            rate = rate / 2
            total = total + x
        return x, rate, total

    found = descend(al.constant(8.0, al.float64), al.constant(2))
    assert [type(one) for one in found] == [al.Tensor, np.float64, al.Tensor]
    assert [one.item() for one in found] == [3, 0.125, 7]


def test_beside_a_numpy_scalar_in_another_branch_a_number_takes_its_dtype():
    @al.function
    def choose(c):
        if c:
            h, q = np.int64(5), np.float64(0.1)
        else:
            h, q = 7, 1
        return h, q

    for c, want in ((True, (5, 0.1)), (False, (7, 1.0))):
        h, q = choose(al.constant(c))
        assert (h.dtype, q.dtype) == (np.int64, np.float64) and (h, q) == want


def test_what_is_no_object_to_begin_with_raises_what_python_raises():
    with pytest.raises(TypeError, match=r"__init__\(\) should return None, not 'bool'"):
        al.function(construction_programs.wrongly_made)(3.0)
    with pytest.raises(TypeError, match=r"'numpy.float64' object is not callable"):
        al.function(lambda x: x[0]())(np.ones(2))
