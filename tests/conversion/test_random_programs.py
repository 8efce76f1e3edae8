"""Random programs: plain Python, converted on Python values, and as graphs on tensors."""

from __future__ import annotations

import ast
from contextlib import suppress

import autoloop as al
import pytest
from api import emit, prepare
from autoloop.conversion.pipeline import convert
from each_case import each
from executors import NATIVE, needs_native
from random_functions import random_program

INPUTS = [(0, 1, 2), (3, -1, 7)]


def twice_assigned(tree: ast.AST) -> list[str]:
    """The names that one tuple of targets holds more than once: CPython 3.11.2 compiles ``d, d = b, a`` wrongly."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Tuple | ast.List) and isinstance(node.ctx, ast.Store):
            names = [one.id for one in ast.walk(node) if isinstance(one, ast.Name)]
            found += sorted({name for name in names if names.count(name) > 1})
    return found


def test_what_is_assigned_twice_is_found():
    assert twice_assigned(ast.parse("a, b = b, a\nd, (c, *d) = x\n[e, e] = y")) == ["d", "e"]


def tensor(number: int) -> al.Tensor:
    """In the dtype that carries Python's numbers, beside which it may stand in a list."""
    return al.constant(number, al.int64)


def compare(seed: int, native: bool = False) -> None:
    """One trace, run by every executor; tracing is most of the work."""
    program, text = random_program(seed)
    assert not twice_assigned(ast.parse(text)), text
    converted = convert(program)
    concrete = al.function(program).get_concrete_function(*map(tensor, INPUTS[0]))
    graph = concrete.runner.graph  # after the passes: no other executor has to repeat them
    if seed % 10 == 0:
        assert not twice_assigned(ast.parse(al.to_code(program))), text
        assert not twice_assigned(ast.parse(emit(graph).source)), text
    staged = {"auto": concrete.runner, **{name: prepare(graph, name) for name in ("dataflow", "sequential")}}
    if native:
        with suppress(NotImplementedError):  # lists that grow have no machine code
            staged["native"] = prepare(graph, "native")
    for values in INPUTS:
        expected = program(*values)
        assert converted(*values) == expected, text
        for executor, runner in staged.items():
            concrete.runner = runner
            result = concrete(*map(tensor, values))
            assert tuple(map(int, result)) == expected, (executor, values, text)


@each(range(11), one_in=2)
def test_random_program(seed):
    compare(seed)


def handed_over(seed: int) -> None:
    """Loops that begin in generated Python and go on in machine code."""
    program, text = random_program(seed)
    f = al.function(program)
    for values in INPUTS:
        assert tuple(map(int, f(*map(tensor, values)))) == program(*values), (values, text)


@pytest.mark.auto
@needs_native
@pytest.mark.parametrize("seed", range(4))
def test_random_program_handed_over(seed, replace_on_stack):
    replace_on_stack(1 + seed % 2)
    handed_over(seed)


@pytest.mark.nightly
@needs_native
@pytest.mark.parametrize("seed", range(3000, 3400))
def test_many_random_functions_handed_over(seed, replace_on_stack):
    replace_on_stack(1 + seed % 3)
    handed_over(seed)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [*range(11, 100), *range(1000, 3000)])
def test_many_random_functions(seed):
    compare(seed, native=NATIVE)
