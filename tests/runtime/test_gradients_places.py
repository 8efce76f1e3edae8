"""Every op that has a gradient, in branches and loops and in both at once: the derivatives are those outside of them.

A rule that put a node into another graph than the one it is asked in would be found here, for any op: a gradient built
in a loop's body may only use what that body has, computes again or gets handed. One table holds a program for each op;
the table is checked to be complete.
"""

from __future__ import annotations

import math
from functools import cache

import autoloop as al
import autoloop.compat.v1 as v1
import numpy as np
from api import OPS, Graph, TensorShape, apply, call, defined, placed
from autoloop.differentiation import gradients, jvp
from each_case import each
from executors import spread
from random_programs import by_nodes
from sample_files import gathered

F64 = al.float64
RNG = np.random.default_rng(0)
V, U = RNG.uniform(0.2, 0.8, 4), RNG.uniform(1.7, 2.3, 4)
W = RNG.uniform(0.2, 0.8, (3, 3))
M = W @ W.T + np.eye(3)
ROWS = np.array([2, 0, 1, 2])
#: above 0, as branches ask
P = np.float64(0.5)

#: one argument each, and two each
UNARY = (
    "negative sign reciprocal square abs sqrt rsqrt cbrt exp expm1 exp2 log log1p log2 log10 sin cos tan arcsin "
    "arccos arctan sinh cosh tanh arcsinh arctanh sigmoid relu softplus erf floor ceil trunc rint identity length "
    "sort softmax log_softmax"
).split()
BINARY = "add subtract multiply divide mod pow maximum minimum arctan2 hypot copysign logaddexp".split()
REDUCTIONS = "sum prod max min mean logsumexp".split()


def all_of(names, *args):
    return al.concat([al.reshape(call(name, *args), [-1]) for name in names], 0)


#: name -> (function of tensors, arguments); what has several programs has names that begin with its own
SAMPLES = {f"elementwise {k}": (lambda x, k=k: all_of(UNARY[k::4], x), [V]) for k in range(4)}
SAMPLES |= {f"of two {k}": (lambda x, y, k=k: all_of(BINARY[k::2], x, y), [V, U[:1]]) for k in range(2)}
SAMPLES |= {f"reductions {axis}": (lambda x, axis=axis: all_of(REDUCTIONS, x, axis), [M]) for axis in (None, 1)}


def array(size=3):
    return al.TensorArray(F64, size=size, clear_after_read=False, infer_shape=False)


def two_reads(x):
    rows = array().unstack(x)
    return rows.read(1) * rows.read(0)


def as_list(flow, name, index, *values):
    """The flow of a list's array after one of its operations."""
    attrs = {} if name in ("replace", "insert") else {"words": "index out of range"}
    return apply(OPS[f"tensor_array_{name}"], [flow, al.constant(index), *values], attrs)


def element(flow, index):
    attrs = {"words": "index out of range", "dtype": F64, "shape": TensorShape(None)}
    return apply(OPS["tensor_array_read_listed"], [flow, al.constant(index)], attrs)


def changed_list(x):
    """``l[1] = x[0] * x[2]``, then ``del l[0]``, then ``l.pop()``, then ``l.insert(0, x[1])``: rows are read before and
    after."""
    flow = as_list(array().unstack(x).flow, "replace", 1, x[0] * x[2])
    rest = as_list(flow, "remove", 0)
    last = as_list(rest, "drop", 1)
    more = as_list(last, "insert", 0, x[1])
    return element(flow, 0) * element(rest, 1) * element(last, 0) * element(more, 0) * element(more, 1)


def twice_stacked(x):
    rows = array().unstack(x * x)
    return rows.stack() * rows.stack()


def recurrence(x, y):
    return al.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, al.tanh(s @ y * 0.1)), (0, x))[1]


def sparse_product(x, y):
    places = al.constant([[0, 1], [2, 2], [1, 0], [1, 1]], dtype=al.int64)
    return al.sparse.sparse_dense_matmul(al.SparseTensor(places, x, [3, 3]), y)


@al.custom_gradient
def own_rule(x):
    return x * x, lambda g: 3.0 * g * x


def whole(x):
    return al.cast(x * 0.0, al.int32)


