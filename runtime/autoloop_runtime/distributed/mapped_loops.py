"""Loops of a graph that go through the rows of arrays: one operation each, computed chunk by chunk.

::

  While(i, states, outs; rows, others):  states, outs[i] = f(states, rows[i], others)

  ->  mapped_rows(others, states, heads, rows)

Which loops these are ``row_loops`` says. Those that a gradient goes through it has made such operations before, see
``gradients.mapped_vjp``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ..analysis.inside import nodes_inside
from ..base import nest
from ..base.shapes import SCALAR, TensorShape
from ..collections.tensor_array import TensorArray
from ..collections.tensor_array_ops import STACK
from ..ir.apply import apply
from ..ir.graph import PARAMETER, Graph, Node
from ..ir.stages import Stage, come_to
from ..ir.structured import WHILE, LoopOptions, LoopVar, body_and_cond, finish_while
from ..ir.tensor import Tensor
from ..ops.operands import cast
from ..passes.prune import prune
from ..passes.rewrite import Copy, constant_of, detached, rewrite
from .mapped_rows import HANDED, MAPPED, Arrived, Chunk, Form, of_each
from .row_loops import Collected, RowLoop, SurelyLazy, row_loops


def with_mapped_rows(graph: Graph, lazy: Iterable[Tensor], pack: Callable[[Graph], Any], arrived: Arrived) -> Graph:
    """Return a graph in which loops that go through rows are an operation each.

    Parameters
    ----------
    graph : Graph
        After the passes.
    lazy : iterable of Tensor
        Its inputs that are arrays which are computed later.
    pack : callable
        Gives the program of a graph: what runs it, and has ``content`` to be sent.
    arrived : callable
        Gives a program where it arrives.
    """
    if not any(node.op is WHILE or node.op is HANDED for node in nodes_inside(graph)):
        return graph
    known, found = SurelyLazy(graph, lazy), dict[Graph, dict[Node, RowLoop]]()

    def visit(copy: Copy, node: Node) -> None:
        if node.op is HANDED:
            copy.replace(node, copy.inputs(node))
            return
        maps = found.get(copy.source)
        if maps is None:
            maps = found[copy.source] = row_loops(copy.source, known)
        if (one := maps.get(node)) is None:
            copy.keep(node)
        elif node.op is WHILE:
            _put(copy, one, pack, arrived)
        elif node.op is STACK and node.outputs[0] not in copy.of:  # it could not be sent
            copy.keep(node)

    made = rewrite(graph, visit)
    if made is graph:
        return graph
    made = detached(prune(made))
    come_to(made, Stage.OPTIMISED)
    return made


# -- its operation --------------------------------------------------------------------------------------------


def _put(copy: Copy, one: RowLoop, pack: Callable[[Graph], Any], arrived: Arrived) -> None:
    """Put an operation in the place of a loop; the loop itself where it cannot be sent."""
    loop = one.loop
    inputs, attrs = mapped(one, Chunk(chunk_graph(one), pack, arrived))
    if attrs["chunk"].content is None:
        copy.keep(loop)
        return
    specs = attrs["specs"]
    made = Node(copy.graph, MAPPED, tuple(map(copy.stands, inputs)), attrs, specs, loop.name, loop.location)
    copy.graph.nodes.append(made)
    results = [*[loop.outputs[k] for k in one.carried], *[out.stack.outputs[0] for out in one.collected]]
    found = dict(zip(results, made.outputs))
    if one.own or one.idle:
        copy.keep(loop)  # what is given of it but for these nobody reads, and is pruned
        for k in one.own:
            del found[loop.outputs[k]]
    copy.of.update(found)


def mapped(one: RowLoop, chunk: Chunk, begins: bool = False) -> tuple[list[Tensor], dict[str, Any]]:
    """Return the inputs and the attributes of the operation that is a loop.

    Parameters
    ----------
    one : RowLoop
    chunk : Chunk
        Of its ``chunk_graph``.
    begins : bool
        Give what is carried at the beginning of each chunk, too.
    """
    loop = one.loop
    heads = [out.head for out in one.collected if out.head is not None]
    carried = [loop.outputs[k] for k in one.carried]
    stacked = [out.stack.outputs[0] for out in one.collected]
    form = Form(
        len(one.others) + len(one.lifted), len(carried), len(heads), len(one.rows), stacked=len(stacked),
        begun=len(carried) * begins, reverse=bool(one.mirrored), leading=len(one.rows),
    )  # fmt: skip
    specs = [(t.dtype, t.shape) for t in (*carried, *stacked)]
    specs += [(t.dtype, of_each(t.shape)) for t in carried if begins]
    others, begun, rows = [[loop.inputs[k] for k in those] for those in (one.others, one.carried, one.rows)]
    inputs = [*others, *one.lifted.values(), *begun, *heads, *rows]
    return inputs, {"chunk": chunk, "form": form, "specs": specs}


def own_graph(*sources: Graph) -> Graph:
    """Return a graph for copies of the nodes of others, which keep their names; it gives out other ones."""
    graph = Graph(ordered=True)
    for source in sources:
        for node in nodes_inside(source):
            graph.unique_name(node.name)
    return graph


def chunk_graph(one: RowLoop) -> Graph:
    """Return the graph of a loop over so many rows, given their number, what else is read, what is carried, and the
    rows."""
    loop, body = one.loop, one.loop.attrs["body"]
    graph = own_graph(body, loop.attrs["cond"])
    number = graph.parameter(np.dtype(np.int32), SCALAR, "count")
    arrays: dict[int, Tensor] = {}
    for k in (*one.others, *one.carried, *one.rows):
        t = loop.inputs[k]
        shape = TensorShape([None]).concatenate(t.shape[1:]) if k in one.rows else t.shape
        arrays[k] = graph.parameter(t.dtype, shape, "rows" if k in one.rows else "capture")
    lifted = {t: graph.parameter(t.dtype, t.shape, "capture") for t in one.lifted}
    taken = [*arrays.values()]
    graph.inputs = [number, *taken[: len(one.others)], *lifted.values(), *taken[len(one.others) :]]
    outs = {out.position: out for out in one.collected}
    with graph.as_default():
        count = cast(number, one.length.dtype)
        begun = [_begun(one, k, arrays, outs, number) for k in range(loop.attrs["n_vars"])]
        variables = [LoopVar(name, t, t.shape) for name, t in zip(loop.attrs["names"], begun)]
        sub, cond = body_and_cond(graph, loop.name, variables)[::-1]
        (pred,) = _copied(loop.attrs["cond"], cond, {one.length: cond.capture(count)}, {}, one)
        last = sub.capture(cast(number - 1, body.inputs[0].dtype)) if one.mirrored else None
        results = _copied(body, sub, {t: sub.capture(own) for t, own in lifted.items()}, arrays, one, last)
        options = LoopOptions(parallel_iterations=loop.attrs["parallel_iterations"])
        finals = finish_while(graph, loop.name, variables, cond, pred, sub, results, options, loop.location)
        stacked = [apply(STACK, [finals[k]], {**out.stack.attrs, "count": None}) for k, out in outs.items()]
        graph.outputs = [*[finals[k] for k in one.carried], *stacked]
    return graph


def _begun(
    one: RowLoop, k: int, arrays: Mapping[int, Tensor], outs: Mapping[int, Collected], number: Tensor
) -> Tensor:  # fmt: skip
    """Return what a variable of the loop over a chunk is at first."""
    graph, loop = number.graph, one.loop
    assert graph is not None
    if k == 0:
        return graph.constant(np.zeros((), loop.attrs["body"].inputs[0].dtype)[()])
    if k in one.settled or k in one.idle:
        return graph.constant(constant_of(loop.inputs[k]))
    if k in arrays:
        return arrays[k]
    made = outs[k].stack.outputs[0]
    (flow,) = nest.flatten(TensorArray.collecting(made.dtype, number, False, made.shape[1:], True), True)
    empty: Tensor = flow
    return empty


def _copied(
    source: Graph, into: Graph, of: Mapping[Tensor, Tensor], arrays: Mapping[int, Tensor], one: RowLoop,
    last: Tensor | None = None,
) -> list[Tensor]:  # fmt: skip
    """Return the outputs of a copy of ``source`` in an empty graph of a loop over other arrays.

    ``last`` is the last row's place there, in the body.
    """
    copy = Copy(source, Copy.again, into.parent)
    copy.graph = into
    count, written = one.loop.attrs["n_vars"], {out.written for out in one.collected}
    copy.of.update(zip(source.inputs[:count], into.inputs))
    copy.of.update(of)
    copy.of.update({source.inputs[k]: into.capture(array) for k, array in arrays.items() if k >= count})
    place = next(iter(one.mirrored), source.inputs[0])  # also where another value came before all
    for node in source.nodes:
        if node.op is PARAMETER or not node.outputs or node.outputs[0] in copy.of:
            continue  # a branch that gives nothing has no effect either: such loops stay whole
        if node in written:
            flow, _, value = node.inputs
            copy.keep(node, [*map(copy.stands, (flow, place, value))])
        elif last is not None and node.outputs[0] in one.mirrored:
            copy.keep(node, [last, copy.stands(node.inputs[1])])
        else:
            copy.again(node)
    return [copy.stands(t) for t in source.outputs]
