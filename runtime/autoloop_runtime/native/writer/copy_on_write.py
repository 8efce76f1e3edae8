"""Collections that are changed in place by whoever holds them alone, and copied by others: ``values.Owned``."""

from __future__ import annotations

from collections.abc import Callable

from ...ir.graph import Node
from ...ir.tensor import Tensor
from ..typing.facts import StackType
from .context import Context
from .values import Buffer, Nothing, Owned, Scalar, Value, resolve

#: kind of a ``StackType`` -> writes a copy of the one at an address, and gives its address; null has none. Filled
#: while the modules of ``rules`` are imported
COPIES: dict[str, Callable[[Context, StackType, str], str]] = {}


def held(pointer: str) -> Owned:
    """Return a collection that whoever asked for it holds alone."""
    return Owned(pointer, Buffer(pointer, 0), True)


def as_owned(value: Value) -> Owned:
    """Return ``value``, which may be an empty collection without a kind."""
    value = resolve(value)
    if isinstance(value, (Nothing, Scalar)):
        return held("null")
    assert isinstance(value, Owned), value
    return value


def is_alone(ctx: Context, value: Owned) -> bool:
    """Return whether nobody else needs ``value``."""
    return value.owned and value.buffer not in ctx.referenced()


def copied(ctx: Context, node: Node, stack_type: StackType, pointer: str) -> Owned:
    """Return a copy of the collection at ``pointer``."""
    if pointer == "null":
        return held(pointer)
    writer, stack_type = ctx.writer, stack_type.root()
    made = COPIES[stack_type.kind](ctx, stack_type, pointer)
    there, copied_there = (writer.let(f"icmp ne ptr {p}, null") for p in (pointer, made))
    ctx.check(writer.let(f"icmp eq i1 {there}, {copied_there}"), node, [], out_of_memory=True)
    return held(made)


def changeable(ctx: Context, node: Node, tensor: Tensor, value: Value) -> Owned:
    """Return the collection ``value`` to be changed by ``node``: itself if nobody else needs it, a copy otherwise."""
    mine = as_owned(value)
    return mine if is_alone(ctx, mine) else copied(ctx, node, ctx.types.stacks[tensor], mine.pointer)
