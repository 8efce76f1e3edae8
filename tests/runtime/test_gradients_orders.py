"""Second derivatives of loops that read and write parts of arrays: every way to ask for them gives the same."""

from __future__ import annotations

from functools import cache
from itertools import product

import autoloop as al
import examples
import numpy as np
import pytest
from api import Index, accumulators, prepare, run_graph
from autoloop.differentiation import grad, gradients, hessian_vector_product, jacobian, jvp, vjp
from each_case import each
from executors import needs_native
from random_programs import interpret

while_loop = al.while_loop
X = np.linspace(0.3, 0.9, 5)
W = np.linspace(0.5, 1.5, 5)
V = np.array([1.0, -0.5, 0.25, 2.0, -1.0])


def turns(body, start=1.0, n=3):
    first = (0, al.constant(start, dtype=al.float64))
    return while_loop(lambda i, *_: i < n, lambda i, s: (i + 1, body(i, s)), first)[1]


def elements(x, w):
    return turns(lambda i, s: s * w[i] * x[i] + al.sin(x[i + 1]))


def slices(x, w):
    return turns(lambda i, s: s * al.sum(x[i : i + 2] * w[0:2]))


def every_other(x, w):
    return turns(lambda i, s: s + al.sum(x[::2] * x[::2] * w[i]) * s)


def whole(x, w):
    return turns(lambda i, s: s + al.sum(al.sin(x * w) * s))


def gathered(x, w):
    return turns(lambda i, s: s * al.sum(al.gather(x, [0, 2, 2]) * al.gather(w, [1, 1, 3])) + x[i])


def by_mask(x, w):
    return turns(lambda i, s: s + al.sum(al.where(w > 1.0, x * s, x * x)))


def array_of_rows(x, w):
    def body(i, s, rows):
        return i + 1, s * x[i], rows.write(i, s * w[i])

    first = (0, al.sum(x[0:2]), al.TensorArray(al.float64, size=3))
    return al.sum(al.sin(while_loop(lambda i, *_: i < 3, body, first)[2].stack()))


def rows_read(x, w):
    rows = al.TensorArray(al.float64, size=5, clear_after_read=False).unstack(x * w)
    return turns(lambda i, s: s * rows.read(i) + rows.read(i + 1) ** 2)


def item_set(x, w):
    def body(i, y):
        return i + 1, al.set_item(y, i, y[i + 1] * y[i] * w[0])

    return al.sum(while_loop(lambda i, y: i < 3, body, (0, x))[1] * w)


def slice_set(x, w):
    def body(i, y):
        return i + 1, al.set_item(y, slice(1, 3), x[i : i + 2] * y[0:2])

    return al.sum(while_loop(lambda i, y: i < 3, body, (0, w))[1] ** 2)


def loop_in_loop(x, w):
    return turns(lambda i, s: s * turns(lambda j, u: u * al.sum(x[j : j + 2]) + w[i], 1.0, i + 1))


def branch_in_loop(x, w):
    def body(i, s):
        return al.cond(s > 1.5, lambda: s * al.sum(x[i : i + 2]), lambda: s + al.sum(x * w))

    return turns(body)


def loop_in_branch(x, w):
    return al.cond(x[0] > 0.0, lambda: turns(lambda i, s: s * al.sum(x[i : i + 2] * w[1:3])), lambda: x[1])


PROGRAMS = {f.__name__: f for f in (
    elements, slices, every_other, whole, gathered, by_mask, array_of_rows, rows_read, item_set, slice_set,
    loop_in_loop, branch_in_loop, loop_in_branch,
)}  # fmt: skip


def ways(f, v):
    """The second derivatives of ``f``, a function of one vector, in direction ``v``, asked for in every way."""
    slope = grad(f)

    def by_graph(x):
        (g,) = gradients(f(x), x)
        return gradients(al.convert_to_tensor(g), x, grad_ys=[v])[0]

    return {
        "jvp of grad": lambda x: jvp(slope, [x], [v])[1],
        "jvp of vjp": lambda x: jvp(lambda x: vjp(f, x)[1](al.ones([], al.float64))[0], [x], [v])[1],
        "grad of jvp": grad(lambda x: jvp(f, [x], [v])[1]),
        "vjp of grad": lambda x: vjp(slope, x)[1](v)[0],
        "hvp": lambda x: hessian_vector_product(f, x, v),
        "gradients of gradients": by_graph,
        "jacobian of grad": lambda x: jacobian(slope)(x) @ v,
        "jvp of jvp": lambda x: jvp(lambda x: jvp(f, [x], [v])[1], [x], [v])[1],
    }


