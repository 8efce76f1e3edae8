"""Loops over the last axes of arrays, done for a few rows at a time.

``for j in range(1, n): x[:, j] = x[:, j - 1] * a[:, j]`` walks over all rows in every iteration and takes one element
of each, of a line of memory that holds eight; until it comes back for the next one, the line is gone from the cache.
Where what becomes of a row depends on that row only, the whole loop may as well run for some of the rows, and then for
the next: the same numbers, computed in the same way.

That is so where the body does nothing but compute element by element, read and write parts of arrays, one axis of which
goes over the same rows wherever something is written, and where nothing of it can fail.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..analysis.failure import can_fail
from ..analysis.induction import constant_step, trip_count
from ..analysis.inside import loops_inside
from ..analysis.observable import is_pure
from ..base.dataclass import dataclass, field
from ..base.shapes import SCALAR, TensorShape
from ..ir.graph import CONST, PARAMETER, Graph, Node
from ..ir.structured import WHILE
from ..ir.tensor import Tensor
from ..ops.arithmetic import ADD
from ..ops.index import Index, Input, Slice
from ..ops.indexing import GETITEM, SET_ITEM
from ..ops.logic import LESS
from ..passes.rewrite import Copy, detached, rewrite
from .typing.facts import Types
from .typing.intervals import interval
from .written_loops import COUNTED, loop_in, name_in, node_in, number_in

#: a loop with fewer iterations stays as it is
_FEWEST = 16
#: lines of a cache, bytes of a line, and how many sets of lines there are, of those that are close to the processor
_LINES, _LINE, _SETS = 512, 64, 64


def with_blocks(graph: Graph) -> Graph:
    """Return ``graph`` with such loops block by block."""
    if not loops_inside(graph):
        return graph
    made = rewrite(graph, _visit)
    if made is not graph:
        made = detached(made)
        made.donated = graph.donated
    return made


def _visit(copy: Copy, node: Node) -> None:
    rows = _rows_of(node) if node.op is WHILE else None
    if rows is None:
        copy.keep(node)
    else:
        copy.replace(node, _in_blocks(copy.graph, rows, copy.inputs(node)))


# -- which loops ---------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Rows:
    """What goes over the rows in a loop, while it is looked for, and when it is found.

    Attributes
    ----------
    count, behind : int
        How many rows there are; how many axes of a part are behind that of the rows.
    has : set of Tensor
        What has that axis, in the body.
    parts : dict
        Nodes that take such parts of arrays -> the axis of the array, and the first row.
    holds : dict
        Arrays of the body -> which input of the loop they are, or have become of.
    read, computed : set of int
        Inputs that are read and written by parts; those that are computed with as they are.
    written : dict
        Inputs that are written to -> the axis, and the first row.
    uneven : set of int
        Inputs of which something else than rows is read.
    block : int
        How many rows are done at a time.
    sums : dict
        A graph that was written and a number -> the first of the rows and that number.
    """

    loop: Node
    count: int = 0
    behind: int = 0
    has: set[Tensor] = field(default_factory=set)
    parts: dict[Node, tuple[int, int]] = field(default_factory=dict)
    holds: dict[Tensor, int] = field(default_factory=dict)
    read: set[int] = field(default_factory=set)
    computed: set[int] = field(default_factory=set)
    written: dict[int, tuple[int, int]] = field(default_factory=dict)
    uneven: set[int] = field(default_factory=set)
    block: int = 0
    sums: dict[Any, Tensor] = field(default_factory=dict)

    @property
    def variables(self) -> int:
        """How many loop variables there are."""
        return int(self.loop.attrs["n_vars"])

    def has_rows(self, shape: TensorShape) -> bool:
        """Return whether an array of this shape has an axis for the rows."""
        extents = shape.known
        return len(extents) > self.behind and extents[-1 - self.behind] == self.count

    def narrowed(self, tensor: Tensor) -> TensorShape:
        """Return the shape of what stands for ``tensor`` where a block of rows is done."""
        return self.cut(tensor.shape, self.block) if tensor in self.has else tensor.shape

    def cut(self, shape: TensorShape, size: int) -> TensorShape:
        """Return ``shape`` with ``size`` rows."""
        extents = list(shape.known)
        extents[-1 - self.behind] = size
        return TensorShape(extents)


def _rows_of(loop: Node) -> _Rows | None:
    """Return what goes over the rows in ``loop``, if that can be done block by block, and should."""
    body, trips = loop.attrs["body"], trip_count(loop)
    if trips is None or trips < _FEWEST or loop.attrs["token"] is not None or loop.control_inputs or loop.declared:
        return None
    tensors = [t for graph in loop.subgraphs for node in graph.nodes for t in node.outputs]
    if any(not t.shape.is_fully_defined() for t in (*tensors, *loop.inputs)):
        return None
    if any(not _is_plain(node) or node.outputs[0].shape.rank for node in _computing(loop.attrs["cond"])):
        return None
    rows = _Rows(loop, holds={t: k for k, t in enumerate(body.inputs) if t.shape.rank})
    writes = [node for node in body.nodes if node.op is SET_ITEM]
    if not writes or not _begun(rows, writes[0]):
        return None
    known = _known_of(loop)
    if not all(_goes_along(rows, node, known) for node in _computing(body)) or not _stays_apart(rows):
        return None
    rows.block = _block(rows)
    return rows if 0 < rows.block <= rows.count // 2 else None


def _known_of(loop: Node) -> Types:
    """Return what the constants of ``loop`` and its shapes tell."""
    types = Types(
        outside=dict(zip(loop.attrs["body"].inputs[loop.attrs["n_vars"] :], loop.inputs[loop.attrs["n_vars"] :]))
    )
    for tensor in (*loop.inputs, *[t for graph in loop.subgraphs for node in graph.nodes for t in node.outputs]):
        types.shapes[tensor] = tensor.shape.as_tuple()
        if tensor.op.op is CONST and not tensor.shape.rank:
            types.know(tensor, tensor.op.attrs["value"])
    return types


def _computing(graph: Graph) -> Iterator[Node]:
    return (node for node in graph.nodes if node.op not in (CONST, PARAMETER))


def _is_plain(node: Node) -> bool:
    """Return whether ``node`` computes element by element whatever the shape is, and never fails."""
    known = any(isinstance(value, (tuple, TensorShape)) for value in node.attrs.values())
    return (
        node.op.traits.elementwise and len(node.outputs) == 1 and not known and is_pure(node) and not can_fail(node)
    )  # fmt: skip


def _entries(node: Node, first: int) -> list[Any] | None:
    """Return the entries of an index, one for each axis: numbers, integers as tensors, and slices without steps."""
    entries, rank = list(node.attrs["index"].entries), len(node.inputs[0].shape)
    at = entries.index(Ellipsis) if Ellipsis in entries else len(entries)
    entries[at : at + 1] = [Slice(None, None, None)] * (rank - len(entries) + (at < len(entries)))
    return entries if all(_is_basic(node, first, entry) for entry in entries) else None


def _is_basic(node: Node, first: int, entry: Any) -> bool:
    if isinstance(entry, Slice):
        return entry.step in (None, 1) and not isinstance(entry.start, Input) and not isinstance(entry.stop, Input)
    if isinstance(entry, Input):
        index = node.inputs[first + entry.position]
        return index.shape.rank == 0 and index.dtype.kind in "iu"
    return isinstance(entry, int)


def _slices(node: Node, entries: Sequence[Any]) -> list[tuple[int, range]]:
    """Return the axes of the array that a part keeps, and what it takes along them."""
    extents = node.inputs[0].shape.as_tuple()
    return [
        (axis, range(*slice(entry.start, entry.stop).indices(extent)))
        for axis, (entry, extent) in enumerate(zip(entries, extents))
        if isinstance(entry, Slice)
    ]


def _begun(rows: _Rows, write: Node) -> bool:
    """Take the first axis of what ``write`` writes for that of the rows; gives whether there is one."""
    entries = _entries(write, 2)
    taken = _slices(write, entries) if entries is not None else []
    if not taken:
        return False
    rows.count, rows.behind = len(taken[0][1]), len(taken) - 1
    return rows.count > 1


def _goes_along(rows: _Rows, node: Node, known: Types) -> bool:
    """Note what ``node`` does with rows; gives whether it does the same with each of them, and never fails."""
    if node.op in (GETITEM, SET_ITEM):
        return is_pure(node) and _takes_part(rows, node, known)
    if not _is_plain(node):
        return False
    for tensor in node.inputs:
        if tensor in rows.holds:
            k = rows.holds[tensor]
            if tensor is not rows.loop.attrs["body"].inputs[k]:
                return False
            rows.computed.add(k)
        if tensor.shape.rank and tensor.op.op in (CONST, PARAMETER) and rows.has_rows(tensor.shape):
            if tensor.op.op is CONST:
                return False
            rows.has.add(tensor)
    if not rows.has.isdisjoint(node.inputs):
        rows.has.add(node.outputs[0])
    return True


def _takes_part(rows: _Rows, node: Node, known: Types) -> bool:
    """Note which rows of an array ``node`` takes; gives whether it can be told, and it never fails."""
    first = 1 if node.op is GETITEM else 2
    entries, k = _entries(node, first), rows.holds.get(node.inputs[0])
    if entries is None or k is None:
        return False
    for entry, extent in zip(entries, node.inputs[0].shape.known):
        if isinstance(entry, Input):
            found = interval(node.inputs[first + entry.position], known, [rows.loop])
            if found is None or extent is None or found[0] < -extent or found[1] >= extent:
                return False
    rows.read.add(k)
    taken = _slices(node, entries)
    axis, along = taken[-1 - rows.behind] if len(taken) > rows.behind else (-1, range(0))
    if len(along) == rows.count:
        rows.parts[node] = axis, along.start
    elif node.op is SET_ITEM:
        return False
    if node.op is GETITEM:
        if node in rows.parts:
            rows.has.add(node.outputs[0])
        else:
            rows.uneven.add(k)
        return True
    value = node.inputs[1]
    if value in rows.holds or (value.op.op is CONST and value.shape.rank) or not _fits(value.shape, taken):
        return False
    rows.holds[node.outputs[0]] = k
    return rows.written.setdefault(k, rows.parts[node]) == rows.parts[node]


def _fits(shape: TensorShape, taken: Sequence[tuple[int, range]]) -> bool:
    """Return whether a value of ``shape`` broadcasts to what is taken of an array."""
    wanted = [len(along) for _, along in taken]
    extents = shape.as_tuple()
    return len(extents) <= len(wanted) and all(n in (1, m) for n, m in zip(reversed(extents), reversed(wanted)))


def _stays_apart(rows: _Rows) -> bool:
    """Return whether nothing of a row gets into another."""
    body, count = rows.loop.attrs["body"], rows.variables
    if not rows.read.isdisjoint(rows.computed) or not rows.uneven.isdisjoint(rows.written):
        return False
    for node, place in rows.parts.items():
        k = rows.holds[node.inputs[0]]
        if rows.written.get(k, place) != place:
            return False
    for k, (given, result) in enumerate(zip(body.inputs[:count], body.outputs)):
        if not given.shape.rank:
            if result.shape.rank:
                return False
        elif k in rows.read or result is given:
            if rows.holds.get(result) != k:
                return False
        elif not rows.has_rows(given.shape) or result not in rows.has or result.shape != given.shape:
            return False
        else:
            rows.has.add(given)
    # what was computed before it was known that a variable has rows
    return all(
        node.outputs[0] in rows.has or rows.has.isdisjoint(node.inputs)
        for node in _computing(body) if node.op not in (GETITEM, SET_ITEM)
    )  # fmt: skip


def _block(rows: _Rows) -> int:
    """Return how many rows fit into the cache that is close to the processor, all of the lines that an iteration takes
    an element of; 0: that is done well as it is."""
    across: dict[int, tuple[int, int]] = {}
    for node, (axis, _) in rows.parts.items():
        first = 1 if node.op is GETITEM else 2
        entries, extents = _entries(node, first), node.inputs[0].shape.as_tuple()
        assert entries is not None
        if any(isinstance(entry, Input) for entry in entries[axis + 1 :]):
            other = math.prod(len(along) for at, along in _slices(node, entries) if at != axis)
            step = math.prod(extents[axis + 1 :]) * node.outputs[0].dtype.itemsize
            across[rows.holds[node.inputs[0]]] = other, step
    every = {rows.holds[node.inputs[0]] for node in rows.parts}
    if 2 * len(across) < len(every) or not across:
        return 0
    fit = _LINES // 2
    for other, step in across.values():
        sets = _SETS // math.gcd(step // _LINE, _SETS) if step % _LINE == 0 else _SETS
        fit = min(fit, sets * (_LINES // _SETS) // other)
    most = max(1, fit // len(across))
    # without a rest there is no second loop
    return next((size for size in range(most, most // 2, -1) if rows.count % size == 0), most)


# -- the same block by block ---------------------------------------------------------------------------------


def _sum(graph: Graph, like: Node, at: Tensor, added: int, known: dict[Any, Tensor]) -> Tensor:
    """Return ``at + added`` in ``graph``, one of those that are ``known`` there or a new one."""
    if added and (graph, added) not in known:
        known[graph, added] = node_in(graph, like, ADD, (at, number_in(graph, added)), (COUNTED, SCALAR))
    return known[graph, added] if added else at


def _in_blocks(graph: Graph, rows: _Rows, inputs: Sequence[Tensor]) -> list[Tensor]:
    """Write the loop for one block after the other, and for what rows are left; gives its results."""
    loop, count, size, whole = rows.loop, rows.variables, rows.block, rows.count // rows.block * rows.block
    # what is counted by a constant ends the same whatever a block does: the blocks have nothing but rows of their own
    steps = [None if t.shape.rank else constant_step(loop, k) for k, t in enumerate(inputs[:count])]
    kept = [k for k, step in enumerate(steps) if step is None]
    begins = [t for t in inputs[:count] if not t.shape.rank]  # each block begins with these anew
    given = [number_in(graph, 0), *[inputs[k] for k in kept], *begins, *inputs[count:]]
    body, cond = (Graph(name_in(graph, loop), graph) for _ in range(2))
    for sub in (body, cond):
        for tensor in given:
            sub.parameter(tensor.dtype, tensor.shape, "block", loop.location)
    at, arrays, more = body.inputs[0], dict(zip(kept, body.inputs[1:])), iter(body.inputs[len(kept) + 1 :])
    begun = [arrays[k] if t.shape.rank else next(more) for k, t in enumerate(inputs[:count])]
    ends = _of_block(body, rows, at, [*begun, *more])
    body.outputs = [_sum(body, loop, at, size, rows.sums), *[ends[k] for k in kept]]
    cond.outputs = [node_in(cond, loop, LESS, (cond.inputs[0], number_in(cond, whole)), (np.dtype(bool), SCALAR))]
    names = ("block", *[loop.attrs["names"][k] for k in kept])
    blocks = dict(zip(kept, loop_in(graph, loop, cond, body, given, len(names), names)[1:]))
    trips, results = trip_count(loop) or 0, [blocks.get(k, t) for k, t in enumerate(inputs[:count])]
    for k, step in enumerate(steps):
        if step is not None:
            both = inputs[k], graph.constant(np.int64(trips * step).astype(inputs[k].dtype))
            results[k] = node_in(graph, loop, ADD, both, (inputs[k].dtype, SCALAR))
    if whole < rows.count:
        rows.block = rows.count - whole
        begun = [t if t.shape.rank else f for t, f in zip(results, inputs)]
        return _of_block(graph, rows, whole, [*begun, *inputs[count:]])
    return results


def _of_block(graph: Graph, rows: _Rows, at: Tensor | int, inputs: Sequence[Tensor]) -> list[Tensor]:
    """Write the loop for the rows from ``at`` on; gives its results, for all rows."""
    loop, count = rows.loop, rows.variables
    begun = loop.attrs["body"].inputs
    given = []
    for tensor, inside in zip(inputs, begun):
        if inside in rows.has:
            index, ends = _whole_rows(graph, rows, at, tensor)
            spec = (tensor.dtype, rows.narrowed(inside))
            tensor = node_in(graph, loop, GETITEM, (tensor, *ends), spec, index=index)
        given.append(tensor)
    more = [at] if isinstance(at, Tensor) else []
    subs = []
    for key in ("cond", "body"):
        sub = Graph(name_in(graph, loop), graph)
        for tensor in (*given, *more):
            sub.parameter(tensor.dtype, tensor.shape, "row", loop.location)
        _again(sub, rows, loop.attrs[key], sub.inputs[-1] if more else at)
        subs.append(sub)
    done = loop_in(graph, loop, subs[0], subs[1], [*given, *more], count, loop.attrs["names"])
    results = []
    for tensor, inside, result in zip(inputs, begun, done):
        if inside in rows.has:
            index, ends = _whole_rows(graph, rows, at, tensor)
            spec = (tensor.dtype, tensor.shape)
            result = node_in(graph, loop, SET_ITEM, (tensor, result, *ends), spec, index=index)
        results.append(result)
    return results


def _whole_rows(graph: Graph, rows: _Rows, at: Tensor | int, array: Tensor) -> tuple[Index, list[Tensor]]:
    entries = [Slice(None, None, None)] * len(array.shape)
    return _with_rows(graph, rows, at, entries, len(entries) - 1 - rows.behind, 0, 0)


def _with_rows(
    graph: Graph, rows: _Rows, at: Tensor | int, entries: Sequence[Any], axis: int, start: int, inputs: int
) -> tuple[Index, list[Tensor]]:  # fmt: skip
    """Return an index that takes the rows from ``at`` on along an axis, and what it takes besides ``inputs`` others."""
    entries, ends, more = list(entries), (start, start + rows.block), list[Tensor]()
    if isinstance(at, Tensor):
        more = [_sum(graph, rows.loop, at, end, rows.sums) for end in ends]
        entries[axis] = Slice(Input(inputs), Input(inputs + 1), None)
    else:
        entries[axis] = Slice(at + ends[0], at + ends[1], None)
    return Index(entries), more


def _again(graph: Graph, rows: _Rows, source: Graph, at: Tensor | int) -> None:
    """Write ``source``, the condition or the body of the loop, for a block of rows into ``graph``."""
    of: dict[Tensor, Tensor] = dict(zip(source.inputs, graph.inputs))
    for node in source.nodes:
        if node.op is PARAMETER:
            continue
        inputs, attrs = [of[t] for t in node.inputs], dict(node.attrs)
        if node in rows.parts:
            first = 1 if node.op is GETITEM else 2
            entries = _entries(node, first)
            assert entries is not None
            attrs["index"], ends = _with_rows(graph, rows, at, entries, *rows.parts[node], len(inputs) - first)
            inputs += ends
        spec = (node.outputs[0].dtype, rows.narrowed(node.outputs[0]))
        of[node.outputs[0]] = node_in(graph, node, node.op, inputs, spec, **attrs)
    graph.outputs = [of[t] for t in source.outputs]
