"""Who reads what, where: the analysis of one graph that decides which values get a variable.

Positions are indices into ``graph.nodes``; ``END`` is where the graph's outputs are read. A value that is read once,
by a plain operation with no effect in between, is not given a variable but written where it is read; its own
operands are then read there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from ..analysis.failure import can_fail
from ..base.dataclass import dataclass, field
from ..ir.graph import CONST, PARAMETER, Graph, Node
from ..ir.structured import COND, WHILE
from ..ir.tensor import Tensor
from ..ir.traits import Memory
from .fusion import Chain
from .templates import parse

END = sys.maxsize


@dataclass
class Uses:
    """What one graph's emitter wants to know.

    Attributes
    ----------
    count : dict
        How often a tensor is read, captures of sub-graphs included.
    last_read : dict
        Position of the last read; a tensor that is missing is never read.
    inline : set of Node
        Nodes that may be written where their value is read.
    truth : set of Node
        Nodes giving a boolean scalar of which only the truth is asked.
    dying : dict
        Position -> tensors read there for the last time.
    """

    count: dict[Tensor, int] = field(default_factory=dict)
    last_read: dict[Tensor, int] = field(default_factory=dict)
    inline: set[Node] = field(default_factory=set)
    truth: set[Node] = field(default_factory=set)
    dying: dict[int, list[Tensor]] = field(default_factory=dict)


def places(tensors: Sequence[Tensor], tensor: Tensor) -> list[int]:
    """Return where ``tensor`` is among ``tensors`` (``==`` of tensors is an operation, so ``list.index`` is no use)."""
    return [i for i, t in enumerate(tensors) if t is tensor]


def is_structured(node: Node) -> bool:
    """Return true for While and Cond."""
    return node.op in (WHILE, COND)


def is_barrier(node: Node) -> bool:
    """Return whether nothing may be moved across the node."""
    return node.op.effect or node.op.stateful or is_structured(node)


def analyse(
    graph: Graph,
    in_place: Mapping[Node, int] = MappingProxyType({}),
    chains: Mapping[Node, Chain] = MappingProxyType({}),
    predicate: bool = False,
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
    """
    uses = Uses()
    epochs = _epochs(graph, is_barrier)
    writes = _epochs(graph, in_place.__contains__) if in_place else epochs
    overwritten = {n.inputs[in_place[n]] for n in graph.nodes if n in in_place}
    changing = set(overwritten)  # with the views of what is overwritten
    if changing:
        changing.update(
            t for n in graph.nodes if n.op.traits.memory is Memory.VIEW and n.inputs[0] in changing for t in n.outputs
        )
    reader: dict[Tensor, Node | None] = {}
    asked = {graph.outputs[0]} if predicate else set()
    ends: dict[Chain, int] = {}
    for tensor in graph.outputs:
        _read(uses, reader, tensor, END, None)
    for position in range(len(graph.nodes) - 1, -1, -1):
        node = graph.nodes[position]
        at = position
        if node in chains:
            at = ends.setdefault(chains[node], position)
        elif node not in in_place and _can_inline(node, uses):
            target = min(uses.last_read[node.outputs[0]], len(graph.nodes))
            still = epochs[position] == epochs[target] or _moves_freely(node)
            if changing and any(t in changing for t in node.inputs):
                still = still and writes[position] == writes[target]
            written_to = node.outputs[0] in overwritten
            if still and not written_to and _takes(reader[node.outputs[0]], node):
                uses.inline.add(node)
                at = uses.last_read[node.outputs[0]]
        asked.update(_asked_by(node, asked, uses))
        for tensor in (*node.inputs, *node.control_inputs):
            _read(uses, reader, tensor, at, node)
        for tensor in node.control_inputs:
            uses.count[tensor] += 1  # so that it gets a statement of its own, before this one
    for tensor, position in uses.last_read.items():
        uses.dying.setdefault(position, []).append(tensor)
    return uses


def _epochs(graph: Graph, ends: Callable[[Node], bool]) -> list[int]:
    """Return a number per position, and one for the end, that grows after each node that ``ends`` an epoch."""
    epochs, epoch = [], 0
    for node in graph.nodes:
        epochs.append(epoch)
        epoch += ends(node)
    return [*epochs, epoch]


def _read(uses: Uses, reader: dict[Tensor, Node | None], tensor: Tensor, at: int, node: Node | None) -> None:
    uses.count[tensor] = uses.count.get(tensor, 0) + 1
    uses.last_read[tensor] = max(uses.last_read.get(tensor, -1), at)
    reader[tensor] = node


def _asked_by(node: Node, asked: set[Tensor], uses: Uses) -> tuple[Tensor, ...]:
    """Return the inputs of which ``node`` asks the truth; notes whether only the truth of ``node`` itself is asked.

    All last of ``node`` have been seen, so its count is final.
    """
    if node.op is COND:
        return node.inputs[:1]
    result = node.outputs[0] if node.outputs else None
    if result is None or result not in asked or uses.count[result] > 1 or node.op.truth is None:
        return ()
    if any(t.shape.rank != 0 or t.dtype.kind != "b" for t in (result, *node.inputs)):
        return ()
    uses.truth.add(node)
    return node.inputs


def _can_inline(node: Node, uses: Uses) -> bool:
    return not (
        is_barrier(node) or node.op.several or node.op in (CONST, PARAMETER) or node.declared
        or node.control_inputs or uses.count.get(node.outputs[0]) != 1
    )  # fmt: skip


def _moves_freely(node: Node) -> bool:
    """Return true for scalar numbers that cannot fail: it makes no difference when they are computed."""
    tensors = (*node.inputs, *node.outputs)
    return all(t.shape.rank == 0 and t.dtype.kind != "O" for t in tensors) and not can_fail(node)


def _takes(reader: Node | None, node: Node) -> bool:
    """Return whether ``reader`` can have the expression of ``node`` in place of a variable."""
    if reader is None:
        return True
    found = places(reader.inputs, node.outputs[0])
    if not found:
        return False
    index = found[0]
    if reader.op is WHILE:
        return index < int(reader.attrs["n_vars"])
    if reader.op is COND:
        return index == 0
    return reader.op.code is None or index not in parse(reader.op.code).repeated
