"""Steps of a plan in machine code do as those in Python, whatever they are given."""

from __future__ import annotations

import random
import warnings

import autoloop as al
import numpy as np
import pytest
from api import TokenForm, lower
from examples import examples
from executors import needs_native
from hypothesis import given, settings
from hypothesis import strategies as st
from random_programs import Program
from step_checks import checked
from test_batches import lowered_of
from test_dtypes_everywhere import COMPLEX, OPERANDS, REAL, outcome, programs
from test_machine_kernels import PROGRAMS
from test_turns import beside, in_a_branch, nested

pytestmark = needs_native


def run(lowered, *values, node_by_node=False):
    """What a run gives, and the steps that were compared."""
    made, found = checked(lowered, node_by_node)
    return made.run(list(values), threads=1), [one for one in found.values() if one.calls]


def lowered_from(f, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return al.function(f, executor="dataflow").get_concrete_function(*args).runner.run.__self__.lowered


@pytest.mark.parametrize("build", [beside(1), beside(5), nested, in_a_branch])
def test_turns_and_batches_with_bundles(build):
    lowered = lowered_of(build, "int32")
    for n in (0, 3, 12):
        _, found = run(lowered, np.int32(n))
        assert not any(one.failures for one in found)
        assert n == 0 or build is in_a_branch or any(one.is_turn for one in found)


@pytest.mark.parametrize("node_by_node", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_arrays(name, node_by_node):
    f, args = PROGRAMS[name]
    made, found = checked(lowered_from(f, *args), node_by_node)
    made.run(list(args), threads=1)
    done = [one for one in found.values() if one.calls > one.failures]
    assert done or not node_by_node, "nothing is in machine code"


@settings(max_examples=examples(10), deadline=None)
@given(drawn=st.lists(programs(REAL + COMPLEX), min_size=6, max_size=10))
def test_every_dtype(drawn):
    for name, kinds, as_scalars in drawn:
        f = getattr(np, name)
        xs = [v.astype(k) if isinstance(k, str) else k for k, v in zip(kinds, OPERANDS)]
        xs = [v[4] if as_scalars and isinstance(v, np.ndarray) else v for v in xs]
        if isinstance(outcome(f, xs), type):
            continue
        held = [isinstance(k, str) for k in kinds]

        def build(*given):
            values = iter(given)
            return f(*[next(values) if h else x for h, x in zip(held, xs)])  # noqa: B023

        shape = () if as_scalars else OPERANDS[0].shape
        lowered = lowered_of(build, *[k for k in kinds if isinstance(k, str)], shape=shape)
        run(lowered, *[x for x, h in zip(xs, held) if h], node_by_node=True)


@settings(max_examples=examples(20), deadline=None)
@given(seed=st.integers(0, 1 << 30))
def test_random_programs(seed):
    program = Program(random.Random(seed), effects=False, size=8)
    lowered = lower(program.graph, program.graph.outputs, program.graph.inputs)
    for node_by_node in (False, True):
        run(lowered, *program.values, node_by_node=node_by_node)


def test_what_fails_is_left_to_python():
    def program(x, i):
        return x[i] * 2 + x[i + 1]

    lowered = lowered_from(program, np.arange(6.0), np.int64(2))
    _, found = run(lowered, np.arange(6.0), np.int64(2))
    assert found and not any(one.failures for one in found)
    made, found = checked(lowered)
    with pytest.raises(IndexError):
        made.run([np.arange(6.0), np.int64(5)], threads=1)
    assert any(one.failures for one in found.values())


def test_python_numbers_that_are_divided_by_zero_are_left_to_python():
    def program(x):
        n = int(x[1])
        return x * (7 // n), 7 % n

    lowered = lowered_from(program, np.arange(6.0))
    _, found = run(lowered, np.arange(6.0) + 1)
    assert found and not any(one.failures for one in found)
    made, found = checked(lowered)
    with pytest.raises(ZeroDivisionError):
        made.run([np.arange(6.0) - 1], threads=1)
    assert any(one.failures for one in found.values())


NUMBER, ARRAY = (np.dtype(np.int8), ()), (np.dtype(np.float64), (2, 3))


def test_a_bundle_is_one_piece_of_memory_in_which_each_value_may_lie():
    form = TokenForm((NUMBER, ARRAY, NUMBER, (np.dtype(np.complex128), (2,))), True)
    assert (form.offsets, form.bytes) == ([0, 8, 56, 64], 96) and not form.is_array
    values = np.int8(-3), np.arange(6.0).reshape(3, 2).T, np.int8(4), np.array([1j, 2])
    memory = np.zeros(form.bytes, np.uint8)
    assert form.write(values, memory.ctypes.data)
    for one, other in zip(form.read(memory.ctypes.data), values, strict=True):
        assert type(one) is type(other) and np.array_equal(one, other)


def test_what_is_not_as_it_was_said_is_not_put_into_memory():
    form, place = TokenForm((ARRAY,)), np.zeros(48, np.uint8).ctypes.data
    assert form.is_array and form.write(np.ones((2, 3)), place)
    assert not any(form.write(one, place) for one in (np.ones((3, 2)), np.ones((2, 3), np.float32), 1.0, None))
    assert not TokenForm((NUMBER, NUMBER), True).write((np.int8(1),), place)
    assert not TokenForm((NUMBER, NUMBER), True).write(np.int8(1), place)
