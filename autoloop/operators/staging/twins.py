"""Objects that may be one: what a staged block makes of an object's parts, and what stood under the name before.

Both hold the same values when the block is done, so which of them a name stands for nobody can tell, as long as neither
changes while the other is still there. That is asked at the end of a trace: where one does plain Python runs it all.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from autoloop_runtime.base.locations import capture
from autoloop_runtime.ir.graph import current_graph
from autoloop_runtime.ir.tracers import DecidedNumber, number_of

from ...left_to_python import LeftToPython, refuse_unknown
from .container_contents import ObjectsOfTrace, instance_attributes
from .instances import of_trace, side_by_side, taken_apart, which
from .standins import Maybe, opened

#: objects that a block has made, or what they were, and what each of them may be
Twins: TypeAlias = list[tuple[Any, Iterable[Any]]]

#: by id of an object, which others it may be
Origins: TypeAlias = dict[int, list[Any]]


class Watched:
    """An object, and what its attributes were: it is held only if it could not be looked at otherwise."""

    def __init__(self, value: Any) -> None:
        self._held = instance_attributes(value)
        self.number, self.name = id(value), type(value).__name__
        self._value, self._dict = value, getattr(value, "__dict__", None)
        self._reference: Any = None
        if self._dict is not None and len(self._dict) == len(self._held):
            self._reference, self._value = weakref.ref(value), None

    def get(self) -> Any:
        """Return the object, None if it is gone."""
        return self._value if self._reference is None else self._reference()

    def is_unchanged(self) -> bool:
        """Return whether its attributes are what they were; also of one that is gone."""
        now = instance_attributes(self._value) if self._reference is None else self._dict
        if now is None or len(now) != len(self._held):
            return False
        return all(name in now and now[name] is one for name, one in self._held.items())

    def refuse_changed(self) -> None:
        """Refuse an object that has changed, which stands in a loop's body for the one from before in one iteration."""
        if not self.is_unchanged():
            refuse_unknown(
                f"a {self.name} changes in a loop on tensors that lets its name stand for others, too",
                "let each iteration make a new one",
            )

    def tell(self, pair: Pair) -> Any:
        """Return what lets a pair know when this is gone."""
        value = self.get()
        return None if self._reference is None or value is None else weakref.ref(value, pair.over)


class Pair:
    """Two objects that may be one."""

    def __init__(self, one: Watched, other: Watched) -> None:
        self.one, self.other = one, other
        location = capture()
        self.line = location[-1] if location else None
        self._has_differed: bool | None = None
        self._told = one.tell(self), other.tell(self)

    def over(self, _: Any = None) -> None:
        """Note whether one of them has changed before the other was gone."""
        if self._has_differed is None:
            self._has_differed = self._differ()

    def _differ(self) -> bool:
        return not (self.one.is_unchanged() and self.other.is_unchanged())

    @property
    def is_over(self) -> bool:
        """Whether one of the two is gone."""
        return self._has_differed is not None

    @property
    def has_differed(self) -> bool:
        """Whether one of them has changed, and the other would have if they are one."""
        return self._differ() if self._has_differed is None else self._has_differed

    def holds(self, *values: Any) -> bool:
        """Return whether these are the two."""
        return {id(one) for one in values} == {self.one.number, self.other.number} and not self.is_over


def watch(made: Twins) -> None:
    """Note which objects may be one.

    Parameters
    ----------
    made : list
    """
    graph = current_graph()
    if graph is None or not made:
        return
    pairs = graph.root.record(ObjectsOfTrace).pairs
    firsts: dict[int, Watched] = {}
    for value, others in made:
        new = value if isinstance(value, Watched) else Watched(value)
        for other in others:
            if id(other) in firsts and firsts[id(other)] is not new:  # the other may be one object with both
                pairs.append(Pair(new, firsts[id(other)]))
            firsts.setdefault(id(other), new)
            if id(other) != new.number:
                pairs.append(Pair(new, Watched(other)))


def watch_copied(values: Iterable[Any]) -> None:
    """Note that a list that grows holds copies of objects: what changes in them does not change in it."""
    graph = current_graph()
    if graph is not None:
        graph.root.record(ObjectsOfTrace).pairs += [Pair(one, one) for one in map(Watched, values)]


def origins_of(made: Iterable[tuple[Any, Any]], variables: Iterable[tuple[Any, Any]]) -> Origins:
    """Return by id of the objects that loop variables stand for on entry which they may stand for in some iteration.

    Parameters
    ----------
    made : iterable
        The objects that stand for those in the body, each with that.
    variables : iterable
        The forms of the variables, and what the body leaves in them.
    """
    stands_for = {id(new): old for new, old in made}
    left: dict[int, list[Any]] = {}
    for form, value in variables:
        value = opened(value).value if isinstance(value, Maybe) else value
        for before, after in zip(taken_apart(form), taken_apart(side_by_side(form, value)[1]), strict=False):
            left.setdefault(id(before.kind.value), [before.kind.value]).append(after.kind.value)
    origins: Origins = {}
    for key in left:
        found: dict[int, Any] = {}
        todo = list(left[key])
        while todo:
            one = todo.pop()
            source = stands_for.get(id(one), one)
            if id(source) not in found:
                found[id(source)] = source
                todo += left.get(id(source), [])
        origins[key] = list(found.values())
    return origins


def pairs_of() -> list[Pair]:
    """Return the pairs of the present trace."""
    graph = current_graph()
    return [] if graph is None else graph.root.record(ObjectsOfTrace).pairs


def leave_differing(leaves: Sequence[Any]) -> None:
    """Let plain Python run a function that has changed an object of which only the run knows if it is another one, too.

    Parameters
    ----------
    leaves : sequence
        Its arguments.

    Raises
    ------
    LeftToPython
    TypeError
        If there are tensors among its arguments: plain Python would give other kinds of values.
    """
    for pair in pairs_of():
        if pair.has_differed:
            raise _left(pair, "changes", leaves)


def leave_left(is_left: Callable[[Any], bool], leaves: Sequence[Any]) -> None:
    """Do the same with a function that leaves two objects of which only the run knows if they are one.

    Parameters
    ----------
    is_left : callable
        Returns whether an object is of the world, is left there or given back.
    leaves : sequence
        The arguments.
    """
    for pair in pairs_of():
        one, other = pair.one.get(), pair.other.get()
        if pair.is_over or not (is_left(one) and is_left(other)) or _is_told(one, other) or _is_told(other, one):
            continue
        raise _left(pair, "is kept or given back", leaves)


def _is_told(one: Any, other: Any) -> bool:
    """Return whether the run tells if ``one`` is ``other``, an object of the world."""
    return which(one) is not None and any(other is found for found in of_trace().objects)


def _left(pair: Pair, what: str, leaves: Sequence[Any]) -> BaseException:
    text = (
        f"a {pair.one.name} {what} of which only a loop or branch on tensors decides whether it is one that has "
        f"another name, too"
    )
    if number_of(leaves) is DecidedNumber:
        return TypeError(f"{text}: let the loop or branch assign to the attributes of one {pair.one.name} [AL022]")
    return LeftToPython(text, pair.line, of_values=True)
