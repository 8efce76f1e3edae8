"""What is written where its value is read: the analysis of one graph that decides which values get a variable.

A value that is read once, by a plain operation with no effect in between, is not given a variable but written where it
is read; its own operands are then read there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ..analysis.aliasing import with_bases, with_views
from ..analysis.failure import can_fail
from ..analysis.observable import is_barrier
from ..analysis.uses import CONTROL, Readers, readers
from ..base.dataclass import dataclass, field
from ..base.forks import undivided
from ..ir.graph import CONST, PARAMETER, Graph, Node
from ..ir.structured import COND, WHILE
from ..ir.tensor import Tensor
from .block_chains import Chain
from .templates import parse


@dataclass
class Uses:
    """What one graph's emitter wants to know.

    Attributes
    ----------
    last_read : dict
        Position of the last read, where that is written; a tensor that is missing is never read.
    inline : set of Node
        Nodes that may be written where their value is read.
    truth : set of Node
        Nodes giving a boolean scalar of which only the truth is asked.
    parts : dict
        Nodes that write to a part of an array -> what computes its next value there, and which of its inputs is the
        part.
    together : set of Node
        What ``parts`` computes.
    dying : dict
        Position -> tensors read there for the last time.
    """

    last_read: dict[Tensor, int] = field(default_factory=dict)
    inline: set[Node] = field(default_factory=set)
    truth: set[Node] = field(default_factory=set)
    parts: dict[Node, tuple[Node, int]] = field(default_factory=dict)
    together: set[Node] = field(default_factory=set)
    dying: dict[int, list[Tensor]] = field(default_factory=dict)


def _updated(reading: Readers, node: Node) -> tuple[Node, int] | None:
    with undivided():
        from ..analysis.part_updates import updated_part

    return updated_part(reading, node)


def analyse(
    graph: Graph,
    in_place: Mapping[Node, int] = MappingProxyType({}),
    chains: Mapping[Node, Chain] = MappingProxyType({}),
    predicate: bool = False,
    over: Mapping[Tensor, Tensor] = MappingProxyType({}),
) -> Uses:
    """Return the uses of ``graph``.

    Parameters
    ----------
    in_place : mapping
        Nodes that overwrite one of their inputs -> which.
    chains : mapping
        Nodes that are computed together, where the last of them stands.
    predicate : bool
        The first output is a loop's condition.
    over : mapping
        Results of chains that overwrite an array -> that.
    """
    uses, reading = Uses(), readers(graph)
    epochs = _epochs(graph, is_barrier)
    overwritten = {n.inputs[in_place[n]] for n in graph.nodes if n in in_place}
    writing = {chains[t.op].nodes[-1] for t in over} | in_place.keys()
    writes = _epochs(graph, writing.__contains__) if writing else epochs
    order = _Failures(graph)
    overwritten.update(over.values())
    changing = with_views(graph, with_bases(overwritten))
    asked = {graph.outputs[0]} if predicate else set()
    ends: dict[Chain, int] = {}
    at: dict[Node, int] = {}
    for position in range(len(graph.nodes) - 1, -1, -1):
        node = graph.nodes[position]
        at[node] = position
        if node in chains:
            at[node] = ends.setdefault(chains[node], position)
        elif node not in in_place and _can_inline(node, reading):
            there = reading.last(node.outputs[0], at)
            target = min(there, len(graph.nodes))
            still = epochs[position] == epochs[target] or _moves_freely(node)
            told = bool(graph.root.donated) and can_fail(node)  # the caller sees which writes came before it
            if told or (changing and any(t in changing for t in node.inputs)):
                still = still and writes[position] == writes[target]
            still = still and order.is_kept(node, position, target, reading, uses)
            if still and node.outputs[0] not in overwritten:
                uses.inline.add(node)
                at[node] = there
        truths = _asked_by(node, asked, reading)
        asked.update(truths)
        if truths and node.op is not COND:
            uses.truth.add(node)
    for node in in_place:
        updated = _updated(reading, node) if node in reading.place else None
        if updated is not None and updated[0] in uses.inline and _stays(updated, uses, node):
            uses.parts[node] = updated
            uses.together.add(updated[0])
    uses.last_read = {tensor: reading.last(tensor, at) for tensor in reading}
    for tensor, position in uses.last_read.items():
        uses.dying.setdefault(position, []).append(tensor)
    return uses


class _Failures:
    """Which nodes of a graph can fail, in order: of two that do the first one is told of, as in plain Python."""

    def __init__(self, graph: Graph) -> None:
        self.before = _epochs(graph, can_fail)
        #: those that can fail among the nodes that are written where ``node`` is, around it
        self._around: dict[Node, int] = {}

    def is_kept(self, node: Node, position: int, target: int, reading: Readers, uses: Uses) -> bool:
        """Return whether no other failure comes before that of ``node`` if that is written at ``target``.

        Those between the two places may be computed at their own, also if they are inline: long ones are. But those
        that ``node`` is an operand of come after it wherever they are.
        """
        read = reading.only(node.outputs[0])
        reader = None if read is None else read[0]
        around = 0
        if reader is not None and reader in uses.inline:
            around = self._around.get(reader, 0) + self._fails(reading.place[reader])
        self._around[node] = around
        return not self._fails(position) or self.before[target] - self.before[position + 1] == around

    def _fails(self, position: int) -> int:
        return self.before[position + 1] - self.before[position]


def _stays(updated: tuple[Node, int], uses: Uses, node: Node) -> bool:
    """Return whether the part that is computed with is the array itself, or read where ``node`` writes to it."""
    part = updated[0].inputs[updated[1]]
    return part is node.inputs[0] or part.op in uses.inline


def _epochs(graph: Graph, ends: Callable[[Node], bool]) -> list[int]:
    """Return a number per position, and one for the end, that grows after each node that ``ends`` an epoch."""
    epochs, epoch = [], 0
    for node in graph.nodes:
        epochs.append(epoch)
        epoch += ends(node)
    return [*epochs, epoch]


def _asked_by(node: Node, asked: set[Tensor], reading: Readers) -> tuple[Tensor, ...]:
    """Return the inputs of which ``node`` asks only the truth; ``asked``: those of which others do."""
    if node.op is COND:
        return node.inputs[:1]
    result = node.outputs[0] if node.outputs else None
    if result is None or result not in asked or reading.only(result) is None or node.op.truth is None:
        return ()
    return () if any(t.shape.rank != 0 or t.dtype.kind != "b" for t in (result, *node.inputs)) else node.inputs


def _can_inline(node: Node, reading: Readers) -> bool:
    if is_barrier(node) or node.op.several or node.op in (CONST, PARAMETER) or node.declared or node.control_inputs:
        return False
    read = reading.only(node.outputs[0])
    return read is not None and _takes(*read)


def _moves_freely(node: Node) -> bool:
    """Return true for scalar numbers that cannot fail: it makes no difference when they are computed."""
    tensors = (*node.inputs, *node.outputs)
    return all(t.shape.rank == 0 and t.dtype.kind != "O" for t in tensors) and not can_fail(node)


def _takes(reader: Node | None, index: int) -> bool:
    """Return whether ``reader`` can have an expression for its input ``index`` in place of a variable."""
    if reader is None:
        return True
    if index == CONTROL:
        return False
    if reader.op is WHILE:
        return index < int(reader.attrs["n_vars"])
    if reader.op is COND:
        return index == 0
    code = reader.op.template(reader)
    return code is None or index not in parse(code).repeated
