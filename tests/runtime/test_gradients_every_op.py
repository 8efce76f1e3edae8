"""Every differentiable operation at ordinary points: gradients, theirs, and forward mode, against differences.

The table is checked for completeness: an operation with a gradient rule that no program reaches fails.
"""

from __future__ import annotations

from functools import cache

import autoloop as al
import examples
import numpy as np
import pytest
from api import FUNCTIONS, NUMPY_FUNCTIONS, OPS, call, placed
from autoloop.differentiation import grad, jvp, value_and_grad
from each_case import each
from random_programs import by_nodes
from sample_files import gathered

F64 = al.float64
#: what tests of its own hold: the identity of a print, the read of a TensorArray that clears, a check of a shape, lists
ELSEWHERE = {
    "print_through", "checked_operand", "tensor_array_read_once", "tensor_array_read_listed",
    "tensor_array_replace", "tensor_array_insert",
    "tensor_array_drop", "tensor_array_remove", "ensure_shape", "defined_number", "copied", "of_library", "of_numpy",
    "dot_product", "sum_of_squares", "Held", "Remat",
}  # fmt: skip

_rng = np.random.default_rng(3)
#: away from every tie, bound and integer
A = _rng.uniform(0.3, 0.8, (2, 3))
B = _rng.uniform(-0.8, -0.3, (2, 3))
BIG = _rng.uniform(1.2, 2.8, (2, 3))
ROW = _rng.uniform(0.2, 0.9, 3)
SQUARE = np.eye(3) * 2 + _rng.normal(0, 0.3, (3, 3))
ONE = np.array(0.7)

UNARY = {
    "negative square abs sign sqrt length rsqrt cbrt reciprocal exp expm1 exp2 log log1p log2 log10 sin cos tan arcsin "
    "arccos arctan sinh cosh tanh arcsinh arctanh sigmoid relu softplus erf floor ceil trunc rint": A,
    "abs sign cbrt reciprocal exp expm1 exp2 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arctanh "
    "sigmoid relu softplus erf floor trunc": B,
    "arccosh rsqrt floor": BIG,
}  # fmt: skip
COMPLEX = (
    "negative square abs sign sqrt rsqrt reciprocal exp expm1 exp2 log log1p log2 log10 sin cos tan arcsin arccos "
    "arctan sinh cosh tanh arcsinh arccosh arctanh sigmoid real imag conj angle"
)
BINARY = "add subtract multiply divide mod pow maximum minimum arctan2 hypot logaddexp copysign"


def z(x):
    """A complex tensor that moves with the real ``x``."""
    return al.complex(x, x * x + 0.2)


def _programs():
    for names, x in UNARY.items():
        for name in names.split():
            yield f"{name}, {'below 0' if x is B else 'above 0'}", FUNCTIONS[name], [x]
    for name in COMPLEX.split():
        yield f"{name}, complex", lambda x, f=FUNCTIONS[name]: f(z(x)), [A]
    for name in BINARY.split():
        f = FUNCTIONS[name]
        yield name, lambda x, y, f=f: [f(x, y), f(y, x[0]), f(x * 1.5, x)], [A, BIG]
    for name in ("add", "subtract", "multiply", "divide", "pow"):
        yield f"{name}, complex", lambda x, y, f=FUNCTIONS[name]: f(z(x), z(y)), [A, BIG]
    for name in ("sum", "prod", "max", "min", "mean", "logsumexp", "var", "std", "norm"):
        yield name, lambda x, f=FUNCTIONS[name]: [f(x), f(x, axis=0), f(x, axis=(0, 1), keepdims=True)], [A]
    for name in ("sum", "prod", "mean"):
        yield f"{name}, complex", lambda x, f=FUNCTIONS[name]: f(z(x), 1), [A]
    for name in ("cumsum", "cumprod"):
        f = FUNCTIONS[name]
        yield name, lambda x, f=f: [f(x, 1), f(x, 1, True), f(x, 1, False, True), f(x, 0, True, True)], [A]
        yield f"{name}, complex", lambda x, f=FUNCTIONS[name]: f(z(x), 0), [A]
    for name, (f, *arrays) in {**OTHERS, **gathered("GRADIENTS")}.items():
        yield name, f, arrays


