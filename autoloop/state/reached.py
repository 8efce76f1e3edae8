"""The walk over the world that a function reaches: arrays and numbers it may read, what is guarded, what may change.

It goes where names of the code in reach lead, and to places that each call finds again: what a block may change,
whatever it is called, ``operators.mutation.heap_snapshot`` asks. What objects hold both are told by
``parts_of_objects``.
"""

from __future__ import annotations

import functools
import types
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any

import numpy as np
from autoloop_runtime.base.dtypes import is_own, strange_dtype
from autoloop_runtime.base.locations import is_own_file
from autoloop_runtime.ir.array_kinds import is_plain
from autoloop_runtime.ir.tensor import Tensor

from .. import operators, state
from ..conversion.callables import is_users_class, is_users_module
from ..conversion.known_effects import BUFFERS
from ..given_arrays import may_be_foreign
from ..keys import is_generator
from ..operators.mutation.heap_snapshot import contents, is_random
from ..operators.mutation.outside_world import leave
from ..operators.mutation.parts_of_objects import (
    MOST_ELEMENTS,
    MOST_OBJECTS,
    answers_itself,
    asks_by_name,
    changes_more,
    has_state,
    is_made_anew,
    is_wrapper,
)
from ..operators.staging.container_contents import in_class, instance_attributes
from ..parameters import Named
from ..sent_by_name import SentByName
from .code_names import Names
from .foreign_attributes import changed, foreign, guard_ungiven, look_at_attributes, look_at_class
from .noted import Reached
from .places import CALL, NAMED, Place, held_at, name_at
from .reached_code import CodeWalk
from .unchanging import (
    DICTS,
    EXACTLY_PLAIN,
    FUNCTIONS,
    LISTS,
    PLAIN,
    SETS,
    holds_functions,
    is_constant,
    is_constant_inside,
    is_followed,
    is_hiding,
    is_shown_by_library,
)

#: what is no object with attributes, and may be of a class of the user's with methods
_WITH_METHODS = (*PLAIN, Enum, tuple, np.ndarray)
_STRUCTURES = frozenset((tuple, *LISTS, *DICTS)) - {Counter}
_CONTAINERS = (tuple, *LISTS, *DICTS, *SETS)


_UNSEEN = "which may change unseen (give what is needed of it as arguments)"


