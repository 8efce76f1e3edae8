"""Loop nests: element-wise values computed, stored and accumulated, one element at a time.

Axes that all operands step through alike become one axis, so that what is contiguous is one long loop for LLVM's
vectoriser. What does not change along the inner axes is computed outside of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from ...ir.op import Op
from ...ops.broadcasting import BROADCAST_TO
from ...ops.operands import CAST
from ...ops.selection import WHERE
from ..ir.casts import cast, joined, parts_of
from ..ir.elements import BOOL, LType
from ..ir.moving import Extent, is_moving
from ..ir.writer import Loop, Writer
from .context import Context
from .elementwise_ir import MANY, beside_each_other, loop_hints
from .marked_lines import marked
from .memory_order import memory_order
from .outlining import element_cost, longest_chain, outlined, piece_of, registers_of, share
from .values import Array, Buffer, Count, Expr, Pending, Scalar, Shape, Splat, Value, fills, leaves, resolve


class Nest:
    """Loops over the elements of ``shape``, and the values of operands inside them.

    Parameters
    ----------
    ctx : Context
    shape : tuple of int
        Without zeros.
    values : sequence of Value
        All that will be read or written; each broadcasts to ``shape``.
    reduced : collection of int
        Axes that must not be joined with others.
    order : sequence of int, optional
        The axes from the outermost loop to the innermost.
    window : (str, str), optional
        The first round of the outermost loop and how many there are, if it does not make all of them.

    Attributes
    ----------
    extents : list of int
        Of the loops.
    reduces : list of bool
        Whether each loop goes over reduced axes.
    written : sequence of Array
        Those of the values that are written.
    """

    def __init__(
        self, ctx: Context, shape: Shape, values: Sequence[Value], reduced: Sequence[int] = (),
        order: Sequence[int] | None = None, window: tuple[str, str] | None = None,
    ) -> None:  # fmt: skip
        self._window = window
        self.ctx, self.writer, self.shape = ctx, ctx.writer, shape
        self._steps: dict[int, list[int]] = {}
        self._kept: list[Value] = list(values)  # ids stay taken as long as the nest lives
        found: dict[int, Array | Count] = {}
        for value in values:
            for leaf in leaves(value):
                if isinstance(leaf, (Array, Count)):
                    found[id(leaf)] = leaf
        axes = [a for a in (range(len(shape)) if order is None else order) if shape[a] != 1]
        self.extents: list[int] = []
        self.reduces: list[bool] = []
        columns: list[list[int]] = []
        aligned = {key: _aligned(leaf, shape) for key, leaf in found.items()}
        for axis in axes:
            column = [strides[axis] for strides in aligned.values()]
            kind = axis in reduced
            joins = (
                bool(columns)
                and self.reduces[-1] == kind
                and not is_moving((self.extents[-1], shape[axis]))
                and all(outer == inner * shape[axis] for outer, inner in zip(columns[-1], column))
            )
            if joins:
                columns[-1] = column
                self.extents[-1] *= shape[axis]
            else:
                columns.append(column)
                self.extents.append(shape[axis])
                self.reduces.append(kind)
        for k, key in enumerate(aligned):
            self._steps[key] = [column[k] for column in columns]
        self._group = ctx.module.metadata("distinct !{}")
        self.written: Sequence[Array] = ()
        self._access = f", !llvm.access.group {self._group}"
        self._indices: list[str] = []
        #: the rounds of an innermost loop that was split, if they are not the same every time
        self._ragged: str | None = None
        self._sections: list[list[object]] = [self.writer.section()]
        self._memo: dict[int, tuple[str, int]] = {}
        self._addresses: dict[tuple[int, int], str] = {}
        self._offsets: dict[tuple[int, int], str] = {}

    # -- loops --------------------------------------------------------------------------------------------

    @property
    def depth(self) -> int:
        """How many loops are open."""
        return len(self._indices)

    @contextmanager
    def level(self, sequential: bool = False) -> Iterator[Loop]:
        """Write the next inner loop; its rounds do not depend on each other unless ``sequential``."""
        hints = [] if sequential else [f'!{{!"llvm.loop.parallel_accesses", {self._group}}}', *self._hints()]
        access = self.ctx.module.loop_id(*hints)
        may_be_none = isinstance(self.extents[self.depth], Extent)
        with self.writer.loop(self._rounds(), access, may_be_none) as loop:
            index = loop.index
            if self._window is not None and not self._indices:
                index = self.writer.let(f"add nuw nsw i64 {index}, {self._window[0]}")
            self._indices.append(index)
            self._sections.append(self.writer.section())
            yield loop
            self._indices.pop()
            self._sections.pop()
            self._forget(len(self._indices))

    @contextmanager
    def each(self) -> Iterator[str]:
        """Write the only loop, one round after the other; gives the index. A single element takes no loop."""
        if not self.extents:
            yield "0"
            return
        with self.level(sequential=True) as loop:
            yield loop.index

    def _hints(self) -> list[str]:
        """Return what LLVM is told of the next loop, whose rounds do not depend on each other."""
        k, every = self.depth, self._steps
        written, cost = [every[id(array)][k] for array in self.written], element_cost(self._kept, moved=False)
        inside = 0 < k == len(self.extents) - 1 and written and not isinstance(self.extents[k], Extent)
        hints = loop_hints([s[k] for s in every.values()], written, cost, self.extents[k] if inside else None)
        if not hints and k == len(self.extents) - 1 and self.extents[k] >= MANY:
            hints += beside_each_other(longest_chain(self._kept))
        return hints

    def _rounds(self) -> str:
        depth = len(self._indices)
        if self._window is not None and depth == 0:
            return self._window[1]
        if self._ragged is None or depth < len(self.extents) - 1:
            return self.ctx.extent(self.extents[depth])
        done = self.writer.let(f"mul nuw nsw i64 {self._indices[-1]}, {self.extents[-1]}")
        rest = self.writer.let(f"sub nuw nsw i64 {self._ragged}, {done}")
        return self.writer.let(f"call i64 @llvm.umin.i64(i64 {rest}, i64 {self.extents[-1]})")

    def split(self, chunk: int) -> None:
        """Make the innermost loop two, of which the inner one has ``chunk`` rounds, the last time fewer."""
        total = self.extents[-1]
        if total <= chunk:
            return
        self._ragged = self.ctx.extent(total) if total % chunk or isinstance(total, Extent) else None
        self.extents[-1:] = [_chunks(self.ctx, total, chunk), chunk]
        self.reduces.append(self.reduces[-1])
        for steps in self._steps.values():
            steps[-1:] = [steps[-1] * chunk, steps[-1]]

    @contextmanager
    def loops(self, sequential: bool = False) -> Iterator[None]:
        """Write all loops that are not open yet; their rounds do not depend on each other unless ``sequential``."""
        with ExitStack() as stack:
            for _ in range(len(self._indices), len(self.extents)):
                stack.enter_context(self.level(sequential))
            yield

    def _forget(self, depth: int) -> None:
        """Forget what was computed inside the loop at ``depth``: it is not there after it."""
        self._memo = {k: v for k, v in self._memo.items() if v[1] <= depth}
        for table in (self._addresses, self._offsets):
            for key in [k for k in table if k[1] > depth]:
                del table[key]

    # -- elements -----------------------------------------------------------------------------------------

    def element(self, value: Value) -> str:
        """Return the current element of ``value``."""
        return self._element(value)[0]

    def _element(self, value: Value) -> tuple[str, int]:
        """Return the register, and the number of loops it is computed inside of."""
        value = resolve(value)
        if isinstance(value, (Scalar, Splat)):
            return value.text, 0
        known = self._memo.get(id(value))
        if known is None:
            known = self._memo[id(value)] = marked(self.writer, value, lambda: self._compute(value))
        return known

    def _compute(self, value: Value) -> tuple[str, int]:
        if isinstance(value, Pending):
            return self._element(value.expr)
        if isinstance(value, Expr):
            args = [self._element(a) for a in value.args]
            depth = max([d for _, d in args], default=0)
            types = [resolve(a).t for a in value.args]  # type: ignore[union-attr]
            with self.writer.at(self._at(depth)):
                return apply(self.ctx, value.op, value.t, types, [a for a, _ in args], True), depth
        assert isinstance(value, (Array, Count)), value
        depth = self._depth(value)
        with self.writer.at(self._at(depth)):
            if isinstance(value, Array):
                return self._load(value, depth), depth
            return self._count(value, depth), depth

    def _at(self, depth: int) -> list[object]:
        """Return the place for what is computed inside ``depth`` loops."""
        return self.writer.lines if depth == len(self._indices) else self._sections[depth]

    def _depth(self, leaf: Array | Count) -> int:
        steps = self._steps[id(leaf)][: len(self._indices)]
        return max([k + 1 for k, s in enumerate(steps) if s], default=0)

    def _load(self, array: Array, depth: int) -> str:
        address = self._address(array, depth)
        return _read(self.writer, array.t, address, self._access)

    def store(self, array: Array, text: str) -> None:
        """Write an element of ``array``."""
        _write(self.writer, array.t, text, self._address(array, len(self._indices)), self._access)

    def address(self, array: Array) -> str:
        """Return the address of the current element of ``array``."""
        return self._address(array, len(self._indices))

    def load(self, array: Array) -> str:
        """Return the current element of ``array`` now, though it was read before."""
        return self._load(array, len(self._indices))

    def _address(self, array: Array, depth: int) -> str:
        key = (id(array), depth)
        known = self._addresses.get(key)
        if known is None:
            offset = self._offset(array, depth)
            with self.writer.at(self._at(depth)):
                known = self.writer.let(f"getelementptr {array.t.memory}, ptr {array.pointer}, i64 {offset}")
            if offset == "0":
                known = array.pointer
            self._addresses[key] = known
        return known

    def _offset(self, leaf: Array | Count, depth: int) -> str:
        """Return how far the current element is from the first, after the outer ``depth`` loops."""
        if depth == 0:
            return "0"
        key = (id(leaf), depth)
        known = self._offsets.get(key)
        if known is None:
            outer, step = self._offset(leaf, depth - 1), self._steps[id(leaf)][depth - 1]
            index = self._indices[depth - 1]
            with self.writer.at(self._at(depth)):
                inner = index if step == 1 else "0"
                if step not in (0, 1):
                    inner = self.writer.let(f"mul nsw i64 {index}, {self.ctx.step(step)}")
                if outer == "0" or inner == "0":
                    known = inner if outer == "0" else outer
                else:
                    known = self.writer.let(f"add nsw i64 {outer}, {inner}")
            self._offsets[key] = known
        return known

    def _count(self, count: Count, depth: int) -> str:
        offset, t, let = self._offset(count, depth), count.t, self.writer.let
        if t.kind == "f":
            # as NumPy's arange of this runtime: counted in double precision, rounded once
            n = let(f"sitofp i64 {offset} to double")
            exact = let(f"fadd double {let(f'fmul double {n}, {count.step}')}, {count.start}")
            return exact if t.name == "double" else let(f"fptrunc double {exact} to {t.name}")
        n = offset if t.size == 8 else let(f"trunc i64 {offset} to {t.name}")
        return let(f"add {t.name} {let(f'mul {t.name} {n}, {count.step}')}, {count.start}")


def _read(writer: Writer, t: LType, address: str, access: str) -> str:
    """Return the element at ``address``; the parts of a complex number are read, and written, one by one.

    LLVM makes vectors of the numbers of several rounds, but not of what are vectors already.
    """
    if t.kind == "c":
        return joined(writer, [_read(writer, t.part, at, access) for at in _places(writer, t, address)], t)
    raw = writer.let(f"load {t.memory}, ptr {address}, align {t.align}{access}")
    return writer.let(f"trunc i8 {raw} to i1") if t is BOOL else raw


def _write(writer: Writer, t: LType, text: str, address: str, access: str) -> None:
    """Write an element to ``address``."""
    if t.kind == "c":
        for part, at in zip(parts_of(writer, text, t), _places(writer, t, address)):
            _write(writer, t.part, part, at, access)
        return
    if t is BOOL:
        text = writer.let(f"zext i1 {text} to i8")
    writer.do(f"store {t.memory} {text}, ptr {address}, align {t.align}{access}")


def _places(writer: Writer, t: LType, address: str) -> list[str]:
    return [address, writer.let(f"getelementptr {t.part.name}, ptr {address}, i64 1")]


def _chunks(ctx: Context, total: int, chunk: int) -> int:
    """Return how many chunks there are in ``total``, the last of which may be smaller."""
    most = -(-total // chunk)
    if not isinstance(total, Extent):
        return most
    up = ctx.writer.let(f"add nuw nsw i64 {ctx.extent(total)}, {chunk - 1}")
    return ctx.new_extent(most, ctx.writer.let(f"udiv i64 {up}, {chunk}"))


def _aligned(leaf: Array | Count, shape: Shape) -> list[int]:
    """Return the strides of ``leaf`` along the axes of ``shape``, to which it broadcasts."""
    lead = len(shape) - len(leaf.shape)
    assert lead >= 0, (leaf, shape)
    return [0] * lead + [0 if n == 1 and m != 1 else s for n, s, m in zip(leaf.shape, leaf.strides, shape[lead:])]


def apply(
    ctx: Context, op: Op, t: LType, types: Sequence[LType], args: Sequence[str], of_array: bool = False
) -> str:  # fmt: skip
    """Return one element of the op ``op``, of type ``t``, from elements of the given types; ``of_array``: of many."""
    writer = ctx.writer
    if op is CAST:
        return cast(writer, ctx.module, args[0], types[0], t)
    if op is WHERE:
        if t.kind == "c":
            pairs = zip(parts_of(writer, args[1], t), parts_of(writer, args[2], t))
            chosen = [writer.let(f"select i1 {args[0]}, {t.part.name} {a}, {t.part.name} {b}") for a, b in pairs]
            return joined(writer, chosen, t)
        return writer.let(f"select i1 {args[0]}, {t.name} {args[1]}, {t.name} {args[2]}")
    if op is BROADCAST_TO:
        return args[0]
    return ctx.arithmetic.apply(writer, op, types[0], args, of_array)


def store_all(ctx: Context, shape: Shape, values: Sequence[Value], arrays: Sequence[Array]) -> None:
    """Compute ``values``, which broadcast to ``shape``, into ``arrays``, in one nest."""
    if 0 in shape:
        return
    operands = [*values, *arrays]
    order = memory_order(arrays, shape)
    nest = Nest(ctx, shape, operands, order=order)
    pieces = None if ctx.outlines is False else piece_of(ctx, nest.extents, element_cost(operands))
    if pieces is None and ctx.outlines:

        def write_all() -> str:
            _fill(Nest(ctx, shape, operands, order=order), values, arrays)
            return ""

        outlined(ctx, registers_of(ctx, operands), "void", write_all)
        return
    if pieces is None:
        _fill(nest, values, arrays)
        return

    def write(first: str, count: str) -> None:
        _fill(Nest(ctx, shape, operands, order=order, window=(first, count)), values, arrays)

    share(ctx, registers_of(ctx, operands), nest.extents[0], *pieces, write)


def _fill(nest: Nest, values: Sequence[Value], arrays: Sequence[Array]) -> None:
    nest.written = arrays
    with nest.loops():
        texts = [nest.element(v) for v in values]
        for array, text in zip(arrays, texts):
            nest.store(array, text)


def store(ctx: Context, value: Value, array: Array) -> None:
    """Compute ``value``, which broadcasts to the shape of ``array``, into it."""
    value = resolve(value)
    if isinstance(value, Array) and value.shape == array.shape and value.pointer == array.pointer:
        return
    whole = isinstance(value, Array) and value.shape == array.shape and fills(value) and not is_moving(array.shape)
    if whole and _long(array) and value.buffer.lying is None:  # type: ignore[union-attr]
        assert isinstance(value, Array)
        size = value.buffer.size
        ctx.writer.do(
            f"call void @llvm.memcpy.p0.p0.i64(ptr {array.pointer}, ptr {value.pointer}, i64 {size}, i1 false)"
        )
        return
    store_all(ctx, array.shape, [value], [array])


def _long(array: Array) -> bool:
    from_start = 1
    for n, s in zip(reversed(array.shape), reversed(array.strides)):
        if n != 1 and s != from_start:
            return False
        from_start *= n
    return from_start * array.t.size >= 256


def same_place(ctx: Context, values: Sequence[Value], shape: Shape) -> list[Array]:
    """Return arrays that ``values`` read element by element just as the result is written,
    and that nobody else needs."""
    reads: dict[Buffer, list[Array]] = {}
    for value in values:
        for leaf in leaves(value):
            if isinstance(leaf, Array):
                reads.setdefault(leaf.buffer, []).append(leaf)
    referenced = ctx.referenced()
    return [
        arrays[0]
        for buffer, arrays in reads.items()
        if buffer not in referenced and all(a.owned and fills(a) and a.shape == shape for a in arrays)
    ]


def over_kept(nest: Nest, write: Callable[[], object]) -> None:
    """Write the loops before the first one over reduced axes, and in them what ``write`` writes."""
    if nest.depth < len(nest.extents) and not nest.reduces[nest.depth]:
        with nest.level():
            over_kept(nest, write)
    else:
        write()


#: writes what is to become of an accumulator: (accumulator, nest) -> new accumulator
Step = Callable[[str, Nest], str]


def accumulate(nest: Nest, t: LType, start: str, step: Step, sequential: bool = False) -> str:
    """Carry a value of type ``t`` through all loops that are not open yet."""
    return accumulate_all(nest, [(t, start)], lambda totals, nest: [step(totals[0], nest)], sequential)[0]


def accumulate_all(
    nest: Nest,
    starts: Sequence[tuple[LType, str]],
    step: Callable[[list[str], Nest], list[str]],
    sequential: bool = False,
) -> list[str]:
    """Carry several values through all loops that are not open yet."""
    if nest.depth == len(nest.extents):
        return step([text for _, text in starts], nest)
    with nest.level(sequential) as loop:
        phis = [loop.carry(nest.writer, t.name, text) for t, text in starts]
        inner = [(t, phi.name) for (t, _), phi in zip(starts, phis)]
        results = accumulate_all(nest, inner, step, sequential)
        behind = [loop.carried(nest.writer, phi, result) for phi, result in zip(phis, results)]
    return behind
