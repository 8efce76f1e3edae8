"""Where something stands that a function reads or writes: a way from what is known at each call to one value."""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from autoloop_runtime.base import nest
from autoloop_runtime.base.dataclass import dataclass

from ..operators.staging.container_contents import delete_item, delete_own, is_covered, own_attribute, set_item, set_own


@dataclass(frozen=True, eq=False)
class Place:
    """One step from another place, or from what a call begins with.

    Attributes
    ----------
    kind : str
        ``call`` (the arguments), ``receiver`` (the instance of a method), ``value`` (an object known beforehand),
        ``global``, ``closure`` (one cell of a function's), ``cell`` (what a cell holds), ``attribute``, ``own`` (an
        attribute where the class has a descriptor of its name), ``member`` (of a class) or ``item``.
    parent : Place or None
        What it is an attribute, a member or an item of; of what a cell holds the cell, where each call finds that.
    key : object
        The name, index, namespace and name, or a cell that is the same at each call.
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
        key = id(key) if self.kind in ("cell", "value") and self.parent is None else key
        return (*(self.parent.path if self.parent is not None else ()), self.kind, key)

    def step(self, owner: Any) -> Any:
        """Return what stands here, in ``owner``."""
        return self.key if self.kind == "value" else _STEPS[self.kind].get(owner, self.key)

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
        return Place("item", self, key, f"{self.name}[{nest.key_text(key)}]")

    def part(self, kind: str, key: Any, value: Any) -> Place:
        """Return the place of what something of a library holds, see ``parts_of``."""
        if kind == "attribute":
            return Place("attribute", self, key, "self" if key == "instance" else f"{self.name}.{key}")
        return Place("cell", None, key[1], key[0]) if kind == "cell" else Place("value", None, value, self.name)

    def closed_over(self, index: int, name: str) -> Place:
        """Return the place of a variable of a function's closure."""
        return Place("cell", Place("closure", self, index, name), None, name)

    def member(self, name: str) -> Place:
        """Return the place of an attribute of a class."""
        return Place("member", self, name, f"{self.name}.{name}")


#: kinds of places that code has a name for
NAMED = ("global", "cell", "attribute", "own", "member")
CALL = Place("call", None, None, "")
RECEIVER = Place("receiver", None, None, "self")


def name_at(place: Place) -> str:
    """Return the name that code has for a place of one of these kinds."""
    name: str = place.key[1] if place.kind == "global" else place.name if place.kind == "cell" else place.key
    return name


def put(owner: Any, name: str, value: Any) -> None:
    """Set an attribute of an object, or of a class, and run nothing of the user's."""
    if isinstance(owner, type):
        type.__setattr__(owner, name, value)
    elif isinstance(owner, types.FunctionType):
        setattr(owner, name, value)
    elif isinstance(owner, functools.partial) and name == "args":
        functools.partial.__setstate__(owner, (owner.func, value, owner.keywords, owner.__dict__))  # type: ignore[attr-defined]
    else:
        set_own(owner, name, value)


def take_away(owner: Any, name: str) -> None:
    """Delete an attribute of an object, or of a class, and run nothing of the user's."""
    if isinstance(owner, type):
        type.__delattr__(owner, name)
    else:
        delete_own(owner, name)


def held_at(place: Place, owner: Any, name: str) -> Place:
    """Return the place of an attribute of ``owner`` itself, an object or a class, which stands at ``place``."""
    if isinstance(owner, type):
        return place.member(name)
    inner = place.attribute(name)
    return Place("own", place, name, inner.name) if is_covered(owner, name) else inner


def set_at(place: Place, owner: Any, value: Any) -> None:
    """Let ``value`` stand at a place of ``owner``."""
    _STEPS[place.kind].set(owner, place.key, value)


def unset_at(place: Place, owner: Any) -> None:
    """Let nothing stand at a place of ``owner``."""
    _STEPS[place.kind].unset(owner, place.key)


def text_of(place: Place, owner: str, bind: Callable[[Any], str]) -> str:
    """Return the expression for what stands at a place of what ``owner`` names; ``bind`` gives objects a name."""
    return _STEPS[place.kind].text(owner, place.key, bind)


def _stays(*_: Any) -> NoReturn:
    raise AssertionError("a function keeps the cells that it is closed over")


@dataclass(frozen=True)
class _Step:
    """What one kind of step is: how it is read, set and unset, of an owner and with a key, and how it is written."""

    get: Callable[[Any, Any], Any]
    set: Callable[[Any, Any, Any], object]
    unset: Callable[[Any, Any], object]
    text: Callable[[str, Any, Callable[[Any], str]], str]


_STEPS: Mapping[str, _Step] = {
    "global": _Step(
        lambda _, key: key[0][key[1]],
        lambda _, key, value: operator.setitem(key[0], key[1], value),
        lambda _, key: key[0].pop(key[1], None),
        lambda _, key, bind: f"{bind(key[0])}[{key[1]!r}]",
    ),
    "closure": _Step(
        lambda owner, index: owner.__closure__[index],
        _stays,
        _stays,
        lambda owner, index, _: f"{owner}.__closure__[{index}]",
    ),
    "cell": _Step(
        lambda owner, cell: (owner if cell is None else cell).cell_contents,
        lambda owner, cell, value: setattr(owner if cell is None else cell, "cell_contents", value),
        lambda owner, cell: delattr(owner if cell is None else cell, "cell_contents"),
        lambda owner, cell, bind: f"{owner if cell is None else bind(cell)}.cell_contents",
    ),
    "attribute": _Step(getattr, put, take_away, lambda owner, name, _: f"{owner}.{name}"),
    "own": _Step(
        own_attribute, put, take_away, lambda owner, name, bind: f"{bind(own_attribute)}({owner}, {name!r})"
    ),
    "member": _Step(
        lambda owner, name: owner.__dict__[name], put, take_away, lambda owner, name, _: f"{owner}.__dict__[{name!r}]"
    ),
    "item": _Step(
        operator.getitem, set_item, delete_item,
        lambda owner, key, bind: f"{owner}[{repr(key) if type(key) in (int, str) else bind(key)}]",
    ),
}  # fmt: skip


def spoken(name: str) -> str:
    """Return a name for the input of a graph that stands for what is found at a place of this name."""
    return "".join(c if c.isalnum() else "_" for c in name) or "state"
