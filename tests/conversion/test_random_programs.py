"""Random programs: plain Python, converted on Python values, and as graphs on tensors."""

from __future__ import annotations

import autoloop as al
import pytest
from autoloop.conversion.pipeline import convert
from random_functions import random_program

INPUTS = [(0, 1, 2), (3, -1, 7)]


def compare(seed: int, executors=("auto", "dataflow", "sequential")) -> None:
    program, text = random_program(seed)
    converted = convert(program)
    staged = {executor: al.function(program, executor=executor) for executor in executors}
    for values in INPUTS:
        expected = program(*values)
        assert converted(*values) == expected, text
        for executor, function in staged.items():
            result = function(*map(al.constant, values))
            assert tuple(map(int, result)) == expected, (executor, values, text)


@pytest.mark.parametrize("seed", range(100))
def test_random_program(seed):
    compare(seed)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(1000, 3000))
def test_many_random_functions(seed):
    compare(seed)
