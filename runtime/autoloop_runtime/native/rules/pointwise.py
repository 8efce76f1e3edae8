"""Element-wise nodes: scalars at once, arrays as expressions that are computed where they are used."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...base.dtypes import variant
from ...ir.graph import Node
from ...ir.op import Op
from ...ops.arithmetic import DIVIDE, MULTIPLY, SQUARE
from ...ops.broadcasting import BROADCAST_TO
from ...ops.complex_numbers import COMPLEX
from ...ops.filled import FILL
from ...ops.identities import IDENTITY
from ...ops.operands import CAST, FITTED
from ...ops.powers import POW, SQRT
from ...ops.selection import WHERE
from ..ir.elements import BOOL, HALF, LType, literal
from ..writer.context import Context
from ..writer.elementwise_ir import template_of
from ..writer.nests import Nest, accumulate, apply
from ..writer.registry import rule, template_rule
from ..writer.values import Expr, Pending, Scalar, Splat, Value, depth_of, resolve


def made(ctx: Context, node: Node, op: Op, t: LType, args: Sequence[Value]) -> Value:
    """Return the value of the element-wise ``op`` of ``args`` as output of ``node``."""
    tensor = node.outputs[0]
    shape = ctx.shape_of(tensor)
    if shape == ():
        scalars = [ctx.scalar(a) for a in args]
        return Scalar(apply(ctx, op, t, [a.t for a in args], scalars), t)  # type: ignore[union-attr]
    expr = Expr(op, tuple(args), t, shape, 1 + max(map(depth_of, args), default=0))
    return Pending(tensor, expr, t, shape) if tensor in ctx.block.plan.stored else expr


@template_rule
def _pointwise(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    if node.inputs[0].dtype == variant:
        return values
    kind = ctx.type_of(node.inputs[0]).kind
    if template_of(node.op, kind) is None:
        ctx.refuse(node, f"it has no machine code for dtype {node.inputs[0].dtype}")
    return [made(ctx, node, node.op, ctx.type_of(node.outputs[0]), values)]


@rule(CAST, cheap=True, complexes=True)
def _cast(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    return [made(ctx, node, CAST, ctx.type_of(node.outputs[0]), values)]


@rule(FITTED)
def _fitted(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    source, t = ctx.type_of(node.inputs[0]), ctx.type_of(node.outputs[0])
    if ctx.shape_of(node.outputs[0]) != () or t.kind not in "iu":
        ctx.refuse(node, "of anything but a number that becomes an integer it has no machine code")
    number, info = ctx.scalar(values[0]), np.iinfo(node.outputs[0].dtype)
    if source.kind == "f":  # what is cut off may be beyond the bounds; nan is within none
        low = f"fcmp oge double {number}, {literal(info.min, source)}"
        if t.size < 8 or t.kind == "u":
            low = f"fcmp ogt double {number}, {literal(info.min - 1, source)}"
        high = f"fcmp olt double {number}, {literal(info.max + 1, source)}"
    else:
        low = f"icmp sge i64 {number}, {info.min}"
        high = f"icmp sle i64 {number}, {min(info.max, np.iinfo(np.int64).max)}"
    ctx.check(ctx.writer.let(f"and i1 {ctx.writer.let(low)}, {ctx.writer.let(high)}"), node, values)
    return [Scalar(apply(ctx, CAST, t, [source], [number]), t)]


@rule(WHERE, cheap=True, complexes=True)
def _where(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    return [made(ctx, node, WHERE, ctx.type_of(node.outputs[0]), values)]


@rule(FILL, pointwise=True, cheap=True, complexes=True)
@rule(BROADCAST_TO, pointwise=True, complexes=True)
def _fill(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    tensor, value = node.outputs[0], resolve(values[0])
    shape, t = ctx.shape_of(tensor), ctx.type_of(tensor)
    if not isinstance(value, (Scalar, Splat)):
        return [made(ctx, node, BROADCAST_TO, t, [value])]
    if shape == ():
        return [Scalar(value.text, t)]
    splat = Splat(value.text, t, shape)
    return [Pending(tensor, splat, t, shape) if tensor in ctx.block.plan.stored else splat]


@rule(COMPLEX, cheap=True, complexes=True)
def _complex(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    if ctx.type_of(node.inputs[0]) is HALF:
        ctx.refuse(node, "of half precision it has no machine code")
    return [made(ctx, node, COMPLEX, ctx.type_of(node.outputs[0]), values)]


@rule(POW, complexes=True)
def _pow(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    t = ctx.type_of(node.outputs[0])
    exponent = ctx.types.constants.get(node.inputs[1])
    if exponent is not None and np.ndim(exponent) == 0:
        special = _constant_power(ctx, node, t, values[0], exponent)
        if special is not None:
            return [special]
    if t.kind == "c":
        ctx.refuse(node, "of complex numbers only squares and cubes have machine code")
    is_empty = 0 in ctx.shape_of(node.outputs[0])
    if t.kind == "i" and not is_empty and (exponent is None or np.min(exponent, initial=0) < 0):
        _check_exponent(ctx, node, t, values)
    return [made(ctx, node, POW, t, values)]


def _constant_power(ctx: Context, node: Node, t: LType, base: Value, exponent: object) -> Value | None:
    """Return what NumPy computes instead of a power where the exponent is one of a few numbers."""
    one = Scalar(literal(1, t), t)
    if exponent == 2:
        return made(ctx, node, SQUARE, t, [base])
    if exponent == 1:
        return made(ctx, node, IDENTITY, t, [base])
    if exponent == 3 and t.kind in "iuc":
        square = Expr(SQUARE, (base,), t, ctx.shape_of(node.outputs[0]))
        if square.shape == ():
            square_of = Scalar(apply(ctx, SQUARE, t, [t], [ctx.scalar(base)]), t)
            return made(ctx, node, MULTIPLY, t, [square_of, base])
        return made(ctx, node, MULTIPLY, t, [square, base])
    if t.kind == "f" and ctx.shape_of(node.outputs[0]) != ():
        if exponent == 0.5:
            return made(ctx, node, SQRT, t, [base])
        if exponent == -1:
            return made(ctx, node, DIVIDE, t, [one, base])
    return None


def _check_exponent(ctx: Context, node: Node, t: LType, values: list[Value]) -> None:
    """Fail, as the kernel does, at an integer to a negative power."""
    exponent = resolve(values[1])
    if isinstance(exponent, (Scalar, Splat)):
        fine = ctx.writer.let(f"icmp sge {t.name} {exponent.text}, 0")
    else:
        if 0 in exponent.shape:  # type: ignore[union-attr]
            return

        def step(found: str, nest: Nest) -> str:
            negative = ctx.writer.let(f"icmp slt {t.name} {nest.element(exponent)}, 0")
            return ctx.writer.let(f"or i1 {found}, {negative}")

        nest = Nest(ctx, exponent.shape, [exponent])  # type: ignore[union-attr]
        fine = ctx.writer.let(f"xor i1 {accumulate(nest, BOOL, 'false', step)}, true")
    ctx.check(fine, node, values)
