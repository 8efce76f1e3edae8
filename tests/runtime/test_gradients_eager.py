"""Eager gradients are the staged ones, and the differences, whatever way a tensor takes through Python and NumPy.

Where Python or NumPy takes a value away from the tensor, nothing can be recorded: refused while somebody
differentiates.
"""

from __future__ import annotations

import copy
import functools
import itertools
import math
import operator
import pickle

import autoloop as al
import numpy as np
import pytest
from api import NUMPY_FUNCTIONS, NUMPY_UFUNCS, numpy_protocols
from autoloop.differentiation import GradientTape, grad, gradients, value_and_grad, vjp

W = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])
MASK = np.array([[True, False, True], [False, True, True]])
F64 = al.float64


def zero():
    return al.constant(0.0, dtype=F64)


# -- Python's ways through a tensor, as statements that conversion takes, too -----------------------------------


def iterated(w):
    total = zero()
    for row in w:
        total = total + al.sum(row * row)
    return total


def enumerated(w):
    total = zero()
    for i, row in enumerate(w):
        total = total + al.sum(row * row * (i + 1.0))
    return total


def zipped(w):
    total = zero()
    for a, b in zip(w[0], w[1]):
        total = total + a * b
    return total


def backwards(w):
    total = al.constant(1.0, dtype=F64)
    for row in reversed(w):
        total = total * al.sum(row)
    return total


def unpacked(w):
    first, second = w
    return al.sum(first * second)


def starred(w):
    first, *others = w
    return al.sum(first * others[0])


def nested(w):
    (a, b, c), row = w
    return a * b * c + al.sum(row)


def left_early(w):
    total = zero()
    for row in w[0]:
        total = total + row * row
        if total > 4.0:
            break
    return total


def written(w):
    made = al.TensorArray(F64, 2)
    for i, row in enumerate(w):
        made = made.write(i, row * row)
    return al.sum(made.stack() * w)


def array(values):
    return al.TensorArray(F64, 2).unstack(values)


def sparse(w):
    return al.SparseTensor([[0, 1], [1, 0]], w[0, :2] * w[1, 1:], [2, 2])


STATEMENTS = [iterated, enumerated, zipped, backwards, unpacked, starred, nested, left_early, written]

#: ways that conversion refuses, or once did: staged they give the same, or say that they do not work
PYTHON_ONLY = {
    "comprehension": lambda w: al.sum(al.stack([r * r for r in w])),
    "generator": lambda w: sum((al.sum(r * r) for r in w), zero()),
    "star call": lambda w: (lambda a, b: al.sum(a * b))(*w),
    "dict": lambda w: (lambda d: al.sum(d[0] * d[1]))(dict(enumerate(w))),
    "chain": lambda w: sum(itertools.chain.from_iterable(w)) ** 2,
    "reduce": lambda w: al.sum(functools.reduce(operator.mul, w)),
    "next": lambda w: al.sum(next(iter(w)) ** 2),
    "math.prod": lambda w: math.prod(w[0]),
    "one row": lambda w: al.sum(al.unstack(w[:1])[0] ** 2),
    "one piece": lambda w: al.sum(al.split(w, 1)[0] ** 2),
    "convert": lambda w: al.convert(iterated)(w),
}

INDICES = {
    "int": 1, "negative": -1, "slice": slice(0, 1), "step": (slice(None), slice(None, None, 2)),
    "turned": slice(None, None, -1), "ellipsis": (..., 0), "newaxis": (None, 0), "places": ([0, 1], [2, 0]),
    "rows": np.array([1, 0, 1]), "mask": MASK, "row mask": np.array([True, False]), "mixed": (0, np.array([2, 2])),
    "element": (1, 2),
}  # fmt: skip

