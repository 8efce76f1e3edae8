"""Operations without machine code of their own: NumPy's kernel does them, on the memory that machine code has them in.

So one of them does not keep the loop around it out of machine code. It costs what it costs NumPy, and the lock of the
interpreter is held meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...analysis.observable import is_pure
from ...ir.graph import Node
from ..ir.elements import INT64, TYPES
from ..ir.moving import is_unsteady
from ..kernels.called_kernel import CalledKernel, Window
from ..kernels.ll_files import code
from ..typing.facts import Shape
from ..writer.context import Context
from ..writer.interrupts import end_unless_zero
from ..writer.memory import put, seen
from ..writer.node_writer import array_of
from ..writer.registry import called_rule
from ..writer.values import Array, Scalar, Value, resolve, size_of
from .indexing_rules import writable

#: nanoseconds of a call, and of each element of what is largest in it
_CALL, _ELEMENT = 3000.0, 20.0
#: how a number of Python's is read
_READ = {np.dtype(np.float64): "PyFloat_AsDouble", np.dtype(np.int64): "PyLong_AsLongLong"}


def _time(node: Node, shapes: list[Shape], rate: float) -> float:
    return _CALL + _ELEMENT * max(map(size_of, shapes), default=0)


@called_rule(_time)
def call_kernel(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    """Write a call of the kernel of ``node``."""
    shapes = [ctx.types.shapes.get(t) for t in (*node.inputs, *node.outputs)]
    known = all(shape is not None and not is_unsteady(shape) for shape in shapes)
    if not known or not (is_pure(node) or _only_draws(node)) or ctx.types.heeds:
        ctx.refuse(node, "it has no machine code")
    if node.op.draws is not None and ctx.drawn is None:
        ctx.drawn = node, len(ctx.checks), tuple([loop for loop, _ in ctx.loops])
    if _is_number(node):
        return [_number(ctx, node, values)]
    operands = [_in_memory(ctx, value) for value in values[: len(node.operands)]]
    if any(is_unsteady(x.strides) for x in operands):
        ctx.refuse(node, "it has no machine code")
    over = _overwritten(node)
    if over is None:
        made = [ctx.result(t, TYPES[t.dtype], ctx.shape_of(t)) for t in node.results]
    else:
        made = [writable(ctx, node, operands[over], [x for k, x in enumerate(operands) if k != over])]
        operands[over] = made[0]
    tensors = (*node.operands, *node.results)
    windows = [_window(t.dtype, array) for t, array in zip(tensors, (*operands, *made))]
    kernel = CalledKernel(node, windows[: len(operands)], windows[len(operands) :], over)
    words = ctx.temporary(INT64, (len(windows) + 1,)).pointer
    texts = [("ptr", x.pointer) for x in (*operands, *made)] + [("i64", "0")]
    for position, (kind, text) in enumerate(texts):
        place = ctx.writer.let(f"getelementptr i64, ptr {words}, i64 {position}")
        ctx.writer.do(f"store {kind} {text}, ptr {place}, align 8")
    ctx.module.define("python_objects", lambda: code("python_objects"))
    ctx.module.define("python_call", lambda: code("python_call"))
    given = f"ptr %thread, ptr {_held(ctx, kernel)}, ptr {words}"
    end_unless_zero(ctx, ctx.writer.let(f"call i32 @python_call({given})"))
    failed = ctx.writer.let(f"load i64, ptr {place}, align 8")
    raised = kernel.raised if node.op.draws is not None else None
    ctx.check(ctx.writer.let(f"icmp eq i64 {failed}, 0"), node, values, raised=raised)
    return [seen(ctx, array) for array in made]


def _overwritten(node: Node) -> int | None:
    """Return which operand becomes the result where it lies; None if there is no kernel that does that."""
    taking = node.op.taking
    is_update = taking is not None and taking.is_update and taking.part is None and is_pure(node)
    return taking.inputs[0] if taking is not None and is_update else None


def _only_draws(node: Node) -> bool:
    return node.op.draws is not None and not (node.op.stateful or node.control_inputs or node.declared)


def _is_number(node: Node) -> bool:
    """Return whether ``node`` asks a function that takes nothing for one number."""
    asks = node.op.callee is not None and node.op.draws is not None and not node.operands and len(node.results) == 1
    return asks and node.results[0].shape.rank == 0 and node.results[0].dtype in _READ


def _number(ctx: Context, node: Node, values: list[Value]) -> Scalar:
    t = TYPES[node.results[0].dtype]
    kernel = CalledKernel(node, (), ())
    place = ctx.temporary(t, ()).pointer
    words = {"TYPE": t.name, "READ": _READ[node.results[0].dtype]}
    ctx.module.define("python_objects", lambda: code("python_objects"))
    ctx.module.define(f"python_number_{t.name}", lambda: code("python_number", **words))
    asked = f"ptr {_held(ctx, node.attrs[node.op.callee or ''])}, ptr {_held(ctx, kernel.keep)}, ptr {place}"
    answer = ctx.writer.let(f"call i32 @python_number_{t.name}(ptr %thread, {asked})")
    end_unless_zero(ctx, ctx.writer.let(f"ashr i32 {answer}, 31"))
    ctx.check(ctx.writer.let(f"icmp eq i32 {answer}, 0"), node, values, raised=kernel.raised)
    return Scalar(ctx.writer.let(f"load {t.name}, ptr {place}, align 8"), t)


def _in_memory(ctx: Context, value: Value) -> Array:
    value = resolve(value)
    if not isinstance(value, Scalar):
        return array_of(ctx, value)
    place = ctx.temporary(value.t, ())
    put(ctx, value, place)
    return place


def _held(ctx: Context, kernel: object) -> str:
    """Return the register of the object that is called, which the table of constants holds."""
    holder = np.empty(1, object)
    holder[0] = kernel
    with ctx.writer.at(ctx.entry):
        slot = ctx.writer.let(f"getelementptr ptr, ptr %table, i64 {len(ctx.table)}")
        pointer = ctx.writer.let(f"load ptr, ptr {ctx.writer.let(f'load ptr, ptr {slot}')}")
    ctx.table.append(holder)
    return pointer


def _window(dtype: np.dtype, array: Array) -> Window:
    return Window(np.dtype(dtype), tuple(array.shape), tuple([int(s) * array.t.size for s in array.strides]))
