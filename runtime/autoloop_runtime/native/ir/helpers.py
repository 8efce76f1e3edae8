"""LLVM functions for what takes more than a few instructions to do as NumPy does it.

``$t`` is the type, ``$s`` the suffix of its intrinsics, ``$f`` the function's own name, ``$i`` the integer type
of the same width, ``$bits`` its width, ``$r`` the type of the parts of a complex number. They are inlined.
"""

from __future__ import annotations

from collections.abc import Callable

from .elements import PARTS
from .writer import filled, symbol_of


def _extreme(name: str, better: str) -> str:
    """Return of two numbers the better one, of two equal ones the second; nan if either is."""
    return f"""
define internal $t $f($t %x, $t %y) alwaysinline nounwind willreturn memory(none) {{
  %{name} = fcmp {better} $t %x, %y
  %a = select i1 %{name}, $t %x, $t %y
  %nan = fcmp uno $t %x, %x
  %b = select i1 %nan, $t %x, $t %a
  ret $t %b
}}"""


def _first_extreme(kept: str) -> str:
    """Return the same, of two equal ones the first."""
    return f"""
define internal $t $f($t %x, $t %y) alwaysinline nounwind willreturn memory(none) {{
  %kept = fcmp {kept} $t %x, %y
  %nan = fcmp uno $t %y, %y
  %other = fcmp ord $t %x, %x
  %late = and i1 %nan, %other
  %a = select i1 %kept, $t %x, $t %y
  %b = select i1 %late, $t %y, $t %a
  ret $t %b
}}"""


def _shift(instruction: str) -> str:
    """Return a shift that brings in zeros, and leaves only them for a number of bits that the type has not."""
    return f"""
define internal $t $f($t %x, $t %y) alwaysinline nounwind willreturn memory(none) {{
  %fits = icmp ult $t %y, $bits
  %n = select i1 %fits, $t %y, $t 0
  %v = {instruction} $t %x, %n
  %a = select i1 %fits, $t %v, $t 0
  ret $t %a
}}"""


def _by_parts(instruction: str) -> str:
    """Return what is done to the real parts, and to the imaginary ones.

    Numbers are taken apart for it: LLVM makes vectors of the numbers of several rounds, not where they are vectors.
    """
    return f"""
define internal $t $f($t %x, $t %y) alwaysinline nounwind willreturn memory(none) {{
  %xr = extractelement $t %x, i32 0
  %xi = extractelement $t %x, i32 1
  %yr = extractelement $t %y, i32 0
  %yi = extractelement $t %y, i32 1
  %re = {instruction} $r %xr, %yr
  %im = {instruction} $r %xi, %yi
  %c = insertelement $t undef, $r %re, i32 0
  %z = insertelement $t %c, $r %im, i32 1
  ret $t %z
}}"""


