"""Functions and methods of the standard library that do something, or find something, besides what they compute.

What is known is done again at each call of a decorated function, in program order: the table says how its result is
typed. What is not, such as a lock that is taken or a line that is read from a file, leaves the function to Python.
"""

from __future__ import annotations

import builtins
import collections
import datetime as dt
import dis
import functools
import importlib
import inspect
import operator
import os
import sys
import time
import types
import warnings
import weakref
from collections import defaultdict, deque
from collections.abc import Callable, Container, Iterable, Iterator
from typing import Any

import numpy as np
from autoloop_runtime.base.callbacks import attribute_of, module_of, origin_of, owner_of
from autoloop_runtime.base.locations import is_library_file

from .cells import value_in

#: what clocks tell, and other functions whose results are numbers or nothing -> the type of the result
CLOCKS: dict[Any, type] = {
    **dict.fromkeys((time.time, time.perf_counter, time.monotonic, time.process_time, time.thread_time), float),
    **dict.fromkeys((time.time_ns, time.perf_counter_ns, time.monotonic_ns, time.process_time_ns), int),
    time.thread_time_ns: int,
    time.sleep: type(None),
}
_MADE_IN_A_RUN = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_FILTERS = frozenset((warnings.simplefilter, warnings.filterwarnings, warnings.resetwarnings))
#: managers that are in force while a function is traced, and not when it runs
_MANAGERS = frozenset(("warnings.catch_warnings", "contextlib.redirect_stdout", "contextlib.redirect_stderr"))
_LEVELS = ("debug", "info", "warning", "warn", "error", "critical", "fatal", "exception", "log")
#: methods of a logger -> the type of the result
LOGGER: dict[str, type] = {
    **dict.fromkeys(_LEVELS, type(None)), "isEnabledFor": bool, "getEffectiveLevel": int, "setLevel": type(None),
}  # fmt: skip
#: methods of text streams -> the type of the result
STREAM: dict[str, type] = {"write": int, "writelines": type(None), "flush": type(None)}
WARN: Any = warnings.warn

#: modules whose functions look at, or change, more than their arguments
_OF_THE_WORLD = frozenset(("posix", "nt", "os", "uuid", "secrets", "subprocess", "shutil", "socket", "tempfile"))
_OF_THE_WORLD |= {"select", "signal", "getpass", "glob", "sqlite3", "_sqlite3", "genericpath", "atexit"}
_OF_THE_WORLD |= {
    "pdb",
    "ipdb.__main__",
    "pudb",
    "IPython.terminal.embed",
    "IPython.core.debugger",
    "debugpy.public_api",
}
_NAMED: frozenset[Any] = frozenset((open, input, time.localtime, time.gmtime, time.ctime, time.asctime, time.strftime))
#: NumPy's settings, asked for and changed
_NAMED |= {np.geterr, np.seterr, np.geterrcall, np.seterrcall, np.getbufsize, np.setbufsize}
_NAMED |= {np.get_printoptions, np.set_printoptions}
#: files that NumPy reads and writes
_NAMED |= {np.load, np.save, np.savez, np.savez_compressed, np.loadtxt, np.savetxt, np.genfromtxt, np.fromregex}
_NAMED |= {np.fromfile}
#: functions of paths that look at files, or at where the process is
_OF_PATHS = frozenset(("abspath", "expanduser", "expandvars", "islink", "ismount", "lexists", "realpath", "relpath"))
#: what runs a text, or finds anything by its name: nobody tells beforehand what that reads or changes
BY_NAME = (globals, eval, exec, __import__, importlib.import_module)
_NAMED |= set(BY_NAME)
#: what stops in a debugger
_NAMED |= {breakpoint}
#: what functions and methods are, NumPy's among them
_CALLED = (types.BuiltinFunctionType, types.FunctionType, types.MethodType, type(np.save))
#: modules whose classes start something, or open it
_MAKERS = ("subprocess", "socket", "sqlite3", "multiprocessing", "concurrent")
_THREADS = ("Thread", "Timer")
#: instructions and names by which functions write to arrays and lists, or ask for arrays and numbers, and an argument
_OF_ITEMS = ("STORE_SUBSCR", "STORE_SLICE")
_OF_ARRAYS = {"shuffle"}.union(
    f.__name__
    for f in (
        *(np.copyto, np.fill_diagonal, np.place, np.put, np.putmask, np.add.at),
        *(np.ndarray.fill, np.ndarray.sort, np.ndarray.partition, np.ndarray.resize, np.ndarray.flat),
        *(np.array, np.asarray, np.ascontiguousarray, np.ndarray.item, np.ndarray.tolist, float, int),
        *(isinstance, type),
    )
)
_OUT = "out"
_IN_PLACE = ("+=", "-=", "*=", "/=", "//=", "%=", "**=", "@=", "&=", "|=", "^=", "<<=", ">>=")
#: what reads a global name; an attribute of that name is another thing
_OF_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME")
#: so many functions that call each other are looked into
_DEEPEST = 9
_NOW = frozenset(("now", "utcnow", "today"))
_PURE_OS = frozenset(("fspath", "fsencode", "fsdecode", "cpu_count", "commonprefix"))
#: modules of the standard library whose objects keep nothing that their methods change
_PURE = frozenset(("abc", "ast", "calendar", "collections", "contextlib", "copy", "dataclasses", "datetime", "decimal"))
_PURE |= {"enum", "fractions", "functools", "inspect", "ipaddress", "logging", "math", "numbers", "operator", "pathlib"}
_PURE |= {
    "random",
    "re",
    "statistics",
    "string",
    "_struct",
    "struct",
    "textwrap",
    "types",
    "typing",
    "uuid",
    "zoneinfo",
}
_PURE |= {"warnings", "_decimal", "_operator", "_functools", "_abc", "itertools", "array"}
#: what converted code follows, and what never changes
_FOLLOWED = (
    str, bytes, bool, int, float, complex, type(None), tuple, frozenset, range, slice, list, dict, set, deque, type,
    np.ndarray, np.generic, types.ModuleType, types.FunctionType, types.MethodType, types.BuiltinFunctionType, property,
)  # fmt: skip
#: bytes and numbers in memory that code reads by items
BUFFERS = (bytearray, memoryview)
#: methods of containers that tell what is in them only when they take it out
_TAKING = {dict: ("popitem",), set: ("pop",), deque: ("pop", "popleft", "rotate")}


