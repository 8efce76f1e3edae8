"""Graphs as JSON: a row for each node, in their order, and in it the rows of the graphs inside.

A row says the operation, the name, the inputs (a number of a node for its first output, else number and output), the
dtype and shape of each output, and where it was written; and if there are such its attributes, what it waits for, and
the shapes that the user has promised.
"""

from __future__ import annotations

from typing import Any

from ..base.locations import Line, Location
from ..ir.graph import CONST, PARAMETER, Graph, Node
from ..ir.records import loop_records
from ..ir.structured import COND, WHILE
from ..ir.tensor import Tensor
from ..ops.custom_gradient import CUSTOM
from ..ops.effects import PRINT
from ..ops.python_functions import DRAW, KNOWN_CALL, PY_FUNCTION
from .attribute_table import ATTRIBUTES
from .known_functions import arguments_given, exception_made
from .load_errors import unsavable
from .op_table import is_row
from .value_form import ValueWriter, shape_form, spec_dtype_text

#: what parameters have besides dtype and shape, which their row says
_OF_ROW = ("dtype", "shape")
#: what is said of attributes that hold Python's functions
_WORDS = {
    (PY_FUNCTION, "func"): "py_function",
    (DRAW, "draw"): "what is drawn of a random generator outside (use autoloop.random, with a key)",
    (KNOWN_CALL, "call"): "a call that each run makes",
    (CUSTOM, "grad"): "a function with custom_gradient",
    (PRINT, "stream"): "print to a file",
}  # fmt: skip


class Places:
    """The lines of the user's that a file tells, each once."""

    def __init__(self) -> None:
        self.lines: list[list[Any]] = []
        self.locations: list[list[int]] = []
        self._lines: dict[Line, int] = {}
        self._locations: dict[Location, int] = {}

    def line(self, line: Line) -> int:
        """Return the number of a line."""
        known = self._lines.get(line)
        if known is None:
            known = self._lines[line] = len(self.lines)
            self.lines.append([line.filename, line.lineno, line.function])
        return known

    def location(self, location: Location) -> int:
        """Return the number of a place."""
        known = self._locations.get(location)
        if known is None:
            known = self._locations[location] = len(self.locations)
            self.locations.append([self.line(line) for line in location])
        return known


class GraphWriter:
    """Makes JSON of a graph.

    Attributes
    ----------
    values : ValueWriter
    places : Places
    """

    def __init__(self) -> None:
        self.values = ValueWriter()
        self.places = Places()

    def form(self, graph: Graph) -> dict[str, Any]:
        """Return the form of a graph; ``SaveError`` if something in it cannot be saved."""
        numbers: dict[Node, int] = {}
        rows = []
        for node in graph.nodes:
            rows.append(self._row(node, numbers))
            numbers[node] = len(numbers)
        made: dict[str, Any] = {
            "name": graph.prefix,
            "nodes": rows,
            "inputs": [_place(t, numbers) for t in graph.inputs],
            "outputs": [_place(t, numbers) for t in graph.outputs],
        }
        if graph.token is not None and graph.token.op in numbers:
            made["token"] = _place(graph.token, numbers)
        if graph.token_input is not None and graph.token_input.op in numbers:
            made["token_input"] = _place(graph.token_input, numbers)
        return made

    def _row(self, node: Node, numbers: dict[Node, int]) -> dict[str, Any]:
        if not is_row(node.op):
            raise unsavable(f"{node.name!r}: the operation {node.op.name} cannot be saved", node.location)
        row: dict[str, Any] = {
            "op": node.op.name,
            "name": node.name,
            "in": [_place(t, numbers) for t in node.inputs],
            "out": [[spec_dtype_text(t.dtype), shape_form(t.shape)] for t in node.outputs],
            "at": self.places.location(node.location),
        }
        if attrs := self._attributes(node):
            row["attrs"] = attrs
        if node.control_inputs:
            row["waits"] = [_place(t, numbers) for t in node.control_inputs]
        if declared := node.declared:
            row["promised"] = [[k, shape_form(shape)] for k, shape in declared.items()]
        return row

    def _attributes(self, node: Node) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name, value in node.attrs.items():
            if name in node.op.graphs:
                made[name] = self.form(value)
                continue
            if node.op is PARAMETER:
                if name not in _OF_ROW:
                    made[name] = self.values.form(value, f"{node.name!r}", node.location)
                continue
            what = _WORDS.get((node.op, name)) or f"{node.op.name} ({name})"
            value = self._sayable(node, name, value)
            form = self.values.form(value, what, node.location)
            if name not in ATTRIBUTES or not ATTRIBUTES[name](value):
                raise unsavable(f"{what} cannot be saved", node.location)
            made[name] = form
        return made

    def _sayable(self, node: Node, name: str, value: Any) -> Any:
        """Return the value of an attribute, or what does the same and can be said."""
        made: Any = value
        if name == "factory":
            made = exception_made(value, len(node.operands))
            if made is None:
                raise unsavable("an exception of a class of its own, or with more than arguments, cannot be saved",
                                node.location)  # fmt: skip
        elif name == "given":
            made = arguments_given(value, len(node.operands))
        return value if made is None else made

    def loop_rows(self, graph: Graph) -> list[Any]:
        """Return the form of what ``explain`` tells of the loops of a graph."""
        return [
            [one.kind, one.converted, None if one.line is None else self.places.line(one.line), one.reason,
             list(one.names), one.count, one.nodes]
            for one in loop_records(graph)
        ]  # fmt: skip

    def header(self, graph: Graph) -> dict[str, Any]:
        """Return all that the header says of a graph."""
        made = {"graph": self.form(graph), "loops": self.loop_rows(graph)}
        return {
            **made, "variables": self.values.variable_rows(), "lines": self.places.lines,
            "locations": self.places.locations,
        }  # fmt: skip


def _place(tensor: Tensor, numbers: dict[Node, int]) -> Any:
    number = numbers[tensor.op]
    return number if tensor.index == 0 else [number, tensor.index]


def first_token(graph: Graph) -> Tensor | None:
    """Return the constant that the first effect of a graph takes, None if there are no effects."""
    token = graph.token
    while token is not None and token.op.op is not CONST:
        node = token.op
        if node.op is WHILE:
            token = node.inputs[node.attrs["token"]]
        elif node.op is COND:
            token = node.inputs[1]
        else:
            token = node.inputs[-1]
        if token.op.op is PARAMETER:
            return None
    return token