WAYS = {
    "map": lambda w: sum(map(lambda r: al.sum(r * r), w)),
    "list": lambda w: al.sum(al.stack(list(w)) ** 2),
    "tuple": lambda w: al.sum(al.stack(tuple(w)) ** 2),
    "sum": lambda w: al.sum(sum(w) ** 2),
    "max": lambda w: max(w[0] * w[1]),
    "sorted": lambda w: sorted(w[0] * w[1])[0] * sorted(w[0] * w[1])[1],
    "abs and pow": lambda w: al.sum(pow(abs(w - 2.5), 3)),
    "unstack": lambda w: operator.mul(*[al.sum(p * p) for p in al.unstack(w)]),
    "unstack, axis": lambda w: al.sum(al.unstack(w, axis=1)[0] * al.unstack(w, axis=1)[2]),
    "split": lambda w: al.sum(al.split(w, 2)[0] * al.split(w, 2)[1]),
    **{f"index: {name}": (lambda i: lambda w: al.sum(w[i] ** 2))(index) for name, index in INDICES.items()},
    "index: tensor": lambda w: al.sum(w[al.constant(1)] ** 2),
    "index: comparison": lambda w: al.sum(w[w > 2.5] ** 2),
    "take": lambda w: al.sum(al.take(w, [0, 2], axis=1) ** 2),
    "gather": lambda w: al.sum(al.gather(w, [1, 1, 0]) ** 2),
    "gather_nd": lambda w: al.sum(al.gather_nd(w, [[0, 1], [1, 2]]) ** 2),
    "take_along_axis": lambda w: al.sum(al.take_along_axis(w, np.array([[0, 2], [1, 1]]), 1) ** 2),
    "boolean_mask": lambda w: al.sum(al.boolean_mask(w, np.array([True, False])) ** 2),
    "set_item": lambda w: al.sum(al.set_item(w, (0, 1), w[1, 1]) ** 2),
    "array read": lambda w: al.sum(array(w).read(0) * array(w).read(1)),
    "array gather": lambda w: al.sum(array(w).gather([1, 0]) * w),
    "array scatter": lambda w: al.sum(al.TensorArray(F64, 2).scatter([1, 0], w * w).stack() * w),
    "array split": lambda w: al.sum(
        al.TensorArray(F64, 2, infer_shape=False).split(w[1] * w[1], [1, 2]).concat() * w[0]
    ),
    "sparse": lambda w: al.sum(al.sparse.to_dense(sparse(w)) ** 2),
    "sparse product": lambda w: al.sum((sparse(w) @ w[:, :2]) ** 2),
    "sparse list": lambda w: al.sum(al.SparseTensor([[0], [1]], [w[0, 0] * 3, w[1, 1] ** 2], [2]).values ** 2),
    "slices": lambda w: al.sum(al.convert_to_tensor(al.IndexedSlices(w, [1, 1], [3, 3])) ** 2),
    "nest map": lambda w: al.sum(al.nest.map_structure(lambda t: t * t, {"a": [w]})["a"][0]),
    "nest pack": lambda w: al.sum(al.nest.pack_sequence_as({"a": 0, "b": [0]}, [w * w, w])["a"]),
    "copy": lambda w: al.sum(copy.copy(w) * copy.deepcopy({"a": [w]})["a"][0]),
    "ufunc": lambda w: np.sum(np.exp(w)),
    "np.stack": lambda w: np.sum(np.stack([w[0], w[1]]) ** 2),
    "np.concatenate": lambda w: np.sum(np.concatenate([w, w]) ** 2),
    "np.where": lambda w: al.sum(np.where(W > 2, w * w, w)),
    "np.full_like": lambda w: al.sum(np.full_like(w, w[0, 0]) * w),
    "array first": lambda w: al.sum(W * w * w),
    "array matmul": lambda w: al.sum(W.T @ (w * w)),
    "number first": lambda w: np.float64(3.0) * al.sum(w * w),
    "full": lambda w: al.sum(al.full([2], w[0, 1]) * w[0, 0]),
    "range": lambda w: al.sum(al.range(w[0, 0], 6.3, w[0, 1]) ** 2),
    "linspace": lambda w: al.sum(al.linspace(w[0, 0], w[1, 2], 5) ** 2),
    "one_hot": lambda w: al.sum(al.one_hot([0, 1], 3, on_value=w[0, 0], off_value=w[1, 1], dtype=F64) ** 2),
    "pad": lambda w: al.sum(al.pad(w, [[1, 1], [0, 0]], constant_values=w[0, 0]) ** 2),
    "constant": lambda w: al.sum(al.constant([w[0, 0], w[1, 1]]) ** 2 + al.constant(w, shape=[3, 2])[0] ** 2),
    "mixed list": lambda w: al.sum(al.convert_to_tensor([[w[0, 0], 2.0], [w[1, 1], 3.0]]) ** 2),
    "list operand": lambda w: al.sum(w[0] * [w[1, 0], w[1, 1], w[1, 2]]),
    "map_fn": lambda w: al.sum(al.map_fn(lambda r: r * r * w[0], w)),
    "map_fn, pairs": lambda w: al.sum(al.map_fn(lambda p: p[0] * p[1], (w[0], w[1]))),
    "scan": lambda w: al.sum(al.scan(lambda s, r: s * r, w)),
    "foldr": lambda w: al.sum(al.foldr(lambda s, r: s * r, w, w[0])),
    "while_loop": lambda w: al.sum(al.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * w), (0, w))[1]),
    "cond": lambda w: al.sum(al.cond(w[0, 0] > 0, lambda: w * w, lambda: w)),
    "switch_case": lambda w: al.sum(al.switch_case(al.constant(1), [lambda: w, lambda: w * w])),
    "function": lambda w: al.sum(al.function(lambda d: {"a": d["a"][0] ** 2, "b": 3.0})({"a": [w]})["a"]),
    "captured": lambda w: al.sum(al.function(lambda: w)() * w),
    "methods": lambda w: w.reshape(-1).sum() * w.mean() * w.max() * w.T[0, 0] * w.astype(F64).min(),
    "custom_gradient": lambda w: al.sum(al.custom_gradient(lambda x: (x * x, lambda g: g * 2 * x))(w)),
}  # fmt: skip


