"""Lists, dicts and sets that a staged block takes: it works on copies, and the originals change when it is done.

A block may change a container in place, which every name for it sees, or let the name stand for another one, which
leaves the first as it is. What comes out of the block has the values of either; which it was, comparing objects tells.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from autoloop_runtime.base import nest
from autoloop_runtime.base.forks import undivided

from .container_contents import fill
from .standins import Rows, is_growing
from .unknown_keys import check_order

CONTAINERS = (list, dict, set, Rows)


def copied(value: Any) -> Any:
    """Return a structure with containers of its own, so that tracing one side does not change the other."""
    if is_growing(value):
        return value.copy()
    if isinstance(value, list | dict | tuple) or nest.is_nested(value):
        leaves, structure = nest.flatten_with_structure(value)
        return nest.unflatten(
            structure, [one.copy() if isinstance(one, set) or is_growing(one) else one for one in leaves]
        )
    return value.copy() if type(value) is set else value


class Rebound:
    """Names that stand for another container after a block, or after one of its sides, than before."""

    def __init__(self) -> None:
        self._rebound: set[str] = set()
        self._changed: set[str] = set()

    def begin(self) -> None:
        """Forget what an earlier trace of the block has shown."""
        self._rebound.clear()
        self._changed.clear()

    def compare(self, names: Sequence[str], before: Sequence[Any], given: Sequence[Any], left: Sequence[Any]) -> None:
        """Note what became of containers.

        Parameters
        ----------
        names : sequence of str
        before, given, left : sequence
            The values, the copies that the block took, and what it left under the names.

        Raises
        ------
        TypeError
            If the keys of a dict stand in another order, which a graph does not know of.
        """
        for name, original, copy, now in zip(names, before, given, left, strict=True):
            if isinstance(now, dict) and isinstance(original, dict):
                check_order(name, original, now)
            if isinstance(copy, CONTAINERS):
                if isinstance(now, CONTAINERS) and now is not copy:
                    self._rebound.add(name)
                if not is_as(copy, original):
                    self._changed.add(name)

    def refuse_shared(self, names: Sequence[str], before: Sequence[Any]) -> None:
        """Raise if a container that the block changes has two names in it."""
        named: dict[int, str] = {}
        for name, original in zip(names, before, strict=True):
            if isinstance(original, CONTAINERS):
                other = named.setdefault(id(original), name)
                if other != name and not self._changed.isdisjoint((name, other)):
                    raise TypeError(
                        f"{other!r} and {name!r} are one {type(original).__name__}, which a loop or branch on tensors "
                        f"changes: let it use one of the names only"
                    )

    def is_rebound(self, name: str) -> bool:
        """Return whether a name may stand for another container."""
        return name in self._rebound

    def written_back(self, name: str, original: Any, value: Any) -> Any:
        """Return ``value`` in the container ``original``, so that other names for it see the change.

        Raises
        ------
        TypeError
            If nobody can tell whether ``original`` has changed, and no marker can stand in it.
        """
        if not self.is_rebound(name):
            return written_back(original, value)
        if name in self._changed:
            if type(original) is list:
                original[:] = [_moved(name, None)]
            elif isinstance(original, dict | set):
                raise TypeError(
                    f"{name!r} is changed in place, and set to another {type(original).__name__}, in a loop or branch "
                    f"on tensors: change a copy of it, {name}.copy()"
                )
        return value


def _moved(name: str, grown: Any) -> Any:
    with undivided():
        from .moved_lists import Moved

    return Moved(name, grown)


def is_as(copy: Any, original: Any) -> bool:
    """Return whether a copy still holds what it was made of."""
    if is_growing(copy):
        return is_growing(original) and all(map(operator.is_, copy.arrays, original.arrays))
    if isinstance(copy, set):
        return bool(copy == original)
    mine, structure = nest.flatten_with_structure(copy)
    others, other = nest.flatten_with_structure(original)
    return bool(structure == other) and all(map(operator.is_, mine, others))


def written_back(original: Any, value: Any) -> Any:
    """Return ``value`` in the container ``original``, so that other names for it see the change."""
    if value is original:
        return value
    if type(original) is list and is_growing(value):
        original[:] = [_moved(value.name, value)]
        return value
    if is_growing(original) and is_growing(value):
        original.become(value)
        return original
    if type(original) is type(value) and type(original) in (list, dict, set):
        fill(original, value)
        return original
    return value
