"""Machine code whose operations on floats have the floating-point errors that the user's have: IR in which LLVM leaves
none of them out, nor computes any beforehand.

The processor notes errors in flags that stay set (``fp_flags``). LLVM knows nothing of them: it may leave out what no
result needs, do it only where that is needed, or know the result beforehand. Of *constrained* operations it does none
of that, nor does it put several of them into one of vectors.
"""

from __future__ import annotations

import re

_EXCEPT = 'metadata !"fpexcept.strict"'
_HOW = f'metadata !"round.tonearest", {_EXCEPT}'
_TYPE = r"(?:half|float|double|<\d+ x (?:half|float|double)>)"
_TWO = re.compile(rf"= f(add|sub|mul|div|rem) ({_TYPE}) ([^,\n]+), ([^,\n]+)")
_ROOT = re.compile(rf"= call ({_TYPE}) @llvm\.sqrt\.\w+\({_TYPE} ([^,\n)]+)\)")
_SHORTER = re.compile(rf"= fptrunc ({_TYPE}) ([^,\n]+) to ({_TYPE})")
_WHOLE = re.compile(rf"= fpto([su])i ({_TYPE}) ([^,\n]+) to (i\d+)")
_DEFINED = re.compile(r"^(define .*) \{$", re.MULTILINE)
_VECTORS = re.compile(r' "vector-function-abi-variant"="[^"]*"')


def strict(ir: str) -> str:
    """Return ``ir`` with all operations on floats strict, but for those that may be done in any order: who writes them
    knows that they have no errors, see ``bounded_sums``."""
    made = _VECTORS.sub("", ir).replace("willreturn memory(none)", "memory(inaccessiblemem: readwrite) strictfp")
    made = _TWO.sub(
        lambda m: (
            f"= call {m[2]} @llvm.experimental.constrained.f{m[1]}.{_suffix(m[2])}"
            f"({m[2]} {m[3]}, {m[2]} {m[4]}, {_HOW}) strictfp"
        ),
        made,
    )
    made = _ROOT.sub(
        lambda m: f"= call {m[1]} @llvm.experimental.constrained.sqrt.{_suffix(m[1])}({m[1]} {m[2]}, {_HOW}) strictfp",
        made,
    )
    made = _SHORTER.sub(
        lambda m: (
            f"= call {m[3]} @llvm.experimental.constrained.fptrunc.{_suffix(m[3])}.{_suffix(m[1])}"
            f"({m[1]} {m[2]}, {_HOW}) strictfp"
        ),
        made,
    )
    made = _WHOLE.sub(
        lambda m: (
            f"= call {m[4]} @llvm.experimental.constrained.fpto{m[1]}i.{m[4]}.{_suffix(m[2])}"
            f"({m[2]} {m[3]}, {_EXCEPT}) strictfp"
        ),
        made,
    )
    return _DEFINED.sub(lambda m: m[1] + ("" if "strictfp" in m[1] else " strictfp") + " {", made)


def _suffix(type_name: str) -> str:
    """Return how the names of intrinsics for a type end."""
    count, _, element = type_name.strip("<>").rpartition(" x ")
    short = {"half": "f16", "float": "f32", "double": "f64"}[element]
    return f"v{count}{short}" if count else short