def _array(x):
    return al.TensorArray(F64, 2).unstack(x)


OTHERS = {
    "powers": (lambda x: [x**2, x**3, x**0.5, x**-1.0, x**0, 2.0**x], A),
    "without axes": (
        lambda x: [np.power(x[0, 0], x[1]), np.power(x[0, 0], x[1, 1]), np.power(x[0, 1], 2), np.abs(z(x[0, 0])),
                   np.multiply(z(x[0, 0]), z(x[1, 1])), call("number_divide", z(x[0, 0]), z(x[1, 1]))], A,
    ),
    "norms": (lambda x: [al.norm(x, 1), al.norm(x, 3), al.norm(x, np.inf), al.norm(x, -np.inf)], B),
    "matrix norms": (lambda x: [np.linalg.norm(x, o) for o in (1, -1, 2, -2, np.inf, -np.inf, "nuc", "fro")], SQUARE),
    "norms of wide matrices": (lambda x: [np.linalg.norm(x, o, (1, 0)) for o in (2, -2, "nuc")], A),
    "where": (lambda x, y: al.where(x > 0.5, x * y, y), A, B),
    "clip": (lambda x, y: [al.clip(x, 0.4, 0.6), al.clip(x, y, 0.9)], A, B),
    "softmax": (lambda x: [al.softmax(x), al.softmax(x, 0)], A),
    "log_softmax": (lambda x: [al.log_softmax(x), al.log_softmax(x, 0)], A),
    "average": (lambda x, w: al.average(x, 1, w), A, ROW),
    "reshape": (lambda x: [al.reshape(x, [3, 2]), al.ravel(x), al.expand_dims(x, 1), al.squeeze(x[:1])], A),
    "order": (lambda x: [al.transpose(x), al.flip(x, 0), al.roll(x, 1, 1), al.sort(x), al.top_k(x, 2).values], A),
    "joined": (lambda x, y: [al.concat([x, y * x], 0), al.stack([x, y * y], 1)], A, B),
    "parts": (lambda x: [p * q for p, q in (al.unstack(x), al.split(x, 2))], A),
    "cast": (lambda x: al.cast(al.cast(x, al.complex128) ** 2, F64), A),
    "getitem": (lambda x: [x[0], x[:, ::2], x[[0, 1], [2, 0]], x[..., None], x[x > 0.5]], A),
    "place": (lambda x, v: placed(x, v, x > 0.5), A, ROW),
    "set_item": (lambda x, v: [al.set_item(x, 0, v), al.set_item(x, x > 0.5, 0.1)], A, ROW),
    "set_real": (lambda x, y: [call("set_real", z(x), y * x), call("set_imag", z(x), y[0])], A, B),
    "index_add": (lambda x, v: call("index_add", [2, 3], (np.array([1, 1, 0]),), al.stack([v, v, v * v])) * x, A, ROW),
    "add_at": (lambda x, v: call("add_at", x, (np.array([1, 1, 0]),), al.stack([v, v, v * v])) * x, A, ROW),
    "gather": (lambda x: [al.gather(x, [1, 1, 0]), al.gather_nd(x, [[0, 1], [1, 2]]), al.take(x, [0, 2], axis=1)], A),
    "along": (lambda x: al.take_along_axis(x, np.array([[0, 2], [1, 1]]), 1), A),
    "scatter": (lambda v: al.scatter([[1], [0], [1]], v, [2]), ROW),
    "scatter_update": (lambda x, v: [al.scatter_update(x, [[1]], [v]), al.scatter_add(x, [[1]], [v])], A, ROW),
    "matmul": (lambda x, y: [x @ al.transpose(y), x @ y[0], y[1] @ al.transpose(x), x[0] @ y[0]], A, B),
    "extremes, complex": (lambda x: [np.max(z(x), 1), np.min(z(x))], A),
    "matmul, complex": (lambda x, y: z(x) @ al.transpose(z(y)), A, B),
    "einsum": (lambda x, y: [
        al.einsum("ij,kj->ik", x, y), al.einsum("ij->", x), al.einsum("ij,ij,j->i", x, y, x[0]),
    ], A, B),
    "inv": (al.inv, SQUARE),
    "det": (lambda x: [al.det(x), al.det(x[:2, :2]), al.det(al.pad(x, [[0, 1], [0, 1]]) + np.eye(4))], SQUARE),
    "cholesky": (lambda x: al.cholesky(x @ al.transpose(x)), SQUARE),
    "solve": (lambda a, b: [al.solve(a, b), al.solve(a, al.transpose(A) * b[0])], SQUARE, ROW),
    "fill": (lambda x: [al.full([2, 2], x), al.full_like(A, x * x)], ONE),
    "Python's numbers": (
        lambda x, y: [FUNCTIONS[f"number_{name}"](x, y) for name in ("divide", "mod", "pow")], ONE, np.array(0.9),
    ),
    "range": (lambda x, y: al.range(x, 4.5, y), ONE, np.array(0.9)),
    "range of NumPy's": (lambda x, y: NUMPY_FUNCTIONS[np.arange](x, 4.5, y), ONE, np.array(0.9)),
    "linspace": (lambda x, y: al.linspace(x, y, 4), ONE, np.array(2.9)),
    "triangles": (lambda x: [al.tril(x), al.triu(x, 1), al.diagonal(x), al.diag(x[0]), al.trace(x)], SQUARE),
    "larger": (lambda x: [al.broadcast_to(x, [3, 2, 3]), al.tile(x, [2, 1]), al.repeat(x, 2, 0)], A),
    "pad": (lambda x, c: [al.pad(x, [[1, 0], [0, 2]], constant_values=c), al.pad(x, 1, "reflect")], A, ONE),
    "sparse": (lambda v, m: al.SparseTensor([[0, 1], [1, 0], [1, 1]], v * v, [2, 2]) @ m, ROW, A),
    "identity": (lambda x: al.identity(x) * al.stop_gradient(np.float64(2.0)), A),
    "array": (lambda x: [_array(x).read(1), _array(x).stack(), _array(x).gather([1, 0]), _array(x).concat()], A),
    "array, written": (lambda x: [
        al.TensorArray(F64, 2).write(0, x[1]).write(1, x[0] * x[1]).stack(),
        al.TensorArray(F64, 2).scatter([1, 0], x).stack(),
        al.TensorArray(F64, 2, infer_shape=False).split(x[0], [1, 2]).concat(),
    ], A),
    "others": (lambda x, y: [al.diff(x), al.cross(x, y), al.ptp(x), al.vdot(x, y), al.inner(x, y), al.outer(x, y),
                             al.tensordot(x, y, [[1], [1]]), al.nan_to_num(x), al.round(x, 1) * x], A, B),
}  # fmt: skip
PROGRAMS = {name: (f, arrays) for name, f, arrays in _programs()}