def hides_state(value: Any) -> bool:
    """Return whether an object is one of Python's own that its methods may change, unseen by converted code."""
    kind = type(value)
    if isinstance(value, _FOLLOWED):
        return False
    if isinstance(value, BaseException) and is_pythons_own(kind):
        return True  # notes, arguments, traceback and cause
    if hasattr(kind, "__next__") or isinstance(value, BUFFERS) or kind.__module__ == "array":
        return kind.__module__ != "numpy.random"
    return is_pythons_own(kind) and origin_of(kind) not in (*_PURE, "builtins")


def is_nameless(cls: type) -> bool:
    """Return whether a class was made where nothing said the module's name, as ``exec`` does: Python says its own."""
    is_made = bool(cls.__flags__ & _MADE_IN_A_RUN) and cls.__module__ == "builtins"
    return is_made and getattr(builtins, cls.__name__, None) is not cls


def is_pythons_own(kind: type) -> bool:
    """Return whether a class comes with Python."""
    return origin_of(kind) in sys.stdlib_module_names and not is_nameless(kind)


def is_of_the_process(value: Any) -> bool:
    """Return whether an object with hidden state is there whatever a function makes."""
    return any(value is getattr(sys, name, None) for name in ("stdin", "stdout", "stderr")) or (
        module_of(type(value)) == "os"
    )


def holds_for_a_while(manager: Any) -> bool:
    """Return whether a manager changes what is done with prints or warnings."""
    return f"{module_of(type(manager))}.{type(manager).__qualname__}" in _MANAGERS


def takes_out(f: Any) -> bool:
    """Return whether a method takes an element out of a container that only it can tell."""
    owner = owner_of(f)
    return any(isinstance(owner, kind) and f.__name__ in names for kind, names in _TAKING.items())


def looks_outside(f: Any) -> bool:
    """Return whether a function's result, or what it does, is not told by its arguments, and is not known."""
    if isinstance(f, _CALLED):
        owner = owner_of(f)
        if isinstance(owner, type):
            return (issubclass(owner, dt.date) and f.__name__ in _NOW) or _is_of_files(owner, f.__name__)
        if owner is not None and not isinstance(owner, types.ModuleType):
            return _is_of_files(type(owner), f.__name__)
        if isinstance(f, types.MethodType):
            return False
        if f.__module__ == os.path.__name__ and f.__name__ in _OF_PATHS:
            return True
        return f in _NAMED or (str(f.__module__) in _OF_THE_WORLD and f.__name__ not in _PURE_OS)
    if not isinstance(f, type):
        return False
    return f is np.memmap or origin_of(f) in _MAKERS or (f.__module__ == "threading" and f.__name__ in _THREADS)


def _is_of_files(kind: type, name: str) -> bool:
    """Return whether a method of a class, an array's or a path's, looks at files."""
    if kind is np.ndarray:
        return name in ("tofile", "dump")
    if not any(origin_of(cls) == "pathlib" and cls.__name__ == "Path" for cls in kind.__mro__):
        return False
    return not any(name in vars(cls) for cls in kind.__mro__ if cls.__name__.startswith("PurePath"))


