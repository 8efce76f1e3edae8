"""Loops of a graph that go through the rows of arrays: one operation each, computed chunk by chunk.

::

  While(i, states, outs; rows, others):  states, outs[i] = f(states, rows[i], others)

  ->  mapped_rows(others, states, heads, rows)

Which loops these are ``row_loops`` says.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..base import nest
from ..base.shapes import SCALAR, TensorShape
from ..collections.tensor_array import TensorArray
from ..collections.tensor_array_ops import STACK
from ..ir.apply import apply
from ..ir.graph import Graph, Node
from ..ir.op import PARAMETER, Op
from ..ir.stages import Stage, come_to
from ..ir.structured import WHILE, LoopOptions, LoopVar, body_and_cond, finish_while
from ..ir.tensor import Tensor
from ..ir.traits import NO_GRADIENT, OPAQUE
from ..namespaces.chunk_kernels import as_dask
from ..namespaces.foreign_rows import Call, computed
from ..ops.operands import cast
from ..passes.prune import prune
from ..passes.rewrite import Copy, detached, rewrite
from .mapped_chunks import Loop, looped, single_chunk, whole_rows, with_heads
from .row_loops import Collected, RowLoop, SurelyLazy, row_loops

#: of the bytes of a program, what runs it
_Arrived = Callable[[str, bytes], Callable[..., Any]]


def with_mapped_rows(graph: Graph, lazy: Iterable[Tensor], pack: Callable[[Graph], Any], arrived: _Arrived) -> Graph:
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
    if not any(node.op is WHILE for node in graph.nodes):
        return graph
    known, found = SurelyLazy(graph, lazy), dict[Graph, dict[Node, RowLoop]]()

    def visit(copy: Copy, node: Node) -> None:
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


def _put(copy: Copy, one: RowLoop, pack: Callable[[Graph], Any], arrived: _Arrived) -> None:
    """Put an operation in the place of a loop; the loop itself where it cannot be sent."""
    loop = one.loop
    program = pack(_chunk_graph(one))
    if program.content is None:
        copy.keep(loop)
        return
    heads = [out.head for out in one.collected if out.head is not None]
    carried = [loop.outputs[k] for k in one.carried]
    stacked = [out.stack.outputs[0] for out in one.collected]
    specs = [(t.dtype, t.shape) for t in (*carried, *stacked)]
    counts = len(one.others), len(carried), len(heads)
    attrs = {
        "program": program, "arrived": arrived, "counts": counts, "reverse": bool(one.mirrored), "specs": specs,
    }  # fmt: skip
    given = [*[loop.inputs[k] for k in (*one.others, *one.carried)], *heads, *[loop.inputs[k] for k in one.rows]]
    inputs = tuple([copy.stands(t) for t in given])
    made = Node(copy.graph, MAPPED, inputs, attrs, specs, loop.name, loop.location)
    copy.graph.nodes.append(made)
    copy.of.update(zip((*carried, *stacked), made.outputs))


def _chunk_graph(one: RowLoop) -> Graph:
    """Return the graph of the loop over so many rows, given their number, what else is read, what is carried, and the
    rows."""
    loop, graph, body = one.loop, Graph(ordered=True), one.loop.attrs["body"]
    number = graph.parameter(np.dtype(np.int32), SCALAR, "count")
    arrays: dict[int, Tensor] = {}
    for k in (*one.others, *one.carried, *one.rows):
        t = loop.inputs[k]
        shape = TensorShape([None]).concatenate(t.shape[1:]) if k in one.rows else t.shape
        arrays[k] = graph.parameter(t.dtype, shape, "rows" if k in one.rows else "capture")
    graph.inputs = [number, *arrays.values()]
    outs = {out.position: out for out in one.collected}
    with graph.as_default():
        count = cast(number, one.length.dtype)
        begun = [graph.constant(np.zeros((), body.inputs[0].dtype)[()])]
        for k in range(1, loop.attrs["n_vars"]):
            begun += [arrays[k]] if k in arrays else nest.flatten(_collection(outs[k], number), True)
        variables = [LoopVar(name, t, t.shape) for name, t in zip(loop.attrs["names"], begun)]
        sub, cond = body_and_cond(graph, loop.name, variables)[::-1]
        (pred,) = _copied(loop.attrs["cond"], cond, {one.length: cond.capture(count)}, {}, one)
        last = sub.capture(cast(number - 1, body.inputs[0].dtype)) if one.mirrored else None
        results = _copied(body, sub, {}, arrays, one, last)
        options = LoopOptions(parallel_iterations=loop.attrs["parallel_iterations"])
        finals = finish_while(graph, loop.name, variables, cond, pred, sub, results, options, loop.location)
        stacked = [apply(STACK, [finals[k]], {**out.stack.attrs, "count": None}) for k, out in outs.items()]
        graph.outputs = [*[finals[k] for k in one.carried], *stacked]
    return graph


def _collection(out: Collected, count: Tensor) -> TensorArray:
    """Return what is empty, and comes to hold the values of so many rows."""
    made = out.stack.outputs[0]
    return TensorArray.collecting(made.dtype, count, False, made.shape[1:], True)


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
        if node.op is PARAMETER or node.outputs[0] in copy.of:
            continue
        if node in written:
            flow, _, value = node.inputs
            copy.keep(node, [*map(copy.stands, (flow, place, value))])
        elif last is not None and node.outputs[0] in one.mirrored:
            copy.keep(node, [last, copy.stands(node.inputs[1])])
        else:
            copy.again(node)
    return [copy.stands(t) for t in source.outputs]


def _kernel(*values: Any, program: Any, arrived: _Arrived, counts: Any, reverse: bool, specs: Any) -> tuple[Any, ...]:
    beside, heads, rows = _apart(values, counts)
    made = program(np.int32(len(rows[0])), *beside, *rows)
    return with_heads(made if isinstance(made, tuple) else (made,), heads, reverse)


def _apart(values: Sequence[Any], counts: tuple[int, int, int]) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
    """Return what is not cut, what comes before the first row's values, and rows."""
    others, carried, heads = counts
    whole = others + carried
    return values[:whole], values[whole : whole + heads], values[whole + heads :]


