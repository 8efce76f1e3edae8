"""The names that a function's code uses: only places of these names are looked at."""

from __future__ import annotations

import types
from collections.abc import Iterator
from opcode import opmap
from typing import Any

from ..operators.mutation.parts_of_objects import codes_of, names_by_text, names_of_values

#: who uses one of these may ask for attributes of names that no code has,
#: what sets attributes of the names that it is given
_SETTING = frozenset(("setattr", "delattr", "__setattr__", "__delattr__"))
_COMPUTED = frozenset(
    ("getattr", "setattr", "hasattr", "delattr", "vars", "__dict__", "attrgetter", "methodcaller", "globals", "eval")
    + ("exec", "__slots__", "__getattribute__", "getmembers", "getattr_static")
)
#: and of one of these, read and write all that an object has
_ANY_NAME = _COMPUTED | frozenset(("asdict", "astuple", "replace", "fields", "copy", "deepcopy"))
#: methods of containers that add to what is there, whatever it is
_ADDING = frozenset(("append", "extend", "appendleft", "add"))


#: methods of lists and dicts that change them, and functions that change a list
_ALTERING = frozenset(
    ("append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "update", "setdefault", "popitem")
    + ("appendleft", "extendleft", "popleft", "rotate", "subtract", "move_to_end", "shuffle", "setitem", "delitem")
    + ("iadd", "iconcat", "heappush", "heappop", "heapify", "heapreplace", "heappushpop", "insort", "insort_left")
    + ("insort_right", "__setitem__", "__delitem__", "__iadd__", "__ior__")
)

_EXTENDED = opmap["EXTENDED_ARG"]
_LOAD_GLOBAL = codes_of("LOAD_GLOBAL")
_GLOBALS = codes_of("LOAD_GLOBAL", "STORE_GLOBAL", "DELETE_GLOBAL", "LOAD_NAME", "STORE_NAME", "DELETE_NAME")
_GLOBALS |= codes_of("LOAD_FROM_DICT_OR_GLOBALS")
_ATTRIBUTES = codes_of("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR")
_STORED_NAMES = codes_of("STORE_ATTR", "DELETE_ATTR", "STORE_GLOBAL", "STORE_NAME")
_SET = codes_of("STORE_ATTR", "DELETE_ATTR")
#: what raises where nothing is there
_DELETED, _DELETED_CELL = codes_of("DELETE_GLOBAL", "DELETE_NAME", "DELETE_ATTR"), codes_of("DELETE_DEREF")
_STORE_CELL, _COPY = opmap["STORE_DEREF"], opmap["COPY"]
_MATCH_CLASS = opmap["MATCH_CLASS"]
#: what handlers of exceptions begin with, those of all exceptions by throwing it away
_MATCHES, _CAUGHT, _POP = codes_of("CHECK_EXC_MATCH", "CHECK_EG_MATCH"), opmap["PUSH_EXC_INFO"], opmap["POP_TOP"]
_SETS_ITEMS = codes_of("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE")
#: the arguments of operations in place begin there
_OPERATE, _IN_PLACE = opmap["BINARY_OP"], 13
_IS, _CONSTANT = opmap["IS_OP"], opmap["LOAD_CONST"]
_IMPORT_NAME, _IMPORT_FROM = opmap["IMPORT_NAME"], opmap["IMPORT_FROM"]
_CELLS = codes_of("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF")
_LOADS = codes_of("LOAD_GLOBAL", "LOAD_NAME") | _ATTRIBUTES | _CELLS
#: how far the number of a name is shifted in the argument of an instruction
_SHIFTS = {
    **dict.fromkeys(_LOAD_GLOBAL, 1),
    **dict.fromkeys(codes_of("LOAD_ATTR"), 0 if codes_of("LOAD_METHOD") else 1),
    **dict.fromkeys(codes_of("LOAD_SUPER_ATTR"), 2),
}


class Names:
    """Names in the code that was seen so far.

    Attributes
    ----------
    read : set of str
        Variables and attributes whose values are looked at.
    added_to : set of str
        Variables and attributes that are asked for a method of the name of one that adds to a container: of a container
        nothing but its end matters then, of any other object everything.
    texts : set of str
        Those of ``read`` that stand in texts alone, where code asks for attributes by their names.
    stored : set of str
        Variables of functions and modules that are set, and attributes that are set or deleted.
    changed : set of str
        Those of which some code sets attributes, ``o.a = v`` and ``o.a += v``.
    deleted : set of str
        Attributes that are deleted: an object itself has to have them.
    every : bool
        Whether some code may use attributes of any name.
    computed : bool
        Whether some code may ask for attributes of names that no code has.
    catches : bool
        Whether some code goes on where an attribute is asked for that is not there.
    imported : set of str
        Modules that code imports when it runs; relative names without their dots.
    identities : bool
        Whether some code asks if two variables are one object.
    asked : dict of str to set of str
        What code asks variables and attributes of a name for.
    opened : dict of int to module
        By the id of what it holds, the user's modules that code may ask for any name.
    """

    def __init__(self) -> None:
        self.read: set[str] = set()
        self.added_to: set[str] = set()
        self.texts: set[str] = set()
        self.stored: set[str] = set()
        self.changed: set[str] = set()
        self.deleted: set[str] = set()
        self.every = self.computed = self.catches = False
        self.identities = self._alters = False
        self.imported: set[str] = set()
        self.asked: dict[str, set[str]] = {}
        self._values: set[str] | None = None
        self._settable: tuple[tuple[int, int], set[str]] | None = None
        self._spoken: tuple[tuple[int, int], set[str]] | None = None
        self._unread: list[types.CodeType] = []
        self.opened: dict[int, types.ModuleType] = {}
        self._seen: dict[int, tuple[Any, frozenset[str]]] = {}

    @property
    def count(self) -> tuple[int, ...]:
        """Another after names were added."""
        return (
            len(self.read),
            len(self.added_to),
            len(self.stored),
            len(self.changed),
            self.every,
            self.catches,
            len(self.values) if self._values is not None else 0,
            len(self.opened),
        )

    @property
    def tells_twins(self) -> bool:
        """Whether some code may tell one list or dict from two that are equal: it changes one, or asks which it is."""
        return self._alters or self.identities or self.every or not self.read.isdisjoint(_ALTERING)

    @property
    def values(self) -> set[str]:
        """Variables and attributes that are used for more than to ask them for an attribute of a name in the code.

        Found when a module of the user's has such a name, as in few programs.
        """
        self._values = set() if self._values is None else self._values
        while self._unread:
            self._values |= names_of_values(self._unread.pop())
        return self._values

    def __contains__(self, name: str) -> bool:
        return self.every or name in self.read

    def use(self, name: str) -> bool:
        """Return whether something of this name is used, be it that it is added to."""
        return name in self or name in self.added_to

    def settable(self) -> set[str]:
        """Return the names of attributes that code may set: by ``setattr`` any that it has as a text."""
        size = len(self.stored), len(self.read)  # which only grow; each object that is reached asks
        if self._settable is None or self._settable[0] != size:
            self._settable = size, (self.stored if self.read.isdisjoint(_SETTING) else self.stored | self.read)
        return self._settable[1]

    def spoken(self) -> set[str]:
        """Return the names that code reads or sets."""
        size = len(self.stored), len(self.read)  # which only grow; each module that is reached asks
        if self._spoken is None or self._spoken[0] != size:
            self._spoken = size, self.stored | self.read
        return self._spoken[1]

    @property
    def version(self) -> tuple[Any, ...]:
        """Another after anything was noted."""
        return self.count, len(self._seen), self.computed

    def ask(self, is_by_name: bool) -> None:
        """Note a value that may ask objects for attributes of names that no code has."""
        self.every = self.every or is_by_name
        self.computed = self.computed or is_by_name

    def add(self, code: types.CodeType) -> frozenset[str]:
        """Take in the names of one function, with those inside it; return the globals among them."""
        known = self._seen.get(id(code))
        if known is not None:
            return known[1]
        globals_used: set[str] = set()
        for one in _nested(code):
            self._scan(one, globals_used)
            self.catches = self.catches or one.co_name == "__exit__" or "suppress" in one.co_names
            self.texts.update(names_by_text(one))
            self._unread.append(one)
        self.read |= self.texts
        self.ask(not self.read.isdisjoint(_COMPUTED))
        self.every = self.every or not self.read.isdisjoint(_ANY_NAME)
        found = frozenset(globals_used)
        self._seen[id(code)] = code, found
        return found

    def _scan(self, code: types.CodeType, globals_used: set[str]) -> None:
        raw, names, extended, loaded, before = code.co_code, code.co_names, 0, "", 0
        variables = [*code.co_varnames, *[name for name in code.co_cellvars if name not in code.co_varnames]]
        variables += code.co_freevars
        for place in range(0, len(raw), 2):
            op, argument = raw[place], raw[place + 1] | extended
            if not op:  # room for caches
                continue
            extended = argument << 8 if op == _EXTENDED else 0
            name = ""
            if op == _IMPORT_NAME:
                self.imported.add(names[argument])
            elif op == _IS:
                self.identities = self.identities or before != _CONSTANT
            elif op in _SETS_ITEMS or (op == _OPERATE and argument >= _IN_PLACE):
                self._alters = True
            elif op == _MATCH_CLASS:  # its names are constants, or stand in the class
                self.every = self.computed = True
            elif op in _MATCHES or (before == _CAUGHT and op == _POP):
                self.catches = True
            elif op == _IMPORT_FROM:
                self.read.add(names[argument])
            elif op in _STORED_NAMES:
                self.stored.add(names[argument])
                if op in _DELETED:
                    self.read.add(names[argument])
                    self.deleted.add(names[argument])
                name = names[argument] if op in _GLOBALS else ""
                if name:
                    globals_used.add(name)
            elif op == _STORE_CELL:
                self.stored.add(variables[argument])
            elif op in _CELLS:
                name = variables[argument]
            elif op in _GLOBALS or op in _ATTRIBUTES:
                name = names[argument >> _SHIFTS.get(op, 0)]
                if op in _GLOBALS:
                    globals_used.add(name)
                if op in _DELETED:
                    self.read.add(name)
            elif op in _DELETED_CELL:
                self.read.add(variables[argument])
            if loaded:
                if op in _SET or op == _COPY:
                    self.changed.add(loaded)
                elif op in _ATTRIBUTES:
                    self.asked.setdefault(loaded, set()).add(name)
                (self.added_to if name in _ADDING and op in _ATTRIBUTES else self.read).add(loaded)
            if op != _EXTENDED:
                loaded, before = name if op in _LOADS else "", op
        if loaded:
            self.read.add(loaded)


def _nested(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from _nested(one)
