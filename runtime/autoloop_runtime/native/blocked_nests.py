"""Loops around a loop over columns, done for a few columns at a time.

``for i in range(n): for j in range(m): b[i, j] += a[i + 1 :, i] @ b[i + 1 :, j]`` cannot be shared by threads as it is:
each row wants those behind it, and one row is too little work for two. But what becomes of a column depends on that
column only, so both loops may as well run for some of the columns, and then for the next: the same numbers, computed in
the same way, and the loop over such blocks has iterations that are independent (see ``typing.own_rows``).

That is so where the inner loop runs over the same columns each time, and what the outer one changes are arrays, of
which the inner one only touches column ``j``. Beside it there may be statements about whole rows, element by element,
and about single columns before the first one of the loop, as where its first iterations have been taken out of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..analysis.induction import constant_step, counts_from, trip_count
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
from .typing.moving_extents import entries_of
from .written_loops import BOOL, COUNTED, loop_in, name_in, node_in, number_in

#: loops with fewer iterations, and with fewer columns, stay as they are
_FEWEST, _NARROWEST = 16, 64
#: columns of a line of memory; a block has at least two lines, and at most this part of all columns
_LINE, _PART = 8, 6


def with_nests(graph: Graph) -> Graph:
    """Return ``graph`` with such loops block by block."""
    if not any(loops_inside(loop.attrs["body"]) for loop in loops_inside(graph)):
        return graph
    made = rewrite(graph, _visit)
    if made is not graph:
        made = detached(made)
        made.donated = graph.donated
    return made


def _visit(copy: Copy, node: Node) -> None:
    nest = _nest_of(node) if node.op is WHILE else None
    if nest is None:
        copy.keep(node)
    else:
        copy.replace(node, _in_blocks(copy.graph, nest, copy.inputs(node)))


# -- which loops ---------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Nest:
    """What a loop does with columns, while that is looked for, and when it is found.

    Attributes
    ----------
    loop, inner : Node
        The loop, and the one over columns in it.
    counter : int
        The variable of ``inner`` that counts columns.
    first, count : int
        The first column that it does, and how many it does.
    of : dict
        Tensor -> the variable of ``loop`` that it is a version of.
    axes : dict
        Variables of ``loop`` -> the axes that have columns.
    single, rows : set of Tensor
        What is computed from single columns before the first; from rows, whose last axis has all columns.
    statements : set of Node
        What touches single columns.
    """

    loop: Node
    inner: Node
    counter: int
    first: int
    count: int
    of: dict[Tensor, int] = field(default_factory=dict)
    axes: dict[int, set[int]] = field(default_factory=dict)
    single: set[Tensor] = field(default_factory=set)
    rows: set[Tensor] = field(default_factory=set)
    statements: set[Node] = field(default_factory=set)

    @property
    def variables(self) -> int:
        """How many variables the outer loop has."""
        return int(self.loop.attrs["n_vars"])

    @property
    def all_(self) -> int:
        """How many columns there are."""
        return self.first + self.count


def _nest_of(loop: Node) -> _Nest | None:
    """Return what ``loop`` does with columns, if they have nothing to do with one another."""
    body, trips = loop.attrs["body"], trip_count(loop)
    inside = [node for node in body.nodes if node.subgraphs]
    if trips is None or trips < _FEWEST or len(inside) != 1 or not all(map(_is_bare, (loop, *inside))):
        return None
    inner = inside[0]
    counts = [k for k in range(inner.attrs["n_vars"]) if not inner.inputs[k].shape.rank]
    count = trip_count(inner)
    if len(counts) != 1 or count is None or count < _NARROWEST or inner.inputs[counts[0]].dtype != COUNTED:
        return None
    first = counts_from(inner, counts[0])
    if first is None or first < 0:
        return None
    nest = _Nest(loop, inner, counts[0], first, count)
    return nest if _follows(nest) and all(_stays_apart(nest, node) for node in _computing(body)) else None


def _is_bare(loop: Node) -> bool:
    """Return whether ``loop`` does nothing but compute."""
    graphs = loop.subgraphs
    if loop.op is not WHILE or loop.attrs["token"] is not None or loop.control_inputs or loop.declared:
        return False
    nodes = [node for graph in graphs for node in graph.nodes if node.op is not CONST and node.op is not PARAMETER]
    return all(
        len(node.outputs) == 1 and is_pure(node) and not node.control_inputs for node in nodes if not node.subgraphs
    )


def _computing(graph: Graph) -> list[Node]:
    return [node for node in graph.nodes if node.op is not CONST and node.op is not PARAMETER]


def _follows(nest: _Nest) -> bool:
    """Note what arrays become, and along which axes they have columns; gives whether they become nothing else."""
    loop, inner, of = nest.loop, nest.inner, nest.of
    body, cond = loop.attrs["body"], loop.attrs["cond"]
    for k, tensor in enumerate(body.inputs[: nest.variables]):
        if tensor.shape.rank != 0:
            if not tensor.shape.is_fully_defined():
                return False
            of[tensor] = k
        elif constant_step(loop, k) is None:
            return False
    for node in body.nodes:
        if node.op is SET_ITEM and node.inputs[0] in of:
            of[node.outputs[0]] = of[node.inputs[0]]
        elif node is inner and not _follows_columns(nest):
            return False
    # a final count is in no use, and conditions look at no array
    ends = [(k, t) for k, t in enumerate(body.outputs) if body.inputs[k] in of]
    count = inner.outputs[nest.counter]
    return (
        all(of.get(t) == k for k, t in ends)
        and not _reads(body, count)
        and not any(_reads(cond, cond.inputs[k]) for k, _ in ends)
    )


def _reads(graph: Graph, tensor: Tensor) -> bool:
    return any(t is tensor for node in graph.nodes for t in node.inputs) or any(t is tensor for t in graph.outputs)


def _follows_columns(nest: _Nest) -> bool:
    """Note along which axes arrays have columns; gives whether the inner loop only touches one in an iteration."""
    inner, of = nest.inner, nest.of
    body, cond, count = inner.attrs["body"], inner.attrs["cond"], inner.attrs["n_vars"]
    column = body.inputs[nest.counter]
    for k, tensor in enumerate(inner.inputs):
        if tensor in of:
            of[body.inputs[k]] = of[tensor]
            if _reads(cond, cond.inputs[k]):
                return False
        elif k < count and k != nest.counter:
            return False
    for node in _computing(body):
        if not any(t in of for t in node.inputs):
            continue
        if node.op not in (GETITEM, SET_ITEM) or any(t in of for t in node.inputs[1:]) or node.inputs[0] not in of:
            return False
        k, first = of[node.inputs[0]], 1 if node.op is GETITEM else 2
        at = {
            axis
            for axis, entry in enumerate(_entries(node) or ())
            if isinstance(entry, Input) and node.inputs[first + entry.position] is column
        }
        nest.axes[k] = at & nest.axes.get(k, at)
        if not nest.axes[k]:
            return False
        if node.op is SET_ITEM:
            of[node.outputs[0]] = k
    for k in range(count):
        if k != nest.counter:
            if of.get(body.outputs[k]) != of[body.inputs[k]]:
                return False
            of[inner.outputs[k]] = of[body.inputs[k]]
    return True


def _entries(node: Node) -> list[Any] | None:
    """Return the entries of an index, one for each axis; ``None`` if it is none of numbers and slices."""
    first = 1 if node.op is GETITEM else 2
    if any(t.shape.rank != 0 or t.dtype.kind not in "iu" for t in node.inputs[first:]):
        return None
    entries = entries_of(node, len(node.inputs[0].shape))
    basic = all(isinstance(entry, (int, Input, Slice)) and not isinstance(entry, bool) for entry in entries)
    return entries if basic else None


def _stays_apart(nest: _Nest, node: Node) -> bool:
    """Note which columns ``node`` of the outer loop is about; gives whether nothing of one gets into another."""
    single, rows = (any(t in kind for t in node.inputs) for kind in (nest.single, nest.rows))
    if single and rows:
        return False
    if node is nest.inner:
        return not single and not rows
    if node.op in (GETITEM, SET_ITEM) and node.inputs[0] in nest.of:
        return _takes_columns(nest, node)
    if rows or any(t in nest.of for t in node.inputs):
        if single or not _is_plain(nest, node):
            return False
        nest.rows.add(node.outputs[0])
    elif single:
        nest.single.add(node.outputs[0])
        nest.statements.add(node)
    return True


def _takes_columns(nest: _Nest, node: Node) -> bool:
    """Note which columns ``node`` takes or writes; gives whether they are all, or single ones before the first."""
    k, entries, rank = nest.of[node.inputs[0]], _entries(node), len(node.inputs[0].shape)
    rest = node.inputs[1:]
    if entries is None or any(t in nest.of for t in rest):
        return False
    axis = max(nest.axes.setdefault(k, {*range(rank)}))
    nest.axes[k] = {axis}
    entry, extent = entries[axis], node.inputs[0].shape.known[axis]
    if isinstance(entry, int):
        if not 0 <= entry < nest.first or not nest.rows.isdisjoint(rest):
            return False
        nest.statements.add(node)
        if node.op is GETITEM:
            nest.single.add(node.outputs[0])
        return True
    whole = entry in (Slice(None, None, None), Slice(0, None, None), Slice(None, nest.all_, None))
    if not whole or axis != rank - 1 or extent != nest.all_ or not nest.single.isdisjoint(rest):
        return False
    if node.op is GETITEM:
        nest.rows.add(node.outputs[0])
    elif not _goes_along(nest, node.inputs[1]) or any(t in nest.rows for t in node.inputs[2:]):
        return False
    return True


def _goes_along(nest: _Nest, tensor: Tensor) -> bool:
    """Return whether ``tensor`` is a number, or has all columns along its last axis, or one for all of them."""
    extents = tensor.shape.as_tuple() if tensor.shape.is_fully_defined() else (-1,)
    return not extents or extents[-1] in (1, nest.all_)


def _is_plain(nest: _Nest, node: Node) -> bool:
    """Return whether ``node`` computes element by element, whatever the shapes are."""
    known = any(isinstance(value, (tuple, TensorShape)) for value in node.attrs.values())
    columns = all(_goes_along(nest, t) for t in node.inputs)
    return node.op.traits.elementwise and not known and columns and _is_row(nest, node.outputs[0])


def _is_row(nest: _Nest, tensor: Tensor) -> bool:
    return bool(tensor.shape.rank) and _goes_along(nest, tensor) and tensor.shape.known[-1] == nest.all_


# -- the same block by block ---------------------------------------------------------------------------------


def _in_blocks(graph: Graph, nest: _Nest, inputs: Sequence[Tensor]) -> list[Tensor]:
    """Write the loop for the columns before the first, for one block after the other, and for those that are left."""
    loop, count = nest.loop, nest.variables
    arrays = [k for k in range(count) if inputs[k].shape.rank]
    begin, size = _cut(nest)
    end = begin + (nest.all_ - begin) // size * size
    now = [*inputs]

    def done(at: Tensor | int, columns: int) -> None:
        for k, result in enumerate(_of_columns(graph, nest, at, columns, now)):
            if k in arrays:
                now[k] = result

    if nest.first:
        done(0, nest.first)
    if begin > nest.first:
        done(nest.first, begin - nest.first)
    given = [number_in(graph, begin), *[now[k] for k in arrays], *inputs]
    body, cond = (Graph(name_in(graph, loop), graph) for _ in range(2))
    for sub in (body, cond):
        for tensor in given:
            sub.parameter(tensor.dtype, tensor.shape, "block", loop.location)
    at, more = body.inputs[0], [*body.inputs[len(arrays) + 1 :]]
    for k, tensor in zip(arrays, body.inputs[1:]):
        more[k] = tensor
    for k, tensor in enumerate(inputs[:count]):
        if tensor.op.op is CONST:  # a known beginning tells how many iterations there are
            more[k] = body.constant(tensor.op.attrs["value"])
    ends = _of_columns(body, nest, at, size, more)
    step = node_in(body, loop, ADD, (at, number_in(body, size)), (COUNTED, SCALAR))
    body.outputs = [step, *[ends[k] for k in arrays]]
    cond.outputs = [node_in(cond, loop, LESS, (cond.inputs[0], number_in(cond, end)), (BOOL, SCALAR))]
    names = ("block", *[loop.attrs["names"][k] for k in arrays])
    for k, result in zip(arrays, loop_in(graph, loop, cond, body, given, len(names), names)[1:]):
        now[k] = result
    if end < nest.all_:
        done(end, nest.all_ - end)
    return [t if k in arrays else _counted(graph, nest, k, t) for k, t in enumerate(now[:count])]


def _cut(nest: _Nest) -> tuple[int, int]:
    """Return where the first block begins, and how many columns each has.

    They are of whole lines of memory: threads that write to one line wait for one another.
    """
    begin = -(-nest.first // _LINE) * _LINE
    count = nest.all_ - begin

    def of_two_threads(size: int) -> int:
        """How many columns one of them does, and what is left by both."""
        return -(-(count // size) // 2) * size + count % size

    return begin, min(range(2 * _LINE, max(2 * _LINE, count // _PART) + 1, _LINE), key=of_two_threads)


def _counted(graph: Graph, nest: _Nest, k: int, start: Tensor) -> Tensor:
    """Return what variable ``k``, which is counted, is behind the loop."""
    trips, step = trip_count(nest.loop), constant_step(nest.loop, k)
    assert trips is not None and step is not None
    added = graph.constant(COUNTED.type(trips * step).astype(start.dtype))
    return node_in(graph, nest.loop, ADD, (start, added), (start.dtype, SCALAR))


def _of_columns(graph: Graph, nest: _Nest, at: Tensor | int, size: int, inputs: Sequence[Tensor]) -> Sequence[Tensor]:
    """Write the loop for columns from ``at`` on, those before the first without the inner one; gives its results."""
    loop, more = nest.loop, [at] if isinstance(at, Tensor) else []
    subs = []
    for _ in range(2):
        sub = Graph(name_in(graph, loop), graph)
        for tensor in (*inputs, *more):
            sub.parameter(tensor.dtype, tensor.shape, "column", loop.location)
        subs.append(sub)
    cond, body = subs
    source = loop.attrs["cond"]
    of = dict(zip(source.inputs, cond.inputs))
    for node in source.nodes:
        _again(cond, node, of)
    cond.outputs = [of[t] for t in source.outputs]
    _Columns(nest, body, body.inputs[-1] if more else at, size).write()
    return loop_in(graph, loop, cond, body, [*inputs, *more], nest.variables, loop.attrs["names"])


def _again(graph: Graph, node: Node, of: dict[Tensor, Tensor]) -> None:
    if node.op is not PARAMETER:
        spec, inputs = (node.outputs[0].dtype, node.outputs[0].shape), [of[t] for t in node.inputs]
        of[node.outputs[0]] = node_in(graph, node, node.op, inputs, spec, **node.attrs)


class _Columns:
    """The body of the outer loop, written for some columns."""

    def __init__(self, nest: _Nest, graph: Graph, at: Tensor | int, size: int) -> None:
        self.nest, self.graph, self.at, self.size = nest, graph, at, size
        self.of: dict[Tensor, Tensor] = dict(zip(nest.loop.attrs["body"].inputs, graph.inputs))
        self.narrowed: dict[Tensor, Tensor] = {}

    def write(self) -> None:
        """Write it."""
        nest, of, source = self.nest, self.of, self.nest.loop.attrs["body"]
        before = isinstance(self.at, int) and self.at < nest.first
        for node in source.nodes:
            if node is nest.inner:
                ends = node.inputs if before else self._inner()
                of.update((t, of[end] if before else end) for t, end in zip(node.outputs, ends) if t in nest.of)
            elif node in nest.statements and not before:
                if node.op is SET_ITEM and node.inputs[0] in nest.of:
                    of[node.outputs[0]] = of[node.inputs[0]]
            elif node in nest.statements or not self._is_of_rows(node):
                _again(self.graph, node, of)
            else:
                self._row(node)
        self.graph.outputs = [of[t] for t in source.outputs]

    def _is_of_rows(self, node: Node) -> bool:
        return node.outputs[0] in self.nest.rows or (node.op is SET_ITEM and node.inputs[0] in self.nest.of)

    def _row(self, node: Node) -> None:
        """Write a statement about rows for some columns of them."""
        shape, first = list(node.outputs[0].shape.known), 1 if node.op is GETITEM else 2
        part, attrs = node.inputs[0] in self.nest.of and node.op in (GETITEM, SET_ITEM), {**node.attrs}
        given = [self.of[t] if part and k == 0 else self._some(t) for k, t in enumerate(node.inputs)]
        if part:
            entries = _entries(node)
            assert entries is not None
            attrs["index"], ends = self._index(entries[:-1], len(given) - first)
            given += ends
        if node.op is not SET_ITEM:
            shape[-1] = self.size
        spec = node.outputs[0].dtype, TensorShape(shape)
        self.of[node.outputs[0]] = node_in(self.graph, node, node.op, given, spec, **attrs)

    def _some(self, tensor: Tensor) -> Tensor:
        """Return the columns of ``tensor``."""
        whole = self.of[tensor]
        if tensor in self.nest.rows or not _is_row(self.nest, tensor):
            return whole
        if tensor not in self.narrowed:
            shape = list(tensor.shape.known)
            index, ends = self._index([Slice(None, None, None)] * (len(shape) - 1), 0)
            spec = tensor.dtype, TensorShape([*shape[:-1], self.size])
            self.narrowed[tensor] = node_in(self.graph, self.nest.loop, GETITEM, [whole, *ends], spec, index=index)
        return self.narrowed[tensor]

    def _index(self, entries: Sequence[Any], inputs: int) -> tuple[Index, list[Tensor]]:
        """Return an index with the columns at its end, and what it takes besides ``inputs`` others."""
        if not isinstance(self.at, Tensor):
            return Index([*entries, Slice(self.at, self.at + self.size, None)]), []
        added = number_in(self.graph, self.size)
        end = node_in(self.graph, self.nest.loop, ADD, (self.at, added), (COUNTED, SCALAR))
        return Index([*entries, Slice(Input(inputs), Input(inputs + 1), None)]), [self.at, end]

    def _inner(self) -> Sequence[Tensor]:
        """Write the loop over columns; gives its results."""
        inner, counter, graph = self.nest.inner, self.nest.counter, self.graph
        at = self.at if isinstance(self.at, Tensor) else number_in(graph, self.at)
        given = [*[self.of[t] for t in inner.inputs], at]
        given[counter] = number_in(graph, 0)
        cond, body = (Graph(name_in(graph, inner), graph) for _ in range(2))
        for sub in (cond, body):
            for tensor in given:
                sub.parameter(tensor.dtype, tensor.shape, "column", inner.location)
        end = number_in(cond, self.size)
        cond.outputs = [node_in(cond, inner, LESS, (cond.inputs[counter], end), (BOOL, SCALAR))]
        source, turn = inner.attrs["body"], body.inputs[counter]
        of = dict(zip(source.inputs, body.inputs))
        of[source.inputs[counter]] = node_in(body, inner, ADD, (body.inputs[-1], turn), (COUNTED, SCALAR))
        for node in source.nodes:
            _again(body, node, of)
        body.outputs = [of[t] for t in source.outputs]
        body.outputs[counter] = node_in(body, inner, ADD, (turn, number_in(body, 1)), (COUNTED, SCALAR))
        return loop_in(graph, inner, cond, body, given, inner.attrs["n_vars"], inner.attrs["names"])
