"""Loops of a graph that are maps over the rows of arrays: one operation each, computed chunk by chunk.

::

  While(i, outs; rows, others):  outs[i] = f(rows[i], others)      ->      mapped_rows(others, rows)

Such a loop carries nothing but its counter and what it collects, reads the rows at the counter alone, and computes
without effects. Loops that a gradient goes through save more, and stay as they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..analysis.inside import nodes_inside
from ..analysis.uses import Readers
from ..base import nest
from ..base.dataclass import dataclass
from ..base.shapes import SCALAR, TensorShape
from ..collections.tensor_array import TensorArray
from ..collections.tensor_array_ops import NEW, STACK, WRITE
from ..ir.apply import apply
from ..ir.graph import Graph, Node
from ..ir.op import PARAMETER, Op
from ..ir.stages import Stage, come_to
from ..ir.structured import WHILE, LoopOptions, LoopVar, body_and_cond, finish_while
from ..ir.tensor import Tensor
from ..ir.traits import NO_GRADIENT, OPAQUE
from ..namespaces.chunk_kernels import as_dask
from ..namespaces.foreign_rows import Call, computed
from ..ops.arithmetic import ADD
from ..ops.index import Input
from ..ops.indexing import GETITEM
from ..ops.logic import LESS
from ..passes.prune import prune
from ..passes.rewrite import Copy, constant_of, detached, rewrite
from .mapped_chunks import Loop, looped, single_chunk, whole_rows

#: what is read besides the rows goes to every chunk: no more elements than these
_MOST_ELEMENTS = 1 << 20
#: of the bytes of a program, what runs it
_Arrived = Callable[[str, bytes], Callable[..., Any]]


def with_mapped_rows(graph: Graph, pack: Callable[[Graph], Any], arrived: _Arrived) -> Graph:
    """Return a graph in which loops that are maps over rows are an operation each.

    Parameters
    ----------
    graph : Graph
        After the passes.
    pack : callable
        Gives the program of a graph: what runs it, and has ``content`` to be sent.
    arrived : callable
        Gives a program where it arrives.
    """
    if not any(node.op is STACK for node in nodes_inside(graph)):
        return graph
    found: dict[Graph, dict[Node, _Map]] = {}

    def visit(copy: Copy, node: Node) -> None:
        maps = found.get(copy.source)
        if maps is None:
            maps = found[copy.source] = _maps_of(copy.source)
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


# -- what is a map --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Map:
    """A loop that is one.

    Attributes
    ----------
    loop : Node
    length : Tensor
        What the counter is compared with, in the condition.
    rows, others : sequence of int
        The inputs of which rows are read, and the others that are read.
    stacks : sequence of Node
        What puts together what it collects.
    """

    loop: Node
    length: Tensor
    rows: Sequence[int]
    others: Sequence[int]
    stacks: Sequence[Node]


def _maps_of(graph: Graph) -> dict[Node, _Map]:
    """Return the maps of a graph by their loops, and by what puts together what these collect."""
    readers, found = Readers(graph.nodes, graph.outputs), dict[Node, _Map]()
    for node in graph.nodes:
        one = _map(node, readers) if node.op is WHILE else None
        if one is not None:
            found.update(dict.fromkeys((node, *one.stacks), one))
    return found


def _map(node: Node, readers: Readers) -> _Map | None:
    """Return a loop as a map; None if it is none."""
    count, cond, body = node.attrs["n_vars"], node.attrs["cond"], node.attrs["body"]
    if node.attrs["token"] is not None or node.control_inputs or count < 2 or count != len(node.outputs):
        return None
    i, test = body.inputs[0], cond.outputs[0].node
    if test is None or test.op is not LESS or test.inputs[0] is not cond.inputs[0]:
        return None
    n = constant_of(test.inputs[1])
    if n is None or n < 1 or constant_of(node.inputs[0]) != 0 or readers.nodes(node.outputs[0]):
        return None
    inner = Readers(body.nodes, body.outputs)
    steps, stacks = body.outputs[0].node, []
    if steps is None or steps.op is not ADD or steps.inputs[0] is not i or constant_of(steps.inputs[1]) != 1:
        return None
    counted = {steps}
    for k in range(1, count):
        written, (stack, _) = body.outputs[k].node, readers.only(node.outputs[k]) or (None, 0)
        if stack is None or not _is_collected(node.inputs[k], stack, n):
            return None
        if written is None or written.op is not WRITE or written.inputs[:2] != (body.inputs[k], i):
            return None
        if inner.count(body.inputs[k]) != 1 or inner.count(written.outputs[0]) != 1:
            return None
        counted.add(written)
        stacks.append(stack)
    rows, others = [], []
    for k in range(count, len(node.inputs)):
        reads = inner.nodes(body.inputs[k])
        if reads and all(one is not None and _is_row(one, body.inputs[k], i) for one in reads):
            if not _is_whole(node.inputs[k]) or node.inputs[k].shape[0] != n:
                return None
            rows.append(k)
            counted.update(one for one in reads if one is not None)
        elif reads:
            others.append(k)
    is_plain = all(_is_whole(node.inputs[k]) and _size(node.inputs[k]) <= _MOST_ELEMENTS for k in others)
    if not rows or not is_plain or not counted.issuperset(inner.nodes(i)):
        return None
    if any(one.op.effect or one.op.stateful or one.control_inputs for one in nodes_inside(body)):
        return None
    return _Map(node, test.inputs[1], rows, others, stacks)


def _is_collected(begun: Tensor, stack: Node, n: int) -> bool:
    """Return whether a collection starts empty, and comes to be an array of ``n`` rows of a shape that is known."""
    new = begun.node
    if new is None or new.op is not NEW or constant_of(new.inputs[0]) != n:
        return False
    whole = stack.op is STACK and not stack.control_inputs and _is_whole(stack.outputs[0])
    return whole and stack.attrs["count"] == n


def _is_row(node: Node, array: Tensor, i: Tensor) -> bool:
    """Return whether a node reads the row of an array at the counter, or a part of it that is the same of each."""
    if node.op is not GETITEM or node.inputs != (array, i):
        return False
    first, *more = node.attrs["index"].entries
    return isinstance(first, Input) and all(isinstance(one, int | np.integer) for one in more)


def _is_whole(tensor: Tensor) -> bool:
    return tensor.dtype.kind in "biufc" and tensor.shape.is_fully_defined()


def _size(tensor: Tensor) -> int:
    return int(np.prod(tensor.shape.as_tuple(), dtype=np.int64))


# -- its operation --------------------------------------------------------------------------------------------


def _put(copy: Copy, one: _Map, pack: Callable[[Graph], Any], arrived: _Arrived) -> None:
    """Put an operation in the place of a map; the map itself where it cannot be sent."""
    loop = one.loop
    program = pack(_chunk_graph(one))
    if program.content is None:
        copy.keep(loop)
        return
    specs = [(t.dtype, t.shape) for stack in one.stacks for t in stack.outputs]
    attrs = {"program": program, "arrived": arrived, "others": len(one.others), "specs": specs}
    inputs = [copy.stands(loop.inputs[k]) for k in (*one.others, *one.rows)]
    made = Node(copy.graph, MAPPED, tuple(inputs), attrs, specs, loop.name, loop.location)
    copy.graph.nodes.append(made)
    for stack, output in zip(one.stacks, made.outputs):
        copy.replace(stack, [output])


def _chunk_graph(one: _Map) -> Graph:
    """Return the graph of the loop over so many rows, given their number, what else is read, and the rows."""
    loop, graph = one.loop, Graph(ordered=True)
    count = graph.parameter(np.dtype(np.int32), SCALAR, "count")
    arrays: dict[int, Tensor] = {}
    for k in (*one.others, *one.rows):
        t = loop.inputs[k]
        shape = TensorShape([None]).concatenate(t.shape[1:]) if k in one.rows else t.shape
        arrays[k] = graph.parameter(t.dtype, shape, "rows" if k in one.rows else "capture")
    graph.inputs = [count, *arrays.values()]
    rows = [(stack.outputs[0].dtype, stack.outputs[0].shape[1:]) for stack in one.stacks]
    with graph.as_default():
        outs = [TensorArray.collecting(dtype, count, False, shape, True) for dtype, shape in rows]
        begun = [graph.constant(np.int32(0)), *nest.flatten(outs, True)]
        variables = [LoopVar(name, t, SCALAR) for name, t in zip(("i", *["out"] * len(outs)), begun)]
        cond, body = body_and_cond(graph, loop.name, variables)
        (pred,) = _copied(loop.attrs["cond"], cond, {one.length: cond.capture(count)}, arrays, loop)
        results = _copied(loop.attrs["body"], body, {}, arrays, loop)
        options = LoopOptions(parallel_iterations=loop.attrs["parallel_iterations"])
        finals = finish_while(graph, loop.name, variables, cond, pred, body, results, options, loop.location)
        graph.outputs = [
            apply(STACK, [final], {**stack.attrs, "count": None}) for final, stack in zip(finals[1:], one.stacks)
        ]
    return graph


def _copied(
    source: Graph, into: Graph, of: dict[Tensor, Tensor], arrays: dict[int, Tensor], loop: Node
) -> list[Tensor]:
    """Return the outputs of a copy of ``source`` in an empty graph of a loop over other arrays."""
    copy = Copy(source, Copy.again, into.parent)
    copy.graph = into
    count = loop.attrs["n_vars"]
    copy.of.update(zip(source.inputs[:count], into.inputs))
    copy.of.update(of)
    copy.of.update({source.inputs[k]: into.capture(array) for k, array in arrays.items()})
    for node in source.nodes:
        if node.op is not PARAMETER and node.outputs[0] not in copy.of:
            copy.again(node)
    return [copy.stands(t) for t in source.outputs]


def _kernel(*values: Any, program: Any, arrived: _Arrived, others: int, specs: Any) -> tuple[Any, ...]:
    made = program(np.int32(len(values[others])), *values)
    return made if isinstance(made, tuple) else (made,)


#: the others that are read, then those of which rows are
MAPPED = Op("mapped_rows", lambda *_, specs, **__: specs, _kernel, NO_GRADIENT, several=True, traits=OPAQUE)


@computed(MAPPED, when="later")
def _mapped(call: Call, *values: Any, program: Any, arrived: _Arrived, others: int, specs: Any) -> tuple[Any, ...]:
    holds = call.namespace.holds
    rows = [*values[others:]]
    if not any(map(holds, rows)):
        rows[0] = as_dask(np.array(rows[0]))  # computed later, of what it is now
    digest = hashlib.blake2b(program.content, digest_size=16).hexdigest()
    stacked = [(dtype, shape.as_tuple()[1:]) for dtype, shape in specs]
    told = Loop("map_fn", (counted, arrived, digest, program.content, others), [], stacked)
    beside = [single_chunk(value) for value in values[:others]]
    return tuple(looped(told, whole_rows(rows), beside)[1])


def counted(arrived: _Arrived, digest: str, content: bytes, others: int) -> Callable[..., Any]:
    """Return what runs a program that wants to know how many rows it is given."""
    program = arrived(digest, content)
    return lambda *values: program(np.int32(len(values[others])), *values)