class _Walk(CodeWalk):
    """The walk that finds it."""

    def __init__(self, names: Names, arguments: Sequence[str]) -> None:
        super().__init__(names)
        self._arguments = arguments
        self._todo: deque[tuple[Place, Any]] = deque()

    def function(self, function: Any) -> None:
        """Walk from the function that is called."""
        while isinstance(function, functools.partial | types.MethodType):
            if isinstance(function, types.MethodType):
                self.visit(Place("value", None, function.__self__, "self"), function.__self__)
                function = function.__func__
            else:
                for part in (function.args, function.keywords):
                    self.visit(Place("value", None, part, "partial"), part)
                function = function.func
        if isinstance(function, types.FunctionType):
            place = Place("value", None, function, function.__name__)
            self.seen[id(function)] = function, place
            self.attributes_of(place, function)
            if is_own_file(function.__code__.co_filename):
                self.walk_function(place, function)
            else:
                self.walk_code(function)
        else:
            self.visit(Place("value", None, function, type(function).__name__), function)

    def call(self, place: Place, value: Any) -> None:
        """Walk the arguments: the containers among them, and what objects hold; their leaves are no places."""
        kind = type(value)
        if kind not in EXACTLY_PLAIN and answers_itself(kind):
            self.visit(place, value)
            return
        is_structure = kind in _STRUCTURES or kind is Named or (isinstance(value, tuple) and hasattr(kind, "_fields"))
        if is_structure and id(value) in self.seen and isinstance(value, (*LISTS, *DICTS)) and self.names.tells_twins:
            self.guard("same", place, self.seen[id(value)][1])
            return
        if is_structure or hasattr(kind, "__dataclass_fields__"):
            self.seen[id(value)] = self.given[id(value)] = value, place
            if not isinstance(value, tuple):
                self.hold(place, value)
            if isinstance(value, (tuple, *LISTS)):
                for k, one in enumerate(value):
                    self.call(place.item(k) if place is not CALL else self._argument(k), one)
            elif isinstance(value, dict):
                if self._without_place(place, value):
                    for key, one in value.items():
                        self.call(place.item(key) if kind is not Named else Place("item", place, key, str(key)), one)
            else:
                for name, one in instance_attributes(value).items():
                    self.call(place.attribute(name), one)
                self.walk_class(kind)
        elif not (isinstance(value, np.ndarray) or hasattr(kind, "__dlpack__") or may_be_foreign(kind)) and (
            isinstance(value, (tuple, *LISTS, *DICTS, *SETS)) or foreign(value, self.names.settable())
            or callable(value) or has_state(value) or is_hiding(value) or is_generator(value)
            or isinstance(value, types.ModuleType)
        ):  # fmt: skip
            self.visit(place, value)
        else:
            self.note_stranger(place, value)

    def _argument(self, k: int) -> Place:
        """Return the place of an argument, which messages call as the function does."""
        return Place("item", CALL, k, self._arguments[k] if k < len(self._arguments) else f"argument {k}")

    def run(self) -> None:
        """Look at everything that is in reach."""
        while self._todo or (self.walk_modules() and self._todo):
            place, value = self._todo.popleft()
            self._look(place, value)

    def visit(self, place: Place, value: Any) -> None:
        """Look at a place later, when all before it were."""
        self._todo.append((place, value))

    def _look(self, place: Place, value: Any) -> None:
        kind = type(value)
        if kind not in EXACTLY_PLAIN and may_be_foreign(kind) and state.note_foreign(self, place, value):
            return
        if kind not in EXACTLY_PLAIN and (asked := answers_itself(kind)):
            self.hidden.append(f"{place.name!r} is asked for its attributes by {kind.__name__}.{asked}")
            return
        if kind not in EXACTLY_PLAIN and isinstance(value, _WITH_METHODS) and is_users_class(kind):
            self.walk_class(kind)
        if isinstance(value, (*PLAIN, Enum)) and not isinstance(value, np.void):
            self.hidden += (*_strange(place, value), *_holding(place, value, self.names.settable()))
            if type(value) in (int, float, complex) or isinstance(value, np.number):
                self.numbers.append((place, value))
            else:
                self.guard("is" if isinstance(value, Enum) else "equal", place, value)
            return
        if isinstance(value, types.ModuleType):
            self.open_module(value, name_at(place) if place.kind in NAMED and name_at(place)[:2] != "__" else None)
            if id(value) not in self.seen and is_users_module(value):
                self.seen[id(value)] = value, place
                self.guard("is", place, value)
                self.walk_module(value)
            self.modules.setdefault(id(value), value)
            self.hidden += changed(place, value, self.names.changed)
            if not is_users_module(value):
                self.note_stranger(place, value)
            return
        if (isinstance(value, np.ndarray) and is_plain(value)) or (type(value) is Tensor and value.node is None):
            self.arrays.append((place, value))
            self.hidden += _strange(place, value)
            return
        if type(value) is np.ndarray and not is_hiding(value):
            self.guard("contents", place, value.copy())
            self.hides_functions |= value.dtype.hasobject
            return
        if (known := self.seen.get(id(value))) is not None:
            if known[1].path != place.path:  # of an element of a set, or a key, there is no reading where it stands
                self.guard(*(("is", known[1], value) if place.kind == "value" else ("same", place, known[1])))
            if id(value) in self.added_to and not self._is_only_added_to(place, value):
                self.added_to.discard(id(value))
                self._elements(place, value)
            return
        if len(self.seen) > MOST_OBJECTS:
            if not isinstance(value, (type, *FUNCTIONS)):
                self.hidden.append(f"more than {MOST_OBJECTS} objects are in reach, {place.name!r} among them")
            self.guard("is", place, value)
            return
        self.seen[id(value)] = value, place
        self._open(place, value)

    def _open(self, place: Place, value: Any) -> None:
        kind = type(value)
        if isinstance(value, tuple):
            self._tuple(place, value)
        elif kind in LISTS or kind in DICTS or kind in SETS:
            if kind is not frozenset:
                self.hold(place, value)
            if kind is defaultdict:  # which calls it by itself
                self.visit(place.attribute("default_factory"), value.default_factory)
            if self._is_only_added_to(place, value):
                self.added_to.add(id(value))
            else:
                self._elements(place, value)
        elif isinstance(value, types.FunctionType):
            self.walk_function(place, value)
        elif is_wrapper(value):
            self.names.ask(asks_by_name(value))
            self.guard("type" if is_made_anew(value) else "is", place, kind if is_made_anew(value) else value)
            self.walk_parts(place, value)
            if isinstance(value, SentByName):
                _look_at_decorated(self, place, value)
            else:
                look_at_attributes(self, place, value)
        elif isinstance(value, type):
            self.guard("is", place, value)
            self.names.ask(asks_by_name(value))
            self.of_libraries.append((place, value))
            self.walk_class(value)
            if not is_users_class(value):
                look_at_class(self, place, value)
        elif has_state(value):
            self._object(place, value)
        elif is_hiding(value):
            self.hidden.append(f"the {kind.__name__} {place.name!r}, {_UNSEEN}, is used")
        else:
            if is_generator(value):
                self.generators.append((place, value))
            elif not (place.kind == "global" and is_random(value)):  # which each run looks up
                self.guard("is", place, value)
                self.names.ask(asks_by_name(value))
                self.walk_parts(place, value)
            look_at_attributes(self, place, value)

    def _tuple(self, place: Place, value: tuple[Any, ...]) -> None:
        """Look at the elements of a tuple, which is made anew where they are: not with what a class adds to it."""
        if is_users_class(type(value)):
            held = instance_attributes(value)
            is_own = not is_followed(value) or not (is_constant(value) or hasattr(type(value), "_fields"))
            if held or is_own:
                self.hidden.append(f"{place.name!r} is a tuple of a class of its own")
            self.hold(place, value)
            self.guard_absent(place, value, held)
        self._elements(place, value)

    def _is_only_added_to(self, place: Place, value: Any) -> bool:
        # What is added to a full deque moves what it holds; what a set holds already is not added.
        if getattr(value, "maxlen", None) is not None or isinstance(value, SETS):
            return False
        is_used = place.path in self.unnamed or place.kind not in NAMED or name_at(place) in self.names
        return not is_used and name_at(place)[:2] != "__"

    def _elements(self, place: Place, value: Any) -> None:
        """Guard a container, and look at its elements."""
        self.guard("type", place, type(value))
        if isinstance(value, SETS):
            self.guard("elements", place, value.copy())
            self._without_place(place, value)
            return
        parts = dict.values(value) if isinstance(value, dict) else value
        plain = all(issubclass(type(one), PLAIN) for one in parts)
        is_whole = isinstance(value, tuple) and place.path not in self.one_by_one
        if len(value) > MOST_ELEMENTS or (plain and (len(value) > 20 or is_whole)):
            if not all(map(is_constant, parts)):
                self.hidden.append(f"{place.name!r} holds more than {MOST_ELEMENTS} objects")
            self.guard("elements", place, dict(value) if isinstance(value, dict) else tuple(value))
            self.hides_functions |= not plain and holds_functions(parts)
        elif isinstance(value, dict):
            self.guard("keys", place, tuple(value))
            if self._without_place(place, value):
                for key, one in dict.items(value):
                    self.visit(place.item(key), one)
        else:
            self.guard("length", place, len(value))
            for k, one in enumerate(value):
                self.visit(place.item(k), one)

    def _without_place(self, place: Place, values: Iterable[Any]) -> bool:
        """Look at the elements of a set, or keys of a dict, which are guarded; return whether they can be looked up."""
        are_known = not any(_tells_itself(type(one)) for one in values)
        self.hides_functions |= holds_functions(values)
        for one in values:
            if not is_constant(one) or isinstance(one, Enum):
                are_known = are_known and in_class(type(one), "__eq__") is object.__eq__
                self.visit(Place("value", None, one, place.name), one)
        if not are_known:
            self.hidden.append(f"{place.name!r} holds objects that say themselves to which they are equal")
        return are_known

    def _object(self, place: Place, value: Any) -> None:
        kind = type(value)
        self.hold(place, value)
        self.guard("type", place, kind)
        self.walk_class(kind)
        if _says_what_it_holds(kind):
            return self.hidden.append(f"{place.name!r} is of a class that says itself what its objects hold")
        held = instance_attributes(value)
        if is_shown_by_library(value, self.names.read - held.keys()):
            self.hidden.append(f"{place.name!r} is of a class that extends a library's, which may change it unseen")
        if isinstance(value, (list, deque, dict, *SETS)):
            if not held and is_followed(value):
                self._elements(place, value)
            elif not held and is_constant_inside(value):
                self.guard("held", place, contents(value))
                self.hides_functions = True
            else:
                self.hidden.append(f"{place.name!r} is a container of a class of its own")
        for name, one in held.items():
            if self.names.use(name) or issubclass(type(one), (*LISTS, set)):
                self.visit(held_at(place, value, name), one)
        if isinstance(value, BaseException):  # its text tells of them, too
            self.visit(place.attribute("args"), value.args)
        self.guard_absent(place, value, held)


