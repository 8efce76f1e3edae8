"""What the user's containers and objects hold: looked at, changed and copied without running anything of the user's."""

from __future__ import annotations

import contextlib
import operator
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from typing import Any

from autoloop_runtime.base import nest
from autoloop_runtime.ir.composite import composite_of
from autoloop_runtime.ir.tensor import Tensor

from ...conversion.callables import is_users_class
from .standins import Maybe, Rows, StandIn, is_growing, opened

#: what a staged block takes a copy of
CONTAINERS = (list, dict, set, Rows)
#: the dicts with classes of their own of which it can
COPIED_DICTS = (OrderedDict, defaultdict)
_ITERATED: tuple[Any, ...] = (dict, list, tuple, deque)
_NEW: Any = object.__new__
#: what is no instance that is made of its attributes
_OTHERS = (type, types.ModuleType, Enum, StandIn, Tensor)


class Standing:
    """What stands for an object in the values of a staged block."""

    __slots__ = ()


class Whole(Standing):
    """An object as one leaf."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return repr(self.value)


nest.opaque(Whole)


class ObjectsOfTrace:
    """What is known of the objects of a trace that staged blocks have made, and of those that they may be; a record of
    its graph.

    Attributes
    ----------
    is_of_world : callable or None
        Returns whether an object is there before the trace.
    objects : list
        Those of the world, of which others may be one.
    made : dict
        By id of an object that a block has made: what gives it, and which of them it is, see ``instances``.
    pairs : list
        Objects that may be one, see ``twins``.
    """

    def __init__(self) -> None:
        self.is_of_world: Callable[[Any], bool] | None = None
        self.objects: list[Any] = []
        self.made: dict[int, tuple[Any, Any]] = {}
        self.pairs: list[Any] = []

    def copy(self) -> ObjectsOfTrace:
        """Return the same, which later objects of this one do not reach."""
        made = ObjectsOfTrace()
        made.objects, made.made, made.pairs = list(self.objects), dict(self.made), list(self.pairs)
        made.is_of_world = self.is_of_world
        return made


class CopiesOfTrace:
    """What the lists that grow of a trace hold copies of, see ``copied_elements``; a record of its graph.

    Attributes
    ----------
    known : dict
        By id of a list, dict or object what is known of it.
    shared : list
        In which graph a list that grows got the elements of another one, and the names of both.
    arrays : dict
        What is known of arrays that were put in or taken out, see ``array_elements``.
    begun : list
        In which graphs lists that grow begin, their names, and with how many elements.
    moved : list
        In which graphs elements are put elsewhere than at the end, or taken off.
    """

    def __init__(self) -> None:
        self.known: dict[int, Any] = {}
        self.shared: list[tuple[Any, str, str]] = []
        self.arrays: dict[Any, Any] = {}
        self.begun: list[tuple[Any, str, int]] = []
        self.moved: list[Any] = []

    def copy(self) -> CopiesOfTrace:
        """Return the same, which later copies of this one do not reach."""
        made = CopiesOfTrace()
        made.known, made.shared, made.arrays = dict(self.known), list(self.shared), dict(self.arrays)
        made.begun, made.moved = list(self.begun), list(self.moved)
        return made


def dict_class(value: dict[Any, Any]) -> type[dict[Any, Any]]:
    """Return the class whose methods change a dict: one with an order of its own is broken by those of dict."""
    return OrderedDict if isinstance(value, OrderedDict) else dict


def set_item(value: Any, key: Any, element: Any) -> None:
    """Let an element of a container be another, as a class of the user's inherits it."""
    _base(value).__setitem__(value, key, element)


def delete_item(value: Any, key: Any) -> None:
    """Take an element out of a container."""
    _base(value).__delitem__(value, key)


def extend(value: Any, elements: Any) -> None:
    """Add elements behind those of a list or deque."""
    _base(value).extend(value, elements)


def _base(value: Any) -> Any:
    """Return the class of Python's whose methods change a container, or the class of what is none."""
    if isinstance(value, dict):
        return dict_class(value)
    return next((kind for kind in (list, deque) if isinstance(value, kind)), type(value))


