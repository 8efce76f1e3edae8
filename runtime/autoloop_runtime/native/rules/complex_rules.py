"""Complex numbers, made of their parts; what is computed with them are templates."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.graph import Node
from ...ops.complex_numbers import COMPLEX
from ..ir.elements import HALF
from ..writer.context import Context
from ..writer.registry import rule
from ..writer.values import Value
from .pointwise import made


@rule(COMPLEX, cheap=True, complexes=True)
def _complex(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    if ctx.type_of(node.inputs[0]) is HALF:
        ctx.refuse(node, "of half precision it has no machine code")
    return [made(ctx, node, COMPLEX, ctx.type_of(node.outputs[0]), values)]
