"""JSON as graphs: every row is checked, what it says of its outputs is inferred again and compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base.locations import DEPTH, Line, Location
from ..base.shapes import SCALAR, TensorShape
from ..collections.variables import Variable
from ..ir.graph import CONST, PARAMETER, Graph, Node
from ..ir.op import Op, Spec
from ..ir.records import LoopRecord, record_loop
from ..ir.stages import Stage
from ..ir.structured import COND, WHILE
from ..ir.tensor import Tensor
from ..ir.verify import verify
from ..ops.numpy_names.library_rows import TRIED
from .attribute_table import ATTRIBUTES, MOST_TRIED, size_said
from .file_form import is_count, values_of
from .load_errors import damaged, refused
from .op_table import op_named
from .value_form import MOST_DEPTH, ValueReader, spec_dtype_of

_MOST_NAME = 4096
_KEYS = {"op", "name", "in", "out", "at"}
_MORE_KEYS = {"attrs", "waits", "promised"}


def said_name(text: Any) -> str:
    """Return a name or a path: it is told to people, and may stand in comments of generated code."""
    if type(text) is not str or len(text) > _MOST_NAME or not (text.isprintable() or not text):
        raise damaged("a name is none")
    return text


def read_variables(rows: Any, values: ValueReader) -> list[Variable]:
    """Return the variables that a header tells of."""
    made = []
    for row in values_of(rows, "the variables", len(rows) if isinstance(rows, list) else -1):
        name, dtype, shape, trainable, number = values_of(row, "a variable", 5)
        array = values.array(number)
        wanted, known = spec_dtype_of(dtype), values.shape(shape)
        if array.dtype != wanted or not known.matches(array.shape) or type(trainable) is not bool:
            raise damaged("the value of a variable does not fit it")
        made.append(Variable(array[()] if not array.ndim else array.copy(), trainable, said_name(name), wanted, known))
    return made


def read_locations(lines: Any, places: Any) -> tuple[list[Line], list[Location]]:
    """Return the lines and the places that a header tells of."""
    if not isinstance(lines, list) or not isinstance(places, list):
        raise damaged("the header does not say where things were written")
    made = []
    for row in lines:
        filename, number, function = values_of(row, "a line", 3)
        if not is_count(number) or number > 1 << 31:
            raise damaged("a line has no such number")
        made.append(Line(said_name(filename), number, said_name(function)))
    found = []
    for row in places:
        if not isinstance(row, list) or len(row) > 2 * DEPTH or not all(is_count(k) and k < len(made) for k in row):
            raise damaged("there is no such place")
        found.append(tuple([made[k] for k in row]))
    return made, found


class GraphReader:
    """Makes a graph of what a header says.

    Parameters
    ----------
    values : ValueReader
    lines : list of Line
    locations : list of Location
    """

    def __init__(self, values: ValueReader, lines: Sequence[Line], locations: Sequence[Location]) -> None:
        self._values, self._lines, self._locations = values, lines, locations
        self._names: set[str] = set()

    def graph(self, form: Any, loops: Any) -> Graph:
        """Return the graph of a form, which stands alone."""
        made = self._graph(form, None, 0)
        with refused("what the file says of loops"):
            for row in loops:
                self._record(made, row)
        with refused("the graph"):
            wrong = verify(made, Stage.STRUCTURED)
        if wrong:
            raise damaged(f"the graph is none: {wrong[0][:500]}")
        return made

    def _record(self, graph: Graph, row: Any) -> None:
        kind, converted, line, reason, names, count, nodes = values_of(row, "a loop", 7)
        is_right = kind in ("while", "for") and type(converted) is bool and is_count(count) and is_count(nodes)
        if not is_right or type(reason) is not str or type(names) is not list:
            raise damaged("what the file says of a loop is wrong")
        place = None if line is None else self._lines[line]
        record_loop(graph, LoopRecord(kind, converted, place, reason, tuple(map(said_name, names)), count, nodes))

    def _graph(self, form: Any, parent: Graph | None, depth: int) -> Graph:
        if not isinstance(form, dict) or not {"name", "nodes", "inputs", "outputs"} <= form.keys():
            raise damaged("a graph has not the parts that it must have")
        if not form.keys() <= {"name", "nodes", "inputs", "outputs", "token", "token_input"}:
            raise damaged("a graph has other parts than it may have")
        if depth > MOST_DEPTH:
            raise damaged("loops and branches are nested too deeply")
        graph = Graph(said_name(form["name"]), parent, True)
        if not all(isinstance(form[key], list) for key in ("nodes", "inputs", "outputs")):
            raise damaged("a graph has no list of nodes")
        for row in form["nodes"]:
            with refused(f"the node {str(row.get('name') if isinstance(row, dict) else row)[:80]!r}"):
                graph.nodes.append(self._node(row, graph, depth))
        graph.inputs = [self._tensor(place, graph) for place in form["inputs"]]
        graph.outputs = [self._tensor(place, graph) for place in form["outputs"]]
        if {t.op for t in graph.inputs} != {node for node in graph.nodes if node.op is PARAMETER}:
            raise damaged("the parameters of a graph are not its inputs")
        for key in ("token", "token_input"):
            if key in form:
                token = self._tensor(form[key], graph)
                if token.dtype.kind != "b" or token.shape != SCALAR:
                    raise damaged("what orders effects is no such value")
                setattr(graph, key, token)
        return graph

    def _tensor(self, place: Any, graph: Graph) -> Tensor:
        number, output = (place, 0) if is_count(place) else values_of(place, "an input", 2)
        if not is_count(number) or not is_count(output) or number >= len(graph.nodes):
            raise damaged("an input is read before it is made")
        outputs: Sequence[Tensor] = graph.nodes[number].outputs
        if output >= len(outputs):
            raise damaged("an operation has no such output")
        return outputs[output]

    def _node(self, row: Any, graph: Graph, depth: int) -> Node:
        if not isinstance(row, dict) or not row.keys() >= _KEYS or not row.keys() <= _KEYS | _MORE_KEYS:
            raise damaged("it has not the parts that it must have")
        op = op_named(row["op"]) if type(row["op"]) is str else None
        if op is None:
            raise damaged(f"there is no operation {str(row['op'])[:80]!r}")
        name = said_name(row["name"])
        if name in self._names:
            raise damaged("there are two of that name")
        self._names.add(name)
        if not all(isinstance(row.get(key, []), list) for key in ("in", "out", "waits", "promised")):
            raise damaged("its inputs are no list")
        inputs = tuple([self._tensor(place, graph) for place in row["in"]])
        waits = tuple([self._tensor(place, graph) for place in row.get("waits", [])])
        if not is_count(row["at"]) or row["at"] >= len(self._locations):
            raise damaged("it was written at no place")
        said = [self._spec(one) for one in row["out"]]
        attrs = self._attributes(op, row.get("attrs", {}), graph, depth, said)
        promised = self._promised(row.get("promised", []), said)
        specs = _checked(op, inputs, attrs, said, promised)
        return Node(graph, op, inputs, attrs, specs, name, self._locations[row["at"]], waits, promised)

    def _spec(self, row: Any) -> Spec:
        dtype, shape = values_of(row, "an output", 2)
        return spec_dtype_of(dtype), self._values.shape(shape)

    def _promised(self, rows: Any, said: Sequence[Spec]) -> dict[int, TensorShape]:
        made = {}
        for row in rows:
            output, shape = values_of(row, "a promise", 2)
            if not is_count(output) or output >= len(said):
                raise damaged("it has no such output")
            made[output] = self._values.shape(shape)
        return made

    def _attributes(self, op: Op, rows: Any, graph: Graph, depth: int, said: Sequence[Spec]) -> dict[str, Any]:
        if not isinstance(rows, dict):
            raise damaged("its attributes are no table")
        if op is PARAMETER:
            if rows or len(said) != 1:
                raise damaged("a parameter has no attributes, and is one value")
            return {"dtype": said[0][0], "shape": said[0][1]}
        if op.graphs and not set(op.graphs) <= rows.keys():
            raise damaged("it has not the graphs that it must have")
        made: dict[str, Any] = {}
        for name, form in rows.items():
            if name in op.graphs:
                made[name] = self._graph(form, graph, depth + 1)
                continue
            value = self._values.value(form)
            if name not in ATTRIBUTES or not ATTRIBUTES[name](value):
                raise damaged(f"its attribute {name[:80]!r} is none that it may have")
            made[name] = value
        if op in TRIED and size_said(made) > MOST_TRIED:
            raise damaged("it is too large to be looked at")
        return made


def _checked(
    op: Op, inputs: tuple[Tensor, ...], attrs: dict[str, Any], said: list[Spec], promised: dict[int, TensorShape]
) -> list[Spec]:
    """Return what a file says of the outputs of an operation, if that follows from the inputs."""
    operands = inputs[:-1] if op.effect else inputs
    if op.effect and (not inputs or inputs[-1].dtype.kind != "b" or inputs[-1].shape != SCALAR):
        raise damaged("it is not told after which other it comes")
    if op is CONST and (len(inputs) or set(attrs) != {"value"}):
        raise damaged("a constant has a value and nothing else")
    if op is WHILE:
        _check_while(inputs, attrs)
    elif op is COND:
        _check_cond(inputs, attrs)
    known = [*op.specs(*operands, **attrs), *([(inputs[-1].dtype, SCALAR)] if op.effect else [])]
    if len(known) != len(said):
        raise damaged(f"it has {len(known)} outputs, the file says {len(said)}")
    for k, ((dtype, shape), (found, extents)) in enumerate(zip(known, said)):
        at_most = shape.merge_with(promised[k]) if k in promised else shape
        if dtype != found or not at_most.is_subsumed_by(extents):
            raise damaged(f"it gives {dtype} of shape {at_most}, the file says {found} of shape {extents}")
    return said


def _check_while(inputs: Sequence[Tensor], attrs: dict[str, Any]) -> None:
    needed = {
        "cond", "body", "token", "n_vars", "names", "invariants", "specs", "parallel_iterations", "back_prop",
        "swap_memory", "gradient_memory", "begun",
    }  # fmt: skip
    if set(attrs) != needed:
        raise damaged("a loop has not the attributes that it must have")
    cond, body, count, token = attrs["cond"], attrs["body"], attrs["n_vars"], attrs["token"]
    lists = (attrs["names"], attrs["invariants"], attrs["specs"], body.outputs)
    is_right = 0 < count <= len(inputs) and all(len(one) == count for one in lists)
    is_right = is_right and len(cond.inputs) == len(body.inputs) == len(inputs) and attrs["parallel_iterations"] > 0
    if not is_right or (token is not None and not 0 <= token < count) or len(cond.outputs) not in (1, 2):
        raise damaged("a loop does not say as much of each variable")
    for k, (given, one, other) in enumerate(zip(inputs, cond.inputs, body.inputs)):
        shape = attrs["invariants"][k] if k < count else given.shape
        for parameter in (one, other):
            if parameter.dtype != given.dtype or not shape.is_subsumed_by(parameter.shape):
                raise damaged("what a loop is given does not fit what is in it")
    for (dtype, shape), invariant, result, parameter in zip(
        attrs["specs"], attrs["invariants"], body.outputs, body.inputs
    ):
        if shape != invariant or dtype != result.dtype or dtype != parameter.dtype:
            raise damaged("a loop variable has two dtypes or shapes")
        if not result.shape.is_subsumed_by(invariant):
            raise damaged("a loop variable does not keep its shape")


def _check_cond(inputs: Sequence[Tensor], attrs: dict[str, Any]) -> None:
    if set(attrs) != {"then", "else", "specs"} or not inputs:
        raise damaged("a branch has not the attributes that it must have")
    for side in (attrs["then"], attrs["else"]):
        if len(side.inputs) != len(inputs) - 1 or len(side.outputs) != len(attrs["specs"]):
            raise damaged("the sides of a branch are not alike")
        for given, parameter in zip(inputs[1:], side.inputs):
            if parameter.dtype != given.dtype or not given.shape.is_subsumed_by(parameter.shape):
                raise damaged("what a branch is given does not fit what is in it")
        for (dtype, shape), result in zip(attrs["specs"], side.outputs):
            if dtype != result.dtype or not result.shape.is_subsumed_by(shape):
                raise damaged("a side of a branch gives what the branch does not")
