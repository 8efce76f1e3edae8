"""What of the arguments of a call a trace depends on.

Two calls share a trace if their keys are equal: dtype and shape of arrays, and of tensors, whose results are others;
type and value of Python numbers; type of random generators, which the world of a trace guards; identity of everything
else, or equality where a class of a library defines it. Objects of one class may share traces, see ``class_key``, and
so may functions of one code, however often they are made. What is equal and yet told apart, two instants in two zones,
``1`` and ``True`` in a set, dicts with their keys in another order, is so here, too.
"""

from __future__ import annotations

import functools
import sys
import types
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.base.callbacks import file_of, module_of, origin_of
from autoloop_runtime.base.dtypes import is_own
from autoloop_runtime.base.locations import is_library_file
from autoloop_runtime.ir.number_operators import CARRIERS, number_type
from autoloop_runtime.ir.tensor import Tensor, value_of
from autoloop_runtime.ir.tensor_spec import TensorSpec

from .bound_function import BoundFunction
from .given_arrays import ForeignArray

SCALARS = (bool, int, float, complex, str, bytes, type(None))
#: NumPy's scalar types of texts: constants, as Python's are
_TEXTS = frozenset({np.str_, np.bytes_})
#: NumPy's other scalar types that graphs have
_GENERIC = frozenset({t for t in np.sctypeDict.values() if issubclass(t, np.generic) and is_own(np.dtype(t))}) - _TEXTS
#: the generators of random numbers of which each call lends its own, by their modules: not all are loaded
_GENERATORS = frozenset({
    ("random", "Random"), ("numpy.random._generator", "Generator"), ("numpy.random.mtrand", "RandomState"),
})  # fmt: skip
_OF_C = (types.WrapperDescriptorType, types.MethodDescriptorType, types.BuiltinFunctionType, types.MethodWrapperType)
#: what is another object at each look, and equal if it is of one object
_METHODS = (types.MethodType, BoundFunction)
#: types that are compared by type and value alone
_PLAIN = frozenset({bool, int, str, bytes, type(None)}) | _TEXTS


class Number:
    """A Python number that is an input of a trace, and no part of what it depends on."""

    __slots__ = ("dtype", "type", "value")
    shape = ()

    def __init__(self, number: complex) -> None:
        kind = number_type(number)
        assert kind is not None
        self.type, self.dtype = kind, CARRIERS[kind]
        self.value = self.dtype.type(number)


nest.opaque(Number)


class AnyExtent(TensorSpec):
    """What is known of an array whose extents, where they are None, are those of each call."""


def is_input(leaf: Any) -> bool:
    """Return whether a leaf of a call is an input of its graph: no constant of the trace, as texts are."""
    kind = type(leaf)
    return issubclass(kind, (Tensor, TensorSpec, np.ndarray, np.generic, Number, ForeignArray)) and kind not in _TEXTS


def is_generator(value: Any) -> bool:
    """Return whether something is a generator of random numbers, and of no class that extends one."""
    kind = type(value)
    return (module_of(kind), kind.__qualname__) in _GENERATORS


class _Identity:
    """An argument that is compared by identity and not kept alive by the trace cache."""

    __slots__ = ("_hash", "_ref", "kind")

    def __init__(self, value: Any) -> None:
        self.kind = kind_of(value)
        self._hash = id(value)
        self._ref = weakref.ref(value)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        mine = self._ref()
        return isinstance(other, _Identity) and mine is not None and mine is other._ref()

    def __repr__(self) -> str:
        return f"object of {name_of_kind(self.kind)}"


class _Place:
    """The same of one that nothing refers to weakly: another may stand where it has stood."""

    __slots__ = ("_id", "kind")

    def __init__(self, value: Any) -> None:
        self._id, self.kind = id(value), kind_of(value)

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Place) and self._id == other._id and self.kind == other.kind

    def __repr__(self) -> str:
        return f"object of {name_of_kind(self.kind)}"


class _Method:
    """The same of a bound method, which is another object at each look."""

    __slots__ = ("_parts", "kind")

    def __init__(self, value: types.MethodType | BoundFunction) -> None:
        function = value.function if isinstance(value, BoundFunction) else value.__func__
        self._parts, self.kind = (_identity(value.__self__), _identity(function)), kind_of(value)

    def __hash__(self) -> int:
        return hash(self._parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Method) and self._parts == other._parts

    def __repr__(self) -> str:
        return f"object of {name_of_kind(self.kind)}"


def _identity(value: Any) -> _Identity | _Place:
    try:
        return _Identity(value)
    except TypeError:
        return _Place(value)


def kind_of(value: Any) -> Any:
    """Return what objects have in common that may share traces: their class; functions, and what stands around them,
    the code, by its id: each trace looks whether it is that very one."""
    kind = type(value)
    if kind is types.FunctionType:
        return kind, id(value.__code__)
    if kind is functools.partial:
        return kind, kind_of(value.func)
    if kind in _METHODS:
        function = value.function.python_function if kind is BoundFunction else value.__func__
        return kind, kind_of(function), type(value.__self__)
    return kind


