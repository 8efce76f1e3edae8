"""What each op states of itself: that it does so at all, and that it is true of the kernel.

One file: each trait is a statement about the same ops.
"""

from __future__ import annotations

import inspect
import math
from functools import cache
from itertools import product

import autoloop as al
import numpy as np
import pytest
from api import (
    CONST,
    ELEMENTS,
    FUNCTIONS,
    MADE,
    NO_GRADIENT,
    NO_RULE,
    OPAQUE,
    OPS,
    PARAMETER,
    SCALAR,
    Batching,
    Fails,
    Graph,
    Memory,
    NoRule,
    Op,
    Price,
    Products,
    TensorShape,
    Traits,
    apply,
    call,
    can_fail,
    defined,
    entry_of,
    ops,
    primitive,
    register,
)
from each_case import each
from sample_files import gathered
from test_gradients_every_op import PROGRAMS as DIFFERENTIABLE
from test_gradients_every_op import leaves

_rng = np.random.default_rng(7)
A, B = _rng.uniform(0.3, 0.8, (2, 3)), _rng.uniform(-0.8, -0.3, (2, 3))
WHOLE, SMALL = np.array([[5, -3, 2], [7, 1, -4]]), np.array([[1, 2, 3], [2, 1, 1]])

INT_ARITHMETIC = "add subtract multiply pow left_shift right_shift".split()
#: what the programs with derivatives do not reach
OTHERS = {
    "compared": (lambda x, y: [x == y, x != y, x < y, x <= y, x > y, x >= y[0]], A, B),
    "asked": (lambda x: [al.isnan(x), al.isinf(x), al.isfinite(x), al.any(x > 0, 1), al.all(x > 0)], A),
    "logic": (lambda x: [al.logical_and(x > 0, x < 1), al.logical_or(x > 0, x < 1), al.logical_xor(x > 0, x < 1),
                         al.logical_not(x > 0)], A),
    "bits": (lambda x, y: [x & y, x | y[0], x ^ y, ~x, x << y, x >> y, x // y, x % y, -x, abs(x)], WHOLE, SMALL),
    "rounded": (lambda x, y: [x // y, al.stop_gradient(x)], A, B),
    "places": (lambda x: [al.argmax(x, 1), al.argmin(x), al.argsort(x)], A),
    "integers": (lambda x: [al.cumsum(x, 0), al.sort(x), al.max(x, 1), al.min(x), al.sum(x, 0), al.prod(x)], WHOLE),
    "ints": (lambda x, y: [call(f"number_{name}", x, y) for name in INT_ARITHMETIC], WHOLE[0, 0], SMALL[0, 1]),
    "an int of a float": (lambda x: call("python_int", x), B[0, 0]),
    "numbers": (lambda x, n: [
        call("number_round", x, 2), call("number_floor_divide", n, al.constant(-1, al.int64)),
        *(call("number_asked", f, kind, (given,), {}, lambda tensor: True)
          for f, kind, given in ((math.gamma, float, x), (math.isqrt, int, n))),
    ], A[0, 0], np.int64(2**63 - 1)),
    "a float of a large int": (lambda n: call("number_float", n), np.int64(2**62)),
    "a number that is defined": (lambda x: defined(math.log, al.log)(x), A[0, 0]),
}  # fmt: skip
OTHERS.update(gathered("WITHOUT_GRADIENTS"))
PROGRAMS = {**DIFFERENTIABLE, **{name: (f, arrays) for name, (f, *arrays) in OTHERS.items()}}
#: what asks for shapes that are not known, what only derivatives are made of, and Python numbers that a graph computes
ELSEWHERE = {
    "size", "rank", "put_along_axis", "sum_to", "sum_between", "ensure_shape", "fitted", "fitted_element",
    "ufunc_reduceat_spread", "copied", "of_library", "of_numpy", "dot_product", "place_in_sequence",
}  # fmt: skip


def _plain(op):
    return not (op.effect or op.stateful or op.graphs)


def _is_special(op):
    """Whether it is one of SciPy's functions without derivatives, or their orders, which tests of their own hold."""
    return (op.vjp is NO_RULE and op.name.startswith("special_")) or op.name == "order_of_function"


@cache
def samples():
    """Op -> what its kernel was given, with attributes, and what it gave: lists of arrays."""
    found = {}
    for f, arrays in PROGRAMS.values():
        graph = Graph()
        with graph.as_default():
            given = [graph.parameter(np.asarray(a).dtype, TensorShape(np.shape(a))) for a in arrays]
            leaves(f(*given))
        values = dict(zip(given, map(np.asarray, arrays)))
        for node in graph.nodes:
            if node.op is PARAMETER:
                continue
            assert _plain(node.op)
            ins = [values[t] for t in node.inputs]
            with np.errstate(all="ignore"):
                outs = node.op.results(node.op.kernel(*ins, **node.attrs), len(node.outputs))
            values.update(zip(node.outputs, outs))
            if node.op is not CONST:
                found.setdefault(node.op, []).append((ins, dict(node.attrs), outs))
    return found


def _of_numbers(values):
    return all(isinstance(v, (np.ndarray, np.generic)) and v.dtype.kind in "biufc" for v in values)


def _cases(holds):
    """Every sample of the ops for whose traits something holds."""
    for op, all_of_it in samples().items():
        if holds(op.traits):
            for ins, attrs, outs in all_of_it:
                yield op, ins, attrs, outs


def test_every_op_states_everything():
    for op in OPS.values():
        traits = op.traits
        assert isinstance(traits, Traits)
        kinds = {"batching": Batching, "memory": Memory, "fails": Fails}
        assert all(isinstance(getattr(traits, name), kind) for name, kind in kinds.items())
        assert isinstance(traits.price, Price | Products) or callable(traits.price)
        raises = traits.raises if isinstance(traits.raises, tuple) else (traits.raises,)
        assert raises and all(issubclass(one, Exception) for one in raises)
        told = (traits.rematerialise, traits.describes, traits.blas, traits.overwrites, traits.recalls)
        assert all(type(b) is bool for b in told)
        assert callable(op.vjp) or isinstance(op.vjp, NoRule)
        assert not traits.elementwise or (op.llvm is None) != (op.libm is None)


def test_each_trait_is_stated_by_a_family_or_by_the_row():
    """A family that leaves one out is an error as the module is imported; a row without a family is, too."""
    names = list(inspect.get_annotations(Traits))
    for name in names:
        stated = {field: getattr(MADE, field) for field in names if field != name}
        with pytest.raises(TypeError, match=name):
            Traits(**stated)


def test_a_row_that_leaves_something_out_is_an_error():
    def infer(x):
        return x.dtype, SCALAR

    with pytest.raises(TypeError, match="traits"):
        primitive("unstated", infer, np.exp, NO_GRADIENT)
    with pytest.raises(TypeError, match="the row of the op 'unstated' must state its traits"):
        register(Op("unstated", infer, np.exp, NO_GRADIENT))
    with pytest.raises(TypeError, match="the row of the op 'unstated' must state a gradient rule, NO_GRADIENT or NO_R"):
        register(Op("unstated", infer, np.exp, traits=ELEMENTS))
    with pytest.raises(TypeError, match="'unstated' must state its machine code: llvm, libm or NO_TEMPLATE"):
        register(Op("unstated", infer, np.exp, NO_GRADIENT, traits=ELEMENTS))
    assert "unstated" not in OPS


def test_samples_reach_what_states_something_of_arrays():
    stated = {
        op.name for op in OPS.values()
        if (op.traits.memory is not Memory.ANY or op.traits.batching is not Batching.NONE)
        and _plain(op) and not _is_special(op)
    }  # fmt: skip
    assert stated - {op.name for op in samples()} == ELSEWHERE


def test_results_lie_where_they_are_said_to():
    for op, ins, _, outs in _cases(lambda traits: traits.memory is not Memory.ANY):
        kept = ins if op.traits.memory is Memory.FRESH else ins[1:]
        assert not any(np.shares_memory(out, x) for out in outs for x in kept if _of_numbers([x])), op
    views = {op for op, ins, _, outs in _cases(lambda t: t.memory is Memory.VIEW) if np.shares_memory(outs[0], ins[0])}
    assert {op.name for op in views} >= {"reshape", "transpose", "getitem", "split", "unstack", "real", "identity"}


def test_elements_are_computed_one_by_one():
    for op, ins, attrs, (out,) in _cases(lambda traits: traits.elementwise):
        spread = np.broadcast_arrays(*ins)
        assert spread[0].shape == np.shape(out), op
        for place in ((..., slice(0, 1)), (..., slice(-1, None))) if np.ndim(out) else ():
            with np.errstate(all="ignore"):
                part = op.kernel(*[x[place].copy() for x in spread], **attrs)
            assert part.dtype == out.dtype
            np.testing.assert_allclose(part, out[place], rtol=1e-14, err_msg=op.name)


def test_axes_move_by_one_for_many_rows():
    for op, (x,), attrs, (out,) in _cases(lambda traits: traits.batching is Batching.AXES):
        axes = range(x.ndim) if attrs["axis"] is None else attrs["axis"]
        rows = np.stack([x, x, x])
        found = op.kernel(rows, **{**attrs, "axis": tuple([a % x.ndim + 1 for a in axes])})
        np.testing.assert_allclose(found, np.stack([out, out, out]), rtol=1e-14, err_msg=op.name)


def test_what_describes_its_input_does_not_look_at_the_elements():
    attrs = {"shape": {"dtype": al.int32}, "size": {"dtype": al.int32}, "rank": {}}
    assert {op.name for op in OPS.values() if op.traits.describes} == attrs.keys()
    for name, given in attrs.items():
        op = OPS[name]
        np.testing.assert_array_equal(op.kernel(A, **given), op.kernel(np.full_like(A, np.nan), **given))


def _misfits(x):
    """``x`` in other shapes."""
    x = np.asarray(x)
    yield x[None]
    yield np.zeros((3, 5, 7), x.dtype)
    if x.ndim:
        yield np.zeros(x.shape[1:], x.dtype)
        yield x[..., :-1]
        yield np.concatenate([x, x])


def test_strict_kernels_refuse_what_inference_refuses():
    """So what is computed at once needs no inference; the message is that of inference all the same."""
    refused = set()
    for op, all_of_it in samples().items():
        for ins, attrs, _ in all_of_it if op.strict else ():
            for place, x in enumerate(ins):
                for other in _misfits(x):
                    given = [*ins[:place], np.asarray(other)[()], *ins[place + 1 :]]
                    tensors = list(map(al.convert_to_tensor, given))
                    try:
                        op.specs(*tensors, **attrs)
                    except (ValueError, IndexError, TypeError) as error:
                        said = str(error)
                    else:
                        continue
                    refused.add(op.name)
                    with pytest.raises((ValueError, IndexError, TypeError)), np.errstate(all="ignore"):
                        op.kernel(*given, **attrs)
                    with pytest.raises((ValueError, IndexError, TypeError)) as found:
                        apply(op, tensors, attrs)
                    assert str(found.value) == said and found.value.__cause__ is None
    assert refused >= {"add", "equal", "where", "matmul", "getitem", "concat", "stack", "reshape", "transpose", "sum"}
    assert not any(op.several or op.effect or op.graphs for op in OPS.values() if op.strict)


def _arguments(op):
    return inspect.signature(op.infer).parameters


def test_shapes_that_follow_from_values_say_from_which():
    """Those of random numbers are not asked: no machine code draws them."""
    told = {op for op in OPS.values() if {"known", "static"} & set(_arguments(op))}
    asked = {op for op in told if not op.name.startswith("random_")}
    assert asked == {op for op in OPS.values() if op.extents is not None}
    for op in asked:
        name, position = op.extents
        for ins, attrs, (out,) in samples().get(op, []):
            extents = attrs[name].known if isinstance(attrs[name], TensorShape) else attrs[name]
            assert position >= len(ins) or tuple(ins[position].tolist()) == extents
            given = [*ins[:position], np.array(extents), *ins[position + 1 :]]
            made = op.kernel(*given, **attrs)
            assert made.tobytes() == np.asarray(out).tobytes() and np.shape(made) == np.shape(out)


def test_the_inputs_of_an_index_are_positions():
    """Machine code finds by that what an index is made of."""
    seen = set()
    for op, all_of_it in samples().items():
        for ins, attrs, _ in all_of_it:
            if "index" in attrs:
                seen.add(op.name)
                inputs = ins[op.positions]
                attrs["index"].resolve(inputs)
                if inputs:
                    with pytest.raises(IndexError):
                        attrs["index"].resolve(inputs[:-1])
    assert seen == {"getitem", "set_item", "add_at", "index_add"}


def test_an_effect_that_can_only_end_the_run_gives_nothing():
    ends = {op.name for op in OPS.values() if op.ends_run}
    assert ends == {"assert", "raise"} and {op.name for op in OPS.values() if op.only_looks} == {"ReadVariable"}
    assert all(OPS[name].effect and OPS[name].several and not OPS[name].stateful for name in ends)


def test_what_takes_over_memory_gives_as_much_as_it_takes():
    seen = set()
    for op, ins, _, outs in _cases(lambda traits: traits.overwrites):
        if not _of_numbers([ins[0], outs[0]]):
            continue
        seen.add(op.name)
        assert ins[0].size == outs[0].size and ins[0].dtype == outs[0].dtype
        if op.traits.memory is Memory.VIEW:
            scalar = np.ndim(outs[0]) == 0 or isinstance(ins[0], np.generic)
            assert scalar or np.shares_memory(ins[0], outs[0]) or not ins[0].flags.c_contiguous
    views = {"reshape", "expand_dims", "squeeze"}
    assert seen == {"set_item", "set_real", "set_imag", "add_at", "place", "scatter_update"} | views


def test_other_spellings_stand_in_the_rows():
    assert ops.ALIASES["reduce_sum"] == "sum" and ops.ALIASES["concatenate"] == "concat"
    for alias, name in ops.ALIASES.items():
        assert getattr(al, alias) is getattr(al, name) is FUNCTIONS[name]


def test_derivatives_that_are_said_to_be_zero_are():
    for op, all_of_it in samples().items():
        for ins, attrs, outs in all_of_it if op.vjp is NO_GRADIENT else ():
            if outs[0].dtype.kind in "fc" and op.name != "stop_gradient":
                moved = [x * (1 + 1e-9) if x.dtype.kind == "f" else x for x in ins]
                np.testing.assert_array_equal(op.kernel(*moved, **attrs), outs[0])
    refused = {op.name for op in OPS.values() if op.vjp is NO_RULE and not _is_special(op)}
    assert refused == {
        "py_function", "random_draw", "unique",
        "AssignVariable", "AssignAddVariable", "AssignSubVariable", "While", "Cond",
        "qr_raw", "view", "set_field", "getfield", "byteswap", "python_number", "ufunc_at",
    }  # fmt: skip


@each([op.name for op in OPS.values() if op.neutral is not None])
def test_a_neutral_operand_does_nothing_to_the_bit(name):
    op, neutral = OPS[name], OPS[name].neutral
    for kind, x in (("i", WHOLE), ("f", np.array([-0.0, 0.0, 2.5, np.inf])), ("b", np.array([True, False]))):
        takes = kind in neutral.kinds and not (kind != "b" and name.startswith("logical"))
        if not takes or (kind == "f" and name.startswith("bitwise")) or (kind == "b" and name == "divide"):
            continue
        other = x.dtype.type(neutral.value)
        other = -other if neutral.negative_zero and kind == "f" else other
        pairs = [(x, other), (other, x)] if neutral.swaps else [(x, other)]
        for pair in pairs:
            found = op.kernel(*pair)
            assert found.dtype == x.dtype and found.tobytes() == x.tobytes()


def test_what_undoes_itself_does_so():
    for op in (op for op in OPS.values() if op.undoes_itself):
        x = np.array([True, False]) if op.name == "logical_not" else WHOLE
        np.testing.assert_array_equal(op.kernel(op.kernel(x)), x)


@each([op.name for op in OPS.values() if op.traits.batching is Batching.AXES])
def test_only_the_largest_of_no_elements_fails(name):
    op = OPS[name]
    empty = np.zeros((0, 2), bool if name in ("any", "all") else float)
    if op.traits.fails is Fails.NO_ELEMENTS:
        with pytest.raises(op.traits.raises):
            op.kernel(empty, axis=(0,), keepdims=False)
    else:
        with np.errstate(all="ignore"):
            assert op.kernel(empty, axis=(0,), keepdims=False).shape == (2,)


@pytest.mark.parametrize(
    ("shape", "fails"), [((2, 3), False), ((0, 3), True), ((3, 0), True), ((None, 3), True), (None, True)]
)
def test_the_largest_of_elements_that_are_there_cannot_fail(shape, fails):
    graph = Graph()
    with graph.as_default():
        for f in (al.max, al.min, al.logsumexp):
            assert can_fail(f(graph.parameter(al.float64, TensorShape(shape)), axis=0).op) is fails
        if shape and None not in shape:  # shares of no elements are none
            assert not can_fail(al.softmax(graph.parameter(al.float64, TensorShape(shape)), axis=0).op)


OUTSIDE = {
    "gather": lambda x: al.gather(x, 7),
    "gather_nd": lambda x: al.gather_nd(x, [[7, 0]]),
    "take_along_axis": lambda x: al.take_along_axis(x, np.array([[7, 0, 0]]), 0),
    "scatter": lambda x: al.scatter([[7]], [1.0], [2]),
    "scatter_update": lambda x: al.scatter_update(x, [[7, 0]], [1.0]),
    "inv": lambda x: al.inv(np.zeros((2, 2))),
    "solve": lambda x: al.solve(np.zeros((2, 2)), np.ones(2)),
    "cholesky": lambda x: al.cholesky(-np.eye(2)),
}


@each(OUTSIDE)
def test_kernels_raise_what_they_are_said_to(name):
    with pytest.raises(OPS[name].traits.raises):
        OUTSIDE[name](al.constant(A))


def test_a_family_with_a_difference_keeps_the_rest():
    other = MADE.but(blas=True)
    assert other.blas and not MADE.blas
    assert other.memory is MADE.memory and other != MADE and other.but(blas=False) == MADE
    assert Op("loose", None, None).traits == OPAQUE


_INTEGERS = [np.dtype(kind + size) for kind in "iu" for size in "1248"]


@each(product([op for op in OPS.values() if op.numbers], _INTEGERS), lambda op, dtype: f"{op.name}, {dtype}")
def test_a_number_is_as_good_as_an_integer_of_the_dtype(op, dtype):
    for values in (dtype.type(5), np.array([1, 7, 100], dtype)):
        for code in (op.code.format("given", "values"), op.code.format("values", "given")):
            with np.errstate(over="ignore"):
                found = [np.asarray(eval(code, {"given": given, "values": values})) for given in (3, dtype.type(3))]
            assert found[0].dtype == found[1].dtype
            assert found[0].tobytes() == found[1].tobytes()


@pytest.mark.parametrize("op", [op for op in OPS.values() if op.idempotent], ids=lambda op: op.name)
def test_of_one_value_twice_an_idempotent_op_gives_that(op):
    cases = [(ins, attrs) for ins, attrs, _ in samples().get(op, [])] or [([WHOLE, SMALL], {})]
    for (*condition, x, _), attrs in cases:
        expected = np.broadcast_to(x, np.broadcast_shapes(np.shape(x), *map(np.shape, condition)))
        assert np.asarray(op.kernel(*condition, x, x, **attrs)).tobytes() == expected.tobytes()


def test_a_position_may_be_a_number():
    seen = set()
    for op in [op for op in OPS.values() if op.positions is not None]:
        for ins, attrs, outs in samples().get(op, []):
            places = range(len(ins))[op.positions]
            numbers = [k in places and np.ndim(x) == 0 and x.dtype.kind in "iu" for k, x in enumerate(ins)]
            given = [int(x) if is_number else x for x, is_number in zip(ins, numbers)]
            found = op.results(op.kernel(*given, **attrs), len(outs))
            for value, out in zip(found, outs):
                assert np.asarray(value).dtype == np.asarray(out).dtype
                if np.asarray(out).dtype != object:
                    np.testing.assert_array_equal(value, out)
            seen.add(op.name)
    assert {"getitem", "set_item", "tensor_array_write", "tensor_array_read"} <= seen


#: where what machine code knows of an op is not what the row states of the kernel, and why
DIFFERENT = {
    # a few instructions, but slow ones, or ones that do not overlap: one more pass over memory takes less
    "not cheap": {"divide", "reciprocal", "sqrt", "rsqrt", "length", "floor", "ceil", "trunc", "rint", "copysign"},
    # one number; nothing, of a sum that in machine code is an array as any other
    "cheap": {"fill", "Settle"},
    # the kernel copies, or makes what machine code only describes
    "a view": {"diagonal", "range"},
    # computed with the other elements, or added up where it must be; a number that was looked at
    "no view": {
        "broadcast_to",
        "identity",
        "imag",
        "place_in_sequence",
        "real",
        "stop_gradient",
        "sum_to",
        "divisor",
        "python_power",
        "fitting_divisor",
        "shift_count",
        "defined_number",
    },
    # one value per element, of one that is repeated; of sums, whose kernels work on a buffer that changes
    "pointwise": {"broadcast_to", "fill", "Accumulate", "Settle"},
    "not pointwise": set(),
}


def test_machine_code_differs_from_the_rows_where_it_is_said_to():
    known = {op: entry for op in OPS.values() if (entry := entry_of(op)) is not None}
    priced = {op for op in known if op.traits.elementwise and op.traits.price in (Price.ARITHMETIC, Price.VIEW)}
    stated = {
        "cheap": priced - {op for op in priced if op.stateful},
        "view": {op for op in known if op.traits.memory is Memory.VIEW},
        "pointwise": {op for op in known if op.traits.elementwise},
    }
    held = {name: {op for op, entry in known.items() if getattr(entry, name)} for name in stated}
    more = {name: {op.name for op in held[name] - stated[name]} for name in stated}
    fewer = {name: {op.name for op in stated[name] - held[name]} for name in stated}
    assert (more["cheap"], fewer["cheap"]) == (DIFFERENT["cheap"], DIFFERENT["not cheap"])
    assert (more["view"], fewer["view"]) == (DIFFERENT["a view"], DIFFERENT["no view"])
    assert (more["pointwise"], fewer["pointwise"]) == (DIFFERENT["pointwise"], DIFFERENT["not pointwise"])
