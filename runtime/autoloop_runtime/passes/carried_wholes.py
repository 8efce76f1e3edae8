"""Loops that change a part of an array, ``b = a[10:]``, ``for i in range(n): b[i] += 1``: they carry the array.

Such a loop begins with the part, and what it leaves is put back in its place. Where parts are read and changed in the
memory of their array, as machine code does it, the part needs no memory of its own if each iteration takes it out of
the array, and puts it back. So does each side of a branch.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence

from ..analysis.aliasing import reads_part
from ..analysis.uses import Readers, readers
from ..base.dataclass import dataclass
from ..ir.graph import PARAMETER, Graph, Node
from ..ir.structured import COND, WHILE
from ..ir.tensor import Tensor
from .prune import prune
from .rewrite import Copy, detached, rewrite


@dataclass(frozen=True, eq=False)
class _Part:
    """A part of an array that a loop or branch changes.

    Attributes
    ----------
    reader, writer : Node
        What takes it out before, and what puts it back after it.
    given, left : int
        Which input of the loop or branch it is, and which output what became of it.
    """

    reader: Node
    writer: Node
    given: int
    left: int

    @property
    def array(self) -> Tensor:
        """What it is a part of."""
        return self.writer.inputs[0]


def with_wholes_carried(graph: Graph) -> Graph:
    """Return ``graph`` with such loops, and branches."""
    if not any(node.op.graphs for node in graph.nodes):
        return graph
    made = rewrite(graph, functools.partial(_visit, functools.cache(readers)))
    if made is graph:
        return graph
    made = detached(prune(made))
    made.donated = graph.donated
    return made


def _visit(reading: Callable[[Graph], Readers], copy: Copy, node: Node) -> None:
    """Keep a node, or put one in its place that carries arrays where this one carries parts of them."""
    if node.outputs and node.outputs[0] in copy.of:  # what a loop or branch has put back already
        return
    parts = _parts_of(reading(copy.source), node) if node.op in (WHILE, COND) else []
    if not parts:
        copy.keep(node)
        return
    inputs, specs = copy.inputs(node), [(t.dtype, t.shape) for t in node.outputs]
    for part in parts:
        inputs[part.given] = copy.stands(part.array)
        specs[part.left] = part.array.dtype, part.array.shape
    attrs = dict(node.attrs)
    first = 0 if node.op is WHILE else 1
    for key in node.op.graphs:
        inner = _taking(attrs[key], copy.graph, parts, first, key != "cond")
        attrs[key] = rewrite(inner, copy.visit, copy.graph)
    if "specs" in attrs:
        attrs["specs"] = tuple(specs)
    if "invariants" in attrs:
        attrs["invariants"] = tuple([shape for _, shape in specs])
    control = tuple(map(copy.stands, node.control_inputs))
    made = Node(copy.graph, node.op, tuple(inputs), attrs, specs, node.name, node.location, control)
    copy.graph.nodes.append(made)
    copy.replace(node, made.outputs)
    for part in parts:
        copy.replace(part.writer, [made.outputs[part.left]])


def _parts_of(reading: Readers, node: Node) -> Sequence[_Part]:
    """Return the parts that nobody else sees and that a loop or branch changes in place."""
    found = []
    for left, output in enumerate(node.outputs if not node.declared else ()):
        writer, place = reading.only(output) or (None, 0)
        if writer is None or place != 1:
            continue
        for given, tensor in enumerate(node.inputs):
            reader = tensor.op
            if reader not in reading.place or reading.only(tensor) is None or not reads_part(reader, writer):
                continue
            is_plain = len(reader.inputs) == 1 and not (writer.declared or writer.control_inputs or reader.declared)
            if is_plain and _changes(node, given, left):
                found.append(_Part(reader, writer, given, left))
    return found


def _changes(node: Node, given: int, left: int) -> bool:
    """Return whether what a loop or branch leaves in an output is what it finds in an input, changed in place."""
    if node.op is WHILE:
        return given == left < node.attrs["n_vars"] and bool(_steps(node.attrs["body"], given, left))
    if given == 0:
        return False
    sides = [node.attrs[key] for key in node.op.graphs]
    changed = [bool(_steps(side, given - 1, left)) for side in sides]
    kept = [side.outputs[left] is side.inputs[given - 1] for side in sides]
    return any(changed) and all(map(operator.or_, changed, kept))


def _steps(graph: Graph, given: int, left: int) -> list[Tensor]:
    """Return what becomes of an input that is changed in place, up to an output; nothing if that is not made so.

    Of operations on elements, which are done in one, the last result is one.
    """
    first, tensor = graph.inputs[given], graph.outputs[left]
    before: dict[Tensor, Tensor] = {}
    for node in graph.nodes:
        for output in node.outputs:
            operand = next((t for t in _changed(node, output) if t is first or t in before), None)
            if operand is not None:
                before[output] = operand
    found: list[Tensor] = []
    is_done_in_one = False
    while tensor in before:
        is_of_elements = tensor.op.op.traits.elementwise
        if not (is_of_elements and is_done_in_one):
            found.append(tensor)
        tensor, is_done_in_one = before[tensor], is_of_elements
    return found[::-1] if tensor is first else []


def _changed(node: Node, output: Tensor) -> Sequence[Tensor]:
    """Return the inputs of a node that it may give, changed in place, as an output."""
    taking = node.op.taking
    if taking is not None and taking.is_update:
        return (node.inputs[taking.inputs[0]],)
    if node.op in (WHILE, COND):
        return [t for k, t in enumerate(node.inputs) if t.dtype == output.dtype and _changes(node, k, output.index)]
    if not node.op.traits.elementwise:
        return ()
    return [t for t in node.inputs if (t.dtype, t.shape) == (output.dtype, output.shape) and t.shape.rank]


def _taking(graph: Graph, parent: Graph, parts: Sequence[_Part], first: int, gives: bool) -> Graph:
    """Return a graph inside a loop or branch that takes the arrays, and if it *gives* what is left, gives them.

    Whatever changes a part takes it out of the array, and puts it back.
    """
    copy, wholes = Copy(graph, Copy.keep, parent), dict[_Part, Tensor]()
    given = {graph.inputs[part.given - first]: part for part in parts}
    changed = {t: part for part in parts if gives for t in _steps(graph, part.given - first, part.left)}
    for node in graph.nodes:
        part = given.get(node.outputs[0]) if node.op is PARAMETER else None
        if part is not None:
            name = node.name.rpartition("/")[2]
            wholes[part] = copy.graph.parameter(part.array.dtype, part.array.shape, name, node.location)
            copy.of[node.outputs[0]] = _like(copy.graph, part.reader, wholes[part])
            continue
        copy.keep(node)
        for tensor in node.outputs:
            if (part := changed.get(tensor)) is not None:
                wholes[part] = _like(copy.graph, part.writer, wholes[part], copy.stands(tensor))
                copy.of[tensor] = _like(copy.graph, part.reader, wholes[part])
    made = copy.finish()
    made.inputs = [
        t if one not in given else copy.stands(one).op.inputs[0] for t, one in zip(made.inputs, graph.inputs)
    ]
    for part in parts if gives else ():
        made.outputs[part.left] = wholes[part]
    return made


def _like(graph: Graph, node: Node, *inputs: Tensor) -> Tensor:
    """Put a node into a graph that does what another one does, with other inputs."""
    name = graph.unique_name(node.name.rpartition("/")[2])
    made = Node(graph, node.op, inputs, node.attrs, [(t.dtype, t.shape) for t in node.outputs], name, node.location)
    graph.nodes.append(made)
    return made.outputs[0]
