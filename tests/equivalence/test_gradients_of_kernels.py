"""Gradients of kernels that write in place are slopes of the plain kernels; and parts of them are added in place."""

import copy

import autoloop as al
import numpy as np
import pytest
from api import nodes_inside, ownership
from executors import EXECUTORS
from losses_of_kernels import floating, loss_of, written
from test_kernels import KERNELS, given

#: kernels that keep numbers of single precision in between: their differences are rough
SINGLE = ("resnet", "lenet")


def slope(loss, args, wrt, ways, step):
    """How much the plain function grows along ``ways``."""
    ends = []
    for sign in (1, -1):
        moved = list(copy.deepcopy(args))
        for k, way in zip(wrt, ways):
            moved[k] = moved[k] + sign * step * way
        ends.append(loss(*moved))
    return (ends[0] - ends[1]) / (2 * step)


def what_differs(kernel, make, executor):
    """Return how the gradient is another one than differences say; empty if it is not."""
    args = given(make)
    wrt = floating(args)
    if not wrt:
        return ""
    loss, rng = loss_of(kernel, written(kernel, args)), np.random.default_rng(3)
    ways = [rng.standard_normal(np.shape(args[k])) for k in wrt]
    rough = kernel.__name__ in SINGLE
    wanted = slope(loss, args, wrt, ways, 1e-2 if rough else 1e-6)
    found = al.function(al.grad(loss, wrt), executor=executor)(*args)
    total = sum(np.sum(np.asarray(g) * way) for g, way in zip(found, ways) if g is not None)
    near = np.isclose(total, wanted, rtol=3e-2 if rough else 1e-5, atol=1e-6)
    return "" if near else f"{kernel.__name__}: {total}, not {wanted}"


def wrong(kernels, executor):
    return "\n".join(filter(None, [what_differs(kernel, make, executor) for kernel, make in kernels]))


def test_gradients_of_kernels():
    assert not wrong(KERNELS, "sequential")


@pytest.mark.nightly
@pytest.mark.parametrize("executor", [one for one in EXECUTORS if one not in ("sequential", "native")])
def test_gradients_of_kernels_under_every_executor(executor):
    assert not wrong(KERNELS, executor)


def row_by_row(a, b):
    for i in al.range(1, a.shape[0]):
        a[i] = a[i] * b[i] + a[i - 1]
        b[i] = np.sin(a[i] + b[i - 1])
    return a.sum() + b.sum()


def test_parts_are_added_where_they_belong():
    rng = np.random.default_rng(0)
    f = al.function(al.grad(row_by_row, (0, 1)), executor="sequential")
    graph = f.get_concrete_function(rng.random((40, 30)), rng.random((40, 30))).runner.graph
    made = list(nodes_inside(*[inner for node in graph.nodes for inner in node.subgraphs]))
    writers = {node for node in made if node.op.name in ("add_at", "set_item")}
    assert len(writers) >= 7 and not any(node.op.name == "index_add" for node in made)
    assert writers <= ownership.find_owned(graph).in_place.keys()


def products(x, count):
    out = np.zeros((x.shape[1], x.shape[1]))
    for i in al.range(x.shape[1]):
        out[i:, i] = out[i, i:] = x[:, i] @ x[:, i:] / count
    return np.sum(out**2)


def from_the_next(x, count):
    out = x * 1.0
    for i in al.range(x.shape[0] - 1):
        out[i + 1 :, i] += np.sin(x[i, i + 1 :]) * out[i + 1 :, i] / count
        out[i + 1 :, i + 1 :] -= np.outer(out[i + 1 :, i], out[i, i + 1 :])
    return np.sum(out**2)


def one_for_all(x, count):
    out = np.zeros_like(x)
    for i in al.range(x.shape[0] - 1):
        out[i:, i] = x[i, i : i + 1] * count
        out[i, : i + 1] = x[i : i + 1, i] * np.where(x[i, : i + 1] > 0.5, x[:1, i], count)
    return np.sum(out**2)


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("kernel", [products, from_the_next, one_for_all])
def test_rows_of_several_lengths(kernel, executor):
    if kernel is one_for_all and executor == "native":
        pytest.skip("how many elements are summed up depends on values: it is refused")
    assert not what_differs(kernel, (lambda rng: rng.random((5, 5)), np.float64(2.5)), executor)


def test_the_backward_turns_of_rows_of_several_lengths_save_nothing():
    f = al.function(al.grad(products, (0, 1)), executor="sequential")
    graph = f.get_concrete_function(np.ones((5, 4)), np.float64(2)).runner.graph
    ops = {n.op.name for n in nodes_inside(*[inner for node in graph.nodes for inner in node.subgraphs])}
    assert "AccumulateAt" in ops and not ops & {"StackPush", "sum_to", "shape"}


def smoothed(x, turns):
    for _ in al.range(turns):
        x[1:-1] = (x[2:] - 2 * x[1:-1]) + x[:-2] + 3 * x[1:-1] * x[1:-1]
    return x.sum()


def test_gradients_of_the_same_part_are_added_at_once():
    x = np.linspace(0.1, 0.2, 6)
    f = al.function(al.grad(smoothed), executor="sequential")
    graph = f.get_concrete_function(x, 2).runner.graph
    made = list(nodes_inside(*[inner for node in graph.nodes for inner in node.subgraphs]))
    assert sum(node.op.name == "add_at" for node in made) == 3
    ways = [np.arange(6.0)]
    assert np.isclose(f(x, 2) @ ways[0], slope(smoothed, (x, 2), (0,), ways, 1e-6), rtol=1e-6)
