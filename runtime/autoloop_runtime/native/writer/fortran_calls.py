"""Calls of routines of BLAS and LAPACK, which take the address of everything and count columns first."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.elements import COMPLEX64, COMPLEX128, DOUBLE, FLOAT, LType, literal
from ..ir.moving import Extent
from .context import Context
from .steps import Step

#: what the names of the routines for each type begin with
_LETTERS = {FLOAT: "s", DOUBLE: "d", COMPLEX64: "c", COMPLEX128: "z"}


def has_fortran(ctx: Context, name: str, t: LType) -> bool:
    """Return whether there is a routine ``name`` (without the letter of the type) for ``t``."""
    letter = _LETTERS.get(t)
    return letter is not None and ctx.libraries.fortran(letter + name) is not None


def call_fortran(ctx: Context, name: str, t: LType, args: Sequence[str | int | float]) -> bool:
    """Call a routine; false if it is not there.

    ``args`` are addresses (text that begins with %), letters, integers, and numbers of type ``t``.
    """
    letter = _LETTERS.get(t)
    symbol = None if letter is None else ctx.libraries.fortran(letter + name)
    if symbol is None:
        return False
    ctx.calls_blas = True
    writer, place, pointers = ctx.writer, ctx.buffer(16 * len(args)).pointer, []
    for position, arg in enumerate(args):
        if isinstance(arg, str) and arg.startswith("%"):
            pointers.append(arg)
            continue
        pointers.append(writer.let(f"getelementptr i64, ptr {place}, i64 {2 * position}"))
        if isinstance(arg, float):
            writer.do(f"store {t.name} {literal(arg, t)}, ptr {pointers[-1]}")
        else:
            type_name, number = ("i8", str(ord(arg))) if isinstance(arg, str) else ("i32", _number(ctx, arg))
            if isinstance(arg, (Extent, Step)):
                number = writer.let(f"trunc i64 {number} to i32")
            writer.do(f"store {type_name} {number}, ptr {pointers[-1]}")
    ctx.module.declare(f"void @{symbol}({', '.join(['ptr'] * len(args))})")
    writer.do(f"call void @{symbol}({', '.join(f'ptr {p}' for p in pointers)})")
    return True


def _number(ctx: Context, number: int) -> str:
    return ctx.step(number) if isinstance(number, Step) else ctx.extent(number)
