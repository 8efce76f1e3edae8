"""Graphs as TensorBoard reads them: a ``GraphDef`` in an event file, written by TensorBoard's own library (of the extra
``viewer``)."""

from __future__ import annotations

import importlib
import itertools
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from autoloop_runtime.base.dtypes import DType
from autoloop_runtime.base.shapes import TensorShape
from autoloop_runtime.dataflow.flat_graph import FlatNode, Kind, Lowered, Port
from autoloop_runtime.dataflow.lowering import lower
from autoloop_runtime.ir.graph import Graph

from ..drawing.labels import PortTypes, value_text
from .whole_graphs import feeds_of, fetches_of

#: kinds of nodes that have another name in a GraphDef
_OPS = {Kind.FEED: "Placeholder", Kind.CONST: "Const", Kind.IDENTITY: "Identity"}
#: dtype -> its number in ``types.proto``
_DTYPES = {
    "float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "complex64": 8, "int64": 9, "bool": 10,
    "uint16": 17, "complex128": 18, "float16": 19, "uint32": 22, "uint64": 23,
}  # fmt: skip
_STRING = 7
_MODULES = (
    "tensorboard.compat.proto.event_pb2", "tensorboard.compat.proto.graph_pb2",
    "tensorboard.summary.writer.event_file_writer",
)  # fmt: skip


class MissingViewer(ImportError):
    """TensorBoard's library, of the extra ``viewer``, is not installed."""


def write_graph(logdir: str | os.PathLike[str], graph: Graph) -> None:
    """Write a graph into a new event file in a folder, which is made if it is not there.

    Raises
    ------
    MissingViewer
        If TensorBoard is not installed.
    """
    events = EventFile(logdir)
    events.add(graph)
    events.close()


class EventFile:
    """A new event file in a folder.

    Raises
    ------
    MissingViewer
        If TensorBoard is not installed.
    """

    def __init__(self, logdir: str | os.PathLike[str]) -> None:
        event, _, writer = _library()
        self._event = event.Event
        self._writer = writer.EventFileWriter(os.fspath(logdir))

    def add(self, graph: Graph) -> None:
        """Write a graph."""
        self._writer.add_event(self._event(graph_def=serialized(graph)))

    def flush(self) -> None:
        """Write what there is to the file."""
        self._writer.flush()

    def close(self) -> None:
        """Write what there is, and close the file."""
        self._writer.close()


def _library() -> tuple[Any, Any, Any]:
    """Return the modules of TensorBoard's library."""
    try:
        event, graph, writer = map(importlib.import_module, _MODULES)
    except ImportError as error:
        raise MissingViewer(
            f"TensorBoard's files are written by its library ({error}): pip install 'autoloop[viewer]'"
        ) from error
    return event, graph, writer


def serialized(graph: Graph) -> bytes:
    """Return a graph as the bytes of a ``GraphDef``.

    Raises
    ------
    MissingViewer
        If TensorBoard is not installed.
    """
    made = _library()[1].GraphDef()
    for name, op, inputs, attrs in described(graph):
        node = made.node.add(name=name, op=op, input=inputs)
        for key, (kind, value) in attrs.items():
            _set(node.attr[key], kind, value)
    made.versions.producer = 22
    data: bytes = made.SerializeToString()
    return data


def _set(attribute: Any, kind: str, value: Any) -> None:
    if kind != "shapes":
        setattr(attribute, kind, value)
        return
    shape = attribute.list.shape.add()
    if value.rank is None:
        shape.unknown_rank = True
        return
    for extent in value.known:
        shape.dim.add(size=-1 if extent is None else extent)


#: kind of attribute (a field of ``AttrValue``, or ``shapes``) and its value
Attribute = tuple[str, Any]


def described(graph: Graph) -> Iterator[tuple[str, str, list[str], dict[str, Attribute]]]:
    """Yield the name, op, inputs and attributes of each node of a graph, lowered as TensorFlow's are."""
    feeds, fetches = feeds_of(graph), fetches_of(graph)
    lowered = lower(graph, fetches, feeds, keep_variables=True)
    types = PortTypes(lowered, tuple(feeds))
    for node in lowered.nodes:
        inputs = [_input(lowered.nodes, port) for port in node.inputs]
        inputs += [f"^{lowered.nodes[port[0]].name}" for port in node.controls]
        op = node.op.name if node.op is not None else _OPS.get(node.kind, node.kind.value)
        yield node.name, op, inputs, _attributes(node, lowered, types)
    taken = {node.name for node in lowered.nodes}
    for tensor, port in zip(fetches, lowered.fetches) if graph.outputs else ():
        name = _free("effects" if tensor is graph.token else "result", taken)
        yield name, "_Retval", [_input(lowered.nodes, port)], _types(types.of(port), "T")


def _free(name: str, taken: set[str]) -> str:
    """Return a name, with a number behind it if it is taken, and take it."""
    numbered = (f"{name}_{number}" for number in itertools.count(1))
    found = name if name not in taken else next(one for one in numbered if one not in taken)
    taken.add(found)
    return found


def _input(nodes: Sequence[FlatNode], port: Port) -> str:
    return f"{nodes[port[0]].name}:{port[1]}" if port[1] else nodes[port[0]].name


def _types(known: tuple[DType, TensorShape] | None, key: str) -> dict[str, Attribute]:
    if known is None:
        return {}
    return {key: ("type", _DTYPES.get(str(known[0]), _STRING)), "_output_shapes": ("shapes", known[1])}


def _attributes(node: FlatNode, lowered: Lowered, types: PortTypes) -> dict[str, Attribute]:
    made = _types(types.of((node.index, 0)), "dtype" if node.kind in (Kind.CONST, Kind.FEED) else "T")
    if node.kind is Kind.ENTER:
        frame = lowered.frames[node.frame]
        made["frame_name"] = "s", frame.name.encode()
        made["is_constant"] = "b", node.constant
        made["parallel_iterations"] = "i", frame.parallel_iterations
    if node.kind is Kind.CONST:
        made["value"] = "s", value_text(node.value).encode()
        made["_output_shapes"] = "shapes", TensorShape(np.shape(node.value))
    if node.source is not None and node.source.location:
        line = node.source.location[-1]
        made["_line"] = "s", str(line).encode()
    return made
