"""``autoloop graph``: the dataflow graph of a function as a picture."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from autoloop_runtime.ir.records import loop_records
from autoloop_runtime.passes.regions import form_regions
from autoloop_runtime.python_code.compile_python import compile_region

from ..concrete import ConcreteFunction
from ..drawing import Picture, dataflow_picture, structured_picture, to_dot, to_svg
from ..drawing.labels import type_text
from .output import write
from .page import listing, page
from .problems import UsageError
from .run_command import trace_of
from .target import Target, load_target

STAGES = {
    "structured": "as traced: loops and branches with their sub-graphs",
    "optimized": "the same after the passes",
    "regions": "the same with cheap nodes gathered, as `auto` gives it to the scheduler",
    "lowered": "Enter, Merge, LoopCond, Switch, NextIteration, Exit",
    "scheduled": "the lowered graph as `dataflow` runs it: after the passes, unchanging variables enter as invariants",
}
FORMATS = ("dot", "svg", "html")


def draw(options: argparse.Namespace) -> None:
    """Write the picture."""
    form = options.format or _format_of(options.output)
    target = load_target(options.target)
    concrete = trace_of(target, options)
    picture = _picture(target, concrete, options.stage)
    if form == "dot":
        write(options.output, to_dot(picture))
    elif form == "svg":
        write(options.output, to_svg(picture))
    else:
        write(options.output, _page(target, picture))
    _hint(concrete)


def _format_of(output: str | None) -> str:
    if output is None:
        return "dot"
    suffix = Path(output).suffix.lower().lstrip(".")
    known = {"gv": "dot", "htm": "html"}.get(suffix, suffix)
    if known not in FORMATS:
        raise UsageError(f"the format of {output!r} is not clear from its name; give --format {{{','.join(FORMATS)}}}")
    return known


def _picture(target: Target, concrete: ConcreteFunction, stage: str) -> Picture:
    inputs = ", ".join(f"{t.op.name}: {type_text(t.dtype, t.shape)}" for t in concrete.inputs)
    note = f"{target.path.name}:{target.source()[1]} · {stage}" + (f" · {inputs}" if inputs else "")
    title = f"{target.name}({', '.join(t.op.name for t in concrete.inputs)})"
    graph = concrete.graph if stage in ("structured", "lowered") else concrete.runner.graph
    if stage == "regions":
        graph = form_regions(graph, compile_region)
    if stage in ("structured", "optimized", "regions"):
        return structured_picture(graph, graph.outputs, title=title, note=note)
    keep = stage == "lowered"
    return dataflow_picture(graph, graph.outputs, graph.inputs, title=title, note=note, keep_variables=keep)


def _hint(concrete: ConcreteFunction) -> None:
    """Print what to try where loops on Python numbers, known while tracing, left no loop in the graph."""
    unrolled = any(not record.converted for record in loop_records(concrete.graph))
    if unrolled and not concrete.inputs:
        print(
            "hint: no argument is a tensor, so loops on them ran while the function was traced; "
            "write tensor(10) for a tensor",
            file=sys.stderr,
        )


def _page(target: Target, picture: Picture) -> str:
    svg = to_svg(picture)
    text, first = target.source()
    source = listing(f"{target.path.name}:{first}", text, first)
    return page(picture.title, picture.note, [source, f"<section>{svg}</section>"], linked=True)
