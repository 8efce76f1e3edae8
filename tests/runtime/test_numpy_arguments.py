"""NumPy's functions take NumPy's arguments in NumPy's places, and what is not supported is refused by its name."""

from __future__ import annotations

import operator
import warnings

import autoloop as al
import numpy as np
import pytest
from api import NUMPY_FUNCTIONS, SIGNATURES, Counterpart
from autoloop.compat import v1
from each_case import each
from executors import EXECUTORS, spread_each
from left_to_python import refused_or_plain

X = np.array([[3.0, -1.0, 2.0], [0.5, 4.0, -2.0]])
CUBE = np.arange(24.0).reshape(2, 3, 4)
Z = np.zeros((2, 3))

# -- refused ----------------------------------------------------------------------------------------------

#: argument -> programs that give it
REFUSED = {
    "out": [
        lambda x: np.exp(x, out=x),
        lambda x: np.exp(x, x),
        lambda x: np.add(x, x, out=x),
        lambda x: np.add(x, x, x),
        lambda x: np.add(x, 1.0, out=Z),
        lambda x: np.add(Z, x, out=Z),
        lambda x: np.add(Z, x, Z),
        lambda x: np.multiply(Z, x, out=(Z,)),
        lambda x: np.add.reduce(x, out=Z[0]),
        lambda x: np.divmod(x, 2.0, out=(Z, Z)),
        lambda x: operator.iadd(Z, x),
        lambda x: np.concatenate([x, x], out=np.zeros((4, 3))),
        lambda x: np.concatenate([x, x], 0, np.zeros((4, 3))),
        lambda x: np.stack([x, x], out=np.zeros((2, 2, 3))),
        lambda x: np.sum(x, 0, None, Z[0]),
        lambda x: np.sum(x, axis=0, out=Z[0]),
        lambda x: np.mean(x, axis=0, out=Z[0]),
        lambda x: np.max(x, 0, Z[0]),
        lambda x: np.cumsum(x, 0, out=Z),
        lambda x: np.argmax(x, 0, out=np.zeros(3, int)),
        lambda x: np.clip(x, 0, 1, out=Z),
        lambda x: np.dot(x, x.T, out=np.zeros((2, 2))),
        lambda x: np.take(x, [0], 0, Z),
        lambda x: np.median(x, out=Z),
        lambda x: np.round(x, 1, Z),
        lambda x: x.sum(0, None, Z[0]),
        lambda x: x.sum(axis=0, out=Z[0]),
        lambda x: x.mean(out=Z),
        lambda x: x.max(0, Z[0]),
        lambda x: x.min(out=Z),
    ],
    "where": [
        lambda x: np.exp(x, where=X > -9),
    ],
    "like": [lambda x: np.array([x, x], like=X)],
}
_REFUSED = [pytest.param(f, name, id=f"{name}-{i}") for name, fs in REFUSED.items() for i, f in enumerate(fs)]


#: arrays from outside a decorated function that are written to there, as in NumPy
WRITTEN = {f"out-{i}" for i in (*range(9), *range(10, 22), 24, 25, 26, 28)}


@pytest.mark.parametrize("f", [pytest.param(p.values[0], id=p.id) for p in _REFUSED if p.id in WRITTEN])
def test_an_array_that_is_written_to_has_what_numpy_writes(f, monkeypatch):
    left = []
    for one in (f, al.function(f)):
        given, other = X.copy(), np.zeros_like(Z)
        monkeypatch.setitem(globals(), "Z", other)
        left.append((one(given), given, other))
    for plain, ours in zip(*left):
        np.testing.assert_allclose(ours, plain, rtol=1e-12)


#: which plain Python writes: two results, or into another shape than that of the result, which NumPy refuses
LEFT = {f"out-{i}" for i in (9, 22, 23, 27, 29)}


