"""The compiled libraries that machine code calls: the C mathematics library and its SIMD sister libmvec."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib
import platform
from functools import lru_cache
from typing import Any

from ...base.dataclass import dataclass
from ...base.forks import undivided
from ..ir.elements import FLOAT, LType

#: machine -> (letter of the vector ABI, CPU feature that it needs, bits of a vector), widest first
_VECTOR_ABI: dict[str, tuple[tuple[str, str, int], ...]] = {
    "x86_64": (("e", "avx512f", 512), ("d", "avx2", 256), ("b", "sse2", 128)),
    "aarch64": (("n", "neon", 128),),
}


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


@lru_cache(maxsize=1)
def _libm() -> Any:
    return ctypes.CDLL(ctypes.util.find_library("m") or None)


@lru_cache(maxsize=1)
def _libmvec() -> Any:
    """Return libmvec, if there is one; it lives as long as the process, like all that is loaded."""
    try:
        return ctypes.CDLL("libmvec.so.1")
    except OSError:
        return None


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
            self.addresses[symbol] = _address(getattr(_libm(), c_name))
        variants = _variants(c_name, t.size, arguments, symbol, self.features)
        for variant, address in variants:
            self.addresses[variant.symbol] = address
        return Function(symbol, tuple([v for v, _ in variants]))

    def blas(self, name: str) -> str | None:
        """Return the symbol of a BLAS routine, ``None`` without SciPy."""
        address = _blas(name)
        if address is None:
            return None
        self.addresses[f"autoloop_{name}"] = address
        return f"autoloop_{name}"

    def vector_bits(self) -> int:
        """Return the width of the widest vectors of this CPU that have functions, 0 if none have."""
        table = _VECTOR_ABI.get(platform.machine(), ())
        return next((bits for _, feature, bits in table if feature in self.features), 0)


@lru_cache(maxsize=8)
def _blas(name: str) -> int | None:
    """Return the address of a BLAS routine that SciPy exports to Cython."""
    try:
        with undivided():
            capsules = importlib.import_module("scipy.linalg.cython_blas").__pyx_capi__
    except ImportError:
        return None
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype = ctypes.c_char_p
    api.PyCapsule_GetName.argtypes = [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    capsule = capsules[name]
    address: int | None = api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule))
    return address


def c_address(name: str) -> int | None:
    """Return where a function of the C library is that LLVM calls by itself, such as memset;
    ``None`` if there is none."""
    for library in (ctypes.CDLL(None), _libm()):
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
