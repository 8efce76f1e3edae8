"""Chains that are alike: NumPy is called once for several of them, and gives what it gives for each."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from api import Executable, Kind, lower

FUNCTIONS = ("sin", "tanh", "exp", "sqrt", "log1p")


def lowered_of(program, *values):
    graph = al.function(program, executor="dataflow", autograph=False).get_concrete_function(*values).graph
    return lower(graph, graph.outputs, graph.inputs)


def stacked(executable):
    return [one.value for one in executable.plan.nodes if one.kind is Kind.BATCH and one.value.is_stacked]


def given(size, dtype=np.float32):
    return np.linspace(0.1, 1.5, size).astype(dtype)


def check(program, by_hand, *values, expected=True, threads=(1, 2)):
    """The same bits, with stacks if they are expected."""
    executable = Executable(lowered_of(program, *values))
    assert bool(stacked(executable)) is expected
    for count in threads:
        got = executable.run(list(values), threads=count)
        for one, wanted in zip(got, by_hand(*values), strict=True):
            np.testing.assert_array_equal(one, wanted)
            assert one.dtype == wanted.dtype
            assert getattr(one, "base", None) is None
    return executable


def chains(xp, functions, count, x, dtype=np.float32):
    ends = []
    for k in range(count):
        y = x + dtype((k + 0.5) / count)
        for name in functions:
            y = getattr(xp, name)(y) * dtype(0.5 + k / count) + dtype(0.1)
        ends.append(y)
    return ends


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [9, 33, 1001])
def test_rows_of_any_length_are_the_same_to_the_bit(size, dtype):
    def program(xp, x):
        return [xp.stack([xp.sum(y) for y in chains(xp, FUNCTIONS, 6, x, dtype)])]

    check(lambda x: program(al, x), lambda x: program(np, x), given(size, dtype))


def test_sums_of_rows_are_those_of_arrays():
    for size in (8, 130, 9001):

        def program(xp, x):
            return [xp.stack([xp.sum(xp.sin(x * np.float32(k + 1)) * np.float32(0.3 * k)) for k in range(9)])]

        check(lambda x: program(al, x), lambda x: program(np, x), given(size), threads=(1,))


def test_sums_of_what_is_given_are_computed_beside():
    def program(xp, x, y):
        return [xp.stack([*[xp.sum(y) for y in chains(xp, FUNCTIONS, 8, x)], xp.sum(x), xp.sum(xp.sin(x) / xp.sum(y))])]

    check(lambda *x: program(al, *x), lambda *x: program(np, *x), given(30), given(20))


def test_arrays_that_leave_are_copies():
    def program(xp, x):
        return chains(xp, FUNCTIONS[:3], 8, x)

    executable = check(lambda x: program(al, x), lambda x: program(np, x), given(40))
    first, second = executable.run([given(40)])[:2]
    assert first.flags.owndata
    assert not np.shares_memory(first, second)


def test_what_lies_between_is_given_too_and_not_written_to():
    def program(xp, x):
        ends = []
        for k in range(8):
            y = xp.sin(x + np.float32(k))
            z = xp.tanh(y * np.float32(0.5)) * np.float32(2)
            ends += [xp.sum(z + y), xp.sum(z)]
        return [xp.stack(ends), xp.stack(ends[::3])]

    check(lambda x: program(al, x), lambda x: program(np, x), given(50))


def test_matrices_and_rows_that_all_are_given():
    def program(xp, x, row):
        return [xp.tanh(xp.sin(x * np.float32(k / 50)) + row) * xp.exp(x * np.float32(0.1 + k)) for k in range(10)]

    values = given(60).reshape(6, 10), given(10)
    check(lambda *x: program(al, *x), lambda *x: program(np, *x), *values)


def test_numbers_that_come_from_outside_are_a_column():
    def program(xp, x, *numbers):
        return [xp.stack([xp.sum(xp.sin(xp.cos(x * one) * one)) for one in numbers])]

    check(lambda *x: program(al, *x), lambda *x: program(np, *x), given(30), *given(8))


def test_sums_are_used_in_the_chains():
    def program(xp, x):
        ends = []
        for k in range(8):
            y = xp.exp(x * np.float32(k / 80))
            ends.append(xp.sum(xp.tanh(y / xp.sum(y))))
        return [xp.stack(ends)]

    check(lambda x: program(al, x), lambda x: program(np, x), given(30))


def test_integers():
    def program(xp, x):
        return [xp.stack([xp.sum((x + k) * 3 - x * k) for k in range(2, 10)])]

    check(lambda x: program(al, x), lambda x: program(np, x), np.arange(20))


def test_an_array_in_another_order_is_computed_as_it_was():
    def program(xp, x):
        return [xp.sin(xp.cos(x + np.float32(k)) * np.float32(0.3)) for k in range(8)]

    for x in (given(60).reshape(6, 10).T, given(120)[::2]):
        check(lambda x: program(al, x), lambda x: program(np, x), x)


def test_chains_that_differ_and_few_are_computed_one_by_one():
    def program(xp, x):
        return [getattr(xp, FUNCTIONS[k % 5])(x[: 10 + k]) * np.float32(0.3) for k in range(12)]

    check(lambda x: program(al, x), lambda x: program(np, x), given(80), expected=False)


def test_products_are_not_stacked():
    def program(xp, x):
        return [xp.matmul(xp.matmul(x, x) * np.float32(k), x) for k in range(9)]

    check(lambda x: program(al, x), lambda x: program(np, x), given(16).reshape(4, 4), expected=False)


@pytest.mark.nightly
def test_many_middling_chains_are_shared_out():
    def program(x):
        return [al.stack([al.sum(y) for y in chains(al, ("sin",), 300, x)])]

    executable = Executable(lowered_of(program, given(4000)))
    assert executable.plan.parallel
    assert any(one.is_heavy for one in stacked(executable))


def test_who_asks_for_floating_point_errors_is_told_the_line():
    @al.function(executor="dataflow")
    def ends(x):
        return al.stack([al.sum(al.log(x - float(k) / 5)) for k in range(8)])

    x = np.full(20, 0.5, np.float32)
    ends(x)
    with np.errstate(invalid="raise", divide="raise"), pytest.raises(FloatingPointError) as caught:
        ends(x)
    assert any("al.log(x" in str(entry.statement) for entry in caught.traceback)