#: libraries whose functions show how far a loop is
_BARS = ("tqdm", "rich", "alive_progress", "progressbar", "fastprogress")


def shows_progress(f: Any) -> bool:
    """Return whether a callable makes an iterable that shows how far a loop over it is, as those of ``tqdm`` do."""
    if isinstance(f, type):
        return hasattr(f, "__iter__") and all(hasattr(f, one) for one in ("update", "close", "set_description"))
    return isinstance(f, types.FunctionType) and origin_of(f) in _BARS


def effect_inside(function: Any, kind: type | None = None) -> str | None:
    """Return the name of something with an effect that a function, or one of the user's that it calls, uses.

    Parameters
    ----------
    function : function
        Of the user's; it is not converted.
    kind : type, optional
        The class whose method it is.
    """

    def called(one: types.FunctionType) -> Iterator[Any]:
        for name, value in _global_values(one):
            inner = value if isinstance(value, types.FunctionType) else getattr(kind, name, None)
            if getattr(inner, "__globals__", None) is one.__globals__:
                yield inner

    return next(filter(None, map(_own_effect, _with_called(function, called))), None)


def _own_effect(function: types.FunctionType) -> str | None:
    """Return the name of something with an effect that a function itself uses."""
    names = function.__code__.co_names
    for name, one in _global_values(function):
        if one is print or (callable(one) and one is not next and has_effect(one)):
            return name
        if isinstance(one, types.ModuleType) and (found := next((n for n in names if has_effect_in(one, n)), None)):
            return found
    return None


def _global_values(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the names that a function uses, each with the global's value, None where that is no global's name."""
    code, namespace = function.__code__, function.__globals__
    variables = {one.argval for one in dis.get_instructions(code) if one.opname in _OF_GLOBALS}
    for name in code.co_names:
        yield name, namespace.get(name, getattr(builtins, name, None)) if name in variables else None


def _with_called(function: Any, called: Callable[[types.FunctionType], Iterable[Any]]) -> Iterator[types.FunctionType]:
    """Yield a function, and then those that it calls, and those that these call, as ``called`` tells of each."""
    seen, ring = set[types.FunctionType](), [function]
    for _ in range(_DEEPEST):
        functions = dict.fromkeys(one for one in ring if isinstance(one, types.FunctionType))
        new = [one for one in functions if one not in seen]
        yield from new
        seen.update(new)
        ring = [inner for one in new for inner in called(one)]


def needs_arrays(function: Any) -> bool:
    """Return whether a function of the user's, or one of the user's that it calls by name, does what tensors do not.

    It assigns to items, calls what changes what it is called on, or given, or asks for an array or a number.
    """
    return any(_uses_arrays(code) for one in _with_called(function, _called_by_name) for code in _codes_in(one))


def _uses_arrays(code: types.CodeType) -> bool:
    if any(one.opname in _OF_ITEMS or one.argrepr in _IN_PLACE for one in dis.get_instructions(code)):
        return True
    return not _OF_ARRAYS.isdisjoint(code.co_names) or any(_OUT in one for one in code.co_consts if type(one) is tuple)


def _called_by_name(function: types.FunctionType) -> Iterator[types.FunctionType]:
    """Yield the user's functions that a function, or one inside it, has a global name or a variable of."""
    names = {name for code in _codes_in(function) for name in code.co_names}
    called = [function.__globals__.get(name) for name in names]
    called += [value_in(cell) for cell in function.__closure__ or ()]
    for one in called:
        inner = None if one is None else inspect.getattr_static(one, "__wrapped__", one)
        if isinstance(inner, types.FunctionType) and not is_library_file(inner.__code__.co_filename):
            yield inner


def _codes_in(function: types.FunctionType) -> list[types.CodeType]:
    """Return the code of a function, and that of the functions inside it."""
    codes = [function.__code__]
    for code in codes:
        codes += [one for one in code.co_consts if isinstance(one, types.CodeType)]
    return codes


def has_effect_in(module: types.ModuleType, name: str) -> bool:
    """Return whether a module has a function with an effect under a name."""
    found = vars(module).get(name)
    return callable(found) and has_effect(found)


def known_result(f: Any) -> type | None:
    """Return the type of what a function or method with a known effect gives; None if it has none, or none is known."""
    if not isinstance(f, types.BuiltinFunctionType | types.FunctionType | types.MethodType):
        return None
    if f is WARN or f in _FILTERS:
        return type(None)
    owner = owner_of(f)
    if _is_logger(type(owner)):
        return LOGGER.get(f.__name__)
    if owner is None or isinstance(owner, types.ModuleType):
        return type(None) if f.__module__ == "logging" and f.__name__ in _LEVELS else CLOCKS.get(f)
    return STREAM.get(f.__name__) if is_stream(owner) else None


def has_known_effect(f: Any) -> bool:
    """Return whether a function or method, or what a partial is of, has a known effect."""
    while isinstance(f, functools.partial):
        f = f.func
    return known_result(f) is not None


def _is_logger(kind: type) -> bool:
    return any(cls.__module__ == "logging" and cls.__name__ in ("Logger", "LoggerAdapter") for cls in kind.__mro__)


def is_stream(value: Any) -> bool:
    """Return whether an object takes text, as files do."""
    is_file = hasattr(type(value), "__next__")
    return is_file and all(attribute_of(value, name) is not None for name in ("write", "writelines"))


def has_effect(f: Any) -> bool:
    """Return whether a call of a global name's value has to be one of the operators'."""
    try:
        return (
            f is next
            or known_result(f) is not None
            or looks_outside(f)
            or shows_progress(f)
            or consumes(f)
            or hides_state(f)
        )
    except TypeError:  # not hashable
        return False


def is_watched(f: Any) -> bool:
    """Return whether a call of a global name's value is to be looked at: it, or what it makes, may have an effect."""
    return has_effect(f) or (isinstance(f, type) and effect_inside(vars(f).get("__init__"), f) is not None)


#: classes whose objects run over what they are made of
_RUNNING_OVER = (deque, collections.OrderedDict, collections.Counter, bytes, bytearray, weakref.WeakSet)


def consumes(f: Any) -> bool:
    """Return whether a function of C's runs over what it is given, at once."""
    if isinstance(f, type):
        return any(f is one for one in _RUNNING_OVER)
    return module_of(f) in ("heapq", "_heapq", "statistics", "_statistics")


# -- callables of the standard library that look at what they are given, or call it ---------------------------


def is_made_by(f: Any, name: str) -> bool:
    """Return whether a decorator of the standard library has made a function, which is known by its ``name``."""
    return isinstance(f, types.FunctionType) and f.__code__.co_qualname == name


#: what ``functools`` and ``contextlib`` make of functions
SINGLE_DISPATCH, METHOD_DISPATCH = "singledispatch.<locals>.wrapper", "singledispatchmethod.__get__.<locals>._method"
MANAGER, MANAGED = "contextmanager.<locals>.helper", "ContextDecorator.__call__.<locals>.inner"
_MADE = (SINGLE_DISPATCH, METHOD_DISPATCH, MANAGER, MANAGED)
_FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial)
#: special methods that ``dataclasses`` and ``functools.total_ordering`` write
COMPARISONS = {"__eq__": "==", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}


