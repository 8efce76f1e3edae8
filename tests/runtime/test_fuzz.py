"""Random structures, dtypes and shapes: the right value, or an error that names the variable. Nothing else."""

from __future__ import annotations

import collections
import dataclasses
import warnings
from typing import Any

import autoloop as al
import numpy as np
import pytest
from examples import examples
from executors import EXECUTORS, INTERPRETED, needs_native
from hypothesis import example, given, settings
from hypothesis import strategies as st

Pair = collections.namedtuple("Pair", "left, right")


@dataclasses.dataclass
class Box:
    inside: Any
    beside: Any


DTYPES = [
    "bool",
    "int8",
    "uint8",
    "int32",
    "int64",
    "uint32",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
shapes = st.lists(st.integers(0, 3), max_size=3).map(tuple)


@st.composite
def arrays(draw):
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    shape = draw(shapes)
    values = np.random.default_rng(draw(st.integers(0, 99))).integers(0, 5, shape)
    return np.asarray(values).astype(dtype)


leaves = st.one_of(
    arrays(), st.integers(-3, 3), st.booleans(), st.floats(-2, 2, width=32), arrays().map(al.constant),
    arrays().map(lambda a: a.reshape(-1)[0] if a.size else a),
)  # fmt: skip


def containers(inner):
    return st.one_of(
        st.lists(inner, min_size=1, max_size=3),
        st.lists(inner, min_size=1, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from("abcd"), inner, min_size=1, max_size=3),
        st.builds(Pair, inner, inner),
        st.builds(Box, inner, inner),
    )


structures = st.recursive(leaves, containers, max_leaves=6)
loop_vars = st.one_of(
    st.lists(structures, min_size=1, max_size=3), st.lists(structures, min_size=1, max_size=3).map(tuple)
)


def as_arrays(value):
    return [np.asarray(leaf) for leaf in al.nest.flatten(value)]


def as_tensors(value):
    return al.nest.map_structure(al.convert_to_tensor, value)


#: what a body may do to one leaf
STEPS = {
    "same": lambda x: x,
    "again": lambda x: al.where(al.equal(x, x), x, x),
    "reversed": lambda x: al.flip(x),
    "cast": lambda x: al.cast(x, al.int16),
    "longer": lambda x: al.concat([x, x], 0) if x.ndim else al.stack([x, x]),
    "summed": lambda x: al.sum(al.cast(x, al.int32)),
    "expanded": lambda x: al.expand_dims(x, 0),
    "a number": lambda x: 1,
    "half": lambda x: 0.5,
    "nothing": lambda x: None,
    "a pair": lambda x: (x, x),
    "an object": lambda x: object(),
}


@st.composite
def programs(draw):
    value = draw(loop_vars)
    count = len(al.nest.flatten(value))
    tame = draw(st.booleans())
    names = ["same", "again", "reversed"] if tame else sorted(STEPS)
    return value, [draw(st.sampled_from(names)) for _ in range(count)], draw(st.integers(0, 3))


def run_with(value, steps, trips, executor):
    def body(i, *inner):
        inner = inner if isinstance(value, tuple) else list(inner)
        flat = [STEPS[name](leaf) for name, leaf in zip(steps, al.nest.flatten(inner))]
        spec = al.nest.structure_of(inner)
        return (i + 1, *al.nest.unflatten(spec, flat))

    f = al.function(
        lambda vs: al.while_loop(lambda i, *_: i < trips, body, (0, *vs)), executor=executor, autograph=False
    )
    return f(as_tensors(value))


def unrolled(value, steps, trips):
    """The same by eager steps; ``None`` if dtype, shape or structure of a leaf is not kept."""
    flat = [al.convert_to_tensor(leaf) for leaf in al.nest.flatten(value)]
    for _ in range(max(trips, 1)):
        after = []
        for name, leaf in zip(steps, flat):
            made = STEPS[name](leaf)
            if isinstance(made, (int, float)):
                kinds = "iufc" if isinstance(made, int) else "fc"
                if leaf.dtype.kind not in kinds or leaf.shape != ():
                    return None
                made = al.constant(made, leaf.dtype)
            if not isinstance(made, al.Tensor) or made.dtype != leaf.dtype or made.shape != leaf.shape:
                return None
            after.append(made)
        flat = after
    start = [al.convert_to_tensor(leaf) for leaf in al.nest.flatten(value)]
    return [np.asarray(t) for t in (flat if trips else start)]


def check_program(program, executors):
    """A loop gives what unrolling gives, or names what changes."""
    value, steps, trips = program
    expected = unrolled(value, steps, trips)
    for executor in executors:
        try:
            i, *result = run_with(value, steps, trips, executor)
        except NotImplementedError as error:
            assert executor == "native" and str(error).startswith("executor='native'")
            continue
        except (TypeError, ValueError, OverflowError) as error:
            assert expected is None, error
            assert "loop variable " in str(error) or "nested structure" in str(error), error
            continue
        assert expected is not None, "a change of dtype, shape or structure was accepted"
        assert np.asarray(i) == trips
        assert al.nest.structure_of(tuple(result)) == al.nest.structure_of(tuple(value))
        for got, want in zip(al.nest.flatten(result), expected, strict=True):
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(np.asarray(got), want)


@settings(max_examples=examples(60), deadline=None)
@given(programs())
def test_a_loop_gives_what_unrolling_gives_or_names_what_changes(program):
    check_program(program, INTERPRETED)


@needs_native
@settings(max_examples=20, deadline=None)
@given(programs())
def test_machine_code_gives_what_unrolling_gives_or_names_what_changes(program):
    check_program(program, ["native"])


@pytest.mark.nightly
@settings(max_examples=300, deadline=None)
@given(programs())
def test_many_programs_give_what_unrolling_gives_or_name_what_changes(program):
    check_program(program, EXECUTORS)


def check_invariants(x, step, trips, invariant, executors):
    """Whatever the invariant: the loop runs and its result fits it, or an error names the variable."""
    shape = al.TensorShape(invariant)

    def body(i, x):
        return i + 1, STEPS[step](x)

    def once(executor):
        f = al.function(
            lambda x: al.while_loop(lambda i, x: i < trips, body, (0, x), ([], shape)), executor=executor,
            autograph=False,
        )  # fmt: skip
        with warnings.catch_warnings():  # a body that asks for a rank that no trace knows is plain Python's
            warnings.filterwarnings("ignore", ".*runs as plain Python", UserWarning)
            return f(x)[1]

    for executor in executors:
        try:
            got = once(executor)
        except NotImplementedError as error:
            assert executor == "native" and str(error).startswith("executor='native'")
            continue
        except (TypeError, ValueError) as error:
            assert "'x'" in str(error) or "rank" in str(error) or "not known" in str(error), error
            continue
        assert shape.is_compatible_with(got.shape)
        want = al.constant(x)
        for _ in range(trips):
            want = STEPS[step](want)
        np.testing.assert_array_equal(np.asarray(got), np.asarray(want))


invariants = (
    arrays(), st.sampled_from(["longer", "summed", "expanded", "same", "cast"]), st.integers(0, 3),
    st.one_of(st.none(), st.lists(st.one_of(st.none(), st.integers(0, 3)), max_size=4)),
)  # fmt: skip


@settings(max_examples=examples(60), deadline=None)
@given(*invariants)
def test_invariants_hold_or_are_refused(x, step, trips, invariant):
    check_invariants(x, step, trips, invariant, INTERPRETED)


@needs_native
@settings(max_examples=15, deadline=None)
@given(*invariants)
def test_invariants_hold_or_are_refused_by_machine_code(x, step, trips, invariant):
    check_invariants(x, step, trips, invariant, ["native"])


@settings(max_examples=examples(60), deadline=None)
@given(structures, structures, st.booleans())
@example({"c": -1}, {"c": np.array(4, np.uint8)}, False)
def test_branches_give_the_taken_value_or_are_refused(a, b, pred):
    @al.function(autograph=False)
    def f(p):
        return al.cond(p, lambda: a, lambda: b)

    try:
        got = f(al.constant(pred))
    except (TypeError, ValueError, OverflowError) as error:
        assert "true_fn and false_fn" in str(error), error
        return
    want = a if pred else b
    assert al.nest.structure_of(got) == al.nest.structure_of(want)
    for g, w in zip(al.nest.flatten(got), al.nest.flatten(want), strict=True):
        np.testing.assert_array_equal(np.asarray(g), np.asarray(w).astype(g.dtype))


#: what a step makes of one row, said by NumPy; the others are no values
ROWS = {
    "same": lambda x: x,
    "again": lambda x: x,
    "reversed": np.flip,
    "cast": lambda x: x.real.astype(np.int16),
    "longer": lambda x: np.concatenate([x, x]) if x.ndim else np.stack([x, x]),
    "summed": lambda x: np.sum(x.real.astype(np.int32), dtype=np.int32),
    "expanded": lambda x: x[None],
    "a number": lambda x: np.int32(1),
    "half": lambda x: np.float32(0.5),
}


def mapped(rows, step):
    """``rows`` after ``step``, row by row; where there is none, what would become of one."""
    made = [ROWS[step](row) for row in (rows if len(rows) else np.zeros((1, *rows.shape[1:]), rows.dtype))]
    return np.stack(made)[: len(rows)]


@st.composite
def elements(draw):
    """A structure of arrays with the same number of rows, as a rule."""
    count, odd = draw(st.integers(0, 3)), draw(st.sampled_from([False, False, False, True]))

    def leading(array):
        return np.resize(array, (count, *array.shape)).astype(array.dtype)

    leaf = arrays().map(leading)
    return draw(
        st.recursive(
            st.one_of(leaf, leaves) if odd else leaf.map(draw(st.sampled_from([al.constant, np.array]))),
            containers,
            max_leaves=4,
        )
    )


@settings(max_examples=examples(60), deadline=None)
@given(elements(), st.sampled_from([*STEPS]))
def test_map_fn_over_anything(elems, step):
    rows = as_arrays(elems)

    def run():
        return al.map_fn(lambda row: al.nest.map_structure(STEPS[step], row), elems)

    if any(r.ndim == 0 for r in rows):
        with pytest.raises(ValueError, match="elems must have at least one dimension, got a tensor of shape"):
            run()
    elif len({len(r) for r in rows}) > 1:
        with pytest.raises(ValueError, match="the elems must have the same first dimension, they have"):
            run()
    elif step in ("nothing", "an object"):
        with pytest.raises(TypeError, match="the value of fn: .*cannot be converted|fn returned None"):
            run()
    else:
        wanted = [r for r in rows for _ in range(2)] if step == "a pair" else [mapped(r, step) for r in rows]
        got = al.nest.flatten(run())
        assert [(g.dtype, g.shape) for g in got] == [(w.dtype, w.shape) for w in wanted]
        for g, w in zip(got, wanted, strict=True):
            np.testing.assert_array_equal(np.asarray(g), w)


@pytest.mark.parametrize("value", [{}, {1: 2}, [[]], [()], b"a", 1 + 2j], ids=repr)
def test_odd_loop_variables_are_run(value):
    got, count = al.while_loop(lambda *a: a[-1] < 2, lambda v, n: (v, n + 1), [value, 0])
    assert al.nest.structure_of(got) == al.nest.structure_of(value)
    assert [np.asarray(leaf) for leaf in al.nest.flatten(got)] == al.nest.flatten(value)
    assert np.asarray(count) == 2


@pytest.mark.parametrize("value", [set(), object(), np.array(["a", None], object)], ids=["set", "object", "objects"])
def test_odd_loop_variables_are_refused(value):
    why = "(cannot be converted to a tensor|is an array of Python objects, which tensors do not hold)"
    with pytest.raises(TypeError, match=rf"loop variable 'loop_vars\[0\]': .* {why}"):
        al.while_loop(lambda *a: al.constant(False), lambda *a: a, [value, 0])
