"""Loops with heavy kernels that can never run beside each other, as one step, with light kernels in batches.

Such a loop is run from its beginning to its end by one thread (``whole_loops``). Where machine code does batches, what
it calls are these, and the heavy kernels: no tokens are moved, and light kernels are not called one by one. That is so
only where none of its kernels can fail: those of a batch run before others that stand between them in the program.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from ..analysis.cost import ARRAY_CALL, HEAVY
from ..analysis.positions_within import can_fail_in
from ..base.dataclass import replace
from .batch_doors import ENDS, GOES_ON
from .batches import LEAST
from .dependence import is_loop_merge
from .flat_graph import GONE, FlatNode, Kind, Lowered, Port, nanoseconds, renamed
from .loop_items import Guard, Item, LoopTree, doors
from .loops_alone import own_nodes

#: nanoseconds of a call of a batch
CALL = 500.0
#: what such a loop may consist of, in a graph with batches
_KINDS = (
    Kind.KERNEL, Kind.BATCH, Kind.SWITCH, Kind.MERGE, Kind.ENTER, Kind.EXIT, Kind.NEXT_ITERATION, Kind.IDENTITY,
    Kind.LOOP_COND, Kind.CONST,
)  # fmt: skip
_STEPS = (Kind.KERNEL, Kind.BATCH, Kind.SWITCH, Kind.IDENTITY)


class BatchedTree(LoopTree):
    """The tree of a loop of a graph with batches."""

    def _condition(self, frame: int) -> tuple[Port, Port]:
        for node in self.members[frame]:
            if node.kind is Kind.BATCH and (port := condition_given(node)) is not None:
                return port, port
        return super()._condition(frame)

    def _items(self, node: FlatNode) -> list[tuple[Guard, Item]]:
        found = super()._items(node)
        port = condition_given(node) if node.kind is Kind.BATCH else None
        if port is not None:
            guard = self._joined(node.inputs)
            for k, side in enumerate(node.value.doors.sides):
                self._guards[node.index, k] = guard + (((port, side),) if side in (ENDS, GOES_ON) else ())
        return found

    def _makers(self, frame: int) -> Iterator[tuple[int, Callable[[], list[tuple[Guard, Item]]]]]:
        """Yield what makes the items of a frame, in an order in which they can be run: the first kernel of a batch may
        stand before what others of it need."""
        order, own = dict[int, int](), {node.index: node for node in self.members[frame]}
        for start in own:
            todo = [start]
            while todo:
                before = [k for k in waits(own[todo[-1]]) if k in own and k not in order]
                if before:
                    todo += before[:1]
                else:
                    order.setdefault(todo.pop(), len(order))
        for node in self.members[frame]:
            if node.kind is not Kind.CONST:
                yield order[node.index], lambda node=node: self._items(node)  # type: ignore[misc]


def waits(node: FlatNode) -> list[int]:
    """Return the nodes that a node waits for in an iteration."""
    ports = node.inputs[:1] if is_loop_merge(node) else (*node.inputs, *node.controls)
    return [index for index, _ in ports]


def condition_given(node: FlatNode) -> Port | None:
    """Return the token of a turn that has the condition; None if it gives none, or is no turn."""
    batch, place = node.value, 0
    for k, count in enumerate(batch.doors.made if batch.doors.predicate is not None else ()):
        if count == 1 and batch.outputs[place] == batch.doors.predicate:
            return node.index, k
        place += count
    return None


def with_batched_loops(
    joined: Lowered, lowered: Lowered, alone: Collection[int], is_few: bool,
    loop: Callable[[int, type[LoopTree]], Any],
) -> Lowered | None:  # fmt: skip
    """Return a graph with one node in place of each loop that has kernels of ``alone``; None if there is one that
    cannot be run so.

    Parameters
    ----------
    joined, lowered : Lowered
        With batches, and without.
    alone : collection of int
        Heavy kernels of which none can ever run beside another.
    is_few : bool
        There are so few light kernels that such loops would be run kernel by kernel.
    loop : callable
        Makes the ``WholeLoop`` of a frame.
    """
    frames = sorted({lowered.nodes[k].frame for k in alone})
    members: dict[int, list[FlatNode]] = {frame: [] for frame in frames}
    for node in joined.nodes:
        if node.kind is not Kind.GONE and node.frame in members:
            members[node.frame].append(node)
    if 0 in members or any(info.parent in members for info in lowered.frames):
        return None
    if not all(_may_be_one(lowered, those, is_few) for those in members.values()):
        return None
    return with_loops(joined, lowered, members, lambda frame: loop(frame, BatchedTree))


def with_loops(
    joined: Lowered, lowered: Lowered, members: Mapping[int, Sequence[FlatNode]], loop: Callable[[int], Any]
) -> Lowered:  # fmt: skip
    """Return ``joined`` with one node in place of each of these loops; ``loop`` makes what is called for a frame."""
    nodes, results = list(joined.nodes), dict[Port, Port]()
    for frame, those in members.items():
        inputs, exits = doors(joined, own_nodes(those))
        place = min([node.index for node in those if node.kind in _STEPS])
        results.update([((node.index, 0), (place, k)) for k, node in enumerate(exits)])
        for node in those:
            nodes[node.index] = GONE
        info = lowered.frames[frame]
        nodes[place] = FlatNode(
            place, Kind.WHOLE, joined.nodes[place].name, tuple(inputs), (), info.parent, info.source, None, {},
            len(exits), False, loop(frame),
        )  # fmt: skip
    fetches = tuple([results.get(port, port) for port in joined.fetches])
    return replace(joined, nodes=tuple([renamed(node, results) for node in nodes]), fetches=fetches)


def _may_be_one(lowered: Lowered, members: Sequence[FlatNode], is_few: bool) -> bool:
    """Return whether a loop can be run as one, and has nothing else that is worth a thread; ``is_few``: else its light
    kernels are called one by one, which is no slower where there is next to nothing in batches."""
    batches = [node for node in members if node.kind is Kind.BATCH]
    turns = [node for node in batches if node.value.doors.predicate is not None]
    if not batches or any(node.kind not in _KINDS for node in members):
        return False
    if any(condition_given(node) is None for node in turns):
        return False
    if not turns and not any(node.kind is Kind.LOOP_COND for node in members):
        return False
    kernels = [node for node in members if node.kind is Kind.KERNEL]
    light = 0.0
    for batch in batches:
        inside = [lowered.nodes[k] for k in batch.value.members if lowered.nodes[k].kind is Kind.KERNEL]
        if sum([max(nanoseconds(node) - ARRAY_CALL, LEAST) for node in inside]) > HEAVY:
            return False
        kernels += inside
        light += sum(map(nanoseconds, inside))
    if is_few and light < CALL * len(batches):
        return False
    if any(node.kind is Kind.MERGE and not is_loop_merge(node) for node in members):
        return False  # a branch around heavy kernels
    return all(
        n.source is not None and n.source.op is n.op and not can_fail_in(n.source, lowered.frames[n.frame].source)
        for n in kernels
    )
