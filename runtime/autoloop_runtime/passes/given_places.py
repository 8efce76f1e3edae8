"""What is to be in the memory of the caller's array in the end is computed there: ``np.multiply(a, 2, out=b)``.

In a graph that is a tensor like any other, of which only the end is known: the input that it is wanted in
(``Graph.donated``). Where nobody reads what the input held any more, the operation that makes the tensor becomes one
that writes to the input, as an assignment to a part of it would.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..analysis.aliasing import with_views
from ..analysis.failure import can_fail
from ..analysis.inside import nodes_inside
from ..analysis.ownership import left_in_place, may_overwrite, put_elsewhere
from ..ir.graph import PARAMETER, Graph, Node
from ..ir.op import Op, Taking
from ..ir.prices import Products
from ..ir.tensor import Tensor
from ..ir.traits import UPDATING, NoRule
from .rewrite import Copy, rewrite

#: so many operations back from the end the first one that may write to the input is looked for
_BACK = 8


def with_given_places(graph: Graph) -> Graph:
    """Return ``graph``, of which inputs are given away, with operations that write to these."""
    if any((node.op.effect and not node.op.ends_run) or node.op.stateful for node in nodes_inside(graph)):
        return graph  # something else may look at the caller's arrays before it is time
    donated = graph.donated
    for position in put_elsewhere(graph):
        there = left_in_place(graph, donated)
        for node in [*_put_at_once(graph, position), *[*_makers(graph, position)][::-1]]:
            made = rewrite(graph, functools.partial(_visit, node, graph.inputs[position]))
            if left_in_place(made, donated) > there:
                graph = made
                graph.donated = donated
                break
    return graph


def _makers(graph: Graph, position: int) -> Iterator[Node]:
    """Yield what may write to an input on the way to what that is to hold in the end, the last one first.

    Nothing may fail after it: then the caller would find there what the program has not come to.
    """
    given, tensor = graph.inputs[position], graph.outputs[graph.donated[position]]
    place = {node: k for k, node in enumerate(graph.nodes)}
    seen = with_views(graph, [given])
    first = max([k + 1 for node, k in place.items() if node.subgraphs or can_fail(node)], default=0)
    for _ in range(_BACK):
        node = tensor.node
        if node is None or place.get(node, -1) < first - 1 or not _same_form(tensor, given):
            return
        if _has_place(node) and seen.isdisjoint(node.inputs):
            yield node
        made = [t for t in node.inputs if t.op.op is not PARAMETER and _same_form(t, given)]
        if not made or not may_overwrite(node):
            return
        tensor = made[0]


def _put_at_once(graph: Graph, position: int) -> Iterator[Node]:
    """Yield what may write to an input what the program has put there before anything after it could fail."""
    given = graph.inputs[position]
    wanted = [t for t, k in (graph.put_at_once or {}).items() if k == position and _same_form(t, given)]
    if wanted:
        here, seen = {*graph.nodes}, with_views(graph, [given])
        yield from [t.op for t in wanted if t.op in here and _has_place(t.op) and seen.isdisjoint(t.op.inputs)]


def _has_place(node: Node) -> bool:
    """Return whether there is a kernel of ``node`` that takes the array for its result, or changes a copy there."""
    if node.declared or node.control_inputs:
        return False
    if over(node.op) is not None:
        return True
    changes = node.op.taking is not None and node.op.taking.is_update
    return changes and not can_fail(node) and _same_form(node.inputs[0], node.outputs[0])


def _same_form(a: Tensor, b: Tensor) -> bool:
    return a.dtype == b.dtype and a.shape.is_fully_defined() and a.shape == b.shape


def _visit(chosen: Node, given: Tensor, copy: Copy, node: Node) -> None:
    if node is not chosen:
        copy.keep(node)
        return
    copy.exchange(node, _into(node.op), [copy.stands(given), *copy.inputs(node)], node.attrs, node.location)


@functools.cache
def over(op: Op, *more: str) -> Callable[..., Any] | None:
    """Return the kernel of an op that takes the array for its result as the last argument; None if it has none.

    What a ufunc is asked for besides, such as ``where``, are *more* arguments after that.
    """
    if op.into is None or op.several:
        return None
    names = re.findall(r"\{(\d)\}", op.into)
    parameters = [f"x{k}" for k in range(1 + max(map(int, names)))]
    code = op.into.format(*parameters, out=", ".join(["out", *[f"{one}={one}" for one in more]]), by="by")
    given = ", ".join([*parameters, "out", *more])
    made: Callable[..., Any] = eval(f"lambda {given}: {code}", {"np": np, "by": op.into_by})
    return made


def _of_others(price: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, *others, **attrs: price(*others, **attrs)


@functools.cache
def _into(op: Op) -> Op:
    """Return the operation that writes to its first input what ``op`` makes of the others."""
    compute, change, price = over(op), op.taking, op.traits.price

    def write(x: Any, *values: Any, **attrs: Any) -> Any:
        if compute is not None:
            compute(*values, x)
            return x
        assert change is not None
        np.copyto(x, values[0])
        return change.kernel(x, *values[1:], **attrs)

    if isinstance(price, Products):
        price = Products(_of_others(price.count))
    elif callable(price):
        price = _of_others(price)
    return Op(
        f"{op.name}_into",
        lambda x, *_, **__: (x.dtype, x.shape),
        lambda x, *values, **attrs: op.kernel(*values, **attrs),
        NoRule.NO_RULE,
        traits=UPDATING.but(fails=op.traits.fails, raises=op.traits.raises, price=price, blas=op.traits.blas),
        taking=Taking(write, (0,), is_update=True),
    )
