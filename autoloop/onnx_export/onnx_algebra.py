"""Linear algebra: products, and the elimination that solves systems, as loops over the columns."""

from __future__ import annotations

from collections.abc import Callable

from autoloop_runtime.base.shapes import SCALAR, TensorShape
from autoloop_runtime.ir.graph import Node
from autoloop_runtime.ops.contractions import EINSUM
from autoloop_runtime.ops.linalg import CHOLESKY, DET, DOT, INV, MATMUL, SOLVE, SQUARES

from . import onnx_formulas as formulas
from .onnx_refusals import refuse
from .onnx_values import BOOL, INT32, INT64, UINT64, Value, computed
from .onnx_writer import Writer, rule


@rule(MATMUL, DOT)
def _matmul(writer: Writer, node: Node, a: Value, b: Value) -> Value:
    if None in (node.inputs[0].shape.rank, node.inputs[1].shape.rank):
        refuse(node, "the rank of a factor is not known: declare it with set_shape")
    return _sums(writer, "MatMul", [a, b])


@rule(SQUARES)
def _squares(writer: Writer, node: Node, x: Value) -> Value:
    line = x.reshape(-1)
    return _sums(writer, "MatMul", [line, line])


@rule(EINSUM)
def _einsum(writer: Writer, node: Node, *xs: Value) -> Value:
    equation: str = node.attrs["equation"]
    left, _, right = equation.partition("->")
    if xs[0].dtype.kind != "f" and any(left.count(c) == 1 and c not in right for c in left if c != ","):
        refuse(node, "it adds up integers over a label of one operand: add them by np.sum, which is exact")
    return _sums(writer, "Einsum", list(xs), equation=equation)


def _sums(writer: Writer, op: str, xs: list[Value], **attrs: object) -> Value:
    """Return sums of products, of booleans whether there is a true one."""
    if xs[0].dtype == BOOL:
        return writer(op, *[x.to(INT32) for x in xs], dtype=INT32, **attrs) > 0
    wide = INT64 if xs[0].dtype == UINT64 else computed(xs[0].dtype)
    return writer(op, *[x.to(wide) for x in xs], dtype=wide, **attrs).to(xs[0].dtype)


def _matrix(node: Node) -> None:
    if any(t.shape.rank is None for t in node.inputs) or node.inputs[0].shape.rank != 2:
        refuse(node, "it is of a stack of matrices; a model has it of one matrix")


def _columns(
    writer: Writer, count: Value, given: list[Value], ranks: list[int],
    step: Callable[[Value, list[Value]], list[Value]],
) -> list[Value]:  # fmt: skip
    """Return what a loop over columns makes of values: ``step(k, values)`` gives the next ones."""
    shapes = [TensorShape([None] * rank) for rank in ranks]
    with writer.body() as scope:
        iteration = Value(writer, writer.name("column"), INT64)
        going = Value(writer, writer.name("going"), BOOL)
        inputs = [Value(writer, writer.name("matrix"), one.dtype) for one in given]
        made = [writer.own(one) for one in step(iteration, inputs)]
        goes_on = writer.own(going)
        graph = writer.graph(
            scope, "columns", [*[writer.described(one, SCALAR) for one in (iteration, going)],
             *[writer.described(one, shape) for one, shape in zip(inputs, shapes)]],
            [writer.described(goes_on, SCALAR), *[writer.described(one, shape) for one, shape in zip(made, shapes)]],
        )  # fmt: skip
    return writer.several("Loop", [count, None, *given], [one.dtype for one in given], body=graph)


def _eliminated(writer: Writer, rows: Value, count: Value, safe: bool) -> tuple[Value, Value]:
    """Return matrices side by side after Gauss's and Jordan's elimination of the first one, and its determinant."""
    one = writer.const(rows.dtype.type(1))

    def step(k: Value, values: list[Value]) -> list[Value]:
        matrix, product = values
        places = writer.count_to(count)
        sizes = (places >= k).where(formulas.absolute(matrix.gather(k, 1)), -1)
        pivot = writer("ArgMax", sizes, dtype=INT64, axis=0, keepdims=0)
        order = places.equals(k).where(pivot, places.equals(pivot).where(k, places))
        matrix = matrix.gather(order)
        column = matrix.gather(k, 1)
        divisor = column.gather(k)
        product = product * k.equals(pivot).where(divisor, -divisor)
        row = matrix.gather(k) / (divisor.equals(0).where(1, divisor) if safe else divisor)
        here = places.equals(k)
        others = matrix - here.where(0, column).unsqueeze(1) * row
        return [here.unsqueeze(1).where(row, others), product]

    made = _columns(writer, count, [rows, one], [2, 0], step)
    return made[0], made[1]


@rule(SOLVE)
def _solve(writer: Writer, node: Node, a: Value, b: Value) -> Value:
    _matrix(node)
    if node.inputs[1].shape.rank not in (1, 2):
        refuse(node, "it is of a stack of matrices; a model has it of one matrix")
    is_vector = node.inputs[1].shape.rank == 1
    count = a.extent(0)
    rows = writer.concat([a, b.unsqueeze(1) if is_vector else b], 1)
    made = _eliminated(writer, rows, count, False)[0].slice(count.reshape(1), writer.ints([2**62]), [1])
    return made.squeeze(1) if is_vector else made


@rule(INV)
def _inv(writer: Writer, node: Node, a: Value) -> Value:
    _matrix(node)
    count = a.extent(0)
    rows = writer.concat([a, writer("EyeLike", a)], 1)
    return _eliminated(writer, rows, count, False)[0].slice(count.reshape(1), writer.ints([2**62]), [1])


@rule(DET)
def _det(writer: Writer, node: Node, a: Value) -> Value:
    _matrix(node)
    return _eliminated(writer, a, a.extent(0), True)[1]


@rule(CHOLESKY)
def _cholesky(writer: Writer, node: Node, a: Value) -> Value:
    _matrix(node)
    count = a.extent(0)

    def step(k: Value, values: list[Value]) -> list[Value]:
        rest, factor = values
        places = writer.count_to(count)
        column = rest.gather(k, 1)
        column = (places >= k).where(column / formulas.sqrt(column.gather(k)), 0)
        spread = column.unsqueeze(1)
        return [rest - spread * column, places.equals(k).where(spread, factor)]

    return _columns(writer, count, [a, a - a], [2, 2], step)[1]