#: the others that are read, what is carried, what comes before the values of all rows; and that of which rows are read
MAPPED = Op("mapped_rows", lambda *_, specs, **__: specs, _kernel, NO_GRADIENT, several=True, traits=OPAQUE)


@computed(MAPPED, when="later")
def _mapped(
    asked: Call, *values: Any, program: Any, arrived: _Arrived, counts: Any, reverse: bool, specs: Any
) -> tuple[Any, ...]:
    holds, (others, count, _) = asked.namespace.holds, counts
    beside, heads, given = _apart(values, counts)
    rows = [*given]
    if not any(map(holds, rows)):
        rows[0] = as_dask(np.array(rows[0]))  # computed later, of what it is now
    digest = hashlib.blake2b(program.content, digest_size=16).hexdigest()
    carried = [(dtype, shape.as_tuple()) for dtype, shape in specs[:count]]
    stacked = [(dtype, shape.as_tuple()[1:]) for dtype, shape in specs[count:]]
    name = "map_fn" if not count else "scan" if stacked else "fold"
    told = Loop(name, (counted, arrived, digest, program.content, others + count), carried, stacked, reverse)
    whole = [single_chunk(value) for value in beside]
    last, made = looped(
        told, whole_rows(rows), whole[others:], beside=whole[:others], heads=[single_chunk(value) for value in heads]
    )
    return (*last, *made)


def counted(arrived: _Arrived, digest: str, content: bytes, before: int) -> Callable[..., Any]:
    """Return what runs a program that wants to know how many rows it is given, after so many other values."""
    program = arrived(digest, content)
    return lambda *values: program(np.int32(len(values[before])), *values)
