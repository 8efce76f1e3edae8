"""What objects hold that code may call or change, and the way to it: asked by both walks over what is in reach.

One walk (``heap_snapshot``) asks what a block may change: it goes everywhere, for whatever has changed must be put
back. The other (``state.reached``) asks on which places a trace depends: it goes where names of the code lead, and
notes what has to hold there. What a method, a descriptor, a wrapper or an object of a library holds is the same for
both, and said here.
"""

from __future__ import annotations

import dis
import functools
import gc
import operator
import re
import sys
import types
import weakref
from collections import ChainMap, UserDict, UserList, deque
from collections.abc import Iterator, Mapping, Set
from enum import Enum
from opcode import opmap
from typing import Any

import numpy as np
from autoloop_runtime.base.callbacks import file_of, module_of, origin_of
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.base.locations import is_library_file, is_own_file

from ...bound_function import BoundFunction
from ...conversion.callables import is_users_class, is_users_module
from ...conversion.cells import value_in
from ...conversion.known_effects import effect_inside, is_pythons_own
from ...conversion.known_names import MUTATORS
from ...sent_by_name import SentByName
from ..staging.container_contents import in_class

#: after so many objects nothing more is looked at
MOST_OBJECTS = 5_000
#: that many elements of a container are looked at one by one
MOST_ELEMENTS = 1_000
#: what stands around others -> the attributes that hold these
_AROUND: Mapping[type, tuple[str, ...]] = {
    types.MethodType: ("__func__", "__self__"),
    types.BuiltinMethodType: ("__self__",),
    types.MethodWrapperType: ("__self__",),
    functools.partial: ("func", "args", "keywords"),
    functools.partialmethod: ("func", "args", "keywords"),
    functools._lru_cache_wrapper: ("__wrapped__",),
    functools.cached_property: ("func",),
    functools.singledispatchmethod: ("dispatcher", "func"),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
    property: ("fget", "fset", "fdel"),
    BoundFunction: ("function",),
    SentByName: ("python_function", "instance"),
}
_WRAPPERS = tuple(_AROUND)
#: those of them that stand in classes
DESCRIPTORS = (
    *(staticmethod, classmethod, property),
    *(functools.cached_property, functools.partialmethod, functools.singledispatchmethod),
)
#: those that are made anew wherever they are asked for
_MADE_ANEW = (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType, functools.partial, BoundFunction)
#: what asks other objects for attributes of certain names
_BY_NAME = (operator.attrgetter, operator.methodcaller)
_ASKING: tuple[Any, ...] = (*_BY_NAME, getattr, hasattr, setattr, delattr, vars)
_BY_TEXT = frozenset(("getattr", "hasattr", "setattr", "delattr", "vars", "__dict__", "attrgetter", "methodcaller"))
#: so many steps inside a library lead to something of the user's
_MOST_STEPS = 4
#: what is given, and holds nothing: asked first, for most values are such
_BARE = frozenset((type(None), bool, int, float, complex, str, bytes, np.ndarray, np.ufunc, types.ModuleType))

#: what a program may set, or change, in a module of a library; the constants of these modules nobody sets
_SET_THERE = frozenset((bool, int, float, complex, str, bytes))
_CHANGED_THERE = frozenset((list, dict, set, deque, np.ndarray))
_OF_CONSTANTS = ("numpy", "math", "cmath")

Part = tuple[str, Any, Any]


def is_wrapper(value: Any) -> bool:
    """Return whether a value stands around others that it calls or asks."""
    if type(value) is types.BuiltinFunctionType:
        return value.__self__ is not None and not isinstance(value.__self__, types.ModuleType)
    return isinstance(value, _WRAPPERS)


def is_made_anew(value: Any) -> bool:
    """Return whether a wrapper is another object at each look: what it holds tells which it is."""
    return isinstance(value, (*_MADE_ANEW, SentByName))


def parts_of(value: Any) -> Iterator[Part]:
    """Yield what an object that is neither a container nor the user's holds, of what is, or leads to, the user's.

    Yields
    ------
    kind : str
        ``attribute``, ``cell``, or ``value``: nothing else can be put there.
    key : object
        Its name; the name and the cell.
    one : object
    """
    if type(value) in _BARE:
        return
    if is_wrapper(value):
        for kind, names in _AROUND.items():
            if isinstance(value, kind):
                for name in names:
                    if (one := getattr(value, name, None)) is not None:
                        yield "attribute", name, one
                return
    for part in _inside_library(value):
        if _leads_to_users(part[2], _MOST_STEPS):
            yield part


