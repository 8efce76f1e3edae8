"""Which containers may be one: after a staged block a name stands for the list that it was, or for another one.

A graph gives the elements of either, so what stands behind the block is a third one, of the trace's own. As long as
none of them changes that is all there is to see. When one does, nobody knows any more what the others hold: they get
markers in place of their elements, and whoever asks for these is refused.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Sequence
from typing import Any, cast

from autoloop_runtime.base import nest
from autoloop_runtime.base.dataclass import dataclass, field, replace
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.ir.graph import current_graph

from ...left_to_python import WORLD, is_followed, refuse_unknown
from .container_contents import CONTAINERS, containers_in, copied, elements, fill, instance_attributes, is_as, set_own
from .standins import Maybe, is_growing, opened

#: what changes in place, and is another one behind a block
CHANGING = (*CONTAINERS, deque)
#: references to what nobody holds but a pair: that, and the argument of who counts
_ALONE = 2
#: those to one inside another: that, a list of parts, one of these, a variable, and the argument of who counts
_ALONE_INSIDE = 4


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two containers that may be one, and copies of them as they were when that was so.

    Attributes
    ----------
    name : str
        What messages call the first.
    key : object
        The same for all that tell of one pair, each from another time on.
    """

    name: str
    first: Any
    second: Any
    held: tuple[Any, Any]
    is_final: bool = False
    key: object = field(default_factory=object)

    def is_seen(self) -> bool:
        """Return whether anybody else still holds each of them."""
        return sys.getrefcount(self.first) > _ALONE and sys.getrefcount(self.second) > _ALONE

    def changed(self) -> tuple[bool, bool]:
        """Return which of them has changed."""
        return not is_as(self.held[0], _contents(self.first)), not is_as(self.held[1], _contents(self.second))


class MaybeSame:
    """The containers of one trace of which some may be one; a record of a graph."""

    def __init__(self) -> None:
        self.pairs: list[_Pair] = []
        #: whether some hold markers
        self.are_lost = False

    def copy(self) -> MaybeSame:
        """Return the same, which later changes of this one do not reach."""
        made = MaybeSame()
        made.pairs, made.are_lost = list(self.pairs), self.are_lost
        return made


def may_hold_containers(value: Any) -> bool:
    """Return whether a value is, or may hold, what changes in place."""
    return isinstance(value, (*CHANGING, tuple)) or _is_record(value)


def _contents(value: Any) -> Any:
    """Return a container, of a dataclass a dict of what it holds."""
    return instance_attributes(value) if _is_record(value) else value


def _is_record(value: Any) -> bool:
    return hasattr(type(value), "__dataclass_fields__")


def may_be(name: str, value: Any, other: Any, of_objects: bool = False, is_final: bool = False) -> None:
    """Note that what a name stands for after a block may be another container; dataclasses are if ``of_objects``.

    What ``is_final`` is what the function gives: in the runs in which it is that, nothing changes the other any more.
    """
    graph = current_graph()
    value, other = _there(value), _there(other)
    if graph is None or value is other:
        return
    is_one = isinstance(value, CHANGING) and isinstance(other, CHANGING)
    if is_one or (of_objects and _is_record(value) and type(value) is type(other)):
        graph.root.record(MaybeSame).pairs.append(
            _Pair(name, value, other, (copied(_contents(value)), copied(_contents(other))), is_final)
        )
    if isinstance(value, dict) and isinstance(other, dict):
        for key in [key for key in value if key in other]:
            may_be(f"the {nest.key_text(key)} of {name}", value[key], other[key], is_final=is_final)
    elif isinstance(value, (list, tuple, deque)) and isinstance(other, (list, tuple, deque)):
        for k, (one, its) in enumerate(zip(elements(value), elements(other))):
            may_be(f"the element {k} of {name}", one, its, is_final=is_final)
    elif _is_record(value) and type(value) is type(other):
        mine, its = instance_attributes(value), instance_attributes(other)
        for key in [key for key in mine if key in its]:
            may_be(f"the {nest.key_text(key)} of {name}", mine[key], its[key], is_final=is_final)