def leaves(value):
    return [leaf for v in value for leaf in leaves(v)] if isinstance(value, (list, tuple)) else [value]


def scalar_of(f):
    """A number with curvature of its own in every output, and every element of it."""

    def loss(xs):
        total = al.constant(0.0, dtype=F64)
        for k, y in enumerate(leaves(f(*xs))):
            if np.iscomplexobj(y):
                y = al.real(y) + 0.6 * al.imag(y)
            total = total + al.sum(al.sin(y * (0.7 + 0.1 * k) + 0.3))
        return total

    return loss


@cache
def function(name, orders):
    """Value, slope and gradient; and the second order, in reverse mode over itself and in forward mode over it.

    ``orders``: which of the two. Given are a graph of them, and what computes it: node by node by day, for what passes
    and generated code make of every derivative ``test_gradients_places`` shows.
    """
    loss = scalar_of(PROGRAMS[name][0])
    in_reverse, forward = orders

    def derivatives(xs, vs):
        def along(ys):
            slopes = grad(loss)(ys)
            return sum(al.sum(g * v) for g, v in zip(slopes, vs)), slopes

        if forward:
            (value, gradient), (slope, moved) = jvp(value_and_grad(loss), [xs], [vs])
        else:
            (value, slope), moved = jvp(loss, [xs], [vs]), ()
        curved = ()
        if in_reverse:
            curved, gradient = grad(along, has_aux=True)(xs)
        return value, slope, gradient, curved, moved

    arrays = PROGRAMS[name][1]
    if not examples.of_long_runs:
        return by_nodes(derivatives, arrays, arrays)
    compiled = al.function(derivatives, autograph=False, executor="sequential")
    return compiled.get_concrete_function(arrays, arrays).graph, compiled


