"""Shapes of unknown rank: tuples that refuse to be read, which decorated functions find, take, keep and give."""

import types

import autoloop as al
import numpy as np
import pytest
from autoloop import TensorShape

ANY = TensorShape(None)
SPEC = al.TensorSpec(None, al.float32)


def of_argument(x, shape):
    return x + 1, shape


def of_default(x, shape, known=TensorShape(None)):
    return x + 1, known


def of_global(x, shape):
    return x + 1, ANY, SPEC.shape


def of_containers(x, shape):
    return x + 1, [shape, 2], {"k": (shape, x)}


def made(x, shape):
    return x + 1, TensorShape(None), TensorShape([None, 2])


def beside_a_loop(x, shape):
    held, i = types.SimpleNamespace(shape=shape, x=x), 0
    while i < x[0]:
        i += 1
        held.x = held.x + 1
    return held.shape, held.x, i


def of_a_loop(x, shape):
    i = 0
    while i < x[0]:
        i += 1
        shape = TensorShape(None)
    return shape, i


def in_objects_of_a_branch(x, shape):
    o = types.SimpleNamespace(shapes=[shape], of={"k": (shape,)})
    if x[0] > 1:
        o.shapes.append(shape)
        o.of = {"k": (shape, x[0])}
    else:
        o.shapes.append(TensorShape(None))
        o.of = {"k": (TensorShape(None), x[0] * 2)}
    return o.shapes, o.of


def of_a_branch(x, shape):
    if x[0] > 1:
        y, s = x * 2, TensorShape(None)
    else:
        y, s = x * 3, TensorShape(None)
    return y, s


PROGRAMS = (
    of_argument,
    of_default,
    of_global,
    of_containers,
    made,
    beside_a_loop,
    of_a_loop,
    of_a_branch,
    in_objects_of_a_branch,
)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("executor", ["auto", "sequential", "dataflow"])
def test_a_shape_of_unknown_rank_is_a_value_as_any_other(program, executor):
    decorated = al.function(program, executor=executor)
    for x in (np.array([3.0]), np.array([0.5])):
        assert repr(decorated(x, ANY)) == repr(program(x, ANY))


def test_an_invariant_of_unknown_rank_is_found_outside():
    @al.function
    def grow(m, turns):
        return al.while_loop(
            lambda i, m: i < turns,
            lambda i, m: (i + 1, al.concat([m, m], 0)),
            (al.constant(0), m),
            shape_invariants=(TensorShape([]), ANY),
        )[1]

    for turns in (0, 3):
        assert grow(al.ones([2, 2]), al.constant(turns)).shape == (2 * 2**turns, 2)


def test_another_shape_is_another_trace():
    known = types.SimpleNamespace(shape=ANY)

    @al.function
    def rank(x):
        return x * 2, known.shape.rank

    assert rank(np.ones(1))[1] is None
    known.shape = TensorShape([None, 2])
    assert rank(np.ones(1))[1] == 2
    known.shape = TensorShape(None)
    assert rank(np.ones(1))[1] is None
