"""Loops over rows of which each wants those before it, done for a few rows at a time.

``for i in range(n): for j in range(i): m[i, j] = (m[i, j] - m[i, :j] @ m[j, :j]) / m[j, j]`` cannot be shared by
threads as it is: each row wants all before it, and each element of a row those before it. But what a row wants of the
rows before a block is there when the block begins, so the rows of a block may do that part of their work in any order,
or at the same time (see ``typing.own_rows``), and the rest of it then one after the other: the same numbers, computed
in the same way.

That is so where the inner loop counts up to the row, reads of the array that the outer one changes nothing but its own
row and rows that it has counted up to, and where all that is written is in the own row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ..analysis.induction import counts_from, inductions, trip_count
from ..analysis.inside import loops_inside
from ..analysis.observable import is_pure
from ..analysis.uses import place_of
from ..base.dataclass import dataclass
from ..base.shapes import SCALAR
from ..ir.graph import CONST, PARAMETER, Graph, Node
from ..ir.structured import WHILE
from ..ir.tensor import Tensor
from ..ops.arithmetic import ADD
from ..ops.bounds import MINIMUM
from ..ops.index import Input, Slice
from ..ops.indexing import GETITEM, SET_ITEM
from ..ops.logic import LESS
from ..passes.rewrite import Copy, detached, rewrite
from .typing.moving_extents import entries_of
from .written_loops import BOOL, COUNTED, loop_in, name_in, node_in, number_in

#: loops of fewer rows stay as they are; rows of a block
_FEWEST, _ROWS = 64, 16
#: what stands for the tensors of a graph in another
_Of: TypeAlias = dict[Tensor, Tensor]


def with_factors(graph: Graph) -> Graph:
    """Return ``graph`` with such loops block by block."""
    if not any(loops_inside(loop.attrs["body"]) for loop in loops_inside(graph)):
        return graph
    made = rewrite(graph, _visit)
    if made is not graph:
        made = detached(made)
        made.donated = graph.donated
    return made


def _visit(copy: Copy, node: Node) -> None:
    found = _factor_of(node) if node.op is WHILE else None
    if found is None:
        copy.keep(node)
    else:
        copy.replace(node, _in_blocks(copy.graph, found, copy.inputs(node)))


# -- which loops ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Factor:
    """A loop over rows, and the one in it that goes through the rows before; which variables count and are changed.

    Attributes
    ----------
    first, last : int
        The first row, and the one behind the last.
    """

    loop: Node
    inner: Node
    row: int
    array: int
    counter: int
    first: int
    last: int


def _factor_of(loop: Node) -> _Factor | None:
    """Return what ``loop`` is if its rows can be done in blocks."""
    body, trips = loop.attrs["body"], trip_count(loop)
    if trips is None or trips < _FEWEST or loop.attrs["n_vars"] != 2 or not _is_bare(loop):
        return None
    inner = next((node for node in body.nodes if node.op is WHILE), None)
    row = next((k for k in (0, 1) if not body.inputs[k].shape.rank and body.inputs[k].dtype == COUNTED), None)
    first = None if row is None else counts_from(loop, row)
    if inner is None or row is None or first is None or first < 0 or inner.attrs["n_vars"] != 2:
        return None
    array = body.inputs[1 - row]
    if not array.shape.is_fully_defined() or not array.shape.rank or len(list(inductions(loop))) != 1:
        return None
    counter = _counter_of(inner, body.inputs[row], array, first)
    if counter is None or any(t is array for node in _computing(body) if node is not inner for t in node.inputs):
        return None
    inside, cond = inner.attrs["body"], inner.attrs["cond"]
    held, place = {inside.inputs[1 - counter]}, place_of(inner.inputs, body.inputs[row])
    if place is None or any(t is cond.inputs[1 - counter] for node in cond.nodes for t in node.inputs):
        return None
    if (
        not _stays(inside, held, inside.inputs[place], inside.inputs[counter])
        or inside.outputs[1 - counter] not in held
    ):
        return None
    rest, begun = {inner.outputs[1 - counter]}, _behind(body, inner)
    if not _stays(body, rest, body.inputs[row], body.inputs[row], begun) or body.outputs[1 - row] not in rest:
        return None
    if any(t is inner.outputs[counter] for node in body.nodes for t in node.inputs):
        return None
    return _Factor(loop, inner, row, 1 - row, counter, first, first + trips)


def _is_bare(loop: Node) -> bool:
    """Return whether ``loop``, and what is inside it, does nothing but compute."""
    if loop.attrs["token"] is not None or loop.control_inputs or loop.declared:
        return False
    nodes = [node for graph in loop.subgraphs for node in _computing(graph)]
    return all(
        _is_bare(node) if node.op is WHILE else is_pure(node) and not node.subgraphs and not node.control_inputs
        for node in nodes
    )


def _computing(graph: Graph) -> list[Node]:
    return [node for node in graph.nodes if node.op is not CONST and node.op is not PARAMETER]


def _behind(body: Graph, inner: Node) -> int:
    return next(k for k, node in enumerate(body.nodes) if node is inner) + 1


def _counter_of(inner: Node, row: Tensor, array: Tensor, first: int) -> int | None:
    """Return the variable of ``inner`` that counts rows up to ``row``, if the other is ``array``."""
    counter = next((k for k in (0, 1) if inner.inputs[1 - k] is array), None)
    if counter is None or inner.inputs[counter].dtype != COUNTED:
        return None
    begin, tests = counts_from(inner, counter), list(inductions(inner))
    if begin is None or not 0 <= begin <= first or len(tests) != 1:
        return None
    cond, test = inner.attrs["cond"], tests[0]
    single = len(_computing(cond)) == 1 and cond.outputs[0].node is test.test and test.variable == counter
    known = test.comparison == "<" and test.bound is not None and inner.inputs[test.bound] is row
    return counter if single and known else None


def _stays(graph: Graph, held: set[Tensor], row: Tensor, behind: Tensor, begun: int = 0) -> bool:
    """Return whether what ``graph`` does with the array, whose versions are ``held``, is about ``row`` and, if it is
    only read, rows before ``behind`` or that row; notes new versions."""
    for node in graph.nodes[begun:]:
        if not any(t in held for t in node.inputs):
            continue
        if node.op is WHILE:
            if not _stays_inside(node, held, row, behind):
                return False
        elif (
            node.op not in (GETITEM, SET_ITEM)
            or node.inputs[0] not in held
            or any(t in held for t in node.inputs[1:])
            or not _is_about(node, row, behind)
        ):
            return False
        elif node.op is SET_ITEM:
            held.add(node.outputs[0])
    return True


def _stays_inside(loop: Node, held: set[Tensor], row: Tensor, behind: Tensor) -> bool:
    """Return the same of a loop, that changes the array, and is handed the row as it is."""
    body, cond, count = loop.attrs["body"], loop.attrs["cond"], loop.attrs["n_vars"]
    inside = [k for k, t in enumerate(loop.inputs) if t in held]
    place = next((k for k, t in enumerate(loop.inputs) if t is row and k >= count), None)
    if place is None or row is not behind or any(_reads(cond, cond.inputs[k]) for k in inside):
        return False
    kept = {body.inputs[k] for k in inside}
    if not _stays(body, kept, body.inputs[place], body.inputs[place]):
        return False
    for k in range(count):
        if (k in inside) != (body.outputs[k] in kept):
            return False
        if k in inside:
            held.add(loop.outputs[k])
    return True


def _reads(graph: Graph, tensor: Tensor) -> bool:
    return any(t is tensor for node in graph.nodes for t in node.inputs) or any(t is tensor for t in graph.outputs)


def _is_about(node: Node, row: Tensor, behind: Tensor) -> bool:
    """Return whether ``node`` reads or writes the row, or reads such rows before it."""
    first = 1 if node.op is GETITEM else 2
    if any(t.shape.rank != 0 or t.dtype.kind not in "iu" for t in node.inputs[first:]):
        return False
    entries = entries_of(node, len(node.inputs[0].shape))
    if not entries or entries[0] is None or not all(_is_basic(entry) for entry in entries):
        return False

    def names(entry: Any, tensor: Tensor) -> bool:
        return isinstance(entry, Input) and node.inputs[first + entry.position] is tensor

    entry = entries[0]
    if names(entry, row):
        return True
    if node.op is SET_ITEM:
        return False
    if isinstance(entry, Slice):
        return entry.start in (None, 0) and entry.step in (None, 1) and names(entry.stop, behind)
    return names(entry, behind)


def _is_basic(entry: Any) -> bool:
    return isinstance(entry, (int, Input, Slice)) and not isinstance(entry, bool)


# -- the same block by block ---------------------------------------------------------------------------------


def _in_blocks(graph: Graph, found: _Factor, inputs: Sequence[Tensor]) -> list[Tensor]:
    """Write the loop over blocks; gives its results."""
    loop, row, array = found.loop, found.row, found.array
    given = [number_in(graph, found.first), inputs[array], *inputs[2:]]
    cond, body = _subs(graph, loop, given)
    cond.outputs = [_is_less(cond, loop, cond.inputs[0], number_in(cond, found.last))]
    at, now, *more = body.inputs
    behind = node_in(body, loop, ADD, (at, number_in(body, _ROWS)), (COUNTED, SCALAR))
    end = node_in(body, loop, MINIMUM, (behind, number_in(body, found.last)), (COUNTED, SCALAR))
    for part in (_before, _rest):
        now = _rows(body, found, (at, end, now, *more), part)
    body.outputs = [behind, now]
    names = ("block", loop.attrs["names"][array])
    result = loop_in(graph, loop, cond, body, given, 2, names)[1]
    counted = number_in(graph, found.last)
    return [counted, result] if row == 0 else [result, counted]


def _subs(graph: Graph, like: Node, given: Sequence[Tensor]) -> tuple[Graph, Graph]:
    """Return graphs for the condition and the body of a loop that is given so much."""
    subs = Graph(name_in(graph, like), graph), Graph(name_in(graph, like), graph)
    for sub in subs:
        for tensor in given:
            sub.parameter(tensor.dtype, tensor.shape, "row", like.location)
    return subs


def _is_less(graph: Graph, like: Node, one: Tensor, other: Tensor) -> Tensor:
    return node_in(graph, like, LESS, (one, other), (BOOL, SCALAR))


def _rows(
    graph: Graph, found: _Factor, given: Sequence[Tensor], part: Callable[[Graph, _Factor, _Of, Tensor], Tensor]
) -> Tensor:  # fmt: skip
    """Write ``part`` of the work of the rows of a block; gives the array. ``given``: where the block begins and ends,
    the array, and what the loop captures."""
    at, end, now, *more = given
    inputs = [at, now, at, end, *more]
    cond, body = _subs(graph, found.loop, inputs)
    cond.outputs = [_is_less(cond, found.loop, cond.inputs[0], cond.inputs[3])]
    row, array, begin, _, *captured = body.inputs
    source = found.loop.attrs["body"]
    variables = (row, array) if found.row == 0 else (array, row)
    of = dict(zip(source.inputs, (*variables, *captured)))
    changed = part(body, found, of, begin)
    step = node_in(body, found.loop, ADD, (row, number_in(body, 1)), (COUNTED, SCALAR))
    body.outputs = [step, changed]
    names = ("row", found.loop.attrs["names"][found.array])
    return loop_in(graph, found.loop, cond, body, inputs, 2, names)[1]


def _before(graph: Graph, found: _Factor, of: _Of, begin: Tensor) -> Tensor:
    """Write the inner loop up to where the block begins; gives the array."""
    source, inner = found.loop.attrs["body"], found.inner
    needed = set(inner.inputs)
    for node in reversed(source.nodes[: _behind(source, inner) - 1]):
        if not needed.isdisjoint(node.outputs):
            needed.update(node.inputs)
    for node in source.nodes[: _behind(source, inner) - 1]:
        if not needed.isdisjoint(node.outputs):
            _again(graph, node, of)
    start = of[inner.inputs[found.counter]]
    return _counted(graph, found, of, start, begin)


def _rest(graph: Graph, found: _Factor, of: _Of, begin: Tensor) -> Tensor:
    """Write what is left of the work of a row; gives the array."""
    source = found.loop.attrs["body"]
    for node in source.nodes:
        if node is found.inner:
            row = of[source.inputs[found.row]]
            of[node.outputs[1 - found.counter]] = _counted(graph, found, of, begin, row)
        else:
            _again(graph, node, of)
    return of[source.outputs[found.array]]


def _counted(graph: Graph, found: _Factor, of: _Of, start: Tensor, end: Tensor) -> Tensor:
    """Write the inner loop from ``start`` to ``end``; gives the array."""
    inner, counter = found.inner, found.counter
    inputs = [of[t] for t in inner.inputs]
    inputs[counter] = start
    cond, body = _subs(graph, inner, [*inputs, end])
    cond.outputs = [_is_less(cond, inner, cond.inputs[counter], cond.inputs[-1])]
    _copied(inner.attrs["body"], body)
    return loop_in(graph, inner, cond, body, [*inputs, end], 2, inner.attrs["names"])[1 - counter]


def _copied(source: Graph, graph: Graph) -> None:
    """Write what is in ``source`` into ``graph``, which has its inputs."""
    of = dict(zip(source.inputs, graph.inputs))
    for node in source.nodes:
        _again(graph, node, of)
    graph.outputs = [of[t] for t in source.outputs]


def _again(graph: Graph, node: Node, of: _Of) -> None:
    """Write ``node`` into ``graph``, with all that is inside it."""
    if node.op is PARAMETER:
        return
    inputs = [of[t] for t in node.inputs]
    if node.op is WHILE:
        cond, body = _subs(graph, node, inputs)
        _copied(node.attrs["cond"], cond)
        _copied(node.attrs["body"], body)
        made = loop_in(graph, node, cond, body, inputs, node.attrs["n_vars"], node.attrs["names"])
        of.update(zip(node.outputs, made))
    else:
        spec = node.outputs[0].dtype, node.outputs[0].shape
        of[node.outputs[0]] = node_in(graph, node, node.op, inputs, spec, **node.attrs)
