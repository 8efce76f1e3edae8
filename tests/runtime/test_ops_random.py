"""Random numbers: keys are pure, the process's generator is an effect."""

from __future__ import annotations

import numpy as np
import pytest
from api import Graph, TensorShape, constant, dtypes
from api import random_ops as random
from ops_checks import check_gradient, check_static


def test_the_same_key_gives_the_same_numbers():
    key = random.key(7)
    assert key.dtype == "uint64" and key.shape == [2]
    for draw in (random.normal, random.uniform, random.bernoulli):
        a, b = draw([5], key=key), draw([5], key=key)
        np.testing.assert_array_equal(a.numpy(), b.numpy())
        assert (draw([5], key=random.key(8)).numpy() != a.numpy()).any()
    check_static(lambda s: random.normal([3], key=random.key(s)), np.int64(3))


def test_split():
    keys = random.split(random.key(0), 3)
    assert keys.shape == [3, 2] and len({tuple(k) for k in keys.numpy().tolist()}) == 3
    a, b = (random.uniform([1000], key=keys[i]).numpy() for i in (0, 1))
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.1
    assert (random.fold_in(keys[0], 1).numpy() != random.fold_in(keys[0], 2).numpy()).any()
    check_static(lambda k: (random.split(k), random.fold_in(k, 3)), keys.numpy()[0])


def test_distributions():
    key = random.key(1)
    x = random.normal([20000], 3.0, 2.0, key=key).numpy()
    assert x.dtype == "float32" and abs(x.mean() - 3) < 0.1 and abs(x.std() - 2) < 0.1
    u = random.uniform([20000], -1, 3, "float64", key).numpy()
    assert u.dtype == "float64" and u.min() >= -1 and u.max() < 3 and abs(u.mean() - 1) < 0.1
    i = random.randint([1000], 2, 5, key=key).numpy()
    assert i.dtype == "int32" and set(i.tolist()) == {2, 3, 4}
    assert random.uniform([10], 0, 5, "int64", key).dtype == "int64"
    assert abs(random.bernoulli([10000], 0.3, key).numpy().mean() - 0.3) < 0.05
    assert sorted(random.permutation(10, key).numpy().tolist()) == list(range(10))
    assert sorted(random.shuffle(constant([5, 6, 7]), key).numpy().tolist()) == [5, 6, 7]
    assert random.normal([], key=key).shape == []
    assert random.normal([2], dtype="float16", key=key).dtype == "float16"


def test_dynamic_shapes_and_gradients():
    key = random.key(1)
    got = check_static(lambda n: (random.normal([n, 2], key=key), random.randint([n], 0, 9, key=key)), np.int32(3))
    assert got[0].shape == [3, 2]
    check_gradient(lambda m, s: random.normal([4], m, s, "float64", key), 0.5, 2.0)
    graph = Graph()
    n = graph.parameter(dtypes.int32, TensorShape([]))
    with graph.as_default():
        assert random.uniform([n, 3]).shape == [None, 3]


def test_the_process_generator_is_an_effect():
    random.set_seed(3)
    a = random.normal([4]).numpy()
    b = random.normal([4]).numpy()
    assert (a != b).any()
    random.set_seed(3)
    np.testing.assert_array_equal(random.normal([4]).numpy(), a)
    graph = Graph(ordered=True)
    with graph.as_default():
        first = random.normal([2])
        second = random.uniform([2])
    assert first.op.op.effect and graph.token is second.op.inputs[0].node.outputs[-1] or graph.token is not None
    with graph.as_default():
        assert not random.normal([2], key=random.key(1)).op.op.effect


def test_mistakes():
    with pytest.raises(TypeError, match="key"):
        random.normal([2], key=constant([1, 2]))
    with pytest.raises(TypeError, match="floating"):
        random.normal([2], dtype="int32")
    with pytest.raises(ValueError, match="high"):
        random.uniform([2], dtype="int32")
    with pytest.raises(TypeError, match="seed"):
        random.key(0.5)


def test_the_process_generator_is_put_back_where_it_was_noted():
    random.set_seed(3)
    graph = Graph(ordered=True)
    with graph.as_default():
        drawn = [random.normal([2]), random.uniform([2]), random.randint([2], 0, 9), random.permutation(3)]
    for tensor in drawn:
        node = next(node for node in graph.nodes if node.op.draws is not None and tensor.dtype == node.outputs[0].dtype)
        put_back = node.op.draws(node)()
        first = random.normal([4]).numpy()
        put_back()
        np.testing.assert_array_equal(random.normal([4]).numpy(), first)
