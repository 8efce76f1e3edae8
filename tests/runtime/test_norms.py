"""``np.linalg.norm`` of tensors is NumPy's: of vectors, of matrices, along pairs of axes, and what NumPy refuses."""

from __future__ import annotations

import re
from itertools import product

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import EXECUTORS
from left_to_python import refused_or_plain

_rng = np.random.default_rng(0)
MATRIX = _rng.normal(size=(3, 4))
ARRAYS = {
    "vector": np.array([3.0, 0.0, -4.0]),
    "matrix": MATRIX,
    "floats": MATRIX.astype(np.float32),
    "integers": (MATRIX * 3).astype(np.int64),
    "complex": MATRIX + 1j * MATRIX[::-1],
    "stack": _rng.normal(size=(2, 3, 4)),
}
ORDERS = (None, "fro", "nuc", 0, 1, -1, 2, -2, 3, 0.5, np.inf, -np.inf, "bad")
AXES = (None, 0, (-1,), (0, 1), (1, 0), (0, -1), (0, 1, 2), (1, 1))


def outcome(f, x):
    try:
        with np.errstate(all="ignore"):
            value = np.asarray(f(x))
    except (ValueError, TypeError) as error:
        return ValueError if isinstance(error, ValueError) else TypeError
    return value


def same(found, wanted):
    if isinstance(found, type) or isinstance(wanted, type):
        return found is wanted
    close = np.allclose(found, wanted, rtol=2e-5 if wanted.dtype == np.float32 else 1e-10)
    return found.dtype == wanted.dtype and found.shape == wanted.shape and close


@each(ARRAYS)
def test_norm_is_numpys(array):
    x, wrong = ARRAYS[array], []
    for order in ORDERS:
        for axis in AXES:
            for keep in (False, True):
                wanted = outcome(lambda x: np.linalg.norm(x, order, axis, keep), x)
                found = outcome(lambda x: np.linalg.norm(x, order, axis, keep).numpy(), al.constant(x))
                if not same(found, wanted):
                    wrong.append((order, axis, keep, found, wanted))
    assert wrong == []


@each(product([o for o in ORDERS if o != "bad"], EXECUTORS))
def test_every_executor(order, executor):
    def f(x):
        if order == 0 or order == 3 or order == 0.5:
            return np.linalg.norm(x, order, 0), np.linalg.norm(x[0], order)
        return np.linalg.norm(x, order), np.linalg.norm(x, order, (1, 0), keepdims=True)

    try:
        found = al.function(f, executor=executor)(MATRIX)
    except RuntimeError as refusal:
        assert executor == "native" and "native" in str(refusal) and order in ("nuc", 2, -2)
        return
    for one, wanted in zip(found, f(MATRIX), strict=True):
        assert np.shape(one) == np.shape(wanted)
        np.testing.assert_allclose(one, wanted, rtol=1e-12)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.linalg.vector_norm(x),
        lambda x: np.linalg.vector_norm(x, ord=1, axis=(0, 1), keepdims=True),
        lambda x: np.linalg.vector_norm(x, ord=0, axis=1),
        lambda x: np.linalg.matrix_norm(x),
        lambda x: np.linalg.matrix_norm(x, ord=2, keepdims=True),
        lambda x: np.linalg.matrix_norm(x, ord=-np.inf),
        lambda x: np.linalg.svdvals(x),
    ],
)
def test_the_array_apis_names(f):
    assert same(np.asarray(al.function(f)(MATRIX)), f(MATRIX))
    assert same(np.asarray(al.function(f)(ARRAYS["stack"])), f(ARRAYS["stack"]))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.linalg.norm(x, "bad"),
        lambda x: np.linalg.norm(x, 3),
        lambda x: np.linalg.norm(x[0], "fro"),
        lambda x: np.linalg.norm(x[None], 2),
        lambda x: np.cross(x, x),
    ],
)
def test_what_is_refused_is_refused_in_numpys_words(f):
    with pytest.raises(ValueError) as numpys:
        f(MATRIX)
    with pytest.raises(ValueError, match=re.escape(str(numpys.value))):
        al.function(f)(MATRIX)


def test_vectors_of_cross_have_three_elements():
    with pytest.raises(ValueError, match=r"cross: the last axis must have three elements, got shape \(3, 4\)"):
        al.function(lambda x: al.cross(x, x))(MATRIX)


def test_an_order_that_only_the_run_knows():
    words = "numpy.linalg.norm: the argument 'ord' must be known"
    refused_or_plain(lambda x: np.linalg.norm(x, x.astype(int)[0, 0] * 0 + 1), words, MATRIX)


def test_a_rank_that_is_not_known():
    @al.function(input_signature=[al.TensorSpec(None, al.float64)])
    def f(x):
        return np.linalg.norm(x)

    with pytest.raises(ValueError, match="the rank of the operand must be known; declare it with set_shape"):
        f(al.constant(MATRIX))
    with pytest.warns(
        UserWarning, match="runs as plain Python, at each call: .* the rank of the operand must be known"
    ):
        assert f(MATRIX) == np.linalg.norm(MATRIX)


@each(["nuc", 2, -2])
def test_gradients_of_complex_matrices(order):
    x = al.constant(ARRAYS["complex"])
    (found,) = _gradient(lambda x: np.linalg.norm(x, order), x)
    step = 1e-6
    for i, unit in ((0, 1.0), (5, 1.0), (2, 1j), (7, 1j)):
        move = np.zeros(12, complex)
        move[i] = step * unit
        up, down = (np.linalg.norm(ARRAYS["complex"] + s * move.reshape(3, 4), order) for s in (1, -1))
        along = (np.conj(found.numpy().ravel()[i]) * unit).real
        np.testing.assert_allclose(along, (up - down) / (2 * step), rtol=1e-5, atol=1e-7)


def test_gradients_of_complex_matrices_in_forward_mode():
    x, move = ARRAYS["complex"], ARRAYS["complex"][::-1] * (1 + 1j)
    _, along = al.jvp(lambda x: np.linalg.norm(x, 2), [al.constant(x)], [al.constant(move)])
    up, down = (np.linalg.norm(x + s * 1e-6 * move, 2) for s in (1, -1))
    assert abs(up - down) > 1e-6
    np.testing.assert_allclose(along, (up - down) / 2e-6, rtol=1e-7)


def test_roots_are_as_wide_as_the_numbers():
    for dtype, order in product(("e", "f", "d", "g", "G"), (3, 2.5, -3, 7.5)):
        x = (np.arange(1, 8) * 1.1 / 3).astype(dtype)
        for f in (np.linalg.norm, lambda x, ord: np.linalg.vector_norm(x, ord=ord)):
            ours, plain = al.function(lambda x, f=f, order=order: f(x, order), executor="sequential")(x), f(x, order)
            assert (ours, ours.dtype) == (plain, plain.dtype)


def _gradient(f, x):
    with al.GradientTape() as tape:
        tape.watch(x)
        value = f(x)
    return [tape.gradient(value, x)]
