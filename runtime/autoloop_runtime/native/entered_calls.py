"""Machine code that Python calls with the objects of a call themselves: between the two there is machine code only.

It looks at the objects, where NumPy and Python keep what is to be known of them, makes arrays for the results, runs the
graph and makes the objects of the results. Where an object is not what it was made for it gives ``NotImplemented``, and
nothing has happened.

What it works with are the words of an array, its ``self``:

0   the code of the graph, and the memory of a call
2   whether a call is being made: another one at the same time goes another way
3   how many arguments there are, arrays to be made, and results, and whether these are a tuple
7   what the graph's code has returned, and a list of what it has worked with
9   ``NotImplemented``
10  where that is which is known of extents that come with a call: how many, where their values go, their bounds
11  where the records of arrays to be made are, those of results, and the word of the first of those arrays
14  how many of those arrays are copied to arguments when all is over, and where the records of that are
16  a record of eight words for each argument: type, dtype (0: a scalar), rank, where its shape is, flags, bytes of a
    scalar or elements of an array at most, the byte where its value goes, whether it must be none of those before

Where shapes are said ``-1 - k`` is the extent ``k`` of those that come with a call: none of the others, 2 at least.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np

from ..analysis.shape_classes import MOST_BYTES
from ..base.aligned_memory import FEWEST, MOST, aligned_empty
from ..base.dataclass import dataclass
from .ir.moving import Given
from .kernels.ll_files import code
from .native_function import DATA_OFFSET, Function
from .toolchain.cache import default_cache
from .toolchain.compile_ir import Code, compile_ir
from .typing.facts import Shape
from .typing.refusal import NativeRefusal

#: the most words of arguments, arrays to be made, and axes
WORDS, MADE, AXES = 512, 256, 64
#: of ``self``: words before the records, and what a record takes; an array to be made, and a result
_HEAD, _RECORD, _RECIPE, _RESULT = 16, 8, 6, 4
_BUSY, _CODE, _MEMORY = 2, 7, 1
#: flags of an array: in C order, with memory of its own, aligned, writeable
_ORDERED, _OWNING, _ALIGNED, _WRITEABLE = 0x1, 0x4, 0x100, 0x400
_SIZES = {"WORDS": WORDS, "MADE": MADE, "AXES": AXES, "FEWEST": FEWEST, "MOST": MOST}
#: kinds of results
_MADE_ONE, _ARGUMENT, _SCALAR, _FLOAT, _INT, _CONSTANT = range(6)
#: of NumPy's table of functions: the type of arrays, what makes a scalar, and an array
_TYPE, _MAKE_SCALAR, _EMPTY = 2, 60, 184
#: of ``PyMethodDef``
_FASTCALL = 0x80


class _Words(np.ndarray[tuple[int], np.dtype[np.uint64]]):
    """The words; ``kept`` is what they refer to."""

    kept: Any


@dataclass(frozen=True)
class Callee:
    """What is to be called.

    Attributes
    ----------
    function : Function
    address : int
        Of its code.
    memory : callable
        Makes the memory of a call.
    failure : callable
        Gives what is to be raised for what the code returned, the memory, and what else keeps what it worked with.
    begin : callable or None
        To be called before each call.
    """

    function: Function
    address: int
    memory: Callable[[], Any]
    failure: Callable[[int, Any, object], BaseException]
    begin: Callable[[], object] | None


@dataclass(frozen=True)
class Entered:
    """Machine code that is called with the objects of a call, and gives those of its result.

    Attributes
    ----------
    call : callable
        Gives ``NotImplemented``, before anything has happened, where the objects are not what it was made for.
    failed : object
        What it gives where the graph has failed.
    error : callable
        Then gives what is to be raised; it takes the arguments.
    refused : type
        Of what is raised where another way has to be taken, since nothing has happened.
    begin : callable or None
        To be called before each call.
    """

    call: Callable[..., Any]
    failed: Any
    error: Callable[[Sequence[Any]], BaseException]
    refused: type[BaseException]
    begin: Callable[[], object] | None


def entered(
    callee: Callee,
    arguments: Sequence[Any],
    written: Sequence[tuple[int, int]],
    results: Sequence[tuple[str, Any]],
    several: bool,
) -> Entered | None:
    """Return what calls machine code; None if it cannot be called that way.

    Parameters
    ----------
    callee : Callee
    arguments : sequence
        Arguments of a call as it will come again.
    written : sequence of (int, int)
        Those that are written to, and the outputs that they hold in the end; then all arrays must have memory of their
        own.
    results : sequence of (str, object)
        An ``"output"`` by its number, a ``"number"`` of Python's likewise, an ``"argument"``, or a ``"constant"``.
    several : bool
        Whether these are a tuple.
    """
    function, code_of_calls = callee.function, _code()
    if code_of_calls is None:
        return None
    known: list[Any] = []
    if any(function.placed.get(j, k) != k for k, j in written):
        return None
    records = _arguments(function, arguments, [k for k, _ in written], known)
    recipes = _recipes(function, known)
    outcomes = _results(function, results, known)
    first = sum(port.arguments for port in function.inputs)
    last = first + len(recipes)
    if records is None or outcomes is None or last + len(function.extents) > WORDS or len(recipes) > MADE:
        return None
    place = _HEAD + _RECORD * len(records)
    words = np.zeros(place + 4, np.uint64).view(_Words)
    moves = _moves(function, written)
    tables = [_table_of(recipes, _RECIPE), _table_of(outcomes, _RESULT), _table_of(moves, _RESULT)]
    tables.append(np.array([len(function.extents), last, *map(int, function.extents)], np.uint64))
    own, name, owners = callee.memory(), ctypes.create_string_buffer(b"call"), list[Any]()
    words[:_HEAD] = [
        callee.address, own.address, 0, len(records), len(recipes), len(outcomes), several, 0,
        id(owners), id(NotImplemented), tables[3].ctypes.data, tables[0].ctypes.data, tables[1].ctypes.data, first,
        len(moves), tables[2].ctypes.data,
    ]  # fmt: skip
    words[_HEAD:place] = np.array([word for one in records for word in one], np.uint64)
    words[place:] = [ctypes.addressof(name), code_of_calls.address, _FASTCALL, 0]
    words.kept = [own, callee, known, tables, owners, name, code_of_calls]

    def error(values: Sequence[Any]) -> BaseException:
        code = int(words[_CODE : _CODE + 1].view(np.int64)[0])
        used, worked_with = words.kept[0], (values, owners[:])
        owners.clear()
        words.kept[0] = other = callee.memory()
        words[_MEMORY], words[_BUSY] = other.address, 0
        return callee.failure(code, used, (used, worked_with))

    call = _maker()(words.ctypes.data + 8 * place, words, None, None)
    return Entered(call, words, error, NativeRefusal, callee.begin)


def _table_of(records: Sequence[Sequence[int]], width: int) -> np.ndarray[Any, Any]:
    return np.array([*records, [0] * width], np.uint64)


def _arguments(
    function: Function, arguments: Sequence[Any], written: Sequence[int], known: list[Any]
) -> list[list[int]] | None:
    """Return the records of arguments."""
    if len(arguments) != len(function.inputs):
        return None
    places = accumulate([port.arguments for port in function.inputs], initial=0)
    records = []
    for k, (one, port, place) in enumerate(zip(arguments, function.inputs, places)):
        known.append(type(one))
        if type(one) is np.ndarray:
            if not port.is_array or one.ndim != len(port.shape) or one.dtype != port.dtype:
                return None
            if not all(isinstance(m, Given) or n == m for n, m in zip(one.shape, port.shape)):
                return None
            needed = _ORDERED | _ALIGNED | (_OWNING if written else 0) | (_WRITEABLE if k in written else 0)
            shape, dtype = _said(function, port.shape), one.dtype
            known += [shape, dtype]
            most = max(one.size, MOST_BYTES // (dtype.itemsize or 1))
            record = [id(np.ndarray), id(dtype), one.ndim, shape.ctypes.data, needed, most, 8 * place, bool(written)]
        elif port.shape == () and isinstance(one, np.generic) and one.dtype == port.dtype and _begins(one):
            record = [id(type(one)), 0, 0, 0, 0, one.dtype.itemsize, 8 * place, 0]
        else:
            return None
        records.append(record)
    return records


def _said(function: Function, shape: Shape) -> np.ndarray[Any, Any]:
    """Return a shape as machine code knows it."""
    order = [*function.extents]
    return np.array([-1 - order.index(n) if isinstance(n, Given) else int(n) for n in shape] + [0], np.int64)


def _begins(scalar: np.generic) -> bool:
    """Return whether the value of a scalar begins behind what all objects have."""
    return ctypes.string_at(id(scalar) + 16, scalar.dtype.itemsize) == scalar.tobytes()


def _recipes(function: Function, known: list[Any]) -> list[list[int]]:
    """Return how the arrays are made that are results."""
    recipes = []
    for j, port in enumerate(function.outputs):
        if not port.is_array or j in function.placed:
            continue
        shape, dtype = _said(function, port.shape), np.dtype(port.dtype)
        known += [shape, dtype]
        maker = id(aligned_empty) if j in function.aligned else 0
        recipes.append([maker, len(port.shape), shape.ctypes.data, id(dtype), dtype.itemsize, 0])
    return recipes


def _moves(function: Function, written: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Return which arrays that are made are copied to which arguments, and of how many bytes an element is."""
    made = [j for j, port in enumerate(function.outputs) if port.is_array and j not in function.placed]
    ports = [(k, j, function.outputs[j]) for k, j in written if j in made]
    return [[k, made.index(j), port.dtype.itemsize, 0] for k, j, port in ports]


