"""How much memory the arrays of a function take, by the lines that make them."""

from __future__ import annotations

from typing import Any

from autoloop_runtime.analysis.aliasing import gives_view, writes_part
from autoloop_runtime.analysis.inside import nodes_inside
from autoloop_runtime.analysis.sizes import bytes_of
from autoloop_runtime.ir.graph import CONST, PARAMETER, Node
from autoloop_runtime.ir.tensor import Tensor

from ...concrete import ConcreteFunction
from ...drawing.labels import type_text
from ..highlight import lines_of
from .seen_stages import Source

_NOTE = (
    "What the operations of the optimized graph give, each time they are done; a view takes no memory of its own. "
    "Executors need less where they write into an array that nothing reads any more, or do several operations at once, "
    "element by element."
)
_VIEW, _WRITES = "a view", "in place, where nothing reads the old array"
_UNITS = ("B", "kB", "MB", "GB", "TB")


def memory_of(concrete: ConcreteFunction, source: Source) -> dict[str, Any] | None:
    """Return a table of the arrays that there are; None if there is none."""
    graph = concrete.runner.graph
    rows: list[tuple[int, list[str]]] = []
    texts = lines_of(source.text)
    head = next((k for k, text in enumerate(texts, source.first) if text.lstrip().startswith(("def ", "async "))), 0)
    for tensor in graph.inputs:
        if tensor.shape.rank != 0:
            rows.append((head, _cells(head, source, tensor, "given")))
    made = [
        (source.line_of(node.location), node, tensor)
        for node in nodes_inside(graph) if node.op is not PARAMETER and node.op is not CONST and not node.subgraphs
        for tensor in node.outputs
        if tensor.shape.rank != 0 and bytes_of(tensor) != 0 and tensor.dtype.kind != "V"
    ]  # fmt: skip
    for line, node, tensor in sorted(made, key=lambda one: one[0] or 1 << 30):
        rows.append((line, _cells(line, source, tensor, _how(node))))
    if not rows:
        return None
    for k in range(len(rows) - 1, 0, -1):
        if rows[k][0] == rows[k - 1][0]:
            rows[k][1][:2] = ["", ""]
    return {"note": _NOTE, "columns": ["line", "source", "made by", "array", "bytes", ""], "rows": rows}


def _how(node: Node) -> str:
    return _VIEW if gives_view(node) else _WRITES if writes_part(node) else ""


def _cells(line: int, source: Source, tensor: Tensor, how: str) -> list[str]:
    text = lines_of(source.text)[line - source.first].strip() if line else ""
    size = bytes_of(tensor)
    told = "" if how == _VIEW else "not known before the run" if size is None else size_text(size)
    node = tensor.op
    name = node.name if node.op is PARAMETER else node.op.name
    return [str(line or ""), text, name, type_text(tensor.dtype, tensor.shape), told, how]


def size_text(size: float) -> str:
    """Return a number of bytes for a person: ``7.8 kB``."""
    for unit in _UNITS:
        if size < 1000 or unit == _UNITS[-1]:
            break
        size /= 1000
    return f"{size:.3g} {unit}"