def orders_of(name):
    """By turns the one and the other, both in a long run: all there is to get wrong in the rules is in both."""
    forward = list(PROGRAMS).index(name) % 2 == 1
    return (True, True) if examples.of_long_runs else (not forward, forward)


@each(PROGRAMS, parts=4, one_in=2)
def test_derivatives_are_the_differences(name):
    arrays = PROGRAMS[name][1]
    rng = np.random.default_rng(11)
    directions = [rng.choice([-1, 1], a.shape) * rng.uniform(0.5, 1, a.shape) for a in arrays]
    (_, derivatives), step = function(name, orders_of(name)), 1e-5

    def at(t):
        return derivatives([np.asarray(a + t * d) for a, d in zip(arrays, directions)], directions)

    here, up, down = at(0.0), at(step), at(-step)
    _, slope, gradient, curved, moved = here
    expected = (float(up[0]) - float(down[0])) / (2 * step)
    close = {"rtol": 2e-6, "atol": 2e-7}
    np.testing.assert_allclose(float(slope), expected, **close)
    np.testing.assert_allclose(sum(np.sum(np.asarray(g) * d) for g, d in zip(gradient, directions)), expected, **close)
    assert sum(map(len, (curved, moved))) == sum(orders_of(name)) * len(arrays)
    for found in filter(len, (curved, moved)):
        for second, g, h in zip(found, up[2], down[2]):
            difference = (np.asarray(g) - np.asarray(h)) / (2 * step)
            close["atol"] = 2e-7 * max(1.0, np.abs(difference).max(initial=0))  # all are as exact as the largest
            np.testing.assert_allclose(np.asarray(second), difference, **close)


def _of_loops(module):
    """What only the gradients of loops and branches are made of."""
    package, _, name = module.rpartition(".")
    kept = {"accumulators", "adjoint_table", "checkpoint_store", "saved_stacks"}
    return name == "custom_gradient" or (package == "autoloop_runtime.collections" and name in kept)


def test_every_operation_with_a_gradient_is_among_them():
    seen = set()
    for name in PROGRAMS:
        pending = [by_nodes(grad(scalar_of(PROGRAMS[name][0])), PROGRAMS[name][1])[0]]
        while pending:
            graph = pending.pop()
            seen |= {node.op.name for node in graph.nodes}
            pending += [below for node in graph.nodes for below in node.subgraphs]
    wanted = {op.name for op in OPS.values() if callable(op.vjp) and not _of_loops(op.vjp.__module__)}
    assert wanted - seen - ELSEWHERE == set()
    assert ELSEWHERE <= wanted


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda m, v: m @ v, lambda m, v, g: (np.outer(g, v), m.T @ g)),
        (lambda m, v: v @ m, lambda m, v, g: (np.outer(v, g), m @ g)),
    ],
)
def test_the_gradient_of_a_product_with_a_vector_takes_as_many_steps(f, expected):
    m, v = np.arange(9.0).reshape(3, 3), np.array([0.5, -1.0, 2.0])
    slope = al.function(al.grad(lambda m, v: al.sum(al.sin(f(m, v))), (0, 1)))
    names = [n.op.name for n in slope.get_concrete_function(m, v).runner.graph.nodes]
    assert names.count("matmul") == 2 and "squeeze" not in names
    for found, by_hand in zip(slope(m, v), expected(m, v, np.cos(f(m, v)))):
        np.testing.assert_allclose(found, by_hand, rtol=1e-12)
