"""Kernels of a loop that is run as one that machine code may do together: a *part* is one function.

Each kernel that Python calls costs half a microsecond, and arrays of its own; an operand that only lies in another
order, as a matrix that is transposed, sends a kernel in machine code back to NumPy. In a loop that is run as one nobody
sees when a kernel runs, so those that only compute, and cannot fail, may be moved to where all that they need is there.

What a part depends on and what depends on it may both be no members (a list that is read, a sum that is added to). The
*level* of an item is how often it is so on the way to it; a part is of one level.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..analysis.aliasing import is_fresh
from ..analysis.cost import estimate
from ..analysis.failure import can_fail
from ..analysis.ownership import overwritten
from ..analysis.sizes import bytes_of
from ..base.dataclass import replace
from .batches import MOST
from .flat_graph import FlatNode, Kind, Lowered, Port
from .loop_items import PART, Assign, Branch, Item, Loop, LoopTree, Part, Run, made_by, used_by, walked
from .pieces import IN_PLACE, Piece, only_gives, piece_of_part

#: nanoseconds of kernels of one part, for runs can be ended between two of them
LONGEST = 500_000.0


class LoopParts:
    """Finds the parts of a loop.

    Parameters
    ----------
    tree : LoopTree

    Attributes
    ----------
    loop : Loop
        The loop with its parts.
    parts : list of Part
    """

    def __init__(self, tree: LoopTree) -> None:
        #: who uses each value: numbers of items, -1 for what leaves the loop
        self._users: dict[Port, set[int]] = {port: {-1} for port in tree.results}
        for item in walked([tree.loop]):
            for port in used_by(item):
                self._users.setdefault(port, set()).add(id(item))
        self.parts: list[Part] = []
        self.loop = self._with_parts(tree.loop)

    # -- blocks -------------------------------------------------------------------------------------------

    def _with_parts(self, loop: Loop) -> Loop:
        return replace(loop, head=self._block(loop.head), body=self._block(loop.body))

    def _block(self, items: Sequence[Item]) -> list[Item]:
        """Return items one after the other with parts among them."""
        levels = _Levels()
        for item in items:
            levels.add(item)
        made: list[Item] = []
        for others, members in levels.ordered():
            made += map(self._inside, others)
            made += self._part(members)
        return made

    def _inside(self, item: Item) -> Item:
        if isinstance(item, Branch):
            return replace(item, then=self._block(item.then), otherwise=self._block(item.otherwise))
        return self._with_parts(item) if isinstance(item, Loop) else item

    def _part(self, members: Sequence[Run]) -> list[Item]:
        """Return what is done for kernels of one level: a part, and views that others want, too."""
        own = {id(run) for run in members}
        again: list[Run] = []
        for run in reversed(members):
            if is_view(run.flat) and self._users.get((run.flat.index, 0), set()) - own:
                again.insert(0, run)
                for port in run.inputs:
                    self._users[port].add(-1)
        if len(members) < 2 or all(is_view(run.flat) for run in members):
            return list(members)
        outputs = [
            (run.flat.index, 0)
            for run in members
            if not is_view(run.flat) and self._users.get((run.flat.index, 0), set()) - own
        ]
        if not outputs:
            return list(members)
        part = Part((PART, *sorted([run.flat.index for run in members])), list(members), outputs)
        self.parts.append(part)
        return [part, *again]


class _Levels:
    """Puts the items of one block in order by their levels."""

    def __init__(self) -> None:
        #: of each value that is made here, and whether a member makes it
        self._of: dict[Port, tuple[int, bool]] = {}
        self._others: list[list[Item]] = []
        self._members: list[list[Run]] = []
        self._times: list[float] = []
        #: the level of the last item that has to stay behind those before it
        self._last = 0

    def add(self, item: Item) -> None:
        needs = [self._of[port] for one in walked([item]) for port in used_by(one) if port in self._of]
        is_member = _is_member(item, any(inside for _, inside in needs))
        level = max([k + (inside and not is_member) for k, inside in needs], default=0)
        if is_member:
            assert isinstance(item, Run) and item.flat.source is not None
            level = self._with_room(level, estimate(item.flat.source))
            self._members[level].append(item)
        else:
            if _overwrites(item):  # members before it are to be done with the values before
                level = len(self._others) - (not self._members[-1] if self._members else 0)
            if not _may_move(item):
                level = self._last = max(level, self._last)
            self._reach(level)
            self._others[level].append(item)
        for port in [port for one in walked([item]) for port in made_by(one)]:
            self._of[port] = level, is_member

    def _with_room(self, level: int, time: float) -> int:
        """Return the first level from ``level`` on whose part is not too long with something that takes ``time``."""
        self._reach(level)
        while self._members[level] and (self._times[level] + time > LONGEST or len(self._members[level]) >= MOST):
            level += 1
            self._reach(level)
        self._times[level] += time
        return level

    def _reach(self, level: int) -> None:
        while len(self._others) <= level:
            self._others.append([])
            self._members.append([])
            self._times.append(0.0)

    def ordered(self) -> Iterator[tuple[list[Item], list[Run]]]:
        return zip(self._others, self._members)


def _is_member(item: Item, goes_on: bool) -> bool:
    """Return whether an item may be in a part; ``goes_on``: it needs what another one makes there.

    Numbers that come of numbers Python computes in less time than a value takes to be handed over.
    """
    if not isinstance(item, Run) or item.flat.kind is not Kind.KERNEL or item.flat.source is None:
        return False
    node = item.flat.source
    tensors = (*node.inputs, *node.outputs)
    if not only_gives(item.flat, node) or can_fail(node):
        return False
    if all(t.shape.rank == 0 for t in tensors) and not goes_on:
        return False
    small = all((bytes_of(t) or 0) < IN_PLACE for t in tensors)
    return small and estimate(node) < LONGEST and all(t.dtype.kind in "biufc" for t in tensors)


def is_view(flat: FlatNode) -> bool:
    """Return whether a member gives what may lie in the memory of another array."""
    node = flat.source
    return node is not None and not all(map(is_fresh, node.outputs))


def _overwrites(item: Item) -> bool:
    """Return whether an item gives variables other values, or may write to an array that it is given, for which nobody
    else may need that, or does what nobody knows."""
    if isinstance(item, Run) and item.flat.op is not None:
        node = item.flat.source
        return item.flat.op.effect or item.flat.op.taking is not None or node is None or bool(overwritten(node))
    return isinstance(item, Assign)


def _may_move(item: Item) -> bool:
    """Return whether nobody notices that an item is done after others that stand behind it."""
    node = item.flat.source if isinstance(item, Run) else None
    return node is not None and not (node.op.effect or can_fail(node))


def part_pieces(lowered: Lowered, joined: Sequence[FlatNode]) -> Iterator[Piece]:
    """Yield the parts of loops that are run as one as graphs of their own."""
    for node in joined:
        if node.kind is Kind.WHOLE:
            tree = LoopTree(lowered, node.value.frame)
            for part in LoopParts(tree).parts:
                yield piece_of_part(lowered, part, tree.source)
