"""Matrix products and contractions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from ...base.dataclass import replace
from ...ir.graph import Node
from ...ops.arithmetic import ADD, MULTIPLY
from ...ops.contractions import EINSUM
from ...ops.linalg import DOT, MATMUL
from ...ops.operands import CAST
from ...ops.reducing import SUM
from ..ir.elements import FLOAT, HALF, LType, literal
from ..ir.moving import is_moving
from ..kernels import gemm, subnormal_products
from ..writer.context import Context
from ..writer.fortran_calls import call_fortran
from ..writer.interrupts import FLOATS, INTEGERS, Fuel, in_pieces, part_of
from ..writer.memory import put, seen
from ..writer.nests import Nest, apply, store, store_all
from ..writer.node_writer import array_of
from ..writer.outlining import share
from ..writer.registry import rule
from ..writer.values import Array, Expr, Scalar, Shape, Splat, Value, resolve, size_of
from .complex_products import sum_of_products, write_product
from .reduction_rules import reduce

#: from this many multiplications on BLAS is called, which lays the operands out anew to use the caches well
BLAS_WORK = 1 << 28
#: the same of matrices whose extents the run decides, for which there is no kernel made for their sizes
MOVING_WORK = 1 << 14
#: the same for products of a matrix and a vector, which are as fast as memory is read
BLAS_VECTOR_WORK = 1 << 17
#: the same for products of complex numbers, which are not laid out anew otherwise
BLAS_COMPLEX_WORK, BLAS_COMPLEX_VECTOR_WORK = 1 << 10, 1 << 13
#: from this many multiplications on several threads do a product
SHARED_WORK = 1 << 21
#: nanoseconds of a multiplication
_TIME = 0.05
#: into how many pieces of rows they cut it
PIECES = 8
#: with fewer rows in a piece it is of columns, where those are copied
FEW_ROWS = 96
#: with fewer columns than this a product is a row of sums
FEW_COLUMNS = 2


def _matmul_time(node: Node, shapes: list[Shape], rate: float) -> float:
    return rate * size_of(shapes[-1]) * shapes[0][-1]


@rule(MATMUL, DOT, packs=True, complexes=True, time=_matmul_time)
def _matmul(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    tensor = node.outputs[0]
    t, shape = ctx.type_of(tensor), ctx.shape_of(tensor)
    if t.kind == "b":
        ctx.refuse(node, "of booleans it has no machine code")
    a, b = (_operand(ctx, v, ctx.shape_of(i)) for v, i in zip(values, node.inputs))
    if is_moving((*a.shape, *b.shape)):
        return [_moving_product(ctx, node, values, a, b)]
    if t is HALF:
        product = ctx.temporary(FLOAT, shape)
        multiply(ctx, _widened(ctx, a), _widened(ctx, b), product)
        out = ctx.result(tensor, t, shape)
        store_all(ctx, shape, [Expr(CAST, (product,), t, shape)], [out])
        return [seen(ctx, out)]
    if len(a.shape) == len(b.shape) == 1:
        return [Scalar(_dot(ctx, a, b), t)]
    out = ctx.result(tensor, t, shape)
    multiply(ctx, a, b, out)
    return [seen(ctx, out)]


def _moving_product(ctx: Context, node: Node, values: list[Value], a: Array, b: Array) -> Value:
    """Return a product of vectors or matrices of which the run decides an extent."""
    tensor, inner, outer = node.outputs[0], a.shape[-1], b.shape[0]
    t, shape = ctx.type_of(tensor), ctx.shape_of(tensor)
    is_dot = len(a.shape) == len(b.shape) == 1
    if t is HALF or (t.kind == "c" and not is_dot) or size_of((*a.shape, *b.shape[1:])) > _most(t):
        ctx.refuse(node, "its extents depend on values, and it is of half precision, complex, or may take long")
    if inner != outer:
        ctx.check(ctx.writer.let(f"icmp eq i64 {ctx.extent(inner)}, {ctx.extent(outer)}"), node, values)
    if is_dot:
        return Scalar(_dot(ctx, a, b), t)
    out = ctx.result(tensor, t, shape)
    left, right, place = _as_matrices(a, b, out)
    if 0 in place.shape or 0 in left.shape:
        store(ctx, Splat(literal(0, t), t, place.shape), place)
        return out
    work = size_of((*left.shape, right.shape[1]))
    if 1 in place.shape and work >= BLAS_VECTOR_WORK:  # of no columns BLAS does nothing
        store(ctx, Splat(literal(0, t), t, place.shape), place)
    if _by_blas(ctx, left, right, place, work, MOVING_WORK):
        return out
    if place.shape[1] == 1 or right.strides[1] != 1:
        _sums(ctx, left, right, place)
    else:  # row after row, so that what is contiguous is the inner loop
        (m, k), n = left.shape, right.shape[1]
        first = replace(left, shape=(m, k, n), strides=(*left.strides, 0))
        second = replace(right, shape=(m, k, n), strides=(0, *right.strides))
        kept = replace(place, shape=(m, 1, n), strides=(place.strides[0], 0, place.strides[1]))
        reduce(ctx, SUM, Expr(MULTIPLY, (first, second), t, (m, k, n)), (1,), kept)
    return out


def _operand(ctx: Context, value: Value, shape: Shape) -> Array:
    value = resolve(value)
    if isinstance(value, Splat):
        made = ctx.temporary(value.t, shape)
        store(ctx, value, made)
        return made
    return array_of(ctx, value)


def _widened(ctx: Context, x: Array) -> Array:
    made = ctx.temporary(FLOAT, x.shape)
    store_all(ctx, x.shape, [Expr(CAST, (x,), FLOAT, x.shape)], [made])
    return made


def _dot(ctx: Context, a: Array, b: Array) -> str:
    if 0 in a.shape:
        return literal(0, a.t)
    if a.t.kind == "c":
        return sum_of_products(Nest(ctx, a.shape, [a, b]), a, b)
    return reduce(ctx, SUM, Expr(MULTIPLY, (a, b), a.t, a.shape), (0,), None)


def multiply(ctx: Context, a: Array, b: Array, out: Array) -> None:
    """Write ``out = a @ b``, with NumPy's rules for vectors and leading axes."""
    a, b, out = _as_matrices(a, b, out)
    m, n = a.shape[-2], b.shape[-1]
    if 0 in out.shape:
        return
    if a.shape[-1] == 0:
        store(ctx, Splat(literal(0, out.t), out.t, out.shape), out)
        return
    if b.strides[-1] != 1 and n >= FEW_COLUMNS and not _few(m, n) and _turned(ctx, a, b, out) is None:
        b = _copied(ctx, b)
    _batched(ctx, a, b, out)


