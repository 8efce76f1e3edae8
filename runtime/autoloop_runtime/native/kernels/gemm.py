"""Matrix products of known extents: a kernel that keeps a tile of the result in vector registers.

For each tile, ``rows`` x ``columns`` vectors of the result are accumulated over the inner extent; an element of the
left matrix is broadcast, a row of the right one is loaded as vectors. Because all extents are known, nothing is
tested at run time; leftover columns are masked, and the rows are cut so that all tiles are nearly equal. The columns of
a right matrix that is too large for the nearest cache are copied next to each other, for all tiles that need them:
NumPy's memory begins anywhere, and vectors that cross lines of the cache, or rows that are a power of two apart, take
up to twice as long. Where there are few registers, and so tiles are narrow, those of all matrices are. A right matrix
that is transposed is turned on the way.

It stays beside BLAS because it is faster up to some hundreds of rows, and is there without SciPy: on one thread against
OpenBLAS 0.3.31 (AVX-512), 1.2 times as fast for n = 32 to 512, single and double, and slower for 1024;
with AVX2 1.1 to 1.3 times as fast for n = 32 to 320, as fast for 512, 1.2 times as slow for 1024
(``python tests/benchmarks/own_parts.py gemm``).
"""

from __future__ import annotations

from ...base.dataclass import dataclass
from ..ir.elements import LType
from ..ir.writer import Module, Writer
from ..toolchain.compile_ir import OLD_MASKS

#: bytes of a line of the cache
_LINE = 64
#: how much of the inner extent is done at once, and how many bytes of columns: those then stay in the nearest cache,
#: with what else a tile needs, also where another program shares it
INNER, PANEL = 512, 1 << 15
#: of products of so many multiplications so many inner steps are one round, for which a processor reads less code
LARGE, ROUND = 1 << 21, 4
#: rows from which on columns of the right matrix are copied: fewer tiles read them too seldom
COPIED = 32
#: bytes of a right matrix that stays in the nearest cache as it is
NEAR = 1 << 15


@dataclass(frozen=True)
class Machine:
    """What the CPU has: bits of a vector register, how many of them, and whether it fuses multiply and add.

    ``old_masks``: the compiler takes the alignment of masked loads and stores as an operand.
    """

    bits: int
    registers: int
    fused: bool
    old_masks: bool = False


@dataclass(frozen=True)
class Problem:
    """``c[i, j] = sum(a[i, k] * b[k, j])`` for an ``m`` x ``n`` result; strides in elements, that of ``j`` is 1.

    ``turned``: the stride of ``k`` in the right matrix is 1, and ``b`` that of ``j``.
    """

    t: LType
    m: int
    n: int
    k: int
    a: tuple[int, int]
    b: int
    c: int
    turned: bool = False


def machine_of(features: frozenset[str]) -> Machine:
    """Return the vector registers of a CPU with ``features``."""
    old = OLD_MASKS in features
    if "avx512f" in features:
        return Machine(512, 32, True, old)
    if "avx2" in features:
        return Machine(256, 16, "fma" in features, old)
    return Machine(128, 32 if "neon" in features else 16, "neon" in features, old)


def panel(p: Problem, machine: Machine) -> int:
    """Return how many columns of the result are made together."""
    lanes = _lanes(p, machine)
    return _columns(p, lanes, machine) * lanes


def is_copying(p: Problem, machine: Machine) -> bool:
    """Return whether columns of the right matrix are copied, in each call."""
    if p.turned:
        return True
    is_near = machine.registers > _FEW_REGISTERS and p.k * p.b * p.t.size <= NEAR
    return p.m >= COPIED and p.n >= panel(p, machine) and not is_near


def may_be_turned(p: Problem, machine: Machine) -> bool:
    """Return whether there is a kernel for a right matrix that is turned: it is, square by square of whole vectors."""
    lanes = _lanes(p, machine)
    return lanes > 1 and p.k % lanes == 0 == p.n % lanes


