"""Loops: scalars in registers, arrays in memory that is written in place or swapped with a spare.

The buffers of a loop are a pool. On entry each array variable has one of them, its *home*. In the body a new value
goes, if it can, where an old one is no longer needed; if none is, a spare joins the pool. At the end of an
iteration the variables' pointers are those of their new values and what is left over are the spares of the next.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...analysis.uses import readers
from ...base.dataclass import dataclass, field, replace
from ...base.forks import undivided
from ...ir.graph import Graph, Node
from ...ir.structured import WHILE
from ...ir.tensor import Tensor
from ..ir.writer import Phi
from ..typing.facts import StackType
from ..writer.context import Context, Target
from ..writer.copy_on_write import as_owned, changeable, cleared, copied, copied_rows, new_like
from ..writer.interrupts import ask, tell
from ..writer.nests import store
from ..writer.node_writer import array_of, open_block, value_of, write_nodes
from ..writer.polling import polling_period
from ..writer.registry import entry_of, rule
from ..writer.storage_plan import spread_targets
from ..writer.values import (  # fmt: skip
    Array,
    Buffer,
    Expr,
    Grown,
    Nothing,
    Owned,
    Pending,
    Rows,
    Scalar,
    Value,
    borrowed,
    buffers,
    fills,
    parts_of,
    registers,
    resolve,
    size_of,
    turned,
    with_parts,
    with_registers,
)


@dataclass(eq=False)
class Pool:
    """The buffers of one loop.

    Attributes
    ----------
    homes : list of Buffer
        Where the array variables are on entry.
    current : list of Buffer
        Where they are in this iteration.
    spares : list of (Buffer, Phi)
        Buffers that hold nothing at the start of an iteration.
    slots : list of Buffer
        Where the spares are on entry.
    first : int
        How much scratch memory had been handed out when the loop began.
    """

    entry: str
    head: list[object]
    first: int
    homes: list[Buffer] = field(default_factory=list)
    current: list[Buffer] = field(default_factory=list)
    phis: list[Phi] = field(default_factory=list)
    spares: list[tuple[Buffer, Phi]] = field(default_factory=list)
    slots: list[Buffer] = field(default_factory=list)

    def members(self) -> list[Buffer]:
        """Return all of them."""
        return [*self.current, *[b for b, _ in self.spares]]

    def spare(self, ctx: Context, own: Buffer) -> Buffer:
        """Return a buffer like ``own`` that nothing refers to: one of the pool, or a new one."""
        busy, size = ctx.referenced() | set(ctx.held), own.size
        for buffer in self.members():
            if buffer.size == size and buffer.lying == own.lying and buffer not in busy:
                return buffer
        # it will hold a value while the next iteration runs: what earlier operations of the body use is not free
        slot = ctx.buffer(_room(own), ctx.made[self.first :])
        ctx.pinned.append(slot)
        if own.lying is not None:
            slot = _begun(ctx, slot, own)
        self.slots.append(slot)
        phi = Phi(ctx.writer.new("s"), "ptr", [(slot.pointer, self.entry)])
        self.head.append(phi)
        made = Buffer(phi.name, size, None, (), own.lying)
        self.spares.append((made, phi))
        return made


@dataclass(frozen=True, eq=False)
class InPool(Target):
    """The next value of a loop variable: best in place, else anywhere in the pool."""

    pool: Pool
    own: Buffer

    def take(self, ctx: Context, size: int, reuse: Sequence[Array]) -> Buffer | None:
        """See ``Target``."""
        if size != self.own.size:
            return None
        members = self.pool.members()
        offered = [a.buffer for a in reuse if a.buffer in members]
        if self.own in offered:
            return self.own
        offered = [buffer for buffer in offered if buffer.lying == self.own.lying]
        return offered[0] if offered else self.pool.spare(ctx, self.own)


# -- stacks that an iteration leaves behind ------------------------------------------------------------------


def leaves_rubbish(ctx: Context, body: Graph) -> bool:
    """Return whether an iteration of the loop with ``body`` makes stacks, and what the next one sees of them is plain.

    What is inside other stacks is not found when the others are given back.
    """
    passed_on = [ctx.types.stacks[t].root() for t in body.outputs if t in ctx.types.stacks]
    plain = not any(isinstance(stack_type.element, StackType) for stack_type in passed_on)
    return plain and any(True for _ in ctx.types.pushed_inside(body))


def give_back(ctx: Context, last: str, passed_on: Sequence[str]) -> None:
    """Free the stacks that were made after ``last``, but those at the addresses ``passed_on``."""
    writer = ctx.writer
    for pointer in passed_on:
        writer.do(f"call void @keep_stack(ptr {pointer}, i64 1)")
    writer.do(f"call void @free_stacks(ptr %stacks, ptr {last})")
    for pointer in passed_on:
        writer.do(f"call void @keep_stack(ptr {pointer}, i64 0)")


# -- entry --------------------------------------------------------------------------------------------------


def _home(ctx: Context, tensor: Tensor, value: Value, taken: set[Buffer]) -> Value:
    """Return the initial value of a variable in memory that is the loop's own."""
    if ctx.types.is_owned(tensor):
        mine = as_owned(value)
        if mine.buffer in taken:
            mine = replace(mine, owned=False)
        return changeable(ctx, tensor.op, tensor, mine)
    if isinstance(value, (Scalar, Grown)):
        return value
    if isinstance(value, Nothing):
        return cleared(ctx, new_like(ctx, tensor))
    parts = parts_of(value)
    if parts and all(ctx.is_free(a) and a.buffer not in taken for a in parts):
        return value
    is_free = isinstance(value, Array) and value.owned and value.buffer not in ctx.referenced() | taken
    if is_free and (in_order := turned(value)) is not None:  # type: ignore[arg-type]
        return in_order
    if isinstance(value, Rows):
        return copied_rows(ctx, value, ctx.result(tensor, value.items.t, value.items.shape))
    made = ctx.result(tensor, ctx.type_of(tensor), ctx.shape_of(tensor))
    store(ctx, value, made)
    return made


