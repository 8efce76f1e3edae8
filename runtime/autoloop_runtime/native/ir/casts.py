"""Conversions between element types, with the results NumPy gets on the same machine.

C leaves a float that does not fit an integer undefined, and so does LLVM. NumPy's compiled loops give what the
processor gives: on x86 the smallest integer of the conversion's width, elsewhere the nearest integer that fits.
That width is 64 bits for integers of 64 and for unsigned ones of 32, and 32 bits for all others.

Of arrays that lie in one piece NumPy makes unsigned integers of 32 bits several at a time, with instructions of 32
bits, but for what is left over at the end: what becomes of a float that does not fit then depends on where it stands.
``in_doubt`` says of which arrays that is so, ``not_in_doubt`` of which elements both ways give the same.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence

from .elements import BOOL, DOUBLE, FLOAT, HALF, INT32, INT64, LType, literal
from .writer import Module, Writer

_X86 = platform.machine() in ("x86_64", "AMD64", "i686")

#: the nearest half to a double, by way of a float that is rounded to odd (rounding twice to nearest would be wrong)
_HALF_OF_DOUBLE = """
define internal half @half_of_double(double %x) alwaysinline nounwind willreturn memory(none) {
  %f = fptrunc double %x to float
  %back = fpext float %f to double
  %inexact = fcmp one double %back, %x
  %af = call double @llvm.fabs.f64(double %back)
  %ax = call double @llvm.fabs.f64(double %x)
  %above = fcmp ogt double %af, %ax
  %bits = bitcast float %f to i32
  %step = sext i1 %above to i32
  %below = add i32 %bits, %step
  %odd = or i32 %below, 1
  %chosen = select i1 %inexact, i32 %odd, i32 %bits
  %g = bitcast i32 %chosen to float
  %h = fptrunc float %g to half
  ret half %h
}"""


def cast(writer: Writer, module: Module, value: str, source: LType, target: LType) -> str:
    """Return ``value`` of type ``source`` as ``target``."""
    if source == target:
        return value
    if target.kind == "c":
        return _to_complex(writer, module, value, source, target)
    if source.kind == "c":
        return _from_complex(writer, module, value, source, target)
    if target is BOOL:
        compare = "fcmp une" if source.kind == "f" else "icmp ne"
        return writer.let(f"{compare} {source.name} {value}, {literal(0, source)}")
    if source.kind == "f":
        if target.kind == "f":
            return _resize(writer, module, value, source, target)
        if source is HALF:
            wide = writer.let(f"fpext half {value} to float")
            return _float_to_int(writer, wide, FLOAT, target)
        return _float_to_int(writer, value, source, target)
    if target.kind == "f":
        convert = "sitofp" if source.kind == "i" else "uitofp"
        if target is HALF:
            wide = writer.let(f"{convert} {source.name} {value} to float")
            return writer.let(f"fptrunc float {wide} to half")
        return writer.let(f"{convert} {source.name} {value} to {target.name}")
    if source.size == target.size and source is not BOOL:
        return value
    if target.size < source.size:
        return writer.let(f"trunc {source.name} {value} to {target.name}")
    extend = "sext" if source.kind == "i" else "zext"
    return writer.let(f"{extend} {source.name} {value} to {target.name}")


def parts_of(writer: Writer, value: str, t: LType) -> list[str]:
    """Return the parts of a complex number."""
    return [writer.let(f"extractelement {t.name} {value}, i32 {k}") for k in (0, 1)]


def joined(writer: Writer, parts: Sequence[str], t: LType) -> str:
    """Return the complex number of these parts."""
    half = writer.let(f"insertelement {t.name} undef, {t.part.name} {parts[0]}, i32 0")
    return writer.let(f"insertelement {t.name} {half}, {t.part.name} {parts[1]}, i32 1")


def _to_complex(writer: Writer, module: Module, value: str, source: LType, target: LType) -> str:
    if source.kind == "c":
        change = "fpext" if target.size > source.size else "fptrunc"
        found = [
            writer.let(f"{change} {source.part.name} {v} to {target.part.name}")
            for v in parts_of(writer, value, source)
        ]
        return joined(writer, found, target)
    part = cast(writer, module, value, source, target.part)
    return writer.let(f"insertelement {target.name} zeroinitializer, {target.part.name} {part}, i32 0")


def _from_complex(writer: Writer, module: Module, value: str, source: LType, target: LType) -> str:
    """Return the real part; as a boolean, whether either part is not zero."""
    if target is BOOL:
        parts = [writer.let(f"fcmp une {source.part.name} {v}, 0.0") for v in parts_of(writer, value, source)]
        return writer.let(f"or i1 {parts[0]}, {parts[1]}")
    part = writer.let(f"extractelement {source.name} {value}, i32 0")
    return cast(writer, module, part, source.part, target)


def _resize(writer: Writer, module: Module, value: str, source: LType, target: LType) -> str:
    if target.size > source.size:
        return writer.let(f"fpext {source.name} {value} to {target.name}")
    if source is DOUBLE and target is HALF:
        module.define("half_of_double", lambda: _HALF_OF_DOUBLE)
        return writer.let(f"call half @half_of_double(double {value})")
    return writer.let(f"fptrunc {source.name} {value} to {target.name}")


def _float_to_int(writer: Writer, value: str, source: LType, target: LType) -> str:
    if not _X86:
        how = "fptosi" if target.kind == "i" else "fptoui"
        name = f"@llvm.{how}.sat.{target.suffix}.{source.suffix}"
        return writer.let(f"call {target.name} {name}({source.name} {value})")
    wide = INT64 if target.size == 8 or _is_u4(target) else INT32
    if target.kind == "u" and target.size == 8:
        # from 2**63 on: less that much, and the top bit set
        half = 2**63
        edge = literal(half, source)
        high = writer.let(f"fcmp oge {source.name} {value}, {edge}")
        less = writer.let(f"fsub {source.name} {value}, {edge}")
        low = _truncated(writer, value, source, wide)
        top = writer.let(f"xor {wide.name} {_truncated(writer, less, source, wide)}, {-half}")
        return writer.let(f"select i1 {high}, {wide.name} {top}, {wide.name} {low}")
    whole = _truncated(writer, value, source, wide)
    return whole if wide.size == target.size else writer.let(f"trunc {wide.name} {whole} to {target.name}")


def in_doubt(source: LType, target: LType, size: int) -> bool:
    """Return whether NumPy's answer for an array of ``size`` elements may depend on where an element stands."""
    several = 4  # fewer than that are done one by one, however wide the instructions are that NumPy was built with
    return _X86 and source.kind in "fc" and source.part is not HALF and _is_u4(target) and size >= several