def part_inside(name: str, original: Any, value: Any) -> None:
    """Note which containers inside another one, that somebody else may hold, a block has put others in the place of."""
    if isinstance(original, dict) and isinstance(value, dict):
        parts = [(f"the {nest.key_text(key)} of {name}", original[key], value[key]) for key in original if key in value]
    elif isinstance(original, (list, tuple, deque)) and isinstance(value, (list, tuple, deque)):
        parts = [
            (f"the element {k} of {name}", *both) for k, both in enumerate(zip(elements(original), elements(value)))
        ]
    else:
        return
    for inner, one, its in parts:
        if its is one or _has_moved(one, its):
            continue
        if isinstance(one, CHANGING) and isinstance(its, CHANGING) and sys.getrefcount(one) > _ALONE_INSIDE:
            if is_as(copied(its), one):
                may_be(inner, its, one)
            else:
                lose(inner, one, its)
        else:
            part_inside(inner, one, its)


def _has_moved(value: Any, grown: Any) -> bool:
    """Return whether what is left of a list tells that its elements are in another one."""
    return is_growing(grown) and type(value) is list and len(value) == 1 and getattr(value[0], "grown", None) is grown


def _there(value: Any) -> Any:
    """Return the value of what may not be there."""
    while isinstance(value, Maybe):
        value = opened(value).value
    return value


def _known() -> MaybeSame | None:
    graph = current_graph()
    found = None if graph is None else graph.root.records.get(MaybeSame)
    return found if found is not None and found.pairs else None


def are_some() -> bool:
    """Return whether there are containers of which some may be one."""
    return _known() is not None


def are_maybe_same(one: Any, other: Any) -> bool:
    """Return whether two containers may be one."""
    return id(other) in maybe_same(one)


def maybe_same(one: Any) -> set[int]:
    """Return by id a container, and those that it may be."""
    known, group, size = _known(), {id(one)}, 0
    while known is not None and len(group) > size:
        size = len(group)
        for pair in known.pairs:
            if id(pair.first) in group or id(pair.second) in group:
                group |= {id(pair.first), id(pair.second)}
    return group


def leave_shared(value: Any) -> None:
    """Let plain Python copy a value if only the run knows how many lists and dicts it holds."""
    if are_some():
        parts = containers_in(value)
        found = {id(one) for one in parts}
        if any(not found.isdisjoint(maybe_same(one) - {id(one)}) for one in parts):
            refuse_unknown("a list or dict is copied that holds others which may be one", "copy its parts")


def forget() -> None:
    """Forget which containers may be one: a graph outlives what it holds of the program's."""
    if (known := _known()) is not None:
        known.pairs.clear()


def begin_block() -> tuple[list[Any], list[Any]]:
    """Let containers that may be one count from now on as unchanged: a block begins, whose values they hold. Return
    what :func:`end_block` takes."""
    known = _known()
    if known is None:
        return [], []
    before = known.pairs
    known.pairs = list(map(_as_now, before))
    return before, list(known.pairs)


def end_block(before: list[Any], inside: list[Any]) -> list[Any]:
    """Let the containers that may be one be those from before a block, which hold what they held, and its own, which
    are returned."""
    graph = current_graph()
    known = None if graph is None else graph.root.records.get(MaybeSame)
    if known is None:
        return []
    others = _keys(inside)
    own = [_as_now(one) for one in known.pairs if one.key not in others]
    known.pairs = before + own
    return own


def drop(pairs: list[Any]) -> None:
    """Forget what :func:`end_block` has returned: the block is traced again."""
    if pairs and (known := _known()) is not None:
        given_up = _keys(pairs)
        known.pairs = [one for one in known.pairs if one.key not in given_up]
    pairs.clear()


def _keys(pairs: list[Any]) -> set[object]:
    return {one.key for one in pairs}


