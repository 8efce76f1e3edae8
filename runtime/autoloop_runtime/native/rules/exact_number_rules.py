"""Python numbers: arithmetic that ends the function where Python raises."""

from __future__ import annotations

from collections.abc import Sequence

from ...base.dtypes import int64
from ...ir.graph import Node
from ...ops.exact_numbers import (
    DIVISOR,
    EXACT_ADD,
    EXACT_FLOAT,
    EXACT_MULTIPLY,
    EXACT_POWER,
    EXACT_SHIFT,
    EXACT_SUBTRACT,
    FLOAT_POWER,
    PLACE,
    QUOTIENT_FITS,
    SHIFT_COUNT,
    TRUNCATED,
)
from ...ops.powers import POW
from ...ops.python_math import DEFINED, ROUNDED
from ..ir.casts import cast
from ..ir.elements import BOOL, DOUBLE, TYPES, LType, literal
from ..writer.context import Context
from ..writer.nests import apply
from ..writer.registry import UNDECIDED, rule
from ..writer.values import Scalar, Value

_WITH_OVERFLOW = {EXACT_ADD: "sadd", EXACT_SUBTRACT: "ssub", EXACT_MULTIPLY: "smul"}


@rule(*_WITH_OVERFLOW)
def _exact(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    x, y = map(ctx.scalar, values)
    name = f"@llvm.{_WITH_OVERFLOW[node.op]}.with.overflow.i64"
    ctx.module.declare(f"{{i64, i1}} {name}(i64, i64)")
    let = ctx.writer.let
    pair = let(f"call {{i64, i1}} {name}(i64 {x}, i64 {y})")
    ctx.check(let(f"xor i1 {let(f'extractvalue {{i64, i1}} {pair}, 1')}, true"), node, values)
    return [Scalar(let(f"extractvalue {{i64, i1}} {pair}, 0"), ctx.type_of(node.outputs[0]))]


@rule(DIVISOR, complexes=True)
def _divisor(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    t: LType = ctx.type_of(node.outputs[0])
    if t.kind not in "ifc":
        ctx.refuse(node, f"it has no machine code for dtype {node.inputs[0].dtype}")
    x = ctx.scalar(values[0])
    ctx.check(cast(ctx.writer, ctx.module, x, t, BOOL), node, values)
    return [Scalar(x, t)]


def _magnitude(ctx: Context, x: str) -> str:
    ctx.module.declare("double @llvm.fabs.f64(double)")
    return ctx.writer.let(f"call double @llvm.fabs.f64(double {x})")


@rule(EXACT_POWER, refuses=UNDECIDED)
def _exact_power(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    t, let = ctx.type_of(node.outputs[0]), ctx.writer.let
    x, y = map(ctx.scalar, values)
    roughly = apply(ctx, POW, DOUBLE, [DOUBLE] * 2, [let(f"sitofp i64 {one} to double") for one in (x, y)])
    small = let(f"fcmp olt double {_magnitude(ctx, roughly)}, 0x43D0000000000000")
    ctx.check(let(f"and i1 {small}, {let(f'icmp sge i64 {y}, 0')}"), node, values)
    return [Scalar(apply(ctx, POW, t, [t, t], [x, y]), t)]


@rule(EXACT_SHIFT)
def _exact_shift(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    x, y = map(ctx.scalar, values)
    let = ctx.writer.let
    inside = let(f"icmp ult i64 {y}, 64")
    by = let(f"select i1 {inside}, i64 {y}, i64 0")
    made = let(f"shl i64 {x}, {by}")
    same = let(f"icmp eq i64 {let(f'ashr i64 {made}, {by}')}, {x}")
    ctx.check(let(f"and i1 {inside}, {same}"), node, values)
    return [Scalar(made, ctx.type_of(node.outputs[0]))]


@rule(SHIFT_COUNT)
def _shift_count(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    y = ctx.scalar(values[0])
    ctx.check(ctx.writer.let(f"icmp sge i64 {y}, 0"), node, values)
    return [Scalar(y, ctx.type_of(node.outputs[0]))]


@rule(PLACE)
def _place(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    t, let = ctx.type_of(node.outputs[0]), ctx.writer.let
    if t.kind not in "iu":
        ctx.refuse(node, f"it has no machine code for dtype {node.inputs[0].dtype}")
    x, size = map(ctx.scalar, values)
    wide = cast(ctx.writer, ctx.module, x, t, TYPES[int64])
    if t.kind == "u":
        inside = let(f"icmp ult i64 {wide}, {size}")
    else:
        below = let(f"icmp sge i64 {wide}, {let(f'sub i64 0, {size}')}")
        inside = let(f"and i1 {below}, {let(f'icmp slt i64 {wide}, {size}')}")
    ctx.check(inside, node, values)
    return [Scalar(x, t)]


@rule(EXACT_FLOAT, refuses=UNDECIDED)
def _exact_float(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    t, x, let = ctx.type_of(node.inputs[0]), ctx.scalar(values[0]), ctx.writer.let
    if t.kind != "i":
        ctx.refuse(node, f"it has no machine code for dtype {node.inputs[0].dtype}")
    small = [let(f"icmp {sign} i64 {x}, {bound}") for sign, bound in (("sle", 2**53), ("sge", -(2**53)))]
    ctx.check(let(f"and i1 {small[0]}, {small[1]}"), node, values)
    return [Scalar(let(f"sitofp i64 {x} to double"), ctx.type_of(node.outputs[0]))]


@rule(QUOTIENT_FITS)
def _fitting_divisor(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    y, x = map(ctx.scalar, values)
    let = ctx.writer.let
    past = let(f"and i1 {let(f'icmp eq i64 {y}, -1')}, {let(f'icmp eq i64 {x}, {-(2**63)}')}")
    ctx.check(let(f"xor i1 {let(f'or i1 {past}, ' + let(f'icmp eq i64 {y}, 0'))}, true"), node, values)
    return [Scalar(y, ctx.type_of(node.outputs[0]))]


#: what splits a double in halves whose products are exact
_SPLIT = float(2**27 + 1)


def _low_part(ctx: Context, product: str, x: str, y: float) -> str:
    """Return what the rounded product of ``x`` and ``y`` lacks, exactly (Dekker's product)."""
    let = ctx.writer.let
    high_y = _SPLIT * y - (_SPLIT * y - y)
    wide = let(f"fmul double {x}, {literal(_SPLIT, DOUBLE)}")
    high = let(f"fsub double {wide}, {let(f'fsub double {wide}, {x}')}")
    low = let(f"fsub double {x}, {high}")
    made = let(f"fsub double {let(f'fmul double {high}, {literal(high_y, DOUBLE)}')}, {product}")
    for one, other in ((high, y - high_y), (low, high_y), (low, y - high_y)):
        part = let(f"fmul double {one}, {literal(other, DOUBLE)}")
        made = let(f"fadd double {made}, {part}")
    return made


@rule(ROUNDED, refuses=UNDECIDED)
def _rounded(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    """Round to a multiple of a power of ten, exactly: what is just between two of them by its bits seldom is."""
    digits, let = node.attrs["ndigits"], ctx.writer.let
    if not 0 <= digits <= 22:
        ctx.refuse(node, f"it has no machine code for {digits} digits")
    for function in ("rint.f64(double)", "copysign.f64(double, double)"):
        ctx.module.declare(f"double @llvm.{function}")
    x, scale = ctx.scalar(values[0]), literal(10.0**digits, DOUBLE)
    scaled = let(f"fmul double {x}, {scale}")
    size = _magnitude(ctx, scaled)
    small = let(f"fcmp olt double {size}, {literal(2.0**51, DOUBLE)}")
    itself = let(f"fcmp uge double {size}, {literal(2.0**54, DOUBLE)}")  # its last bit is more than that place
    ctx.check(let(f"or i1 {small}, {itself}"), node, values)
    whole = let(f"call double @llvm.rint.f64(double {scaled})")
    rest, low = let(f"fsub double {scaled}, {whole}"), _low_part(ctx, scaled, x, 10.0**digits)
    step = let(f"call double @llvm.copysign.f64(double 1.0, double {rest})")
    between = let(f"fcmp oeq double {_magnitude(ctx, rest)}, 0.5")
    past = let(f"fcmp ogt double {let(f'fmul double {step}, {low}')}, 0.0")
    moved = let(f"select i1 {let(f'and i1 {between}, {past}')}, double {step}, double 0.0")
    made = let(f"fdiv double {let(f'fadd double {whole}, {moved}')}, {scale}")
    made = let(f"call double @llvm.copysign.f64(double {made}, double {scaled})")
    return [Scalar(let(f"select i1 {itself}, double {x}, double {made}"), DOUBLE)]


@rule(FLOAT_POWER, DEFINED, refuses=UNDECIDED)
def _power(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    t = ctx.type_of(node.outputs[0])
    if t.name != "double":
        ctx.refuse(node, f"it has no machine code for dtype {node.inputs[0].dtype}")
    z = ctx.scalar(values[0])
    ctx.check(ctx.writer.let(f"fcmp olt double {_magnitude(ctx, z)}, 0x7FF0000000000000"), node, values)
    return [Scalar(z, t)]


@rule(TRUNCATED, refuses=UNDECIDED)
def _truncated(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    x, let = ctx.scalar(values[0]), ctx.writer.let
    if node.inputs[0].dtype.kind == "u":
        ctx.check(let(f"icmp sge i64 {x}, 0"), node, values)
        return [Scalar(x, ctx.type_of(node.outputs[0]))]
    ctx.check(let(f"fcmp olt double {_magnitude(ctx, x)}, 0x43E0000000000000"), node, values)
    return [Scalar(let(f"fptosi double {x} to i64"), ctx.type_of(node.outputs[0]))]