@pytest.mark.parametrize("f", [pytest.param(p.values[0], id=p.id) for p in _REFUSED if p.id in LEFT])
def test_what_no_graph_writes_plain_python_does(f, monkeypatch):
    left = []
    for one in (f, al.function(f)):
        monkeypatch.setitem(globals(), "Z", np.zeros_like(Z))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                made = one(X.copy())
            except Exception as error:
                made = type(error), str(error)
        left.append((made, Z))
    assert "runs as plain Python" in str(told[0].message)
    np.testing.assert_equal(*left)


@pytest.mark.parametrize(("f", "argument"), [p for p in _REFUSED if p.id not in WRITTEN | LEFT])
def test_what_is_not_supported_is_refused_by_its_name(f, argument):
    before = Z.copy()
    why = "where tensors take part|with another dtype"
    message = rf"does not take the argument '{argument}' ({why})|numpy\.divmod has no counterpart"
    refused_or_plain(f, message, X)
    assert np.array_equal(Z, before)


@pytest.mark.parametrize(("f", "argument"), [p for p in _REFUSED if p.values[1] != "like"])
def test_also_of_tensors_that_have_values(f, argument):
    with pytest.raises(TypeError, match=rf"the argument '{argument}' where tensors"):
        f(al.constant(X))


def test_the_message_says_what_to_write():
    with pytest.raises(TypeError, match=r"numpy\.exp does not .* tensors are not written to: assign the result"):
        np.exp(al.constant(X), out=np.zeros_like(X))
    refused_or_plain(lambda x: np.array([x, x], like=X), r"numpy\.array does not .*'like'.*; leave it out", np.eye(2))


def test_what_numpy_does_not_take_either():
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        al.function(lambda x: np.sum(x, axes=0))(X)


@each([
    (lambda **more: v1.Variable(1.0, **more), "constraint"), (lambda **more: v1.Variable(1.0, **more), "variable_def"),
    (lambda **more: v1.get_variable("v", [], **more), "constraint"),
    (lambda **more: v1.get_variable("v", [], **more), "partitioner"),
])  # fmt: skip
def test_variables_of_the_1_x_api(make, name):
    with v1.Graph().as_default():
        with pytest.raises(TypeError, match=f"does not take the argument '{name}'; leave it out"):
            make(**{name: "anything"})
        assert make(use_resource=True, **{name: None}).shape == []


# -- taken ------------------------------------------------------------------------------------------------

