"""Powers: those that are other operations, and integers to negative ones, which NumPy refuses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir.graph import Node
from ...ops.arithmetic import DIVIDE, MULTIPLY, SQUARE
from ...ops.identities import IDENTITY
from ...ops.powers import POW, POW_IN_LOOP, SQRT
from ..ir.elements import BOOL, COMPLEX128, DOUBLE, LType, literal
from ..writer.context import Context
from ..writer.nests import Nest, accumulate, apply
from ..writer.node_writer import array_of
from ..writer.registry import rule
from ..writer.values import Expr, Scalar, Splat, Value, resolve
from .pointwise import made


@rule(POW, POW_IN_LOOP, complexes=True)
def _pow(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    t = ctx.type_of(node.outputs[0])
    exponent = ctx.types.constants.get(node.inputs[1])
    if exponent is not None and np.ndim(exponent) == 0:
        special = _constant_power(ctx, node, t, values[0], exponent)
        if special is not None:
            return [special]
    if t.kind == "c":
        _prepare_complex(ctx, node, t, exponent)
    is_empty = 0 in ctx.shape_of(node.outputs[0])
    if t.kind == "i" and not is_empty and (exponent is None or np.min(exponent, initial=0) < 0):
        _check_exponent(ctx, node, t, values)
    return [made(ctx, node, POW, t, values)]


def _prepare_complex(ctx: Context, node: Node, t: LType, exponent: Any) -> None:
    """Have what powers of complex numbers call; refuse those that NumPy may compute as something else."""
    if t is not COMPLEX128:
        ctx.refuse(node, "of complex numbers in single precision only squares and cubes have machine code")
    is_other = exponent is not None and exponent not in (0.5, -1)
    if ctx.shape_of(node.outputs[0]) != () == ctx.shape_of(node.inputs[1]) and not is_other:
        ctx.refuse(node, "of many complex numbers it may be a square root or a reciprocal, which have no machine code")
    ctx.module.helper("divide_c", t.name)
    symbol = ctx.libraries.function("cpow", DOUBLE, 4).symbol
    four = ", ".join([DOUBLE.name] * 4)
    ctx.module.declare(f"{{ double, double }} @{symbol}({four}) nounwind willreturn memory(none)")


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
        exponent = values[1] = array_of(ctx, exponent)  # of a failure the kernel is asked with it
        if 0 in exponent.shape:
            return

        def step(found: str, nest: Nest) -> str:
            negative = ctx.writer.let(f"icmp slt {t.name} {nest.element(exponent)}, 0")
            return ctx.writer.let(f"or i1 {found}, {negative}")

        nest = Nest(ctx, exponent.shape, [exponent])
        fine = ctx.writer.let(f"xor i1 {accumulate(nest, BOOL, 'false', step)}, true")
    ctx.check(fine, node, values)