def _as_now(pair: _Pair) -> _Pair:
    return replace(pair, held=(copied(_contents(pair.first)), copied(_contents(pair.second))))


def lose_changed() -> bool:
    """Let containers that may be ones that have changed hold markers; return whether there are some."""
    known, found = _known(), False
    while known is not None:
        for pair in known.pairs:
            is_first, is_second = pair.changed()
            if not pair.is_final and (is_first or is_second):
                known.pairs.remove(pair)
                found = True
                if is_first != is_second:
                    lose(pair.name, pair.second if is_first else pair.first, pair.first if is_first else pair.second)
                break
        else:
            known.pairs = [pair for pair in known.pairs if pair.is_seen()]
            break
    return found


def lose(name: str, value: Any, changed: Any) -> None:
    """Let a container hold markers: it may be one, under a name, that has changed.

    Raises
    ------
    TypeError
        Of a set, whose elements others compare with.
    """
    with undivided():
        from .moved_lists import MaybeChanged

    graph = current_graph()
    if graph is not None:
        graph.root.record(MaybeSame).are_lost = True
    marker = MaybeChanged(name)
    if isinstance(value, set):
        marker.refuse()
    if is_growing(value):
        value.arrays = cast(Any, marker)
    elif _is_record(value):
        for key in instance_attributes(value):
            set_own(value, key, marker)
    elif isinstance(value, dict):
        keys = dict.fromkeys([*value, *(changed if isinstance(changed, dict) else ())], marker)
        fill(value, keys or {marker: marker})
    else:
        fill(value, [marker] * max(len(value), len(changed) if isinstance(changed, list) else 0, 1))


def lose_all(name: str, values: Sequence[Any]) -> None:
    """Let containers hold markers, of which a trace does not follow what has become of them; sets where others find
    them."""
    for one in values:
        if not isinstance(one, set) or (is_followed() and WORLD.get().holds([one]) is not None):
            lose(name, one, one)
    lose_changed()  # what may be one of them is lost with it


def watched() -> None:
    """Leave it to plain Python if something that may be another list or dict has changed where nobody watches.

    That is by a statement such as ``del d[key]``; what has been read since may be wrong.

    Raises
    ------
    LeftToPython
    TypeError
        If plain Python cannot.
    """
    if lose_changed():
        refuse_unknown(
            "a list or dict is changed that may be another one, as a loop or branch decides", "change a copy of it"
        )


class MovedLists:
    """The lists of a graph whose elements are in others, which grow, by id with what tells of that in them."""

    def __init__(self) -> None:
        self.lists: dict[int, tuple[list[Any], Any]] = {}

    def copy(self) -> MovedLists:
        """Return the same, which later changes of this one do not reach."""
        made = MovedLists()
        made.lists = dict(self.lists)
        return made


def note_moved(value: list[Any]) -> None:
    """Note that a list tells from now on that its elements are in another one."""
    if (graph := current_graph()) is not None:
        graph.record(MovedLists).lists[id(value)] = value, value[0]


def check_moved() -> None:
    """Refuse, or leave to plain Python, that lists have changed whose elements are in others."""
    graph = current_graph()
    known = None if graph is None else graph.records.get(MovedLists)
    for value, moved in () if known is None else known.lists.values():
        if len(value) != 1 or value[0] is not moved:
            moved.refuse()


def settled(value: Any) -> Any:
    """Return the result of a trace at its end; refuse one, or leave it to plain Python, that holds markers."""
    check_moved()
    graph = current_graph()
    known = None if graph is None else graph.root.records.get(MaybeSame)
    if known is None:
        return value
    watched()
    if known.are_lost:
        with undivided():
            from .moved_lists import MaybeChanged

        for leaf in nest.flatten(value):
            if isinstance(leaf, MaybeChanged):
                leaf.refuse()
    if not is_followed():  # else whoever looks at what is left in the world forgets them
        forget()
    return value