def _results(function: Function, results: Sequence[tuple[str, Any]], known: list[Any]) -> list[list[int]] | None:
    """Return the records of results."""
    slots = list(accumulate([port.words for port in function.outputs], initial=0))
    made = [j for j, port in enumerate(function.outputs) if port.is_array and j not in function.placed]
    records = []
    for kind, which in results:
        port = function.outputs[which] if kind in ("output", "number") else None
        if kind == "argument":
            record = [_ARGUMENT, which, 0]
        elif kind == "constant":
            known.append(which)
            record = [_CONSTANT, id(which), 0]
        elif port is None or port.grows or (port.is_array and (which not in made or kind == "number")):
            return None
        elif port.is_array:
            record = [_MADE_ONE, made.index(which), 0]
        elif kind == "output":
            dtype = np.dtype(port.dtype)
            known.append(dtype)
            record = [_SCALAR, id(dtype), slots[which]]
        elif port.dtype in (np.float64, np.int64):
            record = [_FLOAT if port.dtype == np.float64 else _INT, 0, slots[which]]
        else:
            return None
        records.append([*record, 0])
    return records


@lru_cache(maxsize=1)
def _code() -> Code | None:
    """Return the code that looks at objects; None where they are not as it knows them."""
    if sys.implementation.name != "cpython" or not _is_known():
        return None
    table = _table()
    if table is None:
        return None
    addresses = {"autoloop_empty": table[_EMPTY], "autoloop_scalar": table[_MAKE_SCALAR]}
    return compile_ir(code("entered", **_SIZES, name="{name}"), addresses, default_cache())


