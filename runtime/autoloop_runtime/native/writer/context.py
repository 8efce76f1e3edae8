"""What is known while a function is written: where values are, which of them are still needed, what may fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeAlias

from ...base.dataclass import dataclass, field, replace
from ...base.dtypes import DType
from ...ir.graph import Graph, Node
from ...ir.tensor import Tensor
from ..ir.elements import POINTER, TYPES, LType
from ..ir.moving import Extent
from ..ir.writer import Module, Writer
from ..toolchain.shared_libraries import Libraries
from ..typing.facts import Shape, Types
from ..typing.refusal import refuse
from .arena import Arena
from .elementwise_ir import Arithmetic
from .marks import MARKS
from .memory_order import lying_in, memory_order
from .steps import steps_in, text_of
from .storage_plan import Plan
from .values import (
    Array,
    Buffer,
    Grown,
    Lying,
    Pending,
    Rows,
    Scalar,
    Splat,
    Value,
    buffers,
    dense,
    fills,
    registers,
    resolve,
    size_of,
)

#: what the function returns when there is no memory
OUT_OF_MEMORY = -2
#: gives what a kernel has raised that cannot be asked again
Raised: TypeAlias = "Callable[[], BaseException] | None"
#: what an array may lie like in memory, if not in C order
Like: TypeAlias = "Sequence[Value] | None"


class Target:
    """Where the value of a tensor would best be put; it need not be."""

    def take(self, ctx: Context, size: int, reuse: Sequence[Array]) -> Buffer | None:
        """Take a buffer that may be written now: one of ``reuse``'s, or one that nothing refers to."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Place(Target):
    """One certain buffer."""

    buffer: Buffer

    def take(self, ctx: Context, size: int, reuse: Sequence[Array]) -> Buffer | None:
        """See ``Target``."""
        if self.buffer.size != size:
            return None
        mine = any(a.buffer is self.buffer for a in reuse)
        return self.buffer if mine or self.buffer not in ctx.referenced() | set(ctx.held) else None


@dataclass(eq=False)
class Block:
    """A graph that is being written.

    Attributes
    ----------
    graph : Graph
    plan : Plan
        Which element-wise values are stored.
    values : dict
        The value of each tensor so far.
    left : dict
        How often each will still be read.
    targets : dict
        Where some would best be put.
    pending : list of Pending
        What the next loops will store.
    extents : dict
        The register of each extent that was computed in it.
    put_back : set of Node
        What puts a part of an array back that was changed where it lies.
    """

    graph: Graph
    plan: Plan
    values: dict[Tensor, Value] = field(default_factory=dict)
    left: dict[Tensor, int] = field(default_factory=dict)
    targets: dict[Tensor, Target] = field(default_factory=dict)
    pending: list[Pending] = field(default_factory=list)
    extents: dict[Extent, str] = field(default_factory=dict)
    put_back: set[Node] = field(default_factory=set)
    #: the line that it has said last that it is at, see ``marks``
    marked: int | None = None
    #: the tensors that may still be read, of the first so many that have a value: what is read to its end stays so
    live: list[Tensor] = field(default_factory=list)
    looked_at: int = 0

    def unread(self) -> list[Value]:
        """Return the values so far that are still to be read."""
        self.live += islice(self.values, self.looked_at, None)
        self.looked_at = len(self.values)
        self.live = [tensor for tensor in self.live if self.left.get(tensor, 0) > 0]
        return [self.values[tensor] for tensor in self.live]