def not_in_doubt(writer: Writer, value: str, source: LType) -> str:
    """Return whether an unsigned integer of 32 bits made of ``value`` is the same wherever it stands."""
    if source.kind == "c":
        value, source = writer.let(f"extractelement {source.name} {value}, i32 0"), source.part
    low = f"fcmp oge {source.name} {value}, {literal(-(2.0**31), source)}"
    high = f"fcmp olt {source.name} {value}, {literal(2.0**32, source)}"
    return writer.let(f"and i1 {writer.let(low)}, {writer.let(high)}")


def _is_u4(target: LType) -> bool:
    return (target.kind, target.size) == ("u", 4)


def _truncated(writer: Writer, value: str, source: LType, wide: LType) -> str:
    """Return the conversion instruction of x86: what does not fit becomes the smallest integer."""
    edge = 2.0 ** (8 * wide.size - 1)
    under = writer.let(f"fcmp olt {source.name} {value}, {literal(edge, source)}")
    # for a float the smallest integer itself is exact; for a double anything down to one below it still fits
    below = -edge - 1.0 if source is DOUBLE and wide is INT32 else -edge
    how = "ogt" if below != -edge else "oge"
    over = writer.let(f"fcmp {how} {source.name} {value}, {literal(below, source)}")
    fits = writer.let(f"and i1 {under}, {over}")
    whole = writer.let(f"fptosi {source.name} {value} to {wide.name}")
    safe = writer.let(f"freeze {wide.name} {whole}")
    smallest = literal(-(2 ** (8 * wide.size - 1)), wide)
    return writer.let(f"select i1 {fits}, {wide.name} {safe}, {wide.name} {smallest}")