def fill(value: Any, elements: Any) -> None:
    """Let a container hold other elements."""
    if isinstance(value, list):
        list.__setitem__(value, slice(None), elements)
    elif isinstance(value, bytearray):
        bytearray.__setitem__(value, slice(None), elements)
    elif isinstance(value, dict):
        kind = dict_class(value)
        kind.clear(value)
        for key, one in elements.items():
            kind.__setitem__(value, key, one)
    elif isinstance(value, set):
        set.clear(value)
        set.update(value, elements)
    elif isinstance(value, deque):
        deque.clear(value)
        deque.extend(value, elements)


def instance_attributes(value: Any) -> dict[str, Any]:
    """Return the attributes that an object itself has, those in slots among them."""
    found = dict(getattr(value, "__dict__", ()))
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name.startswith("__") and not name.endswith("__"):
                name = f"_{cls.__name__.lstrip('_')}{name}"
            if type(slot := cls.__dict__.get(name)) is types.MemberDescriptorType:  # nobody has put another there
                with contextlib.suppress(AttributeError):  # not set
                    found[name] = slot.__get__(value)
    return found


def put_in_order(owner: Any, names: Sequence[str]) -> None:
    """Let the attributes that an object itself has stand in an order; those that have no place in it come last."""
    own = getattr(owner, "__dict__", None)
    if type(own) is dict:
        order = [*[name for name in names if name in own], *[name for name in own if name not in names]]
        if list(own) != order:
            for name in order:
                own[name] = own.pop(name)


def containers_in(value: Any) -> list[Any]:
    """Return the lists, dicts, sets and deques in a value and in what its objects hold, itself included."""
    found: list[Any] = []
    todo, seen = [value], set[int]()
    while todo:
        one = todo.pop()
        while isinstance(one, Maybe):
            one = opened(one).value
        is_container = isinstance(one, list | deque | dict | set) or is_growing(one)
        if id(one) in seen or not (is_container or isinstance(one, tuple) or is_instance(one)):
            continue
        seen.add(id(one))
        found += [one] if is_container else []
        if isinstance(one, _ITERATED):
            todo.extend(elements(one))
        elif not is_container:
            todo += instance_attributes(one).values()
    return found


def elements(container: Any) -> Iterable[Any]:
    """Return what a dict, list, tuple or deque holds, as its built-in class says: its own may do anything when it is
    iterated over, and a shape of unknown rank refuses to be.
    """
    if isinstance(container, dict):
        return dict_class(container).values(container)
    made: Iterable[Any] = next(of for of in _ITERATED if isinstance(container, of)).__iter__(container)
    return made


def is_instance(value: Any) -> bool:
    """Return whether a value is an object of a class of the user's that is made of its attributes and nothing else."""
    cls = type(value)
    if getattr(cls, "__new__", None) is not _NEW or isinstance(value, _OTHERS):
        return False
    return is_users_class(cls) and composite_of(value) is None


def mapped(value: Any, one: Callable[[Any], Any]) -> Any:
    """Return a value with ``one`` of each element of its containers; itself if these stay what they are."""
    kind = type(value)
    if isinstance(value, tuple) and (kind is tuple or hasattr(kind, "_fields")):
        parts = [one(part) for part in tuple.__iter__(value)]
        if all(new is old for new, old in zip(parts, tuple.__iter__(value), strict=True)):
            return value
        return nest.like(value, parts)
    if kind is list:
        parts = [one(part) for part in value]
        return value if all(new is old for new, old in zip(parts, value, strict=True)) else parts
    if kind is dict:
        made = {key: one(part) for key, part in value.items()}
        return value if all(made[key] is part for key, part in value.items()) else made
    return value


def whole(value: Any) -> Any:
    """Return a value with its objects as leaves."""
    return Whole(value) if is_instance(value) else mapped(value, whole)


def objects_in(value: Any) -> Iterator[Any]:
    """Yield the objects in a value, and those that they hold, each once."""
    seen: dict[int, Any] = {}
    todo = [value]
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        if is_instance(one):
            seen[id(one)] = one
            yield one
            todo += instance_attributes(one).values()
        elif isinstance(one, dict | list | tuple):
            seen[id(one)] = one
            todo.extend(elements(one))


