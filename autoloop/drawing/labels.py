"""Short words for values: types on edges, constants in boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
from autoloop_runtime.base.dtypes import DType
from autoloop_runtime.base.locations import Location
from autoloop_runtime.base.shapes import TensorShape
from autoloop_runtime.dataflow.flat_graph import Kind, Lowered, Port
from autoloop_runtime.ir.tensor import Tensor

#: longer descriptions of a type are cut down to the rank
_SHORT = 20
_PASS_ON = (Kind.IDENTITY, Kind.ENTER, Kind.SWITCH, Kind.NEXT_ITERATION, Kind.EXIT)


def type_text(dtype: DType, shape: TensorShape) -> str:
    """Return ``int32``, ``float32[3,?]``; the rank alone where the dimensions would be long."""
    if shape.rank is None:
        return f"{dtype}[...]"
    if shape.rank == 0:
        return str(dtype)
    dims = ",".join("?" if d is None else str(d) for d in shape.known)
    text = f"{dtype}[{dims}]"
    return text if len(text) <= _SHORT else f"{dtype}[{shape.rank}d]"


def value_text(value: Any) -> str:
    """Return a constant: its value if that is short, else its type."""
    array = np.asarray(value)
    if array.ndim == 0:
        text = str(array[()])
    elif array.size <= 4:
        text = np.array2string(array, separator=", ", precision=4).replace("\n", "")
    else:
        text = ""
    return text if text and len(text) <= _SHORT else type_text(array.dtype, TensorShape(array.shape))


def place_text(location: Location) -> str:
    """Return ``file.py:12`` of the innermost line, without folders; empty if nothing is known."""
    return location[-1].short if location else ""


class PortTypes:
    """The dtype and static shape of each port of a flat graph.

    Only kernels, feeds and constants have types of their own; the other nodes hand on what they get.
    """

    def __init__(self, lowered: Lowered, feeds: tuple[Tensor, ...] = ()) -> None:
        self._nodes = lowered.nodes
        self._feeds = dict(zip(lowered.feeds, feeds))
        self._known: dict[Port, tuple[DType, TensorShape] | None] = {}

    def text(self, port: Port) -> str:
        """Return the type in short, empty if it is not known."""
        found = self.of(port)
        return "" if found is None else type_text(*found)

    def of(self, port: Port) -> tuple[DType, TensorShape] | None:
        """Return dtype and static shape of ``port``, ``None`` if not known."""
        if port not in self._known:
            self._known[port] = None  # what a loop's Merge sees of itself while it is being found out
            self._known[port] = self._find(port)
        return self._known[port]

    def _find(self, port: Port) -> tuple[DType, TensorShape] | None:
        node = self._nodes[port[0]]
        if node.kind is Kind.CONST:
            return node.value.dtype, TensorShape(node.value.shape)
        if node.kind is Kind.FEED:
            tensor = self._feeds.get(node.index)
            return None if tensor is None else (tensor.dtype, tensor.shape)
        if node.kind in _PASS_ON:
            return self.of(node.inputs[0])
        if node.kind is Kind.MERGE:
            found = [f for f in map(self.of, node.inputs) if f is not None]
            shape = found[0][1] if found else None
            for _, other in found[1:]:
                assert shape is not None
                shape = shape.most_general(other)
            return None if shape is None else (found[0][0], shape)
        if node.kind is Kind.KERNEL and node.source is not None and node.op is node.source.op:
            tensor = node.source.outputs[port[1]]
            return tensor.dtype, tensor.shape
        return self.of(node.inputs[0]) if node.inputs else None
