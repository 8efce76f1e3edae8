"""Lists, dicts and sets that a staged block takes: it works on copies, and the originals change when it is done.

A block may change a container in place, which every name for it sees, or let the name stand for another one, which
leaves the first as it is. What comes out of the block has the values of either; which it was, comparing objects tells.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from autoloop_runtime.base.forks import undivided

from .container_contents import CONTAINERS, COPIED_DICTS, fill, is_as
from .maybe_same import are_maybe_same, are_some, lose, lose_changed, may_be, may_hold_containers, part_inside
from .standins import is_growing
from .unknown_keys import check_order, leave_unknown


class Rebound:
    """Names that stand for another container after a block, or after one of its sides, than before."""

    def __init__(self) -> None:
        self._rebound: dict[str, list[Any]] = {}
        #: what else names stand for after the block, or after one of its sides, that stood for no container before
        self._set: dict[str, list[Any]] = {}
        self._changed: set[str] = set()
        #: by id the values that the block was given, and their places among these
        self._given: dict[int, tuple[int, Any]] = {}

    def begin(self) -> None:
        """Forget what an earlier trace of the block has shown."""
        self._rebound.clear()
        self._set.clear()
        self._changed.clear()
        self._given.clear()

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
        originals = {id(copy): one for one, copy in zip(before, given, strict=True)}
        self._given = {id(one): (k, one) for k, one in enumerate(before)}
        for name, original, copy, now in zip(names, before, given, left, strict=True):
            if isinstance(now, dict) and isinstance(original, dict):
                check_order(name, original, now)
            if isinstance(copy, CONTAINERS):
                if isinstance(now, CONTAINERS) and now is not copy:
                    self._rebound.setdefault(name, []).append(originals.get(id(now), now))
                if not is_as(copy, original):
                    self._changed.add(name)
            elif now is not copy and may_hold_containers(now):
                self._set.setdefault(name, []).append(originals.get(id(now), now))

    def add(self, values: Mapping[str, Any]) -> None:
        """Note what a block lets names stand for that it has not been given."""
        for name, one in values.items():
            self._set.setdefault(name, []).append(one)

    def let_out(self, before: Sequence[Any]) -> None:
        """Let what stands in a loop for what the first iteration is given be that, the values from before the loop."""
        for found in (*self._rebound.values(), *self._set.values()):
            known = [self._given.get(id(one)) for one in found]
            found[:] = [one if mine is None else before[mine[0]] for mine, one in zip(known, found, strict=True)]

    def refuse_shared(self, names: Sequence[str], before: Sequence[Any]) -> None:
        """Raise if a container that the block changes has two names in it."""
        named: dict[int, str] = {}
        held = [(name, one) for name, one in zip(names, before, strict=True) if isinstance(one, CONTAINERS)]
        for name, original in held:
            other = named.setdefault(id(original), name)
            if other != name and not self._changed.isdisjoint((name, other)):
                raise TypeError(
                    f"{other!r} and {name!r} are one {type(original).__name__}, which a loop or branch on tensors "
                    f"changes: let it use one of the names only"
                )
        changed = [(name, one) for name, one in held if name in self._changed] if are_some() else []
        for name, original in changed:
            for other, one in held:
                if one is not original and are_maybe_same(original, one):
                    message = (
                        f"{other!r} and {name!r} may be one {type(original).__name__}, which a loop or branch on "
                        f"tensors changes: change a copy, {name}.copy()"
                    )
                    leave_unknown(message)
                    raise TypeError(message)

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
            if value is not original:
                part_inside(repr(name), original, value)
            value = written_back(original, value)
            for one in self._set.get(name, ()):
                may_be(repr(name), value, one)
            if are_some():
                lose_changed()
            return value
        if name in self._changed:
            if isinstance(original, CONTAINERS):
                lose(repr(name), original, value)
        else:
            for one in (original, *self._rebound[name]):
                may_be(repr(name), value, one)
        return value


def _moved(name: str, grown: Any) -> Any:
    with undivided():
        from .moved_lists import Moved

    return Moved(name, grown)


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
    if type(original) is type(value) and type(original) in (list, dict, set, deque, *COPIED_DICTS):
        fill(original, value)
        return original
    return value
