"""Where something stands that a function reads or writes: a way from what is known at each call to one value."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from autoloop_runtime.base.dataclass import dataclass


@dataclass(frozen=True, eq=False)
class Place:
    """One step from another place, or from what a call begins with.

    Attributes
    ----------
    kind : str
        ``call`` (the arguments), ``receiver`` (the instance of a method), ``value`` (an object known beforehand),
        ``global``, ``cell``, ``attribute``, ``member`` (of a class) or ``item``.
    parent : Place or None
        What it is an attribute, a member or an item of.
    key : object
        The name, index, namespace and name, or cell.
    name : str
        What messages call it.
    """

    kind: str
    parent: Place | None
    key: Any
    name: str

    @property
    def path(self) -> tuple[Any, ...]:
        """The same for every trace that means this place."""
        key = (id(self.key[0]), self.key[1]) if self.kind == "global" else self.key
        key = id(key) if self.kind in ("cell", "value") else key
        return (*(self.parent.path if self.parent is not None else ()), self.kind, key)

    def step(self, owner: Any) -> Any:
        """Return what stands here, in ``owner``."""
        if self.kind == "global":
            return self.key[0][self.key[1]]
        if self.kind == "cell":
            return self.key.cell_contents
        if self.kind == "value":
            return self.key
        if self.kind == "attribute":
            return getattr(owner, self.key)
        if self.kind == "member":
            return owner.__dict__[self.key]
        return owner[self.key]

    def find(self, call: tuple[Any, ...], receiver: Callable[[], Any] | None) -> Any:
        """Return what stands here in a call."""
        if self.kind == "call":
            return call
        if self.kind == "receiver":
            return receiver() if receiver is not None else None
        return self.step(self.parent.find(call, receiver) if self.parent is not None else None)

    def attribute(self, name: str) -> Place:
        """Return the place of an attribute."""
        return Place("attribute", self, name, f"{self.name}.{name}" if self.name else name)

    def item(self, key: Any) -> Place:
        """Return the place of an item."""
        return Place("item", self, key, f"{self.name}[{key!r}]")

    def member(self, name: str) -> Place:
        """Return the place of an attribute of a class."""
        return Place("member", self, name, f"{self.name}.{name}")


CALL = Place("call", None, None, "")
RECEIVER = Place("receiver", None, None, "self")


def put(owner: Any, name: str, value: Any) -> None:
    """Set an attribute of an object, or of a class, and run nothing of the user's."""
    if isinstance(owner, type):
        type.__setattr__(owner, name, value)
    elif isinstance(owner, types.FunctionType):
        setattr(owner, name, value)
    elif hasattr(owner, "__dict__") and not hasattr(getattr(type(owner), name, None), "__set__"):
        owner.__dict__[name] = value
    else:
        object.__setattr__(owner, name, value)


def take_away(owner: Any, name: str) -> None:
    """Delete an attribute of an object, or of a class, and run nothing of the user's."""
    if isinstance(owner, type):
        type.__delattr__(owner, name)
    elif name in getattr(owner, "__dict__", ()):
        del owner.__dict__[name]
    else:
        object.__delattr__(owner, name)


def set_at(place: Place, owner: Any, value: Any) -> None:
    """Let ``value`` stand at a place of ``owner``."""
    if place.kind == "global":
        place.key[0][place.key[1]] = value
    elif place.kind == "cell":
        place.key.cell_contents = value
    elif place.kind == "item":
        owner[place.key] = value
    else:
        put(owner, place.key, value)