SAMPLES |= {
    "arccosh": (lambda x: call("arccosh", x), [U]),
    "broadcast": (lambda x, y: x + y, [M, V[:3]]),
    "reshape": (lambda x: al.reshape(x, [-1]), [M]),
    "remat": (al.remat(lambda x: al.sin(al.exp(x)) * x), [V]),
    "expand_dims": (lambda x: al.squeeze(al.expand_dims(x, 0), 0) * x, [M]),
    "transpose": (al.transpose, [M]),
    "flip": (lambda x: al.flip(x, axis=0), [M]),
    "roll": (lambda x: al.roll(x, 1, axis=0), [M]),
    "concat": (lambda x, y: al.concat([x, y, x], 0), [M, W]),
    "stack": (lambda x, y: al.stack([x, y, x], 0), [M, W]),
    "unstack": (lambda x: al.unstack(al.ensure_shape(x, [3, 3]))[1], [M]),
    "split": (lambda x: al.split(al.ensure_shape(x, [3, 3]), 3, 0)[1], [M]),
    "cast": (lambda x: al.real(al.square(al.cast(x, al.complex128))), [V]),
    "where": (lambda x, y: al.where(x > 0.5, x, y), [V, U]),
    "complex": (lambda x, y: al.real(al.conj(call("complex", x, y)) * call("complex", y, x * y)), [V, U]),
    "imag": (lambda x, y: al.imag(al.square(call("complex", x, y))), [V, U]),
    "set_real": (lambda x, y: al.imag(al.square(call("set_real", call("complex", x, y), x * y))), [V, U]),
    "set_imag": (lambda x, y: al.imag(al.square(call("set_imag", call("complex", x, y), x * y))), [V, U]),
    "of no axes": (
        lambda x, y: (
            call("abs_in_loop", call("multiply_in_loop", x[0], y[0]))
            * apply(OPS["pow_in_loop"], [x[1], y[1]])
            * al.imag(call("python_ratio", call("complex", x[2], y[2]), call("complex", y[1], x[0])))
        ),
        [V, U],
    ),
    "complex_extremes": (lambda x, y: al.real(np.max(al.complex(x, y)) * np.min(al.complex(y, x * x))), [V, U]),
    "getitem": (lambda x: x[1:3], [V]),
    "getitem rows": (lambda x: x[al.constant(ROWS)], [M]),
    "getitem computed": (lambda x: x[whole(x[0, 0])] * x[1], [M]),
    "place": (lambda x, y: placed(x, y[:2], x > 0.5), [V, U]),
    "set_item": (lambda x, y: al.set_item(x, 1, y[0] * y[1]), [V, U]),
    "set_item slice": (lambda x, y: al.set_item(x, slice(1, 3), y[:2]), [V, U]),
    "set_item rows": (lambda x, y: al.set_item(x, al.constant([0, 2]), y), [M, W[:2]]),
    "set_item broadcast": (lambda x, y: al.set_item(x, slice(None), y), [M, W[:1]]),
    "set_item computed": (lambda x, y: al.set_item(x, (slice(None), whole(y[0, 0])), y[0]), [M, W[:1]]),
    "set_item constant": (lambda x: al.set_item(x, slice(0, 2), 0.5) * x, [V]),
    "gather": (lambda x: al.gather(x, al.constant(ROWS)), [M]),
    "gather columns": (lambda x: al.gather(x, al.constant(ROWS), axis=1), [M]),
    "gather twice": (lambda x: al.gather(x, [0, 0]) * al.gather(x, [1, 2]), [M]),
    "take_along_axis": (lambda x: al.take_along_axis(x, al.constant([[0, 1], [1, 1], [2, 0]]), axis=1), [M]),
    "gather_nd": (lambda x: al.gather_nd(x, al.constant([[0, 1], [2, 2]])), [M]),
    "scatter": (lambda x: al.scatter(al.constant([[0], [2], [0], [1]]), x, [5]), [V]),
    "scatter_update": (lambda x, y: call("scatter_update", x, al.constant([[0], [2]]), y), [M, W[:2]]),
    "numbers": (
        lambda x: call("number_divide", x[0, 0], x[1, 1] + 3) + call("number_pow", al.exp(x[0, 1]), x[1, 0]),
        [M],
    ),
    "a number's function of Python's": (lambda x: defined(math.exp, al.exp)(x[0]), [V]),
    "matmul": (lambda x, y: x @ y, [M, W]),
    "dot_product": (lambda x, y: apply(OPS["dot_product"], [x, y]), [M, W]),
    "sum_of_squares": (lambda x: apply(OPS["sum_of_squares"], [x]), [M]),
    "add_at": (lambda x, y: call("add_at", x, (np.array([1, 1, 0]),), x[:3] * y[:3]), [V, U]),
    "matmul again and again": (recurrence, [M, W]),
    "einsum": (lambda x, y: al.einsum("ij,kj->ik", x, y), [M, W]),
    "inv": (lambda x: call("inv", x), [M]),
    "det": (lambda x: call("det", x), [M]),
    "cholesky": (lambda x: call("cholesky", x), [M]),
    "solve": (lambda x, y: call("solve", x, y), [M, W]),
    "cumsum": (lambda x: al.cumsum(x, axis=0), [M]),
    "cumprod": (lambda x: al.cumprod(x, axis=0), [M]),
    "fill": (lambda x: al.full([3], x[0]), [V]),
    "arange_in_dtype": (
        lambda x: apply(OPS["arange_in_dtype"], [x[0], x[0] + 1.5, x[1]], {"dtype": F64, "weak": (False,) * 3}),
        [V],
    ),
    "checked_operand": (lambda x: apply(OPS["checked_operand"], [x * x, x], {"check": lambda *arrays: None}), [V]),
    "linspace": (lambda x: al.linspace(x[0], x[1], 4), [V]),
    "tril": (lambda x: al.tril(x) * al.triu(x), [M]),
    "diagonal": (al.diagonal, [M]),
    "broadcast_to": (lambda x: al.broadcast_to(x, [2, 4]), [V]),
    "tile": (lambda x: al.tile(x, [2, 2]), [M]),
    "repeat": (lambda x: al.repeat(x, 2), [V]),
    "pad": (lambda x: al.pad(x, [[1, 1]]), [V]),
    "print_through": (lambda x: v1.Print(x * x, [], first_n=0), [V]),
    "sparse_matmul": (sparse_product, [V, M]),
    "tensor_array_write": (lambda x: array().write(0, x * x).write(1, x).write(2, 2.0 * x).stack(), [V]),
    "tensor_array_read": (two_reads, [M]),
    "tensor_array_stack": (twice_stacked, [M]),
    "tensor_array_read_once": (lambda x: al.TensorArray(F64, size=3, clear_after_read=True).unstack(x).read(1), [M]),
    "tensor_array_gather": (lambda x: array().unstack(x).gather([0, 2]), [M]),
    "tensor_array_scatter": (lambda x: array().scatter([2, 0, 1], x).read(0), [M]),
    "tensor_array_remove": (changed_list, [M]),
    "tensor_array_concat": (lambda x: array().unstack(x).concat(), [M]),
    "tensor_array_split": (lambda x: array().split(x, [1, 2, 1]).read(1), [V]),
    "copied": (lambda x: apply(OPS["copied"], [x * x]) * x, [V]),
    "of_library": (lambda x: apply(OPS["of_library"], [x * x]) * x, [V]),
    "of_numpy": (lambda x: apply(OPS["of_numpy"], [x * x]) * x, [V]),
    "CustomGradient": (own_rule, [V]),
}
#: what is not in a program above: NumPy's names and SciPy's, with arrays of one shape
OF_LIBRARIES = {name: (f, arrays) for name, (f, *arrays) in gathered("GRADIENTS").items()}
SAMPLES |= OF_LIBRARIES
#: these are only in loops that run again, whose tests are in ``test_gradients_checkpoints``, or that swap
WITH_CHECKPOINTS = {
    "AddCheckpoint", "GetCheckpoint", "Interval", "LatestCheckpoint", "RewindCheckpoints", "WithoutAdjoint", "SwapPush",
}  # fmt: skip
#: these want the ranks of their arguments
RANKED = {
    "matmul", "dot_product", "inv", "det", "cholesky", "solve", "tile", "pad", "sparse_matmul", "complex_extremes",
}  # fmt: skip