def calls_later(f: Any) -> bool:
    """Return whether what a callable makes calls a function that it is given: ``iter(f, end)``, ``defaultdict(f)``."""
    return issubclass(f, defaultdict) if isinstance(f, type) else f is iter


def factories_of(f: Any) -> list[Any]:
    """Return the functions of which a class, if it is a dataclass, has the values of its fields."""
    fields = getattr(f, "__dataclass_fields__", {}).values() if isinstance(f, type) else ()
    return [one.default_factory for one in fields if isinstance(one.default_factory, _FUNCTIONS)]


#: modules whose functions look at all attributes of what they are given
_OPENING = ("inspect", "pickle", "_pickle")


def looks_at_arguments(f: Any) -> bool:
    """Return whether a callable of the standard library asks what type its argument is, or for its attributes."""
    if is_replace(f) or is_copying(f) or module_of(f) in _OPENING:
        return True
    return isinstance(f, operator.attrgetter | operator.methodcaller) or any(is_made_by(f, name) for name in _MADE)


def is_copying(f: Any) -> bool:
    """Return whether a callable is ``copy.copy`` or ``copy.deepcopy``, which who uses it has loaded."""
    return isinstance(f, types.FunctionType) and f.__module__ == "copy" and f.__name__ in ("copy", "deepcopy")


def is_replace(f: Any) -> bool:
    """Return whether a callable is ``dataclasses.replace``, which who uses it has loaded."""
    return isinstance(f, types.FunctionType) and (f.__module__, f.__name__) == ("dataclasses", "replace")


# -- looking callables and classes up -----------------------------------------------------------------------------


def is_one_of(f: Any, known: Container[Any]) -> bool:
    """Return whether a callable is one of a table's; one of the user's, with a hash of its own, is not asked."""
    own = next((vars(cls)["__hash__"] for cls in type(f).__mro__ if "__hash__" in vars(cls)), None)
    if own is not None and not isinstance(own, types.WrapperDescriptorType):
        return False
    try:
        return f in known
    except TypeError:  # it has none
        return False


def by_identity(classes: Iterable[type]) -> Iterable[type]:
    """Return each class once; a metaclass of the user's may say what it is equal to, and is not asked."""
    return {id(one): one for one in classes}.values()
