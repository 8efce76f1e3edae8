"""Objects of the user's classes for which a staged block lets names stand anew: the block takes and gives their parts.

A name that stands for the same object at the end of a block as before is left alone, whatever has become of the
object's attributes, which are places of their own. Where it stands for another one the block gives the values of the
attributes, and an object is made of them when it is done. It may have been the one from before: see ``twins``.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from autoloop_runtime.base import nest
from autoloop_runtime.ir.graph import current_graph

from ...left_to_python import leave_unknown, refuse_unknown
from .container_contents import (
    ObjectsOfTrace,
    Standing,
    Whole,
    elements,
    instance_attributes,
    is_instance,
    mapped,
    set_own,
    whole,
)
from .containers_of_blocks import leave_containers

#: an object in an object in an object is taken apart, what is deeper is left as it is
_DEEPEST = 4
#: what is left as it is if it holds more
_MOST_ATTRIBUTES = 64


class Kind:
    """The class of an object, and its attributes: of two objects of one kind a run can choose one.

    Attributes
    ----------
    cls : type
    names : tuple of str
    value : object
        The object itself, which says nothing of the kind.
    """

    __slots__ = ("cls", "names", "value")

    def __init__(self, cls: type, names: tuple[str, ...], value: Any) -> None:
        self.cls, self.names, self.value = cls, names, value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kind) and self.cls is other.cls and self.names == other.names

    def __hash__(self) -> int:
        return hash((self.cls, self.names))

    def __repr__(self) -> str:
        return self.cls.__name__


class Apart(Standing):
    """An object as the structure of its attributes.

    Attributes
    ----------
    kind : Kind
    parts : sequence
        Which object of the world it is, see ``which``, and its attributes.
    """

    __slots__ = ("kind", "parts")

    def __init__(self, kind: Kind, parts: Sequence[Any]) -> None:
        self.kind, self.parts = kind, parts


class Row(Apart):
    """An object in a list that grows: its attributes alone."""

    __slots__ = ()


def _children(one: Apart) -> tuple[Any, ...]:
    """Return the parts, the kind, and how messages call the parts: attributes are the last."""
    names = ["which"] * (len(one.parts) - len(one.kind.names)) + [*one.kind.names]
    return one.parts, one.kind, tuple(map(nest.Attribute, names))


nest.register(Apart, _children, lambda kind, parts: Apart(kind, list(parts)))
nest.register(Row, _children, lambda kind, parts: Row(kind, list(parts)))


def of_trace() -> ObjectsOfTrace:
    """Return what is known of the objects of the present trace."""
    graph = current_graph()
    return ObjectsOfTrace() if graph is None else graph.root.record(ObjectsOfTrace)


def which(value: Any) -> Any:
    """Return which object of the world a value is, from 1 on, or 0 for none, as the run may tell; None: surely none."""
    known = of_trace()
    reference, found = known.made.get(id(value), (None, None))
    if reference is not None and reference() is value:
        return found
    if known.is_of_world is None or not known.is_of_world(value):
        return None
    place = next((k for k, one in enumerate(known.objects) if one is value), len(known.objects))
    if place == len(known.objects):
        known.objects.append(value)
    return place + 1


def _note(value: Any, found: Any) -> None:
    """Note which object of the world a new one may be."""
    if found is not None:
        try:
            of_trace().made[id(value)] = weakref.ref(value), found
        except TypeError:
            of_trace().made[id(value)] = (lambda: value), found


def apart(value: Any, around: tuple[Any, ...] = ()) -> Any:
    """Return a value with its objects taken apart; those that hold themselves are leaves there."""
    if not is_instance(value):
        return mapped(value, lambda one: apart(one, around))
    held = instance_attributes(value)
    if any(one is value for one in around) or len(around) >= _DEEPEST or len(held) > _MOST_ATTRIBUTES:
        return Whole(value)
    parts = [apart(one, (*around, value)) for one in held.values()]
    return Apart(Kind(type(value), tuple(held), value), [which(value), *parts])


def as_rows(value: Any, around: tuple[Any, ...] = ()) -> Any:
    """Return an element of a list that grows with its objects as rows.

    Raises
    ------
    TypeError
        If it holds objects of the world, which the list would have to give back, or some that hold themselves.
    """
    if not is_instance(value):
        return mapped(value, lambda one: as_rows(one, around))
    held = instance_attributes(value)
    if which(value) is not None or any(one is value for one in around) or len(around) >= _DEEPEST:
        refuse_unknown(
            f"a {type(value).__name__} that is not of the function's own is put in a list that grows in a loop or "
            f"branch on tensors",
            "append its attributes, or a new one",
        )
    return Row(Kind(type(value), tuple(held), None), [as_rows(one, (*around, value)) for one in held.values()])


def of_rows(value: Any, made: list[Any]) -> Any:
    """Return an element with objects made of its rows, which ``made`` gets."""
    if not isinstance(value, Row):
        return mapped(value, lambda one: of_rows(one, made))
    new: Any = object.__new__(value.kind.cls)
    for name, part in zip(value.kind.names, value.parts, strict=True):
        set_own(new, name, of_rows(part, made))
    made.append(new)
    return new


def together(one: Any, other: Any) -> tuple[Any, Any]:
    """Return what two sides of a branch leave, both taken apart, with the objects that both leave as leaves."""
    if isinstance(one, Apart) and isinstance(other, Apart):
        if one.kind.value is other.kind.value:
            same = Whole(one.kind.value)
            return same, same
        if one.kind != other.kind:
            return Whole(one.kind.value), Whole(other.kind.value)
        pairs = [together(*both) for both in zip(one.parts[1:], other.parts[1:], strict=True)]
        pairs.insert(0, _told(one.parts[0], other.parts[0]))
        return Apart(one.kind, [pair[0] for pair in pairs]), Apart(other.kind, [pair[1] for pair in pairs])
    if type(one) is not type(other) or type(one) not in (list, tuple, dict) or len(one) != len(other):
        return one, other
    if isinstance(one, dict):
        if list(one) != list(other):
            return one, other
        every = {key: together(one[key], other[key]) for key in one}
        return {key: pair[0] for key, pair in every.items()}, {key: pair[1] for key, pair in every.items()}
    pairs = [together(*both) for both in zip(one, other, strict=True)]
    return type(one)([pair[0] for pair in pairs]), type(one)([pair[1] for pair in pairs])


def side_by_side(form: Any, value: Any) -> tuple[Any, Any]:
    """Return what a loop's variable is on entry, and what an iteration makes of it, with objects taken apart where
    they are not the same.

    Parameters
    ----------
    form : object
        The value on entry, with its objects as leaves, or apart already; it is returned where nothing is to be done.
    value : object
        What the iteration gives.
    """
    if isinstance(value, Apart | Whole):
        return form, value
    if isinstance(form, Whole):
        if form.value is value or not is_instance(value) or not _is_of_one_kind(form.value, value):
            return form, whole(value)
        held = instance_attributes(form.value)
        parts = [which(form.value), *map(whole, held.values())]
        form = Apart(Kind(type(form.value), tuple(held), form.value), parts)
    if isinstance(form, Apart):
        if not is_instance(value) or form.kind != Kind(type(value), tuple(instance_attributes(value)), value):
            return form, apart(value)
        pairs = [side_by_side(*both) for both in zip(form.parts[1:], instance_attributes(value).values(), strict=True)]
        pairs.insert(0, _told(form.parts[0], which(value)))
        made = Apart(Kind(form.kind.cls, form.kind.names, value), [pair[1] for pair in pairs])
        if all(pair[0] is part for pair, part in zip(pairs, form.parts, strict=True)):
            return form, made
        return Apart(form.kind, [pair[0] for pair in pairs]), made
    if type(form) is not type(value) or type(form) not in (list, tuple, dict) or len(form) != len(value):
        return form, whole(value)
    if isinstance(form, dict):
        if form.keys() != value.keys():
            return form, whole(value)
        every = {key: side_by_side(form[key], one) for key, one in value.items()}
        forms = {key: every[key][0] for key in form}
        same = all(forms[key] is one for key, one in form.items())
        return form if same else forms, {key: pair[1] for key, pair in every.items()}
    pairs = [side_by_side(*both) for both in zip(form, value, strict=True)]
    same = all(pair[0] is one for pair, one in zip(pairs, form, strict=True))
    return form if same else type(form)([pair[0] for pair in pairs]), type(form)([pair[1] for pair in pairs])


def _told(one: Any, other: Any) -> tuple[Any, Any]:
    if one is None and other is None:
        return None, None
    return 0 if one is None else one, 0 if other is None else other


def _is_of_one_kind(one: Any, other: Any) -> bool:
    held = instance_attributes(one)
    return type(one) is type(other) and list(held) == list(instance_attributes(other)) and len(held) <= _MOST_ATTRIBUTES


def kept_whole(value: Any, is_of_block: Callable[[Any], bool]) -> Any:
    """Return a value with those objects apart only that hold something of a block."""
    if not isinstance(value, Apart):
        return mapped(value, lambda one: kept_whole(one, is_of_block))
    if not any(map(is_of_block, nest.flatten(value))):
        return Whole(value.kind.value)
    return Apart(value.kind, [kept_whole(one, is_of_block) for one in value.parts])


def of_sides(
    one: Any, other: Any, absent: Sequence[bool], is_of_block: Callable[[int, Any], bool]
) -> tuple[Any, Any, dict[int, list[Any]]]:
    """Return what two sides of a branch leave with the objects apart of which the run makes others.

    Parameters
    ----------
    one, other : object
        Both taken apart.
    absent : sequence of bool
        Which of the two is none.
    is_of_block : callable
        Returns whether one of the sides, 0 or 1, has made a leaf.

    Returns
    -------
    one, other : object
    objects : dict
        By id of an object of the first that is apart, what stands in its place on either side.
    """
    if any(absent):
        side = int(absent[0])
        kept = kept_whole(other if side else one, lambda leaf: is_of_block(side, leaf))
        one, other = (one, kept) if side else (kept, other)
        pairs = [(part, part) for part in taken_apart(kept)]
    else:
        one, other = together(one, other)
        pairs = list(zip(taken_apart(one), taken_apart(other), strict=False))
    objects: dict[int, list[Any]] = {}
    for first, second in pairs:
        objects.setdefault(id(first.kind.value), []).extend((first.kind.value, second.kind.value))
    return one, other, objects


def as_objects(value: Any) -> Any:
    """Return a value with the objects that were taken apart, or stand in leaves."""
    if isinstance(value, Apart):
        return value.kind.value
    return value.value if isinstance(value, Whole) else mapped(value, as_objects)


def assembled(value: Any, made: list[tuple[Any, Any]]) -> Any:
    """Return a value with objects made of those that are taken apart.

    Parameters
    ----------
    value : object
    made : list
        Gets each new object, and the one of which that has the place.
    """
    if isinstance(value, Whole):
        return value.value
    if not isinstance(value, Apart):
        return mapped(value, lambda one: assembled(one, made))
    new: Any = object.__new__(value.kind.cls)
    _note(new, value.parts[0])
    for name, part in zip(value.kind.names, value.parts[1:], strict=True):
        set_own(new, name, assembled(part, made))  # a method of the user's has done what it does
    made.append((new, value.kind.value))
    return new


def taken_apart(value: Any) -> Iterator[Apart]:
    """Yield the objects in a value that are taken apart."""
    if isinstance(value, Apart):
        yield value
        for part in value.parts:
            yield from taken_apart(part)
    elif isinstance(value, dict | list | tuple):
        for part in elements(value):
            yield from taken_apart(part)


def _leave_perhaps_object(name: str, one: Any, other: Any) -> None:
    """Let plain Python run the function if an object holds another one, or something else, as the run decides."""
    if isinstance(one, Apart) is not isinstance(other, Apart):
        found, other = (one, other) if isinstance(one, Apart) else (other, one)
        what = "None" if other is None else f"one of {type(other).__name__!r}"
        leave_unknown(
            f"{name!r} is an object of {found.kind.cls.__name__!r} or {what} after a loop or branch on tensors"
        )


def leave_objects(name: str, one: Any, other: Any) -> None:
    """Let plain Python run the function if a name stands for objects of several kinds after a block.

    Parameters
    ----------
    name : str
        What messages call the value.
    one, other : object
        The two values of it, with their objects as leaves or taken apart.
    """
    if isinstance(one, Apart) and isinstance(other, Apart) and one.kind == other.kind:
        for attribute, *both in zip(one.kind.names, one.parts[1:], other.parts[1:], strict=True):
            _leave_perhaps_object(f"{name}.{attribute}", *both)
            leave_objects(f"{name}.{attribute}", *both)
            leave_containers(f"{name}.{attribute}", *both)
    elif isinstance(one, Apart | Whole) and isinstance(other, Apart | Whole):
        values = as_objects(one), as_objects(other)
        if values[0] is not values[1]:
            first, second = (type(value).__name__ for value in values)
            leave_unknown(
                f"{name!r} stands for a {first} or for a {second} of another form after a loop or branch on tensors"
            )
    elif (
        one is not other
        and type(one) is type(other)
        and isinstance(one, list | tuple | dict)
        and len(one) == len(other)
    ):
        keys = one if isinstance(one, dict) else range(len(one))
        for key in keys:
            if not isinstance(other, dict) or key in other:
                leave_objects(f"{name}[{nest.key_text(key)}]", one[key], other[key])