#: what takes long, for a few
LONG, FEW = ("jacobian of grad", "jvp of jvp"), ("slices", "gathered", "branch_in_loop")


@cache
def graph_of_all(name, extent):
    """The graph of all ways for vectors of ``extent`` elements, and their names; one for all executors."""
    f = PROGRAMS[name]
    chosen = tuple(way for way in ways(f, None) if name in FEW or way not in LONG)

    @al.function(autograph=False)
    def everything(x, w, v):
        known = [al.ensure_shape(t, [5]) for t in (x, w, v)]
        asked = ways(lambda x: f(x, known[1]), known[2])
        exact = ("jacobian of grad", "jvp of vjp")  # these want the shapes
        return [asked[way](known[0] if way in exact else x) for way in chosen]

    return everything.get_concrete_function(*[al.TensorSpec([extent], al.float64)] * 3).graph, chosen


@cache
def differences(name):
    f = PROGRAMS[name]

    @al.function(autograph=False)
    def slope(x):
        return grad(lambda x: f(x, al.constant(W)))(x)

    step = 1e-6
    return (np.asarray(slope(X + step * V)) - np.asarray(slope(X - step * V))) / (2 * step)


def check(name, executor, extent=5):
    graph, chosen = graph_of_all(name, extent)
    expected = differences(name)
    if executor is None:
        found = interpret(graph, [X, W, V])[: len(chosen)]
    else:
        found = run_graph(graph, prepare(graph, executor), [al.constant(a) for a in (X, W, V)])
    for way, one in zip(chosen, found, strict=True):
        want = V @ expected if way == "jvp of jvp" else expected
        np.testing.assert_allclose(one, want, rtol=1e-6, atol=1e-7, err_msg=way)


#: whose graphs are optimised, and run by every executor, by day, too; of others it is asked what they mean
RUN = ("slices", "gathered", "slice_set", "branch_in_loop")


@each(PROGRAMS)
def test_every_way_gives_the_same(name):
    check(name, "sequential" if name in RUN or examples.of_long_runs else None)


@each(product(RUN, ["auto", "dataflow"]))
def test_on_every_executor(name, executor):
    check(name, executor)


@each(["slices", "whole", "gathered", "slice_set"])
def test_when_no_extent_is_known(name):
    check(name, "sequential", None)


@needs_native
def test_forward_over_reverse_in_machine_code():
    @al.function(executor="native", autograph=False)
    def native(x, w, v):
        return jvp(lambda x: al.sum(elements(x, w)), [x], [v])[1]

    @al.function(executor="sequential", autograph=False)
    def python(x, w, v):
        return jvp(lambda x: al.sum(elements(x, w)), [x], [v])[1]

    np.testing.assert_allclose(native(X, W, V), python(X, W, V), rtol=1e-12)


# -- sums that grow in place ------------------------------------------------------------------------------


ALL = Index([slice(None)])


@each([accumulators._accumulate, lambda s, x: accumulators._accumulate_at(s, x, index=ALL)])
def test_a_sum_that_grows_in_place_is_used_once(add):
    first = add(np.zeros(3), np.ones(3))
    second = add(first, np.ones(3))
    for use in (add, lambda total, part: accumulators._settle(total)):
        with pytest.raises(AssertionError, match="used twice"):
            use(first, np.ones(3))
    np.testing.assert_array_equal(accumulators._settle(second), [2, 2, 2])


def uses(graph, found):
    """How often each tensor is an input or a result, in ``graph`` and below."""
    for node in graph.nodes:
        for t in node.inputs:
            found[t] = found.get(t, 0) + 1
        for below in node.subgraphs:
            uses(below, found)
    for t in graph.outputs:
        found[t] = found.get(t, 0) + 1
    return found


def sums(graph):
    for node in graph.nodes:
        if node.op in (accumulators.ACCUMULATE, accumulators.ACCUMULATE_AT):
            yield node
        for below in node.subgraphs:
            yield from sums(below)


@each(["slices", "whole", "gathered", "loop_in_loop", "branch_in_loop"])
def test_no_derivative_uses_a_growing_sum_twice(name):
    graph, _ = graph_of_all(name, 5)
    count, seen = uses(graph, {}), 0
    for node in sums(graph):
        seen += 1
        assert count[node.inputs[0]] == 1, node
        assert count[node.outputs[0]] == 1, node
    assert seen