def _as_matrices(a: Array, b: Array, out: Array) -> tuple[Array, Array, Array]:
    """Return the operands of a product and its place with vectors as rows and columns of matrices."""
    rows, columns = len(a.shape) > 1, len(b.shape) > 1
    if not rows:
        a = replace(a, shape=(1, *a.shape), strides=(0, *a.strides))
    if not columns:
        b = replace(b, shape=(*b.shape, 1), strides=(*b.strides, 1))
    batch = out.shape[: len(out.shape) - rows - columns]
    m, n = a.shape[-2], b.shape[-1]
    strides = list(out.strides[: len(batch)])
    tail = list(out.strides[len(batch) :])
    strides += [tail.pop(0) if rows else int(n), tail.pop(0) if columns else 1]
    return a, b, replace(out, shape=(*batch, m, n), strides=tuple(strides))


def _turned(ctx: Context, a: Array, b: Array, out: Array) -> gemm.Problem | None:
    """Return a product whose right matrix lies column behind column, if there is a kernel for that."""
    (m, k), n = a.shape[-2:], b.shape[-1]
    if b.strides[-2] != 1 or out.t.kind == "c" or m == 1 or m * n * k >= min(BLAS_WORK, _most(out.t)):
        return None
    problem = gemm.Problem(out.t, m, n, k, (a.strides[-2], a.strides[-1]), b.strides[-1], out.strides[-2], True)
    return problem if gemm.may_be_turned(problem, gemm.machine_of(ctx.libraries.features)) else None


def _few(m: int, n: int) -> bool:
    """Return whether the product is better computed as sums, element by element."""
    return n < FEW_COLUMNS or (m == 1 and n < 4)


def _copied(ctx: Context, x: Array) -> Array:
    made = ctx.temporary(x.t, x.shape)
    store(ctx, x, made)
    return made


def _batched(ctx: Context, a: Array, b: Array, out: Array) -> None:
    """Write a product for each element of the leading axes, to which the operands broadcast."""
    batch = out.shape[:-2]
    spread = [replace(x, shape=x.shape[:-2], strides=x.strides[:-2]) for x in (a, b)]
    spread.append(replace(out, shape=batch, strides=out.strides[:-2]))
    nest, work = Nest(ctx, batch, spread), a.shape[-2] * a.shape[-1] * b.shape[-1]
    fuel = Fuel(ctx, _most(out.t)) if work * size_of(batch) > _most(out.t) else None
    with nest.loops(sequential=True):
        parts = [
            replace(x, pointer=nest.address(s), shape=x.shape[-2:], strides=x.strides[-2:])
            for x, s in zip((a, b, out), spread)
        ]
        _product(ctx, *parts)
        if fuel is not None:
            fuel.spend(work)


