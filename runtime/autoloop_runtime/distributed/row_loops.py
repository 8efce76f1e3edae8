"""Which loops of a graph do nothing but go through the rows of arrays, forwards or backwards.

::

  While(i, states, outs; rows, others):  states, outs[i] = f(states, rows[i], others)

There are ``map_fn``, ``scan``, ``foldl`` and ``foldr``, and what a user writes that is such a loop. It computes without
effects, and what it carries and gives has shapes that are known. Loops that save values for a gradient are none: who
takes one asks before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from ..analysis.inside import nodes_inside
from ..analysis.uses import Readers
from ..base.dataclass import dataclass
from ..collections.tensor_array_ops import NEW, STACK, WRITE
from ..ir.graph import PARAMETER, Graph, Node
from ..ir.structured import COND, WHILE
from ..ir.tensor import Tensor
from ..ops.arithmetic import ADD, SUBTRACT
from ..ops.index import Input
from ..ops.indexing import GETITEM
from ..ops.logic import LESS
from ..ops.shape_queries import SHAPE
from ..passes.rewrite import constant_of

#: what is read besides the rows goes to every chunk: no more elements than these
_MOST_ELEMENTS = 1 << 20
#: what is carried, or is a row then, is one chunk: of larger ones the chunks are better worked on at once
_MOST_CARRIED = 1 << 17


@dataclass(frozen=True, eq=False)
class Collected:
    """What a loop collects of one value of each row.

    Attributes
    ----------
    position : int
        Which of its variables.
    written, stack : Node
        What puts a value to those of the rows before, in the body; and what puts all together, after the loop.
    head : Tensor or None
        What comes before that of the first row that the loop goes through.
    """

    position: int
    written: Node
    stack: Node
    head: Tensor | None


@dataclass(frozen=True, eq=False)
class RowLoop:
    """A loop that goes through rows.

    Attributes
    ----------
    loop : Node
    length : Tensor
        What the counter is compared with, in the condition.
    mirrored : collection of Tensor
        What is as far from the last row as the counter is from the first, in the body, if the loop goes backwards.
    carried : sequence of int
        The variables that are handed from row to row.
    collected : sequence of Collected
    rows, others : sequence of int
        The inputs of which rows are read, and the others that are read.
    settled : mapping
        The variables that nobody reads in the body, which gives them a constant -> that. Only of a graph before the
        passes, which know better.
    lifted : mapping
        Constants in the body -> tensors beside the loop that are given to it in their place.
    own : collection of int
        Of what is carried that which no row has a part in, as a rate that falls: the loop stays for these, too.
    idle : collection of int
        Of other variables those that are like that, and that nothing else in the body reads.
    """

    loop: Node
    length: Tensor
    mirrored: Collection[Tensor]
    carried: Sequence[int]
    collected: Sequence[Collected]
    rows: Sequence[int]
    others: Sequence[int]
    settled: Mapping[int, Tensor] = MappingProxyType({})
    lifted: Mapping[Tensor, Tensor] = MappingProxyType({})
    own: Collection[int] = ()
    idle: Collection[int] = ()


class SurelyLazy:
    """The tensors of a graph, and of those inside it, that are arrays which are computed later, in each iteration.

    Parameters
    ----------
    graph : Graph
    given : iterable of Tensor
        The inputs that are.
    """

    def __init__(self, graph: Graph, given: Iterable[Tensor]) -> None:
        self._found: dict[Graph, set[Tensor]] = {}
        lazy = set(given)
        self._look(graph, [t in lazy for t in graph.inputs])

    def of(self, graph: Graph) -> set[Tensor]:
        """Return those of one graph."""
        return self._found.get(graph, set())

    def _look(self, graph: Graph, given: Sequence[bool]) -> list[bool]:
        """Look through a graph of whose inputs some are; return which outputs are."""
        found = {t for t, is_lazy in zip(graph.inputs, given) if is_lazy}
        for node in graph.nodes:
            if found.isdisjoint(node.inputs) or node.op is SHAPE or node.op is PARAMETER:
                continue
            inputs = [t in found for t in node.inputs]
            if node.op is WHILE:
                outs = self._of_loop(node, inputs)
            elif node.op is COND:
                outs = [all(both) for both in zip(*[self._look(node.attrs[k], inputs[1:]) for k in ("then", "else")])]
            else:
                indices = range(len(inputs))[node.op.positions or slice(0)]
                outs = [any(one for k, one in enumerate(inputs) if k not in indices)] * len(node.outputs)
            found.update(out for out, is_lazy in zip(node.outputs, outs) if is_lazy)
        self._found[graph] = found
        return [t in found for t in graph.outputs]

    def _of_loop(self, node: Node, given: list[bool]) -> list[bool]:
        while True:
            outs = self._look(node.attrs["body"], given)
            ends = [one and begun for one, begun in zip(outs, given)]
            if ends == given[: len(ends)]:
                self._look(node.attrs["cond"], given)
                return ends if _count(node) is None else outs
            given = [*ends, *given[len(ends) :]]


def row_loops(graph: Graph, lazy: SurelyLazy, is_made: bool = True) -> dict[Node, RowLoop]:
    """Return the loops of a graph, but for those inside of others, by themselves and by what puts together what they
    collect.

    Parameters
    ----------
    graph : Graph
    lazy : SurelyLazy
    is_made : bool
        After the passes; of another graph what is constant after a loop may be read there.
    """
    readers, found = Readers(graph.nodes, graph.outputs), dict[Node, RowLoop]()
    for node in graph.nodes:
        one = _row_loop(node, readers, lazy, is_made) if node.op is WHILE else None
        if one is not None:
            found.update(dict.fromkeys((node, *[each.stack for each in one.collected]), one))
    return found


def _row_loop(node: Node, readers: Readers, lazy: SurelyLazy, is_made: bool) -> RowLoop | None:
    """Return what a loop is; None if it is none that goes through rows alone."""
    count, body = node.attrs["n_vars"], node.attrs["body"]
    length = None if is_made and readers.nodes(node.outputs[0]) else _length(node)
    if length is None or any(one.op.effect or one.op.stateful or one.control_inputs for one in nodes_inside(body)):
        return None
    inner, i, n = Readers(body.nodes, body.outputs), body.inputs[0], int(constant_of(length))
    ahead = {t for t, one in _made_of(i, inner) if one.op is ADD and constant_of(one.inputs[1]) == 1}
    behind = {t for t, one in _made_of(i, inner) if one.op is SUBTRACT and constant_of(one.inputs[0]) == n - 1}
    if body.outputs[0] not in ahead:
        return None
    at = _Places(n, behind or {i}, behind or ahead, n if behind else 0)
    found = [_collected(node, k, readers, inner, at) for k in range(1, count)]
    settled = {} if is_made else {k: body.outputs[k] for k in range(1, count) if _is_settled(node, k, inner)}
    carried = [k for k, one in enumerate(found, 1) if one is None and k not in settled]
    own = _own(node, carried, lazy) if is_made else set()
    idle = {k for k in own if constant_of(node.inputs[k]) is not None and not _is_read(node, k, own)}
    own, carried = own - idle, [k for k in carried if k not in idle]
    collected = [one for one in found if one is not None]
    if not all(_is_carried(node, k) for k in carried) or len({one.head is None for one in collected}) > 1:
        return None
    read = {k: inner.nodes(body.inputs[k]) for k in range(count, len(node.inputs))}
    rows = [k for k, reads in read.items() if reads and all(_is_row(one, body.inputs[k], at) for one in reads)]
    others = [k for k, reads in read.items() if reads and k not in rows]
    known: set[Node | None] = {None, *(t.node for t in (*ahead, *behind)), *(one.written for one in collected)}
    known.update(one for k in rows for one in read[k])
    if not all(known.issuperset(inner.nodes(t)) for t in (i, *ahead, *behind)):
        return None  # what it computes depends on where it is
    made = RowLoop(node, length, behind, carried, collected, rows, others, settled, own=own, idle=idle)
    return made if _is_small(made, n) and (not carried or _is_worth(made, lazy)) else None


def _length(node: Node) -> Tensor | None:
    """Return what the counter of a loop is compared with, if that is known and the counter begins at zero."""
    count = node.attrs["n_vars"]
    if node.attrs["token"] is not None or node.control_inputs or count < 2 or count != len(node.outputs):
        return None
    return _count(node)


def _count(node: Node) -> Tensor | None:
    """Return with what a loop compares its first variable, zero at first, if that is known and above it."""
    cond = node.attrs["cond"]
    test = cond.outputs[0].node
    if test is None or test.op is not LESS or test.inputs[0] is not cond.inputs[0]:
        return None
    n = constant_of(test.inputs[1])
    if n is None or n < 1 or constant_of(node.inputs[0]) != 0:
        return None
    length: Tensor = test.inputs[1]
    return length


def _made_of(i: Tensor, inner: Readers) -> list[tuple[Tensor, Node]]:
    """Return what is made of the counter and a constant: ``i + 1``, and ``n - 1 - i``."""
    nodes = [one for one in inner.nodes(i) if one is not None and one.op in (ADD, SUBTRACT)]
    return [(one.outputs[0], one) for one in nodes if one.inputs[one.op is SUBTRACT] is i]


@dataclass(frozen=True, eq=False)
class _Places:
    """Where a loop is at a row.

    Attributes
    ----------
    count : int
        How many rows there are.
    here : set of Tensor
        The place of the row.
    moved : set of Tensor
        Where its value goes if another one, at ``first``, comes before all.
    first : int
    """

    count: int
    here: set[Tensor]
    moved: set[Tensor]
    first: int


def _collected(node: Node, k: int, readers: Readers, inner: Readers, at: _Places) -> Collected | None:
    """Return what a variable of a loop collects, from nothing or one value on, to be put together behind it."""
    written, flow = node.attrs["body"].outputs[k].node, node.attrs["body"].inputs[k]
    begun, (stack, _) = node.inputs[k].node, readers.only(node.outputs[k]) or (None, 0)
    places, total, head = at.here, at.count, None
    if begun is not None and begun.op is WRITE and constant_of(begun.inputs[1]) == at.first:
        places, total, head, begun = at.moved, total + 1, begun.inputs[2], begun.inputs[0].node
    if begun is None or begun.op is not NEW or constant_of(begun.inputs[0]) != total:
        return None
    if stack is None or stack.op is not STACK or stack.control_inputs or stack.attrs["count"] != total:
        return None
    if written is None or written.op is not WRITE or written.inputs[0] is not flow or written.inputs[1] not in places:
        return None
    once = inner.count(flow) == inner.count(written.outputs[0]) == 1
    return Collected(k, written, stack, head) if once and _is_whole(stack.outputs[0]) else None


def _is_carried(node: Node, k: int) -> bool:
    """Return whether a variable of a loop is an array of one shape in each iteration."""
    begun, out = node.inputs[k], node.attrs["body"].outputs[k]
    alike = (begun.dtype, begun.shape) == (out.dtype, out.shape) == (node.outputs[k].dtype, node.outputs[k].shape)
    return alike and _is_whole(begun)


def _own(node: Node, carried: Sequence[int], lazy: SurelyLazy) -> set[int]:
    """Return those of the variables ``carried`` that depend on each other alone, and on what is there before the loop.

    What may be computed later is none of them: it is as well computed with the rows.
    """
    body, count = node.attrs["body"], node.attrs["n_vars"]
    found = {k for k in carried if body.outputs[k] not in lazy.of(body)}
    while True:
        those = {body.inputs[k] for k in found}
        left = {k for k in found if those.issuperset(_taken(body, body.outputs[k]) & {*body.inputs[1:count]})}
        left = {k for k in left if lazy.of(body).isdisjoint(_taken(body, body.outputs[k]))}
        if left == found:
            return found
        found = left


def _is_read(node: Node, k: int, own: Collection[int]) -> bool:
    """Return whether a variable has a part in what is none of ``own``."""
    body = node.attrs["body"]
    others = [t for j, t in enumerate(body.outputs) if j not in own]
    return any(body.inputs[k] in _taken(body, t) for t in others)


def _taken(body: Graph, tensor: Tensor) -> set[Tensor]:
    """Return the inputs of a graph that a tensor of it is made of."""
    todo, seen = [tensor], set[Tensor]()
    while todo:
        one = todo.pop()
        if one not in seen:
            seen.add(one)
            todo += [] if one.node is None else [*one.node.inputs, *one.node.control_inputs]
    return seen.intersection(body.inputs)


def _is_settled(node: Node, k: int, inner: Readers) -> bool:
    """Return whether a variable of a loop is a constant after each iteration, and read in none."""
    begun, out = node.inputs[k], node.attrs["body"].outputs[k]
    is_constant = constant_of(begun) is not None and constant_of(out) is not None
    return is_constant and begun.dtype.kind in "biufc" and not inner.nodes(node.attrs["body"].inputs[k])


def _is_row(node: Node | None, array: Tensor, at: _Places) -> bool:
    """Return whether a node reads the row of an array, or a part of it that is the same of each."""
    if node is None or node.op is not GETITEM or node.inputs[0] is not array or len(node.inputs) != 2:
        return False
    first, *more = node.attrs["index"].entries
    return (
        node.inputs[1] in at.here
        and isinstance(first, Input)
        and all(isinstance(one, int | np.integer) for one in more)
    )


def _is_small(one: RowLoop, n: int) -> bool:
    """Return whether what goes to each task is no more than that may be."""
    inputs = one.loop.inputs
    if not one.rows or not all(_is_whole(inputs[k]) for k in (*one.rows, *one.others)):
        return False
    if any(inputs[k].shape[0] != n for k in one.rows) or any(_size(inputs[k]) > _MOST_ELEMENTS for k in one.others):
        return False
    sizes = [*[_size(inputs[k]) for k in one.carried], *[_size(inputs[k]) // n for k in one.rows]]
    return not one.carried or max(sizes) <= _MOST_CARRIED


def _is_worth(one: RowLoop, lazy: SurelyLazy) -> bool:
    """Return whether rows, and all that is made of them, are computed later in any case."""
    body = one.loop.attrs["body"]
    found = lazy.of(body)
    made = [body.outputs[k] for k in one.carried if k not in one.own]
    made += [each.written.inputs[2] for each in one.collected]
    return bool(made) and any(body.inputs[k] in found for k in one.rows) and found.issuperset(made)


def _is_whole(tensor: Tensor) -> bool:
    return tensor.dtype.kind in "biufc" and tensor.shape.is_fully_defined()


def _size(tensor: Tensor) -> int:
    return int(np.prod(tensor.shape.as_tuple(), dtype=np.int64))