def _class_of(kind: Any) -> type:
    """Return the class of the objects of a kind."""
    found: type = kind[0] if type(kind) is tuple else kind
    return found


def name_of_kind(kind: Any) -> str:
    """Return what messages call the objects of a kind."""
    return _class_of(kind).__name__


#: the classes of which objects among the arguments share traces: of nothing else of them a trace knows
SHARED: weakref.WeakSet[type] = weakref.WeakSet()
#: what stands in keys for objects
OBJECTS = (_Identity, _Place, _Method)


def leaf_key(leaf: Any) -> Any:
    """Return what of one argument a trace depends on."""
    if issubclass(type(leaf), Tensor):
        return leaf.dtype, tuple(leaf.shape), type(leaf)
    if issubclass(type(leaf), np.ndarray):
        return (leaf.dtype, leaf.shape) if leaf.ndim else (leaf.dtype, (), np.ndarray)
    if issubclass(type(leaf), np.generic) and type(leaf) not in _TEXTS:
        return leaf.dtype, ()
    if issubclass(type(leaf), Number):
        return Number, leaf.type
    if issubclass(type(leaf), TensorSpec):
        return leaf.dtype, leaf.shape, Tensor
    if type(leaf) is ForeignArray:
        return leaf.key
    if is_generator(leaf):
        return "generator", type(leaf)
    return constant_key(leaf)


#: slices have had a hash since Python 3.12; before, each is itself
_HAVE_HASHES = slice.__hash__ is not None


def constant_key(leaf: Any) -> Any:
    """Return what tells a constant from others, from those among them that are equal to it."""
    kind = type(leaf)
    if kind in _METHODS:
        return _Method(leaf)
    if issubclass(kind, SCALARS):
        # repr tells 0.0 from -0.0 and makes nan equal to itself
        return kind, repr(leaf) if isinstance(leaf, (float, complex)) else leaf
    if kind is tuple or kind is frozenset:
        return kind, kind([constant_key(one) for one in leaf])
    if kind is range:
        return kind, leaf.start, leaf.stop, leaf.step
    if kind is slice and _HAVE_HASHES:
        return kind, *map(constant_key, (leaf.start, leaf.stop, leaf.step))
    if (in_zone := key_in_zone(leaf)) is not None:
        return in_zone
    if getattr(kind, "__hash__", None) not in (object.__hash__, None) and not _asks_the_user(kind):
        try:
            hash(leaf)
        except (TypeError, ValueError):  # that of a memory which may be written to is a ValueError
            pass
        else:
            return (kind, leaf, repr(leaf)) if _is_shown(kind) else (kind, leaf)
    return _identity(leaf)


#: parts of a date and of a time of a day
_PARTS = ("year", "month", "day", "hour", "minute", "second", "microsecond", "fold")


def key_in_zone(leaf: Any) -> Any:
    """Return the key of a time, of a day or not, that may be one of a zone; None of anything else.

    It is equal to other times, in other zones, and its hash asks the zone: where that is of a class of the user's, all
    have one key, for plain Python runs what is given them.
    """
    module = sys.modules.get("datetime")
    if module is None or not issubclass(type(leaf), (module.datetime, module.time)):
        return None
    zone = leaf.tzinfo
    if zone is not None and not is_of_python(type(zone)):
        return type(leaf), type(zone)
    parts = [getattr(leaf, name, 0) for name in _PARTS]
    return type(leaf), *parts, repr(zone) if type(zone) is module.timezone else constant_key(zone)


def is_of_python(kind: type) -> bool:
    """Return whether a class is of a module that comes with Python."""
    return origin_of(kind) in sys.stdlib_module_names


def _is_shown(kind: type) -> bool:
    """Return whether only their texts tell equal objects of a class apart: decimals of another number of places, and
    what a library may say is equal, a metre and 100 centimetres."""
    if is_of_python(kind):
        return kind.__module__ == "decimal"
    return is_library_file(file_of(kind))


def _asks_the_user(kind: type) -> bool:
    """Return whether what the user has written says which objects are equal: that is not asked behind the user's back,
    and may be what is called."""
    for method in (kind.__hash__, kind.__eq__):
        code = getattr(method, "__code__", None)
        if code is None and not isinstance(method, _OF_C):
            return True
        if code is not None and not is_library_file(code.co_filename):
            return True
    return False


def call_key(structure: Any, leaves: Sequence[Any]) -> tuple[Any, ...]:
    """Return the key of a call, by its structure and leaves."""
    return structure, tuple([leaf_key(leaf) for leaf in leaves])