def weighted(made):
    """A number that all elements of what is made have a part of their own in."""
    return sum([_weighted(y) for y in al.nest.flatten(made)], zero())


def _weighted(y):
    if y.dtype.kind == "c":
        return _weighted(al.real(y)) + _weighted(al.imag(y))
    numbers = al.reshape(al.cast(al.range(al.size(y)), F64) + 0.3, al.shape(y))
    return al.sum(y * al.sin(numbers))


def zero():
    return al.constant(0.0, dtype=F64)


def outside(f, xs, p):
    return weighted(f(*xs))


def in_branches(f, xs, p):
    """In the branch of a branch of a loop."""

    def body(i, s):
        return i + 1, al.cond(
            al.equal(i, 1), lambda: al.cond(p < 0.0, lambda: s, lambda: s + weighted(f(*xs))), lambda: s
        )

    return al.while_loop(lambda i, s: i < 2, body, (0, zero()))[1]


def in_a_loop(f, xs, p):
    """In the loop of a branch."""

    def loop():
        return al.while_loop(lambda i, s: i < 1, lambda i, s: (i + 1, s + weighted(f(*xs))), (0, zero()))[1]

    return al.cond(p < 0.0, zero, loop)


def in_both(f, xs, p):
    return 0.75 * in_branches(f, xs, p) + 0.25 * in_a_loop(f, xs, p)