TAKEN = [
    lambda x: np.sum(x, dtype=np.float32),
    lambda x: np.sum(x, 1, np.int32, None, True, 3, X > 0),
    lambda x: np.sum(x, initial=1.0),
    lambda x: np.add(x, x, dtype=np.float32),
    lambda x: np.add(x, 1, casting="unsafe", dtype=np.int32),
    lambda x: np.array(x, ndmin=3),
    lambda x: np.array([x, x], ndmin=4),
    lambda x: np.sum(x, 0, None, None, True),
    lambda x: np.sum(x, axis=-1, keepdims=True, out=None),
    lambda x: np.std(x, 0, None, None, 1),
    lambda x: np.var(x, 1, None, None, 1, True),
    lambda x: np.average(x, None, None, False, keepdims=False),
    lambda x: np.max(x, 0, None, True),
    lambda x: np.sort(x, -1, "stable"),
    lambda x: np.sort(x, 0, kind="mergesort"),
    lambda x: np.argsort(x, -1, "stable"),
    lambda x: np.argsort(x, stable=True),
    lambda x: np.cumsum(x, 1, None, None),
    lambda x: np.clip(x, a_min=0, a_max=1),
    lambda x: np.clip(x, min=0, max=1),
    lambda x: np.reshape(x, (3, 2), "C"),
    lambda x: np.ravel(x, "C"),
    lambda x: np.add(x, x, where=True, casting="same_kind", order="K", subok=True, dtype=None),
    lambda x: np.exp(x, out=None),
    lambda x: np.pad(x, 1, "constant", constant_values=2.0),
    lambda x: np.nan_to_num(x, True, 1.0),
    lambda x: np.einsum("ij,kj->ik", x, x, optimize=True),
    lambda x: np.stack([x, x], 1, None),
    lambda x: np.concatenate([x, x], 1, None, dtype=None),
    lambda x: np.array(x, None, copy=True, order="K", subok=False, ndmin=0),
    lambda x: np.array([x, x], np.float32),
    lambda x: np.zeros_like(x, None, "K", True),
    lambda x: np.round(x, 1, None),
    lambda x: np.bincount((x[0] + 1).astype(np.int64), None, 9),
    lambda x: np.broadcast_to(array=x, shape=(2, 2, 3)),
    lambda x: np.searchsorted(a=[0.0, 1.0], v=x),
    lambda x: np.tile(A=x, reps=2),
    lambda x: np.flip(m=x, axis=0),
    lambda x: np.moveaxis(a=x, source=0, destination=1),
    lambda x: np.split(x, [1, 2], 1)[1],
    lambda x: np.split(x, [1, 1], 1)[1],
    lambda x: np.split(x, 3, 1)[2],
    lambda x: np.trace(x, 1),
    lambda x: np.diagonal(x, offset=-1),
    lambda x: np.diagonal(CUBE * x[0, 0]),
    lambda x: np.diagonal(CUBE * x[0, 0], 1, 1, 2),
    lambda x: np.diagonal(CUBE * x[0, 0], -1, 2, 0),
    lambda x: np.trace(CUBE * x[0, 0]),
    lambda x: np.trace(CUBE * x[0, 0], 1, axis1=2, axis2=1),
    lambda x: x.sum(0, None, None, True),
    lambda x: x.mean(axis=1, keepdims=True),
    lambda x: x.astype(np.float32, "K", "unsafe", True, False),
    lambda x: x.reshape(3, 2, order="C"),
]


@spread_each([(k,) for k in range(len(TAKEN))])
def test_what_is_supported_is_what_numpy_does(k, executor):
    f = TAKEN[k]
    wanted = f(X)
    try:
        result = np.asarray(al.function(f, executor=executor)(X))
    except RuntimeError as refusal:
        assert executor == "native" and "native" in str(refusal)
        return
    assert result.shape == wanted.shape
    np.testing.assert_allclose(result, wanted, rtol=1e-6)


# -- augmented assignment ---------------------------------------------------------------------------------


@each(EXECUTORS)
def test_an_array_plus_a_tensor_is_no_out(executor):
    def f(x, n):
        total = np.zeros(3)
        for i in range(n):
            total += x[i % 2]
            total *= 2.0
        return total

    assert np.array_equal(al.function(f, executor=executor)(X, 5), f(X, 5))


def test_nor_is_it_of_values_variables_and_helpers():
    total, variable = np.ones((2, 3)), al.Variable(X)
    total += al.constant(X)
    assert np.array_equal(total, X + 1)
    total = np.ones((2, 3))
    total -= variable
    assert np.array_equal(total, 1 - X)

    def unconverted(x):
        total = np.ones((2, 3))
        total /= x
        return total

    with pytest.warns(UserWarning, match="runs as plain Python"):
        assert np.array_equal(al.function(unconverted, autograph=False)(X), 1 / X)
    assert np.array_equal(al.function(unconverted)(X), 1 / X)


# -- the table itself -------------------------------------------------------------------------------------


def test_signatures_written_here_are_numpys():
    for function, written in SIGNATURES.items():
        known = Counterpart(function, function)._signature.parameters
        assert list(Counterpart(written, written)._signature.parameters) == list(known)


def test_every_counterpart_that_is_bound_by_itself_takes_its_operands():
    for function, counterpart in NUMPY_FUNCTIONS.items():
        if isinstance(counterpart, Counterpart):
            parameters = counterpart._signature.parameters.values()
            required = {p.name for p in parameters if p.default is p.empty and p.kind.name[:3] != "VAR"}
            assert required <= counterpart._places.keys(), function
