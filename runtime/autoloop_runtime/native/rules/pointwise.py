"""Element-wise nodes: scalars at once, arrays as expressions that are computed where they are used."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ...base.dtypes import variant
from ...ir.graph import Node
from ...ir.op import Op
from ...ops.arithmetic import ADD, MULTIPLY, SUBTRACT
from ...ops.operands import CAST, FITTED, FITTED_ELEMENT
from ...ops.selection import WHERE
from ..ir.casts import in_doubt, not_in_doubt
from ..ir.elements import BOOL, DOUBLE, INT64, LType, literal
from ..writer.context import Context
from ..writer.elementwise_ir import template_of
from ..writer.nests import Nest, accumulate, apply
from ..writer.registry import rule, template_rule
from ..writer.values import Expr, Pending, Scalar, Value, depth_of, resolve

#: why machine code leaves casts of arrays to unsigned integers of 32 bits to NumPy
_BY_PLACE = "a float that does not fit becomes a uint32 that depends on where it stands in its array"


#: operations on scalars of which NumPy tells where they wrap round -> LLVM's that tell it
_WRAPPING = {ADD: "add", SUBTRACT: "sub", MULTIPLY: "mul"}


def _check_sum(ctx: Context, node: Node, op: Op, t: LType, args: Sequence[Value]) -> None:
    """End the function where a sum of scalars, or the like, wraps round."""
    sign = "u" if t.kind == "u" else "s"
    name = f"@llvm.{sign}{_WRAPPING[op]}.with.overflow.{t.name}"
    ctx.module.declare(f"{{{t.name}, i1}} {name}({t.name}, {t.name})")
    x, y = map(ctx.scalar, args)
    both = ctx.writer.let(f"call {{{t.name}, i1}} {name}({t.name} {x}, {t.name} {y})")
    past = ctx.writer.let(f"extractvalue {{{t.name}, i1}} {both}, 1")
    ctx.check(ctx.writer.let(f"xor i1 {past}, true"), node, args, refuses="it wraps round")


def made(ctx: Context, node: Node, op: Op, t: LType, args: Sequence[Value]) -> Value:
    """Return the value of the element-wise ``op`` of ``args`` as output of ``node``."""
    tensor = node.outputs[0]
    shape = ctx.shape_of(tensor)
    if shape == ():
        scalars = [ctx.scalar(a) for a in args]
        if ctx.types.heeds and t.kind in "iu" and op in _WRAPPING:
            _check_sum(ctx, node, op, t, args)
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


@rule(CAST, cheap=True, complexes=True, refuses=_BY_PLACE)
def _cast(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    source, shape = ctx.type_of(node.inputs[0]), ctx.shape_of(node.outputs[0])
    if in_doubt(source, ctx.type_of(node.outputs[0]), prod(shape)):
        value = resolve(values[0])
        nest = Nest(ctx, shape, [value])

        def step(fine: str, nest: Nest) -> str:
            return ctx.writer.let(f"and i1 {fine}, {not_in_doubt(ctx.writer, nest.element(value), source)}")

        ctx.check(accumulate(nest, BOOL, "true", step), node, values)
    return [made(ctx, node, CAST, ctx.type_of(node.outputs[0]), values)]


@rule(FITTED, FITTED_ELEMENT)
def _fitted(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    source, t = ctx.type_of(node.inputs[0]), ctx.type_of(node.outputs[0])
    if ctx.shape_of(node.outputs[0]) != () or t.kind not in "iu":
        ctx.refuse(node, "of anything but a number that becomes an integer it has no machine code")
    given, info = ctx.scalar(values[0]), np.iinfo(node.outputs[0].dtype)
    wide = DOUBLE if source.kind == "f" else INT64  # a Python number may be carried in less
    number = given if source is wide else apply(ctx, CAST, wide, [source], [given])
    if source.kind == "f":  # what is cut off may be beyond the bounds; nan is within none
        low = f"fcmp oge double {number}, {literal(info.min, wide)}"
        if t.size < 8 or t.kind == "u":
            low = f"fcmp ogt double {number}, {literal(info.min - 1, wide)}"
        high = f"fcmp olt double {number}, {literal(info.max + 1, wide)}"
    else:
        low = f"icmp sge i64 {number}, {info.min}"
        high = f"icmp sle i64 {number}, {min(info.max, np.iinfo(np.int64).max)}"
    ctx.check(ctx.writer.let(f"and i1 {ctx.writer.let(low)}, {ctx.writer.let(high)}"), node, values)
    return [Scalar(apply(ctx, CAST, t, [source], [given]), t)]


@rule(WHERE, cheap=True, complexes=True)
def _where(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    return [made(ctx, node, WHERE, ctx.type_of(node.outputs[0]), values)]
