"""Loops whose iterations are independent, done by several threads (see ``typing.own_rows`` and ``thread_pool``).

The body is written into a function of its own, which does some of the iterations, also where there is one thread, so
that results are the same bits. What happens in it must not end the run, for what other iterations have done by then
could be seen: if an operation in it can fail, asks whether the user wants to stop, or makes stacks, the loop is written
as any other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...analysis.induction import inductions, trip_count
from ...base.dataclass import replace
from ...ir.graph import CONST, PARAMETER, Graph, Node
from ...ir.structured import COND, WHILE
from ...ir.tensor import Tensor
from ...ops.index import Input
from ...ops.indexing import GETITEM
from ..ir.casts import cast
from ..ir.elements import INT64, TYPES
from ..ir.moving import Extent
from ..typing.facts import Shape, Types
from ..typing.intervals import FAR, most_rounds
from ..typing.own_rows import Independent, independent
from .arena import ALIGNMENT
from .context import Block, Context, Place
from .elementwise_ir import cost_of, template_of
from .interrupts import ask, tell
from .node_writer import open_block, value_of, write_nodes
from .outlining import BYTES, call_pieces, define_piece, piece_time, read_frame, registers_of, worth_it
from .polling import polling_period
from .registry import entry_of
from .storage_plan import Plan, spread_targets
from .values import Array, Buffer, Count, Scalar, Splat, Value, fills, resolve, size_of

#: the most bytes of scratch memory that an iteration takes, which it has on the stack
_MOST_SCRATCH = 1 << 18
#: nanoseconds of a scalar operation, of a multiplication of a product of matrices and of vectors
_SCALAR, _PRODUCT, _DOT = 0.5, 0.05, 0.1
#: how many elements there are, of the most, where the run decides it; how much longer those take that lie apart
_PART, _APART = 0.5, 4.0
#: what is about the run as a whole
_RUN = re.compile(r"%(thread|stacks|report|out|args)\b")


def shared_loop(
    ctx: Context, node: Node, initial: Sequence[Value], captured: Sequence[Value]
) -> list[Value] | None:  # fmt: skip
    """Write the loop ``node`` for several threads and return its results; ``None``, and nothing written, if that cannot
    be or does not pay.

    ``initial``: its variables, arrays in memory that is theirs.
    """
    around = [loop for loop, _ in ctx.loops]
    plan = independent(node, ctx.types, around)
    if plan is None or not all(isinstance(v, (Array, Scalar, Splat, Count)) for v in captured):
        return None
    cost = time_of(node.attrs["body"], ctx.types, [*around, node])
    most = min(most_rounds(t, node, ctx.types, around) for t in plan.ends)
    if most > FAR or cost * most < worth_it(ctx):
        return None
    loop = _Shared(ctx, node, plan, initial, captured)
    text = loop.function()
    return None if text is None else loop.run(text, cost, most)


class _Shared:
    """A loop that is being written."""

    def __init__(
        self, ctx: Context, node: Node, plan: Independent, initial: Sequence[Value], captured: Sequence[Value]
    ) -> None:  # fmt: skip
        self.ctx, self.node, self.plan, self.initial, self.captured = ctx, node, plan, initial, captured
        #: the first iteration of those that threads share at one time
        self.begin = ctx.writer.new("first")
        registers = registers_of(ctx, [*initial, *captured])
        self.registers = [*registers, ("ptr", "%table"), ("i64", self.begin)]

    def function(self) -> str | None:
        """Return the body of a function that does iterations; ``None`` if there may be more in one than computing."""
        inner = Context(self.ctx.types, self.ctx.libraries, self.ctx.module, self.ctx.writer)
        inner.outlines, inner.table, inner.loops = False, self.ctx.table, list(self.ctx.loops)
        inner.given = self.ctx.given
        shapes = [v.shape for v in (*self.initial, *self.captured)]  # type: ignore[union-attr]
        extents = {n: self.ctx.extent(n) for shape in shapes for n in shape if isinstance(n, Extent)}
        body: Graph = self.node.attrs["body"]
        inner.blocks.append(Block(body, Plan(), extents=extents))
        with inner.writer.at(inner.entry):
            read_frame(inner.writer, self.registers)
            scratch = inner.writer.section()
        with inner.writer.loop("%count", inner.module.loop_id(), may_be_none=True) as loop:
            index = inner.writer.let(f"add nsw i64 {loop.index}, %first")
            index = inner.writer.let(f"add nsw i64 {index}, {self.begin}")
            inner.loops.append((self.node, index))
            if not self._iteration(inner, body, index):
                return None
        inner.writer.do("ret void")
        size = inner.arena.size
        with inner.writer.at(scratch):
            inner.writer.do(f"%scratch = alloca [{max(1, size)} x i8], align {ALIGNMENT}")
        text = inner.writer.render()
        if inner.checks or inner.failures or inner.calls_blas or size > _MOST_SCRATCH or _RUN.search(text):
            return None
        return text

    def _iteration(self, inner: Context, body: Graph, index: str) -> bool:
        """Write one iteration; false if an array does not stay where it is."""
        current = [self._variable(inner, k, value, index) for k, value in enumerate(self.initial)]
        block = open_block(inner, body, [*current, *self.captured])
        places = {body.outputs[k]: Place(current[k].buffer) for k in self.plan.arrays}  # type: ignore[union-attr]
        block.targets = spread_targets(body, dict(places), block.plan.uses)
        write_nodes(inner)
        for k in self.plan.arrays:
            made, place = resolve(value_of(inner, body.outputs[k])), current[k]
            if not isinstance(made, Array) or made.pointer != place.pointer or not fills(made):  # type: ignore[union-attr]
                return False
        inner.blocks.pop()
        return True

    def _variable(self, inner: Context, k: int, value: Value, index: str) -> Value:
        if isinstance(value, Array):
            buffer = Buffer(value.pointer, value.buffer.size, None, (), value.buffer.lying)
            changed = self.node.attrs["body"].outputs[k] is not self.node.attrs["body"].inputs[k]
            return replace(value, buffer=buffer, owned=changed)
        assert isinstance(value, Scalar)
        return self._counted(inner, k, value, index)

    def _counted(self, ctx: Context, k: int, value: Scalar, rounds: str) -> Scalar:
        """Return variable ``k``, which began as ``value``, after so many rounds."""
        n = cast(ctx.writer, ctx.module, rounds, INT64, value.t)
        step = ctx.writer.let(f"mul {value.t.name} {n}, {self.plan.counters[k]}")
        return Scalar(ctx.writer.let(f"add {value.t.name} {step}, {value.text}"), value.t)

    def run(self, text: str, cost: float, most: int) -> list[Value]:
        """Write that threads do all iterations; gives the values of the variables behind the loop.

        ``cost``: nanoseconds of an iteration, of which there are so many at most.
        """
        ctx, writer = self.ctx, self.ctx.writer
        trips = trip_count(self.node, ctx.types)
        rounds = str(trips) if trips is not None else self._rounds()
        name, total = define_piece(ctx, text), cost * most
        piece, least = max(1, int(piece_time(total) / cost)), max(1, int(worth_it(ctx) / cost))
        period = polling_period(self.node, ctx.types, [loop for loop, _ in ctx.loops])
        if period is None:
            writer.do(f"{self.begin} = add i64 0, 0")
            call_pieces(ctx, name, self.registers, rounds, self._piece(rounds, piece, least), total)
        else:
            self._asking(name, rounds, max(period, least), piece, least, cost)
        return [self._counted(ctx, k, v, rounds) if isinstance(v, Scalar) else v for k, v in enumerate(self.initial)]

    def _piece(self, rounds: str, piece: int, least: int) -> str:
        """Return how many rounds make a piece: all if there are fewer than ``least``."""
        if not rounds.startswith("%"):
            return str(piece)
        let = self.ctx.writer.let
        few = let(f"icmp ult i64 {rounds}, {least}")
        return let(f"select i1 {few}, i64 {let(f'add nuw nsw i64 {rounds}, 1')}, i64 {piece}")

    def _asking(self, name: str, rounds: str, together: int, piece: int, least: int, cost: float) -> None:
        """Write that threads do ``together`` rounds, and that the user is asked behind each such part."""
        ctx, let = self.ctx, self.ctx.writer.let
        parts = let(f"udiv i64 {let(f'add nuw nsw i64 {rounds}, {together - 1}')}, {together}")
        with ctx.writer.loop(parts, ctx.module.loop_id(), may_be_none=True) as loop:
            ctx.writer.do(f"{self.begin} = mul nuw nsw i64 {loop.index}, {together}")
            left = let(f"sub nuw nsw i64 {rounds}, {self.begin}")
            now = let(f"call i64 @llvm.umin.i64(i64 {left}, i64 {together})")
            call_pieces(ctx, name, self.registers, now, self._piece(now, piece, least), cost * together)
            if not ctx.loops:
                tell(ctx, self.node, self.begin)
            ask(ctx)
        if not ctx.loops:
            tell(ctx, self.node, rounds)

    def _rounds(self) -> str:
        """Return how often the body runs."""
        let, found = self.ctx.writer.let, list[str]()
        for test in self.plan.ends:
            start, limit = self._number(test.variable), str(test.limit)
            if test.limit is None:
                assert test.bound is not None
                limit = self._number(test.bound)
            ahead = (limit, start) if test.step > 0 else (start, limit)
            span = let(f"sub nsw i64 {ahead[0]}, {ahead[1]}")
            if test.comparison.endswith("="):
                span = let(f"add nsw i64 {span}, 1")
            span = let(f"call i64 @llvm.smax.i64(i64 {span}, i64 0)")
            step = abs(test.step)
            found.append(let(f"udiv i64 {let(f'add nuw nsw i64 {span}, {step - 1}')}, {step}"))
        rounds = found[0]
        for other in found[1:]:
            rounds = let(f"call i64 @llvm.umin.i64(i64 {rounds}, i64 {other})")
        return rounds

    def _number(self, position: int) -> str:
        """Return an input of the loop, an integer, as an i64."""
        value = [*self.initial, *self.captured][position]
        assert isinstance(value, Scalar)
        return cast(self.ctx.writer, self.ctx.module, value.text, value.t, INT64)


# -- what an iteration takes --------------------------------------------------------------------------------


def time_of(graph: Graph, types: Types, around: Sequence[Node]) -> float:
    """Return nanoseconds for one run of ``graph``, in the bodies of the loops ``around``, as machine code, rather too
    few than too many."""
    total = _SCALAR
    for node in graph.nodes:
        if node.op is CONST or node.op is PARAMETER:
            continue
        if node.op is WHILE:
            total += _trips(node, types, around) * time_of(node.attrs["body"], types, [*around, node])
        elif node.op is COND:
            total += max(time_of(g, types, around) for g in node.subgraphs) / 2
        else:
            total += _time_of_node(node, types)
    return total


def _trips(node: Node, types: Types, around: Sequence[Node]) -> float:
    exactly = trip_count(node, types)
    if exactly is not None:
        return exactly
    most = min((most_rounds(test, node, types, around) for test in inductions(node, types)), default=FAR)
    return most * _PART if most < FAR else 1


def _time_of_node(node: Node, types: Types) -> float:
    entry, shapes = entry_of(node.op), [types.shapes[t] for t in node.inputs if t in types.shapes]
    made = types.shapes.get(node.outputs[0])
    if entry is None or made is None or not shapes or (entry.view and entry.partly):
        return _SCALAR
    apart = _APART if any(_lies_apart(t) for t in node.inputs) else 1.0
    if entry.time is not None and len(shapes) == len(node.inputs):
        part = _PART ** sum(isinstance(n, Extent) for n in {*shapes[0], *made})
        return max(_SCALAR, part * entry.time(node, [*shapes, made], _PRODUCT if made else _DOT * apart))
    t = TYPES.get(node.inputs[0].dtype)
    each = cost_of(node.op, t) if t is not None and template_of(node.op, t.kind) else 0.0
    size = max(_size(shape) for shape in ([*shapes[1:2]] if entry.partly else [*shapes, made]))
    width = node.inputs[0].dtype.itemsize
    return _SCALAR + (size * (each + apart * width / BYTES) if size > 1 else 20 * each)


def _lies_apart(tensor: Tensor) -> bool:
    """Return whether ``tensor`` is a column, or another part whose elements are not side by side."""
    node = tensor.node
    if node is None or node.op is not GETITEM or tensor.shape.rank == 0:
        return False
    entries = node.attrs["index"].entries
    return len(entries) == node.inputs[0].shape.rank and isinstance(entries[-1], (int, Input))


def _size(shape: Shape) -> float:
    """Return about how many elements there are."""
    return size_of(shape) * _PART ** sum(isinstance(n, Extent) for n in shape)
