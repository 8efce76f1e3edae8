"""TensorArrays, lists, stacks of saved values and tables of gradients: arrays whose rows are the elements."""

from __future__ import annotations

import numpy as np
from autoloop_runtime.base.shapes import TensorShape
from autoloop_runtime.collections import adjoint_table, saved_stacks, tensor_array_ops, tensor_array_vjps
from autoloop_runtime.ir.graph import Node

from .onnx_branches import choose
from .onnx_flows import Element
from .onnx_refusals import refuse
from .onnx_values import INT64, Value, computed
from .onnx_writer import Writer, rule

_END = 2**62


def empty(writer: Writer, element: Element, count: Value | None = None) -> Value:
    """Return a collection of so many zeros; an extent that is not known is 0, until something is written."""
    dims = writer.ints([n or 0 for n in element.shape.known])
    lead = writer.ints([0]) if count is None else count.to(INT64).reshape(1)
    return writer.const(element.dtype.type(0)).expand(writer.concat([lead, dims]))


def _fitted(writer: Writer, array: Value, element: Element, item: Value) -> Value:
    """Return a collection whose elements have the extents of ``item``, if they have none yet."""
    if element.is_known:
        return array
    dims = writer.concat([array.shape().slice([0], [1], [0]), item.shape()])
    zero = writer.const(element.dtype.type(0))
    return choose(
        writer, array.size().equals(0), [element.rows], lambda: [zero.expand(dims)], lambda: [writer.own(array)]
    )[0]


def _reaching(writer: Writer, array: Value, element: Element, count: Value) -> Value:
    """Return a collection with zeros behind it, so that it has ``count`` elements or more."""
    missing = writer("Max", count - array.extent(0), writer.const(np.int64(0)))
    rest = array.shape().slice([1], [_END], [0])
    zeros = writer.const(element.dtype.type(0)).expand(writer.concat([missing.unsqueeze(0), rest]))
    return writer.concat([array, zeros])


def _before(writer: Writer, array: Value, place: Value) -> Value:
    return array.slice(writer.ints([0]), place.reshape(1), [0])


def _behind(writer: Writer, array: Value, place: Value) -> Value:
    return array.slice(place.reshape(1), writer.ints([_END]), [0])


def _element(writer: Writer, node: Node) -> Element:
    found: Element = writer.flows.of(node.outputs[0] if node.outputs[0].dtype == object else node.inputs[0])
    return found


@rule(tensor_array_ops.NEW)
def _new(writer: Writer, node: Node, size: Value) -> Value:
    return empty(writer, _element(writer, node), size)


@rule(saved_stacks.EMPTY, adjoint_table.EMPTY)
def _empty(writer: Writer, node: Node) -> Value:
    return empty(writer, _element(writer, node))


@rule(tensor_array_ops.WRITE, tensor_array_ops.REPLACE)
def _write(writer: Writer, node: Node, array: Value, place: Value, item: Value) -> Value:
    element, place = _element(writer, node), place.to(INT64)
    array = _fitted(writer, array, element, item)
    if not element.grows:
        return writer("ScatterND", array, place.reshape(1, 1), item.unsqueeze(0))
    if node.op is tensor_array_ops.WRITE:
        array = _reaching(writer, array, element, place)
    return writer.concat([_before(writer, array, place), item.unsqueeze(0), _behind(writer, array, place + 1)])


@rule(tensor_array_ops.INSERT)
def _insert(writer: Writer, node: Node, array: Value, place: Value, item: Value) -> Value:
    array, place = _fitted(writer, array, _element(writer, node), item), place.to(INT64)
    return writer.concat([_before(writer, array, place), item.unsqueeze(0), _behind(writer, array, place)])


@rule(saved_stacks.PUSH, saved_stacks.SWAP_PUSH)
def _push(writer: Writer, node: Node, array: Value, place: Value, item: Value) -> Value:
    array, place = _fitted(writer, array, _element(writer, node), item), place.to(INT64)
    return writer.concat([_before(writer, array, place), item.unsqueeze(0)])


@rule(tensor_array_ops.DROP)
def _drop(writer: Writer, node: Node, array: Value, place: Value) -> Value:
    return _before(writer, array, place.to(INT64))


@rule(tensor_array_ops.REMOVE)
def _remove(writer: Writer, node: Node, array: Value, place: Value) -> Value:
    place = place.to(INT64)
    return writer.concat([_before(writer, array, place), _behind(writer, array, place + 1)])


@rule(
    tensor_array_ops.READ, tensor_array_ops.READ_ONCE, tensor_array_ops.READ_LISTED, saved_stacks.READ,
    saved_stacks.PEEK,
)  # fmt: skip
def _read(writer: Writer, node: Node, array: Value, place: Value) -> Value:
    return array.gather(place.to(INT64).reshape())


@rule(tensor_array_ops.STACK)
def _stack(writer: Writer, node: Node, array: Value) -> Value:
    return array


