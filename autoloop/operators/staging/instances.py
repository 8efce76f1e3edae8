"""Objects of the user's classes for which a staged block lets names stand anew: the block takes and gives their parts.

A name that stands for the same object at the end of a block as before is left alone, whatever has become of the
object's attributes, which are places of their own. Where it stands for another one the block gives the values of the
attributes, and an object is made of them when it is done. It may have been the one from before: see ``twins``.
"""

from __future__ import annotations

import contextlib
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import Any

from autoloop_runtime.base import nest
from autoloop_runtime.ir.composite import composite_of
from autoloop_runtime.ir.graph import current_graph
from autoloop_runtime.ir.tensor import Tensor

from ...conversion.callables import is_users_class
from .standins import StandIn

#: an object in an object in an object is taken apart, what is deeper is left as it is
_DEEPEST = 4
_NEW: Any = object.__new__
_OTHERS = (type, types.ModuleType, Enum, StandIn, Tensor)
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


class Apart:
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


class Identities:
    """Which objects of a trace may be objects of its world; a record of its graph.

    Attributes
    ----------
    objects : list
        Those of the world, of which others may be one.
    is_of_world : callable or None
        Returns whether an object is there before the trace.
    """

    def __init__(self) -> None:
        self.is_of_world: Callable[[Any], bool] | None = None
        self.objects: list[Any] = []
        self._known: dict[int, tuple[Any, Any]] = {}

    def copy(self) -> Identities:
        """Return the same, which later objects of this one do not reach."""
        made = Identities()
        made.objects, made._known, made.is_of_world = list(self.objects), dict(self._known), self.is_of_world
        return made

    def of(self, value: Any) -> Any:
        """Return which object of the world a value is, from 1 on, or 0 for none, as the run may tell; None if surely
        for none."""
        known = self._known.get(id(value))
        if known is not None and known[0]() is value:
            return known[1]
        if self.is_of_world is None or not self.is_of_world(value):
            return None
        place = next((k for k, one in enumerate(self.objects) if one is value), len(self.objects))
        if place == len(self.objects):
            self.objects.append(value)
        return place + 1

    def note(self, value: Any, which: Any) -> None:
        """Note which object of the world a new one may be."""
        if which is not None:
            try:
                self._known[id(value)] = weakref.ref(value), which
            except TypeError:
                self._known[id(value)] = (lambda: value), which


def identities() -> Identities:
    """Return which objects of the present trace may be objects of its world."""
    graph = current_graph()
    return Identities() if graph is None else graph.root.record(Identities)


class Whole:
    """An object as one leaf."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return repr(self.value)


nest.register(Apart, lambda one: (one.parts, one.kind), lambda kind, parts: Apart(kind, list(parts)))
nest.opaque(Whole)


def instance_attributes(value: Any) -> dict[str, Any]:
    """Return the attributes that an object itself has, those in slots among them."""
    found = dict(getattr(value, "__dict__", ()))
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            with contextlib.suppress(AttributeError):  # not set
                if name.startswith("__") and not name.endswith("__"):
                    name = f"_{cls.__name__.lstrip('_')}{name}"
                if not name.startswith("__"):
                    found[name] = cls.__dict__[name].__get__(value)
    return found


def is_instance(value: Any) -> bool:
    """Return whether a value is an object of a class of the user's that is made of its attributes and nothing else."""
    cls = type(value)
    if getattr(cls, "__new__", None) is not _NEW or isinstance(
        value, type | types.ModuleType | Enum | StandIn | Tensor
    ):
        return False
    return is_users_class(cls) and composite_of(value) is None and cls not in (Apart, Whole)


def _mapped(value: Any, one: Callable[[Any], Any]) -> Any:
    """Return a value with ``one`` of each element of its containers; itself if these stay what they are."""
    kind = type(value)
    if isinstance(value, tuple) and (kind is tuple or hasattr(kind, "_fields")):
        parts = [one(part) for part in tuple.__iter__(value)]
        if all(new is old for new, old in zip(parts, tuple.__iter__(value), strict=True)):
            return value
        return tuple(parts) if kind is tuple else kind(*parts)
    if kind is list:
        parts = [one(part) for part in value]
        return value if all(new is old for new, old in zip(parts, value, strict=True)) else parts
    if kind is dict:
        made = {key: one(part) for key, part in value.items()}
        return value if all(made[key] is part for key, part in value.items()) else made
    return value


def whole(value: Any) -> Any:
    """Return a value with its objects as leaves."""
    return Whole(value) if is_instance(value) else _mapped(value, whole)


def apart(value: Any, around: tuple[Any, ...] = ()) -> Any:
    """Return a value with its objects taken apart; those that hold themselves are leaves there."""
    if not is_instance(value):
        return _mapped(value, lambda one: apart(one, around))
    held = instance_attributes(value)
    if any(one is value for one in around) or len(around) >= _DEEPEST or len(held) > _MOST_ATTRIBUTES:
        return Whole(value)
    parts = [apart(one, (*around, value)) for one in held.values()]
    return Apart(Kind(type(value), tuple(held), value), [identities().of(value), *parts])


def together(one: Any, other: Any) -> tuple[Any, Any]:
    """Return what two sides of a branch leave, both taken apart, with the objects that both leave as leaves."""
    if isinstance(one, Apart) and isinstance(other, Apart):
        if one.kind.value is other.kind.value:
            same = Whole(one.kind.value)
            return same, same
        if one.kind != other.kind:
            return Whole(one.kind.value), Whole(other.kind.value)
        pairs = [together(*both) for both in zip(one.parts[1:], other.parts[1:], strict=True)]
        pairs.insert(0, _which(one.parts[0], other.parts[0]))
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
        parts = [identities().of(form.value), *map(whole, held.values())]
        form = Apart(Kind(type(form.value), tuple(held), form.value), parts)
    if isinstance(form, Apart):
        if not is_instance(value) or form.kind != Kind(type(value), tuple(instance_attributes(value)), value):
            return form, apart(value)
        pairs = [side_by_side(*both) for both in zip(form.parts[1:], instance_attributes(value).values(), strict=True)]
        pairs.insert(0, _which(form.parts[0], identities().of(value)))
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


def _which(one: Any, other: Any) -> tuple[Any, Any]:
    if one is None and other is None:
        return None, None
    return 0 if one is None else one, 0 if other is None else other


def _is_of_one_kind(one: Any, other: Any) -> bool:
    held = instance_attributes(one)
    return type(one) is type(other) and list(held) == list(instance_attributes(other)) and len(held) <= _MOST_ATTRIBUTES


def kept_whole(value: Any, is_of_block: Callable[[Any], bool]) -> Any:
    """Return a value with those objects apart only that hold something of a block."""
    if not isinstance(value, Apart):
        return _mapped(value, lambda one: kept_whole(one, is_of_block))
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
    return value.value if isinstance(value, Whole) else _mapped(value, as_objects)


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
        return _mapped(value, lambda one: assembled(one, made))
    new: Any = object.__new__(value.kind.cls)
    identities().note(new, value.parts[0])
    for name, part in zip(value.kind.names, value.parts[1:], strict=True):
        object.__setattr__(new, name, assembled(part, made))  # a method of the user's has done what it does
    made.append((new, value.kind.value))
    return new


def taken_apart(value: Any) -> Iterator[Apart]:
    """Yield the objects in a value that are taken apart."""
    if isinstance(value, Apart):
        yield value
        for part in value.parts:
            yield from taken_apart(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from taken_apart(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from taken_apart(part)
