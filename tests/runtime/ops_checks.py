"""Checks that every operation must pass: eager against NumPy, static against actual, slopes against differences.

Runs graphs with a plain walk over the nodes and differentiates them with a plain reverse walk, so that nothing
but the operations is tested.
"""

from __future__ import annotations

import numpy as np
from api import CONST, EAGER, PARAMETER, Graph, Tensor, TensorShape, adjoint_table, dtypes, ops


def blurred(shape, how):
    """``shape`` as the graph might know it."""
    if how == "exact":
        return TensorShape(shape)
    if how == "extents unknown":
        return TensorShape([None] * len(shape))
    if how == "first unknown":
        return TensorShape([None, *shape[1:]] if shape else [])
    return TensorShape(None)


BLURS = ["exact", "extents unknown", "first unknown", "rank unknown"]


def leaves(value):
    if isinstance(value, (list, tuple)):
        return [leaf for v in value for leaf in leaves(v)]
    return [value]


def computed(graph, fetches, feeds):
    """The values of ``fetches``, and of every node on the way."""
    env = dict(zip(graph.inputs, feeds))
    for node in graph.nodes:
        if node.op is PARAMETER:
            continue
        if node.op is CONST:
            env[node.outputs[0]] = node.attrs["value"]
            continue
        values = [env[t] for t in node.inputs]
        if node.op.effect:
            values.pop()
        attrs = {**node.attrs, "state": EAGER} if node.op.stateful else node.attrs
        with np.errstate(all="ignore"):
            result = node.op.kernel(*values, **attrs)
        outputs = node.outputs[:-1] if node.op.effect else node.outputs
        results = result if isinstance(result, tuple) else (result,)
        assert len(results) == len(outputs), node
        for tensor, value in zip(outputs, results):
            assert not isinstance(value, np.ndarray) or value.ndim, f"{node} gave a 0-d array, not a scalar"
            assert tensor.dtype == value.dtype or tensor.dtype.kind == "U", (node, tensor.dtype, value.dtype)
            if tensor.dtype != dtypes.variant:
                assert tensor.shape.matches(value.shape), f"{node} promised {tensor.shape}, gave {value.shape}"
            env[tensor] = value
        if node.op.effect:
            env[node.outputs[-1]] = np.True_
    return [env[graph.capture(t)] for t in fetches]


def blurred_graph(f, arrays, how):
    """``f`` traced on parameters whose shapes are blurred; the graph and the outputs."""
    graph = Graph()
    params = [graph.parameter(a.dtype, blurred(a.shape, how)) for a in arrays]
    with graph.as_default():
        outputs = leaves(f(*params))
    return graph, params, outputs


def check_static(f, *arrays, blurs=BLURS):
    """``f`` gives under every blur what it gives eagerly, and promises no more than it keeps."""
    arrays = [np.asarray(a)[()] for a in arrays]
    before = [np.copy(a) for a in arrays]
    eager = leaves(f(*[Tensor(a) for a in arrays]))
    for how in blurs:
        graph, _, outputs = blurred_graph(f, arrays, how)
        got = computed(graph, outputs, arrays)
        assert len(eager) == len(got)
        for e, t, v in zip(eager, outputs, got):
            assert t.dtype == e.dtype or t.dtype.kind == "U"
            assert t.shape.is_compatible_with(e.shape), (how, t.shape, e.shape)
            if how == "exact" and t.shape.rank is not None and None not in t.shape.dims:
                assert t.shape == e.shape
            np.testing.assert_array_equal(v, e.numpy())
    for a, b in zip(arrays, before):
        np.testing.assert_array_equal(a, b)  # kernels do not write to their inputs
    return eager


def pullback(graph, outputs, cotangents, xs):
    """The gradients of ``xs``, built in ``graph`` by a reverse walk."""
    grads = {y: g for y, g in zip(outputs, cotangents)}
    for node in reversed(list(graph.nodes)):
        mine = [grads.get(y) for y in node.outputs]
        if node.op in (CONST, PARAMETER) or all(g is None for g in mine) or not callable(node.op.vjp):
            continue
        values = node.outputs[:-1] if node.op.effect else node.outputs
        ins = node.inputs[:-1] if node.op.effect else node.inputs
        g = mine[0] if len(values) == 1 else tuple(mine[: len(values)])
        parts = list(node.op.vjp(g, values, ins, node.attrs))
        assert len(parts) == len(ins), node
        for x, part in zip(ins, parts):
            if part is None or not (dtypes.is_inexact(x.dtype) or x.dtype == dtypes.variant):
                continue
            assert part.dtype == x.dtype, (node, part.dtype, x.dtype)
            assert part.shape.is_compatible_with(x.shape), (node, part.shape, x.shape)
            add = adjoint_table.merge if x.dtype == dtypes.variant else ops.add
            grads[x] = part if x not in grads else add(grads[x], part)
    return [grads.get(x) for x in xs]


def differences(f, arrays, weights, step=1e-6):
    """Central differences of the weighted sum of ``f``'s outputs."""

    def total(values):
        out = leaves(f(*[Tensor(v[()]) for v in values]))
        return sum((np.sum(o.numpy() * w) for o, w in zip(out, weights)), 0.0)

    found = []
    for k, a in enumerate(arrays):
        slope = np.zeros_like(a)
        for index in np.ndindex(a.shape):
            moved = [np.array(v) for v in arrays]
            moved[k][index] = a[index] + step
            up = total(moved)
            moved[k][index] = a[index] - step
            slope[index] = (up - total(moved)) / (2 * step)
        found.append(slope)
    return found


def check_gradient(f, *arrays, blurs=BLURS, rtol=2e-5, atol=2e-6):
    """The gradient of ``f`` at ``arrays`` (float64), under every blur, against central differences."""
    arrays = [np.asarray(a, np.float64) for a in arrays]
    eager = leaves(f(*[Tensor(a[()]) for a in arrays]))
    rng = np.random.default_rng(0)
    weights = [rng.normal(size=e.shape.as_tuple()) for e in eager]
    expected = differences(f, arrays, weights)
    for how in blurs:
        graph, params, outputs = blurred_graph(f, arrays, how)
        with graph.as_default():
            cotangents = [graph.constant(np.asarray(w)[()]) for w in weights]
            grads = pullback(graph, outputs, cotangents, params)
        for g, a, e in zip(grads, arrays, expected):
            if g is None:
                np.testing.assert_allclose(e, 0, atol=atol)
                continue
            (value,) = computed(graph, [g], [v[()] for v in arrays])
            assert value.shape == a.shape, how
            np.testing.assert_allclose(value, e, rtol=rtol, atol=atol, err_msg=how)
