"""Where a forward loop puts the values that its backward loop will need.

A stack is a loop variable that only grows: ``push`` in every iteration, ``read`` by position afterwards. It
holds references to the arrays that were computed anyway; nothing is copied. ``push`` writes in place where the stack
has no element at that position yet. An empty stack is one immutable value, the list is made by the first push: an
empty stack may be shared, folded or hoisted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..base import dtypes
from ..base.dtypes import DType
from ..base.shapes import SCALAR, TensorShape
from ..ir.apply import apply
from ..ir.op import Appending, Op, register, ruled_in
from ..ir.tensor import Tensor
from ..ir.traits import BOOKKEEPING, NO_GRADIENT, OPAQUE
from . import adjoint_table
from .swap import SwapStack
from .versioned_array import ArrayValue


class Stack(list[Any]):
    """The values saved so far, oldest first."""

    __slots__ = ()
    dtype = dtypes.variant
    shape = ()


class EmptyStack:
    """The stack without elements; one immutable object."""

    __slots__ = ()
    dtype = dtypes.variant
    shape = ()


_EMPTY = EmptyStack()


def _pushing(kind: type[Stack] | type[SwapStack]) -> Callable[[Any, Any, Any], Any]:
    """Return the kernel that adds to a stack of that kind."""

    def push(stack: Any, position: Any, value: Any) -> Any:
        if stack is _EMPTY:
            stack = kind()
        elif len(stack) != position:
            stack = kind(stack[: int(position)])
        stack.append(value)
        return stack

    return push


def _read(stack: Any, position: Any, dtype: DType, shape: TensorShape) -> Any:
    return stack[position]


def _push_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    _, position, value = inputs
    return [g, None, adjoint_table.element(g, position, value)]


def _read_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    return [adjoint_table.single(inputs[1], g), None]


def _peek(array: ArrayValue, position: Any, dtype: DType, shape: TensorShape) -> Any:
    return array.peek(int(position), shape)


def _new(name: str, kernel: Callable[[], Any]) -> Op:
    """Return what makes an empty stack that elements are appended to; it is never in a graph."""
    return Op(name, lambda: (dtypes.variant, SCALAR), kernel)


EMPTY = register(Op("EmptyStack", lambda: (dtypes.variant, SCALAR), lambda: _EMPTY, NO_GRADIENT, traits=BOOKKEEPING))
PUSH = register(
    Op(
        "StackPush",
        lambda *_: (dtypes.variant, SCALAR),
        _pushing(Stack),
        _push_vjp,
        appends=Appending(EMPTY, _new("Stack", Stack)),
        positions=slice(1, 2),
        traits=BOOKKEEPING,
    )
)
#: as PUSH, of a stack that may leave memory
SWAP_PUSH = register(
    Op(
        "SwapPush", lambda *_: (dtypes.variant, SCALAR), _pushing(SwapStack), _push_vjp,
        appends=Appending(EMPTY, _new("SwapStack", SwapStack)), positions=slice(1, 2), traits=OPAQUE,
    )
)  # fmt: skip
READ = register(
    Op(
        "StackRead",
        lambda *_, dtype, shape: (dtype, shape),
        _read,
        _read_vjp,
        code="{0}[{1}]",
        positions=slice(1, 2),
        traits=BOOKKEEPING.but(rematerialise=True, recalls=True),
    )
)

#: an element of a TensorArray that the forward pass has read; this does not count as a second read
PEEK = register(
    Op(
        "PeekArray",
        lambda *_, dtype, shape: (dtype, shape),
        _peek,
        _read_vjp,
        traits=OPAQUE.but(rematerialise=True, recalls=True),
    )
)


def empty() -> Tensor:
    """Return a stack without elements."""
    made: Tensor = apply(EMPTY, [])
    return made


def push(stack: Tensor, position: Tensor, value: Tensor, swap: bool = False) -> Tensor:
    """Return ``stack`` with ``value`` as its element at ``position``, which is its last;
    with ``swap`` it may leave memory."""
    made: Tensor = apply(SWAP_PUSH if swap else PUSH, [stack, position, value])
    return made


def read(stack: Tensor, position: Tensor, like: Tensor) -> Tensor:
    """Return the element at ``position``, which has the dtype and static shape of ``like``."""
    made: Tensor = apply(READ, [stack, position], {"dtype": like.dtype, "shape": like.shape})
    return made


ruled_in("saved_values", EMPTY, PUSH, SWAP_PUSH, READ)
ruled_in("tensor_array_rules", PEEK)
ruled_in("growing_array", PEEK, growing=True)