def differences(f, step=1e-6, make=al.constant):
    out = np.zeros_like(W)
    for index in np.ndindex(W.shape):
        moved = [W.copy(), W.copy()]
        moved[0][index] += step
        moved[1][index] -= step
        out[index] = (float(f(make(moved[0]))) - float(f(make(moved[1])))) / (2 * step)
    return out


def recorded(f):
    """The gradient of ``f`` by a tape, which gives ``None`` where nothing was recorded."""
    x = al.constant(W)
    with GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return np.asarray(al.convert_to_tensor(tape.gradient(y, x)))


def squared_slope(f):
    return lambda w: al.sum(grad(f)(w) ** 2)


def check(f, staged=True):
    first = recorded(f)
    np.testing.assert_allclose(first, differences(f), rtol=1e-6, atol=1e-6)
    for g in (f, squared_slope(f)):
        eager = np.asarray(grad(g)(al.constant(W)))
        if g is f:
            np.testing.assert_array_equal(eager, first)
        else:
            np.testing.assert_allclose(eager, differences(g), rtol=1e-5, atol=1e-4)
        try:
            inside = np.asarray(al.function(lambda w, g=g: grad(g)(w))(al.constant(W)))
        except TypeError:
            if staged:
                raise
            continue
        np.testing.assert_allclose(inside, eager, rtol=1e-12)


@pytest.mark.parametrize("f", STATEMENTS, ids=lambda f: f.__name__)
def test_statements(f):
    check(f)


@pytest.mark.parametrize("f", WAYS.values(), ids=WAYS)
def test_expressions(f):
    check(f)


@pytest.mark.parametrize("f", PYTHON_ONLY.values(), ids=PYTHON_ONLY)
def test_what_only_python_runs(f):
    check(f, staged=False)


VARIABLE_WAYS = {
    "iterated": iterated, "unpacked": unpacked, "zipped": zipped,
    "index": lambda v: al.sum(v[0] * v[1]), "mask": lambda v: al.sum(v[v > 2.5] ** 2),
    "row mask": lambda v: al.sum(v[np.array([True, False])] ** 2), "ufunc": lambda v: np.sum(np.exp(v)),
    "read": lambda v: al.sum(v.read_value() * v.value()), "transposed": lambda v: al.sum(v.T[0] ** 2),
    "copy": lambda v: al.sum(copy.copy(v) ** 2), "array first": lambda v: al.sum(W * v * v),
    "np.stack": lambda v: al.sum(np.stack([v, v]) ** 2), "np.where": lambda v: al.sum(np.where(W > 2, v, 0.0) ** 2),
    "np.concatenate": lambda v: al.sum(np.concatenate([v, [[1.0, 2.0, 3.0]]], axis=0) ** 2),
    "map_fn": lambda v: al.sum(al.map_fn(lambda r: r * v, v)), "gather": lambda v: al.sum(al.gather(v, [0, 0]) ** 2),
    "listed": lambda v: al.sum(al.convert_to_tensor([v, v]) ** 2), "array": lambda v: al.sum(array(v).stack() ** 2),
    "full": lambda v: al.sum(al.full([2], v[0, 0]) ** 2),
}  # fmt: skip


@pytest.mark.parametrize("f", VARIABLE_WAYS.values(), ids=VARIABLE_WAYS)
def test_variables(f):
    variable = al.Variable(W)
    with GradientTape() as tape:
        y = f(variable)
    eager = np.asarray(al.convert_to_tensor(tape.gradient(y, variable)))
    np.testing.assert_allclose(eager, differences(f, make=al.Variable), rtol=1e-6, atol=1e-6)
    (staged,) = al.function(lambda: gradients(f(variable), [variable]))()
    np.testing.assert_allclose(np.asarray(al.convert_to_tensor(staged)), eager, rtol=1e-12)