def class_key(key: Any, of_any: bool = True) -> Any:
    """Return the key of a call with the classes of its objects in their place, and which of them are one; None if there
    are none.

    Unless it is to be so *of any* object, those stay of whose classes it is not known that their objects share traces.
    """
    if type(key) is not tuple or len(key) != 2 or type(key[1]) is not tuple:
        return None
    places = [(place, one) for place, one in enumerate(key[1]) if isinstance(one, OBJECTS)]
    first = {one: place for place, one in reversed(places) if of_any or _class_of(one.kind) in SHARED}
    if not first:
        return None
    is_one = [isinstance(one, OBJECTS) and one in first for one in key[1]]
    return key[0], tuple([("object", one.kind, first[one]) if its else one for one, its in zip(key[1], is_one)])


def kind_of_leaf(leaf: Any) -> str:
    """Return what a trace depends on of an argument that an ``input_signature`` speaks of."""
    if isinstance(leaf, np.ndarray):
        return "array" if leaf.ndim else "array without axes"
    return "scalar" if isinstance(leaf, np.generic) else "tensor"


def kind_of_recursion(structure: Any, leaves: Sequence[Any]) -> Any:
    """Return what the calls of a recursion have in common: not how long arrays are, and which numbers they give."""
    return structure, tuple([_without_extents(leaf) for leaf in leaves])


def magnitude(leaves: Sequence[Any]) -> int:
    """Return about how many elements the arrays of a call have: a larger one for each 16 times as many."""
    return sum([leaf.size for leaf in leaves if type(leaf) is np.ndarray]).bit_length() // 4


def _without_extents(leaf: Any) -> Any:
    if issubclass(type(leaf), (np.ndarray, np.generic)) and type(leaf) not in _TEXTS:
        return leaf.dtype, leaf.ndim
    return type(leaf) if type(leaf) in (int, float) else leaf_key(leaf)


def quick_key(leaves: Sequence[Any]) -> tuple[tuple[Any, ...], list[Any], list[np.ndarray[Any, Any]]] | None:
    """Return key, values and the caller's arrays of a call with these leaves; ``None`` if one needs a closer look.

    Most calls give concrete tensors, arrays and Python numbers only. Their keys are made in one pass and hold two
    entries per leaf, of a tensor a third; equal ones mean equal ``leaf_key`` s, but not the reverse. Only objects are
    there by their classes, and which of them are one: see ``class_key``.
    """
    key: list[Any] = []
    values: list[Any] = []
    arrays: list[np.ndarray[Any, Any]] = []
    for leaf in leaves:
        kind = type(leaf)
        if kind is Tensor:
            if leaf.node is not None:
                return None
            value = value_of(leaf)
            key += leaf.dtype, value.shape, Tensor
            values.append(value)
        elif kind is np.ndarray:
            shape = leaf.shape
            if not is_own(leaf.dtype):
                return None
            key += leaf.dtype, shape
            if shape:
                values.append(leaf)
            else:  # which a trace takes for a scalar, and may not write to
                key.append(np.ndarray)
                values.append(leaf[()])
            arrays.append(leaf)
        elif kind in _GENERIC:
            key += leaf.dtype, ()
            values.append(leaf)
        elif kind in _PLAIN:
            key += kind, leaf
        elif kind is Number:
            key += Number, leaf.type
            values.append(leaf.value)
        elif kind is float:
            key += kind, leaf if leaf and leaf == leaf else repr(leaf)
        elif is_generator(leaf):
            key += "generator", kind
        elif kind in SHARED:
            key += kind_of(leaf), _first_of(leaves, leaf)
        else:
            return None
    return tuple(key), values, arrays


def describe_trace(key: Any) -> str:
    """Return what a trace was made for, in words."""
    if not isinstance(key, tuple) or all(isinstance(one, str) for one in key):
        return f"its input_signature ({', '.join(key)})" if isinstance(key, tuple) and key else "its input_signature"
    return ", ".join(map(describe_key, key[1])) or "no arguments"


def _first_of(leaves: Sequence[Any], leaf: Any) -> int:
    """Return where an object stands first among some leaves; of methods two are one that are equal."""
    is_method = type(leaf) in _METHODS
    return next(
        k for k, one in enumerate(leaves) if one is leaf or (is_method and type(one) is type(leaf) and one == leaf)
    )


def describe_key(key: Any) -> str:
    """Return a ``leaf_key`` for people."""
    if isinstance(key, tuple) and isinstance(key[0], np.dtype):
        if len(key) > 3:
            return f"{key[0]}{list(key[1])} of {key[2]}"
        return f"{key[0]}{list(key[1])}" + (" tensor" if len(key) == 3 and key[2] is not np.ndarray else "")
    if isinstance(key, tuple) and len(key) == 3 and key[0] == "object":
        return f"object of {name_of_kind(key[1])}"
    if isinstance(key, tuple) and len(key) == 2 and key[0] is Number:
        return f"any {key[1].__name__}"
    if isinstance(key, tuple) and len(key) in (2, 3):
        return str(key[1]) if key[0] in (float, complex) else nest.key_text(key[1])
    return repr(key)
