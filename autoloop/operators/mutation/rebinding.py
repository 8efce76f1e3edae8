"""Whether a staged block lets a name, an attribute or a global stand for another object than before.

``self.w = self.w - g`` in a loop that does not run, or in a branch that is not taken, leaves the very object that was
there. A graph gives values; so it gives a bool for each such name as well.
"""

from __future__ import annotations

from typing import Any

from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.ir.array_storage import kept
from autoloop_runtime.ir.graph import current_graph

from ..staging.growing_list import GrowingList
from .heap_snapshot import Slot

_UNSET: Any = object()
_CONTAINERS = (list, dict, set, GrowingList)


@dataclass(frozen=True, eq=False)
class Rebinding:
    """What is known of one name.

    Attributes
    ----------
    is_other : bool or Tensor
        Whether it stands for another object than at first.
    first, now : object
        What stood there before the first block that changes that, and what stands there now.
    is_part : bool
        Whether the other object may be a part of the first.
    """

    is_other: Any
    first: Any
    now: Any
    is_part: bool


class Rebindings:
    """The names of one trace, by the keys of their slots; a record of a graph."""

    def __init__(self) -> None:
        self.known: dict[Any, Rebinding] = {}

    def copy(self) -> Rebindings:
        """Return the same, which later changes of this one do not reach."""
        made = Rebindings()
        made.known = dict(self.known)
        return made


class IsOther:
    """A bool that a block carries: whether a slot holds another object than at first."""

    def __init__(self, slot: Slot) -> None:
        self.name, self.slot = slot.name, slot
        self.key = (*slot.key, "is another object")
        self._is_other: Any = False
        self._first = self._given = _UNSET
        self._is_part = False

    def get(self) -> Any:
        """Return the value."""
        now = self.slot.get()
        if self._given is _UNSET or now is self._given:
            return self._is_other
        found = rebindings().get(self.slot.key)
        if found is not None and found.now is now and found.first is self._first:  # a block inside has told
            self._is_part = self._is_part or found.is_part
            return found.is_other
        self._is_part = self._is_part or (kept(now) is not None and kept(now) is kept(self._given))
        return True

    def set(self, value: Any) -> None:
        """Set the value, of what the slot holds now."""
        known, now = rebindings(), self.slot.get()
        if self._first is _UNSET:
            found = known.get(self.slot.key)
            if found is not None and found.now is now:
                self._first, value, self._is_part = found.first, found.is_other, found.is_part
            else:
                self._first = now
        self._is_other, self._given = value, now
        known[self.slot.key] = Rebinding(value, self._first, now, self._is_part)


def rebindings() -> dict[Any, Rebinding]:
    """Return what is known of the names of the present trace, by the keys of their slots."""
    graph = current_graph()
    return graph.root.record(Rebindings).known if graph is not None else {}


def may_be_other(value: Any) -> bool:
    """Return whether it matters which object a value is."""
    if isinstance(value, _CONTAINERS):
        return True
    return kept(value) is not None and value.shape.rank != 0