def held_by(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield names and what such an object holds under them, the arguments of a partial one by one."""
    for _, key, one in parts_of(value):
        for inner in one if key == "args" else one.values() if key == "keywords" else (one,):
            yield key, inner


def _inside_library(value: Any) -> Iterator[Part]:
    """Yield all that a function of a library is closed over, and what another object of one holds."""
    if isinstance(value, types.FunctionType):
        is_own = is_own_file(value.__code__.co_filename)
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
            one = value_in(cell)
            if callable(one) or not is_own or is_users_class(type(one)):  # whose methods are called there
                yield "cell", (name, cell), one
        if (inner := vars(value).get("__wrapped__")) is not None:
            yield "attribute", "__wrapped__", inner
    elif callable(value) and not isinstance(value, type):
        held = getattr(value, "__dict__", None)
        if type(held) is dict:
            for name, one in held.items():
                yield "attribute", name, one
        elif module_of(type(value)) in ("functools", "operator"):
            for one in gc.get_referents(value):
                yield "value", "", one


def _leads_to_users(value: Any, steps: int) -> bool:
    """Return whether something is, or leads to, a function, a class or an object of the user's."""
    if type(value) in _BARE or not steps:
        return False
    if isinstance(value, types.FunctionType) and not is_library_file(value.__code__.co_filename):
        return True
    if isinstance(value, type):
        return is_users_class(value)
    if type(value) in (list, tuple, dict):
        held = value.values() if isinstance(value, dict) else value
        return len(value) <= MOST_ELEMENTS and any(_leads_to_users(one, steps - 1) for one in held)
    if isinstance(value, SentByName) or is_users_class(type(value)):
        return True
    inner = parts_of(value) if is_wrapper(value) else _inside_library(value)
    return any(_leads_to_users(one, steps - 1) for _, _, one in inner)


def names_by_text(code: types.CodeType) -> Iterator[str]:
    """Yield the names that a function asks objects for though they are none of its code's: those among its texts, if it
    reads attributes by their names, and those that ``print`` asks a stream for."""
    if not _BY_TEXT.isdisjoint(code.co_names):
        yield from filter(str.isidentifier, _texts(code.co_consts))
    if "print" in code.co_names and "file" in _texts(code.co_consts):
        yield from ("write", "flush")


def _texts(constants: tuple[Any, ...]) -> Iterator[str]:
    for one in constants:
        if isinstance(one, str):
            yield one
        elif isinstance(one, tuple):
            yield from _texts(one)


def asks_by_name(value: Any) -> bool:
    """Return whether a value asks, or makes what asks, other objects for attributes of names that no code has."""
    if isinstance(value, types.MethodWrapperType | types.WrapperDescriptorType):
        return value.__name__ in ("__getattribute__", "__setattr__", "__delattr__")
    return isinstance(value, _BY_NAME) or any(value is one for one in _ASKING)


# -- modules that code holds as values ----------------------------------------------------------------------------
#
# ``m.bump()`` asks a module for one name, which stands in the code. ``getattr(m, name)``, ``vars(m)[name]``,
# ``m.__dict__``, a partial or a list that holds ``m`` may ask for any: all that the module holds is in reach then.


def codes_of(*names: str) -> frozenset[int]:
    """Return the numbers of instructions, of those that this Python has; some are names of its compiler's alone."""
    return frozenset([opmap[name] for name in names if opmap.get(name, 256) < 256])


_EXTENDED, _IMPORT_NAME, _IMPORT_FROM = opmap["EXTENDED_ARG"], opmap["IMPORT_NAME"], opmap["IMPORT_FROM"]
_GLOBALS = codes_of("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
_CELLS = codes_of("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF")
_LOCALS = codes_of("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW")
#: of two variables at once, numbered in four bits each
_PAIRS = codes_of("LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW")
_ATTRIBUTES = codes_of("LOAD_ATTR", "LOAD_METHOD")
_SET = codes_of("STORE_ATTR", "DELETE_ATTR")
_STORED_LOCAL = codes_of("STORE_FAST")
_STORED_CELL = codes_of("STORE_DEREF")
#: how far the number of a name is shifted in the argument of an instruction
_SHIFTS = {opmap["LOAD_GLOBAL"]: 1, opmap["LOAD_ATTR"]: 0 if codes_of("LOAD_METHOD") else 1}
#: what gives all that a module holds, or asks for any of it
_OPENING = frozenset(("__dict__", "__getattribute__", "__setattr__", "__delattr__"))


def own_names(module: types.ModuleType) -> set[str]:
    """Return the names of a module, but for those that the import system has put there."""
    return {name for name in vars(module) if not name[:2] == "__" == name[-2:]}


def names_of_state(module: types.ModuleType, names: Set[str]) -> set[str]:
    """Return which of ``names`` a module has that may stand for others at another call, or may be changed: of a module
    of a library, what a program has set there, such as ``sys.stdout``, and not its functions, classes and constants."""
    held = vars(module)
    if is_users_module(module):
        return held.keys() & names
    if is_own_file(getattr(module, "__file__", None) or ""):
        return set()
    return {name for name in held.keys() & names if _is_state(module, name, held[name])}


def _is_state(module: types.ModuleType, name: str, value: Any) -> bool:
    if name[:2] == "__" == name[-2:] or value is sys.modules:
        return False
    if type(value) in _SET_THERE:
        return module.__name__ not in _OF_CONSTANTS
    return is_setting(name, value) or (has_state(value) and not isinstance(value, type))


def is_setting(name: str, value: Any) -> bool:
    """Return whether something in a module or class of a library is what a program may set there, or change."""
    return not name[:2] == "__" == name[-2:] and type(value) in _SET_THERE | _CHANGED_THERE


@functools.lru_cache(maxsize=4096)
def names_of_values(code: types.CodeType) -> frozenset[str]:
    """Return the variables, attributes and imported modules that a function uses for more than to ask for a name.

    Functions inside it are not looked at.
    """
    names, found, imported = code.co_names, set[str](), dict[str, str]()
    cells = [*[name for name in code.co_cellvars if name not in code.co_varnames], *code.co_freevars]
    variables = [*code.co_varnames, *cells]
    loaded, brought, extended, raw = "", "", 0, code.co_code
    for place in range(0, len(raw), 2):
        op, argument = raw[place], raw[place + 1] | extended
        if not op:  # room for caches
            continue
        extended = argument << 8 if op == _EXTENDED else 0
        if op == _EXTENDED:
            continue
        is_asked = op in _ATTRIBUTES or op in _SET
        name = names[argument >> _SHIFTS.get(op, 0)] if is_asked or op in _GLOBALS else ""
        if loaded and (not is_asked or name in _OPENING):
            found.add(loaded)
        if brought and (op in _STORED_LOCAL or op in _STORED_CELL):
            imported[variables[argument]] = brought
        brought = names[argument] if op == _IMPORT_NAME else ""
        if op in _LOCALS or op in _CELLS:
            name = variables[argument]
        elif op in _PAIRS:
            found.add(variables[argument >> 4])
            name = variables[argument & 15]
        loaded = "" if op in _SET else name
    found.update([module for name, module in imported.items() if name in found])
    return frozenset(found)


# -- objects with attributes of their own -----------------------------------------------------------------------


def is_users_object(value: Any) -> bool:
    """Return whether an object is an instance of a class of the user's, or a class of the user's."""
    if isinstance(value, types.ModuleType | types.FunctionType):
        return False
    return is_users_class(value if isinstance(value, type) else type(value))


def has_state(value: Any) -> bool:
    """Return whether a value is an object whose attributes can be read and set."""
    kind = type(value)
    if kind in _BARE or isinstance(value, (np.ndarray, type)) or is_memory_of_c(value):
        return False
    if is_users_class(kind) or kind is types.SimpleNamespace or isinstance(value, BaseException):
        return True
    module = sys.modules.get("argparse")
    return module is not None and kind is module.Namespace


def answers_itself(kind: type) -> str:
    """Return what of a class tells what attributes its objects have, by code that runs where ``isinstance`` asks, too;
    empty if that is left to Python."""
    if issubclass(kind, np.ndarray):
        return ""
    for cls in kind.__mro__[:-1]:
        asked, held = cls.__dict__.get("__getattribute__"), cls.__dict__
        if isinstance(asked, types.FunctionType) and not is_own_file(asked.__code__.co_filename):
            return "__getattribute__"
        for name in ("__class__", "__dict__"):
            if type(held.get(name)) is property and is_users_class(cls):
                return name
    return ""


#: instructions that change more than a variable of the function's own
_STORING = ("STORE_ATTR", "STORE_SUBSCR", "STORE_GLOBAL", "STORE_DEREF", "DELETE_ATTR", "DELETE_SUBSCR")


def changes_more(method: types.FunctionType, kind: type) -> bool:
    """Return whether a method of the user's, which Python calls unasked, does more than to tell something."""
    stores = any(one.opname.startswith(_STORING) for one in dis.get_instructions(method.__code__))
    return stores or not MUTATORS.isdisjoint(method.__code__.co_names) or effect_inside(method, kind) is not None


# -- objects that hold what converted code does not see change ---------------------------------------------------

#: those of Python's own
_HIDING: tuple[type, ...] = (
    *(UserDict, UserList, ChainMap, types.MappingProxyType, memoryview),
    *(weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet),
    *(weakref.ProxyType, weakref.CallableProxyType, type({}.keys()), type({}.values()), type({}.items())),
)
#: what classes of a library have whose objects hold numbers that a program may set
OF_ARRAYS = ("__array__", "__array_interface__", "__dlpack__", "__setitem__")
#: the hash of what is equal to itself alone
_OF_IDENTITY: Any = object.__hash__


def changes_unseen(value: Any) -> bool:
    """Return whether an object is such a one, or an array of a subclass: whether it holds what may be set.

    What says itself to which others it is equal, and has a hash, is a value; what its own module holds under a name is
    a part of the library. What is called has values where it holds arrays or containers, and nothing of the user's, or
    where its methods set its attributes, or change what such containers hold.
    """
    kind: Any = type(value)
    if isinstance(value, np.ndarray):
        return kind is not np.ndarray
    if kind in _HIDING or isinstance(value, np.void) or is_memory_of_c(value) or _is_mock(kind):
        return True
    if isinstance(value, np.generic | Enum | type) or not is_of_library(kind):
        return False
    if kind.__hash__ is None or any(hasattr(kind, name) for name in OF_ARRAYS):
        return True
    if in_class(kind, "__hash__") is not _OF_IDENTITY or origin_of(kind) == "numpy":
        return False
    if any(one is value for one in getattr(sys.modules.get(module_of(kind)), "__dict__", {}).values()):
        return False
    if not callable(value):
        return True
    with undivided():
        from .written_by_methods import written_by  # of libraries' objects that can be called

    (sets, changes), holds = written_by(kind), _holds_values(value)
    return sets or (holds and (changes or next(parts_of(value), None) is None))


def _is_mock(kind: type) -> bool:
    """Return whether objects of a class stand for others in tests, and note what they are asked for."""
    module = sys.modules.get("unittest.mock")
    return module is not None and issubclass(kind, module.NonCallableMock)


def has_identity(value: Any) -> bool:
    """Return whether an object is another one wherever it is made, and may change: an iterator, a lock, a stream.

    What says itself to which others it is equal is a value. What is called is told by what it holds, see ``parts_of``.
    """
    kind = type(value)
    if hasattr(kind, "__next__"):
        return True
    if in_class(kind, "__hash__") is not _OF_IDENTITY or callable(value) or _is_own(kind):
        return False
    return not isinstance(value, types.ModuleType | Enum | re.Match | None | types.EllipsisType)


def is_memory_of_c(value: Any) -> bool:
    """Return whether an object is memory as C has it: an ``array.array``, what ctypes makes, but for functions."""
    kind = type(value)
    if kind is getattr(sys.modules.get("array"), "array", None):
        return True
    of_c = getattr(sys.modules.get("_ctypes"), "Structure", None)
    return of_c is not None and isinstance(value, of_c.__base__) and not callable(value)


def is_of_library(kind: type) -> bool:
    """Return whether a class is of an installed package, not Python's own, the user's, or one of ours."""
    if is_pythons_own(kind) or is_users_class(kind):
        return False
    return not _is_own(kind)


def _is_own(kind: type) -> bool:
    return is_own_file(file_of(kind))


def _holds_values(value: Any) -> bool:
    own = getattr(value, "__dict__", {})
    held = [*gc.get_referents(value), *own.values()]
    return any(isinstance(one, (np.ndarray, list, dict, set)) and one is not own for one in held)
