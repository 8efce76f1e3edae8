"""Reductions, running sums and orders along axes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from autoloop_runtime.base.shapes import SCALAR
from autoloop_runtime.ir.graph import Node
from autoloop_runtime.ops import reductions
from autoloop_runtime.ops.define import op_of
from autoloop_runtime.ops.numpy_names.begun_reductions import MAX_FROM, MIN_FROM, PRODUCT_FROM, SUM_FROM
from autoloop_runtime.ops.operands import CAST
from autoloop_runtime.ops.reducing import SUM
from autoloop_runtime.ops.running_sums import CUMPROD, CUMSUM, SUM_BETWEEN
from autoloop_runtime.ops.selection import ARGWHERE
from autoloop_runtime.ops.sorting import ARGSORT, SEARCHSORTED, SORT

from . import onnx_formulas as formulas
from .onnx_refusals import refuse
from .onnx_shapes import rank_of
from .onnx_values import BOOL, INT64, UINT64, Value, computed
from .onnx_writer import RULES, Writer, rule

_END = 2**62


def _axes(node: Node) -> list[int] | None:
    axis = node.attrs["axis"]
    return None if axis is None else [axis] if isinstance(axis, int) else list(axis)


def _reduced(writer: Writer, name: str, x: Value, axes: list[int] | None, keepdims: bool) -> Value:
    if axes == []:
        return x
    given = [] if axes is None else [writer.ints(axes)]
    return writer.arithmetic(name, x, *given, keepdims=int(keepdims))


@rule(SUM)
def _sum(writer: Writer, node: Node, x: Value) -> Value:
    axes = _axes(node)
    if x.dtype.kind == "f" or axes == [] or _is_count(node):
        return _reduced(writer, "ReduceSum", x, axes, node.attrs["keepdims"])
    rows = _rows(writer, node, x, axes)
    ones = writer.const(rows.dtype.type(1)).expand(rows.shape().slice([-1], [_END], [0]))
    return _with_axes(node, writer("MatMul", rows, ones).to(x.dtype), axes)


@rule(op_of(reductions.prod))
def _prod(writer: Writer, node: Node, x: Value) -> Value:
    axes = _axes(node)
    if x.dtype.kind == "f" or axes == []:
        return _reduced(writer, "ReduceProd", x, axes, node.attrs["keepdims"])
    rows = _rows(writer, node, x, axes)
    rank = 1 if axes is None else 1 + rank_of(node) - len(axes)
    made = scan(writer, [rows], rank, rank - 1, 1, False, lambda state, row: (state * row, state))[0]
    return _with_axes(node, made.to(x.dtype), axes)


# Of integers onnxruntime adds and multiplies floats where it reduces, and loses what is beyond 53 bits; products of
# matrices, and what a Scan makes, are exact.


def _is_count(node: Node) -> bool:
    """Return whether it is known that the sum is small: that of truths."""
    made = node.inputs[0].node
    return made is not None and made.op is CAST and made.inputs[0].dtype == BOOL


def _rows(writer: Writer, node: Node, x: Value, axes: list[int] | None) -> Value:
    """Return integers with the axes that are reduced as one, the last."""
    wide, rank = x.to(computed(x.dtype)), node.inputs[0].shape.rank
    if axes is None or rank == len(axes):
        return wide.reshape(-1)
    rest = [k for k in range(rank_of(node)) if k not in axes]
    moved = wide.transpose([*rest, *axes])
    lead = moved.shape().slice([0], [len(rest)], [0])
    count = writer("ReduceProd", moved.shape().slice([len(rest)], [_END], [0]), writer.ints([0]), keepdims=1)
    return moved.reshape_to(writer.concat([lead, count]))


def _with_axes(node: Node, made: Value, axes: list[int] | None) -> Value:
    if not node.attrs["keepdims"]:
        return made
    return made.unsqueeze(*(range(rank_of(node)) if axes is None else sorted(axes)))


def _count(writer: Writer, node: Node, x: Value, axes: list[int] | None) -> Value:
    """Return how many elements are reduced to one."""
    known = node.inputs[0].shape.known if node.inputs[0].shape.rank is not None else None
    taken = None if known is None else [known[a] for a in (range(len(known)) if axes is None else axes)]
    if taken is not None and None not in taken:
        return writer.const(x.dtype.type(math.prod(n for n in taken if n is not None)))
    if axes is None:
        return x.size().to(x.dtype)
    counts = x.shape().gather(writer.ints(axes))
    return writer("ReduceProd", counts, writer.ints([0]), keepdims=0).to(x.dtype)


@rule(op_of(reductions.mean))
def _mean(writer: Writer, node: Node, x: Value) -> Value:
    axes, keepdims = _axes(node), node.attrs["keepdims"]
    if axes == []:
        return x
    wide = x.to(np.float32) if x.dtype == np.float16 else x
    return (wide.sum(axes, keepdims) / _count(writer, node, wide, axes)).to(x.dtype)


def _extreme(name: str) -> Callable[..., Value]:
    """Return what writes the largest or smallest element; nan where there is one."""

    def write(writer: Writer, node: Node, x: Value) -> Value:
        axes, keepdims = _axes(node), node.attrs["keepdims"]
        if x.dtype == BOOL:
            return _reduced(writer, name, x.to(np.int32), axes, keepdims).to(BOOL)
        if x.dtype == UINT64:
            made = _reduced(writer, name, x.halves(), axes, keepdims)
            return (made - np.int64(-(2**63))).to(UINT64)
        made = _reduced(writer, name, x, axes, keepdims)
        if x.dtype.kind != "f" or axes == []:
            return made
        return _any(x.is_nan(), axes, keepdims).where(math.nan, made)

    return write


RULES[op_of(reductions.max)] = _extreme("ReduceMax")
RULES[op_of(reductions.min)] = _extreme("ReduceMin")


def _begun(op: str, of_truths: str, whole: Callable[..., Value]) -> Callable[..., Value]:
    """Return what writes a reduction that begins with a value."""

    def write(writer: Writer, node: Node, x: Value, first: Value) -> Value:
        if x.dtype.kind == "f" and op in ("Add", "Mul"):  # a range of floats may be left before it comes in
            refuse(node, "a sum or product of floats begins with a value: add it, or multiply with it, after")
        return formulas.of_numbers(op, of_truths, whole(writer, node, x), first.to(x.dtype)).to(node.outputs[0].dtype)

    return write


RULES[SUM_FROM.op] = _begun("Add", "Or", _sum)
RULES[PRODUCT_FROM.op] = _begun("Mul", "And", _prod)
RULES[MAX_FROM.op] = _begun("Max", "Or", _extreme("ReduceMax"))
RULES[MIN_FROM.op] = _begun("Min", "And", _extreme("ReduceMin"))


def _any(x: Value, axes: list[int] | None, keepdims: bool) -> Value:
    return x if axes == [] else x.to(INT64).sum(axes, keepdims) > 0


@rule(op_of(reductions.any))
def _any_of(writer: Writer, node: Node, x: Value) -> Value:
    return _any(x.to(BOOL), _axes(node), node.attrs["keepdims"])


@rule(op_of(reductions.all))
def _all_of(writer: Writer, node: Node, x: Value) -> Value:
    return ~_any(~x.to(BOOL), _axes(node), node.attrs["keepdims"])


def _position(name: str) -> Callable[..., Value]:
    """Return what writes the place of the first largest or smallest element; of the first nan where there is one."""

    def write(writer: Writer, node: Node, x: Value) -> Value:
        axes, keepdims = _axes(node), node.attrs["keepdims"]
        rank = node.inputs[0].shape.rank
        x = _sortable(x)
        flat = axes is None or len(axes) != 1
        axis = 0 if axes is None or len(axes) != 1 else axes[0]
        line = x.reshape(-1) if flat else x
        made = writer(name, line, dtype=INT64, axis=axis, keepdims=int(keepdims and not flat))
        if x.dtype.kind == "f":
            bad = line.is_nan()
            found = writer("ArgMax", bad.to(np.int32), dtype=INT64, axis=axis, keepdims=int(keepdims and not flat))
            made = _any(bad, [axis], keepdims and not flat).where(found, made)
        return made.reshape(*[1] * (rank or 0)) if flat and keepdims else made

    return write


RULES[op_of(reductions.argmax)] = _position("ArgMax")
RULES[op_of(reductions.argmin)] = _position("ArgMin")


@rule(op_of(reductions.logsumexp))
def _logsumexp(writer: Writer, node: Node, x: Value) -> Value:
    axes, rank = _axes(node), node.inputs[0].shape.rank
    axes = list(range(rank or 0)) if axes is None else axes
    top = _reduced(writer, "ReduceMax", x, axes, True)
    top = formulas.isfinite(top).where(top, 0)
    made = formulas.log(formulas.exp(x - top).sum(axes, True) if axes else formulas.exp(x - top)) + top
    made = _any(x.is_nan(), axes, True).where(math.nan, made)
    return made if node.attrs["keepdims"] else made.squeeze(*axes)


@rule(op_of(reductions.softmax))
def _softmax(writer: Writer, node: Node, x: Value) -> Value:
    axis = node.attrs["axis"]
    raised = formulas.exp(x - writer.arithmetic("ReduceMax", x, writer.ints([axis]), keepdims=1))
    return raised / raised.sum([axis], True)


@rule(op_of(reductions.log_softmax))
def _log_softmax(writer: Writer, node: Node, x: Value) -> Value:
    axis = node.attrs["axis"]
    shifted = x - writer.arithmetic("ReduceMax", x, writer.ints([axis]), keepdims=1)
    return shifted - formulas.log(formulas.exp(shifted).sum([axis], True))


# -- running sums -------------------------------------------------------------------------------------------------


@rule(CUMSUM)
def _cumsum(writer: Writer, node: Node, x: Value) -> Value:
    attrs = node.attrs
    axis = writer.const(np.int64(attrs["axis"]))
    options = {"exclusive": int(attrs["exclusive"]), "reverse": int(attrs["reverse"])}
    return writer("CumSum", x.to(computed(x.dtype)), axis, **options).to(x.dtype)


def _scanned(writer: Writer, node: Node, xs: list[Value], first: Any, step: Callable[..., Any]) -> Value:
    return scan(writer, xs, rank_of(node), node.attrs["axis"], first, node.attrs["reverse"], step)[1]


def scan(
    writer: Writer, xs: list[Value], rank: int, axis: int, first: Any, backwards: bool, step: Callable[..., Any]
) -> list[Value]:  # fmt: skip
    """Return the last state of a Scan along an axis, and what it collects: ``step(state, *rows)`` gives the next state
    and a row."""
    if rank == 1:
        state = writer.const(xs[0].dtype.type(first))
    else:
        rest = xs[0].shape().gather(writer.ints([k for k in range(rank) if k != axis % rank]))
        state = writer.const(xs[0].dtype.type(first)).expand(rest)
    row = None if rank == 1 else [None] * (rank - 1)
    shape = SCALAR if row is None else type(SCALAR)(row)
    with writer.body() as scope:
        inputs = [Value(writer, writer.name(name), xs[0].dtype) for name in ("state", *["row"] * len(xs))]
        following, made = step(*inputs)
        outputs = [writer.own(following), writer.own(made)]
        graph = writer.graph(
            scope, "scan", [writer.described(one, shape) for one in inputs],
            [writer.described(one, shape) for one in outputs],
        )  # fmt: skip
    n = len(xs)
    return writer.several(
        "Scan", [state, *xs], [state.dtype, state.dtype], body=graph, num_scan_inputs=n,
        scan_input_axes=[axis % rank] * n, scan_output_axes=[axis % rank],
        scan_input_directions=[int(backwards)] * n, scan_output_directions=[int(backwards)],
    )  # fmt: skip


@rule(CUMPROD)
def _cumprod(writer: Writer, node: Node, x: Value) -> Value:
    def step(state: Value, row: Value) -> Any:
        following = state * row
        return following, state if node.attrs["exclusive"] else following

    return _scanned(writer, node, [x], 1, step)


@rule(SUM_BETWEEN)
def _sum_between(writer: Writer, node: Node, a: Value, b: Value) -> Value:
    return _scanned(writer, node, [a, b], 0, lambda state, factor, term: (factor * state + term, state))


# -- orders -------------------------------------------------------------------------------------------------------


def _ordered(x: Value, axis: int, descending: bool) -> list[Value]:
    """Return elements in order, and where they were; equal ones by place."""
    writer = x.writer
    count = x.extent(axis).unsqueeze(0)
    options = {"axis": axis, "largest": int(descending), "sorted": 1}
    return writer.several("TopK", [x, count], [x.dtype, INT64], **options)


def _sortable(x: Value) -> Value:
    """Return a value in a dtype that has the same order."""
    if x.dtype == UINT64:
        return x.halves()
    return x if x.dtype in (INT64, np.float32, np.float64) else x.to(np.float32 if x.dtype.kind == "f" else INT64)


@rule(SORT)
def _sort(writer: Writer, node: Node, x: Value) -> Value:
    places = _argsort(writer, node, x)
    return writer("GatherElements", x, places, axis=node.attrs["axis"])


@rule(ARGSORT)
def _argsort(writer: Writer, node: Node, x: Value) -> Value:
    axis, descending = node.attrs["axis"], node.attrs["descending"]
    if not node.inputs[0].shape.rank:
        refuse(node, "it sorts an array without axes, or of a rank that is not known")
    x = _sortable(x)
    if x.dtype.kind != "f":
        return _ordered(x, axis, descending)[1]
    bad = x.is_nan()
    places = _ordered(bad.where(math.inf, x), axis, descending)[1]
    # what is no number comes behind the infinities that it was put among
    last = _ordered(writer("GatherElements", bad.to(INT64), places, axis=axis), axis, descending)[1]
    return writer("GatherElements", places, last, axis=axis)


@rule(SEARCHSORTED)
def _searchsorted(writer: Writer, node: Node, a: Value, v: Value, *sorter: Value) -> Value:
    a = a.gather(sorter[0]) if sorter else a
    spread = v.unsqueeze(-1)
    before = formulas.compared("Less" if node.attrs["side"] == "left" else "LessOrEqual", a, spread)
    if a.dtype.kind == "f":
        at_end = spread.is_nan() if node.attrs["side"] == "right" else spread.is_nan() & ~a.is_nan()
        before = before | at_end
    return before.to(INT64).sum([-1])


@rule(ARGWHERE)
def _argwhere(writer: Writer, node: Node, x: Value) -> Value:
    return writer("NonZero", x.to(BOOL), dtype=INT64).transpose([1, 0])