def tile_rows(p: Problem, machine: Machine) -> int:
    """Return how many rows of the result are made together, at most."""
    columns = _columns(p, _lanes(p, machine), machine)
    return max(1, (machine.registers - columns - 2) // columns)


def _lanes(p: Problem, machine: Machine) -> int:
    lanes = machine.bits // (8 * p.t.size)
    while lanes > 1 and lanes // 2 >= p.n:
        lanes //= 2
    return lanes


def _columns(p: Problem, lanes: int, machine: Machine) -> int:
    """Return how many vectors wide a tile is: so that of as few registers as possible most are of the result."""
    wide = 4 if machine.registers > _FEW_REGISTERS else 3 if p.m == 3 else 2
    return min(-(-p.n // lanes), 8 if p.m <= 2 else wide)


_FEW_REGISTERS = 16


def define(module: Module, name: str, problem: Problem, machine: Machine) -> None:
    """Add the function ``name(a, b, c)`` that solves ``problem``, once."""
    module.define(name, lambda: _Kernel(module, problem, machine).text(name))


class _Kernel:
    def __init__(self, module: Module, p: Problem, machine: Machine) -> None:
        self.module, self.p, self.machine, self.writer = module, p, machine, Writer()
        self._once = module.loop_id('!{!"llvm.loop.unroll.disable"}')
        self.lanes = _lanes(p, machine)
        self.columns = _columns(p, self.lanes, machine)
        width = self.columns * self.lanes
        parts = -(-p.k // min(INNER, max(1, PANEL // (width * p.t.size))))
        #: how much of the inner extent is done at once
        is_large = p.m * p.n * p.k >= LARGE
        step = self.lanes if p.turned else ROUND if is_large else 1
        self.depth = min(p.k, -(-p.k // (max(1, parts) * step)) * step)
        self._inner = self._once  # more at once would only take longer to compile
        if is_large:
            self._inner = module.loop_id(f'!{{!"llvm.loop.unroll.count", i32 {ROUND}}}')
        #: elements of the copied columns, 0 if they are read where they are
        self.copied = self.depth * width if is_copying(p, machine) else 0
        tiles = -(-p.m // tile_rows(p, machine))
        #: (rows of a tile, how many tiles of that many rows), the larger ones first
        self.heights = [(p.m // tiles + 1, p.m % tiles), (p.m // tiles, tiles - p.m % tiles)]

    def text(self, name: str) -> str:
        writer = self.writer
        if self.copied:
            writer.do(f"%columns = alloca [{self.copied} x {self.p.t.name}], align {_LINE}")
        for start in range(0, self.p.k, self.depth):
            self._panels(start, min(self.depth, self.p.k - start))
        writer.do("ret void")
        return (
            f"define internal void @{name}(ptr noalias %a, ptr noalias %b, ptr noalias %c) noinline nounwind {{\n"
            f"entry:\n{writer.render()}\n}}"
        )

    def _panels(self, start: int, depth: int) -> None:
        """Write all panels of columns, for ``depth`` inner steps from ``start``."""
        width, p = self.columns * self.lanes, self.p
        a = self._at("%a", start * p.a[1])
        whole, rest = divmod(p.n, width)
        b = self._at("%b", start if p.turned else start * p.b)
        across = p.b if p.turned else 1
        if whole:
            with self._loop(whole) as j:
                offset = self.writer.let(f"mul nuw nsw i64 {j}, {width}")
                right, step = self._at(b, self._times(offset, across)), p.b
                if self.copied:
                    right, step = self._copy(right, width, depth), width
                self._tiles(a, (right, step), self._at("%c", offset), width, depth, start > 0)
        if rest:
            right, step = self._at(b, whole * width * across), p.b
            if p.turned:
                right, step = self._copy(right, rest, depth), rest
            self._tiles(a, (right, step), self._at("%c", whole * width), rest, depth, start > 0)

    def _copy(self, b: str, width: int, depth: int) -> str:
        """Write a copy of ``width`` columns of the right matrix, row behind row."""
        writer = self.writer
        if self.p.turned:
            self._turn(b, width, depth)
            return "%columns"
        with writer.loop(depth, self._once) as loop:
            row = self._at(b, writer.let(f"mul nsw i64 {loop.index}, {self.p.b}"))
            place = self._at("%columns", writer.let(f"mul nuw nsw i64 {loop.index}, {width}"))
            for at in range(0, width, self.lanes):
                value = self._load(self._at(row, at), self.lanes)
                writer.do(f"store {self._vector} {value}, ptr {self._at(place, at)}, align {self.p.t.size}")
        return "%columns"

    def _turn(self, b: str, width: int, depth: int) -> None:
        """Write a copy of columns that lie as rows, one square of vectors after the other."""
        writer, lanes = self.writer, self.lanes
        with writer.loop(depth // lanes, self._once) as rows, writer.loop(width // lanes, self._once) as columns:
            first, column = self._times(rows.index, lanes), self._times(columns.index, lanes)
            there = self._at(self._at(b, self._times(column, self.p.b)), first)
            square = [self._load(self._at(there, k * self.p.b), lanes) for k in range(lanes)]
            place = self._at(self._at("%columns", self._times(first, width)), column)
            for k, row in enumerate(self._transposed(square)):
                writer.do(f"store {self._vector} {row}, ptr {self._at(place, k * width)}, align {self.p.t.size}")

    def _transposed(self, square: list[str]) -> list[str]:
        """Return the columns of a square of vectors: in each step one bit of rows and columns changes places."""
        lanes, step = self.lanes, 1
        while step < lanes:
            low = [c if not c & step else lanes + c - step for c in range(lanes)]
            high = [c + step if not c & step else lanes + c for c in range(lanes)]
            made = list(square)
            for k in range(lanes):
                if not k & step:
                    both = square[k], square[k + step]
                    made[k], made[k + step] = self._mixed(both, low), self._mixed(both, high)
            square, step = made, 2 * step
        return square

    def _mixed(self, both: tuple[str, str], places: list[int]) -> str:
        chosen = ", ".join(f"i32 {place}" for place in places)
        vectors = ", ".join(f"{self._vector} {one}" for one in both)
        return self.writer.let(f"shufflevector {vectors}, <{self.lanes} x i32> <{chosen}>")

    def _tiles(self, a: str, b: tuple[str, int], c: str, width: int, depth: int, add: bool) -> None:
        """Write all tiles of one panel, ``width`` columns wide; ``b``: where it is, and how far its rows are apart."""
        row = 0
        for height, count in self.heights:
            if not count or not height:
                continue
            with self._loop(count) as i:
                first = self.writer.let(f"mul nuw nsw i64 {i}, {height}")
                first = self.writer.let(f"add nuw nsw i64 {first}, {row}")
                left = self._at(a, self.writer.let(f"mul nsw i64 {first}, {self.p.a[0]}"))
                out = self._at(c, self.writer.let(f"mul nsw i64 {first}, {self.p.c}"))
                self._tile(left, b, out, height, width, depth, add)
            row += height * count

    def _tile(
        self, a: str, b: tuple[str, int], c: str, height: int, width: int, depth: int, add: bool
    ) -> None:  # fmt: skip
        p, writer = self.p, self.writer
        spans = [min(self.lanes, width - at) for at in range(0, width, self.lanes)]
        cells = [(i, j) for i in range(height) for j in range(len(spans))]
        with writer.loop(depth, self._inner) as loop:
            sums = [loop.carry(writer, self._vector, "zeroinitializer") for _ in cells]
            right = self._at(b[0], writer.let(f"mul nsw i64 {loop.index}, {b[1]}"))
            left = self._at(a, writer.let(f"mul nsw i64 {loop.index}, {p.a[1]}"))
            columns = [self._load(self._at(right, j * self.lanes), span) for j, span in enumerate(spans)]
            following = []
            for i in range(height):
                x = self._broadcast(self._at(left, i * p.a[0]))
                following += [self._multiply_add(x, columns[j], sums[i * len(spans) + j].name)
                              for j in range(len(spans))]  # fmt: skip
            for phi, value in zip(sums, following):
                phi.add(value, writer.block)
        for (i, j), value in zip(cells, following):
            self._store(self._at(c, i * p.c + j * self.lanes), value, spans[j], add)

    # -- instructions -------------------------------------------------------------------------------------

    @property
    def _vector(self) -> str:
        return f"<{self.lanes} x {self.p.t.name}>"

    def _loop(self, count: int) -> _Rounds:
        return _Rounds(self.writer, count, self._once)

    def _times(self, count: str, step: int) -> str:
        return count if step == 1 else self.writer.let(f"mul nsw i64 {count}, {step}")

    def _at(self, pointer: str, offset: int | str) -> str:
        if offset == 0:
            return pointer
        return self.writer.let(f"getelementptr {self.p.t.name}, ptr {pointer}, i64 {offset}")

    def _mask(self, span: int) -> str:
        bits = ", ".join(f"i1 {'true' if n < span else 'false'}" for n in range(self.lanes))
        return f"<{self.lanes} x i1> <{bits}>"

    def _overloaded(self, name: str) -> str:
        return f"@llvm.{name}.v{self.lanes}{self.p.t.suffix}"

    def _load(self, pointer: str, span: int) -> str:
        vector, size = self._vector, self.p.t.size
        if span == self.lanes:
            return self.writer.let(f"load {vector}, ptr {pointer}, align {size}")
        name = self._overloaded("masked.load") + ".p0"
        mask = f"{self._mask(span)}, {vector} zeroinitializer"
        return self.writer.let(f"call {vector} {name}({self._aligned(pointer)}, {mask})")

    def _store(self, pointer: str, value: str, span: int, add: bool) -> None:
        vector, size, t = self._vector, self.p.t.size, self.p.t
        if add:
            before = self._load(pointer, span)
            value = self.writer.let(f"{'fadd' if t.kind == 'f' else 'add'} {vector} {before}, {value}")
        if span == self.lanes:
            self.writer.do(f"store {vector} {value}, ptr {pointer}, align {size}")
            return
        name = self._overloaded("masked.store") + ".p0"
        self.writer.do(f"call void {name}({vector} {value}, {self._aligned(pointer)}, {self._mask(span)})")

    def _aligned(self, pointer: str) -> str:
        """Return a pointer operand of a masked instruction, and how it is aligned."""
        size = self.p.t.size
        return f"ptr {pointer}, i32 {size}" if self.machine.old_masks else f"ptr align {size} {pointer}"

    def _broadcast(self, pointer: str) -> str:
        t, vector = self.p.t, self._vector
        x = self.writer.let(f"load {t.name}, ptr {pointer}, align {t.size}")
        one = self.writer.let(f"insertelement {vector} poison, {t.name} {x}, i64 0")
        return self.writer.let(f"shufflevector {vector} {one}, {vector} poison, <{self.lanes} x i32> zeroinitializer")

    def _multiply_add(self, x: str, y: str, z: str) -> str:
        vector = self._vector
        if self.p.t.kind == "f" and self.machine.fused:
            return self.writer.let(f"call {vector} {self._overloaded('fma')}({vector} {x}, {vector} {y}, {vector} {z})")
        multiply, add = ("fmul", "fadd") if self.p.t.kind == "f" else ("mul", "add")
        return self.writer.let(f"{add} {vector} {self.writer.let(f'{multiply} {vector} {x}, {y}')}, {z}")


class _Rounds:
    """A counted loop; a single round is written without one."""

    def __init__(self, writer: Writer, count: int, extra: str) -> None:
        self._single = count == 1
        self._loop = writer.loop(count, extra)

    def __enter__(self) -> str:
        return "0" if self._single else self._loop.__enter__().index

    def __exit__(self, *exc: object) -> None:
        if not self._single:
            self._loop.__exit__(None, None, None)