def _product(ctx: Context, a: Array, b: Array, out: Array) -> None:
    """Write a product of two matrices; a long one in pieces of rows or columns, in each of which every sum is whole."""
    (m, k), n = a.shape, b.shape[1]
    axis = 0 if m >= n else 1
    piece = max(1, _most(out.t) // (k * min(m, n)))
    if piece >= max(m, n):
        _short_product(ctx, a, b, out, m * n * k)
        return

    def write(first: str, count: int) -> None:
        sides = (part_of(ctx, a, 0, first, count), b) if axis == 0 else (a, part_of(ctx, b, 1, first, count))
        _short_product(ctx, *sides, part_of(ctx, out, axis, first, count), m * n * k)

    in_pieces(ctx, max(m, n), piece, write)


def _most(t: LType) -> int:
    """Return how many multiplications are done between two questions."""
    return FLOATS if t.kind == "f" else INTEGERS


def _short_product(ctx: Context, a: Array, b: Array, out: Array, work: int) -> None:
    """Write a product at once; ``work`` are the multiplications of the whole that it may be a piece of."""
    (m, k), n = a.shape, b.shape[1]
    if out.t.kind == "c":
        _complex_product(ctx, a, b, out, work)
        return
    if _by_blas(ctx, a, b, out, work, BLAS_WORK):
        return
    turned = None if b.strides[1] == 1 or _few(m, n) else _turned(ctx, a, b, out)
    if turned is not None:
        _call(ctx, turned, (a.pointer, b.pointer, out.pointer))
    elif b.strides[1] != 1 or _few(m, n):
        _sums(ctx, a, b, out)
    else:
        problem = gemm.Problem(out.t, m, n, k, (a.strides[0], a.strides[1]), b.strides[0], out.strides[0])
        _call(ctx, problem, (a.pointer, b.pointer, out.pointer))


def _call(ctx: Context, p: gemm.Problem, pointers: Sequence[str]) -> None:
    machine = gemm.machine_of(ctx.libraries.features)
    rows = gemm.tile_rows(p, machine)
    rows *= -(-p.m // (rows * PIECES))
    width, across = gemm.panel(p, machine), p.b if p.turned else 1
    if p.m * p.n * p.k < SHARED_WORK:
        _kernel(ctx, p, pointers)
    elif rows < FEW_ROWS and p.n > width and gemm.is_copying(p, machine):  # each piece copies what it needs
        width *= -(-p.n // (width * PIECES))
        _shared(ctx, p, pointers, p.n, width, lambda n: replace(p, n=n), (0, across, 1))
    elif p.m > rows:
        _shared(ctx, p, pointers, p.m, rows, lambda n: replace(p, m=n), (p.a[0], 0, p.c))
    elif p.n > width:
        _shared(ctx, p, pointers, p.n, width, lambda n: replace(p, n=n), (0, across, 1))
    else:
        _kernel(ctx, p, pointers)


def _shared(
    ctx: Context, p: gemm.Problem, pointers: Sequence[str], extent: int, piece: int,
    part: Callable[[int], gemm.Problem], steps: tuple[int, int, int],
) -> None:  # fmt: skip
    """Write a product in pieces of rows or columns, in each of which every sum is whole; ``steps`` lead to the next."""

    def write(first: str, count: str) -> None:
        writer = ctx.writer
        moved = []
        for pointer, step in zip(pointers, steps):
            offset = writer.let(f"mul i64 {first}, {step}")
            moved.append(writer.let(f"getelementptr {p.t.name}, ptr {pointer}, i64 {offset}"))
        if extent % piece == 0:
            _kernel(ctx, part(piece), moved)
            return
        whole, rest, done = writer.label("whole"), writer.label("rest"), writer.label("done")
        writer.branch(writer.let(f"icmp eq i64 {count}, {piece}"), whole, rest)
        for label, n in ((whole, piece), (rest, extent % piece)):
            writer.start(label)
            _kernel(ctx, part(n), moved)
            writer.jump(done)
        writer.start(done)

    share(ctx, [("ptr", x) for x in dict.fromkeys(pointers)], extent, piece, p.m * p.n * p.k * _TIME, write)


def _kernel(ctx: Context, p: gemm.Problem, pointers: Sequence[str]) -> None:
    parts = (p.t.name, p.m, p.n, p.k, *p.a, p.b, p.c, *(["turned"] if p.turned else []))
    name = "gemm_" + "_".join([str(x).replace("-", "m") for x in parts])
    machine = gemm.machine_of(ctx.libraries.features)
    gemm.define(ctx.module, name, p, machine)
    if subnormal_products.fits(p, machine):
        product, name = name, f"looking_{name}"
        subnormal_products.define(ctx.module, name, p, machine, product)
    ctx.writer.do(f"call void @{name}({', '.join(f'ptr {x}' for x in pointers)})")


def _sums(ctx: Context, a: Array, b: Array, out: Array) -> None:
    """Write each element as a sum over memory: for products with a vector, which only load each element once."""
    (m, k), n = a.shape, b.shape[1]
    left = replace(a, shape=(m, n, k), strides=(a.strides[0], 0, a.strides[1]))
    right = replace(b, shape=(m, n, k), strides=(0, b.strides[1], b.strides[0]))
    kept = replace(out, shape=(m, n, 1), strides=(*out.strides, 0))
    reduce(ctx, SUM, Expr(MULTIPLY, (left, right), out.t, (m, n, k)), (2,), kept)


def _complex_product(ctx: Context, a: Array, b: Array, out: Array, work: int) -> None:
    """Write a product of complex numbers: by BLAS, but for small matrices."""
    if work >= BLAS_COMPLEX_WORK:
        lies_well = 1 in (a.shape[0], a.strides[1]) or (b.shape[1] == 1 == a.strides[0])
        a = a if lies_well else _copied(ctx, a)
        if _by_blas(ctx, a, b, out, work, BLAS_COMPLEX_WORK, BLAS_COMPLEX_VECTOR_WORK):
            return
    write_product(ctx, a, b, out, b.shape[1] < FEW_COLUMNS)


def _by_blas(
    ctx: Context, a: Array, b: Array, out: Array, work: int, least: int, least_of_vectors: int = BLAS_VECTOR_WORK
) -> bool:  # fmt: skip
    """Let BLAS do it, if it is there, if it pays, and if it takes the operands as they lie in memory.

    ``least``, ``least_of_vectors``: from how many multiplications on a product of matrices, or with a vector, pays.
    """
    (m, k), n = a.shape, b.shape[1]
    numbers: tuple[str | int | float, ...]
    if n == 1 or m == 1:
        # BLAS counts columns first: to it, a matrix whose rows are contiguous is its transpose
        x, matrix = (b, a) if n == 1 else (a, replace(b, shape=b.shape[::-1], strides=b.strides[::-1]))
        most = m if n == 1 else n
        steps = (x.strides[0], out.strides[0]) if n == 1 else (x.strides[1], out.strides[1])
        rows, columns = matrix.strides
        if work < least_of_vectors or 1 not in (rows, columns) or min(*matrix.strides, *steps) < 1:
            return False
        kind, sizes, lead = ("T", (k, most), rows) if columns == 1 else ("N", (most, k), columns)
        numbers = (*sizes, 1.0, matrix.pointer, lead, x.pointer, steps[0], 0.0, out.pointer, steps[1])
        return call_fortran(ctx, "gemv", out.t, (kind, *numbers))
    if work < least or a.strides[1] != 1 or out.strides[1] != 1 or min(a.strides[0], b.strides[0]) < 1:
        return False
    # the product of the transposes, the other way round, is the transpose of the product
    strides = (b.strides[0], a.strides[0], out.strides[0])
    numbers = (n, m, k, 1.0, b.pointer, strides[0], a.pointer, strides[1], 0.0, out.pointer, strides[2])
    return call_fortran(ctx, "gemm", out.t, ("N", "N", *numbers))


# -- einsum -------------------------------------------------------------------------------------------------


def _einsum_time(node: Node, shapes: list[Shape], rate: float) -> float:
    sizes: dict[str, int] = {}
    for term, shape in zip(node.attrs["equation"].partition("->")[0].split(","), shapes):
        for label, extent in zip(term, shape):
            sizes[label] = max(extent, sizes.get(label, 1))
    return rate * prod(sizes.values())


@rule(EINSUM, packs=True, time=_einsum_time)
def _einsum(ctx: Context, node: Node, values: list[Value]) -> Sequence[Value]:
    left, _, right = node.attrs["equation"].partition("->")
    terms, tensor = left.split(","), node.outputs[0]
    t, shape = ctx.type_of(tensor), ctx.shape_of(tensor)
    if t.kind == "b" or t is HALF:
        ctx.refuse(node, "of booleans and half precision it has no machine code")
    arrays = [_operand(ctx, v, ctx.shape_of(i)) for v, i in zip(values, node.inputs) if ctx.shape_of(i)]
    factors = [Scalar(ctx.scalar(v), t) for v, i in zip(values, node.inputs) if not ctx.shape_of(i)]
    terms = [term for term in terms if term]
    if len(terms) == 2 and not factors and _as_matmul(ctx, node, terms, right, arrays):
        out = ctx.result(tensor, t, shape)
        labels, a, b = _matrices(terms, right, arrays)
        multiply(ctx, a, b, replace(out, shape=tuple([dict(labels)[c] for c in right])))
        return [out]
    return [_contracted(ctx, node, terms, right, arrays, factors, t, shape)]


def _as_matmul(ctx: Context, node: Node, terms: list[str], right: str, arrays: list[Array]) -> bool:
    """Return true for ``ik,kj->ij`` with any labels and with either operand transposed."""
    a, b = terms
    shared = set(a) & set(b)
    inner = shared - set(right)
    return (
        all(len(x) == 2 == len(set(x)) for x in (a, b, right))
        and len(shared) == len(inner) == 1
        and (set(a) - shared) | (set(b) - shared) == set(right)
        and all(n > 1 for x in arrays for n in x.shape)
        and right[0] in a
    )


def _matrices(terms: list[str], right: str, arrays: list[Array]) -> tuple[list[tuple[str, int]], Array, Array]:
    a, b = arrays
    if terms[0][0] != right[0]:
        a = replace(a, shape=a.shape[::-1], strides=a.strides[::-1])
    if terms[1][1] != right[1]:
        b = replace(b, shape=b.shape[::-1], strides=b.strides[::-1])
    return [(right[0], a.shape[0]), (right[1], b.shape[1])], a, b


def _contracted(
    ctx: Context, node: Node, terms: list[str], right: str, arrays: list[Array], factors: list[Scalar], t: LType,
    shape: Shape,
) -> Value:  # fmt: skip
    """Return a sum of products over all labels, without cleverness; ``factors`` are operands without labels."""
    labels = list(right) + sorted(set("".join(terms)) - set(right))
    sizes = dict.fromkeys(labels, 1)
    for term, x in zip(terms, arrays):
        for c, n in zip(term, x.shape):
            sizes[c] = max(sizes[c], n) if n else 0
    full = tuple([sizes[c] for c in labels])
    spread = []
    for term, x in zip(terms, arrays):
        steps = [sum(s for c, n, s in zip(term, x.shape, x.strides) if c == label and n != 1) for label in labels]
        spread.append(replace(x, shape=full, strides=tuple(steps)))
    factor: Scalar | None = None
    for other in factors:
        texts = [ctx.scalar(factor), other.text] if factor is not None else []
        factor = Scalar(apply(ctx, MULTIPLY, t, [t, t], texts), t) if texts else other
    if not labels:
        assert factor is not None
        if len(factors) == 1 or t.kind != "f":
            return factor
        return Scalar(apply(ctx, ADD, t, [t, t], [factor.text, literal(0, t)]), t)
    axes = tuple(range(len(right), len(labels)))
    if size_of(full) == 0:
        out = ctx.result(node.outputs[0], t, shape)
        put(ctx, Scalar(literal(0, t), t), out)
        return seen(ctx, out)
    if not right:
        return Scalar(reduce(ctx, SUM, _multiplied(spread, factor), axes, None), t)
    out = ctx.result(node.outputs[0], t, shape)

    def write(first: str, count: int) -> None:
        product = _multiplied([part_of(ctx, x, 0, first, count) for x in spread], factor)
        part = part_of(ctx, out, 0, first, count)
        if t.kind == "f" and not axes and len(terms) + len(factors) > 1:  # also of one product it is a sum: no -0.0
            product = Expr(ADD, (product, Scalar(literal(0, t), t)), t, part.shape)
        if axes:
            ones, zeros = [1] * len(axes), [0] * len(axes)
            kept = replace(part, shape=(*part.shape, *ones), strides=(*part.strides, *zeros))
            reduce(ctx, SUM, product, axes, kept)
        else:
            store_all(ctx, part.shape, [product], [part])

    in_pieces(ctx, full[0], max(1, INTEGERS // size_of(full[1:])), write)
    return out


def _multiplied(arrays: Sequence[Array], factor: Scalar | None) -> Value:
    product: Value = arrays[0]
    others: list[Value] = [*arrays[1:]] if factor is None else [*arrays[1:], factor]
    for x in others:
        product = Expr(MULTIPLY, (product, x), arrays[0].t, arrays[0].shape)
    return product