# -- where values leave ---------------------------------------------------------------------------------------

LEAVING = {
    "float": lambda w: float(w[0, 0]) * w[0, 0],
    "complex": lambda w: al.real(complex(w[0, 0]) * w[0, 0]),
    "math.exp": lambda w: math.exp(w[0, 0]) * w[0, 0],
    "np.asarray": lambda w: al.sum(np.asarray(w) * w),
    "np.array": lambda w: al.sum(np.array([w[0], w[1]]) * w),
    "ndarray.dot": lambda w: al.sum(al.constant(W.T.dot(w)) ** 2),
    "np.full": lambda w: al.sum(al.constant(np.full(2, w[0, 0])) * w[0, 0]),
    "np.arange": lambda w: al.sum(np.arange(w[0, 0], 6.3) * w[0, 0]),
    "list in a ufunc": lambda w: al.sum(np.exp([w[0, 0], w[1, 1]])),
    "list in a function": lambda w: np.max([w[0, 0], w[1, 1]]),
    "np.r_": lambda w: al.sum(np.r_[w[0], w[1]]),
    "np.vectorize": lambda w: al.sum(np.vectorize(lambda v: v * v)(w)),
    "np.frompyfunc": lambda w: np.frompyfunc(lambda v: v * v, 1, 1)(w)[0, 0],
    "np.float64": lambda w: np.float64(w[0, 0]) * w[0, 0],
    "pickle": lambda w: al.sum(pickle.loads(pickle.dumps(w)) * w),
}


@pytest.mark.parametrize("f", LEAVING.values(), ids=LEAVING)
def test_values_do_not_leave_while_somebody_differentiates(f):
    x = al.constant(W)
    for transform in (grad, value_and_grad, al.jacobian, lambda f: lambda x: vjp(f, x)):
        with pytest.raises(TypeError, match=r"being differentiated.*the derivative would end there.*stop_gradient"):
            transform(f)(x)
    f(x)
    with GradientTape() as tape:
        tape.watch(x)
        with pytest.raises(TypeError, match=r"being differentiated.*the derivative would end there.*stop_gradient"):
            f(x)
        f(al.stop_gradient(x))
        f(al.constant(W))
    variable = al.Variable(W)
    with GradientTape(), pytest.raises(TypeError, match="being differentiated"):
        f(variable * 1.0)
    with GradientTape(watch_accessed_variables=False):
        f(variable * 1.0)


def test_values_do_not_leave_into_arrays():
    made = np.zeros(3)
    x = al.constant(W)

    def f(w):
        made[:] = w[0]
        return al.sum(made * w)

    f(x)
    with GradientTape() as tape, pytest.raises(TypeError, match="being differentiated"):
        tape.watch(x)
        f(x)
    with pytest.raises(TypeError, match="being differentiated"):
        grad(f)(x)


@pytest.mark.parametrize("f", [np.spacing, np.median, np.linalg.svd], ids=lambda f: f.__name__)
def test_functions_without_a_counterpart_are_refused_where_a_gradient_would_end(f, monkeypatch):
    al.function(f)(W)  # it has one, once that is loaded
    monkeypatch.delitem(NUMPY_UFUNCS if f is np.spacing else NUMPY_FUNCTIONS, f)
    monkeypatch.delitem(numpy_protocols._TOLD_APART, f, raising=False)
    x = al.constant(W)
    f(x)
    with GradientTape() as tape:
        tape.watch(x)
        with pytest.raises(TypeError, match=r"has no counterpart here.*being differentiated"):
            f(x)
        f(al.stop_gradient(x))
        f(al.constant(W))
    f(x)


def test_what_has_no_gradient_may_leave():
    def f(w):
        assert np.argpartition(w[0], 1)[0] == 0  # no counterpart, but integers have no gradient
        assert bool(w[0, 0] < 2)
        assert int(w[1, 2]) == 7
        assert f"{w[0, 1]:.1f}" == "2.0"
        assert "2." in str(w)
        assert "2." in repr(w)
        scale = float(al.stop_gradient(w[0, 0])) + np.asarray(al.stop_gradient(w))[0, 1] + w.numpy()[0, 2]
        return al.sum(w) * scale

    np.testing.assert_array_equal(np.asarray(grad(f)(al.constant(W))), np.full_like(W, 6))
    np.testing.assert_array_equal(
        np.asarray(grad(lambda w: al.sum(w) * float(al.constant(2.0)))(W)), np.full_like(W, 2)
    )
