"""Long work written as functions of their own, so that several threads can do pieces of it (see ``pool``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from .context import Context
from .pool import SHARE
from .templates import cost_of
from .values import Array, Count, Expr, Pending, Scalar, Splat, Value, leaves, resolve
from .writer import Writer

#: nanoseconds that work must take for threads to be worth it, and those of a piece
WORTH, PIECE = 40_000.0, 10_000.0
#: the rounds of a piece are a multiple of this if they are single elements: no vector is cut in two
GRAIN = 1024
#: bytes that are read or written in a nanosecond
_BYTES = 60.0


def element_cost(values: Sequence[Value]) -> float:
    """Nanoseconds for an element of each of ``values``, roughly."""
    cost, seen, pending = 0.0, set[int](), list(values)
    while pending:
        value = resolve(pending.pop())
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Pending):
            pending.append(value.expr)
        elif isinstance(value, Expr):
            cost += cost_of(value.op, value.t)
            pending.extend(value.args)
        elif isinstance(value, Array):
            cost += value.t.size / _BYTES
    return cost


def piece_of(extents: Sequence[int], cost: float) -> int | None:
    """How many rounds of the outermost loop make a piece; ``None`` if threads are not worth it."""
    inner = cost
    for extent in extents[1:]:
        inner *= extent
    if not extents or extents[0] < 2 or extents[0] * inner < WORTH:
        return None
    rounds = max(1, int(PIECE / inner))
    return -(-rounds // GRAIN) * GRAIN if len(extents) == 1 else rounds


def registers_of(values: Iterable[Value]) -> list[tuple[str, str]]:
    """The LLVM type and name of each register that the elements of ``values`` are computed from."""
    found: dict[str, str] = {}
    for value in values:
        for leaf in leaves(value):
            if isinstance(leaf, Array):
                found[leaf.pointer] = "ptr"
            elif isinstance(leaf, (Scalar, Splat)):
                found[leaf.text] = leaf.t.name
            elif isinstance(leaf, Count):
                found[leaf.start] = found[leaf.step] = leaf.t.name
    return [(type_name, name) for name, type_name in found.items() if name.startswith("%")]


def share(
    ctx: Context, registers: Sequence[tuple[str, str]], rounds: int, piece: int, write: Callable[[str, str], None]
) -> None:
    """Let threads do ``rounds`` rounds, ``piece`` at a time; ``write(first, count)`` writes a piece.

    Inside it the ``registers`` have the same names, and there is nothing else.
    """
    outer = ctx.writer
    name = outer.new("part")[1:]
    ctx.writer = inner = Writer(outer)
    for position, (type_name, register) in enumerate(registers):
        slot = inner.let(f"getelementptr i64, ptr %frame, i64 {position}")
        inner.do(f"{register} = load {type_name}, ptr {slot}")
    write("%first", "%count")
    inner.do("ret void")
    ctx.writer = outer
    bits = ctx.libraries.vector_bits()
    width = f' "prefer-vector-width"="{bits}"' if bits else ""
    head = f"define internal void @{name}(ptr noalias %frame, i64 %first, i64 %count) nounwind{width} {{"
    ctx.module.define(name, lambda: f"{head}\nentry:\n{inner.render()}\n}}")
    with outer.at(ctx.entry):
        frame = outer.let(f"alloca [{max(1, len(registers))} x i64]")
    for position, (type_name, register) in enumerate(registers):
        slot = outer.let(f"getelementptr i64, ptr {frame}, i64 {position}")
        outer.do(f"store {type_name} {register}, ptr {slot}")
    ctx.module.declare(f"ptr @{SHARE}(ptr, ptr, i64, i64)")
    outer.let(f"call ptr @{SHARE}(ptr @{name}, ptr {frame}, i64 {rounds}, i64 {piece})")
