"""Copies of what is read of an array after the array has been written to.

In a graph a write makes another tensor, and who reads the old one afterwards has had a copy in the user's program:
``row = a[0].copy(); a[0] = a[1]; a[1] = row``. Without one of that row, the write itself would have to copy all of
``a``. What is read is copied before the write: small parts of any array, and all of an array that the caller gives away
(``Graph.donated``), if its memory then holds what is wanted in it. A write of a number is put off instead, where that
saves the copy: how the gradient of an assigned part is cleared after it has been read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..analysis.aliasing import looks
from ..analysis.failure import can_fail
from ..analysis.inside import nodes_inside
from ..analysis.ownership import left_in_place, may_overwrite, part_put_back
from ..analysis.sizes import bytes_of
from ..analysis.uses import Readers, readers
from ..ir.graph import Graph, Node
from ..ir.structured import WHILE
from ..ir.tensor import Tensor
from ..ops.identities import COPIED
from ..ops.indexing import GETITEM, SET_ITEM
from .rewrite import Copy, rewrite

#: a part of an array is worth a copy if it has at most one in this many of its bytes
_PARTS = 2


def copy_outliving(graph: Graph, donated: Mapping[int, int]) -> Graph:
    """Return ``graph``, of which inputs are ``donated``, with copies of what keeps a write from being done in place."""
    if not any(map(may_overwrite, nodes_inside(graph))):
        return graph
    made = rewrite(rewrite(graph, _Later().visit), _Parts().visit)
    there = left_in_place(made, donated) if donated else set()
    if len(there) == len(donated):
        return made
    wholes = rewrite(made, _Wholes(made, donated).visit)
    return wholes if left_in_place(wholes, donated) > there else made


class _Later:
    """Puts off a number that is written to an array until parts read before have been looked at: nothing is copied."""

    def __init__(self) -> None:
        #: who reads first what a write gives, in each graph come to so far; ``None`` for its end
        self._until: dict[Graph, dict[Node, Node | None]] = {}

    def visit(self, copy: Copy, node: Node) -> None:
        """Keep a node, unless it is put off, and before it the writes that waited for it."""
        graph = copy.source
        if graph not in self._until:
            self._until[graph] = dict(_to_put_off(graph))
        until = self._until[graph]
        if until:
            for write in [w for w, reader in until.items() if reader is node]:
                copy.keep(write)
        if node not in until:
            copy.keep(node)
        if until and node is graph.nodes[-1]:
            for write in [w for w, reader in until.items() if reader is None]:
                copy.keep(write)


class _Parts:
    """Copies small parts of arrays that outlive a write to the whole, in a graph and those inside it."""

    def __init__(self) -> None:
        #: of the graphs come to so far
        self._found: dict[Graph, set[Node]] = {}

    def visit(self, copy: Copy, node: Node) -> None:
        """Keep a node, and copy what it gives if that is such a part."""
        graph = copy.source
        if graph not in self._found:
            self._found[graph] = set(_outliving(graph))
        kept = copy.keep(node)
        if node in self._found[graph]:
            copy.of[node.outputs[0]] = _copied(copy, kept.outputs[0])


class _Wholes:
    """Copies what outlives a write to an array that the caller gives away and wants back: all that is read of it."""

    def __init__(self, graph: Graph, donated: Mapping[int, int]) -> None:
        reading = readers(graph)
        #: who writes to such an array that is read afterwards -> that, and which nodes' results are parts that are
        self._written: dict[Node, Tensor] = {}
        self._parts: set[Node] = set()
        for position, output in donated.items():
            for tensor, writer in _writes_before(graph, graph.inputs[position], output):
                end = _end(reading, writer)
                for node, index in reading.of(tensor):
                    if node is None or (node is not writer and reading.place[node] > end):
                        self._written[writer] = tensor
                    elif node is not writer and not looks(reading, node, index, end) and len(node.outputs) == 1:
                        self._parts.add(node)

    def visit(self, copy: Copy, node: Node) -> None:
        """Keep a node; what reads later what it writes to, reads a copy."""
        tensor = self._written.get(node)
        made = None if tensor is None else _copied(copy, copy.stands(tensor))
        kept = copy.keep(node)
        if node in self._parts:
            copy.of[node.outputs[0]] = _copied(copy, kept.outputs[0])
        if tensor is not None and made is not None:
            copy.of[tensor] = made


def _copied(copy: Copy, tensor: Tensor) -> Tensor:
    node, specs = tensor.op, [(tensor.dtype, tensor.shape)]
    made = Node(copy.graph, COPIED, (tensor,), {}, specs, f"{node.name}/copied", node.location)
    copy.graph.nodes.append(made)
    return made.outputs[0]


def _end(reading: Readers, writer: Node) -> int:
    """Return up to where others may read what ``writer`` writes to."""
    return reading.place[writer] - bool(writer.subgraphs)


def _may_write(node: Node) -> bool:
    return may_overwrite(node) or any(map(may_overwrite, nodes_inside(*node.subgraphs)))


def _to_put_off(graph: Graph) -> Iterator[tuple[Node, Node | None]]:
    """Yield the writes of a number that could be done in place if they were done as late as possible: before the node
    that is given with them, which reads the result first, or last of all."""
    writes = [node for node in graph.nodes if node.op is SET_ITEM and node.inputs[1].shape.rank == 0]
    if not writes:
        return
    reading = readers(graph)
    for write in writes:
        found = reading.of(write.outputs[0])
        others = [(node, index) for node, index in reading.of(write.inputs[0]) if node is not write]
        if can_fail(write) or write.control_inputs or not found or any(node is None for node, _ in others):
            continue
        first = found[0][0]
        end = len(graph.nodes) if first is None else reading.place[first] - 1
        if all(node is not None and looks(reading, node, index, end) for node, index in others) and not all(
            node is not None and looks(reading, node, index, reading.place[write]) for node, index in others
        ):
            yield write, first


def _outliving(graph: Graph) -> Iterator[Node]:
    """Yield the nodes that give small parts of arrays which are read after a write to the array."""
    if not any(map(_may_write, graph.nodes)):
        return
    reading = readers(graph)
    for tensor in reading:
        *before, (last, _) = reading.of(tensor)
        if before and last is not None and tensor.shape.rank != 0 and _may_write(last):
            kept = part_put_back(reading, tensor)
            for node, index in before:
                if node is not None and node is not last and node is not kept and index == 0:
                    yield from _parts_read(reading, node, _end(reading, last), bytes_of(tensor))


def _parts_read(reading: Readers, node: Node, end: int, size: int | None) -> Iterator[Node]:
    """Yield what makes the small parts, of an array of ``size`` bytes, that ``node`` looks at otherwise than up to
    ``end``: itself, or what reads the larger view that it is."""
    if len(node.outputs) != 1 or node.subgraphs or looks(reading, node, 0, end):
        return
    own = bytes_of(node.outputs[0])
    if node.op is GETITEM and (size is None or own is None or own * _PARTS <= size):
        yield node
        return
    for reader, index in reading.of(node.outputs[0]):
        if reader is not None and index == 0 and reading.place[reader] <= end:
            yield from _parts_read(reading, reader, end, size)


def _writes_before(graph: Graph, given: Tensor, output: int) -> list[tuple[Tensor, Node]]:
    """Return the writes that lead from an input to an output, the last one first, and what each writes to; none if
    others do."""
    found: list[tuple[Tensor, Node]] = []
    tensor = graph.outputs[output]
    while tensor is not given:
        node = tensor.op
        if node.op is WHILE and tensor.index < len(node.inputs):
            before = node.inputs[tensor.index]
        elif may_overwrite(node):
            same = [t for t in node.inputs if t.dtype == tensor.dtype and t.shape == tensor.shape]
            if not same:
                return []
            before = same[0]
        else:
            return []
        found.append((before, node))
        tensor = before
    return found
