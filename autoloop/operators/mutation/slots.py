"""Where something stands that a staged block may read and set: variables, attributes, the memory of arrays.

A slot is read before the block, set to what stands for it while the block is traced, and to what the block gives when
it is done.
"""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Container, Sequence
from typing import Any

from autoloop_runtime.ir.array_storage import Storage
from autoloop_runtime.ir.graph import current_graph
from autoloop_runtime.ir.tracers import ArrayTracer

from ...left_to_python import refuse_unknown
from ..staging.container_contents import delete_own, in_class, is_covered, is_property, own_attribute, set_own
from ..staging.standins import Maybe
from ..staging.undefined import MaybeUnset, Undefined

_NOTHING: Any = object()
_OF_SLOTS = types.MemberDescriptorType


class Cell:
    """A variable that closures share.

    Where it has no value the cell of converted code holds a marker, and reads ask for it (``undefined.defined``); other
    code leaves the cell empty. Either stays as it is.
    """

    def __init__(self, name: str, cell: types.CellType) -> None:
        self.name, self.cell = name, cell
        self.key = (id(cell), "")
        self._is_marked = not _is_empty(cell)

    def get(self) -> Any:
        """Return the value, or a marker if there is none."""
        try:
            return self.cell.cell_contents
        except ValueError:
            return Undefined(self.name)

    def set(self, value: Any) -> None:
        """Set the value; a marker unsets it."""
        if type(value) is Undefined and not self._is_marked:
            del self.cell.cell_contents
        else:
            self.cell.cell_contents = value