def _table() -> Any:
    """Return NumPy's table of functions, which extensions are compiled against; None where it cannot be found."""
    get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    try:
        address = get(vars(importlib.import_module("numpy._core._multiarray_umath"))["_ARRAY_API"], None)
    except (ImportError, KeyError, ValueError):
        return None
    table = (ctypes.c_void_p * (_EMPTY + 1)).from_address(address)
    return table if table[_TYPE] == id(np.ndarray) else None


def _is_known() -> bool:
    """Return whether objects lie in memory as they do in all of Python 3.11 to 3.14 with a lock of the interpreter."""
    array = np.zeros((3, 5), np.float32)[:, ::2]
    word, half = ctypes.c_uint64.from_address, ctypes.c_int32.from_address
    at = id(array)
    if not getattr(sys, "_is_gil_enabled", lambda: True)() or DATA_OFFSET != 16 or word(at + 8).value != id(np.ndarray):
        return False
    if half(at + 24).value != 2 or word(at + 56).value != id(array.dtype):
        return False
    shape, strides = [(ctypes.c_int64 * 2).from_address(word(at + 8 * k).value) for k in (4, 5)]
    flags = (array, np.zeros(3), np.frombuffer(bytes(16), np.uint8)[1:9].view(np.int64))
    return (
        (*shape,) == array.shape and (*strides,) == array.strides
        and all(half(id(one) + 64).value & 0xFFFF == one.flags.num & 0xFFFF for one in flags)
    )  # fmt: skip


@lru_cache(maxsize=1)
def _maker() -> Any:
    """Return Python's function that makes a function of a ``PyMethodDef`` and its ``self``."""
    kind = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p)
    return kind(("PyCMethod_New", ctypes.pythonapi))
