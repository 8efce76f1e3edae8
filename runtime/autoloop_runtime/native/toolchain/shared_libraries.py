"""The libraries that machine code calls: the C mathematics library, its SIMD sister libmvec, BLAS and LAPACK."""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import platform
import re
import sys
from functools import lru_cache
from importlib.machinery import EXTENSION_SUFFIXES
from typing import Any

import numpy as np

from ...base.dataclass import dataclass
from ...base.forks import undivided
from ..ir.elements import FLOAT, LType

#: machine -> (letter of the vector ABI, CPU feature that it needs, bits of a vector), widest first
_VECTOR_ABI: dict[str, tuple[tuple[str, str, int], ...]] = {
    "x86_64": (("e", "avx512f", 512), ("d", "avx2", 256), ("b", "sse2", 128)),
    "aarch64": (("n", "neon", 128),),
}
#: machine -> bytes of an element -> what the CPU must have for NumPy to sort such by vectors
_SORTS_NEED: dict[str, dict[int, frozenset[str]]] = {
    "x86_64": {2: frozenset(["avx512vbmi2"]), 4: frozenset(["avx2"]), 8: frozenset(["avx2"])},
    "aarch64": dict.fromkeys((2, 4, 8), frozenset(["neon"])),
}
#: places in what NumPy 2 promises to programs in C: the function that gives a dtype's table, and the sort in that
_TABLE_OF_DTYPE, _SORT_IN_TABLE = 365, 33
#: the functions of complex numbers that NumPy has of C
_OF_COMPLEX = frozenset(
    [
        "cexp",
        "clog",
        "csqrt",
        "csin",
        "ccos",
        "ctan",
        "csinh",
        "ccosh",
        "ctanh",
        "casin",
        "cacos",
        "catan",
        "casinh",
        "cacosh",
        "catanh",
    ]
)
#: the types of a routine's arguments in the name of its capsule; Cython writes those of SciPy with the module's name
_C_TYPES = rb"(?:__pyx_t_\w+cython_(?:blas|lapack)_|__pyx_t_)?(\w+) \*"
#: those that routines are called with
_CALLED = {b"char", b"int", b"s", b"d", b"c", b"z", b"float_complex", b"double_complex"}


@dataclass(frozen=True)
class Variant:
    """A SIMD form of a function.

    Attributes
    ----------
    lanes : int
        How many values it takes at once.
    symbol : str
        Its name in libmvec.
    mapping : str
        How LLVM's vectoriser is told of it.
    """

    lanes: int
    symbol: str
    mapping: str


@dataclass(frozen=True)
class Function:
    """A function of the C library for one type: the symbol it goes by here, and its SIMD forms."""

    symbol: str
    variants: tuple[Variant, ...]


@lru_cache(maxsize=2)
def libm(kind: Any = ctypes.CDLL) -> Any:
    """Return the C library's functions of floats; ``kind``: ctypes' way to call them."""
    if sys.platform == "linux":  # what it is called there; to look for it starts programs, and loads what starts them
        with contextlib.suppress(OSError):
            return kind("libm.so.6")
    with undivided():
        from ctypes.util import find_library

    return kind(find_library("m") or None)


@lru_cache(maxsize=1)
def _libmvec() -> Any:
    """Return libmvec, if there is one; it lives as long as the process, like all that is loaded."""
    try:
        return ctypes.CDLL("libmvec.so.1")
    except OSError:
        return None


@lru_cache(maxsize=64)
def has_complex_function(name: str) -> bool:
    """Return whether NumPy calls the function ``name`` of the C library for complex numbers, and it is known how to
    call it: glibc's."""
    known = sys.platform == "linux" and platform.machine() in _VECTOR_ABI and platform.libc_ver()[0] == "glibc"
    return known and name in _OF_COMPLEX


class Libraries:
    """The functions that machine code for this CPU may call.

    Parameters
    ----------
    features : collection of str
        What the CPU has.

    Attributes
    ----------
    addresses : dict of str to int
        Where each symbol is that was asked for.
    """

    def __init__(self, features: frozenset[str]) -> None:
        self.features = features
        self.addresses: dict[str, int] = {}

    def function(self, name: str, t: LType, arguments: int) -> Function:
        """Return the C function ``name`` of so many arguments for ``t``."""
        c_name = name + ("f" if t is FLOAT else "")
        # a name that LLVM does not know: it must not take the function for one of its own intrinsics,
        # for which it has no SIMD form
        symbol = f"autoloop_{c_name}"
        if symbol not in self.addresses:
            self.addresses[symbol] = _address(getattr(libm(), c_name))
        variants = _variants(c_name, t.size, arguments, symbol, self.features)
        for variant, address in variants:
            self.addresses[variant.symbol] = address
        return Function(symbol, tuple([v for v, _ in variants]))

    def complex_function(self, name: str, t: LType) -> tuple[str, bool]:
        """Return the symbol of the C function ``name`` of complex numbers with parts ``t``, and whether such a number
        is one vector to it rather than two numbers."""
        c_name = name + ("f" if t is FLOAT else "")
        symbol = f"autoloop_{c_name}"
        if symbol not in self.addresses:
            self.addresses[symbol] = _address(getattr(libm(), c_name))
        return symbol, t is FLOAT and platform.machine() == "x86_64"

    def fortran(self, name: str) -> str | None:
        """Return the symbol of a routine of BLAS or LAPACK, ``None`` without SciPy."""
        address = _fortran(name)
        if address is None:
            return None
        self.addresses[f"autoloop_{name}"] = address
        return f"autoloop_{name}"

    def vector_sort(self, t: LType) -> str | None:
        """Return the symbol of NumPy's function ``int f(elements, count, null)`` that sorts elements of type ``t``,
        nan last; ``None`` where it has none that uses vectors."""
        needed = _SORTS_NEED.get(platform.machine(), {}).get(t.size)
        if t.kind not in "iuf" or (t.kind == "f" and t.size < 4) or needed is None or not needed <= self.features:
            return None
        address = _numpy_sort(f"{t.kind}{t.size}")
        if address is None:
            return None
        self.addresses[f"autoloop_sort_{t.kind}{t.size}"] = address
        return f"autoloop_sort_{t.kind}{t.size}"

    def vector_bits(self) -> int:
        """Return the width of the widest vectors of this CPU that have functions, 0 if none have."""
        table = _VECTOR_ABI.get(platform.machine(), ())
        return next((bits for _, feature, bits in table if feature in self.features), 0)

    def attributes(self) -> str:
        """Return what LLVM is told of a function with loops, and of one that such a function becomes a part of.

        Without the width it would take narrower vectors. Those that it keeps in memory while functions are called lie
        where the stack happens to be: across two lines, or even pages, they take two to six times as long as all else.
        """
        bits = self.vector_bits()
        return f' "prefer-vector-width"="{bits}" alignstack({bits // 8})' if bits else ""


