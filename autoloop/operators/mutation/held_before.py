"""What containers, attributes and variables held before a block: compared, put back, and lent to the block.

What holds a list that grows in the block under another name holds in there what grows.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..staging.container_contents import fill, put_in_order
from ..staging.standins import is_growing
from ..staging.taken_containers import grown_of
from ..staging.undefined import MaybeUnset, Undefined
from .heap_snapshot import Snapshot, contents, mark_in_library
from .slots import Attribute, Slot


class Element:
    """An element of a list or dict."""

    def __init__(self, container: Any, key: Any) -> None:
        self.container, self.key = container, key

    def get(self) -> Any:
        """Return the value, or a marker if there is none."""
        try:
            return self.container[self.key]
        except LookupError:
            return Undefined(str(self.key))

    def set(self, value: Any) -> None:
        """Set the value."""
        self.container[self.key] = value


def has_changed(snapshot: Snapshot) -> bool:
    """Return whether a container holds other objects than before."""
    value, old = snapshot.value, snapshot.old
    if isinstance(value, np.ndarray):
        return not np.array_equal(value, old, equal_nan=value.dtype.kind in "fc")
    new = mark_in_library(value) if is_mark(snapshot) else contents(value)
    if isinstance(new, dict):
        is_other = list(new) != list(old) if isinstance(value, dict) else new.keys() != old.keys()
        return is_other or not all(map(operator.is_, new.values(), (old[key] for key in new)))
    if is_growing(new):
        new, old = new.arrays, old.arrays
    if isinstance(new, list):
        return len(new) != len(old) or not all(map(operator.is_, new, old))
    return bool(new != old)


def is_mark(snapshot: Snapshot) -> bool:
    """Return whether of an object only is known whether it changes."""
    return isinstance(snapshot.old, bytes) and not isinstance(snapshot.value, bytearray | memoryview)


def put_back(snapshot: Snapshot) -> None:
    """Give a container, or an array, what it held before, if that is known."""
    value, old = snapshot.value, snapshot.old
    if is_mark(snapshot):
        return
    if is_growing(value):
        value.become(old.alike())
    elif isinstance(value, np.ndarray):
        value[...] = old
    else:
        fill(value, old)


def is_cache(snapshot: Snapshot, is_staged: Callable[[Any], bool]) -> bool:
    """Return whether a dict has only gained entries made of Python values, as a memo does."""
    new, old = snapshot.value, snapshot.old
    if not isinstance(new, dict) or any(key not in new or new[key] is not one for key, one in old.items()):
        return False
    return not any(is_staged(new[key]) for key in new if key not in old)


def has_attributes(one: Snapshot) -> bool:
    """Return whether a snapshot is of the attributes of an object."""
    return isinstance(one.old, dict) and not isinstance(one.value, dict | types.GeneratorType)


def may_be_reordered(one: Snapshot) -> bool:
    """Return whether an object's attributes stand in another order now, or are set of which only the run knows
    whether they are there."""
    new = contents(one.value)
    return list(new) != list(one.old) or any(
        type(value) is MaybeUnset and new[name] is not value for name, value in one.old.items()
    )


def changed_attributes(one: Snapshot) -> list[tuple[Attribute, Any]]:
    """Return the attributes of an object that are not what they were, and what they were."""
    missing, found = object(), list[tuple[Attribute, Any]]()
    new = contents(one.value)
    for name in dict.fromkeys([*new, *one.old]):
        if new.get(name, missing) is not one.old.get(name, missing):
            slot = Attribute(one.value, name, name in one.old)
            found.append((slot, one.old.get(name, Undefined(slot.name))))
    return found


def restore(before: Iterable[Snapshot], variables: Iterable[tuple[Slot, Any]]) -> None:
    """Put back what containers, attributes and variables held."""
    for one in filter(has_changed, before):
        if not has_attributes(one):
            put_back(one)
            continue
        for attribute, value in changed_attributes(one):
            attribute.set(value)
        put_in_order(one.value, list(one.old))
    for slot, value in variables:
        if slot.get() is not value:
            slot.set(value)


def lent_lists(before: Sequence[Snapshot], variables: Sequence[tuple[Slot, Any]]) -> list[tuple[Any, Any]]:
    """Let all that holds a list which grows in the block under another name hold what grows; return what did, and the
    lists."""
    found: list[tuple[Any, Any]] = [(slot, one) for slot, one in variables if grown_of(one) is not None]
    for one in before:
        if has_attributes(one):
            held = one.old.items()
            found += [(Attribute(one.value, name, True), its) for name, its in held if grown_of(its) is not None]
        elif type(one.value) in (list, dict):
            held = one.old.items() if type(one.value) is dict else enumerate(one.old)
            found += [(Element(one.value, key), its) for key, its in held if grown_of(its) is not None]
    for holder, its in found:
        holder.set(grown_of(its))
    return found


def take_back(lent: Iterable[tuple[Any, Any]]) -> None:
    """Let what holds a list that grows hold the list again, where the block has put nothing in its place."""
    for holder, one in lent:
        if holder.get() is grown_of(one):
            holder.set(one)
