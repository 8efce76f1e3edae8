"""Which array a variable of a staged loop holds: the one it held before, or another.

A loop carries the values of its array variables. That is right as long as nobody can see which memory they lie in: an
array that the body writes to in place, and only under one name, is given its last value after the loop. Where the body
gets at the memory by another way too (an alias, a view, a list), the loop carries the memory itself and the names stay
what they are. And where a name holds one array or the other, as the run decides, the arrays that it may have been
written to are *lost*: who looks at one is told so.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.ir.array_storage import Block, Choice, Storage, kept, one_of_several, refuse_copied, refuse_lost
from autoloop_runtime.ir.graph import current_graph
from autoloop_runtime.ir.number_operators import number_type
from autoloop_runtime.ir.tracers import ArrayTracer, is_read_only

from ..staging.raising import is_return_value
from ..staging.staged_blocks import TestChanges
from ..staging.standins import Maybe, opened
from . import lifted_arrays

if TYPE_CHECKING:
    from ..staging.array_origins import OriginsOfLoop
    from .side_effects import Outside

_DECIDED = "which array {0!r} is depends on how often a loop runs, and it is written to in place"

_BY_ORDER = "whether ravel() and the like give a view or a copy depends on how the array lies that {0!r} is then"


def renew(values: Any) -> None:
    """Take what arrays hold now as what those, of which they may be other handles, were made of."""
    for leaf in nest.flatten(values):
        if isinstance(leaf, Maybe):
            renew(opened(leaf).value)
        elif (storage := kept(leaf)) is not None:
            storage.renew()


class Held:
    """An array variable: what it holds before the loop, what stands for that in the body, and what the body leaves."""

    def __init__(self, name: str, before: Any, inside: ArrayTracer) -> None:
        self.name, self.before, self.inside = name, before, inside
        self.after: Any = None

    @property
    def storage(self) -> Storage | None:
        """The memory on entry."""
        return kept(self.before)

    @property
    def is_kept(self) -> bool:
        """Whether the variable is the same array in the next iteration."""
        return self.after is self.inside

    def handles(self, is_told: bool) -> tuple[tuple[Any, bool], ...]:
        """Return the arrays that it may be, and of which a run tells whether it is what it was."""
        return (self.before, is_told), (self.after, is_told and self.after is self.before)

    @property
    def is_written(self) -> bool:
        """Whether the body writes to what the variable holds when an iteration begins."""
        return self.inside.storage.version != 0


class HeldArrays:
    """The array variables of one loop, while it is built; ``told`` is what tells which arrays they are, if runs do."""

    def __init__(self, told: OriginsOfLoop | None = None) -> None:
        self.told = told
        self._held: dict[Any, Held] = {}
        self._block: Block | None = None
        #: what variables hold in the body's end -> the arrays that they hold after the loop
        self._left: dict[Storage, list[Storage]] = {}

    def enter(self, leaf: Any, array: ArrayTracer) -> ArrayTracer:
        """Note what stands in the body for a variable, a leaf of one."""
        one = self._held[leaf] = Held(leaf.name, leaf.init, array)
        array.storage.choice = Choice((self, "begun"), lambda: (one.before, one.after), current_graph())
        if one.storage is not None:
            array.storage.before, array.storage.is_without_axes = one.storage, one.storage.is_without_axes
        if self.told is not None:
            self.told.choose(leaf, array)
        if isinstance(leaf.init, ArrayTracer) and not leaf.init.is_writeable:
            array.freeze(True)
        return array

    def leave(self, leaf: Any, value: Any) -> None:
        """Note what the body leaves in a variable."""
        if leaf in self._held:
            self._held[leaf].after = value

    def left(self, leaf: Any) -> Any:
        """Return what the body leaves in a variable."""
        return self._held[leaf].after if leaf in self._held else None

    def settle(self, block: Block, outside: Outside) -> None:
        """Find out, when the body is traced, whether the values of the variables are all that a run needs to know.

        Raises
        ------
        NewPlaces
            If the loop has to carry the memory of some arrays.
        TypeError
            If it cannot be told which arrays the body writes to, or what one holds that it leaves.
        """
        self._block = block
        every = list(self._held.values())
        for one in every:
            storage = one.inside.storage
            if storage.is_order_asked and not one.is_kept and not storage.contiguous:
                refuse_lost(_BY_ORDER.format(one.name))
        self._refuse_lost(every, block)
        if not block.written and not any(one.is_written for one in every):
            return
        for storage in (*block.written, *[one.inside.storage for one in every if one.is_written]):
            if storage.copied:
                refuse_copied(storage.copied)
        shared: list[Storage] = []
        for one in every:
            if (mine := one.storage) is not None:
                aliases = [other for other in every if other.storage is mine]
                written = any(other.is_written for other in aliases)
                if mine in block.written or (written and (len(aliases) > 1 or mine in block.read)):
                    shared.append(mine)
        outside.carry(shared)
        self._refuse_shared(every, block)
        self._refuse_doubtful(every, block)

    def settle_test(self, block: Block, outside: Outside) -> None:
        """Do the same for the test of the loop, which reads but does not write.

        Raises
        ------
        TestChanges
            If it writes.
        """
        given = {id(tensor) for tensor in block.graph.inputs}
        if any(storage not in outside.arrays or id(storage.tensor) not in given for storage in block.written):
            raise TestChanges
        outside.carry([one.storage for one in self._held.values() if one.is_written and one.storage in block.read])
        self._refuse_lost(list(self._held.values()), block)
        self._refuse_doubtful(list(self._held.values()), block)

    def _refuse_lost(self, every: list[Held], block: Block) -> None:
        """Raise if the body leaves what is lost, or reads, perhaps before that, what is lost in it: the next iteration
        finds something else there."""
        lost = {**(self._block or block).lost, **block.lost}
        for storage in self._read(every, block):
            if storage in lost:
                refuse_lost(lost[storage])
        for one in every:
            left = None if one.is_kept else kept(one.after)
            if (one.inside.storage.touched and one.inside.storage.lost) or (left is not None and left.lost):
                refuse_lost(_DECIDED.format(one.name))

    @staticmethod
    def _read(every: list[Held], block: Block) -> list[Storage]:
        """Return the memory from before the loop that the body reads, be it as a variable."""
        return [*block.read, *[one.storage for one in every if one.storage is not None and one.inside.storage.touched]]

    def _refuse_shared(self, every: list[Held], block: Block) -> None:
        """Raise if variables hold one array after an iteration that were given as several in it."""
        for one in every:
            if one.is_written and not one.is_kept:
                for array in (one.before, one.after):
                    if isinstance(array, np.ndarray) and array.ndim:
                        lifted_arrays.refuse(array)
            mine = kept(one.after)
            if mine is None or one.is_kept or not one.inside.storage.touched:
                continue
            others = [other for other in every if other is not one and kept(other.after) is mine]
            if not others and mine.graph is block.graph:
                continue
            written = one.is_written or mine in block.written or any(other.is_written for other in others)
            if written:
                raise TypeError(
                    f"{one.name!r} is, or is a part of, another array after an iteration, and that is written to in "
                    f"place in a loop that the graph runs: assign a copy, x.copy() [AL016]"
                )

    def _refuse_doubtful(self, every: list[Held], block: Block) -> None:
        """Raise if the body reads what may be another handle of an array that it writes to."""
        written = {*(self._block or block).written, *[one.storage for one in every if one.is_written and one.storage]}
        others = {origin for storage in written for origin in storage.origins() if origin is not storage}
        for storage in self._read(every, block):
            if storage in others or any(origin in written and origin is not storage for origin in storage.origins()):
                refuse_lost("whether it is another array, to which a loop writes, depends on a loop or branch")

    def lose(self) -> None:
        """Lose, after the loop, what was lost in it."""
        if self._block is not None:
            self._block.lose()

    def after(self, leaf: Any, array: ArrayTracer) -> Any:
        """Return what a variable holds after the loop; ``array`` has its value."""
        one = self._held[leaf]
        if not one.is_kept or one.before is None or (one.is_written and number_type(one.before) is not None):
            if self.told is not None:
                self.told.choose(leaf, array)
            return self._other(one, array)
        if one.inside.storage.lost:
            self._lose_held(one)
        if not one.is_written:
            if one.inside.storage.copied and one.storage is not None:
                one.storage.copied = one.inside.storage.copied
            return one.before
        if isinstance(one.before, np.ndarray):
            lifted_arrays.refuse(one.before)
        one.before.overwrite(array.current())
        one.before.storage.copied = one.before.storage.copied or one.inside.storage.copied
        return one.before

    def _other(self, one: Held, made: ArrayTracer) -> ArrayTracer:
        """Return the array that a variable holds after the loop, if that is not surely the one it held before."""
        made.storage.choice = Choice((self, "left"), lambda: (one.before, one.after), is_left=True)
        if is_read_only(one.before) and is_read_only(one.after):
            made.freeze(True)
        if is_return_value(one.name):
            return made  # after which nobody writes any more
        perhaps, made.storage.handles = self._may_hold(one)
        if one.is_written or one.inside.storage.lost:
            for storage in perhaps:
                storage.lose(_DECIDED.format(one.name))
        if one.inside.storage.lost:
            self._lose_held(one)
        made.storage.perhaps(*perhaps)
        if (left := kept(one.after)) is not None:
            one_of_several(made.storage, self._left.setdefault(left, []))
            made.storage.stands_for(*left.sources)
        made.storage.stands_for(*[one for one in (one.before, one.after) if isinstance(one, np.ndarray) and one.ndim])
        return made

    def _lose_held(self, one: Held) -> None:
        """Lose what a variable held before the loop, for what may have been that was written to."""
        if isinstance(one.before, np.ndarray):
            lifted_arrays.refuse(one.before)
        if one.storage is not None:
            one.storage.lose(_DECIDED.format(one.name))

    def _may_hold(self, one: Held) -> tuple[Iterable[Storage], tuple[tuple[Any, bool], ...]]:
        """Return the memory from before the loop that a variable may hold in some iteration, and the arrays."""
        found: dict[Storage, None] = {}
        seen: set[Held] = set()
        todo = [one]
        while todo:
            here = todo.pop()
            if here in seen:
                continue
            seen.add(here)
            if here.storage is not None:
                found[here.storage] = None
            left = kept(here.after)
            for origin in left.origins() if left is not None else ():
                source = next((other for other in self._held.values() if other.inside.storage is origin), None)
                if source is not None:
                    todo.append(source)
                elif origin.graph is not here.inside.storage.graph:
                    found[origin] = None
        return found, tuple([pair for here in seen for pair in here.handles(here is one)])