def _says_what_it_holds(kind: type) -> bool:
    told = [vars(cls)["__dict__"] for cls in kind.__mro__ if "__dict__" in vars(cls)]
    return bool(told) and not isinstance(told[0], types.GetSetDescriptorType | types.MemberDescriptorType)


def _look_at_decorated(walk: _Walk, place: Place, value: SentByName) -> None:
    """Look at the attributes that a program has given a decorated function."""
    own = type(value).__init__.__code__.co_names
    for name in vars(value).keys() & walk.names.read:
        if name not in own and name[:2] != "__":
            walk.hidden.append(f"{name!r}, an attribute of the decorated function {place.name!r}, is used")
    walk.hidden += changed(place, value, walk.names.changed)
    walk.note_stranger(place, value)
    guard_ungiven(walk, place, value)


def _tells_itself(kind: type) -> bool:
    """Return whether methods of the user's tell to what objects of a class are equal, or do more than tell a hash."""
    classes = () if kind in EXACTLY_PLAIN else [cls for cls in kind.__mro__ if is_users_class(cls)]
    hashes = [one for cls in classes if isinstance(one := vars(cls).get("__hash__"), types.FunctionType)]
    return any(isinstance(vars(cls).get("__eq__"), types.FunctionType) for cls in classes) or any(
        changes_more(one, kind) for one in hashes
    )