@lru_cache(maxsize=64)
def _fortran(name: str) -> int | None:
    """Return the address of a routine that SciPy exports to Cython."""
    try:
        with undivided():
            capsule = next((found for one in ("blas", "lapack") if (found := _exported(one).get(name))), None)
    except ImportError:
        return None
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype = ctypes.c_char_p
    api.PyCapsule_GetName.argtypes = [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    signature = None if capsule is None else api.PyCapsule_GetName(capsule)
    # a capsule is named after the routine's C type; integers of 64 bits are not what is handed over here
    if signature is None or not set(re.findall(_C_TYPES, signature)) <= _CALLED:
        return None
    address: int | None = api.PyCapsule_GetPointer(capsule, signature)
    return address


@lru_cache(maxsize=2)
def _exported(library: str) -> dict[str, Any]:
    """Return what SciPy's ``cython_blas`` or ``cython_lapack`` exports to Cython.

    The module is loaded without the package it is in, of which nothing else is wanted: to load that takes a fifth of a
    second. Who imports it later gets the same module.
    """
    name = f"scipy.linalg.cython_{library}"
    if not sys.modules.keys() & {"scipy.linalg", name} and (path := _extension(name)) is not None:
        spec = importlib.util.spec_from_file_location(name, path)
        try:
            assert spec is not None and spec.loader is not None
            made = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(made)
            return dict(made.__pyx_capi__)
        except (ImportError, AttributeError):  # it needs more of the package
            pass
        finally:
            sys.modules.pop(name, None)  # an import of it is to tell the package, too
    return dict(importlib.import_module(name).__pyx_capi__)


def _extension(name: str) -> str | None:
    """Return the file of a module in C of SciPy's; None if there is none where modules usually lie."""
    folder = os.path.dirname(importlib.import_module("scipy").__file__ or "")
    paths = [os.path.join(folder, *name.split(".")[1:]) + suffix for suffix in EXTENSION_SUFFIXES]
    return next(filter(os.path.exists, paths), None)


@lru_cache(maxsize=16)
def _numpy_sort(dtype: str) -> int | None:
    """Return the address of NumPy's quicksort of elements in memory, which needs neither an array nor the lock.

    It is found as programs in C find it: through the table of functions that ``import_array`` loads, and the table of
    the dtype, ``PyArray_ArrFuncs``.
    """
    if np.lib.NumpyVersion(np.__version__).major != 2 or sys.implementation.name != "cpython":
        return None
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    functions = pointer(vars(importlib.import_module("numpy._core._multiarray_umath"))["_ARRAY_API"], None)
    table_of = ctypes.c_void_p.from_address(functions + 8 * _TABLE_OF_DTYPE).value or 0
    table = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(table_of)(np.dtype(dtype))
    return ctypes.c_void_p.from_address(table + 8 * _SORT_IN_TABLE).value


def c_address(name: str) -> int | None:
    """Return where a function of the C library is that LLVM calls by itself, such as memset;
    ``None`` if there is none."""
    for library in (ctypes.CDLL(None), libm()):
        found = getattr(library, name, None)
        if found is not None:
            return _address(found)
    return None


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


@lru_cache(maxsize=256)
def _variants(
    c_name: str, size: int, arguments: int, symbol: str, features: frozenset[str]
) -> tuple[tuple[Variant, int], ...]:
    library = _libmvec()
    found = []
    for letter, feature, bits in _VECTOR_ABI.get(platform.machine(), ()):
        lanes = bits // (8 * size)
        name = f"_ZGV{letter}N{lanes}{'v' * arguments}_{c_name}"
        function = getattr(library, name, None) if library is not None and feature in features else None
        if function is not None:
            mapping = f"_ZGV_LLVM_N{lanes}{'v' * arguments}_{symbol}({name})"
            found.append((Variant(lanes, name, mapping), _address(function)))
    return tuple(found)
