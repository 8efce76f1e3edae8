"""Long work written as functions of their own, so that several threads can do pieces of it (see ``thread_pool``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ..ir.elements import COMPLEX128
from ..ir.moving import Extent
from ..ir.writer import Writer
from ..typing.refusal import refuse
from .context import Context
from .elementwise_ir import cost_of
from .values import Array, Count, Expr, Pending, Rows, Scalar, Shape, Splat, Value, leaves, resolve

#: what code calls the function that shares a job (see ``thread_pool``)
SHARE = "autoloop_share"
#: nanoseconds that work must take for threads to be worth it, those where it is done again and again, those of a piece
WORTH, AGAIN, PIECE = 40_000.0, 2_000.0, 10_000.0
#: work is cut into so many pieces or more, so that all threads end at about the same time
_PIECES = 16
#: with fewer pieces than this threads are not worth it, where that is found out in the run
_FEW = 4
#: the rounds of a piece are a multiple of this if they are single elements: no vector is cut in two
GRAIN = 1024
#: bytes that are read or written in a nanosecond
BYTES = 60.0
#: no work is said to take longer, in nanoseconds
_LONG = 1e15
#: bytes that come from memory together
_LINE = 64


def element_cost(values: Sequence[Value], moved: bool = True) -> float:
    """Return nanoseconds for an element of each of ``values``, roughly; ``moved``: with what it takes to read it."""
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
        elif isinstance(value, Array) and moved:
            cost += _bytes_of_element(value) / BYTES
    return cost


def longest_chain(values: Sequence[Value]) -> float:
    """Return nanoseconds of the operations that wait for each other for an element of ``values``, roughly, of four
    bytes each."""
    known: dict[int, float] = {}
    pending = [resolve(value) for value in values]
    while pending:
        value = pending[-1]
        before = [value.expr] if isinstance(value, Pending) else value.args if isinstance(value, Expr) else ()
        args = [resolve(one) for one in before]
        left = [one for one in args if id(one) not in known]
        if left:
            pending += left
            continue
        pending.pop()
        own = cost_of(value.op, value.t) * 4 / max(value.t.size, 2) if isinstance(value, Expr) else 0.0
        known[id(value)] = own + max([known[id(one)] for one in args], default=0.0)
    return max(known.values(), default=0.0)


def _bytes_of_element(array: Array) -> int:
    """Return how many bytes are read for the next element: a cache line, if the elements lie apart."""
    step = next((abs(s) for n, s in zip(array.shape[::-1], array.strides[::-1]) if n != 1), 0)
    return min(_LINE, max(1, step) * array.t.size) if step else 0


def worth_it(ctx: Context) -> float:
    """Return nanoseconds that work must take, so that it is worth it to share it.

    In a loop threads wait for the next time without being blocked.
    """
    return min(AGAIN, WORTH) if ctx.loops else WORTH


def piece_time(total: float) -> float:
    """Return nanoseconds of a piece, where all takes so many."""
    return min(PIECE, total / _PIECES)


def piece_of(ctx: Context, extents: Sequence[int], cost: float) -> tuple[int, float] | None:
    """Return how many rounds of the outermost loop make a piece, and what all take, where an element takes ``cost``;
    ``None`` if threads are not worth it, whatever the extents that the run decides come to be."""
    inner = cost
    for extent in extents[1:]:
        inner *= extent
    if not extents or extents[0] < 2 or extents[0] * inner < worth_it(ctx):
        return None
    total = extents[0] * inner
    rounds = max(1, int(piece_time(total) / inner))
    return -(-rounds // GRAIN) * GRAIN if len(extents) == 1 else rounds, total


def registers_of(ctx: Context, values: Iterable[Value]) -> list[tuple[str, str]]:
    """Return the LLVM type and name of each register that the elements of ``values`` are computed from."""
    found: dict[str, str] = dict.fromkeys(ctx.given.values(), "i64")
    for value in values:
        for leaf in leaves(value):
            found.update((ctx.extent(n), "i64") for n in _shape(leaf) if isinstance(n, Extent))
            if isinstance(leaf, Array):
                found[leaf.pointer] = "ptr"
            elif isinstance(leaf, (Scalar, Splat)):
                found[leaf.text] = leaf.t.name
            elif isinstance(leaf, Count):
                found[leaf.start] = found[leaf.step] = leaf.t.name
    return [(type_name, name) for name, type_name in found.items() if name.startswith("%")]


def _shape(leaf: Value) -> Shape:
    return () if isinstance(leaf, Rows) else leaf.shape


def _written(ctx: Context, registers: Sequence[tuple[str, str]] | None, write: Callable[[], str]) -> str:
    """Return the body of a function of its own; ``registers`` it finds in a frame, if they are given.

    What is written inside stays there: nothing of it is outlined again.
    """
    outer, before = ctx.writer, ctx.outlines
    ctx.writer, ctx.outlines = Writer(outer), False
    read_frame(ctx.writer, registers or ())
    ctx.writer.do(f"ret {write()}")
    text = ctx.writer.render()
    ctx.writer, ctx.outlines = outer, before
    return text


def read_frame(writer: Writer, registers: Sequence[tuple[str, str]]) -> None:
    """Write that ``registers`` are found in a frame, see ``call_pieces``."""
    for position, type_name, register in _places(registers)[0]:
        slot = writer.let(f"getelementptr i64, ptr %frame, i64 {position}")
        writer.do(f"{register} = load {type_name}, ptr {slot}, align 8")


def _places(registers: Sequence[tuple[str, str]]) -> tuple[list[tuple[int, str, str]], int]:
    """Return the first word of each register in a frame, with its type and name, and how many words that are."""
    places, words = [], 0
    for type_name, register in registers:
        places.append((words, type_name, register))
        words += COMPLEX128.words if type_name == COMPLEX128.name else 1
    return places, words


def _attributes(ctx: Context) -> str:
    return f"noinline nounwind{ctx.libraries.attributes()}"


def share(
    ctx: Context, registers: Sequence[tuple[str, str]], rounds: int, piece: int, cost: float,
    write: Callable[[str, str], None],
) -> None:  # fmt: skip
    """Let threads do ``rounds`` rounds, ``piece`` at a time, which take ``cost`` nanoseconds; ``write(first, count)``
    writes a piece.

    Where the run decides how many rounds there are, few are one piece. Inside it the ``registers`` have the same names,
    and there is nothing else.
    """

    def whole() -> str:
        write("%first", "%count")
        return "void"

    name = define_piece(ctx, _written(ctx, registers, whole))
    if not isinstance(rounds, Extent):
        call_pieces(ctx, name, registers, str(rounds), str(piece), cost)
        return
    number = ctx.extent(rounds)
    few = ctx.writer.let(f"icmp ult i64 {number}, {_FEW * piece}")
    chosen = ctx.writer.let(f"select i1 {few}, i64 {_FEW * piece}, i64 {piece}")
    call_pieces(ctx, name, registers, number, chosen, cost)


def define_piece(ctx: Context, text: str) -> str:
    """Return the name of the function that does a piece; ``text`` is its body."""
    head = f"define internal void @{{name}}(ptr noalias %frame, i64 %first, i64 %count) {_attributes(ctx)} {{"
    return ctx.module.shared(f"{head}\nentry:\n{text}\n}}")


def call_pieces(
    ctx: Context, name: str, registers: Sequence[tuple[str, str]], rounds: str, piece: str, cost: float
) -> None:  # fmt: skip
    """Let threads do ``rounds`` rounds with the function ``name``, ``piece`` at a time, which finds the registers; all
    take ``cost`` nanoseconds, roughly."""
    writer = ctx.writer
    if ctx.types.heeds:
        refuse(None, "of what other threads do it is not known which floating-point errors there were")
    places, words = _places(registers)
    with writer.at(ctx.entry):
        frame = writer.let(f"alloca [{max(1, words)} x i64]")
    for position, type_name, register in places:
        slot = writer.let(f"getelementptr i64, ptr {frame}, i64 {position}")
        writer.do(f"store {type_name} {register}, ptr {slot}, align 8")
    ctx.module.declare(f"ptr @{SHARE}(ptr, ptr, i64, i64, i64)")
    writer.let(f"call ptr @{SHARE}(ptr @{name}, ptr {frame}, i64 {rounds}, i64 {piece}, i64 {int(min(cost, _LONG))})")


def outlined(ctx: Context, registers: Sequence[tuple[str, str]], type_name: str, write: Callable[[], str]) -> str:
    """Return what ``write`` gives, a register of the type or "" for "void", written as a function and called.

    The time that LLVM takes grows faster than the functions it is given; equal functions are one.
    """
    text = _written(ctx, None, lambda: f"{type_name} {write()}")
    parameters = ", ".join(f"{t} {name}" for t, name in registers)
    head = f"define internal {type_name} @{{name}}({parameters}) {_attributes(ctx)} {{"
    name = ctx.module.shared(f"{head}\nentry:\n{text}\n}}")
    call = f"call {type_name} @{name}({parameters})"
    if type_name != "void":
        return ctx.writer.let(call)
    ctx.writer.do(call)
    return ""