def reached_from(
    function: Any, call: tuple[Any, ...], receiver: tuple[Place, Any] | None, more: Sequence[Any] = (),
    arguments: Sequence[str] = (),
) -> Reached:  # fmt: skip
    """Return what a function reaches in a call: walked until the code in reach has no new names.

    ``arguments`` are what messages call the elements of ``call``.
    """
    names = Names()
    if isinstance(function, types.FunctionType) and not is_own_file(function.__code__.co_filename):
        names.add(function.__code__)
    while True:
        found = _Walk(names, arguments)
        before = names.count
        found.call(CALL, call)
        if receiver is not None:
            found.visit(*receiver)
        found.function(function)
        for one in more:
            found.function(one)
        found.run()
        if names.count == before:
            return found


def _holding(place: Place, value: Any, stored: set[str]) -> list[str]:
    """Return the reason why plain Python runs what uses a number or text of a class of the user's that has attributes.

    ``stored`` are the names that code sets: it may be given one of these.
    """
    if type(value) in EXACTLY_PLAIN or isinstance(value, Enum) or not is_users_class(type(value)):
        return []
    holds = instance_attributes(value) or (stored and hasattr(value, "__dict__"))
    return [f"{place.name!r} is a number or text with attributes of its own"] if holds else []


def _strange(place: Place, value: Any) -> list[str]:
    """Return the reason why plain Python runs what uses a scalar or array of a dtype that graphs have not."""
    is_strange = isinstance(value, (np.ndarray, np.number)) and not is_own(value.dtype)
    return [f"{place.name!r}, of {strange_dtype(value.dtype)}, is used"] if is_strange else []


def leave_hidden(reached: Reached) -> None:
    """Leave a function to Python that finds what it may read, or change, unseen."""
    for what in reached.hidden:
        leave(what, "")
    for value, place in reached.seen.values():
        if isinstance(value, defaultdict) and (told := operators.told_of_effect(value.default_factory)) is not None:
            leave(told, "")
        if isinstance(value, BUFFERS):
            leave(f"the {type(value).__name__}{f' {place.name!r}' if place.name else ''} is used", "")
