"""What is read of the instructions of functions holds in this version of Python."""

from __future__ import annotations

import dis

import pytest
from autoloop.operators.mutation import parts_of_objects
from autoloop.state import code_names


def f(x):
    return length(x.first.second(x).third)  # noqa: F821


@pytest.mark.parametrize("module", [code_names, parts_of_objects], ids=lambda module: module.__name__)
def test_the_names_in_instructions(module):
    names = [
        f.__code__.co_names[one.arg >> module._SHIFTS.get(one.opcode, 0)]
        for one in dis.get_instructions(f)
        if one.opname in ("LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL")
    ]
    assert names == ["length", "first", "second", "third"]