PLACES = {"branches": in_branches, "loop": in_a_loop}


def gradient(y, xs):
    found = gradients(y, xs)
    return [al.zeros_like(x) if g is None else al.convert_to_tensor(g) for g, x in zip(found, xs)]


def curved(slopes):
    return sum([al.sum(al.sin(g * (0.3 + 0.2 * k))) for k, g in enumerate(slopes)], zero())


@cache
def function(name, place, unknown=False, executor="sequential", forward=False, orders=2):
    """Gives the gradients, and those of a function of them or, with ``forward``, its derivative along all ones."""
    signature = [al.TensorSpec(shape, F64) for shape in shapes_of(name, unknown)]
    made = al.function(autograph=False, executor=executor, input_signature=signature)
    return made(everything(SAMPLES[name][0], place, forward, orders))


def shapes_of(name, unknown):
    arrays = SAMPLES[name][1]
    if not unknown:
        return [*[a.shape for a in arrays], []]
    return [*[[None] * a.ndim if name.split()[0] in RANKED else None for a in arrays], []]


def everything(f, place, forward, orders):
    def derivatives_of(*args):
        *xs, p = args
        first = gradient(place(f, xs, p), xs)
        if orders == 1:
            return first, []
        if forward:
            again = lambda *xs: curved(gradient(place(f, xs, p), list(xs)))  # noqa: E731
            return first, [jvp(again, xs, [al.ones_like(x) for x in xs])[1]]
        return first, gradient(curved(first), xs)

    return derivatives_of


def by_rules(name, orders=2):
    """The derivatives outside, node by node: what the rules give by themselves."""
    f, arrays = SAMPLES[name]
    return by_nodes(everything(f, outside, False, orders), *arrays, P)[1](*arrays, P)


def derivatives(name, place, **how):
    # copies, for some programs know the very arrays by another name, of which that would be the derivative, too
    arrays = [array.copy() for array in SAMPLES[name][1]]
    return al.nest.map_structure(np.asarray, function(name, place, **how)(*arrays, P))


def traced(name, place, unknown, orders):
    """The graph that ``function`` makes, which nobody runs."""
    graph = Graph(ordered=True)
    with graph.as_default():
        given = [graph.parameter(F64, TensorShape(shape)) for shape in shapes_of(name, unknown)]
        everything(SAMPLES[name][0], place, False, orders)(*given)
    return graph


def names(graph):
    return {n.op.name for n in graph.nodes}.union(*[names(g) for n in graph.nodes for g in n.subgraphs])


def orders_of(name):
    """Of libraries' functions the first: the second are those of the ops that it is made of."""
    return 1 if name in OF_LIBRARIES else 2


def close(found, expected):
    for a, b in zip(al.nest.flatten(found), al.nest.flatten(expected)):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


@spread("name", [(name,) for name in SAMPLES], SAMPLES, list(PLACES), always=[], called="place")
def test_derivatives_inside_are_those_outside(name, place):
    close(
        derivatives(name, PLACES[place], unknown=name not in OF_LIBRARIES, orders=orders_of(name)),
        by_rules(name, orders_of(name)),
    )


FIRST = ("elementwise 0", "of two 0", "set_item", "getitem", "gather", "tensor_array")


@each([name for name in SAMPLES if name.startswith(FIRST)])
def test_forward_mode_inside_gives_what_reverse_mode_does_outside(name):
    first, second = by_rules(name)
    along = [np.sum([np.sum(g) for g in second])]
    close(derivatives(name, in_both, executor="dataflow", forward=True), (first, along))


def test_every_op_that_has_a_gradient_is_in_the_table():
    used = set()
    for name in SAMPLES:
        used |= names(traced(name, outside, False, 1))
    for name in ("getitem", "elementwise 0", "tensor_array_read", "tensor_array_remove", "tensor_array_stack"):
        used |= names(traced(name, in_both, True, 2))
    theirs = {name for name, op in OPS.items() if callable(op.vjp) and op.vjp.__module__.startswith("autoloop_runtime")}
    assert theirs - used - WITH_CHECKPOINTS == set(), "add a program with it to SAMPLES"