@rule(WHILE, complexes=True)
def _while(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    count, writer = node.attrs["n_vars"], ctx.writer
    captured = [_kept(ctx, v, t) for v, t in zip(values[count:], node.attrs["body"].inputs[count:])]
    taken = {b for v in captured for b in buffers(v)}
    initial: list[Value] = []
    for tensor, value in zip(node.outputs, map(resolve, values)):
        home = _home(ctx, tensor, value, taken)
        taken.update(buffers(home) if isinstance(home, Owned) else [a.buffer for a in parts_of(home)])
        ctx.held.extend(a.buffer for a in parts_of(home))
        initial.append(home)
    if ctx.outlines is not False and any(isinstance(v, Array) for v in initial):
        with undivided():
            from ..writer.shared_loops import shared_loop

        shared = shared_loop(ctx, node, initial, [borrowed(v) for v in captured])
        if shared is not None:
            return shared
    pinned = len(ctx.pinned)
    ctx.pinned.extend(taken)
    entry = writer.block
    head, body, done = writer.label("while"), writer.label("body"), writer.label("end")
    writer.jump(head)
    writer.start(head)
    loop = _Running(ctx, node, Pool(entry, writer.section(), len(ctx.made)), initial, [borrowed(v) for v in captured])
    writer.branch(loop.condition(), body, done)
    writer.start(body)
    loop.body()
    loop.latch(head)
    writer.start(done)
    ctx.loops.pop()
    if node in ctx.told:
        tell(ctx, node, loop.counter.name)
    results = loop.results()
    del ctx.pinned[pinned:]
    return results


def _kept(ctx: Context, value: Value, inside: Tensor) -> Value:
    """Return a captured value in a form that costs nothing in every iteration;
    ``inside`` is what the body knows it as."""
    value = resolve(value)
    if isinstance(value, (Expr, Pending)):
        return array_of(ctx, value)
    if isinstance(value, Array) and len(value.shape) > 1 and value.strides[-1] != 1 and _is_multiplied(inside):
        # a product would lay out the transposed matrix anew each time
        made: Array = ctx.temporary(value.t, value.shape)
        store(ctx, value, made)
        return made
    return value


def _is_multiplied(tensor: Tensor) -> bool:
    entries = [entry_of(n.op) for n in readers(tensor.op.graph).nodes(tensor) if n is not None]
    return any(entry is not None and entry.packs for entry in entries)


def _room(buffer: Buffer) -> int:
    """Return how many bytes there are from the first to the last element in memory of an array that is all of it."""
    if buffer.lying is None:
        return buffer.size
    shape, strides = buffer.lying
    return (1 + sum((n - 1) * abs(s) for n, s in zip(shape, strides))) * (buffer.size // size_of(shape))


def _begun(ctx: Context, room: Buffer, like: Buffer) -> Buffer:
    """Return memory like that of an array that lies otherwise, where there is room for such."""
    assert like.lying is not None
    shape, strides = like.lying
    before = sum((n - 1) * -s for n, s in zip(shape, strides) if s < 0) * (like.size // size_of(shape))
    with ctx.writer.at(ctx.entry):
        pointer = ctx.writer.let(f"getelementptr i8, ptr {room.pointer}, i64 {before}") if before else room.pointer
    return Buffer(pointer, like.size, None, (room,), like.lying)


class _Running:
    """A loop that is being written, from its head on."""

    def __init__(
        self, ctx: Context, node: Node, pool: Pool, initial: Sequence[Value], captured: Sequence[Value]
    ) -> None:  # fmt: skip
        self.ctx, self.node, self.pool, self.initial, self.captured = ctx, node, pool, initial, captured
        self.scalars: list[tuple[int, list[Phi]]] = []
        self.current = [self._variable(k, v) for k, v in enumerate(initial)]
        self.counter = self._phi("i64", "0")
        period = polling_period(node, ctx.types, [loop for loop, _ in ctx.loops])
        self.fuel = self._phi("i64", str(period)) if period else None
        #: the newest stack when an iteration begins, if those that it makes can go when it ends
        self.stacks_before = ""
        self.period = period
        ctx.loops.append((node, self.counter.name))

    def _phi(self, type_name: str, start: str) -> Phi:
        phi = Phi(self.ctx.writer.new("p"), type_name, [(start, self.pool.entry)])
        self.pool.head.append(phi)
        return phi

    def _variable(self, k: int, value: Value) -> Value:
        if isinstance(value, (Scalar, Grown, Owned)):
            phis = [self._phi(type_name, text) for type_name, text in registers(value)]
            self.scalars.append((k, phis))
            return with_registers(value, [phi.name for phi in phis])
        parts = []
        for part in parts_of(value):
            phi = self._phi("ptr", part.pointer)
            buffer = Buffer(phi.name, part.buffer.size, None, (), part.buffer.lying)
            self.pool.homes.append(part.buffer)
            self.pool.current.append(buffer)
            self.pool.phis.append(phi)
            parts.append(Array(phi.name, part.t, part.shape, buffer.strides_of(part.shape), buffer, owned=True))
        return with_parts(value, parts)

    def condition(self) -> str:
        """Write the condition."""
        ctx, graph = self.ctx, self.node.attrs["cond"]
        open_block(ctx, graph, [*map(borrowed, self.current), *self.captured])
        write_nodes(ctx)
        text = ctx.scalar(value_of(ctx, graph.outputs[0]))
        ctx.blocks.pop()
        return text

    def body(self) -> None:
        """Write the body."""
        ctx, graph = self.ctx, self.node.attrs["body"]
        if leaves_rubbish(ctx, graph):
            self.stacks_before = ctx.writer.let("load ptr, ptr %stacks")
        block = open_block(ctx, graph, [*self.current, *self.captured])
        targets: dict[Tensor, Target] = {}
        for value, tensor in zip(self.current, graph.outputs):
            parts = parts_of(value)
            if parts:
                targets[tensor] = InPool(self.pool, parts[0].buffer)
        block.targets = spread_targets(graph, targets, block.plan.uses)
        write_nodes(ctx)

    def latch(self, head: str) -> None:
        """Make the new values the current ones and go back to ``head``."""
        ctx, writer = self.ctx, self.ctx.writer
        outputs = [resolve(value_of(ctx, t)) for t in self.node.attrs["body"].outputs[: len(self.initial)]]
        self._own(outputs)
        pointers = self._placed(outputs)
        ctx.blocks.pop()
        if self.stacks_before:
            collections = [outputs[k] for k, _ in self.scalars if self.node.outputs[k] in ctx.types.stacks]
            give_back(ctx, self.stacks_before, [registers(value)[0][1] for value in collections])
        following = writer.let(f"add nuw nsw i64 {self.counter.name}, 1")
        fuel = self._poll() if self.fuel is not None else ""
        block = writer.block
        self.counter.add(following, block)
        if self.fuel is not None:
            self.fuel.add(fuel, block)
        for k, phis in self.scalars:
            for phi, (_, text) in zip(phis, registers(outputs[k])):
                phi.add(text, block)
        for phi, pointer in zip(self.pool.phis, pointers):
            phi.add(pointer, block)
        left = [b for b in self.pool.members() if b.pointer not in pointers]
        for buffer, phi in self.pool.spares:
            free = next(b for b in left if b.size == buffer.size and b.lying == buffer.lying)
            left.remove(free)
            phi.add(free.pointer, block)
        writer.jump(head, ctx.module.loop_id())

    def _own(self, outputs: list[Value]) -> None:
        """Make the collections of the next iteration the loop's own, each one that of one variable only."""
        ctx, seen = self.ctx, set[Buffer]()
        for k, tensor in enumerate(self.node.outputs):
            if ctx.types.is_owned(tensor):
                value = as_owned(outputs[k])
                if not value.owned or value.buffer in seen:
                    value = copied(ctx, self.node, ctx.types.stacks[tensor], value.pointer)
                seen.add(value.buffer)
                outputs[k] = value

    def _placed(self, outputs: Sequence[Value]) -> list[str]:
        """Return where the arrays of the next iteration are, each in a buffer of the pool of its own."""
        ctx, pointers, members = self.ctx, list[str](), None
        with ctx.holding([]):
            for tensor, before, value in zip(self.node.outputs, self.current, outputs):
                if isinstance(value, Nothing):
                    value = cleared(ctx, new_like(ctx, tensor))
                for old, part in zip(parts_of(before), self._parts(before, value)):
                    members = self.pool.members()
                    mine = isinstance(part, Array) and part.buffer in members and fills(part)
                    mine = mine and part.buffer.lying == old.buffer.lying  # type: ignore[union-attr]
                    if mine and part.pointer not in pointers:  # type: ignore[union-attr]
                        pointers.append(part.pointer)  # type: ignore[union-attr]
                        continue
                    buffer = self.pool.spare(ctx, old.buffer)
                    ctx.held.append(buffer)
                    store(ctx, part, Array(buffer.pointer, old.t, old.shape, buffer.strides_of(old.shape), buffer))
                    pointers.append(buffer.pointer)
        return pointers

    def _parts(self, before: Value, value: Value) -> Sequence[Value]:
        return parts_of(value) if isinstance(before, Rows) else [value]

    def _poll(self) -> str:
        """Ask now and then whether the user wants to stop."""
        writer, ctx = self.ctx.writer, self.ctx
        assert self.fuel is not None
        left = writer.let(f"sub nsw i64 {self.fuel.name}, 1")
        asks, go_on = writer.label("ask"), writer.label("on")
        before = writer.block
        writer.branch(writer.let(f"icmp eq i64 {left}, 0"), asks, go_on)
        writer.start(asks)
        ask(ctx)
        asked = writer.block
        writer.jump(go_on)
        writer.start(go_on)
        phi = writer.phi("i64")
        phi.add(left, before)
        phi.add(str(self.period), asked)
        return phi.name

    def results(self) -> list[Value]:
        """Return the final values: arrays at home, or, if they were swapped with others, wherever they came to be."""
        out, position = [], 0
        slots = [*self.pool.homes, *self.pool.slots]
        for before, value in zip(self.initial, self.current):
            parts = []
            for home, part in zip(parts_of(before), parts_of(value)):
                if self._moved(position):
                    size = part.buffer.size
                    lying = part.buffer.lying
                    places = tuple([b for b in slots if b.size == size and b.lying == lying])
                    home = replace(part, buffer=Buffer(part.pointer, size, None, places, lying))
                parts.append(home)
                position += 1
            out.append(with_parts(before, parts) if parts else value)
        return out

    def _moved(self, position: int) -> bool:
        """Return whether the variable may end elsewhere than where it started."""
        phi = self.pool.phis[position]
        return any(v not in (phi.name, self.pool.homes[position].pointer) for v, _ in phi.sources)
