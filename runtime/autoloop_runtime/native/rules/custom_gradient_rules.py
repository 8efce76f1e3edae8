"""What a gradient of its own is stated for: nothing is left of it."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.graph import Node
from ...ops.custom_gradient import CUSTOM
from ...ops.remat_marks import HELD, REGION
from ..writer.context import Context
from ..writer.registry import rule
from ..writer.values import Value


@rule(CUSTOM, REGION, complexes=True)
def _custom_gradient(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    return values[len(values) - node.attrs["count"] :]


@rule(HELD, complexes=True)
def _held(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    return values[: node.attrs["count"]]
