"""Collections that are changed in place by whoever holds them alone, and copied by others.

``values.Owned`` lie outside the scratch memory; ``values.Rows``, TensorArrays of fixed size, in it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...ir.graph import Node
from ...ir.tensor import Tensor
from ..ir.elements import BOOL
from ..typing.facts import StackType
from .context import Context
from .nests import store
from .registry import load
from .values import Array, Buffer, Grown, Nothing, Owned, Rows, Scalar, Splat, Value, resolve

#: kind of a ``StackType`` -> the file of ``rules`` that knows how it is copied
COPIED_BY = {"checkpoints": "checkpoint_stack", "table": "growing_table", "list": "changing_lists"}
#: the same -> writes a copy of the one at an address, and gives its address; null has none. Filled while those files
#: are imported
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


def as_grown(ctx: Context, value: Value) -> Grown:
    """Return a TensorArray that grows, or a list that is changed in place, as it is now."""
    if isinstance(value, Grown):
        return value
    pointer, writer = as_owned(value).pointer, ctx.writer
    if pointer == "null":
        return Grown(pointer, "0")

    def length() -> str:
        return writer.let(f"load i64, ptr {writer.let(f'getelementptr i64, ptr {pointer}, i64 1')}")

    there = writer.let(f"icmp ne ptr {pointer}, null")
    return Grown(pointer, writer.either(there, "i64", length, lambda: "0"))


def is_alone(ctx: Context, value: Owned) -> bool:
    """Return whether nobody else needs ``value``."""
    return value.owned and value.buffer not in ctx.referenced()


def copied(ctx: Context, node: Node, stack_type: StackType, pointer: str) -> Owned:
    """Return a copy of the collection at ``pointer``."""
    if pointer == "null":
        return held(pointer)
    writer, stack_type = ctx.writer, stack_type.root()
    load(COPIED_BY[stack_type.kind])
    made = COPIES[stack_type.kind](ctx, stack_type, pointer)
    there, copied_there = (writer.let(f"icmp ne ptr {p}, null") for p in (pointer, made))
    ctx.check(writer.let(f"icmp eq i1 {there}, {copied_there}"), node, [], out_of_memory=True)
    return held(made)


def changeable(ctx: Context, node: Node, tensor: Tensor, value: Value) -> Owned:
    """Return the collection ``value`` to be changed by ``node``: itself if nobody else needs it, a copy otherwise."""
    mine = as_owned(value)
    return mine if is_alone(ctx, mine) else copied(ctx, node, ctx.types.stacks[tensor], mine.pointer)


def new_like(ctx: Context, tensor: Tensor) -> Rows:
    """Return memory for the TensorArray ``tensor``."""
    rows = ctx.types.array(tensor)
    if rows.element is None or rows.dtype is None:
        rows.element, rows.dtype = (), np.dtype(np.float32)  # nothing is ever written to it or read from it
    if rows.size is None:
        ctx.refuse(tensor.op, "how many elements the collection has is not known")
        raise AssertionError
    t = ctx.element_type(rows.dtype)
    items = ctx.result(tensor, t, (rows.size, *(rows.shape() or ())))
    written = ctx.temporary(BOOL, (rows.size,))
    read = ctx.temporary(BOOL, (rows.size,)) if rows.clear else None
    return Rows(items, written, read)


def cleared(ctx: Context, rows: Rows) -> Rows:
    """Return ``rows`` with nothing written."""
    for flags in (rows.written, rows.read):
        if flags is not None:
            store(ctx, Splat("false", BOOL, flags.shape), flags)
    return rows


def copied_rows(ctx: Context, rows: Rows, items: Array) -> Rows:
    """Return a copy of ``rows`` with its elements in ``items``."""
    store(ctx, rows.items, items)
    flags = []
    for old in (rows.written, rows.read):
        made = None
        if old is not None:
            made = ctx.temporary(BOOL, old.shape)
            store(ctx, old, made)
        flags.append(made)
    assert flags[0] is not None
    return Rows(items, flags[0], flags[1])
