"""``vectorized_map`` against ``map_fn``: the same values, all rows at once where that is possible."""

from __future__ import annotations

from itertools import product

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import INTERPRETED

X = np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32)
M = np.random.default_rng(1).standard_normal((5, 2, 3)).astype(np.float32)
N = np.arange(5, dtype=np.int32)
W = np.random.default_rng(2).standard_normal((3, 2)).astype(np.float32)
C = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
S = np.float32(0.5)

#: (function of a row and of w, c, s), elems
AT_ONCE = {
    "elementwise": (lambda r, w, c, s: al.tanh(r) * 2 - s, X),
    "scalars": (lambda r, w, c, s: r % 2 == 0, N),
    "another rank than what it meets": (lambda r, w, c, s: r + c, X),
    "a scalar row meets a matrix": (lambda r, w, c, s: al.cast(r, al.float32) * c, N),
    "rows of two ranks": (lambda p, w, c, s: p[0] + p[1] * p[2], (M, X, N)),
    "where": (lambda r, w, c, s: al.where(r > s, r, al.sum(r)), X),
    "reductions": (lambda r, w, c, s: (al.sum(r), al.max(r, axis=-1), al.mean(r, axis=0, keepdims=True)), M),
    "integers": (lambda r, w, c, s: al.any(r > 0) | al.all(r < 0), X),
    "a shared matrix": (lambda r, w, c, s: al.relu(r @ w) + 1, X),
    "matrices by a shared matrix": (lambda r, w, c, s: r @ w, M),
    "work that is the same for all": (lambda r, w, c, s: r @ al.sort(w, axis=0), X),
    "a value that is the same for all": (lambda r, w, c, s: {"row": r, "rest": [c, 3, c * s]}, X),
    "what is not needed does not count": (lambda r, w, c, s: (al.sort(r), r + 1)[1], X),
}
ONE_BY_ONE = {
    "sort": (lambda r, w, c, s: al.sort(r), X),
    "an element": (lambda r, w, c, s: r[0] + r[-1], X),
    "a matrix of the row": (lambda r, w, c, s: c @ al.transpose(r), M),
    "a loop": (lambda r, w, c, s: al.while_loop(lambda x: x < 9, lambda x: x * 2 + 1, [r])[0], N),
    "a branch": (lambda r, w, c, s: al.cond(r > 2, lambda: r, lambda: -r), N),
    "a promise": (lambda r, w, c, s: promised(r), X),
}


def promised(r):
    out = al.boolean_mask(r, r > -9)
    out.set_shape([3])
    return out


def both(f, elems, executor="auto", specs=None):
    """The values of ``vectorized_map`` and ``map_fn``, and the operations that the first is made of."""

    def mapped(how):
        return al.function(
            lambda elems, w, c, s: how(lambda r: f(r, w, c, s), elems), executor=executor, autograph=False
        )

    vector = mapped(al.vectorized_map)
    arguments = (elems, W, C, S)
    made = vector.get_concrete_function(*(specs or arguments)).graph
    return vector(*arguments), mapped(al.map_fn)(*arguments), {n.op.name for n in made.nodes}


def assert_same(got, want):
    assert al.nest.structure_of(got) == al.nest.structure_of(want)
    for a, b in zip(al.nest.flatten(got), al.nest.flatten(want)):
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@each(product(AT_ONCE, INTERPRETED))
def test_all_rows_at_once(name, executor):
    f, elems = AT_ONCE[name]
    got, want, ops = both(f, elems, executor)
    assert_same(got, want)
    assert "While" not in ops


@each(ONE_BY_ONE)
def test_row_by_row(name):
    f, elems = ONE_BY_ONE[name]
    got, want, ops = both(f, elems)
    assert_same(got, want)
    assert "While" in ops


@each(AT_ONCE)
def test_the_number_of_rows_may_be_unknown_or_none(name):
    f, elems = AT_ONCE[name]
    g = lambda r: f(r, W, C, S)
    specs = al.nest.map_structure(lambda x: al.TensorSpec([None, *x.shape[1:]], x.dtype), elems)
    mapped = al.function(lambda elems: al.vectorized_map(g, elems), input_signature=[specs], autograph=False)
    for rows in (5, 0):
        some = al.nest.map_structure(lambda x: x[:rows], elems)
        assert_same(mapped(some), al.map_fn(g, some))
    assert "While" not in {n.op.name for n in mapped.get_concrete_function().graph.nodes}


@each(["elementwise", "rows of two ranks", "reductions", "a shared matrix", "sort"])
def test_gradients(name):
    f, elems = {**AT_ONCE, **ONE_BY_ONE}[name]

    def total(how):
        def loss(x, w):
            rest = elems[1:] if isinstance(elems, tuple) else ()
            value = how(lambda r: f(r, w, C, S), (x, *rest) if rest else x)
            return sum(al.sum(leaf * leaf) for leaf in al.nest.flatten(value))

        return al.grad(loss, argnums=(0, 1))

    x = elems[0] if isinstance(elems, tuple) else elems
    for a, b in zip(total(al.vectorized_map)(x, W), total(al.map_fn)(x, W)):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_what_stands_in_the_way_is_named():
    with pytest.raises(ValueError, match=r"operation 'sort' at .*test_vectorize.py:\d+ stands in the way"):
        al.vectorized_map(al.sort, X, fallback_to_while_loop=False)
    with pytest.raises(ValueError, match="an effect stands in the way"):
        al.vectorized_map(lambda r: al.print(r) or r, X, fallback_to_while_loop=False)
    for wrong, error in ((3, TypeError), (None, TypeError)):
        with pytest.raises(error, match="fn must be callable"):
            al.vectorized_map(wrong, X)
    with pytest.raises(ValueError, match="at least one dimension"):
        al.vectorized_map(lambda r: r, 3.0)


def test_sparse_values_are_stacked_row_by_row():
    f = lambda r: al.SparseTensor([[1]], al.expand_dims(r, 0), [2])
    assert al.sparse.to_dense(al.vectorized_map(f, X[:, 0])).numpy()[:, 1].tolist() == X[:, 0].tolist()


def test_effects_happen_once_for_each_row(capsys):
    al.vectorized_map(lambda n: al.print(n) or n + 1, N[:3])
    assert capsys.readouterr().out.split() == ["0", "1", "2"]
