"""Products of matrices by the kernels for their sizes, in pieces that threads share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ...base.dataclass import dataclass, replace
from ..ir.elements import LType
from ..kernels import gemm, subnormal_products
from ..writer.context import Context
from ..writer.finishing import Finish
from ..writer.outlining import share
from ..writer.values import Array

#: from this many multiplications on several threads do a product
SHARED_WORK = 1 << 21
#: nanoseconds of a multiplication
_TIME = 0.05
#: into how many pieces of rows they cut it
PIECES = 8
#: with fewer rows in a piece it is of columns, where those are copied
FEW_ROWS = 96


@dataclass(frozen=True, eq=False)
class Finishing:
    """What is done to the elements of a product that lies in ``out``, in a function that has ``registers``."""

    what: Finish
    out: Array
    name: str
    registers: tuple[tuple[str, str], ...] = ()

    def function(self, ctx: Context, rows: int, columns: int) -> str:
        """Return the name of what does it to so many rows and columns."""
        return self.what.function(ctx, self.registers, self.out, (rows, columns))


def goes_by_tiles(ctx: Context, t: LType, sizes: tuple[int, int, int]) -> bool:
    """Return whether a product of so many rows, inner steps and columns is made of pieces, and tiles of whole
    vectors."""
    m, k, n = sizes
    lanes = gemm.machine_of(ctx.libraries.features).bits // (8 * t.size)
    return m * k * n >= SHARED_WORK and m >= gemm.COPIED and n % lanes == 0


def tiled_product(ctx: Context, p: gemm.Problem, pointers: Sequence[str], finish: Finishing | None = None) -> None:
    """Write a product; ``finish``: and what is done to its elements, if it ``goes_by_tiles``."""
    assert finish is None or p.m >= gemm.COPIED  # more than are made together
    machine = gemm.machine_of(ctx.libraries.features)
    rows = gemm.tile_rows(p, machine)
    rows *= -(-p.m // (rows * PIECES))
    width = gemm.panel(p, machine)
    if p.m * p.n * p.k < SHARED_WORK:
        _kernel(ctx, p, pointers)
    elif rows < FEW_ROWS and p.n > width and gemm.is_copying(p, machine):  # each piece copies what it needs
        width *= -(-p.n // (width * PIECES))
        _shared(ctx, p, pointers, p.n, width, lambda n: replace(p, n=n), (0, 1, 1), finish)
    elif p.m > rows:
        _shared(ctx, p, pointers, p.m, rows, lambda n: replace(p, m=n), (p.a[0], 0, p.c), finish)
    elif p.n > width:
        _shared(ctx, p, pointers, p.n, width, lambda n: replace(p, n=n), (0, 1, 1), finish)
    else:
        _kernel(ctx, p, pointers)


def _shared(
    ctx: Context, p: gemm.Problem, pointers: Sequence[str], extent: int, piece: int,
    part: Callable[[int], gemm.Problem], steps: tuple[int, int, int], finish: Finishing | None,
) -> None:  # fmt: skip
    """Write a product in pieces of rows or columns, in each of which every sum is whole; ``steps`` lead to the next."""
    registers = [("ptr", x) for x in dict.fromkeys(pointers)]
    if finish is not None:
        registers = list(dict.fromkeys([*registers, *finish.what.registers(ctx)]))
        finish = replace(finish, registers=tuple(registers))

    def write(first: str, count: str) -> None:
        writer = ctx.writer
        moved = []
        for pointer, step in zip(pointers, steps):
            offset = writer.let(f"mul i64 {first}, {step}")
            moved.append(writer.let(f"getelementptr {p.t.name}, ptr {pointer}, i64 {offset}"))
        place = ("0", first) if steps[1] else (first, "0")
        if extent % piece == 0:
            _kernel(ctx, part(piece), moved, finish, place)
            return
        whole, rest, done = writer.label("whole"), writer.label("rest"), writer.label("done")
        writer.branch(writer.let(f"icmp eq i64 {count}, {piece}"), whole, rest)
        for label, n in ((whole, piece), (rest, extent % piece)):
            writer.start(label)
            _kernel(ctx, part(n), moved, finish, place)
            writer.jump(done)
        writer.start(done)

    share(ctx, registers, extent, piece, p.m * p.n * p.k * _TIME, write)


def _kernel(
    ctx: Context, p: gemm.Problem, pointers: Sequence[str], finish: Finishing | None = None,
    place: tuple[str, str] = ("0", "0"),
) -> None:  # fmt: skip
    """Write the call of a kernel; ``place``: the row and column of the product that it begins with."""
    parts = (p.t.name, p.m, p.n, p.k, *p.a, p.b, p.c)
    name = "gemm_" + "_".join([str(x).replace("-", "m") for x in parts])
    machine, given = gemm.machine_of(ctx.libraries.features), ", ".join(f"ptr {x}" for x in pointers)
    small = subnormal_products.fits(p, machine)
    where = f"ptr %frame, i64 {place[0]}, i64 {place[1]}"
    if finish is not None and not small:
        name = f"{name}_{finish.name}"
        gemm.define(ctx.module, name, p, machine, partial(finish.function, ctx))
        ctx.writer.do(f"call void @{name}({given}, {where})")
        return
    gemm.define(ctx.module, name, p, machine)
    if small:
        product, name = name, f"looking_{name}"
        subnormal_products.define(ctx.module, name, p, machine, product)
    ctx.writer.do(f"call void @{name}({given})")
    if finish is not None:  # sums are whole once they have been divided again
        ctx.writer.do(f"call void @{finish.function(ctx, p.m, p.n)}({where})")
