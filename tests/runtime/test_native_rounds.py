"""What LLVM is told of a loop over elements it takes for nothing about the loop around it, whose rounds follow."""

from __future__ import annotations

import re

import numpy as np
import pytest
from api import FLOAT, call, compiling, host, shared_libraries, step_code, while_loop, write_function
from each_case import each
from native_checks import check, graph_of


def op(name):
    return lambda *args: call(name, *args)


sqrt, tanh, exp, cumsum, total, sin = op("sqrt"), op("tanh"), op("exp"), op("cumsum"), op("sum"), op("sin")


def mixed(a, b):
    return a * 0.5 + b, sqrt(a)


def functions(a, b):
    return a * 0.5 + b, tanh(a)


def swapped(a, b):
    return b, sqrt(a) + a * 0.1


def running(a, b):
    return cumsum(a, 0) * 0.1 + b, exp(-a)


def summed(a, b):
    return total(b) * 0.1 + a, exp(-a)


def in_rounds(a, b, step, rounds):
    return while_loop(lambda i, a, b: i < rounds, lambda i, a, b: (i + 1, *step(a, b)), (0, a, b))


@each([
    *[(mixed, rounds, size) for rounds in (16, 18, 20, 33) for size in (2, 3, 4, 17)],
    (functions, 20, 2), (swapped, 21, 4), (running, 20, 3), (summed, 20, 3),
])  # fmt: skip
def test_rounds_that_follow_from_each_other_are_no_vector(step, rounds, size):
    for dtype in (np.float32, np.float64):
        a = np.linspace(0.5, 1.5, size, dtype=dtype)
        check(lambda a, b: in_rounds(a, b, step, rounds), a, 2 * a)


def test_every_loop_is_told_something_of_its_own():
    a = np.ones((3, 4))
    text = write_function(graph_of(lambda a, b: in_rounds(a, b, summed, 20), a, a), [(3, 4)] * 2, host().features).ir
    told = re.findall(r"br .*!llvm.loop !(\d+)", text)
    assert len(told) == len(set(told)) > 2
    for number in told:
        assert re.search(rf"^!{number} = distinct !{{!{number}, !\d+", text, re.M)


def chained(depth):
    def step(a):
        for _ in range(depth):
            a = tanh(a) * 0.9
        return a

    return step


def text_of(f, a):
    return write_function(graph_of(f, a), [a.shape], host().features).ir


def test_functions_that_wait_for_each_other_are_computed_for_several_rounds_at_once():
    """Each element is what it is where they are not."""
    told = "llvm.loop.interleave.count"
    for dtype in (np.float32, np.float64):
        a = np.linspace(-2, 2, 1003, dtype=dtype)
        assert told in text_of(chained(2), a) and told not in text_of(chained(1), a)
        assert told not in text_of(chained(2), a[:200])  # the rest of the rounds would be many
        assert told in text_of(lambda a: total(chained(3)(a)), a)
    check(lambda a: (chained(3)(a), total(chained(3)(a))), a)


def text_of_step(f, a, monkeypatch):
    made = []

    def linked(function, *rest):
        made.append(function)
        return None, None

    monkeypatch.setattr(step_code, "linked", linked)
    assert step_code.compiled_step(graph_of(f, a), 1, [(0, 0)], [(0, 0)], []) is not None
    return made[0].ir


@pytest.mark.parametrize("is_step", [False, True])
def test_vectors_are_wide_and_aligned_where_code_becomes_a_part_of_its_caller(is_step, monkeypatch):
    """Those that lie across two lines of memory while a function is called take twice as long, two pages six times."""
    variants = shared_libraries.Libraries(host().features).function("sin", FLOAT, 1).variants
    if not variants or variants[0].lanes < 8:
        pytest.skip("no function of wide vectors")
    f, a = lambda a: total(sin(sin(a * 0.5) * 0.7)), np.ones(4096, np.float32)
    ir = text_of_step(f, a, monkeypatch) if is_step else text_of(f, a)
    code = compiling.text_of_code(ir, as_assembly=True)
    assert variants[0].symbol in code
    assert re.search(r"vmovaps\t%[yz]mm\d+, \d*\(%rsp\)", code)
    assert not re.search(r"vmovups\t%[yz]mm\d+, \d*\(%rsp\)", code)