@rule(tensor_array_ops.UNSTACK)
def _unstack(writer: Writer, node: Node, array: Value, rows: Value) -> Value:
    return rows


@rule(tensor_array_ops.GATHER)
def _gather(writer: Writer, node: Node, array: Value, places: Value) -> Value:
    return array.gather(places.to(INT64))


@rule(tensor_array_ops.SCATTER)
def _scatter(writer: Writer, node: Node, array: Value, places: Value, rows: Value) -> Value:
    element, places = _element(writer, node), places.to(INT64)
    if not element.is_known:
        refuse(node, "the shape of its elements is not known: give element_shape")
    if element.grows:
        array = _reaching(writer, array, element, _reach(writer, places))
    return writer("ScatterND", array, places.unsqueeze(-1), rows)


@rule(tensor_array_ops.CONCAT)
def _concat(writer: Writer, node: Node, array: Value) -> Value:
    element = _element(writer, node)
    if not element.is_known:
        refuse(node, "its elements may have different lengths")
    return array.reshape(-1, *[n or 0 for n in element.shape.known[1:]])


@rule(tensor_array_ops.SIZE)
def _size(writer: Writer, node: Node, array: Value) -> Value:
    return array.extent(0).to(node.outputs[0].dtype)


# -- tables of gradients: what is not there is zero -----------------------------------------------------------------


def _reach(writer: Writer, places: Value) -> Value:
    """Return how many elements there are if the last of some places is there."""
    padded = writer.concat([places.reshape(-1), writer.ints([-1])])
    return writer("ReduceMax", padded, writer.ints([0]), keepdims=0) + 1


def _known(writer: Writer, node: Node) -> Element:
    element = _element(writer, node)
    if not element.is_known:
        refuse(node, "the gradient of a collection needs the shapes of its elements: give element_shape")
    return element


@rule(adjoint_table.ADD)
def _add(writer: Writer, node: Node, table: Value, place: Value, item: Value) -> Value:
    place = place.to(INT64)
    table = _reaching(writer, table, _known(writer, node), place + 1)
    wide = computed(table.dtype)
    rows, part = table.to(wide), item.to(wide).unsqueeze(0)
    return writer("ScatterND", rows, place.reshape(1, 1), part, reduction="add").to(table.dtype)


@rule(adjoint_table.GET)
def _get(writer: Writer, node: Node, table: Value, place: Value, *dims: Value) -> Value:
    place = place.to(INT64)
    return _reaching(writer, table, _known(writer, node), place + 1).gather(place.reshape())


@rule(adjoint_table.WITHOUT)
def _without(writer: Writer, node: Node, table: Value, place: Value) -> Value:
    element, place = _known(writer, node), place.to(INT64)
    zero = empty(writer, element, writer.const(np.int64(1)))
    return writer("ScatterND", _reaching(writer, table, element, place + 1), place.reshape(1, 1), zero)


@rule(adjoint_table.OPENED)
def _opened(writer: Writer, node: Node, table: Value, place: Value) -> Value:
    element, place = _known(writer, node), place.to(INT64)
    table = _reaching(writer, table, element, place)
    zero = empty(writer, element, writer.const(np.int64(1)))
    return writer.concat([_before(writer, table, place), zero, _behind(writer, table, place)])


@rule(adjoint_table.CLOSED)
def _closed(writer: Writer, node: Node, table: Value, place: Value) -> Value:
    place = place.to(INT64)
    return writer.concat([_before(writer, table, place), _behind(writer, table, place + 1)])


@rule(adjoint_table.MERGE)
def _merge(writer: Writer, node: Node, a: Value, b: Value) -> Value:
    element = _known(writer, node)
    a = _reaching(writer, a, element, b.extent(0))
    return a + _reaching(writer, b, element, a.extent(0))


@rule(adjoint_table.ROWS)
def _rows(writer: Writer, node: Node, table: Value, *dims: Value) -> Value:
    shape: TensorShape = node.attrs["shape"]
    count = dims[0].to(INT64).gather(writer.const(np.int64(0))) if dims else writer.const(np.int64(shape.known[0] or 0))
    return _before(writer, _reaching(writer, table, _known(writer, node), count), count)


@rule(adjoint_table.FROM_ROWS)
def _from_rows(writer: Writer, node: Node, rows: Value) -> Value:
    return rows


@rule(tensor_array_vjps.GATHER)
def _gathered(writer: Writer, node: Node, table: Value, places: Value, dims: Value) -> Value:
    places = places.to(INT64)
    return _reaching(writer, table, _known(writer, node), _reach(writer, places)).gather(places)


@rule(tensor_array_vjps.SCATTER)
def _scattered(writer: Writer, node: Node, places: Value, rows: Value) -> Value:
    places = places.to(INT64)
    table = empty(writer, _known(writer, node), _reach(writer, places))
    wide = computed(table.dtype)
    return writer("ScatterND", table.to(wide), places.unsqueeze(-1), rows.to(wide), reduction="add").to(table.dtype)