def has_objects(value: Any) -> bool:
    """Return whether a value is, or its containers hold, an object or what stands for one."""
    if isinstance(value, tuple | list | dict):
        return any(map(has_objects, elements(value)))
    return isinstance(value, Standing) or is_instance(value)


def of_wholes(value: Any) -> Any:
    """Return a value with the objects themselves in place of the leaves that they are."""
    return value.value if isinstance(value, Whole) else mapped(value, of_wholes)


def copied(value: Any) -> Any:
    """Return a structure with containers of its own, so that tracing one side does not change the other."""
    if is_growing(value):
        return value.alike()
    if is_instance(value):
        return value  # whose attributes are places of their own
    if isinstance(value, list | dict | tuple) or nest.is_nested(value):
        leaves, structure = nest.flatten_with_structure(whole(value))
        made = nest.unflatten(
            structure,
            [one.copy() if isinstance(one, set) else one.alike() if is_growing(one) else one for one in leaves],
        )
        return of_wholes(made)
    return value.copy() if type(value) is set else value


def is_as(copy: Any, original: Any) -> bool:
    """Return whether a copy still holds what it was made of."""
    if is_growing(copy):
        mine, its = copy.arrays, original.arrays if is_growing(original) else None
        return type(mine) is list and type(its) is list and all(map(operator.is_, mine, its))
    if isinstance(copy, set):
        return bool(copy == original)
    mine, structure = nest.flatten_with_structure(whole(copy))
    others, other = nest.flatten_with_structure(whole(original))
    return bool(structure == other) and all(map(_is_one, mine, others))


def _is_one(leaf: Any, other: Any) -> bool:
    return leaf is other or (type(leaf) is type(other) is Whole and leaf.value is other.value)


# -- the attributes that an object itself holds, whatever its class says of their names -------------------------------
#
# ``o.k`` asks a property of the class, or another descriptor that sets, before it looks into ``o``; such a one often
# keeps its value in ``o`` under the very same name. What is held there is found and set here, not what ``o.k`` gives.


def in_class(kind: type, name: str) -> Any:
    """Return what a class has under a name, or None; asking runs nothing of the user's."""
    for cls in kind.__mro__:
        if name in cls.__dict__:
            return cls.__dict__[name]
    return None


def is_data_descriptor(value: Any) -> bool:
    """Return whether what stands in a class is called where the attribute is set or deleted."""
    return hasattr(type(value), "__set__") or hasattr(type(value), "__delete__")


def is_property(kind: type, name: str) -> bool:
    """Return whether an attribute of a class comes before that of its objects."""
    return is_data_descriptor(in_class(kind, name))


def is_covered(owner: Any, name: str) -> bool:
    """Return whether an attribute that an object itself holds is not what it is asked for under its name."""
    found = in_class(type(owner), name)
    if type(found) is types.MemberDescriptorType or isinstance(owner, type | types.ModuleType):
        return False
    return is_data_descriptor(found) or _slot(owner, name) is not None


def own_attribute(owner: Any, name: str) -> Any:
    """Return an attribute that an object itself holds.

    Raises
    ------
    KeyError, AttributeError
        If it does not.
    """
    slot = _slot(owner, name)
    return owner.__dict__[name] if slot is None else slot.__get__(owner)


def set_own(owner: Any, name: str, value: Any) -> None:
    """Let an object hold something under a name."""
    slot = _slot(owner, name)
    if slot is not None:
        slot.__set__(owner, value)
    elif type(held := getattr(owner, "__dict__", None)) is dict:
        held[name] = value
    else:
        object.__setattr__(owner, name, value)


def delete_own(owner: Any, name: str) -> None:
    """Let an object hold nothing under a name."""
    if name in getattr(owner, "__dict__", ()):
        del owner.__dict__[name]
    elif (slot := _slot(owner, name)) is not None:
        slot.__delete__(owner)
    else:
        object.__delattr__(owner, name)


def _slot(owner: Any, name: str) -> Any:
    """Return the slot, of a class of an object, in which it holds an attribute; None if there is none."""
    for cls in type(owner).__mro__:
        if type(found := cls.__dict__.get(name)) is types.MemberDescriptorType:
            return found
    return None
