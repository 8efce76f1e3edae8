"""Which of the kernels that are ready is next, so that programs on large arrays need no more memory than in order.

Independent lines, and iterations that run ahead, would each have an array of their own for what lies between, and all
at once. Kernels that do little but go through memory gain little from running beside each other: of those that make an
array the first in the program runs first, when nothing else is ready, and only when what others of them have made is
gone, or none of them is running; no two at once. So somebody always goes on.
"""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any

import numpy as np

from .execution_plan import Step
from .frames import Item


class Bulk:
    """What kernels that go through memory have made and somebody still holds, and how many of them are running."""

    def __init__(self) -> None:
        self.running = 0
        #: of those the ones that make an array
        self.making = 0
        #: by id, weak references: others count the references to an array
        self.held: dict[int, Any] = {}

    def begins(self, step: Step) -> None:
        """Note that a kernel begins."""
        self.running += step.bulky
        self.making += step.makes

    def ends(self, step: Step, made: Any = None) -> None:
        """Note that a kernel has ended, and what it has made."""
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

    def startable(self, heavy: Any) -> int:
        """Return how many kernels may be started."""
        others = sum([not step.makes for _, step in heavy])
        return others + (len(heavy) > others and not self.waits)

    def take(self, heavy: Any, newest: bool) -> Item | None:
        """Return the next kernel, which is then in ``heavy`` no more; None if all have to wait."""
        places = [k for k, (_, step) in enumerate(heavy) if not step.makes]
        if places:
            place = places[-1 if newest else 0]
        elif not heavy or self.waits:
            return None
        else:
            place = min(range(len(heavy)), key=lambda k: (heavy[k][0].index, heavy[k][1].flat.index))
        item: Item = heavy[place]
        del heavy[place]
        return item

    @property
    def waits(self) -> bool:
        """Whether who makes another array has to wait."""
        return bool(self.making or (self.running and self.held))


def first_of(heavy: deque[Item]) -> Item:
    """Return the next kernel for a thread that is alone."""
    item = Bulk().take(heavy, False)
    assert item is not None
    return item
