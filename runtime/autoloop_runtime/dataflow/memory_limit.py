"""A limit to the memory that kernels fill: which of those that are ready have to wait.

Iterations that run ahead, and lines that do not need each other, have arrays of their own, all at once. Under a limit
kernels that make arrays begin in program order, and one that would take more than its share waits while another one is
making an array, or one that stands before it in the program is running: when that ends arrays may be gone. Otherwise it
begins, whatever it takes: so somebody always goes on, and what goes on is what plain Python would have come to first.
What runs ahead may take half of the limit; the other half is for the line that must go on.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from operator import attrgetter
from typing import Any

import numpy as np

from ..analysis.sizes import bytes_of
from ..base.forks import Kind
from .execution_plan import Step
from .first_failure import place_in_program
from .frames import Item
from .ready_kernels import Bulk, InOrder
from .sole_holders import Donated, Part

_KIND = Kind("MemoryLimit.lock", "what is counted wrong there is right again when nothing is left")


class MemoryLimit:
    """How much the runs that share it may hold, and what they hold.

    Parameters
    ----------
    limit : int
        Bytes.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        #: guards ``_live``
        self._lock = _KIND.lock()
        self._live = 0
        #: bytes that are promised to steps which make many arrays; guarded by the lock, too
        self._promised = 0
        #: by the id of a weak reference to an array: it, the array's id and its bytes; changed by single operations
        #: without the lock, in an order that tells ``_settled`` what it may forget
        self._held: dict[int, tuple[Any, int, int]] = {}
        #: by the ids of arrays in ``_held``: the references; of two threads that note an array one is first
        self._arrays: dict[int, Any] = {}
        #: the bytes of arrays that are gone, not yet taken off: the last holder may be anywhere, also in ``live``
        self._gone: deque[int] = deque()

    def live(self) -> int:
        """Return the bytes of arrays that kernels have made and somebody still holds."""
        with self._lock:
            return self._settled() + self._promised

    @contextmanager
    def promised(self, size: int, most: int) -> Iterator[bool]:
        """Count so many bytes as live inside of the block, if there are no more than ``most`` with them; gives whether
        that is so."""
        with self._lock:
            has_room = self._settled() + self._promised + size <= most
            taken = size if has_room else 0
            self._promised += taken
        try:
            yield has_room
        finally:
            with self._lock:
                self._promised -= taken

    def _settled(self) -> int:
        """Take off what is gone; not where the lock is taken: Ctrl-C between turns would leave it held since 3.12."""
        # asked first: who leaves ``_held`` has told ``_gone``, and who enters it adds to ``_live`` afterwards
        is_empty = not self._held
        while self._gone:
            self._live -= self._gone.popleft()
        if is_empty:
            self._live = 0
        return self._live

    def note(self, made: Any) -> int:
        """Note what a kernel has made; returns its bytes."""
        if type(made) is not np.ndarray:
            return 0
        owner: Any = made
        while type(owner.base) is np.ndarray:
            owner = owner.base
        if type(owner.base) in (Donated, Part) or id(owner) in self._arrays:
            return made.nbytes
        reference = weakref.ref(owner, self._left)
        if self._arrays.setdefault(id(owner), reference) is not reference:
            return made.nbytes  # another thread has just noted it
        self._held[id(reference)] = reference, id(owner), owner.nbytes
        with self._lock:
            self._live += owner.nbytes
        return made.nbytes

    def _left(self, reference: Any) -> None:
        _, array, size = self._held[id(reference)]
        del self._arrays[array]  # it is not freed yet: no other has its id
        self._gone.append(size)
        del self._held[id(reference)]


#: what runs share that have no limit of their own; guarded by its lock
_shared = MemoryLimit(0)


class Budget(Bulk):
    """What one run may begin under a limit.

    Parameters
    ----------
    memory : MemoryLimit
        Shared with other runs: each of them goes on with one kernel at a time, at least.
    limit : int
    """

    def __init__(self, memory: MemoryLimit, limit: int) -> None:
        super().__init__()
        self._memory, self.ahead = memory, limit // 2
        #: how many kernels are running that make arrays
        self._filling = 0
        #: the kernels that are running
        self._running: set[Item] = set()
        #: what they will have made, as far as that is known
        self._promised = 0
        #: what each has made before, or is known to make
        self._known: dict[Step, int] = {}
        self._promises: dict[Step, list[int]] = {}

    def begins(self, item: Item) -> None:
        step = item[1]
        self._running.add(item)
        if step.allocates:
            size = self._size(step)
            self._filling += 1
            self._promised += size
            self._promises.setdefault(step, []).append(size)

    def ends(self, item: Item, made: Any = None) -> None:
        step = item[1]
        self._running.discard(item)
        if step.allocates:
            self._filling -= 1
            self._promised -= self._promises[step].pop()
            if made is not None:
                size = self.note(step, made)
                self._known[step] = step.flat.value.most if step.overlaps else size

    def is_like(self, other: Budget) -> bool:
        """Return whether this is under the same limit."""
        return self._memory is other._memory and self.ahead == other.ahead

    def promised(self, size: int) -> AbstractContextManager[bool]:
        """Count so many bytes as live inside of the block, if there is room for them; gives whether there is."""
        return self._memory.promised(size, 2 * self.ahead)

    def note(self, step: Step, made: Any) -> int:
        """Note what a kernel has made; returns its bytes."""
        values = made if step.outs is not None and type(made) is tuple else (made,)
        return sum(map(self._memory.note, values))

    def may_begin(self, item: Item) -> bool:
        if self._memory.live() + self._promised + self._size(item[1]) <= self.ahead:
            return True
        place = place_in_program(*item)
        return not self._filling and all(place < place_in_program(*one) for one in self._running)

    def heavy(self, others: Any) -> InOrder:
        return InOrder(others, _allocates)

    def light(self, heavy: InOrder) -> Light:
        """Return where a thread puts those that it keeps for itself."""
        return Light(heavy)

    def _size(self, step: Step) -> int:
        known = self._known.get(step)
        if known is None and step.overlaps:
            known = self._known[step] = step.flat.value.most
        elif known is None:
            node = step.flat.source
            whole = node is None or node.op is not step.flat.op
            known = self._known[step] = 0 if whole else sum([bytes_of(t) or 0 for t in node.outputs])  # type: ignore
        return known


def budget_of(memory: MemoryLimit | None, limit: int) -> Budget:
    """Return the budget of a run, under a limit of its own or that of the process."""
    return Budget(_shared, limit) if memory is None else Budget(memory, memory.limit)


class Light(deque[Item]):
    """The light kernels of one thread; those that make arrays go where heavy ones are."""

    def __init__(self, heavy: InOrder) -> None:
        super().__init__()
        self._heavy = heavy

    def append(self, item: Item) -> None:
        if item[1].allocates:
            self._heavy.append(item)
        else:
            super().append(item)


_allocates: Callable[[Step], bool] = attrgetter("allocates")
