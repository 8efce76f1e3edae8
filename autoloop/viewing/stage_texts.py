"""The texts of a function's stages: its source, what that was converted to, its graph before and after the passes, the
lowered graph, generated Python, and machine code."""

from __future__ import annotations

import functools
import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from autoloop_runtime.base.forks import undivided
from autoloop_runtime.base.locations import Location
from autoloop_runtime.dataflow.flat_graph import Kind
from autoloop_runtime.dataflow.lowering import lower
from autoloop_runtime.ir.graph import CONST, PARAMETER, Graph, Node
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.python_code.compile_python import emit

from ..concrete import ConcreteFunction
from ..drawing.labels import PortTypes, place_text, type_text, value_text
from ..text_tables import aligned
from .stage_names import known

STAGES = {
    "source": "as it stands in the file",
    "converted": "what the function became",
    "structured": "the graph as traced, loops and branches with what is inside them",
    "optimized": "the same after the passes",
    "lowered": "Enter, Merge, LoopCond, Switch, NextIteration, Exit, one a line",
    "python": "the generated Python that runs the graph",
    "llvm": "the LLVM IR that machine code is made of",
    "asm": "machine code",
}
#: of these no trace is needed
OF_SOURCE = ("source", "converted")


def undecorated(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that somebody has written, of what stands for it."""
    inner = inspect.unwrap(getattr(f, "python_function", f))
    return undecorated(inner.func) if isinstance(inner, functools.partial) else inner


def source_of(f: Callable[..., Any]) -> tuple[str, int]:
    """Return the text of an undecorated or decorated function, and the number of its first line.

    Raises
    ------
    OSError, TypeError
        If it cannot be found.
    """
    lines, first = inspect.getsourcelines(undecorated(f))
    return textwrap.dedent("".join(lines)), max(first, 1)


def text_of(concrete: ConcreteFunction, stage: str) -> str:
    """Return the text of a stage of a trace.

    Raises
    ------
    ValueError
        If there is no such stage, or machine code needs shapes that the trace leaves open.
    NotImplementedError
        If machine code cannot take the graph; ``ImportError`` without the extra ``native``.
    """
    return located_text_of(concrete, stage)[0]


def located_text_of(concrete: ConcreteFunction, stage: str) -> tuple[str, list[Location]]:
    """Return what ``text_of`` does, and where each line of it comes from."""
    stage = known(stage, [one for one in STAGES if one not in OF_SOURCE])
    if stage in ("structured", "optimized"):
        return _graph_text(concrete.graph if stage == "structured" else concrete.runner.graph)
    if stage == "lowered":
        return _lowered_text(concrete.graph)
    if stage == "python":
        return _python_text(concrete.runner.graph)
    text, places, _ = machine_code(concrete.runner.graph, stage)
    return text, places


def graph_text(graph: Graph) -> str:
    """Return a structured graph, a node a line, what is inside of loops and branches below them."""
    return _graph_text(graph)[0]


def _graph_text(graph: Graph) -> tuple[str, list[Location]]:
    lines = list(_lines(graph, 0))
    lines.append((0, f"return {', '.join(map(_name, graph.outputs)) or 'nothing'}", "", ()))
    width = max((2 * depth + len(text) for depth, text, _, _ in lines), default=0)
    texts = [f"{'  ' * depth + text:<{width}}  {note}".rstrip() for depth, text, note, _ in lines]
    return "\n".join(texts) + "\n", [location for *_, location in lines]


def _lines(graph: Graph, depth: int, around: Location = ()) -> Iterator[tuple[int, str, str, Location]]:
    """Return depth, text, note and place of each line."""
    for node in graph.nodes:
        if node.op is CONST:
            continue
        types = ", ".join(type_text(t.dtype, t.shape) for t in node.outputs)
        made = ", ".join(map(_name, node.outputs)) or node.name
        if node.op is PARAMETER:
            yield depth, f"{made} = parameter", f"# {types}", around
            continue
        given, place = ", ".join(map(_name, node.inputs)), node.location or around
        note = " ".join(filter(None, ("#", types, place_text(node.location))))
        yield depth, f"{made} = {node.op.name}({given})", note, place
        for name, inner in zip(node.op.graphs, node.subgraphs):
            yield depth + 1, f"{name}:", "", place
            yield from _lines(inner, depth + 2, place)
            yield depth + 2, f"return {', '.join(map(_name, inner.outputs))}", "", place


def _name(tensor: Tensor) -> str:
    """Return a constant's value, else the name of a tensor, without the path of the loops around it."""
    source = tensor.source
    if source.node is None or source.node.op is CONST:
        value = source.constant_value()
        return value_text(value)
    node: Node = tensor.op
    name = node.name.rpartition("/")[2]
    return name if len(node.outputs) == 1 else f"{name}.{tensor.index}"


def _lowered_text(graph: Graph) -> tuple[str, list[Location]]:
    lowered = lower(graph, graph.outputs, graph.inputs, keep_variables=True)
    types, nodes = PortTypes(lowered, tuple(graph.inputs)), lowered.nodes
    rows = []
    for node in nodes:
        given = [_port(nodes, port) for port in node.inputs]
        given += [f"^{nodes[port[0]].name}" for port in node.controls]
        what = node.op.name if node.op is not None else node.kind.value
        frame = lowered.frames[node.frame].name if node.frame else ""
        given = given or ([value_text(node.value)] if node.kind is Kind.CONST else [])
        rows.append((node.name, f"{what}({', '.join(given)})", types.text((node.index, 0)), frame))
    places = [() if node.source is None else node.source.location for node in nodes]
    return "\n".join([*aligned(rows), ""]), places


def _python_text(graph: Graph) -> tuple[str, list[Location]]:
    source, every = located_python(graph)
    places: list[Location] = []
    for line, some in zip(source.splitlines(), every):
        places.append(some[0] if some else places[-1] if places and line[:1] == " " else ())
    return source, places


def located_python(graph: Graph) -> tuple[str, list[list[Location]]]:
    """Return the generated Python that runs a graph, and where what each line of it computes comes from."""
    made = emit(graph)
    lines = made.source.splitlines()
    every: list[list[Location]] = []
    around: list[int] = []  # the indentation of the loops around
    for number, line in enumerate(lines, 1):
        indent = len(line) - len(line.lstrip())
        around = [one for one in around if one < indent or not line.strip()]
        found = made.line_map.get(number)
        every.append([node.location for *_, node in found.spans] if found else [])
        if line.lstrip().startswith(("for ", "while ")):
            inside = next((made.line_map[k] for k in range(number, len(lines) + 1) if k in made.line_map), None)
            if inside is not None and len(around) < len(inside.loops) and not found:
                every[-1].append(inside.loops[len(around)].node.location)
            around.append(indent)
    return made.source, every


def _port(nodes: Sequence[Any], port: tuple[int, int]) -> str:
    node = nodes[port[0]]
    return node.name if node.outputs < 2 and port[1] == 0 else f"{node.name}:{port[1]}"


def machine_code(graph: Graph, form: str = "asm") -> tuple[str, list[Location], list[tuple[Location, str]]]:
    """Return machine code, or LLVM's IR (``"llvm"``), and where each line of it comes from; and of machine code what
    LLVM remarks on vectors, with the place that it is on."""
    open_ones = [t.op.name for t in graph.inputs if not t.shape.is_fully_defined()]
    if open_ones:
        raise ValueError(f"machine code is shown of exact shapes: give an array for {', '.join(open_ones)} [AL703]")
    with undivided():
        from autoloop_runtime.native import write_function
        from autoloop_runtime.native.toolchain import compile_ir, debug_lines

    numbers: dict[Location, int] = {(): 0}
    made = write_function(
        graph, [t.shape.as_tuple() for t in graph.inputs], compile_ir.host().features,
        line_of=lambda node: numbers.setdefault(node.location, len(numbers)),
    )  # fmt: skip
    ir, places = debug_lines.with_debug_lines(made.ir), list(numbers)
    if form == "llvm":
        text, lines = debug_lines.located_ir(compile_ir.text_of_code(ir, False))
        return text, [places[line] for line in lines], []
    text, said = compile_ir.text_with_remarks(ir)
    text, lines = debug_lines.located_assembly(text)
    remarks = [(places[line], words) for line, words in debug_lines.located_remarks(said)]
    return text, [places[line] for line in lines], remarks