@dataclass(frozen=True)
class Operand:
    """An operand of an operation that may fail: dtype, shape, and the slot of the report where it is left.

    ``kind`` is "scalar" (the value is in the slot, that of all elements), "array" (its address is), "shape" (only its
    shape is known), "rows" (a TensorArray: the address of its elements; those of the flags are in the next slots) or
    "grown" (one that grows: the address of the stack; its length is in the next slot).
    """

    kind: str
    dtype: DType | None
    shape: Shape
    slot: int
    extra: Any = None
    strides: Shape = ()
    extents: tuple[tuple[int, int], ...] = ()
    steps: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Check:
    """What a return code means: the node that failed, its operands, and the loops around it, innermost last.

    ``refuses`` is why it may fail where the kernel raises nothing, beside what the rule of the op says of that;
    ``raised`` gives what was raised, of a kernel that cannot be asked again.
    """

    node: Node
    operands: tuple[Operand, ...]
    loops: tuple[Node, ...]
    refuses: str = ""
    raised: Raised = None


class Context:
    """The state of writing one function.

    Parameters
    ----------
    types : Types
        Of every tensor.
    libraries : Libraries
        What may be called.
    beside : Writer, optional
        See ``Writer``.
    """

    def __init__(self, types: Types, libraries: Libraries, module: Module, beside: Writer | None = None) -> None:
        self.types = types
        self.module = module
        self.libraries = libraries
        self.writer = Writer(beside)
        #: straight-line code at the start of the function
        self.entry = self.writer.section()
        self.arithmetic = Arithmetic(module, libraries, types.heeds)
        self.arena = Arena()
        self.blocks: list[Block] = []
        #: all scratch memory that was handed out
        self.made: list[Buffer] = []
        #: memory of loops that are being written
        self.pinned: list[Buffer] = []
        #: memory that the operation being written uses
        self.held: list[Buffer] = []
        self.given: dict[Extent, str] = {}  # the registers of the extents of arguments
        #: what the variables hold by now
        self.variables: dict[Any, Value] = {}
        #: arrays whose addresses the function gets from a table
        self.table: list[Any] = []
        self.loops: list[tuple[Node, str]] = []  # those around, with their iteration counters
        self.told: list[Node] = []  # the outermost loops that tell how far they are, see ``interrupts.tell``
        self.checks: list[Check] = []
        #: the first node that draws random numbers, the checks before it, and the loops around it
        self.drawn: tuple[Node, int, tuple[Node, ...]] | None = None
        #: blocks that are reached on failure only, written behind the function
        self.failures: list[Any] = []
        self.report_slots = 0
        #: whether loops over elements are functions of their own; ``False`` inside such a function
        self.outlines: bool | None = None
        #: whether something in it is left to BLAS or LAPACK, which have threads of their own; see ``marks``
        self.calls_blas, self.marks = False, MARKS.get()

    # -- values -------------------------------------------------------------------------------------------

    @property
    def block(self) -> Block:
        """The graph that is being written."""
        return self.blocks[-1]

    def type_of(self, tensor: Tensor) -> LType:
        """Return the element type of a tensor."""
        return POINTER if tensor in self.types.stacks else TYPES[tensor.dtype]

    def element_type(self, dtype: DType) -> LType:
        """Return the element type of a dtype."""
        return TYPES[dtype]

    def constant(self, array: Any) -> Array:
        """Return a constant array."""
        t, shape = TYPES[array.dtype], array.shape
        position = next((k for k, known in enumerate(self.table) if known is array), len(self.table))
        if position == len(self.table):
            self.table.append(array)
        with self.writer.at(self.entry):
            slot = self.writer.let(f"getelementptr ptr, ptr %table, i64 {position}")
            pointer = self.writer.let(f"load ptr, ptr {slot}")
        return Array(pointer, t, shape, dense(shape), Buffer(pointer, size_of(shape) * t.size))

    def shape_of(self, tensor: Tensor) -> Shape:
        """Return the exact shape of a tensor."""
        return self.types.shapes[tensor]

    def scalar(self, value: Value) -> str:
        """Return a scalar's register or literal."""
        value = resolve(value)
        assert isinstance(value, Scalar), value
        return value.text

    # -- extents ------------------------------------------------------------------------------------------

    def extent(self, n: int) -> str:
        """Return an extent as text: a number, or the register it is in."""
        if not isinstance(n, Extent):
            return str(n)
        if n in self.given:
            return self.given[n]
        return next(block.extents[n] for block in reversed(self.blocks) if n in block.extents)

    def count(self, shape: Sequence[int]) -> str:
        """Return how many elements there are of a shape: a number, or the register it is in."""
        text = str(size_of(tuple([n for n in shape if not isinstance(n, Extent)])))
        for n in shape:
            if isinstance(n, Extent):
                text = self.extent(n) if text == "1" else self.writer.let(f"mul i64 {text}, {self.extent(n)}")
        return text

    def has_extent(self, n: Extent) -> bool:
        """Return whether it has been computed, here or in a block around."""
        return n in self.given or any(n in block.extents for block in self.blocks)

    def step(self, step: int) -> str:
        """Return a stride, or a sum of some, as text: a number, or a register that it is computed in here."""
        return text_of(step, self.writer.let, self.extent)

    def new_extent(self, most: int, text: str) -> Extent:
        """Return an extent that is in a register."""
        made = Extent(most, text)
        self.block.extents[made] = text
        return made

    # -- lifetimes ----------------------------------------------------------------------------------------

    def referenced(self) -> set[Buffer]:
        """Return the memory that values still to be read are in."""
        found: set[Buffer] = set()
        seen: set[int] = set()
        for block in self.blocks:
            for value in block.unread():
                if id(value) not in seen:
                    seen.add(id(value))
                    found.update(buffers(value))
            for pending in block.pending:
                found.update(buffers(pending))
        for value in self.variables.values():
            found.update(buffers(value))
        return found

    def buffer(self, size: int, beside: Sequence[Buffer] = (), lying: Lying | None = None) -> Buffer:
        """Return new scratch memory for the operation being written, apart from what is needed and ``beside``."""
        occupied = self.referenced() | {b for held in (*self.pinned, *self.held, *beside) for b in held.all()}
        with self.writer.at(self.entry):
            made = replace(self.arena.buffer(self.writer, size, occupied), lying=lying)
        self.made.append(made)
        self.held.append(made)
        return made

    def temporary(self, t: LType, shape: Shape, order: list[int] | None = None) -> Array:
        """Return a new array, in this ``order`` of its axes in memory."""
        made = self.buffer(size_of(shape) * t.size, (), lying_in(order, shape))
        return Array(made.pointer, t, shape, made.strides_of(shape), made, owned=True)

    def result(
        self, tensor: Tensor | None, t: LType, shape: Shape, reuse: Sequence[Array] = (), like: Like = None
    ) -> Array:
        """Return where to write the value of ``tensor``; ``reuse`` are arrays that it may take the place of. It is in C
        order, unless it may lie ``like`` those that it is computed of, or in any order."""
        size, is_any = size_of(shape) * t.size, like is not None
        reuse = [a for a in reuse if a.owned and fills(a) and a.buffer.size == size and a.buffer.suits(shape, is_any)]
        target = self.block.targets.get(tensor) if tensor is not None else None
        taken = target.take(self, size, reuse) if target is not None else None
        if taken is None or not taken.suits(shape, is_any):
            taken = next((a.buffer for a in reuse), None)
        if taken is None:
            return self.temporary(t, shape, memory_order(like or (), shape))
        self.held.append(taken)
        return Array(taken.pointer, t, shape, taken.strides_of(shape), taken, owned=True)

    def is_free(self, array: Array) -> bool:
        """Return whether the operation being written may overwrite its operand ``array``."""
        return array.owned and fills(array) and array.buffer not in self.referenced()

    @contextmanager
    def holding(self, values: Sequence[Value]) -> Iterator[None]:
        """Keep the memory of ``values`` and all that is made inside."""
        before = len(self.held)
        for value in values:
            self.held.extend(buffers(value))
        try:
            yield
        finally:
            del self.held[before:]

    @property
    def uses_stacks(self) -> bool:
        """True if the function makes stacks, so that they must be given back."""
        return self.module.has("stacks")

    # -- failing ------------------------------------------------------------------------------------------

    def check(
        self, passed: str, node: Node, values: Sequence[Value], out_of_memory: bool = False, refuses: str = "",
        raised: Raised = None,
    ) -> None:  # fmt: skip
        """End the function unless ``passed``, so that ``node``'s kernel can say what is wrong with ``values``;
        ``refuses``: why that may be nothing; ``raised`` gives what was raised, if it cannot be asked."""
        writer = self.writer
        go_on, fail = writer.label("ok"), writer.label("fail")
        never = self.module.metadata('!{!"branch_weights", i32 1048576, i32 1}')
        writer.branch(passed, go_on, fail, f", !prof {never}")
        block = writer.block
        with writer.at(self.failures):
            writer.start(fail)
            if out_of_memory:
                writer.do(f"ret i32 {OUT_OF_MEMORY}")
            else:
                self._report(node, values, refuses, raised)
        writer.block = block
        writer.start(go_on)

    def _report(self, node: Node, values: Sequence[Value], refuses: str, raised: Raised) -> None:
        writer = self.writer
        slots: list[tuple[str, str]] = [("i64", counter) for _, counter in self.loops]
        operands = []
        for tensor, value in zip(node.inputs, values):
            value = resolve(value)
            slot = len(slots)
            if isinstance(value, (Scalar, Splat)):
                text = writer.let(f"zext i1 {value.text} to i8") if value.t.kind == "b" else value.text
                slots += [(value.t.memory, text), *[("", "")] * (value.t.words - 1)]
                extents = self._report_extents(value.shape, slots)
                operands.append(Operand("scalar", tensor.dtype, value.shape, slot, extents=extents))
            elif isinstance(value, Array):
                slots.append(("ptr", value.pointer))
                extents = self._report_extents(value.shape, slots)
                steps = tuple([(axis, len(slots) + k) for k, (axis, _) in enumerate(steps_in(value.strides))])
                slots += [("i64", self.step(step)) for _, step in steps_in(value.strides)]
                operands.append(Operand("array", tensor.dtype, value.shape, slot, None, value.strides, extents, steps))
            elif isinstance(value, Grown):
                slots += registers(value)
                operands.append(Operand("grown", tensor.dtype, (), slot, self.types.stacks[tensor].root()))
            elif isinstance(value, Rows):
                read = value.read or value.written
                slots += [("ptr", a.pointer) for a in (value.items, value.written, read)]
                operands.append(Operand("rows", tensor.dtype, value.items.shape, slot, self.types.array(tensor)))
            else:
                extents = self._report_extents(value.shape, slots)
                operands.append(Operand("shape", tensor.dtype, value.shape, slot, extents=extents))
        for slot, (type_name, text) in enumerate(slots):
            if type_name:
                place = writer.let(f"getelementptr i64, ptr %report, i64 {slot}")
                writer.do(f"store {type_name} {text}, ptr {place}, align 8")
        self.report_slots = max(self.report_slots, len(slots))
        self.checks.append(Check(node, tuple(operands), tuple([n for n, _ in self.loops]), refuses, raised))
        writer.do(f"ret i32 {len(self.checks)}")

    def _report_extents(self, shape: Shape, slots: list[tuple[str, str]]) -> tuple[tuple[int, int], ...]:
        """Have the extents of ``shape`` that the run decides told in further slots; gives axes and slots."""
        found = [(axis, n) for axis, n in enumerate(shape) if isinstance(n, Extent)]
        places = tuple([(axis, len(slots) + k) for k, (axis, _) in enumerate(found)])
        slots += [("i64", self.extent(n)) for _, n in found]
        return places

    def refuse(self, node: Node, why: str) -> None:
        """See ``refusal.refuse``."""
        refuse(node, why)
