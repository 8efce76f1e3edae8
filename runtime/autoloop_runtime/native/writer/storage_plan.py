"""Which element-wise values get memory of their own, decided graph by graph before anything is written.

A value that one other element-wise operation of the same shape uses is computed where it is used. So is one
that several use which will be written as one loop, one that is as cheap to compute again as to keep, and one that is
assigned to a part of an array, where it is computed in its place.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

from ...analysis.fusion import Group, fused
from ...analysis.needed import needed_nodes
from ...analysis.observable import has_effect
from ...analysis.part_updates import is_whole, updated_part
from ...analysis.uses import Readers
from ...base.dataclass import dataclass, field
from ...base.dtypes import variant
from ...base.forks import undivided
from ...base.shapes import TensorShape
from ...ir.graph import CONST, PARAMETER, Graph, Node
from ...ir.tensor import Tensor
from ...ops.index import result_shape
from ...ops.indexing import SET_ITEM
from ..ir.moving import is_moving
from ..typing.facts import Types
from ..typing.static_slices import with_known_extents
from .registry import entry_of

_Target = TypeVar("_Target")


@dataclass
class Plan:
    """What was found out about one graph.

    Attributes
    ----------
    needed : set of Node
        Nodes that must be written at all.
    stored : set of Tensor
        Element-wise values that get memory.
    uses : Readers
        What reads each tensor, of the nodes that are written.
    """

    needed: set[Node] = field(default_factory=set)
    stored: set[Tensor] = field(default_factory=set)
    uses: Readers = field(default_factory=lambda: Readers(()))


def is_pointwise(node: Node) -> bool:
    """Return whether ``node`` is computed element by element."""
    entry = entry_of(node.op)
    return entry is not None and entry.pointwise


def is_view(node: Node) -> bool:
    """Return whether the result of ``node`` is a way to look at memory that is there."""
    entry = entry_of(node.op)
    return entry is not None and entry.view


def overwrites(node: Node) -> bool:
    """Return whether machine code of ``node`` may write its results over its first operands."""
    return node.op.traits.overwrites and entry_of(node.op) is not None


def spread_targets(graph: Graph, targets: dict[Tensor, _Target], uses: Readers) -> dict[Tensor, _Target]:
    """Let what is only made to become a value with a target have the same target."""
    for node in reversed(graph.nodes):
        if overwrites(node):
            for tensor, source in zip(node.outputs, node.inputs):
                if tensor in targets and uses.count(source) == 1 and source not in targets:
                    targets[source] = targets[tensor]
    return targets


def make_plan(graph: Graph, types: Types) -> Plan:
    """Return the plan of ``graph``."""
    plan = Plan()
    _find_needed(graph, types, plan)
    _find_stored(graph, types, plan)
    return plan


def _find_needed(graph: Graph, types: Types, plan: Plan) -> None:
    effects = [n for n in graph.nodes if has_effect(n)]
    found = needed_nodes(graph.outputs, types.constants, effects)
    written = [node for node in graph.nodes if node in found and node.op is not PARAMETER]
    plan.needed.update(written)
    plan.uses = Readers(written, graph.outputs, control=False)


def _find_stored(graph: Graph, types: Types, plan: Plan) -> None:
    """Go backwards: where a value ends up is known from where those end up that are made of it."""
    loops, order = loops_of(graph, types, plan), list(plan.uses.place)
    changes = _changes(plan)
    ends: dict[Tensor, set[object]] = {}
    for node in reversed(graph.nodes):
        if node not in loops:
            continue
        tensor = node.outputs[0]
        shape = types.shapes[tensor]
        found: set[object] = set()
        for reader in plan.uses.nodes(tensor):
            if reader is not None and (
                _is_update_by(plan.uses, reader, node)
                or _is_assigned(plan.uses, order, reader, node, types)
                or (_is_replaced(reader, tensor) and not types.heeds)
            ):
                found.add(reader)
            else:
                found |= {"memory"} if reader is None else _ends_of(reader, shape, types, plan, ends)
        alone = len(found) == 1 or _one_loop(found, loops)
        if "memory" in found or not (alone or _cheap(node)) or _is_late(node, found, plan, changes):
            plan.stored.add(tensor)
            ends[tensor] = {tensor}
        else:
            ends[tensor] = found


def _changes(plan: Plan) -> dict[Tensor, list[int]]:
    """Return where memory is written to that a tensor may be in."""
    found: dict[Tensor, list[int]] = {}
    for node, place in plan.uses.place.items():
        if overwrites(node):
            for tensor in node.inputs[: len(node.outputs)]:
                found.setdefault(looked_through(tensor), []).append(place)
    return found


def looked_through(tensor: Tensor) -> Tensor:
    """Return what ``tensor`` is a way to look at."""
    while (node := tensor.node) is not None and node.inputs and is_view(node):
        tensor = node.inputs[0]
    return tensor


def _is_late(node: Node, ends: set[object], plan: Plan, changes: dict[Tensor, list[int]]) -> bool:
    """Return whether the value of ``node``, computed where it ends up, would be so after what it is computed of has
    been written to: that would be a copy then, and not where the caller looks for it if the run fails."""
    place = plan.uses.place
    last = max([place[end.op if isinstance(end, Tensor) else end] for end in ends], default=0)  # type: ignore[index]
    begun = place[node]
    return any(begun < at < last for tensor in node.inputs for at in changes.get(looked_through(tensor), ()))


def _is_update_by(uses: Readers, reader: Node, node: Node) -> bool:
    """Return whether ``node`` computes, of a part of an array, what ``reader`` writes there."""
    found = updated_part(uses, reader)
    return found is not None and found[0] is node


def _is_assigned(uses: Readers, order: Sequence[Node], reader: Node, node: Node, types: Types) -> bool:
    """Return whether ``reader`` does nothing with the value of ``node`` but put it into a part of its shape, and until
    then nothing that the value is computed of is written to."""
    value = node.outputs[0]
    if reader.op is not SET_ITEM or reader.inputs[1] is not value or uses.only(value) is None:
        return False
    if any(types.shapes[t] != () or t.dtype.kind not in "iu" for t in reader.inputs[2:]):
        return False
    shapes = types.shapes[value], types.shapes[reader.inputs[0]]
    if any(map(is_moving, shapes)):
        with undivided():
            from ..typing.moving_extents import part_shape

        part: Sequence[int | None] = part_shape(reader, 2, types)
    else:
        part = result_shape(TensorShape(shapes[1]), with_known_extents(reader, types), reader.inputs[2:]).known
    if [n for n in part if n != 1] != [n for n in shapes[0] if n != 1]:
        return False  # what is broadcast is computed once
    between = order[uses.place[node] + 1 : uses.place[reader]]
    return all(is_pointwise(one) or is_view(one) for one in between)


def _is_replaced(reader: Node, tensor: Tensor) -> bool:
    """Return whether ``reader`` puts another value into all of ``tensor``, whose own is of no matter then."""
    return reader.op is SET_ITEM and is_whole(reader) and all(t is not tensor for t in reader.inputs[1:])


def _ends_of(
    reader: Node, shape: tuple[int, ...], types: Types, plan: Plan, ends: dict[Tensor, set[object]]
) -> set[object]:
    """Return where a value of ``shape`` ends up that ``reader`` reads; "memory" if it must be stored for it."""
    if is_pointwise(reader) and types.shapes[reader.outputs[0]] == shape:
        return ends.get(reader.outputs[0], {"memory"})
    entry = entry_of(reader.op)
    if entry is not None and entry.reduces and not types.heeds:  # which may look at no more than it needs
        return {reader}
    return {"memory"}


def loops_of(graph: Graph, types: Types, plan: Plan) -> dict[Node, Group]:
    """Return the loop that would store it, of each node whose value is an array computed element by element."""

    def form(node: Node) -> Hashable:
        tensor = node.outputs[0] if is_pointwise(node) else None
        return None if tensor is None or tensor.dtype == variant else types.shapes.get(tensor) or None

    def stops(node: Node, reads: bool) -> bool:
        return not is_pointwise(node) and (reads or not is_view(node))

    written = [node for node in graph.nodes if node in plan.needed]
    return {node: group for group in fused(written, plan.uses, form, stops) for node in group.nodes}


def _one_loop(found: set[object], loops: dict[Node, Group]) -> bool:
    """Return whether all of ``found`` are stored by the same loop."""
    storing = {loops[end.op] if isinstance(end, Tensor) else None for end in found}
    return len(storing) == 1 and None not in storing


def _cheap(node: Node) -> bool:
    """Return whether computing it twice from memory costs about what loading it twice would."""
    entry = entry_of(node.op)
    again = entry is not None and entry.cheap
    return again and all(t.op.op in (CONST, PARAMETER) or t.shape.rank == 0 for t in node.inputs)
