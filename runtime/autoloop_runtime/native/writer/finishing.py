"""What is done to the elements of a product and nothing else, as in ``tanh(a @ b + c)``: while they are near.

A product is made tile by tile. What follows element by element is done to a tile as soon as its sums are whole: it is
in the nearest cache then, and what lies in between has no memory of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...base.dataclass import dataclass
from ...ir.graph import Node
from ...ir.tensor import Tensor
from ..ir.elements import HALF
from ..ir.moving import is_moving
from .context import Context
from .memory import shifted
from .nests import store_all
from .node_writer import value_of
from .outlining import piece_function, registers_of
from .registry import by_template, is_by_template
from .values import Array, Buffer, Pending, Scalar, Shape, Splat, Value, buffers, dense, leaves, resolve, with_leaves

#: operations one after the other, at most
MOST = 16


@dataclass(frozen=True, eq=False)
class Finish:
    """What is done to the elements of a product.

    Attributes
    ----------
    nodes : sequence of Node
        One after the other.
    value : Value
        What they make of ``sums``, which stands for the product.
    sums : Array
    """

    nodes: Sequence[Node]
    value: Value
    sums: Array

    def place(self, ctx: Context, operands: Sequence[Array]) -> Array:
        """Return where what becomes of a product of ``operands`` goes, which all of it is read for tile by tile; its
        nodes are written with that."""
        block = ctx.block
        for operand in (*operands, self.value):
            ctx.held.extend(buffers(operand))
        last = self.nodes[-1].outputs[0]
        made = ctx.result(last, self.sums.t, self.sums.shape)
        block.finished.update(self.nodes)
        for node in self.nodes:
            for tensor in node.inputs:
                block.left[tensor] -= 1
        block.values[last] = made
        return made

    def registers(self, ctx: Context) -> list[tuple[str, str]]:
        """Return the registers that it needs beside those of the product."""
        return registers_of(ctx, self._others())

    def _others(self) -> list[Value]:
        return [leaf for leaf in leaves(self.value) if leaf is not self.sums]

    def function(self, ctx: Context, registers: Sequence[tuple[str, str]], out: Array, shape: tuple[int, int]) -> str:
        """Return the name of a function that does it to a part of ``out``, where the product is: it is given a frame
        with ``registers``, and the first row and column."""

        def write() -> None:
            part = _part(ctx, out, shape)
            instead: dict[int, Value] = {
                id(leaf): _part(ctx, leaf, shape) for leaf in self._others() if isinstance(leaf, Array)
            }
            store_all(ctx, shape, [with_leaves(self.value, {**instead, id(self.sums): part})], [part])

        return piece_function(ctx, registers, write)


def _part(ctx: Context, array: Array, shape: tuple[int, int]) -> Array:
    """Return the elements of ``array``, which broadcasts to a matrix, that belong to a part of it, from the first row
    and column on that a function is given."""
    missing, offset = 2 - len(array.shape), ""
    extents: list[int] = []
    for axis, (extent, stride) in enumerate(zip(array.shape, array.strides)):
        extents.append(1 if extent == 1 else shape[missing + axis])
        if extent != 1 and stride:
            step = ctx.writer.let(f"mul nsw i64 {('%first', '%count')[missing + axis]}, {stride}")
            offset = ctx.writer.let(f"add nsw i64 {offset}, {step}") if offset else step
    return shifted(ctx, array, offset or 0, tuple(extents), array.strides)


def finish_of(ctx: Context, node: Node) -> Finish | None:
    """Return what becomes of the elements of the matrix that ``node`` makes; None if it is wanted as it is, by what is
    not done element by element, or with what is not there yet."""
    t, shape = ctx.type_of(node.outputs[0]), ctx.shape_of(node.outputs[0])
    if ctx.types.heeds or ctx.marks is not None or ctx.writer.marks is not None:
        return None
    if t.kind != "f" or t is HALF or len(shape) != 2 or is_moving(shape):
        return None
    nodes = list(_following(ctx, node, shape))
    if not nodes or nodes[-1].outputs[0] not in ctx.block.plan.stored:
        return None
    sums = Array("", t, shape, dense(shape), Buffer("", 0))
    values: dict[Tensor, Value] = {node.outputs[0]: sums}
    for one in nodes:
        given = [values[x] if x in values else value_of(ctx, x) for x in one.inputs]
        [made] = by_template(ctx, one, given)
        values[one.outputs[0]] = made.expr if isinstance(made, Pending) else made
    found = Finish(nodes, values[nodes[-1].outputs[0]], sums)
    return found if all(isinstance(leaf, (Array, Scalar, Splat)) for leaf in leaves(found.value)) else None


def _following(ctx: Context, node: Node, shape: Shape) -> Iterator[Node]:
    """Yield nodes each of which is all that reads the one before, up to one whose elements have memory."""
    block, tensor = ctx.block, node.outputs[0]
    for _ in range(MOST):
        if tensor in block.plan.stored:
            return
        readers = block.plan.uses.nodes(tensor)
        reader = next(iter(readers)) if len(readers) == 1 else None
        if reader is None or not is_by_template(reader.op) or reader.subgraphs or reader.op.effect:
            return
        made = reader.outputs[0]
        if ctx.shape_of(made) != shape or made.dtype != tensor.dtype:
            return
        if not all(x is tensor or _is_there(ctx, x) for x in reader.inputs):
            return
        yield reader
        tensor = made


def _is_there(ctx: Context, tensor: Tensor) -> bool:
    """Return whether a value is there, and may be read again and again."""
    found = ctx.block.values.get(tensor)
    if found is None:
        return tensor in ctx.types.constants
    return tensor.dtype.kind in "biuf" and not isinstance(resolve(found), Pending)
