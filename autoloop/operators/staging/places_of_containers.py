"""Where values hold lists, dicts and objects: one at several places, and one where another stood.

A staged block works on copies, and makes new containers of what is left. Which of those were one before, or are one on
a side of a branch, their places tell.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

from ...left_to_python import WORLD, is_followed, leave_unknown
from .container_contents import COPIED_DICTS, fill, instance_attributes, is_as, is_instance, set_item
from .copied_elements import note_begun, note_given, note_shared
from .maybe_same import CHANGING, may_be, may_hold_containers
from .standins import Maybe, is_growing, opened

#: a name, and what leads from there to a container
Path: TypeAlias = tuple[Any, ...]
#: by id of a container that a block works on: that, and what it is a copy of
Originals: TypeAlias = Mapping[int, tuple[Any, Any]]
_Places: TypeAlias = tuple[list[tuple[Path, Path]], list[tuple[Path, Any]]]
#: so deep in others containers are looked for
_DEEPEST = 6
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class SharedPlaces:
    """Where the values of a block hold one container: before it, and at the end of each of its sides."""

    def __init__(self) -> None:
        #: places of one container, before the block or after one of its sides
        self._shared: list[tuple[Path, Path]] = []
        #: what one of the sides has put into containers, and where
        self._inside: list[tuple[Path, Any]] = []
        #: by name where inside its value every side leaves the containers that were there
        self._staying: dict[str, set[Path]] = {}

    def begin(self) -> None:
        """Forget what an earlier trace of the block has shown."""
        self._shared.clear()
        self._inside.clear()
        self._staying.clear()

    @staticmethod
    def originals_of(values: Iterable[Any], copies: Iterable[Any]) -> Originals:
        """Return by id the containers in copies, with what they are copies of."""
        found: dict[int, tuple[Any, Any]] = {}
        for one, copy in zip(values, copies, strict=True):
            if one is not copy:
                parts = dict(_containers((), one))
                found.update((id(part), (part, parts[path])) for path, part in _containers((), copy) if path in parts)
        return found

    def note_staying(self, name: str, before: Any, left: Any, originals: Originals) -> None:
        """Note which containers inside one still stand in their places at the end of a side, changed or not."""
        now = dict(_containers((), left))
        places = {
            path for path, one in _containers((), before) if path in now and _original(now[path], originals) is one
        }
        self._staying[name] = self._staying.get(name, places) & places

    def with_parts(self, name: str, before: Any, value: Any) -> Any:
        """Return what a block makes of a container, with those inside it that have stayed in their places.

        Where nobody looks for other ways to them, see `leave_aliased`, only those that have not changed.
        """
        return _with_parts(before, value, (), self._staying.get(name, set()))

    @staticmethod
    def leave_aliased(
        originals: Originals, before: Sequence[Any], roots: Iterable[Any], entry: Originals | None = None
    ) -> None:
        """Let plain Python run a block that changes a list or dict which it finds by another way, too.

        Parameters
        ----------
        originals : mapping
            What the containers that the block works on are copies of.
        before : sequence
            What the block begins with.
        roots : iterable
            What else it finds.
        entry : mapping, optional
            Of which they are copies in a loop's first iteration.

        Raises
        ------
        LeftToPython
        """
        world = WORLD.get()
        if world is None or not is_followed():
            return
        firsts = originals if entry is None else entry
        note_given([copy for copy, _ in originals.values()])
        changed = [firsts[key][1] for key, (copy, one) in originals.items() if key in firsts and not is_as(copy, one)]
        if not changed:
            return
        places: dict[int, list[Path]] = {}
        for k, value in enumerate(before):
            for path, part in _containers((k,), value):
                places.setdefault(id(part), []).append(path)
        twice = {key for key, paths in places.items() if len(paths) > 1 and max(map(len, paths)) > 1}
        found = world.reached(list(roots))
        if any(id(one) in found or id(one) in twice for one in changed):
            leave_unknown(
                "a list or dict is changed by a loop or branch on tensors that finds it by another name, or in another "
                "list or dict, too: let it use one of the ways only"
            )

    def share(
        self, names: Sequence[str], before: Sequence[Any], originals: Originals, left: Sequence[Any],
        new: Mapping[str, Any] = _NOTHING,
    ) -> None:  # fmt: skip
        """Note which values of a block hold one container at several places.

        Parameters
        ----------
        names, before, left : sequence
            As for :meth:`.containers_of_blocks.Rebound.compare`.
        originals : mapping
            What the containers that the block was given are copies of, see `originals_of`.
        new : mapping
            What else names stand for after the block.
        """
        self.begun(names, before)
        known = dict(shared_places(names, before, {})[1])
        shared, inside = shared_places((*names, *new), (*left, *new.values()), originals)
        self._shared += shared
        self._inside += [(path, part) for path, part in inside if known.get(path) is not part]

    def begun(self, names: Sequence[str], before: Sequence[Any]) -> None:
        """Note the same of what a block begins with, which may not run."""
        self._shared += shared_places(names, before, {})[0]

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
                    may_be(_spoken(other), its, one)
        for place, put in self._inside:
            one, grown = _at(named, place) if place[0] in named else (None, None)
            if grown is not None:
                note_begun(grown.name, [put])
            elif isinstance(one, CHANGING):
                may_be(_spoken(place), one, put)
        self._inside.clear()


def shared_places(names: Sequence[str], values: Sequence[Any], originals: Originals) -> _Places:
    """Return the places of containers that some values hold more than once, each with the first of it; and all places
    inside others.

    Parameters
    ----------
    names, values : sequence
    originals : mapping
        For which others containers stand.
    """
    firsts: dict[int, Path] = {}
    shared, inside = [], []
    for name, value in zip(_numbered(names), values, strict=False):
        for path, part in _containers((name,), value):
            original = _original(part, originals)
            first = firsts.setdefault(id(original), path)
            if first is not path:
                shared.append((first, path))
            if len(path) > 1:
                inside.append((path, original))
    return shared, inside


def _original(part: Any, originals: Originals) -> Any:
    return originals[id(part)][1] if id(part) in originals else part


def _with_parts(before: Any, value: Any, path: Path, staying: Collection[Path]) -> Any:
    """Return a container that a block has made, with parts of the one in whose place it stands."""
    parts, old = dict(_parts(value)), dict(_parts(before))
    new = {key: _part(old[key], one, (*path, key), staying) for key, one in parts.items() if key in old}
    changed = {key: one for key, one in new.items() if one is not parts[key]}
    if not isinstance(value, tuple):
        for key, one in changed.items():
            set_item(value, key, one)
        return value
    if len(new) == len(old) == len(parts) and all(new[key] is one for key, one in old.items()):
        return before
    kind: Any = type(value)
    made = [new.get(key, one) for key, one in parts.items()]
    return value if not changed else kind(made) if kind is tuple else kind(*made)


def _part(before: Any, value: Any, path: Path, staying: Collection[Path]) -> Any:
    kind = type(value)
    if value is before or kind is not type(before):
        return value
    if kind is tuple or hasattr(kind, "_fields"):
        return _with_parts(before, value, path, staying)
    if kind not in (list, dict, set, deque, *COPIED_DICTS) or path not in staying:
        return value
    value = _with_parts(before, value, path, staying)
    if is_as(value, before) or is_followed():
        fill(before, value)
        return before
    return value


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
        return enumerate(value)
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


def _spoken(path: Path) -> str:
    return repr(path[0][0]) + "".join(f"[{key!r}]" for key in path[1:])
