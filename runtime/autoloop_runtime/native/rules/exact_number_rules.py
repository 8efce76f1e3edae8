"""Python numbers: arithmetic that ends the function where Python raises."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.graph import Node
from ...ops.exact_numbers import (
    DIVISOR,
    EXACT_ADD,
    EXACT_MULTIPLY,
    EXACT_POWER,
    EXACT_SHIFT,
    EXACT_SUBTRACT,
    FLOAT_POWER,
    TRUNCATED,
)
from ...ops.powers import POW
from ..ir.elements import DOUBLE, LType
from ..writer.context import Context
from ..writer.nests import apply
from ..writer.registry import rule
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


@rule(DIVISOR)
def _divisor(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    t: LType = ctx.type_of(node.outputs[0])
    if t.kind not in "if":
        ctx.refuse(node, f"it has no machine code for dtype {node.inputs[0].dtype}")
    x = ctx.scalar(values[0])
    zero = "0" if t.kind == "i" else "0.0"
    test = f"icmp ne {t.name} {x}, {zero}" if t.kind == "i" else f"fcmp une {t.name} {x}, {zero}"
    ctx.check(ctx.writer.let(test), node, values)
    return [Scalar(x, t)]


def _magnitude(ctx: Context, x: str) -> str:
    ctx.module.declare("double @llvm.fabs.f64(double)")
    return ctx.writer.let(f"call double @llvm.fabs.f64(double {x})")


@rule(EXACT_POWER, undecided=True)
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


@rule(FLOAT_POWER, undecided=True)
def _power(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    t = ctx.type_of(node.outputs[0])
    if t.name != "double":
        ctx.refuse(node, f"it has no machine code for dtype {node.inputs[0].dtype}")
    z = ctx.scalar(values[0])
    ctx.check(ctx.writer.let(f"fcmp olt double {_magnitude(ctx, z)}, 0x7FF0000000000000"), node, values)
    return [Scalar(z, t)]


@rule(TRUNCATED, undecided=True)
def _truncated(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    x, let = ctx.scalar(values[0]), ctx.writer.let
    ctx.check(let(f"fcmp olt double {_magnitude(ctx, x)}, 0x43E0000000000000"), node, values)
    return [Scalar(let(f"fptosi double {x} to i64"), ctx.type_of(node.outputs[0]))]
