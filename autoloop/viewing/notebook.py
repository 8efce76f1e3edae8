"""What a notebook shows of functions, traces, graphs, tensors and reports: html that needs nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np
from autoloop_runtime.collections.tensor_array import TensorArray
from autoloop_runtime.ir.graph import Graph
from autoloop_runtime.ir.tensor import Tensor

from ..bound_function import BoundFunction
from ..concrete import ConcreteFunction
from ..drawing.labels import type_text
from ..explanation import Explanation, tables_of
from ..function import Function
from ..keys import describe_trace
from ..profiler.line_summary import HEADS, LOOP_HEADS, Summary
from .beside import Row, rows_of, without_gap
from .code_text import located_code_of
from .highlight import Span, spans_of, to_html
from .pictures import draw
from .stage_texts import source_of

#: so many rows and columns of a value are shown, half of them from the end; and nodes of a graph
MOST_SHOWN, MOST_DRAWN = 10, 300
_COLOURS = {
    "keyword": "#8f2aa3", "string": "#2b7a3d", "comment": "#7a7a7a", "number": "#17707c", "name": "#1d4fa3",
    "builtin": "#2f62a8", "decorator": "#a3631a",
}  # fmt: skip
_LINE = 'style="padding: 0 8px; text-align: left; vertical-align: top; white-space: pre; font-family: monospace"'
_CELL = 'style="border: 1px solid #d9e1ec; padding: 2px 8px; text-align: left"'


def html_of(value: Any) -> str:
    """Return what a notebook shows of a value of this library."""
    for kind, show in _SHOWN.items():
        if isinstance(value, kind):
            return show(value)
    return f"<pre>{escape(repr(value))}</pre>"


def code(source: str) -> str:
    """Return Python source with colours."""
    lines = "\n".join(map(_coloured, spans_of(source)))
    return f'<pre style="font-family: monospace">{lines}</pre>'


def _coloured(spans: list[Span]) -> str:
    """Return a line of source as html."""
    line = to_html(spans)
    for kind, colour in _COLOURS.items():
        line = line.replace(f'class="{kind}"', f'style="color: {colour}"')
    return line


def beside(left: tuple[str, str], right: tuple[str, str]) -> str:
    """Return two titled parts side by side, where there is room."""
    parts = [f"<div><b>{escape(title)}</b>{html}</div>" for title, html in (left, right)]
    return f'<div style="display: flex; gap: 2em; flex-wrap: wrap; align-items: flex-start">{"".join(parts)}</div>'


def source_beside(f: Callable[..., Any]) -> str:
    """Return the source of a function, each line beside those of what it was converted to that come of it; only the
    source where that fails."""
    try:
        source, first = source_of(f)
    except (OSError, TypeError):
        return f"<pre>{escape(repr(f))}</pre>"
    try:
        text, comes_of = located_code_of(f)
    except Exception as error:
        return beside(("source", code(source)), ("converted", f"<pre>{escape(str(error))}</pre>"))
    lines = "".join(map(_beside_line, rows_of(spans_of(source), first, *without_gap(spans_of(text), comes_of, first))))
    head = "".join(f"<th {_LINE}>{word}</th>" for word in ("", "source", "converted"))
    table = f'<table style="border-collapse: collapse"><tr>{head}</tr>{lines}</table>'
    return f'<div style="overflow-x: auto">{table}</div>'


def _beside_line(row: Row) -> str:
    number = "" if row.number is None else str(row.number)
    left = _coloured(row.left) if row.left is not None else "..." if number else ""
    return f"<tr><td {_LINE}>{number}</td><td {_LINE}>{left}</td><td {_LINE}>{_coloured(row.right)}</td></tr>"


def _function(f: Function | BoundFunction) -> str:
    function = f.function if isinstance(f, BoundFunction) else f
    traces = [describe_trace(key) for key in function.traced_for]
    said = f"traced {len(traces)} time{'s' * (len(traces) != 1)}" + (f", for {'; '.join(traces)}" if traces else "")
    head = f"<code>{escape(function.name)}</code>, executor <code>{escape(function.executor)}</code>, {escape(said)}"
    return f"<p>{head}</p>{source_beside(f)}"


def _concrete(concrete: ConcreteFunction) -> str:
    graph: Graph | None = getattr(concrete, "graph", None)
    head = f"<p><code>{escape(repr(concrete))}</code></p>"
    return head if graph is None else head + _graph(graph, concrete)


def _graph(graph: Graph, of: Graph | ConcreteFunction | None = None) -> str:
    if len(graph.nodes) > MOST_DRAWN:
        return f"<p><code>{escape(repr(graph))}</code>: too many nodes to draw here</p>"
    return draw(of or graph, stage="structured").fitted


def _tensor(tensor: Tensor) -> str:
    if tensor.node is not None:
        return f"<code>{escape(repr(tensor))}</code>"
    return _array(np.asarray(tensor.value), f"Tensor {type_text(tensor.dtype, tensor.shape)}")


def _array(array: np.ndarray[Any, Any], title: str) -> str:
    """Return the elements of an array as a table if it has two axes at most, else as text."""
    head = f"<b>{escape(title)}</b>"
    if array.ndim not in (1, 2) or not array.size or array.dtype.kind in "OV":
        return f"{head}<pre>{escape(np.array2string(array, threshold=200))}</pre>"
    rows = np.atleast_2d(array)
    lines = ["<tr>" + "".join(f"<td {_CELL}>{escape(_number(rows, i, j))}</td>" for j in _some(rows.shape[1])) + "</tr>"
             for i in _some(rows.shape[0])]  # fmt: skip
    return f'{head}<table style="border-collapse: collapse">{"".join(lines)}</table>'


def _some(count: int) -> Sequence[int | None]:
    """Return the indices that are shown, None for those that are left out."""
    if count <= MOST_SHOWN:
        return range(count)
    half = MOST_SHOWN // 2
    return [*range(half), None, *range(count - half, count)]


def _number(rows: np.ndarray[Any, Any], i: int | None, j: int | None) -> str:
    if i is None or j is None:
        return "…"
    value = rows[i, j]
    return f"{value:.6g}" if rows.dtype.kind == "f" else str(value)


def _tensor_array(array: TensorArray) -> str:
    return f"<code>{escape(repr(array))}</code>"


def _explanation(explanation: Explanation) -> str:
    parts = [f"<p><b>{escape(explanation.name)}</b>: {escape(f'{explanation.executor} ({explanation.reason})')}</p>"]
    return "".join([*parts, *[_table(one.title, one.heads, one.rows) for one in tables_of(explanation)]])


def _summary(summary: Summary) -> str:
    said = "".join(f"<p>{escape(str(one))} <small>({escape(one.how)})</small></p>" for one in summary.executors)
    tables = _table("by line", HEADS, list(summary.rows())) + _table("loops", LOOP_HEADS, list(summary.loop_rows()))
    return said + tables or "<p>no run was traced</p>"


def _table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    head = "".join(f"<th {_CELL}>{escape(one)}</th>" for one in heads)
    lines = "".join("<tr>" + "".join(f"<td {_CELL}>{escape(one)}</td>" for one in row) + "</tr>" for row in rows)
    return f'<b>{escape(title)}</b><table style="border-collapse: collapse"><tr>{head}</tr>{lines}</table>'


#: kind -> what shows it
_SHOWN: dict[Any, Callable[[Any], str]] = {
    (Function, BoundFunction): _function, ConcreteFunction: _concrete, Graph: _graph, TensorArray: _tensor_array,
    Tensor: _tensor, Explanation: _explanation, Summary: _summary,
}  # fmt: skip
