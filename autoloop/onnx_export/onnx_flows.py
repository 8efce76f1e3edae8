"""What is in the collections of a graph: TensorArrays, stacks of saved values, tables of gradients.

In a graph they are values of no dtype. In a model each is one array whose rows are the elements, so that it must be
known of each what these are: all that a value passes through has the same, loops and branches included.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.base.dtypes import DType, variant
from autoloop_runtime.base.shapes import TensorShape
from autoloop_runtime.collections import adjoint_table, saved_stacks, tensor_array_ops, tensor_array_vjps
from autoloop_runtime.ir.graph import Graph, Node
from autoloop_runtime.ir.structured import COND, WHILE
from autoloop_runtime.ir.tensor import Tensor

from .onnx_refusals import refuse

_NESTED = "it holds collections that are elements of another one, as gradients of loops in loops do"


@dataclass(frozen=True)
class Element:
    """What the elements of a collection are.

    Attributes
    ----------
    dtype : dtype
    shape : TensorShape
    grows : bool
        It may be written behind its end.
    """

    dtype: DType
    shape: TensorShape
    grows: bool

    @property
    def is_known(self) -> bool:
        """Whether all extents are known."""
        return self.shape.is_fully_defined()

    @property
    def rows(self) -> TensorShape:
        """The shape of a collection."""
        return TensorShape([None, *self.shape.known])


#: what has an element as an operand, and at which place
_ITEMS = {
    tensor_array_ops.WRITE: 2, tensor_array_ops.REPLACE: 2, tensor_array_ops.INSERT: 2, saved_stacks.PUSH: 2,
    saved_stacks.SWAP_PUSH: 2, adjoint_table.ADD: 2,
}  # fmt: skip
#: the same of several elements, the rows of an operand
_ROWS = {
    tensor_array_ops.UNSTACK: 1, tensor_array_ops.SCATTER: 2, adjoint_table.FROM_ROWS: 0, tensor_array_vjps.SCATTER: 1,
}  # fmt: skip
_READS = {
    tensor_array_ops.READ, tensor_array_ops.READ_ONCE, tensor_array_ops.READ_LISTED, saved_stacks.READ,
    saved_stacks.PEEK, adjoint_table.GET,
}  # fmt: skip
#: reads of several, whose attribute is the shape of all
_READ_ROWS = {adjoint_table.ROWS, tensor_array_vjps.GATHER}


class Flows:
    """The collections of a graph."""

    def __init__(self, graph: Graph) -> None:
        self._parent: dict[Tensor, Tensor] = {}
        self._elements: dict[Tensor, list[tuple[DType, TensorShape]]] = {}
        self._growing: set[Tensor] = set()
        self._makers: dict[Tensor, Node] = {}
        self._walk(graph)

    def of(self, tensor: Tensor) -> Element:
        """Return what is in a collection."""
        root = self._root(tensor)
        found = [one for key in list(self._elements) if self._root(key) is root for one in self._elements[key]]
        node = tensor.node
        if not found:
            refuse(node, "it is not known what is in it")
        dtype, shape = found[0]
        for other, more in found[1:]:
            if other != dtype:
                refuse(node, f"it holds both {dtype} and {other}")
            shape = _merged(node, shape, more)
        if dtype == variant:
            refuse(node, _NESTED)
        if shape.rank is None:
            refuse(node, "the rank of its elements is not known: give element_shape")
        return Element(dtype, shape, any(self._root(key) is root for key in self._growing))

    def _root(self, tensor: Tensor) -> Tensor:
        while self._parent.get(tensor, tensor) is not tensor:
            tensor = self._parent[tensor]
        return tensor

    def _join(self, tensors: Sequence[Tensor]) -> None:
        roots = [self._root(t) for t in tensors]
        for one in roots[1:]:
            self._parent[one] = roots[0]

    def _walk(self, graph: Graph) -> None:
        for node in graph.nodes:
            for inner in node.subgraphs:
                self._walk(inner)
            for together in _passed(node):
                if together[0].dtype == variant:
                    self._join(together)
            self._note(node)

    def _note(self, node: Node) -> None:
        op, inputs = node.op, node.inputs
        flow = node.outputs[0] if node.outputs and node.outputs[0].dtype == variant else next(iter(inputs), None)
        if flow is None:
            return
        notes = self._elements.setdefault(flow, []) if flow.dtype == variant else []
        if op is tensor_array_ops.NEW:
            spec = node.attrs["spec"]
            if spec.element_shape.rank is not None:
                notes.append((spec.dtype, spec.element_shape))
            if spec.dynamic_size:
                self._growing.add(flow)
        elif op in _ITEMS:
            item = inputs[_ITEMS[op]]
            notes.append((item.dtype, item.shape))
            if op not in (tensor_array_ops.WRITE, tensor_array_ops.REPLACE):
                self._growing.add(flow)
        elif op in _ROWS:
            rows = inputs[_ROWS[op]]
            if rows.shape.rank is not None:
                notes.append((rows.dtype, TensorShape(rows.shape.known[1:])))
        elif op in _READS:
            notes.append((node.attrs["dtype"], node.attrs["shape"]))
        elif op in _READ_ROWS and node.attrs["shape"].rank is not None:
            notes.append((node.attrs["dtype"], TensorShape(node.attrs["shape"].known[1:])))


def _merged(node: Node | None, shape: TensorShape, more: TensorShape) -> TensorShape:
    """Return what is known of elements of which two things are."""
    if shape.rank is None or more.rank is None:
        return more if shape.rank is None else shape
    if shape.rank != more.rank:
        refuse(node, f"its elements have different ranks: shapes {shape} and {more}")
    return TensorShape([a if a == b else None for a, b in zip(shape.known, more.known)])


def _passed(node: Node) -> Iterator[list[Tensor]]:
    """Yield tensors that are one collection, or versions of one."""
    attrs = node.attrs
    if node.op is WHILE:
        cond, body, count = attrs["cond"], attrs["body"], attrs["n_vars"]
        for k, outer in enumerate(node.inputs):
            carried = [body.outputs[k], node.outputs[k]] if k < count else []
            yield [outer, cond.inputs[k], body.inputs[k], *carried]
    elif node.op is COND:
        then, other = attrs["then"], attrs["else"]
        yield from ([outer, a, b] for outer, a, b in zip(node.inputs[1:], then.inputs, other.inputs))
        yield from ([a, b, out] for a, b, out in zip(then.outputs, other.outputs, node.outputs))
    else:
        item = _ITEMS.get(node.op)
        inputs = [t for k, t in enumerate(node.inputs) if k != item]
        outputs = () if node.op in _READS else node.outputs  # what is read is no version of what it is read of
        flows: list[Any] = [t for t in (*inputs, *outputs) if t.dtype == variant]
        if flows:
            yield flows
