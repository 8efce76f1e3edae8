"""Which of the heavy kernels that are ready is next.

The one behind which most is left to do (``critical_path``); but a thread that has just made the input of another one,
which is in its cache, takes that, unless there is much more left behind the first.

Kernels that make large arrays have another order, so that programs need no more memory than in order. Independent
lines, and iterations that run ahead, would each have an array of their own for what lies between, and all at once.
Kernels that do little but go through memory gain little from running beside each other: of those that make an array
the first in the program runs first, when nothing else is ready, and only when what others of them have made is gone, or
none of them is running; no two at once. So somebody always goes on.
"""

from __future__ import annotations

import heapq
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import Any

import numpy as np

from .critical_path import CriticalPaths
from .execution_plan import Step
from .first_failure import place_in_program
from .frames import Item

#: a thread takes a consumer of what it has made unless so much more, by factor, is left behind another kernel
NEAR = 1.0625
#: it looks for such a one among so many
LOOKED_AT = 8


class ByPath:
    """Kernels that are ready, the one behind which most is left to do first; of equal ones the newest."""

    def __init__(self, paths: CriticalPaths) -> None:
        self._left = paths.left
        #: what is left, negative; a number that no other has; who has made its input, if that is known
        self._heap: list[tuple[float, int, Item, int]] = []
        self._count = 0

    def append(self, item: Item, maker: int = 0) -> None:
        self._count -= 1
        heapq.heappush(self._heap, (-self._left(*item), self._count, item, maker))

    def extend(self, items: Iterable[Item], maker: int = 0) -> None:
        for item in items:
            self.append(item, maker)

    def clear(self) -> None:
        self._heap.clear()

    def pop(self) -> Item:
        return heapq.heappop(self._heap)[2]

    def take(self, own: list[Item], me: int) -> Item | None:
        """Return the next kernel for thread ``me``, which has made those of ``own`` ready; ``own`` is emptied."""
        heap = self._heap
        if not own:
            return self._near(me) if heap else None
        item = own.pop()
        while own:
            other = own.pop()
            if self._left(*other) > self._left(*item):
                item, other = other, item
            self.append(other, me)
        if heap and -heap[0][0] > NEAR * self._left(*item):
            self.append(item, me)
            return heapq.heappop(heap)[2]
        return item

    def _near(self, me: int) -> Item:
        """Take the first, or one near it whose input the thread has made."""
        heap = self._heap
        least = heap[0][0] / NEAR
        found = min([entry for entry in heap[:LOOKED_AT] if entry[3] == me and entry[0] <= least], default=heap[0])
        if found is heap[0]:
            return heapq.heappop(heap)[2]
        heap.remove(found)
        heapq.heapify(heap)
        return found[2]

    def __iter__(self) -> Iterator[Item]:
        return iter([entry[2] for entry in self._heap])

    def __len__(self) -> int:
        return len(self._heap)


class Bulk:
    """What kernels that go through memory have made and somebody still holds, and how many of them are running."""

    def __init__(self) -> None:
        self.running = 0
        #: of those the ones that make an array
        self.making = 0
        #: by id, weak references: others count the references to an array
        self.held: dict[int, Any] = {}

    def begins(self, item: Item) -> None:
        """Note that a kernel begins."""
        step = item[1]
        self.running += step.bulky
        self.making += step.makes

    def ends(self, item: Item, made: Any = None) -> None:
        """Note that a kernel has ended, and what it has made."""
        step = item[1]
        self.running -= step.bulky
        self.making -= step.makes
        if step.makes:
            self._note(made)

    def _note(self, made: Any) -> None:
        if type(made) is np.ndarray and made.base is None:
            reference = weakref.ref(made, self._gone)
            self.held[id(reference)] = reference

    def _gone(self, reference: Any) -> None:
        self.held.pop(id(reference), None)

    def startable(self, heavy: InOrder) -> int:
        """Return how many kernels may be started."""
        first = heavy.first
        return len(heavy.others) + (first is not None and self.may_begin(first))

    def take(self, heavy: InOrder) -> Item | None:
        """Return the next kernel, which is then in ``heavy`` no more; None if all have to wait."""
        if heavy.others:
            item: Item = heavy.others.pop()
            return item
        first = heavy.first
        return heavy.popleft() if first is not None and self.may_begin(first) else None

    def may_begin(self, item: Item) -> bool:
        """Return whether a kernel that makes an array may begin."""
        return not (self.making or (self.running and self.held))

    def heavy(self, others: Any) -> InOrder:
        """Return where kernels are put that all threads may take; ``others``: those that make no array."""
        return InOrder(others, _makes)


def waiting_alone() -> InOrder:
    """Return where a thread that is alone puts kernels some of which make large arrays."""
    return InOrder(deque(), _makes)


class InOrder:
    """Kernels that are ready: those that make arrays, which are taken in program order, and ``others``.

    Parameters
    ----------
    others : deque or ByPath
    makes : callable
        Whether a step counts as making an array.
    """

    def __init__(self, others: Any, makes: Callable[[Step], bool]) -> None:
        self.others = others
        self._makes = makes
        self._heap: list[tuple[tuple[int, ...], int, Item]] = []
        self._count = 0

    def append(self, item: Item) -> None:
        if self._makes(item[1]):
            self._count += 1  # two are never compared further than that
            heapq.heappush(self._heap, (place_in_program(*item), self._count, item))
        else:
            self.others.append(item)

    def extend(self, items: Iterable[Item], maker: int = 0) -> None:
        for item in items:
            self.append(item)

    def clear(self) -> None:
        self.others.clear()
        self._heap.clear()

    def popleft(self) -> Item:
        """Return the first of those that make no array, else the first in program order."""
        return self.others.popleft() if self.others else heapq.heappop(self._heap)[2]

    @property
    def first(self) -> Item | None:
        """The first in program order of those that make an array."""
        return self._heap[0][2] if self._heap else None

    def __iter__(self) -> Iterator[Item]:
        yield from self.others
        for _, _, item in self._heap:
            yield item

    def __len__(self) -> int:
        return len(self.others) + len(self._heap)


_makes: Callable[[Step], bool] = attrgetter("makes")
