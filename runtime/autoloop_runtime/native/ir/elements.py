"""NumPy dtypes as LLVM sees them: in registers, in memory, and as literals."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from ...base.dataclass import dataclass
from ...base.dtypes import DType


@dataclass(frozen=True)
class LType:
    """One element type.

    Attributes
    ----------
    name : str
        The LLVM type of a value in a register.
    memory : str
        The LLVM type of an element in memory; booleans take a byte there.
    size : int
        Bytes in memory.
    kind : {"b", "i", "u", "f", "c", "p"}
        Boolean, signed, unsigned, floating, complex, address.
    suffix : str
        How the names of overloaded intrinsics end for this type.
    """

    name: str
    memory: str
    size: int
    kind: str
    suffix: str

    @property
    def align(self) -> int:
        """The bytes of which an address of an element is a multiple."""
        return self.size // 2 if self.kind == "c" else self.size

    @property
    def part(self) -> LType:
        """The type of the parts of a complex number; any other type is its own."""
        return PARTS.get(self, self)

    @property
    def words(self) -> int:
        """How many words of 8 bytes a value takes where each begins a new one."""
        return -(-self.size // 8)


BOOL = LType("i1", "i8", 1, "b", "i1")
INT32 = LType("i32", "i32", 4, "i", "i32")
INT64 = LType("i64", "i64", 8, "i", "i64")
HALF = LType("half", "half", 2, "f", "f16")
FLOAT = LType("float", "float", 4, "f", "f32")
DOUBLE = LType("double", "double", 8, "f", "f64")
#: real and imaginary part, as NumPy has them in memory
COMPLEX64 = LType("<2 x float>", "<2 x float>", 8, "c", "v2f32")
COMPLEX128 = LType("<2 x double>", "<2 x double>", 16, "c", "v2f64")
PARTS = {COMPLEX64: FLOAT, COMPLEX128: DOUBLE}
#: the address of a stack of saved values
POINTER = LType("ptr", "ptr", 8, "p", "p0")

#: every dtype that machine code is made for
TYPES: dict[DType, LType] = {
    np.dtype(np.bool_): BOOL,
    np.dtype(np.float16): HALF,
    np.dtype(np.float32): FLOAT,
    np.dtype(np.float64): DOUBLE,
    np.dtype(np.complex64): COMPLEX64,
    np.dtype(np.complex128): COMPLEX128,
    **{np.dtype(f"i{n}"): LType(f"i{8 * n}", f"i{8 * n}", n, "i", f"i{8 * n}") for n in (1, 2, 4, 8)},
    **{np.dtype(f"u{n}"): LType(f"i{8 * n}", f"i{8 * n}", n, "u", f"i{8 * n}") for n in (1, 2, 4, 8)},
}


def literal(value: Any, t: LType) -> str:
    """Return ``value`` written as an LLVM constant of type ``t``."""
    if t.kind == "b":
        return "true" if value else "false"
    if t.kind == "c":
        return f"<{','.join(f'{t.part.name} {literal(v, t.part)}' for v in (value.real, value.imag))}>"
    if t.kind in "iu":
        bits = 8 * t.size
        number = int(value) % (1 << bits)
        return str(number - (1 << bits) if number >> (bits - 1) else number)
    if t is HALF:
        return "0xH" + struct.pack(">e", float(value)).hex().upper()
    # a float is written as the double of the same value
    with np.errstate(all="ignore"):
        return "0x" + struct.pack(">d", float(value)).hex().upper()
