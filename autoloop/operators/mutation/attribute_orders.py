"""The order in which an object's attributes stand, which ``vars(o)`` and ``repr(o)`` show.

A loop or branch is traced once for all its runs, and what it sets is put back in between: an attribute that was deleted
and is set again stands last. So each object gets back the order that it had. Behind the block its attributes stand as
each run would leave them, as long as one order is right for all; where none is plain Python runs the function.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Sequence
from typing import Any

from autoloop_runtime.ir.graph import current_graph

from ...left_to_python import refuse_unknown
from ..staging.container_contents import put_in_order
from ..staging.undefined import MaybeUnset
from .heap_snapshot import Snapshot, contents
from .outside_world import leave
from .rebinding import DoubtfulAttributes, is_perhaps_own_of
from .slots import refuse_untold

_WHAT = (
    "in which order the attributes of an object of {0!r} stand only the run knows, which sets or deletes them in a "
    "loop or branch on tensors"
)


class AttributeOrders:
    """The orders of attributes before a block, and at the ends of its sides or of its body.

    Parameters
    ----------
    is_of_loop : bool
        Whether the block may run several times.
    """

    def __init__(self, is_of_loop: bool) -> None:
        self._known: dict[int, tuple[Any, list[list[str]]]] = {}
        self.is_of_loop = is_of_loop

    def note(self, owners: Iterable[Snapshot]) -> None:
        """Note what a trace of the block leaves of objects, of which there are snapshots from before."""
        for one in owners:
            new, orders = contents(one.value), [list(one.old)]
            if list(new) != orders[0] or id(one.value) in self._known:
                _, orders = self._known.setdefault(id(one.value), (one.value, orders))
                orders.append(list(new))
            self._check(one.value, one.old, new, orders[0])

    def _check(self, owner: Any, old: dict[str, Any], new: dict[str, Any], first: list[str]) -> None:
        """Let plain Python run the function where an attribute is set that is not surely there, and others follow."""
        for name in list(new)[:-1]:
            if new[name] is not (before := old.get(name)):
                is_set_later = self.is_of_loop and type(new[name]) is MaybeUnset and name not in first
                if is_set_later or (type(before) is MaybeUnset and name in first):
                    _refuse(owner)

    def keep(self) -> None:
        """Let the attributes of objects stand where they stood, as far as they are there."""
        for owner, orders in self._known.values():
            put_in_order(owner, _merged(orders) or orders[0])

    def settle(self) -> None:
        """Let the attributes of objects stand as they do behind the block.

        Raises
        ------
        LeftToPython
        TypeError
            If that depends on the run.
        """
        for owner, orders in self._known.values():
            order = _merged(orders)
            if order is None:
                _refuse(owner)
                return
            put_in_order(owner, order)
            _note_doubtful(owner)


def _is_doubtful(owner: Any, name: str, value: Any) -> bool:
    return type(value) is MaybeUnset or is_perhaps_own_of(owner, name, value)


def _note_doubtful(owner: Any) -> None:
    graph = current_graph()
    names = [name for name, value in getattr(owner, "__dict__", {}).items() if _is_doubtful(owner, name, value)]
    if names and isinstance(owner, types.SimpleNamespace):
        refuse_untold(owner, names[0])  # which is compared by all that it has
    if graph is not None and names:
        graph.root.record(DoubtfulAttributes).known += [(owner, name) for name in names]


def leave_doubtful_orders() -> None:
    """Let plain Python run a function that sets, for sure, an attribute which may have been there before others.

    Raises
    ------
    LeftToPython
    """
    graph = current_graph()
    found = None if graph is None else graph.root.records.get(DoubtfulAttributes)
    for owner, name in () if found is None else found.known:
        own = vars(owner)
        if name in own and next(reversed(own)) != name and not _is_doubtful(owner, name, own[name]):
            leave(_WHAT.format(type(owner).__name__), "")


def _refuse(owner: Any) -> None:
    refuse_unknown(_WHAT.format(type(owner).__name__), "set each of them before")


def _merged(orders: Sequence[Sequence[str]]) -> list[str] | None:
    """Return an order in which names stand as in all of some; None if there is none."""
    before: dict[str, set[str]] = {}
    for order in orders:
        for place, name in enumerate(order):
            before.setdefault(name, set()).update(order[:place])
    made: list[str] = []
    left = [*before]
    while left:
        first = next((name for name in left if before[name].isdisjoint(left)), None)
        if first is None:
            return None
        made.append(first)
        left.remove(first)
    return made