#: name -> text; the name's last letter says for which kind of type
TEXTS: dict[str, str] = {
    # NumPy: 0 for a zero divisor, the quotient rounded down, and the smallest integer by -1 wraps
    "floordiv_i": """
define internal $t $f($t %x, $t %y) alwaysinline nounwind willreturn memory(none) {
  %zero = icmp eq $t %y, 0
  %minus = icmp eq $t %y, -1
  %odd = or i1 %zero, %minus
  %d = select i1 %odd, $t 1, $t %y
  %q = sdiv $t %x, %d
  %r = srem $t %x, %d
  %rest = icmp ne $t %r, 0
  %signs = xor $t %x, %d
  %differ = icmp slt $t %signs, 0
  %down = and i1 %rest, %differ
  %step = sext i1 %down to $t
  %floor = add $t %q, %step
  %negated = sub $t 0, %x
  %a = select i1 %minus, $t %negated, $t %floor
  %b = select i1 %zero, $t 0, $t %a
  ret $t %b
}""",
    "floordiv_u": """
define internal $t $f($t %x, $t %y) alwaysinline nounwind willreturn memory(none) {
  %zero = icmp eq $t %y, 0
  %d = select i1 %zero, $t 1, $t %y
  %q = udiv $t %x, %d
  %a = select i1 %zero, $t 0, $t %q
  ret $t %a
}""",
    "mod_i": """
define internal $t $f($t %x, $t %y) alwaysinline nounwind willreturn memory(none) {
  %next = add $t %y, 1
  %odd = icmp ult $t %next, 2
  %d = select i1 %odd, $t 1, $t %y
  %r = srem $t %x, %d
  %rest = icmp ne $t %r, 0
  %signs = xor $t %r, %d
  %differ = icmp slt $t %signs, 0
  %up = and i1 %rest, %differ
  %step = select i1 %up, $t %d, $t 0
  %a = add $t %r, %step
  ret $t %a
}""",
    "mod_u": """
define internal $t $f($t %x, $t %y) alwaysinline nounwind willreturn memory(none) {
  %zero = icmp eq $t %y, 0
  %d = select i1 %zero, $t 1, $t %y
  %r = urem $t %x, %d
  ret $t %r
}""",
    # npy_divmod: the remainder has the sign of the divisor, the quotient is made from it
    "floordiv_f": """
define internal $t $f($t %x, $t %y) alwaysinline nounwind willreturn memory(none) {
  %ratio = fdiv $t %x, %y
  %r = frem $t %x, %y
  %whole = fsub $t %x, %r
  %q = fdiv $t %whole, %y
  %rest = fcmp une $t %r, 0.0
  %ny = fcmp olt $t %y, 0.0
  %nr = fcmp olt $t %r, 0.0
  %differ = xor i1 %ny, %nr
  %down = and i1 %rest, %differ
  %less = fsub $t %q, 1.0
  %d = select i1 %down, $t %less, $t %q
  %floor = call $t @llvm.floor.$s($t %d)
  %gap = fsub $t %d, %floor
  %far = fcmp ogt $t %gap, 0.5
  %more = fadd $t %floor, 1.0
  %near = select i1 %far, $t %more, $t %floor
  %nothing = call $t @llvm.copysign.$s($t 0.0, $t %ratio)
  %some = fcmp une $t %d, 0.0
  %a = select i1 %some, $t %near, $t %nothing
  %zero = fcmp oeq $t %y, 0.0
  %b = select i1 %zero, $t %ratio, $t %a
  ret $t %b
}""",
    "mod_f": """
define internal $t $f($t %x, $t %y) alwaysinline nounwind willreturn memory(none) {
  %r = frem $t %x, %y
  %ny = fcmp olt $t %y, 0.0
  %nr = fcmp olt $t %r, 0.0
  %differ = xor i1 %ny, %nr
  %up = fadd $t %r, %y
  %signed = select i1 %differ, $t %up, $t %r
  %nothing = call $t @llvm.copysign.$s($t 0.0, $t %y)
  %rest = fcmp une $t %r, 0.0
  %a = select i1 %rest, $t %signed, $t %nothing
  %zero = fcmp oeq $t %y, 0.0
  %b = select i1 %zero, $t %r, $t %a
  ret $t %b
}""",
    # a power by squaring; the exponent is not negative
    "pow_i": """
define internal $t $f($t %x, $t %y) nounwind willreturn memory(none) {
entry:
  br label %loop
loop:
  %base = phi $t [ %x, %entry ], [ %squared, %loop ]
  %left = phi $t [ %y, %entry ], [ %half, %loop ]
  %result = phi $t [ 1, %entry ], [ %next, %loop ]
  %bit = and $t %left, 1
  %odd = icmp ne $t %bit, 0
  %factor = select i1 %odd, $t %base, $t 1
  %next = mul $t %result, %factor
  %squared = mul $t %base, %base
  %half = lshr $t %left, 1
  %done = icmp eq $t %half, 0
  br i1 %done, label %end, label %loop
end:
  ret $t %next
}""",
    # a shift by as many bits as there are, or more, or by a negative number, leaves nothing (or the sign)
    "shl_iu": _shift("shl"),
    "shr_u": _shift("lshr"),
    "shr_i": """
define internal $t $f($t %x, $t %y) alwaysinline nounwind willreturn memory(none) {
  %last = sub $t $bits, 1
  %fits = icmp ult $t %y, $bits
  %n = select i1 %fits, $t %y, $t %last
  %a = ashr $t %x, %n
  ret $t %a
}""",
    "max_f": _extreme("more", "ogt"),
    "min_f": _extreme("less", "olt"),
    "first_max_f": _first_extreme("uge"),
    "first_min_f": _first_extreme("ule"),
    "sign_f": """
define internal $t $f($t %x) alwaysinline nounwind willreturn memory(none) {
  %more = fcmp ogt $t %x, 0.0
  %less = fcmp olt $t %x, 0.0
  %zero = fcmp oeq $t %x, 0.0
  %a = select i1 %zero, $t 0.0, $t %x
  %b = select i1 %less, $t -1.0, $t %a
  %c = select i1 %more, $t 1.0, $t %b
  ret $t %c
}""",
    "sign_i": """
define internal $t $f($t %x) alwaysinline nounwind willreturn memory(none) {
  %more = icmp sgt $t %x, 0
  %less = icmp slt $t %x, 0
  %a = zext i1 %more to $t
  %b = select i1 %less, $t -1, $t %a
  ret $t %b
}""",
    "add_c": _by_parts("fadd"),
    "subtract_c": _by_parts("fsub"),
    "negative_c": """
define internal $t $f($t %x) alwaysinline nounwind willreturn memory(none) {
  %xr = extractelement $t %x, i32 0
  %xi = extractelement $t %x, i32 1
  %re = fneg $r %xr
  %im = fneg $r %xi
  %c = insertelement $t undef, $r %re, i32 0
  %z = insertelement $t %c, $r %im, i32 1
  ret $t %z
}""",
    # all four products, and the sums of two
    "multiply_c": """
define internal $t $f($t %x, $t %y) alwaysinline nounwind willreturn memory(none) {
  %xr = extractelement $t %x, i32 0
  %xi = extractelement $t %x, i32 1
  %yr = extractelement $t %y, i32 0
  %yi = extractelement $t %y, i32 1
  %a = fmul $r %xr, %yr
  %b = fmul $r %xi, %yi
  %p = fmul $r %xr, %yi
  %q = fmul $r %xi, %yr
  %re = fsub $r %a, %b
  %im = fadd $r %p, %q
  %c = insertelement $t undef, $r %re, i32 0
  %z = insertelement $t %c, $r %im, i32 1
  ret $t %z
}""",
    # the same as NumPy's loops compute it of elements of arrays: of each sum one product is not rounded, where the
    # processor can do that
    "multiply_in_arrays_c": """
define internal $t $f($t %x, $t %y) alwaysinline nounwind willreturn memory(none) {
  %xr = extractelement $t %x, i32 0
  %xi = extractelement $t %x, i32 1
  %yr = extractelement $t %y, i32 0
  %yi = extractelement $t %y, i32 1
  %b = fmul $r %xi, %yi
  %less = fneg $r %b
  %q = fmul $r %xi, %yr
  %re = call $r @llvm.fmuladd.$s($r %xr, $r %yr, $r %less)
  %im = call $r @llvm.fmuladd.$s($r %xr, $r %yi, $r %q)
  %c = insertelement $t undef, $r %re, i32 0
  %z = insertelement $t %c, $r %im, i32 1
  ret $t %z
}""",
    # how long x is, as NumPy computes it of each element of an array: by way of the quotient of its parts
    "length_c": """
define internal $t $f($t %x) alwaysinline nounwind willreturn memory(none) {
  %xr = extractelement $t %x, i32 0
  %xi = extractelement $t %x, i32 1
  %a = call $r @llvm.fabs.$s($r %xr)
  %b = call $r @llvm.fabs.$s($r %xi)
  %less = fcmp olt $r %a, %b
  %most = select i1 %less, $r %b, $r %a
  %least = select i1 %less, $r %a, $r %b
  %ratio = fdiv $r %least, %most
  %square = call $r @llvm.fmuladd.$s($r %ratio, $r %ratio, $r 1.0)
  %root = call $r @llvm.sqrt.$s($r %square)
  %length = fmul $r %root, %most
  %both = fadd $r %a, %b
  %zero = fcmp oeq $r %both, 0.0
  %some = select i1 %zero, $r 0.0, $r %length
  %ar = fcmp oeq $r %a, 0x7FF0000000000000
  %br = fcmp oeq $r %b, 0x7FF0000000000000
  %endless = or i1 %ar, %br
  %y = select i1 %endless, $r 0x7FF0000000000000, $r %some
  %z = insertelement $t undef, $r %y, i32 0
  ret $t %z
}""",
}

_INTEGER_OF = {"half": "i16", "float": "i32", "double": "i64"}
_SUFFIX = {"half": "f16", "float": "f32", "double": "f64"}
_PART_OF = {t.name: part.name for t, part in PARTS.items()}


def text(name: str, type: str, filed: Callable[[str, dict[str, str]], str]) -> str:
    """Return the helper ``name`` written out for an LLVM type; ``filed`` does it for those too long for here."""
    integer, part = _INTEGER_OF.get(type, type), _PART_OF.get(type, type)
    words = {
        "t": type, "s": _SUFFIX.get(part, part), "i": integer, "bits": integer[1:], "r": part,
        "f": f"@{symbol_of(name, type)}",
    }  # fmt: skip
    return filled(TEXTS[name], words) if name in TEXTS else filed(name, words)