def _is_empty(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018  (reading is the question)
    except ValueError:
        return True
    return False


class Global:
    """A global name of a module."""

    def __init__(self, name: str, namespace: dict[str, Any]) -> None:
        self.name, self.namespace = name, namespace
        self.key = (id(namespace), name)

    def get(self) -> Any:
        """Return the value, or a marker if there is none."""
        return self.namespace.get(self.name, Undefined(self.name))

    def set(self, value: Any) -> None:
        """Set the value; a marker unsets it."""
        if (graph := current_graph()) is not None:
            first = self.namespace.get(self.name, Undefined(self.name))
            graph.root.record(SetGlobals).first.setdefault(self.key, (self, first))
        if type(value) is Undefined:
            self.namespace.pop(self.name, None)
        else:
            self.namespace[self.name] = value


class SetGlobals:
    """The global names that loops and branches have set while they were traced, and what they held; a record of a
    graph. What is known of other modules' code may name some that no code in reach does."""

    def __init__(self) -> None:
        self.first: dict[Any, tuple[Global, Any]] = {}

    def copy(self) -> SetGlobals:
        """Return the same: what is set again is put back once."""
        return self

    def put_back(self) -> None:
        """Let the names hold what they held."""
        for slot, first in self.first.values():
            if slot.namespace.get(slot.name) is not first:
                slot.set(first)

    def changed(self, known: Container[Any]) -> str | None:
        """Return a name that holds something else now and is not *known*; None if there is none."""
        every = ((key, *one) for key, one in self.first.items() if key not in known)
        return next((slot.name for _, slot, first in every if slot.namespace.get(slot.name, first) is not first), None)


class AskedNamespaces:
    """The objects that a trace was asked for all attributes of, ``vars(o)``, by id; a record of a graph.

    A marker stands in an object for an attribute of which only the run knows whether it is there. Who reads it meets
    the marker; who counts, lists or looks for names would find one where there may be none. So plain Python runs what
    asks for all of them, be it before the loop or branch that sets one: a name may hold the dict still.
    """

    def __init__(self) -> None:
        self.owners: dict[int, Any] = {}

    def copy(self) -> AskedNamespaces:
        """Return the same, which later questions to this one do not reach."""
        made = AskedNamespaces()
        made.owners = dict(self.owners)
        return made


def note_asked(owner: Any) -> None:
    """Note that all attributes of an object are asked for."""
    if (graph := current_graph()) is not None:
        graph.root.record(AskedNamespaces).owners[id(owner)] = owner


def refuse_if_asked(owner: Any, name: str) -> None:
    """Let plain Python run a function in which only the run knows whether an object has an attribute of its own, if
    all of them are asked for; raise where it cannot."""
    graph = current_graph()
    if graph is not None and id(owner) in graph.root.record(AskedNamespaces).owners:
        refuse_untold(owner, name)


def refuse_untold(owner: Any, name: str) -> None:
    """Let plain Python run the function, or raise."""
    kind = owner if isinstance(owner, type) else type(owner)
    refuse_unknown(
        f"whether '{kind.__name__}.{name}' is there only the run knows, where all attributes of its owner are asked "
        "for, by vars(), dir() or __dict__",
        f"set {name!r} before the loop or branch, too, or ask by hasattr() and getattr()",
    )


class PerhapsOwn:
    """The attributes of which only the run knows whether an object has them, and what it finds elsewhere if it has not.

    A value stands in the object for either; it is right as long as the class keeps what it has. A record of a graph.
    """

    def __init__(self) -> None:
        self.known: dict[Any, tuple[Attribute, Any]] = {}

    def copy(self) -> PerhapsOwn:
        """Return the same, which later ones do not reach."""
        made = PerhapsOwn()
        made.known = dict(self.known)
        return made


class Attribute:
    """An attribute of an object, which may find it elsewhere: in its class, or by ``__getattr__``.

    Parameters
    ----------
    owner : object
    attribute : str
    is_own : bool, optional
        Whether it had one of its own when the block began; by default, whether it has one now.
    """

    def __init__(self, owner: Any, attribute: str, is_own: bool | None = None) -> None:
        kind = owner if isinstance(owner, type) else type(owner)
        self.name, self.owner, self.attribute = f"{kind.__name__}.{attribute}", owner, attribute
        #: one of a module is a global name of that
        self.key = (id(vars(owner) if isinstance(owner, types.ModuleType) else owner), attribute)
        self._can_inherit = hasattr(owner, "__dict__") and not is_property(kind, attribute)
        #: whose methods set and delete it: those of a class of the user's have done what they do, ours refuse
        self._plain: Any = type(owner)
        ways = self._plain.__setattr__, self._plain.__delattr__
        if not isinstance(owner, Maybe) and any(isinstance(one, types.FunctionType) for one in ways):
            self._plain = type if isinstance(owner, type) else object
        self._is_lazy = isinstance(in_class(type(owner), attribute), functools.cached_property)
        #: whether a descriptor of the class keeps its value here, under its own name
        self._is_covered = not isinstance(owner, Maybe) and is_covered(owner, attribute)
        #: what the owner finds elsewhere, if it has no such attribute of its own
        self.inherited = _NOTHING
        if self._can_inherit and not (self._is_there() if is_own is None else is_own):
            self.inherited = self.found_elsewhere()
        #: whether methods of the user's answer for it where the owner has none
        self.is_answered = not (self._has_own() if is_own is None else is_own) and self._answers()
        self._was_put = False

    def _is_there(self) -> bool:
        return self.attribute in self.owner.__dict__

    def _has_own(self) -> bool:
        in_slots = in_class(type(self.owner), self.attribute)
        if type(in_slots) is not _OF_SLOTS:
            return self.attribute in getattr(self.owner, "__dict__", ())
        try:
            in_slots.__get__(self.owner)
        except AttributeError:
            return False
        return True

    def _answers(self) -> bool:
        if isinstance(self.owner, Maybe):
            return False
        ways = [type(self.owner).__getattribute__]
        if self.class_with_it() is None or type(in_class(type(self.owner), self.attribute)) is _OF_SLOTS:
            is_module = isinstance(self.owner, types.ModuleType)
            ways.append(vars(self.owner).get("__getattr__") if is_module else _asked_last(self.owner))
        return any(isinstance(one, types.FunctionType) for one in ways)

    def refuse_answered(self) -> None:
        """Let plain Python run a function in which only the run knows whether the owner has one, or raise, if methods
        of the user's answer where it has none: what they look into may be changed, and put back, at any time."""
        if self.is_answered:
            refuse_unknown(
                f"whether {self.name!r} is there only the run knows, and where it is not, '__getattr__' or "
                "'__getattribute__' of its owner answers",
                f"set {self.attribute!r} before the loop or branch, too",
            )

    def found_elsewhere(self) -> Any:
        """Return what the owner would find elsewhere, had it none of its own; a marker if that is nothing."""
        if (cls := self.class_with_it()) is not None:
            found = vars(cls)[self.attribute]
            return _NOTHING if hasattr(type(found), "__get__") else found
        asked = _asked_last(self.owner)
        try:
            return _NOTHING if asked is None else asked(self.owner, self.attribute)
        except AttributeError:
            return _NOTHING

    def class_with_it(self) -> type | None:
        """Return the class in which an object finds an attribute that is not its own; None if there is none."""
        classes = self.owner.__mro__[1:] if isinstance(self.owner, type) else type(self.owner).__mro__
        return next((cls for cls in classes if self.attribute in vars(cls)), None)

    @property
    def is_inherited(self) -> bool:
        """Whether the owner finds it elsewhere when the block begins."""
        return self.inherited is not _NOTHING

    @property
    def is_born(self) -> bool:
        """Whether the owner has one of its own that it was not given, be it the very object that it found elsewhere."""
        return self.is_inherited and not self._was_put and self._is_there()

    def is_uncovered(self, given: Any) -> bool:
        """Return whether one of its own that it was given is gone, and what the class has is found."""
        was_there = given is not self.inherited and type(given) is not Undefined
        return self._can_inherit and was_there and not self._is_there() and self.class_with_it() is not None

    def elsewhere(self) -> Any:
        """Return what the owner finds elsewhere now, as far as that matters; else a marker."""
        matters = self._can_inherit and (self.is_inherited or not self._is_there())
        return self.found_elsewhere() if matters else _NOTHING

    def note_perhaps_own(self) -> None:
        """Note that only the run knows whether the owner has one of its own."""
        if self._can_inherit and (graph := current_graph()) is not None:
            graph.root.record(PerhapsOwn).known[self.key] = self, self.inherited

    def get(self) -> Any:
        """Return the value, or a marker if there is none; nothing is computed that has not been asked for."""
        if self._is_lazy:
            return self.owner.__dict__.get(self.attribute, Undefined(self.name))
        if self._is_covered:
            return own_attribute(self.owner, self.attribute) if self._has_own() else Undefined(self.name)
        return getattr(self.owner, self.attribute, Undefined(self.name))

    def set(self, value: Any) -> None:
        """Set the value; a marker unsets it, and what the owner finds elsewhere it finds there."""
        current = self.get()
        self._was_put = False
        if self._is_covered:
            self._set_covered(value, current)
        elif type(value) is Undefined:
            if type(current) is not Undefined and (not self._can_inherit or self._is_there()):
                self._plain.__delattr__(self.owner, self.attribute)
        elif value is self.inherited:
            if self._is_there():
                self._plain.__delattr__(self.owner, self.attribute)
        else:
            self._was_put = self.is_inherited
            if type(value) is MaybeUnset:
                self.refuse_answered()
                refuse_if_asked(self.owner, self.attribute)
                self.note_perhaps_own()
            if value is not current:
                self._plain.__setattr__(self.owner, self.attribute, value)

    def _set_covered(self, value: Any, current: Any) -> None:
        if type(value) is Undefined:
            if type(current) is not Undefined:
                delete_own(self.owner, self.attribute)
        elif value is not current:
            set_own(self.owner, self.attribute, value)

    def make_own(self) -> None:
        """Let the owner have what it finds elsewhere as an attribute of its own."""
        if self.is_inherited and not self._is_there():
            self._plain.__setattr__(self.owner, self.attribute, self.inherited)


def _asked_last(owner: Any) -> Any:
    return getattr(type(owner), "__getattr__", None)


class Contents:
    """What the memory of an array holds."""

    name = "an array"

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.key = (id(storage), "contents")
        #: made where it is asked for first: what is found in the body of a loop is of the graph around it
        self._given: ArrayTracer | None = None

    def get(self) -> Any:
        """Return the value, the very same as long as nobody writes to the array."""
        if self._given is None or self._given.storage.tensor is not self.storage.tensor:
            self._given = ArrayTracer(self.storage.tensor)
        return self._given

    def set(self, value: Any) -> None:
        """Set the value."""
        self.storage.carry(value.plain)


Slot = Cell | Global | Attribute | Contents


def sets_attribute(code: types.CodeType, name: str) -> bool:
    """Return whether code, or that of a function inside it, assigns to an attribute of a name."""
    if name in code.co_names and any(
        op.opname == "STORE_ATTR" and op.argval == name for op in dis.get_instructions(code)
    ):
        return True
    if "set_attribute" in code.co_names and name in code.co_consts:
        return True
    return any(sets_attribute(one, name) for one in code.co_consts if isinstance(one, types.CodeType))


def is_another(now: Any, before: Any) -> bool:
    """Return whether an object finds another one than before elsewhere; numbers may be made anew each time."""
    is_number = type(now) is type(before) and isinstance(now, bool | int | float | complex | str)
    return not (now is before or (is_number and now == before))


def variable_of(name: str, functions: Sequence[types.FunctionType]) -> Cell | Global:
    """Return a variable that functions share."""
    for function in functions:
        free = function.__code__.co_freevars
        for one in (name, *(full for full in free if full.endswith(name) and full.startswith("_"))):
            if one in free and function.__closure__ is not None:
                return Cell(name, function.__closure__[free.index(one)])
    return Global(name, functions[0].__globals__)
