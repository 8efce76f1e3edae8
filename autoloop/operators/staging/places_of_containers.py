"""Where values hold lists, dicts and objects: one at several places, and one where another stood.

A staged block works on copies, and makes new containers of what is left. Which of those were one before, or are one on
a side of a branch, their places tell.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from autoloop_runtime.base import nest

from .container_contents import elements, instance_attributes, is_instance
from .copied_elements import note_begun, note_given, note_shared
from .maybe_same import CHANGING, may_be, may_hold_containers
from .raising import RETURN_VALUE, is_return_value
from .standins import Maybe, is_growing, opened

#: a name, and what leads from there to a container
Path: TypeAlias = tuple[Any, ...]
Places: TypeAlias = tuple[list[tuple[Path, Path]], list[tuple[Path, Any]]]
#: so deep in others containers are looked for
_DEEPEST = 6


class SharedPlaces:
    """Where the values of a block hold one container: before it, and at the end of each of its sides."""

    def __init__(self) -> None:
        #: places of one container, before the block or after one of its sides
        self._shared: list[tuple[Path, Path]] = []
        #: what one of the sides has put into containers, and where
        self._inside: list[tuple[Path, Any]] = []

    def begin(self) -> None:
        """Forget what an earlier trace of the block has shown."""
        self._shared.clear()
        self._inside.clear()

    @staticmethod
    def places_in(names: Sequence[str], values: Sequence[Any]) -> Places:
        """Return where the values that a block works on hold one container when it begins."""
        note_given(values)
        return shared_places(names, values)

    def share(self, begun: Places, names: Sequence[str], left: Sequence[Any], new: Mapping[str, Any]) -> None:
        """Note which values of a block hold one container at several places.

        Parameters
        ----------
        begun : tuple
            The same of what it began with.
        names, left : sequence
            As for :meth:`.containers_of_blocks.Rebound.compare`.
        new : mapping
            What else names stand for after the block.
        """
        self._shared += begun[0]
        known = dict(begun[1])
        shared, inside = shared_places((*names, *new), (*left, *new.values()))
        self._shared += shared
        self._inside += [(path, part) for path, part in inside if known.get(path) is not part]

    def begun(self, names: Sequence[str], before: Sequence[Any]) -> None:
        """Note the same of what a block begins with, which may not run."""
        self._shared += shared_places(names, before)[0]

    def tell(self, names: Sequence[str], values: Sequence[Any]) -> None:
        """Note, after the block, of which containers there are several now where there may be one."""
        if not (self._shared or self._inside):
            return
        named = dict(zip(_numbered(names), values, strict=False))
        for first, other in self._shared:
            if first[0] in named and other[0] in named:
                (one, grown), (its, also_grown) = _at(named, first), _at(named, other)
                if grown is not None or also_grown is not None:
                    one = also_grown if grown is None else grown
                    note_shared(one.name, one)
                elif isinstance(one, CHANGING) and isinstance(its, CHANGING):
                    may_be(_spoken(other), its, one, is_final=_is_given(first) or _is_given(other))
        for place, put in self._inside:
            one, grown = _at(named, place) if place[0] in named else (None, None)
            if grown is not None:
                note_begun(grown.name, [put])
            elif isinstance(one, CHANGING):
                may_be(_spoken(place), one, put, is_final=_is_given(place))
        self._inside.clear()


def shared_places(names: Sequence[str], values: Sequence[Any]) -> Places:
    """Return the places of containers that some values hold more than once, each with the first of it; and all places
    inside others."""
    firsts: dict[int, Path] = {}
    shared, inside = [], []
    for name, value in zip(_numbered(names), values, strict=False):
        for path, part in _containers((name,), value):
            first = firsts.setdefault(id(part), path)
            if first is not path:
                shared.append((first, path))
            if len(path) > 1:
                inside.append((path, part))
    return shared, inside


def _numbered(names: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield names, of which several may be the same, each with how often it was there before."""
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, -1) + 1
        yield name, seen[name]


def _containers(path: Path, value: Any, around: tuple[Any, ...] = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the containers in a value, and in what its objects hold, with their places."""
    value = _there(value)
    is_object = not isinstance(value, (tuple, *CHANGING)) and is_instance(value)
    if not (is_object or may_hold_containers(value)) or any(value is one for one in around) or len(around) > _DEEPEST:
        return
    if isinstance(value, CHANGING):
        yield path, value
    for key, part in _parts(value):
        yield from _containers((*path, key), part, (*around, value))


def _parts(value: Any) -> Iterable[tuple[Any, Any]]:
    """Return what a container or an object holds, and where."""
    if isinstance(value, dict):
        return value.items()
    if isinstance(value, list | tuple | deque):
        return enumerate(elements(value))
    return () if isinstance(value, CHANGING) else instance_attributes(value).items()


def _at(named: Mapping[Any, Any], path: Path) -> tuple[Any, Any]:
    """Return what stands at a place, None if it is not there; and the list that grows in which that would be."""
    value = _there(named[path[0]])
    for key in path[1:]:
        if is_growing(value):
            return None, value
        value = _there(dict(_parts(value)).get(key))
    return value, None


def _there(value: Any) -> Any:
    while isinstance(value, Maybe):
        value = opened(value).value
    return value


def _is_given(path: Path) -> bool:
    """Return whether a place is in what the function gives."""
    return path[0][0] == RETURN_VALUE or is_return_value(path[0][0])


def _spoken(path: Path) -> str:
    return repr(path[0][0]) + "".join(f"[{nest.key_text(key)}]" for key in path[1:])
